/* SPDX-License-Identifier: Apache-2.0
 *
 * slate.h - a table as small as one can be that survives a crash: slots of a key and a value in persistent memory, and
 * a count of the entries in memory that is not. A lock keeps items apart. An insertion claims an empty slot
 * (HD_KEY_LOCKED), writes the value, and then the key, each made durable before the next. Recovery empties claimed
 * slots and counts.
 *
 * The kernels, and kernels with one fault each; recoveries with one fault each.
 */
#ifndef TESTS_SLATE_H
#define TESTS_SLATE_H

#include "judge/design.h"

enum { SLATE_SLOTS = 4 };

extern const judge_design judge_design_slate;

typedef enum slate_recovery {
    SLATE_RIGHT,
    SLATE_LEAVES_CLAIMS,
    SLATE_DROPS,   /* the entry in the last slot, too */
    SLATE_COUNTS,  /* how often it ran, in persistent memory */
    SLATE_ZEROES,  /* the value of a claimed slot, and may be cut before that */
    SLATE_GIVES_UP /* when there is a claimed slot */
} slate_recovery;
extern slate_recovery slate_recovers;

#endif
