/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels_sparing.cu - the HKV kernels that score items, for tables whose policy spares entries or reads the least
 * score (gpu/hkv/spare.h), be it a row or expressions.
 */
#define HKV_EXPRESSIONS    1
#define HKV_SPARES         1
#define HKV_REGISTRY       hkv_cuda_sparing_variants
#define HKV_SCORES(a)      (((a)->policy_flags & HD_KEEPS_ORDER) != 0)
#define HKV_SCORING_ENTRY  hkv_sparing_entry
#define HKV_SCORING_MODULE hkv_sparing_module
#include "gpu/hkv/kernels_scoring.inc"
