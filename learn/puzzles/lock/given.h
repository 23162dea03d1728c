/* SPDX-License-Identifier: Apache-2.0
 *
 * given.h - puzzle "lock": what a kernel gets whose lanes share an account with a lock.
 */
#ifndef HD_PUZZLE_LOCK_H
#define HD_PUZZLE_LOCK_H

#include "simt/simt.h"

enum { LARGE = 100 };

typedef struct lock_args {
    uint32_t *lock;         /* 0: free, 1: taken                           */
    uint64_t *sum, *count;  /* what the lock protects                      */
    const uint64_t *amount; /* (lanes) of each lane                        */
    uint32_t *large;        /* for the answer: how many amounts are LARGE or more */
} lock_args;

#endif
