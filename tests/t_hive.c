/* SPDX-License-Identifier: Apache-2.0
 *
 * t_hive.c - Hive's reference, one item at a time: hive_accept against hive_apply, every lie about an item with its
 * objection, the bucket of a new key, and the load factor that a table reaches.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/hive_tables.h"

/* ---- Items ----------------------------------------------------------------------------------- */

static const hd_op ops[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_FIND,     HD_OP_ERASE,  HD_OP_ACCUM_OR_ASSIGN,
                             HD_OP_FIND_OR_INSERT,   HD_OP_CONTAINS, HD_OP_ASSIGN, HD_OP_ASSIGN_VALUES };

static hive_item draw(const hive_view *v, uint64_t keys, uint64_t share_inserts, uint64_t *r)
{
    hive_item it;
    memset(&it, 0, sizeof it);
    it.op = test_below(r, 8) < share_inserts ? HD_OP_INSERT_OR_ASSIGN : ops[test_below(r, sizeof ops / sizeof *ops)];
    it.elem = v->half == 32 ? HD_I32 : HD_F16;
    if (v->half == 16 && it.op == HD_OP_ACCUM_OR_ASSIGN) it.op = HD_OP_ASSIGN; /* no whole number is of 2 bytes */
    it.flag = (uint32_t)test_below(r, 3);
    it.key = test_below(r, 50)  ? test_below(r, keys)
             : test_below(r, 2) ? hive_keys(v) + test_below(r, 3)
                                : UINT64_MAX - test_below(r, 3);
    it.value = test_random(r) & hive_field(v);
    return it;
}

/* Of bucket b: slots that are free, or those of them that are fresh. */
static uint32_t slots_that_are(const hive_view *v, uint64_t b, bool fresh)
{
    uint32_t n = 0;
    for (uint64_t e = b * v->slots; e < (b + 1) * v->slots; e++)
        n += fresh ? hive_read(v, e) == hive_fresh(v) : hive_is_free(v, hive_read(v, e));
    return n;
}

/* Whether a slot in one of the key's buckets is free, or the stash takes one more. */
static bool has_place(const hive_view *v, uint64_t key)
{
    bool place = v->stashed < hive_stash_limit(v);
    for (uint32_t i = 0; i < v->hashes; i++)
        place = place || slots_that_are(v, hive_candidate(v, hive_hash(v, key), i), false);
    return place;
}

/* The candidate bucket that a new key is put into, if one has a free slot; else HIVE_NOWHERE. */
static uint64_t bucket_chosen(const hive_view *v, uint64_t key)
{
    uint64_t b[HIVE_HASHES_MOST], best = HIVE_NOWHERE;
    uint32_t left[HIVE_HASHES_MOST], most = 0;
    for (uint32_t i = 0; i < v->hashes; i++) {
        b[i] = hive_candidate(v, hive_hash(v, key), i);
        left[i] = slots_that_are(v, b[i], false);
        most = left[i] > most ? left[i] : most;
    }
    for (uint32_t i = v->hashes; i-- > 0;)
        if (most && (left[i] > v->spare || (most <= v->spare && left[i] == most))) best = b[i];
    return best;
}

/* ---- The other face -------------------------------------------------------------------------- */

typedef struct telling {
    hive_view *v; /* as it was before the item */
    const hive_image *before;
    const hive_item *it;
    uint64_t lies;
} telling;

/* It must be refused, and nothing may change. */
static void lie(telling *l, const hive_seen *seen, const char *which)
{
    const char *no = hive_accept(l->v, l->it, seen, 0);
    check(no, "%s of key %llu: believed although %s (outcome %s, entry %llu)", hd_op_name(l->it->op), (ull)l->it->key,
          which, hd_outcome_name(seen->outcome), (ull)seen->entry);
    check(hive_image_is(l->before, l->v), "%s of key %llu: refused (%s), and still changed the table",
          hd_op_name(l->it->op), (ull)l->it->key, no);
    l->lies++;
}

