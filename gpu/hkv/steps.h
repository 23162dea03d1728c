/* SPDX-License-Identifier: Apache-2.0
 *
 * steps.h - what has to be done for one item, whoever does it. A variant decides who: it runs these steps with tiles of its
 * own size, and chooses what overlaps. With a tile of one lane, a constant, the collectives fold away and what is left is a
 * thread's code; so each step is written once.
 *
 *     hkv_begin    the item's key, its buckets, its digest
 *     hkv_try      take hold of what must not change meanwhile, find the key (Algorithm 1), decide (Algorithms 2 and 3),
 *                  write all but the value; false: somebody else has hold of it, try again
 *     move         copy values: out of the table, then into it (hkv_move, or a variant's own way)
 *     hkv_end      publish, let go, deliver
 *
 * An item never waits for another while it has hold of something, and takes hold of bucket locks in ascending order.
 */
#ifndef HKV_STEPS_H
#define HKV_STEPS_H

#include "gpu/hkv/add.h"
#include "gpu/hkv/args.h"
#include "policies/policy.h"
#include "simt/simt.h"

#define HKV_NONE UINT64_MAX /* no entry */

/* Operations that are done in one way. */
enum { HKV_LOOKUP, HKV_UPDATE, HKV_UPSERT, HKV_PIN, HKV_ERASE };

/* Collectives that a thread alone does without. Macros, so that each keeps its caller's line. */
#define HKV_BALLOT(t, p) ((t).size == 1 ? (uint32_t)((p) != 0) : simt_ballot(t, p))
#define HKV_ANY(t, p) ((t).size == 1 ? (p) : simt_any(t, p))
#define HKV_FROM0(t, v) ((t).size == 1 ? (uint32_t)(v) : simt_shfl_u32(t, v, 0))
#define HKV_FROM(t, v, r) ((t).size == 1 ? (uint32_t)(v) : simt_shfl_u32(t, v, r))
#define HKV_LEAST32(t, v) ((t).size == 1 ? (uint32_t)(v) : simt_reduce_min_u32(t, v))
#define HKV_LEAST64(t, v) ((t).size == 1 ? (uint64_t)(v) : simt_reduce_min_u64(t, v))
#define HKV_SUM32(t, v) ((t).size == 1 ? (uint32_t)(v) : simt_reduce_add_u32(t, v))
#define HKV_SYNC(t) do { if ((t).size > 1) simt_sync_tile(t); } while (0)

/* ---- Algorithm 1: where a key is ------------------------------------------------------------------------ */

/* What a bucket's digests, and the keys they pointed to, say. */
typedef struct hkv_seen_bucket {
    uint32_t slot;    /* of the key; v->slots: not here */
    uint32_t empty;   /* the first empty slot; v->slots: none ... */
    uint32_t empties; /* ... and how many: both only when asked for and the key is not here */
    bool busy;        /* an entry that may be the key's is owned by an updater */
} hkv_seen_bucket;

/* Up to four bytes, one by one: the digests of buckets of odd sizes. */
SIMT_FN uint32_t hkv_four_bytes(const uint8_t *p, uint32_t n)
{
    uint32_t w = 0;
    for (uint32_t k = 0; k < 4 && k < n; k++) w |= (uint32_t)simt_ld_u8(p + k) << 8 * k;
    return w;
}

/* The digests of slots s to s + 15: one load where buckets are multiples of 16, else words or bytes. What lies beyond the
 * bucket is 0. */
SIMT_FN simt_v4 hkv_digests(const uint8_t *digest, uint32_t s, uint32_t slots)
{
    simt_v4 d;
    const uint8_t *p = digest + s;
    uint32_t left = slots - s;
    if (slots % 16 == 0) return simt_ld_v4((const simt_v4 *)(const void *)p);
    d.x = d.y = d.z = d.w = 0;
    if (slots % 4 == 0) {
        const uint32_t *w = (const uint32_t *)(const void *)p;
        d.x = simt_ld_u32(w);
        if (left > 4) d.y = simt_ld_u32(w + 1);
        if (left > 8) d.z = simt_ld_u32(w + 2);
        if (left > 12) d.w = simt_ld_u32(w + 3);
        return d;
    }
    d.x = hkv_four_bytes(p, left);
    if (left > 4) d.y = hkv_four_bytes(p + 4, left - 4);
    if (left > 8) d.z = hkv_four_bytes(p + 8, left - 8);
    if (left > 12) d.w = hkv_four_bytes(p + 12, left - 12);
    return d;
}

