/* SPDX-License-Identifier: Apache-2.0
 *
 * rows.h - the variants of registry.h as data.
 */
#ifndef HIVE_ROWS_H
#define HIVE_ROWS_H

#include "base/backend.h"
#include "gpu/hive/args.h"
#include "gpu/hive/kernel_numbers.h"
#include "gpu/hive/variant.h"
#include "heddle.h"

/* The variants of registry.h; a NULL ends them. */
extern const hd_variant *hive_variants[];

/* A kernel of the host machine by number; NULL: there is none. */
hd_host_text *hive_host_kernel(uint32_t kernel);

/* Row `row`; NULL past the last. */
static inline const hd_variant_row *hive_row(uint32_t row) { return hd_variant_row_numbered(hive_variants, row); }

/* The name of its variant. */
static inline const char *hive_row_name(uint32_t row) { return hd_variant_row_name(hive_variants, row); }

static inline uint32_t hive_row_count(void) { return hd_variant_row_count(hive_variants); }

/* The row by which a variant runs a family; hive_row_count(): it does not. */
static inline uint32_t hive_row_of(const char *variant, gpu_family family)
{
    return hd_variant_row_of(hive_variants, variant, family);
}

#endif
