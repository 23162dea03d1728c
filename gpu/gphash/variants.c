/* SPDX-License-Identifier: Apache-2.0
 *
 * variants.c - the variants' tables as the library reads it, whichever machines it has kernels for. Here entry points
 * are null pointers, and no kernel is compiled.
 */
#include "simt/simt.h"

#ifdef __clang__ /* it warns of null pointers that are not written as 0 or NULL */
#pragma clang diagnostic ignored "-Wnon-literal-null-conversion"
#endif

#undef SIMT_ENTRY
#define SIMT_ENTRY(name, args_type, text) enum { name };

#include "gpu/gphash/phase.h"
#include "gpu/gphash/quad.h"
#include "gpu/gphash/rows.h"

const hd_variant *const gphash_variants[] = { &gphash_variant_quad, &gphash_variant_warp, &gphash_variant_phase, NULL };
