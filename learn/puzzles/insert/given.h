/* SPDX-License-Identifier: Apache-2.0
 *
 * given.h - puzzle "insert": what a kernel gets that inserts keys into one bucket, one lane for a key.
 */
#ifndef HD_PUZZLE_INSERT_H
#define HD_PUZZLE_INSERT_H

#include "simt/simt.h"

enum { SLOTS = 8, FULL = 8 };

typedef struct insert_args {
    uint64_t *keys;      /* (SLOTS) the bucket; 0: the slot is free        */
    const uint64_t *key; /* (n) the keys to insert; no two of them equal   */
    uint32_t *place;     /* (n) for the answer: the slot of key i, or FULL */
    uint32_t n;
} insert_args;

#endif
