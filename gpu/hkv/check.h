/* SPDX-License-Identifier: Apache-2.0
 *
 * check.h - the kernel of hd_check: every invariant of a table at rest (ref/hkv/layout.h), so that no table has to be
 * copied to the host for it. A warp takes a bucket, a lane a slot of it. A slot is asked in the order of the rules, as
 * the reference does (ref/hkv/check.c), and the first slot that breaks one is reported.
 *
 * Reads per slot: digest, key, score, holder, bound; per entry the digests of its bucket before it, and per ghost the
 * ghosts before it. In dual mode an entry in its second bucket also reads the digests of its first one: this finds a
 * key that is in both.
 */
#ifndef HKV_CHECK_H
#define HKV_CHECK_H

#include "gpu/hkv/check_args.h"
#include "gpu/hkv/scan.h"

/* Whether one of the first `end` slots of a bucket has the key. */
SIMT_FN bool hkv_check_has(const hkv_view *v, uint64_t b, uint32_t end, uint64_t key, uint8_t digest)
{
    uint64_t e = hkv_entry(v, b, 0), last = e + end;
    bool has = false;
    while (e < last) {
        bool whole = e % 16 == 0 && last - e >= 16;
        uint32_t same =
            whole ? hkv_bits16(simt_ld_v4((const simt_v4 *)(const void *)(v->digest + e)), digest * 0x01010101u)
                  : simt_ld_u8(v->digest + e) == digest;
        for (; same; same &= same - 1) has |= simt_ld_u64(hkv_key_at(v, e + simt_ffs(same) - 1)) == key;
        e += whole ? 16 : 1;
    }
    return has;
}

/* Of a slot whose key is not empty. */
SIMT_FN uint32_t hkv_check_entry(const hkv_view *v, uint64_t b, uint32_t s, uint64_t key, uint8_t digest)
{
    if (digest == HKV_NO_DIGEST) return HKV_RULE_NO_DIGEST;
    if (key == HD_KEY_LOCKED) return HKV_RULE_LOCKED;
    if (key == HD_KEY_RESERVED) return HKV_RULE_RESERVED;
    uint64_t h = hd_hash(key, v->seed), first = hd_first_bucket(h, v->buckets);
    if (digest != hd_digest(h)) return HKV_RULE_DIGEST;
    if (!hkv_is_home(v, h, b)) return HKV_RULE_HOME;
    if (hkv_check_has(v, b, s, key, digest)) return HKV_RULE_TWICE;
    return b != first && hkv_check_has(v, first, v->slots, key, digest) ? HKV_RULE_TWICE : HKV_RULES;
}

SIMT_FN uint32_t hkv_check_slot(const hkv_view *v, uint64_t b, uint32_t s, bool pinned)
{
    uint64_t e = hkv_entry(v, b, s), key, score;
    uint8_t digest = simt_ld_u8(v->digest + e);
    hkv_pair_at(v, e, &key, &score);
    if (v->bound && !pinned && simt_ld_u64(v->bound + e / HKV_BOUNDED) > score) return HKV_RULE_BOUND;
    if (key != HD_KEY_EMPTY) return hkv_check_entry(v, b, s, key, digest);
    if (pinned) return HKV_RULE_EMPTY_PINNED;
    if (digest != HKV_NO_DIGEST) return HKV_RULE_EMPTY_DIGEST;
    return score ? HKV_RULE_EMPTY_SCORE : HKV_RULES;
}

/* Whether an earlier ghost of the bucket has the order of that of slot s. */
SIMT_FN bool hkv_check_order(const hkv_view *v, uint64_t b, uint32_t s)
{
    const uint64_t *ghost = v->ghost + hkv_entry(v, b, 0);
    uint64_t word = simt_ld_u64(ghost + s);
    bool twice = false;
    for (uint32_t i = 0; word && i < s; i++) {
        uint64_t other = simt_ld_u64(ghost + i);
        twice = twice || (other && other >> 32 == word >> 32);
    }
    return twice;
}

SIMT_FN void hkv_check_slots(const hkv_check_args *a)
{
    const hkv_view *v = &a->v;
    simt_tile w = simt_tile_of(32);
    uint64_t pinned = 0;
    for (uint64_t b = hkv_warp_number(); b < v->buckets; b += hkv_warps()) {
        for (uint32_t s = w.rank; s < v->slots; s += 32) {
            uint64_t e = hkv_entry(v, b, s);
            bool pin = v->holder && simt_ld_u64(v->holder + e) != 0;
            uint32_t wrong = hkv_check_slot(v, b, s, pin);
            if (wrong == HKV_RULES && v->ghost && hkv_check_order(v, b, s)) wrong = HKV_RULE_GHOST;
            pinned += pin;
            if (wrong != HKV_RULES) simt_max_u64(&a->words->first, ~(HKV_RULES * e + wrong), SIMT_RELAXED);
        }
        simt_join();
    }
    pinned = simt_reduce_add_u64(w, pinned);
    if (w.rank == 0 && pinned) simt_add_u64(&a->words->pinned, pinned, SIMT_RELAXED);
}

#endif
