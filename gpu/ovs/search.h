/* SPDX-License-Identifier: Apache-2.0
 *
 * search.h - a tile searches a key along its way. One load of all lanes reads a bucket, or two by a tile of 32 lanes;
 * ballots tell which lanes see what.
 *
 * A search ends in an open bucket. The words of a bucket are not loaded at one moment. But a slot that says FRESH said
 * so before: the bucket was open when its first word was loaded, and no item had gone past it. The loads of a search
 * need no order among each other: a key that is present during the whole search is in one slot, and is seen there.
 *
 * In a segment with digests the item reads those of a bucket first, and the words only if they may be of use.
 *
 * No claim lies behind an open bucket. An item that claims has seen that no bucket before its claim is open. It claims,
 * then fences. If another item claims the same key and fences later, it sees those buckets not open, too, and its
 * search comes to the claim. (It compares all words of a bucket before it ends there.)
 */
#ifndef OVS_SEARCH_H
#define OVS_SEARCH_H

#include "gpu/ovs/digest.h"

enum { OVS_LANE_WORDS = 4 /* of a bucket, at most, that a lane has */ };

/* ---- A lane's share of one or two buckets ---------------------------------------------------- */

/* How many buckets a tile reads at once, and how many neighbouring words a lane has of its bucket. */
SIMT_FN uint32_t ovs_at_once(simt_tile t) { return t.size > OVS_SLOTS ? t.size / OVS_SLOTS : 1; }
SIMT_FN uint32_t ovs_share(simt_tile t) { return t.size > OVS_SLOTS ? 1 : OVS_SLOTS / t.size; }

/* Which of these buckets, and the first of these words, as a slot. */
SIMT_FN uint32_t ovs_lane_bucket(simt_tile t) { return t.rank * ovs_share(t) / OVS_SLOTS; }
SIMT_FN uint32_t ovs_lane_slot(simt_tile t) { return t.rank * ovs_share(t) % OVS_SLOTS; }

/* n neighbouring words from p on: 1, 2 or 4; the others are 0. */
SIMT_FN void ovs_load(uint64_t *p, uint32_t n, bool acquires, uint64_t w[OVS_LANE_WORDS])
{
    w[0] = w[1] = w[2] = w[3] = 0;
    if (n == 1) w[0] = acquires ? simt_ldacq_u64(p) : simt_ldrlx_u64(p);
    if (n > 1) gpu_load_two(p, acquires, &w[0], &w[1]);
    if (n == 4) gpu_load_two(p + 2, acquires, &w[2], &w[3]);
}

/* Word k of them. */
SIMT_FN uint64_t ovs_pick(const uint64_t w[OVS_LANE_WORDS], uint32_t k)
{
    uint64_t x = w[0];
    SIMT_UNROLL
    for (uint32_t m = 1; m < OVS_LANE_WORDS; m++)
        if (m == k) x = w[m];
    return x;
}

/* ---- A search -------------------------------------------------------------------------------- */

/* What a search saw; the same for all lanes of a tile. Slots are counted along the way: slot s of the bucket at step k
 * is 16 k + s. */
typedef struct ovs_found {
    uint64_t at, word;        /* the key, and its word; OVS_NOWHERE: it is absent                          */
    uint64_t room, room_word; /* the first free slot, and its word; OVS_NOWHERE: there is none             */
    bool before, after;       /* other items claim the key: before the item's own claim, or after it       */
    bool open;                /* it ended at an open bucket */
} ovs_found;

/* Entry `at` of the way of hash h, and where it is. */
SIMT_FN uint64_t ovs_entry(const ovs_view *v, uint64_t h, uint64_t at)
{
    return ovs_way_bucket(v, h, at / OVS_SLOTS) * OVS_SLOTS + at % OVS_SLOTS;
}
SIMT_FN uint64_t *ovs_slot(const ovs_view *v, uint64_t h, uint64_t at)
{
    return ovs_segment_at(v, ovs_segment_of(v, h)) + ovs_step_in(v, h, at / OVS_SLOTS) * OVS_SLOTS + at % OVS_SLOTS;
}

/* The same of pairs: of the key word. */
SIMT_FN uint64_t ovs_pair_entry(const ovs_view *v, uint64_t h, uint64_t at)
{
    return ovs_way_bucket(v, h, at / OVS_PAIRS) * OVS_PAIRS + at % OVS_PAIRS;
}
SIMT_FN uint64_t *ovs_pair_slot(const ovs_view *v, uint64_t *segment, uint64_t h, uint64_t at)
{
    return segment + ovs_step_in(v, h, at / OVS_PAIRS) * OVS_LINE_WORDS + at % OVS_PAIRS;
}

/* What a lane sees in its words. */
typedef struct ovs_look {
    uint32_t key, free; /* its first word that is the key, or free; as many as it has: none */
    bool fresh, before, after;
} ovs_look;

