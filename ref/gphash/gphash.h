/* SPDX-License-Identifier: Apache-2.0
 *
 * gphash.h - the GPHash table, sequentially: a dictionary whose bytes can outlive the process. It has two faces, as
 * hkv.h has: `gphash_apply` runs one item, `gphash_accept` judges what another implementation says became of one.
 */
#ifndef HD_GPHASH_H
#define HD_GPHASH_H

#include "base/design.h"
#include "ref/gphash/layout.h"

/* For the row of the design. */
extern const hd_backend gphash_reference;
extern const hd_params gphash_params;
void gphash_usual(hd_config *c);

/* The reference's state. */
typedef struct gphash_table {
    gphash_view v; /* first */
    /* Cells are taken at v.free[head], and given back at v.free[tail], both modulo the number of cells. */
    uint64_t head, tail;
} gphash_table;

typedef struct gphash_item {
    hd_op op;
    hd_elem elem;  /* accum_or_assign                */
    uint32_t flag; /* accum_or_assign: hd_accum      */
    uint64_t key;
    const void *value; /* (value_bytes); NULL: the operation has none */
} gphash_item;

typedef struct gphash_seen {
    hd_outcome outcome;
    uint64_t entry; /* where the key is now; GPHASH_NOWHERE: it is not there. To `accept`: the slot that was taken */
} gphash_seen;

/* NULL, or why a table with such a cache does not run the operation. */
const char *gphash_unsupported(hd_op op, hd_cache cache);

/* Applies one item. */
void gphash_apply(gphash_table *t, const gphash_item *it, gphash_seen *seen);
/* NULL: `seen` may have become of `it` now, and has now happened to t. Else why not, and t is unchanged. busy: how many
 * slots others may hold for a moment while `it` looks for one. Static storage. */
const char *gphash_accept(gphash_table *t, const gphash_item *it, const gphash_seen *seen, uint64_t busy);

uint64_t gphash_find(const gphash_view *v, uint64_t key); /* GPHASH_NOWHERE: it is not there */
/* The slot for a key that is not there: of the candidate buckets the one with the most free slots, the first of equals
 * in the order of lanes. GPHASH_NOWHERE: there is none. */
uint64_t gphash_room(const gphash_view *v, uint64_t key);
/* Stores a word of a slot, whole and after all earlier stores: the process may be killed between any two, and its pages
 * of a file stay. */
static inline void gphash_publish(uint64_t *at, uint64_t word) { __atomic_store_n(at, word, __ATOMIC_RELEASE); }

void *gphash_value(const gphash_view *v, uint64_t e); /* (value_bytes) of an entry */
/* Puts an absent key into exactly that slot; false: it cannot be there, or no cell is free. */
bool gphash_put(gphash_table *t, uint64_t e, uint64_t key, const void *value);
void gphash_remove(gphash_table *t, uint64_t e);

/* Runs all items of a checked batch, item 0 first. tally[] (HD_OUTCOME_COUNT) gets the outcomes. */
void gphash_run_batch(gphash_table *t, const hd_batch *b, uint64_t *tally);
void gphash_clear(gphash_table *t);
/* Moves every entry of the bottom level into the new top level, whose memory is there and empty. */
void gphash_raise(gphash_view *v);

/* "" when every invariant holds, else a sentence that begins with the number of the first that does not. */
void gphash_check(const gphash_table *t, char *why, size_t bytes);
/* Makes of what a crash left a table at rest, whatever was being written: locked slots and keys without a value are
 * empty again, and all cells that no entry names are free. Returns how many slots it emptied. */
uint64_t gphash_recover(gphash_table *t);

/* ---- The state that gphash_reference opens ----------------------------------------------------- */

static inline gphash_table *gphash_table_of(void *state) { return (gphash_table *)state; }
/* A view of that shape whose memory is nowhere yet; what a table of that shape says of itself. */
gphash_view gphash_view_for(const hd_info *info);
void gphash_tell(const gphash_view *v, hd_info *info);
/* hd_backend.arrange. */
void gphash_arrange(gphash_table *t);
/* hd_backend.extents. The rest follows from these and hd_info. */
int gphash_extents(const gphash_view *v, hd_extent *all);
/* HD_EINVAL where the table cannot become one of so many buckets; else how many levels it is to be raised. */
hd_status gphash_raises(const gphash_view *v, uint64_t buckets, uint32_t *levels);

#endif
