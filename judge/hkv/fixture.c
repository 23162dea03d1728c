/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture.c - makes an HKV table from a case: its shape, memory and contents.
 */
#include "judge/hkv/fixture.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "judge/port_hosted.h"
#include "judge/rules.h"
#include "base/error.h"
#include "policies/expression.h"
#include "ref/hkv/hkv.h"

/* ---- Its shape ------------------------------------------------------------------------------- */

/* Tables have room for pins, unless the case has pins=0 and no part that pins. */
static uint32_t may_pin(const fixture *s, const hd_case *c)
{
    bool needs = !hd_case_has(c, "pins") || c->table.hkv.pins;
    for (uint32_t k = 0; k < s->parts; k++) needs = needs || strcmp(s->c[k].op, "lock_keys") == 0;
    return needs;
}

/* Far values are sorted before they are fetched: always, unless the case says no. */
hd_status hkv_fixture_shape(fixture *s, const hd_case *c)
{
    hd_info *info = &hkv_fixture_state(s)->gpu.info;
    hd_policy_use use;
    hd_status status = hd_policy_read(c->policy, &use);
    if (status) return status;
    if (info->hkv.fetch == HD_FETCH_USUAL) info->hkv.fetch = HD_FETCH_SORTED;
    info->hkv.pins = may_pin(s, c);
    s->design->host->gpu->begin(s->table);
    return HD_OK;
}

judge_scores hkv_fixture_scores(const fixture *s)
{
    return hkv_fixture_view(s)->program.flags & HD_SCORES_NEEDED ? JUDGE_SCORES_NEEDED : JUDGE_SCORES_GIVEN_OR_NOT;
}

/* ---- Its memory ------------------------------------------------------------------------------ */

uint32_t hkv_fixture_memory(const fixture *s, judge_memory all[JUDGE_MEMORY_MOST])
{
    const hkv_view *v = hkv_fixture_view(s);
    const uint64_t entries = hkv_capacity(v), holders = hkv_holders_of(&hkv_fixture_state(s)->gpu.info);
    const judge_memory planes[] = {
        { "digest", offsetof(hkv_state, v.digest), entries, HD_AS_IT_COMES },
        { v->step == 1 ? "key" : "pair", offsetof(hkv_state, v.key), entries * v->step * 8, HD_AS_IT_COMES },
        { "score", offsetof(hkv_state, v.score), v->step == 1 ? entries * 8 : 0, HD_AS_IT_COMES },
        { "bound", offsetof(hkv_state, v.bound), hkv_bounds_of(v) * 8, HD_AS_IT_COMES },
        { "value", offsetof(hkv_state, v.value), hkv_near_bytes(v), HD_AS_IT_COMES },
        { "far value", offsetof(hkv_state, v.far), hkv_far_bytes(v), HD_AS_IT_COMES },
        { "holder", offsetof(hkv_state, v.holder), holders * sizeof *v->holder, HD_AS_IT_COMES },
        { "ghost", offsetof(hkv_state, v.ghost), hkv_ghosts_of(v) * sizeof *v->ghost, HD_AS_IT_COMES },
        { "state", offsetof(hkv_state, v.state), hkv_states_of(v) * sizeof *v->state, HD_AS_IT_COMES },
        { "count", offsetof(hkv_state, v.count), hkv_counts_of(v) * sizeof *v->count, HD_AS_IT_COMES },
    };
    uint32_t n = 0;
    for (size_t i = 0; i < sizeof planes / sizeof *planes; i++)
        if (planes[i].bytes) all[n++] = planes[i];
    return n;
}

void hkv_fixture_laid(void *table)
{
    hkv_state *o = (hkv_state *)table;
    if (o->v.step == 2) o->v.score = o->v.key + 1;
    o->v.pins = o->words->pins.count;
}

void hkv_fixture_clear(fixture *s) { hkv_clear(hkv_fixture_view(s), 1); }

/* ---- What is in it --------------------------------------------------------------------------- */

/* Puts key into a random free slot of bucket b. */
static void place(fixture *s, hd_rng *g, uint64_t key, uint64_t b, uint64_t score)
{
    const hkv_view *v = hkv_fixture_view(s);
    uint64_t e;
    do e = hkv_entry(v, b, (uint32_t)hd_rng_below(g, v->slots));
    while (v->digest[e]);
    v->digest[e] = hd_digest(hd_hash(key, v->seed));
    *hkv_key_at(v, e) = key;
    *hkv_score_at(v, e) = score;
    if (v->value_bytes) fixture_draw_values(s, g, hkv_value(v, e), v->value_bytes, s->elem);
}

