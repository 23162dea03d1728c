/* SPDX-License-Identifier: Apache-2.0
 *
 * scene.c - from a case string to memory that kernels run on.
 */
#include "judge/scene.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "judge/making.h"
#include "judge/rules.h"
#include "lib/error.h"
#include "lib/op.h"
#include "policies/policy.h"
#include "predicates/predicate.h"
#include "ref/hkv.h"
#include "workload/rng.h"
#include "workload/workload.h"

enum { GUARD = 128, ALIGN = 128, PINS_MOST = 64 };
enum { ITEMS_MOST = 1 << 16, ENTRIES_MOST = 1 << 20, MEMORY_MOST = 1 << 28 };

enum { SCORES = 16, CLOCK_THEN = SCORES / 2 /* so that newcomers are admitted and refused; in every other scene all scores are past */ };

/* ---- Memory ------------------------------------------------------------------------------------------------ */

/* Reserves room for a region; *at is its offset. */
static void plan(scene *s, const char *name, uint64_t bytes, size_t *at)
{
    scene_region *r = &s->region[s->regions++];
    s->bytes = (s->bytes + GUARD + ALIGN - 1) / ALIGN * ALIGN;
    r->name = name;
    r->at = *at = s->bytes;
    r->bytes = (size_t)bytes;
    s->bytes += r->bytes;
}

/* Where everything is, as offsets. */
typedef struct layout {
    size_t digest, key, score, bound, value, far, pin;
    size_t lock, pins, pin_lock;
    size_t tally[SCENE_PARTS], flag[SCENE_PARTS], stage_key[SCENE_PARTS], stage_score[SCENE_PARTS], stage_value[SCENE_PARTS], segment[SCENE_PARTS], cursor[SCENE_PARTS];
    size_t fetch_entry[SCENE_PARTS], fetch_rank[SCENE_PARTS], fetch_order[SCENE_PARTS], fetch_count[SCENE_PARTS], left_item[SCENE_PARTS], left_count[SCENE_PARTS];
} layout;

/* Whether far values are sorted before they are fetched: however few they are, unless the case says no. */
static bool sorts(const scene *s) { return hkv_far_bytes(&s->v) && s->c[0].fetch != HD_FETCH_DIRECT; }

static void plan_all(scene *s, layout *l)
{
    const hkv_view *v = &s->v;
    uint64_t entries = hkv_capacity(v);
    memset(l, 0, sizeof *l); /* 0: it has no such place */
    plan(s, "digest", entries, &l->digest);
    plan(s, v->step == 1 ? "key" : "pair", entries * 8 * v->step, &l->key);
    l->score = l->key + 8;
    if (v->step == 1) plan(s, "score", entries * 8, &l->score);
    if (hkv_bounds_of(v)) plan(s, "bound", hkv_bounds_of(v) * 8, &l->bound);
    plan(s, "value", hkv_near_bytes(v), &l->value);
    if (hkv_far_bytes(v)) plan(s, "far value", hkv_far_bytes(v), &l->far);
    plan(s, "pin", v->pin_places * sizeof(hkv_pin), &l->pin);
    s->table_bytes = s->bytes;
    plan(s, "lock", v->buckets * 4, &l->lock);
    plan(s, "pins", 4, &l->pins);
    plan(s, "pin_lock", 4, &l->pin_lock);
    for (uint32_t k = 0; k < s->parts; k++) {
        uint64_t n = s->part[k].batch.n + 1;
        plan(s, "tally", HD_OUTCOME_COUNT * 8, &l->tally[k]);
        plan(s, "stage_flag", n, &l->flag[k]);
        plan(s, "stage_key", n * 8, &l->stage_key[k]);
        plan(s, "stage_score", n * 8, &l->stage_score[k]);
        plan(s, "stage_value", n * v->value_bytes, &l->stage_value[k]);
        plan(s, "segment", HKV_SEGMENTS * 8, &l->segment[k]);
        plan(s, "cursor", HKV_CURSORS * 8, &l->cursor[k]);
        plan(s, "left_item", HKV_LEFT_LISTS * n * 4, &l->left_item[k]);
        plan(s, "left_count", HKV_LEFT_COUNTS * 4, &l->left_count[k]);
        if (!sorts(s)) continue;
        plan(s, "fetch_entry", n * 8, &l->fetch_entry[k]);
        plan(s, "fetch_rank", n * 4, &l->fetch_rank[k]);
        plan(s, "fetch_order", n * 4, &l->fetch_order[k]);
        plan(s, "fetch_count", HKV_FETCH_COUNTS * 4, &l->fetch_count[k]);
    }
    s->bytes = (s->bytes + GUARD + ALIGN - 1) / ALIGN * ALIGN;
}

