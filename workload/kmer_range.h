/* SPDX-License-Identifier: Apache-2.0
 *
 * kmer_range.h - the k-mers of a part of a file, so that several threads can read one file.
 *
 * The ranges [0, B), [B, 2B), ... of a file have together the k-mers of the file, in their order. A range begins at the
 * first place after its first byte where a reader can begin. It ends where the next one begins.
 *
 *     FASTA   a place is the beginning of a line. If the line goes on for 64 KiB, it is the byte itself. A k-mer that
 *             begins in a range and ends in the next one belongs to the first of them
 *     FASTQ   a place is the beginning of a record: a line of '@', two lines before one of '+'. If there is none within
 *             64 KiB, the range is empty, and the range before it ends where a later one begins
 *
 * A place is a guess: a header may have 64 KiB, and qualities may look like a record. The reader of the range before it
 * finds out. It then reads on to the end of the file (hd_kmer_ran_on), and the later ranges must not be used.
 */
#ifndef HD_KMER_RANGE_H
#define HD_KMER_RANGE_H

#include "workload/workload.h"

typedef struct hd_kmer_range {
    uint64_t from, bytes; /* from: a multiple of bytes */
    uint8_t marker;       /* hd_kmer_marker; not used if from is 0 */
} hd_kmer_range;

/* a: of a source "kmer" whose file is plain and no pipe, not lenient. A range without a k-mer is no failure. */
hd_status hd_kmer_range_open(const hd_source_args *a, const hd_kmer_range *r, hd_source **s);

/* s: a source "kmer". As hd_source_next, but only the keys of requests, which is faster. A file without a k-mer is no
 * failure. */
hd_status hd_kmer_keys(hd_source *s, uint64_t *key, size_t max, size_t *got);

/* A record whose keys are read. The name is the first word of its header, at most HD_KMER_NAME_MOST bytes of it, with
 * control characters as '?'; "" if it has none, or if it was lost. It is the source's until the next call. */
enum { HD_KMER_NAME_MOST = 255 };
typedef struct hd_kmer_record {
    const char *name; /* NULL: the file has no further record */
    bool ended;       /* it has no more keys: the next call begins the next record */
    bool damaged;     /* if it has ended: it is one of `skipped` (lenient) */
    uint64_t byte;    /* of the file, where it begins */
} hd_kmer_record;

/* s: a source "kmer", not of a range, of which all keys are read by this function. As hd_kmer_keys, but the keys are of
 * one record. *got < max: it has ended. */
hd_status hd_kmer_record_keys(hd_source *s, uint64_t *key, size_t max, size_t *got, hd_kmer_record *r);

/* s: of a range, read to its end. */
bool hd_kmer_ran_on(const hd_source *s);

/* s: a source "kmer". '>' FASTA, '@' FASTQ. */
uint8_t hd_kmer_marker(const hd_source *s);

/* Where a range begins that has the byte `at`. */
typedef enum hd_kmer_state { HD_KMER_NOWHERE, HD_KMER_RECORD, HD_KMER_LINE, HD_KMER_BASES } hd_kmer_state;
typedef struct hd_kmer_place {
    uint64_t at;
    hd_kmer_state state;
} hd_kmer_place;
hd_status hd_kmer_place_after(const hd_seams *seams, const char *path, uint8_t marker, uint64_t at,
                              hd_kmer_place *place);

#endif
