/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.h - the variants of registry.inc as kernels. A variant is one file: its text between #ifdef HIVE_KERNEL_TEXT
 * and #endif, in hive_VARIANT_FAMILY(const hive_args *), and a row for each family of operations that it runs,
 *
 *     HIVE_KERNEL(variant, family, lanes per item, threads per block, fits, strictness, "one sentence")
 *
 * Where it pays on a GPU, it may ask to be compiled for single operations besides, between #ifdef HIVE_SPECIAL and
 * #endif:
 *
 *     HIVE_SPECIAL(variant, family, OPERATION, mixed, distinct, threads, blocks per multiprocessor)
 *
 * From this come hive_kernel_VARIANT_FAMILY, a kernel of whichever machine compiles it, and hive_rows[] (rows.h).
 */
#ifndef HIVE_KERNELS_H
#define HIVE_KERNELS_H

#include "concurrency/word.h"
#include "gpu/each.h"
#include "gpu/hive/merge.h"
#include "gpu/hive/whole.h"

#define HIVE_KERNEL_TEXT
#define HIVE_KERNEL(variant, family, lanes, threads, fits, strictness, what)
#include "gpu/hive/registry.inc"
#undef HIVE_KERNEL
#undef HIVE_KERNEL_TEXT

#define HIVE_KERNEL(variant, family, lanes, threads, fits, strictness, what) \
    SIMT_KERNEL(hive_kernel_##variant##_##family, hive_args, a) { hive_##variant##_##family(&a); }
#include "gpu/hive/registry.inc"
#undef HIVE_KERNEL

/* What the items of a window had to list. */
SIMT_KERNEL(hive_kernel_list, hive_args, a) { hive_list(&a); }

/* A table that grows, or shrinks. */
SIMT_KERNEL(hive_kernel_split, hive_args, a) { hive_split_buckets(&a); }
SIMT_KERNEL(hive_kernel_restash, hive_args, a) { hive_restash_slots(&a); }
SIMT_KERNEL(hive_kernel_measure, hive_args, a) { hive_measure_pairs(&a); }
SIMT_KERNEL(hive_kernel_merge, hive_args, a) { hive_merge_pairs(&a); }
SIMT_KERNEL(hive_kernel_thin, hive_args, a) { hive_thin_pairs(&a); }

/* Before and after a batch under the batch lock group3. */
SIMT_KERNEL(hive_kernel_word_enter, hd_word_args, a) { hd_word_enter(&a); }
SIMT_KERNEL(hive_kernel_word_leave, hd_word_args, a) { hd_word_leave(&a); }

/* After a mixed batch on a device. */
SIMT_KERNEL(hive_kernel_count_each, gpu_each_args, a) { gpu_count_each(&a); }

#endif
