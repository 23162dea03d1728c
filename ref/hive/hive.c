/* SPDX-License-Identifier: Apache-2.0
 *
 * hive.c - Hive one key at a time. This file is the specification; kernels must agree with it. Read it beside the
 * paper: section IV-A's four steps are replace (apply), claim-then-commit, cuckoo eviction and stash (hive_place);
 * section IV-B is find and erase.
 */
#include "ref/hive/hive.h"

/* ---- Slots ----------------------------------------------------------------------------------- */

uint64_t hive_read(const hive_view *v, uint64_t e)
{
    const void *bucket = hive_bucket(v, e / v->slots);
    return v->half == 32 ? ((const uint64_t *)bucket)[e % v->slots] : ((const uint32_t *)bucket)[e % v->slots];
}

void hive_write(hive_view *v, uint64_t e, uint64_t word)
{
    uint64_t at, b = e / v->slots;
    const hive_segment *g = hive_segment_of(v, b, &at);
    void *bucket = hive_bucket(v, b);
    uint32_t s = (uint32_t)(e % v->slots), bit = 1u << s;
    if (v->half == 32)
        ((uint64_t *)bucket)[s] = word;
    else
        ((uint32_t *)bucket)[s] = (uint32_t)word;
    if (g->mask) g->mask[at] = hive_is_free(v, word) ? g->mask[at] | bit : g->mask[at] & ~bit;
}

void *hive_value_at(const hive_view *v, uint64_t e)
{
    return (uint8_t *)hive_bucket(v, e / v->slots) + e % v->slots * hive_word_bytes(v);
}

void hive_remove(hive_view *v, uint64_t e)
{
    HD_ASSERT(hive_is_key(v, hive_read(v, e)), "a slot without a key is erased");
    HD_ASSERT(e < hive_capacity(v) || v->stashed > 0, "HIVE-6: the stash has more entries than are counted");
    v->stashed -= e >= hive_capacity(v);
    hive_write(v, e, hive_vacant(v));
}

/* The first slot of bucket b whose word has `bits` where `mask` has ones; HIVE_NOWHERE: none has. */
static uint64_t slot_like(const hive_view *v, uint64_t b, uint64_t mask, uint64_t bits)
{
    const void *bucket = hive_bucket(v, b);
    uint32_t s = 0;
    if (v->half == 32)
        for (const uint64_t *word = (const uint64_t *)bucket; s < v->slots && (word[s] & mask) != bits;) s++;
    else
        for (const uint32_t *word = (const uint32_t *)bucket; s < v->slots && (word[s] & mask) != bits;) s++;
    return s < v->slots ? b * v->slots + s : HIVE_NOWHERE;
}

/* How many do. */
static uint64_t slots_like(const hive_view *v, uint64_t b, uint64_t mask, uint64_t bits)
{
    const void *bucket = hive_bucket(v, b);
    uint64_t n = 0;
    if (v->half == 32)
        for (uint32_t s = 0; s < v->slots; s++) n += (((const uint64_t *)bucket)[s] & mask) == bits;
    else
        for (uint32_t s = 0; s < v->slots; s++) n += (((const uint32_t *)bucket)[s] & mask) == bits;
    return n;
}

static uint64_t key_mask(const hive_view *v) { return hive_field(v) << v->half; }
static uint64_t whole_mask(const hive_view *v) { return key_mask(v) | hive_field(v); }
static uint64_t slot_of(const hive_view *v, uint64_t b, uint64_t key)
{
    return slot_like(v, b, key_mask(v), key << v->half);
}
static uint64_t free_slot(const hive_view *v, uint64_t b) { return slot_of(v, b, hive_field(v)); }

static uint64_t free_slots(const hive_view *v, uint64_t b)
{
    return slots_like(v, b, key_mask(v), hive_field(v) << v->half);
}

bool hive_is_open(const hive_view *v, uint64_t b)
{
    return slots_like(v, b, whole_mask(v), hive_fresh(v)) > hive_spare(v, b);
}

