/* SPDX-License-Identifier: Apache-2.0
 *
 * state.h - Hive's part of a table's state on the backends: for launch.c, memory.c, part.c and the judge's port.
 */
#ifndef HD_HIVE_STATE_H
#define HD_HIVE_STATE_H

#include "base/backend.h"
#include "concurrency/word.h"
#include "gpu/hive/check_args.h"
#include "gpu/launches.h"

/* Words that kernels count in. */
typedef struct hive_words {
    /* stashed: of the stash that is, and of one that is to be */
    uint64_t tally[HD_OUTCOME_COUNT], op[HD_OP_COUNT_], stashed[2], crowded[2];
    uint64_t sum; /* hd_gpu_state.sum */
    hd_word word; /* of the batch lock group3 */
    hive_check_words check;
} hive_words;

/* Pointers are the machine's. */
typedef struct hive_state {
    hd_gpu_state gpu;
    hive_view v;       /* on the host machine the reference's, as a batch finds it */
    hive_segment next; /* a stash that is to be, while the table grows, and then the one that was */
    hive_words *words;
    uint32_t count; /* which of words->stashed is the stash's */
    gpu_batch kept; /* hive_args.b, with the scratch of lists */
} hive_state;

extern const hd_gpu hive_gpu;
/* The count of the stash, in the machine's memory. */
static inline uint64_t *hive_stashed_of(const hive_state *o) { return &o->words->stashed[o->count]; }

/* memory.c: members of hive_gpu; and the arrays of segment k, and of a stash of so many buckets whose addresses are at
 * `at` in the state, at most HIVE_SEGMENT_ARRAYS. How many. */
enum { HIVE_SEGMENT_ARRAYS = 3 };
int hive_memory(const void *state, hd_memory *all);
int hive_segment_memory(const hive_view *v, uint32_t k, hd_put put, hd_memory *all);
int hive_stash_memory(const hive_view *v, size_t at, uint64_t buckets, hd_memory *all);
void hive_begin_table(void *state);
void hive_taken(void *state);
void *hive_view_of_state(void *entries);
void hive_before_batch(void *state, void *entries);
void hive_after_batch(void *state, void *entries, bool good);
hd_status hive_open_here(const void *state, const hd_seams *s, void **staged);

#endif
