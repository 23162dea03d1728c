/* SPDX-License-Identifier: Apache-2.0
 *
 * coalesced - a thread per key decides, and a warp fetches for its 32 keys at once. What a key needs next of its bucket,
 * the digests, the lower bounds, a group of eight pairs, is up to 128 bytes; eight lanes fetch it into the key's row of
 * shared memory, so that 32 such lines are on their way where a thread alone would wait for one sector after another.
 * Values move the same way.
 *
 * A change claims its entry by exchanging the key for HD_KEY_LOCKED, in the place that it dirties anyway, and a
 * bucket's lock is only taken where that is not enough:
 *
 *   present         the entry is claimed by its key
 *   absent, room    the first empty slot is claimed. Two items of one key cannot claim two slots: whoever sees a later
 *                   one empty first sees what lies in the earlier ones
 *   absent, full    the least score is found by the bounds (architecture.md), its entry claimed, and its score looked
 *                   at again. Scores only rise meanwhile, so what was the least, and is what it was, is the least.
 *                   Where the new score may be below it, or another item have the same key: under the bucket's lock,
 *                   after looking once more
 *   else            all under the locks of the key's buckets: pins, accum_or_assign, and where scores may fall, by the
 *                   policy, or because two items of one key come in another order; and in dual mode, where two items of
 *                   one key might each take a bucket
 *
 * Where keys may repeat, an upsert runs in passes (passes.h), and "present" and "absent" are two of them. Where scores
 * are times, the score beside the key says whether an item of this batch has written already; whoever comes later takes
 * effect just before that one, and writes nothing.
 *
 * An item takes effect when it claims. A lane that is done takes the warp's next item, so that one that has to wait
 * keeps none of its neighbours. slots.pml is this as a model.
 */
#ifndef HKV_COALESCED_H
#define HKV_COALESCED_H

#include "gpu/hkv/kernels.h"

enum {
    HKV_COALESCED_THREADS = 128,
    HKV_COALESCED_ROW = 144 /* bytes: a line, and sixteen more, so that rows begin in different banks */
};
enum { HKV_LOCK_NEVER, HKV_LOCK_TO_EVICT, HKV_LOCK_TO_COME /* in, evicting or not */, HKV_LOCK_ALWAYS };

/* ---- Rows ------------------------------------------------------------------------------------ */

/* `bytes` (16, 32, 64 or 128) from where each lane that wants them says, into its row. */
SIMT_FN void hkv_rows_fetch(simt_tile w, uint8_t *rows, const uint8_t *base, uint64_t number, bool wanted,
                            uint32_t bytes)
{
    uint32_t lanes = bytes / 16, row = w.rank / lanes, at = 16 * (w.rank % lanes), who = simt_ballot(w, wanted) >> row;
    uint8_t *to = rows + row * HKV_COALESCED_ROW + at;
    simt_sync_tile(w); /* all have read what was in their rows */
    SIMT_UNROLL
    for (uint32_t r = 0; r < 32; r += 32 / lanes) {
        uint64_t n = simt_shfl_u32(w, (uint32_t)number, row + r);
        if (who >> r & 1) simt_copy16_rlx_async(to + r * HKV_COALESCED_ROW, base + at + n * bytes);
    }
    simt_copy_commit();
    simt_copy_wait(0);
    simt_sync_tile(w);
}

/* Values of up to 32 lanes, in pieces of sixteen bytes, four of a lane on their way at a time; from NULL: zeros. As
 * many lanes share a value as there are pieces, or the next power of two, and take all 32 values in rounds. */
SIMT_FN void hkv_rows_copy(simt_tile w, uint8_t *to, const uint8_t *from, bool wanted, uint32_t bytes)
{
    uint32_t low = (uint32_t)((uintptr_t)to | (uintptr_t)from | bytes), who = simt_ballot(w, wanted),
             pieces = bytes / 16, bits = 0;
    if (!who) return;
    if (!simt_all(w, !wanted || low % 16 == 0)) {
        if (wanted && from) hkv_copy(simt_tile_of(1), to, from, bytes, true);
        if (wanted && !from) hkv_zero(simt_tile_of(1), to, bytes);
        simt_join();
        return;
    }
    while (bits < 5 && 1u << bits < pieces) bits++;
    uint32_t sharers = 1u << bits, share = w.rank & (sharers - 1), rounds = (pieces + sharers - 1) >> bits << bits;
    for (uint32_t first = 0; first < rounds; first += 4) {
        simt_v4 piece[4];
        uint8_t *target[4];
        SIMT_UNROLL
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t round = first + k, p = (round >> bits << bits) + share,
                     owner = ((round & (sharers - 1)) << (5 - bits)) + (w.rank >> bits);
            target[k] = (uint8_t *)0;
            if (round >= rounds) continue;
            const uint8_t *source = (const uint8_t *)(uintptr_t)simt_shfl_u64(w, (uintptr_t)from, owner);
            uint8_t *sink = (uint8_t *)(uintptr_t)simt_shfl_u64(w, (uintptr_t)to, owner);
            piece[k].x = piece[k].y = piece[k].z = piece[k].w = 0;
            if (p >= pieces || !(who >> owner & 1)) continue;
            target[k] = sink + 16 * p;
            if (source) piece[k] = simt_ldcs_v4((const simt_v4 *)(const void *)(source + 16 * p));
        }
        SIMT_UNROLL
        for (uint32_t k = 0; k < 4; k++)
            if (target[k]) simt_stcs_v4((simt_v4 *)(void *)target[k], piece[k]);
    }
    simt_join();
}

