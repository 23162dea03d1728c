/* SPDX-License-Identifier: Apache-2.0
 *
 * bytes.h - the bytes of values, by the lanes of a tile.
 */
#ifndef GPHASH_BYTES_H
#define GPHASH_BYTES_H

#include "gpu/warp.h"
#include "gpu/words.h"

/* Copies a value, a lane some bytes of it. The places of one side may be anywhere. */
SIMT_FN void gphash_copy(simt_tile w, uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    uint32_t low = (uint32_t)((uintptr_t)to | (uintptr_t)from | bytes);
    if (low % 16 == 0) {
        for (uint32_t at = 16 * w.rank; at < bytes; at += 16 * w.size)
            simt_st_v4((simt_v4 *)(void *)(to + at), simt_ld_v4((const simt_v4 *)(const void *)(from + at)));
    } else {
        for (uint32_t at = w.rank; at < bytes; at += w.size) simt_st_u8(to + at, simt_ld_u8(from + at));
    }
    simt_join();
}

/* to := was + in, element by element. */
SIMT_FN void gphash_add(simt_tile w, uint32_t elem, uint8_t *to, const uint8_t *was, const uint8_t *in, uint32_t bytes)
{
    uint32_t each = gpu_elem_bytes(elem);
    for (uint32_t at = each * w.rank; at < bytes; at += each * w.size)
        gpu_elem_store(to + at, each, gpu_sum(elem, gpu_elem_load(was + at, each), gpu_elem_load(in + at, each)));
    simt_join();
}

#endif
