/* SPDX-License-Identifier: Apache-2.0
 *
 * host.h - the kernels of design linear, for its row.
 */
#ifndef GPU_LINEAR_HOST_H
#define GPU_LINEAR_HOST_H

#include "base/backend.h"

extern const hd_gpu linear_gpu;
extern const hd_variant *const linear_variants[];
hd_host_text *linear_host_kernel(uint32_t kernel);
const char *linear_unsupported_row(const hd_variant_row *row, const hd_info *info, const hd_batch *b);

#endif
