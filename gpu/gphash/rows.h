/* SPDX-License-Identifier: Apache-2.0
 *
 * rows.h - the variants as data.
 */
#ifndef GPHASH_ROWS_H
#define GPHASH_ROWS_H

#include "base/backend.h"
#include "gpu/gphash/args.h"
#include "gpu/gphash/kernel_numbers.h"

/* The variants; a NULL ends them. */
extern const hd_variant *const gphash_variants[];

/* A kernel of the host machine by number; NULL: there is none. */
hd_host_text *gphash_host_kernel(uint32_t kernel);

/* NULL, or why such a row does not run the operation; mixed: a batch that is. */
const char *gphash_row_lacks(const hd_variant_row *row, hd_op op, bool mixed);

static inline const hd_variant_row *gphash_row(uint32_t row) { return hd_variant_row_numbered(gphash_variants, row); }

#endif
