/* SPDX-License-Identifier: Apache-2.0
 *
 * design.c - the ordered table as the core sees it: shape, memory, growth, and the sequential kernel "ref".
 */
#include <inttypes.h>
#include <string.h>

#include "base/design.h"
#include "base/error.h"
#include "base/op.h"
#include "ref/sl/sl.h"

sl_view *sl_view_of(void *state) { return (sl_view *)state; }

/* ---- Shape ----------------------------------------------------------------------------------- */

static uint32_t fit_of(const hd_info *info) { return info->sl.segment_bytes / (info->value_bytes == 4 ? 8 : 16); }

static bool is_power_of_two(uint64_t n) { return n && (n & (n - 1)) == 0; }

static uint64_t used_words(uint64_t homes) { return (homes + 63) / 64; }

/* Bytes of a table with so many homes. */
static uint64_t memory_of(const hd_info *info, uint64_t homes)
{
    uint64_t row = sizeof(uint64_t) + 2 * sizeof(uint32_t);
    return sizeof(sl_view) + homes * (info->sl.segment_bytes + row) + used_words(homes) * sizeof(uint64_t);
}

/* What a table with so many homes says of itself. */
void sl_tell(hd_info *info, uint64_t homes)
{
    info->capacity = info->places = homes * fit_of(info);
    info->buckets = info->capacity / info->slots;
    info->memory_bytes = memory_of(info, homes);
    info->values_device_bytes = homes * info->sl.segment_bytes;
    info->values_host_bytes = 0;
}

static uint64_t homes_of(const hd_info *info) { return info->places / fit_of(info); }

/* The fewest homes with so many buckets. */
static uint64_t homes_for(const hd_info *info, uint64_t buckets)
{
    uint64_t each = fit_of(info) / info->slots;
    return buckets / each + (buckets % each != 0);
}

/* A home's number has 32 bits; places are counted in bytes, too. */
static bool too_many(const hd_info *info, uint64_t homes)
{
    return homes > UINT32_MAX || homes > (uint64_t)PTRDIFF_MAX / 2 / info->sl.segment_bytes;
}

static hd_status sl_shape(const hd_design *d, const hd_config *c, hd_info *info)
{
    (void)d;
    if (c->value_bytes != 4 && c->value_bytes != 8)
        return hd_fail(HD_EINVAL, "value_bytes: sl has values of 4 or 8, not of %" PRIu32, c->value_bytes);
    if (!is_power_of_two(c->sl.segment_bytes))
        return hd_fail(HD_EINVAL, "segment: a power of two, not %" PRIu32, c->sl.segment_bytes);
    if (c->clock != HD_CLOCK_LOGICAL) return hd_fail(HD_EINVAL, "clock: sl keeps no times");
    if (info->layout == HD_LAYOUT_USUAL) info->layout = HD_LAYOUT_SORTED;
    if (info->layout != HD_LAYOUT_SORTED) return hd_fail(HD_EINVAL, "layout: sl has sorted segments");
    info->sl = c->sl;
    info->value_bytes = c->value_bytes;
    info->slots = c->slots;
    uint32_t fit = fit_of(info);
    if (c->slots == SL_SLOTS_USUAL && fit < SL_SLOTS_USUAL) info->slots = fit; /* as ovs: the usual 16 become 8 */
    if (!is_power_of_two(info->slots) || info->slots < SL_SLOTS_LEAST || info->slots > fit ||
        info->slots > HD_SLOTS_MAX)
        return hd_fail(HD_EINVAL,
                       "slots: a power of two from %d to %" PRIu32 ", the entries of a segment, not %" PRIu32,
                       SL_SLOTS_LEAST, fit, c->slots);
    uint64_t homes = c->capacity / fit + (c->capacity % fit != 0);
    if (too_many(info, homes))
        return hd_fail(HD_EINVAL, "capacity: %" PRIu64 " entries are more than can be addressed", c->capacity);
    info->keys = c->value_bytes == 4 ? (1ull << 32) - 3 : HD_KEY_RESERVED;
    sl_tell(info, homes);
    info->base_buckets = info->buckets;
    info->stash_buckets = 0;
    return HD_OK;
}

