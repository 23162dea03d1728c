/* SPDX-License-Identifier: Apache-2.0
 *
 * quad - a lane per key, and a tile of four lanes that loads the buckets of its four keys together. A lane loads a
 * quarter of each of the four buckets, and all four loads are issued before the first is used: so a warp waits for 32
 * buckets at a time. A lane whose item is done takes the next item of the warp, so no lane waits for the longest way.
 *
 * A round looks at one bucket of the way of each item. Then each lane decides by itself, by the protocol of args.h:
 *
 *     the item's state   the bucket says                    what the lane does
 *     searches           the key                            changes it by a compare-and-swap; done, or looks again
 *     searches           not the key, and is not open       goes on to the next bucket
 *     searches           not the key, and the way ends      MISS or PENDING, done; or claims its first free slot
 *     has claimed        the key, or an earlier claim       gives its claim back, and begins again
 *     has claimed        neither, and the way ends          shows the key in its claim, done; or, if another item
 *                                                           claims the key further on, searches again
 *
 * In a segment with digests each lane loads those of its bucket first. The four lanes then load only those of the
 * buckets whose words may be of use (args.h).
 *
 * A claim is made by one lane, and the search after it by four. So the warp synchronises and fences in between.
 */
#ifndef OVS_QUAD_H
#define OVS_QUAD_H

#include "gpu/ovs/kernels.h"
#include "gpu/ovs/steps.h"

enum { OVS_QUAD = 4, OVS_QUAD_THREADS = 256, OVS_QUAD_NO_ITEM = GPU_UNDECIDED + 1 };

/* The kind of a batch and its table. Special entry points of CUDA have it as constants, so that what the kind does not
 * need falls out, and registers with it. */
typedef struct ovs_quad_kind {
    uint32_t op;
    bool mixed, distinct, guided, copies; /* segments may have digests; entries may have copies */
    bool aligned;                         /* the values of the batch are aligned to their size */
} ovs_quad_kind;

SIMT_FN ovs_quad_kind ovs_quad_kind_of(const ovs_args *a)
{
    ovs_quad_kind k;
    k.op = a->b.op;
    k.mixed = a->b.each != (const uint8_t *)0;
    k.distinct = a->b.distinct;
    k.guided = a->v.guided != 0;
    k.copies = a->v.copy_sets != 0;
    k.aligned = false;
    return k;
}

/* Whether an item may insert its key; and whether it may claim a slot for it, because keys are not promised to be
 * distinct. */
SIMT_FN bool ovs_quad_inserts(const ovs_quad_kind *k) { return k->mixed || gpu_op_inserts(k->op); }
SIMT_FN bool ovs_quad_claims(const ovs_quad_kind *k) { return !k->distinct && ovs_quad_inserts(k); }

/* The item of a lane. */
typedef struct ovs_quad_item {
    gpu_one o;                /* o.outcome OVS_QUAD_NO_ITEM: none. o.claim is counted along the way */
    uint64_t *segment;        /* of its key */
    uint8_t *digests;         /* of that; NULL: it has none */
    uint64_t room, room_word; /* the first free slot that the search saw, along the way; OVS_NOWHERE: none */
    uint32_t step;            /* of the search */
    bool before, after;       /* the search saw claims of other items: before the item's own claim, or after it */
    bool waits;               /* it searches again because of such a claim */
} ovs_quad_item;

/* What a bucket says about the key of a lane's item. */
typedef struct ovs_quad_seen {
    uint32_t slot;    /* of the key, or else the first that is free; OVS_SLOTS: neither */
    uint32_t value;   /* the value field of that slot */
    bool key, open;   /* the key is in `slot`; a slot is fresh */
    uint32_t claimed; /* the slots that other items, or this one, have claimed for the key: a bit each */
} ovs_quad_seen;

SIMT_FN uint32_t ovs_quad_votes(simt_tile w, simt_tile t, bool yes)
{
    return simt_ballot(w, yes) >> t.base & ((1u << OVS_QUAD) - 1);
}

