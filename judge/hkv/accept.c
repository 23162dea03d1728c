/* SPDX-License-Identifier: Apache-2.0
 *
 * accept.c - whether an item of an HKV table may have had its outcome (by hkv_accept), and the invariants between steps
 * and at rest.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gpu/hkv/rows.h"
#include "judge/hkv/fixture.h"
#include "judge/port_hosted.h"
#include "judge/rules.h"
#include "policies/policy.h"
#include "ref/hkv/hkv.h"

/* ---- One item -------------------------------------------------------------------------------- */

hkv_item hkv_fixture_item(const fixture *s, const hkv_view *model, uint32_t k, uint64_t i)
{
    const hd_batch *b = &s->part[k].batch;
    const uint64_t *score = hkv_scores_for(model, b);
    const hd_when when = hosted_when(s, k);
    hkv_item it;
    it.op = b->op;
    it.elem = b->elem;
    it.flag = b->flag ? b->flag[i] : HD_EITHER;
    it.key = b->key[i];
    it.value = b->op != HD_OP_FIND_OR_INSERT_PTR ? (const uint8_t *)b->value + i * s->value_bytes : NULL;
    it.in.given = score ? score[i] : 1;
    it.in.now = when.clock + i * when.per_item;
    it.in.tick = it.in.now;
    it.in.epoch = when.epoch;
    it.holder = b->holder;
    it.raw = b->raw_scores;
    return it;
}

/* Fills in what the item has to list, before the victim leaves the model. */
static void note_listed(const hkv_view *model, judge_listing *l, const hkv_item *it, hd_score_in in,
                        const hkv_seen *seen)
{
    hd_outcome o = seen->outcome;
    uint32_t bytes = model->value_bytes;
    bool evicts = it->op == HD_OP_INSERT_AND_EVICT;
    l->listed = (it->op == HD_OP_FIND_MISSED && o == HD_MISS) || (evicts && (o == HD_REFUSED || o == HD_EVICTED));
    if (!l->listed) return;
    l->key = it->key;
    l->score = hd_on_insert(it->raw ? (uint32_t)HKV_RAW_POLICY : model->policy, &model->program, in);
    if (bytes) memcpy(l->value, it->value, bytes);
    if (o != HD_EVICTED) return;
    uint64_t gone = hkv_find(model, seen->gone_key);
    l->key = seen->gone_key;
    l->score = seen->gone_score;
    if (bytes && gone != HKV_NOWHERE) memcpy(l->value, hkv_value(model, gone), bytes);
}

const char *hkv_fixture_accept(const fixture *s, void *table, uint32_t k, uint64_t i, const simt_ticket_record *t,
                               judge_listing *l)
{
    const fixture_part *p = &s->part[k];
    const hd_batch *b = &p->batch;
    hkv_view *model = &((hkv_state *)table)->v;
    hkv_item it = hkv_fixture_item(s, model, k, i);
    hd_outcome o = (hd_outcome)b->outcome[i];
    bool delivers = judge_delivers(b->op, o);
    hkv_seen seen;
    memset(&seen, 0, sizeof seen);
    seen.outcome = o;
    seen.entry = t && (o == HD_INSERTED || o == HD_EVICTED) ? t->b : HKV_NOWHERE;
    seen.score_shown = delivers;
    if (delivers) seen.score = b->score_out[i];
    if (delivers && judge_ops[b->op].value_out) seen.value = (const uint8_t *)b->value_out + i * s->value_bytes;
    if (t && o == HD_EVICTED) seen.gone_key = t->a;
    hd_score_in in = it.in;
    if (o == HD_EVICTED || o == HD_REFUSED) seen.gone_score = hkv_foresee(model, &it, seen.gone_key, &in);
    note_listed(model, l, &it, in, &seen);
    return hkv_accept(model, &it, &seen, p->kernel->strictness == FIXTURE_CHOICE ? HKV_ANY_CHOICE : HKV_EXACT_CHOICE);
}

/* ---- At rest --------------------------------------------------------------------------------- */

static const hkv_view *view_of(const void *table) { return &((const hkv_state *)table)->v; }

