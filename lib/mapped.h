/* SPDX-License-Identifier: Apache-2.0
 *
 * mapped.h - mode process: the arrays of a table are pages of its file, shared with it. Whatever is stored in them is
 * the operating system's at once, and stays when the process ends, however it ends.
 *
 * The table takes all its memory in whole pages. When its arrays are in the file, these pages of the file are mapped in
 * their place: addresses stay, so that neither a design nor a backend knows of it. On a device the arrays are in memory
 * of this machine that kernels reach, and its pages are pinned before and after.
 */
#ifndef HD_MAPPED_H
#define HD_MAPPED_H

#include "lib/journal.h"

typedef struct hd_mapped {
    bool on; /* false: another mode, and all below is 0 */
    hd_file_seam file;
    const hd_device_seam *device; /* not NULL: that the arrays' pages are pinned for */
    void *at[HD_IMAGE_EXTENTS];   /* by extents of the superblock: the array that is its pages */
    hd_live *live;
} hd_mapped;

/* Memory in whole pages. Where the seam cannot map, HD_EINVAL. */
hd_status hd_mapped_begin(hd_mapped *m, const hd_file_seam *file);
hd_memory_seam hd_mapped_memory(hd_mapped *m);
/* The same pinned, for the arrays of a table on this device. The file's pages are pinned in their turn; where it has a
 * disk, which would have to be written while they are, hd_mapped_become is HD_EINVAL. */
hd_memory_seam hd_mapped_pinned(hd_mapped *m);
void hd_mapped_end(hd_mapped *m);

/* The arrays are all there are, one for each extent of the superblock, which has their bytes: those that are not yet
 * pages of the file become it. The journal has a live page from now on. */
hd_status hd_mapped_become(hd_mapped *m, const hd_image *im, const hd_extent *all, int n);
/* What the live page says. */
void hd_mapped_note(hd_mapped *m, uint64_t batch, uint64_t clock, uint64_t epoch);

#endif
