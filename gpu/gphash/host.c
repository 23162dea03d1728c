/* SPDX-License-Identifier: Apache-2.0
 *
 * host.c - the GPHash kernels compiled for the host machine.
 */
#include "gpu/gphash/launch.h"
#include "gpu/gphash/phase.h"
#include "gpu/gphash/quad.h"

static const hd_variant *const variants[] = { &gphash_variant_quad, &gphash_variant_warp, &gphash_variant_phase, NULL };

static hd_host_text *const shared[] = {
#define GPHASH_KERNEL(number, entry, args, text) [number - HD_SHARED_KERNELS] = entry,
#include "gpu/gphash/kernels.inc"
#undef GPHASH_KERNEL
};

hd_host_text *gphash_host_kernel(uint32_t kernel)
{
    return hd_variant_host_kernel(variants, gphash_variants, shared, GPHASH_KERNELS - HD_SHARED_KERNELS, kernel);
}
