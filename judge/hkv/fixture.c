/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture.c - makes an HKV table from a case: its shape, memory and contents.
 */
#include "judge/hkv/fixture.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/hkv/rows.h"
#include "judge/rules.h"
#include "base/error.h"
#include "policies/policy.h"
#include "predicates/predicate.h"
#include "ref/hkv/hkv.h"

enum { PINS_MOST = 64, ENTRIES_MOST = 1 << 20, MEMORY_MOST = 1 << 28 };

/* ---- Its shape ------------------------------------------------------------------------------- */

static uint32_t policy_named(const char *name)
{
    uint32_t p = 0;
    while (p < HD_POLICY_COUNT && strcmp(hd_policy_rows[p].name, name) != 0) p++;
    return p;
}

hd_status hkv_fixture_shape(fixture *s, const hd_case *c)
{
    hkv_view *v = hkv_fixture_view(s);
    v->slots = c->slots;
    v->step = c->layout == HD_LAYOUT_PLANES ? 1 : 2;
    v->buckets = c->buckets ? c->buckets : (c->capacity + c->slots - 1) / c->slots;
    v->value_bytes = c->value_bytes;
    v->seed = c->table_seed;
    v->dual = c->table.hkv.dual;
    v->policy = policy_named(c->policy);
    v->admit_always = c->table.hkv.admit == HD_ADMIT_ALWAYS;
    v->pin_limit = c->table.hkv.pins < PINS_MOST ? c->table.hkv.pins : PINS_MOST;
    for (v->pin_places = v->pin_limit ? 2 : 0; v->pin_places && v->pin_places * 3 / 4 <= v->pin_limit;)
        v->pin_places *= 2;
    if (v->policy == HD_POLICY_COUNT) return hd_fail_name("policy", c->policy, HD_POLICIES);
    if (c->table.hkv.dual && v->buckets < 2) return hd_fail(HD_EINVAL, "case: dual needs 2 buckets");
    if (v->buckets > ENTRIES_MOST / v->slots || hkv_capacity(v) * (18u + v->value_bytes) > MEMORY_MOST)
        return hd_fail(HD_EINVAL, "case: a fixture has at most %d entries and %d MiB; this is a large one",
                       ENTRIES_MOST, MEMORY_MOST >> 20);
    hkv_split(v, c->table.hkv.tiers, c->table.hkv.device_value_bytes);
    return HD_OK;
}

judge_scores hkv_fixture_scores(const fixture *s)
{
    return hd_policy_rows[hkv_fixture_view(s)->policy].flags & HD_SCORES_NEEDED ? JUDGE_SCORES_NEEDED
                                                                                : JUDGE_SCORES_GIVEN_OR_NOT;
}

/* ---- Its memory ------------------------------------------------------------------------------ */

static uint64_t *words(fixture *s, const char *name, uint64_t n) { return (uint64_t *)fixture_room(s, name, n * 8); }
static uint32_t *halves(fixture *s, const char *name, uint64_t n) { return (uint32_t *)fixture_room(s, name, n * 4); }

void hkv_fixture_lay_table(fixture *s)
{
    hkv_fixture_table *t = hkv_fixture_table_of(s);
    hkv_view *v = &t->v;
    uint64_t entries = hkv_capacity(v);
    v->digest = (uint8_t *)fixture_room(s, "digest", entries);
    v->key = words(s, v->step == 1 ? "key" : "pair", entries * v->step);
    v->score = v->step == 1 ? words(s, "score", entries) : v->key ? v->key + 1 : NULL;
    v->bound = hkv_bounds_of(v) ? words(s, "bound", hkv_bounds_of(v)) : NULL;
    v->value = (uint8_t *)fixture_room(s, "value", hkv_near_bytes(v));
    v->far = hkv_far_bytes(v) ? (uint8_t *)fixture_room(s, "far value", hkv_far_bytes(v)) : NULL;
    v->pin = (hkv_pin *)fixture_room(s, "pin", v->pin_places * sizeof(hkv_pin));
    t->lock = halves(s, "lock", v->buckets);
    t->pins = halves(s, "pins", 1);
    t->pin_lock = halves(s, "pin_lock", 1);
}

/* Whether host-tier values are sorted before they are fetched: always, unless the case says no. */
static bool sorts(const fixture *s)
{
    return hkv_far_bytes(hkv_fixture_view(s)) && s->c[0].table.hkv.fetch != HD_FETCH_DIRECT;
}