static void tell_lies(telling *l, const hive_seen *truth)
{
    const hive_view *v = l->v;
    uint64_t key = l->it->key;
    for (unsigned o = 0; o <= HD_OUTCOME_COUNT; o++) {
        hive_seen seen = *truth;
        seen.outcome = (hd_outcome)o;
        if (seen.outcome == truth->outcome ||
            (seen.outcome == HD_PENDING && truth->outcome == HD_INSERTED && !has_place(v, key)))
            continue;
        if (truth->outcome == HD_PENDING && seen.outcome == HD_INSERTED) {
            for (seen.entry = 0; seen.entry <= hive_places(v); seen.entry++) lie(l, &seen, "there was no room");
            seen.entry = HIVE_NOWHERE;
        }
        lie(l, &seen, "another outcome was the only one");
    }
    if (truth->outcome == HD_HIT) {
        hive_seen seen = *truth;
        seen.shown = true;
        seen.value ^= 1;
        lie(l, &seen, "the value was another");
    }
    for (uint64_t e = 0; truth->outcome == HD_INSERTED && e <= hive_places(v); e++) {
        hive_seen seen = *truth;
        bool candidate = e >= hive_capacity(v) && e < hive_places(v), passed_open = false;
        seen.entry = e;
        for (uint32_t i = 0; i < v->hashes && !candidate; i++) {
            uint64_t b = hive_candidate(v, hive_hash(v, key), i);
            candidate = b == e / v->slots;
            if (!candidate) passed_open = passed_open || slots_that_are(v, b, true) > v->spare;
        }
        if (e == hive_places(v) || !candidate || passed_open)
            lie(l, &seen, "the key cannot be there");
        else if (!hive_is_free(v, hive_read(v, e)))
            lie(l, &seen, "the slot was taken");
    }
}

/* What apply did, accept allows, with the slot and without; then it is in the table. Lies before that. */
static void test_faces(void **state)
{
    (void)state;
    uint64_t items = 0, lies = 0;
    for (uint64_t i = 0; i < HIVE_SHAPES; i++) {
        hive_shape s = hive_shape_at(i, 1 + i % 4);
        hd_table *t = hive_table(&s, NULL);
        hive_view *v = hive_view_in(t);
        uint64_t r = i, keys = hive_places(v) + 30;
        for (uint64_t n = 0; n < test_times(600); n++, items++) {
            hive_image before, after;
            hive_seen truth;
            hive_item it = draw(v, keys, n / 200 % 2 ? 0 : 6, &r);
            hive_image_take(&before, v);
            hive_apply(v, &it, &truth);
            hive_image_take(&after, v);
            hive_image_back(&before, v);
            telling l = { v, &before, &it, 0 };
            tell_lies(&l, &truth);
            lies += l.lies;
            hive_seen told = truth;
            told.shown = truth.outcome == HD_HIT;
            uint64_t where = truth.outcome == HD_INSERTED ? before.word[truth.entry] : 0;
            /* the entry that was there had been displaced before */
            bool displaced = truth.outcome == HD_INSERTED && !hive_is_free(v, where);
            if (displaced || n % 2) told.entry = HIVE_NOWHERE;
            const char *no = hive_accept(v, &it, &told, 0);
            check(!no, "item %llu: %s of key %llu, %s, was refused: %s", (ull)n, hd_op_name(it.op), (ull)it.key,
                  hd_outcome_name(truth.outcome), no);
            check(hive_image_is(&after, v), "item %llu: %s of key %llu, %s: accepted, and the states differ", (ull)n,
                  hd_op_name(it.op), (ull)it.key, hd_outcome_name(truth.outcome));
            must(hd_check(t));
            hive_image_give(&before);
            hive_image_give(&after);
        }
        hd_close(t);
    }
    check(lies > 10 * items, "%llu lies about %llu items", (ull)lies, (ull)items);
    test_tried("differential", items, "items by both faces of Hive's reference, %llu lies refused", (ull)lies);
}

/* ---- Fixtures by hand -------------------------------------------------------------------------- */

/* The first key from `from` on with these candidates, in order; hashes of them. */
static uint64_t key_with(const hive_view *v, uint64_t from, const uint64_t *b)
{
    for (;; from++) {
        bool fits = true;
        check(from < hive_keys(v), "no key has these candidates");
        for (uint32_t i = 0; i < v->hashes && fits; i++) fits = hive_candidate(v, hive_hash(v, from), i) == b[i];
        if (fits) return from;
    }
}

