/* SPDX-License-Identifier: Apache-2.0
 *
 * victims.h - pairs evictions with departures, where outcomes do not name the victims: each eviction happened at a
 * known item, and each departure between two items.
 */
#ifndef HD_JUDGE_VICTIMS_H
#define HD_JUDGE_VICTIMS_H

#include "heddle.h"

/* An item that evicted an entry with a score of `most` or less. */
typedef struct judge_eviction {
    uint64_t item, most;
} judge_eviction;

/* An entry that was present at moment `after` and absent at moment `before`; its score in between. */
typedef struct judge_departure {
    uint64_t key, score, after, before;
} judge_departure;

typedef struct judge_victims {
    judge_eviction *eviction;
    uint64_t evictions, evictions_room;
    judge_departure *departure;
    uint64_t departures, departures_room;
} judge_victims;

bool judge_evicted(judge_victims *v, judge_eviction e);   /* false: no memory */
bool judge_departed(judge_victims *v, judge_departure d); /* false: no memory */
void judge_victims_close(judge_victims *v);

/* Pairs every eviction with exactly one departure that it can explain. NULL: done; else why it is impossible; *item
 * is then the item concerned, 0: no single one. Static storage. */
const char *judge_victims_match(judge_victims *v, uint64_t *item);

#endif
