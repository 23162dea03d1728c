/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.c - describes the ordered table to the backends: its memory, the argument of its kernels, and its batches as
 * launches.
 */
#include "gpu/sl/launch.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "gpu/sl/own.h"
#include "gpu/sl/part.h"
#include "gpu/sort_launch.h"
#include "predicates/predicate.h"
#include "ref/sl/sl.h"

extern const hd_design hd_design_sl, hd_design_sl_cuda;

/* ---- Memory ---------------------------------------------------------------------------------- */

enum {
    WINDOW_LEAST = 1 << 12,
    WINDOW_LEAST_THERE = 1 << 18, /* on a device */
    WINDOW_MOST = 1 << 30,
    WINDOW_OF = 16, /* a window has so many times fewer items than the table has places */
    ALIGNED = 512   /* more than what a device rounds an allocation up to within a larger one */
};

static void usual(hd_info *info) { (void)info; }

/* The more items a window has, the fewer times a batch goes over the table. */
static uint64_t window_for(const hd_info *info, bool device)
{
    uint64_t places = info->base_buckets * info->slots, window = places / WINDOW_OF,
             least = device ? WINDOW_LEAST_THERE : WINDOW_LEAST;
    return window < least ? least : window < WINDOW_MOST ? window : WINDOW_MOST;
}

uint64_t sl_window(const sl_own *o)
{
    uint64_t window = window_for(&o->gpu.info, o->gpu.device);
    return o->gpu.window_most && o->gpu.window_most < window ? o->gpu.window_most : window;
}

uint32_t sl_sort_shares(const sl_own *o) { return gpu_sort_shares(sl_window(o), GPU_SORT_SHARES_MOST); }

static uint64_t used_words(uint64_t homes) { return (homes + 63) / 64; }

/* Blocks that merge far segments as a whole at a time; each has a stage as large as a segment. */
static uint64_t sl_stages(const sl_view *v)
{
    enum { STAGES_BYTES = 32 << 20, STAGES_MOST = 512, STAGES_OF = 16 };
    uint64_t stages = STAGES_BYTES / (8ull * v->fit * v->words);
    if (stages > STAGES_MOST) stages = STAGES_MOST;
    if (stages > v->homes / STAGES_OF) stages = v->homes / STAGES_OF;
    return stages ? stages : 1;
}

int sl_near_pieces(const sl_own *o, const sl_homes *h, size_t at, bool entries, hd_piece *all)
{
    uint64_t homes = h->v.homes, words = (uint64_t)h->v.fit * h->v.words, near = o->gpu.device ? h->near : homes,
             far = homes - h->near, groups = far * sl_home_groups(&h->v);
    const hd_put by_line = h->keys_here ? HD_HOST_MEMORY : HD_APART;
    const hd_piece of_entries[] = {
        { "capacity: segments", at + offsetof(sl_homes, v.word), near * words, 8, HD_AS_IT_COMES, HD_APART },
        { "capacity: far segments", at + offsetof(sl_homes, far), (homes - near) * words, 8, HD_AS_IT_COMES,
          HD_HOST_MEMORY },
    };
    const hd_piece of_far[] = {
        { "capacity: near keys", at + offsetof(sl_homes, v.near_key), far * sl_home_lines(&h->v),
          sl_near_key_bytes(&h->v), HD_AS_IT_COMES, by_line },
        { "capacity: filled lines", at + offsetof(sl_homes, v.filled), groups, 4, HD_AS_IT_COMES, by_line },
        { "plan: sums of lines", at + offsetof(sl_homes, room.before), groups, 4, HD_AS_IT_COMES, by_line },
        { "plan: stages", at + offsetof(sl_homes, room.stage), far ? sl_stages(&h->v) * words : 0, 8, HD_AS_IT_COMES,
          by_line },
        { "plan: rows that change", at + offsetof(sl_homes, room.rows), far ? homes : 0, 4, HD_AS_IT_COMES, by_line },
    };
    int n = 0;
    if (entries) memcpy(all, of_entries, sizeof of_entries), n = sizeof of_entries / sizeof *of_entries;
    memcpy(all + n, of_far, sizeof of_far);
    return n + (int)(sizeof of_far / sizeof *of_far);
}

