/* SPDX-License-Identifier: Apache-2.0
 *
 * host.c - the kernels of the skip list gfsl compiled for the host machine.
 */
#include "gfsl/gpu/chunk.h"
#include "gfsl/gpu/launch.h"

static const hd_variant *const variants[] = { &gfsl_variant_chunk, NULL };

static hd_host_text *const shared[] = {
#define GFSL_KERNEL(number, entry, args, text) [number - HD_SHARED_KERNELS] = entry,
#include "gfsl/gpu/kernels.inc"
#undef GFSL_KERNEL
};

hd_host_text *gfsl_host_kernel(uint32_t kernel)
{
    return hd_variant_host_kernel(variants, gfsl_variants, shared, GFSL_KERNELS - HD_SHARED_KERNELS, kernel);
}
