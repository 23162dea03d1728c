/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.c - describes ovs to the backends: the argument of its kernels; its batches as launches; growing and
 * shrinking.
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "gpu/launches.h"
#include "gpu/sort_launch.h"
#include "gpu/ovs/state.h"
#include "gpu/ovs/rows.h"
#include "policies/predicates/predicate.h"
#include "ref/ovs/ovs.h"
#include "ref/ovs/range.h"

static void usual(hd_info *info) { (void)info; }

static bool is_pairs(const hd_info *info) { return info->value_bytes == 8; }

const char *ovs_select(hd_op op, const hd_info *info, double load_factor, hd_amount amount, uint32_t choice)
{
    bool far = info->ovs.near_bytes != 0;
    (void)load_factor;
    if (choice == 0 && far && amount == HD_MANY) return HD_OP_IN(op, HD_OPS_LOOKUP) ? "sorted" : "flip";
    if (choice == 0 && is_pairs(info)) return "wide";
    return choice < 2 ? "quad" : choice == 2 ? "probe16" : NULL;
}

/* ---- A batch --------------------------------------------------------------------------------- */

/* What a kernel is given, and how it is launched. */
typedef struct launching {
    gpu_launcher l; /* first: launch_sorted gets its address */
    ovs_args a;
    const ovs_state *o;
    uint64_t windows; /* that were sorted, of which some items are settled */
} launching;

/* Bits of a code, which is a bucket, or what ovs_code says of other items. */
static uint32_t code_bits(const ovs_view *v)
{
    uint32_t bits = 1;
    uint64_t most = ovs_is_plain(v) ? ovs_buckets(v) : ovs_buckets(v) + ovs_lines(v);
    while (most >> bits) bits++;
    return bits;
}

/* How many items a block of `threads` is for, so that what is in flight lies within 256 MiB of far memory: beyond that
 * the translations of its pages are slower (bench/lab/ovs.md). 0: nothing is far. */
static uint64_t block_items(const ovs_view *v, uint32_t threads)
{
    enum { WINDOW = 256 << 20 };
    uint64_t segments = ovs_segments(v), far = segments > v->near_most ? segments - v->near_most : 0;
    double items = (double)far * (double)(ovs_segment_words(v) * sizeof(uint64_t)) / WINDOW * threads;
    return far && items < 1 ? 1 : (uint64_t)items;
}

/* How many blocks run n sorted items. */
static uint64_t sorted_blocks(const launching *x, uint64_t n, uint32_t threads)
{
    uint64_t blocks = hd_launch_blocks(&x->l.on, n, threads), most = blocks;
    if (x->a.block_items) most = n / x->a.block_items;
    if (most < OVS_BLOCKS_LEAST) most = OVS_BLOCKS_LEAST;
    return blocks < most ? blocks : most;
}

/* How many of the lowest bits of codes `sorted` does without, so that the sort needs fewer passes. Some items then have
 * the same code as others whose buckets are near theirs. */
static uint32_t spare_bits(const launching *x, uint64_t n)
{
    enum { SETTLED = 8 /* with copies one of so many items is left, or several */, ALIKE = 2 /* items, or more */ };
    uint32_t bits = code_bits(&x->a.v), needs = 0, passes;
    if (x->a.v.copy_sets) n /= SETTLED;
    while (n / ALIKE >> needs) needs++;
    passes = (needs + GPU_SORT_BITS - 1) / GPU_SORT_BITS;
    if (passes == 0) passes = 1;
    return bits > passes * GPU_SORT_BITS ? bits - passes * GPU_SORT_BITS : 0;
}

/* Only items that neither digests nor copies settle are sorted, if they only read: else those of a key must stay in the
 * order of the batch. Two windows count in turn, and each sets the count of the next one to 0; `zero` is only for the
 * first, because on the host machine it acts before all launches. */
static hd_status count_kept(launching *x, const hd_variant_row *r)
{
    uint64_t *kept = x->o->words->kept;
    if (r->family != GPU_SORTED || ovs_is_plain(&x->o->v)) return HD_OK;
    x->a.kept = &kept[x->windows % 2];
    x->a.kept_next = &kept[(x->windows + 1) % 2];
    return x->windows++ ? HD_OK : x->l.on.zero(x->l.on.self, kept, sizeof x->o->words->kept);
}