void hkv_fixture_lay_part(fixture *s, uint32_t k)
{
    fixture_part *p = &s->part[k];
    hkv_fixture_args *own = (hkv_fixture_args *)p->args;
    hkv_args *a = &own->a;
    uint64_t n = p->batch.n + 1;
    a->tally = p->tally;
    own->stage_flag = (uint8_t *)fixture_room(s, "stage_flag", n);
    a->stage_key = words(s, "stage_key", n);
    a->stage_score = words(s, "stage_score", n);
    a->stage_value = (uint8_t *)fixture_room(s, "stage_value", n * s->value_bytes);
    a->segment = words(s, "segment", HKV_SEGMENTS);
    a->cursor = words(s, "cursor", HKV_CURSORS);
    a->left_item = halves(s, "left_item", HKV_LEFT_LISTS * n);
    a->left_count = halves(s, "left_count", HKV_LEFT_COUNTS);
    if (sorts(s)) {
        own->fetch_entry = words(s, "fetch_entry", n);
        a->fetch_rank = halves(s, "fetch_rank", n);
        a->fetch_order = halves(s, "fetch_order", n);
        a->fetch_count = halves(s, "fetch_count", HKV_FETCH_COUNTS);
    }
    if (!s->memory) return;
    memset(a->left_count, 0, HKV_LEFT_COUNTS * 4);
    memset(a->cursor, 0, HKV_CURSORS * 8);
    memset(a->segment, 0, HKV_SEGMENTS * 8);
    if (a->fetch_count) memset(a->fetch_count, 0, HKV_FETCH_COUNTS * 4);
}

void hkv_fixture_clear(fixture *s)
{
    hkv_fixture_table *t = hkv_fixture_table_of(s);
    hkv_clear(&t->v, 1);
    memset(t->lock, 0, t->v.buckets * sizeof *t->lock);
    *t->pins = *t->pin_lock = 0;
}

/* The address in `memory` of what is at p in s->memory. */
static void *over(const fixture *s, uint8_t *memory, const void *p)
{
    return p ? memory + ((const uint8_t *)p - s->memory) : NULL;
}

void hkv_fixture_view_over(const fixture *s, uint8_t *memory, void *table)
{
    hkv_fixture_table t = *hkv_fixture_table_of(s);
    t.v.digest = (uint8_t *)over(s, memory, t.v.digest);
    t.v.key = (uint64_t *)over(s, memory, t.v.key);
    t.v.score = (uint64_t *)over(s, memory, t.v.score);
    t.v.bound = (uint64_t *)over(s, memory, t.v.bound);
    t.v.value = (uint8_t *)over(s, memory, t.v.value);
    t.v.far = (uint8_t *)over(s, memory, t.v.far);
    t.v.pin = (hkv_pin *)over(s, memory, t.v.pin);
    t.lock = (uint32_t *)over(s, memory, t.lock);
    t.pins = (uint32_t *)over(s, memory, t.pins);
    t.pin_lock = (uint32_t *)over(s, memory, t.pin_lock);
    t.v.pins = *t.pins;
    memcpy(table, &t, sizeof t);
}

/* ---- What is in it --------------------------------------------------------------------------- */

/* Puts key into a random free slot of bucket b. */
static void place(fixture *s, hd_rng *g, uint64_t key, uint64_t b, uint64_t score, uint64_t mask)
{
    const hkv_view *v = hkv_fixture_view(s);
    uint64_t e;
    do e = hkv_entry(v, b, (uint32_t)hd_rng_below(g, v->slots));
    while (v->digest[e]);
    v->digest[e] = hd_digest(hd_hash(key, v->seed));
    *hkv_key_at(v, e) = key;
    *hkv_score_at(v, e) = score;
    if (v->value_bytes) fixture_draw_bytes(g, hkv_value(v, e), v->value_bytes, mask);
}

/* Inserts a key, when its bucket is still to get more. */
static void bring_in(fixture *s, hd_rng *g, uint32_t *room, uint64_t key, uint64_t score_below, uint64_t mask)
{
    const hkv_view *v = hkv_fixture_view(s);
    if (key >= HD_KEY_RESERVED || hkv_find(v, key) != HKV_NOWHERE) return;
    uint64_t h = hd_hash(key, v->seed), b = hd_first_bucket(h, v->buckets);
    if (v->dual && (room[b] == 0 || hd_rng_below(g, 2))) b = hd_second_bucket(h, v->buckets);
    if (room[b] == 0) return;
    room[b]--;
    hd_score_in in = { fixture_draw_score(s, g, score_below), hd_rng_below(g, score_below),
                       (uint32_t)hd_rng_below(g, s->epoch + 1) };
    place(s, g, key, b, hd_on_insert(v->policy, in), mask);
}

static uint64_t sum_of(const uint32_t *room, uint64_t buckets)
{
    uint64_t sum = 0;
    for (uint64_t b = 0; b < buckets; b++) sum += room[b];
    return sum;
}

/* Most buckets are full or nearly full. The batch's keys come first; in half of the fixtures they have the lowest
 * scores. */
