/* SPDX-License-Identifier: Apache-2.0
 *
 * batched - four lanes per key, and four keys of each four lanes on their way at once: the loads of all four buckets are
 * out before the first of them is looked at, and so are the four compare-and-swaps. A warp takes its items in rounds,
 * each by all its lanes together, and what a round does not settle waits in shared memory until there is enough of it
 * for the next:
 *
 *   first    32 items, at each key's first bucket. It settles who is there, and where the bucket is open who is not: a
 *            change, and a claim of a slot, is one compare-and-swap, by the lane whose item it is
 *   second   32 of the rest, at their second bucket, or at the first once more, if another item changed what it was to
 *            change, or claims the key there. A newcomer that finds neither open takes a slot of the first with more
 *            than `spare` free ones, else of the emptier
 *   third    eight of what is left of batches that bring keys in, a tile for each, with both buckets in sight
 *            (displace_warp.h): where both are full a key of them makes room
 *   rest     the tile's way (steps.h), a key at a time: third candidates, a crowded stash, keys on the move, long
 *            chains, and items that met another of their key
 *
 * Nobody waits in the first three, nor holds a claim when they end: a claim whose key turns out to be elsewhere, or not
 * yet sure to be nowhere, is given back, and the item goes to the next round.
 *
 * Compare-and-swaps are relaxed: a word says all there is to say. Where keys move a round's loads come before the
 * next's by a fence.
 */
#ifndef HIVE_BATCHED_H
#define HIVE_BATCHED_H

#include "gpu/hive/displace_warp.h"
#include "gpu/hive/kernels.h"

enum { HIVE_BATCHED_THREADS = 256 };

/* ---- A batched -------------------------------------------------------------------------------- */

/* The tile's four items, a lane's own each, look in their first candidate, or, as their rule says, in their second;
 * first: all in their first. What is to be changed each lane changes for its own item: the compare-and-swaps, too, are
 * on their way together. */
SIMT_FN void hive_batched(simt_tile t, const hive_args *a, const hive_kind *k, bool first, hive_in_flight *s)
{
    const hive_view *u = &k->shape, *v = &a->v;
    bool step = !first && s->rule & HIVE_RULE_SECOND, here = s->outcome == HIVE_UNDECIDED;
    uint64_t bucket = hive_candidate(v, s->h, step ? 1 : 0);
    uint8_t *home = (uint8_t *)hive_bucket(v, bucket);
    uint64_t stashed = first ? 0 : hive_ask_stashed(a, k);
    hive_bucket_seen b = hive_look(t, k, home, s->key, false, HIVE_NO_SLOT);
    bool last = !first && hive_ends_there(t, a, k, s, stashed);
    uint32_t change = s->rule & HIVE_RULE_CHANGE, then = HIVE_UNDECIDED, before = s->room & HIVE_ROOM_FREE,
             spot = b.spot;
    bool there = here && b.key, held = k->moves && b.signs != 0, absent = here && !there && !held,
         open = b.fresh > v->spare, asks = false, elsewhere = false;
    if (there) {
        then = s->rule >> HIVE_RULE_FOUND;
        asks = change != HIVE_KEEP;
    } else if (absent && !(s->rule & HIVE_RULE_INSERT)) {
        if (open || (step && last)) then = HD_MISS;
        /* the first bucket with more than is spared, else the one with more, as it was seen */
    } else if (absent && (!step || last)) {
        asks = open || (step && before <= v->spare && b.free > before);
        elsewhere = !asks && step && before != 0;
        if (asks || elsewhere) then = HD_INSERTED;
    }
    if (elsewhere) {
        bucket = hive_candidate(v, s->h, 0);
        home = (uint8_t *)hive_bucket(v, bucket);
        spot = s->room;
    }
    simt_join();
    uint32_t slot = spot >> HIVE_ROOM_SLOT & 0xff;
    bool good = false;
    if (hive_changes(k) && (asks || elsewhere)) {
        uint64_t was = there ? hive_pack(u, s->key, b.old) : spot & HIVE_ROOM_VACANT ? hive_vacant(u) : hive_fresh(u);
        uint64_t to =
            there ? hive_changed(a, u, change, s->key, was, s->in) : hive_first_word(u, k->distinct, s->key, s->in);
        good = hive_cas_at(u, home + slot * hive_word_bytes(u), was, to);
        if (good && (there || k->distinct)) simt_ticket(s->i, then, 0, bucket * u->slots + slot);
    }
    if (there && change == HIVE_KEEP) simt_ticket(s->i, HD_HIT, 0, bucket * u->slots + slot);
    simt_join();
    if (hive_inserts(k) && !k->distinct) {
        bool claimed = then == HD_INSERTED && good, sure = !claimed;
        if (simt_any(simt_tile_of(32), claimed))
            sure = hive_verify_claims(t, a, k, s, claimed, step && !elsewhere, slot) || sure;
        good = good && sure;
    }
    if (!here) return;
    s->value = b.old;
    if (k->op == HD_OP_FIND_PTR && a->ptr) s->slot = home + slot * hive_word_bytes(u);
    if (!step) s->room = absent && b.free ? spot | b.free : 0;
    bool beaten = (asks || elsewhere) && !good;
    /* that the bucket is not open, it does not say then */
    if (!step && (beaten || (held && !there))) s->room = HIVE_ROOM_AGAIN;
    if (step && last && absent) s->room = HIVE_ROOM_ABSENT;
    if (!beaten) s->outcome = then;
    if (s->outcome == HD_MISS) simt_ticket(s->i, HD_MISS, 0, HIVE_NOWHERE);
}

