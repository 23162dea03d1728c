/* SPDX-License-Identifier: Apache-2.0
 *
 * add.h - accum_or_assign's arithmetic, element by element, on values in device memory. f16 and bf16 are widened, added
 * as f32 and rounded to nearest even (simt/float.h); integers wrap. Written apart from ref/accum.c, which judges it.
 */
#ifndef GPU_ADD_H
#define GPU_ADD_H

#include "heddle.h"
#include "simt/simt.h"

SIMT_FN uint32_t gpu_elem_bytes(uint32_t elem)
{
    return elem == HD_F16 || elem == HD_BF16 ? 2 : elem == HD_F32 || elem == HD_I32 ? 4 : 8;
}

SIMT_FN uint64_t gpu_sum(uint32_t elem, uint64_t a, uint64_t b)
{
    switch (elem) {
    case HD_F32: return simt_sum_f32((uint32_t)a, (uint32_t)b);
    case HD_F16: return simt_sum_f16((uint32_t)a, (uint32_t)b);
    case HD_BF16: return simt_sum_bf16((uint32_t)a, (uint32_t)b);
    default: return a + b; /* what is too much is cut off by the store */
    }
}

/* An element of n bytes, by one access where it lies on a multiple of n, else by bytes. */
SIMT_FN uint64_t gpu_elem_load(const uint8_t *p, uint32_t n)
{
    uint64_t x = 0;
    if (n == 8 && (uintptr_t)p % 8 == 0) return simt_ld_u64((const uint64_t *)(const void *)p);
    if (n == 4 && (uintptr_t)p % 4 == 0) return simt_ld_u32((const uint32_t *)(const void *)p);
    for (uint32_t k = 0; k < n; k++) x |= (uint64_t)simt_ld_u8(p + k) << 8 * k;
    return x;
}

SIMT_FN void gpu_elem_store(uint8_t *p, uint32_t n, uint64_t x)
{
    if (n == 8 && (uintptr_t)p % 8 ==
                      0) { /* GCOVR_EXCL_BR_LINE: here and below, a table's values lie on multiples of their elements */
        simt_st_u64((uint64_t *)(void *)p, x);
    } else if (n == 4 && (uintptr_t)p % 4 == 0) { /* GCOVR_EXCL_BR_LINE */
        simt_st_u32((uint32_t *)(void *)p, (uint32_t)x);
    } else {
        for (uint32_t k = 0; k < n; k++) simt_st_u8(p + k, (uint8_t)(x >> 8 * k));
    }
}

/* *p += x, atomically. Relaxed. */
SIMT_FN void gpu_elem_add(uint32_t elem, uint8_t *p, uint64_t x)
{
    void *at = p;
    switch (elem) {
    case HD_F32: simt_add_f32((uint32_t *)at, (uint32_t)x); break;
    case HD_F16: simt_add_f16((uint16_t *)at, (uint32_t)x); break;
    case HD_BF16: simt_add_bf16((uint16_t *)at, (uint32_t)x); break;
    case HD_I32: simt_add_u32((uint32_t *)at, (uint32_t)x, SIMT_RELAXED); break;
    default: simt_add_u64((uint64_t *)at, x, SIMT_RELAXED); break;
    }
}

/* to[] += from[], shared out over the tile. */
SIMT_FN void gpu_add(simt_tile t, uint8_t *to, const uint8_t *from, uint32_t bytes, uint32_t elem)
{
    uint32_t n = gpu_elem_bytes(elem);
    for (uint32_t at = t.rank * n; at < bytes; at += t.size * n) {
        uint64_t old = gpu_elem_load(to + at, n);
        uint64_t add = gpu_elem_load(from + at, n);
        gpu_elem_store(to + at, n, gpu_sum(elem, old, add));
    }
}

#endif
