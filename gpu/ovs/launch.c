/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.c - describes ovs to the backends: the memory of its tables on a device, near and far, and beside the
 * reference's segments; the argument of its kernels; its batches as launches; growing and shrinking.
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "gpu/launches.h"
#include "gpu/sort_launch.h"
#include "gpu/ovs/own.h"
#include "gpu/ovs/rows.h"
#include "predicates/predicate.h"
#include "ref/ovs/ovs.h"
#include "ref/ovs/range.h"

extern const hd_design hd_design_ovs, hd_design_ovs_cuda;

/* ---- Memory ---------------------------------------------------------------------------------- */

static const gpu_room room = { offsetof(ovs_own, words), sizeof(ovs_words), offsetof(ovs_own, listed),
                               offsetof(ovs_own, stage_flag) };

enum { ALIGNED = 9 * 256 /* bytes: what aligns pieces, at most */ };

/* Items that are sorted at a time. What they need takes a quarter of the device's memory that the table may have beside
 * its other room, but it is never less than for a share. */
static uint64_t sort_window(const hd_gpu_own *gpu)
{
    enum { BYTES = 18 /* two words, and a share's counts */, USUAL = 1 << 16, MOST = 1 << 30 };
    uint64_t near = gpu->info.ovs.near_bytes,
             other = gpu_room_bytes(&room, &gpu->info, true) + ALIGNED + gpu->info.ovs.copy_bytes,
             left = near > other ? near - other : 0, n = near ? left / 4 / BYTES : USUAL;
    if (n < GPU_SORT_SHARE) n = GPU_SORT_SHARE;
    if (n > MOST) n = MOST;
    if (gpu->window_most && n > gpu->window_most) n = gpu->window_most;
    return n;
}

static uint32_t sort_shares(const hd_gpu_own *gpu) { return gpu_sort_shares(sort_window(gpu), GPU_SORT_SHARES_MOST); }

int ovs_sort_pieces(const hd_gpu_own *gpu, size_t at, hd_piece *all)
{
    const hd_piece sorts[] = {
        { "table: window of sorts", at + offsetof(ovs_sorts, to_sort), sort_window(gpu), sizeof(uint64_t),
          HD_AS_IT_COMES, HD_APART },
        { "table: window of sorts", at + offsetof(ovs_sorts, room), sort_window(gpu), sizeof(uint64_t), HD_AS_IT_COMES,
          HD_APART },
        { "table: counts of sorts", at + offsetof(ovs_sorts, count), gpu_sort_counts(sort_shares(gpu)),
          sizeof(uint32_t), HD_AS_IT_COMES, HD_APART },
    };
    memcpy(all, sorts, sizeof sorts);
    return sizeof sorts / sizeof *sorts;
}

static int room_to_take(const hd_gpu_own *gpu, hd_piece *all)
{
    int n = ovs_sort_pieces(gpu, offsetof(ovs_own, sorts), all);
    return n + gpu_room_pieces(&room, gpu, all + n);
}

static uint64_t batch_bytes(const hd_info *info, bool device)
{
    const hd_gpu_own gpu = { .info = *info, .device = device };
    hd_piece all[HD_PIECES_MOST];
    return gpu_bytes_of_pieces(all, room_to_take(&gpu, all));
}

/* What a table takes of the device's memory besides segments and what belongs to them: its room, copies, and what
 * aligns pieces, at most. */
uint64_t ovs_scratch_bytes(const hd_info *info) { return batch_bytes(info, true) + ALIGNED + info->ovs.copy_bytes; }

/* A device has a copy of the directory while the copy, and that before it while the table is resized, take a sixteenth
 * of `near` at most; or always, where there is no limit. */
enum { ROW_BYTES_NEAR = 12, ROWS_OF_NEAR = 16 };
uint64_t ovs_near_rows_for(const hd_info *info, bool device)
{
    const uint64_t near = info->ovs.near_bytes, scratch = ovs_scratch_bytes(info), rows_most = 1ull << 32;
    const ovs_view v = ovs_view_for(info);
    if (!device || !v.ranges || (near && near < scratch)) return 0;
    if (!near) return UINT64_MAX;
    uint64_t most = (near - scratch) / ROWS_OF_NEAR / ROW_BYTES_NEAR, rows = v.base;
    if (rows > most) return 0;
    while (2 * rows <= most && rows < rows_most) rows *= 2;
    return rows;
}

