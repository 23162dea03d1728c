/* SPDX-License-Identifier: Apache-2.0
 *
 * hkv.c - HKV one key at a time, one slot at a time. This file is the specification; kernels must agree with it. Read
 * it beside the paper: Algorithm 1 is find_in_bucket, Algorithm 2 is insert, Algorithm 3 is choose_dual.
 */
#include "ref/hkv/hkv.h"

#include <string.h>

#include "base/op.h"
#include "ref/accum.h"
#include "ref/hkv/digests.h"
#include "ref/hkv/least.h"
#include "ref/hkv/queues.h"
#include "ref/rule.h"

/* ---- Algorithm 1: digest-accelerated find ---------------------------------------------------- */

/* Lines 3 to 12: the digests settle almost every slot; a key is read where its digest matches. */
static uint64_t find_in_bucket(const hkv_view *v, uint64_t b, uint8_t digest, uint64_t key)
{
    for (uint32_t s = 0; s < v->slots; s += HKV_DIGESTS_AT_ONCE)
        for (hkv_mask match = hkv_slots_with(v, b, s, digest); match; match &= match - 1) {
            uint64_t e = hkv_entry(v, b, s + hkv_lowest(match));
            if (*hkv_key_at(v, e) == key) return e;
        }
    return HKV_NOWHERE; /* definitive (Proposition 3.1) */
}

static uint64_t find_at(const hkv_view *v, const hkv_home *at, uint64_t key)
{
    uint64_t e = find_in_bucket(v, at->bucket[0], at->digest, key);
    if (e == HKV_NOWHERE && v->dual) e = find_in_bucket(v, at->bucket[1], at->digest, key);
    return e;
}

uint64_t hkv_find(const hkv_view *v, uint64_t key)
{
    hkv_home at = hkv_home_of(v, key);
    return key >= HD_KEY_RESERVED ? HKV_NOWHERE : find_at(v, &at, key);
}

/* ---- Pins ------------------------------------------------------------------------------------ */

static void pin(hkv_view *v, uint64_t e, uint64_t holder)
{
    HD_ASSERT(v->holder && holder, "HKV-6: a pin has a holder, and room for it");
    HD_ASSERT(v->holder[e] == 0, "HKV-6: an entry is pinned twice");
    HD_ASSERT(v->digest[e] != HKV_NO_DIGEST, "HKV-6: an empty slot is pinned");
    v->holder[e] = holder;
    v->pins++;
}

/* The entry may be a victim again, so the bound of its group counts it again. */
static void unpin(hkv_view *v, uint64_t e)
{
    uint64_t *bound = v->bound ? v->bound + e / HKV_BOUNDED : NULL, score = *hkv_score_at(v, e);
    HD_ASSERT(v->pins > 0 && v->holder[e], "HKV-6: an entry is unpinned that is not pinned");
    v->holder[e] = 0;
    v->pins--;
    if (bound && *bound > score) *bound = score;
}

/* ---- The slot of a new key ------------------------------------------------------------------- */

/* A slot to take. */
typedef struct place {
    uint64_t entry;  /* HKV_NOWHERE: full of pinned entries              */
    uint64_t least;  /* the score of the entry there                     */
    bool empty;      /* there is none; else it is the bucket's least     */
    uint32_t spared; /* entries that were spared before it was found     */
} place;

/* The score that an entry had before it was spared. */
typedef struct before {
    uint64_t entry, score;
} before;

/* The first slot with the least score of a bucket that has bounds. The first group with the least bound is searched,
 * and its bound raised to its least score, until that is what the bound was. Then no score of the bucket is less, and
 * none of an earlier group is equal. */
static uint32_t least_by_bounds(const hkv_view *v, uint64_t b, uint64_t *least)
{
    uint64_t first = hkv_entry(v, b, 0), bound;
    for (;;) {
        uint32_t group = hkv_least_bound(v, first, &bound), s = group + hkv_least_of_group(v, first + group, least);
        HD_ASSERT(*least >= bound, "HKV-8: a lower bound is above a score");
        HD_ASSERT(s < v->slots);
        if (*least == bound) return s;
        v->bound[(first + group) / HKV_BOUNDED] = *least;
    }
}

