/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.c - describes Hive to the backends: the memory of its tables on a device and beside the reference's words, the
 * argument of its kernels, and its batches as launches.
 */
#include "gpu/hive/launch.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "gpu/hive/own.h"
#include "gpu/hive/part.h"
#include "predicates/predicate.h"
#include "ref/hive/hive.h"

extern const hd_design hd_design_hive, hd_design_hive_cuda;

/* ---- Memory ---------------------------------------------------------------------------------- */

static void usual(hd_info *info) { (void)info; }

static void begin(void *own)
{
    hive_own *o = (hive_own *)own;
    o->v = hive_view_for(&o->gpu.info);
}

/* The words, masks and locks of so many buckets. */
static int add_segment(const hive_view *v, hd_piece *all, size_t at, uint64_t buckets, hd_put put)
{
    uint64_t masks = v->masks ? buckets : 0;
    const hd_piece segment[] = {
        /* empty */
        { "capacity: buckets", at + offsetof(hive_segment, word), buckets * v->slots, hive_word_bytes(v),
          HD_AS_IT_COMES, put },
        { "capacity: masks", at + offsetof(hive_segment, mask), masks, sizeof(uint32_t), HD_AS_IT_COMES, put },
        { "capacity: locks", at + offsetof(hive_segment, lock), masks, sizeof(uint32_t), HD_AS_IT_COMES, put },
    };
    memcpy(all, segment, sizeof segment);
    return sizeof segment / sizeof *segment;
}

static size_t at_segment(uint32_t k) { return offsetof(hive_own, v.segment) + k * sizeof(hive_segment); }

/* What growth brings, and what it replaces, the stash, are allocations of their own. */
static int words_to_take(const hive_own *o, hd_piece *all)
{
    int n = 0;
    for (uint32_t k = 0; k < hive_segments_for(&o->v, hive_buckets(&o->v)); k++)
        n += add_segment(&o->v, all + n, at_segment(k), hive_segment_buckets(&o->v, k), k ? HD_APART : HD_TOGETHER);
    return n + add_segment(&o->v, all + n, offsetof(hive_own, v.stash), o->v.stash_buckets, HD_APART);
}

static const gpu_room room = { offsetof(hive_own, words), sizeof(hive_words), offsetof(hive_own, listed),
                               offsetof(hive_own, stage_flag) };

static uint64_t room_bytes(const hd_info *info, bool device) { return gpu_room_bytes(&room, info, device); }

static int pieces(const void *own, hd_piece *all)
{
    const hive_own *o = (const hive_own *)own;
    int n = o->gpu.device ? words_to_take(o, all) : 0;
    return n + gpu_room_pieces(&room, &o->gpu, all + n);
}

static void taken(void *own)
{
    hive_own *o = (hive_own *)own;
    o->gpu.tally = o->words->tally;
    o->gpu.sum = &o->words->sum;
    o->gpu.op = o->words->op;
    o->gpu.word = &o->words->word;
}

/* ---- A batch --------------------------------------------------------------------------------- */

/* All but first, last, window and pass, which gpu_launch sets. */
static hive_args args_of(const hive_own *o, const hd_batch *b)
{
    hive_args a;
    memset(&a, 0, sizeof a);
    a.v = o->v;
    a.stashed = hive_stashed_of(o);
    a.b = gpu_batch_of(b);
    a.b.predicate = hd_predicate_of(b);
    a.moves = b->each || gpu_op_inserts(b->op);
    a.b.tally = o->gpu.tally;
    a.b.op_tally = o->gpu.op;
    a.b.stage_flag = o->stage_flag;
    a.b.listed = o->listed;
    a.crowded = o->words->crowded;
    return a;
}

static gpu_launcher launcher_of(const hive_own *o, const hd_launcher *to, hive_args *a)
{
    return (gpu_launcher){ *to, gpu_list_window(&o->gpu), a, sizeof *a, &a->b, HIVE_NUMBER_list, NULL };
}

static hd_status launch(void *own, const hd_launcher *to, uint32_t row, const hd_batch *b, hd_when when)
{
    const hive_own *o = (const hive_own *)own;
    hive_args a = args_of(o, b);
    const gpu_launcher l = launcher_of(o, to, &a);
    (void)when;
    return gpu_launch(&l, row, hive_row(row), hive_places(&o->v));
}

