/* SPDX-License-Identifier: Apache-2.0
 *
 * launches.h - a batch (batch.h) as launches, which are the same for the host machine and for CUDA.
 */
#ifndef GPU_LAUNCHES_H
#define GPU_LAUNCHES_H

#include <stddef.h>

#include "base/backend.h"
#include "gpu/batch.h"
#include "policies/predicates/predicate.h"

/* Where launches go, and with which argument. */
typedef struct gpu_launcher gpu_launcher;
struct gpu_launcher {
    hd_launcher on;
    uint64_t window; /* items that the list buffer holds */
    const void *args;
    size_t args_bytes;
    gpu_batch *b;  /* in *args */
    uint32_t list; /* the kernel that lists items */
    /* Launches items [b->first, b->last) by such a row. NULL: gpu_launch_range */
    hd_status (*items)(const gpu_launcher *l, uint32_t row, const hd_variant_row *r);
};

/* Why a row cannot run a batch, for a design whose rows are of the families of gpu/batch.h: its sentence about the
 * operation, another family, or the shape of the table; NULL: it can. */
static inline const char *gpu_unsupported_row(const char *(*unsupported)(hd_op op), const hd_variant_row *row,
                                              const hd_info *info, const hd_batch *b)
{
    const char *why = b->each ? NULL : unsupported(b->op);
    gpu_family family = b->each ? GPU_ITEMS : gpu_family_of(b->op);
    if (why) return why;
    return row->family != family ? HD_OTHER_OPERATION : row->fits(info);
}

/* The kernel's description of the batch. kept: what is the same for all batches, of which the addresses of scratch. */
static inline gpu_batch gpu_batch_of(const gpu_batch *kept, const hd_gpu_state *gpu, const hd_batch *b)
{
    gpu_batch a = *kept;
    a.tally = gpu->tally;
    a.op_tally = gpu->op;
    a.predicate = hd_predicate_of(b);
    a.op = b->op;
    a.elem = b->elem;
    a.distinct = b->distinct;
    a.n = b->n;
    a.first = b->start;
    a.each = b->each;
    a.key = b->key;
    a.value = (const uint8_t *)b->value;
    a.flag = b->flag;
    a.pred_arg[0] = b->pred_arg[0];
    a.pred_arg[1] = b->pred_arg[1];
    a.outcome = b->outcome;
    a.found = (uint8_t *)(void *)b->found;
    a.value_out = (uint8_t *)b->value_out;
    a.score_out = b->score_out;
    a.ptr = (uint64_t *)(void *)b->ptr;
    a.list_key = b->list_key;
    a.list_score = b->list_score;
    a.list_item = b->list_item;
    a.list_value = (uint8_t *)b->list_value;
    a.count = b->count;
    return a;
}

/* Items that list their misses at a time. */
static inline uint64_t gpu_list_window(const hd_gpu_state *gpu)
{
    enum { MOST = 1 << 20 };
    return gpu->window_most && gpu->window_most < MOST ? gpu->window_most : MOST;
}

/* The scratch of batches that list; at: where the gpu_batch with its addresses is in the state. How many rows. */
static inline int gpu_list_memory(const hd_gpu_state *gpu, size_t at, hd_memory *all)
{
    /* clang-format off */
    const hd_memory rows[] = {
        { "table: lengths of lists", "listed", at + offsetof(gpu_batch, listed), GPU_LIST_WORDS, sizeof(uint64_t), 0,
          .put = HD_OF_BATCH },
        { "table: window of lists", "stage_flag", at + offsetof(gpu_batch, stage_flag), gpu_list_window(gpu), 1,
          HD_AS_IT_COMES, .put = HD_OF_BATCH },
    };
    /* clang-format on */
    return hd_memory_add(all, rows, sizeof rows);
}

/* hd_gpu.lists */
static inline bool gpu_batch_lists(const void *state, uint32_t row, const hd_batch *b)
{
    (void)state, (void)row;
    return !b->each && (b->op == HD_OP_FIND_MISSED || b->op == HD_OP_EXPORT || b->op == HD_OP_EXPORT_IF);
}

