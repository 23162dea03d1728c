/* SPDX-License-Identifier: Apache-2.0
 *
 * variant.h - what the table at the end of a variant's file needs (base/variant.h): the families of operations and the
 * functions that say which tables a variant runs on. A variant may have such a function of its own (pipeline.h).
 */
#ifndef HKV_VARIANT_H
#define HKV_VARIANT_H

#include "base/op.h"
#include "base/variant.h"

typedef enum hkv_family {
    HKV_LOOKUP = HD_FAMILY_LOOKUP,
    HKV_UPDATE = HD_FAMILY_UPDATE,
    HKV_UPSERT = HD_FAMILY_UPSERT,
    HKV_PIN = HD_FAMILY_PIN,
    HKV_ERASE = HD_FAMILY_ERASE,
    HKV_SWEEP = HD_FAMILY_SWEEP,
    HKV_EXPORT = HD_FAMILY_EXPORT,
    HKV_CLEAR = HD_FAMILY_CLEAR,
    HKV_PROMOTE = HD_FAMILY_PROMOTE
} hkv_family;

static inline hkv_family hkv_family_of(uint32_t op) { return (hkv_family)hd_op_family((hd_op)op); }

/* hd_variant_row.fits of a row that runs on every table. */
static inline const char *hkv_fits_all(const hd_info *info) { return (void)info, (const char *)NULL; }

/* hd_variant.ran, which only the host reads. */
#ifdef __CUDACC__
#define HKV_RAN(variant) \
    {                    \
    }
#else
#define HKV_RAN_ROW(number, name, what, role, family, does, variant) [HD_OP_##number] = "hkv." #name "." variant,
#define HKV_RAN(variant)                      \
    {                                         \
        HD_OP_ROWS_WITH(HKV_RAN_ROW, variant) \
    }
#endif

/* The last line of a variant's file, behind its include guard: its table. registry.h makes the array of these lines. */
#ifndef HKV_LISTED
#define HKV_LISTED(variant)
#endif

#endif
