/* SPDX-License-Identifier: Apache-2.0
 *
 * copy_group.h - from one thread per key to many threads per value: a group of lanes copies the values of its members
 * one after another, through shared memory, where one piece is on its way while the piece before it is written.
 *
 * Each lane fetches and stores its own 16 bytes of every 128, so what comes out of a buffer went in by the same lane.
 */
#ifndef HKV_COPY_GROUP_H
#define HKV_COPY_GROUP_H

#include "gpu/hkv/steps.h"

enum { HKV_GROUP = 8, HKV_PIECE = 64 /* bytes of a lane in one buffer */, HKV_BUFFER = 2 * HKV_PIECE };

/* Starts the copy of this lane's part of a piece into its buffer. */
SIMT_FN void hkv_piece_fetch(simt_tile g, uint8_t *buffer, const uint8_t *from, uint32_t bytes)
{
    for (uint32_t k = 0; k < HKV_PIECE / 16; k++) {
        uint32_t at = 16 * (k * g.size + g.rank);
        if (at < bytes) simt_copy16_async(buffer + 16 * k, from + at);
    }
    simt_copy_commit();
}

SIMT_FN void hkv_piece_store(simt_tile g, const uint8_t *buffer, uint8_t *to, uint32_t bytes)
{
    for (uint32_t k = 0; k < HKV_PIECE / 16; k++) {
        uint32_t at = 16 * (k * g.size + g.rank);
        if (at < bytes)
            simt_st_v4((simt_v4 *)(void *)(to + at), simt_ld_v4((const simt_v4 *)(const void *)(buffer + 16 * k)));
    }
}

/* Copies `bytes` for each lane that wants it. buffer: this lane's own HKV_BUFFER bytes of shared memory. */
SIMT_FN void hkv_group_copy(simt_tile g, uint8_t *buffer, bool wanted, uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    uint32_t low = (uint32_t)((uintptr_t)to | (uintptr_t)from | bytes), left = simt_ballot(g, wanted), turn = 0;
    bool wide = simt_all(g, !wanted || low % 16 == 0);
    uint8_t *last_to = (uint8_t *)0; /* of the piece that is on its way */
    uint32_t last_bytes = 0;
    while (left) {
        uint32_t who = simt_ffs(left) - 1;
        const uint8_t *source = (const uint8_t *)(uintptr_t)simt_shfl_u64(g, (uintptr_t)from, who);
        uint8_t *target = (uint8_t *)(uintptr_t)simt_shfl_u64(g, (uintptr_t)to, who);
        left &= left - 1;
        if (!wide) hkv_copy(g, target, source, bytes, false);
        for (uint32_t at = 0; wide && at < bytes; at += HKV_PIECE * g.size) {
            hkv_piece_fetch(g, buffer + turn % 2 * HKV_PIECE, source + at, bytes - at);
            if (last_to) {
                simt_copy_wait(1);
                hkv_piece_store(g, buffer + (turn + 1) % 2 * HKV_PIECE, last_to, last_bytes);
            }
            last_to = target + at;
            last_bytes = bytes - at;
            turn++;
        }
    }
    if (last_to) {
        simt_copy_wait(0);
        hkv_piece_store(g, buffer + (turn + 1) % 2 * HKV_PIECE, last_to, last_bytes);
    }
    simt_join();
}

/* hkv_move for the members of a group that have got hold of what they need: values out, then values in. */
SIMT_FN void hkv_group_move(simt_tile g, const hkv_args *a, const hkv_one *o, bool got, uint8_t *buffer)
{
    uint32_t bytes = a->v.value_bytes;
    bool moves = got && o->entry != HKV_NONE && bytes != 0;
    bool out = moves && o->out, replace = moves && o->change == HKV_REPLACE && o->in,
         other = moves && (o->change == HKV_ADD || o->change == HKV_ZERO);
    uint8_t *value = moves ? hkv_value(&a->v, o->entry) : (uint8_t *)0;
    if (!simt_any(g, out || replace || other)) return;
    simt_sync_tile(g); /* what its owner may touch, the group may */
    hkv_group_copy(g, buffer, out, o->out, value, bytes);
    simt_sync_tile(g);
    hkv_group_copy(g, buffer, replace, value, o->in, bytes);
    for (uint32_t left = simt_ballot(g, other); left; left &= left - 1) {
        uint32_t who = simt_ffs(left) - 1;
        uint32_t change = simt_shfl_u32(g, o->change, who);
        uint8_t *target = (uint8_t *)(uintptr_t)simt_shfl_u64(g, (uintptr_t)value, who);
        const uint8_t *source = (const uint8_t *)(uintptr_t)simt_shfl_u64(g, (uintptr_t)o->in, who);
        hkv_change(g, a, change, target, source, false);
    }
    simt_sync_tile(g);
}

#endif