/* The slot among those whose byte in `match` is set, from s on, that holds `key`; `none` when none does. Where updaters are
 * at work keys are read as what they are, contended words. */
SIMT_FN uint32_t hkv_slot_among(const uint64_t *keys, uint32_t s, uint32_t match, uint64_t key, bool contended, uint32_t none, bool *busy)
{
    while (match) {
        uint32_t k = (simt_ffs(match) - 1) / 8;
        uint64_t there;
        match &= ~(0xffu << 8 * k);
        if (contended) there = simt_ldrlx_u64(keys + s + k);
        else there = simt_ld_u64(keys + s + k);
        if (there == key) return s + k;
        if (contended && there == HD_KEY_LOCKED) *busy = true;
    }
    return none;
}

/* The bytes of a word of four slots that are slots of the bucket, when `left` are. */
SIMT_FN uint32_t hkv_within(uint32_t left) { return left >= 4 ? 0xffffffffu : (1u << 8 * left) - 1; }

/* Looks `key` up in bucket b, whose digests are at `digest` (in the table, or a copy of them). Sixteen slots a lane: a tile of 8
 * sees 128 slots at once, a thread one quarter of a sector after another, and stops where the key is. */
SIMT_FN hkv_seen_bucket hkv_look(simt_tile t, const hkv_view *v, uint64_t b, const uint8_t *digest, uint8_t wanted, uint64_t key, bool contended, bool room)
{
    const uint64_t *keys = v->key + hkv_entry(v, b, 0);
    uint32_t slots = v->slots, pattern = wanted * 0x01010101u, mine = slots;
    bool busy = false;
    hkv_seen_bucket r;
    r.slot = r.empty = slots;
    r.empties = 0;
    for (uint32_t s0 = 0; s0 < slots; s0 += 16 * t.size) {
        uint32_t s = s0 + 16 * t.rank;
        if (s < slots) {
            simt_v4 d = hkv_digests(digest, s, slots);
            SIMT_UNROLL
            for (uint32_t k = 0; k < 4; k++) {
                uint32_t w = k == 0 ? d.x : k == 1 ? d.y : k == 2 ? d.z : d.w, at = s + 4 * k;
                uint32_t match = simt_eq4(w, pattern);
                if (match && mine == slots) mine = hkv_slot_among(keys, at, match, key, contended, slots, &busy);
                if (room && at < slots) {
                    uint32_t empty = simt_eq4(w, HKV_NO_DIGEST) & hkv_within(slots - at);
                    if (empty && r.empty == slots) r.empty = at + (simt_ffs(empty) - 1) / 8;
                    r.empties += simt_popc(empty) / 8;
                }
            }
        }
        simt_join();
        uint32_t who = HKV_BALLOT(t, mine < slots);
        if (who) {
            r.slot = HKV_FROM(t, mine, simt_ffs(who) - 1);
            break;
        }
    }
    if (room && r.slot == slots) {
        r.empty = HKV_LEAST32(t, r.empty);
        r.empties = HKV_SUM32(t, r.empties);
    }
    r.busy = contended && r.slot == slots && HKV_ANY(t, busy);
    return r;
}

/* ---- Pins: open addressing from hd_mix64(key) ---------------------------------------------------------------- */

/* The pin of a key, or NULL. Who asks either holds pin_lock or knows that nobody does. */
SIMT_FN hkv_pin *hkv_pin_at(const hkv_args *a, uint64_t key)
{
    uint32_t mask = a->v.pin_places - 1, i = (uint32_t)hd_mix64(key) & mask;
    if (a->v.pin_places == 0) return (hkv_pin *)0;
    for (;;) {
        uint64_t there = simt_ld_u64(&a->v.pin[i].key);
        if (there == key) return a->v.pin + i;
        if (there == HD_KEY_EMPTY) return (hkv_pin *)0; /* there always is one */
        i = (i + 1) & mask;
    }
}

SIMT_FN bool hkv_is_pinned(const hkv_args *a, uint64_t key) { return simt_ld_u32(a->pins) != 0 && hkv_pin_at(a, key); }

SIMT_FN void hkv_pin_put(const hkv_args *a, uint64_t key, uint64_t holder)
{
    uint32_t mask = a->v.pin_places - 1, i = (uint32_t)hd_mix64(key) & mask;
    while (simt_ld_u64(&a->v.pin[i].key) != HD_KEY_EMPTY) i = (i + 1) & mask;
    simt_st_u64(&a->v.pin[i].key, key);
    simt_st_u64(&a->v.pin[i].holder, holder);
}

