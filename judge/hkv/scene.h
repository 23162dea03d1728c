/* SPDX-License-Identifier: Apache-2.0
 *
 * hkv_scene.h - HKV as the judge of kernels knows it (judge/design.h): what stands behind scene.table and
 * scene_part.args of such scenes.
 *
 *     hkv_scene.c    a table from a case, and what is in it
 *     hkv_entries.c  its entries, in words
 *     hkv_agree.c    what may have become of an item, and what must hold of the table
 *     hkv_kernels.c  the rows of gpu/hkv/registry.inc and their launches; the design itself
 */
#ifndef HD_JUDGE_HKV_SCENE_H
#define HD_JUDGE_HKV_SCENE_H

#include "gpu/hkv/args.h"
#include "judge/design.h"

/* The first field is the view, so that a view alone is a table to whoever asks for entries only. */
typedef struct hkv_scene_table {
    hkv_view v;
    uint32_t *lock, *pins, *pin_lock;
} hkv_scene_table;

/* The first field is what kernels are given. */
typedef struct hkv_scene_args {
    hkv_args a;
    uint8_t *stage_flag;   /* (n), device memory                                         */
    uint64_t *fetch_entry; /* (n), device memory; NULL: far values are read as they come */
} hkv_scene_args;

static inline hkv_scene_table *hkv_scene_table_of(const scene *s) { return (hkv_scene_table *)s->table; }
static inline hkv_view *hkv_scene_view(const scene *s) { return &hkv_scene_table_of(s)->v; }
static inline hkv_args *hkv_scene_args_of(const scene_part *p) { return &((hkv_scene_args *)p->args)->a; }

/* hkv_scene.c */
hd_status hkv_scene_shape(scene *s, const hd_case *c);
void hkv_scene_lay_table(scene *s);
void hkv_scene_lay_part(scene *s, uint32_t k);
void hkv_scene_clear(scene *s);
bool hkv_scene_fill(scene *s, hd_rng *g);
void hkv_scene_make_args(scene *s, uint32_t k);
judge_scores hkv_scene_scores(const scene *s);
void hkv_scene_view_over(const scene *s, uint8_t *memory, void *table);
void hkv_scene_apply(const scene *s, void *table, uint32_t k, const hd_batch *b);

/* hkv_entries.c */
uint64_t hkv_scene_buckets(const void *table);
uint64_t hkv_scene_first(const void *table, uint64_t b);
uint64_t hkv_scene_key_at(const void *table, uint64_t e);
uint8_t *hkv_scene_value_at(const void *table, uint64_t e);
const char *hkv_scene_differs(const void *v, const void *w, uint64_t e);
void hkv_scene_describe(const void *table, uint64_t e, char *line, size_t bytes);
bool hkv_scene_names(const scene *s, const char *region, uint64_t at, char *text, size_t bytes);

/* hkv_agree.c */
const char *hkv_scene_accept(const scene *s, void *model, uint32_t k, uint64_t i, const simt_ticket_record *t,
                             judge_listing *l);
const char *hkv_scene_beside(const scene *s, const void *model, const void *now, char why[JUDGE_SENTENCE]);
const char *hkv_scene_promised(const scene *s, const void *model, uint32_t k, char why[JUDGE_SENTENCE]);
const char *hkv_scene_idle(const scene *s, char why[JUDGE_SENTENCE]);
const char *hkv_scene_check(const void *table, char why[JUDGE_SENTENCE]);
const char *hkv_scene_watch(const scene *s, bool weak, char why[JUDGE_SENTENCE]);

/* hkv_kernels.c */
/* Row `row` of gpu/hkv/rows.h; blocks of at most `threads` (0: the row's own), at most `blocks` of them (0: 8): with
 * fewer, each goes over more items. */
scene_kernel hkv_scene_kernel_at(uint32_t row, uint32_t threads, uint32_t blocks);
/* A kernel's queue: one launch of k->text, k->lanes to an item, blocks of k->threads. */
hd_status hkv_scene_queue_text(const scene_kernel *k, simt_machine *m, const void *args, uint32_t stream);

#endif
