/* SPDX-License-Identifier: Apache-2.0
 *
 * policy_walk.h - a policy at work: requests one by one through a small table, and what each of them did. The table is
 * read after every request, so a step is what the library did. Only the admission score and what is spared are computed
 * here, by the functions of the policy that the table says it has.
 */
#ifndef HD_TOOLS_POLICY_WALK_H
#define HD_TOOLS_POLICY_WALK_H

#include "policies/expression.h"
#include "workload/case.h"
#include "workload/rng.h"
#include "workload/workload.h"

#define POLICY_NOWHERE UINT64_MAX

enum { POLICY_PLACES_MOST = 256 };

typedef struct policy_entry {
    bool present;
    uint64_t key, score;
} policy_entry;

typedef struct policy_walk {
    hd_case c;
    uint64_t scores; /* each request gives a score from 1 to this; 0: it gives none */
    hd_config config;
    hd_info info; /* of the table as it was opened */
    hd_table *table;
    hd_source *source;
    hd_rng random;
    hd_policy_use use;
    uint64_t requests; /* so far */
    policy_entry entry[2][POLICY_PLACES_MOST];
} policy_walk;

/* An entry that a request spared (hd_on_evict): its place, and its score before and after. */
typedef struct policy_spared {
    uint64_t place, before, after;
} policy_spared;

/* What one request did. Members that say `if` have no meaning otherwise. */
typedef struct policy_step {
    uint64_t request; /* from 0 */
    uint64_t key;
    hd_score_in in; /* what the policy's functions are given; spared: how many are in spare[] */
    hd_outcome outcome;
    uint64_t place;                     /* of the entry afterwards; POLICY_NOWHERE: the key did not enter */
    uint64_t old;                       /* UPDATED: the score before */
    uint64_t score;                     /* the entry's; REFUSED: what it would have been */
    bool compared;                      /* the key was absent and there was no room */
    uint64_t bucket;                    /* if compared: the one whose least score was compared */
    uint64_t admission;                 /* if compared */
    uint64_t least;                     /* if compared */
    uint64_t victim, victim_score;      /* EVICTED: what left */
    const policy_entry *before, *after; /* (info.places), valid until the next step */
    policy_spared spare[POLICY_PLACES_MOST];
} policy_step;

/* Opens a table of the case's policy, buckets, slots and mode, and its source of keys. With one bucket, or two in dual
 * mode, so that every bucket is a candidate of every key. HD_EINVAL: another number of buckets, more than
 * POLICY_PLACES_MOST slots, a clock that is not logical. */
hd_status policy_walk_open(policy_walk *w, const hd_case *c, uint64_t scores);
void policy_walk_close(policy_walk *w);
/* The next request. *more: there was one. */
hd_status policy_walk_next(policy_walk *w, policy_step *s, bool *more);

/* Whether the policy's scores have the epoch in their upper 32 bits: then the lower 32 have a count or a time. */
bool policy_walk_has_epoch(const policy_walk *w);

#endif
