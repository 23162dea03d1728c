/* SPDX-License-Identifier: Apache-2.0
 *
 * registry.h - the variants: a file and its table each. host.c compiles them for the host machine, kernels.cu for
 * CUDA, and variants.c takes the tables alone. A table that may choose takes the first variant that fits, unless
 * gpu/hkv/select.c knows better. HKV_MORE is the file of one more, which only one build has (papers/hkv/nodigest.h); its
 * table is called hkv_variant_more.
 */
#ifndef HKV_REGISTRY_H
#define HKV_REGISTRY_H

#include "gpu/hkv/tlpv1.h"
#include "gpu/hkv/tlpv2.h"
#include "gpu/hkv/pipeline.h"
#include "gpu/hkv/warp.h"
#include "gpu/hkv/coalesced.h"
#ifdef HKV_MORE
#define HKV_QUOTED(path) #path
#define HKV_PATH(path)   HKV_QUOTED(path)
#include HKV_PATH(HKV_MORE)
#endif

/* Under the name that the file which includes this list gives it. */
const hd_variant *const HKV_REGISTRY[] = {
    &hkv_variant_tlpv1,
    &hkv_variant_tlpv2,
    &hkv_variant_pipeline,
    &hkv_variant_warp,
    &hkv_variant_coalesced,
#ifdef HKV_MORE
    &hkv_variant_more,
#endif
    NULL,
};

#endif
