/* SPDX-License-Identifier: Apache-2.0 */
/* The real pipeline, which does not wait for its async copies: digests are compared while they are on their way. */
#undef simt_copy_wait
#define simt_copy_wait(n) ((void)(n))
#define HKV_KERNEL_TEXT
#define HKV_KERNEL(variant, family, lanes, threads, fits, strictness, what)
#include "gpu/hkv/pipeline.h"
#undef HKV_KERNEL
#undef HKV_KERNEL_TEXT
#undef simt_copy_wait
#define simt_copy_wait(n) simt_host_copy_wait(SIMT_SITE, (n))
SIMT_KERNEL(canary_copy_not_awaited, hkv_args, a) { hkv_pipeline_upsert(&a); }