/* The items [from, to) are sorted and run. */
static hd_status launch_window(launching *x, uint32_t row, const hd_variant_row *r, uint64_t from, uint64_t to)
{
    static const gpu_sort_kernels sort = { OVS_NUMBER_sort_count, OVS_NUMBER_sort_scan, OVS_NUMBER_sort_lay };
    const ovs_state *o = x->o;
    x->a.b.first = from;
    x->a.b.last = to;
    x->a.sorted = o->sorts.to_sort;
    bool owned = r->family == GPU_OWNED;
    x->a.code_shift = owned ? 0 : spare_bits(x, to - from);
    x->a.block_items = owned || x->l.on.blocks_told ? 0 : block_items(&x->a.v, r->threads);
    hd_status status = count_kept(x, r);
    if (!status) status = gpu_launch_range(&x->l, OVS_NUMBER_codes, 1, 128);
    if (!status)
        status =
            gpu_sort_launch(&x->l.on, sort, to - from, x->a.kept, code_bits(&x->a.v) - x->a.code_shift,
                            o->sorts.to_sort, o->sorts.room, o->sorts.count, ovs_sort_shares(&o->gpu), &x->a.sorted);
    if (status || owned) return status ? status : gpu_launch_range(&x->l, row, r->lanes, r->threads);
    return gpu_launch_blocks(&x->l, row, sorted_blocks(x, to - from, r->threads), r->threads);
}

/* gpu_launcher.items of a row that is GPU_SORTED. */
static hd_status launch_sorted(const gpu_launcher *l, uint32_t row, const hd_variant_row *r)
{
    launching *x = (launching *)l;
    const gpu_batch whole = x->a.b;
    uint64_t window = ovs_sort_window(&x->o->gpu), to;
    hd_status status = HD_OK;
    for (uint64_t at = whole.first; at < whole.last && !status; at = to) {
        to = whole.last - at < window ? whole.last : at + window;
        if (whole.stage_flag) x->a.b.stage_flag = whole.stage_flag + (at - whole.first);
        status = launch_window(x, row, r, at, to);
    }
    x->a.b = whole;
    return status;
}

/* All but first, last, window and pass, which gpu_launch sets. *x must stay where it is. */
static void launching_begin(launching *x, const ovs_state *o, const hd_launcher *to, const hd_batch *b)
{
    memset(x, 0, sizeof *x);
    x->a.v = ovs_view_there(o);
    x->a.b = gpu_batch_of(&o->kept, &o->gpu, b);
    x->a.crowded = &o->words->crowded;
    x->a.next = &o->words->next;
    x->o = o;
    x->l = (gpu_launcher){ *to, gpu_list_window(&o->gpu), &x->a, sizeof x->a, &x->a.b, OVS_NUMBER_list, NULL };
}

/* gpu_launcher.items of `quad` and `wide`: a lane has several items one after another, if there are many. */
static hd_status launch_quads(const gpu_launcher *l, uint32_t row, const hd_variant_row *r)
{
    enum { LANES = 1 << 18, EACH = 4 };
    uint64_t n = l->b->last - l->b->first, lanes = n / EACH > LANES ? n / EACH : n < LANES ? n : LANES;
    return gpu_launch_blocks(l, row, hd_launch_blocks(&l->on, lanes, r->threads), r->threads);
}

static hd_status launch(void *state, const hd_launcher *to, uint32_t row, const hd_batch *b, hd_when when)
{
    launching x;
    (void)when;
    const hd_variant_row *r = hd_variant_row_numbered(ovs_variants, row);
    launching_begin(&x, (const ovs_state *)state, to, b);
    if (gpu_family_sorts(r->family)) x.l.items = launch_sorted;
    if ((r->family == GPU_ITEMS || r->family == GPU_ALIKE) && r->lanes == 1 && b->n) x.l.items = launch_quads;
    return gpu_launch(&x.l, row, r, ovs_places(&x.a.v));
}

