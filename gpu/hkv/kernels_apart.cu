/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels_apart.cu - the HKV kernels that score items, for tables whose policy spares entries, reads the least
 * score (gpu/hkv/spare.h) or takes logarithms, be it a row or expressions.
 */
#define HKV_EXPRESSIONS    1
#define HKV_APART          1
#define HKV_REGISTRY       hkv_cuda_apart_variants
#define HKV_SCORES(a)      (((a)->policy_flags & HD_COMPILED_APART) != 0)
#define HKV_SCORING_ENTRY  hkv_apart_entry
#define HKV_SCORING_MODULE hkv_apart_module
#include "gpu/hkv/kernels_scoring.inc"
