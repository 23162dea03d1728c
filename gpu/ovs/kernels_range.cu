/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels_range.cu - the ovs kernels as CUDA entry points for tables with ranges of keys. They are apart from those of
 * kernels.cu, which so have neither the instructions nor the registers of a search in the directory.
 */
#include "simt/simt.h"

/* A file's own: kernels.cu has entry points of these names. */
#undef SIMT_KERNEL
#define SIMT_KERNEL(name, args_type, a) \
    static __global__ void __attribute__((unused)) name(const __grid_constant__ args_type a)

#define OVS_REGISTRY ovs_cuda_range_variants
#include "gpu/ovs/registry.h"

#include "gpu/ovs/kernel_numbers.h"
#include "gpu/ovs/range.h"

/* Of the kernels that batches share, those that need the segment or the hash of a key. */
static const struct {
    uint32_t kernel;
    hd_kernel_entry entry;
} shared[] = {
    { OVS_NUMBER_codes, ovs_kernel_codes },
    { OVS_NUMBER_check, ovs_kernel_check },
    { OVS_NUMBER_shut, ovs_kernel_shut },
    { OVS_NUMBER_renew, ovs_kernel_renew },
    { OVS_NUMBER_range_count, ovs_kernel_range_count },
    { OVS_NUMBER_range_median, ovs_kernel_range_median },
    { OVS_NUMBER_range_halve, ovs_kernel_range_halve },
    { OVS_NUMBER_range_join, ovs_kernel_range_join },
    { OVS_NUMBER_range_unjoin, ovs_kernel_range_unjoin },
    { OVS_NUMBER_range_move, ovs_kernel_range_move },
};

extern "C" const void *ovs_cuda_range_entry(uint32_t kernel)
{
    for (const auto &s : shared)
        if (s.kernel == kernel) return s.entry.address;
    const hd_variant_row *row = hd_variant_row_numbered(ovs_cuda_range_variants, kernel);
    return kernel < HD_SHARED_KERNELS && row ? row->entry.address : nullptr;
}

extern "C" const void *ovs_cuda_range_module(void) { return shared[0].entry.address; }
