/* SPDX-License-Identifier: Apache-2.0
 *
 * design.c - GPHash as the core sees it: shape, memory, growth, and the sequential kernel "ref".
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "ref/gphash/gphash.h"

enum { GPHASH_SLOTS_USUAL = 8, GPHASH_LEVELS_USUAL = 2 };

/* ---- Shape ----------------------------------------------------------------------------------- */

/* Buckets of the lowest levels that a table with so many per base can have. */
static uint64_t buckets_per_base(uint32_t levels, uint32_t hashes)
{
    return ((1ull << levels) - 1) << gphash_least_bottom(hashes);
}

gphash_view gphash_view_for(const hd_info *info)
{
    gphash_view v;
    memset(&v, 0, sizeof v);
    v.levels = info->gphash.levels;
    v.hashes = info->gphash.hashes;
    v.slots = info->slots;
    while (1u << v.hash_bits < v.hashes) v.hash_bits++;
    while (1u << v.slot_bits < v.slots) v.slot_bits++;
    v.bottom = gphash_least_bottom(v.hashes);
    v.base = info->base_buckets / buckets_per_base(v.levels, v.hashes);
    v.seed = info->seed;
    v.value_bytes = info->value_bytes;
    if (info->layout == HD_LAYOUT_CELLS)
        v.cell_bytes = (v.value_bytes + GPHASH_CELL_ALIGN - 1) / GPHASH_CELL_ALIGN * GPHASH_CELL_ALIGN;
    v.first_places = gphash_places(&v);
    for (uint64_t buckets = info->base_buckets; buckets < info->buckets; buckets *= 2) v.bottom++, v.grown++;
    return v;
}

static uint64_t memory_of(const gphash_view *v)
{
    uint64_t cells = gphash_cells(v);
    return sizeof(gphash_table) + gphash_places(v) * 2 * sizeof(uint64_t) + cells * v->cell_bytes +
           gphash_ring(v) * sizeof *v->free + (cells + 63) / 64 * sizeof *v->mark;
}

void gphash_tell(const gphash_view *v, hd_info *info)
{
    info->base_buckets = v->base * buckets_per_base(v->levels, v->hashes);
    info->buckets = gphash_buckets(v);
    info->capacity = info->places = gphash_places(v);
    info->memory_bytes = memory_of(v);
}

static hd_status shape_cache(const gphash_view *v, hd_info *info)
{
    hd_gphash_config *c = &info->gphash;
    if (c->cache == HD_CACHE_NONE && c->cached) return hd_fail(HD_EINVAL, "cached: there is no cache");
    if (c->cache == HD_CACHE_NONE) return HD_OK;
    if (c->cache == HD_CACHE_VALUES && !v->cell_bytes)
        return hd_fail(HD_EINVAL, "cache: values of layout inline are with their keys");
    const uint64_t units = gphash_units(v, c->cache);
    if (!c->cached) c->cached = units / 5 + (units % 5 != 0);
    return HD_OK;
}

static const uint64_t buckets_most = 1ull << 31;

static hd_status shape_of(const hd_design *d, const hd_config *c, hd_info *info)
{
    const uint32_t levels = c->gphash.levels, hashes = c->gphash.hashes;
    (void)d;
    if (hashes != 1 && hashes != 2 && hashes != 4)
        return hd_fail(HD_EINVAL, "hashes: gphash has 1, 2 or 4, not %" PRIu32, hashes);
    if ((uint64_t)levels * hashes * c->slots != GPHASH_LANES)
        return hd_fail(HD_EINVAL,
                       "%s: a key of gphash may be in 32 slots, not in %" PRIu32 " levels x %" PRIu32
                       " hashes x %" PRIu32,
                       c->slots != GPHASH_SLOTS_USUAL  ? "slots"
                       : levels != GPHASH_LEVELS_USUAL ? "levels"
                                                       : "hashes",
                       levels, hashes, c->slots);
    if (c->clock != HD_CLOCK_LOGICAL) return hd_fail(HD_EINVAL, "clock: gphash keeps no times");
    if (c->value_bytes > UINT16_MAX + 1u)
        return hd_fail(HD_EINVAL, "value_bytes: %" PRIu32 " are more than 65536", c->value_bytes);
    if (info->layout == HD_LAYOUT_USUAL)
        info->layout = c->value_bytes <= GPHASH_INLINE ? HD_LAYOUT_INLINE : HD_LAYOUT_CELLS;
    if (info->layout != HD_LAYOUT_CELLS && (info->layout != HD_LAYOUT_INLINE || c->value_bytes > GPHASH_INLINE))
        return hd_fail(HD_EINVAL, "layout: gphash has cells, or values of at most %d bytes inline", GPHASH_INLINE);
    if (info->layout == HD_LAYOUT_CELLS && c->value_bytes == 0) return hd_fail(HD_EINVAL, "layout: a set has no cells");
    uint64_t per_base = buckets_per_base(levels, hashes), per = per_base * c->slots;
    uint64_t base = c->capacity / per + (c->capacity % per != 0);
    if (base > buckets_most / per_base)
        return hd_fail(HD_EINVAL, "capacity: %" PRIu64 " entries are more than %" PRIu64 " buckets of %" PRIu32,
                       c->capacity, buckets_most, c->slots);
    info->gphash = c->gphash;
    if (info->gphash.index == HD_INDEX_USUAL) info->gphash.index = HD_INDEX_DEVICE;
    info->base_buckets = info->buckets = base * per_base;
    const gphash_view v = gphash_view_for(info);
    if (gphash_cells(&v) >= UINT32_MAX)
        return hd_fail(HD_EINVAL, "capacity: %" PRIu64 " entries need more than 2^32 cells", c->capacity);
    gphash_tell(&v, info);
    return shape_cache(&v, info);
}

