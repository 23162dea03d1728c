/* SPDX-License-Identifier: Apache-2.0
 *
 * variants.c - the tables of the variants as the library reads them, whichever machines it has kernels for (see
 * gpu/hive/variants.c). Entry points are null pointers, and no kernel is compiled.
 */
#include "simt/simt.h"

#ifdef __clang__ /* it warns of null pointers that are not written as 0 or NULL */
#pragma clang diagnostic ignored "-Wnon-literal-null-conversion"
#endif

#undef SIMT_ENTRY
#define SIMT_ENTRY(name, args_type, text) enum { name };

#include "gpu/ovs/rows.h"

#define OVS_REGISTRY ovs_variants
#include "gpu/ovs/registry.h"
