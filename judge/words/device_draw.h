/* SPDX-License-Identifier: Apache-2.0
 *
 * device_draw.h - random shapes of dictionaries, and the operations of random batches.
 */
#ifndef SOAK_WORDS_DRAW_H
#define SOAK_WORDS_DRAW_H

#include "judge/device/answers.h"

/* ---- Shapes ---------------------------------------------------------------------------------- */

/* The key factor is one of `factors`, or, for 0, any odd number. */
template <class shape, size_t n>
static inline void words_draw_names(dice &d, shape *s, const uint64_t (&factors)[n], uint64_t limit, uint64_t keys_most)
{
    while (s->keys > keys_most || s->keys > limit) s->keys /= 2;
    s->factor = d.of(factors);
    if (s->factor == 0) s->factor = d.draw() | 1;
    s->seed = d.one_in(2) ? 0 : d.draw();
}

/* The keys of a table that grows and shrinks: half as many as slots, or up to four times as many. */
template <class shape> static inline void words_draw_keys(dice &d, shape *s)
{
    uint64_t keys = (s->buckets * s->slots << d.below(4)) / 2;
    for (s->keys = 16; s->keys < keys;) s->keys *= 2;
}
/* Its batches: many items of few keys delay each other. */
template <class shape> static inline void words_set_items(shape *s, const limits &most)
{
    uint64_t items = 16 * s->buckets * s->slots + 4096;
    s->least = 1;
    s->items = most.items < items ? most.items : items;
}

/* The keys of the largest table that stays at a load factor, of which three quarters are present. */
template <class shape> static inline void words_set_full_keys(shape *s, const limits &most)
{
    for (s->keys = 16; s->keys * 6 <= most.slots;) s->keys *= 2;
}
/* And the rest of it. */
template <class shape> static inline void words_set_full(shape *s, double load, const limits &most)
{
    s->buckets = (uint64_t)((double)s->keys * 0.75 / load / s->slots) + 1;
    s->items = most.items < s->keys / 4 ? most.items : s->keys / 4;
    s->least = s->items / 16;
    s->stays = true;
}

/* ---- Operations ------------------------------------------------------------------------------ */

/* Shares of the operations of a mixed batch, up to 2^16 in all. */
struct shares {
    enum : uint32_t { OPS = 8, ALL = 1 << 16 };
    uint32_t up_to[OPS];
    static BOTH hd_op op_at(uint32_t n)
    {
        switch (n) {
        case 0: return HD_OP_INSERT_OR_ASSIGN;
        case 1: return HD_OP_FIND_OR_INSERT;
        case 2: return HD_OP_ACCUM_OR_ASSIGN;
        case 3: return HD_OP_FIND;
        case 4: return HD_OP_CONTAINS;
        case 5: return HD_OP_ASSIGN;
        case 6: return HD_OP_ASSIGN_VALUES;
        default: return HD_OP_ERASE;
        }
    }
    BOTH hd_op op_of(uint64_t random) const
    {
        uint32_t n = 0, at = (uint32_t)(random % ALL);
        while (n + 1 < OPS && at >= up_to[n]) n++;
        return op_at(n);
    }
};

/* Random weights; sums: values can be added. */
static inline void draw_weights(dice &d, bool sums, double weight[shares::OPS])
{
    static const uint64_t often[shares::OPS] = { 16, 6, 4, 12, 4, 4, 4, 8 };
    for (uint32_t n = 0; n < shares::OPS; n++) weight[n] = (double)d.below(1 + often[n] * often[d.below(shares::OPS)]);
    weight[0] += 1;
    if (!sums) weight[2] = 0;
}

static inline shares shares_of(const double weight[shares::OPS])
{
    shares m;
    double all = 0, sum = 0;
    for (uint32_t n = 0; n < shares::OPS; n++) all += weight[n];
    for (uint32_t n = 0; n < shares::OPS; n++) m.up_to[n] = (uint32_t)((sum += weight[n]) / all * (double)shares::ALL);
    return m;
}

/* The weight of erase with which each item of a batch inserts `net` entries on average, when a share `there` of its
 * keys is present. */
static inline double erases_for(const double weight[shares::OPS], bool sums_insert, double there, double net)
{
    double inserts = weight[0] + weight[1] + (sums_insert ? weight[2] : 0),
           others = inserts + weight[3] + weight[4] + weight[5] + weight[6];
    if (!sums_insert) others += weight[2];
    double wanted = (inserts * (1 - there) - net * others) / (there + net);
    return wanted < 0 ? 0 : wanted > 4 * others ? 4 * others : wanted;
}

#endif
