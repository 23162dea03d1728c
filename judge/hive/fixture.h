/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture.h - Hive's port to the judge of kernels (judge/design.h): the struct behind fixture.table and
 * fixture_part.args.
 *
 *     fixture.c   a table's memory and contents
 *     entries.c   reads and describes entries
 *     accept.c    what outcomes an item may have, and the table's invariants
 *     port.c      the port itself
 */
#ifndef HD_JUDGE_HIVE_FIXTURE_H
#define HD_JUDGE_HIVE_FIXTURE_H

#include "gpu/hive/state.h"
#include "judge/design.h"
#include "ref/hive/hive.h"

enum { HIVE_SCENE_SEGMENTS = 3 }; /* a fixture's table may double twice */

typedef struct hive_fixture_table {
    hive_state state;
    uint64_t *grown; /* (2) level and split: how far the table has grown */
} hive_fixture_table;

static inline hive_fixture_table *hive_fixture_table_of(const fixture *s) { return (hive_fixture_table *)s->table; }
static inline hive_view *hive_fixture_view(const fixture *s) { return &hive_fixture_table_of(s)->state.v; }
/* Entries in the stash, as kernels count them. */
static inline uint64_t *hive_fixture_stashed(const hive_fixture_table *t)
{
    return &t->state.words->stashed[t->state.count];
}

/* fixture.c */
uint32_t hive_fixture_memory(const fixture *s, judge_memory all[JUDGE_MEMORY_MOST]);
void hive_fixture_laid(void *table);
void hive_fixture_clear(fixture *s);
bool hive_fixture_fill(fixture *s, hd_rng *g);
void hive_fixture_apply(const fixture *s, void *table, uint32_t k, const hd_batch *b);
hd_status hive_fixture_resize(fixture *s, void *table, uint64_t buckets);

/* entries.c */
uint64_t hive_fixture_buckets(const void *table); /* with the stash's */
uint64_t hive_fixture_first(const void *table, uint64_t b);
uint64_t hive_fixture_places(const fixture *s);
uint64_t hive_fixture_key_at(const void *table, uint64_t e);
uint8_t *hive_fixture_value_at(const void *table, uint64_t e);
const char *hive_fixture_differs(const void *v, const void *w, uint64_t e);
void hive_fixture_describe(const void *table, uint64_t e, char *line, size_t bytes);
const char *hive_fixture_bucket_name(const void *table, uint64_t b, char *text, size_t bytes);
bool hive_fixture_names(const fixture *s, const char *region, uint64_t at, char *text, size_t bytes);
uint32_t hive_fixture_candidates(const void *table, uint64_t key, uint64_t *bucket);

/* explain.c */
void hive_fixture_tell(const fixture *s, uint64_t i, const void *before, struct judge_steps *to);

/* accept.c */
const char *hive_fixture_accept(const fixture *s, void *model, uint32_t k, uint64_t i, const simt_ticket_record *t,
                                judge_listing *l);
const char *hive_fixture_move(void *model, uint64_t from, uint64_t to);
const char *hive_fixture_check(const void *table, char why[JUDGE_SENTENCE]);
const char *hive_fixture_watch(const fixture *s, uint8_t *before, bool weak, char why[JUDGE_SENTENCE]);

/* Visits the buckets of a key in order. True: *b is the next one. step: 0 for the first; it is counted up. */
bool hive_fixture_way(const hive_view *v, uint64_t h, uint64_t *step, uint64_t *b);

#endif
