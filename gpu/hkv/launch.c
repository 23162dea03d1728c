/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.c - describes HKV to the backends: the memory of its tables on a device and beside the reference's planes, the
 * argument of its kernels, and its batches as launches.
 */
#include "gpu/hkv/launch.h"

#include <stddef.h>
#include <string.h>

#include "gpu/hkv/own.h"
#include "gpu/hkv/part.h"
#include "gpu/hkv/select.h"
#include "policies/policy.h"
#include "predicates/predicate.h"
#include "ref/hkv/hkv.h"

extern const hd_design hd_design_hkv, hd_design_hkv_cuda;

/* ---- How much room --------------------------------------------------------------------------- */

enum { LISTED_BYTES = 17 /* and the value: of an item in the window of lists */ };

static uint64_t at_most(const hd_gpu_own *gpu, uint64_t items)
{
    return gpu->window_most && gpu->window_most < items ? gpu->window_most : items;
}

/* About as many as fit into a stage of so many bytes, but on a device no more than a small table has a use for. */
static uint64_t list_window(const hd_gpu_own *gpu)
{
    enum {
        HOST_BYTES = 1 << 20,
        HOST_LEAST = 32,
        HOST_MOST = 1 << 14,
        BYTES = 64 << 20,
        SHARE = 32 /* this, or a part of the table */,
        LEAST = 1 << 12,
        MOST = 1 << 20
    };
    const hd_info *info = &gpu->info;
    uint64_t listed_bytes = LISTED_BYTES + (uint64_t)info->value_bytes, n = HOST_BYTES / listed_bytes;
    if (!gpu->device) return at_most(gpu, n < HOST_LEAST ? HOST_LEAST : n > HOST_MOST ? HOST_MOST : n & ~31ull);
    uint64_t share = info->capacity * (HD_METADATA_MOST + (uint64_t)info->value_bytes) / SHARE;
    n = (share > BYTES ? share : BYTES) / listed_bytes;
    if (n > info->capacity) n = info->capacity;
    return at_most(gpu, n < LEAST ? LEAST : n > MOST ? MOST : n);
}

/* How many items at a time put off far values: no more than there are entries, which is plenty for a small table. 0:
 * none do. */
static uint64_t fetch_window(const hd_gpu_own *gpu)
{
    enum { MOST = 1 << 20 };
    const hd_info *info = &gpu->info;
    if (!hkv_select_sorted(info, UINT64_MAX)) return 0;
    return at_most(gpu, info->capacity < MOST ? info->capacity : MOST);
}

/* How many items at a time go through the launches of groups.h: no fewer than a window that lists has. 0: none do, for
 * only coalesced has them. */