/* hkv_move for the lanes whose items moved on: values out, then values in. */
SIMT_FN void hkv_rows_move(simt_tile w, const hkv_args *a, const hkv_one *o, bool moves)
{
    uint32_t bytes = a->v.value_bytes;
    moves = moves && o->entry != HKV_NONE && bytes != 0;
    bool out = moves && o->out, adds = moves && o->change == HKV_ADD,
         replace = moves && ((o->change == HKV_REPLACE && o->in) || o->change == HKV_ZERO);
    uint8_t *value = moves ? hkv_value(&a->v, o->entry) : (uint8_t *)0;
    if (simt_any(w, out || replace)) {
        simt_sync_tile(w); /* what its owner may touch, the warp may */
        hkv_rows_copy(w, o->out, value, out, bytes);
        simt_sync_tile(w);
        hkv_rows_copy(w, value, o->change == HKV_ZERO ? (const uint8_t *)0 : o->in, replace, bytes);
        simt_sync_tile(w);
    }
    if (adds) gpu_add(simt_tile_of(1), value, o->in, bytes, a->elem);
    simt_join();
}

/* ---- What a row says ------------------------------------------------------------------------- */

/* A bit for each slot of a row, 32 to a word: bit 8b + j is slot 4j + b, as it comes when four bytes are compared at a
 * time. */
typedef struct hkv_row_bits {
    simt_v4 match, empty;
} hkv_row_bits;

/* The highest bit of each byte of x that is 0; other bits are anything. */
SIMT_FN uint32_t hkv_zeros4(uint32_t x) { return ~(((x & 0x7f7f7f7fu) + 0x7f7f7f7fu) | x); }

/* Of the next four slots, above those so far. */
SIMT_FN uint32_t hkv_bits_add(uint32_t bits, uint32_t x) { return (bits >> 1) | (hkv_zeros4(x) & 0x80808080u); }

/* Which of a row's digests are `wanted`, and, if there may be room, which say that a slot is empty. Short code: where a
 * kernel is longer than the cache for instructions, its warps wait for those more than for memory. */
SIMT_FN hkv_row_bits hkv_row_compare(const uint8_t *row, uint32_t slots, uint8_t wanted, bool room)
{
    uint32_t pattern = wanted * 0x01010101u, counts = slots < 32 ? 0x0f0f0f0fu : 0xffffffffu;
    hkv_row_bits r;
    r.match.x = r.match.y = r.match.z = r.match.w = 0;
    r.empty = r.match;
    SIMT_ROLLED
    for (uint32_t s = 0; s < slots; s += 32) {
        uint32_t match = 0, empty = 0;
        SIMT_UNROLL
        for (uint32_t k = 0; k < 32; k += 16) {
            simt_v4 d = simt_ld_v4((const simt_v4 *)(const void *)(row + s + (slots < 32 ? 0 : k)));
            match = hkv_bits_add(hkv_bits_add(hkv_bits_add(hkv_bits_add(match, d.x ^ pattern), d.y ^ pattern),
                                              d.z ^ pattern),
                                 d.w ^ pattern);
            if (room) empty = hkv_bits_add(hkv_bits_add(hkv_bits_add(hkv_bits_add(empty, d.x), d.y), d.z), d.w);
        }
        match &= counts;
        empty &= counts;
        if (s == 0) r.match.x = match, r.empty.x = empty;
        if (s == 32) r.match.y = match, r.empty.y = empty;
        if (s == 64) r.match.z = match, r.empty.z = empty;
        if (s == 96) r.match.w = match, r.empty.w = empty;
    }
    return r;
}

/* The first word that is not 0, and the slot that it begins with. */
SIMT_FN uint32_t hkv_bits_word(simt_v4 bits, uint32_t *base)
{
    *base = bits.x ? 0 : bits.y ? 32 : bits.z ? 64 : 96;
    return bits.x ? bits.x : bits.y ? bits.y : bits.z ? bits.z : bits.w;
}

/* Takes a bit out and says which slot's it was; 128: there is none. */
SIMT_FN uint32_t hkv_take_slot(simt_v4 *bits)
{
    uint32_t base, word = hkv_bits_word(*bits, &base), bit = simt_ffs(word) - 1, rest = word & (word - 1);
    if (!word) return 128;
    if (base == 0) bits->x = rest;
    if (base == 32) bits->y = rest;
    if (base == 64) bits->z = rest;
    if (base == 96) bits->w = rest;
    return base + bit % 8 * 4 + bit / 8;
}

