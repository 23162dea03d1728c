/* SPDX-License-Identifier: Apache-2.0
 *
 * state.h - the ordered table's part of a table's state on the backends: for launch.c, memory.c, resize.c and part.c.
 */
#ifndef HD_SL_STATE_H
#define HD_SL_STATE_H

#include "base/backend.h"
#include "concurrency/word.h"
#include "gpu/launches.h"
#include "gpu/sl/check_args.h"

/* Words that kernels count in. */
typedef struct sl_words {
    uint64_t tally[HD_OUTCOME_COUNT];
    uint64_t sum; /* hd_gpu_state.sum */
    sl_numbers numbers;
    sl_check_words check;
    hd_word word; /* of the batch lock group3 */
} sl_words;

/* Memory whose size follows from the number of homes: the entries and the directory, and what windows need for it. */
typedef struct sl_homes {
    sl_view v;      /* on the host machine the reference's, as a batch finds it: all homes in one piece */
    uint64_t *far;  /* the words of homes from `near` on */
    uint64_t near;  /* homes */
    bool keys_here; /* near keys are in host memory, for want of device memory (near.c) */
    sl_room room;   /* of it only what counts homes */
} sl_homes;

/* Pointers are the machine's. */
typedef struct sl_state {
    hd_gpu_state gpu;
    sl_homes at, next; /* next: while the table is resized, what it becomes */
    sl_words *words;
    sl_window window;
    uint32_t *sort_count; /* (gpu_sort_counts) */
    gpu_batch kept;       /* sl_args.b, with the scratch of lists */
} sl_state;

sl_check_args sl_check_args_of(const sl_state *o);
/* The argument of kernels, all but the batch. */
sl_args sl_args_of(const sl_state *o, const sl_homes *h);

/* The numbers and no memory of a table with so many homes. */
void sl_homes_begin(const sl_state *o, sl_homes *h, uint64_t homes);
/* Its arrays, or those that depend on how many homes are near; at: where it is in the state. entries: also what on
 * the host machine is in the reference's state. How many. */
int sl_homes_memory(const sl_state *o, const sl_homes *h, size_t at, hd_memory *all);
int sl_near_memory(const sl_state *o, const sl_homes *h, size_t at, bool entries, hd_memory *all);

/* memory.c: members of sl_gpu. */
int sl_memory(const void *state, hd_memory *all);
void sl_begin_table(void *state);
void sl_taken(void *state);
void *sl_view_of_state(void *entries);
void sl_before_batch(void *state, void *entries);
void sl_after_batch(void *state, void *entries, bool good);
hd_status sl_open_here(const void *state, const hd_seams *s, void **staged);
hd_status sl_shape_there(const hd_config *c, hd_info *info, bool device);

/* Stages of sl_room.stage. */
uint64_t sl_stages(const sl_view *v);
/* What of a table's values is near, and far, for its info. */
void sl_tell_parts(hd_info *info, uint64_t homes, uint64_t near);

/* Shares of a sort, at most. */
uint32_t sl_sort_shares(const sl_state *o);
/* Items of a window. */
uint64_t sl_window_items(const sl_state *o);

/* How many of so many homes are near. */
uint64_t sl_near_homes(const hd_info *info, uint64_t homes);
/* HD_EINVAL: a table with so many homes needs more device memory than it may have. */
hd_status sl_fits_near(const hd_info *info, uint64_t homes);

/* Before entries of far segments are asked for by number (sl_place_of). */
hd_status sl_sum_rows_of(const hd_gpu_machine *m, const sl_args *a, uint64_t rows);

/* hd_gpu.resize */
hd_status sl_resize_there(void *state, void *entries, const hd_gpu_machine *m, uint64_t buckets, hd_info *info);
/* hd_gpu.set_near */
hd_status sl_set_near(void *state, void *entries, const hd_gpu_machine *m, uint64_t near_bytes, hd_info *info);
void sl_tell_info(const sl_state *o, hd_info *info);

#endif
