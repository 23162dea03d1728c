/* SPDX-License-Identifier: Apache-2.0
 *
 * design.c - gfsl as the core sees it: shape, memory, entries, and the sequential kernel "ref".
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "gfsl/ref/gfsl.h"

gfsl_view *gfsl_view_of(void *state) { return (gfsl_view *)state; }

/* ---- Shape ----------------------------------------------------------------------------------- */

static const uint64_t chunks_most = 1u << 31;

/* Splits fill half of a chunk, so that a level has a chunk for so many of the level below. */
static uint32_t levels_for(uint64_t chunks, uint32_t slots)
{
    uint32_t levels = 1;
    for (uint64_t n = chunks; n >= 4 && levels < GFSL_LEVELS_MOST; n /= slots / 2) levels++;
    return levels;
}

/* Splits fill half of a chunk, and raise an entry each. */
static void cut_pools(gfsl_view *v)
{
    uint64_t end = v->levels, chunks = v->chunks;
    for (uint32_t level = 1; level < v->levels; level++) v->end[level] = (uint32_t)(end += chunks /= v->slots / 2);
}

gfsl_view gfsl_view_for(const hd_info *info)
{
    gfsl_view v = { .chunks = info->buckets,
                    .near = info->buckets,
                    .slots = info->slots,
                    .levels = levels_for(info->buckets, info->slots),
                    .level_pools = info->gfsl.level_pools,
                    .unsorted = info->gfsl.unsorted,
                    .end = { (uint32_t)info->buckets } };
    if (v.level_pools) cut_pools(&v);
    return v;
}

void gfsl_usual(hd_config *c)
{
    c->policy = "none";
    c->slots = 30;
    c->value_bytes = GFSL_HALF / 8;
}

