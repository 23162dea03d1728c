/* SPDX-License-Identifier: Apache-2.0
 *
 * variant.h - what the tables at the end of a variant's file need (base/variant.h).
 */
#ifndef OVS_VARIANT_H
#define OVS_VARIANT_H

#include "base/variant.h"
#include "gpu/batch.h"

/* hd_variant_row.fits: every table will do; tables of words will do, or of pairs. */
static inline const char *ovs_fits_all(const hd_info *info) { return (void)info, (const char *)NULL; }
static inline const char *ovs_fits_words(const hd_info *info)
{
    return info->value_bytes == 8 ? "of values of 8 bytes; only wide, sorted and flip run operations with keys there"
                                  : (const char *)NULL;
}
static inline const char *ovs_fits_pairs(const hd_info *info)
{
    return info->value_bytes == 4 ? "of values of 4 bytes" : (const char *)NULL;
}

/* hd_variant.ran, which only the host reads. */
#ifdef __CUDACC__
#define OVS_RAN(variant) \
    {                    \
    }
#else
#define OVS_RAN_ROW(number, name, what, role, family, does, variant) [HD_OP_##number] = "ovs." #name "." variant,
#define OVS_RAN(variant)                      \
    {                                         \
        HD_OP_ROWS_WITH(OVS_RAN_ROW, variant) \
    }
#endif

/* The last lines of a variant's file, behind its include guard, name its tables (gpu/ovs/registry.h). */
#ifndef OVS_LISTED
#define OVS_LISTED(variant)
#endif

#endif