/* Algorithm 2, line 11: the bucket's least score, the first slot that has it. */
static place least_in_bucket(const hkv_view *v, uint64_t b)
{
    place p = { .entry = HKV_NOWHERE, .least = UINT64_MAX };
    if (v->pins) { /* rare: pinned entries are no victims */
        for (uint32_t s = 0; s < v->slots; s++) {
            uint64_t e = hkv_entry(v, b, s);
            uint64_t score = *hkv_score_at(v, e);
            if ((p.entry == HKV_NOWHERE || score < p.least) && !hkv_holder_of(v, e)) {
                p.entry = e;
                p.least = score;
            }
        }
        return p;
    }
    uint32_t s =
        v->bound ? least_by_bounds(v, b, &p.least) : hkv_least_score(v, hkv_entry(v, b, 0), v->slots, &p.least);
    p.entry = hkv_entry(v, b, s);
    HD_ASSERT(s < v->slots && *hkv_score_at(v, p.entry) == p.least, "the victim has another score");
    HD_ASSERT(v->digest[p.entry] != HKV_NO_DIGEST, "a slot is empty, and its bucket is full");
    return p;
}

static place empty_in_bucket(const hkv_view *v, uint64_t b)
{
    uint32_t s = hkv_first_with(v, b, HKV_NO_DIGEST);
    place p = { .entry = s < v->slots ? hkv_entry(v, b, s) : HKV_NOWHERE, .empty = true };
    HD_ASSERT(s == v->slots || *hkv_key_at(v, p.entry) == HD_KEY_EMPTY, "HKV-1: a key has no digest");
    return p;
}

static uint32_t occupancy(const hkv_view *v, uint64_t b)
{
    uint32_t empty = 0;
    for (uint32_t s = 0; s < v->slots; s += HKV_DIGESTS_AT_ONCE)
        empty += hkv_bits(hkv_slots_with(v, b, s, HKV_NO_DIGEST));
    HD_ASSERT(empty <= v->slots);
    return v->slots - empty;
}

/* Algorithm 2, lines 6 to 11. */
static place choose_single(const hkv_view *v, uint64_t b)
{
    place p = empty_in_bucket(v, b);
    return p.entry != HKV_NOWHERE ? p : least_in_bucket(v, b);
}

/* Algorithm 3. D1: room in either bucket, the emptier takes it. D2: both full, the bucket with the lower
 * least score gives it up. Ties go to the first bucket. */
static place choose_dual(const hkv_view *v, const uint64_t *bucket)
{
    HD_ASSERT(bucket[0] != bucket[1], "the candidates of a key are two buckets");
    uint32_t n0 = occupancy(v, bucket[0]), n1 = occupancy(v, bucket[1]);
    if (n0 < v->slots || n1 < v->slots) return empty_in_bucket(v, bucket[n1 < n0]);
    place p0 = least_in_bucket(v, bucket[0]), p1 = least_in_bucket(v, bucket[1]);
    if (p0.entry == HKV_NOWHERE) return p1;
    return p1.entry != HKV_NOWHERE && p1.least < p0.least ? p1 : p0;
}

static place choose(const hkv_view *v, const hkv_home *at)
{
    return v->dual ? choose_dual(v, at->bucket) : choose_single(v, at->bucket[0]);
}

/* The policy that scores the item. */
static uint32_t policy_of(const hkv_view *v, const hkv_item *it)
{
    return it->raw ? (uint32_t)HKV_RAW_POLICY : v->policy;
}

/* ---- Entries that are spared ----------------------------------------------------------------- */

/* A bound falls where a score falls below it. A search for the least score raises it. */
static void set_score(const hkv_view *v, uint64_t e, uint64_t score)
{
    bool falls = score < *hkv_score_at(v, e);
    *hkv_score_at(v, e) = score;
    if (falls && v->bound && v->bound[e / HKV_BOUNDED] > score) v->bound[e / HKV_BOUNDED] = score;
}

