/* SPDX-License-Identifier: Apache-2.0
 *
 * memory.c - the memory of an HKV table on a device, and beside the reference's planes: a row for each array. A scratch
 * array is a pointer of hkv_args and a row here.
 */
#include <stddef.h>
#include <string.h>

#include "gpu/hkv/launch.h"
#include "gpu/hkv/state.h"
#include "gpu/hkv/select.h"
#include "ref/hkv/hkv.h"

/* ---- How much room --------------------------------------------------------------------------- */

enum { LISTED_BYTES = 17 /* and the value: of an item in the window of lists */ };

static uint64_t at_most(const hd_gpu_state *gpu, uint64_t items)
{
    return gpu->window_most && gpu->window_most < items ? gpu->window_most : items;
}

/* About as many as fit into a stage of so many bytes, but on a device no more than a small table has a use for. */
uint64_t hkv_list_window(const hd_gpu_state *gpu)
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
uint64_t hkv_fetch_window(const hd_gpu_state *gpu)
{
    enum { MOST = 1 << 20 };
    const hd_info *info = &gpu->info;
    if (!hkv_select_sorted(info, UINT64_MAX)) return 0;
    return at_most(gpu, info->capacity < MOST ? info->capacity : MOST);
}

/* How many items at a time go through the launches of repeated_keys.h: no fewer than a window that lists has. 0: none
 * do, for only coalesced has them. */
