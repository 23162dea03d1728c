/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.c - describes the ordered table to the backends: the argument of its kernels, and its batches as launches.
 */
#include "gpu/sl/launch.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "gpu/sl/state.h"
#include "gpu/sl/part.h"
#include "gpu/sort_launch.h"
#include "policies/predicates/predicate.h"
#include "ref/sl/sl.h"

static void usual(hd_info *info) { (void)info; }

/* ---- The argument of kernels ----------------------------------------------------------------- */

/* Of n items or rows: a warp's worth each, because a warp that searches far segments waits for one line after another.
 */
static uint32_t shares_for(uint64_t n)
{
    uint64_t shares = (n + 31) / 32;
    return shares == 0 ? 1 : shares < SL_SHARES ? (uint32_t)shares : SL_SHARES;
}

sl_args sl_args_of(const sl_state *o, const sl_homes *h)
{
    sl_args a;
    memset(&a, 0, sizeof a);
    a.v = h->v;
    a.far = h->far;
    a.near_places = h->near * h->v.fit;
    a.shift = (uint32_t)__builtin_ctz(h->v.fit);
    a.numbers = &o->words->numbers;
    a.window = o->window;
    a.room = h->room;
    a.row_shares = shares_for(h->v.homes);
    a.stages = (uint32_t)sl_stages(&h->v);
    return a;
}

static sl_args args_of(const sl_state *o, const hd_batch *b)
{
    sl_args a = sl_args_of(o, &o->at);
    a.b = gpu_batch_of(&o->kept, &o->gpu, b);
    a.key2 = b->key2;
    a.key_out = b->key_out;
    a.rows_out = b->rows;
    a.more = (uint8_t *)(void *)b->more;
    a.limit = b->limit;
    a.inclusive = b->inclusive;
    return a;
}

/* ---- Batches that insert or erase ------------------------------------------------------------ */

static const gpu_sort_kernels sorting = { SL_NUMBER_sort_count, SL_NUMBER_sort_scan, SL_NUMBER_sort_lay };

/* A step of a window: a kernel, and for what it has lanes. */
typedef enum step_over {
    OVER_ONE,
    OVER_ITEMS,
    OVER_ITEM_SHARES,
    OVER_ROW_SHARES,
    OVER_ROWS,
    OVER_ROW_WARPS,
    OVER_SEGMENTS
} step_over;
typedef struct step {
    uint32_t kernel;
    step_over over;
} step;

static uint64_t lanes_of(const sl_args *a, step_over over)
{
    switch (over) {
    case OVER_ONE: return 1;
    case OVER_ITEMS: return a->b.last - a->b.first;
    case OVER_ITEM_SHARES: return (uint64_t)a->item_shares * 32;
    case OVER_ROW_SHARES: return (uint64_t)a->row_shares * 32;
    case OVER_ROWS: return a->v.homes;
    case OVER_ROW_WARPS: return a->v.homes * 32;
    default: return a->v.homes * SL_THREADS; /* a block each */
    }
}

static hd_status launch_step(const hd_launcher *l, const sl_args *a, step s)
{
    return l->launch(l->self, s.kernel, a, sizeof *a, hd_launch_blocks(l, lanes_of(a, s.over), SL_THREADS), SL_THREADS);
}

static hd_status launch_steps(const hd_launcher *l, const sl_args *a, const step *all, size_t n)
{
    hd_status status = HD_OK;
    for (size_t i = 0; i < n && !status; i++) status = launch_step(l, a, all[i]);
    return status;
}

static bool has_far(const sl_state *o) { return o->at.near < o->at.v.homes; }

