/* SPDX-License-Identifier: Apache-2.0
 *
 * rows.h - the variant as data.
 */
#ifndef SL_ROWS_H
#define SL_ROWS_H

#include "base/backend.h"
#include "gpu/sl/kernel_numbers.h"
#include "gpu/sl/variant.h"

/* A NULL ends them. */
extern const hd_variant *const sl_variants[];

/* A kernel of the host machine by number; NULL: there is none. */
hd_host_text *sl_host_kernel(uint32_t kernel);

static inline const hd_variant_row *sl_row_numbered(uint32_t row) { return hd_variant_row_numbered(sl_variants, row); }
static inline uint32_t sl_row_count(void) { return hd_variant_row_count(sl_variants); }

#endif
