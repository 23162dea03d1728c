/* SPDX-License-Identifier: Apache-2.0
 *
 * locate.h - Algorithm 1: finds a key in a bucket. It compares digests first, four at a time. It reads a key only where
 * the digest matches. A miss in a bucket of 128 slots reads one line of digests and, in every second miss, one key.
 */
#ifndef HKV_LOCATE_H
#define HKV_LOCATE_H

#include "gpu/hkv/args.h"
#include "gpu/hkv/tile.h"

/* The result of a search in one bucket. */
typedef struct hkv_seen_bucket {
    uint32_t slot;    /* the slot of the key; v->slots: absent */
    uint32_t empty;   /* the first empty slot; v->slots: none  */
    uint32_t empties; /* how many slots are empty. Both are valid only if asked for, and if the key is absent */
    bool busy;        /* an item owns an entry that may have the key */
} hkv_seen_bucket;

/* Loads up to four bytes one by one. Buckets whose size is no multiple of four need it. */
SIMT_FN uint32_t hkv_four_bytes(const uint8_t *p, uint32_t n)
{
    uint32_t w = 0;
    for (uint32_t k = 0; k < 4 && k < n; k++) w |= (uint32_t)simt_ld_u8(p + k) << 8 * k;
    return w;
}

/* The digests of slots s to s + 15; 0 past the end of the bucket. One load if `slots` is a multiple of 16, else loads
 * of words or bytes. */
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

/* Word k of four; k is a constant where it is called. */
SIMT_FN uint32_t hkv_word_of(simt_v4 d, uint32_t k) { return k == 0 ? d.x : k == 1 ? d.y : k == 2 ? d.z : d.w; }

/* One bit for each equal byte, of four bytes or of sixteen. */
SIMT_FN uint32_t hkv_bits4(uint32_t a, uint32_t b) { return (simt_eq4(a, b) & 0x01010101u) * 0x10204080u >> 28; }
SIMT_FN uint32_t hkv_bits16(simt_v4 d, uint32_t b)
{
    return hkv_bits4(d.x, b) | hkv_bits4(d.y, b) << 4 | hkv_bits4(d.z, b) << 8 | hkv_bits4(d.w, b) << 12;
}

/* Reads the keys of the slots from s on whose byte in `match` is set. Returns the slot that has `key`, or `none`.
 * contended: updates may own entries; then the loads are relaxed, and a reserved key sets *busy. */
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

/* A mask of the bytes of a word that are slots of the bucket, if `left` slots are left. */
SIMT_FN uint32_t hkv_within(uint32_t left) { return left >= 4 ? 0xffffffffu : (1u << 8 * left) - 1; }

/* Counts the empty slots among the four whose digests are in `word`, from slot s on, and notes the first one. */
SIMT_FN void hkv_note_empties(uint32_t word, uint32_t s, uint32_t slots, hkv_seen_bucket *r)
{
    uint32_t empty = simt_eq4(word, HKV_NO_DIGEST) & hkv_within(slots - s);
    if (empty && r->empty == slots) r->empty = s + (simt_ffs(empty) - 1) / 8;
    r->empties += simt_popc(empty) / 8;
}

/* Searches bucket b for `key`. digest: the digests of the bucket, in the table or copied. room: also look for empty
 * slots. Each lane compares sixteen slots at a time, so a tile of 8 lanes compares 128 slots in one turn. The search
 * stops at the key. */
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
                uint32_t w = hkv_word_of(d, k), at = s + 4 * k;
                uint32_t match = simt_eq4(w, pattern);
                if (match && mine == slots)
                    mine = hkv_slot_among(keys, v->step, at, match, key, contended, slots, &busy);
                if (room && at < slots) hkv_note_empties(w, at, slots, &r);
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