/* The first slot of all whose bits are set. */
SIMT_FN uint32_t hkv_first_slot(simt_v4 bits)
{
    uint32_t base, word = hkv_bits_word(bits, &base), either = word | word >> 16,
                   four = simt_ffs((either | either >> 8) & 255) - 1;
    return base + 4 * four + (simt_ffs(word >> four & 0x01010101u) - 1) / 8;
}

/* hkv_look, by each lane that wants it, of its row of digests. In a table of pairs that others change meanwhile a key
 * is read together with its score. To claim in the act of comparing was slower: an exchange waits where a read does
 * not, for memory that no cache holds. */
SIMT_FN hkv_seen_bucket hkv_row_look(simt_tile w, const hkv_view *v, const uint8_t *row, uint64_t b, hkv_one *o,
                                     bool wanted, bool contended, bool room)
{
    const uint64_t *keys = hkv_key_at(v, hkv_entry(v, b, 0));
    hkv_row_bits bits;
    hkv_seen_bucket r;
    r.slot = r.empty = v->slots;
    r.empties = 0;
    r.busy = false;
    if (wanted) {
        bits = hkv_row_compare(row, v->slots, o->digest, room);
        for (uint32_t s = hkv_take_slot(&bits.match); s < 128; s = hkv_take_slot(&bits.match)) {
            uint64_t there;
            if (contended && v->step == 2)
                simt_ldrlx_2u64(keys + s * 2, &there, &o->score);
            else if (contended)
                there = simt_ldrlx_u64(keys + s);
            else
                there = simt_ld_u64(keys + s * v->step);
            if (there == o->key) {
                r.slot = s;
                break;
            }
            if (contended && there >= HD_KEY_RESERVED) r.busy = true; /* on its way in, or out */
        }
    }
    if (contended) simt_sync_tile(w); /* lanes that had more to compare than others do not stay behind them */
    if (wanted && room && r.slot == v->slots) {
        r.empties =
            simt_popc(bits.empty.x) + simt_popc(bits.empty.y) + simt_popc(bits.empty.z) + simt_popc(bits.empty.w);
        if (r.empties) r.empty = hkv_first_slot(bits.empty);
    }
    return r;
}

/* hkv_search for all lanes that want it. */
SIMT_FN void hkv_rows_search(simt_tile w, const hkv_args *a, uint8_t *rows, const uint8_t *row, hkv_one *o, bool wanted,
                             bool contended, bool room)
{
    const hkv_view *v = &a->v;
    if (wanted) o->entry = HKV_NONE;
    SIMT_ROLLED
    for (uint32_t k = 0; k <= v->dual; k++) {
        if (k && !simt_any(w, wanted)) return;
        uint64_t b = k ? o->second : o->first;
        hkv_rows_fetch(w, rows, v->digest, b, wanted, v->slots);
        hkv_seen_bucket at = hkv_row_look(w, v, row, b, o, wanted, contended, room);
        if (wanted) {
            if (k == 0) o->at_first = at;
            o->at_second = at;
            if (at.slot < v->slots) {
                o->entry = hkv_entry(v, b, at.slot);
                wanted = false;
            }
        }
        simt_join();
    }
}

/* ---- The least of a full bucket, by its bounds ----------------------------------------------- */

typedef struct hkv_low {
    uint64_t least, second; /* of some numbers: the least, and the least of the others */
    uint32_t at;            /* the first that is the least */
} hkv_low;

SIMT_FN void hkv_low_add(hkv_low *l, uint64_t x, uint32_t at)
{
    bool lower = x < l->least || at == 0;
    uint64_t other = lower ? l->least : x;
    if (other < l->second) l->second = other;
    if (lower) l->at = at;
    if (lower) l->least = x;
}

/* Of n numbers in a row, or of the scores of n pairs. */
SIMT_FN hkv_low hkv_row_low(const uint8_t *row, uint32_t n, bool pairs)
{
    hkv_low l;
    l.least = l.second = UINT64_MAX;
    l.at = 0;
    SIMT_UNROLL_BY(2)
    for (uint32_t k = 0; k < (pairs ? n : n / 2); k++) {
        simt_v4 x = simt_ld_v4((const simt_v4 *)(const void *)(row + 16 * k));
        if (!pairs) hkv_low_add(&l, (uint64_t)x.y << 32 | x.x, 2 * k);
        hkv_low_add(&l, (uint64_t)x.w << 32 | x.z, pairs ? k : 2 * k + 1);
    }
    return l;
}

typedef struct hkv_victim {
    uint64_t entry, key, least;
    uint64_t second; /* no score of its group but its own is below this */
} hkv_victim;

/* Of bucket b, for all lanes that want it: who has a lower score than *x, if anybody has. Whoever else changes the
 * bucket meanwhile only makes scores rise. */
