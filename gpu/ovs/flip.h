/* SPDX-License-Identifier: Apache-2.0
 *
 * flip - a warp owns a segment while the batch runs. The items are sorted by the bucket where their ways begin
 * (gpu/sort.h); so a warp takes all items of a segment, one after another, and no other warp accesses the segment. It
 * needs no atomics, and reads a bucket once for all items that begin there. It writes a bucket back when it goes on to
 * another one. Segments are taken in the order of their addresses, so far memory is read and written from its beginning
 * to its end, which is when a bus is fastest (bench/lab/ovs.md).
 *
 * Batches of updaters overlap: other kernels may run beside this one, so no warp owns a segment then. No key changes in
 * them; so an item stores its word, or the value word of a pair, at once by one store, and no bucket is written back.
 *
 * Of pairs (ref/ovs/layout.h) lanes 0 to 7 hold the key words of a bucket, and lanes 8 to 15 the value words.
 *
 * Items of the same key in a group of 32 run together: the first of them, the leader, has its effect and then that of
 * the others. Items of a key take effect in the order of the batch.
 *
 * Source: the exchange of roles, so that a thread of the structure takes its updates, is FliX's (arXiv 2604.16725).
 */
#ifndef OVS_FLIP_H
#define OVS_FLIP_H

#include "gpu/ovs/kernels.h"
#include "gpu/ovs/steps.h"

enum { OVS_FLIP_LANES = 1 /* a warp has 32 items at a time */ };

/* ---- A bucket of the segment, in registers --------------------------------------------------- */

typedef struct ovs_owned {
    const ovs_view *v;
    uint64_t *at; /* the segment's first word; and its number in the table */
    uint64_t first;
    uint8_t *digests; /* of the segment; NULL: it has none */
    uint64_t line;    /* the bucket of it that is here; OVS_NOWHERE: none */
    uint64_t word;    /* of lane s, if that is below 16: word s */
    bool dirty;
    bool overlaps; /* other batches may access the segment, too */
} ovs_owned;

SIMT_FN void ovs_put_back(simt_tile w, ovs_owned *x)
{
    if (x->dirty && w.rank < OVS_LINE_WORDS) simt_st_u64(x->at + x->line * OVS_LINE_WORDS + w.rank, x->word);
    simt_join();
    x->dirty = false;
}

SIMT_FN void ovs_bring(simt_tile w, ovs_owned *x, uint64_t line)
{
    if (x->line == line) return;
    ovs_put_back(w, x);
    x->line = line;
    x->word = 0;
    uint64_t *mine = x->at + line * OVS_LINE_WORDS + w.rank;
    if (w.rank < OVS_LINE_WORDS) x->word = x->overlaps ? simt_ldrlx_u64(mine) : simt_ld_u64(mine);
    simt_join();
}

/* Which slots of the bucket that is here have the key; and which are free, or fresh. */
SIMT_FN uint32_t ovs_slots_of(simt_tile w, const ovs_owned *x, uint64_t key)
{
    return simt_ballot(w, w.rank < ovs_slots(x->v) && ovs_key_in(x->v, x->word) == key);
}
SIMT_FN uint32_t ovs_slots_free(simt_tile w, const ovs_owned *x)
{
    return simt_ballot(w, w.rank < ovs_slots(x->v) && ovs_is_free_in(x->v, x->word));
}
SIMT_FN uint32_t ovs_slots_fresh(simt_tile w, const ovs_owned *x)
{
    return simt_ballot(w, w.rank < ovs_slots(x->v) && x->word == ovs_fresh_in(x->v));
}

/* The value of a slot of the bucket that is here. */
SIMT_FN uint64_t ovs_own_value(simt_tile w, const ovs_owned *x, uint32_t slot)
{
    uint64_t word = simt_shfl_u64(w, x->word, (slot + OVS_PAIRS * x->v->pairs) & 31);
    return x->v->pairs ? word : word_value_of(OVS_HALF, word);
}

/* Whether the digests of bucket `line` say that its words need not be read by a lookup; *open: nor any after it. */
SIMT_FN bool ovs_may_skip(simt_tile w, const ovs_owned *x, uint64_t line, uint32_t digest, bool *open)
{
    uint32_t there = OVS_DIGEST_OF_NONE;
    if (w.rank < OVS_SLOTS) there = ovs_digest_there(x->digests, line * OVS_SLOTS + w.rank);
    simt_join();
    *open = simt_any(w, w.rank < OVS_SLOTS && there == 0);
    return !simt_any(w, w.rank < OVS_SLOTS && there == digest);
}

