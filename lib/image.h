/* SPDX-License-Identifier: Apache-2.0
 *
 * image.h - the bytes of an image, the file that a durable table lives in (hd_config.file). Numbers are little-endian.
 *
 *   superblocks  two, 4 KiB each, at 0 and 4096: hd_superblock. That of generation g is at g % 2 x 4096. Of those whose
 *                sum is right the greater generation counts
 *   journal      redo records (journal.h), from the superblock's `journal` on
 *   extents      the arrays that the design's entries consist of (hd_extent), each from a multiple of 4 KiB on
 *
 * An image is changed in one of three ways. A checkpoint writes pages in place that the journal has, too; then a
 * superblock says that the journal begins anew. Whatever a crash leaves of the pages, the records of the former
 * generation make them whole. A move writes extents to space that neither superblock uses, and then both superblocks,
 * one after the other: space is free when neither names it. And cells (hd_extent.cell_bytes) that no word names are
 * free, too: a batch's new values are written there before the record that makes words name them (changes.h).
 *
 * In mode line the file is mapped. All that lies in the map is stored there and its lines are written back, so that a
 * sync is a fence. Extents then have the words of a record as soon as that is durable: a checkpoint writes no page.
 */
#ifndef HD_IMAGE_H
#define HD_IMAGE_H

#include "base/atomic_file.h"
#include "lib/snapshot.h"

#define HD_IMAGE_MAGIC "HEDDLEIM" /* 8 bytes */

enum {
    HD_IMAGE_VERSION = 2,
    HD_IMAGE_PAGE = HD_EXTENT_PAGE,
    HD_IMAGE_SECTOR = 512,
    HD_IMAGE_BLOCKS = 2 * HD_IMAGE_PAGE, /* the superblocks */
    HD_IMAGE_EXTENTS = HD_EXTENTS_MOST
};

typedef struct hd_image_extent {
    uint64_t name; /* XXH3-64 of hd_extent.name, with its number as the seed */
    uint64_t offset, bytes;
} hd_image_extent;

typedef struct hd_superblock {
    char magic[8];
    uint32_t version;
    uint32_t bytes; /* of this struct */
    uint64_t generation;
    uint64_t id; /* of the file, in each record too: bytes of another file are no records */
    uint64_t file_bytes;
    uint64_t journal, journal_bytes;
    uint64_t batch; /* the last one that the extents have */
    uint32_t clean; /* 1: the table was closed, and the journal is empty */
    uint32_t extents;
    hd_snapshot_header shape;     /* as in a snapshot, but for `size`, which is 0 */
    char policy[HD_PROGRAM_KEPT]; /* the name, or the expressions; padded with zeros */
    hd_image_extent extent[HD_IMAGE_EXTENTS];
    uint8_t zero[440]; /* must be zero */
    uint8_t sum[HD_SUM_BYTES];
} hd_superblock;

_Static_assert(sizeof(hd_superblock) == HD_IMAGE_PAGE, "a superblock is a page");

typedef struct hd_image {
    const hd_seams *seams;
    int fd;              /* -1: the file is not there yet */
    hd_superblock sb;    /* that counts; generation 0: none */
    bool other_is_whole; /* the other one */
    bool line;           /* the caller's, who has it mapped: mode line */
    bool unsynced;       /* something was written otherwise than in `map`; or before this opening, by whatever means */
    uint8_t *map;        /* (map_bytes of the file, mapped_bytes) in mode line */
    uint64_t map_bytes, mapped_bytes;
    char path[HD_PATH_BYTES];
} hd_image;

/* Opens the file, to write to it or only to read it, and reads its superblocks; im->sb.generation is 0 where there is
 * no file, an empty one, or one that hd_image_create did not complete. HD_EINVAL: it is open already. HD_ECORRUPT: it
 * is no image, or damaged. The image is to be closed in any case. */
hd_status hd_image_open(hd_image *im, const hd_seams *s, const char *path, bool to_write);
void hd_image_close(hd_image *im);
/* Begins a file that is not there yet or was not completed. */
hd_status hd_image_create(hd_image *im);

/* Maps the file, or what it is by now, so that hd_image_put stores to it and hd_image_sync waits for lines: in place of
 * the former map. HD_EINVAL: it is not on memory that keeps lines. */
hd_status hd_image_map(hd_image *im);
/* What a process that was killed has stored there need not be durable: it is with the next sync. */
void hd_image_write_back(const hd_image *im, uint64_t offset, uint64_t bytes);

hd_status hd_image_get(hd_image *im, uint64_t offset, void *p, uint64_t bytes);
hd_status hd_image_put(hd_image *im, uint64_t offset, const void *p, uint64_t bytes);
hd_status hd_image_sync(hd_image *im);

/* Space of so many bytes that neither the image nor `next`, a superblock that is being made, uses. */
uint64_t hd_image_space(const hd_image *im, const hd_superblock *next, uint64_t bytes);
/* *next, in the following generation, counts from now on. What it names was synced before. */
hd_status hd_image_switch(hd_image *im, hd_superblock *next);
/* Writes the superblock that counts once more: that it was read does not say that the disk has it. */
hd_status hd_image_confirm(hd_image *im);

static inline uint64_t hd_image_pages(uint64_t bytes) { return (bytes + HD_IMAGE_PAGE - 1) / HD_IMAGE_PAGE; }

#endif