/* No tombstones: the hole moves to the end of its run, over all that would still be found after the move. */
SIMT_FN void hkv_pin_take(const hkv_args *a, const hkv_pin *gone)
{
    hkv_pin *pin = a->v.pin;
    uint32_t mask = a->v.pin_places - 1, hole = (uint32_t)(gone - pin);
    for (uint32_t i = (hole + 1) & mask;; i = (i + 1) & mask) {
        uint64_t key = simt_ld_u64(&pin[i].key);
        if (key == HD_KEY_EMPTY) break;
        if (((i - (uint32_t)hd_mix64(key)) & mask) < ((i - hole) & mask)) continue;
        simt_st_u64(&pin[hole].key, key);
        simt_st_u64(&pin[hole].holder, simt_ld_u64(&pin[i].holder));
        hole = i;
    }
    simt_st_u64(&pin[hole].key, HD_KEY_EMPTY);
}

/* ---- One item ---------------------------------------------------------------------------------------------------- */

enum { HKV_NO_ITEM = HD_OUTCOME_COUNT, HKV_UNDECIDED };
enum { HKV_HOLDS_NOTHING, HKV_HOLDS_BUCKETS, HKV_HOLDS_ENTRY, HKV_HOLDS_PINS };
enum { HKV_KEEP, HKV_REPLACE, HKV_ADD, HKV_ZERO }; /* what becomes of the value in the table */

typedef struct hkv_one {
    uint64_t i, key;
    uint64_t first, second;  /* its candidate buckets; the same one in single mode */
    uint64_t entry;          /* where it is now; HKV_NONE */
    uint64_t score;          /* its score now; REFUSED: what it would have been. Rank 0 knows it */
    uint64_t gone_key, gone_score; /* EVICTED: who left. Rank 0 knows it */
    uint8_t *out;            /* where the entry's old value goes before it is changed; NULL: nowhere */
    const uint8_t *in;       /* what it is replaced by, or what is added */
    hkv_seen_bucket at_first, at_second; /* when looked */
    uint32_t outcome, holds, change;
    uint8_t digest;
    bool looked, fresh;      /* fresh: the entry is new, its key not yet in place */
} hkv_one;

/* Items from a->last on are none, so that a tile stays together to the end. */
SIMT_FN hkv_one hkv_begin(const hkv_args *a, uint64_t i)
{
    hkv_one o;
    o.i = i;
    o.key = 0;
    o.first = o.second = 0;
    o.entry = HKV_NONE;
    o.score = o.gone_key = o.gone_score = 0;
    o.out = (uint8_t *)0;
    o.in = (const uint8_t *)0;
    o.outcome = HKV_NO_ITEM;
    o.holds = HKV_HOLDS_NOTHING;
    o.change = HKV_KEEP;
    o.digest = 0;
    o.looked = o.fresh = false;
    if (i >= a->last) return o;
    simt_started(i);
    o.key = simt_ld_u64(a->key + i);
    uint64_t h = hd_hash(o.key, a->v.seed);
    o.first = o.second = hd_first_bucket(h, a->v.buckets);
    if (a->v.dual) o.second = hd_second_bucket(h, a->v.buckets);
    o.digest = hd_digest(h);
    o.outcome = HKV_UNDECIDED;
    if (o.key >= HD_KEY_RESERVED) o.outcome = HD_RESERVED;
    return o;
}

SIMT_FN hd_score_in hkv_score_in(const hkv_args *a, uint64_t i)
{
    hd_score_in in;
    in.given = 1;
    if (a->score) in.given = simt_ld_u64(a->score + i);
    in.now = a->clock + i * a->per_item;
    in.epoch = a->epoch;
    return in;
}

SIMT_FN const uint8_t *hkv_digests_of(const hkv_args *a, uint64_t b) { return a->v.digest + hkv_entry(&a->v, b, 0); }

/* Looks in both candidate buckets, in the second only when the key is not in the first. */
SIMT_FN void hkv_search(simt_tile t, const hkv_args *a, uint32_t family, hkv_one *o, const uint8_t *first, const uint8_t *second)
{
    const hkv_view *v = &a->v;
    bool contended = family == HKV_UPDATE, room = family == HKV_UPSERT;
    o->looked = true;
    o->entry = HKV_NONE;
    o->at_first = hkv_look(t, v, o->first, first, o->digest, o->key, contended, room);
    o->at_second = o->at_first;
    if (o->at_first.slot < v->slots) {
        o->entry = hkv_entry(v, o->first, o->at_first.slot);
    } else if (v->dual) {
        o->at_second = hkv_look(t, v, o->second, second, o->digest, o->key, contended, room);
        if (o->at_second.slot < v->slots) o->entry = hkv_entry(v, o->second, o->at_second.slot);
    }
}

