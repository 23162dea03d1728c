/* SPDX-License-Identifier: Apache-2.0
 *
 * table.h - what a table is made of. For the spine's own files; nobody else looks inside.
 */
#ifndef HD_TABLE_H
#define HD_TABLE_H

#include <stdatomic.h>

#include "concurrency/lock.h"
#include "lib/design.h"

struct hd_table {
    const hd_design *design;
    const hd_lock_row *lock;
    hd_seams seams;
    hd_info info;  /* written only under the lock as inserter      */
    void *state;   /* the design's; likewise                       */
    uint32_t policy_flags;
    bool scores_ahead; /* of the logical clock, some of a loaded file's; likewise */
    _Atomic uint64_t entries; /* about: what the counters tell; for kernel_pick */
    _Atomic uint64_t clock, batches, outcome[HD_OUTCOME_COUNT], op[HD_OP_COUNT_];
    _Atomic uint32_t epoch;
    _Alignas(16) unsigned char lock_state[HD_LOCK_BYTES];
};

/* HD_EINVAL and the field when b cannot run on t. */
hd_status hd_batch_check(const hd_table *t, const hd_batch *b, const hd_op_row *row);

/* Outcomes that the state knows and the table does not yet: before a state is closed, and before totals are read. */
hd_status hd_late_tally(hd_table *t);

/* The row that b->kernel names; without a name the one that hd_select names, or the first that can run b on a table like
 * this. A pure function. */
hd_status hd_kernel_pick(const hd_info *info, const hd_batch *b, double load_factor, const hd_kernel **k);

#endif