/* ---- A warp's items, from round to round ----------------------------------------------------- */

/* What a round leaves to a later one, in shared memory of the warp's own: items, in halves, and in the upper one's
 * upper bits the room that their first bucket had. There is not much of it, for loads that are on their way want the
 * rest. */
typedef struct hive_queue {
    uint32_t *low, *high; /* (as many as may wait)  */
    uint32_t n;           /* that wait              */
} hive_queue;
enum {
    HIVE_QUEUE_SECOND = 31 + 32, /* that wait for the second round at most: less than a warp, and a warp's */
    HIVE_QUEUE_THIRD = 7 + 32,   /* likewise tiles, or for the rest, where there is no third */
    HIVE_QUEUE_REST = 8,         /* and what a third leaves                                  */
    HIVE_QUEUES = HIVE_QUEUE_SECOND + HIVE_QUEUE_THIRD + HIVE_QUEUE_REST
};
SIMT_FN hive_queue hive_queue_of(uint32_t *room, uint32_t from)
{
    hive_queue l;
    l.low = room + simt_thread() / 32 * 2 * HIVE_QUEUES + from;
    l.high = l.low + HIVE_QUEUES;
    l.n = 0;
    return l;
}

/* The warp's lanes whose item is `off` put it off. */
SIMT_FN void hive_put_off(hive_queue *l, bool off, const hive_in_flight *s)
{
    simt_tile w = simt_tile_of(32);
    uint32_t all = simt_ballot(w, off), at = l->n + simt_popc(all & ((1u << w.rank) - 1));
    if (off) {
        simt_st_u32(l->low + at, (uint32_t)s->i);
        simt_st_u32(l->high + at, s->room << HIVE_ITEM_BITS | (uint32_t)(s->i >> 32));
    }
    simt_join();
    l->n += simt_popc(all);
    simt_sync_tile(w);
}

/* Item m of those that wait. */
SIMT_FN uint64_t hive_waiting(const hive_queue *l, uint32_t m, uint32_t *room)
{
    uint32_t high = simt_ld_u32(l->high + m);
    *room = high >> HIVE_ITEM_BITS;
    return (uint64_t)(high & ((1u << HIVE_ITEM_BITS) - 1)) << 32 | simt_ld_u32(l->low + m);
}

/* A lane's outcomes, twelve bits for each, five in a word. */
typedef struct hive_counts {
    uint64_t of[2];
} hive_counts;
enum {
    HIVE_COUNTS_BITS = 12,
    HIVE_COUNTS_WORD = 5,
    HIVE_COUNTS_PASSES = 256 /* of 32 items, of which one lane counts no more than ten */
};

SIMT_FN void hive_count_outcome(hive_counts *c, uint32_t outcome)
{
    bool high = outcome >= HIVE_COUNTS_WORD;
    uint64_t one = 1ull << HIVE_COUNTS_BITS * (high ? outcome - HIVE_COUNTS_WORD : outcome);
    c->of[0] += high ? 0 : one;
    c->of[1] += high ? one : 0;
}

/* To the table's. */
SIMT_FN void hive_count_up(const hive_args *a, hive_counts *c)
{
    simt_tile w = simt_tile_of(32);
    SIMT_ROLLED
    for (uint32_t o = 0; o < HD_OUTCOME_COUNT; o++) {
        uint32_t bits = HIVE_COUNTS_BITS * (o % HIVE_COUNTS_WORD),
                 n = (uint32_t)((o < HIVE_COUNTS_WORD ? c->of[0] : c->of[1]) >> bits) & ((1 << HIVE_COUNTS_BITS) - 1);
        n = simt_reduce_add_u32(w, n);
        if (n && w.rank == 0) simt_add_u64(a->tally + o, n, SIMT_RELAXED);
        simt_join();
    }
    c->of[0] = c->of[1] = 0;
}