SIMT_FN void hkv_rows_victim(simt_tile w, const hkv_args *a, uint8_t *rows, const uint8_t *row, uint64_t b, bool wanted,
                             hkv_victim *x)
{
    const hkv_view *v = &a->v;
    uint64_t *bounds = v->bound + hkv_entry(v, b, 0) / HKV_BOUNDED;
    while (simt_any(w, wanted)) {
        hkv_rows_fetch(w, rows, (const uint8_t *)v->bound, b, wanted, v->slots);
        hkv_low bound;
        bound.least = bound.second = bound.at = 0;
        if (wanted) bound = hkv_row_low(row, v->slots / HKV_BOUNDED, false);
        if (x->entry != HKV_NONE && bound.least >= x->least) wanted = false;
        simt_join();
        uint64_t e = hkv_entry(v, b, HKV_BOUNDED * bound.at);
        hkv_rows_fetch(w, rows, (const uint8_t *)v->key, e / HKV_BOUNDED, wanted, 16 * HKV_BOUNDED);
        if (wanted) {
            hkv_low score = hkv_row_low(row, HKV_BOUNDED, true);
            if (score.least > bound.second) {
                simt_strlx_u64(bounds + bound.at, score.least);
            } else {
                wanted = false;
                if (x->entry == HKV_NONE || score.least < x->least) {
                    x->entry = e + score.at;
                    x->key = simt_ld_u64((const uint64_t *)(const void *)(row + 16 * score.at));
                    x->least = score.least;
                    x->second = score.second;
                }
            }
        }
        simt_join();
    }
}

/* Where keys are pinned, and so everything is done under locks: by all scores, with nothing known of the others'. */
SIMT_FN hkv_victim hkv_unpinned_victim(const hkv_args *a, const hkv_one *o)
{
    hkv_place p = hkv_choose(simt_tile_of(1), a, o, (const uint64_t *)0, (const uint64_t *)0);
    hkv_victim r;
    r.entry = p.entry;
    r.least = p.least;
    r.second = r.key = 0;
    if (p.entry != HKV_NONE) r.key = simt_ldrlx_u64(hkv_key_at(&a->v, p.entry));
    return r;
}

/* ---- Claims ---------------------------------------------------------------------------------- */

/* In the pass over the absent nobody's score changes, and two items of one key can only meet where one evicts, or where
 * each may take a bucket of its own. */
SIMT_FN uint32_t hkv_coalesced_absent(const hkv_args *a)
{
    return a->v.dual || simt_ld_u32(a->pins) != 0 ? HKV_LOCK_TO_COME : HKV_LOCK_TO_EVICT;
}

/* Scores must only rise, in whatever order the items come: a policy that does not look at the old score lets an earlier
 * item of the same key lower it. */
SIMT_FN uint32_t hkv_coalesced_locking(const hkv_args *a)
{
    if (a->pass == HKV_ABSENT) return hkv_coalesced_absent(a);
    bool rises = (a->policy_flags & HD_MONOTONE) && (a->distinct || !(a->policy_flags & HD_ORDER_FREE));
    if (a->op == HD_OP_ACCUM_OR_ASSIGN || !rises || simt_ld_u32(a->pins) != 0) return HKV_LOCK_ALWAYS;
    if (a->distinct && !a->v.admit_always && (a->policy_flags & HD_SCORE_ADMITS)) return HKV_LOCK_NEVER;
    return a->v.dual ? HKV_LOCK_ALWAYS : HKV_LOCK_TO_EVICT;
}

SIMT_FN bool hkv_claim(const hkv_args *a, uint64_t e, uint64_t key)
{
    return simt_cas_u64(hkv_key_at(&a->v, e), key, HD_KEY_LOCKED, SIMT_ACQUIRE) == key;
}

/* Nobody has to claim an entry whose score alone is written, and written whatever it was. */
SIMT_FN bool hkv_rates_only(const hkv_args *a)
{
    bool only = a->op == HD_OP_ASSIGN_SCORES || (a->op == HD_OP_TOUCH && !a->value_out);
    /* and values stay what they are */
    if (hkv_passes_present(a)) only = a->op == HD_OP_FIND_OR_INSERT || a->op == HD_OP_FIND_OR_INSERT_PTR;
    return only && (a->policy_flags & HD_ORDER_FREE);
}

/* What is claimed is nobody else's: it takes effect where that shows first, in its digest. */
SIMT_FN void hkv_coalesced_erase_claimed(const hkv_args *a, hkv_one *o)
{
    o->outcome = HD_ERASED;
    hkv_lower_bound(&a->v, o->entry, 0);
    simt_strlx_u8(a->v.digest + o->entry, HKV_NO_DIGEST);
    simt_ticket_store(o->i, HD_ERASED, 0, o->entry);
    if (a->v.step == 2) {
        simt_strel_2u64(hkv_key_at(&a->v, o->entry), HD_KEY_EMPTY, 0);
    } else {
        simt_strlx_u64(hkv_score_at(&a->v, o->entry), 0);
        simt_strel_u64(hkv_key_at(&a->v, o->entry), HD_KEY_EMPTY);
    }
    o->holds = HKV_HOLDS_NOTHING;
}

