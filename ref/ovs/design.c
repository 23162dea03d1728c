/* SPDX-License-Identifier: Apache-2.0
 *
 * design.c - ovs as the core sees it: shape, memory, growth, and the sequential kernel "ref".
 */
#include <inttypes.h>
#include <string.h>

#include "base/design.h"
#include "base/error.h"
#include "base/op.h"
#include "ref/ovs/ovs.h"
#include "ref/ovs/range.h"

ovs_view *ovs_view_of(void *state) { return (ovs_view *)state; }

/* ---- Shape ----------------------------------------------------------------------------------- */

static const uint64_t segments_most = 1ull << 31;

uint32_t ovs_extents_for(const ovs_view *v, uint64_t segments)
{
    uint32_t k = 1;
    for (uint64_t have = v->base; have < segments; have *= 2) k++;
    return k;
}

uint64_t ovs_rows_for(const ovs_view *v, uint64_t segments)
{
    return v->ranges ? v->base << (ovs_extents_for(v, segments) - 1) : 0;
}

ovs_view ovs_view_for(const hd_info *info)
{
    ovs_view v;
    memset(&v, 0, sizeof v);
    while ((uint64_t)OVS_LINE << v.line_bits < info->ovs.segment_bytes) v.line_bits++;
    uint64_t lines = ovs_lines(&v), base = info->base_buckets ? info->base_buckets : info->buckets,
             segments = info->buckets / lines;
    v.base = (base + lines - 1) / lines;
    v.level = word_level(v.base, segments);
    v.split = segments - (v.base << v.level);
    v.near_most = info->ovs.near_bytes ? info->ovs.near_bytes / info->ovs.segment_bytes : UINT64_MAX;
    v.guided = info->ovs.guide == HD_GUIDE_DIGEST ? OVS_EXTENTS : 0;
    v.seed = info->seed;
    v.pairs = info->value_bytes == 8;
    v.ranges = info->ovs.partition == HD_PARTITION_RANGE;
    v.rows = ovs_rows_for(&v, segments);
    v.copy_sets = info->ovs.copy_bytes / OVS_COPY_SET;
    return v;
}

/* Bytes of the extents that are there: the near parts, or the far parts. */
static uint64_t bytes_of(const ovs_view *v, bool far)
{
    uint64_t segments = 0;
    for (uint32_t k = 0; k < ovs_extents_for(v, ovs_segments(v)); k++)
        segments += far ? ovs_extent_segments(v, k) - ovs_extent_near(v, k) : ovs_extent_near(v, k);
    return segments * ovs_lines(v) * OVS_LINE;
}

/* The segments of the extents that are there and have digests. */
static uint64_t guided_segments(const ovs_view *v)
{
    uint64_t segments = 0;
    for (uint32_t k = 0; k < ovs_extents_for(v, ovs_segments(v)) && k < v->guided; k++)
        segments += ovs_extent_segments(v, k);
    return segments;
}

void ovs_tell(const ovs_view *v, hd_info *info)
{
    info->base_buckets = v->base << v->line_bits;
    info->buckets = ovs_buckets(v);
    info->stash_buckets = 0;
    info->capacity = info->places = ovs_places(v);
    info->slots = ovs_slots(v);
    info->keys = word_keys(ovs_half(v));
    info->values_device_bytes = bytes_of(v, false);
    info->values_host_bytes = bytes_of(v, true);
    info->memory_bytes = sizeof *v + info->values_device_bytes + info->values_host_bytes +
                         ovs_digest_bytes(v, guided_segments(v)) + v->rows * sizeof *v->row +
                         ovs_copy_words(v) * sizeof *v->copy;
}

/* HD_EINVAL: ovs has no such entries. */
static hd_status entries_of(const hd_config *c)
{
    if (c->value_bytes != 4 && c->value_bytes != 8)
        return hd_fail(HD_EINVAL, "value_bytes: ovs has values of 4 or 8, not of %" PRIu32, c->value_bytes);
    const bool pairs = c->value_bytes == 8;
    if (c->slots != OVS_SLOTS && !(pairs && c->slots == OVS_PAIRS)) /* the usual 16 become 8 */
        return hd_fail(HD_EINVAL, "slots: ovs has buckets of %d, not of %" PRIu32, pairs ? OVS_PAIRS : OVS_SLOTS,
                       c->slots);
    if (pairs && c->ovs.guide == HD_GUIDE_DIGEST)
        return hd_fail(HD_EINVAL, "guide: tables with values of 8 bytes have no digests");
    if (c->ovs.copy_bytes % OVS_COPY_SET)
        return hd_fail(HD_EINVAL, "copies: %" PRIu64 " bytes are no multiple of %d, the bytes of a set",
                       c->ovs.copy_bytes, OVS_COPY_SET);
    if (pairs && c->ovs.copy_bytes)
        return hd_fail(HD_EINVAL, "copies: tables with values of 8 bytes have no copies of entries");
    if (pairs && c->ovs.partition == HD_PARTITION_RANGE)
        return hd_fail(HD_EINVAL, "partition: ranges are of keys of 32 bits; pairs of 64 bits are placed by a hash");
    return HD_OK;
}