SIMT_FN void hive_batched_deliver(const hive_args *a, const hive_kind *k, hive_counts *c, const hive_in_flight *s)
{
    if (s->outcome < HD_OUTCOME_COUNT) {
        hive_count_outcome(c, s->outcome);
        hive_deliver(a, s->i, s->op, s->outcome, s->value, s->slot, k->aligned);
    }
    simt_join();
}

/* The lane's own item, i, if there is one. */
SIMT_FN hive_in_flight hive_load_in_flight(const hive_args *a, const hive_kind *k, uint64_t i, bool is)
{
    uint32_t bytes = k->shape.half / 8, flag = HD_EITHER;
    uint64_t key = 0;
    hive_in_flight s;
    s.i = i;
    s.in = s.value = s.room = 0;
    s.slot = (const uint8_t *)0;
    s.op = k->op;
    s.outcome = HIVE_NO_ITEM;
    if (is) {
        key = simt_ld_u64(a->key + i);
        if (k->mixed) s.op = simt_ld_u8(a->each + i);
        if (a->flag && s.op == HD_OP_ACCUM_OR_ASSIGN) flag = simt_ld_u8(a->flag + i);
        if (a->value && hive_changes(k)) s.in = hive_value_in(a->value + i * bytes, bytes, k->aligned);
        s.outcome = key < hive_keys(&k->shape) ? (uint32_t)HIVE_UNDECIDED : (uint32_t)HD_RESERVED;
    }
    simt_join();
    hive_one o;
    o.op = s.op;
    hive_rule(&o, flag);
    s.key = (uint32_t)key;
    s.h = hive_hash(&a->v, key);
    s.rule = o.change | (o.insert ? (uint32_t)HIVE_RULE_INSERT : 0) | o.found << HIVE_RULE_FOUND;
    return s;
}

/* Item m of those that wait, if it is one, as the lane's own. */
SIMT_FN hive_in_flight hive_call_up(const hive_args *a, const hive_kind *k, const hive_queue *l, uint32_t m, bool is)
{
    uint32_t room = 0;
    uint64_t i = 0;
    if (is) i = hive_waiting(l, m, &room);
    simt_join();
    hive_in_flight s = hive_load_in_flight(a, k, i, is);
    s.room = room;
    return s;
}

/* Items x and the next ones; those from a->last on are none. */
SIMT_FN void hive_batched_first(simt_tile t, const hive_args *a, const hive_kind *k, uint64_t x, hive_queue *second,
                                hive_counts *c)
{
    uint64_t i = x + simt_lane();
    if (i < a->last) simt_started(i);
    hive_in_flight s = hive_load_in_flight(a, k, i, i < a->last);
    if (s.outcome == HD_RESERVED) simt_ticket(i, HD_RESERVED, 0, HIVE_NOWHERE);
    simt_join();
    hive_batched(t, a, k, true, &s);
    simt_join();
    hive_batched_deliver(a, k, c, &s);
    hive_put_off(second, s.outcome == HIVE_UNDECIDED, &s);
}

/* Of 32 items that wait, or as many as do. */
SIMT_FN void hive_batched_second(simt_tile t, const hive_args *a, const hive_kind *k, hive_queue *second,
                                 hive_queue *rest, hive_counts *c)
{
    uint32_t take = second->n < 32 ? second->n : 32;
    second->n -= take;
    if (k->moves) simt_fence();
    hive_in_flight s = hive_call_up(a, k, second, second->n + simt_lane(), simt_lane() < take);
    if (!(s.room & HIVE_ROOM_AGAIN)) s.rule |= HIVE_RULE_SECOND;
    hive_batched(t, a, k, false, &s);
    simt_join();
    hive_batched_deliver(a, k, c, &s);
    hive_put_off(rest, s.outcome == HIVE_UNDECIDED, &s);
}

/* Of as many items that wait as there are tiles. */
SIMT_FN void hive_batched_third(simt_tile t, const hive_args *a, const hive_kind *k, hive_queue *third,
                                hive_queue *rest, hive_counts *c)
{
    uint32_t tiles = 32 / HIVE_BATCHED, own = simt_lane() / HIVE_BATCHED, take = third->n < tiles ? third->n : tiles;
    third->n -= take;
    hive_in_flight s = hive_call_up(a, k, third, third->n + own, own < take);
    hive_displace_warp(t, a, k, &s);
    bool left = s.outcome == HIVE_UNDECIDED && t.rank == 0;
    if (t.rank != 0) s.outcome = HIVE_NO_ITEM;
    hive_batched_deliver(a, k, c, &s);
    hive_put_off(rest, left, &s);
}

