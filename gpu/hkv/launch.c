/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.c - describes HKV to the backends: the argument of its kernels, and its batches as launches.
 */
#include "gpu/hkv/launch.h"

#include <stddef.h>
#include <string.h>

#include "gpu/hkv/state.h"
#include "gpu/hkv/part.h"
#include "gpu/hkv/select.h"
#include "policies/policy.h"
#include "policies/predicates/predicate.h"
#include "ref/hkv/hkv.h"

static void usual(hd_info *info)
{
    if (info->layout == HD_LAYOUT_USUAL) info->layout = HD_LAYOUT_PAIRS;
}

/* ---- A batch --------------------------------------------------------------------------------- */

/* All but first, last and window, which hkv_launch sets. */
static hkv_args args_of(const hkv_state *o, const hd_batch *b, hd_when when)
{
    const hd_info *info = &o->gpu.info;
    hkv_args a = o->kept;
    a.v = o->v;
    a.pins = &o->words->pins;
    hkv_args_of_batch(&a, b);
    a.predicate = hd_predicate_of(b);
    a.epoch = when.epoch;
    a.v.policy = hkv_policy_for(o->v.policy, b);
    if (when.by_score) a.v.admit_always = 0;
    a.policy_flags = hkv_policy_flags_for(&o->v, b);
    a.score = hkv_scores_for(&o->v, b);
    if (!when.rises) a.policy_flags &= ~(uint32_t)HD_MONOTONE;
    a.clock = when.clock;
    a.per_item = when.per_item;
    a.moment = when.by_device ? &o->words->moment : NULL;
    a.lost = &o->words->lost;
    a.opened = when.opened;
    a.times_tell = when.own && a.policy_flags & HD_SCORE_IS_TIME;
    a.tally = o->gpu.tally;
    a.list.segment = o->counts->segment;
    a.list.cursor = o->counts->cursor;
    if (!hkv_select_sorted(info, b->n)) a.fetch.entry = NULL;
    a.groups.left_count = o->counts->left;
    a.groups.left_window = hkv_left_window(&o->gpu);
    return a;
}

/* Whether items of the batch ask when it happens. */
static bool asks_time(uint32_t row, const hkv_args *a)
{
    return a->moment && a->n && (hkv_row(row)->family == HKV_UPDATE || hkv_row(row)->family == HKV_UPSERT);
}

static hd_status launch_moment(const hd_launcher *to, const hkv_args *a)
{
    enum { ONE_WARP = 32 };
    return to->launch(to->self, HKV_NUMBER_moment, a, sizeof *a, 1, ONE_WARP);
}

static hd_status launch(void *state, const hd_launcher *to, uint32_t row, const hd_batch *b, hd_when when)
{
    hkv_state *o = (hkv_state *)state;
    hkv_launcher l = { *to, hkv_list_window(&o->gpu), hkv_fetch_window(&o->gpu), &o->unfinished };
    const hkv_args a = args_of(o, b, when);
    hd_status status = asks_time(row, &a) ? launch_moment(to, &a) : HD_OK;
    return status ? status : hkv_launch(&l, row, a);
}

const char *hkv_unsupported_row(const hd_variant_row *row, const hd_info *info, const hd_batch *b)
{
    if (b->each) return HD_NOT_MIXED;
    if (HD_OP_IN(b->op, HD_OPS_ORDERED)) return HD_UNORDERED;
    return row->family != hkv_family_of(b->op) ? HD_OTHER_OPERATION : row->fits(info);
}

/* ---- On a device ----------------------------------------------------------------------------- */

static hd_status empty(void *state, const hd_launcher *l)
{
    hd_batch b;
    static const hd_when when = { .clock = 0 };
    memset(&b, 0, sizeof b);
    b.op = HD_OP_CLEAR;
    return launch(state, l, hkv_row_of("warp", HKV_CLEAR), &b, when);
}

static hd_status read_clock(void *state, const hd_launcher *l, uint64_t **ns)
{
    hkv_state *o = (hkv_state *)state;
    hkv_args a;
    memset(&a, 0, sizeof a);
    a.moment = *ns = &o->words->moment;
    return launch_moment(l, &a);
}

/* As hkv_fetches says it of a launch's argument. */
static bool fetches_sorted(const hd_info *info, const hd_batch *b)
{
    return b->op == HD_OP_FIND && b->value_out && hkv_select_sorted(info, b->n);
}

/* As hkv_has_groups says it, of updates: upserts run apart from all batches anyway. */
static bool updates_in_groups(const hkv_state *o, const hd_batch *b)
{
    uint32_t flags = hkv_policy_flags_for(&o->v, b);
    return hkv_family_of(b->op) == HKV_UPDATE && o->kept.groups.claim && !b->distinct && b->n > 1 &&
           (flags & HD_IN_GROUPS) && hkv_updates_in_groups(b->op, b->value_out, flags);
}

static void show(const void *state, hd_view *view) { hkv_show(&((const hkv_state *)state)->v, view); }

/* Those that put together a list, put off what they fetch, or run in groups. */
static bool lists(const void *state, uint32_t row, const hd_batch *b)
{
    const hkv_state *o = (const hkv_state *)state;
    (void)row;
    return fetches_sorted(&o->gpu.info, b) || b->op == HD_OP_FIND_MISSED || b->op == HD_OP_INSERT_AND_EVICT ||
           hkv_family_of(b->op) == HKV_EXPORT || updates_in_groups(o, b);
}

/* clang-format off */
const hd_gpu hkv_gpu = {
    .cuda_entry = HD_CUDA_ENTRY(hkv_cuda_entry),
    .cuda_module = HD_CUDA_ENTRY(hkv_cuda_module), .word_enter = HKV_NUMBER_word_enter,
    .word_leave = HKV_NUMBER_word_leave, .state_bytes = sizeof(hkv_state), .usual = usual, .begin = hkv_begin_table,
    .memory = hkv_memory, .taken = hkv_taken, .view_of = hkv_view_of_state, .before = hkv_before_batch,
    .after = hkv_after_batch,
    .empty = empty, .open_here = hkv_open_here, .lists = lists, .needs = hkv_needs, .launch = launch,
    .grow = hkv_grow, .read_clock = read_clock, .check = hkv_check_there, .parts = &hkv_parts, .view = show
};
/* clang-format on */
