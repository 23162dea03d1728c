/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_numbers.h - the numbers of the kernels that belong to no variant.
 */
#ifndef HIVE_KERNEL_NUMBERS_H
#define HIVE_KERNEL_NUMBERS_H

#include "base/variant.h"

/* The numbers of kernels that batches share. Below them are the rows of the variants, in their order. */
typedef enum hive_kernel {
    HIVE_NUMBER_list = HD_SHARED_KERNELS,
    HIVE_NUMBER_split,
    HIVE_NUMBER_restash,
    HIVE_NUMBER_measure,
    HIVE_NUMBER_merge,
    HIVE_NUMBER_thin,
    HIVE_NUMBER_check,
    HIVE_NUMBER_settle,
    HIVE_NUMBER_word_enter, /* of a batch lock: concurrency/word.h */
    HIVE_NUMBER_word_leave,
    HIVE_KERNELS
} hive_kernel;

#endif
