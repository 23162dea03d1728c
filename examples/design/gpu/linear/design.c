/* SPDX-License-Identifier: Apache-2.0
 *
 * design.c - the row of design linear: its reference and, in a library with the host machine, its kernels.
 */
#include "gpu/linear/host.h"
#include "ref/linear/linear.h"

const hd_design hd_design_linear = {
    .name = "linear",
    .what = "a dictionary of 32-bit keys and values with linear probing",
    .policy = "none",
    .usual = linear_usual,
    .ref = &linear_reference,
    .gpu = HD_HOST_ENTRY(&linear_gpu),
    .variants = HD_HOST_ENTRY(linear_variants),
    .unsupported = HD_HOST_ENTRY(linear_unsupported_row),
    .host_kernel = HD_HOST_ENTRY(linear_host_kernel),
    .owns = true,
};
