/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.h - the variants of registry.inc as kernels and as rows. A variant is one file: the text of its kernels,
 * between #ifdef HKV_KERNEL_TEXT and #endif; a function that says which tables it cannot run on, if there are any,
 * between #ifdef HKV_FITS_TEXT and #endif; and a row for each family of operations that it runs,
 *
 *     HKV_KERNEL(variant, family, lanes per item, threads per block, fits, strictness, "one sentence")
 *
 * with the text in hkv_VARIANT_FAMILY(const hkv_args *). From this come hkv_kernel_VARIANT_FAMILY, a kernel of
 * whichever machine compiles it, and hkv_rows[].
 *
 * Where it pays on a GPU, it may ask to be compiled for single operations besides, between #ifdef HKV_SPECIAL and
 * #endif:
 *
 *     HKV_SPECIAL(variant, family, OPERATION, PASS, threads per block, blocks per multiprocessor, and of dual tables)
 *
 * How strictly a row can be judged: EXACT, the result is the reference's to the byte; ORDER, some order of the items,
 * that of the tickets, gives it; CHOICE, the same, but of two buckets with room, or of two full ones, it takes the one
 * that was to be taken when it looked.
 */
#ifndef HKV_KERNELS_H
#define HKV_KERNELS_H

#include "concurrency/word.h"
#include "gpu/hkv/fetch.h"
#include "gpu/hkv/list.h"
#include "gpu/hkv/passes.h"
#include "gpu/hkv/promote.h"

#define HKV_KERNEL_TEXT
#define HKV_KERNEL(variant, family, lanes, threads, fits, strictness, what)
#include "gpu/hkv/registry.inc"
#undef HKV_KERNEL
#undef HKV_KERNEL_TEXT

#define HKV_KERNEL(variant, family, lanes, threads, fits, strictness, what) \
    SIMT_KERNEL(hkv_kernel_##variant##_##family, hkv_args, a) { hkv_##variant##_##family(&a); }
#include "gpu/hkv/registry.inc"
#undef HKV_KERNEL

/* What the items of a window had to list. */
SIMT_KERNEL(hkv_kernel_list, hkv_args, a) { hkv_list(&a, HKV_BY_WARP, (uint8_t *)0); }

/* What the items of a window wait for. */
SIMT_KERNEL(hkv_kernel_fetch_sort, hkv_args, a) { hkv_fetch_sort(&a); }
SIMT_KERNEL(hkv_kernel_fetch_values, hkv_args, a) { hkv_fetch_values(&a); }

/* Before and after a batch under the batch lock group3. */
SIMT_KERNEL(hkv_kernel_word_enter, hd_word_args, a) { hd_word_enter(&a); }
SIMT_KERNEL(hkv_kernel_word_leave, hd_word_args, a) { hd_word_leave(&a); }

#endif
