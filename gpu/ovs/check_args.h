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
    /* With ranges: ~(OVS_ROW_RULES x row + rule) likewise; a sum that is 0 if each segment has a row; the host's copy
     * of the directory */
    uint64_t *first_row, *sum;
    const uint64_t *row_here;
    uint64_t *first_copy; /* ~(OVS_COPY_RULES x word of all sets + rule) */
} ovs_check_args;

#endif