void hive_shut(hive_view *v, uint64_t b)
{
    while (hive_is_open(v, b)) hive_write(v, slot_like(v, b, whole_mask(v), hive_fresh(v)), hive_vacant(v));
}

/* ---- The way of a key: its candidates in order, then the ring of the stash ------------------- */

typedef struct way {
    uint64_t h, bucket;
    uint64_t step; /* of hashes + stash_buckets */
} way;

static uint64_t ways(const hive_view *v) { return v->hashes + v->stash_buckets; }

static way way_of(const hive_view *v, uint64_t key)
{
    uint64_t h = hive_hash(v, key);
    way w = { h, hive_candidate(v, h, 0), 0 };
    return w;
}

static bool way_goes_on(const hive_view *v, const way *w) { return w->step < ways(v); }

static void way_next(const hive_view *v, way *w)
{
    w->step++;
    w->bucket = w->step < v->hashes    ? hive_candidate(v, w->h, (uint32_t)w->step)
                : w->step == v->hashes ? hive_ring(v, w->h)
                                       : hive_ring_next(v, w->bucket);
}

uint64_t hive_find(const hive_view *v, uint64_t key)
{
    if (key >= hive_keys(v)) return HIVE_NOWHERE;
    for (way w = way_of(v, key); way_goes_on(v, &w); way_next(v, &w)) {
        if (w.step == v->hashes && v->stashed == 0) break;
        uint64_t e = slot_of(v, w.bucket, key);
        if (e != HIVE_NOWHERE) return e;
        if (hive_is_open(v, w.bucket)) break; /* HIVE-4: it is nowhere beyond */
    }
    return HIVE_NOWHERE;
}

/* Why key must not come to bucket b; NULL: it may. */
static const char *way_barred(const hive_view *v, uint64_t key, uint64_t b)
{
    for (way w = way_of(v, key); way_goes_on(v, &w); way_next(v, &w)) {
        if (w.bucket == b) return NULL;
        if (hive_is_open(v, w.bucket)) return "it passed a bucket that is open (HIVE-4)";
    }
    return "that bucket is no candidate of its";
}

/* Whether slot e is one of the stash, and that takes no more. */
static bool stash_shut(const hive_view *v, uint64_t e)
{
    return e >= hive_capacity(v) && v->stashed >= hive_stash_limit(v);
}

bool hive_put(hive_view *v, uint64_t e, uint64_t key, uint64_t value)
{
    uint64_t b = e / v->slots;
    way w = way_of(v, key);
    if (e >= hive_places(v) || !hive_is_free(v, hive_read(v, e)) || stash_shut(v, e)) return false;
    while (way_goes_on(v, &w) && w.bucket != b) way_next(v, &w);
    if (!way_goes_on(v, &w)) return false;
    for (w = way_of(v, key); w.bucket != b; way_next(v, &w)) hive_shut(v, w.bucket);
    v->stashed += e >= hive_capacity(v);
    hive_write(v, e, hive_pack(v, key, value));
    return true;
}

/* ---- Step 3: cuckoo eviction ----------------------------------------------------------------- */

static void move(hive_view *v, uint64_t from, uint64_t to)
{
    HD_ASSERT(hive_is_key(v, hive_read(v, from)) && hive_is_free(v, hive_read(v, to)), "a key moves to a free slot");
    HD_ASSERT(from < hive_capacity(v) || to >= hive_capacity(v), "a key moves back out of the stash");
    v->stashed += to >= hive_capacity(v) && from < hive_capacity(v);
    hive_write(v, to, hive_read(v, from));
    hive_write(v, from, hive_vacant(v));
}

/* The first candidate that the key in slot e has behind the bucket that it is in, and a free slot of it if there is
 * one; HIVE_NOWHERE: it has none, or there is no key. */
static uint64_t onward(const hive_view *v, uint64_t e, uint64_t *room)
{
    uint64_t word = hive_read(v, e), b = e / v->slots, first = HIVE_NOWHERE;
    bool behind = false;
    *room = HIVE_NOWHERE;
    if (!hive_is_key(v, word)) return HIVE_NOWHERE;
    for (way w = way_of(v, hive_key_of(v, word)); w.step < v->hashes; way_next(v, &w)) {
        if (behind && w.bucket != b) {
            if (first == HIVE_NOWHERE) first = w.bucket;
            if (*room == HIVE_NOWHERE) *room = free_slot(v, w.bucket);
        }
        behind = behind || w.bucket == b;
    }
    return first;
}

