/* SPDX-License-Identifier: Apache-2.0
 *
 * check.h - kernels over a table at rest: hd_check, and the end of hd_load, so that no table is copied to the host for
 * them. A lane takes a slot. A slot is asked in the order of the rules, as the reference does (ref/hive/check.c), and
 * the first slot that breaks one is reported.
 *
 * Reads per slot: its word; per entry all words of the buckets on its key's way, up to its own bucket. Most keys are in
 * their first candidate, which is their own bucket.
 */
#ifndef HIVE_CHECK_H
#define HIVE_CHECK_H

#include "gpu/hive/check_args.h"
#include "gpu/hive/word.h"
#include "gpu/words.h"

/* ---- The way of a key, bucket by bucket ------------------------------------------------------ */

SIMT_FN uint64_t hive_way_bucket(const hive_view *v, uint64_t h, uint64_t step, uint64_t before)
{
    if (step < v->hashes) return hive_candidate(v, h, (uint32_t)step);
    return step == v->hashes ? hive_ring(v, h) : hive_ring_next(v, before);
}

/* What a bucket has. */
typedef struct hive_bucket_words {
    uint32_t slot; /* the first one with the key; v->slots: none */
    uint32_t fresh, first_fresh;
    uint32_t free; /* slots, as bits */
} hive_bucket_words;

SIMT_FN hive_bucket_words hive_read_bucket(const hive_view *v, uint64_t b, uint64_t key)
{
    hive_bucket_words seen = { v->slots, 0, 0, 0 };
    uint8_t *p = (uint8_t *)hive_bucket(v, b);
    SIMT_ROLLED
    for (uint32_t s = v->slots; s-- > 0;) {
        uint64_t word = hive_load_at(v, p + s * hive_word_bytes(v));
        if (hive_key_of(v, word) == key) seen.slot = s;
        if (hive_is_free(v, word)) seen.free |= 1u << s;
        if (word != hive_fresh(v)) continue;
        seen.fresh++;
        seen.first_fresh = s;
    }
    return seen;
}

/* ---- hd_check -------------------------------------------------------------------------------- */

SIMT_FN uint32_t hive_check_key(const hive_check_args *a, uint64_t e, uint64_t key)
{
    const hive_view *v = &a->v;
    uint64_t h = hive_hash(v, key), b = 0;
    if (!hive_is_home(v, h, e / v->slots)) return HIVE_RULE_BUCKET;
    SIMT_ROLLED
    for (uint64_t step = 0; step < v->hashes + v->stash_buckets; step++) {
        if (step == v->hashes && simt_ldrlx_u64(a->stashed) == 0) break;
        b = hive_way_bucket(v, h, step, b);
        const hive_bucket_words seen = hive_read_bucket(v, b, key);
        if (seen.slot < v->slots) return b * v->slots + seen.slot == e ? HIVE_RULES : HIVE_RULE_TWICE;
        if (seen.fresh > hive_spare(v, b)) break;
    }
    return HIVE_RULE_OPEN;
}

SIMT_FN uint32_t hive_check_bucket(const hive_view *v, uint64_t b)
{
    if (!v->masks) return HIVE_RULES;
    if (simt_ldrlx_u32(hive_lock(v, b))) return HIVE_RULE_LOCKED;
    uint32_t free = hive_read_bucket(v, b, hive_keys(v)).free;
    return simt_ldrlx_u32(hive_mask(v, b)) == free ? HIVE_RULES : HIVE_RULE_MASK;
}

SIMT_FN uint32_t hive_check_slot(const hive_check_args *a, uint64_t e, uint64_t word)
{
    const hive_view *v = &a->v;
    uint32_t wrong = e % v->slots ? HIVE_RULES : hive_check_bucket(v, e / v->slots);
    if (wrong != HIVE_RULES) return wrong;
    if (word == hive_fresh(v) || word == hive_vacant(v)) return HIVE_RULES;
    if (hive_is_free(v, word)) return HIVE_RULE_FREE;
    return hive_is_key(v, word) ? hive_check_key(a, e, hive_key_of(v, word)) : HIVE_RULE_CLAIMED;
}

SIMT_FN void hive_check_slots(const hive_check_args *a)
{
    const hive_view *v = &a->v;
    uint64_t stashed = 0;
    for (uint64_t e = gpu_thread(); e < hive_places(v); e += gpu_threads()) {
        uint64_t word = hive_load(v, e);
        uint32_t wrong = hive_check_slot(a, e, word);
        stashed += e >= hive_capacity(v) && hive_is_key(v, word);
        if (wrong != HIVE_RULES) simt_max_u64(&a->words->first, ~(HIVE_RULES * e + wrong), SIMT_RELAXED);
    }
    gpu_add_up(&a->words->stashed, stashed);
}

/* ---- The end of hd_load ---------------------------------------------------------------------- */

/* Bucket b is not open from now on: fresh slots become vacant, the first ones first. */
SIMT_FN void hive_shut(const hive_view *v, uint64_t b)
{
    for (;;) {
        const hive_bucket_words seen = hive_read_bucket(v, b, hive_keys(v));
        if (seen.fresh <= hive_spare(v, b)) return;
        hive_cas(v, b * v->slots + seen.first_fresh, hive_fresh(v), hive_vacant(v)); /* or another lane's has been */
    }
}

/* The table's words have been written, each slot by itself. What follows from them is written here: buckets that a key
 * has passed are not open, masks say what is free, no bucket is locked, and the stash has the entries that it has. */
SIMT_FN void hive_settle_slots(const hive_check_args *a)
{
    const hive_view *v = &a->v;
    uint64_t stashed = 0;
    for (uint64_t e = gpu_thread(); e < hive_places(v); e += gpu_threads()) {
        uint64_t word = hive_load(v, e), own = e / v->slots, b = 0;
        if (v->masks && e % v->slots == 0) {
            simt_strlx_u32(hive_mask(v, own), hive_read_bucket(v, own, hive_keys(v)).free);
            simt_strlx_u32(hive_lock(v, own), 0);
        }
        if (!hive_is_key(v, word)) continue;
        stashed += e >= hive_capacity(v);
        uint64_t h = hive_hash(v, hive_key_of(v, word));
        SIMT_ROLLED
        for (uint64_t step = 0; step < v->hashes + v->stash_buckets; step++) {
            b = hive_way_bucket(v, h, step, b);
            if (b == own) break;
            hive_shut(v, b);
        }
    }
    gpu_add_up(a->stashed, stashed);
}

#endif