/* Bucket b of nothing but keys with these candidates; returns the first. */
static uint64_t fill(hive_view *v, uint64_t b, const uint64_t *candidates, uint64_t from)
{
    uint64_t first = 0;
    for (uint32_t s = 0; s < v->slots; s++) {
        from = key_with(v, from, candidates);
        if (s == 0) first = from;
        hive_write(v, b * v->slots + s, hive_pack(v, from++, 1));
    }
    return first;
}

static hd_table *four_with(uint32_t hashes, hd_layout layout, uint32_t spare)
{
    hive_shape s = { 4, 8, 4, hashes, layout, 5, spare, NULL };
    return hive_table(&s, NULL);
}
static hd_table *four(uint32_t hashes, hd_layout layout) { return four_with(hashes, layout, 0); }

/* No slot of it is fresh. */
static void spoil(hive_view *v, uint64_t b)
{
    for (uint64_t e = b * v->slots; e < (b + 1) * v->slots; e++)
        if (hive_is_free(v, hive_read(v, e))) hive_write(v, e, hive_vacant(v));
}

static void moves_by(hive_view *v, uint64_t from, uint64_t to, const char *word)
{
    hive_image before;
    hive_image_take(&before, v);
    const char *no = hive_accept_move(v, from, to);
    check(word ? no && strstr(no, word) : !no, "%llu to %llu: %s", (ull)from, (ull)to, no ? no : "accepted");
    check(!word || hive_image_is(&before, v), "refused, and still changed the table");
    hive_image_give(&before);
}

static void test_moves(void **state)
{
    static const uint64_t way[] = { 0, 1, 2 }, back[] = { 1, 0, 2 }, inside[] = { 0, 0, 2 };
    (void)state;
    hd_table *t = four(3, HD_LAYOUT_MASKS);
    hive_view *v = hive_view_in(t);
    uint64_t places = hive_places(v), stash = hive_capacity(v);
    hive_put(v, 0, key_with(v, 0, way), 7);
    moves_by(v, places, 8, "slot that is none");
    moves_by(v, 0, places, "slot that is none");
    moves_by(v, HIVE_NOWHERE, 8, "slot that is none");
    moves_by(v, 1, 8, "slot without a key");
    moves_by(v, 0, 8, "is open");
    fill(v, 0, way, 0);
    hive_write(v, 8, hive_pack(v, key_with(v, 0, back), 1));
    moves_by(v, 0, 8, "not free");
    moves_by(v, 0, 16, "past, a bucket that is open");
    moves_by(v, 0, stash, "past, a bucket that is open");
    moves_by(v, 0, 9, NULL);
    check(hive_is_free(v, hive_read(v, 0)) && !hive_is_open(v, 0) && hive_value_of(v, hive_read(v, 9)) == 1,
          "it has not moved");
    spoil(v, 1);
    moves_by(v, 9, 0, "no later candidate"); /* back */
    moves_by(v, 9, 16, NULL);
    moves_by(v, 16, 24, "no later candidate"); /* bucket 3 is none of its */
    moves_by(v, 16, stash, "is open");
    spoil(v, 2);
    moves_by(v, 16, stash, NULL);
    check(v->stashed == 1, "%llu in the stash", (ull)v->stashed);
    moves_by(v, stash, 16, "no later candidate");
    hive_write(v, 0, hive_pack(v, key_with(v, 0, inside), 1));
    hive_write(v, 1, hive_vacant(v));
    moves_by(v, 0, 1, "no later candidate"); /* its second bucket is the one it is in */
    uint64_t was = v->stashed;
    v->stashed = hive_stash_limit(v);
    moves_by(v, 0, stash + 1, "stash, which was full");
    v->stashed = was;
    hd_close(t);
}

static void told(hive_view *v, hd_op op, uint64_t key, hive_seen seen, uint64_t busy, const char *word)
{
    hive_item it = { op, HD_I32, HD_EITHER, key, 9 };
    hive_image before;
    hive_image_take(&before, v);
    const char *no = hive_accept(v, &it, &seen, busy);
    check(word ? no && strstr(no, word) : !no, "%s of key %llu, %s: %s", hd_op_name(op), (ull)key,
          hd_outcome_name(seen.outcome), no ? no : "accepted");
    check(!word || hive_image_is(&before, v), "refused, and still changed the table");
    hive_image_give(&before);
}

