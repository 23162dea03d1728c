/* SPDX-License-Identifier: Apache-2.0
 *
 * batched.h - the Hive kernel written for speed: one lane per key, and a tile of four lanes loads the buckets of its
 * four keys together.
 *
 * A lane loads a quarter of each of the four buckets. All four loads are issued before the first is used. The four
 * compare-and-swaps (CAS) are in flight together, too. A warp runs its items in rounds, with all 32 lanes together. An
 * item that a round cannot decide waits in a queue in shared memory. A later round begins when its queue can fill it.
 *
 *
 * 1. Rounds
 *
 *     round    items               looks at                            decides                        the rest goes to
 *     first    32, one per lane    first bucket                        present keys; absent keys,     second
 *                                                                      if the bucket is open
 *     second   up to 32, one per   second bucket, or the first again   absent keys; takes a slot      third, or rest
 *              lane                (HIVE_ROOM_AGAIN)                   in the bucket with more
 *     third    up to 8, one per    both buckets                        full buckets: a key of them    rest
 *              tile                                                    moves on (displace_warp.h)
 *     rest     one per 8 lanes     the whole way of the key (steps.h)  everything                     -
 *
 *     The third round exists where keys may move (args.moves) and a key has two candidate buckets. A bucket is open if
 *     more than `spare` of its slots are FRESH: no item ever went past it. A search therefore ends at an open bucket.
 *
 *         items of the launch
 *            |  32
 *            v
 *         first ----> queue `second` ----> second ----> queue `third` ----> third ----> rest
 *            |         (63 at most)          |          (39 at most)          |     (8 per third)
 *            v                               v                                v
 *         decided                         decided                          decided
 *
 *     No item waits for another one in the first three rounds. An item owns no slot when a round ends. A claim is given
 *     back if the key turns out to be elsewhere, or if the round cannot tell.
 *
 *
 * 2. The words of a slot (layout "words"; args.h has the protocol)
 *
 *     from                to               by                                 order
 *     FRESH, VACANT       (key, value)     CAS, batch with distinct keys      relaxed     INSERTED takes effect
 *     FRESH, VACANT       CLAIMED(key)     CAS, keys may repeat               relaxed, then a fence
 *     CLAIMED(key)        (key, value)     store by the owner                 relaxed     INSERTED takes effect
 *     CLAIMED(key)        VACANT           store by the owner                 relaxed
 *     (key, value)        (key, new)       CAS                                relaxed     UPDATED takes effect
 *     (key, value)        VACANT           CAS                                relaxed     ERASED takes effect
 *     (key, value)        LEAVING(key)     CAS, third round                   relaxed     the key moves here
 *     CLAIMED(key)        (key, value)     store, third round: the target     release
 *     LEAVING(key)        new word         store, third round: the owner      release
 *
 *     A word has the key and the value, so a CAS needs no acquire or release. Order matters only where keys move. A key
 *     is stored in its new slot after its old slot says LEAVING. So an item that sees neither in the first bucket must
 *     load the second bucket later: a fence orders the loads of a round before those of the next.
 *
 *     Two items of one key that both claim: each claims, then fences, then searches. The item whose fence is later sees
 *     the claim of the other and gives its own back.
 *
 *
 * 3. Rules for changes
 *
 *     - All functions of the rounds are warp-collective: 32 lanes call them together, with or without an item.
 *     - The queues are the warp's own. Only lanes of the warp touch them.
 *     - hive_batched_rest_* are not inlined. They need more registers than the rounds; inlined, they would cost
 *       occupancy.
 */
#ifndef HIVE_BATCHED_H
#define HIVE_BATCHED_H

#include "gpu/hive/displace_warp.h"
#include "gpu/hive/kernels.h"

enum { HIVE_BATCHED_THREADS = 256 };

/* ---- One round ------------------------------------------------------------------------------- */

/* What a lane's own item does at the bucket that it read. */
typedef struct hive_plan {
    bool there;     /* the key was seen                                               */
    bool held;      /* a word speaks of the key: another item claims it, or moves it  */
    bool absent;    /* neither                                                        */
    bool asks;      /* the item changes a word of this bucket, or takes a slot        */
    bool elsewhere; /* the item takes a slot of its first bucket instead              */
    bool good;      /* the compare-and-swap succeeded                                 */
    uint32_t then;  /* the outcome if it does; GPU_UNDECIDED: a later round decides  */
    uint32_t spot;  /* what is known of the slot: a room (HIVE_ROOM_)                 */
    uint32_t slot;
    uint64_t bucket;
    uint8_t *home; /* the address of the bucket */
} hive_plan;