const char *ovs_unsupported_row(const hd_variant_row *row, const hd_info *info, const hd_batch *b)
{
    const char *unsupported = b->each ? NULL : ovs_unsupported_for(info, b->op);
    uint32_t family = b->each ? (uint32_t)GPU_ITEMS : (uint32_t)gpu_family_of(b->op);
    if (unsupported) return unsupported;
    bool alike = row->family == GPU_ALIKE || gpu_family_sorts(row->family);
    if (alike && b->each) return HD_NOT_MIXED;
    if (row->family == GPU_SORTED && hd_role_of_batch(b) != HD_READER) return HD_OTHER_OPERATION;
    if (alike && family == GPU_ITEMS) return row->fits(info);
    return row->family != family ? HD_OTHER_OPERATION : row->fits(info);
}

/* ---- On a device ----------------------------------------------------------------------------- */

static hd_status empty(void *state, const hd_launcher *l)
{
    static const hd_when when = { .clock = 0 };
    hd_batch b;
    memset(&b, 0, sizeof b);
    b.op = HD_OP_CLEAR;
    hd_status status = launch(state, l, hd_variant_row_of(ovs_variants, "probe16", GPU_CLEAR), &b, when);
    return status ? status : ovs_write_directory((ovs_state *)state, l);
}

/* Batches that are sorted use the room of sorts. */
static bool lists(const void *state, uint32_t row, const hd_batch *b)
{
    return gpu_batch_lists(state, row, b) || gpu_family_sorts(hd_variant_row_numbered(ovs_variants, row)->family);
}

/* ---- Growing and shrinking ------------------------------------------------------------------- */

static void give_extents(ovs_state *o, const hd_gpu_machine *m, uint32_t from, uint32_t to)
{
    hd_memory parts[OVS_EXTENT_ARRAYS];
    for (uint32_t k = from; k < to; k++) hd_machine_give(m, o, parts, ovs_extents_memory(&o->v, k, parts));
}

/* Extents [from, to), or none of them. */
static hd_status take_extents(ovs_state *o, const hd_gpu_machine *m, uint32_t from, uint32_t to)
{
    hd_status status = HD_OK;
    hd_memory parts[OVS_EXTENT_ARRAYS];
    for (uint32_t k = from; k < to && !status; k++)
        status = hd_machine_take(m, o, parts, ovs_extents_memory(&o->v, k, parts));
    if (status) give_extents(o, m, from, to);
    return status;
}

/* A warp for each of segments [first, last). */
static hd_status launch_segments(launching *x, uint32_t kernel, uint64_t first, uint64_t last)
{
    x->a.b.first = first;
    x->a.b.last = last;
    return gpu_launch_range(&x->l, kernel, 32, 128);
}

/* Segments are split, a doubling a launch; o->v is what the table is after each. */
static hd_status split_up_to(ovs_state *o, launching *x, uint64_t segments)
{
    hd_status status = HD_OK;
    while (!status && ovs_segments(&o->v) < segments) {
        uint64_t first = o->v.split, left = segments - ovs_segments(&o->v), last;
        ovs_view then = o->v;
        x->a.round = then.base << then.level;
        last = left < x->a.round - first ? first + left : x->a.round;
        then.split = last - 1;
        x->a.v = ovs_one_more(then);
        status = launch_segments(x, OVS_NUMBER_split, first, last);
        if (!status) o->v = x->a.v;
    }
    return status;
}

/* Of one doubling pairs [first, last) are merged, down to one that does not fit: *stuck. */
static hd_status merge_pairs(ovs_state *o, const hd_gpu_machine *m, launching *x, uint64_t first, bool *stuck)
{
    uint64_t crowded = 0, last = x->a.v.split;
    hd_status status = m->on.zero(m->on.self, x->a.crowded, sizeof crowded);
    if (!status) status = launch_segments(x, OVS_NUMBER_merge, first, last);
    if (!status) status = m->read(m->self, &crowded, x->a.crowded, sizeof crowded);
    if (status) {
        launch_segments(x, OVS_NUMBER_unmerge, first, last);
        return status;
    }
    if (crowded) status = launch_segments(x, OVS_NUMBER_unmerge, first, crowded);
    if (status) return status;
    *stuck = crowded != 0;
    if (crowded == last) return HD_OK;
    x->a.v.split = crowded ? crowded : first;
    o->v = x->a.v;
    return launch_segments(x, OVS_NUMBER_settle, x->a.v.split, last);
}

