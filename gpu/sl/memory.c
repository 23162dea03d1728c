/* SPDX-License-Identifier: Apache-2.0
 *
 * memory.c - the memory of an ordered table on a device, near and far, and beside the reference's segments: a row for
 * each array; and how many segments are near. A scratch array is a pointer of sl_window or sl_room and a row here.
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "gpu/sl/launch.h"
#include "gpu/sl/state.h"
#include "gpu/sort_launch.h"
#include "ref/sl/sl.h"

static const char SL_WORDS[] = "capacity: segments";

/* ---- Memory ---------------------------------------------------------------------------------- */

enum {
    WINDOW_LEAST = 1 << 12,
    WINDOW_LEAST_THERE = 1 << 18, /* on a device */
    WINDOW_MOST = 1 << 30,
    WINDOW_OF = 16, /* a window has so many times fewer items than the table has places */
    ALIGNED = 512   /* more than what a device rounds an allocation up to within a larger one */
};

/* The more items a window has, the fewer times a batch goes over the table. */
static uint64_t window_for(const hd_info *info, bool device)
{
    uint64_t places = info->base_buckets * info->slots, window = places / WINDOW_OF,
             least = device ? WINDOW_LEAST_THERE : WINDOW_LEAST;
    return window < least ? least : window < WINDOW_MOST ? window : WINDOW_MOST;
}

uint64_t sl_window_items(const sl_state *o)
{
    uint64_t window = window_for(&o->gpu.info, o->gpu.device);
    return o->gpu.window_most && o->gpu.window_most < window ? o->gpu.window_most : window;
}

uint32_t sl_sort_shares(const sl_state *o) { return gpu_sort_shares(sl_window_items(o), GPU_SORT_SHARES_MOST); }

static uint64_t used_words(uint64_t homes) { return (homes + 63) / 64; }

/* Blocks that merge far segments as a whole at a time; each has a stage as large as a segment. */
uint64_t sl_stages(const sl_view *v)
{
    enum { STAGES_BYTES = 32 << 20, STAGES_MOST = 512, STAGES_OF = 16 };
    uint64_t stages = STAGES_BYTES / (8ull * v->fit * v->words);
    if (stages > STAGES_MOST) stages = STAGES_MOST;
    if (stages > v->homes / STAGES_OF) stages = v->homes / STAGES_OF;
    return stages ? stages : 1;
}

/* at: where the homes are in the state. */
int sl_near_memory(const sl_state *o, const sl_homes *h, size_t at, bool entries, hd_memory *all)
{
    enum { NONE = HD_AS_IT_COMES };
    const size_t word = offsetof(sl_view, word);
    const uint64_t homes = h->v.homes, words = (uint64_t)h->v.fit * h->v.words, near = o->gpu.device ? h->near : homes,
                   far = homes - h->near, groups = far * sl_home_groups(&h->v), stage = sl_stages(&h->v) * words;
    const hd_put by_line = h->keys_here ? HD_HOST_MEMORY : HD_APART;
    /* clang-format off */
    const hd_memory rows[] = {
        { SL_WORDS, SL_WORDS, at + offsetof(sl_homes, v.word), near * words, 8, NONE, .put = HD_APART,
          HD_HOLDS_ENTRIES, word },
        { "capacity: far segments", "capacity: far segments", at + offsetof(sl_homes, far), (homes - near) * words, 8,
          NONE, .put = HD_HOST_MEMORY, HD_HOLDS_ENTRIES, word, near * words * 8 },
        { "capacity: near keys", "capacity: near keys", at + offsetof(sl_homes, v.near_key),
          far * sl_home_lines(&h->v), sl_near_key_bytes(&h->v), NONE, .put = by_line,
          HD_HOLDS_MIRROR, offsetof(sl_view, near_key) },
        { "capacity: filled lines", "capacity: filled lines", at + offsetof(sl_homes, v.filled), groups, 4, NONE,
          .put = by_line, HD_HOLDS_MIRROR, offsetof(sl_view, filled) },
        { "plan: sums of lines", "plan: sums of lines", at + offsetof(sl_homes, room.before), groups, 4, NONE,
          .put = by_line },
        { "plan: stages", "plan: stages", at + offsetof(sl_homes, room.stage), far ? stage : 0, 8, NONE,
          .put = by_line },
        { "plan: rows that change", "plan: rows that change", at + offsetof(sl_homes, room.rows), far ? homes : 0, 4,
          NONE, .put = by_line },
    };
    /* clang-format on */
    int n = hd_memory_add(all, rows, sizeof rows);
    return entries ? n : hd_memory_taken(all, n, false);
}