static hd_status shape_of(const hd_design *d, const hd_config *c, hd_info *info)
{
    const uint32_t segment = c->ovs.segment_bytes;
    const bool pairs = c->value_bytes == 8;
    hd_status status = entries_of(c);
    (void)d;
    if (status) return status;
    if (c->clock != HD_CLOCK_LOGICAL) return hd_fail(HD_EINVAL, "clock: ovs keeps no times");
    if (segment & (segment - 1)) return hd_fail(HD_EINVAL, "segment: %" PRIu32 " bytes are no power of two", segment);
    if (info->layout == HD_LAYOUT_USUAL) info->layout = HD_LAYOUT_WORDS;
    if (info->layout != HD_LAYOUT_WORDS) return hd_fail(HD_EINVAL, "layout: ovs has words");
    uint64_t slots = segment / (pairs ? 16 : 8), segments = c->capacity / slots + (c->capacity % slots != 0);
    if (segments > segments_most)
        return hd_fail(HD_EINVAL,
                       "capacity: %" PRIu64 " entries are more than %" PRIu64 " segments of %" PRIu32 " bytes",
                       c->capacity, segments_most, segment);
    info->ovs = c->ovs;
    info->buckets = info->base_buckets = segments * (segment / OVS_LINE);
    const ovs_view v = ovs_view_for(info);
    ovs_tell(&v, info);
    return HD_OK;
}