static uint64_t *words_at(const scene *s, size_t at) { return (uint64_t *)(void *)(s->memory + at); }
static uint32_t *halves_at(const scene *s, size_t at) { return (uint32_t *)(void *)(s->memory + at); }

hkv_view scene_view(const scene *s, uint8_t *memory)
{
    hkv_view v = s->v;
    v.digest = memory + (s->v.digest - s->memory);
    v.key = (uint64_t *)(void *)(memory + ((uint8_t *)s->v.key - s->memory));
    v.score = (uint64_t *)(void *)(memory + ((uint8_t *)s->v.score - s->memory));
    if (v.bound) v.bound = (uint64_t *)(void *)(memory + ((uint8_t *)s->v.bound - s->memory));
    v.value = memory + (s->v.value - s->memory);
    if (v.far) v.far = memory + (s->v.far - s->memory);
    v.pin = (hkv_pin *)(void *)(memory + ((uint8_t *)s->v.pin - s->memory));
    return v;
}

const char *scene_guards(const scene *s)
{
    size_t from = 0;
    for (uint32_t i = 0; i <= s->regions; i++) {
        size_t to = i < s->regions ? s->region[i].at : s->bytes;
        if (memcmp(s->memory + from, s->initial + from, to - from) != 0) return s->region[i < s->regions ? i : i - 1].name;
        if (i < s->regions) from = to + s->region[i].bytes;
    }
    return NULL;
}

/* ---- What is in the table ------------------------------------------------------------------------------------ */

static bool by_chance(hd_rng *g, uint32_t ppm) { return ppm && hd_rng_below(g, 1000000) < ppm; }

void scene_draw_bytes(hd_rng *g, uint8_t *p, uint64_t bytes, uint64_t mask)
{
    for (uint64_t at = 0; at < bytes; at += 8) {
        uint64_t word = hd_rng_next(g) & mask;
        memcpy(p + at, &word, bytes - at < 8 ? bytes - at : 8);
    }
}

uint64_t scene_value_mask(hd_elem e) { return e == HD_F32 || e == HD_F16 || e == HD_BF16 ? 0x3fff3fff3fff3fffu : UINT64_MAX; }

uint64_t scene_draw_score(const scene *s, hd_rng *g, uint64_t below)
{
    if (by_chance(g, s->c[0].extreme_ppm)) return hd_rng_below(g, 2) ? UINT64_MAX : 0;
    return hd_rng_below(g, below);
}

/* Puts key into bucket b, a free slot of it drawn by lot. */
static void place(scene *s, hd_rng *g, uint64_t key, uint64_t b, uint64_t score, uint64_t mask)
{
    const hkv_view *v = &s->v;
    uint64_t e;
    do e = hkv_entry(v, b, (uint32_t)hd_rng_below(g, v->slots));
    while (v->digest[e]);
    v->digest[e] = hd_digest(hd_hash(key, v->seed));
    *hkv_key_at(v, e) = key;
    *hkv_score_at(v, e) = score;
    if (v->value_bytes) scene_draw_bytes(g, hkv_value(v, e), v->value_bytes, mask);
}