int sl_homes_pieces(const sl_own *o, const sl_homes *h, size_t at, bool entries, hd_piece *all)
{
    uint64_t homes = h->v.homes;
    const hd_piece of_entries[] = {
        { "capacity: bounds", at + offsetof(sl_homes, v.bound), homes, 8, HD_AS_IT_COMES, HD_APART },
        { "capacity: homes", at + offsetof(sl_homes, v.home), homes, 4, HD_AS_IT_COMES, HD_APART },
        { "capacity: counts", at + offsetof(sl_homes, v.count), homes, 4, 0, HD_APART },
        { "capacity: used homes", at + offsetof(sl_homes, v.used), used_words(homes), 8, 0, HD_APART },
    };
    const hd_piece of_windows[] = {
        { "plan: lists", at + offsetof(sl_homes, room.first), homes + 1, 4, HD_AS_IT_COMES, HD_APART },
        { "plan: fresh segments", at + offsetof(sl_homes, room.fresh), homes + 1, 4, HD_AS_IT_COMES, HD_APART },
        { "plan: free homes", at + offsetof(sl_homes, room.free), homes, 4, HD_AS_IT_COMES, HD_APART },
        { "plan: parts", at + offsetof(sl_homes, room.last), homes, 4, HD_AS_IT_COMES, HD_APART },
        { "plan: what stays", at + offsetof(sl_homes, room.kept), homes, 4, HD_AS_IT_COMES, HD_APART },
        { "plan: offsets", at + offsetof(sl_homes, room.offset), homes, 4, HD_AS_IT_COMES, HD_APART },
        { "plan: bounds", at + offsetof(sl_homes, room.bound), homes, 8, HD_AS_IT_COMES, HD_APART },
        { "plan: homes", at + offsetof(sl_homes, room.home), homes, 4, HD_AS_IT_COMES, HD_APART },
    };
    int n = sl_near_pieces(o, h, at, entries, all);
    if (entries) memcpy(all + n, of_entries, sizeof of_entries), n += (int)(sizeof of_entries / sizeof *of_entries);
    memcpy(all + n, of_windows, sizeof of_windows);
    return n + (int)(sizeof of_windows / sizeof *of_windows);
}

/* What does not depend on the number of homes. */
static int room_to_take(const sl_own *o, hd_piece *all)
{
    uint64_t window = sl_window(o);
    const hd_piece room[] = {
        { "table: counters", offsetof(sl_own, words), 1, sizeof(sl_words), 0, HD_TOGETHER },
        { "window: keys", offsetof(sl_own, word), window, 8, HD_AS_IT_COMES, HD_OF_BATCH },
        { "window: keys in order", offsetof(sl_own, other), window, 8, HD_AS_IT_COMES, HD_OF_BATCH },
        { "window: items", offsetof(sl_own, add_from), window, 4, HD_AS_IT_COMES, HD_OF_BATCH },
        { "window: places", offsetof(sl_own, add_at), window, 4, HD_AS_IT_COMES, HD_OF_BATCH },
        { "window: marks", offsetof(sl_own, mark), window, 4, HD_AS_IT_COMES, HD_OF_BATCH },
        { "window: counts", offsetof(sl_own, sort_count), gpu_sort_counts(sl_sort_shares(o)), 4, HD_AS_IT_COMES,
          HD_OF_BATCH },
        { "window: shares", offsetof(sl_own, share), 2 * SL_SHARES, 4, HD_AS_IT_COMES, HD_OF_BATCH },
        { "table: lengths of lists", offsetof(sl_own, listed), GPU_LIST_WORDS, 8, 0, HD_OF_BATCH },
        { "table: window of lists", offsetof(sl_own, stage_flag), gpu_list_window(&o->gpu), 1, HD_AS_IT_COMES,
          HD_OF_BATCH },
    };
    memcpy(all, room, sizeof room);
    return sizeof room / sizeof *room;
}

