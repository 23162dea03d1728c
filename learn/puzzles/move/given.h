/* SPDX-License-Identifier: Apache-2.0
 *
 * given.h - puzzle "move": what a kernel gets in which one block moves keys to another bucket, and one looks for them.
 */
#ifndef HD_PUZZLE_MOVE_H
#define HD_PUZZLE_MOVE_H

#include "simt/simt.h"

typedef struct move_args {
    uint64_t *first, *second; /* (n) a slot in the first bucket of key i, and one in its second; 0: free */
    const uint64_t *key;      /* (n) at the beginning key i is in first[i], and second[i] is free        */
    const uint64_t *wanted;   /* (n) what block 1 looks for: key i, or a key that is never there         */
    uint32_t *found;          /* (n) for the answer of block 1: 1 if it found wanted[i], else 0          */
    uint32_t n;
} move_args;

#endif
