/* SPDX-License-Identifier: Apache-2.0
 *
 * agree.c - the judgement of one run: see agree.h.
 */
#include "judge/agree.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/rules.h"
#include "lib/error.h"
#include "policies/policy.h"
#include "ref/hkv.h"

/* What the reference says an item must have listed. */
typedef struct listing {
    bool listed;
    uint64_t key, score;
} listing;

struct agree {
    scene *s;
    bool weak;              /* runs have store buffers: a bucket whose lock is held is not looked at */
    hkv_view model;         /* the reference's table */
    uint8_t *model_memory;  /* (table_bytes) */
    uint64_t *occupant;     /* (capacity) who lies in which slot, by the tickets: HD_KEY_EMPTY for nobody */
    bool *drawn[SCENE_PARTS];        /* (n) has a ticket */
    listing *list[SCENE_PARTS];      /* (n) */
    uint8_t *list_value[SCENE_PARTS];/* (n, value_bytes) */
    judge_arrays expected[SCENE_PARTS]; /* of the reference in item order */
    uint32_t deaf, objector;
    char why[512];
};

static const char *say(agree *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

static const char *say(agree *a, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(a->why, sizeof a->why, format, ap);
    va_end(ap);
    return a->why;
}

static const char *part_name(const agree *a, uint32_t k)
{
    static _Thread_local char name[64];
    const scene_part *p = &a->s->part[k];
    snprintf(name, sizeof name, "%s%s.%s", a->s->parts > 1 ? (k ? "second: " : "first: ") : "", hd_op_name(p->batch.op), p->kernel->name);
    return name;
}

static bool keyed(const scene_part *p) { return judge_ops[p->batch.op].keyed; }
static bool reads(const scene_part *p) { return p->batch.op <= HD_OP_FIND_MISSED; }
static bool ordered(const scene_part *p) { return keyed(p) && p->kernel->strictness <= SCENE_CHOICE; }

/* ---- One item --------------------------------------------------------------------------------------------- */

static hkv_item item_of(const agree *a, uint32_t k, uint64_t i)
{
    const scene_part *p = &a->s->part[k];
    const hd_batch *b = &p->batch;
    hkv_item it;
    it.op = b->op;
    it.elem = b->elem;
    it.flag = b->flag ? b->flag[i] : HD_EITHER;
    it.key = b->key[i];
    it.value = b->op != HD_OP_FIND_OR_INSERT_PTR ? (const uint8_t *)b->value + i * a->s->v.value_bytes : NULL;
    it.in.given = b->score ? b->score[i] : 1;
    it.in.now = p->args.clock + i * p->args.per_item;
    it.in.epoch = p->args.epoch;
    it.holder = b->holder;
    return it;
}

/* Where item i's ticket says its entry is: what has to be there, and what is there from now on. */
static const char *move_in(agree *a, const simt_ticket_record *t, const hkv_item *it, hd_outcome o)
{
    bool stays = o == HD_HIT || o == HD_UPDATED || o == HD_PINNED, comes = o == HD_INSERTED || o == HD_EVICTED;
    if (!stays && !comes && o != HD_ERASED) return NULL;
    if (t->b >= hkv_capacity(&a->s->v)) return "its ticket names no entry of the table";
    uint64_t *there = &a->occupant[t->b], before = stays || o == HD_ERASED ? it->key : o == HD_EVICTED ? t->a : HD_KEY_EMPTY;
    if (*there != before) return o == HD_INSERTED ? "it took a slot that was not empty" : "its ticket names an entry that held another key";
    if (comes) *there = it->key;
    if (o == HD_ERASED) *there = HD_KEY_EMPTY;
    return NULL;
}

/* What the reference knows of who is about to leave, for the list. */
static void note_listed(agree *a, uint32_t k, uint64_t i, const hkv_item *it, hd_outcome o, uint64_t gone_key)
{
    listing *l = &a->list[k][i];
    uint32_t bytes = a->s->v.value_bytes;
    uint8_t *value = a->list_value[k] + i * bytes;
    bool evicts = it->op == HD_OP_INSERT_AND_EVICT;
    l->listed = (it->op == HD_OP_FIND_MISSED && o == HD_MISS) || (evicts && (o == HD_REFUSED || o == HD_EVICTED));
    if (!l->listed) return;
    l->key = it->key;
    l->score = hd_on_insert(a->model.policy, it->in);
    if (bytes) memcpy(value, it->value, bytes);
    if (o != HD_EVICTED) return;
    uint64_t gone = hkv_find(&a->model, gone_key);
    l->key = gone_key;
    l->score = gone == HKV_NOWHERE ? 0 : *hkv_score_at(&a->model, gone);
    if (bytes && gone != HKV_NOWHERE) memcpy(value, hkv_value(&a->model, gone), bytes);
}

/* An item takes effect on the reference's table. t: its ticket, or NULL for one that needs none. */
static const char *accept_item(agree *a, uint32_t k, uint64_t i, const simt_ticket_record *t)
{
    const scene_part *p = &a->s->part[k];
    const hd_batch *b = &p->batch;
    hkv_item it = item_of(a, k, i);
    hd_outcome o = (hd_outcome)b->outcome[i];
    bool delivers = judge_delivers(b->op, o);
    hkv_seen seen;
    memset(&seen, 0, sizeof seen);
    seen.outcome = o;
    seen.entry = t && (o == HD_INSERTED || o == HD_EVICTED) ? t->b : HKV_NOWHERE;
    seen.score_shown = delivers;
    if (delivers) seen.score = b->score_out[i];
    if (delivers && judge_ops[b->op].value_out) seen.value = (const uint8_t *)b->value_out + i * a->s->v.value_bytes;
    if (t && o == HD_EVICTED) {
        uint64_t gone = hkv_find(&a->model, t->a);
        seen.gone_key = t->a;
        seen.gone_score = gone == HKV_NOWHERE ? 0 : *hkv_score_at(&a->model, gone);
    }
    note_listed(a, k, i, &it, o, seen.gone_key);
    const char *why = hkv_accept(&a->model, &it, &seen, p->kernel->strictness == SCENE_CHOICE ? HKV_ANY_CHOICE : HKV_EXACT_CHOICE);
    if (!why && t) why = move_in(a, t, &it, o);
    if (!why && t && judge_delivers_ptr(b->op, o) && b->ptr[i] != (void *)hkv_value(&a->s->v, t->b)) why = "its pointer shows another entry's value";
    return why;
}

/* ---- All items, in the order of their tickets ------------------------------------------------------------------- */

static const char *take_ticket(agree *a, const simt_ticket_record *t)
{
    uint32_t k = t->stream;
    if (k >= a->s->parts) return say(a, "a ticket of stream %" PRIu32 ", where nothing runs", k);
    const scene_part *p = &a->s->part[k];
    if (t->item >= p->batch.n) return say(a, "%s: a ticket for item %" PRIu64 " of %" PRIu64, part_name(a, k), t->item, p->batch.n);
    if (a->drawn[k][t->item]) return say(a, "%s: item %" PRIu64 " (key %" PRIx64 ") took effect twice", part_name(a, k), t->item, p->batch.key[t->item]);
    a->drawn[k][t->item] = true;
    if (t->what != p->batch.outcome[t->item])
        return say(a, "%s: item %" PRIu64 " (key %" PRIx64 ") was %s, but %s was delivered", part_name(a, k), t->item, p->batch.key[t->item],
                   hd_outcome_name((hd_outcome)t->what), hd_outcome_name((hd_outcome)p->batch.outcome[t->item]));
    const char *why = accept_item(a, k, t->item, t);
    return why ? say(a, "%s: item %" PRIu64 " (key %" PRIx64 ", %s): %s", part_name(a, k), t->item, p->batch.key[t->item], hd_outcome_name((hd_outcome)t->what), why) : NULL;
}

/* Those who drew no ticket: fine for who reads, and for reserved keys; nobody's turn matters to them. */
static const char *take_others(agree *a, uint32_t k)
{
    const scene_part *p = &a->s->part[k];
    for (uint64_t i = 0; i < p->batch.n; i++) {
        if (a->drawn[k][i]) continue;
        bool idle = reads(p) || p->batch.outcome[i] == HD_RESERVED;
        const char *why = idle ? accept_item(a, k, i, NULL) : "it never took effect";
        if (why) return say(a, "%s: item %" PRIu64 " (key %" PRIx64 ", %s): %s", part_name(a, k), i, p->batch.key[i], hd_outcome_name((hd_outcome)p->batch.outcome[i]), why);
    }
    return NULL;
}

/* Of parts that are all ordered. */
static const char *replay(agree *a, const simt_machine *m)
{
    size_t n;
    const simt_ticket_record *t = simt_machine_tickets(m, &n);
    for (uint32_t k = 0; k < a->s->parts; k++) {
        memset(a->drawn[k], 0, a->s->part[k].batch.n * sizeof *a->drawn[k]);
        memset(a->list[k], 0, a->s->part[k].batch.n * sizeof *a->list[k]);
    }
    const char *why = NULL;
    for (size_t i = 0; i < n && !why; i++) why = take_ticket(a, &t[i]);
    for (uint32_t k = 0; k < a->s->parts && !why; k++) why = take_others(a, k);
    return why;
}

/* ---- Lists and counts of keyed batches ----------------------------------------------------------------------------- */

static const char *check_list(agree *a, uint32_t k)
{
    const scene_part *p = &a->s->part[k];
    const hd_batch *b = &p->batch;
    uint32_t bytes = a->s->v.value_bytes;
    uint64_t at = 0;
    if (!judge_ops[b->op].list) return NULL;
    for (uint64_t i = 0; i < b->n; i++) {
        const listing *l = &a->list[k][i];
        if (!l->listed) continue;
        const char *why = at >= *b->count ? "is missing from the list" : b->list_item[at] != i ? "is not the next of the list" : b->list_key[at] != l->key ? "listed another key" : NULL;
        if (!why && b->op == HD_OP_INSERT_AND_EVICT) {
            if (b->list_score[at] != l->score) why = "listed a wrong score";
            else if (bytes && memcmp((const uint8_t *)b->list_value + at * bytes, a->list_value[k] + i * bytes, bytes) != 0) why = "listed a wrong value";
        }
        if (why) return say(a, "%s: item %" PRIu64 " (key %" PRIx64 ", %s) %s", part_name(a, k), i, b->key[i], hd_outcome_name((hd_outcome)b->outcome[i]), why);
        at++;
    }
    return *b->count == at ? NULL : say(a, "%s: the list has %" PRIu64 " entries, and should have %" PRIu64, part_name(a, k), *b->count, at);
}

static const char *check_tally(agree *a, uint32_t k)
{
    const scene_part *p = &a->s->part[k];
    uint64_t outcome[HD_OUTCOME_COUNT] = { 0 };
    for (uint64_t i = 0; keyed(p) && i < p->batch.n; i++) outcome[p->batch.outcome[i]]++;
    for (int o = 0; o < HD_OUTCOME_COUNT; o++)
        if (outcome[o] != p->tally[o])
            return say(a, "%s: %" PRIu64 " items were %s, but %" PRIu64 " were counted", part_name(a, k), outcome[o], hd_outcome_name((hd_outcome)o), p->tally[o]);
    return NULL;
}

/* ---- Against the reference in item order ------------------------------------------------------------------------------ */

static void run_reference(agree *a, uint32_t k)
{
    scene_part *p = &a->s->part[k];
    hd_batch b = p->batch;
    uint64_t tally[HD_OUTCOME_COUNT] = { 0 };
    hkv_when when = { p->args.clock, p->args.per_item, p->args.epoch, 1 };
    const uint64_t *key = b.key, *score = b.score;
    const uint8_t *flag = b.flag;
    const void *value = b.value;
    judge_arrays_lend(&a->expected[k], &b);
    judge_arrays_arm(&a->expected[k]);
    b.key = key;
    b.score = score;
    b.flag = flag;
    b.value = value;
    hkv_run_batch(&a->model, &b, when, tally);
    for (uint64_t i = 0; keyed(p) && i < b.n; i++)
        if (judge_delivers_ptr(b.op, (hd_outcome)b.outcome[i])) b.ptr[i] = a->s->memory + ((uint8_t *)b.ptr[i] - a->model_memory);
}

static const char *check_exact(agree *a, uint32_t k)
{
    static const char *const names[JUDGE_ARRAYS] = { "keys",  "values",    "scores",      "flags",       "outcome",   "value_out", "score_out",
                                                     "ptr",  "list_key", "list_value", "list_score", "list_item", "count" };
    const judge_arrays *got = &a->s->part[k].arrays, *want = &a->expected[k];
    for (int x = JUDGE_OUTCOME; x < JUDGE_ARRAYS; x++) {
        const uint8_t *g = (const uint8_t *)judge_arrays_at(got, (judge_array)x), *w = (const uint8_t *)judge_arrays_at(want, (judge_array)x);
        for (size_t i = 0; i < got->used[x]; i++)
            if (g[i] != w[i]) return say(a, "%s: byte %zu of %s is not the reference's", part_name(a, k), i, names[x]);
    }
    return NULL;
}

/* ---- Contents ---------------------------------------------------------------------------------------------------------- */

static const char *check_contents(agree *a)
{
    const hkv_view *v = &a->s->v;
    for (uint64_t b = 0; b < v->buckets; b++) {
        for (uint32_t s = 0; s < v->slots; s++) {
            uint64_t e = hkv_entry(v, b, s);
            if (*hkv_key_at(v, e) >= HD_KEY_RESERVED) continue;
            const char *why = scene_entry_differs(v, &a->model, e);
            if (why) return say(a, "bucket %" PRIu64 ", slot %" PRIu32 ": key %" PRIx64 " %s the reference's", b, s, *hkv_key_at(v, e), why);
        }
        if (scene_entries(v, b) != scene_entries(&a->model, b))
            return say(a, "bucket %" PRIu64 " has %" PRIu64 " entries, and should have %" PRIu64, b, scene_entries(v, b), scene_entries(&a->model, b));
    }
    return NULL;
}

static const char *check_slots(agree *a)
{
    const hkv_view *v = &a->s->v;
    for (uint64_t e = 0; e < hkv_capacity(v); e++)
        if (*hkv_key_at(v, e) != a->occupant[e])
            return say(a, "bucket %" PRIu64 ", slot %" PRIu64 ": key %" PRIx64 " where the tickets put %" PRIx64, e / v->slots, e % v->slots, *hkv_key_at(v, e), a->occupant[e]);
    return NULL;
}

static const char *check_pins(agree *a, const hkv_view *now)
{
    for (uint32_t i = 0; i < now->pin_places; i++) {
        if (now->pin[i].key == HD_KEY_EMPTY) continue;
        const hkv_pin *p = hkv_pin_find(&a->model, now->pin[i].key);
        if (!p || p->holder != now->pin[i].holder) return say(a, "key %" PRIx64 " is pinned by %" PRIu64 ", which the reference does not say", now->pin[i].key, now->pin[i].holder);
    }
    return now->pins == a->model.pins ? NULL : say(a, "%" PRIu32 " keys are pinned, and should be %" PRIu32, now->pins, a->model.pins);
}

/* What promote left of bucket b, where it was asked to look: nobody far is worth more than somebody near, but who is pinned. */
static const char *bucket_promoted(agree *a, uint64_t b)
{
    const hkv_view *v = &a->s->v;
    bool room = false;
    uint64_t least = UINT64_MAX;
    for (uint32_t s = 0; s < v->slots; s++) {
        uint64_t e = hkv_entry(v, b, s), key = *hkv_key_at(v, e), score = *hkv_score_at(v, e);
        bool fixed = hkv_pin_find(&a->model, key) != NULL;
        if (hkv_is_near(v, e)) {
            room = room || key == HD_KEY_EMPTY;
            if (!fixed && key != HD_KEY_EMPTY && score < least) least = score;
        } else if (key != HD_KEY_EMPTY && !fixed && (room || score > least)) {
            return say(a, "promote: bucket %" PRIu64 ", slot %" PRIu32 ": key %" PRIx64 " is far, and worth more than one that is near", b, s, key);
        }
    }
    return NULL;
}

/* Where nothing may move: beyond the range, and what is pinned. */
static const char *check_promoted(agree *a, uint32_t k)
{
    const hd_batch *batch = &a->s->part[k].batch;
    const hkv_view *v = &a->s->v;
    hkv_view then = scene_view(a->s, a->s->initial);
    if (batch->op != HD_OP_PROMOTE) return NULL;
    for (uint64_t b = 0; b < v->buckets; b++) {
        bool asked = v->far && v->striped && b * v->slots >= batch->start && b * v->slots < batch->start + batch->n;
        const char *why = asked ? bucket_promoted(a, b) : NULL;
        if (why) return why;
        for (uint64_t e = hkv_entry(v, b, 0); e < hkv_entry(v, b + 1, 0); e++) {
            uint64_t key = *hkv_key_at(&then, e);
            if (asked && (key == HD_KEY_EMPTY || !hkv_pin_find(&a->model, key))) continue; /* empty places for pins say EMPTY, too */
            if (*hkv_key_at(v, e) != key) return say(a, "promote: bucket %" PRIu64 ", slot %" PRIu64 ": key %" PRIx64 " was to stay", b, e % v->slots, key);
        }
    }
    return NULL;
}

/* Old and inserted are new and erased: what an eviction or a refusal changes is counted by its own outcome. */
static const char *check_conservation(agree *a)
{
    uint64_t before = 0, after = 0, inserted = 0, erased = 0;
    hkv_view then = scene_view(a->s, a->s->initial);
    for (uint64_t b = 0; b < then.buckets; b++) {
        before += scene_entries(&then, b);
        after += scene_entries(&a->s->v, b);
    }
    for (uint32_t k = 0; k < a->s->parts; k++) {
        const scene_part *p = &a->s->part[k];
        if (!keyed(p)) return NULL;
        for (uint64_t i = 0; i < p->batch.n; i++) {
            inserted += p->batch.outcome[i] == HD_INSERTED;
            erased += p->batch.outcome[i] == HD_ERASED;
        }
    }
    return before + inserted == after + erased ? NULL : say(a, "%" PRIu64 " entries, %" PRIu64 " more inserted, %" PRIu64 " erased, and now %" PRIu64, before, inserted, erased, after);
}

static const char *check_rest(agree *a, const hkv_view *now)
{
    const scene *s = a->s;
    for (uint64_t b = 0; b < s->v.buckets; b++)
        if (s->lock[b]) return say(a, "the lock of bucket %" PRIu64 " is still held", b);
    for (uint32_t k = 0; k < s->parts; k++)
        for (uint32_t b = 0; s->part[k].fetch_entry && b < HKV_FETCH_BINS; b++)
            if (s->part[k].args.fetch_count[b]) return say(a, "bin %" PRIu32 " of the far values still counts %" PRIu32, b, s->part[k].args.fetch_count[b]);
    for (uint32_t k = 0; k < s->parts; k++)
        if (s->part[k].args.left_count[0]) return say(a, "%" PRIu32 " items are still left to the next pass", s->part[k].args.left_count[0]);
    if (*s->pin_lock) return say(a, "the lock of the pins is still held");
    const char *beside = scene_guards(s);
    if (beside) return say(a, "bytes beside the plane '%s' were written", beside);
    char why[256];
    hkv_check(now, why, sizeof why);
    return why[0] ? say(a, "%s", why) : NULL;
}

/* ---- The judgement ----------------------------------------------------------------------------------------------------- */

static void begin_again(agree *a)
{
    const scene *s = a->s;
    memcpy(a->model_memory, s->initial, s->table_bytes);
    a->model = scene_view(s, a->model_memory);
    for (uint64_t e = 0; e < hkv_capacity(&s->v); e++) a->occupant[e] = *hkv_key_at(&a->model, e);
}

static const char *check_parts(agree *a, const char *(*check)(agree *, uint32_t))
{
    const char *why = NULL;
    for (uint32_t k = 0; k < a->s->parts && !why; k++) why = check(a, k);
    return why;
}

static const char *arrays_clean(agree *a, uint32_t k) { return judge_arrays_check(&a->s->part[k].arrays, &a->s->part[k].batch); }

void agree_deafen(agree *a, uint32_t parts) { a->deaf = parts; }
uint32_t agree_objector(const agree *a) { return a->objector; }

static const char *heard(agree *a, uint32_t part, const char *objection)
{
    if (!objection || (a->deaf & part)) return NULL;
    a->objector = part;
    return objection;
}

const char *agree_judge(void *context, simt_machine *m)
{
    agree *a = (agree *)context;
    const scene *s = a->s;
    bool tickets = true, by_item = false, reference = true, bytes = true;
    for (uint32_t k = 0; k < s->parts; k++) {
        tickets = tickets && ordered(&s->part[k]);
        by_item = by_item || !ordered(&s->part[k]) || s->part[k].kernel->strictness == SCENE_EXACT;
        bytes = bytes && (s->part[k].kernel->strictness == SCENE_EXACT || reads(&s->part[k]));
        reference = reference && s->part[k].kernel->strictness != SCENE_SHAPE;
    }
    hkv_view now = s->v;
    now.pins = *s->pins;
    begin_again(a);
    const char *why = heard(a, AGREE_ARRAYS, check_parts(a, arrays_clean));
    bool told = by_item; /* the model is what should be */
    if (!why && tickets) {
        const char *first = replay(a, m);
        if (!first) first = check_slots(a);
        told = told || !first;
        why = heard(a, AGREE_TICKETS, first);
        if (!first) why = heard(a, AGREE_CONTENTS, check_contents(a));
        if (!first && !why) why = heard(a, AGREE_LISTS, check_parts(a, check_list));
    }
    if (!why && by_item) {
        begin_again(a);
        for (uint32_t k = 0; k < s->parts; k++) run_reference(a, k);
        const char *other = bytes ? check_parts(a, check_exact) : NULL;
        if (!other && reference) other = check_contents(a);
        why = heard(a, AGREE_CONTENTS, other);
    }
    if (!why && reference && told) why = heard(a, AGREE_CONTENTS, check_pins(a, &now));
    if (!why) why = heard(a, AGREE_CONTENTS, check_parts(a, check_promoted));
    if (!why) why = heard(a, AGREE_COUNTS, check_conservation(a));
    if (!why) why = heard(a, AGREE_COUNTS, check_parts(a, check_tally));
    return why ? why : heard(a, AGREE_REST, check_rest(a, &now));
}

/* ---- In flight ---------------------------------------------------------------------------------------------------------- */

const char *agree_watch(void *context)
{
    agree *a = (agree *)context;
    const hkv_view *v = &a->s->v;
    uint64_t entries = hkv_capacity(v);
    for (uint64_t e = 0; e < entries; e++) {
        uint64_t key = *hkv_key_at(v, e), b = e / v->slots;
        if (key == HD_KEY_LOCKED || key == HKV_KEY_REPLACED || (a->weak && a->s->lock[b])) continue;
        if (key == HD_KEY_EMPTY) {
            if (v->digest[e] != HKV_NO_DIGEST) return say(a, "HKV-1 in flight: an empty slot has a digest (bucket %" PRIu64 ", slot %" PRIu64 ")", b, e % v->slots);
            continue;
        }
        uint64_t h = hd_hash(key, v->seed);
        if (v->digest[e] != hd_digest(h)) return say(a, "HKV-2 in flight: key %" PRIx64 " shows, and its digest does not (bucket %" PRIu64 ", slot %" PRIu64 ")", key, b, e % v->slots);
        if (b != hd_first_bucket(h, v->buckets) && (!v->dual || b != hd_second_bucket(h, v->buckets)))
            return say(a, "HKV-3 in flight: key %" PRIx64 " is in none of its buckets (bucket %" PRIu64 ", slot %" PRIu64 ")", key, b, e % v->slots);
        for (uint64_t other = e + 1; other < entries && (v->dual || other / v->slots == b); other++)
            if (*hkv_key_at(v, other) == key) return say(a, "HKV-4 in flight: key %" PRIx64 " is in two slots (bucket %" PRIu64 ", slot %" PRIu64 ")", key, b, e % v->slots);
    }
    return NULL;
}

/* An operation on the whole table has it for itself, takes no lock, and may change a slot in any order. */
static bool alone(const agree *a) { return judge_ops[a->s->part[0].batch.op].changes && !keyed(&a->s->part[0]); }

void agree_watch_with(agree *a, simt_config *c, uint32_t n)
{
    if (alone(a)) n = 0;
    a->weak = c->weak;
    c->watch = n ? agree_watch : NULL;
    c->context = a;
    c->watch_every = n;
}

/* ---- Open and close ------------------------------------------------------------------------------------------------------ */

static hd_status prepare(void *context, simt_machine *m) { return scene_prepare(((agree *)context)->s, m); }

simt_trial agree_trial(agree *a)
{
    simt_trial t = { a, prepare, agree_judge, NULL };
    return t;
}

hd_status agree_run(agree *a, simt_machine *m, const simt_config *c, const char **why)
{
    simt_machine_forget(m);
    hd_status status = scene_prepare(a->s, m);
    *why = NULL;
    if (!status) *why = simt_machine_run(m, c) ? agree_judge(a, m) : simt_machine_finding(m)->story;
    return status;
}

hd_status agree_open(scene *s, agree **out)
{
    agree *a = (agree *)calloc(1, sizeof *a);
    bool there = a != NULL;
    if (a) {
        a->s = s;
        a->model_memory = (uint8_t *)aligned_alloc(128, (s->table_bytes + 127) / 128 * 128);
        a->occupant = (uint64_t *)calloc(hkv_capacity(&s->v), sizeof *a->occupant);
        there = a->model_memory && a->occupant;
    }
    for (uint32_t k = 0; k < s->parts && there; k++) {
        uint64_t n = s->part[k].batch.n + 1;
        a->drawn[k] = (bool *)calloc(n, sizeof *a->drawn[k]);
        a->list[k] = (listing *)calloc(n, sizeof *a->list[k]);
        a->list_value[k] = (uint8_t *)calloc(n, s->v.value_bytes + 1u);
        there = a->drawn[k] && a->list[k] && a->list_value[k] && judge_arrays_open(&a->expected[k], n, s->v.value_bytes);
        a->expected[k].skew = s->part[k].arrays.skew; /* poison, which is compared too, is by the place */
    }
    if (!there) {
        if (a) agree_close(a);
        else scene_close(s);
        return hd_fail(HD_ENOMEM, "case: no memory for its judge");
    }
    begin_again(a);
    *out = a;
    return HD_OK;
}

void agree_close(agree *a)
{
    if (!a) return;
    for (uint32_t k = 0; k < SCENE_PARTS; k++) {
        free(a->drawn[k]);
        free(a->list[k]);
        free(a->list_value[k]);
        judge_arrays_close(&a->expected[k]);
    }
    free(a->model_memory);
    free(a->occupant);
    scene_close(a->s);
    free(a);
}

size_t agree_draw(const agree *a, char *text, size_t bytes) { return scene_draw(&a->s->v, "the kernel's table", &a->model, "the reference's", text, bytes); }
