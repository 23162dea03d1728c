/* SPDX-License-Identifier: Apache-2.0
 *
 * hive_scene.h - Hive as the judge of kernels knows it (judge/design.h): what stands behind scene.table and
 * scene_part.args of such scenes.
 *
 *     hive_scene.c    a table from a case, and what is in it
 *     hive_entries.c  its entries, in words
 *     hive_agree.c    what may have become of an item, and what must hold of the table
 *     hive_kernels.c  the rows of gpu/hive/registry.inc and their launches; the design itself
 */
#ifndef HD_JUDGE_HIVE_SCENE_H
#define HD_JUDGE_HIVE_SCENE_H

#include "judge/design.h"
#include "ref/hive/hive.h"

enum { HIVE_SCENE_SEGMENTS = 3 }; /* a scene's table may double twice */

/* The first field is the view, so that a view alone is a table to whoever asks for entries only. */
typedef struct hive_scene_table {
    hive_view v;
    uint64_t *stashed; /* (1) entries in the stash, where kernels count them     */
    uint64_t *grown;   /* (2) level and split: how far the table has grown by now */
} hive_scene_table;

static inline hive_scene_table *hive_scene_table_of(const scene *s) { return (hive_scene_table *)s->table; }
static inline hive_view *hive_scene_view(const scene *s) { return &hive_scene_table_of(s)->v; }

/* hive_scene.c; the shape alone, or HD_EINVAL */
hd_status hive_scene_info(const hd_case *c, hd_info *info);
hd_status hive_scene_shape(scene *s, const hd_case *c);
void hive_scene_lay_table(scene *s);
void hive_scene_clear(scene *s);
bool hive_scene_fill(scene *s, hd_rng *g);
judge_scores hive_scene_scores(const scene *s);
void hive_scene_view_over(const scene *s, uint8_t *memory, void *table);
void hive_scene_apply(const scene *s, void *table, uint32_t k, const hd_batch *b);
hd_status hive_scene_resize(scene *s, void *table, uint64_t buckets);

/* hive_entries.c */
uint64_t hive_scene_buckets(const void *table); /* the stash's among them */
uint64_t hive_scene_first(const void *table, uint64_t b);
uint64_t hive_scene_places(const scene *s);
uint64_t hive_scene_key_at(const void *table, uint64_t e);
uint8_t *hive_scene_value_at(const void *table, uint64_t e);
const char *hive_scene_differs(const void *v, const void *w, uint64_t e);
void hive_scene_describe(const void *table, uint64_t e, char *line, size_t bytes);
const char *hive_scene_bucket_name(const void *table, uint64_t b, char *text, size_t bytes);
bool hive_scene_names(const scene *s, const char *region, uint64_t at, char *text, size_t bytes);

/* hive_agree.c */
const char *hive_scene_accept(const scene *s, void *model, uint32_t k, uint64_t i, const simt_ticket_record *t,
                              judge_listing *l);
const char *hive_scene_move(void *model, uint64_t from, uint64_t to);
const char *hive_scene_check(const void *table, char why[JUDGE_SENTENCE]);
const char *hive_scene_watch(const scene *s, bool weak, char why[JUDGE_SENTENCE]);

/* hive_kernels.c: a batch on a scene's machine, whose list is made of so many items at a time. */
hd_status hive_scene_queue(const scene_kernel *k, simt_machine *m, const void *args, uint32_t stream, uint64_t window);

/* The buckets on a key's way, in its order; true: there is one more, in *b. step: 0 for the first, counted on. */
bool hive_scene_way(const hive_view *v, uint64_t h, uint64_t *step, uint64_t *b);

#endif