/* One key more in the table, when its bucket has not yet as many as it is to have. */
static void bring_in(scene *s, hd_rng *g, uint32_t *room, uint64_t key, uint64_t score_below, uint64_t mask)
{
    const hkv_view *v = &s->v;
    if (key >= HD_KEY_RESERVED || hkv_find(v, key) != HKV_NOWHERE) return;
    uint64_t h = hd_hash(key, v->seed), b = hd_first_bucket(h, v->buckets);
    if (v->dual && (room[b] == 0 || hd_rng_below(g, 2))) b = hd_second_bucket(h, v->buckets);
    if (room[b] == 0) return;
    room[b]--;
    hd_score_in in = { scene_draw_score(s, g, score_below), hd_rng_below(g, score_below), (uint32_t)hd_rng_below(g, s->epoch + 1) };
    place(s, g, key, b, hd_on_insert(v->policy, in), mask);
}

/* Most buckets are full or nearly so; the batch's keys come first, and in half of the scenes they have the least scores. */
static bool fill_table(scene *s, hd_rng *g)
{
    const hkv_view *v = &s->v;
    uint64_t mask = scene_value_mask(s->part[0].batch.elem), hot = hd_rng_below(g, 2) ? 4 : SCORES;
    uint32_t *room = (uint32_t *)malloc(v->buckets * sizeof *room);
    if (!room) return false;
    for (uint64_t b = 0; b < v->buckets; b++) {
        uint64_t kind = hd_rng_below(g, 8);
        room[b] = kind < 4 ? v->slots : kind < 6 ? v->slots - 1 : kind < 7 ? v->slots / 2 : 0;
    }
    for (uint32_t k = 0; k < s->parts; k++)
        for (uint64_t i = 0; judge_ops[s->part[k].batch.op].keyed && i < s->part[k].batch.n; i++)
            if (hd_rng_below(g, 2)) bring_in(s, g, room, s->part[k].batch.key[i], hot, mask);
    uint64_t left = 0;
    for (uint64_t b = 0; b < v->buckets; b++) left += room[b];
    for (uint64_t tries = 64 * left + 64; tries && left; tries--) {
        bring_in(s, g, room, hd_rng_below(g, HD_KEY_RESERVED), SCORES, mask);
        left = 0;
        for (uint64_t b = 0; b < v->buckets && left == 0; b++) left += room[b];
    }
    free(room);
    return true;
}

/* Pins some of what is there: often where pins are the matter, now and then elsewhere. */
static void pin_some(scene *s, hd_rng *g)
{
    hd_op op = s->part[0].batch.op;
    bool matter = op == HD_OP_LOCK_KEYS || op == HD_OP_UNLOCK_KEYS;
    if (!matter && hd_rng_below(g, 4)) return;
    for (uint64_t e = 0; e < hkv_capacity(&s->v); e++) {
        if (!s->v.digest[e] || hd_rng_below(g, matter ? 2 : 4)) continue;
        hkv_item it = { HD_OP_LOCK_KEYS, HD_U64, HD_EITHER, *hkv_key_at(&s->v, e), NULL, { 1, 0, 0 }, 1 + hd_rng_below(g, 2) };
        hkv_seen seen;
        hkv_apply(&s->v, &it, &seen, NULL);
    }
}

/* ---- What is in the batches -------------------------------------------------------------------------------------- */

void scene_mix_keys(const hd_case *c, hd_batch *b, uint64_t *key, hd_rng *g)
{
    for (uint64_t i = 0; i < b->n; i++) {
        if (by_chance(g, c->reserved_ppm)) key[i] = HD_KEY_RESERVED + hd_rng_below(g, 3);
        else if (i && by_chance(g, c->duplicate_ppm)) key[i] = key[hd_rng_below(g, i)];
    }
    b->distinct = c->distinct;
    if (!c->distinct) return;
    uint64_t n = 0;
    for (uint64_t i = 0; i < b->n; i++) {
        uint64_t k = 0;
        while (k < n && key[k] != key[i]) k++;
        if (k == n) key[n++] = key[i];
    }
    b->n = n;
}

