/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.cu - the ovs kernels as CUDA entry points, and the table that a launch looks them up in.
 */
#define OVS_REGISTRY ovs_cuda_variants
#include "gpu/ovs/registry.h"

#include "gpu/ovs/kernel_numbers.h"

/* In the order of ovs_kernel. */
static const hd_kernel_entry shared[] = { ovs_kernel_list,      ovs_kernel_codes,    ovs_kernel_sort_count,
                                          ovs_kernel_sort_scan, ovs_kernel_sort_lay, ovs_kernel_split,
                                          ovs_kernel_merge,     ovs_kernel_unmerge,  ovs_kernel_settle,
                                          ovs_kernel_check,     ovs_kernel_shut,     ovs_kernel_word_enter,
                                          ovs_kernel_word_leave };
static_assert(sizeof shared / sizeof *shared == OVS_KERNELS - HD_SHARED_KERNELS, "every kernel has its entry");

extern "C" const void *ovs_cuda_entry(uint32_t kernel, const void *)
{
    if (kernel >= HD_SHARED_KERNELS) return kernel < OVS_KERNELS ? shared[kernel - HD_SHARED_KERNELS].address : nullptr;
    const hd_variant_row *row = hd_variant_row_numbered(ovs_cuda_variants, kernel);
    return row ? row->entry.address : nullptr;
}