/* first: the lane's first slot, counted along the way. */
SIMT_FN ovs_look ovs_look_at(const gpu_one *o, const uint64_t w[OVS_LANE_WORDS], uint32_t n, uint64_t first)
{
    ovs_look s;
    s.key = s.free = n;
    s.fresh = s.before = s.after = false;
    SIMT_UNROLL
    for (uint32_t k = OVS_LANE_WORDS; k-- > 0;) {
        if (k >= n) continue;
        bool theirs = w[k] == word_sign(OVS_HALF, WORD_CLAIMED, o->key);
        if (ovs_key_of(w[k]) == o->key) s.key = k;
        if (ovs_is_free(w[k])) s.free = k;
        s.fresh = s.fresh || w[k] == ovs_fresh();
        s.before = s.before || (theirs && first + k < o->claim);
        s.after = s.after || (theirs && first + k > o->claim);
    }
    return s;
}

/* What digests say of the buckets that a tile reads at once. */
typedef struct ovs_hint {
    bool reads; /* a bucket's words may be of use */
    bool open;  /* a bucket is open; first: the first one is */
    bool first;
} ovs_hint;

/* A lane's bucket is `line`, if it is on the way. needs_room: the item looks for a free slot. */
SIMT_FN ovs_hint ovs_hint_of(simt_tile t, uint8_t *digests, const gpu_one *o, uint64_t line, bool on_way,
                             bool needs_room, bool verifies)
{
    ovs_hint s;
    s.reads = true;
    s.open = s.first = false;
    if (!digests) return s;
    uint64_t *p = (uint64_t *)(void *)digests + line * OVS_DIGEST_WORDS + ovs_lane_slot(t) / 4;
    uint64_t four = verifies ? simt_ldacq_u64(p) : simt_ldrlx_u64(p);
    bool open = on_way && ovs_four_have(four, 0);
    s.reads = simt_any(t, on_way && ovs_four_have(four, ovs_digest_of(o->h))) || needs_room;
    s.open = simt_any(t, open);
    s.first = simt_any(t, open && ovs_lane_bucket(t) == 0);
    return s;
}

/* Notes the claims of other items, and the first free slot, of buckets that are `has` words for a lane. True: a slot is
 * fresh. */
SIMT_FN bool ovs_note(simt_tile t, ovs_found *f, const ovs_look *s, const uint64_t w[OVS_LANE_WORDS], uint32_t has,
                      uint64_t first)
{
    if (simt_any(t, s->before || s->after)) {
        f->before = simt_any(t, s->before) || f->before;
        f->after = simt_any(t, s->after) || f->after;
    }
    uint32_t who = simt_ballot(t, s->free < has);
    if (who && f->room == OVS_NOWHERE) {
        f->room = simt_shfl_u64(t, first + s->free, simt_ffs(who) - 1);
        f->room_word = simt_shfl_u64(t, ovs_pick(w, s->free), simt_ffs(who) - 1);
    }
    return who && simt_any(t, s->fresh);
}

/* Where o->claim is OVS_NOWHERE, all claims of others are before it. verifies: the item has claimed a slot, and must
 * see what others claimed before; other searches may see words that are older. */
SIMT_FN ovs_found ovs_search(simt_tile t, const ovs_args *a, const gpu_one *o, bool verifies)
{
    const ovs_view *v = &a->v;
    uint64_t *segment = ovs_segment_at(v, ovs_segment_of(v, o->h));
    uint8_t *digests = ovs_digests_at(v, ovs_segment_of(v, o->h));
    uint32_t n = ovs_share(t), way = ovs_way(v);
    ovs_found f;
    f.at = f.room = OVS_NOWHERE;
    f.word = f.room_word = 0;
    f.before = f.after = f.open = false;
    SIMT_ROLLED
    for (uint32_t step = 0; step < way && !f.open; step += ovs_at_once(t)) {
        uint32_t mine = step + ovs_lane_bucket(t);
        uint32_t has = mine < way ? n : 0; /* the second bucket may not be on the way */
        uint64_t first = (uint64_t)mine * OVS_SLOTS + ovs_lane_slot(t), w[OVS_LANE_WORDS];
        uint64_t line = ovs_step_in(v, o->h, has ? mine : step);
        bool needs_room = o->insert && !verifies && f.room == OVS_NOWHERE;
        ovs_hint hint = ovs_hint_of(t, digests, o, line, has != 0, needs_room, verifies);
        f.open = hint.open;
        if (!hint.reads) continue;
        ovs_load(segment + line * OVS_SLOTS + ovs_lane_slot(t), n, verifies, w);
        ovs_look s = ovs_look_at(o, w, has, first);
        uint32_t who = simt_ballot(t, s.key < has);
        if (who) {
            f.at = simt_shfl_u64(t, first + s.key, simt_ffs(who) - 1);
            f.word = simt_shfl_u64(t, ovs_pick(w, s.key), simt_ffs(who) - 1);
            return f;
        }
        bool fresh = ovs_note(t, &f, &s, w, has, first);
        if (hint.first && f.room / OVS_SLOTS > step) f.room = OVS_NOWHERE; /* no item goes past the first bucket */
        if (!digests && fresh) f.open = true;
    }
    return f;
}

#endif
