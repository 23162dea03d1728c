/* SPDX-License-Identifier: Apache-2.0
 *
 * map.h - the judge's model of a table: every key once, with its value, score and pin. Open addressing over pointers.
 * It never fills up and never evicts. It is as simple as possible, because everything else is compared with it.
 */
#ifndef HD_JUDGE_MAP_H
#define HD_JUDGE_MAP_H

#include "heddle.h"

/* Moments are counted over the oracle's whole life: see hd_oracle.moment. */
typedef struct judge_entry {
    uint64_t key, score;
    uint64_t holder; /* 0: not pinned                          */
    uint64_t born;   /* moment of the item that inserted it */
    uint64_t seen;   /* moment of the last item that found it */
    uint64_t mark;   /* the comparison that last visited it */
    uint64_t era;    /* when its score was known: see judge_score_known */
    uint8_t value[]; /* (value_bytes)                          */
} judge_entry;

typedef struct judge_map {
    judge_entry **at; /* (places), NULL: free */
    uint64_t places;  /* a power of two       */
    uint64_t n;
    uint32_t value_bytes;
} judge_map;

bool judge_map_open(judge_map *m, uint32_t value_bytes); /* false, here and below: no memory */
void judge_map_close(judge_map *m);
void judge_map_clear(judge_map *m);
bool judge_map_copy(const judge_map *from, judge_map *to); /* `to` is not open */

judge_entry *judge_map_find(const judge_map *m, uint64_t key); /* NULL: absent */
/* The key must be absent; value NULL: zeros. NULL: no memory. */
judge_entry *judge_map_put(judge_map *m, uint64_t key, const void *value, uint64_t score);
void judge_map_drop(judge_map *m, uint64_t key); /* must be present; moves entries between places */

/* for (uint64_t p = 0; (e = judge_map_next(m, &p));) visits every entry. The entry just visited may be dropped when
 * p is then stepped back by one; some may be visited twice after that, none is missed. */
judge_entry *judge_map_next(const judge_map *m, uint64_t *place);

#endif
