/* SPDX-License-Identifier: Apache-2.0
 *
 * value.h - moves values, shared by the lanes of a tile: copy, add, clear; first out of the table, then into it.
 */
#ifndef HKV_VALUE_H
#define HKV_VALUE_H

#include "gpu/add.h"
#include "gpu/hkv/item.h"

/* Copies a value by the widest access that both addresses and the size allow. Streaming stores leave the caches to
 * digests and keys. */
SIMT_FN void hkv_copy(simt_tile t, uint8_t *to, const uint8_t *from, uint32_t bytes, bool streaming)
{
    uint32_t low = (uint32_t)((uintptr_t)to | (uintptr_t)from | bytes);
    if (low % 16 == 0) {
        for (uint32_t at = 16 * t.rank; at < bytes; at += 16 * t.size) {
            simt_v4 w = simt_ld_v4((const simt_v4 *)(const void *)(from + at));
            if (streaming)
                simt_stcs_v4((simt_v4 *)(void *)(to + at), w);
            else
                simt_st_v4((simt_v4 *)(void *)(to + at), w);
        }
    } else if (low % 8 == 0) {
        for (uint32_t at = 8 * t.rank; at < bytes; at += 8 * t.size)
            simt_st_u64((uint64_t *)(void *)(to + at), simt_ld_u64((const uint64_t *)(const void *)(from + at)));
    } else if (low % 4 == 0) {
        for (uint32_t at = 4 * t.rank; at < bytes; at += 4 * t.size)
            simt_st_u32((uint32_t *)(void *)(to + at), simt_ld_u32((const uint32_t *)(const void *)(from + at)));
    } else {
        for (uint32_t at = t.rank; at < bytes; at += t.size) simt_st_u8(to + at, simt_ld_u8(from + at));
    }
    simt_join();
}

/* Swaps two values. */
SIMT_FN void hkv_swap(simt_tile t, uint8_t *x, uint8_t *y, uint32_t bytes)
{
    uint32_t low = (uint32_t)((uintptr_t)x | (uintptr_t)y | bytes);
    if (low % 16 == 0) {
        for (uint32_t at = 16 * t.rank; at < bytes; at += 16 * t.size) {
            simt_v4 p = simt_ld_v4((const simt_v4 *)(const void *)(x + at)),
                    q = simt_ld_v4((const simt_v4 *)(const void *)(y + at));
            simt_st_v4((simt_v4 *)(void *)(x + at), q);
            simt_st_v4((simt_v4 *)(void *)(y + at), p);
        }
    } else {
        for (uint32_t at = t.rank; at < bytes; at += t.size) {
            uint8_t p = simt_ld_u8(x + at), q = simt_ld_u8(y + at);
            simt_st_u8(x + at, q);
            simt_st_u8(y + at, p);
        }
    }
    simt_join();
}

/* Sets a value to zeros. */
SIMT_FN void hkv_zero(simt_tile t, uint8_t *to, uint32_t bytes)
{
    uint32_t unit = ((uint32_t)(uintptr_t)to | bytes) % 8 == 0 ? 8 : 1;
    for (uint32_t at = unit * t.rank; at < bytes; at += unit * t.size) {
        if (unit == 8)
            simt_st_u64((uint64_t *)(void *)(to + at), 0);
        else
            simt_st_u8(to + at, 0);
    }
    simt_join();
}

/* Values are cut into pieces of sixteen bytes, and the pieces are dealt to `lanes` lanes in turn. This iterates over
 * the pieces of one lane without a division per step. */
typedef struct hkv_piece {
    uint32_t value, part; /* the lane's current piece: which value, and which part of it */
    uint32_t more, rest;  /* the step to the lane's next piece, in values and in parts   */
    uint32_t pieces;      /* of one value                                                */
} hkv_piece;

SIMT_FN hkv_piece hkv_piece_first(uint32_t lane, uint32_t lanes, uint32_t bytes)
{
    hkv_piece p;
    p.pieces = bytes / 16;
    p.value = lane / p.pieces;
    p.part = lane % p.pieces;
    p.more = lanes / p.pieces;
    p.rest = lanes % p.pieces;
    return p;
}

SIMT_FN void hkv_piece_next(hkv_piece *p)
{
    p->value += p->more;
    p->part += p->rest;
    p->value += p->part >= p->pieces;
    p->part -= p->part >= p->pieces ? p->pieces : 0;
}

/* The widest access, 16, 8, 4 or 1 bytes, of which all these addresses and sizes, combined by "or", are multiples. */
SIMT_FN uint32_t hkv_unit(uintptr_t all) { return all % 16 == 0 ? 16 : all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : 1; }

/* So many bytes of a value, in registers. */
typedef struct hkv_part {
    simt_v4 wide;
    uint64_t narrow;
} hkv_part;

SIMT_FN void hkv_part_load(hkv_part *p, const uint8_t *from, uint32_t unit)
{
    if (unit == 16)
        p->wide = simt_ldcs_v4((const simt_v4 *)(const void *)from);
    else if (unit == 8)
        p->narrow = simt_ld_u64((const uint64_t *)(const void *)from);
    else if (unit == 4)
        p->narrow = simt_ld_u32((const uint32_t *)(const void *)from);
    else
        p->narrow = simt_ld_u8(from);
}

SIMT_FN void hkv_part_store(const hkv_part *p, uint8_t *to, uint32_t unit)
{
    if (unit == 16)
        simt_stcs_v4((simt_v4 *)(void *)to, p->wide);
    else if (unit == 8)
        simt_st_u64((uint64_t *)(void *)to, p->narrow);
    else if (unit == 4)
        simt_st_u32((uint32_t *)(void *)to, (uint32_t)p->narrow);
    else
        simt_st_u8(to, (uint8_t)p->narrow);
}

/* Changes the value at `to` by HKV_REPLACE, HKV_ADD or HKV_ZERO. */
SIMT_FN void hkv_change(simt_tile t, const hkv_args *a, uint32_t change, uint8_t *to, const uint8_t *from,
                        bool streaming)
{
    if (change == HKV_REPLACE && from) hkv_copy(t, to, from, a->v.value_bytes, streaming);
    if (change == HKV_ADD) gpu_add(t, to, from, a->v.value_bytes, a->elem);
    if (change == HKV_ZERO) hkv_zero(t, to, a->v.value_bytes);
}

/* Moves the value of an item: the old one out, then the new one in. */
SIMT_FN void hkv_move(simt_tile t, const hkv_args *a, const hkv_one *o, bool streaming)
{
    if (o->entry == HKV_NONE || a->v.value_bytes == 0) return;
    uint8_t *value = hkv_value(&a->v, o->entry);
    if (o->out) hkv_copy(t, o->out, value, a->v.value_bytes, streaming);
    if (o->change == HKV_KEEP) return;
    if (o->out) HKV_SYNC(t); /* the copy out ends before the value changes */
    hkv_change(t, a, o->change, value, o->in, streaming);
}

#endif