/* ---- Taking hold and letting go ------------------------------------------------------------------------------------ */

/* Its bucket locks; pairs with the releases in hkv_let_go. */
SIMT_FN bool hkv_try_buckets(simt_tile t, const hkv_args *a, hkv_one *o)
{
    uint64_t low = o->first < o->second ? o->first : o->second, high = o->first ^ o->second ^ low;
    bool got = false;
    if (t.rank == 0) {
        got = simt_cas_u32(a->lock + low, 0, 1, SIMT_ACQUIRE) == 0;
        if (got && high != low) {
            got = simt_cas_u32(a->lock + high, 0, 1, SIMT_ACQUIRE) == 0;
            if (!got) simt_strel_u32(a->lock + low, 0);
        }
    }
    got = HKV_FROM0(t, got);
    if (!got) return false;
    HKV_SYNC(t);
    o->holds = HKV_HOLDS_BUCKETS;
    return true;
}

/* One entry, of an updater; pairs with the release in hkv_let_go. */
SIMT_FN bool hkv_try_entry(simt_tile t, const hkv_args *a, hkv_one *o)
{
    bool got = false;
    if (t.rank == 0) got = simt_cas_u64(a->v.key + o->entry, o->key, HD_KEY_LOCKED, SIMT_ACQUIRE) == o->key;
    got = HKV_FROM0(t, got);
    if (!got) return false;
    HKV_SYNC(t);
    o->holds = HKV_HOLDS_ENTRY;
    return true;
}

SIMT_FN bool hkv_try_pins(simt_tile t, const hkv_args *a, hkv_one *o)
{
    bool got = false;
    if (t.rank == 0) got = simt_cas_u32(a->pin_lock, 0, 1, SIMT_ACQUIRE) == 0;
    got = HKV_FROM0(t, got);
    if (!got) return false;
    HKV_SYNC(t);
    o->holds = HKV_HOLDS_PINS;
    return true;
}

SIMT_FN void hkv_let_go(simt_tile t, const hkv_args *a, hkv_one *o)
{
    if (o->holds == HKV_HOLDS_NOTHING) return;
    HKV_SYNC(t);
    if (t.rank == 0) {
        if (o->holds == HKV_HOLDS_ENTRY) simt_strel_u64(a->v.key + o->entry, o->key);
        if (o->holds == HKV_HOLDS_PINS) simt_strel_u32(a->pin_lock, 0);
        if (o->holds == HKV_HOLDS_BUCKETS && o->second != o->first) simt_strel_u32(a->lock + o->second, 0);
        if (o->holds == HKV_HOLDS_BUCKETS) simt_strel_u32(a->lock + o->first, 0);
    }
    o->holds = HKV_HOLDS_NOTHING;
}

/* ---- What each operation delivers ------------------------------------------------------------------------------------ */

SIMT_FN bool hkv_delivers_value(uint32_t op) { return op == HD_OP_FIND || op == HD_OP_FIND_MISSED || op == HD_OP_TOUCH || op == HD_OP_FIND_OR_INSERT; }
SIMT_FN bool hkv_delivers_score(uint32_t op) { return hkv_delivers_value(op) || op == HD_OP_FIND_PTR; }
SIMT_FN bool hkv_delivers_ptr(uint32_t op) { return op == HD_OP_FIND_PTR || op == HD_OP_FIND_OR_INSERT_PTR || op == HD_OP_LOCK_KEYS; }

SIMT_FN bool hkv_was_found(uint32_t outcome) { return outcome == HD_HIT || outcome == HD_PINNED; }
SIMT_FN bool hkv_was_placed(uint32_t outcome) { return outcome == HD_INSERTED || outcome == HD_EVICTED; }

SIMT_FN void hkv_value_goes_out(const hkv_args *a, hkv_one *o)
{
    if (hkv_delivers_value(a->op) && a->value_out) o->out = a->value_out + o->i * a->v.value_bytes;
}

/* ---- Algorithms 2 and 3 ------------------------------------------------------------------------------------------------ */

/* What an operation does to a key that is there, and whether it brings in one that is not. */
typedef struct hkv_rule {
    uint32_t found;  /* its outcome when the key is there */
    uint32_t change; /* of the value then */
    bool rescore, insert;
} hkv_rule;

