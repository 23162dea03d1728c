/* SPDX-License-Identifier: Apache-2.0
 *
 * wide - pairs of words (ref/ovs/layout.h): a lane per key, and a tile of four lanes that loads the key halves of the
 * buckets of its four keys together, 64 bytes each, as `quad` loads buckets of words. All four loads of a lane are
 * issued before the first is used. A lane whose item is done takes the next item of the warp (quad.h). Of the value
 * words only that of the slot that was found is read.
 *
 * All items of a batch have one operation. So one of three cases holds:
 *
 *   lookups, assignments   No key word changes. An assignment is one store of the value word.
 *   erase                  Key words only become VACANT, by a compare-and-swap (CAS) from the key. If that fails,
 *                          another item erased the key, and no item brings it back: MISS.
 *   operations that        A slot that has a key keeps it, and no slot becomes free. An item takes the first free slot
 *   insert                 of its way by a CAS to BUSY, stores the value word, and then releases the key word. What is
 *                          BUSY before the first free slot may become the item's key: the item looks at the bucket
 *                          again. It keeps what it has claimed for these two stores alone, and it does not wait
 *                          between them. So lanes of one warp do not wait for each other.
 *
 * Why a key is inserted once, without a second search: each slot goes from free to BUSY to one key, or not at all. Let
 * items A and B take slots r and s of the way of K, r before s. B went past r, so B saw another key than K there, and
 * that key stays. But r became K. So r = s, and of two CAS from free to BUSY one fails. If the batch found K in the
 * table, K is in a slot that the whole search sees, since no key is behind an open bucket. A search that goes back to a
 * bucket begins there and not at the start of the way: all slots before it have other keys, which stay.
 *
 * Why a value is complete: an item that finds K in such a batch acquires the key word before it accesses the value
 * word. In a batch with distinct keys no other item looks for K: the slot becomes K at once, and then gets its value.
 *
 * Mixed batches have no such order: an erasure could free slot r after B went past it.
 */
#ifndef OVS_WIDE_H
#define OVS_WIDE_H

#include "gpu/ovs/quad.h"

enum { OVS_WIDE_WORDS = 2 /* key words of a bucket that a lane loads */, OVS_WIDE_HALF = 64 };
#define OVS_WIDE_NOWHERE UINT32_MAX

/* The kind of a batch. Special entry points of CUDA have it as constants (ovs_quad_kind). */
typedef struct ovs_wide_kind {
    uint32_t op;
    bool distinct;
} ovs_wide_kind;

SIMT_FN ovs_wide_kind ovs_wide_kind_of(const ovs_args *a)
{
    ovs_wide_kind k;
    k.op = a->b.op;
    k.distinct = a->b.distinct;
    return k;
}

/* Whether an item may insert its key; and whether other items of the batch may look for it meanwhile. */
SIMT_FN bool ovs_wide_inserts(const ovs_wide_kind *k) { return gpu_op_inserts(k->op); }
SIMT_FN bool ovs_wide_meets(const ovs_wide_kind *k) { return !k->distinct && ovs_wide_inserts(k); }

/* The item of a lane. */
typedef struct ovs_wide_item {
    gpu_one o;         /* o.outcome OVS_QUAD_NO_ITEM: none */
    uint64_t *segment; /* of its key */
    uint32_t step;     /* of the search */
    uint32_t room;     /* the first free slot that the search saw, along the way; OVS_WIDE_NOWHERE: none */
    bool fresh;        /* that slot was fresh, not vacant */
    bool waits;        /* a slot that may become the key's is BUSY */
} ovs_wide_item;

/* What a bucket says about the key of a lane's item. */
typedef struct ovs_wide_seen {
    uint32_t key, free; /* the key's slot, and the first free one; OVS_PAIRS: there is none */
    bool fresh;         /* the free slot is */
    bool open, busy;    /* a slot is fresh, or BUSY */
} ovs_wide_seen;

/* The key word of slot `at` of the way. Its value word is OVS_PAIRS words behind it. */
SIMT_FN uint64_t *ovs_wide_slot(const ovs_args *a, const ovs_wide_item *m, uint64_t at)
{
    return ovs_pair_slot(&a->v, m->segment, m->o.h, at);
}

/* ---- A look ---------------------------------------------------------------------------------- */

