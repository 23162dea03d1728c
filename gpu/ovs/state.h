/* SPDX-License-Identifier: Apache-2.0
 *
 * state.h - the ovs part of a table's state on the backends: for launch.c, memory.c, part.c and the judge's port.
 */
#ifndef HD_OVS_STATE_H
#define HD_OVS_STATE_H

#include "base/backend.h"
#include "concurrency/word.h"
#include "gpu/launches.h"
#include "ref/ovs/layout.h"

/* Words that kernels count in. */
typedef struct ovs_words {
    uint64_t tally[HD_OUTCOME_COUNT], op[HD_OP_COUNT_];
    uint64_t sum;      /* hd_gpu_state.sum */
    uint64_t next;     /* ovs_args.next */
    uint64_t kept[2];  /* ovs_args.kept, of every other window */
    uint64_t crowded;  /* ovs_args.crowded */
    uint64_t check[4]; /* ovs_check_args.first, first_row, sum, first_copy */
    hd_word word;      /* of the batch lock group3 */
} ovs_words;

/* What `flip` sorts a window with; its size follows from near_bytes. */
typedef struct ovs_sorts {
    uint64_t *to_sort, *room; /* (window of sorts) each */
    uint32_t *count;          /* (gpu_sort_counts) */
} ovs_sorts;

/* Pointers are the machine's. */
typedef struct ovs_state {
    hd_gpu_state gpu;
    ovs_view v; /* on the host machine the reference's, as a batch finds it */
    ovs_words *words;
    gpu_batch kept; /* ovs_args.b, with the scratch of lists */
    ovs_sorts sorts;
    ovs_extent other; /* while segments move: the new parts of an extent, and then the old ones */
    ovs_sorts others; /* while the limit changes: the same of what sorts */
    /* Ranges. v.row is memory of this machine, pinned: kernels read it where there is no copy in the device's */
    uint64_t *row_there; /* (v.rows); NULL: there is none */
    uint64_t near_rows;  /* a copy has at most so many rows */
    ovs_plan plan;       /* while the table is resized, pinned */
} ovs_state;

enum { OVS_EXTENT_ARRAYS = 3 /* near segments, far segments, digests */, OVS_ROW_ARRAYS = 2 };

/* memory.c: members of ovs_gpu. */
int ovs_memory(const void *state, hd_memory *all);
void ovs_begin_table(void *state);
void ovs_taken(void *state);
void *ovs_view_of_state(void *entries);
void ovs_before_batch(void *state, void *entries);
void ovs_after_batch(void *state, void *entries, bool good);
hd_status ovs_open_here(const void *state, const hd_seams *s, void **staged);
hd_status ovs_shape_there(const hd_config *c, hd_info *info, bool device);

/* Arrays; how many. Of an ovs_sorts, by gpu->info, and of extent k: `at` is where they are in the state; of extent k
 * where the table has it; of a directory of so many rows. */
int ovs_sort_memory(const hd_gpu_state *gpu, size_t at, hd_memory *all);
int ovs_extent_memory(const ovs_view *v, uint32_t k, size_t at, hd_memory *all);
int ovs_extents_memory(const ovs_view *v, uint32_t k, hd_memory *all);
int ovs_row_memory(const ovs_state *o, uint64_t rows, hd_memory *all);

/* Items of a window of sorts, and its shares. */
uint64_t ovs_sort_window(const hd_gpu_state *gpu);
uint32_t ovs_sort_shares(const hd_gpu_state *gpu);

/* What batches need, in bytes. */
uint64_t ovs_batch_bytes(const hd_info *info, bool device);
/* What a table takes of the device's memory besides segments and digests, at most. */
uint64_t ovs_scratch_bytes(const hd_info *info);
/* ovs_view_for, whose near_most and guided leave room for what kernels need. */
ovs_view ovs_view_on(const hd_info *info, bool device);
/* HD_EINVAL: kernels need more device memory than the table may have. */
hd_status ovs_fits_near(const hd_info *info, bool device);
/* What the table is, for its info. */
void ovs_tell_info(const ovs_state *o, hd_info *info);

/* All copies of entries (ref/ovs/layout.h) are dropped, before what is launched next. */
hd_status ovs_forget_copies_there(const ovs_state *o, const hd_launcher *l);

/* How many rows a copy of the directory in the device's memory may have. */
uint64_t ovs_near_rows_for(const hd_info *info, bool device);

/* hd_gpu.set_near */
hd_status ovs_set_near(void *state, void *entries, const hd_gpu_machine *m, uint64_t near_bytes, hd_info *info);

/* The table as kernels see it. */
static inline ovs_view ovs_view_there(const ovs_state *o)
{
    ovs_view v = o->v;
    if (o->row_there) v.row = o->row_there;
    return v;
}

/* How many buckets from b on lie one after another. */
uint64_t ovs_run_from(const ovs_view *v, uint64_t b);

/* ranges.c */
/* The directory's copy in the device's memory is given back; and taken again, of at most so many rows. The table
 * is whole without it. */
void ovs_drop_directory(ovs_state *o, const hd_gpu_machine *m);
hd_status ovs_copy_directory(ovs_state *o, const hd_gpu_machine *m, uint64_t near_rows);
/* Launches a kernel that copies the directory to the device, if that has room for it. */
hd_status ovs_write_directory(ovs_state *o, const hd_launcher *l);
/* So many segments, or as few as there is room for. The extents that are needed are there. */
hd_status ovs_resize_ranges(ovs_state *o, const hd_gpu_machine *m, uint64_t segments);
/* Splits segments for keys that found no slot. take: the extents for so many segments. */
hd_status ovs_make_room_there(ovs_state *o, const hd_gpu_machine *m, const uint64_t *key, uint64_t n,
                              hd_status (*take)(ovs_state *o, const hd_gpu_machine *m, uint64_t segments));

extern const hd_gpu_parts ovs_parts;
hd_status ovs_check_there(void *state, const hd_gpu_machine *m); /* hd_gpu.check */
/* Launches the kernel that computes all digests. */
hd_status ovs_renew_there(const ovs_state *o, const hd_gpu_machine *m);

#endif