/* What buckets remember depends on what they were told, and on nothing else. */
static const char *same_memory(const hkv_view *model, const hkv_view *now, char why[JUDGE_SENTENCE])
{
    for (uint64_t e = 0; now->ghost && e < hkv_capacity(now); e++)
        if (now->ghost[e] != model->ghost[e])
            return fixture_say(why,
                               "bucket %" PRIu64 ": ghost %" PRIu64 " is 0x%" PRIx64 ", and 0x%" PRIx64
                               " by the reference",
                               e / now->slots, e % now->slots, now->ghost[e], model->ghost[e]);
    for (uint64_t b = 0; now->state && b < now->buckets; b++)
        if (now->state[b] != model->state[b])
            return fixture_say(why, "bucket %" PRIu64 ": its state is %" PRIu64 ", and %" PRIu64 " by the reference", b,
                               now->state[b], model->state[b]);
    for (uint64_t i = 0, words = hkv_count_words(now->slots); now->count && i < hkv_counts_of(now); i++)
        if (now->count[i] != model->count[i])
            return fixture_say(why,
                               "bucket %" PRIu64 ": word %" PRIu64 " of its counters is 0x%" PRIx64 ", and 0x%" PRIx64
                               " by the reference",
                               i / words, i % words, now->count[i], model->count[i]);
    return NULL;
}

const char *hkv_fixture_beside(const fixture *s, const void *table, const void *after, char why[JUDGE_SENTENCE])
{
    const hkv_view *model = view_of(table), *now = view_of(after);
    (void)s;
    const char *wrong = same_memory(model, now, why);
    if (wrong) return wrong;
    for (uint64_t e = 0; now->holder && e < hkv_capacity(now); e++) {
        uint64_t key = *hkv_key_at(now, e), there = now->holder[e] ? hkv_find(model, key) : HKV_NOWHERE;
        if (now->holder[e] && (there == HKV_NOWHERE || model->holder[there] != now->holder[e]))
            return fixture_say(why, "key %" PRIx64 " is pinned by %" PRIu64 ", which the reference does not say", key,
                               now->holder[e]);
    }
    return now->pins == model->pins
               ? NULL
               : fixture_say(why, "%" PRIu64 " entries are pinned, and should be %" PRIu64, now->pins, model->pins);
}

static bool is_pinned(const hkv_view *model, uint64_t key)
{
    uint64_t e = hkv_find(model, key);
    return e != HKV_NOWHERE && hkv_holder_of(model, e);
}

/* After promote, where it was asked to look: no unpinned entry of bucket b in the host tier has a higher score than
 * an unpinned one in the device tier. */
static const char *bucket_promoted(const hkv_view *v, const hkv_view *model, uint64_t b, char *why)
{
    bool room = false;
    uint64_t least = UINT64_MAX;
    for (uint32_t s = 0; s < v->slots; s++) {
        uint64_t e = hkv_entry(v, b, s), key = *hkv_key_at(v, e), score = *hkv_score_at(v, e);
        bool fixed = is_pinned(model, key);
        if (hkv_is_near(v, e)) {
            room = room || key == HD_KEY_EMPTY;
            if (!fixed && key != HD_KEY_EMPTY && score < least) least = score;
        } else if (key != HD_KEY_EMPTY && !fixed && (room || score > least)) {
            return fixture_say(why,
                               "promote: bucket %" PRIu64 ", slot %" PRIu32 ": key %" PRIx64
                               " is far, and worth more than one that is near",
                               b, s, key);
        }
    }
    return NULL;
}

/* Whether an item may end the pin of the key. */
static bool may_unpin(const fixture *s, uint64_t key)
{
    for (uint32_t k = 0; k < s->parts; k++) {
        const hd_batch *b = &s->part[k].batch;
        if (b->op == HD_OP_CLEAR) return true;
        for (uint64_t i = 0; (b->op == HD_OP_UNLOCK_KEYS || b->op == HD_OP_ERASE) && i < b->n; i++)
            if (b->key[i] == key) return true;
    }
    return false;
}

/* An entry that was pinned, and that no item unpins, is where it was. */
static const char *pinned_stay(const fixture *s, const hkv_view *then, char *why)
{
    const hkv_view *v = hkv_fixture_view(s);
    for (uint64_t e = 0; then->holder && e < hkv_capacity(then); e++) {
        uint64_t key = *hkv_key_at(then, e);
        if (!then->holder[e] || (*hkv_key_at(v, e) == key && v->holder[e] == then->holder[e])) continue;
        if (!may_unpin(s, key))
            return fixture_say(why,
                               "bucket %" PRIu64 ", slot %" PRIu64 ": key %" PRIx64 " was pinned, and is not there",
                               e / v->slots, e % v->slots, key);
    }
    return NULL;
}

