/* SPDX-License-Identifier: Apache-2.0
 *
 * hive_gpu.h - Hive to the backends that run its kernels, and its kernels as rows of the registry.
 */
#ifndef HD_HIVE_GPU_H
#define HD_HIVE_GPU_H

#include "concurrency/word.h"
#include "gpu/hive/rows.h"
#include "gpu/place.h"
#include "base/backend.h"
#include "base/op.h"

extern const hd_gpu hive_gpu;
extern const hd_params hive_params; /* of its reference */

/* Why row `row` (gpu/hive/rows.h) does not run the batch on such a table; NULL: it does. */
const char *hive_unfit_row(uint32_t row, const hd_info *info, const hd_batch *b);

/* hd_kernel_hive_BACKEND_VARIANT_FAMILY. */
#define HIVE_RAN(number, name, what, role, family_, does, variant) [HD_OP_##number] = "hive." #name "." variant,
#define HIVE_ROW(on, variant, family, what)                                                                     \
    static const char *unfit_##variant##_##family(const hd_info *info, const hd_batch *b)                       \
    {                                                                                                           \
        return hive_unfit_row(HIVE_NUMBER_##variant##_##family, info, b);                                       \
    }                                                                                                           \
    static hd_status launch_##variant##_##family(void *state, const hd_batch *b, hd_when when, uint64_t *tally) \
    {                                                                                                           \
        return hd_##on##_launch(state, HIVE_NUMBER_##variant##_##family, b, when, tally);                       \
    }                                                                                                           \
    const hd_kernel hd_kernel_hive_##on##_##variant##_##family = {                                              \
        "hive",                                                                                                 \
        #variant,                                                                                               \
        #on,                                                                                                    \
        #on ", " #family ": " what,                                                                             \
        unfit_##variant##_##family,                                                                             \
        launch_##variant##_##family,                                                                            \
        "hive.mixed." #variant,                                                                                 \
        { HD_OP_ROWS_WITH(HIVE_RAN, #variant) },                                                                \
    };

#endif