/* Whether the score that was read with the key is the one that the item finds: no other item of this batch changes it,
 * and where another batch, or another item of its pass, does, the new score does not depend on it, and bounds stand
 * below both. */
SIMT_FN bool hkv_has_score(const hkv_args *a)
{
    return a->v.step == 2 && (a->distinct || a->pass) && (a->policy_flags & HD_ORDER_FREE);
}

/* Whether nothing remains of what an entry had. */
SIMT_FN bool hkv_replaces(const hkv_args *a)
{
    return (a->op == HD_OP_ASSIGN || hkv_passes_present(a)) && (a->policy_flags & HD_ORDER_FREE);
}

/* Whether the score that was read says that another item of this launch has been here, o->score - a->clock. In the
 * second pass over the present it may also say who brought the key in: before that, nobody found it. */
SIMT_FN bool hkv_coalesced_outdone(const hkv_args *a, const hkv_one *o)
{
    uint64_t by = o->score - a->clock;
    if (!a->times_tell || a->distinct || by < a->first || by >= a->last) return false;
    return a->pass != HKV_PRESENT_AGAIN || hkv_absent_left(a, by);
}

/* So nothing is written: this item took effect just before that one, and nothing is left of it. Who comes often is
 * read, not claimed: reads of one place go on side by side, writes one by one. */
SIMT_FN void hkv_coalesced_precede(const hkv_args *a, hkv_one *o, hkv_rule r)
{
    simt_ticket_before(o->i, r.found, 0, o->entry, o->score - a->clock);
    o->outcome = r.found;
    o->score = a->clock + o->i;
    hkv_value_goes_out(a, o);
}

/* Where nobody comes or goes, an entry that had the key a moment ago and is being replaced now is replaced by an item
 * of the same key, of this batch or of one beside it. That takes effect when it publishes: this one did so just before.
 * However often a key comes, its items do not queue up. */
SIMT_FN void hkv_coalesced_overwritten(hkv_one *o, hkv_rule r)
{
    o->outcome = r.found;
    simt_ticket(o->i, r.found, 0, o->entry);
}

/* The key is at o->entry. */
SIMT_FN void hkv_coalesced_found(const hkv_args *a, uint32_t family, uint32_t locking, hkv_one *o)
{
    hkv_rule r = hkv_rule_of(a, o->i);
    bool pinned = hkv_is_pinned(a, o->key); /* then nobody changes it, and it need not be claimed */
    bool rates = family == HKV_UPDATE && !pinned && hkv_rates_only(a),
         replaces = family == HKV_UPDATE && !pinned && hkv_replaces(a);
    if (rates || replaces) {
        if (a->v.step == 1) o->score = simt_ldrlx_u64(hkv_score_at(&a->v, o->entry));
        if (hkv_coalesced_outdone(a, o)) {
            hkv_coalesced_precede(a, o, r);
            return;
        }
    }
    if (rates) {
        o->outcome = r.found;
        hkv_rescore(a, o);
        hkv_value_goes_out(a, o);
        simt_strlx_u64(hkv_score_at(&a->v, o->entry), o->score);
        simt_ticket_store(o->i, o->outcome, 0, o->entry);
        return;
    }
    if (locking == HKV_LOCK_TO_EVICT) hkv_let_go(simt_tile_of(1), a, o); /* the lock to evict */
    if (locking != HKV_LOCK_ALWAYS && !pinned) {
        uint64_t lock = hkv_replaces(a) ? HKV_KEY_REPLACED : HD_KEY_LOCKED,
                 there = simt_cas_u64(hkv_key_at(&a->v, o->entry), o->key, lock, SIMT_ACQUIRE);
        if (there == HKV_KEY_REPLACED && (hkv_replaces(a) || a->op == HD_OP_ASSIGN_VALUES))
            hkv_coalesced_overwritten(o, r);
        if (there != o->key) return;
        o->holds = HKV_HOLDS_ENTRY;
    }
    if (family == HKV_ERASE && !pinned) {
        hkv_coalesced_erase_claimed(a, o);
        return;
    }
    bool rated = hkv_rate_found(simt_tile_of(1), a, o, r, pinned, hkv_has_score(a));
    if (o->holds == HKV_HOLDS_ENTRY) {
        o->rated = rated;
        return;
    }
    if (rated) simt_strlx_u64(hkv_score_at(&a->v, o->entry), o->score);
    simt_ticket(o->i, o->outcome, 0, o->entry);
}