/* Pinned entries stay. In promote entries outside of the range must not move, either. */
const char *hkv_fixture_promised(const fixture *s, const void *table, uint32_t k, char why[JUDGE_SENTENCE])
{
    const hd_batch *batch = &s->part[k].batch;
    const hkv_view *v = hkv_fixture_view(s), *model = view_of(table);
    hkv_state then;
    fixture_view(s, s->initial, &then);
    if (batch->op != HD_OP_PROMOTE) return pinned_stay(s, &then.v, why);
    for (uint64_t b = 0; b < v->buckets; b++) {
        bool asked = v->far && v->striped && b * v->slots >= batch->start && b * v->slots < batch->start + batch->n;
        const char *wrong = asked ? bucket_promoted(v, model, b, why) : NULL;
        if (wrong) return wrong;
        for (uint64_t e = hkv_entry(v, b, 0); e < hkv_entry(v, b + 1, 0); e++) {
            uint64_t key = *hkv_key_at(&then.v, e);
            if (asked && !is_pinned(model, key)) continue;
            if (*hkv_key_at(v, e) != key)
                return fixture_say(why, "promote: bucket %" PRIu64 ", slot %" PRIu64 ": key %" PRIx64 " was to stay", b,
                                   e % v->slots, key);
        }
    }
    return NULL;
}

const char *hkv_fixture_idle(const fixture *s, char why[JUDGE_SENTENCE])
{
    const hkv_state *t = hkv_fixture_state(s);
    for (uint64_t b = 0; b < t->v.buckets; b++)
        if (t->kept.lock[b]) return fixture_say(why, "the lock of bucket %" PRIu64 " is still held", b);
    for (uint32_t k = 0; k < s->parts; k++) {
        const hkv_state *a = hkv_fixture_part(s, k);
        for (uint32_t b = 0; a->kept.fetch.count && b < HKV_FETCH_BINS; b++)
            if (a->kept.fetch.count[b])
                return fixture_say(why, "bin %" PRIu32 " of the far values still counts %" PRIu32, b,
                                   a->kept.fetch.count[b]);
    }
    for (uint32_t k = 0; k < s->parts; k++) {
        const hkv_state *a = hkv_fixture_part(s, k);
        for (uint32_t list = 0; list < HKV_LISTS_COUNTED; list++)
            if (a->counts->left[list])
                return fixture_say(why, "list %" PRIu32 " of the items that were left still counts %" PRIu32, list,
                                   a->counts->left[list]);
        for (uint64_t w = 0; a->kept.groups.claim && w <= hkv_claim_mask(s->part[k].batch.n); w++)
            if (a->kept.groups.claim[w]) return fixture_say(why, "word %" PRIu64 " of the claims is not 0", w);
        for (uint64_t i = 0; a->kept.groups.claim && i < s->part[k].batch.n; i++)
            if (a->kept.groups.role[i]) return fixture_say(why, "item %" PRIu64 " has still a role", i);
    }
    return NULL;
}

const char *hkv_fixture_check(const void *table, char why[JUDGE_SENTENCE])
{
    hkv_check(view_of(table), why, JUDGE_SENTENCE);
    return why[0] ? why : NULL;
}

/* ---- In flight ------------------------------------------------------------------------------- */

typedef struct broken {
    const char *rule, *what; /* NULL: none is */
} broken;

/* The upper bits of hashes of keys: those that a slot has, and those that two slots have. There are 16 times as many
 * marks as slots, so that few different keys share one. */
enum { MARKS_LEAST = 64, MARKS_MOST = 65536, MARKS_A_SLOT = 16 };
typedef struct key_marks {
    uint32_t shift; /* from a hash to its mark */
    uint64_t once[MARKS_MOST / 64], twice[MARKS_MOST / 64];
} key_marks;

static uint32_t mark_of(const key_marks *m, uint64_t hash) { return (uint32_t)(hash >> m->shift); }

static void mark_keys(const hkv_view *v, key_marks *m)
{
    uint32_t marks = MARKS_LEAST;
    for (m->shift = 58; marks < MARKS_MOST && marks < MARKS_A_SLOT * hkv_capacity(v); m->shift--) marks *= 2;
    memset(m->once, 0, marks / 8);
    memset(m->twice, 0, marks / 8);
    for (uint64_t e = 0; e < hkv_capacity(v); e++) {
        uint64_t key = *hkv_key_at(v, e);
        uint32_t mark = mark_of(m, hd_hash(key, v->seed));
        if (key == HD_KEY_EMPTY) continue;
        m->twice[mark / 64] |= m->once[mark / 64] & 1ull << mark % 64;
        m->once[mark / 64] |= 1ull << mark % 64;
    }
}

