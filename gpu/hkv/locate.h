/* SPDX-License-Identifier: Apache-2.0
 *
 * locate.h - Algorithm 1: where a key is in a bucket. Digests are compared first, four at a time; a key is read where
 * its digest matches, so that of a bucket of 128 a miss reads one line and, once in two misses, one key.
 */
#ifndef HKV_LOCATE_H
#define HKV_LOCATE_H

#include "gpu/hkv/args.h"
#include "gpu/hkv/tile.h"

/* What a bucket's digests, and the keys they pointed to, say. */
typedef struct hkv_seen_bucket {
    uint32_t slot;    /* of the key; v->slots: not here */
    uint32_t empty;   /* the first empty slot; v->slots: none ... */
    uint32_t empties; /* ... and how many: both only when asked for and the key is not here */
    bool busy;        /* an entry that may be the key's is owned by an updater */
} hkv_seen_bucket;

/* Up to four bytes, one by one: the digests of buckets of odd sizes. */
SIMT_FN uint32_t hkv_four_bytes(const uint8_t *p, uint32_t n)
{
    uint32_t w = 0;
    for (uint32_t k = 0; k < 4 && k < n; k++) w |= (uint32_t)simt_ld_u8(p + k) << 8 * k;
    return w;
}

/* The digests of slots s to s + 15: one load where buckets are multiples of 16, else words or bytes. What lies beyond
 * the bucket is 0. */
SIMT_FN simt_v4 hkv_digests(const uint8_t *digest, uint32_t s, uint32_t slots)
{
    simt_v4 d;
    const uint8_t *p = digest + s;
    uint32_t left = slots - s;
    if (slots % 16 == 0) return simt_ld_v4((const simt_v4 *)(const void *)p);
    d.x = d.y = d.z = d.w = 0;
    if (slots % 4 == 0) {
        const uint32_t *w = (const uint32_t *)(const void *)p;
        d.x = simt_ld_u32(w);
        if (left > 4) d.y = simt_ld_u32(w + 1);
        if (left > 8) d.z = simt_ld_u32(w + 2);
        if (left > 12) d.w = simt_ld_u32(w + 3);
        return d;
    }
    d.x = hkv_four_bytes(p, left);
    if (left > 4) d.y = hkv_four_bytes(p + 4, left - 4);
    if (left > 8) d.z = hkv_four_bytes(p + 8, left - 8);
    if (left > 12) d.w = hkv_four_bytes(p + 12, left - 12);
    return d;
}

/* One bit for each of four, or sixteen, bytes that are equal. */
SIMT_FN uint32_t hkv_bits4(uint32_t a, uint32_t b) { return (simt_eq4(a, b) & 0x01010101u) * 0x10204080u >> 28; }
SIMT_FN uint32_t hkv_bits16(simt_v4 d, uint32_t b)
{
    return hkv_bits4(d.x, b) | hkv_bits4(d.y, b) << 4 | hkv_bits4(d.z, b) << 8 | hkv_bits4(d.w, b) << 12;
}

/* The slot among those whose byte in `match` is set, from s on, that holds `key`; `none` when none does. Where updaters
 * are at work keys are read as what they are, contended words. */
SIMT_FN uint32_t hkv_slot_among(const uint64_t *keys, uint32_t step, uint32_t s, uint32_t match, uint64_t key,
                                bool contended, uint32_t none, bool *busy)
{
    while (match) {
        uint32_t k = (simt_ffs(match) - 1) / 8;
        uint64_t there;
        match &= ~(0xffu << 8 * k);
        if (contended)
            there = simt_ldrlx_u64(keys + (s + k) * step);
        else
            there = simt_ld_u64(keys + (s + k) * step);
        if (there == key) return s + k;
        if (contended && there >= HD_KEY_RESERVED) *busy = true;
    }
    return none;
}

/* The bytes of a word of four slots that are slots of the bucket, when `left` are. */
SIMT_FN uint32_t hkv_within(uint32_t left) { return left >= 4 ? 0xffffffffu : (1u << 8 * left) - 1; }

/* Looks `key` up in bucket b, whose digests are at `digest` (in the table, or a copy of them). Sixteen slots a lane: a
 * tile of 8 sees 128 slots at once, a thread one quarter of a sector after another, and stops where the key is. */
SIMT_FN hkv_seen_bucket hkv_look(simt_tile t, const hkv_view *v, uint64_t b, const uint8_t *digest, uint8_t wanted,
                                 uint64_t key, bool contended, bool room)
{
    const uint64_t *keys = hkv_key_at(v, hkv_entry(v, b, 0));
    uint32_t slots = v->slots, pattern = wanted * 0x01010101u, mine = slots;
    bool busy = false;
    hkv_seen_bucket r;
    r.slot = r.empty = slots;
    r.empties = 0;
    for (uint32_t s0 = 0; s0 < slots; s0 += 16 * t.size) {
        uint32_t s = s0 + 16 * t.rank;
        if (s < slots) {
            simt_v4 d = hkv_digests(digest, s, slots);
            SIMT_UNROLL
            for (uint32_t k = 0; k < 4; k++) {
                uint32_t w = k == 0 ? d.x : k == 1 ? d.y : k == 2 ? d.z : d.w, at = s + 4 * k;
                uint32_t match = simt_eq4(w, pattern);
                if (match && mine == slots)
                    mine = hkv_slot_among(keys, v->step, at, match, key, contended, slots, &busy);
                if (room && at < slots) {
                    uint32_t empty = simt_eq4(w, HKV_NO_DIGEST) & hkv_within(slots - at);
                    if (empty && r.empty == slots) r.empty = at + (simt_ffs(empty) - 1) / 8;
                    r.empties += simt_popc(empty) / 8;
                }
            }
        }
        simt_join();
        uint32_t who = HKV_BALLOT(t, mine < slots);
        if (who) {
            r.slot = HKV_FROM(t, mine, simt_ffs(who) - 1);
            break;
        }
    }
    if (room && r.slot == slots) {
        r.empty = HKV_LEAST32(t, r.empty);
        r.empties = HKV_SUM32(t, r.empties);
    }
    r.busy = contended && r.slot == slots && HKV_ANY(t, busy);
    return r;
}

#endif
