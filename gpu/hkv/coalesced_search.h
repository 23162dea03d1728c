/* SPDX-License-Identifier: Apache-2.0
 *
 * coalesced_search.h - how an item of coalesced.h finds its key: the warp fetches the digests of 32 buckets as rows.
 * Each lane then compares its row, and the keys whose digest matches.
 */
#ifndef HKV_COALESCED_SEARCH_H
#define HKV_COALESCED_SEARCH_H

#include "gpu/hkv/coalesced_copy.h"

/* One bit per slot of a row, 32 slots per word. The compare takes four digests at a time, so the bits are permuted: bit
 * 8b + j of a word is slot 4j + b of its 32 slots.
 *
 *     bit    0  1  2 ..  7 |  8  9 .. 15 | 16 .. 23 | 24 .. 31
 *     slot   0  4  8 .. 28 |  1  5 .. 29 |  2 .. 30 |  3 .. 31
 */
typedef struct hkv_row_bits {
    simt_v4 match, empty;
} hkv_row_bits;

/* Sets the highest bit of each byte: 1 if the byte of x is 0. The other bits are not defined. */
SIMT_FN uint32_t hkv_zeros4(uint32_t x) { return ~(((x & 0x7f7f7f7fu) + 0x7f7f7f7fu) | x); }

/* Shifts in the bits of the next four slots. x: zero bytes are matches. After eight calls the word is complete. */
SIMT_FN uint32_t hkv_bits_add(uint32_t bits, uint32_t x) { return (bits >> 1) | (hkv_zeros4(x) & 0x80808080u); }

/* Finds the digests of a row that are `wanted` and, if `room`, those that are 0 (empty slots). The loop is kept rolled:
 * if a kernel is longer than the instruction cache, its warps wait for instructions more than for memory. A row of 16
 * slots is compared twice, because a word is complete after 32 slots; `counts` clears the second result. */
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

/* The first word that is not 0, and its first slot in *base. */
SIMT_FN uint32_t hkv_bits_word(simt_v4 bits, uint32_t *base)
{
    *base = bits.x ? 0 : bits.y ? 32 : bits.z ? 64 : 96;
    return bits.x ? bits.x : bits.y ? bits.y : bits.z ? bits.z : bits.w;
}

/* Clears the lowest bit and returns its slot; 128: no bit is set. */
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

/* The lowest slot whose bit is set; a bit must be set. */
SIMT_FN uint32_t hkv_first_slot(simt_v4 bits)
{
    uint32_t base, word = hkv_bits_word(bits, &base), either = word | word >> 16,
                   four = simt_ffs((either | either >> 8) & 255) - 1;
    return base + 4 * four + (simt_ffs(word >> four & 0x01010101u) - 1) / 8;
}

/* hkv_look() on a row: each lane with `wanted` compares its digests and reads the keys that match. contended: other
 * items may change keys; then loads are relaxed, and in layout pairs the score comes with the key, in o->score.
 * (Comparing and claiming by one CAS, without the load, was slower in measurements.) */
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
            if (contended && there >= HD_KEY_RESERVED) r.busy = true; /* the entry is owned: its key may be ours */
        }
    }
    if (contended) simt_sync_tile(w); /* lanes with more keys to compare meet the others here, before the code below */
    if (wanted && room && r.slot == v->slots) {
        r.empties =
            simt_popc(bits.empty.x) + simt_popc(bits.empty.y) + simt_popc(bits.empty.z) + simt_popc(bits.empty.w);
        if (r.empties) r.empty = hkv_first_slot(bits.empty);
    }
    return r;
}

/* hkv_search() for the lanes with `wanted`: the first bucket, and in dual mode the second if the key is not in the
 * first. Sets o->entry, o->at_first and o->at_second. constant: no item of the launch writes digests. */
SIMT_FN void hkv_rows_search(simt_tile w, const hkv_args *a, uint8_t *rows, const uint8_t *row, hkv_one *o, bool wanted,
                             bool contended, bool room, bool constant)
{
    const hkv_view *v = &a->v;
    if (wanted) o->entry = HKV_NONE;
    SIMT_ROLLED
    for (uint32_t k = 0; k <= v->dual; k++) {
        if (k && !simt_any(w, wanted)) return;
        uint64_t b = k ? o->second : o->first;
        hkv_rows_fetch(w, rows, v->digest, b, wanted, v->slots, constant);
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

#endif