SIMT_FN hkv_rule hkv_rule_of(const hkv_args *a, uint64_t i)
{
    hkv_rule r;
    uint32_t flag = HD_EITHER;
    r.found = HD_UPDATED;
    r.change = HKV_KEEP;
    r.rescore = true;
    r.insert = false;
    switch (a->op) {
    case HD_OP_TOUCH: r.found = HD_HIT; break;
    case HD_OP_ASSIGN: r.change = HKV_REPLACE; break;
    case HD_OP_ASSIGN_VALUES:
        r.change = HKV_REPLACE;
        r.rescore = false;
        break;
    case HD_OP_INSERT_OR_ASSIGN:
    case HD_OP_INSERT_AND_EVICT:
        r.change = HKV_REPLACE;
        r.insert = true;
        break;
    case HD_OP_FIND_OR_INSERT:
    case HD_OP_FIND_OR_INSERT_PTR:
        r.found = HD_HIT;
        r.insert = true;
        break;
    case HD_OP_ACCUM_OR_ASSIGN:
        if (a->flag) flag = simt_ld_u8(a->flag + i);
        r.insert = flag != HD_ADD;
        r.change = flag == HD_ASSIGN_NEW ? HKV_KEEP : HKV_ADD;
        r.rescore = flag != HD_ASSIGN_NEW;
        r.found = flag == HD_ASSIGN_NEW ? HD_HIT : HD_UPDATED;
        break;
    default: break;
    }
    return r;
}

/* The key is at o->entry, and what must not change is held: its outcome, its new score. */
SIMT_FN void hkv_decide_found(simt_tile t, const hkv_args *a, hkv_one *o, hkv_rule r, bool pinned)
{
    bool changes = !pinned && (r.rescore || r.change != HKV_KEEP);
    o->outcome = pinned && (r.rescore || r.change != HKV_KEEP) ? HD_PINNED : r.found;
    if (changes) o->change = r.change;
    if (a->value && o->change != HKV_KEEP) o->in = a->value + o->i * a->v.value_bytes;
    hkv_value_goes_out(a, o);
    if (t.rank == 0) {
        o->score = simt_ld_u64(a->v.score + o->entry);
        if (changes && r.rescore) {
            o->score = hd_on_hit(a->v.policy, o->score, hkv_score_in(a, o->i));
            simt_st_u64(a->v.score + o->entry, o->score);
        }
    }
}

/* A slot to take. */
typedef struct hkv_place {
    uint64_t entry; /* HKV_NONE: all are pinned */
    uint64_t least; /* whose score this is ...  */
    bool empty;     /* ... unless it is nobody's */
} hkv_place;

/* Whether the entry of slot s would be the better victim: lower than the least so far, and not pinned. */
SIMT_FN bool hkv_is_lower(const hkv_args *a, uint64_t b, uint32_t s, uint64_t score, uint32_t at, uint64_t least, bool pins)
{
    if (at < a->v.slots && score >= least) return false;
    return !pins || !hkv_pin_at(a, simt_ld_u64(a->v.key + hkv_entry(&a->v, b, s)));
}

/* Algorithm 2, line 11: the least score of a full bucket, whose scores are at `score` (in the table, or a copy of them). Two
 * scores a load, where buckets are even. */
SIMT_FN hkv_place hkv_least(simt_tile t, const hkv_args *a, uint64_t b, const uint64_t *score)
{
    uint32_t slots = a->v.slots, at = slots, step = slots % 2 ? 1 : 2;
    uint64_t least = UINT64_MAX;
    bool pins = simt_ld_u32(a->pins) != 0;
    hkv_place p;
    for (uint32_t s = step * t.rank; s < slots; s += step * t.size) {
        uint64_t x, y = 0;
        if (step == 2) {
            simt_v4 w = simt_ld_v4((const simt_v4 *)(const void *)(score + s));
            x = (uint64_t)w.y << 32 | w.x;
            y = (uint64_t)w.w << 32 | w.z;
        } else {
            x = simt_ld_u64(score + s);
        }
        if (hkv_is_lower(a, b, s, x, at, least, pins)) {
            least = x;
            at = s;
        }
        if (step == 2 && hkv_is_lower(a, b, s + 1, y, at, least, pins)) {
            least = y;
            at = s + 1;
        }
    }
    simt_join();
    p.empty = false;
    p.least = HKV_LEAST64(t, least);
    at = HKV_LEAST32(t, least == p.least ? at : slots);
    p.entry = at < slots ? hkv_entry(&a->v, b, at) : HKV_NONE;
    return p;
}