/* True: entries have later times than the batch, as after a snapshot was loaded, or if a graph runs a batch again. */
static bool scores_are_ahead(const fixture *s) { return s->c[0].seed % 10 == 4; }

/* Inserts a key, when its bucket is still to get more. */
static void bring_in(fixture *s, hd_rng *g, uint32_t *room, uint64_t key, uint64_t score_below)
{
    const hkv_view *v = hkv_fixture_view(s);
    if (key >= HD_KEY_RESERVED || hkv_find(v, key) != HKV_NOWHERE) return;
    uint64_t h = hd_hash(key, v->seed), b = hd_first_bucket(h, v->buckets);
    if (v->dual && (room[b] == 0 || hd_rng_below(g, 2))) b = hd_second_bucket(h, v->buckets);
    if (room[b] == 0) return;
    room[b]--;
    uint64_t given = fixture_draw_score(s, g, score_below), now = hd_rng_below(g, score_below);
    if (scores_are_ahead(s)) now += 4 * FIXTURE_SCORES;
    hd_score_in in = { .given = given, .now = now, .tick = now, .epoch = (uint32_t)hd_rng_below(g, s->epoch + 1) };
    const uint32_t flags = v->program.flags;
    if (flags & HD_REMEMBERS) in.ghost = (uint8_t)hd_rng_below(g, 3);
    uint64_t score = hd_on_insert(v->policy, &v->program, in);
    if (flags & HD_COUNTS && hd_rng_below(g, 8)) score &= ~HD_UPPER_QUEUE; /* most have left wtinylfu's window */
    /* from few to nearly all entries of a fixture were hit, where that decides about queues */
    uint64_t hit = flags & HD_QUEUES   ? hd_rng_below(g, 8) < s->c[0].seed % 9
                   : flags & HD_SPARES ? hd_rng_below(g, 2)
                                       : 0;
    if (hit) score = hd_on_hit(v->policy, &v->program, score, in);
    place(s, g, key, b, score);
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
    uint64_t hot = hd_rng_below(g, 2) ? 4 : FIXTURE_SCORES;
    uint32_t *room = (uint32_t *)malloc(v->buckets * sizeof *room);
    if (!room) return false;
    for (uint64_t b = 0; b < v->buckets; b++) {
        uint64_t kind = hd_rng_below(g, 8);
        room[b] = kind < 4 ? v->slots : kind < 6 ? v->slots - 1 : kind < 7 ? v->slots / 2 : 0;
    }
    for (uint32_t k = 0; k < s->parts; k++)
        for (uint64_t i = 0; judge_ops[s->part[k].batch.op].keyed && i < s->part[k].batch.n; i++)
            if (hd_rng_below(g, 2)) bring_in(s, g, room, s->part[k].batch.key[i], hot);
    uint64_t tries = 64 * sum_of(room, v->buckets) + 64, first = 0; /* the first bucket with room: buckets only fill
                                                                     * up */
    for (; tries; tries--) {
        while (first < v->buckets && room[first] == 0) first++;
        if (first == v->buckets) break;
        bring_in(s, g, room, fixture_draw_key(s, g, HD_KEY_RESERVED), FIXTURE_SCORES);
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
        hkv_item it = { HD_OP_LOCK_KEYS,        HD_U64, HD_EITHER, *hkv_key_at(v, e), NULL, { .given = 1 },
                        1 + hd_rng_below(g, 2), false };
        hkv_seen seen;
        hkv_apply(v, &it, &seen, NULL);
    }
}

