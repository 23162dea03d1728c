/* SPDX-License-Identifier: Apache-2.0
 *
 * check_args.h - what the kernels of check.h are given, for them and for the code that launches them.
 */
#ifndef HIVE_CHECK_ARGS_H
#define HIVE_CHECK_ARGS_H

#include "gpu/hive/args.h"

/* What hive_check_slots has found; 0 at its beginning. */
typedef struct hive_check_words {
    uint64_t first;   /* ~(HIVE_RULES x entry + rule), so that the first entry has the greatest number; 0: none breaks a
                         rule */
    uint64_t stashed; /* entries in the stash */
} hive_check_words;

typedef struct hive_check_args {
    hive_view v;
    uint64_t *stashed; /* hive_args.stashed */
    hive_check_words *words;
} hive_check_args;

#endif