/* It is nowhere, and there is room. */
SIMT_FN void hkv_coalesced_insert(const hkv_args *a, uint32_t locking, hkv_one *o)
{
    hkv_place p = hkv_free_place(a, o);
    if (locking >= HKV_LOCK_TO_COME) {
        simt_strlx_u64(hkv_key_at(&a->v, p.entry), HD_KEY_LOCKED);
    } else {
        hkv_let_go(simt_tile_of(1), a, o);
        if (!hkv_claim(a, p.entry, HD_KEY_EMPTY)) return;
        o->holds = HKV_HOLDS_ENTRY;
    }
    if (!hkv_admit(a, o, p)) return; /* it always is: GCOVR_EXCL_BR_LINE */
    simt_ticket(o->i, o->outcome, 0, o->entry);
    o->rated = o->holds == HKV_HOLDS_ENTRY; /* until then the score is 0, and nobody's who might leave */
    if (o->rated)
        simt_strlx_u8(a->v.digest + p.entry, o->digest);
    else
        hkv_occupy(a, o, p, 0);
}

/* It is nowhere, its buckets are full, and this entry would have to leave. */
SIMT_FN void hkv_coalesced_evict(const hkv_args *a, uint32_t locking, hkv_one *o, hkv_victim x)
{
    hkv_place p;
    p.entry = x.entry;
    p.least = x.least;
    p.empty = false;
    bool admitted = hkv_admit(a, o, p);
    if (admitted && locking < HKV_LOCK_TO_COME) {
        bool claimed = x.key < HD_KEY_RESERVED && hkv_claim(a, x.entry, x.key);
        if (claimed && simt_ldrlx_u64(hkv_score_at(&a->v, x.entry)) != x.least) { /* it was used meanwhile */
            simt_strel_u64(hkv_key_at(&a->v, x.entry), x.key);
            claimed = false;
        }
        if (!claimed) {
            hkv_undecide(o);
            return;
        }
        if (locking == HKV_LOCK_NEVER) o->holds = HKV_HOLDS_ENTRY;
    }
    simt_ticket(o->i, o->outcome, admitted ? x.key : 0, admitted ? o->entry : HKV_NONE);
    if (!admitted) return;
    if (locking >= HKV_LOCK_TO_COME) simt_strlx_u64(hkv_key_at(&a->v, x.entry), HD_KEY_LOCKED);
    hkv_occupy(a, o, p, x.key);
    simt_strlx_u64(a->v.bound + x.entry / HKV_BOUNDED, x.second < o->score ? x.second : o->score);
}

/* What a lane decides on what it saw. True: its bucket is full, and somebody must leave. */
SIMT_FN bool hkv_coalesced_decide(const hkv_args *a, uint32_t family, uint32_t locking, hkv_one *o)
{
    bool absent = o->entry == HKV_NONE;
    if (absent ? hkv_passes_present(a) && !o->at_first.busy && !o->at_second.busy : a->pass == HKV_ABSENT) {
        hkv_let_go(simt_tile_of(1), a, o);
        o->outcome = HKV_TO_NEXT;
        return false;
    }
    if (!absent) {
        hkv_coalesced_found(a, family, locking, o);
        return false;
    }
    if (locking != HKV_LOCK_ALWAYS && (o->at_first.busy || o->at_second.busy)) return false;
    if (family != HKV_UPSERT || !hkv_rule_of(a, o->i).insert) {
        o->outcome = HD_MISS;
        simt_ticket(o->i, HD_MISS, 0, HKV_NONE);
        return false;
    }
    bool room = o->at_first.empties || o->at_second.empties, held = o->holds != HKV_HOLDS_NOTHING;
    if (!held && (locking == HKV_LOCK_TO_COME || (locking == HKV_LOCK_TO_EVICT && !room))) {
        hkv_try_buckets(simt_tile_of(1), a, o); /* and then looks again */
        return false;
    }
    if (room) hkv_coalesced_insert(a, locking, o);
    return !room;
}

/* ---- A run of items -------------------------------------------------------------------------- */

/* A warp's items: 32 that follow each other, then the next 32 that are no other warp's. The keys of the next 32 are
 * fetched before they are wanted. */
typedef struct hkv_run {
    uint64_t key;    /* of number taken + lane   */
    uint32_t taken;  /* so many were begun       */
    uint32_t passed; /* the pass before left so many */
} hkv_run;

SIMT_FN uint64_t hkv_run_item(const hkv_args *a, const hkv_run *r, uint32_t number)
{
    return hkv_pass_item(a, r->passed,
                         ((uint64_t)(number >> 5) * hkv_warps() + hkv_warp_number()) * 32 + (number & 31));
}

SIMT_FN hkv_run hkv_run_begin(simt_tile w, const hkv_args *a)
{
    hkv_run r;
    r.taken = 0;
    r.passed = hkv_passed(a);
    r.key = hkv_item_key(a, hkv_run_item(a, &r, w.rank));
    return r;
}