/* Algorithm 3. D1: room in either bucket, the emptier takes it. D2: both full, the one with the lower least score gives it
 * up. Ties go to the first. In single mode both are the same. */
SIMT_FN hkv_place hkv_choose(simt_tile t, const hkv_args *a, const hkv_one *o, const uint64_t *first_scores, const uint64_t *second_scores)
{
    const hkv_view *v = &a->v;
    hkv_place p, q;
    if (o->at_first.empties || o->at_second.empties) {
        bool second = o->at_second.empties > o->at_first.empties;
        p.entry = second ? hkv_entry(v, o->second, o->at_second.empty) : hkv_entry(v, o->first, o->at_first.empty);
        p.least = 0;
        p.empty = true;
        return p;
    }
    p = hkv_least(t, a, o->first, first_scores);
    if (!v->dual) return p;
    q = hkv_least(t, a, o->second, second_scores);
    return p.entry == HKV_NONE || (q.entry != HKV_NONE && q.least < p.least) ? q : p;
}

/* The key is in neither bucket, and both are held: takes a slot, or not. The slot's key is away until hkv_end. */
SIMT_FN void hkv_decide_absent(simt_tile t, const hkv_args *a, hkv_one *o, hkv_place p)
{
    const hkv_view *v = &a->v;
    hd_score_in in = hkv_score_in(a, o->i);
    o->score = hd_on_insert(v->policy, in);
    o->outcome = HD_REFUSED;
    if (p.entry == HKV_NONE || !(p.empty || v->admit_always || hd_admission(v->policy, in) >= p.least)) return;
    o->outcome = p.empty ? HD_INSERTED : HD_EVICTED;
    o->entry = p.entry;
    o->fresh = true;
    o->change = a->op == HD_OP_FIND_OR_INSERT_PTR ? HKV_ZERO : HKV_REPLACE;
    o->in = a->value ? a->value + o->i * v->value_bytes : (const uint8_t *)0;
    if (!p.empty && a->stage_flag) o->out = a->stage_value + (o->i - a->first) * v->value_bytes;
    HKV_SYNC(t); /* all have read what is now overwritten */
    if (t.rank == 0) {
        if (!p.empty) o->gone_key = simt_ld_u64(v->key + p.entry);
        o->gone_score = p.least;
        simt_strlx_u64(v->key + p.entry, HD_KEY_LOCKED);
        simt_st_u64(v->score + p.entry, o->score);
        simt_st_u8(v->digest + p.entry, o->digest);
    }
}

SIMT_FN void hkv_decide_upsert(simt_tile t, const hkv_args *a, hkv_one *o, const uint64_t *first_scores, const uint64_t *second_scores)
{
    hkv_rule r = hkv_rule_of(a, o->i);
    if (o->entry != HKV_NONE) hkv_decide_found(t, a, o, r, hkv_is_pinned(a, o->key));
    else if (!r.insert) o->outcome = HD_MISS;
    else hkv_decide_absent(t, a, o, hkv_choose(t, a, o, first_scores, second_scores));
}

/* ---- The other families ---------------------------------------------------------------------------------------------------- */

SIMT_FN void hkv_decide_lookup(simt_tile t, const hkv_args *a, hkv_one *o)
{
    o->outcome = o->entry == HKV_NONE ? HD_MISS : HD_HIT;
    if (o->entry == HKV_NONE) return;
    hkv_value_goes_out(a, o);
    if (t.rank == 0 && a->score_out && hkv_delivers_score(a->op)) o->score = simt_ld_u64(a->v.score + o->entry);
}

SIMT_FN void hkv_decide_pin(simt_tile t, const hkv_args *a, hkv_one *o)
{
    uint32_t outcome = HD_HIT;
    if (t.rank == 0) {
        uint32_t pins = simt_ld_u32(a->pins);
        hkv_pin *pin = hkv_pin_at(a, o->key);
        if (a->op == HD_OP_LOCK_KEYS) {
            outcome = pin ? HD_PINNED : pins == a->v.pin_limit ? HD_REFUSED : HD_HIT;
            if (outcome == HD_HIT) hkv_pin_put(a, o->key, a->holder);
            if (outcome == HD_HIT) simt_st_u32(a->pins, pins + 1);
        } else {
            outcome = !pin ? HD_MISS : simt_ld_u64(&pin->holder) == a->holder ? HD_HIT : HD_PINNED;
            if (outcome == HD_HIT) hkv_pin_take(a, pin);
            if (outcome == HD_HIT) simt_st_u32(a->pins, pins - 1);
        }
    }
    o->outcome = HKV_FROM0(t, outcome);
}

