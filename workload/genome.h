/* SPDX-License-Identifier: Apache-2.0
 *
 * genome.h - genomes that are made from a seed, and reads of them. Every base is a function of the seed and its place,
 * so a genome of any length takes no memory, and reads may begin anywhere.
 *
 * A genome is a row of pieces of 128 to 1,024 bases. A piece is of one of three kinds:
 *
 *     unique        random bases
 *     interspersed  a part of one of 64 repeat families, on either strand. Each copy differs from its family in up to
 *                   15% of its bases. Some families are much more frequent than others
 *     tandem        a unit of 1 to 64 bases, again and again; up to 5% of the bases differ
 *
 * Reads begin at random places of both strands. Each of their bases is replaced by one of the three others with the
 * probability `errors`.
 */
#ifndef HD_GENOME_H
#define HD_GENOME_H

#include "base/seam.h"

enum { HD_GENOME_READ_MOST = 1 << 20 /* bases of a read */ };
#define HD_GENOME_BASES_MOST    (1ull << 36)
#define HD_GENOME_COVERAGE_MOST 1000000

typedef struct hd_genome {
    uint64_t seed;
    uint64_t bases;              /* 1 to HD_GENOME_BASES_MOST                              */
    double interspersed, tandem; /* shares of the bases, together at most 1                */
    double coverage;             /* of how many reads a base is a part on average; 0: no reads, but the genome itself */
    uint64_t read_bases;         /* of a read: 1 to HD_GENOME_READ_MOST, at most `bases`   */
    double errors;               /* share of the bases of reads that are wrong             */
    bool fastq;                  /* reads are FASTQ; else, as the genome, FASTA            */
} hd_genome;

/* 10 M bases, 40% interspersed and 3% tandem repeats, no reads; reads would have 150 bases, 0.5% of them wrong. */
hd_genome hd_genome_default(void);

/* HD_EINVAL names the field. */
hd_status hd_genome_check(const hd_genome *g);

/* Bases `at` to at + n - 1 of a genome that was checked: 0 A, 1 C, 2 G, 3 T. */
void hd_genome_bases(const hd_genome *g, uint64_t at, uint64_t n, uint8_t *base);

/* How many reads there are. */
uint64_t hd_genome_reads(const hd_genome *g);

/* Called now and then; nonzero stops: HD_EIO. */
typedef int hd_genome_progress(void *context, uint64_t bases, uint64_t all);

typedef struct hd_genome_written {
    uint64_t records, bases;
    uint64_t errors; /* bases of reads that were replaced */
} hd_genome_written;

/* Writes the genome as one record, or else its reads, to a file as hd_sink does. seams, progress: NULL is usual.
 * A failure leaves nothing at `path`. */
hd_status hd_genome_write(const hd_genome *g, const hd_seams *seams, const char *path, hd_genome_progress *progress,
                          void *context, hd_genome_written *written);

#endif
