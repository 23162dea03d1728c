/* SPDX-License-Identifier: Apache-2.0
 *
 * given.h - puzzle "digests": what a kernel gets that looks for keys in buckets of 32 slots with digests.
 */
#ifndef HD_PUZZLE_DIGESTS_H
#define HD_PUZZLE_DIGESTS_H

#include "simt/simt.h"

enum { SLOTS = 32, NOWHERE = 32 };

typedef struct digests_args {
    const uint8_t *digests; /* (buckets x SLOTS) of the key in each slot, 1 to 255; 0: the slot is free */
    const uint64_t *keys;   /* (buckets x SLOTS)                          */
    const uint64_t *wanted; /* (n) the keys to look for, none of them 0   */
    const uint32_t *bucket; /* (n) the bucket that may hold wanted[i]     */
    uint32_t *place;        /* (n) for the answer: the slot, or NOWHERE   */
    uint32_t n;
} digests_args;

/* One byte of a key: different keys may have the same. */
SIMT_FN uint32_t digest_of(uint64_t key) { return 1 + (uint32_t)(key % 255); }

#endif
