/* SPDX-License-Identifier: Apache-2.0
 *
 * store.h - a durable table: its image and journal, and a copy of its extents as these two have them (the shadow). What
 * a batch has changed is found by comparing pages with the shadow: those of which the backend says that they may have
 * changed (hd_backend.changed). Verify builds compare the others, too. changes.h has that. For the files of lib/ alone.
 *
 * In mode line the image is mapped, and is its own shadow: its extents have each record as soon as that is durable.
 */
#ifndef HD_STORE_H
#define HD_STORE_H

#include "lib/mapped.h"

/* Cells (hd_extent.cell_bytes), for changes.h: what is in those that are free, no record has to say. */
typedef struct hd_cells {
    uint64_t n; /* 0: a table without cells, or in mode process, or one that is being opened */
    uint32_t bytes;
    bool unsynced;                    /* some were written, and the record is not there yet that names them */
    uint8_t *names_of;                /* (n) how many words of the durable copy name it; HD_CELL_NAMES_MOST: or more */
    uint64_t *logged;                 /* (n bits) of which some record of the journal has bytes: it is not free, yet */
    uint64_t first[HD_IMAGE_EXTENTS]; /* of each extent with cells, its first one */
    bool has[HD_IMAGE_EXTENTS], names[HD_IMAGE_EXTENTS]; /* likewise: it has cells; its words name some */
} hd_cells;

enum { HD_CELL_NAMES_MOST = UINT8_MAX };

/* Bytes of a bit for each cell. */
static inline uint64_t hd_cells_bits(const hd_cells *c) { return (c->n + 63) / 64 * sizeof *c->logged; }

/* What the shadow has of a page, and the image lacks: bytes of a record of the journal; of free cells. */
enum { HD_PAGE_LOGGED = 1, HD_PAGE_FREE = 2 };

typedef struct hd_store {
    hd_seams seams;
    hd_image image;
    hd_journal journal;
    hd_mapped pages;  /* in mode process; then there is neither a record nor a shadow */
    uint8_t *shadow;  /* (shadow_bytes) the extents, each from a page on */
    uint8_t *dirty;   /* (pages of the shadow) bits: HD_PAGE_LOGGED, HD_PAGE_FREE */
    uint8_t *changed; /* (changed_pages) hd_backend.changed; then bits: which sectors of the page have changed */
    hd_cells cells;
    uint64_t shadow_bytes, changed_pages;
    uint64_t start[HD_IMAGE_EXTENTS]; /* of each extent in the shadow */
    uint64_t batch, durable;          /* how many batches have changed the table; of them, in the file */
    hd_commit commit;
    bool failed; /* a write or a sync: nothing is written from now on */
    hd_recovery did;
} hd_store;

/* An extent as the image and the journal have it: the shadow's, or in mode line the file itself. */
static inline uint8_t *hd_store_copy(const hd_store *x, uint32_t e)
{
    return x->image.line ? x->image.map + x->image.sb.extent[e].offset : x->shadow + x->start[e];
}

/* Pages of the shadow that have one of these bytes of an extent get the bit; from several threads. */
void hd_store_mark(hd_store *x, uint32_t e, uint64_t at, uint64_t bytes, uint8_t bit);
/* Writes the pages of the shadow that have one of these bits, which they lose. */
hd_status hd_store_write_pages(hd_store *x, int bits);

/* Opens the file of a configuration, and gives *c the fields that the file has. *store is NULL where it names none. */
hd_status hd_store_open(hd_config *c, const hd_seams *s, hd_store **store);
/* The same for a file that is only to be read. */
hd_status hd_store_open_to_read(const char *path, hd_config *c, const hd_seams *s, hd_store **store);
/* HD_EINVAL: the table cannot be durable. Else what it is by the file, if that has a table. */
hd_status hd_store_shape(const hd_store *x, const hd_design *design, const hd_backend *on, hd_info *info);
/* The table takes what the file has; t->store is the table's from now on, also after a failure. to_read: the file stays
 * as it is. */
hd_status hd_store_begin(hd_table *t, hd_store *x, bool to_read);
/* What the table's memory, or on a device its pinned memory, is to be taken from; a file that is only to be read
 * changes nothing. */
void hd_store_memory(hd_store *x, bool device, hd_seams *s);
/* Closes the file as it is, and frees the store. In mode process the table's memory was given back before. */
void hd_store_drop(hd_store *x);
/* Makes all batches durable, and says in the file that it was closed. */
void hd_store_end(hd_table *t);

/* The next calls are for the holder of the lock as updater or inserter, and do nothing where t->store is NULL. */
/* HD_EIO: the table is only to be read since a write failed. */
hd_status hd_store_may_change(const hd_table *t);
/* A batch, or a call that is counted as one, has changed the table, or may have. `status` is what it returned; that is
 * returned, or why it could not be made durable. */
hd_status hd_store_changed(hd_table *t, hd_status status);
/* All batches so far become durable. */
hd_status hd_store_persist(hd_table *t);

void hd_store_tell(const hd_store *x, hd_info *info);

#endif
