/* SPDX-License-Identifier: Apache-2.0
 *
 * add.c - adds the skip list gfsl to the designs of a program.
 */
#include "gfsl/add.h"

hd_status add_own_designs(void)
{
    hd_status status = hd_design_add(&hd_design_gfsl, "sl");
    return status ? status : judge_design_add(&judge_design_gfsl, "ovs");
}