/* The digest of a slot of the bucket that is here. */
SIMT_FN void ovs_own_digest(simt_tile w, const ovs_owned *x, uint32_t slot, uint32_t digest)
{
    if (!x->digests) return;
    simt_sync_tile(w);
    if (w.rank == slot) ovs_put_digest(x->digests, x->line * OVS_SLOTS + slot, digest);
    simt_sync_tile(w);
}

/* Brings the bucket that the key is in, or else, if it is absent and there is room, the one where it belongs. Returns
 * the slot, or OVS_SLOTS if there is none. digest: of the key, where it needs no room; 0: it does. */
SIMT_FN uint32_t ovs_seek(simt_tile w, const ovs_args *a, ovs_owned *x, uint64_t key, uint64_t start, uint32_t digest,
                          bool *present)
{
    uint64_t free_line = OVS_NOWHERE, lines = ovs_lines(&a->v);
    uint32_t free_slot = OVS_SLOTS;
    *present = false;
    for (uint32_t step = 0; step < ovs_way(&a->v); step++) {
        uint64_t line = (start + step) & (lines - 1);
        bool open = false, skips = digest && ovs_may_skip(w, x, line, digest, &open);
        if (skips && open) break;
        if (skips) continue;
        ovs_bring(w, x, line);
        uint32_t with = ovs_slots_of(w, x, key), free = ovs_slots_free(w, x);
        if (with) {
            *present = true;
            return simt_ffs(with) - 1;
        }
        if (free && free_line == OVS_NOWHERE) {
            free_line = x->line;
            free_slot = simt_ffs(free) - 1;
        }
        if (free && ovs_slots_fresh(w, x)) break;
    }
    if (free_line != OVS_NOWHERE) ovs_bring(w, x, free_line);
    return free_slot;
}

/* Whether other batches may run at the same time and store values. */
SIMT_FN bool ovs_overlaps(const ovs_args *a) { return a->b.op == HD_OP_ASSIGN || a->b.op == HD_OP_ASSIGN_VALUES; }

/* ---- A group of items ------------------------------------------------------------------------ */

/* The leader and its peers, by lane: the leader is the first. */
typedef struct ovs_peers {
    uint32_t lanes, leader;
    uint64_t key, start;
} ovs_peers;

/* Slot `slot` of the bucket that is here has this word, or key word; or this key and value. */
SIMT_FN void ovs_set_slot(simt_tile w, ovs_owned *x, uint32_t slot, uint64_t word)
{
    if (w.rank == slot) x->word = word;
    x->dirty = true;
}
SIMT_FN void ovs_set_entry(simt_tile w, ovs_owned *x, uint32_t slot, uint64_t key, uint64_t value)
{
    if (x->v->pairs && w.rank == slot + OVS_PAIRS) x->word = value;
    ovs_set_slot(w, x, slot, x->v->pairs ? key : word_pack(OVS_HALF, key, value));
}

/* An erased slot of an open bucket is fresh again: no key went past the bucket. */
SIMT_FN void ovs_empty_slot(simt_tile w, ovs_owned *x, uint32_t slot)
{
    bool fresh = ovs_slots_fresh(w, x) != 0;
    ovs_set_slot(w, x, slot, fresh ? ovs_fresh_in(x->v) : ovs_vacant_in(x->v));
    if (fresh) ovs_own_digest(w, x, slot, 0);
}

/* The host machine's record of what happened, in this order. */
SIMT_FN void ovs_tell(simt_tile w, const gpu_one *o, uint32_t lanes, uint64_t entry)
{
    for (; simt_tells() && lanes; lanes &= lanes - 1) {
        uint32_t lane = simt_ffs(lanes) - 1;
        uint64_t item = simt_shfl_u64(w, o->i, lane);
        uint32_t outcome = simt_shfl_u32(w, o->outcome, lane);
        if (w.rank == 0)
            simt_ticket(item, outcome, 0, outcome == HD_MISS || outcome == HD_PENDING ? OVS_NOWHERE : entry);
    }
}

/* The value of a key after the items of `lanes` have added theirs. */
SIMT_FN uint64_t ovs_sum(simt_tile w, const ovs_args *a, const gpu_one *o, uint32_t lanes, uint64_t value)
{
    for (; lanes; lanes &= lanes - 1)
        value = gpu_word_value_sum(a->b.elem, ovs_half(&a->v), value, simt_shfl_u64(w, o->in, simt_ffs(lanes) - 1));
    return value;
}

