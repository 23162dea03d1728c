/* SPDX-License-Identifier: Apache-2.0
 *
 * check_args.h - what the kernel of check.h is given, for it and for the code that launches it.
 */
#ifndef SL_CHECK_ARGS_H
#define SL_CHECK_ARGS_H

#include "gpu/sl/args.h"

/* What sl_check_rows has found; 0 at its beginning. */
typedef struct sl_check_words {
    uint64_t used;  /* homes that are marked as used */
    uint64_t stray; /* free homes that have entries */
    uint64_t first; /* ~(row << 32 | entry), so that the first one that breaks a rule has the greatest number; 0: none */
} sl_check_words;

#endif