/* The first slot of a bucket for which a lane of the tile votes: for the first of its slots, or for the second. */
SIMT_FN uint32_t ovs_wide_first(uint32_t first, uint32_t second)
{
    uint32_t f = first ? 2 * simt_ffs(first) - 2 : (uint32_t)OVS_PAIRS;
    uint32_t s = second ? 2 * simt_ffs(second) - 1 : (uint32_t)OVS_PAIRS;
    return f < s ? f : s;
}

/* Compares the key words of a bucket, of which a lane has slots 2 rank and 2 rank + 1, with a key. All lanes of the
 * warp call it. */
SIMT_FN ovs_wide_seen ovs_wide_compare(simt_tile w, simt_tile t, bool inserts, const uint64_t x[OVS_WIDE_WORDS],
                                       uint64_t key)
{
    ovs_wide_seen s;
    bool fresh[OVS_WIDE_WORDS], free[OVS_WIDE_WORDS];
    for (uint32_t j = 0; j < OVS_WIDE_WORDS; j++) {
        fresh[j] = x[j] == ovs_pair_fresh();
        free[j] = fresh[j] || x[j] == ovs_pair_vacant();
    }
    s.key = ovs_wide_first(ovs_quad_votes(w, t, x[0] == key), ovs_quad_votes(w, t, x[1] == key));
    s.free = OVS_PAIRS;
    s.open = s.fresh = s.busy = false;
    if (!inserts) s.open = ovs_quad_votes(w, t, fresh[0] || fresh[1]) != 0;
    if (!inserts) return s;
    uint32_t first_fresh = ovs_wide_first(ovs_quad_votes(w, t, fresh[0]), ovs_quad_votes(w, t, fresh[1]));
    s.free = ovs_wide_first(ovs_quad_votes(w, t, free[0]), ovs_quad_votes(w, t, free[1]));
    s.open = first_fresh < OVS_PAIRS;
    s.fresh = s.open && s.free == first_fresh;
    s.busy = ovs_quad_votes(w, t, x[0] == ovs_pair_busy() || x[1] == ovs_pair_busy()) != 0;
    return s;
}

/* One look of all lanes, each at the bucket of its item's step. */
SIMT_FN ovs_wide_seen ovs_wide_look(simt_tile w, const ovs_args *a, const ovs_wide_kind *k, const ovs_wide_item *m)
{
    simt_tile t = simt_tile_of(OVS_QUAD);
    uint64_t x[OVS_QUAD][OVS_WIDE_WORDS];
    uint64_t at = (uint64_t)(uintptr_t)ovs_wide_slot(a, m, (uint64_t)m->step * OVS_PAIRS);
    uint32_t lanes = simt_ballot(w, m->o.outcome == GPU_UNDECIDED);
    ovs_wide_seen mine;
    mine.key = mine.free = OVS_PAIRS;
    mine.fresh = mine.open = mine.busy = false;
    SIMT_UNROLL
    for (uint32_t q = 0; q < OVS_QUAD; q++) {
        uint64_t *p = (uint64_t *)(uintptr_t)simt_shfl_u64(w, at, t.base + q);
        x[q][0] = x[q][1] = ovs_pair_busy();
        if (lanes >> (t.base + q) & 1) gpu_load_two(p + t.rank * OVS_WIDE_WORDS, false, &x[q][0], &x[q][1]);
    }
    simt_join();
    SIMT_UNROLL
    for (uint32_t q = 0; q < OVS_QUAD; q++) {
        uint64_t key = simt_shfl_u64(w, m->o.key, t.base + q);
        ovs_wide_seen s = ovs_wide_compare(w, t, ovs_wide_inserts(k), x[q], key);
        if (t.rank == q) mine = s;
    }
    return mine;
}

/* ---- What a lane decides --------------------------------------------------------------------- */

SIMT_FN void ovs_wide_end(ovs_wide_item *m, uint32_t outcome, uint64_t at)
{
    m->o.outcome = outcome;
    m->o.entry = at;
}

/* Nothing happens. */
SIMT_FN void ovs_wide_leave(ovs_wide_item *m, uint32_t outcome)
{
    simt_ticket(m->o.i, outcome, 0, OVS_NOWHERE);
    ovs_wide_end(m, outcome, OVS_NOWHERE);
}

/* The item's value is added to that at p. */
SIMT_FN void ovs_wide_add(const ovs_args *a, const ovs_wide_item *m, uint64_t *p)
{
    uint64_t there, seen = simt_ldrlx_u64(p);
    do {
        there = seen;
        seen = simt_cas_u64(p, there, gpu_word_value_sum(a->b.elem, OVS_WIDE_HALF, there, m->o.in), SIMT_RELAXED);
    } while (seen != there);
}