int sl_homes_memory(const sl_state *o, const sl_homes *h, size_t at, hd_memory *all)
{
    enum { NONE = HD_AS_IT_COMES };
    const uint64_t homes = h->v.homes;
    /* clang-format off */
    const hd_memory rows[] = {
        { "capacity: bounds", "capacity: bounds", at + offsetof(sl_homes, v.bound), homes, 8, NONE, .put = HD_APART,
          HD_HOLDS_ENTRIES, offsetof(sl_view, bound) },
        { "capacity: homes", "capacity: homes", at + offsetof(sl_homes, v.home), homes, 4, NONE, .put = HD_APART,
          HD_HOLDS_ENTRIES, offsetof(sl_view, home) },
        { "capacity: counts", "capacity: counts", at + offsetof(sl_homes, v.count), homes, 4, 0, .put = HD_APART,
          HD_HOLDS_ENTRIES, offsetof(sl_view, count) },
        { "capacity: used homes", "capacity: used homes", at + offsetof(sl_homes, v.used), used_words(homes), 8, 0,
          .put = HD_APART, HD_HOLDS_ENTRIES, offsetof(sl_view, used) },
        { "plan: lists", "plan: lists", at + offsetof(sl_homes, room.first), homes + 1, 4, NONE, .put = HD_APART },
        { "plan: fresh segments", "plan: fresh segments", at + offsetof(sl_homes, room.fresh), homes + 1, 4, NONE,
          .put = HD_APART },
        { "plan: free homes", "plan: free homes", at + offsetof(sl_homes, room.free), homes, 4, NONE, .put = HD_APART },
        { "plan: parts", "plan: parts", at + offsetof(sl_homes, room.last), homes, 4, NONE, .put = HD_APART },
        { "plan: what stays", "plan: what stays", at + offsetof(sl_homes, room.kept), homes, 4, NONE, .put = HD_APART },
        { "plan: offsets", "plan: offsets", at + offsetof(sl_homes, room.offset), homes, 4, NONE, .put = HD_APART },
        { "plan: bounds", "plan: bounds", at + offsetof(sl_homes, room.bound), homes, 8, NONE, .put = HD_APART },
        { "plan: homes", "plan: homes", at + offsetof(sl_homes, room.home), homes, 4, NONE, .put = HD_APART },
    };
    /* clang-format on */
    int n = sl_near_memory(o, h, at, true, all);
    return n + hd_memory_add(all + n, rows, sizeof rows);
}

/* What does not depend on the number of homes. */
static int scratch(const sl_state *o, hd_memory *all)
{
    enum { NONE = HD_AS_IT_COMES };
    const size_t at = offsetof(sl_state, words);
    const sl_words *w = o->words;
    const uint64_t window = sl_window_items(o), counts = gpu_sort_counts(sl_sort_shares(o));
#define AT(pointer) offsetof(sl_state, window.pointer)
    /* clang-format off */
    const hd_memory rows[] = {
        { "table: counters", NULL, at, 1, sizeof *w, 0, .put = HD_TOGETHER },
        hd_memory_word("tally", at, offsetof(sl_words, tally), sizeof w->tally),
        hd_memory_word("sum", at, offsetof(sl_words, sum), sizeof w->sum),
        hd_memory_word("numbers", at, offsetof(sl_words, numbers), sizeof w->numbers),
        { "rows", NULL, at, 1, sizeof w->numbers.rows, NONE, .put = HD_WITHIN, HD_HOLDS_ENTRIES,
          offsetof(sl_view, rows), .within = offsetof(sl_words, numbers.rows) },
        { "window: keys", "window: keys", AT(word), window, 8, NONE, .put = HD_OF_BATCH },
        { "window: keys in order", "window: keys in order", AT(add_key), window, 8, NONE, .put = HD_OF_BATCH },
        { "window: items", "window: items", AT(add_from), window, 4, NONE, .put = HD_OF_BATCH },
        { "window: places", "window: places", AT(add_at), window, 4, NONE, .put = HD_OF_BATCH },
        { "window: marks", "window: marks", AT(mark), window, 4, NONE, .put = HD_OF_BATCH },
        { "window: counts", "window: counts", offsetof(sl_state, sort_count), counts, 4, NONE, .put = HD_OF_BATCH },
        { "window: shares", "window: shares", AT(share), 2 * SL_SHARES, 4, NONE, .put = HD_OF_BATCH },
    };
    /* clang-format on */
#undef AT
    int n = hd_memory_add(all, rows, sizeof rows);
    return n + gpu_list_memory(&o->gpu, offsetof(sl_state, kept), all + n);
}

