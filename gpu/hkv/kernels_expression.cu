/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels_expression.cu - the HKV kernels that score items, for tables whose policy is expressions
 * (policies/program.h). kernels.cu compiles the same code for all other tables: the machine that runs programs would
 * cost them registers and local memory.
 */
#define HKV_EXPRESSIONS 1
#define HKV_APART       0
#define HD_POLICIES_PLAIN
#define HKV_REGISTRY       hkv_cuda_expression_variants
#define HKV_SCORES(a)      ((a)->v.policy == HD_POLICY_EXPRESSION)
#define HKV_SCORING_ENTRY  hkv_expression_entry
#define HKV_SCORING_MODULE hkv_expression_module
#include "gpu/hkv/kernels_scoring.inc"
