/* SPDX-License-Identifier: Apache-2.0
 *
 * variant.h - what the table at the end of a variant's file needs (base/variant.h).
 */
#ifndef GFSL_VARIANT_H
#define GFSL_VARIANT_H

#include "base/variant.h"
#include "gpu/batch.h"

/* Families of operations: those of a dictionary (gpu/batch.h), and of the order of keys. */
enum {
    GFSL_ORDERED = 32, /* predecessor, successor, range; no number of gpu_family */
    GFSL_ENDS          /* min, max */
};

static inline uint32_t gfsl_family_of(uint32_t op)
{
    switch (hd_op_family((hd_op)op)) {
    case HD_FAMILY_NEIGHBOUR:
    case HD_FAMILY_RANGE: return GFSL_ORDERED;
    case HD_FAMILY_ENDS: return GFSL_ENDS;
    default: return gpu_family_of(op);
    }
}

/* hd_variant_row.fits of a row that runs on every table. */
static inline const char *gfsl_fits_all(const hd_info *info) { return (void)info, (const char *)NULL; }

/* hd_variant.ran, which only the host reads. */
#ifdef __CUDACC__
#define GFSL_RAN(variant) \
    {                     \
    }
#else
#define GFSL_RAN_ROW(number, name, what, role, family, does, variant) [HD_OP_##number] = "gfsl." #name "." variant,
#define GFSL_RAN(variant)                      \
    {                                          \
        HD_OP_ROWS_WITH(GFSL_RAN_ROW, variant) \
    }
#endif

#endif
