/* SPDX-License-Identifier: Apache-2.0
 *
 * design.c - Hive as the core sees it: shape, memory, growth, and the sequential kernel "ref".
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/design.h"
#include "base/error.h"
#include "base/named.h"
#include "base/op.h"
#include "ref/hive/hive.h"

hive_view *hive_view_of(void *state) { return (hive_view *)state; }

/* ---- Shape ----------------------------------------------------------------------------------- */

uint64_t hive_stash_for(uint64_t buckets) { return buckets / HIVE_STASH_SHARE + 1; }
uint32_t hive_spare_for(uint32_t slots, uint32_t spare)
{
    return spare != HD_SPARE_USUAL ? spare : slots == 16 ? 3 : slots / 8;
}

static bool list_hash(hd_kind kind, size_t i, hd_row *row)
{
    (void)kind;
    return i < HD_HASH_COUNT && hd_row_put(row, hd_hash_rows[i].name, hd_hash_rows[i].what, "");
}

hd_status hive_functions_of(const char *names, uint32_t hashes, uint32_t *functions)
{
    char text[HD_HASH_NAMES_MOST];
    uint32_t n = 0;
    *functions = 0;
    if (strcmp(names, HD_HASH_USUAL) == 0) return HD_OK;
    snprintf(text, sizeof text, "%s", names);
    for (char *name = text, *comma; name; name = comma, n++) {
        uint32_t function = 0;
        if ((comma = strchr(name, ','))) *comma++ = 0;
        while (function < HD_HASH_COUNT && strcmp(hd_hash_rows[function].name, name) != 0) function++;
        if (function == HD_HASH_COUNT) return hd_fail_name_of("hash", name, HD_HASHES, list_hash);
        for (uint32_t i = 0; i < n && i < hashes; i++)
            if ((*functions >> HIVE_FUNCTION_BITS * i & HIVE_FUNCTION) == function + 1)
                return hd_fail(HD_EINVAL, "hash: '%s' twice names one bucket twice", name);
        if (n < hashes) *functions |= (function + 1) << HIVE_FUNCTION_BITS * n;
    }
    return n == hashes ? HD_OK
                       : hd_fail(HD_EINVAL,
                                 "hash: '%s': functions for %" PRIu32 " candidate buckets, and keys have %" PRIu32
                                 "; or %s alone",
                                 names, n, hashes, HD_HASH_USUAL);
}

/* What a bucket takes: its slots, and where there are masks two words. */
static uint64_t bucket_bytes(const hive_view *v)
{
    return v->slots * hive_word_bytes(v) + (v->masks ? 2 * sizeof(uint32_t) : 0);
}

uint32_t hive_segments_for(const hive_view *v, uint64_t buckets)
{
    uint32_t k = 1;
    for (uint64_t have = v->base; have < buckets; k++) have *= 2;
    return k;
}

static uint64_t memory_of(const hive_view *v)
{
    return sizeof *v + ((v->base << (hive_segments_for(v, hive_buckets(v)) - 1)) + v->stash_buckets) * bucket_bytes(v);
}

hive_view hive_view_for(const hd_info *info)
{
    hive_view v;
    memset(&v, 0, sizeof v);
    v.base = info->base_buckets ? info->base_buckets : info->buckets;
    v.level = word_level(v.base, info->buckets);
    v.split = info->buckets - (v.base << v.level);
    v.slots = info->slots;
    v.half = info->value_bytes * 8;
    v.hashes = info->hive.hashes;
    v.spare = info->hive.spare;
    v.stash_buckets = info->stash_buckets ? info->stash_buckets : hive_stash_for(info->buckets);
    v.seed = info->seed;
    if (hive_functions_of(info->hive.hash, v.hashes, &v.functions)) v.functions = 0; /* its shape was found good */
    v.masks = info->layout == HD_LAYOUT_MASKS;
    return v;
}

void hive_tell(const hive_view *v, hd_info *info)
{
    info->base_buckets = v->base;
    info->buckets = hive_buckets(v);
    info->stash_buckets = v->stash_buckets;
    info->capacity = hive_capacity(v);
    info->places = hive_places(v);
    info->keys = hive_keys(v);
    info->memory_bytes = memory_of(v);
}

