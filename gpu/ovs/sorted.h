/* SPDX-License-Identifier: Apache-2.0
 *
 * sorted - lookups in the order of the addresses where their ways begin (order.h). A warp takes 32 items at a time, and
 * each half of it loads a bucket of each of its 16 items, a whole line by one load, before the first is used. Items
 * that follow each other and look at the same bucket share its load; so keys that a batch repeats cost little.
 *
 * All warps draw from one counter, and few of them run: what is in flight lies within some megabytes. Pages of far
 * memory are translated on the way to the bus, and only a translation that was used shortly before is fast
 * (bench/lab/ovs.md). How many items are left is known only here, if digests or copies have settled some; then blocks
 * may rest, too.
 *
 * Of pairs a bucket has eight key words, and then their eight value words: so the load that finds a key has its value.
 *
 * `flip` reads a bucket once for all items of a batch. But a warp runs all items of a segment one after another: so it
 * is slow if each segment has few items, or if one key has very many.
 */
#ifndef OVS_SORTED_H
#define OVS_SORTED_H

#include "gpu/ovs/copies.h"
#include "gpu/ovs/kernels.h"
#include "gpu/ovs/steps.h"

enum { OVS_SORTED_THREADS = 256, OVS_SORTED_HALF = 16 /* items, and lanes, of a half warp */ };

/* Entries are words, or pairs of them; entry points have that as a constant. Bits of a key; and slots of a bucket. */
SIMT_FN uint32_t ovs_sorted_bits(bool pairs) { return pairs ? 64 : (uint32_t)OVS_HALF; }
SIMT_FN uint32_t ovs_sorted_slots(bool pairs) { return pairs ? (uint32_t)OVS_PAIRS : (uint32_t)OVS_SLOTS; }

/* The item of a lane. */
typedef struct ovs_sorted_item {
    gpu_one o;
    uint64_t *segment;
    uint8_t *digests; /* of that; NULL: it has none */
    uint32_t step;
    bool far; /* the segment */
} ovs_sorted_item;

/* Item j of the order. is: there is one. */
SIMT_FN ovs_sorted_item ovs_sorted_take(const ovs_args *a, uint32_t op, bool pairs, uint64_t j, bool is)
{
    ovs_sorted_item m;
    m.o = gpu_item_of(0, op, 0, 0, 0, HD_EITHER);
    m.o.outcome = GPU_UNDECIDED + 1;
    m.segment = ovs_segment_at(&a->v, 0);
    m.digests = (uint8_t *)0;
    m.step = 0;
    m.far = false;
    if (is) {
        uint64_t i = a->b.first + (uint32_t)simt_ld_u64(a->sorted + j);
        m.o = gpu_begin(simt_tile_of(1), &a->b, ovs_sorted_bits(pairs), i, op, false);
        m.o.h = ovs_hash(&a->v, m.o.key);
        uint64_t segment = ovs_segment_of(&a->v, m.o.h);
        m.segment = ovs_segment_at(&a->v, segment);
        if (!pairs) m.digests = ovs_digests_at(&a->v, segment);
        m.far = !ovs_is_near(&a->v, segment);
    }
    simt_join();
    return m;
}

/* What the bucket at the item's step says. */
typedef struct ovs_sorted_seen {
    bool reads, open; /* its words may be of use; it is open */
    uint32_t slot;    /* of the key; OVS_SLOTS: it is not there */
    uint64_t value;
} ovs_sorted_seen;

/* A key, or a value, of a lane. */
SIMT_FN uint64_t ovs_sorted_of(simt_tile w, bool pairs, uint64_t x, uint32_t lane)
{
    return pairs ? simt_shfl_u64(w, x, lane) : simt_shfl_u32(w, (uint32_t)x, lane);
}