const char *hive_unfit_row(const hd_variant_row *row, const hd_info *info, const hd_batch *b)
{
    const char *unfit = b->each ? NULL : hive_unfit(b->op);
    gpu_family family = b->each ? GPU_ITEMS : gpu_family_of(b->op);
    if (unfit) return unfit;
    return row->family != family ? HD_OTHER_OPERATION : row->fits(info);
}

/* ---- On the host machine --------------------------------------------------------------------- */

static void before(void *own, void *entries)
{
    hive_own *o = (hive_own *)own;
    o->v = *hive_view_of(entries);
    *hive_stashed_of(o) = o->v.stashed;
}

static void after(void *own, void *entries, bool good)
{
    (void)good;
    hive_view_of(entries)->stashed = *hive_stashed_of((const hive_own *)own);
}

/* What kernels may touch of a segment of so many buckets. */
static int add_regions(const hive_view *v, hd_region *all, const hive_segment *g, uint64_t buckets)
{
    const hd_region segment[] = {
        { g->word, buckets * v->slots * hive_word_bytes(v), "words" },
        { g->mask, buckets * sizeof *g->mask, "masks" },
        { g->lock, buckets * sizeof *g->lock, "locks" },
    };
    memcpy(all, segment, sizeof segment);
    return sizeof segment / sizeof *segment;
}

static int regions(const void *own, hd_region *all)
{
    const hive_own *o = (const hive_own *)own;
    const hive_view *v = &o->v;
    hive_words *w = o->words;
    int n = gpu_word_regions(&o->gpu, o->listed, o->stage_flag, all);
    all[n++] = (hd_region){ w->stashed, sizeof w->stashed, "stash count" };
    all[n++] = (hd_region){ w->crowded, sizeof w->crowded, "crowded" };
    n += add_regions(v, all + n, &v->stash, v->stash_buckets);
    for (uint32_t k = 0; k < HIVE_SEGMENTS && v->segment[k].word; k++)
        n += add_regions(v, all + n, &v->segment[k], hive_segment_buckets(v, k));
    return n;
}

/* ---- On a device ----------------------------------------------------------------------------- */

static hd_status empty(void *own, const hd_launcher *l)
{
    hd_batch b;
    static const hd_when when = { .clock = 0 };
    memset(&b, 0, sizeof b);
    b.op = HD_OP_CLEAR;
    return launch(own, l, hive_row_of("tile", GPU_CLEAR), &b, when);
}

static hd_status open_here(const void *own, const hd_seams *s, void **staged)
{
    return hd_design_hive.open(&hd_design_hive, &((const hive_own *)own)->gpu.info, s, staged);
}

static int add_planes(const hive_view *v, hd_plane *all, const hive_segment *there, const hive_segment *here,
                      uint64_t buckets)
{
    uint64_t masks = v->masks ? buckets * sizeof(uint32_t) : 0;
    const hd_plane segment[] = {
        { "buckets", there->word, here->word, buckets * v->slots * hive_word_bytes(v) },
        { "masks", there->mask, here->mask, masks },
        { "locks", there->lock, here->lock, masks },
    };
    memcpy(all, segment, sizeof segment);
    return sizeof segment / sizeof *segment;
}

/* How many buckets of segment k the table has. It may use a part of its last segment; the rest is not written. */
static uint64_t buckets_of_segment(const hive_view *v, uint32_t k)
{
    /* before it come as many as it has */
    uint64_t all = hive_segment_buckets(v, k), has = hive_buckets(v) - (k ? all : 0);
    return has < all ? has : all;
}

static int planes(const void *own, void *staged, bool values, hd_plane *all)
{
    const hive_own *o = (const hive_own *)own;
    hive_view *here = hive_view_of(staged);
    const hd_plane count = { "stash count", hive_stashed_of(o), &here->stashed, sizeof here->stashed };
    (void)values; /* they are in the words */
    all[0] = count;
    int n = 1 + add_planes(&o->v, all + 1, &o->v.stash, &here->stash, o->v.stash_buckets);
    for (uint32_t k = 0; k < hive_segments_for(&o->v, hive_buckets(&o->v)); k++)
        n += add_planes(&o->v, all + n, &o->v.segment[k], &here->segment[k], buckets_of_segment(&o->v, k));
    return n;
}

/* ---- Growth (section IV-C1) ------------------------------------------------------------------ */