uint64_t hkv_left_window(const hd_gpu_state *gpu)
{
    enum { LEAST = 1 << 14 };
    const hd_info *info = &gpu->info;
    if (hkv_row(hkv_row_of("coalesced", HKV_UPDATE))->fits(info)) return 0;
    return at_most(gpu, info->capacity < LEAST             ? LEAST
                        : info->capacity < HKV_CLAIM_ITEMS ? info->capacity
                                                           : HKV_CLAIM_ITEMS);
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

/* Whether each plane is an allocation of its own that can grow. Their sizes are rounded up to whole pages, so the table
 * must be large. */
static bool planes_grow(const hkv_state *o)
{
    enum { SHARE = 32 };
    const hkv_view *v = &o->v;
    uint64_t bytes = hkv_near_bytes(v) + hkv_capacity(v) * (1 + 8 * (uint64_t)v->step);
    return o->gpu.page && bytes / SHARE >= o->gpu.page;
}

/* The reference's planes. Keys give the allocation its name. Far values are the staged state's as they are. */
static int planes(const hkv_state *o, hd_memory *all)
{
    const hkv_view *v = &o->v;
    const uint64_t entries = hkv_capacity(v), scores = v->step == 1 ? entries : 0, near = hkv_near_values(v);
    const uint64_t holders = hkv_holders_of(&o->gpu.info);
    const hd_put large = planes_grow(o) ? HD_GROWS : HD_APART, small = planes_grow(o) ? HD_GROWS : HD_TOGETHER;
    /* clang-format off */
    const hd_memory rows[] = {
        { "capacity: values", "values", offsetof(hkv_state, v.value), hkv_near_bytes(v), 1, 0, .put = large,
          HD_HOLDS_VALUES, offsetof(hkv_view, value), .unused = hkv_near_bytes(v) - near * v->value_bytes },
        /* these four: empty */
        { "capacity: keys", v->step == 1 ? "keys" : "pairs", offsetof(hkv_state, v.key), entries, 8 * (uint64_t)v->step,
          HD_AS_IT_COMES, .put = small, HD_HOLDS_ENTRIES, offsetof(hkv_view, key) },
        { "capacity: digests", "digests", offsetof(hkv_state, v.digest), entries, 1, HD_AS_IT_COMES, .put = small,
          HD_HOLDS_ENTRIES, offsetof(hkv_view, digest) },
        { "capacity: scores", scores ? "scores" : NULL, offsetof(hkv_state, v.score), scores, 8, HD_AS_IT_COMES,
          .put = small, scores ? HD_HOLDS_ENTRIES : HD_HOLDS_SHARED, offsetof(hkv_view, score) },
        { "capacity: bounds", "bounds", offsetof(hkv_state, v.bound), hkv_bounds_of(v), 8, HD_AS_IT_COMES, .put = small,
          HD_HOLDS_ENTRIES, offsetof(hkv_view, bound) },
        { "pins", "holders", offsetof(hkv_state, v.holder), holders, sizeof *v->holder, 0, .put = large,
          HD_HOLDS_ENTRIES, offsetof(hkv_view, holder) },
        { "policy: ghosts", "ghosts", offsetof(hkv_state, v.ghost), hkv_ghosts_of(v), sizeof *v->ghost, 0,
          .put = large, HD_HOLDS_ENTRIES, offsetof(hkv_view, ghost) },
        { "policy: states", "states", offsetof(hkv_state, v.state), hkv_states_of(v), sizeof *v->state, 0,
          .put = small, HD_HOLDS_ENTRIES, offsetof(hkv_view, state) },
        { "policy: counters", "counters", offsetof(hkv_state, v.count), hkv_counts_of(v), sizeof *v->count, 0,
          .put = large, HD_HOLDS_ENTRIES, offsetof(hkv_view, count) },
        { "capacity: far values", "far values", offsetof(hkv_state, v.far), hkv_far_bytes(v), 1, HD_AS_IT_COMES,
          .put = HD_HOST_MEMORY, HD_HOLDS_SHARED },
    };
    /* clang-format on */
    return hd_memory_add(all, rows, sizeof rows);
}

/* Words that kernels count in. */
static int words(const hkv_state *o, hd_memory *all)
{
    const hkv_words *w = o->words;
    const hkv_counts *c = o->counts;
    const size_t at = offsetof(hkv_state, words), of_batch = offsetof(hkv_state, counts);
    /* clang-format off */
    const hd_memory rows[] = {
        { "table: counters", NULL, at, 1, sizeof *w, 0, .put = HD_TOGETHER },
        hd_memory_word("tally", at, offsetof(hkv_words, tally), sizeof w->tally),
        hd_memory_word("sum", at, offsetof(hkv_words, sum), sizeof w->sum),
        hd_memory_word("pin count", at, offsetof(hkv_words, pins), sizeof w->pins),
        hd_memory_word("moment", at, offsetof(hkv_words, moment), sizeof w->moment),
        hd_memory_word("lost", at, offsetof(hkv_words, lost), sizeof w->lost),
        hd_memory_word("growth", at, offsetof(hkv_words, grow), sizeof w->grow),
        { "pins", NULL, at, 1, sizeof w->pins.count, HD_AS_IT_COMES, .put = HD_WITHIN, HD_HOLDS_ENTRIES,
          offsetof(hkv_view, pins), .within = offsetof(hkv_words, pins.count) },
        { "table: counters of a batch", NULL, of_batch, 1, sizeof *c, 0, .put = HD_OF_BATCH },
        hd_memory_word("segments", of_batch, offsetof(hkv_counts, segment), sizeof c->segment),
        hd_memory_word("cursor", of_batch, offsetof(hkv_counts, cursor), sizeof c->cursor),
        hd_memory_word("left_count", of_batch, offsetof(hkv_counts, left), sizeof c->left),
    };
    /* clang-format on */
    return hd_memory_add(all, rows, sizeof rows);
}

static int scratch(const hkv_state *o, hd_memory *all)
{
    enum { NONE = HD_AS_IT_COMES };
    static const char lists[] = "table: window of lists", fetching[] = "table: window of fetches",
                      groups[] = "table: window of groups";
    const hkv_args *a = &o->kept;
    const uint64_t fetches = hkv_fetch_window(&o->gpu), window = hkv_list_window(&o->gpu),
                   left = hkv_left_window(&o->gpu), claims = left ? hkv_claim_mask(left) + 1ull : 0;
    const hd_put of_batch = HD_OF_BATCH, locks = o->gpu.device && planes_grow(o) ? HD_GROWS : HD_TOGETHER;
#define AT(name, pointer) name, offsetof(hkv_state, kept.pointer)
    /* clang-format off */
    const hd_memory rows[] = {
        { "capacity: bucket locks", "bucket locks", offsetof(hkv_state, kept.lock), o->gpu.info.buckets,
          sizeof *a->lock, 0, .put = locks },
        { lists, AT("stage_flag", list.stage_flag), window, 1, NONE, .put = of_batch },
        { lists, AT("stage_key", list.stage_key), window, sizeof *a->list.stage_key, NONE, .put = of_batch },
        { lists, AT("stage_score", list.stage_score), window, sizeof *a->list.stage_score, NONE, .put = of_batch },
        { lists, AT("stage_value", list.stage_value), window, o->gpu.info.value_bytes, NONE, .put = of_batch },
        { fetching, AT("fetch_entry", fetch.entry), fetches, sizeof *a->fetch.entry, NONE, .put = of_batch },
        { fetching, AT("fetch_rank", fetch.rank), fetches, sizeof *a->fetch.rank, NONE, .put = of_batch },
        { fetching, AT("fetch_order", fetch.order), fetches, sizeof *a->fetch.order, NONE, .put = of_batch },
        { fetching, AT("fetch_count", fetch.count), fetches ? HKV_FETCH_COUNTS : 0, sizeof *a->fetch.count, 0,
          .put = of_batch },
        { groups, AT("claim", groups.claim), claims, sizeof *a->groups.claim, 0, .put = of_batch },
        { groups, AT("role", groups.role), left, sizeof *a->groups.role, 0, .put = of_batch },
        { groups, AT("group", groups.group), left, sizeof *a->groups.group, NONE, .put = of_batch },
        { groups, AT("left_before", groups.left_before), left, sizeof *a->groups.left_before, NONE, .put = of_batch },
        { groups, AT("left_item", groups.left_item), HKV_LEFT_LISTS * left, sizeof *a->groups.left_item, NONE,
          .put = of_batch },
    };
    /* clang-format on */
#undef AT
    return hd_memory_add(all, rows, sizeof rows);
}

int hkv_memory(const void *state, hd_memory *all)
{
    const hkv_state *o = (const hkv_state *)state;
    int n = planes(o, all);
    n += words(o, all + n);
    return n + scratch(o, all + n);
}

void hkv_begin_table(void *state)
{
    hkv_state *o = (hkv_state *)state;
    o->v = hkv_view_for(&o->gpu.info);
}

void hkv_taken(void *state)
{
    hkv_state *o = (hkv_state *)state;
    if (o->gpu.device && o->v.step == 2) o->v.score = o->v.key + 1;
    o->gpu.tally = o->words->tally;
    o->gpu.sum = &o->words->sum;
    o->gpu.word = &o->words->word;
}

/* The plane of holders, where the batch is the first that pins. */
bool hkv_needs(const void *state, const hd_batch *b, hd_memory *array, hd_info *info)
{
    const hkv_state *o = (const hkv_state *)state;
    if (o->v.holder || !hkv_batch_pins(b)) return false;
    hkv_got_holders(info);
    *array = (hd_memory){ .what = "pins",
                          .field = offsetof(hkv_state, v.holder),
                          .count = info->capacity,
                          .size = sizeof *o->v.holder,
                          .put = planes_grow(o) ? HD_GROWS : HD_APART };
    return true;
}

/* ---- Beside the reference -------------------------------------------------------------------- */

void *hkv_view_of_state(void *entries) { return hkv_view_of(entries); }

void hkv_before_batch(void *state, void *entries)
{
    hkv_state *o = (hkv_state *)state;
    o->v = *hkv_view_of(entries);
    o->words->pins.count = o->v.pins;
}

void hkv_after_batch(void *state, void *entries, bool good)
{
    hkv_state *o = (hkv_state *)state;
    hkv_view_of(entries)->pins = o->words->pins.count;
    if (!good) o->unfinished = true;
}

hd_status hkv_open_here(const void *state, const hd_seams *s, void **staged)
{
    const hkv_state *o = (const hkv_state *)state;
    return hkv_open_over(&o->gpu.info, s, o->v.far, staged);
}