/* Gives the words codes and sorts them by these; *sorted: where they are, and then are. */
static hd_status sort_by(const sl_state *o, const hd_launcher *l, sl_args *a, uint32_t label, uint32_t bits)
{
    uint64_t n = a->b.last - a->b.first, *sorted,
             *room = a->window.word == o->window.word ? o->window.add_key : o->window.word;
    a->label = label;
    hd_status status = launch_step(l, a, (step){ SL_NUMBER_label, OVER_ITEMS });
    if (!status)
        status =
            gpu_sort_launch(l, sorting, n, NULL, bits, a->window.word, room, o->sort_count, sl_sort_shares(o), &sorted);
    if (status) return status;
    a->window.word = sorted;
    a->window.add_key = sorted == o->window.word ? o->window.add_key : o->window.word;
    return HD_OK;
}

/* Least significant codes first. Items that may insert come before others of their key. */
static hd_status sort_window(const sl_state *o, const hd_launcher *l, sl_args *a)
{
    bool flags = a->b.op == HD_OP_ACCUM_OR_ASSIGN && a->b.flag;
    hd_status status = HD_OK;
    a->window.word = o->window.word;
    if (flags) status = sort_by(o, l, a, SL_LABEL_FIRST | SL_LABEL_FLAG, 1);
    if (!status) status = sort_by(o, l, a, SL_LABEL_LOW | (flags ? 0 : SL_LABEL_FIRST), 32);
    if (!status && a->v.words == 2) status = sort_by(o, l, a, SL_LABEL_HIGH, 32);
    return status;
}

static const step finding[] = {
    { SL_NUMBER_list_heads, OVER_ITEM_SHARES },
    { SL_NUMBER_plan_count, OVER_ROW_SHARES },
    { SL_NUMBER_plan_write, OVER_ROW_SHARES },
};
static const step merging[] = {
    { SL_NUMBER_merge_fresh, OVER_SEGMENTS },
    { SL_NUMBER_next_rows, OVER_ROWS },
    { SL_NUMBER_commit, OVER_SEGMENTS },
};
static const step merging_far[] = {
    { SL_NUMBER_survey, OVER_ROW_WARPS },
    { SL_NUMBER_merge_fresh_far, OVER_SEGMENTS },
    { SL_NUMBER_next_rows, OVER_ROWS },
    { SL_NUMBER_commit_far, OVER_SEGMENTS },
};
static const step joining[] = {
    { SL_NUMBER_stay_count, OVER_ROW_SHARES },
    { SL_NUMBER_stay_write, OVER_ROW_SHARES },
};
#define STEPS(all) all, sizeof(all) / sizeof *(all)

/* Neighbours that became small are joined (compact.h). */
static hd_status launch_join(const sl_state *o, const hd_launcher *l, sl_args *a)
{
    hd_status status = HD_OK;
    for (a->span = SL_JOIN; !status; a->span *= SL_JOIN) {
        status = launch_step(l, a, (step){ SL_NUMBER_join, OVER_ROWS });
        if (a->span >= a->v.homes) break;
    }
    if (!status) status = launch_steps(l, a, STEPS(joining));
    if (!status && has_far(o)) status = launch_step(l, a, (step){ SL_NUMBER_survey_joined, OVER_ROWS });
    uint32_t threads = a->b.op == HD_OP_ERASE ? SL_THREADS : 32;
    uint32_t commit = has_far(o) ? SL_NUMBER_commit_joined_far : SL_NUMBER_commit_joined;
    return status
               ? status
               : l->launch(l->self, commit, a, sizeof *a, hd_launch_blocks(l, a->v.homes * threads, threads), threads);
}

/* apply: the row's kernel. */
static hd_status launch_window(const sl_state *o, const hd_launcher *l, sl_args *a, uint32_t apply)
{
    hd_status status = sort_window(o, l, a);
    if (!status)
        status = launch_step(l, a, (step){ has_far(o) ? SL_NUMBER_heads_far : SL_NUMBER_heads, OVER_ITEM_SHARES });
    if (!status) status = launch_steps(l, a, STEPS(finding));
    if (!status && a->b.op == HD_OP_ERASE) {
        status = launch_join(o, l, a);
    } else if (!status) {
        status = has_far(o) ? launch_steps(l, a, STEPS(merging_far)) : launch_steps(l, a, STEPS(merging));
    }
    if (has_far(o)) apply = SL_NUMBER_apply_far;
    return status ? status : launch_step(l, a, (step){ apply, OVER_ITEMS });
}