static hd_status draw_keys(const hd_case *c, hd_batch *b, uint64_t *key, hd_rng *g)
{
    hd_source *source;
    hd_status status = hd_source_open_spec(c->keys, c->seed, &source);
    if (status) return status;
    for (uint64_t i = 0; i < b->n && !status; i++) {
        hd_request r;
        size_t got = 0;
        status = hd_source_next(source, &r, 1, &got);
        if (!status && got == 0) status = hd_fail(HD_EINVAL, "keys: %s ends after %" PRIu64 " of %" PRIu64, c->keys, i, b->n);
        key[i] = r.key;
    }
    hd_source_close(source);
    if (!status) scene_mix_keys(c, b, key, g);
    return status;
}

void scene_draw_predicate(hd_batch *b, hd_rng *g)
{
    b->pred = hd_predicate_rows[hd_rng_below(g, HD_PREDICATE_COUNT)].name;
    b->pred_arg[0] = hd_rng_below(g, 8);
    b->pred_arg[1] = hd_rng_below(g, 16);
}

bool scene_draw_elem(const scene *s, hd_batch *b, hd_rng *g)
{
    b->elem = (hd_elem)hd_rng_below(g, HD_ELEM_COUNT);
    for (int tries = 0; tries < HD_ELEM_COUNT && s->v.value_bytes % judge_elem_bytes(b->elem); tries++) b->elem = (hd_elem)((b->elem + 1) % HD_ELEM_COUNT);
    return b->op != HD_OP_ACCUM_OR_ASSIGN || s->v.value_bytes % judge_elem_bytes(b->elem) == 0;
}

static hd_status draw_part(scene *s, uint32_t k)
{
    const hd_case *c = &s->c[k];
    scene_part *p = &s->part[k];
    hd_batch *b = &p->batch;
    hd_rng g = hd_rng_from(c->seed * 2 + k + 0x7363656e65u);
    b->op = judge_op_named(c->op);
    if (b->op == HD_OP_COUNT_) return hd_fail(HD_EINVAL, "case: a scene is of one operation, not of '%s'", c->op);
    const judge_op *rule = &judge_ops[b->op];
    bool range = rule->range;
    b->n = rule->keyed ? c->batch : range ? hkv_capacity(&s->v) : 0;
    if (!scene_draw_elem(s, b, &g))
        return hd_fail(HD_EINVAL, "case: value=%" PRIu32 " is no whole number of any element", s->v.value_bytes);
    if (!judge_arrays_open(&p->arrays, b->n, s->v.value_bytes)) return hd_fail(HD_ENOMEM, "case: no memory for a batch of %" PRIu64, b->n);
    p->arrays.skew = c->seed % 9 == 6 ? 4 : 0; /* a number that shapes do not come round with */
    if (range) {
        b->start = hd_rng_below(&g, b->n / 2 + 1);
        b->n -= b->start + hd_rng_below(&g, b->n / 2 + 1);
    }
    judge_arrays_lend(&p->arrays, b);
    uint64_t *key = (uint64_t *)judge_arrays_at(&p->arrays, JUDGE_KEY), *score = (uint64_t *)judge_arrays_at(&p->arrays, JUDGE_SCORE);
    uint8_t *value = (uint8_t *)judge_arrays_at(&p->arrays, JUDGE_VALUE), *flag = (uint8_t *)judge_arrays_at(&p->arrays, JUDGE_FLAG);
    hd_status status = rule->keyed ? draw_keys(c, b, key, &g) : HD_OK;
    if (status) return status;
    judge_arrays_lend(&p->arrays, b); /* n may be less by now */
    bool needed = (hd_policy_rows[s->v.policy].flags & HD_SCORES_NEEDED) != 0;
    if (!rule->keyed || (!needed && hd_rng_below(&g, 4) == 0)) b->score = NULL;
    for (uint64_t i = 0; rule->keyed && i < b->n; i++) {
        score[i] = scene_draw_score(s, &g, SCORES);
        flag[i] = (uint8_t)hd_rng_below(&g, 3);
        scene_draw_bytes(&g, value + i * s->v.value_bytes, s->v.value_bytes, scene_value_mask(b->elem));
    }
    if (b->op != HD_OP_ACCUM_OR_ASSIGN || hd_rng_below(&g, 4) == 0) b->flag = NULL;
    b->holder = 1;
    scene_draw_predicate(b, &g);
    return HD_OK;
}