/* The least score of a bucket's entries that could leave, without entry e; 0: there are none. */
static uint64_t least_beside(const hkv_view *v, uint64_t b, uint64_t e)
{
    uint64_t least = UINT64_MAX;
    bool any = false;
    if (!v->pins && hkv_first_with(v, b, HKV_NO_DIGEST) == v->slots) { /* often: the search is the usual one */
        uint64_t score = *hkv_score_at(v, e);
        set_score(v, e, UINT64_MAX);
        least = least_in_bucket(v, b).least;
        set_score(v, e, score);
        return least;
    }
    for (uint64_t x = hkv_entry(v, b, 0); x < hkv_entry(v, b + 1, 0); x++) {
        if (x == e || v->digest[x] == HKV_NO_DIGEST || hkv_holder_of(v, x)) continue;
        any = true;
        if (*hkv_score_at(v, x) < least) least = *hkv_score_at(v, x);
    }
    return any ? least : 0;
}

/* Whether the policy has queues, and scores the item. */
static bool has_queues(const hkv_view *v, const hkv_item *it)
{
    return (v->program.flags & HD_QUEUES) != 0 && !it->raw;
}

/* What the policy is told of an item that takes the place. t: of a policy with queues. */
static __attribute__((noinline)) hd_score_in told(const hkv_view *v, const hkv_item *it, const place *p,
                                                  const hkv_taking *t)
{
    hd_score_in in = it->in;
    if (!(v->program.flags & HD_KEEPS_ORDER) || it->raw || p->entry == HKV_NOWHERE) return in;
    if (has_queues(v, it)) in = t->in;
    in.spared = (uint16_t)p->spared;
    if (v->program.flags & HD_READS_LEAST) in.least = least_beside(v, p->entry / v->slots, p->entry);
    return in;
}

/* The score of an item that takes the place. */
static inline uint64_t new_score(const hkv_view *v, const hkv_item *it, const place *p, const hkv_taking *t)
{
    if (!(v->program.flags & HD_KEEPS_ORDER)) return hd_on_insert(policy_of(v, it), &v->program, it->in);
    return hd_on_insert(policy_of(v, it), &v->program, told(v, it, p, t));
}

/* While the policy spares the entry at p, which is about to leave, the entry gets its new score, and the search goes
 * on; at most as often as the buckets have slots. Returns where it ends. log: NULL, or room for so many entries: what
 * was spared. */
static __attribute__((noinline)) place spare(const hkv_view *v, const hkv_item *it, const hkv_home *at, place p,
                                             before *log)
{
    const uint32_t most = hkv_spared_most(v, false);
    hd_score_in in = it->in;
    for (in.spared = 0; !p.empty && p.entry != HKV_NOWHERE && in.spared < most;) {
        uint64_t score = hd_on_evict(v->policy, &v->program, p.least, in, false);
        if (score == p.least) break;
        HD_ASSERT(score > p.least, "a spared entry's score falls");
        if (log) log[in.spared] = (before){ p.entry, p.least };
        set_score(v, p.entry, score);
        p = choose(v, at);
        p.spared = ++in.spared;
    }
    return p;
}

/* Of two buckets, whether the second one's entry leaves: scores count without the bit of the queue. Ties go to the
 * first. */
static bool second_gives_up(const hkv_view *v, uint64_t e0, uint64_t e1)
{
    if (e0 == HKV_NOWHERE || e1 == HKV_NOWHERE) return e1 != HKV_NOWHERE;
    return (*hkv_score_at(v, e1) & ~HD_UPPER_QUEUE) < (*hkv_score_at(v, e0) & ~HD_UPPER_QUEUE);
}

/* The same of a policy with queues: which entry leaves depends on the queues of its bucket, and the policy may also
 * move entries when there is a free slot. */
static __attribute__((noinline)) place make_room_by_queues(const hkv_view *v, const hkv_item *it, const hkv_home *at,
                                                           before *log, hkv_taking *t)
{
    place free = choose(v, at), p = free;
    const uint32_t homes = free.empty ? 1 : hkv_homes(v),
                   most = v->program.flags & HD_SPARES ? hkv_spared_most(v, true) : 0;
    hkv_taking of[2];
    for (uint32_t k = 0; k < homes; k++)
        of[k] = hkv_taking_of(v, it, at, free.empty ? free.entry / v->slots : at->bucket[k], !free.empty);
    for (p.spared = 0;; p.spared++) {
        uint64_t e[2] = { hkv_first_to_leave(v, &of[0]), HKV_NOWHERE };
        if (homes == 2) e[1] = hkv_first_to_leave(v, &of[1]);
        bool second = second_gives_up(v, e[0], e[1]);
        p.entry = e[second];
        *t = of[second];
        if (p.entry == HKV_NOWHERE || p.spared == most) break;
        uint64_t old = *hkv_score_at(v, p.entry), score = hd_on_evict(v->policy, &v->program, old, t->in, true);
        if (score == old) break;
        if (log) log[p.spared] = (before){ p.entry, old };
        set_score(v, p.entry, score);
        of[0].in.spared = of[1].in.spared = (uint16_t)(p.spared + 1);
    }
    if (free.empty) {
        p.entry = free.entry;
        return p;
    }
    p.least = p.entry == HKV_NOWHERE ? UINT64_MAX : *hkv_score_at(v, p.entry);
    if (p.entry != HKV_NOWHERE) hkv_ask_to_remember(v, t, p.least);
    return p;
}

