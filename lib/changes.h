/* SPDX-License-Identifier: Apache-2.0
 *
 * changes.h - what of a table's arrays its file lacks, found by comparing them with the durable copy (store.h), and the
 * two ways of writing it.
 *
 * A record of the journal can have any words. Then a checkpoint writes their pages once more. Cells that are free in
 * the durable copy (hd_extent.cell_bytes) can be written where they are, before the record that makes words name them:
 * once. A crash before that record leaves bytes in cells that nothing names. A cell of which the journal has bytes is
 * not free until the next checkpoint, since replaying the journal would put the old bytes back.
 *
 * For the files of lib/ alone. Pages are compared by several threads (base/team.h).
 */
#ifndef HD_CHANGES_H
#define HD_CHANGES_H

#include "lib/pieces.h"
#include "lib/store.h"

enum { HD_CHANGES_SHARES = 1024 /* of all pages: of each array each thread has some */ };
typedef struct hd_changes {
    uint64_t redos[HD_CHANGES_SHARES]; /* by shares: bytes of their redos */
} hd_changes;

/* The durable copy of an array. */
static inline uint8_t *hd_changes_copy(const hd_store *x, const hd_pieces *p, int i)
{
    return hd_store_copy(x, p->extent[i]) + p->at[i];
}

/* Compares pages of arrays with cells, of which x->changed says that they may have changed; then it says which sectors
 * have. The bytes of these. */
uint64_t hd_changes_in_cells(hd_store *x, const hd_pieces *p);
/* Writes what is new in free cells to the image. It is no change any more, and is to be synced before the record. */
hd_status hd_changes_write(hd_store *x, const hd_pieces *p);
/* Compares the pages of the other arrays likewise, and counts what the record of all changes takes. */
void hd_changes_find(hd_store *x, const hd_pieces *p, hd_changes *c);
/* Makes this record; false: there is no room for it in a journal of that size. Cells that words of the
 * record no longer name are free from the next commit on. */
bool hd_changes_record(hd_store *x, const hd_pieces *p, const hd_changes *c);
/* The durable copy takes what the record has: when that is durable; or, if it is the shadow, before: it is not read any
 * more if the record cannot be written. */
void hd_changes_take(hd_store *x, const hd_pieces *p);

/* From now on cells are told apart; the journal is empty. After a failure they are not. */
hd_status hd_cells_take(hd_store *x, const hd_pieces *p);
void hd_cells_give(hd_store *x);
/* The journal begins anew. */
void hd_cells_checkpoint(hd_store *x);

#endif
