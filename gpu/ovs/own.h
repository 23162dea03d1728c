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
    uint64_t sum;     /* hd_gpu_own.sum */
    uint64_t next;    /* ovs_args.next */
    uint64_t kept;    /* ovs_args.kept */
    uint64_t crowded; /* ovs_args.crowded */
    uint64_t check;   /* ovs_check_args.first */
    hd_word word;     /* of the batch lock group3 */
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
} ovs_own;

/* How many buckets from b on lie one after another. */
uint64_t ovs_run_from(const ovs_view *v, uint64_t b);

extern const hd_gpu_parts ovs_parts;
hd_status ovs_check_there(void *own, const hd_gpu_machine *m); /* hd_gpu.check */

#endif