/* The entry of a slot of the bucket that is here. */
SIMT_FN uint64_t ovs_own_entry(const ovs_owned *x, uint32_t slot)
{
    return x->first + (x->line << ovs_slot_bits(x->v)) + slot;
}

/* The key of these lanes, whose items are assignments, is in slot `slot` and gets the value of the last one. */
SIMT_FN void ovs_assign(simt_tile w, ovs_owned *x, const gpu_one *o, uint32_t lanes, uint32_t slot, uint64_t value)
{
    uint32_t last = simt_reduce_max_u32(w, lanes >> w.rank & 1 ? w.rank : 0);
    ovs_tell(w, o, lanes & ~(1u << last), ovs_own_entry(x, slot));
    simt_sync_tile(w); /* the store is behind their tickets */
    if (w.rank == last) {
        bool pairs = x->v->pairs != 0;
        simt_strlx_u64(x->at + x->line * OVS_LINE_WORDS + slot + (pairs ? OVS_PAIRS : 0),
                       pairs ? value : word_pack(OVS_HALF, o->key, value));
        simt_ticket_store(o->i, o->outcome, 0, o->entry);
    }
    simt_join();
}

/* The key's entry changes: its copies get the value, or are dropped. */
SIMT_FN void ovs_own_copies(simt_tile w, const ovs_owned *x, uint64_t key, bool drops, uint64_t value)
{
    uint64_t copy = drops ? 0 : ~word_pack(OVS_HALF, key, value);
    if (w.rank == 0) ovs_renew_copies(x->v, ovs_hash(x->v, key), key, copy);
    simt_join();
}

/* The key is present, in slot `slot` of the bucket that is here, with `value`: what that is for these lanes, which are
 * of one operation. */
SIMT_FN void ovs_run_present(simt_tile w, const ovs_args *a, ovs_owned *x, gpu_one *o, const ovs_peers *p,
                             uint32_t lanes, uint32_t slot, uint64_t value)
{
    uint32_t change = simt_shfl_u32(w, o->change, p->leader), outcome = simt_shfl_u32(w, o->found, p->leader);
    uint64_t last = simt_shfl_u64(w, o->in, simt_reduce_max_u32(w, lanes >> w.rank & 1 ? w.rank : 0));
    uint64_t now = change == GPU_REPLACE ? last : change == GPU_ADD ? ovs_sum(w, a, o, lanes, value) : value;
    if (lanes >> w.rank & 1) {
        o->outcome = outcome;
        if (change == GPU_REMOVE && (lanes & ((1u << w.rank) - 1))) o->outcome = HD_MISS;
        o->value = value;
        o->entry = ovs_own_entry(x, slot);
    }
    simt_join();
    if (change != GPU_KEEP) ovs_own_copies(w, x, p->key, x->overlaps || change == GPU_REMOVE, now);
    if (change == GPU_REMOVE) ovs_empty_slot(w, x, slot);
    if (x->overlaps)
        ovs_assign(w, x, o, lanes, slot, now);
    else if (change == GPU_REPLACE || change == GPU_ADD)
        ovs_set_entry(w, x, slot, p->key, now);
}

/* The items of p, all of one key and one operation. */
SIMT_FN void ovs_run_peers(simt_tile w, const ovs_args *a, ovs_owned *x, gpu_one *o, const ovs_peers *p)
{
    bool present, insert = simt_shfl_u32(w, o->insert, p->leader);
    uint32_t digest = ovs_digest_of(ovs_hash(&a->v, p->key)), rest = p->lanes;
    uint32_t slot = ovs_seek(w, a, x, p->key, p->start, x->digests && !insert ? digest : 0, &present);
    uint64_t value = ovs_own_value(w, x, slot);
    if (!present && insert && slot < OVS_SLOTS) {
        value = simt_shfl_u64(w, o->in, p->leader);
        ovs_set_entry(w, x, slot, p->key, value);
        ovs_own_digest(w, x, slot, digest);
        if (w.rank == p->leader) o->outcome = HD_INSERTED;
        simt_join();
        rest &= rest - 1;
        present = true;
    }
    if (present && rest) ovs_run_present(w, a, x, o, p, rest, slot, value);
    if (!present && (p->lanes >> w.rank & 1)) o->outcome = insert ? HD_PENDING : HD_MISS;
    simt_join();
    if (!present || !x->overlaps) ovs_tell(w, o, p->lanes, ovs_own_entry(x, slot));
}

