/* SPDX-License-Identifier: Apache-2.0
 *
 * given.h - puzzle "vote": what a kernel gets whose eight lanes count items by votes.
 */
#ifndef HD_PUZZLE_VOTE_H
#define HD_PUZZLE_VOTE_H

#include "simt/simt.h"

enum { LANES = 8, OLD = 50 };

typedef struct vote_args {
    const uint32_t *age; /* (n) of each item                            */
    uint32_t *old_ones;  /* for the answer: how many are OLD or older   */
    uint32_t n;
} vote_args;

#endif