/* Each sentence of hive_accept, and what is allowed beside it. */
static void test_each_lie(void **state)
{
    static const uint64_t way[] = { 0, 1 };
    (void)state;
    hd_table *t = four(2, HD_LAYOUT_WORDS);
    hive_view *v = hive_view_in(t);
    uint64_t present = key_with(v, 0, way), key = key_with(v, present + 1, way), stash = hive_capacity(v);
#define SEEN(...) ((hive_seen){ __VA_ARGS__ })
    hive_put(v, 0, present, 7);
    told(v, HD_OP_FIND, hive_keys(v), SEEN(HD_MISS, HIVE_NOWHERE, 0, false), 0, "must be answered RESERVED");
    told(v, HD_OP_FIND, UINT64_MAX, SEEN(HD_RESERVED, HIVE_NOWHERE, 0, false), 0, NULL);
    told(v, HD_OP_FIND, present, SEEN(HD_RESERVED, HIVE_NOWHERE, 0, false), 0, "ordinary one");
    told(v, HD_OP_FIND, present, SEEN(HD_MISS, HIVE_NOWHERE, 0, false), 0, "the key was present");
    told(v, HD_OP_FIND, present, SEEN(HD_HIT, 0, 8, true), 0, "wrong value");
    told(v, HD_OP_FIND, present, SEEN(HD_HIT, 0, 8, false), 0, NULL);
    told(v, HD_OP_FIND, key, SEEN(HD_HIT, 0, 7, false), 0, "the key was absent");
    told(v, HD_OP_ERASE, key, SEEN(HD_ERASED, 0, 0, false), 0, "the key was absent");
    told(v, HD_OP_INSERT_OR_ASSIGN, key, SEEN(HD_MISS, HIVE_NOWHERE, 0, false), 0, "the operation inserts");
    told(v, HD_OP_INSERT_OR_ASSIGN, key, SEEN(HD_EVICTED, 1, 0, false), 0, "the operation inserts");
    told(v, HD_OP_INSERT_OR_ASSIGN, key, SEEN(HD_PENDING, HIVE_NOWHERE, 0, false), 0, "there was room");
    told(v, HD_OP_INSERT_OR_ASSIGN, key, SEEN(HD_INSERTED, hive_places(v), 0, false), 0, "slot that is none");
    told(v, HD_OP_INSERT_OR_ASSIGN, key, SEEN(HD_INSERTED, 0, 0, false), 0, "not free");
    /* on the way to where it cannot be */
    told(v, HD_OP_INSERT_OR_ASSIGN, key, SEEN(HD_INSERTED, 16, 0, false), 0, "HIVE-4");
    told(v, HD_OP_INSERT_OR_ASSIGN, key, SEEN(HD_INSERTED, 8, 0, false), 0, "HIVE-4");
    spoil(v, 0);
    told(v, HD_OP_INSERT_OR_ASSIGN, key, SEEN(HD_INSERTED, stash, 0, false), 0, "HIVE-4");
    spoil(v, 1);
    /* vacant slots before it: allowed, if unusual */
    told(v, HD_OP_INSERT_OR_ASSIGN, key, SEEN(HD_INSERTED, stash, 0, false), 0, NULL);
    check(v->stashed == 1 && hive_find(v, key) == stash, "not where it was said to be");
    spoil(v, hive_buckets(v));
    hive_remove(v, stash);
    told(v, HD_OP_INSERT_OR_ASSIGN, key, SEEN(HD_INSERTED, 16, 0, false), 0, "no candidate");
    fill(v, 0, way, 1000000);
    fill(v, 1, way, 2000000);
    v->stashed = hive_stash_limit(v);
    told(v, HD_OP_INSERT_OR_ASSIGN, key, SEEN(HD_INSERTED, stash, 0, false), 0, "stash, which was full");
    told(v, HD_OP_INSERT_OR_ASSIGN, key, SEEN(HD_INSERTED, HIVE_NOWHERE, 0, false), 0, "there was no room");
    told(v, HD_OP_INSERT_OR_ASSIGN, key, SEEN(HD_PENDING, HIVE_NOWHERE, 0, false), 0, NULL);
    hive_write(v, 3, hive_vacant(v));
    told(v, HD_OP_INSERT_OR_ASSIGN, key, SEEN(HD_PENDING, HIVE_NOWHERE, 0, false), 0, "there was room");
    /* another one held that slot for a moment */
    told(v, HD_OP_INSERT_OR_ASSIGN, key, SEEN(HD_PENDING, HIVE_NOWHERE, 0, false), 1, NULL);
#undef SEEN
    v->stashed = 0;
    hd_close(t);
}

