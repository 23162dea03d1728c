/* SPDX-License-Identifier: Apache-2.0
 *
 * values.h - keys that are identified by a number, and values that are identified by their key and one word, for any
 * size.
 *
 *   key      number x an odd factor, modulo 2^64, or 2^32 or 2^16 in tables of such short keys. A key that was never
 *            used has no number below the number of keys. Factor 1 makes the keys 0, 1, 2, ...; factor -1 makes the
 *            greatest keys, the three reserved ones included
 *   value    of word w, in elements of 8, 4 or 1 bytes, as its size permits. Elements of 8 and 4 bytes are w x an odd
 *            word of the key and the element's position: values of one key add up as their words do, as
 *            accum_or_assign needs, and the word can be computed from any element. Word 0 is all zeros
 */
#ifndef SOAK_VALUES_H
#define SOAK_VALUES_H

#include "judge/device/place.h"
#include "policies/hashes/hash.h"

static const uint64_t NO_NUMBER = UINT64_MAX, GOLDEN = 0x9e3779b97f4a7c15u;

/* The inverse of an odd word modulo 2^64: each step doubles the number of correct low bits, and x x x = 1 modulo 8. */
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
    /* NO_NUMBER: a reserved key, or one that was never used. */
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
    /* For elements of 8 or 4 bytes: the word whose value this is, if it is a value of the key at all. */
    BOTH uint64_t word_of(const uint8_t *p, uint64_t key) const
    {
        return bytes && grain > 1 ? load(p, 0) * inverse_of(unit(key, 0)) : 0;
    }
};

#endif