static hd_status launch_flip(const sl_state *o, const hd_launcher *l, sl_args *a, uint32_t row)
{
    uint64_t window = sl_window_items(o);
    hd_status status = HD_OK;
    a->b.stage_flag = NULL;
    for (uint64_t first = 0; first < a->b.n && !status; first = a->b.last) {
        a->b.first = first;
        a->b.last = a->b.n - first < window ? a->b.n : first + window;
        a->item_shares = shares_for(a->b.last - first);
        status = launch_window(o, l, a, row);
    }
    return status;
}

/* ---- Other batches --------------------------------------------------------------------------- */

static hd_status launch_sweep(const sl_state *o, const hd_launcher *l, sl_args *a, uint32_t row)
{
    hd_status status = a->b.count ? l->zero(l->self, a->b.count, sizeof *a->b.count) : HD_OK;
    bool per_place = a->b.op == HD_OP_SIZE_IF;
    uint64_t lanes = per_place ? sl_places(&a->v) : a->b.op == HD_OP_ERASE_IF ? a->v.homes * 32 : a->v.homes;
    if (!status) status = l->launch(l->self, row, a, sizeof *a, hd_launch_blocks(l, lanes, SL_THREADS), SL_THREADS);
    return status || a->b.op != HD_OP_ERASE_IF ? status : launch_join(o, l, a);
}

/* Batches of more items that look up or update far segments are sorted. */
static uint64_t sorts_above(const sl_state *o)
{
    enum { SORTED = 4096 };
    return o->gpu.window_most && o->gpu.window_most < SORTED ? o->gpu.window_most : SORTED;
}

/* A batch as launches, for gpu_launcher.items. */
typedef struct launching {
    gpu_launcher l; /* first: launch_far gets its address */
    const sl_state *o;
    sl_args *a;
} launching;

static const uint32_t far_kernel[SL_FAMILIES] = {
    [SL_LOOK] = SL_NUMBER_look_far, [SL_RANGE] = SL_NUMBER_range_far, [SL_UPDATE] = SL_NUMBER_update_far
};

/* gpu_launcher.items of a table with far segments: items [first, last), in the order of their keys if they are many. */
static hd_status launch_far(const gpu_launcher *l, uint32_t row, const hd_variant_row *r)
{
    const launching *x = (const launching *)l;
    sl_args *a = x->a;
    const gpu_batch whole = a->b;
    bool sorts = whole.last - whole.first > sorts_above(x->o);
    uint64_t window = sorts ? sl_window_items(x->o) : whole.last - whole.first;
    hd_status status = HD_OK;
    (void)row;
    for (uint64_t at = whole.first; at < whole.last && !status; at = a->b.last) {
        a->b.first = at;
        a->b.last = whole.last - at < window ? whole.last : at + window;
        if (whole.stage_flag) a->b.stage_flag = whole.stage_flag + (at - whole.first);
        if (sorts) status = sort_window(x->o, &l->on, a);
        a->order = sorts ? a->window.word : NULL;
        if (!status) status = gpu_launch_range(l, far_kernel[r->family], r->lanes, r->threads);
    }
    a->b = whole;
    return status;
}

hd_status sl_sum_rows_of(const hd_gpu_machine *m, const sl_args *a, uint64_t rows)
{
    return m->on.launch(m->on.self, SL_NUMBER_sum_rows, a, sizeof *a, hd_launch_blocks(&m->on, rows * 32, SL_THREADS),
                        SL_THREADS);
}