static uint64_t room_bytes(const hd_info *info, bool device)
{
    uint64_t rows = ovs_view_for(info).rows, near = ovs_near_rows_for(info, device);
    return batch_bytes(info, device) + (rows <= near ? rows * sizeof(uint64_t) : 0);
}

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

/* Of the first k extents. */
static uint64_t digest_bytes(const ovs_view *v, uint32_t k) { return ovs_digest_bytes(v, v->base << (k - 1)); }

/* Extents that are there at the beginning have digests if all digests fit into `left`; later ones if all digests take
 * a quarter of it at most. */
static uint32_t guided_extents(const ovs_view *v, uint64_t left)
{
    uint32_t k = 0, there = ovs_extents_for(v, ovs_segments(v));
    while (k < OVS_EXTENTS && v->base << k >> 31 == 0 && digest_bytes(v, k + 1) <= (k < there ? left : left / 4)) k++;
    return k;
}

ovs_view ovs_view_on(const hd_info *info, bool device)
{
    ovs_view v = ovs_view_for(info);
    if (!device || !info->ovs.near_bytes) return v;
    uint64_t left = info->ovs.near_bytes - ovs_scratch_bytes(info);
    left -= ovs_near_rows_for(info, true) * ROW_BYTES_NEAR;
    if (v.guided) {
        v.guided = guided_extents(&v, left);
        if (v.guided) left -= digest_bytes(&v, v.guided);
    }
    v.near_most = left / info->ovs.segment_bytes;
    return v;
}

hd_status ovs_fits_near(const hd_info *info, bool device)
{
    if (!device || !info->ovs.near_bytes) return HD_OK;
    if (info->ovs.near_bytes < ovs_scratch_bytes(info))
        return hd_fail(HD_EINVAL,
                       "near: %" PRIu64 " bytes are fewer than the %" PRIu64 " that the table's kernels need",
                       info->ovs.near_bytes, ovs_scratch_bytes(info));
    return HD_OK;
}

static hd_status shape(hd_info *info, bool device)
{
    hd_status status = ovs_fits_near(info, device);
    if (status || !device || !info->ovs.near_bytes) return status;
    const ovs_view v = ovs_view_on(info, true);
    ovs_tell(&v, info);
    return HD_OK;
}

static void begin(void *own)
{
    ovs_own *o = (ovs_own *)own;
    o->v = ovs_view_on(&o->gpu.info, o->gpu.device);
    o->near_rows = ovs_near_rows_for(&o->gpu.info, o->gpu.device);
}

int ovs_extent_pieces(const ovs_view *v, uint32_t k, size_t at, hd_piece *all)
{
    uint64_t words = ovs_segment_words(v), near = ovs_extent_near(v, k), far = ovs_extent_segments(v, k) - near;
    const hd_piece parts[] = {
        { "capacity: near segments", at + offsetof(ovs_extent, near), near * words, sizeof(uint64_t), HD_AS_IT_COMES,
          HD_APART },
        { "capacity: far segments", at + offsetof(ovs_extent, far), far * words, sizeof(uint64_t), HD_AS_IT_COMES,
          HD_HOST_MEMORY },
        { "capacity: digests", at + offsetof(ovs_extent, digest),
          k < v->guided ? ovs_digest_bytes(v, ovs_extent_segments(v, k)) : 0, 1, HD_AS_IT_COMES, HD_APART },
    };
    memcpy(all, parts, sizeof parts);
    return OVS_EXTENT_PARTS;
}

/* The parts of extent k where the table has them. */
static int add_extent(const ovs_view *v, uint32_t k, hd_piece *all)
{
    return ovs_extent_pieces(v, k, offsetof(ovs_own, v.extent) + k * sizeof(ovs_extent), all);
}

static int pieces(const void *own, hd_piece *all)
{
    const ovs_own *o = (const ovs_own *)own;
    int n = room_to_take(&o->gpu, all);
    uint32_t extents = o->gpu.device ? ovs_extents_for(&o->v, ovs_segments(&o->v)) : 0;
    for (uint32_t k = 0; k < extents; k++) n += add_extent(&o->v, k, all + n);
    if (o->gpu.device && o->v.ranges) n += ovs_row_pieces(o, o->v.rows, all + n);
    if (o->gpu.device)
        all[n++] = (hd_piece){ "table: copies", offsetof(ovs_own, v.copy), ovs_copy_words(&o->v), sizeof(uint64_t), 0,
                               HD_APART };
    return n;
}

