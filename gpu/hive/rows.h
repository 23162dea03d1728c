/* SPDX-License-Identifier: Apache-2.0
 *
 * rows.h - the variants of registry.h as data, and the launches of a batch, which are the same for the host machine and
 * for CUDA.
 */
#ifndef HIVE_ROWS_H
#define HIVE_ROWS_H

#include "base/backend.h"
#include "gpu/hive/args.h"
#include "gpu/hive/kernel_numbers.h"
#include "gpu/hive/variant.h"
#include "heddle.h"

/* The variants of registry.h; a NULL ends them. */
extern const hd_variant *const hive_variants[];

/* A kernel of the host machine by number; NULL: there is none. */
hd_host_text *hive_host_kernel(uint32_t kernel);

/* Row `row`; NULL past the last. */
static inline const hd_variant_row *hive_row(uint32_t row) { return hd_variant_row_numbered(hive_variants, row); }

/* The name of its variant. */
static inline const char *hive_row_name(uint32_t row) { return hd_variant_row_name(hive_variants, row); }

static inline uint32_t hive_row_count(void) { return hd_variant_row_count(hive_variants); }

/* The row by which a variant runs a family; hive_row_count(): it does not. */
static inline uint32_t hive_row_of(const char *variant, hive_family family)
{
    return hd_variant_row_of(hive_variants, variant, family);
}

/* ---- A batch as launches --------------------------------------------------------------------- */

/* Copies what the caller gave. The rest of the arguments (table, predicate, tally, room) is set by the caller of this
 * function. */
static inline void hive_args_of_batch(hive_args *a, const hd_batch *b)
{
    a->op = b->op;
    a->elem = b->elem;
    a->distinct = b->distinct;
    a->n = b->n;
    a->first = b->start;
    a->each = b->each;
    a->key = b->key;
    a->value = (const uint8_t *)b->value;
    a->flag = b->flag;
    a->pred_arg[0] = b->pred_arg[0];
    a->pred_arg[1] = b->pred_arg[1];
    a->outcome = b->outcome;
    a->found = (uint8_t *)(void *)b->found;
    a->value_out = (uint8_t *)b->value_out;
    a->score_out = b->score_out;
    a->ptr = (uint64_t *)(void *)b->ptr;
    a->list_key = b->list_key;
    a->list_score = b->list_score;
    a->list_item = b->list_item;
    a->list_value = (uint8_t *)b->list_value;
    a->count = b->count;
}

/* What the launches of a batch need. */
typedef struct hive_launcher {
    hd_launcher on;
    uint64_t window; /* items that the list buffer holds */
} hive_launcher;

static inline hd_status hive_launch_one(const hive_launcher *l, uint32_t kernel, const hive_args *a, uint32_t lanes,
                                        uint32_t threads)
{
    uint64_t blocks = hd_launch_blocks(&l->on, (a->last - a->first) * lanes, threads);
    return blocks ? l->on.launch(l->on.self, kernel, a, sizeof *a, blocks, threads) : HD_OK;
}

/* The range in parts, a warp for each: counted, then written. */
static inline hd_status hive_launch_list(const hive_launcher *l, uint32_t kernel, hive_args *a)
{
    enum { THREADS = 128 };
    uint64_t parts = (a->last - a->first) / HIVE_LIST_LEAST + 1,
             blocks = ((parts < HIVE_LISTS ? parts : (uint64_t)HIVE_LISTS) * 32 + THREADS - 1) / THREADS;
    if (blocks > l->on.blocks_most) blocks = l->on.blocks_most;
    a->pass = HIVE_COUNTS;
    hd_status s = l->on.launch(l->on.self, kernel, a, sizeof *a, blocks, THREADS);
    a->pass = HIVE_WRITES;
    return s ? s : l->on.launch(l->on.self, kernel, a, sizeof *a, blocks, THREADS);
}

/* A keyed batch that lists: window after window, each run and then listed. */
static inline hd_status hive_launch_windows(const hive_launcher *l, uint32_t row, hive_args *a)
{
    hd_status s = HD_OK;
    do {
        a->first = a->last;
        a->last = a->n - a->first < l->window ? a->n : a->first + l->window;
        s = hive_launch_one(l, row, a, hive_row(row)->lanes, hive_row(row)->threads);
        if (!s) s = hive_launch_list(l, HIVE_NUMBER_list, a);
        a->window++;
    } while (!s && a->last < a->n);
    return s;
}

/* Runs the batch that `a` describes (all but first, last, window and pass) by kernel `row`; a.first is where a range of
 * slots begins. */
static inline hd_status hive_launch(const hive_launcher *l, uint32_t row, hive_args a)
{
    const hd_variant_row *r = hive_row(row);
    bool stages = !a.each && a.op == HD_OP_FIND_MISSED && (a.list_key || a.list_item || a.count);
    hd_status s = HD_OK;
    if (!stages) a.stage_flag = NULL;
    if (r->family != HIVE_EXPORT) a.first = 0;
    a.last = r->family == HIVE_ITEMS ? a.n : r->family == HIVE_EXPORT ? a.first + a.n : hive_places(&a.v);
    if (stages) a.last = 0;
    if (stages) return hive_launch_windows(l, row, &a);
    if (r->family == HIVE_EXPORT) return hive_launch_list(l, row, &a);
    if (r->family == HIVE_SWEEP && a.count) s = l->on.zero(l->on.self, a.count, sizeof *a.count);
    return s ? s : hive_launch_one(l, row, &a, r->lanes, r->threads);
}

#endif