/* Bytes of a table with so many homes, of which `near` are near, that are not this machine's, beside those of its
 * entries; entries: the directory counts. align: what each piece takes a multiple of. */
static uint64_t bytes_beside(const hd_info *info, bool device, uint64_t homes, uint64_t near, bool entries,
                             uint64_t align)
{
    hd_piece all[HD_PIECES_MOST];
    uint64_t bytes = 0;
    sl_own o;
    memset(&o, 0, sizeof o);
    o.gpu.info = *info;
    o.gpu.device = device;
    o.at.v = sl_view_for(info);
    o.at.v.homes = homes;
    o.at.near = near;
    int n = room_to_take(&o, all);
    n += sl_homes_pieces(&o, &o.at, 0, entries, all + n);
    for (int i = 0; i < n; i++)
        if (all[i].put != HD_HOST_MEMORY && all[i].field != offsetof(sl_homes, v.word))
            bytes += (all[i].count * all[i].size + align - 1) / align * align;
    return bytes;
}

/* Bytes of device memory of a table with so many near homes. */
static uint64_t near_bytes(const hd_info *info, uint64_t homes, uint64_t near)
{
    return bytes_beside(info, true, homes, near, true, ALIGNED) + near * info->sl.segment_bytes;
}

/* The least is a table with one near segment, or, if it is small, with no far one. */
static uint64_t least_near(const hd_info *info, uint64_t homes)
{
    uint64_t one = near_bytes(info, homes, 1), all = near_bytes(info, homes, homes);
    return one < all ? one : all;
}

/* How many homes are near: as many as there is room for. A far one takes room for its near keys. */
uint64_t sl_near_homes(const hd_info *info, uint64_t homes)
{
    uint64_t most = info->sl.near_bytes, one = near_bytes(info, homes, 1);
    if (most == 0 || most >= near_bytes(info, homes, homes)) return homes;
    const sl_view v = sl_view_for(info);
    uint64_t each = info->sl.segment_bytes - sl_home_lines(&v) * sl_near_key_bytes(&v) - 8 * sl_home_groups(&v),
             near = most > one ? 1 + (most - one) / each : 1;
    while (near > 1 && near_bytes(info, homes, near) > most) near--;
    return near;
}

/* Bytes beside the reference's. */
static uint64_t room_bytes(const hd_info *info, bool device)
{
    uint64_t homes = sl_view_for(info).homes;
    return bytes_beside(info, device, homes, sl_near_homes(info, homes), false, 1);
}

void sl_homes_begin(const sl_own *o, sl_homes *h, uint64_t homes)
{
    const hd_info *info = &o->gpu.info;
    memset(h, 0, sizeof *h);
    h->v = sl_view_for(info);
    h->v.homes = homes;
    h->v.near = h->near = sl_near_homes(info, homes);
}

hd_status sl_fits_near(const hd_info *info, uint64_t homes)
{
    uint64_t least = least_near(info, homes);
    if (info->sl.near_bytes == 0 || info->sl.near_bytes >= least) return HD_OK;
    return hd_fail(HD_EINVAL, "near: %" PRIu64 " bytes; with this capacity at least %" PRIu64, info->sl.near_bytes,
                   least);
}

static void tell_parts(hd_info *info, uint64_t homes, uint64_t near)
{
    info->values_device_bytes = near * info->sl.segment_bytes;
    info->values_host_bytes = (homes - near) * info->sl.segment_bytes;
}

static hd_status shape(hd_info *info, bool device)
{
    uint64_t homes = sl_view_for(info).homes;
    (void)device;
    hd_status status = sl_fits_near(info, homes);
    if (!status) tell_parts(info, homes, sl_near_homes(info, homes));
    return status;
}

static void begin(void *own)
{
    sl_own *o = (sl_own *)own;
    sl_homes_begin(o, &o->at, sl_view_for(&o->gpu.info).homes);
}

static int pieces(const void *own, hd_piece *all)
{
    const sl_own *o = (const sl_own *)own;
    int n = sl_homes_pieces(o, &o->at, offsetof(sl_own, at), o->gpu.device, all);
    return n + room_to_take(o, all + n);
}