/* The slot for a new key of the item. Items of raw scores spare nothing, and know no queues. */
static inline place make_room(const hkv_view *v, const hkv_item *it, const hkv_home *at, before *log, hkv_taking *t)
{
    if (has_queues(v, it)) return make_room_by_queues(v, it, at, log, t);
    place p = choose(v, at);
    if (!it->raw && (v->program.flags & HD_SPARES)) p = spare(v, it, at, p, log);
    return p;
}

static void take_back(const hkv_view *v, const before *log, uint32_t spared)
{
    while (spared--) set_score(v, log[spared].entry, log[spared].score);
}

/* Differs: Algorithm 3, line 7 admits only s > least; Algorithm 2, line 12 refuses only s < least, as here both do. */
static bool admitted(const hkv_view *v, const place *p, const hkv_item *it, const hkv_taking *t)
{
    const hd_score_in *in = has_queues(v, it) ? &t->in : &it->in;
    return p->empty || v->admit_always || hd_admission(policy_of(v, it), &v->program, *in) >= p->least;
}

/* ---- Writing an entry ------------------------------------------------------------------------ */

static void write_value(const hkv_view *v, uint64_t e, const void *value)
{
    if (v->value_bytes == 0) return;
    if (value)
        memcpy(hkv_value(v, e), value, v->value_bytes);
    else
        memset(hkv_value(v, e), 0, v->value_bytes);
}

/* The bound of an entry's group becomes its least score, which is known to have changed. */
static void tighten(const hkv_view *v, uint64_t e)
{
    (void)hkv_least_of_group(v, e / HKV_BOUNDED * HKV_BOUNDED, &v->bound[e / HKV_BOUNDED]);
}

static void write_entry(hkv_view *v, uint64_t e, uint8_t digest, uint64_t key, const void *value, uint64_t score)
{
    *hkv_key_at(v, e) = key;
    set_score(v, e, score);
    v->digest[e] = digest;
    write_value(v, e, value);
    HD_ASSERT(hkv_is_sound(v, e));
}

bool hkv_put(hkv_view *v, uint64_t key, const void *value, uint64_t score)
{
    hkv_home at = hkv_home_of(v, key);
    place p = choose(v, &at);
    if (!p.empty) return false;
    write_entry(v, p.entry, at.digest, key, value, score);
    return true;
}

/* ---- What an operation does (rule.h) --------------------------------------------------------- */

/* Whether the item pins what it finds and what it inserts. */
static bool pins(const hkv_item *it, const hd_rule *r)
{
    return r->besides == HD_PIN || (it->holder && hd_op_does(it->op, HD_MAY_PIN));
}

/* The outcome of an item whose key is at entry e. Nothing is changed yet. */
static hd_outcome outcome_found(const hkv_view *v, const hkv_item *it, const hd_rule *r, uint64_t e)
{
    uint64_t holder = hkv_holder_of(v, e);
    if (r->besides == HD_UNPIN) return !holder ? HD_MISS : holder == it->holder ? HD_HIT : HD_PINNED;
    if (holder && holder == it->holder && hd_op_does(it->op, HD_MAY_PIN)) return r->found;
    return holder && (r->value != HD_KEEP_VALUE || r->rescore || r->besides != HD_NOTHING) ? HD_PINNED : r->found;
}