static inline hd_status gpu_launch_blocks(const gpu_launcher *l, uint32_t kernel, uint64_t blocks, uint32_t threads)
{
    return l->on.launch(l->on.self, kernel, l->args, l->args_bytes, blocks, threads);
}

/* Over the items, or whatever is counted, [first, last). */
static inline hd_status gpu_launch_range(const gpu_launcher *l, uint32_t kernel, uint32_t lanes, uint32_t threads)
{
    uint64_t blocks = hd_launch_blocks(&l->on, (l->b->last - l->b->first) * lanes, threads);
    return blocks ? gpu_launch_blocks(l, kernel, blocks, threads) : HD_OK;
}

/* The range in parts, a warp for each: counted, then written. */
static inline hd_status gpu_launch_list(const gpu_launcher *l, uint32_t kernel)
{
    enum { THREADS = 128 };
    uint64_t parts = (l->b->last - l->b->first) / GPU_LIST_LEAST + 1,
             blocks = ((parts < GPU_LISTS ? parts : (uint64_t)GPU_LISTS) * 32 + THREADS - 1) / THREADS;
    if (blocks > l->on.blocks_most) blocks = l->on.blocks_most;
    l->b->pass = GPU_COUNTS;
    hd_status s = gpu_launch_blocks(l, kernel, blocks, THREADS);
    l->b->pass = GPU_WRITES;
    return s ? s : gpu_launch_blocks(l, kernel, blocks, THREADS);
}

static inline hd_status gpu_launch_items(const gpu_launcher *l, uint32_t row, const hd_variant_row *r)
{
    return l->items ? l->items(l, row, r) : gpu_launch_range(l, row, r->lanes, r->threads);
}

/* A keyed batch that lists: window after window, each run and then listed. */
static inline hd_status gpu_launch_windows(const gpu_launcher *l, uint32_t row, const hd_variant_row *r)
{
    gpu_batch *b = l->b;
    hd_status s = HD_OK;
    HD_ASSERT(l->window > 0, "a window has no item");
    do {
        b->first = b->last;
        b->last = b->n - b->first < l->window ? b->n : b->first + l->window;
        s = gpu_launch_items(l, row, r);
        if (!s) s = gpu_launch_list(l, l->list);
        b->window++;
    } while (!s && b->last < b->n);
    return s;
}

/* Whether the batch lists its misses, in windows. */
static inline bool gpu_batch_stages(const gpu_batch *b)
{
    return !b->each && b->op == HD_OP_FIND_MISSED && (b->list_key || b->list_item || b->count);
}

/* Runs the batch that *l->b describes (all but first, last, window and pass) by kernel `row`, which is row r; b->first
 * is where a range of slots begins. places: of the table. */
static inline hd_status gpu_launch(const gpu_launcher *l, uint32_t row, const hd_variant_row *r, uint64_t places)
{
    gpu_batch *b = l->b;
    bool stages = gpu_batch_stages(b);
    hd_status s = HD_OK;
    if (!stages) b->stage_flag = NULL;
    if (r->family != GPU_EXPORT) b->first = 0;
    b->last = r->family == GPU_EXPORT ? b->first + b->n : gpu_family_has_items(r->family) ? b->n : places;
    HD_ASSERT(r->family != GPU_EXPORT || b->last <= places, "slots are listed that the table lacks");
    if (stages) b->last = 0;
    if (stages) return gpu_launch_windows(l, row, r);
    if (r->family == GPU_EXPORT) return gpu_launch_list(l, row);
    if (gpu_family_has_items(r->family)) return gpu_launch_items(l, row, r);
    if (r->family == GPU_SWEEP && b->count) s = l->on.zero(l->on.self, b->count, sizeof *b->count);
    return s ? s : gpu_launch_range(l, row, r->lanes, r->threads);
}

#endif
