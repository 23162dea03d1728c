/* SPDX-License-Identifier: Apache-2.0
 *
 * values.h - keys that are known by a number, and values that are known by their key and one word, whatever their size.
 *
 *   key      number x an odd word, modulo 2^64, or 2^32 or 2^16 where a table's keys are so long: a key that nobody
 *            ever gave has no number below the number of keys. The factor 1 makes keys 0, 1, 2, ..., the factor -1 the
 *            greatest there are, the reserved three among them
 *   value    of word w: in elements of 8 bytes, or of 4, or else of 1, as its size has it. Those of 8 and 4 are w x an
 *            odd word of the key and the element's place: values of one key add up as their words do, which is what
 *            accum_or_assign wants; and the word can be got back from any element. 0 is all zeros
 */
#ifndef SOAK_VALUES_H
#define SOAK_VALUES_H

#include "judge/device/place.h"
#include "hashes/hash.h"

static const uint64_t NO_NUMBER = UINT64_MAX, GOLDEN = 0x9e3779b97f4a7c15u;

/* Of an odd word, modulo 2^64: each step doubles how many of the low bits are right, and x x x = 1 modulo 8. */
static BOTH inline uint64_t inverse_of(uint64_t x)
{
    uint64_t y = x;
    for (int step = 0; step < 5; step++) y *= 2 - x * y;
    return y;
}

struct naming {
    uint64_t keys; /* a power of two */
    uint64_t factor, inverse;
    uint64_t limit;        /* keys below it can be held; it and the two after it are reserved */
    uint32_t bytes, grain; /* of a value, of an element */

    naming(uint64_t keys_, uint64_t factor_, uint32_t bytes_, uint64_t limit_ = HD_KEY_RESERVED)
        : keys(keys_), factor(factor_ | 1), inverse(inverse_of(factor_ | 1)), limit(limit_), bytes(bytes_),
          grain(bytes_ % 8 == 0   ? 8
                : bytes_ % 4 == 0 ? 4
                                  : 1)
    {
    }
    unsigned key_bits() const { return limit > UINT32_MAX ? 64 : limit > UINT16_MAX ? 32 : 16; }
    BOTH uint64_t key_of(uint64_t number) const { return number * factor & (limit + 2); }
    /* NO_NUMBER: reserved, or nobody's. */
    BOTH uint64_t number_of(uint64_t key) const
    {
        uint64_t number = key * inverse & (limit + 2);
        return key < limit && number < keys ? number : NO_NUMBER;
    }
    BOTH uint64_t unit(uint64_t key, uint64_t e) const { return hd_mix64(key + (e + 1) * GOLDEN) | 1; }
    BOTH uint64_t element(uint64_t key, uint64_t word, uint64_t e) const
    {
        if (grain == 1) return word ? hd_mix64((word + e * GOLDEN) ^ key) & 255 : 0;
        return grain == 8 ? word * unit(key, e) : (uint32_t)(word * unit(key, e));
    }
    BOTH uint64_t load(const uint8_t *p, uint64_t e) const
    {
        return grain == 8 ? ((const uint64_t *)p)[e] : grain == 4 ? ((const uint32_t *)p)[e] : p[e];
    }
    BOTH void write(uint8_t *p, uint64_t key, uint64_t word) const
    {
        for (uint64_t e = 0; e < bytes / grain; e++) {
            uint64_t x = element(key, word, e);
            if (grain == 8)
                ((uint64_t *)p)[e] = x;
            else if (grain == 4)
                ((uint32_t *)p)[e] = (uint32_t)x;
            else
                p[e] = (uint8_t)x;
        }
    }
    BOTH bool is(const uint8_t *p, uint64_t key, uint64_t word) const
    {
        for (uint64_t e = 0; e < bytes / grain; e++)
            if (load(p, e) != element(key, word, e)) return false;
        return true;
    }
    /* Of elements of 8 or 4 bytes: a word whose value this is, if it is one of the key's at all. */
    BOTH uint64_t word_of(const uint8_t *p, uint64_t key) const
    {
        return bytes && grain > 1 ? load(p, 0) * inverse_of(unit(key, 0)) : 0;
    }
};

#endif