/* ---- The scene ---------------------------------------------------------------------------------------------------- */

static uint32_t policy_named(const char *name)
{
    uint32_t p = 0;
    while (p < HD_POLICY_COUNT && strcmp(hd_policy_rows[p].name, name) != 0) p++;
    return p;
}

static hd_status shape(scene *s, const hd_case *c)
{
    hkv_view *v = &s->v;
    v->slots = c->slots;
    v->step = c->layout == HD_LAYOUT_PLANES ? 1 : 2;
    v->buckets = c->buckets ? c->buckets : (c->capacity + c->slots - 1) / c->slots;
    v->value_bytes = c->value_bytes;
    v->seed = c->table_seed;
    v->dual = c->dual;
    v->policy = policy_named(c->policy);
    v->admit_always = c->admit == HD_ADMIT_ALWAYS;
    v->pin_limit = c->pins < PINS_MOST ? c->pins : PINS_MOST;
    for (v->pin_places = v->pin_limit ? 2 : 0; v->pin_places && v->pin_places * 3 / 4 <= v->pin_limit;) v->pin_places *= 2;
    if (strcmp(c->design, "hkv") != 0) return hd_fail(HD_EINVAL, "case: there are no kernels of design %s", c->design);
    if (v->policy == HD_POLICY_COUNT) return hd_fail_name("policy", c->policy, HD_POLICIES);
    if (c->dual && v->buckets < 2) return hd_fail(HD_EINVAL, "case: dual needs 2 buckets");
    if (v->buckets > ENTRIES_MOST / v->slots || hkv_capacity(v) * (18u + v->value_bytes) > MEMORY_MOST)
        return hd_fail(HD_EINVAL, "case: a scene has at most %d entries and %d MiB; this is a large one", ENTRIES_MOST, MEMORY_MOST >> 20);
    if (c->batch > ITEMS_MOST) return hd_fail(HD_EINVAL, "case: a scene has at most %d items", ITEMS_MOST);
    hkv_split(v, c->tiers, c->near_bytes);
    s->clock = c->seed % 2 ? SCORES : CLOCK_THEN;
    s->epoch = 1;
    return HD_OK;
}

static uint32_t predicate_of(const hd_batch *b)
{
    return judge_ops[b->op].predicate ? hd_predicate_named(b->pred) : (uint32_t)HD_PREDICATE_all; /* a row: scene_draw_predicate */
}

/* Whether no score that is there could be taken for one of this batch. */
static bool times_tell(const scene *s, const hkv_args *a)
{
    bool tell = a->policy_flags & HD_SCORE_IS_TIME;
    for (uint64_t e = 0; e < hkv_capacity(&s->v) && tell; e++) tell = !s->v.digest[e] || *hkv_score_at(&s->v, e) - a->clock >= a->n;
    return tell;
}