SIMT_FN void hkv_decide_erase(simt_tile t, const hkv_args *a, hkv_one *o)
{
    const hkv_view *v = &a->v;
    o->outcome = hkv_is_pinned(a, o->key) ? HD_PINNED : HD_ERASED;
    HKV_SYNC(t);
    if (o->outcome == HD_ERASED && t.rank == 0) {
        simt_strlx_u64(v->key + o->entry, HD_KEY_LOCKED);
        simt_st_u64(v->score + o->entry, 0);
        simt_st_u8(v->digest + o->entry, HKV_NO_DIGEST);
        simt_strlx_u64(v->key + o->entry, HD_KEY_EMPTY);
    }
}

/* ---- Try, move, end ------------------------------------------------------------------------------------------------------------ */

/* Scores may be a copy of the bucket's, fetched while it was held; NULL: the table's own. */
SIMT_FN bool hkv_try_with(simt_tile t, const hkv_args *a, uint32_t family, hkv_one *o, const uint64_t *first_scores, const uint64_t *second_scores)
{
    const hkv_view *v = &a->v;
    if (o->outcome != HKV_UNDECIDED) return true; /* reserved, or no item */
    bool buckets = family == HKV_UPSERT || family == HKV_ERASE;
    if (buckets && o->holds == HKV_HOLDS_NOTHING && !hkv_try_buckets(t, a, o)) return false;
    if (!o->looked) hkv_search(t, a, family, o, hkv_digests_of(a, o->first), hkv_digests_of(a, o->second));
    if (family == HKV_UPSERT) {
        hkv_decide_upsert(t, a, o, first_scores ? first_scores : v->score + hkv_entry(v, o->first, 0),
                          second_scores ? second_scores : v->score + hkv_entry(v, o->second, 0));
        return true;
    }
    if (family == HKV_LOOKUP) {
        hkv_decide_lookup(t, a, o);
        return true;
    }
    if (o->entry == HKV_NONE) {
        if (family == HKV_UPDATE && (o->at_first.busy || o->at_second.busy)) return o->looked = false;
        o->outcome = HD_MISS;
        return true;
    }
    if (family == HKV_ERASE) {
        hkv_decide_erase(t, a, o);
        return true;
    }
    if (family == HKV_PIN) {
        if (!hkv_try_pins(t, a, o)) return false;
        hkv_decide_pin(t, a, o);
        return true;
    }
    bool pinned = hkv_is_pinned(a, o->key); /* then nobody changes it, and it need not be owned */
    if (!pinned && !hkv_try_entry(t, a, o)) return o->looked = false;
    hkv_decide_found(t, a, o, hkv_rule_of(a, o->i), pinned);
    return true;
}

SIMT_FN bool hkv_try(simt_tile t, const hkv_args *a, uint32_t family, hkv_one *o)
{
    return hkv_try_with(t, a, family, o, (const uint64_t *)0, (const uint64_t *)0);
}

/* bytes of a value, shared out over the tile, by the widest access that both ends allow. Streaming stores leave the caches to
 * digests and keys. */
SIMT_FN void hkv_copy(simt_tile t, uint8_t *to, const uint8_t *from, uint32_t bytes, bool streaming)
{
    uint32_t low = (uint32_t)((uintptr_t)to | (uintptr_t)from | bytes);
    if (low % 16 == 0) {
        for (uint32_t at = 16 * t.rank; at < bytes; at += 16 * t.size) {
            simt_v4 w = simt_ld_v4((const simt_v4 *)(const void *)(from + at));
            if (streaming) simt_stcs_v4((simt_v4 *)(void *)(to + at), w);
            else simt_st_v4((simt_v4 *)(void *)(to + at), w);
        }
    } else if (low % 8 == 0) {
        for (uint32_t at = 8 * t.rank; at < bytes; at += 8 * t.size)
            simt_st_u64((uint64_t *)(void *)(to + at), simt_ld_u64((const uint64_t *)(const void *)(from + at)));
    } else if (low % 4 == 0) {
        for (uint32_t at = 4 * t.rank; at < bytes; at += 4 * t.size)
            simt_st_u32((uint32_t *)(void *)(to + at), simt_ld_u32((const uint32_t *)(const void *)(from + at)));
    } else {
        for (uint32_t at = t.rank; at < bytes; at += t.size) simt_st_u8(to + at, simt_ld_u8(from + at));
    }
    simt_join();
}

