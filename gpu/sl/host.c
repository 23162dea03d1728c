/* SPDX-License-Identifier: Apache-2.0
 *
 * host.c - the kernels of the ordered table compiled for the host machine.
 */
#include "gpu/sl/launch.h"
#include "gpu/sl/segments.h"

static const hd_variant *const variants[] = { &sl_variant_segments, NULL };

static hd_host_text *const shared[] = {
#define SL_KERNEL(number, entry, args, text) [number - HD_SHARED_KERNELS] = entry,
#include "gpu/sl/kernels.inc"
#undef SL_KERNEL
};

hd_host_text *sl_host_kernel(uint32_t kernel)
{
    return hd_variant_host_kernel(variants, sl_variants, shared, SL_KERNELS - HD_SHARED_KERNELS, kernel);
}
