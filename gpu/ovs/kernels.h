/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.h - what the text of a variant may use, and the kernels that all variants share. gpu/ovs/registry.inc lists
 * the files of variants.
 */
#ifndef OVS_KERNELS_H
#define OVS_KERNELS_H

#include "concurrency/word.h"
#include "gpu/ovs/check.h"
#include "gpu/ovs/order.h"
#include "gpu/ovs/resize.h"
#include "gpu/ovs/variant.h"
#include "gpu/ovs/whole.h"

SIMT_ENTRY(ovs_kernel_list, ovs_args, ovs_list) /* what the items of a window had to list */
SIMT_ENTRY(ovs_kernel_codes, ovs_args, ovs_lay_codes)
SIMT_ENTRY(ovs_kernel_sort_count, gpu_sort, gpu_sort_count)
SIMT_ENTRY(ovs_kernel_sort_scan, gpu_sort, gpu_sort_scan)
SIMT_ENTRY(ovs_kernel_sort_lay, gpu_sort, gpu_sort_lay)
SIMT_ENTRY(ovs_kernel_split, ovs_args, ovs_split_segments)
SIMT_ENTRY(ovs_kernel_merge, ovs_args, ovs_merge_segments)
SIMT_ENTRY(ovs_kernel_unmerge, ovs_args, ovs_unmerge_segments)
SIMT_ENTRY(ovs_kernel_settle, ovs_args, ovs_settle_segments)
SIMT_ENTRY(ovs_kernel_check, ovs_check_args, ovs_check_slots)
SIMT_ENTRY(ovs_kernel_shut, ovs_check_args, ovs_shut_passed)
SIMT_ENTRY(ovs_kernel_renew, ovs_check_args, ovs_renew_digests)

/* Before and after a batch under the batch lock group3. */
SIMT_ENTRY(ovs_kernel_word_enter, hd_word_args, hd_word_enter)
SIMT_ENTRY(ovs_kernel_word_leave, hd_word_args, hd_word_leave)

#endif