void scene_make_args(scene *s, uint32_t k)
{
    scene_part *p = &s->part[k];
    const hd_batch *b = &p->batch;
    hkv_args *a = &p->args;
    bool list = judge_ops[b->op].list && judge_ops[b->op].keyed; /* the others list slots */
    a->v = s->v;
    a->lock = s->lock;
    a->pins = s->pins;
    a->pin_lock = s->pin_lock;
    a->op = b->op;
    a->elem = b->elem;
    a->predicate = predicate_of(b);
    a->epoch = s->epoch;
    a->n = b->n;
    a->first = judge_ops[b->op].keyed ? 0 : b->start;
    a->last = judge_ops[b->op].keyed || judge_ops[b->op].range ? a->first + b->n : hkv_capacity(&s->v);
    a->key = b->key;
    a->value = b->op == HD_OP_FIND_OR_INSERT_PTR ? NULL : (const uint8_t *)b->value;
    a->score = b->score;
    a->flag = b->flag;
    a->policy_flags = hd_policy_rows[s->v.policy].flags;
    a->distinct = b->distinct;
    a->holder = b->holder;
    a->start = b->start;
    a->pred_arg[0] = b->pred_arg[0];
    a->pred_arg[1] = b->pred_arg[1];
    a->clock = s->clock + (k ? s->part[0].batch.n : 0);
    a->per_item = 1;
    a->times_tell = times_tell(s, a);
    a->outcome = b->outcome;
    a->value_out = (uint8_t *)b->value_out;
    a->score_out = b->score_out;
    a->ptr = (uint64_t *)(void *)b->ptr;
    a->list_key = b->list_key;
    a->list_score = b->list_score;
    a->list_item = b->list_item;
    a->list_value = (uint8_t *)b->list_value;
    a->count = b->count;
    a->stage_flag = list ? p->stage_flag : NULL;
    a->fetch_entry = p->fetch_entry;
    a->window = 0;
    a->left_window = b->n + 1;
}

/* Where a part's own memory is. */
static void place_part(scene *s, uint32_t k, const layout *l)
{
    scene_part *p = &s->part[k];
    hkv_args *a = &p->args;
    a->tally = p->tally = words_at(s, l->tally[k]);
    p->stage_flag = s->memory + l->flag[k];
    a->stage_key = words_at(s, l->stage_key[k]);
    a->stage_score = words_at(s, l->stage_score[k]);
    a->stage_value = s->memory + l->stage_value[k];
    a->segment = words_at(s, l->segment[k]);
    a->cursor = words_at(s, l->cursor[k]);
    a->left_item = halves_at(s, l->left_item[k]);
    a->left_count = halves_at(s, l->left_count[k]);
    memset(a->left_count, 0, HKV_LEFT_COUNTS * 4);
    memset(a->tally, 0, HD_OUTCOME_COUNT * 8);
    memset(a->cursor, 0, HKV_CURSORS * 8);
    memset(a->segment, 0, HKV_SEGMENTS * 8);
    p->fetch_entry = l->fetch_entry[k] ? words_at(s, l->fetch_entry[k]) : NULL;
    if (!p->fetch_entry) return;
    a->fetch_rank = halves_at(s, l->fetch_rank[k]);
    a->fetch_order = halves_at(s, l->fetch_order[k]);
    a->fetch_count = halves_at(s, l->fetch_count[k]);
    memset(a->fetch_count, 0, HKV_FETCH_COUNTS * 4);
}

bool scene_make_memory(scene *s)
{
    layout all, *l = &all;
    plan_all(s, l);
    s->memory = (uint8_t *)aligned_alloc(ALIGN, s->bytes);
    s->initial = (uint8_t *)malloc(s->bytes);
    if (!s->memory || !s->initial) return false;
    for (size_t i = 0; i < s->bytes; i++) s->memory[i] = (uint8_t)(0xa7 + 29 * i); /* guards, and what nobody wrote yet */
    s->v.digest = s->memory + l->digest;
    s->v.key = words_at(s, l->key);
    s->v.score = words_at(s, l->score);
    s->v.bound = l->bound ? words_at(s, l->bound) : NULL;
    s->v.value = s->memory + l->value;
    s->v.far = l->far ? s->memory + l->far : NULL;
    s->v.pin = (hkv_pin *)(void *)(s->memory + l->pin);
    s->lock = (uint32_t *)(void *)(s->memory + l->lock);
    s->pins = (uint32_t *)(void *)(s->memory + l->pins);
    s->pin_lock = (uint32_t *)(void *)(s->memory + l->pin_lock);
    hkv_clear(&s->v, 1);
    memset(s->lock, 0, s->v.buckets * sizeof *s->lock);
    *s->pins = *s->pin_lock = 0;
    for (uint32_t k = 0; k < s->parts; k++) place_part(s, k, l);
    return true;
}

