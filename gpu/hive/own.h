/* SPDX-License-Identifier: Apache-2.0
 *
 * own.h - Hive's part of a table's state on the backends: for launch.c and for the judge's port.
 */
#ifndef HD_HIVE_OWN_H
#define HD_HIVE_OWN_H

#include "base/backend.h"
#include "concurrency/word.h"
#include "gpu/hive/check_args.h"

/* Words that kernels count in. */
typedef struct hive_words {
    /* stashed: of the stash that is, and of one that is to be */
    uint64_t tally[HD_OUTCOME_COUNT], op[HD_OP_COUNT_], stashed[2], crowded[2];
    uint64_t sum; /* hd_gpu_own.sum */
    hd_word word; /* of the batch lock group3 */
    hive_check_words check;
} hive_words;

/* Pointers are the machine's. */
typedef struct hive_own {
    hd_gpu_own gpu;
    hive_view v;       /* on the host machine the reference's, as a batch finds it */
    hive_segment next; /* a stash that is to be, while the table grows, and then the one that was */
    hive_words *words;
    uint32_t count;      /* which of words->stashed is the stash's */
    uint64_t *listed;    /* (GPU_LIST_WORDS)  */
    uint8_t *stage_flag; /* (window of lists)  */
} hive_own;

/* The count of the stash, in the machine's memory. */
static inline uint64_t *hive_stashed_of(const hive_own *o) { return &o->words->stashed[o->count]; }

#endif
