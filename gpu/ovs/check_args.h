/* SPDX-License-Identifier: Apache-2.0
 *
 * check_args.h - what the kernels of check.h are given, for them and for the code that launches them.
 */
#ifndef OVS_CHECK_ARGS_H
#define OVS_CHECK_ARGS_H

#include "ref/ovs/layout.h"

typedef struct ovs_check_args {
    ovs_view v;
    uint64_t *first; /* ~(OVS_RULES x entry + rule), so that the first entry has the greatest number; 0: none breaks a
                        rule */
} ovs_check_args;

#endif
