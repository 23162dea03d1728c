/* SPDX-License-Identifier: Apache-2.0
 *
 * check_args.h - what the kernel of hd_check is given (check.h), for it and for the code that launches it.
 */
#ifndef HKV_CHECK_ARGS_H
#define HKV_CHECK_ARGS_H

#include "gpu/hkv/args.h"

/* What the kernel has found; 0 at its beginning. */
typedef struct hkv_check_words {
    uint64_t first;  /* ~(HKV_RULES x entry + rule), so that the first entry has the greatest number; 0: none breaks a
                        rule */
    uint64_t pinned; /* entries that have a holder */
} hkv_check_words;

typedef struct hkv_check_args {
    hkv_view v;
    hkv_check_words *words;
} hkv_check_args;

#endif
