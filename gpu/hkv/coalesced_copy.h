/* SPDX-License-Identifier: Apache-2.0
 *
 * coalesced_copy.h - what a warp of coalesced.h copies together: blocks of at most 128 bytes into its rows of shared
 * memory, and the values of its 32 items.
 */
#ifndef HKV_COALESCED_COPY_H
#define HKV_COALESCED_COPY_H

#include "gpu/hkv/kernels.h"

enum {
    HKV_COALESCED_THREADS = 128,
    HKV_COALESCED_ROW =
        144 /* bytes: a line of 128, and 16 that shift each row by four banks; 8 of these count outcomes */
};

/* For each lane with `wanted`: copies `bytes` bytes (16, 32, 64 or 128) from base + number * bytes into the lane's row.
 * `number` is below 2^32, because no table has 2^32 buckets or 2^32 groups of eight entries; so one 32-bit shuffle
 * passes it on. constant: no item of the launch writes the block, so a block that many items read comes from the
 * first-level cache. Otherwise the copies are relaxed, because other items may write the block. */
SIMT_FN void hkv_rows_fetch(simt_tile w, uint8_t *rows, const uint8_t *base, uint64_t number, bool wanted,
                            uint32_t bytes, bool constant)
{
    uint32_t lanes = bytes / 16, row = w.rank / lanes, at = 16 * (w.rank % lanes), who = simt_ballot(w, wanted) >> row;
    uint8_t *to = rows + row * HKV_COALESCED_ROW + at;
    simt_sync_tile(w); /* every lane has finished reading its row */
    SIMT_UNROLL
    for (uint32_t r = 0; r < 32; r += 32 / lanes) {
        uint64_t n = simt_shfl_u32(w, (uint32_t)number, row + r);
        if (who >> r & 1 && constant) simt_copy16_const_async(to + r * HKV_COALESCED_ROW, base + at + n * bytes);
        if (who >> r & 1 && !constant) simt_copy16_rlx_async(to + r * HKV_COALESCED_ROW, base + at + n * bytes);
    }
    simt_copy_commit();
    simt_copy_wait(0);
    simt_sync_tile(w);
}

/* Each lane with `wanted` copies its value alone. If `from` is NULL, it writes zeros. hkv_rows_copy() calls this if an
 * address or the size is no multiple of 16. */
SIMT_FN void hkv_rows_copy_alone(uint8_t *to, const uint8_t *from, bool wanted, uint32_t bytes)
{
    if (wanted && from) hkv_copy(simt_tile_of(1), to, from, bytes, true);
    if (wanted && !from) hkv_zero(simt_tile_of(1), to, bytes);
    simt_join();
}

/* How a warp shares out values of `pieces` pieces of 16 bytes. 2^bits lanes take one value together, and every lane
 * takes one piece in each of `rounds` rounds. 2^bits is the number of pieces, rounded up to a power of two, and at most
 * 32. */
typedef struct hkv_shares {
    uint32_t bits, pieces, rounds;
} hkv_shares;

typedef struct hkv_share {
    uint8_t *to; /* NULL: the lane has no piece in this round */
    const uint8_t *from;
} hkv_share;

SIMT_FN hkv_shares hkv_shares_of(uint32_t pieces)
{
    hkv_shares s;
    s.bits = 0;
    s.pieces = pieces;
    while (s.bits < 5 && 1u << s.bits < pieces) s.bits++;
    s.rounds = (pieces + (1u << s.bits) - 1) >> s.bits << s.bits;
    return s;
}

/* The lane's piece of a round. to, from: the value of each lane of `who`; from may be NULL. */
SIMT_FN hkv_share hkv_share_of(simt_tile w, hkv_shares s, uint32_t round, uint8_t *to, const uint8_t *from,
                               uint32_t who)
{
    uint32_t last = (1u << s.bits) - 1, p = (round >> s.bits << s.bits) + (w.rank & last),
             owner = ((round & last) << (5 - s.bits)) + (w.rank >> s.bits);
    hkv_share x;
    x.from = (const uint8_t *)(uintptr_t)simt_shfl_u64(w, (uintptr_t)from, owner);
    x.to = (uint8_t *)(uintptr_t)simt_shfl_u64(w, (uintptr_t)to, owner);
    if (x.from) x.from += 16 * p;
    x.to = p < s.pieces && who >> owner & 1 ? x.to + 16 * p : (uint8_t *)0;
    return x;
}