/* What buckets remember: ghosts of keys of the batch that are absent, and of others; a state of up to the slots. */
static void fill_ghosts(const fixture *s)
{
    const hkv_view *v = hkv_fixture_view(s);
    hd_rng g = hd_rng_from(s->c[0].seed ^ 0x67686f737473u);
    const hd_batch *b = &s->part[0].batch;
    for (uint64_t i = 0; v->state && i < v->buckets; i++) v->state[i] = hd_rng_below(&g, (uint64_t)v->slots << 48);
    for (uint64_t e = 0; v->ghost && e < hkv_capacity(v); e++) {
        uint64_t bucket = e / v->slots, h = hd_rng_next(&g),
                 order = 1 + v->slots * hd_rng_below(&g, 1u << 20) + e % v->slots;
        if (b->n && judge_ops[b->op].keyed && hd_rng_below(&g, 2)) {
            uint64_t key = b->key[hd_rng_below(&g, b->n)], of = hd_hash(key, v->seed);
            if (hkv_is_home(v, of, bucket) && hkv_find(v, key) == HKV_NOWHERE) h = of;
        }
        uint32_t list = 1 + (uint32_t)hd_rng_below(&g, 2);
        bool near_the_end = s->c[0].seed % 8 == 3 && e % v->slots == v->slots - 1; /* the orders of the bucket end */
        v->ghost[e] =
            hd_rng_below(&g, 4) ? hkv_ghost_word(near_the_end ? UINT32_MAX : order, list, hkv_fingerprint(h)) : 0;
    }
}

/* What buckets have counted: keys of the batch and others, of few to all counters; some buckets are near a halving. */
static void fill_counts(const fixture *s)
{
    const hkv_view *v = hkv_fixture_view(s);
    hd_rng g = hd_rng_from(s->c[0].seed ^ 0x636f756e7473u);
    const uint64_t words = hkv_count_words(v->slots), sample = hkv_count_sample(v->slots, v->dual);
    for (uint64_t i = 0; v->count && i < hkv_counts_of(v); i++) {
        bool counter = i % words >= 4;
        uint64_t sparse = hd_rng_next(&g) & hd_rng_next(&g);
        v->count[i] = counter     ? sparse
                      : i % words ? 0
                                  : sample - 1 - hd_rng_below(&g, hd_rng_below(&g, 2) ? 4 : sample);
    }
}

/* In half of the fixtures most bounds are as high as HKV-8 allows, as after searches for victims. */
static void raise_bounds(const fixture *s)
{
    const hkv_view *v = hkv_fixture_view(s);
    hd_rng g = hd_rng_from(s->c[0].seed ^ 0x626f756e64u); /* of its own: all else is drawn as without bounds */
    bool raised = hd_rng_below(&g, 2) == 0;
    for (uint64_t e = 0, least; raised && v->bound && e < hkv_capacity(v); e += HKV_BOUNDED) {
        least = UINT64_MAX;
        for (uint64_t i = e; i < e + HKV_BOUNDED; i++)
            if (!(v->holder && v->holder[i]) && *hkv_score_at(v, i) < least) least = *hkv_score_at(v, i);
        if (hd_rng_below(&g, 8)) v->bound[e / HKV_BOUNDED] = least;
    }
}

bool hkv_fixture_fill(fixture *s, hd_rng *g)
{
    const hkv_state *o = hkv_fixture_state(s);
    if (!fill_buckets(s, g)) return false;
    if (o->v.holder) pin_some(s, g);
    raise_bounds(s);
    fill_ghosts(s);
    fill_counts(s);
    for (uint32_t k = 0; o->v.holder && k < s->parts; k++)
        if (judge_ops[s->part[k].batch.op].may_pin && hd_rng_below(g, 4) == 0) s->part[k].batch.holder = 1;
    o->words->pins.count = o->v.pins;
    return true;
}

/* ---- Batches --------------------------------------------------------------------------------- */

bool hkv_fixture_times_tell(const fixture *s, uint64_t clock, uint64_t n)
{
    const hkv_view *v = hkv_fixture_view(s);
    for (uint64_t e = 0; e < hkv_capacity(v); e++)
        if (v->digest[e] && *hkv_score_at(v, e) - clock < n) return false;
    return true;
}

bool hkv_fixture_rises(const fixture *s, uint64_t clock)
{
    const hkv_view *v = hkv_fixture_view(s);
    for (uint64_t e = 0; e < hkv_capacity(v); e++)
        if (v->digest[e] && *hkv_score_at(v, e) > clock) return false;
    return true;
}

void hkv_fixture_apply(const fixture *s, void *table, uint32_t k, const hd_batch *b)
{
    hkv_state *o = (hkv_state *)table;
    const hd_when when = hosted_when(s, k);
    const hkv_when w = { when.clock, when.per_item, when.epoch, 1, 0 };
    uint64_t tally[HD_OUTCOME_COUNT] = { 0 };
    hkv_run_batch(&o->v, b, w, tally);
    o->words->pins.count = o->v.pins;
}
