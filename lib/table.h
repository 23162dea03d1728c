/* SPDX-License-Identifier: Apache-2.0
 *
 * table.h - what a table is made of. For the files of lib/ alone.
 */
#ifndef HD_TABLE_H
#define HD_TABLE_H

#include <stdatomic.h>

#include "concurrency/lock.h"
#include "base/design.h"
#include "lib/store.h"
#include "policies/program.h"

/* A choice for each operation, and one for mixed batches. */
enum { HD_LOAD_BANDS = 4, HD_CHOICE_MIXED = HD_OP_COUNT_, HD_CHOICES };

/* The kernel that runs a batch which names none: by how many items it has (hd_amount_of), by how full the table is
 * (hd_load_band), and by operation. Its variant is NULL: no kernel runs such a batch. */
typedef struct hd_kernel_choice {
    hd_kernel of[HD_AMOUNTS][HD_LOAD_BANDS][HD_CHOICES];
} hd_kernel_choice;

struct hd_table {
    const hd_design *design;
    const hd_backend *backend;
    const hd_lock_row *lock;
    hd_seams seams;
    hd_info info;            /* written only under the lock as inserter      */
    void *state;             /* the backend's; likewise                      */
    hd_store *store;         /* of a table with a file; else NULL. Its contents likewise, or as updater */
    hd_kernel_choice choice; /* follows info */
    uint32_t policy_flags;
    bool times_once; /* the policy reads times, and the table is not to let launches of a graph repeat them */
    char policy[HD_PROGRAM_TEXT]; /* info.policy, where no registry has that text */
    bool scores_ahead;            /* of the clock, some scores may be: a loaded file's, or raw ones; likewise */
    _Atomic uint64_t entries; /* what the outcomes told so far: hd_entries_sync. For kernel_pick that is near enough */
    _Atomic uint64_t synced_batches; /* so many batches had run when outcomes were last asked for */
    _Atomic bool entries_unknown;    /* some have come or gone of which no outcome told */
    _Atomic bool may_replay;         /* and may do so again at any time: their stream may have been recorded */
    _Atomic uint64_t clock;          /* logical: ticks so far; the device's: what it said when the table was opened */
    _Atomic uint64_t latest;         /* HD_CLOCK_DEVICE, where it is seams.time: what it said at most */
    bool now_is_told;                /* hd_config.now: HD_CLOCK_DEVICE is seams.time on a device, too */
    _Atomic uint64_t batches, outcome[HD_OUTCOME_COUNT], op[HD_OP_COUNT_];
    _Atomic uint32_t epoch;
    _Alignas(16) unsigned char lock_state[HD_LOCK_BYTES];
};

/* The seams of a table with this configuration. HD_EINVAL: the allocator has one function of a pair. */
hd_status hd_seams_of_config(const hd_config *c, hd_seams *seams);

/* hd_open of a table by its file's store, which it takes over, or without one (NULL). to_read: the file stays as it is,
 * and the table is in memory alone. */
hd_status hd_table_open(const hd_config *c, const hd_seams *seams, hd_store *store, bool to_read, hd_table **table);

/* HD_EINVAL and the field when b cannot run on t. */
hd_status hd_batch_check(const hd_table *t, const hd_batch *b, const hd_op_row *row);

/* HD_EINVAL when hd_run would refuse b; what the table is at that time. Takes the lock. */
hd_status hd_batch_accept(hd_table *t, const hd_batch *b, const hd_op_row *row, hd_info *info);

/* Where a table grows into a new state: what *info becomes with so many buckets, a multiple of those that it has. */
hd_status hd_larger_shape(const hd_design *d, const hd_backend *on, uint64_t buckets, hd_info *info);

/* hd_grow, for a caller that holds the lock as inserter. */
hd_status hd_table_grow(hd_table *t, uint64_t buckets);

/* hd_backend.room_for, for such a caller. *made: whether the table has grown by it. */
hd_status hd_table_room_for(hd_table *t, const uint64_t *key, uint64_t n, bool *made);

/* A time of HD_CLOCK_DEVICE that is not below an earlier one: kernels rely on that (hd_when.rises). */
uint64_t hd_time_of(hd_table *t);

/* Outcomes that the state knows and the table does not yet: before a state is closed, and before totals are read. */
hd_status hd_late_tally(hd_table *t);
/* Before a batch that is to come after all earlier ones: where batches run as their streams get to them, waits. */
hd_status hd_earlier_await(hd_table *t);

/* How many entries there are when all batches so far have run, and the counters with them: by what the outcomes told,
 * and where they did not tell all, by a look at every slot. entries NULL: the counters alone. */
hd_status hd_entries_sync(hd_table *t, uint64_t *entries);

/* What `info` says the table is from now on. */
void hd_table_become(hd_table *t, const hd_info *info);

static inline hd_amount hd_amount_of(const hd_design *d, const hd_backend *on, const hd_batch *b)
{
    uint64_t few = hd_few_items_on(d, on);
    if (b->n > few || !few) return HD_MANY;
    return b->n <= (b->distinct ? d->fewest_distinct : d->fewest_items) ? HD_FEWEST : HD_FEW;
}

/* Load factors up to 0.5, 0.75, 0.9 and 1; each band is chosen for as if the table were as full as its end. */
uint32_t hd_load_band(double load_factor);
void hd_kernels_choose(const hd_info *info, hd_kernel_choice *choice);

/* The row that b->kernel names; without a name the one that the design selects, or the first that can run b on a table
 * like this. A pure function. */
hd_status hd_kernel_pick(const hd_info *info, const hd_batch *b, double load_factor, hd_kernel *k);

#endif