/* Bytes of a table with so many homes, of which `near` are near, that are not this machine's, beside those of its
 * entries; entries: the directory counts. align: what each piece takes a multiple of. */
static uint64_t bytes_beside(const hd_info *info, bool device, uint64_t homes, uint64_t near, bool entries,
                             uint64_t align)
{
    hd_memory all[HD_MEMORY_MOST];
    uint64_t bytes = 0;
    sl_state o;
    memset(&o, 0, sizeof o);
    o.gpu.info = *info;
    o.gpu.device = device;
    o.at.v = sl_view_for(info);
    o.at.v.homes = homes;
    o.at.near = near;
    int n = scratch(&o, all);
    n += sl_homes_memory(&o, &o.at, 0, all + n);
    n = hd_memory_taken(all, n, entries);
    for (int i = 0; i < n; i++)
        if (all[i].put != HD_HOST_MEMORY && all[i].what != SL_WORDS)
            bytes += (hd_memory_size(&all[i]) + align - 1) / align * align;
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

void sl_homes_begin(const sl_state *o, sl_homes *h, uint64_t homes)
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

void sl_tell_parts(hd_info *info, uint64_t homes, uint64_t near)
{
    info->values_device_bytes = near * info->sl.segment_bytes;
    info->values_host_bytes = (homes - near) * info->sl.segment_bytes;
}

hd_status sl_shape_there(const hd_config *c, hd_info *info, bool device)
{
    (void)c;
    uint64_t homes = sl_view_for(info).homes;
    (void)device;
    hd_status status = sl_fits_near(info, homes);
    if (!status) sl_tell_parts(info, homes, sl_near_homes(info, homes));
    return status;
}

void sl_begin_table(void *state)
{
    sl_state *o = (sl_state *)state;
    sl_homes_begin(o, &o->at, sl_view_for(&o->gpu.info).homes);
}

int sl_memory(const void *state, hd_memory *all)
{
    const sl_state *o = (const sl_state *)state;
    int n = sl_homes_memory(o, &o->at, offsetof(sl_state, at), all);
    return n + scratch(o, all + n);
}

void sl_taken(void *state)
{
    sl_state *o = (sl_state *)state;
    o->gpu.tally = o->words->tally;
    o->gpu.sum = &o->words->sum;
    o->gpu.word = &o->words->word;
}

/* ---- Beside the reference -------------------------------------------------------------------- */

void *sl_view_of_state(void *entries) { return sl_view_of(entries); }

/* Homes from o->at.near on are far: there is no other memory here, but kernels take the other way. */
void sl_before_batch(void *state, void *entries)
{
    sl_state *o = (sl_state *)state;
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

void sl_after_batch(void *state, void *entries, bool good)
{
    const sl_state *o = (const sl_state *)state;
    (void)good;
    *sl_view_of(entries) = o->at.v;
    sl_view_of(entries)->rows = o->words->numbers.rows;
}

hd_status sl_open_here(const void *state, const hd_seams *s, void **staged)
{
    const sl_state *o = (const sl_state *)state;
    hd_status status = sl_reference.open(NULL, &o->gpu.info, s, staged);
    if (status) return status;
    status = sl_take_near(sl_view_of(*staged), o->at.near, s);
    if (status) sl_reference.close(*staged, s);
    return status;
}