/* Copies one value for each lane of `who`; from NULL: writes zeros. Each lane has up to four loads in flight. */
SIMT_FN void hkv_rows_copy_pieces(simt_tile w, uint8_t *to, const uint8_t *from, uint32_t who, uint32_t pieces)
{
    hkv_shares s = hkv_shares_of(pieces);
    for (uint32_t first = 0; first < s.rounds; first += 4) {
        simt_v4 piece[4];
        uint8_t *target[4];
        SIMT_UNROLL
        for (uint32_t k = 0; k < 4; k++) {
            target[k] = (uint8_t *)0;
            if (first + k >= s.rounds) continue;
            hkv_share x = hkv_share_of(w, s, first + k, to, from, who);
            target[k] = x.to;
            piece[k].x = piece[k].y = piece[k].z = piece[k].w = 0;
            if (x.to && x.from) piece[k] = simt_ldcs_v4((const simt_v4 *)(const void *)x.from);
        }
        SIMT_UNROLL
        for (uint32_t k = 0; k < 4; k++)
            if (target[k]) simt_stcs_v4((simt_v4 *)(void *)target[k], piece[k]);
    }
    simt_join();
}

/* Adds the item's value to its entry's, for each lane with `wanted`. The warp shares the work as in hkv_rows_copy(). */
SIMT_FN void hkv_rows_add(simt_tile w, const hkv_args *a, uint8_t *to, const uint8_t *from, bool wanted)
{
    uint32_t bytes = a->v.value_bytes, who = simt_ballot(w, wanted);
    if (!who) return;
    if (!simt_all(w, !wanted || ((uintptr_t)to | (uintptr_t)from | bytes) % 16 == 0)) {
        if (wanted) gpu_add(simt_tile_of(1), to, from, bytes, a->elem);
        simt_join();
        return;
    }
    hkv_shares s = hkv_shares_of(bytes / 16);
    SIMT_ROLLED
    for (uint32_t round = 0; round < s.rounds; round++) {
        hkv_share x = hkv_share_of(w, s, round, to, from, who);
        if (!x.to) continue;
        simt_v4 *sum = (simt_v4 *)(void *)x.to;
        simt_v4 old = simt_ld_v4(sum);
        simt_v4 more = simt_ldcs_v4((const simt_v4 *)(const void *)x.from);
        simt_st_v4(sum, gpu_piece_sum(a->elem, old, more));
    }
    simt_join();
}

/* Copies one value for each lane with `wanted`; from NULL: writes zeros. The warp shares the work if all addresses and
 * the size are multiples of 16. */
SIMT_FN void hkv_rows_copy(simt_tile w, uint8_t *to, const uint8_t *from, bool wanted, uint32_t bytes)
{
    uint32_t low = (uint32_t)((uintptr_t)to | (uintptr_t)from | bytes), who = simt_ballot(w, wanted);
    if (!who) return;
    if (!simt_all(w, !wanted || low % 16 == 0))
        hkv_rows_copy_alone(to, from, wanted, bytes);
    else
        hkv_rows_copy_pieces(w, to, from, who, bytes / 16);
}

/* hkv_move() for the lanes with `moves`, by the whole warp: first the old values go out, then the new values go in.
 * find_or_insert needs both addresses, and all registers: it computes them here. */
SIMT_FN void hkv_rows_move(simt_tile w, const hkv_args *a, uint32_t family, const hkv_one *o, bool moves)
{
    uint32_t bytes = a->v.value_bytes;
    uint8_t *to = o->out;
    const uint8_t *from = o->in;
    if (a->op == HD_OP_FIND_OR_INSERT) {
        bool found = hkv_was_found(o->outcome) && a->value_out;
        to = found ? a->value_out + o->i * bytes : (uint8_t *)0;
        from = a->value ? a->value + o->i * bytes : (const uint8_t *)0;
    }
    moves = moves && o->entry != HKV_NONE && bytes != 0;
    /* The family is constant, and in most kernels the operation, too. The code of other operations is then left out,
     * and the kernel fits into the instruction cache. A false condition of each lane would not do: it goes through a
     * vote. */
    bool may_deliver = hkv_delivers_value(a->op) || a->op == HD_OP_INSERT_AND_EVICT,
         may_zero = family == HKV_UPSERT && a->op == HD_OP_FIND_OR_INSERT_PTR, may_replace = hkv_stores_values(a->op),
         may_add = family == HKV_UPSERT && a->op == HD_OP_ACCUM_OR_ASSIGN;
    bool out = may_deliver && moves && to, adds = may_add && moves && o->change == HKV_ADD,
         replace = moves && ((may_replace && o->change == HKV_REPLACE && from) || (may_zero && o->change == HKV_ZERO));
    if (!may_deliver && !may_zero && !may_replace) return;
    uint8_t *value = moves ? hkv_value(&a->v, o->entry) : (uint8_t *)0;
    if (simt_any(w, out || replace || adds)) {
        simt_sync_tile(w); /* extends each owner's acquire to the warp */
        if (may_deliver) hkv_rows_copy(w, to, value, out, bytes);
        simt_sync_tile(w);
        if (may_zero || may_replace) hkv_rows_copy(w, value, may_zero ? (const uint8_t *)0 : from, replace, bytes);
        if (may_add) hkv_rows_add(w, a, value, from, adds);
        simt_sync_tile(w);
    }
    simt_join();
}

#endif
