/* SPDX-License-Identifier: Apache-2.0
 *
 * draw.h - random numbers and keys for batches of 1 to 16 Mi items.
 */
#ifndef SOAK_DRAW_H
#define SOAK_DRAW_H

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "judge/device/values.h"

struct dice {
    uint64_t state;
    uint64_t draw() { return hd_mix64(state += GOLDEN); }
    uint64_t below(uint64_t n) { return hd_mulhi64(draw(), n); }
    bool one_in(uint64_t n) { return below(n) == 0; }
    template <class type, size_t n> type of(const type (&all)[n]) { return all[below(n)]; }
    uint64_t log_between(uint64_t least, uint64_t most) /* each order of magnitude is equally likely */
    {
        if (most <= least) return least;
        double at =
            exp(log((double)least) + (log((double)most + 1) - log((double)least)) * ((double)(draw() >> 11) * 0x1p-53));
        return at < (double)least ? least : at > (double)most ? most : (uint64_t)at;
    }
};

/* The memory and time of a place. */
struct limits {
    uint64_t items, slots, array_bytes; /* of a batch; of a table; of one array of values */
    uint32_t value_bytes;
};

/* ---- Keys of a batch ------------------------------------------------------------------------- */

enum key_kind { EVERYWHERE, AGAIN_AND_AGAIN, SKEWED, ZIPF, SERIES };

struct keys_of {
    key_kind kind;
    uint64_t salt, range, from, stride;
    bool reserved; /* one in 61 */
    BOTH uint64_t number(uint64_t i, uint64_t keys) const
    {
        uint64_t r = hd_mix64(i * GOLDEN + salt);
        switch (kind) {
        case EVERYWHERE: return hd_mulhi64(r, keys);
        case AGAIN_AND_AGAIN: return (from + hd_mulhi64(r, range)) & (keys - 1);
        case SKEWED: return hd_mulhi64(hd_mulhi64(r, hd_mix64(r ^ salt)), keys);
        case ZIPF: /* keys^u for uniform u: a density of 1 / number */
            return (from + (uint64_t)exp2((double)(r >> 11) * 0x1p-53 * log2((double)keys)) - 1) & (keys - 1);
        default: return (from + i * stride) & (keys - 1);
        }
    }
    BOTH uint64_t key(uint64_t i, const naming &names) const
    {
        if (reserved && hd_mix64(i ^ salt) % 61 == 0) return names.limit + i % 3;
        return names.key_of(number(i, names.keys));
    }
};

/* KEYS=zipf in the environment: every batch is of kind ZIPF, and scores are low, as counts are. */
static inline bool all_are_skewed(void)
{
    static const char *const only = getenv("KEYS");
    return only && strcmp(only, "zipf") == 0;
}

/* A series repeats no number: its stride is odd, and keys is a power of two. */
static inline keys_of draw_keys(dice &d, uint64_t n, uint64_t keys)
{
    static const key_kind kinds[] = { EVERYWHERE, EVERYWHERE, AGAIN_AND_AGAIN, SKEWED, ZIPF, SERIES, SERIES };
    keys_of k = { d.of(kinds), d.draw(), 0, d.below(keys), d.one_in(2) ? 1 : d.draw() | 1, d.one_in(4) };
    if (all_are_skewed()) k.kind = ZIPF;
    if (k.kind == SERIES && n > keys) k.kind = EVERYWHERE;
    k.range = d.log_between(n / 4096 + 1, n / 2 + 1);
    if (k.range > keys) k.range = keys;
    return k;
}

#endif
