/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.h - the rows of a design as kernels of a fixture.
 */
#ifndef HD_JUDGE_KERNELS_H
#define HD_JUDGE_KERNELS_H

#include "base/variant.h"
#include "judge/design.h"

/* Row number `row`; blocks of at most `threads` (0: the row's own), at most `blocks` of them (0: 8): with fewer, each
 * goes over more items. */
/* As the design's `row` and `queue` say. */
fixture_kernel fixture_kernel_of_row(const judge_design *d, uint32_t row);
/* The same, or what its `kernel` makes of it, in blocks of at most so many threads. */
fixture_kernel fixture_kernel_at(const judge_design *d, uint32_t row, uint32_t threads, uint32_t blocks);

/* The row of c's kernel for c's operation, if it can run such a table; HD_EINVAL says why not. */
hd_status fixture_kernel_row(const hd_case *c, uint32_t *row);

uint32_t fixture_row_count(const judge_design *d);

/* The name of the row's variant; NULL past the last row. */
const char *fixture_row_name(const judge_design *d, uint32_t row);

/* Whether a row is the first of its variant: a loop over these visits every variant once. */
bool fixture_kernel_is_first(const judge_design *d, uint32_t row);

/* ---- For designs: their rows ----------------------------------------------------------------- */

/* judge_design.row of a design whose kernels are variants (base/variant.h). */
bool fixture_row_of_variant(const hd_variant *const *all, uint32_t row, judge_row *r);

/* Queues the launches of part k's batch. */
hd_status fixture_queue(fixture *s, uint32_t k, simt_machine *m);

#endif
