/* SPDX-License-Identifier: Apache-2.0
 *
 * erased.h - a launch at the end of every batch that erases. It halves the count of each bucket, so old erasures count
 * less than new ones.
 */
#ifndef HKV_ERASED_H
#define HKV_ERASED_H

#include "gpu/hkv/args.h"

SIMT_FN void hkv_erased_halve(const hkv_args *a)
{
    uint64_t step = (uint64_t)simt_blocks() * simt_threads();
    for (uint64_t b = (uint64_t)simt_block() * simt_threads() + simt_thread(); b < a->v.buckets; b += step)
        simt_st_u32(a->erased + b, simt_ld_u32(a->erased + b) / 2);
}

#endif