SIMT_FN void hkv_zero(simt_tile t, uint8_t *to, uint32_t bytes)
{
    uint32_t unit = ((uint32_t)(uintptr_t)to | bytes) % 8 == 0 ? 8 : 1;
    for (uint32_t at = unit * t.rank; at < bytes; at += unit * t.size) {
        if (unit == 8) simt_st_u64((uint64_t *)(void *)(to + at), 0);
        else simt_st_u8(to + at, 0);
    }
    simt_join();
}

/* Changes the value at `to` as `change` says. */
SIMT_FN void hkv_change(simt_tile t, const hkv_args *a, uint32_t change, uint8_t *to, const uint8_t *from, bool streaming)
{
    if (change == HKV_REPLACE && from) hkv_copy(t, to, from, a->v.value_bytes, streaming);
    if (change == HKV_ADD) hkv_add(t, to, from, a->v.value_bytes, a->elem);
    if (change == HKV_ZERO) hkv_zero(t, to, a->v.value_bytes);
}

SIMT_FN void hkv_move(simt_tile t, const hkv_args *a, const hkv_one *o, bool streaming)
{
    if (o->entry == HKV_NONE || a->v.value_bytes == 0) return;
    uint8_t *value = hkv_value(&a->v, o->entry);
    if (o->out) hkv_copy(t, o->out, value, a->v.value_bytes, streaming);
    if (o->change == HKV_KEEP) return;
    if (o->out) HKV_SYNC(t); /* it is out before it is overwritten */
    hkv_change(t, a, o->change, value, o->in, streaming);
}

/* What goes to the caller's arrays. */
SIMT_FN void hkv_deliver(const hkv_args *a, const hkv_one *o)
{
    bool found = hkv_was_found(o->outcome);
    if (a->outcome) simt_st_u8(a->outcome + o->i, (uint8_t)o->outcome);
    if (a->score_out && found && hkv_delivers_score(a->op)) simt_st_u64(a->score_out + o->i, o->score);
    if (hkv_delivers_ptr(a->op) && a->ptr && (found || hkv_was_placed(o->outcome))) simt_st_u64(a->ptr + o->i, (uint64_t)(uintptr_t)hkv_value(&a->v, o->entry));
    if (!a->stage_flag) return;
    uint64_t at = o->i - a->first;
    uint32_t listed = HKV_NOT_LISTED;
    if (a->op == HD_OP_FIND_MISSED) listed = o->outcome == HD_MISS ? HKV_LISTED_INPUT : HKV_NOT_LISTED;
    else if (o->outcome == HD_EVICTED) listed = HKV_LISTED;
    else if (o->outcome == HD_REFUSED) listed = HKV_LISTED_INPUT;
    simt_st_u8(a->stage_flag + at, (uint8_t)listed);
    if (listed == HKV_LISTED) simt_st_u64(a->stage_key + at, o->gone_key);
    if (listed != HKV_NOT_LISTED) simt_st_u64(a->stage_score + at, listed == HKV_LISTED ? o->gone_score : o->score);
}

/* The item has taken effect: its key is put in place, others may have what it held. */
SIMT_FN void hkv_end(simt_tile t, const hkv_args *a, hkv_one *o)
{
    if (o->outcome == HKV_NO_ITEM) return;
    if (o->fresh) HKV_SYNC(t); /* the value is whole before the key says so */
    if (t.rank == 0) {
        if (o->fresh) simt_strlx_u64(a->v.key + o->entry, o->key);
        simt_ticket(o->i, o->outcome, o->gone_key, o->entry);
    }
    hkv_let_go(t, a, o);
    if (t.rank == 0) hkv_deliver(a, o);
}

/* ---- Counting outcomes ------------------------------------------------------------------------------------------------------------ */

/* One item a lane: the warp's outcomes are added as fields of one word, seven bits each. */
SIMT_FN void hkv_tally_lanes(const hkv_args *a, uint32_t outcome)
{
    enum { BITS = 7 };
    simt_tile w = simt_tile_of(32);
    uint64_t sum = simt_reduce_add_u64(w, outcome < HD_OUTCOME_COUNT ? 1ull << BITS * outcome : 0);
    uint64_t mine = w.rank < HD_OUTCOME_COUNT ? sum >> BITS * w.rank & 127 : 0;
    if (mine) simt_add_u64(a->tally + w.rank, mine, SIMT_RELAXED);
}

#endif
