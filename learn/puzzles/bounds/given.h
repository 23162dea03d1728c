/* SPDX-License-Identifier: Apache-2.0
 *
 * given.h - puzzle "bounds": what a kernel gets that looks for the least of 64 scores with lower bounds, eight lanes
 * for a bucket.
 */
#ifndef HD_PUZZLE_BOUNDS_H
#define HD_PUZZLE_BOUNDS_H

#include "simt/simt.h"

enum { GROUP = 8, GROUPS = 8, SLOTS = GROUP * GROUPS };

typedef struct bounds_args {
    const uint64_t *scores; /* (n x SLOTS): slot s of bucket b is scores[b * SLOTS + s]                        */
    uint64_t *bounds;       /* (n x GROUPS): no score of slots 8g to 8g + 7 is below bounds[b * GROUPS + g]    */
    uint32_t *victim;       /* (n) for the answer: a slot that has the least score of its bucket               */
    uint32_t n;
} bounds_args;

#endif
