/* SPDX-License-Identifier: Apache-2.0
 *
 * rows.h - the variant as data.
 */
#ifndef GFSL_ROWS_H
#define GFSL_ROWS_H

#include "base/backend.h"
#include "gfsl/gpu/kernel_numbers.h"
#include "gfsl/gpu/variant.h"

/* A NULL ends them. */
extern const hd_variant *const gfsl_variants[];

#endif