static hd_status take_segment(const hive_own *o, const hd_gpu_machine *m, size_t at, uint64_t buckets)
{
    hd_piece all[3];
    return hd_machine_take(m, o, all, add_segment(&o->v, all, at, buckets, HD_APART));
}

static void give_segment(const hive_own *o, const hd_gpu_machine *m, size_t at, uint64_t buckets)
{
    hd_piece all[3];
    hd_machine_give(m, o, all, add_segment(&o->v, all, at, buckets, HD_APART));
}

static hd_status launch_range(const hive_own *o, const hd_gpu_machine *m, uint32_t kernel, uint32_t lanes, hive_args *a)
{
    const gpu_launcher l = launcher_of(o, &m->on, a);
    return gpu_launch_range(&l, kernel, lanes, 128);
}

/* Buckets are split, a doubling a launch; *v is what the table is after each. */
static hd_status split_up_to(hive_own *o, const hd_gpu_machine *m, hive_args *a, uint64_t buckets)
{
    hd_status status = HD_OK;
    while (!status && hive_buckets(&o->v) < buckets) {
        hive_view then = o->v;
        uint64_t left = buckets - hive_buckets(&then);
        a->round = then.base << then.level;
        a->b.first = then.split;
        then.split = left < a->round - then.split ? then.split + left : a->round;
        a->b.last = then.split;
        if (then.split == a->round) {
            then.level++;
            then.split = 0;
        }
        a->v = then;
        status = launch_range(o, m, HIVE_NUMBER_split, 8, a);
        if (!status) o->v = then;
    }
    return status;
}

/* The next stash becomes the stash, with what was in the old one as far as that is not in buckets now; that is the next
 * one then, of *buckets. Where it fails the old one is the stash, with all that it had, and its own count. */
static hd_status change_stash(hive_own *o, const hd_gpu_machine *m, hive_args *a, uint64_t *buckets)
{
    hive_segment was = o->v.stash;
    uint64_t was_buckets = o->v.stash_buckets;
    a->v = o->v;
    a->v.stash = o->next;
    a->v.stash_buckets = *buckets;
    a->b.first = hive_capacity(&a->v);
    a->b.last = hive_places(&a->v);
    a->stashed = &o->words->stashed[!o->count];
    hd_status status = launch_range(o, m, hive_row_of("tile", GPU_CLEAR), 1, a);
    a->was = was;
    a->b.first = 0;
    a->b.last = was_buckets * o->v.slots;
    if (!status) status = launch_range(o, m, HIVE_NUMBER_restash, 8, a);
    if (status) return status;
    o->v = a->v;
    o->next = was;
    o->count = !o->count;
    *buckets = was_buckets;
    return HD_OK;
}

static void tell(const hive_own *o, hd_info *info)
{
    hive_tell(&o->v, info);
    info->memory_bytes += room_bytes(info, o->gpu.device);
}

/* On the host machine the reference has what the table is made of. */
static void become(hive_own *o, void *entries, uint64_t stashed, hd_info *info)
{
    o->v.stashed = stashed;
    if (entries) *hive_view_of(entries) = o->v;
    tell(o, info);
}

/* The table of one bucket fewer at the end of a doubling is written so that its last doubling is the one that is
 * split. */
static hive_view whole_round(hive_view v)
{
    if (v.split) return v;
    v.level--;
    v.split = v.base << v.level;
    return v;
}

/* Of one doubling pairs from a->b.first on are merged, from the last one on, all at once behind the last that is too
 * many for one bucket; then some are thinned out, those next to come, an eighth of the doubling: where that comes to
 * nothing the others are to keep what they have. *stuck: no key of these buckets could move. */
static hd_status merge_round(hive_own *o, const hd_gpu_machine *m, hive_args *a, bool *stuck)
{
    const uint64_t first = a->b.first, part = a->round / 8 > 1024 ? a->round / 8 : 1024;
    uint64_t seen[2] = { 0, 0 }; /* a->crowded */
    bool thins = false;
    hd_status status;
    do {
        a->b.last = a->v.split;
        status = m->on.zero(m->on.self, a->crowded, sizeof seen);
        a->b.first = a->b.last - first > part ? a->b.last - part : first;
        if (!status && thins) status = launch_range(o, m, HIVE_NUMBER_thin, 8, a);
        a->b.first = first;
        if (!status) status = launch_range(o, m, HIVE_NUMBER_measure, 8, a);
        if (!status) status = m->read(m->self, seen, a->crowded, sizeof seen);
        a->b.first = seen[0] ? seen[0] : first;
        if (!status && a->b.first < a->b.last) status = launch_range(o, m, HIVE_NUMBER_merge, 8, a);
        if (status) return status;
        a->v.split = a->b.first;
        o->v = a->v;
        *stuck = seen[0] && thins && !seen[1];
        thins = true;
    } while (seen[0] && !*stuck);
    return HD_OK;
}

