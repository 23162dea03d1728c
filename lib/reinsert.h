/* SPDX-License-Identifier: Apache-2.0
 *
 * reinsert.h - puts entries that come in any order into an empty state, by batches of bounded size. So the host memory
 * that it takes does not depend on the number of entries, and entries of a device are placed by its kernels.
 *
 * A design with scores keeps the best entries: a full bucket evicts an entry with a lower score. What was evicted runs
 * again, because it may have another bucket. A design that resizes drops nothing.
 */
#ifndef HD_REINSERT_H
#define HD_REINSERT_H

#include "base/design.h"

typedef struct hd_reinsert {
    const hd_design *design;
    const hd_backend *backend;
    const hd_seams *seams;
    const char *from;  /* where the entries come from: messages begin with it */
    void *state;       /* the caller's */
    hd_info *info;     /* of the state, likewise; it changes if the state is resized */
    uint64_t room;     /* rows that a batch has at most */
    uint64_t inserted; /* entries in the state */
    /* (room) each; the caller writes rows, and hd_reinsert_run overwrites them */
    uint64_t *key, *score;
    uint8_t *value; /* (room, value_bytes) */
    /* What a batch answers. */
    uint8_t *outcome;
    uint64_t *gone_key, *gone_score, *gone_item;
    uint8_t *gone_value;
    void *block;
    uint64_t block_bytes;
} hd_reinsert;

/* For at most `entries` entries. HD_ENOMEM: there is nothing to close. */
hd_status hd_reinsert_open(hd_reinsert *x, const hd_design *design, const hd_backend *on, const hd_seams *seams,
                           void *state, hd_info *info, const char *from, uint64_t entries);
/* Puts n entries, which are at most x->room. HD_ECORRUPT: a key is reserved, or was put before. */
hd_status hd_reinsert_run(hd_reinsert *x, uint64_t n);
/* Ends it, after a failure, too. The outcomes of its batches are no outcomes of the table's. */
hd_status hd_reinsert_close(hd_reinsert *x);

#endif