SIMT_FN ovs_sorted_seen ovs_sorted_hint(const ovs_args *a, bool pairs, const ovs_sorted_item *m)
{
    ovs_sorted_seen s;
    s.reads = m->o.outcome == GPU_UNDECIDED;
    s.open = false;
    s.slot = OVS_SLOTS;
    s.value = 0;
    if (!pairs && m->digests && s.reads) {
        ovs_digests d = ovs_load_digests(m->digests, ovs_step_in(&a->v, m->o.h, m->step), false);
        s.open = ovs_has_digest(&d, 0);
        s.reads = ovs_has_digest(&d, ovs_digest_of(m->o.h));
    }
    simt_join();
    return s;
}

/* What the words of half a warp, a bucket, say about a key. half: its first lane. */
SIMT_FN ovs_sorted_seen ovs_sorted_compare(simt_tile w, bool pairs, uint64_t word, uint64_t key, uint32_t half)
{
    ovs_sorted_seen s;
    bool slot_word = !pairs || w.rank - half < OVS_PAIRS; /* else the lane has a value word */
    bool has_key = pairs ? word == key : (uint32_t)ovs_key_of(word) == (uint32_t)key;
    uint32_t with = simt_ballot(w, slot_word && has_key) >> half & 0xffff;
    uint32_t fresh = simt_ballot(w, slot_word && word == (pairs ? ovs_pair_fresh() : ovs_fresh())) >> half & 0xffff;
    s.reads = true;
    s.open = fresh != 0;
    s.slot = with ? simt_ffs(with) - 1 : OVS_SLOTS;
    s.value = ovs_sorted_of(w, pairs, word, half + (s.slot + (pairs ? OVS_PAIRS : 0)) % OVS_SLOTS);
    return s;
}

/* One look of all lanes, each at the bucket of its item's step. */
SIMT_FN ovs_sorted_seen ovs_sorted_look(simt_tile w, const ovs_args *a, bool pairs, const ovs_sorted_item *m)
{
    ovs_sorted_seen s = ovs_sorted_hint(a, pairs, m);
    uint64_t x[OVS_SORTED_HALF], word = word_sign(OVS_HALF, WORD_LEAVING, 0);
    uint64_t at = (uint64_t)(uintptr_t)(m->segment + ovs_step_in(&a->v, m->o.h, m->step) * OVS_LINE_WORDS);
    uint64_t before = simt_shfl_u64(w, s.reads ? at : 0, w.rank ? w.rank - 1 : 0);
    uint32_t half = w.rank / OVS_SORTED_HALF * OVS_SORTED_HALF, rank = w.rank - half;
    uint32_t loads = simt_ballot(w, s.reads && (rank == 0 || before != at));
    SIMT_UNROLL
    for (uint32_t q = 0; q < OVS_SORTED_HALF; q++) {
        uint64_t *line = (uint64_t *)(uintptr_t)simt_shfl_u64(w, at, half + q);
        x[q] = word;
        if (loads >> (half + q) & 1) x[q] = simt_ldrlx_u64(line + rank);
    }
    simt_join();
    SIMT_UNROLL
    for (uint32_t q = 0; q < OVS_SORTED_HALF; q++) {
        if (loads >> (half + q) & 1) word = x[q];
        simt_join();
        ovs_sorted_seen is = ovs_sorted_compare(w, pairs, word, ovs_sorted_of(w, pairs, m->o.key, half + q), half);
        if (rank != q || !s.reads) continue;
        s.slot = is.slot;
        s.value = is.value;
        if (pairs || !m->digests) s.open = is.open;
    }
    simt_join();
    return s;
}

SIMT_FN void ovs_sorted_decide(const ovs_args *a, bool pairs, ovs_sorted_item *m, const ovs_sorted_seen *s)
{
    if (s->slot < OVS_SLOTS) {
        m->o.value = s->value;
        m->o.outcome = HD_HIT;
        m->o.entry = (uint64_t)m->step * ovs_sorted_slots(pairs) + s->slot;
        simt_ticket(m->o.i, HD_HIT, 0,
                    pairs ? ovs_pair_entry(&a->v, m->o.h, m->o.entry) : ovs_entry(&a->v, m->o.h, m->o.entry));
        if (!pairs && a->v.copy_sets && m->far) ovs_keep_copy(&a->v, m->o.h, word_pack(OVS_HALF, m->o.key, s->value));
    } else if (s->open || ++m->step == ovs_way(&a->v)) {
        m->o.outcome = HD_MISS;
        simt_ticket(m->o.i, HD_MISS, 0, OVS_NOWHERE);
    }
}

