/* SPDX-License-Identifier: Apache-2.0
 *
 * relocate_args.h - what the kernels of relocate.h are given, for them and for the code that launches them.
 */
#ifndef SL_RELOCATE_ARGS_H
#define SL_RELOCATE_ARGS_H

#include "gpu/sl/args.h"

/* How segments are carried to a table with another number of homes. */
typedef enum sl_carry_how {
    SL_CARRY_SAME,  /* into the homes of the same numbers */
    SL_CARRY_FIRST, /* into the first homes */
    SL_CARRY_FULL,  /* their entries fill the first homes */
    SL_CARRY_WORDS  /* into the homes of the same numbers; both tables have one directory */
} sl_carry_how;

typedef struct sl_carry_args {
    sl_args from, to;
    uint64_t rows; /* of `from` */
    uint32_t how;
} sl_carry_args;

#endif