static hd_status shape_of(const hd_design *d, const hd_config *c, hd_info *info)
{
    (void)d;
    if (c->slots != 6 && c->slots != 14 && c->slots != 30)
        return hd_fail(HD_EINVAL, "slots: gfsl has chunks of 6, 14 or 30 entries, not of %" PRIu32, c->slots);
    if (c->value_bytes != GFSL_HALF / 8)
        return hd_fail(HD_EINVAL, "value_bytes: gfsl packs 4 beside a key, not %" PRIu32, c->value_bytes);
    if (c->clock != HD_CLOCK_LOGICAL) return hd_fail(HD_EINVAL, "clock: gfsl keeps no times");
    if (c->gfsl.far == HD_GFSL_FAR_DATA && !c->gfsl.level_pools)
        return hd_fail(HD_EINVAL, "far: data needs level_pools: one pool mixes the chunks of all levels");
    info->gfsl = c->gfsl;
    if (info->layout == HD_LAYOUT_USUAL) info->layout = HD_LAYOUT_WORDS;
    if (info->layout != HD_LAYOUT_WORDS) return hd_fail(HD_EINVAL, "layout: gfsl has words");
    info->buckets = c->capacity / c->slots + (c->capacity % c->slots != 0);
    if (info->buckets > chunks_most)
        return hd_fail(HD_EINVAL, "capacity: %" PRIu64 " entries are more than %" PRIu64 " chunks", c->capacity,
                       chunks_most);
    info->capacity = info->places = info->buckets * c->slots;
    info->keys = word_keys(GFSL_HALF);
    info->memory_bytes = sizeof(gfsl_view) + (GFSL_HEAD + info->buckets * (c->slots + 2)) * sizeof(uint64_t);
    return HD_OK;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void close_table(void *state, const hd_seams *s)
{
    gfsl_view *v = gfsl_view_of(state);
    if (!v) return;
    hd_give(s, v->word, v->chunks, gfsl_words(v) * sizeof *v->word);
    hd_give(s, v->head, GFSL_HEAD, sizeof *v->head);
    hd_give(s, v, 1, sizeof *v);
}

static hd_status open_table(const hd_design *d, const hd_info *info, const hd_seams *s, void **state)
{
    void *p = NULL, *head = NULL, *word = NULL;
    (void)d;
    hd_status status = hd_take(s, "table", 1, sizeof(gfsl_view), &p);
    if (status) return status;
    gfsl_view *v = gfsl_view_of(p);
    *v = gfsl_view_for(info);
    status = hd_take(s, "table: head", GFSL_HEAD, sizeof *v->head, &head);
    if (!status) status = hd_take(s, "capacity: chunks", v->chunks, gfsl_words(v) * sizeof *v->word, &word);
    v->head = (uint64_t *)head;
    v->word = (uint64_t *)word;
    if (status) {
        close_table(v, s);
        return status;
    }
    gfsl_clear(v);
    *state = v;
    return HD_OK;
}

/* ---- The rest of a design -------------------------------------------------------------------- */

static hd_status verify(void *state)
{
    char why[GFSL_WHY];
    gfsl_check(gfsl_view_of(state), true, why);
    return why[0] ? hd_fail(HD_ECORRUPT, "%s", why) : HD_OK;
}

static size_t next(void *state, hd_entry *e, size_t most)
{
    const word_table t = gfsl_words_of(gfsl_view_of(state));
    return word_next(&t, e, most);
}

/* Places depend on the order in which keys came: an entry comes where an insertion puts it. */
static bool put_at(void *state, const hd_entry *e)
{
    gfsl_view *v = gfsl_view_of(state);
    if (e->score || e->key >= word_keys(GFSL_HALF) || gfsl_find(v, e->key) != WORD_NOWHERE) return false;
    uint64_t value = word_value_in(GFSL_HALF, e);
    return gfsl_place(v, e->key, value) != WORD_NOWHERE || gfsl_press(v, e->key, value) != WORD_NOWHERE;
}

static void move_all(void *from, void *to)
{
    hd_entry e = { 0, 0, 0, NULL };
    for (; next(from, &e, 1); e.slot++) put_at(to, &e);
}

static hd_status run(void *state, uint32_t row, const hd_batch *b, hd_when when, uint64_t *tally)
{
    (void)row, (void)when;
    gfsl_run_batch(gfsl_view_of(state), b, tally);
    return HD_OK;
}

static const char *unsupported(const hd_variant_row *row, const hd_info *info, const hd_batch *b)
{
    (void)row, (void)info;
    return b->each ? NULL : gfsl_unsupported(b->op);
}

/* clang-format off */
static const char *const fars[] = { "none", "data", "all", NULL };
static const hd_param params[] = {
    { "level_pools", HD_PARAM_BOOL, HD_PARAM_AT(hd_gfsl_config, level_pools),
      .what = "each level has a pool of chunks of its own", .places = true, .saved = HD_SAVED_FLAG, .saved_at = 3 },
    { "unsorted", HD_PARAM_BOOL, HD_PARAM_AT(hd_gfsl_config, unsorted),
      .what = "chunks of level 0 have their entries in any order" },
    { "far", HD_PARAM_ENUM, HD_PARAM_AT(hd_gfsl_config, far), .values = fars,
      .what = "chunks in host memory: none, those of level 0, or all" },
    { "keys_per_block", HD_PARAM_U32, HD_PARAM_AT(hd_gfsl_config, keys_per_block), .most = 1 << 20,
      .what = "consecutive items of a thread block; 0: as many as it runs at a time" },
    { "blocks", HD_PARAM_U32, HD_PARAM_AT(hd_gfsl_config, blocks), .most = 1 << 20,
      .what = "thread blocks of a batch, at most; 0: as many as run at a time" },
};
/* clang-format on */

const hd_params gfsl_params = { .design = "gfsl",
                                .row = params,
                                .count = sizeof params / sizeof *params,
                                .config_at = offsetof(hd_config, gfsl),
                                .info_at = offsetof(hd_info, gfsl),
                                .bytes = sizeof(hd_gfsl_config) };

#define HD_RAN(number, name, what, role, family, does) [HD_OP_##number] = "gfsl." #name ".ref",
static const hd_variant variant = {
    .name = "ref",
    .row = { { .what = { "the sequential reference", NULL } } },
    .ran = { HD_OP_ROWS(HD_RAN) },
    .ran_mixed = "gfsl.mixed.ref",
};
static const hd_variant *const variants[] = { &variant, NULL };

const hd_backend gfsl_reference = {
    .name = "ref",
    .shape = shape_of,
    .open = open_table,
    .close = close_table,
    .check = verify,
    .next = next,
    .put_at = put_at,
    .move_all = move_all,
    .variants = variants,
    .unsupported = unsupported,
    .launch = run,
};
