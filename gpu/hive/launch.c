/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.c - describes Hive to the backends: the argument of its kernels, its batches as launches, and growth.
 */
#include "gpu/hive/launch.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "gpu/hive/state.h"
#include "gpu/hive/part.h"
#include "policies/predicates/predicate.h"
#include "ref/hive/hive.h"

static void usual(hd_info *info) { (void)info; }

/* ---- A batch --------------------------------------------------------------------------------- */

/* All but first, last, window and pass, which gpu_launch sets. */
static hive_args args_of(const hive_state *o, const hd_batch *b)
{
    hive_args a;
    memset(&a, 0, sizeof a);
    a.v = o->v;
    a.stashed = hive_stashed_of(o);
    a.b = gpu_batch_of(&o->kept, &o->gpu, b);
    a.moves = b->each || gpu_op_inserts(b->op);
    a.crowded = o->words->crowded;
    return a;
}

static gpu_launcher launcher_of(const hive_state *o, const hd_launcher *to, hive_args *a)
{
    return (gpu_launcher){ *to, gpu_list_window(&o->gpu), a, sizeof *a, &a->b, HIVE_NUMBER_list, NULL };
}

static hd_status launch(void *state, const hd_launcher *to, uint32_t row, const hd_batch *b, hd_when when)
{
    const hive_state *o = (const hive_state *)state;
    hive_args a = args_of(o, b);
    const gpu_launcher l = launcher_of(o, to, &a);
    (void)when;
    return gpu_launch(&l, row, hive_row(row), hive_places(&o->v));
}

const char *hive_unsupported_row(const hd_variant_row *row, const hd_info *info, const hd_batch *b)
{
    return gpu_unsupported_row(hive_unsupported, row, info, b);
}

/* ---- On a device ----------------------------------------------------------------------------- */

static hd_status empty(void *state, const hd_launcher *l)
{
    hd_batch b;
    static const hd_when when = { .clock = 0 };
    memset(&b, 0, sizeof b);
    b.op = HD_OP_CLEAR;
    return launch(state, l, hive_row_of("tile", GPU_CLEAR), &b, when);
}

/* ---- Growth (section IV-C1) ------------------------------------------------------------------ */

static hd_status launch_range(const hive_state *o, const hd_gpu_machine *m, uint32_t kernel, uint32_t lanes,
                              hive_args *a)
{
    const gpu_launcher l = launcher_of(o, &m->on, a);
    return gpu_launch_range(&l, kernel, lanes, 128);
}

/* Buckets are split, a doubling a launch; *v is what the table is after each. */
static hd_status split_up_to(hive_state *o, const hd_gpu_machine *m, hive_args *a, uint64_t buckets)
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
static hd_status change_stash(hive_state *o, const hd_gpu_machine *m, hive_args *a, uint64_t *buckets)
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

static void tell(const hive_state *o, hd_info *info)
{
    hive_tell(&o->v, info);
    info->memory_bytes += hd_gpu_scratch(&hive_gpu, info, o->gpu.device);
}

/* On the host machine the reference has what the table is made of. */
static void become(hive_state *o, void *entries, uint64_t stashed, hd_info *info)
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
static hd_status merge_round(hive_state *o, const hd_gpu_machine *m, hive_args *a, bool *stuck)
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
static hd_status merge_down_to(hive_state *o, const hd_gpu_machine *m, hive_args *a, uint64_t buckets)
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

static hd_status take_segment(const hive_state *o, const hd_gpu_machine *m, uint32_t k)
{
    hd_memory all[HIVE_SEGMENT_ARRAYS];
    return hd_machine_take(m, o, all, hive_segment_memory(&o->v, k, HD_APART, all));
}

static void give_segment(const hive_state *o, const hd_gpu_machine *m, uint32_t k)
{
    hd_memory all[HIVE_SEGMENT_ARRAYS];
    hd_machine_give(m, o, all, hive_segment_memory(&o->v, k, HD_APART, all));
}

static hd_status resize_to(hive_state *o, void *entries, const hd_gpu_machine *m, uint64_t buckets, hd_info *info)
{
    uint32_t had = hive_segments_for(&o->v, hive_buckets(&o->v)), need = hive_segments_for(&o->v, buckets);
    uint64_t stash = hive_stash_for(buckets), stashed = o->v.stashed, before = hive_buckets(&o->v);
    hd_memory next[HIVE_SEGMENT_ARRAYS];
    hd_batch b;
    hd_status status = HD_OK;
    memset(&b, 0, sizeof b);
    b.op = HD_OP_INSERT_OR_ASSIGN;
    b.distinct = true;
    if (stash < o->v.stash_buckets) stash = o->v.stash_buckets; /* merging may bring more there */
    for (uint32_t k = had; k < need && !status; k++) status = take_segment(o, m, k);
    if (!status)
        status = hd_machine_take(m, o, next, hive_stash_memory(&o->v, offsetof(hive_state, next), stash, next));
    hive_args a = args_of(o, &b);
    if (!status) status = buckets > before ? split_up_to(o, m, &a, buckets) : merge_down_to(o, m, &a, buckets);
    if (!status) status = change_stash(o, m, &a, &stash);
    if (!status) status = m->read(m->self, &stashed, hive_stashed_of(o), sizeof stashed);
    hd_machine_give(m, o, next, hive_stash_memory(&o->v, offsetof(hive_state, next), stash, next));
    for (uint32_t k = hive_segments_for(&o->v, hive_buckets(&o->v)); k < had || k < need; k++) give_segment(o, m, k);
    become(o, entries, stashed, info);
    return status;
}

static hd_status resize(void *state, void *entries, const hd_gpu_machine *m, uint64_t buckets, hd_info *info)
{
    hive_state *o = (hive_state *)state;
    hd_status status = hive_may_have(&o->v, buckets);
    if (!status && buckets != hive_buckets(&o->v)) return resize_to(o, entries, m, buckets, info);
    tell(o, info);
    return status;
}

static void show(const void *state, hd_view *view) { hive_show(&((const hive_state *)state)->v, view); }

/* clang-format off */
const hd_gpu hive_gpu = {
    .cuda_entry = HD_CUDA_ENTRY(hive_cuda_entry),
    .cuda_module = HD_CUDA_ENTRY(hive_cuda_module), .word_enter = HIVE_NUMBER_word_enter,
    .word_leave = HIVE_NUMBER_word_leave, .state_bytes = sizeof(hive_state), .usual = usual, .begin = hive_begin_table,
    .memory = hive_memory, .taken = hive_taken, .view_of = hive_view_of_state, .before = hive_before_batch,
    .after = hive_after_batch, .empty = empty, .open_here = hive_open_here, .lists = gpu_batch_lists, .launch = launch,
    .resize = resize, .check = hive_check_there, .parts = &hive_parts, .view = show
};
/* clang-format on */