/* Windows of find_missed, ranges of slots, and single launches over items. */
static hd_status launch_listed(const sl_state *o, const hd_launcher *to, sl_args *a, uint32_t row)
{
    const hd_variant_row *r = sl_row_numbered(row);
    launching x = { { *to, gpu_list_window(&o->gpu), a, sizeof *a, &a->b, SL_NUMBER_list, NULL }, o, a };
    bool exports = r->family == SL_EXPORT;
    if (has_far(o) && far_kernel[r->family]) x.l.items = launch_far;
    if (a->b.op == HD_OP_FIND_MISSED && (a->b.list_key || a->b.list_item || a->b.count))
        return gpu_launch_windows(&x.l, row, r);
    a->b.stage_flag = NULL;
    if (!exports) a->b.first = 0;
    a->b.last = a->b.first + a->b.n;
    if (!exports) return gpu_launch_items(&x.l, row, r);
    hd_status status = has_far(o) ? launch_step(to, a, (step){ SL_NUMBER_sum_rows, OVER_ROW_WARPS }) : HD_OK;
    return status ? status : gpu_launch_list(&x.l, row);
}

static hd_status launch(void *state, const hd_launcher *l, uint32_t row, const hd_batch *b, hd_when when)
{
    const sl_state *o = (const sl_state *)state;
    sl_args a = args_of(o, b);
    (void)when;
    switch (sl_row_numbered(row)->family) {
    case SL_FLIP: return launch_flip(o, l, &a, row);
    case SL_SWEEP: return launch_sweep(o, l, &a, row);
    case SL_ENDS: return launch_step(l, &a, (step){ row, OVER_ONE });
    case SL_CLEAR: return launch_step(l, &a, (step){ row, OVER_ROWS });
    default: return launch_listed(o, l, &a, row);
    }
}

const char *sl_unsupported_row(const hd_variant_row *row, const hd_info *info, const hd_batch *b)
{
    if (b->each) return HD_NOT_MIXED;
    const char *unsupported = sl_unsupported(b->op);
    if (unsupported) return unsupported;
    return row->family == sl_family_of(b->op) ? row->fits(info) : HD_OTHER_OPERATION;
}

/* What needs room that a table has once: windows, and lists. */
static bool lists(const void *state, uint32_t row, const hd_batch *b)
{
    const sl_state *o = (const sl_state *)state;
    sl_family family = sl_family_of(b->op);
    if (gpu_batch_lists(state, row, b) || family == SL_FLIP || b->op == HD_OP_ERASE_IF) return true;
    return has_far(o) && (family == SL_EXPORT || (far_kernel[family] && b->n > sorts_above(o)));
}

/* ---- On a device ----------------------------------------------------------------------------- */

static hd_status empty(void *state, const hd_launcher *l)
{
    const sl_state *o = (const sl_state *)state;
    const sl_check_args c = sl_check_args_of(o);
    hd_status status = launch_step(l, &c.a, (step){ hd_variant_row_of(sl_variants, "segments", SL_CLEAR), OVER_ROWS });
    if (status) return status;
    return l->launch(l->self, SL_NUMBER_mark_buckets, &c, sizeof c,
                     hd_launch_blocks(l, sl_places(&c.a.v) / c.slots, SL_THREADS), SL_THREADS);
}

void sl_tell_info(const sl_state *o, hd_info *info)
{
    sl_tell(info, o->at.v.homes);
    sl_tell_parts(info, o->at.v.homes, o->at.near);
    info->memory_bytes += hd_gpu_scratch(&sl_gpu, info, o->gpu.device);
}

/* clang-format off */
const hd_gpu sl_gpu = {
    .cuda_entry = HD_CUDA_ENTRY(sl_cuda_entry), .cuda_module = HD_CUDA_ENTRY(sl_cuda_module),
    .word_enter = SL_NUMBER_word_enter, .word_leave = SL_NUMBER_word_leave, .state_bytes = sizeof(sl_state),
    .usual = usual, .shape = sl_shape_there, .begin = sl_begin_table, .memory = sl_memory, .taken = sl_taken,
    .view_of = sl_view_of_state, .before = sl_before_batch, .after = sl_after_batch, .empty = empty,
    .open_here = sl_open_here,
    .lists = lists, .launch = launch, .resize = sl_resize_there, .set_near = sl_set_near, .check = sl_check_there,
    .parts = &sl_parts
};
/* clang-format on */
