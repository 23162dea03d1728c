/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture.h - the port of ovs to the judge of kernels (judge/design.h): the struct behind fixture.table and
 * fixture_part.args.
 *
 *     fixture.c   a table's memory and contents
 *     entries.c   reads and describes entries, and how the reference looks for a key
 *     accept.c    what outcomes an item may have, and the table's invariants
 *     port.c      the port itself
 */
#ifndef HD_JUDGE_OVS_FIXTURE_H
#define HD_JUDGE_OVS_FIXTURE_H

#include "gpu/ovs/state.h"
#include "judge/design.h"
#include "ref/ovs/ovs.h"

enum { OVS_SCENE_EXTENTS = 3 }; /* a fixture's table may double twice */

typedef struct ovs_fixture_table {
    ovs_state state;
    uint64_t *grown; /* (2) level and split: how far the table has grown */
} ovs_fixture_table;

static inline ovs_fixture_table *ovs_fixture_table_of(const fixture *s) { return (ovs_fixture_table *)s->table; }
static inline ovs_view *ovs_fixture_view(const fixture *s) { return &ovs_fixture_table_of(s)->state.v; }
static inline ovs_view *ovs_view_in(const void *table) { return &((ovs_fixture_table *)(uintptr_t)table)->state.v; }

/* fixture.c */
uint32_t ovs_fixture_memory(const fixture *s, judge_memory all[JUDGE_MEMORY_MOST]);
void ovs_fixture_laid(void *table);
void ovs_fixture_clear(fixture *s);
bool ovs_fixture_fill(fixture *s, hd_rng *g);
void ovs_fixture_apply(const fixture *s, void *table, uint32_t k, const hd_batch *b);
hd_status ovs_fixture_resize(fixture *s, void *table, uint64_t buckets);

/* entries.c */
uint64_t ovs_fixture_buckets(const void *table);
uint64_t ovs_fixture_first(const void *table, uint64_t b);
uint64_t ovs_fixture_places(const fixture *s);
uint64_t ovs_fixture_key_at(const void *table, uint64_t e);
uint8_t *ovs_fixture_value_at(const void *table, uint64_t e);
void ovs_fixture_describe(const void *table, uint64_t e, char *line, size_t bytes);
bool ovs_fixture_names(const fixture *s, const char *region, uint64_t at, char *text, size_t bytes);
uint32_t ovs_fixture_candidates(const void *table, uint64_t key, uint64_t *bucket);
void ovs_fixture_tell(const fixture *s, uint64_t i, const void *before, struct judge_steps *to);

/* accept.c */
const char *ovs_fixture_accept(const fixture *s, void *model, uint32_t k, uint64_t i, const simt_ticket_record *t,
                               judge_listing *l);
const char *ovs_fixture_move(void *model, uint64_t from, uint64_t to);
const char *ovs_fixture_check(const void *table, char why[JUDGE_SENTENCE]);
const char *ovs_fixture_watch(const fixture *s, uint8_t *before, bool weak, char why[JUDGE_SENTENCE]);

#endif