void sl_usual(hd_config *c)
{
    c->policy = "none";
    c->slots = SL_SLOTS_USUAL;
    c->value_bytes = 4;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void give_arrays(const sl_view *v, const hd_seams *s)
{
    hd_give(s, v->word, sl_places(v) * v->words, sizeof *v->word);
    hd_give(s, v->bound, v->homes, sizeof *v->bound);
    hd_give(s, v->home, v->homes, sizeof *v->home);
    hd_give(s, v->count, v->homes, sizeof *v->count);
    hd_give(s, v->used, used_words(v->homes), sizeof *v->used);
    if (!v->owns_near) return;
    hd_give(s, v->near_key, sl_near_lines(v), sl_near_key_bytes(v));
    hd_give(s, v->filled, sl_near_groups(v), sizeof *v->filled);
}

/* The arrays of a view that has its numbers. */
static hd_status take_arrays(sl_view *v, const hd_seams *s)
{
    void *word = NULL, *bound = NULL, *home = NULL, *count = NULL, *used = NULL;
    hd_status status = hd_take(s, "capacity: segments", sl_places(v) * v->words, sizeof *v->word, &word);
    if (!status) status = hd_take(s, "capacity: bounds", v->homes, sizeof *v->bound, &bound);
    if (!status) status = hd_take(s, "capacity: homes", v->homes, sizeof *v->home, &home);
    if (!status) status = hd_take(s, "capacity: counts", v->homes, sizeof *v->count, &count);
    if (!status) status = hd_take(s, "capacity: used homes", used_words(v->homes), sizeof *v->used, &used);
    v->word = (uint64_t *)word;
    v->bound = (uint64_t *)bound;
    v->home = (uint32_t *)home;
    v->count = (uint32_t *)count;
    v->used = (uint64_t *)used;
    if (status)
        give_arrays(v, s);
    else
        sl_clear(v);
    return status;
}

hd_status sl_take_near(sl_view *v, uint64_t near, const hd_seams *s)
{
    if (near >= v->homes) return HD_OK;
    v->near = near;
    hd_status status = hd_take(s, "capacity: near keys", sl_near_lines(v), sl_near_key_bytes(v), &v->near_key);
    if (status) return status;
    void *filled = NULL;
    v->owns_near = true;
    status = hd_take(s, "capacity: filled lines", sl_near_groups(v), sizeof *v->filled, &filled);
    v->filled = (uint32_t *)filled;
    return status;
}

static void sl_close(void *state, const hd_seams *s)
{
    sl_view *v = sl_view_of(state);
    if (!v) return;
    give_arrays(v, s);
    hd_give(s, v, 1, sizeof *v);
}

sl_view sl_view_for(const hd_info *info)
{
    return (sl_view){ .homes = homes_of(info), .fit = fit_of(info), .words = info->value_bytes / 4 };
}

static hd_status sl_open(const hd_design *d, const hd_info *info, const hd_seams *s, void **state)
{
    (void)d;
    void *p;
    hd_status status = hd_take(s, "table", 1, sizeof(sl_view), &p);
    if (status) return status;
    sl_view *v = (sl_view *)p;
    *v = sl_view_for(info);
    status = take_arrays(v, s);
    if (status)
        hd_give(s, v, 1, sizeof *v);
    else
        *state = v;
    return status;
}

/* ---- Growing and shrinking ------------------------------------------------------------------- */

/* Into memory of another size. Growth keeps places; shrinking brings the segments into the first homes. */
static hd_status move_to(sl_view *v, const hd_seams *s, uint64_t homes)
{
    sl_view to = *v;
    to.homes = homes;
    to.near_key = NULL;
    to.owns_near = to.stale = false;
    hd_status status = take_arrays(&to, s);
    if (status) return status;
    if (homes < v->homes) {
        sl_pack(v, &to);
    } else {
        memcpy(to.word, v->word, sl_places(v) * v->words * sizeof *v->word);
        memcpy(to.bound, v->bound, v->rows * sizeof *v->bound);
        memcpy(to.home, v->home, v->rows * sizeof *v->home);
        memcpy(to.count, v->count, v->homes * sizeof *v->count);
        memcpy(to.used, v->used, used_words(v->homes) * sizeof *v->used);
        to.rows = v->rows;
    }
    give_arrays(v, s);
    *v = to;
    return HD_OK;
}

hd_status sl_may_have(const hd_info *info, uint64_t buckets, uint64_t *homes)
{
    *homes = homes_for(info, buckets);
    if (buckets < info->base_buckets)
        return hd_fail(HD_EINVAL, "buckets: %" PRIu64 " are fewer than the %" PRIu64 " that the table began with",
                       buckets, info->base_buckets);
    if (too_many(info, *homes))
        return hd_fail(HD_EINVAL, "buckets: %" PRIu64 " are more than a table can have", buckets);
    return HD_OK;
}

uint64_t sl_homes_to_have(sl_view v, uint64_t had, uint64_t homes, uint64_t size)
{
    uint64_t needed = size / v.fit + (size % v.fit != 0);
    return homes < had && homes < needed ? needed : homes;
}

static hd_status sl_resize(void *state, const hd_seams *s, uint64_t buckets, hd_info *info)
{
    sl_view *v = sl_view_of(state);
    uint64_t homes;
    hd_status status = sl_may_have(info, buckets, &homes);
    if (status) return status;
    homes = sl_homes_to_have(*v, v->homes, homes, sl_size(v));
    if (homes != v->homes) status = move_to(v, s, homes);
    if (!status) sl_tell(info, homes);
    return status;
}

/* Here all segments are in one memory. */
static hd_status sl_set_near(void *state, const hd_seams *s, uint64_t near_bytes, hd_info *info)
{
    (void)state, (void)s;
    info->sl.near_bytes = near_bytes;
    return HD_OK;
}

/* ---- The rest of a design -------------------------------------------------------------------- */

static hd_status sl_verify(void *state)
{
    char why[256];
    sl_check(sl_view_of(state), why, sizeof why);
    return why[0] ? hd_fail(HD_ECORRUPT, "%s", why) : HD_OK;
}

static size_t sl_next(void *state, hd_entry *e, size_t most)
{
    const sl_view *v = sl_view_of(state);
    uint64_t home = e->slot / v->fit;
    uint32_t index = (uint32_t)(e->slot % v->fit);
    size_t n = 0;
    for (; home < v->homes && n < most; home++, index = 0) {
        const uint32_t *words = v->stale ? NULL : sl_filled_in(v, home);
        sl_walk at = { 0, 0 };
        for (; index < v->count[home] && n < most; index++) {
            uint64_t first = home * v->fit, place = first + (words ? sl_index_of(v, words, index, &at) : index);
            e[n++] = (hd_entry){ first + index, sl_key(v, place), 0, sl_value_at(v, place) };
        }
    }
    return n;
}

static bool sl_put_at(void *state, const hd_entry *e)
{
    sl_view *v = sl_view_of(state);
    uint64_t value = 0;
    memcpy(&value, e->value, sl_value_bytes(v));
    return e->score == 0 && sl_put(v, e->slot, e->key, value);
}

static hd_status sl_run(void *state, uint32_t row, const hd_batch *b, hd_when when, uint64_t *tally)
{
    (void)row, (void)when;
    sl_run_batch(sl_view_of(state), b, tally);
    return HD_OK;
}

static const char *sl_unsupported_batch(const hd_variant_row *row, const hd_info *info, const hd_batch *b)
{
    (void)row, (void)info;
    return b->each ? HD_NOT_MIXED : sl_unsupported(b->op);
}

/* clang-format off */
static const hd_param params[] = {
    { "segment", HD_PARAM_U32, HD_PARAM_AT(hd_sl_config, segment_bytes), .least = SL_SEGMENT_LEAST,
      .most = SL_SEGMENT_MOST, .usual = SL_SEGMENT_USUAL, .what = "bytes of a segment, a power of two", .places = true,
      .saved = HD_SAVED_U32, .saved_at = 160 },
    { "near", HD_PARAM_U64, HD_PARAM_AT(hd_sl_config, near_bytes), .most = UINT64_MAX, .usual = 0,
      .what = "bytes of device memory; segments that find no room there are in host memory; 0: all are there" },
};
/* clang-format on */

const hd_params sl_params = { .design = "sl",
                              .row = params,
                              .count = sizeof params / sizeof *params,
                              .config_at = offsetof(hd_config, sl),
                              .info_at = offsetof(hd_info, sl),
                              .bytes = sizeof(hd_sl_config) };

#define HD_RAN(number, name, what, role, family, does) [HD_OP_##number] = "sl." #name ".ref",
static const hd_variant variant = {
    .name = "ref",
    .row = { { .what = { "the sequential reference", NULL } } },
    .ran = { HD_OP_ROWS(HD_RAN) },
};
static const hd_variant *const variants[] = { &variant, NULL };

const hd_backend sl_reference = {
    .name = "ref",
    .shape = sl_shape,
    .open = sl_open,
    .close = sl_close,
    .check = sl_verify,
    .next = sl_next,
    .put_at = sl_put_at,
    .resize = sl_resize,
    .set_near = sl_set_near,
    .variants = variants,
    .unsupported = sl_unsupported_batch,
    .launch = sl_run,
};
