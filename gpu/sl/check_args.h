/* SPDX-License-Identifier: Apache-2.0
 *
 * check_args.h - what the kernels of check.h find, for them and for the code that launches them.
 */
#ifndef SL_CHECK_ARGS_H
#define SL_CHECK_ARGS_H

#include "gpu/sl/args.h"

/* 0 at the beginning. */
typedef struct sl_check_words {
    uint64_t used;  /* homes that are marked as used */
    uint64_t stray; /* others that have entries */
    uint64_t row;   /* ~(SL_RULES x row + rule), so that the first row that breaks a rule has the greatest number */
    uint64_t entry; /* ~(SL_RULES x ((fit + 1) x row + entry) + rule) */
} sl_check_words;

typedef struct sl_check_args {
    sl_args a;
    sl_check_words *words;
    uint64_t *codes, *other; /* (homes) sl_settle_*: code << 32 | home */
    uint32_t high;           /* codes are the high half of keys, else the low one */
    uint32_t slots;          /* of a bucket */
} sl_check_args;

#endif