/* All that wait. Apart: what it needs of registers is not the rounds' business. */
SIMT_FN_APART hive_counts hive_batched_rest(const hive_args *a, uint32_t op, bool mixed, hive_queue rest, hive_counts c)
{
    simt_tile t = simt_tile_of(8);
    for (uint32_t x = simt_lane() / t.size; x < rest.n; x += 32 / t.size) {
        uint32_t room;
        hive_one o = hive_begin_as(t, a, hive_waiting(&rest, x, &room), op, mixed);
        while (!hive_try(t, a, &o)) simt_backoff(64);
        if (t.rank == 0) {
            hive_count_outcome(&c, o.outcome);
            hive_deliver_one(a, &o);
        }
        simt_join();
    }
    return c;
}

/* Of a block's passes, 32 items each, the next one, for a warp that has done with its last: the first of its items.
 * Warps come along at unlike speeds (with shares of equal size, a quarter of the time of an insert up to 0.95 was
 * between the first that had done and the last), and in the end few loads would be on their way. */
SIMT_FN uint64_t hive_next_pass(const hive_args *a, uint32_t *passes)
{
    uint32_t n = 0, warps = simt_threads() / 32;
    if (simt_lane() == 0) n = simt_shared_add_u32(passes, 1);
    simt_join();
    n = simt_shfl_u32(simt_tile_of(32), n, 0);
    return a->first + ((uint64_t)(n / warps) * simt_blocks() + simt_block()) * simt_threads() + n % warps * 32;
}

SIMT_FN void hive_batcheds(const hive_args *a, const hive_kind *k)
{
    SIMT_SHARED(uint32_t, room, HIVE_BATCHED_THREADS / 32 * 2 * HIVE_QUEUES);
    SIMT_SHARED(uint32_t, taken, 1);
    simt_tile t = simt_tile_of(HIVE_BATCHED), warp = simt_tile_of(32);
    bool crowds = k->moves && k->shape.hashes == 2, more = true;
    hive_queue second = hive_queue_of(room, 0), third = hive_queue_of(room, HIVE_QUEUE_SECOND),
               rest = hive_queue_of(room, crowds ? HIVE_QUEUE_SECOND + HIVE_QUEUE_THIRD : HIVE_QUEUE_SECOND);
    hive_counts c;
    uint32_t passes = 0, tiles = 32 / HIVE_BATCHED;
    c.of[0] = c.of[1] = 0;
    if (simt_thread() == 0) simt_st_u32(taken, 0);
    simt_sync_block();
    while (more) {
        uint64_t x = hive_next_pass(a, taken);
        more = x < a->last;
        if (more) hive_batched_first(t, a, k, x, &second, &c);
        while (second.n >= (more ? 32 : 1) || third.n >= (more ? tiles : 1)) {
            if (third.n < tiles && second.n >= (more ? 32 : 1))
                hive_batched_second(t, a, k, &second, crowds ? &third : &rest, &c);
            else
                hive_batched_third(t, a, k, &third, &rest, &c);
            if (rest.n) {
                c = hive_batched_rest(a, k->op, k->mixed, rest, c);
                simt_sync_tile(warp);
                rest.n = 0;
            }
        }
        if (++passes % HIVE_COUNTS_PASSES == 0) hive_count_up(a, &c);
    }
    simt_join();
    hive_count_up(a, &c);
}

SIMT_FN void hive_batched_items(const hive_args *a)
{
    hive_kind k = hive_kind_of(a, a->v.slots, a->v.half, a->v.hashes, false);
    hive_batcheds(a, &k);
}

/* Which tables it runs on. */
static inline const char *hive_fits_batched(const hd_info *info)
{
    if (info->layout == HD_LAYOUT_MASKS) return "batched claims words: layout words";
    return info->slots <= 16 ? NULL : "a lane of batched has up to four words of a bucket: 8 or 16 slots";
}

SIMT_ENTRY(hive_kernel_batched_items, hive_args, hive_batched_items)

static const hd_variant hive_variant_batched = {
    .name = "batched",
    .row = {
        { HIVE_ITEMS, hive_kernel_batched_items, 1, 256, hive_fits_batched, HD_ORDER,
          HD_WHAT("items: four lanes per key, four keys of each in flight, in rounds by bucket; what remains goes the tile's way") },
    },
    .ran = HIVE_RAN("batched"),
    .ran_mixed = "hive.mixed.batched",
    .formerly = "volley",
};

#endif

HIVE_LISTED(hive_variant_batched)
