/* SPDX-License-Identifier: Apache-2.0
 *
 * linear.h - what kernels, and the row of the design, take of the reference of design linear.
 */
#ifndef REF_LINEAR_H
#define REF_LINEAR_H

#include "base/design.h"
#include "ref/linear/layout.h"

extern const hd_backend linear_reference;
void linear_usual(hd_config *c);

/* The operations that the design runs, of one item or of the whole table. */
bool linear_runs(hd_op op);
linear_view *linear_view_of(void *state);

#endif
