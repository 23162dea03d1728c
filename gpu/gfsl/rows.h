/* SPDX-License-Identifier: Apache-2.0
 *
 * rows.h - the variant as data.
 */
#ifndef GFSL_ROWS_H
#define GFSL_ROWS_H

#include "base/backend.h"
#include "gpu/gfsl/kernel_numbers.h"
#include "gpu/gfsl/variant.h"

/* A NULL ends them. */
extern const hd_variant *const gfsl_variants[];

#endif
