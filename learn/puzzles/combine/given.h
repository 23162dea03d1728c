/* SPDX-License-Identifier: Apache-2.0
 *
 * given.h - puzzle "combine": what a kernel gets that counts hits, one lane for a hit.
 */
#ifndef HD_PUZZLE_COMBINE_H
#define HD_PUZZLE_COMBINE_H

#include "simt/simt.h"

typedef struct combine_args {
    const uint32_t *slot; /* (n) the slot that hit i has found             */
    uint32_t *count;      /* (slots) how often each slot was hit           */
    uint32_t n;
} combine_args;

#endif
