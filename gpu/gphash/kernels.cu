/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.cu - the GPHash kernels as CUDA entry points, and the table that a launch looks them up in.
 */
#include "gpu/gphash/phase.h"
#include "gpu/gphash/quad.h"

#include "gpu/gphash/kernel_numbers.h"

static const hd_variant *const variants[] = { &gphash_variant_quad, &gphash_variant_warp, &gphash_variant_phase,
                                              nullptr };

static const hd_kernel_entry shared[] = {
#define GPHASH_KERNEL(number, entry, args, text) entry,
#include "gpu/gphash/kernels.inc"
#undef GPHASH_KERNEL
};

extern "C" const void *gphash_cuda_entry(uint32_t kernel, const void *args)
{
    const hd_variant *of;
    (void)args;
    if (kernel >= HD_SHARED_KERNELS)
        return kernel < GPHASH_KERNELS ? shared[kernel - HD_SHARED_KERNELS].address : nullptr;
    const hd_variant_row *row = hd_variant_row_at(variants, kernel, &of);
    return row ? row->entry.address : nullptr;
}

extern "C" const void *gphash_cuda_module(uint32_t i) { return i == 0 ? shared[0].address : nullptr; }