/* Compares four words of a bucket, slots 4 rank to 4 rank + 3, with a key. All lanes of the warp call it. */
SIMT_FN ovs_quad_seen ovs_quad_compare(simt_tile w, simt_tile t, const ovs_quad_kind *kind,
                                       const uint64_t x[OVS_LANE_WORDS], uint32_t key)
{
    bool claims = ovs_quad_claims(kind);
    uint32_t k = OVS_LANE_WORDS, free = OVS_LANE_WORDS, claimed = 0;
    bool fresh = false;
    ovs_quad_seen s;
    SIMT_UNROLL
    for (uint32_t j = OVS_LANE_WORDS; j-- > 0;) {
        if ((uint32_t)ovs_key_of(x[j]) == key) k = j;
        if (ovs_is_free(x[j])) free = j;
        fresh = fresh || x[j] == ovs_fresh();
        if (claims && x[j] == word_sign(OVS_HALF, WORD_CLAIMED, key)) claimed |= 1u << j;
    }
    uint32_t with = ovs_quad_votes(w, t, k < OVS_LANE_WORDS), who = with;
    uint32_t room = ovs_quad_inserts(kind) ? ovs_quad_votes(w, t, free < OVS_LANE_WORDS) : 0;
    s.open = ovs_quad_votes(w, t, fresh) != 0;
    s.key = with != 0;
    if (!with) who = room;
    uint32_t lane = who ? simt_ffs(who) - 1 : 0, j = with ? k : free;
    uint32_t slot = simt_shfl_u32(w, t.rank * OVS_LANE_WORDS + j, t.base + lane);
    s.value = simt_shfl_u32(w, (uint32_t)ovs_pick(x, j), t.base + lane);
    s.slot = who ? slot : (uint32_t)OVS_SLOTS;
    s.claimed = 0;
    if (claims && simt_any(w, claimed != 0)) {
        claimed <<= t.rank * OVS_LANE_WORDS;
        claimed |= simt_shfl_xor_u32(w, claimed, 1);
        claimed |= simt_shfl_xor_u32(w, claimed, 2);
        s.claimed = claimed;
    }
    return s;
}

/* What digests say of a lane's bucket. */
typedef struct ovs_quad_hint {
    bool reads, open; /* the words may be of use; a digest is 0 */
} ovs_quad_hint;

SIMT_FN ovs_quad_hint ovs_quad_hint_of(const ovs_args *a, const ovs_quad_kind *k, const ovs_quad_item *m, bool verifies)
{
    ovs_quad_hint s;
    s.reads = m->o.outcome == GPU_UNDECIDED;
    s.open = false;
    if (k->guided && m->digests && s.reads) {
        ovs_digests d = ovs_load_digests(m->digests, ovs_step_in(&a->v, m->o.h, m->step), verifies);
        s.open = ovs_has_digest(&d, 0);
        s.reads = ovs_has_digest(&d, ovs_digest_of(m->o.h)) ||
                  (m->o.insert && m->o.claim == OVS_NOWHERE && m->room == OVS_NOWHERE);
    }
    simt_join();
    return s;
}

/* One look of all lanes, each at the bucket of its item's step. verifies: a lane has claimed a slot, and must see what
 * others claimed before. */
SIMT_FN ovs_quad_seen ovs_quad_look(simt_tile w, const ovs_args *a, const ovs_quad_kind *k, const ovs_quad_item *m,
                                    bool verifies)
{
    simt_tile t = simt_tile_of(OVS_QUAD);
    uint64_t x[OVS_QUAD][OVS_LANE_WORDS];
    uint64_t at = (uint64_t)(uintptr_t)(m->segment + ovs_step_in(&a->v, m->o.h, m->step) * OVS_SLOTS);
    ovs_quad_hint hint = ovs_quad_hint_of(a, k, m, verifies);
    uint32_t lanes = simt_ballot(w, hint.reads);
    ovs_quad_seen mine;
    mine.slot = OVS_SLOTS;
    mine.value = mine.claimed = 0;
    mine.key = false;
    mine.open = hint.open;
    if (lanes == 0) return mine;
    SIMT_UNROLL
    for (uint32_t q = 0; q < OVS_QUAD; q++) {
        uint64_t *p = (uint64_t *)(uintptr_t)simt_shfl_u64(w, at, t.base + q);
        x[q][0] = x[q][1] = x[q][2] = x[q][3] = word_sign(OVS_HALF, WORD_LEAVING, 0);
        if (lanes >> (t.base + q) & 1) ovs_load(p + t.rank * OVS_LANE_WORDS, OVS_LANE_WORDS, verifies, x[q]);
    }
    simt_join();
    SIMT_UNROLL
    for (uint32_t q = 0; q < OVS_QUAD; q++) {
        ovs_quad_seen s = ovs_quad_compare(w, t, k, x[q], simt_shfl_u32(w, (uint32_t)m->o.key, t.base + q));
        if (t.rank == q && hint.reads) mine = s;
    }
    if (k->guided && m->digests) mine.open = hint.open;
    return mine;
}

