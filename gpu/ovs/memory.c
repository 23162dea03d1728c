/* SPDX-License-Identifier: Apache-2.0
 *
 * memory.c - the memory of an ovs table on a device, near and far, and beside the reference's segments: a row for each
 * array; and how much of it fits into the device memory that a table may have.
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "gpu/ovs/state.h"
#include "gpu/ovs/rows.h"
#include "gpu/sort_launch.h"
#include "ref/ovs/ovs.h"
#include "ref/ovs/range.h"

/* ---- Scratch --------------------------------------------------------------------------------- */

enum { ALIGNED = 9 * 256 /* bytes: what aligns pieces, at most */ };

/* Words that kernels count in, and what lists need. */
static int counting_memory(const ovs_state *o, hd_memory *all)
{
    const ovs_words *w = o->words;
    const size_t at = offsetof(ovs_state, words);
    const hd_memory rows[] = {
        { "table: counters", NULL, at, 1, sizeof *w, 0, .put = HD_TOGETHER },
        hd_memory_word("tally", at, offsetof(ovs_words, tally), sizeof w->tally),
        hd_memory_word("sum", at, offsetof(ovs_words, sum), sizeof w->sum),
        hd_memory_word("crowded", at, offsetof(ovs_words, crowded), sizeof w->crowded),
        hd_memory_word("next word", at, offsetof(ovs_words, next), sizeof w->next),
        hd_memory_word("kept words", at, offsetof(ovs_words, kept), sizeof w->kept),
    };
    int n = hd_memory_add(all, rows, sizeof rows);
    return n + gpu_list_memory(&o->gpu, offsetof(ovs_state, kept), all + n);
}

/* With nothing but what the table is to be. */
static ovs_state described(const hd_info *info, bool device)
{
    ovs_state o;
    memset(&o, 0, sizeof o);
    o.gpu.info = *info;
    o.gpu.device = device;
    return o;
}

static uint64_t counting_bytes(const hd_info *info)
{
    const ovs_state o = described(info, true);
    hd_memory all[HD_MEMORY_MOST];
    return hd_memory_scratch(all, counting_memory(&o, all));
}

/* Items that are sorted at a time. What they need takes a quarter of the device's memory that the table may have beside
 * its other room, but it is never less than for a share. */
uint64_t ovs_sort_window(const hd_gpu_state *gpu)
{
    enum { BYTES = 18 /* two words, and a share's counts */, USUAL = 1 << 16, MOST = 1 << 30 };
    uint64_t near = gpu->info.ovs.near_bytes, other = counting_bytes(&gpu->info) + ALIGNED + gpu->info.ovs.copy_bytes,
             left = near > other ? near - other : 0, n = near ? left / 4 / BYTES : USUAL;
    if (n < GPU_SORT_SHARE) n = GPU_SORT_SHARE;
    if (n > MOST) n = MOST;
    if (gpu->window_most && n > gpu->window_most) n = gpu->window_most;
    return n;
}

uint32_t ovs_sort_shares(const hd_gpu_state *gpu)
{
    return gpu_sort_shares(ovs_sort_window(gpu), GPU_SORT_SHARES_MOST);
}

int ovs_sort_memory(const hd_gpu_state *gpu, size_t at, hd_memory *all)
{
    const uint64_t window = ovs_sort_window(gpu), counts = gpu_sort_counts(ovs_sort_shares(gpu));
    /* clang-format off */
    const hd_memory rows[] = {
        { "table: window of sorts", "words to sort", at + offsetof(ovs_sorts, to_sort), window, sizeof(uint64_t),
          HD_AS_IT_COMES, .put = HD_APART },
        { "table: window of sorts", "room of the sort", at + offsetof(ovs_sorts, room), window, sizeof(uint64_t),
          HD_AS_IT_COMES, .put = HD_APART },
        { "table: counts of sorts", "counts of the sort", at + offsetof(ovs_sorts, count), counts, sizeof(uint32_t),
          HD_AS_IT_COMES, .put = HD_APART },
    };
    /* clang-format on */
    return hd_memory_add(all, rows, sizeof rows);
}

static int scratch(const ovs_state *o, hd_memory *all)
{
    int n = ovs_sort_memory(&o->gpu, offsetof(ovs_state, sorts), all);
    return n + counting_memory(o, all + n);
}

uint64_t ovs_batch_bytes(const hd_info *info, bool device)
{
    const ovs_state o = described(info, device);
    hd_memory all[HD_MEMORY_MOST];
    return hd_memory_scratch(all, scratch(&o, all));
}

/* What a table takes of the device's memory besides segments and what belongs to them: its room, copies, and what
 * aligns pieces, at most. */
uint64_t ovs_scratch_bytes(const hd_info *info) { return ovs_batch_bytes(info, true) + ALIGNED + info->ovs.copy_bytes; }

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

/* ---- Segments -------------------------------------------------------------------------------- */

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

hd_status ovs_shape_there(const hd_config *c, hd_info *info, bool device)
{
    (void)c;
    hd_status status = ovs_fits_near(info, device);
    if (status || !device || !info->ovs.near_bytes) return status;
    const ovs_view v = ovs_view_on(info, true);
    ovs_tell(&v, info);
    return HD_OK;
}

void ovs_begin_table(void *state)
{
    ovs_state *o = (ovs_state *)state;
    o->v = ovs_view_on(&o->gpu.info, o->gpu.device);
    o->near_rows = ovs_near_rows_for(&o->gpu.info, o->gpu.device);
}