hd_status scene_new(const hd_case *c, uint32_t parts, scene **scene_out)
{
    scene *s = (scene *)calloc(1, sizeof *s);
    if (!s) return hd_fail(HD_ENOMEM, "case: no memory for a scene");
    s->parts = parts;
    memcpy(s->c, c, parts * sizeof *c);
    *scene_out = s;
    return shape(s, c);
}

hd_status scene_open(const hd_case *c, const scene_kernel *const *kernel, uint32_t parts, scene **scene_out)
{
    scene *s = NULL;
    hd_status status = scene_new(c, parts, &s);
    for (uint32_t k = 0; k < parts && !status; k++) {
        s->part[k].kernel = kernel[k];
        status = draw_part(s, k);
    }
    hd_rng g = hd_rng_from(c->seed ^ 0x7461626c65u);
    if (!status && (!scene_make_memory(s) || !fill_table(s, &g))) status = hd_fail(HD_ENOMEM, "case: no memory for a scene");
    if (status) {
        scene_close(s);
        return status;
    }
    if (s->v.pin_limit) pin_some(s, &g);
    *s->pins = s->v.pins;
    memcpy(s->initial, s->memory, s->bytes);
    for (uint32_t k = 0; k < parts; k++) scene_make_args(s, k);
    *scene_out = s;
    return HD_OK;
}

void scene_close(scene *s)
{
    if (!s) return;
    for (uint32_t k = 0; k < s->parts; k++) judge_arrays_close(&s->part[k].arrays);
    free(s->memory);
    free(s->initial);
    free(s);
}

void scene_item(scene *s, uint32_t part, uint64_t i, uint64_t key, uint64_t score)
{
    scene_part *p = &s->part[part];
    ((uint64_t *)judge_arrays_at(&p->arrays, JUDGE_KEY))[i] = key;
    ((uint64_t *)judge_arrays_at(&p->arrays, JUDGE_SCORE))[i] = score;
}

/* ---- Before every run ---------------------------------------------------------------------------------------------- */

static hd_status lend(simt_machine *m, const judge_arrays *a)
{
    static const char *const names[JUDGE_ARRAYS] = { "keys",  "values",    "scores",      "flags",       "outcome",   "value_out", "score_out",
                                                     "ptr",  "list_key", "list_value", "list_score", "list_item", "count" };
    hd_status status = HD_OK;
    for (int k = 0; k < JUDGE_ARRAYS && !status; k++) status = simt_machine_region(m, judge_arrays_at(a, (judge_array)k), a->used[k], names[k]);
    return status;
}

hd_status scene_prepare(scene *s, simt_machine *m)
{
    hd_status status = HD_OK;
    memcpy(s->memory, s->initial, s->bytes);
    for (uint32_t i = 0; i < s->regions && !status; i++)
        status = simt_machine_region(m, s->memory + s->region[i].at, s->region[i].bytes, s->region[i].name);
    for (uint32_t k = 0; k < s->parts && !status; k++) {
        judge_arrays_arm(&s->part[k].arrays);
        status = lend(m, &s->part[k].arrays);
    }
    for (uint32_t k = 0; k < s->parts && !status; k++) status = s->part[k].kernel->queue(s->part[k].kernel, m, &s->part[k].args, k);
    return status;
}

hd_status scene_queue(const scene_kernel *k, simt_machine *m, const hkv_args *a, uint32_t stream)
{
    uint64_t lanes = (a->last - a->first) * k->lanes;
    return simt_machine_launch(m, k->text, a, sizeof *a, (uint32_t)((lanes + k->threads - 1) / k->threads), k->threads, stream);
}
