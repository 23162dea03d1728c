/* SPDX-License-Identifier: Apache-2.0
 *
 * given.h - puzzle "least": what a kernel gets that looks for the least of 128 scores, one warp for a bucket.
 */
#ifndef HD_PUZZLE_LEAST_H
#define HD_PUZZLE_LEAST_H

#include "simt/simt.h"

enum { SLOTS = 128 };

typedef struct least_args {
    const uint64_t *scores; /* (n x SLOTS): slot s of bucket b is scores[b * SLOTS + s]    */
    uint32_t *slot;         /* (n) for the answer: a slot that has the least score         */
    uint32_t n;
} least_args;

#endif