/* Makes `outcome`, which outcome_found gave, happen to entry e. */
static void change_found(hkv_view *v, const hkv_item *it, const hd_rule *r, hd_outcome outcome, uint64_t e)
{
    if (outcome != r->found) return;
    if (r->value == HD_REPLACE_VALUE) write_value(v, e, it->value);
    if (r->value == HD_ADD_VALUE) hd_accum_add(it->elem, hkv_value(v, e), it->value, v->value_bytes);
    if (r->rescore) set_score(v, e, hd_on_hit(policy_of(v, it), &v->program, *hkv_score_at(v, e), it->in));
    if (pins(it, r) && !hkv_holder_of(v, e)) pin(v, e, it->holder);
    if (r->besides == HD_UNPIN) unpin(v, e);
    if (r->besides == HD_REMOVE) hkv_make_empty(v, e);
    HD_ASSERT(hkv_is_sound(v, e));
    HD_ASSERT(r->besides != HD_REMOVE || hkv_find(v, it->key) == HKV_NOWHERE, "HKV-4: a key is there that was erased");
}

/* Algorithm 2 from line 6, once the key is known to be absent. */
static void insert(hkv_view *v, const hkv_item *it, const hd_rule *r, const hkv_home *at, hkv_seen *seen,
                   void *gone_value)
{
    hkv_taking t;
    place p = make_room(v, it, at, NULL, &t);
    seen->score = new_score(v, it, &p, &t);
    if (p.entry == HKV_NOWHERE || !admitted(v, &p, it, &t)) {
        seen->outcome = HD_REFUSED;
        return;
    }
    seen->outcome = HD_INSERTED;
    seen->entry = p.entry;
    if (!p.empty) {
        seen->outcome = HD_EVICTED;
        seen->gone_key = *hkv_key_at(v, p.entry);
        seen->gone_score = *hkv_score_at(v, p.entry);
        if (gone_value && v->value_bytes) memcpy(gone_value, hkv_value(v, p.entry), v->value_bytes);
    }
    if (has_queues(v, it)) hkv_take(v, &t, seen->gone_key);
    write_entry(v, p.entry, at->digest, it->key, it->value, seen->score);
    if (!p.empty && v->bound) tighten(v, p.entry);
    if (pins(it, r)) pin(v, p.entry, it->holder);
    HD_ASSERT(hkv_is_sound(v, p.entry));
}

static bool is_reserved(const hkv_item *it) { return it->key >= HD_KEY_RESERVED || hd_flag_is_none(it->op, it->flag); }

void hkv_apply_at(hkv_view *v, const hkv_item *it, const hkv_home *home, hkv_seen *seen, void *gone_value)
{
    seen->entry = HKV_NOWHERE;
    seen->outcome = HD_RESERVED;
    if (is_reserved(it)) return;

    const hd_rule *r = hd_rule_of(it->op, it->flag);
    if (hkv_is_counted(v, it)) hkv_count(v, home, it->key);
    uint64_t e = find_at(v, home, it->key);
    if (e != HKV_NOWHERE) {
        seen->outcome = outcome_found(v, it, r, e);
        change_found(v, it, r, seen->outcome, e);
        seen->entry = seen->outcome == HD_ERASED ? HKV_NOWHERE : e;
    } else if (r->insert) {
        insert(v, it, r, home, seen, gone_value);
    } else {
        seen->outcome = HD_MISS;
    }
    HD_ASSERT(seen->entry == HKV_NOWHERE || *hkv_key_at(v, seen->entry) == it->key, "the key is elsewhere");
}

void hkv_apply(hkv_view *v, const hkv_item *it, hkv_seen *seen, void *gone_value)
{
    hkv_home home = hkv_home_of(v, it->key);
    hkv_apply_at(v, it, &home, seen, gone_value);
    if (seen->entry != HKV_NOWHERE) seen->score = *hkv_score_at(v, seen->entry);
}

/* ---- The other face -------------------------------------------------------------------------- */

/* An absent key of an operation that inserts: what the table says of it, and what would be done now. */
typedef struct insertion {
    hkv_view *v;
    const hkv_item *it;
    const hkv_home *at;
    const hkv_seen *seen;
    hkv_strictness strictness;
    place now;
    hkv_taking taking; /* of a policy with queues */
} insertion;

static bool is_candidate(const hkv_home *at, uint64_t bucket)
{
    return bucket == at->bucket[0] || bucket == at->bucket[1]; /* in single mode the second is HKV_NOWHERE */
}