/* An absent key that the item inserts: it goes to the first bucket with more free slots than the spare ones, else to
 * the one with more, as they were seen. step: this is the second bucket. */
SIMT_FN void hive_plan_insert(const hive_view *v, const hive_in_flight *s, const hive_bucket_seen *b, bool step,
                              hive_plan *p)
{
    uint32_t before = s->room & HIVE_ROOM_FREE;
    p->asks = b->fresh > v->spare || (step && before <= v->spare && b->free > before);
    p->elsewhere = !p->asks && step && before != 0;
    if (p->asks || p->elsewhere) p->then = HD_INSERTED;
    if (!p->elsewhere) return;
    p->bucket = hive_candidate(v, s->h, 0);
    p->home = (uint8_t *)hive_bucket(v, p->bucket);
    p->spot = s->room;
}

/* Decides what the item does. home: the bucket that it looked at. To find a bucket's address takes many instructions:
 * computing it here again cost 3% of a mixed batch. last: if neither bucket has the key, the table lacks it. */
SIMT_FN hive_plan hive_plan_round(const hive_args *a, const hive_kind *k, const hive_in_flight *s,
                                  const hive_bucket_seen *b, uint8_t *home, bool step, bool last)
{
    const hive_view *v = &a->v;
    bool here = s->outcome == GPU_UNDECIDED;
    hive_plan p;
    p.there = here && b->key;
    p.held = k->moves && b->signs != 0;
    p.absent = here && !p.there && !p.held;
    p.asks = p.elsewhere = p.good = false;
    p.then = GPU_UNDECIDED;
    p.spot = b->spot;
    p.bucket = hive_candidate(v, s->h, step ? 1 : 0);
    p.home = home;
    if (p.there) {
        p.then = s->rule >> HIVE_RULE_FOUND;
        p.asks = (s->rule & HIVE_RULE_CHANGE) != GPU_KEEP;
    } else if (p.absent && !(s->rule & HIVE_RULE_INSERT)) {
        if (b->fresh > v->spare || (step && last)) p.then = HD_MISS;
    } else if (p.absent && (!step || last)) {
        hive_plan_insert(v, s, b, step, &p);
    }
    p.slot = p.spot >> HIVE_ROOM_SLOT & 0xff;
    return p;
}

/* Does the planned change by one compare-and-swap. True: it succeeded. */
SIMT_FN bool hive_plan_try(const hive_args *a, const hive_kind *k, const hive_in_flight *s, const hive_plan *p,
                           uint32_t old)
{
    const hive_view *u = &k->shape;
    uint64_t was, to;
    if (p->there) {
        was = hive_pack(u, s->key, old);
        to = hive_changed(a, u, s->rule & HIVE_RULE_CHANGE, s->key, was, s->in);
    } else {
        was = p->spot & HIVE_ROOM_VACANT ? hive_vacant(u) : hive_fresh(u);
        to = hive_first_word(u, k->distinct, s->key, s->in);
    }
    bool good = hive_cas_at(u, p->home + p->slot * hive_word_bytes(u), was, to);
    if (good && (p->there || k->distinct)) simt_ticket(s->i, p->then, 0, p->bucket * u->slots + p->slot);
    return good;
}

/* Writes what the round found into the item: its outcome, or what the next round has to know. */
SIMT_FN void hive_plan_end(const hive_args *a, const hive_kind *k, hive_in_flight *s, const hive_plan *p,
                           const hive_bucket_seen *b, bool step, bool last)
{
    bool beaten = (p->asks || p->elsewhere) && !p->good;
    s->value = b->old;
    if (k->op == HD_OP_FIND_PTR && a->b.ptr) s->slot = p->home + p->slot * hive_word_bytes(&k->shape);
    if (step) {
        if (last && p->absent) s->room = HIVE_ROOM_ABSENT;
    } else if (beaten || (p->held && !p->there)) {
        s->room = HIVE_ROOM_AGAIN; /* says nothing of the free slots */
    } else {
        s->room = p->absent && b->free ? p->spot | b->free : 0;
    }
    if (!beaten) s->outcome = p->then;
    if (s->outcome == HD_MISS) simt_ticket(s->i, HD_MISS, 0, HIVE_NOWHERE);
}

