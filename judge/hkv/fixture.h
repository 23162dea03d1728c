/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture.h - HKV's port to the judge of kernels (judge/design.h). fixture.table and fixture_part.args are hkv_state.
 *
 *     fixture.c   a table's memory and contents
 *     entries.c   reads and describes entries
 *     explain.c   how the reference decides about an item
 *     accept.c    what outcomes an item may have, and the table's invariants
 *     port.c      the port itself
 */
#ifndef HD_JUDGE_HKV_FIXTURE_H
#define HD_JUDGE_HKV_FIXTURE_H

#include "gpu/hkv/state.h"
#include "judge/design.h"
#include "ref/hkv/hkv.h"

static inline hkv_state *hkv_fixture_state(const fixture *s) { return (hkv_state *)s->table; }
static inline hkv_view *hkv_fixture_view(const fixture *s) { return &hkv_fixture_state(s)->v; }
/* The table as part k's kernels are given it, with the room of its batch. */
static inline const hkv_state *hkv_fixture_part(const fixture *s, uint32_t k)
{
    return (const hkv_state *)s->part[k].args;
}

/* fixture.c */
hd_status hkv_fixture_shape(fixture *s, const hd_case *c);
uint32_t hkv_fixture_memory(const fixture *s, judge_memory all[JUDGE_MEMORY_MOST]);
void hkv_fixture_laid(void *table);
void hkv_fixture_clear(fixture *s);
bool hkv_fixture_fill(fixture *s, hd_rng *g);
judge_scores hkv_fixture_scores(const fixture *s);
bool hkv_fixture_times_tell(const fixture *s, uint64_t clock, uint64_t n);
bool hkv_fixture_rises(const fixture *s, uint64_t clock);
void hkv_fixture_apply(const fixture *s, void *table, uint32_t k, const hd_batch *b);

/* entries.c */
uint64_t hkv_fixture_buckets(const void *table);
uint64_t hkv_fixture_first(const void *table, uint64_t b);
uint64_t hkv_fixture_key_at(const void *table, uint64_t e);
uint8_t *hkv_fixture_value_at(const void *table, uint64_t e);
const char *hkv_fixture_differs(const void *v, const void *w, uint64_t e);
void hkv_fixture_describe(const void *table, uint64_t e, char *line, size_t bytes);
bool hkv_fixture_names(const fixture *s, const char *region, uint64_t at, char *text, size_t bytes);
uint32_t hkv_fixture_candidates(const void *table, uint64_t key, uint64_t *bucket);

/* explain.c */
void hkv_fixture_tell(const fixture *s, uint64_t i, const void *before, struct judge_steps *to);

/* accept.c */
/* Item i of part k, as the reference takes it. */
hkv_item hkv_fixture_item(const fixture *s, const hkv_view *model, uint32_t k, uint64_t i);
const char *hkv_fixture_accept(const fixture *s, void *model, uint32_t k, uint64_t i, const simt_ticket_record *t,
                               judge_listing *l);
const char *hkv_fixture_beside(const fixture *s, const void *model, const void *now, char why[JUDGE_SENTENCE]);
const char *hkv_fixture_promised(const fixture *s, const void *model, uint32_t k, char why[JUDGE_SENTENCE]);
const char *hkv_fixture_idle(const fixture *s, char why[JUDGE_SENTENCE]);
const char *hkv_fixture_check(const void *table, char why[JUDGE_SENTENCE]);
const char *hkv_fixture_watch(const fixture *s, uint8_t *before, bool weak, char why[JUDGE_SENTENCE]);

/* port.c */
/* Row `row` of gpu/hkv/rows.h, in at most `blocks` blocks (0: 8) of at most `threads` threads (0: the row's own).
 * With fewer lanes each has more items. */
fixture_kernel hkv_fixture_kernel_at(uint32_t row, uint32_t threads, uint32_t blocks);

#endif
