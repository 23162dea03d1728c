/* SPDX-License-Identifier: Apache-2.0
 *
 * expressions.h - kernels for tables whose policy is expressions, or spares entries, which are compiled separately.
 */
#ifndef HKV_EXPRESSIONS_H
#define HKV_EXPRESSIONS_H

#include <stdint.h>

/* The entry point of kernel `kernel` for these arguments, if it scores items and their table has such a policy; NULL:
 * the one for all tables. */
const void *hkv_expression_entry(uint32_t kernel, const void *args);
const void *hkv_apart_entry(uint32_t kernel, const void *args);
const void *hkv_expression_module(void); /* hd_gpu.cuda_module */
const void *hkv_apart_module(void);

#endif