/* ---- What a lane decides --------------------------------------------------------------------- */

SIMT_FN void ovs_quad_again(ovs_quad_item *m)
{
    m->step = 0;
    m->room = OVS_NOWHERE;
    m->before = m->after = false;
}

SIMT_FN bool ovs_quad_swap(const ovs_args *a, ovs_quad_item *m, uint64_t at, uint64_t from, uint64_t to,
                           uint32_t outcome)
{
    if (outcome != HD_HIT && simt_cas_u64(ovs_slot(&a->v, m->o.h, at), from, to, SIMT_RELAXED) != from) return false;
    if (outcome == GPU_UNDECIDED) return true;
    simt_ticket(m->o.i, outcome, 0, ovs_entry(&a->v, m->o.h, at));
    m->o.outcome = outcome;
    m->o.entry = at;
    return true;
}

/* Nothing happens. */
SIMT_FN void ovs_quad_leave(ovs_quad_item *m, uint32_t outcome)
{
    simt_ticket(m->o.i, outcome, 0, OVS_NOWHERE);
    m->o.outcome = outcome;
}

/* The key is in slot `at` of the way. */
SIMT_FN void ovs_quad_present(const ovs_args *a, const ovs_quad_kind *k, ovs_quad_item *m, uint64_t at, uint32_t value)
{
    uint64_t word = word_pack(OVS_HALF, m->o.key, value), to = word;
    if (m->o.change != GPU_KEEP) to = gpu_changed(a->b.elem, OVS_HALF, m->o.change, m->o.key, word, m->o.in);
    m->o.value = value;
    if (!ovs_quad_swap(a, m, at, word, to, m->o.found))
        ovs_quad_again(m);
    else if (k->copies && m->o.change != GPU_KEEP)
        ovs_lose_copies(&a->v, m->o.h, m->o.key);
}

/* The claim ends: the key shows there, or the slot is vacant. */
SIMT_FN void ovs_quad_settle(const ovs_args *a, ovs_quad_item *m, bool back)
{
    uint64_t word = back ? ovs_vacant() : word_pack(OVS_HALF, m->o.key, m->o.in);
    simt_strlx_u64(ovs_slot(&a->v, m->o.h, m->o.claim), word);
    if (!back) simt_ticket_store(m->o.i, HD_INSERTED, 0, ovs_entry(&a->v, m->o.h, m->o.claim));
    if (!back) m->o.outcome = HD_INSERTED;
    m->o.claim = OVS_NOWHERE;
    if (back) ovs_quad_again(m);
}

/* The whole way was searched, and the key is absent. open: the search ended at an open bucket. True: the item has
 * claimed a slot. */
SIMT_FN bool ovs_quad_absent(const ovs_args *a, const ovs_quad_kind *k, ovs_quad_item *m, bool open)
{
    uint64_t room = m->room;
    if (!m->o.insert) {
        ovs_quad_leave(m, HD_MISS);
        return false;
    }
    if ((m->before && !k->distinct) || (room == OVS_NOWHERE && open)) {
        m->waits = true;
        ovs_quad_again(m);
        return false;
    }
    if (room == OVS_NOWHERE) {
        ovs_quad_leave(m, HD_PENDING);
        return false;
    }
    uint64_t word = gpu_first_word(OVS_HALF, k->distinct, m->o.key, m->o.in);
    uint32_t outcome = k->distinct ? (uint32_t)HD_INSERTED : (uint32_t)GPU_UNDECIDED;
    bool good = ovs_quad_swap(a, m, room, m->room_word, word, outcome);
    if (good && k->guided && m->digests) ovs_show_digest(&a->v, m->o.h, room);
    ovs_quad_again(m);
    if (good && !k->distinct) m->o.claim = room;
    return good && !k->distinct;
}

/* Notes the claims of other items in a bucket whose slot 0 is slot `first` of the way. */
SIMT_FN void ovs_quad_note(ovs_quad_item *m, uint32_t claimed, uint64_t first)
{
    uint64_t own = m->o.claim - first; /* the claim's slot here, if it is here */
    uint32_t others = own < OVS_SLOTS ? claimed & ~(1u << own) : claimed;
    uint32_t earlier = own < OVS_SLOTS ? others & ((1u << own) - 1) : m->o.claim < first ? 0 : others;
    m->before = m->before || earlier != 0;
    m->after = m->after || others != earlier;
}