static const char *accept_refused(const insertion *x)
{
    if (x->now.entry == HKV_NOWHERE) return NULL;
    if (x->now.empty) return "refused, but there was room";
    if (!admitted(x->v, &x->now, x->it, &x->taking)) return NULL;
    return "refused, but the least score was no greater";
}

/* Where it was inserted, in *taken. */
static const char *accept_inserted(insertion *x, place *taken)
{
    uint32_t slots = x->v->slots;
    if (x->now.entry == HKV_NOWHERE || !x->now.empty) return "inserted, but there was no room";
    *taken = x->now;
    if (x->seen->entry == HKV_NOWHERE) return NULL;
    uint64_t bucket = x->seen->entry / slots;
    if (bucket == x->now.entry / slots) {
        /* of entries with one score the first is spared, so slots count */
        bool same = (x->v->program.flags & HD_SPARES) && x->v->digest[x->seen->entry] == HKV_NO_DIGEST;
        if (same) taken->entry = x->seen->entry;
        return NULL;
    }
    if (!is_candidate(x->at, bucket)) return "inserted outside its candidate buckets";
    if (x->strictness == HKV_EXACT_CHOICE) return "inserted into the fuller bucket (D1)";
    *taken = empty_in_bucket(x->v, bucket);
    if (has_queues(x->v, x->it)) x->taking = hkv_taking_of(x->v, x->it, x->at, bucket, false);
    return taken->entry == HKV_NOWHERE ? "inserted into a full bucket" : NULL;
}

/* The victim, if it was a key of the table that may leave; HKV_NOWHERE and why not. */
static uint64_t accept_victim(const insertion *x, const char **why)
{
    hkv_view *v = x->v;
    hkv_home gone_at = hkv_home_of(v, x->seen->gone_key);
    bool reserved = x->seen->gone_key >= HD_KEY_RESERVED;
    uint64_t gone = reserved ? HKV_NOWHERE : find_at(v, &gone_at, x->seen->gone_key);
    *why = gone == HKV_NOWHERE                             ? "evicted a key that was absent"
           : hkv_holder_of(v, gone)                        ? "evicted a pinned entry"
           : !is_candidate(x->at, gone / v->slots)         ? "evicted from a bucket that is no candidate"
           : *hkv_score_at(v, gone) != x->seen->gone_score ? "reported the evicted entry with a wrong score"
                                                           : NULL;
    return *why ? HKV_NOWHERE : gone;
}

static const char *accept_evicted(const insertion *x, place *taken)
{
    const char *why;
    if (x->now.entry == HKV_NOWHERE) return "evicted, but every entry was pinned";
    if (x->now.empty) return "evicted, but there was room";
    uint64_t gone = accept_victim(x, &why), slots = x->v->slots;
    if (why) return why;
    bool chosen = has_queues(x->v, x->it) && gone / slots == x->now.entry / slots;
    *taken = chosen ? x->now : least_in_bucket(x->v, gone / slots);
    taken->spared = x->now.spared;
    if (*hkv_score_at(x->v, gone) != taken->least) return "evicted an entry whose score was not the least";
    if (gone / slots != x->now.entry / slots) return "evicted from the bucket that was not to be chosen (D2)";
    if (!admitted(x->v, taken, x->it, &x->taking)) return "evicted, but should have been refused";
    taken->entry = gone;
    return NULL;
}

static const char *accept_room(insertion *x, const hd_rule *r)
{
    hkv_view *v = x->v;
    const hkv_seen *seen = x->seen;
    place taken = x->now;
    if (seen->outcome == HD_REFUSED) return accept_refused(x);
    const char *why = seen->outcome == HD_INSERTED  ? accept_inserted(x, &taken)
                      : seen->outcome == HD_EVICTED ? accept_evicted(x, &taken)
                                                    : "the key was absent, and the operation inserts";
    if (why) return why;
    uint64_t score = new_score(v, x->it, &taken, &x->taking);
    if (seen->score_shown && seen->score != score) return "inserted with a wrong score";
    if (has_queues(v, x->it)) hkv_take(v, &x->taking, seen->gone_key);
    write_entry(v, taken.entry, x->at->digest, x->it->key, x->it->value, score);
    if (pins(x->it, r)) pin(v, taken.entry, x->it->holder);
    return NULL;
}