/* Lanes without an item get the next ones. */
SIMT_FN void hkv_run_refill(simt_tile w, const hkv_args *a, hkv_run *run, hkv_one *o)
{
    bool idle = o->outcome == HKV_NO_ITEM;
    uint32_t who = simt_ballot(w, idle), place = hkv_place_among(w, who);
    if (!who) return;
    uint64_t key = simt_shfl_u64(w, run->key, place);
    if (idle) *o = hkv_begin_with(a, hkv_run_item(a, run, run->taken + place), key);
    run->taken += simt_popc(who);
    run->key = hkv_item_key(a, hkv_run_item(a, run, run->taken + w.rank));
    simt_join();
}

/* A lane's outcomes so far lie behind its row, a field of HKV_TALLY_BITS each: good for 127 rounds. */
SIMT_FN uint64_t *hkv_row_tally(uint8_t *rows)
{
    return (uint64_t *)(void *)(rows + simt_lane() * HKV_COALESCED_ROW + 128);
}

SIMT_FN void hkv_tally_add(uint64_t *mine, uint32_t outcome)
{
    if (outcome < HKV_OUTCOMES) simt_st_u64(mine, simt_ld_u64(mine) + (1ull << HKV_TALLY_BITS * outcome));
}

SIMT_FN void hkv_tally_flush(simt_tile w, const hkv_args *a, uint64_t *mine)
{
    uint64_t all = simt_ld_u64(mine);
    uint32_t my_sum = 0;
    for (uint32_t outcome = 0; outcome < HKV_OUTCOMES; outcome++) {
        uint32_t sum = simt_reduce_add_u32(w, (uint32_t)(all >> HKV_TALLY_BITS * outcome) & 127);
        if (w.rank == outcome) my_sum = sum;
    }
    if (my_sum) simt_add_u64(a->tally + w.rank, my_sum, SIMT_RELAXED);
    simt_st_u64(mine, 0);
    simt_join();
}

/* The key goes back, or in, with its score where that is new. An entry that was there takes effect here: nobody has
 * seen it meanwhile. */
SIMT_FN void hkv_coalesced_publish(const hkv_args *a, hkv_one *o)
{
    uint64_t *key = hkv_key_at(&a->v, o->entry);
    if (o->rated && a->v.step == 1) simt_strlx_u64(hkv_score_at(&a->v, o->entry), o->score);
    if (o->rated && a->v.step == 2)
        simt_strel_2u64(key, o->key, o->score);
    else
        simt_strel_u64(key, o->key);
    if (!o->fresh) simt_ticket_store(o->i, o->outcome, 0, o->entry);
    o->holds = HKV_HOLDS_NOTHING;
}

SIMT_FN void hkv_coalesced_end(const hkv_args *a, hkv_one *o)
{
    if (o->outcome == HD_RESERVED) simt_ticket(o->i, HD_RESERVED, 0, HKV_NONE);
    if (o->fresh && o->holds != HKV_HOLDS_ENTRY) simt_strel_u64(hkv_key_at(&a->v, o->entry), o->key);
    if (o->holds == HKV_HOLDS_ENTRY)
        hkv_coalesced_publish(a, o);
    else
        hkv_let_go(simt_tile_of(1), a, o);
    hkv_deliver(a, o);
    o->outcome = HKV_NO_ITEM;
}

SIMT_FN void hkv_coalesced(const hkv_args *a, uint32_t family)
{
    SIMT_SHARED(uint8_t, all_rows, HKV_COALESCED_THREADS * HKV_COALESCED_ROW);
    simt_tile w = simt_tile_of(32);
    uint8_t *rows = all_rows + (simt_thread() & ~31u) * HKV_COALESCED_ROW;
    const uint8_t *row = rows + w.rank * HKV_COALESCED_ROW;
    uint32_t locking = family == HKV_UPSERT ? hkv_coalesced_locking(a) : HKV_LOCK_NEVER, rounds = 0;
    if (a->pass) hkv_pass_clear(a);
    simt_join();
    uint64_t *tally = hkv_row_tally(rows);
    hkv_run run = hkv_run_begin(w, a);
    hkv_one o = hkv_begin_with(a, a->last, 0);
    simt_st_u64(tally, 0);
    for (;;) {
        hkv_run_refill(w, a, &run, &o);
        bool todo = o.outcome != HKV_NO_ITEM, tries = o.outcome == HKV_UNDECIDED;
        if (!simt_any(w, todo)) break;
        if (locking == HKV_LOCK_ALWAYS && tries && o.holds == HKV_HOLDS_NOTHING)
            tries = hkv_try_buckets(simt_tile_of(1), a, &o);
        simt_join();
        hkv_rows_search(w, a, rows, row, &o, tries, true, family == HKV_UPSERT);
        bool evicts = false;
        if (tries) evicts = hkv_coalesced_decide(a, family, locking, &o);
        simt_join();
        if (family == HKV_UPSERT && simt_any(w, evicts)) {
            hkv_victim x;
            x.entry = HKV_NONE;
            x.key = x.least = x.second = 0;
            if (simt_ld_u32(a->pins) != 0) {
                if (evicts) x = hkv_unpinned_victim(a, &o);
            } else {
                SIMT_ROLLED
                for (uint32_t k = 0; k <= a->v.dual; k++)
                    hkv_rows_victim(w, a, rows, row, k ? o.second : o.first, evicts, &x);
            }
            if (evicts) hkv_coalesced_evict(a, locking, &o, x);
            simt_join();
        }
        bool done = todo && o.outcome != HKV_UNDECIDED;
        hkv_rows_move(w, a, &o, done);
        if (done) {
            hkv_tally_add(tally, o.outcome);
            if (o.outcome != HKV_TO_NEXT) hkv_coalesced_end(a, &o);
        }
        if (a->pass) hkv_pass_leave(w, a, &o);
        if (todo && !done) simt_backoff(32);
        simt_join();
        if (++rounds % 64 == 0) hkv_tally_flush(w, a, tally);
    }
    hkv_tally_flush(w, a, tally);
}

