/* SPDX-License-Identifier: Apache-2.0
 *
 * hkv_gpu.h - HKV to the backends that run its kernels, and its kernels as rows of the registry.
 */
#ifndef HD_HKV_GPU_H
#define HD_HKV_GPU_H

#include "concurrency/word.h"
#include "gpu/hkv/rows.h"
#include "gpu/place.h"
#include "base/backend.h"
#include "base/op.h"

extern const hd_gpu hkv_gpu;
extern const hd_params hkv_params; /* of its reference */

/* Why row `row` (gpu/hkv/rows.h) does not run the batch on such a table; NULL: it does. */
const char *hkv_unfit(uint32_t row, const hd_info *info, const hd_batch *b);

/* hd_kernel_hkv_BACKEND_VARIANT_FAMILY. */
#define HKV_RAN(number, name, what, role, family_, does, variant) [HD_OP_##number] = "hkv." #name "." variant,
#define HKV_ROW(on, variant, family, what)                                                                      \
    static const char *unfit_##variant##_##family(const hd_info *info, const hd_batch *b)                       \
    {                                                                                                           \
        return hkv_unfit(HKV_NUMBER_##variant##_##family, info, b);                                             \
    }                                                                                                           \
    static hd_status launch_##variant##_##family(void *state, const hd_batch *b, hd_when when, uint64_t *tally) \
    {                                                                                                           \
        return hd_##on##_launch(state, HKV_NUMBER_##variant##_##family, b, when, tally);                        \
    }                                                                                                           \
    const hd_kernel hd_kernel_hkv_##on##_##variant##_##family = {                                               \
        "hkv",                                                                                                  \
        #variant,                                                                                               \
        #on,                                                                                                    \
        #on ", " #family ": " what,                                                                             \
        unfit_##variant##_##family,                                                                             \
        launch_##variant##_##family,                                                                            \
        NULL,                                                                                                   \
        { HD_OP_ROWS_WITH(HKV_RAN, #variant) },                                                                 \
    };

#endif
