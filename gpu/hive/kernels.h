/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.h - what the text of a variant may use, and the kernels that all variants share.
 *
 * A variant is one file: its functions; an entry point for each family of operations that it runs,
 *
 *     SIMT_ENTRY(hive_kernel_VARIANT_FAMILY, hive_args, hive_VARIANT_FAMILY)
 *
 * a function that says on which tables it cannot run, if there are any; a table hive_variant_VARIANT (base/variant.h)
 * that names them all; and the line HIVE_LISTED(hive_variant_VARIANT). gpu/hive/registry.inc lists the files.
 * kernels.cu has further entry points for a GPU: for single operations on usual tables.
 */
#ifndef HIVE_KERNELS_H
#define HIVE_KERNELS_H

#include "concurrency/word.h"
#include "gpu/hive/check.h"
#include "gpu/hive/merge.h"
#include "gpu/hive/variant.h"
#include "gpu/hive/whole.h"

/* What the items of a window had to list. */
SIMT_ENTRY(hive_kernel_list, hive_args, hive_list)

/* A table that grows, or shrinks. */
SIMT_ENTRY(hive_kernel_split, hive_args, hive_split_buckets)
SIMT_ENTRY(hive_kernel_restash, hive_args, hive_restash_slots)
SIMT_ENTRY(hive_kernel_measure, hive_args, hive_measure_pairs)
SIMT_ENTRY(hive_kernel_merge, hive_args, hive_merge_pairs)
SIMT_ENTRY(hive_kernel_thin, hive_args, hive_thin_pairs)

/* hd_check, and the end of hd_load. */
SIMT_ENTRY(hive_kernel_check, hive_check_args, hive_check_slots)
SIMT_ENTRY(hive_kernel_settle, hive_check_args, hive_settle_slots)

/* Before and after a batch under the batch lock group3. */
SIMT_ENTRY(hive_kernel_word_enter, hd_word_args, hd_word_enter)
SIMT_ENTRY(hive_kernel_word_leave, hd_word_args, hd_word_leave)

#endif