/* The items of lanes in `group`, in order. Each lane has its item in *o. */
SIMT_FN void ovs_run_group(simt_tile w, const ovs_args *a, ovs_owned *x, gpu_one *o, uint32_t group)
{
    bool alone = a->b.flag != (const uint8_t *)0; /* peers differ in what they do */
    uint64_t start = ovs_start(&a->v, o->h);
    uint32_t todo = simt_ballot(w, (group >> w.rank & 1) && o->outcome == GPU_UNDECIDED);
    while (todo) {
        ovs_peers p;
        p.leader = simt_ffs(todo) - 1;
        p.key = simt_shfl_u64(w, o->key, p.leader);
        p.start = simt_shfl_u64(w, start, p.leader);
        p.lanes = todo & simt_ballot(w, o->key == p.key && (!alone || w.rank == p.leader));
        ovs_run_peers(w, a, x, o, &p);
        todo &= ~p.lanes;
    }
}

/* ---- A segment's items ----------------------------------------------------------------------- */

/* The segment of item j of the order; UINT32_MAX: there is no such item. */
SIMT_FN uint32_t ovs_segment_in_order(const ovs_args *a, uint64_t j)
{
    return j < a->b.last - a->b.first ? (uint32_t)(simt_ld_u64(a->sorted + j) >> (32 + a->v.line_bits)) : UINT32_MAX;
}

/* Item j of the order is the first of its segment. */
SIMT_FN void ovs_run_segment(simt_tile w, const ovs_args *a, uint64_t j, uint64_t *counted)
{
    uint32_t segment = ovs_segment_in_order(a, j), group = UINT32_MAX;
    bool is = segment < ovs_segments(&a->v); /* else these keys are reserved */
    ovs_owned x;
    x.v = &a->v;
    x.at = is ? ovs_segment_at(&a->v, segment) : (uint64_t *)0;
    x.first = segment * ovs_segment_slots(&a->v);
    x.digests = is ? ovs_digests_at(&a->v, segment) : (uint8_t *)0;
    x.line = OVS_NOWHERE;
    x.word = 0;
    x.dirty = false;
    x.overlaps = ovs_overlaps(a);
    for (; group == UINT32_MAX; j += 32) {
        bool mine = ovs_segment_in_order(a, j + w.rank) == segment;
        gpu_one o = gpu_item_of(0, 0, 0, 0, 0, HD_EITHER);
        if (mine) {
            uint64_t i = a->b.first + (uint32_t)simt_ld_u64(a->sorted + j + w.rank);
            o = gpu_begin(simt_tile_of(1), &a->b, ovs_half(&a->v), i, a->b.op, false);
            o.h = ovs_hash(&a->v, o.key);
        }
        simt_join();
        group = simt_ballot(w, mine);
        ovs_run_group(w, a, &x, &o, group);
        if (mine)
            gpu_deliver_sized(&a->b, ovs_half(&a->v), o.i, o.op, o.outcome, o.value,
                              o.entry == OVS_NOWHERE ? (const uint8_t *)0 : ovs_value_at(&a->v, o.entry), false,
                              a->v.pairs != 0);
        simt_join();
        gpu_count_lanes(w, counted, o.outcome);
    }
    ovs_put_back(w, &x);
}

SIMT_FN void ovs_flip_items(const ovs_args *a)
{
    simt_tile w = simt_tile_of(32);
    uint64_t n = a->b.last - a->b.first, counted = 0, j = 0;
    for (;;) {
        if (w.rank == 0) j = simt_add_u64(a->next, 32, SIMT_RELAXED);
        simt_join();
        j = simt_shfl_u64(w, j, 0);
        if (j >= n) break;
        uint32_t segment = ovs_segment_in_order(a, j + w.rank);
        bool first = j + w.rank < n && segment <= ovs_segments(&a->v) &&
                     (j + w.rank == 0 || ovs_segment_in_order(a, j + w.rank - 1) != segment);
        for (uint32_t heads = simt_ballot(w, first); heads; heads &= heads - 1)
            ovs_run_segment(w, a, j + simt_ffs(heads) - 1, &counted);
    }
    gpu_tally_lanes(w, &a->b, counted);
}

SIMT_ENTRY(ovs_kernel_flip_items, ovs_args, ovs_flip_items)

static const hd_variant ovs_variant_flip = {
    .name = "flip",
    .row = { { GPU_OWNED, ovs_kernel_flip_items, OVS_FLIP_LANES, GPU_ITEMS_THREADS, ovs_fits_all, HD_ORDER,
               HD_WHAT("items: sorted by bucket; a warp owns a segment, and changes it without atomics") } },
    .ran = OVS_RAN("flip"),
};

#endif

OVS_LISTED(ovs_variant_flip)
