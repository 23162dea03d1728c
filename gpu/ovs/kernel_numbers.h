/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_numbers.h - the numbers of the kernels that belong to no variant.
 */
#ifndef OVS_KERNEL_NUMBERS_H
#define OVS_KERNEL_NUMBERS_H

#include "base/variant.h"

/* The numbers of kernels that batches share. Below them are the rows of the variants, in their order. */
typedef enum ovs_kernel {
    OVS_NUMBER_list = HD_SHARED_KERNELS,
    OVS_NUMBER_codes,
    OVS_NUMBER_sort_count,
    OVS_NUMBER_sort_scan,
    OVS_NUMBER_sort_lay,
    OVS_NUMBER_split,
    OVS_NUMBER_merge,
    OVS_NUMBER_unmerge,
    OVS_NUMBER_settle,
    OVS_NUMBER_move,
    OVS_NUMBER_check,
    OVS_NUMBER_shut,
    OVS_NUMBER_renew,
    OVS_NUMBER_word_enter, /* of a batch lock: concurrency/word.h */
    OVS_NUMBER_word_leave,
    OVS_NUMBER_range_count, /* of tables with ranges: range.h */
    OVS_NUMBER_range_median,
    OVS_NUMBER_range_halve,
    OVS_NUMBER_range_join,
    OVS_NUMBER_range_unjoin,
    OVS_NUMBER_range_move,
    OVS_KERNELS
} ovs_kernel;

#endif
