/* SPDX-License-Identifier: Apache-2.0
 *
 * rows.h - the variants of registry.h as data, and what the backends need to run the kernels.
 */
#ifndef OVS_ROWS_H
#define OVS_ROWS_H

#include "base/backend.h"
#include "gpu/ovs/args.h"
#include "gpu/ovs/kernel_numbers.h"
#include "gpu/ovs/variant.h"

extern const hd_gpu ovs_gpu;

/* The variants of registry.h; a NULL ends them. */
extern const hd_variant *ovs_variants[];

/* hd_design.select: batches of more items than this are sorted, if the table may have far segments. */
enum { OVS_FEW_ITEMS = 4096 };
const char *ovs_select(hd_op op, const hd_info *info, double load_factor, hd_amount amount, uint32_t choice);

/* hd_design.unsupported. */
const char *ovs_unsupported_row(const hd_variant_row *row, const hd_info *info, const hd_batch *b);

/* A kernel of the host machine by number, and the CUDA entry point (kernels.cu); NULL: there is none. */
hd_host_text *ovs_host_kernel(uint32_t kernel);
const void *ovs_cuda_entry(uint32_t kernel, const void *args);
const void *ovs_cuda_module(uint32_t i);

#endif