enum { LOGGED = 2 * HD_SLOTS_MAX };

/* What was spared stays so only if the outcome is accepted. */
static __attribute__((noinline)) const char *accept_spared(insertion *x, const hd_rule *r)
{
    before log[LOGGED];
    x->now = make_room(x->v, x->it, x->at, log, &x->taking);
    const char *why = accept_room(x, r);
    if (why) take_back(x->v, log, x->now.spared);
    return why;
}

static const char *accept_insert(hkv_view *v, const hkv_item *it, const hd_rule *r, const hkv_home *at,
                                 const hkv_seen *seen, hkv_strictness strictness)
{
    insertion x = { .v = v, .it = it, .at = at, .seen = seen, .strictness = strictness };
    if (v->program.flags & HD_SPARES) return accept_spared(&x, r);
    x.now = make_room(v, it, at, NULL, &x.taking);
    return accept_room(&x, r);
}

uint64_t hkv_foresee(const hkv_view *v, const hkv_item *it, uint64_t leaves, hd_score_in *in)
{
    before log[LOGGED];
    hkv_home at = hkv_home_of(v, it->key);
    place p = { .entry = HKV_NOWHERE };
    hkv_taking t;
    uint64_t counts[2 * HKV_COUNT_WORDS_MOST];
    if (v->count) hkv_counts_keep(v, &at, counts);
    if (hkv_is_counted(v, it)) hkv_count(v, &at, it->key);
    if (v->program.flags & HD_KEEPS_ORDER) p = make_room(v, it, &at, log, &t); /* for others the search tells nothing */
    uint64_t e = hkv_find(v, leaves), score = e == HKV_NOWHERE ? 0 : *hkv_score_at(v, e);
    *in = told(v, it, &p, &t);
    take_back(v, log, p.spared);
    if (v->count) hkv_counts_put_back(v, &at, counts);
    return score;
}

static const char *accept_at(hkv_view *v, const hkv_item *it, const hkv_home *at, const hkv_seen *seen,
                             hkv_strictness strictness)
{
    const hd_rule *r = hd_rule_of(it->op, it->flag);
    uint64_t e = find_at(v, at, it->key);
    if (e == HKV_NOWHERE) {
        if (r->insert) return accept_insert(v, it, r, at, seen, strictness);
        return seen->outcome == HD_MISS ? NULL : "not a miss, but the key was absent";
    }
    hd_outcome outcome = outcome_found(v, it, r, e);
    if (seen->outcome != outcome)
        return outcome == HD_PINNED ? "the entry was pinned" : "the key was present, and the outcome is another";
    /* A reader's value and score are those before the change, which keeps the value it delivers. */
    if (seen->value && memcmp(seen->value, hkv_value(v, e), v->value_bytes) != 0) return "delivered a wrong value";
    uint64_t score = r->rescore && outcome == r->found
                         ? hd_on_hit(policy_of(v, it), &v->program, *hkv_score_at(v, e), it->in)
                         : *hkv_score_at(v, e);
    if (seen->score_shown && seen->score != score) return "delivered a wrong score";
    change_found(v, it, r, outcome, e);
    return NULL;
}

/* The item is counted only if its outcome is accepted. */
static __attribute__((noinline)) const char *accept_counted(hkv_view *v, const hkv_item *it, const hkv_home *at,
                                                            const hkv_seen *seen, hkv_strictness strictness)
{
    uint64_t counts[2 * HKV_COUNT_WORDS_MOST];
    hkv_counts_keep(v, at, counts);
    hkv_count(v, at, it->key);
    const char *why = accept_at(v, it, at, seen, strictness);
    if (why) hkv_counts_put_back(v, at, counts);
    return why;
}

const char *hkv_accept(hkv_view *v, const hkv_item *it, const hkv_seen *seen, hkv_strictness strictness)
{
    hkv_home at = hkv_home_of(v, it->key);
    if (is_reserved(it))
        return seen->outcome == HD_RESERVED ? NULL : "a reserved key or flag must be answered RESERVED";
    if (seen->outcome == HD_RESERVED) return "RESERVED, but the key is an ordinary one";
    return hkv_is_counted(v, it) ? accept_counted(v, it, &at, seen, strictness)
                                 : accept_at(v, it, &at, seen, strictness);
}
