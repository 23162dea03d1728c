/* SPDX-License-Identifier: Apache-2.0
 *
 * variant.h - what the table at the end of a variant's file needs (base/variant.h): families of operations, and the
 * names of what it ran.
 */
#ifndef SL_VARIANT_H
#define SL_VARIANT_H

#include "base/op.h"
#include "base/variant.h"

typedef enum sl_family {
    SL_LOOK, /* find and its kind, predecessor, successor */
    SL_RANGE,
    SL_ENDS, /* min, max */
    SL_UPDATE,
    SL_FLIP,   /* operations that insert, and erase */
    SL_SWEEP,  /* erase_if, size, size_if */
    SL_EXPORT, /* export, export_if */
    SL_CLEAR,
    SL_FAMILIES /* no operation of the table */
} sl_family;

static inline sl_family sl_family_of(uint32_t op)
{
    switch (hd_op_family((hd_op)op)) {
    case HD_FAMILY_LOOKUP:
    case HD_FAMILY_NEIGHBOUR: return SL_LOOK;
    case HD_FAMILY_RANGE: return SL_RANGE;
    case HD_FAMILY_ENDS: return SL_ENDS;
    case HD_FAMILY_UPDATE: return SL_UPDATE;
    case HD_FAMILY_UPSERT:
    case HD_FAMILY_ERASE: return SL_FLIP;
    case HD_FAMILY_SWEEP: return SL_SWEEP;
    case HD_FAMILY_EXPORT: return SL_EXPORT;
    case HD_FAMILY_CLEAR: return SL_CLEAR;
    default: return SL_FAMILIES;
    }
}

/* hd_variant_row.fits of a row that runs on every table. */
static inline const char *sl_fits_all(const hd_info *info) { return (void)info, (const char *)NULL; }

/* hd_variant.ran, which only the host reads. */
#ifdef __CUDACC__
#define SL_RAN(variant) \
    {                   \
    }
#else
#define SL_RAN_ROW(number, name, what, role, family, does, variant) [HD_OP_##number] = "sl." #name "." variant,
#define SL_RAN(variant)                      \
    {                                        \
        HD_OP_ROWS_WITH(SL_RAN_ROW, variant) \
    }
#endif

#endif