/* The key is in slot `at` of the way. */
SIMT_FN void ovs_wide_present(const ovs_args *a, const ovs_wide_kind *k, ovs_wide_item *m, uint64_t at)
{
    uint64_t *word = ovs_wide_slot(a, m, at), *value = word + OVS_PAIRS;
    if (m->o.change == GPU_REMOVE && simt_cas_u64(word, m->o.key, ovs_pair_vacant(), SIMT_RELAXED) != m->o.key) {
        ovs_wide_leave(m, HD_MISS);
        return;
    }
    if (ovs_wide_meets(k)) (void)simt_ldacq_u64(word); /* an item of this batch may have inserted the key */
    if (m->o.change == GPU_REPLACE) {
        simt_strlx_u64(value, m->o.in);
        simt_ticket_store(m->o.i, m->o.found, 0, ovs_pair_entry(&a->v, m->o.h, at));
    } else {
        if (m->o.change == GPU_ADD) ovs_wide_add(a, m, value);
        simt_ticket(m->o.i, m->o.found, 0, ovs_pair_entry(&a->v, m->o.h, at));
    }
    if (m->o.change == GPU_KEEP && a->b.value_out && gpu_delivers_value(m->o.op)) m->o.value = simt_ldrlx_u64(value);
    ovs_wide_end(m, m->o.found, at);
}

/* The key gets slot m->room of its way. False: another item took the slot. */
SIMT_FN bool ovs_wide_insert(const ovs_args *a, const ovs_wide_kind *k, ovs_wide_item *m)
{
    uint64_t *word = ovs_wide_slot(a, m, m->room);
    uint64_t from = m->fresh ? ovs_pair_fresh() : ovs_pair_vacant(), to = k->distinct ? m->o.key : ovs_pair_busy();
    if (simt_cas_u64(word, from, to, SIMT_RELAXED) != from) return false;
    if (k->distinct) simt_ticket(m->o.i, HD_INSERTED, 0, ovs_pair_entry(&a->v, m->o.h, m->room));
    simt_strlx_u64(word + OVS_PAIRS, m->o.in);
    if (!k->distinct) {
        simt_strel_u64(word, m->o.key);
        simt_ticket_store(m->o.i, HD_INSERTED, 0, ovs_pair_entry(&a->v, m->o.h, m->room));
    }
    ovs_wide_end(m, HD_INSERTED, m->room);
    return true;
}

/* The whole way was searched, and the key is absent. */
SIMT_FN void ovs_wide_absent(const ovs_args *a, const ovs_wide_kind *k, ovs_wide_item *m)
{
    if (!ovs_wide_inserts(k) || !m->o.insert) {
        ovs_wide_leave(m, HD_MISS);
    } else if (m->room == OVS_WIDE_NOWHERE) {
        ovs_wide_leave(m, HD_PENDING);
    } else if (!ovs_wide_insert(a, k, m)) {
        m->step = m->room / OVS_PAIRS;
        m->room = OVS_WIDE_NOWHERE;
    }
}

/* What the lane does after a look. */
SIMT_FN void ovs_wide_decide(const ovs_args *a, const ovs_wide_kind *k, ovs_wide_item *m, const ovs_wide_seen *s)
{
    uint64_t first = (uint64_t)m->step * OVS_PAIRS;
    if (s->key < OVS_PAIRS) {
        ovs_wide_present(a, k, m, first + s->key);
        return;
    }
    if (m->o.insert && m->room == OVS_WIDE_NOWHERE) {
        m->waits = ovs_wide_meets(k) && s->busy;
        if (m->waits) return;
        if (s->free < OVS_PAIRS) m->room = (uint32_t)first + s->free;
        m->fresh = s->fresh;
    }
    if (s->open || ++m->step == ovs_way(&a->v)) ovs_wide_absent(a, k, m);
}

/* ---- The items of a warp --------------------------------------------------------------------- */

SIMT_FN ovs_wide_item ovs_wide_none(const ovs_args *a, const ovs_wide_kind *k)
{
    ovs_wide_item m;
    m.o = gpu_item_of(0, k->op, 0, 0, 0, HD_EITHER);
    m.o.outcome = OVS_QUAD_NO_ITEM;
    m.segment = ovs_segment_at(&a->v, 0);
    m.step = 0;
    m.room = OVS_WIDE_NOWHERE;
    m.fresh = m.waits = false;
    return m;
}

