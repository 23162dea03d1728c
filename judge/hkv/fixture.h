/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture.h - HKV's port to the judge of kernels (judge/design.h): the structs behind fixture.table and
 * fixture_part.args.
 *
 *     fixture.c   a table from a case, and its contents
 *     entries.c   reads and describes entries
 *     accept.c    what outcomes an item may have, and the table's invariants
 *     kernels.c   launches, and the port itself
 */
#ifndef HD_JUDGE_HKV_FIXTURE_H
#define HD_JUDGE_HKV_FIXTURE_H

#include "gpu/hkv/args.h"
#include "judge/design.h"

/* The first field is the view, so that functions on entries also take a view alone. */
typedef struct hkv_fixture_table {
    hkv_view v;
    uint32_t *lock, *pins, *pin_lock;
} hkv_fixture_table;

/* The first field is the kernels' argument. */
typedef struct hkv_fixture_args {
    hkv_args a;
    uint8_t *stage_flag;   /* (n), device memory                                         */
    uint64_t *fetch_entry; /* (n), device memory; NULL: host-tier values are read directly */
} hkv_fixture_args;

static inline hkv_fixture_table *hkv_fixture_table_of(const fixture *s) { return (hkv_fixture_table *)s->table; }
static inline hkv_view *hkv_fixture_view(const fixture *s) { return &hkv_fixture_table_of(s)->v; }
static inline hkv_args *hkv_fixture_args_of(const fixture_part *p) { return &((hkv_fixture_args *)p->args)->a; }

/* hkv_fixture.c */
hd_status hkv_fixture_shape(fixture *s, const hd_case *c);
void hkv_fixture_lay_table(fixture *s);
void hkv_fixture_lay_part(fixture *s, uint32_t k);
void hkv_fixture_clear(fixture *s);
bool hkv_fixture_fill(fixture *s, hd_rng *g);
void hkv_fixture_make_args(fixture *s, uint32_t k);
judge_scores hkv_fixture_scores(const fixture *s);
void hkv_fixture_view_over(const fixture *s, uint8_t *memory, void *table);
void hkv_fixture_apply(const fixture *s, void *table, uint32_t k, const hd_batch *b);

/* hkv_entries.c */
uint64_t hkv_fixture_buckets(const void *table);
uint64_t hkv_fixture_first(const void *table, uint64_t b);
uint64_t hkv_fixture_key_at(const void *table, uint64_t e);
uint8_t *hkv_fixture_value_at(const void *table, uint64_t e);
const char *hkv_fixture_differs(const void *v, const void *w, uint64_t e);
void hkv_fixture_describe(const void *table, uint64_t e, char *line, size_t bytes);
bool hkv_fixture_names(const fixture *s, const char *region, uint64_t at, char *text, size_t bytes);

/* accept.c */
const char *hkv_fixture_accept(const fixture *s, void *model, uint32_t k, uint64_t i, const simt_ticket_record *t,
                               judge_listing *l);
const char *hkv_fixture_beside(const fixture *s, const void *model, const void *now, char why[JUDGE_SENTENCE]);
const char *hkv_fixture_promised(const fixture *s, const void *model, uint32_t k, char why[JUDGE_SENTENCE]);
const char *hkv_fixture_idle(const fixture *s, char why[JUDGE_SENTENCE]);
const char *hkv_fixture_check(const void *table, char why[JUDGE_SENTENCE]);
const char *hkv_fixture_watch(const fixture *s, bool weak, char why[JUDGE_SENTENCE]);

/* hkv_kernels.c */
/* Row `row` of gpu/hkv/rows.h, in at most `blocks` blocks (0: 8) of at most `threads` threads (0: the row's own).
 * With fewer lanes each has more items. */
fixture_kernel hkv_fixture_kernel_at(uint32_t row, uint32_t threads, uint32_t blocks);
/* fixture_kernel.queue: one launch of k->text, k->lanes per item, in blocks of k->threads. */
hd_status hkv_fixture_queue_text(const fixture_kernel *k, simt_machine *m, const void *args, uint32_t stream);

#endif