static void taken(void *own)
{
    sl_own *o = (sl_own *)own;
    o->gpu.tally = o->words->tally;
    o->gpu.sum = &o->words->sum;
    o->gpu.word = &o->words->word;
}

/* ---- The argument of kernels ----------------------------------------------------------------- */

/* Of n items or rows: a warp's worth each, because a warp that searches far segments waits for one line after another.
 */
static uint32_t shares_for(uint64_t n)
{
    uint64_t shares = (n + 31) / 32;
    return shares == 0 ? 1 : shares < SL_SHARES ? (uint32_t)shares : SL_SHARES;
}

sl_args sl_args_of(const sl_own *o, const sl_homes *h)
{
    sl_args a;
    memset(&a, 0, sizeof a);
    a.v = h->v;
    a.far = h->far;
    a.near_places = h->near * h->v.fit;
    a.shift = (uint32_t)__builtin_ctz(h->v.fit);
    a.numbers = &o->words->numbers;
    a.room = h->room;
    a.room.word = o->word;
    a.room.add_key = o->other;
    a.room.add_from = o->add_from;
    a.room.add_at = o->add_at;
    a.room.mark = o->mark;
    a.room.share = o->share;
    a.row_shares = shares_for(h->v.homes);
    a.stages = (uint32_t)sl_stages(&h->v);
    return a;
}