/* What the lane does after a look. True: the item has claimed a slot. */
SIMT_FN bool ovs_quad_decide(const ovs_args *a, const ovs_quad_kind *k, ovs_quad_item *m, const ovs_quad_seen *s)
{
    uint64_t first = (uint64_t)m->step * OVS_SLOTS;
    bool claims = ovs_quad_claims(k) && m->o.claim != OVS_NOWHERE;
    if (s->key && claims) ovs_quad_settle(a, m, true);
    if (s->key && claims) return false;
    if (s->key) ovs_quad_present(a, k, m, first + s->slot, s->value);
    if (s->key) return false;
    ovs_quad_note(m, s->claimed, first);
    if (s->slot < OVS_SLOTS && m->room == OVS_NOWHERE) {
        m->room = first + s->slot;
        m->room_word = word_sign(OVS_HALF, WORD_EMPTY, s->value);
    }
    if (!s->open && ++m->step < ovs_way(&a->v)) return false;
    if (!claims) return ovs_quad_absent(a, k, m, s->open);
    m->waits = !m->before && m->after;
    if (m->waits)
        ovs_quad_again(m);
    else
        ovs_quad_settle(a, m, m->before);
    return false;
}

/* ---- The items of a warp --------------------------------------------------------------------- */

/* The lane's item was done, or there was none: it takes item i. */
SIMT_FN void ovs_quad_take(const ovs_args *a, const ovs_quad_kind *k, ovs_quad_item *m, uint64_t i)
{
    m->o = gpu_begin(simt_tile_of(1), &a->b, OVS_HALF, i, k->op, k->mixed);
    m->o.h = ovs_hash(&a->v, m->o.key);
    m->segment = ovs_segment_at(&a->v, ovs_segment_of(&a->v, m->o.h));
    m->digests = k->guided ? ovs_digests_at(&a->v, ovs_segment_of(&a->v, m->o.h)) : (uint8_t *)0;
    m->room_word = 0;
    ovs_quad_again(m);
}

/* Which outcomes items may have, a bit for each. */
SIMT_FN uint32_t ovs_quad_outcomes(const ovs_quad_kind *k)
{
    return k->op == HD_OP_FIND && !k->mixed ? 1u << HD_HIT | 1u << HD_MISS | 1u << HD_RESERVED
                                            : (1u << HD_OUTCOME_COUNT) - 1;
}

SIMT_FN void ovs_quad_deliver(const ovs_args *a, const ovs_quad_kind *k, const ovs_quad_item *m)
{
    bool points = k->op != HD_OP_FIND && m->o.outcome == HD_HIT && a->b.ptr;
    const uint8_t *slot = points ? (const uint8_t *)ovs_slot(&a->v, m->o.h, m->o.entry) : (const uint8_t *)0;
    gpu_deliver(&a->b, OVS_HALF, m->o.i, m->o.op, m->o.outcome, m->o.value, slot, k->aligned);
}

/* The items that a warp has drawn and no lane has taken: [next, last). */
typedef struct ovs_quad_pass {
    uint64_t next, last;
    bool more; /* the warp may draw again */
} ovs_quad_pass;

/* Draws the next 32 items. */
SIMT_FN void ovs_quad_draw(const ovs_args *a, uint32_t *drawn, ovs_quad_pass *pass)
{
    pass->next = gpu_next_pass(&a->b, drawn);
    pass->last = pass->next + 32 < a->b.last ? pass->next + 32 : a->b.last;
    pass->more = pass->next < a->b.last;
}

/* The lane that is number `at` of `lanes` lanes without an item gets its next one; a->b.last or more: there is none. */
SIMT_FN uint64_t ovs_quad_next(const ovs_args *a, uint32_t *drawn, ovs_quad_pass *pass, uint32_t at, uint32_t lanes)
{
    uint64_t left = pass->last - pass->next, i = at < left ? pass->next + at : a->b.last;
    if (lanes <= left || !pass->more) {
        pass->next += lanes < left ? lanes : left;
        return i;
    }
    ovs_quad_draw(a, drawn, pass);
    if (!pass->more) pass->next = pass->last = a->b.last;
    if (at >= left && at - left < pass->last - pass->next) i = pass->next + (at - left);
    pass->next += lanes - left < pass->last - pass->next ? lanes - left : pass->last - pass->next;
    return i;
}

/* Lanes whose items are decided deliver them and take the next ones. Lane c counts outcome c. False: the warp has run
 * all its items. */
