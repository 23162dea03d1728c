/* SPDX-License-Identifier: Apache-2.0
 *
 * votes.h - classifies reads by the votes of their k-mers.
 *
 * The k-mers of many reads are looked up in one batch. votes_read says which of them are whose. A read may go on in
 * the next batch.
 */
#ifndef HD_VOTES_H
#define HD_VOTES_H

#include "tools/taxa.h"
#include "workload/stream.h"

typedef struct votes_span votes_span;

typedef struct votes {
    uint64_t min_votes;
    hd_sink *lines;        /* gets a line for every read; NULL: none */
    hd_status line_failed; /* no more lines are written; hd_sink_close says why. The counts go on */
    uint64_t reads, classified, no_votes, ties, few; /* reads: all of them; the others add up to it */
    uint64_t kmers, found;                           /* of all reads */
    uint64_t skipped;                                /* the caller's: damaged reads, which are not among `reads` */
    uint64_t *of;                                    /* (taxa) reads of each taxon */
    votes_span *span;                                /* (spans) of this batch */
    size_t spans;
    uint32_t *value; /* (batch) */
    bool *hit;       /* (batch) */
    /* the read whose k-mers are counted */
    uint64_t *vote;    /* (taxa) all zero between reads */
    uint32_t *touched; /* (touches) taxa that have a vote */
    uint32_t touches;
    uint64_t read_kmers, read_found, read_ambiguous;
} votes;

/* t: its number of taxa and batch. votes_close after a failure, too. */
hd_status votes_open(votes *v, const taxa *t, uint64_t min_votes, hd_sink *lines);
void votes_close(votes *v);

/* The batch's k-mers up to number `end` - 1 that no read has are this one's. ended: it has no more. A damaged one is
 * left out. False: there is no room for a further read. */
bool votes_read(votes *v, const char *name, size_t end, bool ended, bool damaged);

/* Looks up the n k-mers of the batch and counts the votes. A new batch begins. */
hd_status votes_count(votes *v, taxa *t, const uint64_t *key, size_t n);

#endif