static sl_args args_of(const sl_own *o, const hd_batch *b)
{
    sl_args a = sl_args_of(o, &o->at);
    a.b = gpu_batch_of(b);
    a.b.predicate = hd_predicate_of(b);
    a.b.tally = o->gpu.tally;
    a.b.stage_flag = o->stage_flag;
    a.b.listed = o->listed;
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

static bool has_far(const sl_own *o) { return o->at.near < o->at.v.homes; }

/* Gives the words codes and sorts them by these; *sorted: where they are, and then are. */
static hd_status sort_by(const sl_own *o, const hd_launcher *l, sl_args *a, uint32_t label, uint32_t bits)
{
    uint64_t n = a->b.last - a->b.first, *sorted, *room = a->room.word == o->word ? o->other : o->word;
    a->label = label;
    hd_status status = launch_step(l, a, (step){ SL_NUMBER_label, OVER_ITEMS });
    if (!status)
        status =
            gpu_sort_launch(l, sorting, n, NULL, bits, a->room.word, room, o->sort_count, sl_sort_shares(o), &sorted);
    if (status) return status;
    a->room.word = sorted;
    a->room.add_key = sorted == o->word ? o->other : o->word;
    return HD_OK;
}

/* Least significant codes first. Items that may insert come before others of their key. */
static hd_status sort_window(const sl_own *o, const hd_launcher *l, sl_args *a)
{
    bool flags = a->b.op == HD_OP_ACCUM_OR_ASSIGN && a->b.flag;
    hd_status status = HD_OK;
    a->room.word = o->word;
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

/* Neighbours that became small are joined (join.h). */
static hd_status launch_join(const sl_own *o, const hd_launcher *l, sl_args *a)
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
static hd_status launch_window(const sl_own *o, const hd_launcher *l, sl_args *a, uint32_t apply)
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

static hd_status launch_flip(const sl_own *o, const hd_launcher *l, sl_args *a, uint32_t row)
{
    uint64_t window = sl_window(o);
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

static hd_status launch_sweep(const sl_own *o, const hd_launcher *l, sl_args *a, uint32_t row)
{
    hd_status status = a->b.count ? l->zero(l->self, a->b.count, sizeof *a->b.count) : HD_OK;
    bool per_place = a->b.op == HD_OP_SIZE_IF;
    uint64_t lanes = per_place ? sl_places(&a->v) : a->b.op == HD_OP_ERASE_IF ? a->v.homes * 32 : a->v.homes;
    if (!status) status = l->launch(l->self, row, a, sizeof *a, hd_launch_blocks(l, lanes, SL_THREADS), SL_THREADS);
    return status || a->b.op != HD_OP_ERASE_IF ? status : launch_join(o, l, a);
}

/* Batches of more items that look up or update far segments are sorted. */
static uint64_t sorts_above(const sl_own *o)
{
    enum { SORTED = 4096 };
    return o->gpu.window_most && o->gpu.window_most < SORTED ? o->gpu.window_most : SORTED;
}

/* A batch as launches, for gpu_launcher.items. */
typedef struct launching {
    gpu_launcher l; /* first: launch_far gets its address */
    const sl_own *o;
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
    uint64_t window = sorts ? sl_window(x->o) : whole.last - whole.first;
    hd_status status = HD_OK;
    (void)row;
    for (uint64_t at = whole.first; at < whole.last && !status; at = a->b.last) {
        a->b.first = at;
        a->b.last = whole.last - at < window ? whole.last : at + window;
        if (whole.stage_flag) a->b.stage_flag = whole.stage_flag + (at - whole.first);
        if (sorts) status = sort_window(x->o, &l->on, a);
        a->order = sorts ? a->room.word : NULL;
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
static hd_status launch_listed(const sl_own *o, const hd_launcher *to, sl_args *a, uint32_t row)
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

static hd_status launch(void *own, const hd_launcher *l, uint32_t row, const hd_batch *b, hd_when when)
{
    const sl_own *o = (const sl_own *)own;
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

const char *sl_unfit_row(const hd_variant_row *row, const hd_info *info, const hd_batch *b)
{
    if (b->each) return HD_NOT_MIXED;
    const char *unfit = sl_unfit(b->op);
    if (unfit) return unfit;
    return row->family == sl_family_of(b->op) ? row->fits(info) : HD_OTHER_OPERATION;
}

/* What needs room that a table has once: windows, and lists. */
static bool lists(const void *own, uint32_t row, const hd_batch *b)
{
    const sl_own *o = (const sl_own *)own;
    sl_family family = sl_family_of(b->op);
    if (gpu_batch_lists(own, row, b) || family == SL_FLIP || b->op == HD_OP_ERASE_IF) return true;
    return has_far(o) && (family == SL_EXPORT || (far_kernel[family] && b->n > sorts_above(o)));
}

/* ---- On the host machine --------------------------------------------------------------------- */

/* Homes from o->at.near on are far: there is no other memory here, but kernels take the other way. */
static void before(void *own, void *entries)
{
    sl_own *o = (sl_own *)own;
    void *near_key = o->at.v.near_key;
    uint32_t *filled = o->at.v.filled;
    o->at.v = *sl_view_of(entries);
    o->at.v.near = o->at.near;
    o->at.v.near_key = near_key;
    o->at.v.filled = filled;
    if (o->at.v.stale) sl_renew_near(&o->at.v);
    o->at.far = o->at.v.word + o->at.near * o->at.v.fit * o->at.v.words;
    o->words->numbers.rows = o->at.v.rows;
}

static void after(void *own, void *entries, bool good)
{
    const sl_own *o = (const sl_own *)own;
    (void)good;
    *sl_view_of(entries) = o->at.v;
    sl_view_of(entries)->rows = o->words->numbers.rows;
}

static int homes_regions(const sl_own *o, const sl_homes *h, hd_region *all)
{
    hd_piece piece[HD_PIECES_MOST];
    int n = sl_homes_pieces(o, h, 0, true, piece);
    for (int i = 0; i < n; i++)
        all[i] = (hd_region){ piece[i].count ? hd_field(h, piece[i].field) : NULL, piece[i].count * piece[i].size,
                              piece[i].what };
    return n;
}

static int regions(const void *own, hd_region *all)
{
    const sl_own *o = (const sl_own *)own;
    hd_piece piece[HD_PIECES_MOST];
    int n = homes_regions(o, &o->at, all), room = room_to_take(o, piece);
    all[n++] = (hd_region){ o->gpu.tally, sizeof o->words->tally, "tally" };
    all[n++] = (hd_region){ &o->words->sum, sizeof o->words->sum, "sum" };
    all[n++] = (hd_region){ &o->words->numbers, sizeof o->words->numbers, "numbers" };
    for (int i = 1; i < room; i++)
        all[n++] = (hd_region){ hd_field(o, piece[i].field), piece[i].count * piece[i].size, piece[i].what };
    return n;
}

/* ---- On a device ----------------------------------------------------------------------------- */

static hd_status empty(void *own, const hd_launcher *l)
{
    const sl_own *o = (const sl_own *)own;
    const sl_check_args c = sl_check_args_of(o);
    hd_status status = launch_step(l, &c.a, (step){ hd_variant_row_of(sl_variants, "segments", SL_CLEAR), OVER_ROWS });
    if (status) return status;
    return l->launch(l->self, SL_NUMBER_mark_buckets, &c, sizeof c,
                     hd_launch_blocks(l, sl_places(&c.a.v) / c.slots, SL_THREADS), SL_THREADS);
}

static hd_status open_here(const void *own, const hd_seams *s, void **staged)
{
    const sl_own *o = (const sl_own *)own;
    hd_status status = hd_design_sl.open(&hd_design_sl, &o->gpu.info, s, staged);
    if (status) return status;
    status = sl_take_near(sl_view_of(*staged), o->at.near, s);
    if (status) hd_design_sl.close(*staged, s);
    return status;
}

static int planes(const void *own, void *staged, bool values, hd_plane *all)
{
    const sl_own *o = (const sl_own *)own;
    const sl_homes *h = &o->at;
    sl_view *here = sl_view_of(staged);
    uint64_t homes = h->v.homes, words = (uint64_t)h->v.fit * h->v.words;
    const hd_plane planes[] = {
        { "rows", &o->words->numbers.rows, &here->rows, sizeof here->rows },
        { "segments", h->v.word, here->word, h->near * words * 8 },
        { "far segments", h->far, here->word + h->near * words, (homes - h->near) * words * 8 },
        { "near keys", h->v.near_key, here->near_key,
          (homes - h->near) * sl_home_lines(&h->v) * sl_near_key_bytes(&h->v) },
        { "filled lines", h->v.filled, here->filled, (homes - h->near) * sl_home_groups(&h->v) * 4 },
        { "bounds", h->v.bound, here->bound, homes * 8 },
        { "homes", h->v.home, here->home, homes * 4 },
        { "counts", h->v.count, here->count, homes * 4 },
        { "used homes", h->v.used, here->used, used_words(homes) * 8 },
    };
    (void)values; /* they are in the words */
    memcpy(all, planes, sizeof planes);
    return sizeof planes / sizeof *planes;
}

void sl_tell_info(const sl_own *o, hd_info *info)
{
    sl_tell(info, o->at.v.homes);
    tell_parts(info, o->at.v.homes, o->at.near);
    info->memory_bytes += room_bytes(info, o->gpu.device);
}

/* clang-format off */
const hd_gpu sl_gpu = {
    .ref = &hd_design_sl, .cuda_entry = HD_CUDA_ENTRY(sl_cuda_entry), .cuda_module = HD_CUDA_ENTRY(sl_cuda_module),
    .word_enter = SL_NUMBER_word_enter, .word_leave = SL_NUMBER_word_leave, .own_bytes = sizeof(sl_own),
    .usual = usual, .shape = shape, .room_bytes = room_bytes, .begin = begin, .pieces = pieces, .taken = taken,
    .before = before, .after = after, .regions = regions, .empty = empty, .open_here = open_here, .planes = planes,
    .lists = lists, .launch = launch, .resize = sl_resize_there, .set_near = sl_set_near, .check = sl_check_there,
    .parts = &sl_parts
};

const hd_design hd_design_sl_cuda = {
    .name = "sl", .what = "a dictionary that keeps its keys in order, in a GPU's memory", .params = &sl_params,
    .policy = "none", .usual = sl_usual, .variants = sl_variants, .unfit = sl_unfit_row, .gpu = &sl_gpu, .owns = true,
    HD_ON_CUDA, .resize = hd_cuda_resize, .set_near = hd_cuda_set_near
};
/* clang-format on */
