/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_numbers.h - the numbers of the kernels that are not rows of the variant.
 */
#ifndef GFSL_KERNEL_NUMBERS_H
#define GFSL_KERNEL_NUMBERS_H

#include "base/variant.h"

typedef enum gfsl_kernel {
    GFSL_NUMBER_list = HD_SHARED_KERNELS,
    GFSL_NUMBER_prune,
    GFSL_NUMBER_thin,
    GFSL_NUMBER_relink,
    GFSL_NUMBER_release,
    GFSL_NUMBER_word_enter, /* of a batch lock: concurrency/word.h */
    GFSL_NUMBER_word_leave,
    GFSL_KERNELS
} gfsl_kernel;

#endif