bool hive_move_on(hive_view *v, uint64_t e, uint64_t except)
{
    uint64_t b = e / v->slots;
    bool behind = false;
    for (way w = way_of(v, hive_key_of(v, hive_read(v, e))); way_goes_on(v, &w); way_next(v, &w)) {
        if (w.step == v->hashes && (b >= hive_buckets(v) || v->stashed >= hive_stash_limit(v))) break;
        uint64_t room = behind && w.bucket != b && w.bucket != except ? free_slot(v, w.bucket) : HIVE_NOWHERE;
        if (room != HIVE_NOWHERE) {
            move(v, e, room);
            return true;
        }
        behind = behind || w.bucket == b;
    }
    return false;
}

const char *hive_accept_move(hive_view *v, uint64_t from, uint64_t to)
{
    uint64_t places = hive_places(v);
    if (from >= places || to >= places) return "a key moved from or to a slot that is none";
    uint64_t word = hive_read(v, from), b = from / v->slots;
    bool behind = false, open = false;
    if (!hive_is_key(v, word)) return "a slot without a key was moved";
    if (!hive_is_free(v, hive_read(v, to))) return "a key moved to a slot that was not free";
    if (b < hive_buckets(v) && stash_shut(v, to)) return "a key moved to the stash, which was full";
    for (way w = way_of(v, hive_key_of(v, word)); way_goes_on(v, &w); way_next(v, &w)) {
        if (behind && w.bucket != b && w.bucket == to / v->slots) {
            if (open) return "a key was displaced from, or past, a bucket that is open (HIVE-4)";
            move(v, from, to);
            HD_ASSERT(hive_is_sound(v, to));
            return NULL;
        }
        behind = behind || w.bucket == b;
        open = open || (behind && hive_is_open(v, w.bucket));
    }
    return "a key moved to a bucket that is no later candidate of its";
}

static bool in_chain(const uint64_t *chain, uint32_t n, uint64_t e)
{
    while (n > 0 && chain[n - 1] != e) n--;
    return n > 0;
}

/* A slot of full bucket b is made free: keys move onward, the last of a chain first, so that none is ever nowhere.
 * HIVE_NOWHERE: none could. */
static uint64_t displace(hive_view *v, uint64_t b)
{
    uint64_t chain[HIVE_ROUNDS], hole = HIVE_NOWHERE;
    for (uint32_t n = 0; n < HIVE_ROUNDS; n++) {
        uint64_t next = HIVE_NOWHERE, start = hd_mix64(b + n) % v->slots;
        for (uint32_t i = 0; i < v->slots && hole == HIVE_NOWHERE; i++) {
            uint64_t e = b * v->slots + (start + i) % v->slots,
                     goes = in_chain(chain, n, e) ? HIVE_NOWHERE : onward(v, e, &hole);
            if (goes == HIVE_NOWHERE || (next != HIVE_NOWHERE && hole == HIVE_NOWHERE)) continue;
            chain[n] = e;
            next = goes;
        }
        if (hole == HIVE_NOWHERE && next == HIVE_NOWHERE) return HIVE_NOWHERE;
        if (hole == HIVE_NOWHERE) {
            b = next;
            continue;
        }
        for (uint32_t k = n + 1; k > 0; hole = chain[--k]) move(v, chain[k - 1], hole);
        HD_ASSERT(hive_is_free(v, hive_read(v, hole)), "a displaced key has left no slot");
        return hole;
    }
    return HIVE_NOWHERE;
}

/* ---- Steps 2 to 4 ---------------------------------------------------------------------------- */