static bool fill_buckets(fixture *s, hd_rng *g)
{
    const hkv_view *v = hkv_fixture_view(s);
    uint64_t mask = fixture_value_mask(s->part[0].batch.elem), hot = hd_rng_below(g, 2) ? 4 : FIXTURE_SCORES;
    uint32_t *room = (uint32_t *)malloc(v->buckets * sizeof *room);
    if (!room) return false;
    for (uint64_t b = 0; b < v->buckets; b++) {
        uint64_t kind = hd_rng_below(g, 8);
        room[b] = kind < 4 ? v->slots : kind < 6 ? v->slots - 1 : kind < 7 ? v->slots / 2 : 0;
    }
    for (uint32_t k = 0; k < s->parts; k++)
        for (uint64_t i = 0; judge_ops[s->part[k].batch.op].keyed && i < s->part[k].batch.n; i++)
            if (hd_rng_below(g, 2)) bring_in(s, g, room, s->part[k].batch.key[i], hot, mask);
    uint64_t tries = 64 * sum_of(room, v->buckets) + 64, first = 0; /* the first bucket with room: buckets only fill
                                                                     * up */
    for (; tries; tries--) {
        while (first < v->buckets && room[first] == 0) first++;
        if (first == v->buckets) break;
        bring_in(s, g, room, hd_rng_below(g, HD_KEY_RESERVED), FIXTURE_SCORES, mask);
    }
    free(room);
    return true;
}

/* Pins some entries: often where the case is about pins, sometimes elsewhere. */
static void pin_some(fixture *s, hd_rng *g)
{
    hd_op op = s->part[0].batch.op;
    bool matter = op == HD_OP_LOCK_KEYS || op == HD_OP_UNLOCK_KEYS;
    if (!matter && hd_rng_below(g, 4)) return;
    hkv_view *v = hkv_fixture_view(s);
    for (uint64_t e = 0; e < hkv_capacity(v); e++) {
        if (!v->digest[e] || hd_rng_below(g, matter ? 2 : 4)) continue;
        hkv_item it = {
            HD_OP_LOCK_KEYS, HD_U64, HD_EITHER, *hkv_key_at(v, e), NULL, { 1, 0, 0 }, 1 + hd_rng_below(g, 2)
        };
        hkv_seen seen;
        hkv_apply(v, &it, &seen, NULL);
    }
}

bool hkv_fixture_fill(fixture *s, hd_rng *g)
{
    hkv_fixture_table *t = hkv_fixture_table_of(s);
    if (!fill_buckets(s, g)) return false;
    if (t->v.pin_limit) pin_some(s, g);
    *t->pins = t->v.pins;
    return true;
}

/* ---- Batches --------------------------------------------------------------------------------- */

static uint32_t predicate_of(const hd_batch *b)
{
    /* it exists: fixture.c draws no others */
    return judge_ops[b->op].predicate ? hd_predicate_named(b->pred) : (uint32_t)HD_PREDICATE_all;
}

/* Whether no score in the table can be mistaken for one of this batch. */
static bool times_tell(const fixture *s, const hkv_args *a)
{
    bool tell = a->policy_flags & HD_SCORE_IS_TIME;
    const hkv_view *v = hkv_fixture_view(s);
    for (uint64_t e = 0; e < hkv_capacity(v) && tell; e++)
        tell = !v->digest[e] || *hkv_score_at(v, e) - a->clock >= a->n;
    return tell;
}

void hkv_fixture_make_args(fixture *s, uint32_t k)
{
    fixture_part *p = &s->part[k];
    const hd_batch *b = &p->batch;
    const hkv_fixture_table *t = hkv_fixture_table_of(s);
    const hkv_fixture_args *own = (const hkv_fixture_args *)p->args;
    hkv_args *a = hkv_fixture_args_of(p);
    bool list = judge_ops[b->op].list && judge_ops[b->op].keyed; /* the others list slots */
    hkv_args_of_batch(a, b);
    a->v = t->v;
    a->lock = t->lock;
    a->pins = t->pins;
    a->pin_lock = t->pin_lock;
    a->predicate = predicate_of(b);
    a->epoch = s->epoch;
    a->first = judge_ops[b->op].keyed ? 0 : b->start;
    a->last = judge_ops[b->op].keyed || judge_ops[b->op].range ? a->first + b->n : hkv_capacity(&t->v);
    a->policy_flags = hd_policy_rows[t->v.policy].flags;
    a->clock = s->clock + (k ? s->part[0].batch.n : 0);
    a->per_item = 1;
    a->times_tell = times_tell(s, a);
    a->stage_flag = list ? own->stage_flag : NULL;
    a->fetch_entry = own->fetch_entry;
    a->window = 0;
    a->left_window = b->n + 1;
}

void hkv_fixture_apply(const fixture *s, void *table, uint32_t k, const hd_batch *b)
{
    hkv_fixture_table *t = (hkv_fixture_table *)table;
    const hkv_args *a = hkv_fixture_args_of(&s->part[k]);
    uint64_t tally[HD_OUTCOME_COUNT] = { 0 };
    hkv_when when = { a->clock, a->per_item, a->epoch, 1 };
    hkv_run_batch(&t->v, b, when, tally);
    *t->pins = t->v.pins;
}
