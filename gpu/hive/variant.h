/* SPDX-License-Identifier: Apache-2.0
 *
 * variant.h - what the table at the end of a variant's file needs (base/variant.h): the families of operations and the
 * functions that say which tables a variant runs on.
 */
#ifndef HIVE_VARIANT_H
#define HIVE_VARIANT_H

#include "base/op.h"
#include "base/variant.h"

typedef enum hive_family {
    HIVE_ITEMS,  /* all keyed operations, and mixed batches: an item's operation is a value */
    HIVE_SWEEP,  /* erase_if, size, size_if  */
    HIVE_EXPORT, /* export, export_if        */
    HIVE_CLEAR
} hive_family;

static inline hive_family hive_family_of(uint32_t op)
{
    switch (hd_op_family((hd_op)op)) {
    case HD_FAMILY_SWEEP:
    case HD_FAMILY_PROMOTE: return HIVE_SWEEP;
    case HD_FAMILY_EXPORT: return HIVE_EXPORT;
    case HD_FAMILY_CLEAR: return HIVE_CLEAR;
    default: return HIVE_ITEMS;
    }
}

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
