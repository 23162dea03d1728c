/* SPDX-License-Identifier: Apache-2.0
 *
 * pieces.h - the arrays of a table (hd_backend.extents), as extents of its file. For the files of lib/ alone.
 */
#ifndef HD_PIECES_H
#define HD_PIECES_H

#include "lib/image.h"

enum { HD_PIECE_ATOM = 8 /* bytes that are compared as one; an array has whole ones */ };

/* Arrays, and where they are in the file: those of one name follow each other in one extent. */
typedef struct hd_pieces {
    int n;
    hd_extent all[HD_IMAGE_EXTENTS];
    uint32_t extent[HD_IMAGE_EXTENTS];
    uint64_t at[HD_IMAGE_EXTENTS];          /* in the extent */
    uint64_t page[HD_IMAGE_EXTENTS], pages; /* the first one of each array in hd_store.changed; all of them */
} hd_pieces;

/* Finds the arrays of a table with a file, and says in *next what the image is to be for them; offsets are the
 * caller's. */
void hd_pieces_find(hd_table *t, hd_pieces *p, hd_superblock *next);
/* Whether a record can say what has changed: extents and shape are the image's. */
bool hd_pieces_fit(const hd_superblock *next, const hd_superblock *sb);

#endif
