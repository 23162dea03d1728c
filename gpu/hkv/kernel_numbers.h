/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_numbers.h - the kernels that are no variant's, by number.
 */
#ifndef HKV_KERNEL_NUMBERS_H
#define HKV_KERNEL_NUMBERS_H

#include "base/variant.h"

/* The numbers of kernels that batches share. Below them are the rows of the variants, in their order. */
typedef enum hkv_kernel {
    HKV_NUMBER_list = HD_SHARED_KERNELS,
    HKV_NUMBER_fetch_sort,
    HKV_NUMBER_fetch_values,
    HKV_NUMBER_groups_claim,
    HKV_NUMBER_groups_join,
    HKV_NUMBER_groups_pick,
    HKV_NUMBER_groups_deliver,
    HKV_NUMBER_pointers,
    HKV_NUMBER_moment,
    HKV_NUMBER_grow_strays, /* calls of the whole table: gpu/hkv/whole.c */
    HKV_NUMBER_grow,
    HKV_NUMBER_check,
    HKV_NUMBER_word_enter, /* of a batch lock: concurrency/word.h */
    HKV_NUMBER_word_leave,
    HKV_KERNELS
} hkv_kernel;

#endif
