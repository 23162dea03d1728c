/* SPDX-License-Identifier: Apache-2.0
 *
 * chunks.h - the keys of a file of sequences, in chunks and in their order, read by threads.
 *
 * Each thread reads a range of the file (workload/kmer_range.h). If the file is compressed or a pipe, or is read
 * leniently, the caller reads it. The chunks depend on the file alone, not on the number of threads.
 */
#ifndef HD_CHUNKS_H
#define HD_CHUNKS_H

#include "workload/workload.h"

enum { CHUNK_KEYS = 480 << 10 /* of a chunk, at most */ };

typedef struct chunks chunks;

typedef struct chunks_config {
    const hd_source_args *args;   /* of a source "kmer" */
    uint32_t threads;             /* that read; at least 1 */
    const hd_device_seam *device; /* NULL, or the keys are in pinned memory of this device */
} chunks_config;

typedef struct chunk {
    const uint64_t *key; /* (n) the chunk's until the next call */
    size_t n;            /* 0: there are no more */
    double share;        /* of the file that has been read, 0 to 1; -1: not known */
} chunk;

/* Opens the file and starts to read. If it fails, *c is as it was. */
hd_status chunks_open(const chunks_config *config, chunks **c);

/* The next chunk, which is empty at the end of the file, also of one without a k-mer; the one before is the reader's
 * again. The first damage in the file is the status of its chunk. */
hd_status chunks_next(chunks *c, chunk *to);

/* Bad records in what chunks_next has given so far. */
uint64_t chunks_skipped(const chunks *c);

/* Stops reading, wherever it is. NULL is fine. */
void chunks_close(chunks *c);

#endif