/* The slot that an entry is put into, as a snapshot does. */
static void test_put(void **state)
{
    static const uint64_t way[] = { 2, 0 };
    (void)state;
    hd_table *t = four(2, HD_LAYOUT_MASKS);
    hive_view *v = hive_view_in(t);
    uint64_t key = key_with(v, 0, way), other = key_with(v, key + 1, way), stash = hive_capacity(v);
    check(!hive_put(v, hive_places(v), key, 1) && !hive_put(v, 8, key, 1), "put where it cannot be");
    check(hive_find(v, hive_keys(v)) == HIVE_NOWHERE && !hive_merge(v),
          "a key that is none, a bucket less than at first");
    const uint32_t value = 1;
    hd_entry there = { 8, key, 0, (void *)(uintptr_t)&value };
    check(!t->backend->put_at(t->state, &there), "put where it cannot be");
    there.slot = 5, there.score = 1;
    check(!t->backend->put_at(t->state, &there), "put with a score");
    there.score = 0, there.key = hive_keys(v);
    check(!t->backend->put_at(t->state, &there), "put a key that is none");
    check(hive_is_open(v, 2) && hive_is_open(v, 1), "and buckets are spoiled");
    check(hive_put(v, 5, key, 1) && !hive_is_open(v, 2) && hive_is_open(v, 0), "its second bucket");
    check(!hive_put(v, 5, other, 1), "put on top of another");
    v->stashed = hive_stash_limit(v);
    check(!hive_put(v, stash, other, 1), "put into a full stash");
    v->stashed = 0;
    check(hive_put(v, stash, other, 1) && v->stashed == 1 && !hive_is_open(v, 0), "the stash");
    must(hd_check(t));
    hd_close(t);
}

/* ---- Spare slots ----------------------------------------------------------------------------- */

/* Keys with the same two buckets: the first fills up to its spare slots, then the second; then each the other's, the
 * first of equals first; then the stash. */
static void test_spare(void **state)
{
    static const uint64_t way[] = { 1, 3 };
    (void)state;
    for (uint32_t spare = 0; spare < 4; spare++) {
        hd_table *t = four_with(2, HD_LAYOUT_MASKS, spare);
        hive_view *v = hive_view_in(t);
        uint64_t key = 0, n = 0, absent = key_with(v, 5000000, way);
        for (; n < 20; n++) {
            uint64_t first = 8 - spare, want = n < first       ? 1
                                               : n < 2 * first ? 3
                                               : n >= 16       ? HIVE_NOWHERE
                                               : n % 2         ? 3
                                                               : 1;
            check(hive_is_open(v, 1) == (n < first) && hive_is_open(v, 3) == (n < 2 * first), "%llu keys: open, or not",
                  (ull)n);
            key = key_with(v, key + 1, way);
            hive_item it = { HD_OP_INSERT_OR_ASSIGN, HD_I32, HD_EITHER, key, n };
            hive_seen seen;
            hive_apply(v, &it, &seen);
            check(seen.outcome == HD_INSERTED &&
                      (want == HIVE_NOWHERE ? seen.entry >= hive_capacity(v) : seen.entry / 8 == want),
                  "spare %u, key %llu is in slot %llu", spare, (ull)n, (ull)seen.entry);
            must(hd_check(t));
            check(hive_find(v, absent) == HIVE_NOWHERE, "a key that is not there");
        }
        hive_remove(v, 8); /* a vacant slot of its first bucket is taken before the stash's */
        check(!hive_is_open(v, 1) && hive_place(v, absent, 1) == 8, "it does not come to where one has left");
        hd_close(t);
    }
}

/* The usual number of spare slots, and each that is asked for. */
static void test_spare_numbers(void **state)
{
    (void)state;
    for (uint32_t slots = 8; slots <= 32; slots *= 2)
        for (uint32_t spare = 0; spare <= slots / 2; spare++) {
            bool usual = spare == slots / 2;
            hive_shape s = { 4, slots, 4, 2, HD_LAYOUT_WORDS, 5, usual ? HD_SPARE_USUAL : spare, NULL };
            hd_table *t = hive_table(&s, NULL);
            hd_info info;
            must(hd_table_info(t, &info));
            check(info.hive.spare == (!usual ? spare : slots == 16 ? 3 : slots / 8), "%u are spare", info.hive.spare);
            hd_close(t);
        }
}

