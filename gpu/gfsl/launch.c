/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.c - describes the skip list gfsl to the backends: the memory of its tables on a device and beside the
 * reference's chunks, the argument of its kernels, and its batches as launches.
 */
#include "gpu/gfsl/launch.h"

#include <stddef.h>
#include <string.h>

#include "gpu/gfsl/args.h"
#include "gpu/gfsl/own.h"
#include "gpu/launches.h"
#include "predicates/predicate.h"
#include "ref/gfsl/gfsl.h"

extern const hd_design hd_design_gfsl_cuda;

const char *gfsl_unfit_row(const hd_variant_row *row, const hd_info *info, const hd_batch *b)
{
    const char *unfit = b->each ? NULL : gfsl_unfit(b->op);
    (void)info;
    if (unfit) return unfit;
    return row->family == (b->each ? (uint32_t)GPU_ITEMS : gfsl_family_of(b->op)) ? NULL : HD_OTHER_OPERATION;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static const gpu_room room = { offsetof(gfsl_own, words), sizeof(gfsl_counters), offsetof(gfsl_own, listed),
                               offsetof(gfsl_own, stage_flag) };

static void usual(hd_info *info) { (void)info; }

static uint64_t room_bytes(const hd_info *info, bool device) { return gpu_room_bytes(&room, info, device); }

/* How many chunks are near; the others are far. On backend "host" they are one array. */
static uint64_t near_for(const gfsl_view *v, hd_gfsl_far far)
{
    return far == HD_GFSL_NEAR ? v->chunks : far == HD_GFSL_FAR ? 0 : gfsl_pool_begin(v, 0);
}

static void begin(void *own)
{
    gfsl_own *o = (gfsl_own *)own;
    o->v = gfsl_view_for(&o->gpu.info);
    o->v.near = near_for(&o->v, o->gpu.info.gfsl.far);
}

/* On backend "host" the table is the reference's. */
static int pieces(const void *own, hd_piece *all)
{
    const gfsl_own *o = (const gfsl_own *)own;
    int n = gpu_room_pieces(&room, &o->gpu, all);
    if (!o->gpu.device) return n;
    all[n++] = (hd_piece){ "table: head", offsetof(gfsl_own, v.head), GFSL_HEAD, sizeof(uint64_t), 0, HD_TOGETHER };
    all[n++] = (hd_piece){ "capacity: chunks",
                           offsetof(gfsl_own, v.word),
                           o->v.near * gfsl_words(&o->v),
                           sizeof(uint64_t),
                           HD_AS_IT_COMES,
                           HD_APART };
    all[n++] = (hd_piece){ "capacity: far chunks",
                           offsetof(gfsl_own, v.far),
                           (o->v.chunks - o->v.near) * gfsl_words(&o->v),
                           sizeof(uint64_t),
                           HD_AS_IT_COMES,
                           HD_HOST_MEMORY };
    return n;
}

static void taken(void *own)
{
    gfsl_own *o = (gfsl_own *)own;
    o->gpu.tally = o->words->tally;
    o->gpu.op = o->words->op;
    o->gpu.sum = &o->words->sum;
    o->gpu.word = &o->words->word;
}

static void before(void *own, void *entries)
{
    gfsl_own *o = (gfsl_own *)own;
    o->v = *gfsl_view_of(entries);
    o->v.near = near_for(&o->v, o->gpu.info.gfsl.far);
    o->v.far = o->v.word + o->v.near * gfsl_words(&o->v);
}

static void after(void *own, void *entries, bool good) { (void)own, (void)entries, (void)good; }

static int regions(const void *own, hd_region *all)
{
    const gfsl_own *o = (const gfsl_own *)own;
    int n = gpu_word_regions(&o->gpu, o->listed, o->stage_flag, all);
    all[n++] = (hd_region){ o->v.head, GFSL_HEAD * sizeof(uint64_t), "head" };
    all[n++] = (hd_region){ o->v.word, o->v.near * gfsl_words(&o->v) * sizeof(uint64_t), "chunks" };
    all[n++] = (hd_region){ o->v.far, (o->v.chunks - o->v.near) * gfsl_words(&o->v) * sizeof(uint64_t), "far chunks" };
    return n;
}

static hd_status open_here(const void *own, const hd_seams *s, void **staged)
{
    return hd_design_gfsl.open(&hd_design_gfsl, &((const gfsl_own *)own)->gpu.info, s, staged);
}

static int planes(const void *own, void *staged, bool values, hd_plane *all)
{
    const gfsl_own *o = (const gfsl_own *)own;
    (void)values; /* they are in the words */
    all[0] = (hd_plane){ "head", o->v.head, gfsl_view_of(staged)->head, GFSL_HEAD * sizeof(uint64_t) };
    uint64_t near = o->v.near * gfsl_words(&o->v), all_words = o->v.chunks * gfsl_words(&o->v);
    all[1] = (hd_plane){ "chunks", o->v.word, gfsl_view_of(staged)->word, near * sizeof(uint64_t) };
    all[2] =
        (hd_plane){ "far chunks", o->v.far, gfsl_view_of(staged)->word + near, (all_words - near) * sizeof(uint64_t) };
    return 3;
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

static hd_status launch(void *own, const hd_launcher *to, uint32_t row, const hd_batch *b, hd_when when)
{
    const gfsl_own *o = (const gfsl_own *)own;
    gfsl_args a;
    (void)when;
    memset(&a, 0, sizeof a);
    a.v = o->v;
    a.keys_per_block = o->gpu.info.gfsl.keys_per_block;
    a.blocks = o->gpu.info.gfsl.blocks;
    a.b = gpu_batch_of(b);
    a.b.predicate = hd_predicate_of(b);
    a.key2 = b->key2;
    a.key_out = b->key_out;
    a.rows = b->rows;
    a.more = (uint8_t *)(void *)b->more;
    a.limit = b->limit;
    a.inclusive = b->inclusive;
    a.b.tally = o->gpu.tally;
    a.b.op_tally = o->gpu.op;
    a.b.listed = o->listed;
    a.b.stage_flag = o->stage_flag;
    const gpu_launcher l = { *to, gpu_list_window(&o->gpu), &a, sizeof a, &a.b, GFSL_NUMBER_list, launch_items };
    const hd_variant_row *r = hd_variant_row_numbered(gfsl_variants, row);
    if (!b->each && b->op == HD_OP_ERASE_IF) return launch_erase_if(&l, &a);
    if (r->family == GFSL_ENDS) return gpu_launch_blocks(&l, row, 1, r->threads);
    if (r->family != GFSL_ORDERED) return gpu_launch(&l, row, r, gfsl_places(&a.v));
    a.b.first = 0;
    a.b.last = b->n;
    return gpu_launch_range(&l, row, gfsl_words(&a.v), r->threads);
}

static hd_status empty(void *own, const hd_launcher *l)
{
    static const hd_when when = { .clock = 0 };
    hd_batch b;
    memset(&b, 0, sizeof b);
    b.op = HD_OP_CLEAR;
    return launch(own, l, hd_variant_row_of(gfsl_variants, "chunk", GPU_CLEAR), &b, when);
}

/* hd_check and walks see a copy in this machine's memory. */
const hd_gpu gfsl_gpu = {
    .ref = &hd_design_gfsl,
    .cuda_entry = HD_CUDA_ENTRY(gfsl_cuda_entry),
    .cuda_module = HD_CUDA_ENTRY(gfsl_cuda_module),
    .word_enter = GFSL_NUMBER_word_enter,
    .word_leave = GFSL_NUMBER_word_leave,
    .own_bytes = sizeof(gfsl_own),
    .usual = usual,
    .room_bytes = room_bytes,
    .begin = begin,
    .pieces = pieces,
    .taken = taken,
    .before = before,
    .after = after,
    .regions = regions,
    .empty = empty,
    .open_here = open_here,
    .planes = planes,
    .lists = gpu_batch_lists,
    .launch = launch,
};

const hd_design hd_design_gfsl_cuda = {
    .name = "gfsl",
    .what = "the skip list GFSL, in a GPU's memory",
    .params = &gfsl_params,
    .policy = "none",
    .variants = gfsl_variants,
    .unfit = gfsl_unfit_row,
    .gpu = &gfsl_gpu,
    .owns = true,
    HD_ON_CUDA,
};
