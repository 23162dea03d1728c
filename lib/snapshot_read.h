/* SPDX-License-Identifier: Apache-2.0
 *
 * snapshot_read.h - a snapshot file that is being read: its header, and its sections with their checksums.
 */
#ifndef HD_SNAPSHOT_READ_H
#define HD_SNAPSHOT_READ_H

#include <string.h>

#include "lib/snapshot.h"

/* One opening of a file: what is read stays one file, whatever takes its name meanwhile. */
typedef struct hd_snapshot_file {
    const hd_seams *seams;
    const char *path;
    int fd;
    uint64_t bytes, position; /* position: of the next read */
    hd_snapshot_header h;
    char policy[HD_PROGRAM_TEXT]; /* the name, or the expressions */
    bool verified;                /* all checksums are right */
} hd_snapshot_file;

/* Reads a file from a place on. Several readers of a file read in turn. */
typedef struct hd_snapshot_reader {
    hd_snapshot_file *file;
    uint8_t *block;
    size_t block_bytes, at, fill, summed; /* summed: bytes of the block that are in the sum, or before its beginning */
    uint64_t offset;                      /* in the file, of block + at */
    XXH3_state_t sum;
} hd_snapshot_reader;

/* Opens a file and reads its header. f is to be closed also after a failure. */
hd_status hd_snapshot_open_file(const hd_seams *s, const char *path, hd_snapshot_file *f);
void hd_snapshot_close_file(hd_snapshot_file *f);
/* Reads all sections for their checksums alone. */
hd_status hd_snapshot_verify(hd_snapshot_file *f);
/* A damaged file costs at most four times its size. So a file is verified before so many tables of its shape are made
 * of it, unless they are small beside it: then its sums are checked while entries are put. */
hd_status hd_snapshot_verify_first(hd_snapshot_file *f, uint64_t tables);
/* Of a section's head in the file. */
uint64_t hd_snapshot_section_start(const hd_snapshot_header *h, int section);

hd_status hd_snapshot_reader_open(hd_snapshot_file *f, uint64_t offset, hd_snapshot_reader *r);
void hd_snapshot_reader_close(hd_snapshot_reader *r);
/* The next bytes, from as many blocks as it takes. p NULL: only to be summed. */
hd_status hd_snapshot_get_blocks(hd_snapshot_reader *r, void *p, uint64_t bytes);
static inline hd_status hd_snapshot_get_bytes(hd_snapshot_reader *r, void *p, uint64_t bytes)
{
    if (!p || bytes > r->fill - r->at) return hd_snapshot_get_blocks(r, p, bytes);
    memcpy(p, r->block + r->at, (size_t)bytes); /* most are words of a block */
    r->at += (size_t)bytes;
    r->offset += bytes;
    return HD_OK;
}
/* The next 1 to `most` bytes: *p points at *got of them until the next call. */
hd_status hd_snapshot_get_some(hd_snapshot_reader *r, uint64_t most, const uint8_t **p, size_t *got);
/* Reads the head of a section; leaves it, when all of its payload was got, and compares its checksum. */
hd_status hd_section_enter(hd_snapshot_reader *r, int section);
hd_status hd_section_leave(hd_snapshot_reader *r, int section);

#endif