/* Verifies the claims of the warp's items, for batches whose keys may repeat. Returns whether this lane's change
 * holds. */
SIMT_FN bool hive_plan_verify(simt_tile t, const hive_args *a, const hive_kind *k, const hive_in_flight *s,
                              const hive_plan *p, bool step)
{
    bool claimed = p->then == HD_INSERTED && p->good, sure = !claimed;
    if (simt_any(simt_tile_of(32), claimed))
        sure = hive_verify_claims(t, a, k, s, claimed, step && !p->elsewhere, p->slot) || sure;
    return p->good && sure;
}

/* One round of the tile's four items, one per lane. An item looks in its first candidate, or in its second if its
 * rule says so; first: all look in their first. Each lane changes the word of its own item, so the four
 * compare-and-swaps are in flight together. */
SIMT_FN void hive_batched(simt_tile t, const hive_args *a, const hive_kind *k, bool first, hive_in_flight *s)
{
    const hive_view *u = &k->shape, *v = &a->v;
    bool step = !first && s->rule & HIVE_RULE_SECOND, here = s->outcome == GPU_UNDECIDED;
    uint8_t *home = (uint8_t *)hive_bucket(v, hive_candidate(v, s->h, step ? 1 : 0));
    uint64_t stashed = first ? 0 : hive_ask_stashed(a, k);
    hive_bucket_seen b = hive_look(t, k, home, s->key, false, HIVE_NO_SLOT);
    bool last = !first && hive_ends_there(t, a, k, s, stashed);
    hive_plan p = hive_plan_round(a, k, s, &b, home, step, last);
    simt_join();
    if (hive_changes(k) && (p.asks || p.elsewhere)) p.good = hive_plan_try(a, k, s, &p, b.old);
    if (p.there && !p.asks) simt_ticket(s->i, HD_HIT, 0, p.bucket * u->slots + p.slot);
    simt_join();
    if (hive_inserts(k) && !k->distinct) p.good = hive_plan_verify(t, a, k, s, &p, step);
    if (here) hive_plan_end(a, k, s, &p, &b, step, last);
}

/* ---- A warp's items, from round to round ----------------------------------------------------- */

/* A queue of items, in shared memory of the warp: the lower 32 bits of the item's number; and its upper bits, with the
 * item's room (HIVE_ROOM_) above them. The queues are short: the L1 cache, which shares the memory, holds the loads in
 * flight. */
