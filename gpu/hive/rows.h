/* SPDX-License-Identifier: Apache-2.0
 *
 * rows.h - the variants of registry.inc as data, for whoever launches, lists or tests them, and what launches a batch
 * is made of: the same for the host machine and for CUDA.
 */
#ifndef HIVE_ROWS_H
#define HIVE_ROWS_H

#include "gpu/hive/args.h"
#include "heddle.h"

typedef enum hive_family {
    HIVE_FAMILY_items,  /* all keyed operations, and mixed batches: an item's operation is a value */
    HIVE_FAMILY_sweep,  /* erase_if, size, size_if  */
    HIVE_FAMILY_export, /* export, export_if        */
    HIVE_FAMILY_clear
} hive_family;

static inline hive_family hive_family_of(uint32_t op)
{
    switch (hd_op_family((hd_op)op)) {
    case HD_FAMILY_SWEEP:
    case HD_FAMILY_PROMOTE: return HIVE_FAMILY_sweep;
    case HD_FAMILY_EXPORT: return HIVE_FAMILY_export;
    case HD_FAMILY_CLEAR: return HIVE_FAMILY_clear;
    default: return HIVE_FAMILY_items;
    }
}

/* ---- Which shapes a row can run: NULL, or why not -------------------------------------------- */

static inline const char *hive_fits_all(const hd_info *info) { return (void)info, (const char *)NULL; }

static inline const char *hive_fits_batched(const hd_info *info)
{
    if (info->layout == HD_LAYOUT_MASKS) return "batched claims words: layout words";
    return info->slots <= 16 ? NULL : "a lane of batched has up to four words of a bucket: 8 or 16 slots";
}

static inline const char *hive_fits_wabc(const hd_info *info)
{
    if (info->layout != HD_LAYOUT_MASKS) return "wabc claims slots in masks: layout masks";
    return info->slots == 32 ? NULL : "wabc has a lane for each slot: buckets of 32";
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* The numbers of kernels: the rows in their order, then those that batches share. */
typedef enum hive_kernel {
#define HIVE_KERNEL(variant, family, lanes, threads, fits, strictness, what) HIVE_NUMBER_##variant##_##family,
#include "gpu/hive/registry.inc"
#undef HIVE_KERNEL
    HIVE_ROWS,
    HIVE_NUMBER_list = HIVE_ROWS,
    HIVE_NUMBER_split,
    HIVE_NUMBER_restash,
    HIVE_NUMBER_measure,
    HIVE_NUMBER_merge,
    HIVE_NUMBER_thin,
    HIVE_NUMBER_word_enter, /* of a batch lock: concurrency/word.h */
    HIVE_NUMBER_word_leave,
    HIVE_NUMBER_count_each, /* of a mixed batch: gpu/each.h */
    HIVE_KERNELS
} hive_kernel;

typedef enum hive_strict { HIVE_STRICT_EXACT, HIVE_STRICT_ORDER } hive_strict;

typedef struct hive_row {
    const char *variant;
    hive_family family;
    uint32_t lanes, threads; /* per item or slot, per block */
    const char *(*fits)(const hd_info *info);
    hive_strict strict;
    const char *what;
} hive_row;

static const hive_row hive_rows[] = {
#define HIVE_KERNEL(variant, family, lanes, threads, fits, strictness, what) \
    { #variant, HIVE_FAMILY_##family, lanes, threads, fits, HIVE_STRICT_##strictness, what },
#include "gpu/hive/registry.inc"
#undef HIVE_KERNEL
};

/* ---- A batch as launches --------------------------------------------------------------------- */

/* What the caller brings. The table, the predicate's number, who moves, the tally and the room are for whoever has
 * them. */
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
    a->value_out = (uint8_t *)b->value_out;
    a->score_out = b->score_out;
    a->ptr = (uint64_t *)(void *)b->ptr;
    a->list_key = b->list_key;
    a->list_score = b->list_score;
    a->list_item = b->list_item;
    a->list_value = (uint8_t *)b->list_value;
    a->count = b->count;
}

/* How the launches of a batch are put on a machine: both return a status that ends the batch. */
typedef struct hive_launcher {
    hd_status (*launch)(void *self, uint32_t kernel, const void *args, size_t args_bytes, uint64_t blocks,
                        uint32_t threads);
    hd_status (*zero)(void *self, void *p, size_t bytes); /* in order with the launches */
    void *self;
    uint64_t blocks_most; /* kernels go over their items in strides: no more blocks than this */
    uint64_t window;      /* items that the stage holds                                       */
} hive_launcher;

static inline hd_status hive_launch_one(const hive_launcher *l, uint32_t kernel, const hive_args *a, uint32_t lanes,
                                        uint32_t threads)
{
    uint64_t all = (a->last - a->first) * lanes, blocks = all / threads + (all % threads != 0);
    if (blocks == 0) return HD_OK;
    return l->launch(l->self, kernel, a, sizeof *a, blocks < l->blocks_most ? blocks : l->blocks_most, threads);
}

/* The range in parts, a warp for each: counted, then written. */
static inline hd_status hive_launch_list(const hive_launcher *l, uint32_t kernel, hive_args *a)
{
    enum { THREADS = 128 };
    uint64_t parts = (a->last - a->first) / HIVE_LIST_LEAST + 1,
             blocks = ((parts < HIVE_LISTS ? parts : (uint64_t)HIVE_LISTS) * 32 + THREADS - 1) / THREADS;
    if (blocks > l->blocks_most) blocks = l->blocks_most;
    a->pass = HIVE_COUNTS;
    hd_status s = l->launch(l->self, kernel, a, sizeof *a, blocks, THREADS);
    a->pass = HIVE_WRITES;
    return s ? s : l->launch(l->self, kernel, a, sizeof *a, blocks, THREADS);
}

/* A keyed batch that lists: window after window, each run and then listed. */
static inline hd_status hive_launch_windows(const hive_launcher *l, uint32_t row, hive_args *a)
{
    hd_status s = HD_OK;
    do {
        a->first = a->last;
        a->last = a->n - a->first < l->window ? a->n : a->first + l->window;
        s = hive_launch_one(l, row, a, hive_rows[row].lanes, hive_rows[row].threads);
        if (!s) s = hive_launch_list(l, HIVE_NUMBER_list, a);
        a->window++;
    } while (!s && a->last < a->n);
    return s;
}

/* Runs the batch that `a` describes (all but first, last, window and pass) by kernel `row`; a.first is where a range of
 * slots begins. */
static inline hd_status hive_launch(const hive_launcher *l, uint32_t row, hive_args a)
{
    const hive_row *r = &hive_rows[row];
    bool stages = !a.each && a.op == HD_OP_FIND_MISSED && (a.list_key || a.list_item || a.count);
    hd_status s = HD_OK;
    if (!stages) a.stage_flag = NULL;
    if (r->family != HIVE_FAMILY_export) a.first = 0;
    a.last = r->family == HIVE_FAMILY_items ? a.n : r->family == HIVE_FAMILY_export ? a.first + a.n : hive_places(&a.v);
    if (stages) a.last = 0;
    if (stages) return hive_launch_windows(l, row, &a);
    if (r->family == HIVE_FAMILY_export) return hive_launch_list(l, row, &a);
    if (r->family == HIVE_FAMILY_sweep && a.count) s = l->zero(l->self, a.count, sizeof *a.count);
    return s ? s : hive_launch_one(l, row, &a, r->lanes, r->threads);
}

#endif