static hd_status hive_shape(const hd_design *d, const hd_config *c, hd_info *info)
{
    (void)d;
    const uint64_t buckets_most = 1ull << 31;
    uint32_t functions;
    if (c->slots != 8 && c->slots != 16 && c->slots != 32)
        return hd_fail(HD_EINVAL, "slots: hive has buckets of 8, 16 or 32, not of %" PRIu32, c->slots);
    if (c->value_bytes != 4 && c->value_bytes != 2)
        return hd_fail(HD_EINVAL, "value_bytes: hive packs 4 or 2 beside a key, not %" PRIu32, c->value_bytes);
    if (c->clock != HD_CLOCK_LOGICAL) return hd_fail(HD_EINVAL, "clock: hive keeps no times");
    if (hive_spare_for(c->slots, c->hive.spare) >= c->slots / 2)
        return hd_fail(HD_EINVAL, "spare: fewer than half of a bucket's %" PRIu32 " slots, not %" PRIu32, c->slots,
                       c->hive.spare);
    hd_status status = hive_functions_of(c->hive.hash, c->hive.hashes, &functions);
    if (status) return status;
    if (info->layout == HD_LAYOUT_USUAL) info->layout = HD_LAYOUT_WORDS;
    if (info->layout != HD_LAYOUT_WORDS && info->layout != HD_LAYOUT_MASKS)
        return hd_fail(HD_EINVAL, "layout: hive has words, or words and masks");
    info->buckets = c->capacity / c->slots + (c->capacity % c->slots != 0);
    if (info->buckets > buckets_most)
        return hd_fail(HD_EINVAL, "capacity: %" PRIu64 " entries are more than %" PRIu64 " buckets of %" PRIu32,
                       c->capacity, buckets_most, c->slots);
    info->hive = c->hive;
    info->hive.spare = hive_spare_for(c->slots, c->hive.spare);
    info->base_buckets = info->buckets;
    info->stash_buckets = 0;
    hive_view v = hive_view_for(info);
    hive_tell(&v, info);
    return HD_OK;
}

