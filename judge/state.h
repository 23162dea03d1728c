/* SPDX-License-Identifier: Apache-2.0
 *
 * state.h - the state of an oracle; for oracle.c, whole_table.c, order.c, compare.c and say.c only.
 */
#ifndef HD_JUDGE_STATE_H
#define HD_JUDGE_STATE_H

#include "judge/map.h"
#include "judge/oracle.h"
#include "judge/rules.h"

struct hd_oracle {
    judge_map map;
    judge_policy policy;
    bool dictionary;             /* no evictions; PENDING is possible */
    bool always;                 /* admit = always                                                        */
    bool by_device;              /* HD_CLOCK_DEVICE                                                       */
    uint64_t keys, stash_places; /* keys below can be held; entries that the stash takes             */
    uint64_t need;               /* slots in the candidate buckets of a key */
    uint32_t slots, value_bytes;
    /* The policy spares entries, or reads the least score: an item that evicts or is refused may change scores of
     * others, and begins an era. */
    bool unsure;
    bool queues; /* judge_policy_has_queues: so does each insert */
    uint64_t era;
    uint64_t pins; /* entries that are pinned                                               */
    uint64_t live; /* entries in the table; the map has more while victims are unknown */
    uint64_t capacity;
    uint64_t moment; /* grows by one per item and per batch: the time of births and sightings */
    uint64_t mark;   /* one per walk through the table                                        */
    uint64_t *rank;  /* (rank_room) room for oracle.c's selection                             */
    uint64_t rank_room;
    judge_entry **sorted; /* (sorted_room) the map's entries, ascending by key: judge_sort */
    uint64_t sorted_room;
    uint64_t *since; /* of the next batch: hd_oracle_since                                     */
    char sentence[512];
};

extern const char judge_no_memory[];

static inline bool judge_score_known(const hd_oracle *o, const judge_entry *e)
{
    return !o->unsure || e->era == o->era;
}
/* The table shows the score of an entry. */
static inline void judge_score_shown(const hd_oracle *o, judge_entry *e, uint64_t score)
{
    e->score = score;
    e->era = o->era;
}

/* Writes the sentence and returns it. */
const char *judge_say(hd_oracle *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ordered operations (order.c). Before a batch of one: sorts the map's entries. false: no memory. */
bool judge_sort(hd_oracle *o);
/* NULL, or what is wrong with an item; with a batch that has no keys. */
const char *judge_ordered_item(hd_oracle *o, const hd_batch *b, uint64_t i);
const char *judge_ordered_end(hd_oracle *o, const hd_batch *b);

/* A batch of an operation that has no keys (whole_table.c). */
const char *judge_whole_table(hd_oracle *o, const hd_batch *b);

/* Whether at least `want` entries are pinned or may have a score of `least` or more. */
bool judge_enough_above(const hd_oracle *o, uint64_t want, uint64_t least);
/* The greatest score that at least `need` entries reach: no victim has a greater one. Found by selection (Hoare) in
 * maps small enough to do so for every eviction; larger ones have no such limit. */
const char *judge_greatest_victim(hd_oracle *o, uint64_t *score);

/* Exports the table, or visits its entries where its design has no export: every entry must be in the map, with its
 * value and score, and no key twice. Sets the entries' mark to o->mark; *n: their number; *info: the table's. */
const char *judge_walk(hd_oracle *o, hd_table *table, hd_info *info, uint64_t *n);

#endif
