/* SPDX-License-Identifier: Apache-2.0
 *
 * design.h - what a table design is to the spine: a few functions over a state of its own. Its row stands at the
 * bottom of the file that describes it; lib/designs.inc lists the rows.
 */
#ifndef HD_DESIGN_H
#define HD_DESIGN_H

#include "lib/seam.h"

/* One entry, as for_each and snapshots see it. */
typedef struct hd_entry {
    uint64_t slot, key, score;
    void *value; /* (value_bytes), in the table */
} hd_entry;

/* When a batch happens. */
typedef struct hd_when {
    uint64_t clock;    /* item i happens at clock + i x per_item */
    uint64_t per_item; /* 1: logical clock; 0: the device's      */
    uint32_t epoch;
} hd_when;

typedef struct hd_design {
    const char *name, *what;
    /* Checks the configuration (HD_EINVAL names the field) and completes `info`: buckets, capacity, memory_bytes. */
    hd_status (*shape)(const hd_config *c, hd_info *info);
    /* An empty table of that shape; all memory is taken here. */
    hd_status (*open)(const hd_info *info, const hd_seams *s, void **state);
    void (*close)(void *state, const hd_seams *s);
    /* Runs a checked batch; cannot fail. tally (HD_OUTCOME_COUNT) gets the outcomes of keyed items. */
    void (*run)(void *state, const hd_batch *b, hd_when when, uint64_t *tally);
    /* HD_ECORRUPT and the first invariant that fails. */
    hd_status (*check)(void *state);
    /* The first entry at or after e->slot; false when there is none. */
    bool (*next)(void *state, hd_entry *e);
    /* Puts an entry into exactly that empty slot (false: the key cannot be there) ... */
    bool (*put_at)(void *state, const hd_entry *e);
    /* ... or wherever it belongs (false: there is no room). */
    bool (*put)(void *state, const hd_entry *e);
    /* Moves all entries and pins into an empty state with a multiple of the buckets. Cannot fail. */
    void (*move_all)(void *from, void *to);
} hd_design;

const hd_design *hd_design_at(size_t i); /* NULL past the end */

/* Which code runs a batch: one row per design, variant and backend. */
typedef struct hd_kernel {
    const char *design, *name, *backend, *what;
    /* NULL when the row can run the batch on such a table; else why not. */
    const char *(*unfit)(const hd_info *info, const hd_batch *b);
    void (*launch)(void *state, const hd_batch *b, hd_when when, uint64_t *tally);
    const char *ran[HD_OP_COUNT_]; /* "hkv.find.ref" */
} hd_kernel;

const hd_kernel *hd_kernel_at(size_t i); /* NULL past the end */

#endif