void gphash_usual(hd_config *c)
{
    c->policy = "none";
    c->slots = GPHASH_SLOTS_USUAL;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void give_level(const gphash_view *v, const hd_seams *s, uint32_t i, gphash_level *l)
{
    uint64_t slots = gphash_level_buckets(v, i) * v->slots;
    hd_give(s, l->key, slots, sizeof *l->key);
    hd_give(s, l->number, slots, sizeof *l->number);
    l->key = l->number = NULL;
}

/* An empty level. */
static hd_status take_level(const gphash_view *v, const hd_seams *s, uint32_t i, gphash_level *l)
{
    uint64_t slots = gphash_level_buckets(v, i) * v->slots;
    void *key = NULL, *number = NULL;
    hd_status status = hd_take(s, "capacity: keys", slots, sizeof *l->key, &key);
    if (!status) status = hd_take(s, "capacity: numbers", slots, sizeof *l->number, &number);
    l->key = (uint64_t *)key;
    l->number = (uint64_t *)number;
    if (status) return give_level(v, s, i, l), status;
    memset(key, 0xff, slots * sizeof *l->key); /* HD_KEY_EMPTY, GPHASH_NONE */
    memset(number, 0xff, slots * sizeof *l->number);
    return HD_OK;
}

static void give_ring(const gphash_view *v, const hd_seams *s)
{
    hd_give(s, v->free, gphash_ring(v), sizeof *v->free);
    hd_give(s, v->mark, (gphash_cells(v) + 63) / 64, sizeof *v->mark);
}

static void give_cells(gphash_table *t, const hd_seams *s)
{
    for (uint32_t k = 0; k < GPHASH_LEVELS; k++)
        if (t->v.cell[k]) hd_give(s, t->v.cell[k], gphash_chunk_cells(&t->v, k), t->v.cell_bytes);
    give_ring(&t->v, s);
}

/* The ring, and a mark for each cell, of a table that has grown so many times. */
static hd_status take_ring(gphash_view *v, const hd_seams *s, uint32_t grown)
{
    uint64_t places = gphash_ring_then(v, grown), marks = (gphash_cells_then(v, grown) + 63) / 64;
    void *p = NULL, *q = NULL;
    hd_status status = hd_take(s, "capacity: free cells", places, sizeof *v->free, &p);
    if (!status) status = hd_take(s, "capacity: marks of cells", marks, sizeof *v->mark, &q);
    if (status) {
        hd_give(s, p, places, sizeof *v->free);
        return status;
    }
    v->free = (uint32_t *)p;
    v->mark = (uint64_t *)q;
    return HD_OK;
}

static hd_status take_chunk(gphash_view *v, const hd_seams *s, uint32_t chunk)
{
    void *p = NULL;
    hd_status status = hd_take(s, "capacity: values", gphash_chunk_cells(v, chunk), v->cell_bytes, &p);
    if (!status) memset(p, 0, gphash_chunk_cells(v, chunk) * v->cell_bytes);
    v->cell[chunk] = (uint8_t *)p;
    return status;
}

static void close_table(void *state, const hd_seams *s)
{
    gphash_table *t = gphash_table_of(state);
    if (!t) return;
    for (uint32_t i = 0; i < GPHASH_LEVELS; i++)
        if (t->v.level[i].key) give_level(&t->v, s, i, &t->v.level[i]);
    if (t->v.cell_bytes) give_cells(t, s);
    hd_give(s, t, 1, sizeof *t);
}

static hd_status open_table(const hd_design *d, const hd_info *info, const hd_seams *s, void **state)
{
    (void)d;
    void *p;
    hd_status status = hd_take(s, "table", 1, sizeof(gphash_table), &p);
    if (status) return status;
    gphash_table *t = (gphash_table *)p;
    memset(t, 0, sizeof *t);
    t->v = gphash_view_for(info);
    for (uint32_t i = t->v.bottom; i <= gphash_top(&t->v) && !status; i++)
        status = take_level(&t->v, s, i, &t->v.level[i]);
    if (!status && t->v.cell_bytes) status = take_ring(&t->v, s, t->v.grown);
    for (uint32_t k = 0; k <= t->v.grown && t->v.cell_bytes && !status; k++) status = take_chunk(&t->v, s, k);
    if (status) return close_table(t, s), status;
    gphash_clear(t);
    *state = t;
    return HD_OK;
}

/* ---- Growth ---------------------------------------------------------------------------------- */

hd_status gphash_raises(const gphash_view *v, uint64_t buckets, uint32_t *levels)
{
    uint64_t have = gphash_buckets(v);
    if (buckets < have) return hd_fail(HD_EINVAL, "buckets: gphash does not shrink to %" PRIu64, buckets);
    for (*levels = 0; have < buckets && buckets <= buckets_most; have *= 2) ++*levels;
    if (buckets > buckets_most || gphash_cells_then(v, v->grown + *levels) >= UINT32_MAX)
        return hd_fail(HD_EINVAL, "buckets: %" PRIu64 " are more than a table can have", buckets);
    return HD_OK;
}

/* A ring for the cells of a table that has grown once more, and the chunk that brings, or neither. Then the ring has
 * the cells that were free, and the new ones. */
static hd_status add_cells(gphash_table *t, const hd_seams *s)
{
    gphash_view *v = &t->v, was = *v;
    const uint32_t grown = v->grown + 1;
    uint64_t cells = gphash_cells(v), frees = t->tail - t->head;
    hd_status status = take_ring(v, s, grown);
    if (status) return status;
    if ((status = take_chunk(v, s, grown))) {
        v->grown = grown;
        give_ring(v, s);
        *v = was;
        return status;
    }
    for (uint64_t i = 0; i < frees; i++) v->free[i] = was.free[(t->head + i) % gphash_ring(v)];
    for (uint64_t i = 0; i < gphash_chunk_cells(v, grown); i++) v->free[frees + i] = (uint32_t)(cells + i);
    t->head = 0;
    t->tail = frees + gphash_chunk_cells(v, grown);
    give_ring(&was, s);
    return HD_OK;
}

/* Adds a level, with the cells for it, or changes nothing. */
static hd_status raise_once(gphash_table *t, const hd_seams *s)
{
    gphash_view *v = &t->v;
    uint32_t bottom = v->bottom, to = gphash_top(v) + 1;
    hd_status status = take_level(v, s, to, &v->level[to]);
    if (!status && v->cell_bytes && (status = add_cells(t, s))) give_level(v, s, to, &v->level[to]);
    if (status) return status;
    v->grown++;
    gphash_raise(v);
    give_level(v, s, bottom, &v->level[bottom]);
    return HD_OK;
}

static hd_status resize_table(void *state, const hd_seams *s, uint64_t buckets, hd_info *info)
{
    gphash_table *t = gphash_table_of(state);
    uint32_t levels = 0;
    hd_status status = gphash_raises(&t->v, buckets, &levels);
    for (; levels > 0 && !status; levels--) status = raise_once(t, s);
    gphash_tell(&t->v, info);
    return status;
}

/* Whether levels were added to one of base_buckets. */
static bool is_grown(const hd_info *info)
{
    uint64_t per = buckets_per_base(info->gphash.levels, info->gphash.hashes),
             times = info->buckets / info->base_buckets;
    return info->base_buckets % per == 0 && info->buckets % info->base_buckets == 0 && !(times & (times - 1));
}

/* ---- The rest of a design -------------------------------------------------------------------- */

static hd_status verify(void *state)
{
    char why[256];
    gphash_check(gphash_table_of(state), why, sizeof why);
    return why[0] ? hd_fail(HD_ECORRUPT, "%s", why) : HD_OK;
}

static size_t next_entries(void *state, hd_entry *e, size_t most)
{
    const gphash_view *v = &gphash_table_of(state)->v;
    size_t n = 0;
    for (uint64_t i = e->slot; i < gphash_places(v) && n < most; i++) {
        uint64_t key = *gphash_key_at(v, i);
        if (key < HD_KEY_RESERVED) e[n++] = (hd_entry){ i, key, 0, gphash_value(v, i) };
    }
    return n;
}

static bool put_at(void *state, const hd_entry *e)
{
    gphash_table *t = gphash_table_of(state);
    static const uint64_t none = 0;
    return e->key < HD_KEY_RESERVED && e->score == 0 &&
           gphash_put(t, e->slot, e->key, t->v.value_bytes ? e->value : &none);
}

int gphash_extents(const gphash_view *v, hd_extent *all)
{
    int n = 0;
    for (uint32_t i = v->bottom; i <= gphash_top(v); i++) {
        uint64_t bytes = gphash_level_buckets(v, i) * v->slots * sizeof(uint64_t);
        all[n++] = (hd_extent){ .name = "keys", .number = i, .p = v->level[i].key, .bytes = bytes };
        all[n] = (hd_extent){ .name = "numbers", .number = i, .p = v->level[i].number, .bytes = bytes };
        all[n++].names = v->cell_bytes > 0;
    }
    for (uint32_t k = 0; v->cell_bytes && k <= v->grown; k++) {
        all[n] = (hd_extent){ .name = "cells", .number = k, .p = v->cell[k], .cell_bytes = v->cell_bytes };
        all[n++].bytes = gphash_chunk_cells(v, k) * v->cell_bytes;
    }
    return n;
}

static int extents(void *state, hd_extent *all) { return gphash_extents(&gphash_table_of(state)->v, all); }

static hd_status recovered(void *state, hd_recovery *did)
{
    did->cleared += gphash_recover(gphash_table_of(state));
    return did->was_clean ? HD_OK : verify(state);
}

static hd_status arrange(void *state) { return gphash_arrange(gphash_table_of(state)), HD_OK; }

static hd_status run_batch(void *state, uint32_t row, const hd_batch *b, hd_when when, uint64_t *tally)
{
    (void)row, (void)when;
    gphash_run_batch(gphash_table_of(state), b, tally);
    return HD_OK;
}

static const char *unsupported_batch(const hd_variant_row *row, const hd_info *info, const hd_batch *b)
{
    (void)row;
    return b->each ? NULL : gphash_unsupported(b->op, info->gphash.cache);
}

static const char *const indexes[] = { "usual", "device", "far", "near", NULL }; /* by hd_index */
static const char *const caches[] = { "none", "buckets", "values", NULL };       /* by hd_cache */

/* clang-format off */
static const hd_param params[] = {
    { "levels", HD_PARAM_U32, HD_PARAM_AT(hd_gphash_config, levels), .least = 1, .most = 8,
      .usual = GPHASH_LEVELS_USUAL, .what = "levels of a table, each with twice the buckets of the one below",
      .label = "levels", .places = true, .saved = HD_SAVED_U32, .saved_at = 120 },
    { "hashes", HD_PARAM_U32, HD_PARAM_AT(hd_gphash_config, hashes), .least = 1, .most = 4, .usual = 2,
      .what = "candidate buckets per key and level", .label = "buckets of a key in a level",
      .places = true, .saved = HD_SAVED_U32, .saved_at = 124 },
    { "index", HD_PARAM_ENUM, HD_PARAM_AT(hd_gphash_config, index), .values = indexes,
      .what = "where a table on a device is: in its memory, far, or far with a copy of the slots near" },
    { "cache", HD_PARAM_ENUM, HD_PARAM_AT(hd_gphash_config, cache), .values = caches,
      .what = "what a far table has copies of in the device's memory" },
    { "cached", HD_PARAM_U64, HD_PARAM_AT(hd_gphash_config, cached), .most = UINT32_MAX - 1,
      .what = "how many buckets or values may have copies; 0: a fifth" },
};
/* clang-format on */

const hd_params gphash_params = { .design = "gphash",
                                  .row = params,
                                  .count = sizeof params / sizeof *params,
                                  .config_at = offsetof(hd_config, gphash),
                                  .info_at = offsetof(hd_info, gphash),
                                  .bytes = sizeof(hd_gphash_config) };

#define HD_RAN(number, name, what, role, family, does) [HD_OP_##number] = "gphash." #name ".ref",
static const hd_variant variant = {
    .name = "ref",
    .row = { { .what = { "the sequential reference", NULL } } },
    .ran = { HD_OP_ROWS(HD_RAN) },
    .ran_mixed = "gphash.mixed.ref",
};
static const hd_variant *const variants[] = { &variant, NULL };

const hd_backend gphash_reference = {
    .name = "ref",
    .shape = shape_of,
    .open = open_table,
    .close = close_table,
    .check = verify,
    .next = next_entries,
    .put_at = put_at,
    .resize = resize_table,
    .grows_only = true,
    .grown = is_grown,
    .variants = variants,
    .unsupported = unsupported_batch,
    .extents = extents,
    .arrange = arrange,
    .recovered = recovered,
    .survives_kill = true,
    .launch = run_batch,
};