/* The lane's item was done, or there was none: it takes item i. */
SIMT_FN void ovs_wide_take(const ovs_args *a, const ovs_wide_kind *k, ovs_wide_item *m, uint64_t i)
{
    m->o = gpu_begin(simt_tile_of(1), &a->b, OVS_WIDE_HALF, i, k->op, false);
    m->o.h = ovs_hash(&a->v, m->o.key);
    m->segment = ovs_segment_at(&a->v, ovs_segment_of(&a->v, m->o.h));
    m->step = 0;
    m->room = OVS_WIDE_NOWHERE;
}

/* Which outcomes items may have, a bit for each. */
SIMT_FN uint32_t ovs_wide_outcomes(const ovs_wide_kind *k)
{
    return HD_OP_IN(k->op, HD_OPS_LOOKUP) ? 1u << HD_HIT | 1u << HD_MISS | 1u << HD_RESERVED
                                          : (1u << HD_OUTCOME_COUNT) - 1;
}

/* Where the value of a HIT is, if a pointer to it is wanted. */
SIMT_FN const uint8_t *ovs_wide_pointer(const ovs_args *a, const ovs_wide_kind *k, const ovs_wide_item *m)
{
    bool points = k->op != HD_OP_FIND && m->o.outcome == HD_HIT && a->b.ptr;
    return points ? (const uint8_t *)(ovs_wide_slot(a, m, m->o.entry) + OVS_PAIRS) : (const uint8_t *)0;
}

/* Lanes whose items are decided take the next ones, and deliver those: so the lane loads the next key while the value
 * that it found is still on its way. False: the warp has run all its items. */
SIMT_FN bool ovs_wide_turn(simt_tile w, const ovs_args *a, const ovs_wide_kind *k, ovs_wide_item *m, uint32_t *drawn,
                           ovs_quad_pass *pass, uint64_t *counted)
{
    const uint64_t item = m->o.i, value = m->o.value;
    const uint32_t outcome = m->o.outcome;
    const uint8_t *pointer = ovs_wide_pointer(a, k, m);
    bool done = outcome < GPU_UNDECIDED, free = done || outcome == OVS_QUAD_NO_ITEM;
    gpu_count_lanes_of(w, counted, outcome, ovs_wide_outcomes(k));
    uint32_t lanes = simt_ballot(w, free);
    if (free) m->o.outcome = OVS_QUAD_NO_ITEM;
    simt_join();
    uint64_t i = ovs_quad_next(a, drawn, pass, simt_popc(lanes & ((1u << w.rank) - 1)), simt_popc(lanes));
    if (free && i < a->b.last) ovs_wide_take(a, k, m, i);
    if (done) gpu_deliver_sized(&a->b, OVS_WIDE_HALF, item, k->op, outcome, value, pointer, false, true);
    simt_join();
    return simt_any(w, m->o.outcome != OVS_QUAD_NO_ITEM);
}

SIMT_FN void ovs_wide_run(const ovs_args *a, const ovs_wide_kind *k)
{
    SIMT_SHARED(uint32_t, drawn, 1);
    simt_tile w = simt_tile_of(32);
    uint64_t counted = 0;
    ovs_quad_pass pass = { 0, 0, true };
    ovs_wide_item m = ovs_wide_none(a, k);
    if (simt_thread() == 0) simt_st_u32(drawn, 0);
    simt_sync_block();
    while (ovs_wide_turn(w, a, k, &m, drawn, &pass, &counted)) {
        ovs_wide_seen s = ovs_wide_look(w, a, k, &m);
        m.waits = false;
        if (m.o.outcome == GPU_UNDECIDED) ovs_wide_decide(a, k, &m, &s);
        simt_join();
        if (ovs_wide_meets(k) && simt_any(w, m.waits)) simt_backoff(64);
    }
    gpu_tally_lanes(w, &a->b, counted);
}

SIMT_FN void ovs_wide_items(const ovs_args *a)
{
    ovs_wide_kind k = ovs_wide_kind_of(a);
    ovs_wide_run(a, &k);
}

SIMT_ENTRY(ovs_kernel_wide_items, ovs_args, ovs_wide_items)

static const hd_variant ovs_variant_wide = {
    .name = "wide",
    .row = { { GPU_ALIKE, ovs_kernel_wide_items, 1, OVS_QUAD_THREADS, ovs_fits_pairs, HD_ORDER,
               HD_WHAT("items of pairs: a lane per key, and four lanes load the keys of four buckets together") } },
    .ran = OVS_RAN("wide"),
};

#endif

OVS_LISTED(ovs_variant_wide)
