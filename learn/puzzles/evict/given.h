/* SPDX-License-Identifier: Apache-2.0
 *
 * given.h - puzzle "evict": what a kernel gets that inserts into full buckets, one lane for a key.
 */
#ifndef HD_PUZZLE_EVICT_H
#define HD_PUZZLE_EVICT_H

#include "simt/simt.h"

enum { SLOTS = 8, REFUSED = 0 };

typedef struct evict_args {
    uint64_t *keys, *scores; /* (n x SLOTS): slot s of bucket i is keys[i * SLOTS + s]; all slots are taken */
    const uint64_t *key;     /* (n) the key for bucket i ...                              */
    const uint64_t *score;   /* (n) ... and its score                                     */
    uint64_t *evicted;       /* (n) for the answer: the key that had to leave, or REFUSED */
    uint32_t n;
} evict_args;

#endif