/* Another slot than e that has the key: in dual mode of any bucket, else of e's; HKV_NOWHERE: there is none. */
static uint64_t other_slot(const hkv_view *v, uint64_t key, uint64_t e)
{
    uint64_t b = e / v->slots, first = v->dual ? 0 : hkv_entry(v, b, 0),
             end = v->dual ? hkv_capacity(v) : hkv_entry(v, b + 1, 0);
    for (uint64_t other = first; other < end; other++)
        if (*hkv_key_at(v, other) == key && other != e) return other;
    return HKV_NOWHERE;
}

/* The invariant that slot e violates while lanes run. m: NULL, or tells of most keys that they are in one slot. */
static broken slot_broken(const hkv_view *v, const key_marks *m, uint64_t e)
{
    const broken none = { NULL, NULL }, digest = { "HKV-1", "has a digest" },
                 other_digest = { "HKV-2", "shows, and its digest does not" },
                 elsewhere = { "HKV-3", "is in none of its buckets" }, twice = { "HKV-4", "is in two slots" };
    uint64_t key = *hkv_key_at(v, e), b = e / v->slots;
    if (key == HD_KEY_EMPTY) return v->digest[e] == HKV_NO_DIGEST ? none : digest;
    uint64_t h = hd_hash(key, v->seed);
    if (v->digest[e] != hd_digest(h)) return other_digest;
    bool once = m && !(m->twice[mark_of(m, h) / 64] >> mark_of(m, h) % 64 & 1);
    if (!once && other_slot(v, key, e) != HKV_NOWHERE) return twice;
    if (b != hd_first_bucket(h, v->buckets) && (!v->dual || b != hd_second_bucket(h, v->buckets))) return elsewhere;
    return none;
}

static const char *say_broken(const hkv_view *v, broken k, uint64_t e, char why[JUDGE_SENTENCE])
{
    uint64_t key = *hkv_key_at(v, e), b = e / v->slots, slot = e % v->slots;
    uint64_t other = key == HD_KEY_EMPTY ? HKV_NOWHERE : other_slot(v, key, e);
    if (key == HD_KEY_EMPTY)
        return fixture_say(why, "bucket %" PRIu64 ", slot %" PRIu64 ": the slot is empty, and %s (%s, in flight)", b,
                           slot, k.what, k.rule);
    if (strcmp(k.rule, "HKV-4") != 0 || other == HKV_NOWHERE)
        return fixture_say(why, "bucket %" PRIu64 ", slot %" PRIu64 ": key 0x%" PRIx64 " %s (%s, in flight)", b, slot,
                           key, k.what, k.rule);
    uint64_t low = e < other ? e : other, high = e < other ? other : e;
    if (low / v->slots == high / v->slots)
        return fixture_say(why,
                           "key 0x%" PRIx64 " is in slot %" PRIu64 " and slot %" PRIu64 " of bucket %" PRIu64
                           " (%s, in flight)",
                           key, low % v->slots, high % v->slots, b, k.rule);
    return fixture_say(why,
                       "key 0x%" PRIx64 " is in bucket %" PRIu64 ", slot %" PRIu64 " and in bucket %" PRIu64
                       ", slot %" PRIu64 " (%s, in flight)",
                       key, low / v->slots, low % v->slots, high / v->slots, high % v->slots, k.rule);
}

/* weak: buckets with a held lock are left out, so that what held before says nothing about them. */
const char *hkv_fixture_watch(const fixture *s, uint8_t *before, bool weak, char why[JUDGE_SENTENCE])
{
    const hkv_state *t = hkv_fixture_state(s);
    const hkv_view *v = &t->v;
    uint64_t entries = hkv_capacity(v);
    bool changes = before && !weak; /* only what has changed can be wrong */
    key_marks marks;
    hkv_state then;
    if (changes)
        fixture_view(s, before, &then);
    else
        mark_keys(v, &marks);
    for (uint64_t e = 0; e < entries; e++) {
        uint64_t key = *hkv_key_at(v, e);
        if (changes && key == *hkv_key_at(&then.v, e) && v->digest[e] == then.v.digest[e]) continue;
        if (key == HD_KEY_LOCKED || key == HKV_KEY_REPLACED || (weak && t->kept.lock[e / v->slots])) continue;
        const broken k = slot_broken(v, changes ? NULL : &marks, e);
        if (!k.rule) continue;
        return say_broken(v, k, e, why);
    }
    return NULL;
}