/* As many fresh slots as are spare may lie before a key, and no more; as many may be left behind by one that moves
 * on. */
static void test_open(void **state)
{
    static const uint64_t way[] = { 0, 1, 2 };
    (void)state;
    hd_table *t = four_with(3, HD_LAYOUT_WORDS, 2);
    hive_view *v = hive_view_in(t);
    uint64_t key = key_with(v, 0, way);
    hive_write(v, 8, hive_pack(v, key, 1));
    for (uint64_t fresh = 8; fresh-- > 0;) {
        hive_write(v, fresh, hive_vacant(v));
        check(hive_is_open(v, 0) == (fresh > 2) && hive_find(v, key) == (fresh > 2 ? HIVE_NOWHERE : 8),
              "%llu slots are fresh", (ull)fresh);
        if (fresh > 2)
            must_fail(hd_check(t), HD_ECORRUPT, "HIVE-4");
        else
            must(hd_check(t));
    }
    for (uint64_t e = 9; e < 16; e++) {
        uint64_t fresh = 15 - e + 1; /* of its bucket; it wants to go on */
        if (fresh > 2) moves_by(v, 8, 16, "past, a bucket that is open");
        hive_write(v, e, hive_vacant(v));
    }
    hive_write(v, 14, hive_fresh(v));
    hive_write(v, 15, hive_fresh(v));
    moves_by(v, 8, 16, NULL);
    must(hd_check(t));
    hive_write(v, 0, hive_fresh(v));
    hive_write(v, 1, hive_fresh(v));
    must(hd_check(t));
    hive_shut(v, 0);
    check(slots_that_are(v, 0, true) == 2, "it was not open, and was shut");
    for (uint64_t e = 24; e < 32; e++) check(hive_read(v, e) == hive_fresh(v), "bucket 3 is not fresh");
    hive_shut(v, 3);
    check(slots_that_are(v, 3, true) == 2 && slots_that_are(v, 3, false) == 8,
          "%u slots are fresh of a bucket that was shut", slots_that_are(v, 3, true));
    uint64_t stash = hive_capacity(v); /* one fresh slot there is enough to be open */
    for (uint64_t e = stash; e < stash + 7; e++) hive_write(v, e, hive_vacant(v));
    check(hive_is_open(v, hive_buckets(v)), "the stash is not open");
    hive_write(v, stash + 7, hive_vacant(v));
    check(!hive_is_open(v, hive_buckets(v)), "the stash is open");
    hd_close(t);
}

/* ---- Invariants ------------------------------------------------------------------------------ */

/* ---- Hash functions by name ------------------------------------------------------------------ */

/* The bucket that `part` of a hash names: its last bits of as many as there are doublings begun, or where there is no
 * such bucket yet, one fewer. */
static uint64_t bucket_named(const hive_view *v, uint32_t part)
{
    uint64_t first = (uint64_t)part * v->base >> 32, doublings = 1, b;
    while (v->base << doublings < hive_buckets(v)) doublings++;
    b = first + v->base * (part % (1ull << doublings));
    return b < hive_buckets(v) ? b : first + v->base * (part % (1ull << (doublings - 1)));
}

/* Every function in every place: each key's candidates are what its row says, and none of another's; and what is put in
 * is found as the table grows. */