/* A doubling after the other, down to `buckets`, or to a pair that cannot be made to fit. */
static hd_status merge_down_to(hive_own *o, const hd_gpu_machine *m, hive_args *a, uint64_t buckets)
{
    hd_status status = HD_OK;
    bool stuck = false;
    while (!status && !stuck && hive_buckets(&o->v) > buckets) {
        a->v = whole_round(o->v);
        a->round = a->v.base << a->v.level;
        a->b.first = buckets > a->round ? buckets - a->round : 0;
        status = merge_round(o, m, a, &stuck);
    }
    return status;
}

static hd_status resize_to(hive_own *o, void *entries, const hd_gpu_machine *m, uint64_t buckets, hd_info *info)
{
    uint32_t had = hive_segments_for(&o->v, hive_buckets(&o->v)), need = hive_segments_for(&o->v, buckets);
    uint64_t stash = hive_stash_for(buckets), stashed = o->v.stashed, before = hive_buckets(&o->v);
    hd_batch b;
    hd_status status = HD_OK;
    memset(&b, 0, sizeof b);
    b.op = HD_OP_INSERT_OR_ASSIGN;
    b.distinct = true;
    if (stash < o->v.stash_buckets) stash = o->v.stash_buckets; /* merging may bring more there */
    for (uint32_t k = had; k < need && !status; k++)
        status = take_segment(o, m, at_segment(k), hive_segment_buckets(&o->v, k));
    if (!status) status = take_segment(o, m, offsetof(hive_own, next), stash);
    hive_args a = args_of(o, &b);
    if (!status) status = buckets > before ? split_up_to(o, m, &a, buckets) : merge_down_to(o, m, &a, buckets);
    if (!status) status = change_stash(o, m, &a, &stash);
    if (!status) status = m->read(m->self, &stashed, hive_stashed_of(o), sizeof stashed);
    give_segment(o, m, offsetof(hive_own, next), stash);
    for (uint32_t k = hive_segments_for(&o->v, hive_buckets(&o->v)); k < had || k < need; k++)
        give_segment(o, m, at_segment(k), hive_segment_buckets(&o->v, k));
    become(o, entries, stashed, info);
    return status;
}

static hd_status resize(void *own, void *entries, const hd_gpu_machine *m, uint64_t buckets, hd_info *info)
{
    hive_own *o = (hive_own *)own;
    hd_status status = hive_may_have(&o->v, buckets);
    if (!status && buckets != hive_buckets(&o->v)) return resize_to(o, entries, m, buckets, info);
    tell(o, info);
    return status;
}

static void show(const void *own, hd_view *view) { hive_show(&((const hive_own *)own)->v, view); }

/* clang-format off */
const hd_gpu hive_gpu = {
    .ref = &hd_design_hive, .cuda_entry = HD_CUDA_ENTRY(hive_cuda_entry),
    .cuda_module = HD_CUDA_ENTRY(hive_cuda_module), .word_enter = HIVE_NUMBER_word_enter,
    .word_leave = HIVE_NUMBER_word_leave, .own_bytes = sizeof(hive_own), .usual = usual, .room_bytes = room_bytes,
    .begin = begin, .pieces = pieces, .taken = taken, .before = before, .after = after, .regions = regions,
    .empty = empty, .open_here = open_here, .planes = planes, .lists = gpu_batch_lists, .launch = launch,
    .resize = resize, .check = hive_check_there, .parts = &hive_parts, .view = show
};

const hd_design hd_design_hive_cuda = {
    .name = "hive", .what = "a dictionary in a GPU's memory", .params = &hive_params, .policy = "none",
    .variants = hive_variants, .unfit = hive_unfit_row, .gpu = &hive_gpu, .owns = true, HD_ON_CUDA,
    .resize = hd_cuda_resize
};
/* clang-format on */
