/* SPDX-License-Identifier: Apache-2.0
 *
 * slate_command.c - the command with the table of slate.h in place of gfsl, for crashes to search. The environment
 * chooses the fault of its recovery: SLATE=drops.
 */
#include <stdlib.h>
#include <string.h>

#include "gfsl/add.h"
#include "tests/slate.h"

hd_status add_own_designs(void)
{
    const char *fault = getenv("SLATE");
    if (fault && strcmp(fault, "drops") == 0) slate_recovers = SLATE_DROPS;
    return judge_design_add(&judge_design_slate, NULL);
}