void hive_usual(hd_config *c)
{
    c->policy = "none";
    c->slots = 16; /* a line of 128 bytes */
    c->value_bytes = 4;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void give_segment(const hive_view *v, const hd_seams *s, hive_segment *g, uint64_t buckets)
{
    hd_give(s, g->word, buckets * v->slots, hive_word_bytes(v));
    hd_give(s, g->mask, buckets, sizeof *g->mask);
    hd_give(s, g->lock, buckets, sizeof *g->lock);
    memset(g, 0, sizeof *g);
}

static hd_status take_segment(const hive_view *v, const hd_seams *s, const char *what, hive_segment *g,
                              uint64_t buckets)
{
    void *word = NULL, *mask = NULL, *lock = NULL;
    hd_status status = hd_take(s, what, buckets * v->slots, hive_word_bytes(v), &word);
    if (!status && v->masks) status = hd_take(s, what, buckets, sizeof *g->mask, &mask);
    if (!status && v->masks) status = hd_take(s, what, buckets, sizeof *g->lock, &lock);
    g->word = word;
    g->mask = (uint32_t *)mask;
    g->lock = (uint32_t *)lock;
    if (status) give_segment(v, s, g, buckets);
    if (status) return status;
    memset(word, 0xff, buckets * v->slots * hive_word_bytes(v)); /* fresh */
    for (uint64_t b = 0; b < buckets && v->masks; b++) {
        g->mask[b] = (uint32_t)((1ull << v->slots) - 1);
        g->lock[b] = 0;
    }
    return HD_OK;
}

static void hive_close(void *state, const hd_seams *s)
{
    hive_view *v = (hive_view *)state;
    if (!v) return;
    for (uint32_t k = 0; k < HIVE_SEGMENTS && v->segment[k].word; k++)
        give_segment(v, s, &v->segment[k], hive_segment_buckets(v, k));
    give_segment(v, s, &v->stash, v->stash_buckets);
    hd_give(s, v, 1, sizeof *v);
}

/* Segments [from, to), or none of them. */
static hd_status take_segments(hive_view *v, const hd_seams *s, uint32_t from, uint32_t to)
{
    hd_status status = HD_OK;
    uint32_t k = from;
    for (; k < to && !status; k++)
        status = take_segment(v, s, "capacity: buckets", &v->segment[k], hive_segment_buckets(v, k));
    for (; status && k > from; k--) give_segment(v, s, &v->segment[k - 1], hive_segment_buckets(v, k - 1));
    return status;
}

static hd_status hive_open(const hd_design *d, const hd_info *info, const hd_seams *s, void **state)
{
    (void)d;
    void *p;
    hd_status status = hd_take(s, "table", 1, sizeof(hive_view), &p);
    if (status) return status;
    hive_view *v = (hive_view *)p;
    *v = hive_view_for(info);
    status = take_segments(v, s, 0, hive_segments_for(v, info->buckets));
    if (!status) status = take_segment(v, s, "capacity: stash", &v->stash, v->stash_buckets);
    if (status)
        hive_close(v, s);
    else
        *state = v;
    return status;
}

/* ---- Growing and shrinking ------------------------------------------------------------------- */

/* A new stash, and what was in the old one where it belongs now. */
static void restash(hive_view *v, const hd_seams *s, hive_segment fresh, uint64_t buckets)
{
    hive_segment old = v->stash;
    uint64_t old_buckets = v->stash_buckets;
    v->stash = fresh;
    v->stash_buckets = buckets;
    v->stashed = 0;
    hive_restash(v, &old, old_buckets);
    give_segment(v, s, &old, old_buckets);
}

hd_status hive_may_have(const hive_view *v, uint64_t buckets)
{
    if (buckets < v->base)
        return hd_fail(HD_EINVAL, "buckets: %" PRIu64 " are fewer than the %" PRIu64 " that the table began with",
                       buckets, v->base);
    if (buckets > v->base << (HIVE_SEGMENTS - 1) || buckets > 1ull << 31)
        return hd_fail(HD_EINVAL, "buckets: %" PRIu64 " are more than a table can have", buckets);
    return HD_OK;
}

static hd_status hive_resize(void *state, const hd_seams *s, uint64_t buckets, hd_info *info)
{
    hive_view *v = (hive_view *)state;
    if (buckets == hive_buckets(v)) return hive_tell(v, info), HD_OK;
    hd_status status = hive_may_have(v, buckets);
    if (status) return status;
    uint32_t had = hive_segments_for(v, hive_buckets(v)), need = hive_segments_for(v, buckets);
    status = take_segments(v, s, had, need);
    hive_segment stash;
    uint64_t stash_buckets = hive_stash_for(buckets);
    if (stash_buckets < v->stash_buckets) stash_buckets = v->stash_buckets; /* merging may bring more there */
    if (!status && (status = take_segment(v, s, "capacity: stash", &stash, stash_buckets)))
        for (uint32_t k = had; k < need; k++) give_segment(v, s, &v->segment[k], hive_segment_buckets(v, k));
    if (status) return status;
    while (hive_buckets(v) < buckets) hive_split(v);
    while (hive_buckets(v) > buckets && hive_merge(v)) {
    }
    restash(v, s, stash, stash_buckets);
    for (uint32_t k = hive_segments_for(v, hive_buckets(v)); k < HIVE_SEGMENTS && v->segment[k].word; k++)
        give_segment(v, s, &v->segment[k], hive_segment_buckets(v, k));
    hive_tell(v, info);
    return HD_OK;
}

/* ---- The rest of a design -------------------------------------------------------------------- */

static hd_status hive_verify(void *state)
{
    char why[256];
    hive_check((hive_view *)state, why, sizeof why);
    return why[0] ? hd_fail(HD_ECORRUPT, "%s", why) : HD_OK;
}

static size_t hive_next(void *state, hd_entry *e, size_t most)
{
    const word_table t = hive_words_of((hive_view *)state);
    return word_next(&t, e, most);
}

static bool hive_put_at(void *state, const hd_entry *e)
{
    hive_view *v = (hive_view *)state;
    return e->key < hive_keys(v) && e->score == 0 && hive_put(v, e->slot, e->key, word_value_in(v->half, e));
}

_Static_assert((int)HIVE_SEGMENTS == (int)HD_VIEW_SEGMENTS, "a view has every segment");
void hive_show(const hive_view *v, hd_view *view)
{
    memset(view, 0, sizeof *view);
    view->places = hive_places(v);
    view->slots = v->slots;
    view->value_bytes = v->half / 8;
    view->word_bytes = hive_word_bytes(v);
    for (uint32_t k = 0; k < HIVE_SEGMENTS; k++) view->segment[k] = (const uint8_t *)v->segment[k].word;
    view->stash = (const uint8_t *)v->stash.word;
    view->base_buckets = v->base;
    view->near_buckets = UINT64_MAX;
    view->buckets = hive_buckets(v);
}

static hd_status hive_show_state(void *state, void *stream, hd_view *view)
{
    (void)stream;
    hive_show((const hive_view *)state, view);
    return HD_OK;
}

/* Words. The rest follows from these and hd_info. */
static int extents(void *state, hd_extent *all)
{
    hive_view *v = (hive_view *)state;
    const uint64_t bucket = (uint64_t)v->slots * hive_word_bytes(v);
    const uint32_t n = hive_segments_for(v, hive_buckets(v));
    for (uint32_t k = 0; k < n; k++) {
        all[k] = (hd_extent){ .name = "segment", .number = k, .p = v->segment[k].word };
        all[k].bytes = hive_segment_buckets(v, k) * bucket;
    }
    all[n] = (hd_extent){ .name = "stash", .p = v->stash.word, .bytes = v->stash_buckets * bucket };
    return (int)n + 1;
}

/* Writes every word once more, which sets its bit of a mask right. */
static hd_status recovered(void *state, hd_recovery *did)
{
    hive_view *v = (hive_view *)state;
    v->stashed = 0;
    for (uint64_t e = 0; e < hive_places(v); e++) {
        const uint64_t word = hive_read(v, e);
        if (v->masks) hive_write(v, e, word);
        v->stashed += e >= hive_capacity(v) && hive_is_key(v, word);
    }
    return did->was_clean ? HD_OK : hive_verify(state);
}

static hd_status hive_run(void *state, uint32_t row, const hd_batch *b, hd_when when, uint64_t *tally)
{
    (void)row;
    (void)when;
    hive_run_batch((hive_view *)state, b, tally);
    return HD_OK;
}

static const char *hive_unsupported_batch(const hd_variant_row *row, const hd_info *info, const hd_batch *b)
{
    (void)row;
    (void)info;
    return b->each ? NULL : hive_unsupported(b->op);
}

/* clang-format off */
static const hd_param params[] = {
    { "hashes", HD_PARAM_U32,  HD_PARAM_AT(hd_hive_config, hashes), .least = 2, .most = 3, .usual = 2,
      .what = "candidate buckets per key", .label = "buckets of a key",
      .places = true, .saved = HD_SAVED_U32, .saved_at = 120 },
    { "hash",   HD_PARAM_TEXT, HD_PARAM_AT(hd_hive_config, hash), .text = HD_HASH_USUAL,
      .what = "mix64, or a function of `heddle list hashes` for each candidate bucket",
      .places = true, .saved = HD_SAVED_TEXT, .saved_at = 128 },
    { "spare",  HD_PARAM_U32,  HD_PARAM_AT(hd_hive_config, spare), .most = UINT32_MAX, .usual = HD_SPARE_USUAL,
      .what = "slots that a bucket keeps back while a key's other buckets have more; 4294967295: the usual number",
      .label = "spare slots", .places = true, .saved = HD_SAVED_U32, .saved_at = 124 },
};
/* clang-format on */

const hd_params hive_params = { .design = "hive",
                                .row = params,
                                .count = sizeof params / sizeof *params,
                                .config_at = offsetof(hd_config, hive),
                                .info_at = offsetof(hd_info, hive),
                                .bytes = sizeof(hd_hive_config) };

#define HD_RAN(number, name, what, role, family, does) [HD_OP_##number] = "hive." #name ".ref",
static const hd_variant variant = {
    .name = "ref",
    .row = { { .what = { "the sequential reference", NULL } } },
    .ran = { HD_OP_ROWS(HD_RAN) },
    .ran_mixed = "hive.mixed.ref",
};
static const hd_variant *const variants[] = { &variant, NULL };

const hd_backend hive_reference = {
    .name = "ref",
    .shape = hive_shape,
    .open = hive_open,
    .close = hive_close,
    .check = hive_verify,
    .next = hive_next,
    .put_at = hive_put_at,
    .view = hive_show_state,
    .resize = hive_resize,
    .variants = variants,
    .unsupported = hive_unsupported_batch,
    .extents = extents,
    .recovered = recovered,
    .launch = hive_run,
};