/* A doubling after the other. */
static hd_status merge_down_to(ovs_state *o, const hd_gpu_machine *m, launching *x, uint64_t segments)
{
    hd_status status = HD_OK;
    bool stuck = false;
    while (!status && !stuck && ovs_segments(&o->v) > segments) {
        x->a.v = o->v;
        if (x->a.v.split == 0) x->a.v.split = x->a.v.base << --x->a.v.level; /* the last doubling, as the one at work */
        x->a.round = x->a.v.base << x->a.v.level;
        status = merge_pairs(o, m, x, segments > x->a.round ? segments - x->a.round : 0, &stuck);
    }
    return status;
}

static hd_status resize_to(ovs_state *o, const hd_gpu_machine *m, uint64_t segments)
{
    uint32_t had = ovs_extents_for(&o->v, ovs_segments(&o->v)), need = ovs_extents_for(&o->v, segments), most;
    hd_batch none;
    launching x;
    bool fewer = segments < ovs_segments(&o->v); /* some entries come to near segments */
    hd_status status = fewer ? ovs_forget_copies_there(o, &m->on) : HD_OK;
    if (!status) status = take_extents(o, m, had, need);
    if (status) return status;
    memset(&none, 0, sizeof none);
    launching_begin(&x, o, &m->on, &none);
    if (o->v.ranges)
        status = ovs_resize_ranges(o, m, segments);
    else
        status = segments > ovs_segments(&o->v) ? split_up_to(o, &x, segments) : merge_down_to(o, m, &x, segments);
    most = had > need ? had : need;
    give_extents(o, m, ovs_extents_for(&o->v, ovs_segments(&o->v)), most);
    return status;
}

void ovs_tell_info(const ovs_state *o, hd_info *info)
{
    ovs_tell(&o->v, info);
    info->memory_bytes += ovs_batch_bytes(info, o->gpu.device) + (o->row_there ? o->v.rows * sizeof(uint64_t) : 0);
}

/* On the host machine the reference has what the table is made of. */
static hd_status resize(void *state, void *entries, const hd_gpu_machine *m, uint64_t buckets, hd_info *info)
{
    ovs_state *o = (ovs_state *)state;
    uint64_t segments;
    hd_status status = ovs_segments_for(&o->v, buckets, &segments);
    if (!status) status = resize_to(o, m, segments);
    if (entries) *ovs_view_of(entries) = o->v;
    ovs_tell_info(o, info);
    return status;
}

static hd_status take_for(ovs_state *o, const hd_gpu_machine *m, uint64_t segments)
{
    return take_extents(o, m, ovs_extents_for(&o->v, ovs_segments(&o->v)), ovs_extents_for(&o->v, segments));
}

static hd_status room_for(void *state, void *entries, const hd_gpu_machine *m, const uint64_t *key, uint64_t n,
                          hd_info *info, bool *made)
{
    ovs_state *o = (ovs_state *)state;
    *made = o->v.ranges;
    if (!o->v.ranges) return HD_OK;
    hd_status status = ovs_make_room_there(o, m, key, n, take_for);
    give_extents(o, m, ovs_extents_for(&o->v, ovs_segments(&o->v)), OVS_EXTENTS);
    if (entries) *ovs_view_of(entries) = o->v;
    ovs_tell_info(o, info);
    return status;
}

static void show(const void *state, hd_view *view) { ovs_show(&((const ovs_state *)state)->v, view); }

/* clang-format off */
const hd_gpu ovs_gpu = {
    .cuda_entry = HD_CUDA_ENTRY(ovs_cuda_entry),
    .cuda_module = HD_CUDA_ENTRY(ovs_cuda_module), .word_enter = OVS_NUMBER_word_enter,
    .word_leave = OVS_NUMBER_word_leave, .state_bytes = sizeof(ovs_state), .usual = usual, .begin = ovs_begin_table,
    .memory = ovs_memory, .taken = ovs_taken, .view_of = ovs_view_of_state, .before = ovs_before_batch,
    .after = ovs_after_batch,
    .empty = empty, .open_here = ovs_open_here, .lists = lists, .launch = launch, .resize = resize,
    .set_near = ovs_set_near, .check = ovs_check_there, .parts = &ovs_parts, .view = show, .shape = ovs_shape_there,
    .room_for = room_for
};
/* clang-format on */