hd_status ovs_forget_copies_there(const ovs_own *o, const hd_launcher *l)
{
    return o->v.copy_sets ? l->zero(l->self, o->v.copy, ovs_copy_words(&o->v) * sizeof *o->v.copy) : HD_OK;
}

static void taken(void *own)
{
    ovs_own *o = (ovs_own *)own;
    o->gpu.tally = o->words->tally;
    o->gpu.op = o->words->op;
    o->gpu.sum = &o->words->sum;
    o->gpu.word = &o->words->word;
    if (o->gpu.device && o->v.ranges) ovs_cut_evenly(&o->v);
}

/* ---- A batch --------------------------------------------------------------------------------- */

/* What a kernel is given, and how it is launched. */
typedef struct launching {
    gpu_launcher l; /* first: launch_sorted gets its address */
    ovs_args a;
    const ovs_own *o;
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
 * the translations of its pages are slower (lab/ovs.md). 0: nothing is far. */
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
    const ovs_own *o = x->o;
    x->a.b.first = from;
    x->a.b.last = to;
    x->a.sorted = o->sorts.to_sort;
    bool owned = r->family == GPU_OWNED;
    x->a.code_shift = owned ? 0 : spare_bits(x, to - from);
    x->a.block_items = owned || x->l.on.blocks_told ? 0 : block_items(&x->a.v, r->threads);
    hd_status status = count_kept(x, r);
    if (!status) status = gpu_launch_range(&x->l, OVS_NUMBER_codes, 1, 128);
    if (!status)
        status = gpu_sort_launch(&x->l.on, sort, to - from, x->a.kept, code_bits(&x->a.v) - x->a.code_shift,
                                 o->sorts.to_sort, o->sorts.room, o->sorts.count, sort_shares(&o->gpu), &x->a.sorted);
    if (status || owned) return status ? status : gpu_launch_range(&x->l, row, r->lanes, r->threads);
    return gpu_launch_blocks(&x->l, row, sorted_blocks(x, to - from, r->threads), r->threads);
}

