/* SPDX-License-Identifier: Apache-2.0
 *
 * given.h - puzzle "publish": what a kernel gets in which one block writes entries that another one reads.
 */
#ifndef HD_PUZZLE_PUBLISH_H
#define HD_PUZZLE_PUBLISH_H

#include "simt/simt.h"

enum { ABSENT = 0 };

typedef struct publish_args {
    uint64_t *keys, *values; /* (n) the slots; key 0: the slot is free                      */
    const uint64_t *key;     /* (n) the key for slot i ...                                  */
    const uint64_t *value;   /* (n) ... and its value, which is not 0                       */
    const uint64_t *wanted;  /* (n) the key that block 1 looks for in slot i                */
    uint64_t *got;           /* (n) what block 1 found in slot i: a value or ABSENT         */
    uint32_t n;
} publish_args;

#endif