typedef struct hive_queue {
    uint32_t *low, *high; /* (HIVE_QUEUE_)         */
    uint32_t n;           /* items in the queue    */
} hive_queue;
enum {
    HIVE_QUEUE_SECOND = 31 + 32, /* at most: less than a full round, and what a first round adds        */
    HIVE_QUEUE_THIRD = 7 + 32,   /* likewise; it is the queue of the rest where there is no third round */
    HIVE_QUEUE_REST = 8,         /* what a third round adds                                             */
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

/* Appends the items of the lanes with `off`. */
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

/* Item m of the queue, and its room. */
SIMT_FN uint64_t hive_waiting(const hive_queue *l, uint32_t m, uint32_t *room)
{
    uint32_t high = simt_ld_u32(l->high + m);
    *room = high >> HIVE_ITEM_BITS;
    return (uint64_t)(high & ((1u << HIVE_ITEM_BITS) - 1)) << 32 | simt_ld_u32(l->low + m);
}

/* The counts of a lane's outcomes: twelve bits each, five in a word. */
typedef struct hive_counts {
    uint64_t of[2];
} hive_counts;
enum {
    HIVE_COUNTS_BITS = 12,
    HIVE_COUNTS_WORD = 5,
    HIVE_COUNTS_PASSES = 256 /* of 32 items between two flushes. One lane counts at most ten items in a pass */
};

SIMT_FN void hive_count_outcome(hive_counts *c, uint32_t outcome)
{
    bool high = outcome >= HIVE_COUNTS_WORD;
    uint64_t one = 1ull << HIVE_COUNTS_BITS * (high ? outcome - HIVE_COUNTS_WORD : outcome);
    c->of[0] += high ? 0 : one;
    c->of[1] += high ? one : 0;
}

/* Adds the counts of the warp to the tally of the batch, and clears them. */
SIMT_FN void hive_count_up(const hive_args *a, hive_counts *c)
{
    simt_tile w = simt_tile_of(32);
    SIMT_ROLLED
    for (uint32_t o = 0; o < HD_OUTCOME_COUNT; o++) {
        uint32_t bits = HIVE_COUNTS_BITS * (o % HIVE_COUNTS_WORD),
                 n = (uint32_t)((o < HIVE_COUNTS_WORD ? c->of[0] : c->of[1]) >> bits) & ((1 << HIVE_COUNTS_BITS) - 1);
        n = simt_reduce_add_u32(w, n);
        if (n && w.rank == 0) simt_add_u64(a->b.tally + o, n, SIMT_RELAXED);
        simt_join();
    }
    c->of[0] = c->of[1] = 0;
}

SIMT_FN void hive_batched_deliver(const hive_args *a, const hive_kind *k, hive_counts *c, const hive_in_flight *s)
{
    if (s->outcome < HD_OUTCOME_COUNT) {
        /* An operation that cannot be mixed ran as a lookup: what the buckets say does not wait for it to be known. */
        uint32_t outcome = k->mixed && !gpu_mixes(s->op) ? (uint32_t)HD_RESERVED : s->outcome;
        hive_count_outcome(c, outcome);
        hive_deliver(a, s->i, s->op, outcome, s->value, s->slot, k->aligned);
    }
    simt_join();
}

/* Loads item i as the lane's own; is: there is such an item. */
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
        key = simt_ld_u64(a->b.key + i);
        if (k->mixed) s.op = simt_ld_u8(a->b.each + i);
        if (a->b.flag && s.op == HD_OP_ACCUM_OR_ASSIGN) flag = simt_ld_u8(a->b.flag + i);
        if (a->b.value && hive_changes(k)) s.in = gpu_value_in(a->b.value + i * bytes, bytes, k->aligned);
        bool runs = key < hive_keys(&k->shape) && flag <= HD_EITHER;
        s.outcome = runs ? (uint32_t)GPU_UNDECIDED : (uint32_t)HD_RESERVED;
    }
    simt_join();
    hive_one o;
    o.op = s.op;
    gpu_rule(&o, flag);
    s.key = (uint32_t)key;
    s.h = hive_hash(&a->v, key);
    s.rule = o.change | (o.insert ? (uint32_t)HIVE_RULE_INSERT : 0) | o.found << HIVE_RULE_FOUND;
    return s;
}

/* Loads item m of a queue as the lane's own; is: there is such an item. */
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

/* The first round: items x to x + 31. There are none from a->b.last on. */
SIMT_FN void hive_batched_first(simt_tile t, const hive_args *a, const hive_kind *k, uint64_t x, hive_queue *second,
                                hive_counts *c)
{
    uint64_t i = x + simt_lane();
    if (i < a->b.last) simt_started(i);
    hive_in_flight s = hive_load_in_flight(a, k, i, i < a->b.last);
    if (s.outcome == HD_RESERVED) simt_ticket(i, HD_RESERVED, 0, HIVE_NOWHERE);
    simt_join();
    hive_batched(t, a, k, true, &s);
    simt_join();
    hive_batched_deliver(a, k, c, &s);
    hive_put_off(second, s.outcome == GPU_UNDECIDED, &s);
}

/* The second round: up to 32 items of its queue. The fence orders the loads of the first round before these. */
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
    hive_put_off(rest, s.outcome == GPU_UNDECIDED, &s);
}

/* The third round: one item of its queue for each tile. */
SIMT_FN void hive_batched_third(simt_tile t, const hive_args *a, const hive_kind *k, hive_queue *third,
                                hive_queue *rest, hive_counts *c)
{
    uint32_t tiles = 32 / HIVE_BATCHED, own = simt_lane() / HIVE_BATCHED, take = third->n < tiles ? third->n : tiles;
    third->n -= take;
    hive_in_flight s = hive_call_up(a, k, third, third->n + own, own < take);
    hive_displace_warp(t, a, k, &s);
    bool left = s.outcome == GPU_UNDECIDED && t.rank == 0;
    if (t.rank != 0) s.outcome = HIVE_NO_ITEM;
    hive_batched_deliver(a, k, c, &s);
    hive_put_off(rest, left, &s);
}