static uint64_t less(uint64_t a, uint64_t b) { return a < b ? a : b; }

int ovs_extent_memory(const ovs_view *v, uint32_t k, size_t at, hd_memory *all)
{
    const size_t twin = offsetof(ovs_view, extent) + k * sizeof(ovs_extent);
    const uint64_t words = ovs_segment_words(v), there = ovs_extent_segments(v, k), near = ovs_extent_near(v, k),
                   used = less(there, ovs_segments(v) - less(ovs_extent_first(v, k), ovs_segments(v))),
                   unused_near = near - less(near, used), unused_far = there - used - unused_near,
                   digests = k < v->guided ? ovs_digest_bytes(v, there) : 0;
    /* clang-format off */
    const hd_memory rows[] = {
        { "capacity: near segments", "words", at + offsetof(ovs_extent, near), near * words, sizeof(uint64_t),
          HD_AS_IT_COMES, .put = HD_APART, HD_HOLDS_ENTRIES, twin + offsetof(ovs_extent, near),
          .unused = unused_near * words },
        { "capacity: far segments", "far words", at + offsetof(ovs_extent, far), (there - near) * words,
          sizeof(uint64_t), HD_AS_IT_COMES, .put = HD_HOST_MEMORY, HD_HOLDS_ENTRIES, twin + offsetof(ovs_extent, far),
          .unused = unused_far * words },
        { "capacity: digests", "digests", at + offsetof(ovs_extent, digest), digests, 1, HD_AS_IT_COMES,
          .put = HD_APART, HD_HOLDS_ENTRIES, twin + offsetof(ovs_extent, digest),
          .unused = digests ? digests - ovs_digest_bytes(v, used) : 0 },
    };
    /* clang-format on */
    return hd_memory_add(all, rows, sizeof rows);
}

int ovs_extents_memory(const ovs_view *v, uint32_t k, hd_memory *all)
{
    return ovs_extent_memory(v, k, offsetof(ovs_state, v.extent) + k * sizeof(ovs_extent), all);
}

int ovs_row_memory(const ovs_state *o, uint64_t rows, hd_memory *all)
{
    static const char what[] = "capacity: directory";
    const uint64_t near = rows <= o->near_rows ? rows : 0;
    /* clang-format off */
    const hd_memory both[OVS_ROW_ARRAYS] = {
        { what, NULL, offsetof(ovs_state, v.row), rows, sizeof(uint64_t), HD_AS_IT_COMES, .put = HD_HOST_MEMORY,
          HD_HOLDS_SHARED },
        { what, NULL, offsetof(ovs_state, row_there), near, sizeof(uint64_t), HD_AS_IT_COMES, .put = HD_APART },
    };
    /* clang-format on */
    return hd_memory_add(all, both, sizeof both);
}

int ovs_memory(const void *state, hd_memory *all)
{
    const ovs_state *o = (const ovs_state *)state;
    const hd_memory copies = { .what = "table: copies",
                               .name = "copies",
                               .field = offsetof(ovs_state, v.copy),
                               .count = ovs_copy_words(&o->v),
                               .size = sizeof(uint64_t),
                               .put = HD_APART,
                               .holds = HD_HOLDS_SHARED };
    int n = scratch(o, all);
    for (uint32_t k = 0; k < ovs_extents_for(&o->v, ovs_segments(&o->v)); k++)
        n += ovs_extents_memory(&o->v, k, all + n);
    if (o->v.ranges) n += ovs_row_memory(o, o->v.rows, all + n);
    all[n++] = copies;
    return n;
}

hd_status ovs_forget_copies_there(const ovs_state *o, const hd_launcher *l)
{
    return o->v.copy_sets ? l->zero(l->self, o->v.copy, ovs_copy_words(&o->v) * sizeof *o->v.copy) : HD_OK;
}

void ovs_taken(void *state)
{
    ovs_state *o = (ovs_state *)state;
    o->gpu.tally = o->words->tally;
    o->gpu.op = o->words->op;
    o->gpu.sum = &o->words->sum;
    o->gpu.word = &o->words->word;
    if (o->gpu.device && o->v.ranges) ovs_cut_evenly(&o->v);
}

/* ---- Beside the reference -------------------------------------------------------------------- */

void *ovs_view_of_state(void *entries) { return ovs_view_of(entries); }
void ovs_before_batch(void *state, void *entries) { ((ovs_state *)state)->v = *ovs_view_of(entries); }
void ovs_after_batch(void *state, void *entries, bool good) { (void)state, (void)entries, (void)good; }

/* Its segments are near and far as on the device. */
hd_status ovs_open_here(const void *state, const hd_seams *s, void **staged)
{
    const ovs_state *o = (const ovs_state *)state;
    hd_info info = o->gpu.info;
    info.ovs.near_bytes = o->v.near_most == UINT64_MAX ? 0 : o->v.near_most * info.ovs.segment_bytes;
    if (o->v.near_most == 0) info.ovs.near_bytes = 1; /* none is near */
    info.ovs.copy_bytes = 0;
    hd_status status = ovs_reference.open(NULL, &info, s, staged);
    if (status) return status;
    ovs_view_of(*staged)->guided = o->v.guided;
    if (o->v.ranges) memcpy(ovs_view_of(*staged)->row, o->v.row, ovs_segments(&o->v) * sizeof *o->v.row);
    return HD_OK;
}
