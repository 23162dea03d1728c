/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.h - the rows of a design as kernels of a scene.
 */
#ifndef HD_JUDGE_KERNELS_H
#define HD_JUDGE_KERNELS_H

#include "judge/design.h"

/* Row number `row`; blocks of at most `threads` (0: the row's own), at most `blocks` of them (0: 8): with fewer, each goes over
 * more items. */
scene_kernel scene_kernel_at(const judge_design *d, uint32_t row, uint32_t threads, uint32_t blocks);

/* The row of c's kernel for c's operation, if it can run such a table; HD_EINVAL says why not. */
hd_status scene_kernel_row(const hd_case *c, uint32_t *row);

/* Whether a row is its variant's first: whoever goes over these goes over the variants. */
bool scene_kernel_is_first(const judge_design *d, uint32_t row);

#endif