static uint64_t left_window(const hd_gpu_own *gpu)
{
    enum { LEAST = 1 << 14 };
    const hd_info *info = &gpu->info;
    if (hkv_row(hkv_row_of("coalesced", HKV_UPDATE))->fits(info)) return 0;
    return at_most(gpu, info->capacity < LEAST             ? LEAST
                        : info->capacity < HKV_CLAIM_ITEMS ? info->capacity
                                                           : HKV_CLAIM_ITEMS);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void usual(hd_info *info)
{
    if (info->layout == HD_LAYOUT_USUAL) info->layout = HD_LAYOUT_PAIRS;
}

static void begin(void *own)
{
    hkv_own *o = (hkv_own *)own;
    o->v = hkv_view_for(&o->gpu.info);
}

static int add(hd_piece *all, const hd_piece *more, size_t bytes)
{
    memcpy(all, more, bytes);
    return (int)(bytes / sizeof *more);
}

/* Whether each plane is an allocation of its own that can grow. Their sizes are rounded up to whole pages, so the table
 * must be large. */
static bool planes_grow(const hkv_own *o)
{
    enum { SHARE = 32 };
    const hkv_view *v = &o->v;
    uint64_t bytes = hkv_near_bytes(v) + hkv_capacity(v) * (1 + 8 * (uint64_t)v->step);
    return o->gpu.page && bytes / SHARE >= o->gpu.page;
}

/* The reference's planes, over there. Keys give the allocation its name. */
static int planes_to_take(const hkv_own *o, hd_piece *all)
{
    const hkv_view *v = &o->v;
    uint64_t entries = hkv_capacity(v), scores = v->step == 1 ? entries : 0;
    hd_put large = planes_grow(o) ? HD_GROWS : HD_APART, small = planes_grow(o) ? HD_GROWS : HD_TOGETHER;
    const hd_piece planes[] = {
        { "capacity: values", offsetof(hkv_own, v.value), hkv_near_bytes(v), 1, 0, large },
        /* these four: empty */
        { "capacity: keys", offsetof(hkv_own, v.key), entries, 8 * (uint64_t)v->step, HD_AS_IT_COMES, small },
        { "capacity: digests", offsetof(hkv_own, v.digest), entries, 1, HD_AS_IT_COMES, small },
        { "capacity: scores", offsetof(hkv_own, v.score), scores, 8, HD_AS_IT_COMES, small },
        { "capacity: bounds", offsetof(hkv_own, v.bound), hkv_bounds_of(v), 8, HD_AS_IT_COMES, small },
        { "pins", offsetof(hkv_own, v.holder), hkv_holders_of(&o->gpu.info), sizeof *v->holder, 0, large },
        { "capacity: far values", offsetof(hkv_own, v.far), hkv_far_bytes(v), 1, HD_AS_IT_COMES, HD_HOST_MEMORY },
    };
    return add(all, planes, sizeof planes);
}

static int room_to_take(const hkv_own *o, hd_piece *all)
{
    const hd_info *info = &o->gpu.info;
    uint64_t fetches = fetch_window(&o->gpu), window = list_window(&o->gpu), left = left_window(&o->gpu);
    hd_put locks = o->gpu.device && planes_grow(o) ? HD_GROWS : HD_TOGETHER;
    const hd_piece room[] = {
        { "table: counters", offsetof(hkv_own, words), 1, sizeof *o->words, 0, HD_TOGETHER },
        { "capacity: bucket locks", offsetof(hkv_own, lock), info->buckets, sizeof *o->lock, 0, locks },
        { "table: counters of a batch", offsetof(hkv_own, counts), 1, sizeof *o->counts, 0, HD_OF_BATCH },
        { "table: window of lists", offsetof(hkv_own, stage_flag), window, 1, HD_AS_IT_COMES, HD_OF_BATCH },
        { "table: window of lists", offsetof(hkv_own, stage_key), window, sizeof *o->stage_key, HD_AS_IT_COMES,
          HD_OF_BATCH },
        { "table: window of lists", offsetof(hkv_own, stage_score), window, sizeof *o->stage_score, HD_AS_IT_COMES,
          HD_OF_BATCH },
        { "table: window of lists", offsetof(hkv_own, stage_value), window, info->value_bytes, HD_AS_IT_COMES,
          HD_OF_BATCH },
        { "table: window of fetches", offsetof(hkv_own, fetch_entry), fetches, sizeof *o->fetch_entry, HD_AS_IT_COMES,
          HD_OF_BATCH },
        { "table: window of fetches", offsetof(hkv_own, fetch_rank), fetches, sizeof *o->fetch_rank, HD_AS_IT_COMES,
          HD_OF_BATCH },
        { "table: window of fetches", offsetof(hkv_own, fetch_order), fetches, sizeof *o->fetch_order, HD_AS_IT_COMES,
          HD_OF_BATCH },
        { "table: window of fetches", offsetof(hkv_own, fetch_count), fetches ? HKV_FETCH_COUNTS : 0,
          sizeof *o->fetch_count, 0, HD_OF_BATCH },
        { "table: window of groups", offsetof(hkv_own, claim), left ? hkv_claim_mask(left) + 1ull : 0, sizeof *o->claim,
          0, HD_OF_BATCH },
        { "table: window of groups", offsetof(hkv_own, role), left, sizeof *o->role, 0, HD_OF_BATCH },
        { "table: window of groups", offsetof(hkv_own, group), left, sizeof *o->group, HD_AS_IT_COMES, HD_OF_BATCH },
        { "table: window of groups", offsetof(hkv_own, left_before), left, sizeof *o->left_before, HD_AS_IT_COMES,
          HD_OF_BATCH },
        { "table: window of groups", offsetof(hkv_own, left_item), HKV_LEFT_LISTS * left, sizeof *o->left_item,
          HD_AS_IT_COMES, HD_OF_BATCH },
    };
    return add(all, room, sizeof room);
}

static uint64_t room_bytes(const hd_info *info, bool device)
{
    hkv_own o;
    hd_piece all[HD_PIECES_MOST];
    uint64_t bytes = 0;
    memset(&o, 0, sizeof o);
    o.gpu.info = *info;
    o.gpu.device = device;
    int n = room_to_take(&o, all);
    for (int i = 0; i < n; i++) bytes += all[i].count * all[i].size;
    return bytes;
}

static int pieces(const void *own, hd_piece *all)
{
    const hkv_own *o = (const hkv_own *)own;
    int n = o->gpu.device ? planes_to_take(o, all) : 0;
    return n + room_to_take(o, all + n);
}

static void taken(void *own)
{
    hkv_own *o = (hkv_own *)own;
    if (o->gpu.device && o->v.step == 2) o->v.score = o->v.key + 1;
    o->gpu.tally = o->words->tally;
    o->gpu.sum = &o->words->sum;
    o->gpu.word = &o->words->word;
}

/* ---- A batch --------------------------------------------------------------------------------- */

/* All but first, last and window, which hkv_launch sets. */
static hkv_args args_of(const hkv_own *o, const hd_batch *b, hd_when when)
{
    const hd_info *info = &o->gpu.info;
    hkv_args a;
    memset(&a, 0, sizeof a);
    a.v = o->v;
    a.lock = o->lock;
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
    a.segment = o->counts->segment;
    a.cursor = o->counts->cursor;
    a.stage_flag = o->stage_flag;
    a.stage_key = o->stage_key;
    a.stage_score = o->stage_score;
    a.stage_value = o->stage_value;
    a.fetch_entry = hkv_select_sorted(info, b->n) ? o->fetch_entry : NULL;
    a.fetch_rank = o->fetch_rank;
    a.fetch_order = o->fetch_order;
    a.fetch_count = o->fetch_count;
    a.claim = o->claim;
    a.role = o->role;
    a.group = o->group;
    a.left_before = o->left_before;
    a.left_item = o->left_item;
    a.left_count = o->counts->left;
    a.left_window = left_window(&o->gpu);
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

static hd_status launch(void *own, const hd_launcher *to, uint32_t row, const hd_batch *b, hd_when when)
{
    hkv_own *o = (hkv_own *)own;
    hkv_launcher l = { *to, list_window(&o->gpu), fetch_window(&o->gpu), &o->unfinished };
    const hkv_args a = args_of(o, b, when);
    hd_status status = asks_time(row, &a) ? launch_moment(to, &a) : HD_OK;
    return status ? status : hkv_launch(&l, row, a);
}

const char *hkv_unfit_row(const hd_variant_row *row, const hd_info *info, const hd_batch *b)
{
    if (b->each) return HD_NOT_MIXED;
    if (HD_OP_IN(b->op, HD_OPS_ORDERED)) return HD_UNORDERED;
    return row->family != hkv_family_of(b->op) ? HD_OTHER_OPERATION : row->fits(info);
}

/* ---- On the host machine --------------------------------------------------------------------- */

static void before(void *own, void *entries)
{
    hkv_own *o = (hkv_own *)own;
    o->v = *hkv_view_of(entries);
    o->words->pins.count = o->v.pins;
}

static void after(void *own, void *entries, bool good)
{
    hkv_own *o = (hkv_own *)own;
    hkv_view_of(entries)->pins = o->words->pins.count;
    if (!good) o->unfinished = true;
}

static int regions(const void *own, hd_region *all)
{
    const hkv_own *o = (const hkv_own *)own;
    const hkv_view *v = &o->v;
    hkv_words *w = o->words;
    hkv_counts *c = o->counts;
    uint64_t entries = hkv_capacity(v), window = list_window(&o->gpu), fetches = fetch_window(&o->gpu),
             left = left_window(&o->gpu);
    const hd_region every[] = {
        { v->digest, entries, "digests" },
        { v->key, entries * 8 * v->step, v->step == 1 ? "keys" : "pairs" },
        { v->step == 1 ? v->score : NULL, entries * 8, "scores" },
        { v->bound, hkv_bounds_of(v) * 8, "bounds" },
        { v->value, v->value_bytes ? hkv_near_bytes(v) : 0, "values" },
        { v->far, hkv_far_bytes(v), "far values" },
        { v->holder, entries * sizeof *v->holder, "holders" },
        { o->lock, v->buckets * sizeof *o->lock, "bucket locks" },
        { o->gpu.tally, sizeof w->tally, "tally" },
        { o->gpu.sum, sizeof w->sum, "sum" },
        { c->segment, sizeof c->segment, "segments" },
        { c->cursor, sizeof c->cursor, "cursor" },
        { &w->pins, sizeof w->pins, "pin count" },
        { &w->moment, sizeof w->moment, "moment" },
        { &w->lost, sizeof w->lost, "lost" },
        { &w->grow, sizeof w->grow, "growth" },
        { o->stage_flag, window, "stage_flag" },
        { o->stage_key, window * 8, "stage_key" },
        { o->stage_score, window * 8, "stage_score" },
        { o->stage_value, window * v->value_bytes, "stage_value" },
        { o->fetch_entry, fetches * 8, "fetch_entry" },
        { o->fetch_rank, fetches * 4, "fetch_rank" },
        { o->fetch_order, fetches * 4, "fetch_order" },
        { o->fetch_count, HKV_FETCH_COUNTS * 4, "fetch_count" },
        { o->claim, left ? (hkv_claim_mask(left) + 1ull) * sizeof *o->claim : 0, "claim" },
        { o->role, left * sizeof *o->role, "role" },
        { o->group, left * sizeof *o->group, "group" },
        { o->left_before, left * sizeof *o->left_before, "left_before" },
        { o->left_item, HKV_LEFT_LISTS * left * sizeof *o->left_item, "left_item" },
        { c->left, sizeof c->left, "left_count" },
    };
    memcpy(all, every, sizeof every);
    return sizeof every / sizeof *every;
}

/* ---- On a device ----------------------------------------------------------------------------- */

static hd_status empty(void *own, const hd_launcher *l)
{
    hd_batch b;
    static const hd_when when = { .clock = 0 };
    memset(&b, 0, sizeof b);
    b.op = HD_OP_CLEAR;
    return launch(own, l, hkv_row_of("warp", HKV_CLEAR), &b, when);
}

static hd_status read_clock(void *own, const hd_launcher *l, uint64_t **ns)
{
    hkv_own *o = (hkv_own *)own;
    hkv_args a;
    memset(&a, 0, sizeof a);
    a.moment = *ns = &o->words->moment;
    return launch_moment(l, &a);
}

/* The plane of holders, where the batch is the first that pins. */
static bool needs(const void *own, const hd_batch *b, hd_piece *piece, hd_info *info)
{
    const hkv_own *o = (const hkv_own *)own;
    if (o->v.holder || !hkv_batch_pins(b)) return false;
    hkv_got_holders(info);
    *piece = (hd_piece){ "pins", offsetof(hkv_own, v.holder),         info->capacity, sizeof *o->v.holder,
                         0,      planes_grow(o) ? HD_GROWS : HD_APART };
    return true;
}

/* Far values are here as they are. */
static hd_status open_here(const void *own, const hd_seams *s, void **staged)
{
    const hkv_own *o = (const hkv_own *)own;
    return hkv_open_over(&o->gpu.info, s, o->v.far, staged);
}

static int planes(const void *own, void *staged, bool values, hd_plane *all)
{
    const hkv_own *o = (const hkv_own *)own;
    const hkv_view *v = &o->v;
    hkv_view *here = hkv_view_of(staged);
    uint64_t entries = hkv_capacity(v);
    const hd_plane every[] = {
        { "digests", v->digest, here->digest, entries },
        { "keys", v->key, here->key, entries * 8 * v->step },
        { "scores", v->score, here->score, v->step == 1 ? entries * 8 : 0 },
        { "bounds", v->bound, here->bound, hkv_bounds_of(v) * 8 },
        { "values", v->value, here->value, values ? hkv_near_values(v) * v->value_bytes : 0 },
        { "pins", v->holder, here->holder, hkv_holders_of(&o->gpu.info) * sizeof *v->holder },
        { "pins", &o->words->pins.count, &here->pins, sizeof here->pins },
    };
    memcpy(all, every, sizeof every);
    return sizeof every / sizeof *every;
}

/* As hkv_fetches says it of a launch's argument. */
static bool fetches_sorted(const hd_info *info, const hd_batch *b)
{
    return b->op == HD_OP_FIND && b->value_out && hkv_select_sorted(info, b->n);
}

/* As hkv_has_groups says it, of updates: upserts run apart from all batches anyway. */
static bool updates_in_groups(const hkv_own *o, const hd_batch *b)
{
    uint32_t flags = hkv_policy_flags_for(&o->v, b);
    return hkv_family_of(b->op) == HKV_UPDATE && o->claim && !b->distinct && b->n > 1 &&
           (flags & (HD_ORDER_FREE | HD_HITS_ADD)) && hkv_updates_in_groups(b->op, b->value_out, flags);
}

static void show(const void *own, hd_view *view) { hkv_show(&((const hkv_own *)own)->v, view); }

/* Those that put together a list, put off what they fetch, or run in groups. */
static bool lists(const void *own, uint32_t row, const hd_batch *b)
{
    const hkv_own *o = (const hkv_own *)own;
    (void)row;
    return fetches_sorted(&o->gpu.info, b) || b->op == HD_OP_FIND_MISSED || b->op == HD_OP_INSERT_AND_EVICT ||
           hkv_family_of(b->op) == HKV_EXPORT || updates_in_groups(o, b);
}

/* clang-format off */
const hd_gpu hkv_gpu = {
    .ref = &hd_design_hkv, .cuda_entry = HD_CUDA_ENTRY(hkv_cuda_entry),
    .cuda_module = HD_CUDA_ENTRY(hkv_cuda_module), .word_enter = HKV_NUMBER_word_enter,
    .word_leave = HKV_NUMBER_word_leave, .own_bytes = sizeof(hkv_own), .usual = usual, .room_bytes = room_bytes,
    .begin = begin, .pieces = pieces, .taken = taken, .before = before, .after = after, .regions = regions,
    .empty = empty, .open_here = open_here, .planes = planes, .lists = lists, .needs = needs, .launch = launch,
    .grow = hkv_grow, .read_clock = read_clock, .check = hkv_check_there, .parts = &hkv_parts, .view = show
};

const hd_design hd_design_hkv_cuda = {
    .name = "hkv", .what = "a bucketed cache in a GPU's memory", .params = &hkv_params, .select = hkv_select,
    .few_items = HKV_FEW_ITEMS, .fewest_items = HKV_FEWEST_ITEMS, .fewest_distinct = HKV_FEWEST_DISTINCT,
    .variants = hkv_variants, .unfit = hkv_unfit_row, .gpu = &hkv_gpu,
    .prepare = hd_cuda_prepare, .grow = hd_cuda_grow, .owns = true, HD_ON_CUDA
};
/* clang-format on */