/* The rest: eight lanes take each item all its way (steps.h). inserts: an item of the batch may insert its key. */
SIMT_FN hive_counts hive_batched_rest(const hive_args *a, uint32_t op, bool mixed, bool inserts, hive_queue rest,
                                      hive_counts c)
{
    simt_tile t = simt_tile_of(8);
    for (uint32_t x = simt_lane() / t.size; x < rest.n; x += 32 / t.size) {
        uint32_t room;
        hive_one o = hive_begin(t, a, hive_waiting(&rest, x, &room), op, mixed);
        if (!inserts) o.insert = false;
        while (!hive_try(t, a, &o)) simt_backoff(64);
        if (t.rank == 0) {
            hive_count_outcome(&c, o.outcome);
            hive_deliver_one(a, &o);
        }
        simt_join();
    }
    return c;
}

/* Not inlined: see section 3. The second is a fifth of the first; ptxas gives every kernel a copy. */
SIMT_FN_APART hive_counts hive_batched_rest_inserts(const hive_args *a, uint32_t op, bool mixed, hive_queue rest,
                                                    hive_counts c)
{
    return hive_batched_rest(a, op, mixed, true, rest, c);
}
SIMT_FN_APART hive_counts hive_batched_rest_present(const hive_args *a, uint32_t op, hive_queue rest, hive_counts c)
{
    return hive_batched_rest(a, op, false, false, rest, c);
}

/* The main loop of a warp: a first round while items are left, and later rounds when their queues are full enough. */
SIMT_FN void hive_batcheds(const hive_args *a, const hive_kind *k)
{
    SIMT_SHARED(uint32_t, room, HIVE_BATCHED_THREADS / 32 * 2 * HIVE_QUEUES);
    SIMT_SHARED(uint32_t, taken, 1);
    simt_tile t = simt_tile_of(HIVE_BATCHED), warp = simt_tile_of(32);
    bool crowds = k->moves && k->shape.hashes == 2, more = true;
    hive_queue second = hive_queue_of(room, 0), third = hive_queue_of(room, HIVE_QUEUE_SECOND),
               rest = hive_queue_of(room, crowds ? HIVE_QUEUE_SECOND + HIVE_QUEUE_THIRD : HIVE_QUEUE_SECOND);
    hive_counts c;
    uint32_t passes = 0;
    c.of[0] = c.of[1] = 0;
    if (simt_thread() == 0) simt_st_u32(taken, 0);
    simt_sync_block();
    while (more) {
        uint64_t x = gpu_next_pass(&a->b, taken);
        more = x < a->b.last;
        uint32_t tiles = 32 / HIVE_BATCHED, least = more ? 32 : 1, least_tiles = more ? tiles : 1;
        if (more) hive_batched_first(t, a, k, x, &second, &c);
        while (second.n >= least || third.n >= least_tiles) {
            if (third.n < tiles && second.n >= least)
                hive_batched_second(t, a, k, &second, crowds ? &third : &rest, &c);
            else
                hive_batched_third(t, a, k, &third, &rest, &c);
            if (rest.n) {
                /* a find spills fewer registers around the first call: 3% of its rate */
                c = hive_inserts(k) || k->op == HD_OP_FIND ? hive_batched_rest_inserts(a, k->op, k->mixed, rest, c)
                                                           : hive_batched_rest_present(a, k->op, rest, c);
                simt_sync_tile(warp);
                rest.n = 0;
            }
        }
        if (++passes % HIVE_COUNTS_PASSES == 0) hive_count_up(a, &c);
    }
    simt_join();
    hive_count_up(a, &c);
    if (k->mixed) hive_count_each(a, room);
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
    .row = { { GPU_ITEMS, hive_kernel_batched_items, 1, 256, hive_fits_batched, HD_ORDER,
               HD_WHAT("items: four lanes per key, four keys in flight, in rounds by bucket; the rest as in tile") } },
    .ran = HIVE_RAN("batched"),
    .ran_mixed = "hive.mixed.batched",
    .formerly = "volley",
};

#endif

HIVE_LISTED(hive_variant_batched)