SIMT_FN void ovs_sorted_deliver(const ovs_args *a, bool pairs, const ovs_sorted_item *m, uint32_t op)
{
    const ovs_view *v = &a->v;
    const uint8_t *value = (const uint8_t *)0;
    if (op == HD_OP_FIND_PTR && m->o.outcome == HD_HIT)
        value = pairs ? (const uint8_t *)(ovs_pair_slot(v, m->segment, m->o.h, m->o.entry) + OVS_PAIRS)
                      : (const uint8_t *)ovs_slot(v, m->o.h, m->o.entry);
    gpu_deliver_sized(&a->b, ovs_sorted_bits(pairs), m->o.i, op, m->o.outcome, m->o.value, value, false, pairs);
}

/* Whether this block is one of those that run n items. */
SIMT_FN bool ovs_sorted_works(const ovs_args *a, uint64_t n)
{
    return simt_block() < OVS_BLOCKS_LEAST || simt_block() * a->block_items < n;
}

SIMT_FN void ovs_sorted_run(const ovs_args *a, uint32_t op, bool pairs)
{
    simt_tile w = simt_tile_of(32);
    uint64_t n = a->kept ? simt_ld_u64(a->kept) : a->b.last - a->b.first, counted = 0, j = 0;
    if (!ovs_sorted_works(a, n)) return;
    for (;;) {
        if (w.rank == 0) j = simt_add_u64(a->next, 32, SIMT_RELAXED);
        simt_join();
        j = simt_shfl_u64(w, j, 0);
        if (j >= n) break;
        ovs_sorted_item m = ovs_sorted_take(a, op, pairs, j + w.rank, j + w.rank < n);
        while (simt_any(w, m.o.outcome == GPU_UNDECIDED)) {
            ovs_sorted_seen s = ovs_sorted_look(w, a, pairs, &m);
            if (m.o.outcome == GPU_UNDECIDED) ovs_sorted_decide(a, pairs, &m, &s);
            simt_join();
        }
        if (m.o.outcome < GPU_UNDECIDED) ovs_sorted_deliver(a, pairs, &m, op);
        simt_join();
        gpu_count_lanes_of(w, &counted, m.o.outcome, 1u << HD_HIT | 1u << HD_MISS | 1u << HD_RESERVED);
    }
    gpu_tally_lanes(w, &a->b, counted);
}

SIMT_FN void ovs_sorted_items(const ovs_args *a) { ovs_sorted_run(a, a->b.op, false); }
SIMT_FN void ovs_sorted_pairs(const ovs_args *a) { ovs_sorted_run(a, a->b.op, true); }

SIMT_ENTRY(ovs_kernel_sorted_items, ovs_args, ovs_sorted_items)
SIMT_ENTRY(ovs_kernel_sorted_pairs, ovs_args, ovs_sorted_pairs)

static const hd_variant ovs_variant_sorted = {
    .name = "sorted",
    .row = { { GPU_SORTED, ovs_kernel_sorted_items, 1, OVS_SORTED_THREADS, ovs_fits_words, HD_ORDER,
               HD_WHAT("lookups: in the order of addresses; half a warp loads a bucket") },
             { GPU_SORTED, ovs_kernel_sorted_pairs, 1, OVS_SORTED_THREADS, ovs_fits_pairs, HD_ORDER,
               HD_WHAT("lookups of pairs: the same") } },
    .ran = OVS_RAN("sorted"),
};

#endif

OVS_LISTED(ovs_variant_sorted)