void ovs_usual(hd_config *c)
{
    c->policy = "none";
    c->slots = OVS_SLOTS;
    c->value_bytes = OVS_HALF / 8;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* The words of a part of extent k. */
static uint64_t part_words(const ovs_view *v, uint32_t k, bool far)
{
    uint64_t near = ovs_extent_near(v, k);
    return (far ? ovs_extent_segments(v, k) - near : near) * ovs_segment_words(v);
}

static uint64_t **part_of(ovs_view *v, uint32_t k, bool far) { return far ? &v->extent[k].far : &v->extent[k].near; }

static void give_digests(ovs_view *v, const hd_seams *s, uint32_t from)
{
    for (uint32_t k = from; k < OVS_EXTENTS; k++) {
        uint8_t **p = &v->extent[k].digest;
        if (*p) hd_give(s, *p, ovs_digest_bytes(v, ovs_extent_segments(v, k)), 1);
        *p = NULL;
    }
}

static hd_status take_digests(ovs_view *v, const hd_seams *s, uint32_t from, uint32_t to)
{
    hd_status status = HD_OK;
    for (uint32_t k = from; k < to && k < v->guided && !status; k++) {
        uint64_t bytes = ovs_digest_bytes(v, ovs_extent_segments(v, k));
        void *p = NULL;
        status = hd_take(s, "capacity: digests", bytes, 1, &p);
        v->extent[k].digest = (uint8_t *)p;
        if (!status) memset(p, 0, bytes); /* fresh */
    }
    return status;
}

static void give_words(ovs_view *v, const hd_seams *s, uint32_t from)
{
    for (uint32_t part = 2 * from; part < 2 * OVS_EXTENTS; part++) {
        uint64_t **p = part_of(v, part / 2, part % 2);
        if (*p) hd_give(s, *p, part_words(v, part / 2, part % 2), sizeof **p);
        *p = NULL;
    }
}

/* Extents from `from` on, as far as they are there. */
static void give_extents(ovs_view *v, const hd_seams *s, uint32_t from)
{
    give_digests(v, s, from);
    give_words(v, s, from);
}

static hd_status take_words(ovs_view *v, const hd_seams *s, uint32_t from, uint32_t to)
{
    hd_status status = HD_OK;
    for (uint32_t part = 2 * from; part < 2 * to && !status; part++) {
        uint64_t words = part_words(v, part / 2, part % 2);
        void *p = NULL;
        if (words == 0) continue;
        status =
            hd_take(s, part % 2 ? "capacity: far segments" : "capacity: near segments", words, sizeof(uint64_t), &p);
        *part_of(v, part / 2, part % 2) = (uint64_t *)p;
        if (!status) memset(p, 0xff, words * sizeof(uint64_t)); /* fresh */
    }
    if (status) give_words(v, s, from);
    return status;
}

/* Extents [from, to), or none of them. */
static hd_status take_extents(ovs_view *v, const hd_seams *s, uint32_t from, uint32_t to)
{
    hd_status status = take_digests(v, s, from, to);
    if (!status) status = take_words(v, s, from, to);
    if (status) give_extents(v, s, from);
    return status;
}

/* Room for so many rows of the directory: those in use are copied to it. It stays when the table becomes smaller. */
static hd_status move_rows(ovs_view *v, const hd_seams *s, uint64_t rows)
{
    void *p = NULL;
    if (rows == 0 || (v->row && v->rows >= rows)) return HD_OK;
    hd_status status = hd_take(s, "capacity: directory", rows, sizeof *v->row, &p);
    if (status) return status;
    if (v->row) {
        memcpy(p, v->row, ovs_segments(v) * sizeof *v->row);
        hd_give(s, v->row, v->rows, sizeof *v->row);
    }
    v->row = (uint64_t *)p;
    v->rows = rows;
    return HD_OK;
}

static void close_table(void *state, const hd_seams *s)
{
    ovs_view *v = (ovs_view *)state;
    if (!v) return;
    give_extents(v, s, 0);
    if (v->row) hd_give(s, v->row, v->rows, sizeof *v->row);
    if (v->copy) hd_give(s, v->copy, ovs_copy_words(v), sizeof *v->copy);
    hd_give(s, v, 1, sizeof *v);
}

static hd_status take_copies(ovs_view *v, const hd_seams *s)
{
    void *p = NULL;
    if (v->copy_sets == 0) return HD_OK;
    hd_status status = hd_take(s, "table: copies", ovs_copy_words(v), sizeof *v->copy, &p);
    v->copy = (uint64_t *)p;
    if (!status) ovs_forget_copies(v);
    return status;
}

static hd_status open_table(const hd_design *d, const hd_info *info, const hd_seams *s, void **state)
{
    (void)d;
    void *p;
    hd_status status = hd_take(s, "table", 1, sizeof(ovs_view), &p);
    if (status) return status;
    ovs_view *v = (ovs_view *)p;
    *v = ovs_view_for(info);
    status = take_extents(v, s, 0, ovs_extents_for(v, ovs_segments(v)));
    if (!status) status = move_rows(v, s, v->rows);
    if (!status) status = take_copies(v, s);
    if (status) return close_table(v, s), status;
    if (v->ranges) ovs_cut_evenly(v);
    *state = v;
    return HD_OK;
}

/* ---- Growing and shrinking ------------------------------------------------------------------- */

hd_status ovs_segments_for(const ovs_view *v, uint64_t buckets, uint64_t *segments)
{
    *segments = (buckets >> v->line_bits) + (buckets % ovs_lines(v) != 0);
    if (buckets < v->base << v->line_bits)
        return hd_fail(HD_EINVAL, "buckets: %" PRIu64 " are fewer than the %" PRIu64 " that the table began with",
                       buckets, v->base << v->line_bits);
    if (*segments > segments_most)
        return hd_fail(HD_EINVAL, "buckets: %" PRIu64 " are more than %" PRIu64 " segments", buckets, segments_most);
    return HD_OK;
}

/* The table as it may become: extents and rows for so many segments. After a failure nothing has changed. */
static hd_status take_for(ovs_view *v, const hd_seams *s, uint64_t segments)
{
    uint32_t had = ovs_extents_for(v, ovs_segments(v));
    hd_status status = take_extents(v, s, had, ovs_extents_for(v, segments));
    if (!status) status = move_rows(v, s, ovs_rows_for(v, segments));
    if (status) give_extents(v, s, had);
    return status;
}

static hd_status resize(void *state, const hd_seams *s, uint64_t buckets, hd_info *info)
{
    ovs_view *v = (ovs_view *)state;
    uint64_t segments;
    ovs_plan p;
    hd_status status = ovs_segments_for(v, buckets, &segments);
    if (!status) status = ovs_plan_for_size(&p, v, s, segments);
    if (status) return status;
    status = take_for(v, s, segments);
    if (!status) {
        ovs_resize(v, &p, segments);
        give_extents(v, s, ovs_extents_for(v, ovs_segments(v)));
    }
    ovs_plan_give(&p, s);
    ovs_tell(v, info);
    return status;
}

static hd_status room_for(void *state, const hd_seams *s, const uint64_t *key, uint64_t n, hd_info *info, bool *made)
{
    ovs_view *v = (ovs_view *)state;
    ovs_plan p;
    *made = v->ranges;
    if (!v->ranges) return HD_OK;
    hd_status status = ovs_plan_take(&p, s, ovs_rows_for_room(v, n), n);
    if (status) return status;
    uint64_t most = ovs_plan_for(v, &p, key, n);
    status = ovs_segments_for(v, most << v->line_bits, &most);
    if (!status) status = take_for(v, s, most);
    if (!status) {
        ovs_make_room(v, &p);
        give_extents(v, s, ovs_extents_for(v, ovs_segments(v)));
    }
    ovs_plan_give(&p, s);
    ovs_tell(v, info);
    return status;
}

/* Words move to parts of the new sizes. Digests stay. */
static hd_status set_near(void *state, const hd_seams *s, uint64_t near_bytes, hd_info *info)
{
    ovs_view *v = (ovs_view *)state, to = *v;
    hd_info then = *info;
    then.ovs.near_bytes = near_bytes;
    to.near_most = ovs_view_for(&then).near_most;
    for (uint32_t part = 0; part < 2 * OVS_EXTENTS; part++) *part_of(&to, part / 2, part % 2) = NULL;
    hd_status status = take_words(&to, s, 0, ovs_extents_for(v, ovs_segments(v)));
    if (status) return status;
    for (uint64_t g = 0; g < ovs_segments(v); g++)
        memcpy(ovs_segment_at(&to, g), ovs_segment_at(v, g), ovs_segment_words(v) * sizeof(uint64_t));
    give_words(v, s, 0);
    *v = to;
    ovs_forget_copies(v);
    info->ovs.near_bytes = near_bytes;
    ovs_tell(v, info);
    return HD_OK;
}

/* ---- The rest of a design -------------------------------------------------------------------- */

static hd_status verify(void *state)
{
    char why[256];
    ovs_check((const ovs_view *)state, why, sizeof why);
    return why[0] ? hd_fail(HD_ECORRUPT, "%s", why) : HD_OK;
}

/* The caller of a walk may change values. */
static hd_status walk(void *state, hd_walk_how how)
{
    if (how != HD_WALK_READ) ovs_forget_copies((ovs_view *)state);
    return HD_OK;
}

static size_t next(void *state, hd_entry *e, size_t most)
{
    const word_table t = ovs_words_of((ovs_view *)state);
    return word_next(&t, e, most);
}

static hd_status learn(void *state, const hd_seams *s, const hd_keys *keys)
{
    return ovs_learn((ovs_view *)state, s, keys);
}

static bool put_at(void *state, const hd_entry *e)
{
    ovs_view *v = (ovs_view *)state;
    return e->score == 0 && ovs_put(v, e->slot, e->key, word_value_in(ovs_half(v), e));
}

_Static_assert((int)OVS_EXTENTS == (int)HD_VIEW_SEGMENTS, "a view has every extent");
void ovs_show(const ovs_view *v, hd_view *view)
{
    memset(view, 0, sizeof *view);
    view->places = ovs_places(v);
    view->slots = ovs_slots(v);
    view->value_bytes = ovs_half(v) / 8;
    view->word_bytes = word_bytes(ovs_half(v));
    view->base_buckets = v->base << v->line_bits;
    view->buckets = ovs_buckets(v);
    view->near_buckets = v->near_most < ovs_segments(v) ? v->near_most << v->line_bits : view->buckets;
    for (uint32_t k = 0; k < OVS_EXTENTS; k++) {
        view->segment[k] = (const uint8_t *)v->extent[k].near;
        view->far_segment[k] = (const uint8_t *)v->extent[k].far;
    }
}

static hd_status show_state(void *state, void *stream, hd_view *view)
{
    (void)stream;
    ovs_show((const ovs_view *)state, view);
    return HD_OK;
}

/* Segments, whether near or far, and the rows of the directory that are in use. Digests and copies follow from these,
 * the rest from hd_info. */
static int extents(void *state, hd_extent *all)
{
    ovs_view *v = (ovs_view *)state;
    int n = 0;
    for (uint32_t part = 0; part < 2 * ovs_extents_for(v, ovs_segments(v)); part++) {
        uint64_t words = part_words(v, part / 2, part % 2);
        uint64_t *p = *part_of(v, part / 2, part % 2);
        if (words) all[n++] = (hd_extent){ .name = "segments", .number = part / 2, .p = p, .bytes = words * sizeof *p };
    }
    if (v->ranges)
        all[n++] = (hd_extent){ .name = "directory", .p = v->row, .bytes = ovs_segments(v) * sizeof *v->row };
    return n;
}

static hd_status recovered(void *state, hd_recovery *did)
{
    ovs_view *v = (ovs_view *)state;
    ovs_forget_copies(v);
    for (uint64_t e = 0; e < ovs_places(v) && v->guided; e++) ovs_write(v, e, *ovs_at(v, e));
    return did->was_clean ? HD_OK : verify(state);
}

static hd_status run(void *state, uint32_t row, const hd_batch *b, hd_when when, uint64_t *tally)
{
    (void)row, (void)when;
    ovs_run_batch((ovs_view *)state, b, tally);
    return HD_OK;
}

static const char *unsupported(const hd_variant_row *row, const hd_info *info, const hd_batch *b)
{
    (void)row;
    if (b->each) return info->value_bytes == 8 ? HD_NOT_MIXED : NULL;
    return ovs_unsupported_for(info, b->op);
}

static const char *const guides[] = { "none", "digest", NULL };    /* by hd_guide */
static const char *const partitions[] = { "hash", "range", NULL }; /* by hd_partition */

/* clang-format off */
static const hd_param params[] = {
    { "near",    HD_PARAM_U64, HD_PARAM_AT(hd_ovs_config, near_bytes), .most = UINT64_MAX,
      .what = "bytes of the device's memory that the table may take; the other segments are in the host's; 0: any" },
    { "segment", HD_PARAM_U32, HD_PARAM_AT(hd_ovs_config, segment_bytes), .least = OVS_LINE, .most = 1u << 30,
      .usual = 64 << 10, .what = "bytes of a segment, a power of two",
      .places = true, .saved = HD_SAVED_U32, .saved_at = 160 },
    { "guide",   HD_PARAM_ENUM, HD_PARAM_AT(hd_ovs_config, guide), .values = guides,
      .what = "what is near of every segment: nothing, or 16 bits per slot, so that misses read none that is far" },
    { "partition", HD_PARAM_ENUM, HD_PARAM_AT(hd_ovs_config, partition), .values = partitions,
      .what = "what decides a key's segment: its hash, or ranges of keys, which are split at their medians",
      .places = true, .learns = true, .saved = HD_SAVED_FLAG, .saved_at = 4 },
    { "copies",  HD_PARAM_U64, HD_PARAM_AT(hd_ovs_config, copy_bytes), .most = 1ull << 36,
      .what = "bytes of the device's memory for copies of far entries, which lookups read first; 0: none" },
};
/* clang-format on */

const hd_params ovs_params = { .design = "ovs",
                               .row = params,
                               .count = sizeof params / sizeof *params,
                               .config_at = offsetof(hd_config, ovs),
                               .info_at = offsetof(hd_info, ovs),
                               .bytes = sizeof(hd_ovs_config) };

#define HD_RAN(number, name, what, role, family, does) [HD_OP_##number] = "ovs." #name ".ref",
static const hd_variant variant = {
    .name = "ref",
    .row = { { .what = { "the sequential reference", NULL } } },
    .ran = { HD_OP_ROWS(HD_RAN) },
    .ran_mixed = "ovs.mixed.ref",
};
static const hd_variant *const variants[] = { &variant, NULL };

const hd_backend ovs_reference = {
    .name = "ref",
    .shape = shape_of,
    .open = open_table,
    .close = close_table,
    .walk = walk,
    .check = verify,
    .next = next,
    .learn = learn,
    .put_at = put_at,
    .view = show_state,
    .resize = resize,
    .set_near = set_near,
    .room_for = room_for,
    .variants = variants,
    .unsupported = unsupported,
    .extents = extents,
    .recovered = recovered,
    .launch = run,
};
