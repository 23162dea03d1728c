/* SPDX-License-Identifier: Apache-2.0
 *
 * given.h - puzzle "find": what a kernel gets that looks for keys, one lane for a key.
 */
#ifndef HD_PUZZLE_FIND_H
#define HD_PUZZLE_FIND_H

#include "simt/simt.h"

enum { SLOTS = 8, NOWHERE = 8 };

typedef struct find_args {
    const uint64_t *keys;   /* (buckets x SLOTS): slot s of bucket b is keys[b * SLOTS + s]; 0: the slot is free */
    const uint64_t *wanted; /* (n) the keys to look for, none of them 0 */
    const uint32_t *bucket; /* (n) the bucket that may hold wanted[i]   */
    uint32_t *place;        /* (n) for the answer: the slot, or NOWHERE */
    uint32_t n;
} find_args;

#endif
