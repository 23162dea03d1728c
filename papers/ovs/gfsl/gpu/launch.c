/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.c - describes the skip list gfsl to the backends: the memory of its tables on a device and beside the
 * reference's chunks, the argument of its kernels, and its batches as launches.
 */
#include "gfsl/gpu/launch.h"

#include <stddef.h>
#include <string.h>

#include "gfsl/gpu/args.h"
#include "gfsl/gpu/state.h"
#include "gfsl/ref/gfsl.h"

const char *gfsl_unsupported_row(const hd_variant_row *row, const hd_info *info, const hd_batch *b)
{
    const char *unsupported = b->each ? NULL : gfsl_unsupported(b->op);
    (void)info;
    if (unsupported) return unsupported;
    return row->family == (b->each ? (uint32_t)GPU_ITEMS : gfsl_family_of(b->op)) ? NULL : HD_OTHER_OPERATION;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void usual(hd_info *info) { (void)info; }

/* How many chunks are near; the others are far. On backend "host" they are one array. */
static uint64_t near_for(const gfsl_view *v, hd_gfsl_far far)
{
    return far == HD_GFSL_NEAR ? v->chunks : far == HD_GFSL_FAR ? 0 : gfsl_pool_begin(v, 0);
}

static void begin(void *state)
{
    gfsl_table_state *o = (gfsl_table_state *)state;
    o->v = gfsl_view_for(&o->gpu.info);
    o->v.near = near_for(&o->v, o->gpu.info.gfsl.far);
}

static int memory(const void *state, hd_memory *all)
{
    const gfsl_table_state *o = (const gfsl_table_state *)state;
    const size_t counters = offsetof(gfsl_table_state, words), word = offsetof(gfsl_view, word),
                 size = sizeof(uint64_t);
    uint64_t near = o->v.near * gfsl_words(&o->v), far = (o->v.chunks - o->v.near) * gfsl_words(&o->v);
    /* clang-format off */
    const hd_memory rows[] = {
        { "table: counters", NULL, counters, 1, sizeof(gfsl_counters), 0, .put = HD_TOGETHER },
        hd_memory_word("tally", counters, offsetof(gfsl_counters, tally), sizeof o->words->tally),
        hd_memory_word("sum", counters, offsetof(gfsl_counters, sum), sizeof o->words->sum),
        { "table: head", "head", offsetof(gfsl_table_state, v.head), GFSL_HEAD, size, 0, .put = HD_TOGETHER,
          HD_HOLDS_ENTRIES, offsetof(gfsl_view, head) },
        { "capacity: chunks", "chunks", offsetof(gfsl_table_state, v.word), near, size, HD_AS_IT_COMES, .put = HD_APART,
          HD_HOLDS_ENTRIES, word },
        { "capacity: far chunks", "far chunks", offsetof(gfsl_table_state, v.far), far, size, HD_AS_IT_COMES,
          .put = HD_HOST_MEMORY, HD_HOLDS_ENTRIES, word, near * size },
    };
    /* clang-format on */
    int n = gpu_list_memory(&o->gpu, offsetof(gfsl_table_state, kept), all);
    return n + hd_memory_add(all + n, rows, sizeof rows);
}

static void *view_of(void *entries) { return gfsl_view_of(entries); }

static void taken(void *state)
{
    gfsl_table_state *o = (gfsl_table_state *)state;
    o->gpu.tally = o->words->tally;
    o->gpu.op = o->words->op;
    o->gpu.sum = &o->words->sum;
    o->gpu.word = &o->words->word;
}

static void before(void *state, void *entries)
{
    gfsl_table_state *o = (gfsl_table_state *)state;
    o->v = *gfsl_view_of(entries);
    o->v.near = near_for(&o->v, o->gpu.info.gfsl.far);
    o->v.far = o->v.word + o->v.near * gfsl_words(&o->v);
}

static void after(void *state, void *entries, bool good) { (void)state, (void)entries, (void)good; }

static hd_status open_here(const void *state, const hd_seams *s, void **staged)
{
    return gfsl_reference.open(NULL, &((const gfsl_table_state *)state)->gpu.info, s, staged);
}

/* ---- A batch --------------------------------------------------------------------------------- */

static hd_status launch_over(const gpu_launcher *l, uint32_t kernel, uint64_t lanes)
{
    return gpu_launch_blocks(l, kernel, hd_launch_blocks(&l->on, lanes, 128), 128);
}

static uint64_t words_of(const gfsl_view *v) { return v->chunks * gfsl_words(v); }

/* Zombies of the batch become free. */
static hd_status launch_settle(const gpu_launcher *l)
{
    const gfsl_args *a = (const gfsl_args *)l->args;
    hd_status s = launch_over(l, GFSL_NUMBER_relink, words_of(&a->v));
    return s ? s : launch_over(l, GFSL_NUMBER_release, a->v.chunks);
}

static hd_status launch_erase_if(const gpu_launcher *l, gfsl_args *a)
{
    hd_status s = a->b.count ? l->on.zero(l->on.self, a->b.count, sizeof *a->b.count) : HD_OK;
    for (; a->level < a->v.levels && !s; a->level++) {
        s = launch_over(l, GFSL_NUMBER_prune, words_of(&a->v));
        if (!s) s = launch_over(l, GFSL_NUMBER_thin, words_of(&a->v));
        if (!s) s = launch_over(l, GFSL_NUMBER_relink, words_of(&a->v));
    }
    return s ? s : launch_over(l, GFSL_NUMBER_release, a->v.chunks);
}

/* gpu_launcher.items: a lane per word of a chunk. */
static hd_status launch_items(const gpu_launcher *l, uint32_t row, const hd_variant_row *r)
{
    const gfsl_args *a = (const gfsl_args *)l->args;
    uint64_t n = l->b->last - l->b->first, keys = a->keys_per_block;
    hd_launcher on = l->on;
    if (a->blocks) on.blocks_most = a->blocks; /* also more than run at a time */
    uint64_t lanes = keys ? (n + keys - 1) / keys * r->threads : n * gfsl_words(&a->v),
             blocks = hd_launch_blocks(&on, lanes, r->threads);
    hd_status s = blocks ? gpu_launch_blocks(l, row, blocks, r->threads) : HD_OK;
    return s || (!l->b->each && l->b->op != HD_OP_ERASE) ? s : launch_settle(l);
}

static hd_status launch(void *state, const hd_launcher *to, uint32_t row, const hd_batch *b, hd_when when)
{
    const gfsl_table_state *o = (const gfsl_table_state *)state;
    gfsl_args a;
    (void)when;
    memset(&a, 0, sizeof a);
    a.v = o->v;
    a.keys_per_block = o->gpu.info.gfsl.keys_per_block;
    a.blocks = o->gpu.info.gfsl.blocks;
    a.b = gpu_batch_of(&o->kept, &o->gpu, b);
    a.key2 = b->key2;
    a.key_out = b->key_out;
    a.rows = b->rows;
    a.more = (uint8_t *)(void *)b->more;
    a.limit = b->limit;
    a.inclusive = b->inclusive;
    const gpu_launcher l = { *to, gpu_list_window(&o->gpu), &a, sizeof a, &a.b, GFSL_NUMBER_list, launch_items };
    const hd_variant_row *r = hd_variant_row_numbered(gfsl_variants, row);
    if (!b->each && b->op == HD_OP_ERASE_IF) return launch_erase_if(&l, &a);
    if (r->family == GFSL_ENDS) return gpu_launch_blocks(&l, row, 1, r->threads);
    if (r->family != GFSL_ORDERED) return gpu_launch(&l, row, r, gfsl_places(&a.v));
    a.b.first = 0;
    a.b.last = b->n;
    return gpu_launch_range(&l, row, gfsl_words(&a.v), r->threads);
}

static hd_status empty(void *state, const hd_launcher *l)
{
    static const hd_when when = { .clock = 0 };
    hd_batch b;
    memset(&b, 0, sizeof b);
    b.op = HD_OP_CLEAR;
    return launch(state, l, hd_variant_row_of(gfsl_variants, "chunk", GPU_CLEAR), &b, when);
}

/* hd_check and walks see a copy in this machine's memory. */
const hd_gpu gfsl_gpu = {
    .cuda_entry = HD_CUDA_ENTRY(gfsl_cuda_entry),
    .cuda_module = HD_CUDA_ENTRY(gfsl_cuda_module),
    .word_enter = GFSL_NUMBER_word_enter,
    .word_leave = GFSL_NUMBER_word_leave,
    .state_bytes = sizeof(gfsl_table_state),
    .usual = usual,
    .begin = begin,
    .memory = memory,
    .taken = taken,
    .view_of = view_of,
    .before = before,
    .after = after,
    .empty = empty,
    .open_here = open_here,
    .lists = gpu_batch_lists,
    .launch = launch,
};
