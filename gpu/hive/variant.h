/* SPDX-License-Identifier: Apache-2.0
 *
 * variant.h - what the table at the end of a variant's file needs (base/variant.h): the functions that say which
 * tables a variant runs on, and the names of what it ran.
 */
#ifndef HIVE_VARIANT_H
#define HIVE_VARIANT_H

#include "base/variant.h"
#include "gpu/batch.h"

/* hd_variant_row.fits of a row that runs on every table. */
static inline const char *hive_fits_all(const hd_info *info) { return (void)info, (const char *)NULL; }

/* hd_variant.ran, which only the host reads. */
#ifdef __CUDACC__
#define HIVE_RAN(variant) \
    {                     \
    }
#else
#define HIVE_RAN_ROW(number, name, what, role, family, does, variant) [HD_OP_##number] = "hive." #name "." variant,
#define HIVE_RAN(variant)                      \
    {                                          \
        HD_OP_ROWS_WITH(HIVE_RAN_ROW, variant) \
    }
#endif

/* The last line of a variant's file, behind its include guard: its table. registry.h makes the array of these lines. */
#ifndef HIVE_LISTED
#define HIVE_LISTED(variant)
#endif

#endif