SIMT_FN void hkv_coalesced_lookup(const hkv_args *a)
{
    SIMT_SHARED(uint8_t, all_rows, HKV_COALESCED_THREADS * HKV_COALESCED_ROW);
    simt_tile w = simt_tile_of(32);
    uint8_t *rows = all_rows + (simt_thread() & ~31u) * HKV_COALESCED_ROW;
    uint64_t *tally = hkv_row_tally(rows);
    uint32_t rounds = 0;
    hkv_run run = hkv_run_begin(w, a);
    simt_st_u64(tally, 0);
    while (hkv_run_item(a, &run, 32 * rounds) < a->last) {
        hkv_one o = hkv_begin_with(a, a->last, 0);
        hkv_run_refill(w, a, &run, &o);
        bool looks = o.outcome == HKV_UNDECIDED;
        hkv_rows_search(w, a, rows, rows + w.rank * HKV_COALESCED_ROW, &o, looks, false, false);
        if (looks) hkv_decide_lookup(simt_tile_of(1), a, &o);
        hkv_rows_move(w, a, &o, looks);
        hkv_end(simt_tile_of(1), a, &o);
        hkv_tally_add(tally, o.outcome);
        simt_join();
        if (++rounds % 64 == 0) hkv_tally_flush(w, a, tally);
    }
    hkv_tally_flush(w, a, tally);
}

SIMT_FN void hkv_coalesced_update(const hkv_args *a) { hkv_coalesced(a, HKV_UPDATE); }
SIMT_FN void hkv_coalesced_upsert(const hkv_args *a) { hkv_coalesced(a, HKV_UPSERT); }
SIMT_FN void hkv_coalesced_erase(const hkv_args *a) { hkv_coalesced(a, HKV_ERASE); }

static inline const char *hkv_fits_coalesced(const hd_info *info)
{
    bool row = info->slots == 16 || info->slots == 32 || info->slots == 64 || info->slots == 128;
    return row ? NULL : "it fetches the digests of a bucket as one row, of 16, 32, 64 or 128";
}
static inline const char *hkv_fits_coalesced_pairs(const hd_info *info)
{
    return info->layout == HD_LAYOUT_PAIRS ? hkv_fits_coalesced(info)
                                           : "it finds the least score by lower bounds, which layout=planes has not";
}

SIMT_ENTRY(hkv_kernel_coalesced_lookup, hkv_args, hkv_coalesced_lookup)
SIMT_ENTRY(hkv_kernel_coalesced_update, hkv_args, hkv_coalesced_update)
SIMT_ENTRY(hkv_kernel_coalesced_upsert, hkv_args, hkv_coalesced_upsert)
SIMT_ENTRY(hkv_kernel_coalesced_erase, hkv_args, hkv_coalesced_erase)

static const hd_variant hkv_variant_coalesced = {
    .name = "coalesced",
    .row = {
        { HKV_LOOKUP, hkv_kernel_coalesced_lookup, 1, 128, hkv_fits_coalesced, HD_ORDER,
          HD_WHAT("lookup: a thread per key, a warp fetches the digest lines and values of its 32") },
        { HKV_UPDATE, hkv_kernel_coalesced_update, 1, 128, hkv_fits_coalesced, HD_ORDER,
          HD_WHAT("update: a thread per key claims the entry, a warp fetches for its 32") },
        { HKV_UPSERT, hkv_kernel_coalesced_upsert, 1, 128, hkv_fits_coalesced_pairs, HD_CHOICE,
          HD_WHAT("upsert: a thread per key claims by the key and evicts by bounds, a warp fetches for its 32") },
        { HKV_ERASE, hkv_kernel_coalesced_erase, 1, 128, hkv_fits_coalesced, HD_ORDER,
          HD_WHAT("erase: a thread per key claims the entry, a warp fetches for its 32") },
    },
    .ran = HKV_RAN("coalesced"),
    .formerly = "gather",
};

#endif