static void test_functions(void **state)
{
    enum { KEYS = 400 };
    (void)state;
    uint64_t tried = 0;
    for (uint32_t f = 0; f < HD_HASH_COUNT; f++)
        for (uint32_t hashes = 2; hashes <= 3; hashes++) {
            uint32_t row[3] = { f, (f + 1) % HD_HASH_COUNT, (f + 5) % HD_HASH_COUNT };
            char names[HD_HASH_NAMES_MOST];
            snprintf(names, sizeof names, "%s,%s%s%s", hd_hash_rows[row[0]].name, hd_hash_rows[row[1]].name,
                     hashes == 3 ? "," : "", hashes == 3 ? hd_hash_rows[row[2]].name : "");
            hive_shape s = { 5, 16, f % 2 ? 2 : 4, hashes, HD_LAYOUT_WORDS, f * 77ull, HD_SPARE_USUAL, names };
            hd_table *t = hive_table(&s, NULL);
            hive_view *v = hive_view_in(t);
            hive_map map;
            hive_map_open(&map, 1 << 16);
            for (uint64_t buckets = 5; buckets < 60; must(hd_grow(t, buckets += 6)))
                for (uint64_t k = 0; k < KEYS / 10; k++, tried++) {
                    uint64_t key = map.n * 64 + k, value;
                    for (uint32_t i = 0; i < hashes; i++) {
                        uint64_t h = hd_hash_of32(row[i], (uint32_t)key, s.seed),
                                 b = bucket_named(v, (uint32_t)(h >> 32) ^ (uint32_t)h);
                        check(hive_candidate(v, hive_hash(v, key), i) == b,
                              "key %llu, candidate %u: bucket %llu, not %llu", (ull)key, i,
                              (ull)hive_candidate(v, hive_hash(v, key), i), (ull)b);
                    }
                    hive_item it = { HD_OP_INSERT_OR_ASSIGN, HD_I32, HD_EITHER, key, k };
                    hive_seen seen;
                    hive_apply(v, &it, &seen);
                    check(hive_map_apply(&map, &it, s.value_bytes, seen.outcome, &value) == seen.outcome,
                          "key %llu is %s", (ull)key, hd_outcome_name(seen.outcome));
                }
            hive_map_compare(&map, t);
            hive_map_close(&map);
            hd_close(t);
        }
    test_tried("differential", tried, "keys in the buckets that hash functions by name give them");
}

/* ---- How full a table gets ------------------------------------------------------------------- */

/* Load factor, of all places, at the first PENDING, of a table that does not grow; *crowded: how many of the entries up
 * to a load factor of 0.9 found all of their buckets full. */
static double full_at(uint32_t slots, uint32_t hashes, uint32_t spare, uint64_t *crowded)
{
    hive_shape s = { 65536 / slots, slots, 4, hashes, HD_LAYOUT_WORDS, 11, spare, NULL };
    hd_table *t = hive_table(&s, NULL);
    hive_view *v = hive_view_in(t);
    uint64_t r = slots * 4 + hashes, n = 0;
    *crowded = 0;
    for (hive_seen seen = { HD_MISS, 0, 0, false }; seen.outcome != HD_PENDING; n += seen.outcome == HD_INSERTED) {
        hive_item it = { HD_OP_INSERT_OR_ASSIGN, HD_I32, HD_EITHER, test_below(&r, hive_keys(v)), 1 };
        if (n * 10 < hive_capacity(v) * 9)
            *crowded += hive_find(v, it.key) == HIVE_NOWHERE && bucket_chosen(v, it.key) == HIVE_NOWHERE;
        hive_apply(v, &it, &seen);
    }
    must(hd_check(t));
    double at = (double)n / (double)hive_places(v);
    hd_close(t);
    return at;
}

static void test_load_factor(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t hashes = 2; hashes <= 3; hashes++) {
            uint32_t slots = 8u << i;
            uint64_t crowded[2];
            double at[] = { full_at(slots, hashes, 0, &crowded[0]),
                            full_at(slots, hashes, HD_SPARE_USUAL, &crowded[1]) };
            for (int k = 0; k < 2; k++) {
                test_note("%u slots, %u hashes, 64 Ki entries, %s spare: the first item is pending at load factor "
                          "%.4f; before 0.9 %llu found their buckets full",
                          slots, hashes, k ? "the usual" : "none", at[k], (ull)crowded[k]);
                /* the table full to its last slots, and seven eighths of a stash of a sixty-fourth: 0.9980 at most */
                check(at[k] >= 0.99 && at[k] < 0.9985, "%u slots, %u hashes: load factor %.4f", slots, hashes, at[k]);
            }
            check(3 * crowded[1] < 2 * crowded[0], "%llu found their buckets full, and %llu where some slots are spare",
                  (ull)crowded[0], (ull)crowded[1]);
        }
}

static const struct CMUnitTest hive[] = { unit(test_faces), unit(test_each_lie),  unit(test_moves),
                                          unit(test_put),   unit(test_spare),     unit(test_spare_numbers),
                                          unit(test_open),  unit(test_functions), unit(test_load_factor) };

int main(void) { return test_run(hive); }
