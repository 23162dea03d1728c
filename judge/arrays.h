/* SPDX-License-Identifier: Apache-2.0
 *
 * arrays.h - the arrays of a batch, each between two guard zones. Outputs begin as poison. After the run every byte
 * that the operation must not write is still poison: outputs of items that found nothing, the list beyond its count,
 * arrays of other operations, and the guards.
 */
#ifndef HD_JUDGE_ARRAYS_H
#define HD_JUDGE_ARRAYS_H

#include "heddle.h"

typedef enum judge_array {
    /* inputs */ JUDGE_KEY,
    JUDGE_VALUE,
    JUDGE_SCORE,
    JUDGE_FLAG,
    JUDGE_KEY2,
    /* outputs */ JUDGE_OUTCOME,
    JUDGE_FOUND,
    JUDGE_VALUE_OUT,
    JUDGE_SCORE_OUT,
    JUDGE_PTR,
    JUDGE_KEY_OUT,
    JUDGE_ROWS,
    JUDGE_MORE_OUT,
    /* lists */ JUDGE_LIST_KEY,
    JUDGE_LIST_VALUE,
    JUDGE_LIST_SCORE,
    JUDGE_LIST_ITEM,
    JUDGE_COUNT,
    /* an input  */ JUDGE_EACH,
    JUDGE_ARRAYS
} judge_array;

typedef struct judge_arrays {
    uint8_t *block[JUDGE_ARRAYS]; /* guard, array, guard                        */
    size_t used[JUDGE_ARRAYS];    /* bytes of the array in this batch           */
    uint64_t most;                /* items at most                              */
    uint32_t value_bytes;
    uint32_t skew;   /* values begin so many bytes later, at most 16: values of applications have any alignment */
    uint64_t inputs; /* a hash of the inputs, which must not change */
} judge_arrays;

bool judge_arrays_open(judge_arrays *a, uint64_t most, uint32_t value_bytes); /* false: no memory */
void judge_arrays_close(judge_arrays *a);

void *judge_arrays_at(const judge_arrays *a, judge_array which);
const char *judge_array_name(judge_array which); /* "keys" */

/* Points all of b's arrays here, for b->n items (at most `most`; of a range b->n * b->limit). Inputs are then to be
 * filled in. */
void judge_arrays_lend(judge_arrays *a, hd_batch *b);
/* Poisons the outputs; the inputs are complete. */
void judge_arrays_arm(judge_arrays *a);
/* After the run. NULL: clean; else what was touched. Static storage per thread. */
const char *judge_arrays_check(const judge_arrays *a, const hd_batch *b);

#endif
