/* SPDX-License-Identifier: Apache-2.0
 *
 * own.h - the ovs part of a table's state on the backends: for launch.c, part.c and the judge's port.
 */
#ifndef HD_OVS_OWN_H
#define HD_OVS_OWN_H

#include "base/backend.h"
#include "concurrency/word.h"
#include "ref/ovs/layout.h"

/* Words that kernels count in. */
typedef struct ovs_words {
    uint64_t tally[HD_OUTCOME_COUNT], op[HD_OP_COUNT_];
    uint64_t sum;      /* hd_gpu_own.sum */
    uint64_t next;     /* ovs_args.next */
    uint64_t kept;     /* ovs_args.kept */
    uint64_t crowded;  /* ovs_args.crowded */
    uint64_t check[3]; /* ovs_check_args.first, first_row, sum */
    hd_word word;      /* of the batch lock group3 */
} ovs_words;

/* Pointers are the machine's. */
typedef struct ovs_own {
    hd_gpu_own gpu;
    ovs_view v; /* on the host machine the reference's, as a batch finds it */
    ovs_words *words;
    uint64_t *listed;              /* (GPU_LIST_WORDS)  */
    uint8_t *stage_flag;           /* (window of lists) */
    uint64_t *to_sort, *sort_room; /* (window of sorts) each */
    uint32_t *sort_count;          /* (gpu_sort_counts) */
    /* Ranges. v.row is memory of this machine, pinned: kernels read it where there is no copy in the device's */
    uint64_t *row_there; /* (v.rows); NULL: there is none */
    uint64_t near_rows;  /* a copy has at most so many rows */
    ovs_plan plan;       /* while the table is resized, pinned */
} ovs_own;

/* The table as kernels see it. */
static inline ovs_view ovs_view_there(const ovs_own *o)
{
    ovs_view v = o->v;
    if (o->row_there) v.row = o->row_there;
    return v;
}

/* How many buckets from b on lie one after another. */
uint64_t ovs_run_from(const ovs_view *v, uint64_t b);

/* ranges.c: the memory of a directory of so many rows, as pieces of the own part. */
enum { OVS_ROW_PIECES = 2 };
int ovs_row_pieces(const ovs_own *o, uint64_t rows, hd_piece *all);
/* Launches a kernel that copies the directory to the device, if that has room for it. */
hd_status ovs_write_directory(ovs_own *o, const hd_launcher *l);
/* So many segments, or as few as there is room for. The extents that are needed are there. */
hd_status ovs_resize_ranges(ovs_own *o, const hd_gpu_machine *m, uint64_t segments);
/* Splits segments for keys that found no slot. take: the extents for so many segments. */
hd_status ovs_make_room_there(ovs_own *o, const hd_gpu_machine *m, const uint64_t *key, uint64_t n,
                              hd_status (*take)(ovs_own *o, const hd_gpu_machine *m, uint64_t segments));

extern const hd_gpu_parts ovs_parts;
hd_status ovs_check_there(void *own, const hd_gpu_machine *m); /* hd_gpu.check */

#endif
