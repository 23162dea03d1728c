/* SPDX-License-Identifier: Apache-2.0
 *
 * state.h - the gfsl part of a table's state on the backends: for launch.c and the judge's port.
 */
#ifndef GPU_GFSL_STATE_H
#define GPU_GFSL_STATE_H

#include "base/backend.h"
#include "concurrency/word.h"
#include "gpu/launches.h"
#include "gfsl/ref/layout.h"

/* Words that kernels count in. */
typedef struct gfsl_counters {
    uint64_t tally[HD_OUTCOME_COUNT], op[HD_OP_COUNT_];
    uint64_t sum; /* hd_gpu_state.sum */
    hd_word word; /* of the batch lock group3 */
} gfsl_counters;

/* Pointers are the machine's. */
typedef struct gfsl_table_state {
    hd_gpu_state gpu;
    gfsl_view v; /* on backend "host" the reference's, as a batch finds it */
    gfsl_counters *words;
    gpu_batch kept; /* gfsl_args.b, with the scratch of lists */
} gfsl_table_state;

#endif