/* gpu_launcher.items of a row that is GPU_SORTED. */
static hd_status launch_sorted(const gpu_launcher *l, uint32_t row, const hd_variant_row *r)
{
    launching *x = (launching *)l;
    const gpu_batch whole = x->a.b;
    uint64_t window = sort_window(&x->o->gpu), to;
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
static void launching_begin(launching *x, const ovs_own *o, const hd_launcher *to, const hd_batch *b)
{
    memset(x, 0, sizeof *x);
    x->a.v = ovs_view_there(o);
    x->a.b = gpu_batch_of(b);
    x->a.b.predicate = hd_predicate_of(b);
    x->a.b.tally = o->gpu.tally;
    x->a.b.op_tally = o->gpu.op;
    x->a.b.listed = o->listed;
    x->a.b.stage_flag = o->stage_flag;
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

static hd_status launch(void *own, const hd_launcher *to, uint32_t row, const hd_batch *b, hd_when when)
{
    launching x;
    (void)when;
    const hd_variant_row *r = hd_variant_row_numbered(ovs_variants, row);
    launching_begin(&x, (const ovs_own *)own, to, b);
    if (gpu_family_sorts(r->family)) x.l.items = launch_sorted;
    if ((r->family == GPU_ITEMS || r->family == GPU_ALIKE) && r->lanes == 1 && b->n) x.l.items = launch_quads;
    return gpu_launch(&x.l, row, r, ovs_places(&x.a.v));
}

const char *ovs_unfit_row(const hd_variant_row *row, const hd_info *info, const hd_batch *b)
{
    const char *unfit = b->each ? NULL : ovs_unfit_for(info, b->op);
    uint32_t family = b->each ? (uint32_t)GPU_ITEMS : (uint32_t)gpu_family_of(b->op);
    if (unfit) return unfit;
    bool alike = row->family == GPU_ALIKE || gpu_family_sorts(row->family);
    if (alike && b->each) return HD_NOT_MIXED;
    if (row->family == GPU_SORTED && hd_role_of_batch(b) != HD_READER) return HD_OTHER_OPERATION;
    if (alike && family == GPU_ITEMS) return row->fits(info);
    return row->family != family ? HD_OTHER_OPERATION : row->fits(info);
}

/* ---- On the host machine --------------------------------------------------------------------- */

static void before(void *own, void *entries) { ((ovs_own *)own)->v = *ovs_view_of(entries); }
static void after(void *own, void *entries, bool good) { (void)own, (void)entries, (void)good; }

static int regions(const void *own, hd_region *all)
{
    const ovs_own *o = (const ovs_own *)own;
    const ovs_view *v = &o->v;
    static const char *const names[OVS_EXTENT_PARTS] = { "words", "far words", "digests" };
    hd_piece parts[OVS_EXTENT_PARTS];
    int n = gpu_word_regions(&o->gpu, o->listed, o->stage_flag, all);
    all[n++] = (hd_region){ &o->words->crowded, sizeof o->words->crowded, "crowded" };
    all[n++] = (hd_region){ &o->words->next, sizeof o->words->next, "next word" };
    all[n++] = (hd_region){ &o->words->kept, sizeof o->words->kept, "kept words" };
    all[n++] = (hd_region){ o->sorts.to_sort, sort_window(&o->gpu) * 8, "words to sort" };
    all[n++] = (hd_region){ o->sorts.room, sort_window(&o->gpu) * 8, "room of the sort" };
    all[n++] = (hd_region){ o->sorts.count, gpu_sort_counts(sort_shares(&o->gpu)) * 4, "counts of the sort" };
    all[n++] = (hd_region){ v->copy, ovs_copy_words(v) * sizeof *v->copy, "copies" };
    for (uint32_t k = 0; k < ovs_extents_for(v, ovs_segments(v)); k++)
        for (int part = add_extent(v, k, parts); part-- > 0;)
            all[n++] = (hd_region){ hd_field(o, parts[part].field), parts[part].count * parts[part].size, names[part] };
    return n;
}

/* ---- On a device ----------------------------------------------------------------------------- */

static hd_status empty(void *own, const hd_launcher *l)
{
    static const hd_when when = { .clock = 0 };
    hd_batch b;
    memset(&b, 0, sizeof b);
    b.op = HD_OP_CLEAR;
    hd_status status = launch(own, l, hd_variant_row_of(ovs_variants, "probe16", GPU_CLEAR), &b, when);
    return status ? status : ovs_write_directory((ovs_own *)own, l);
}

/* Its segments are near and far as on the device. */
static hd_status open_here(const void *own, const hd_seams *s, void **staged)
{
    const ovs_own *o = (const ovs_own *)own;
    hd_info info = o->gpu.info;
    info.ovs.near_bytes = o->v.near_most == UINT64_MAX ? 0 : o->v.near_most * info.ovs.segment_bytes;
    if (o->v.near_most == 0) info.ovs.near_bytes = 1; /* none is near */
    info.ovs.copy_bytes = 0;
    hd_status status = hd_design_ovs.open(&hd_design_ovs, &info, s, staged);
    if (status) return status;
    ovs_view_of(*staged)->guided = o->v.guided;
    if (o->v.ranges) memcpy(ovs_view_of(*staged)->row, o->v.row, ovs_segments(&o->v) * sizeof *o->v.row);
    return HD_OK;
}

/* Batches that are sorted use the room of sorts. */
static bool lists(const void *own, uint32_t row, const hd_batch *b)
{
    return gpu_batch_lists(own, row, b) || gpu_family_sorts(hd_variant_row_numbered(ovs_variants, row)->family);
}

static int planes(const void *own, void *staged, bool values, hd_plane *all)
{
    const ovs_view *there = &((const ovs_own *)own)->v, *here = ovs_view_of(staged);
    uint64_t run;
    int n = 0;
    (void)values; /* they are in the words */
    for (uint64_t b = 0; b < ovs_buckets(there); b += run) {
        run = ovs_run_from(there, b);
        all[n++] = (hd_plane){ "segments", ovs_bucket(there, b), ovs_bucket(here, b), run * OVS_LINE };
        uint8_t *digests = ovs_digest_at(there, b * OVS_SLOTS);
        if (digests)
            all[n++] =
                (hd_plane){ "digests", digests, ovs_digest_at(here, b * OVS_SLOTS), run * OVS_SLOTS * OVS_DIGEST };
    }
    return n;
}

/* ---- Growing and shrinking ------------------------------------------------------------------- */

static void give_extents(ovs_own *o, const hd_gpu_machine *m, uint32_t from, uint32_t to)
{
    hd_piece parts[OVS_EXTENT_PARTS];
    for (uint32_t k = from; k < to; k++) hd_machine_give(m, o, parts, add_extent(&o->v, k, parts));
}

/* Extents [from, to), or none of them. */
static hd_status take_extents(ovs_own *o, const hd_gpu_machine *m, uint32_t from, uint32_t to)
{
    hd_status status = HD_OK;
    hd_piece parts[OVS_EXTENT_PARTS];
    for (uint32_t k = from; k < to && !status; k++) status = hd_machine_take(m, o, parts, add_extent(&o->v, k, parts));
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
static hd_status split_up_to(ovs_own *o, launching *x, uint64_t segments)
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
static hd_status merge_pairs(ovs_own *o, const hd_gpu_machine *m, launching *x, uint64_t first, bool *stuck)
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
static hd_status merge_down_to(ovs_own *o, const hd_gpu_machine *m, launching *x, uint64_t segments)
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

static hd_status resize_to(ovs_own *o, const hd_gpu_machine *m, uint64_t segments)
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

void ovs_tell_info(const ovs_own *o, hd_info *info)
{
    ovs_tell(&o->v, info);
    info->memory_bytes += batch_bytes(info, o->gpu.device) + (o->row_there ? o->v.rows * sizeof(uint64_t) : 0);
}

/* On the host machine the reference has what the table is made of. */
static hd_status resize(void *own, void *entries, const hd_gpu_machine *m, uint64_t buckets, hd_info *info)
{
    ovs_own *o = (ovs_own *)own;
    uint64_t segments;
    hd_status status = ovs_segments_for(&o->v, buckets, &segments);
    if (!status) status = resize_to(o, m, segments);
    if (entries) *ovs_view_of(entries) = o->v;
    ovs_tell_info(o, info);
    return status;
}

static hd_status take_for(ovs_own *o, const hd_gpu_machine *m, uint64_t segments)
{
    return take_extents(o, m, ovs_extents_for(&o->v, ovs_segments(&o->v)), ovs_extents_for(&o->v, segments));
}

static hd_status room_for(void *own, void *entries, const hd_gpu_machine *m, const uint64_t *key, uint64_t n,
                          hd_info *info, bool *made)
{
    ovs_own *o = (ovs_own *)own;
    *made = o->v.ranges;
    if (!o->v.ranges) return HD_OK;
    hd_status status = ovs_make_room_there(o, m, key, n, take_for);
    give_extents(o, m, ovs_extents_for(&o->v, ovs_segments(&o->v)), OVS_EXTENTS);
    if (entries) *ovs_view_of(entries) = o->v;
    ovs_tell_info(o, info);
    return status;
}

static void show(const void *own, hd_view *view) { ovs_show(&((const ovs_own *)own)->v, view); }

/* clang-format off */
const hd_gpu ovs_gpu = {
    .ref = &hd_design_ovs, .cuda_entry = HD_CUDA_ENTRY(ovs_cuda_entry),
    .cuda_module = HD_CUDA_ENTRY(ovs_cuda_module), .word_enter = OVS_NUMBER_word_enter,
    .word_leave = OVS_NUMBER_word_leave, .own_bytes = sizeof(ovs_own), .usual = usual, .room_bytes = room_bytes,
    .begin = begin, .pieces = pieces, .taken = taken, .before = before, .after = after, .regions = regions,
    .empty = empty, .open_here = open_here, .planes = planes, .lists = lists, .launch = launch, .resize = resize,
    .set_near = ovs_set_near, .check = ovs_check_there, .parts = &ovs_parts, .view = show, .shape = shape,
    .room_for = room_for
};

const hd_design hd_design_ovs_cuda = {
    .name = "ovs", .what = "a dictionary of segments, in a GPU's memory and in pinned memory of the host",
    .params = &ovs_params, .policy = "none", .variants = ovs_variants, .unfit = ovs_unfit_row, .gpu = &ovs_gpu,
    .select = ovs_select, .few_items = OVS_FEW_ITEMS, .owns = true, HD_ON_CUDA, .resize = hd_cuda_resize,
    .set_near = hd_cuda_set_near, .room_for = hd_cuda_room_for, .learn = hd_cuda_learn
};
/* clang-format on */