/* A free slot of the first candidate that has more than `spare`, else of the one that has the most. */
static uint64_t choose(const hive_view *v, uint64_t key)
{
    uint64_t best = HIVE_NOWHERE, most = 0;
    for (way w = way_of(v, key); w.step < v->hashes && most <= v->spare; way_next(v, &w)) {
        uint64_t n = free_slots(v, w.bucket);
        if (n > most) best = free_slot(v, w.bucket), most = n;
    }
    return best;
}

uint64_t hive_place(hive_view *v, uint64_t key, uint64_t value)
{
    uint64_t e = choose(v, key);
    way w = way_of(v, key);
    for (uint32_t i = 0; e == HIVE_NOWHERE && i < v->hashes; i++) e = displace(v, hive_candidate(v, w.h, i));
    bool room = v->stashed < hive_stash_limit(v);
    for (; room && e == HIVE_NOWHERE && way_goes_on(v, &w); way_next(v, &w))
        if (w.step >= v->hashes) e = free_slot(v, w.bucket);
    if (e == HIVE_NOWHERE) return e;
    v->stashed += e >= hive_capacity(v);
    hive_write(v, e, hive_pack(v, key, value));
    HD_ASSERT(hive_is_sound(v, e));
    HD_ASSERT(v->stashed <= hive_stash_limit(v), "HIVE-6: the stash has more entries than it takes");
    return e;
}

/* ---- One item -------------------------------------------------------------------------------- */

const char *hive_unsupported(hd_op op)
{
    if (op == HD_OP_FIND_OR_INSERT_PTR) return "hive may move an entry while others come, so that pointers do not last";
    return word_unsupported(op);
}

void hive_apply(hive_view *v, const hive_item *it, hive_seen *seen)
{
    const word_table t = hive_words_of(v);
    word_apply(&t, it, seen);
}

/* ---- The other face -------------------------------------------------------------------------- */

static const char *accept_absent(hive_view *v, const hive_item *it, const hive_seen *seen, uint64_t busy)
{
    if (seen->outcome == HD_PENDING) {
        uint64_t room = 0;
        for (way w = way_of(v, it->key); w.step < v->hashes; way_next(v, &w)) room += free_slots(v, w.bucket);
        room += v->stashed < hive_stash_limit(v) ? hive_stash_limit(v) - v->stashed : 0;
        return room > busy ? "pending, but there was room" : NULL;
    }
    if (seen->outcome != HD_INSERTED) return "the key was absent, and the operation inserts";
    if (seen->entry == HIVE_NOWHERE)
        return hive_place(v, it->key, it->value) == HIVE_NOWHERE ? "inserted, but there was no room" : NULL;
    if (seen->entry >= hive_places(v)) return "inserted into a slot that is none";
    if (!hive_is_free(v, hive_read(v, seen->entry))) return "inserted into a slot that was not free";
    if (stash_shut(v, seen->entry)) return "inserted into the stash, which was full";
    const char *barred = way_barred(v, it->key, seen->entry / v->slots);
    if (barred) return barred;
    v->stashed += seen->entry >= hive_capacity(v);
    hive_write(v, seen->entry, hive_pack(v, it->key, it->value));
    HD_ASSERT(hive_is_sound(v, seen->entry));
    return NULL;
}

const char *hive_accept(hive_view *v, const hive_item *it, const hive_seen *seen, uint64_t busy)
{
    const word_table t = hive_words_of(v);
    return word_accept(&t, it, seen, busy);
}

/* ---- To words.c ------------------------------------------------------------------------------ */

static void *table_slot(const void *v, uint64_t e) { return hive_value_at((const hive_view *)v, e); }
static uint64_t table_find(const void *v, uint64_t key) { return hive_find((const hive_view *)v, key); }
static uint64_t table_place(void *v, uint64_t key, uint64_t value) { return hive_place((hive_view *)v, key, value); }
static void table_remove(void *v, uint64_t e) { hive_remove((hive_view *)v, e); }
static const char *table_absent(void *v, const word_item *it, const word_seen *seen, uint64_t busy)
{
    return accept_absent((hive_view *)v, it, seen, busy);
}

word_table hive_words_of(hive_view *v)
{
    return (word_table){ v, v->half, hive_places(v), table_slot, table_find, table_place, table_remove, table_absent };
}