SIMT_FN bool ovs_quad_turn(simt_tile w, const ovs_args *a, const ovs_quad_kind *k, ovs_quad_item *m, uint32_t *drawn,
                           ovs_quad_pass *pass, uint64_t *counted)
{
    bool done = m->o.outcome < GPU_UNDECIDED;
    if (done) ovs_quad_deliver(a, k, m);
    simt_join();
    gpu_count_lanes_of(w, counted, m->o.outcome, ovs_quad_outcomes(k));
    bool free = done || m->o.outcome == OVS_QUAD_NO_ITEM;
    uint32_t lanes = simt_ballot(w, free);
    if (free) m->o.outcome = OVS_QUAD_NO_ITEM;
    simt_join();
    uint64_t i = ovs_quad_next(a, drawn, pass, simt_popc(lanes & ((1u << w.rank) - 1)), simt_popc(lanes));
    if (free && i < a->b.last) ovs_quad_take(a, k, m, i);
    simt_join();
    return simt_any(w, m->o.outcome != OVS_QUAD_NO_ITEM);
}

SIMT_FN ovs_quad_item ovs_quad_none(const ovs_args *a, const ovs_quad_kind *k)
{
    ovs_quad_item m;
    m.o = gpu_item_of(0, k->op, 0, 0, 0, HD_EITHER);
    m.o.outcome = OVS_QUAD_NO_ITEM;
    m.segment = ovs_segment_at(&a->v, 0);
    m.digests = (uint8_t *)0;
    m.room_word = 0;
    m.waits = false;
    ovs_quad_again(&m);
    return m;
}

/* A round. fence: a lane has claimed a slot in the round before. True: this lane has claimed one. */
SIMT_FN bool ovs_quad_round(simt_tile w, const ovs_args *a, const ovs_quad_kind *k, ovs_quad_item *m, bool fence)
{
    bool claimed = false, claims = ovs_quad_claims(k);
    if (claims && simt_any(w, fence)) {
        simt_sync_tile(w);
        simt_fence(); /* of two that claim, the one whose fence is later sees the other's claim */
    }
    bool verifies = claims && simt_any(w, m->o.claim != OVS_NOWHERE);
    ovs_quad_seen s = ovs_quad_look(w, a, k, m, verifies);
    if (verifies) simt_sync_tile(w); /* all have looked */
    m->waits = false;
    if (m->o.outcome == GPU_UNDECIDED) claimed = ovs_quad_decide(a, k, m, &s);
    simt_join();
    if ((claims || k->guided) && simt_any(w, m->waits)) simt_backoff(64);
    return claimed;
}

SIMT_FN void ovs_quad_run(const ovs_args *a, const ovs_quad_kind *k)
{
    SIMT_SHARED(uint32_t, sum, OVS_QUAD_THREADS);
    SIMT_SHARED(uint32_t, drawn, 1);
    simt_tile w = simt_tile_of(32);
    uint64_t counted = 0;
    ovs_quad_pass pass = { 0, 0, true };
    ovs_quad_item m = ovs_quad_none(a, k);
    bool fence = false;
    if (simt_thread() == 0) simt_st_u32(drawn, 0);
    simt_sync_block();
    while (ovs_quad_turn(w, a, k, &m, drawn, &pass, &counted)) {
        if (simt_any(w, m.o.outcome < GPU_UNDECIDED)) continue; /* RESERVED */
        fence = ovs_quad_round(w, a, k, &m, fence);
    }
    gpu_tally_lanes(w, &a->b, counted);
    if (k->mixed && a->b.op_tally) gpu_count_each(a->b.each, a->b.n, a->b.op_tally, sum);
}

SIMT_FN void ovs_quad_items(const ovs_args *a)
{
    ovs_quad_kind k = ovs_quad_kind_of(a);
    ovs_quad_run(a, &k);
}

SIMT_ENTRY(ovs_kernel_quad_items, ovs_args, ovs_quad_items)

static const hd_variant ovs_variant_quad = {
    .name = "quad",
    .row = { { GPU_ITEMS, ovs_kernel_quad_items, 1, OVS_QUAD_THREADS, ovs_fits_words, HD_ORDER,
               HD_WHAT("items: a lane per key, and four lanes load four buckets together") } },
    .ran = OVS_RAN("quad"),
    .ran_mixed = "ovs.mixed.quad",
};

#endif

OVS_LISTED(ovs_variant_quad)
