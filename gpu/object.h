/* SPDX-License-Identifier: Apache-2.0
 *
 * object.h - what a file of kernels, policies or predicates (doc/extending.md) is as a shared object: its rows.
 * one_file.inc makes it, lib/loaded.c reads it.
 */
#ifndef HD_OBJECT_H
#define HD_OBJECT_H

#include "base/variant.h"
#include "policies/policy.h"
#include "policies/predicates/predicate.h"

typedef struct hd_object_variant {
    const char *design;
    const hd_variant *variant;
} hd_object_variant;

/* The first two members stay where they are in all versions. */
typedef struct hd_object {
    const char *version, *dialect;        /* of the headers: HD_OBJECT_VERSION; HD_DIALECT_ID (base/dialect_id.h) */
    const hd_object_variant *variant;     /* a NULL design ends them */
    const hd_loaded_predicate *predicate; /* a NULL name ends them   */
    const hd_loaded_policy *policy;       /* a NULL name ends them   */
} hd_object;

/* Puts row `row` of variant number `variant` on a device's stream, and returns a cudaError_t: what an object of nvcc
 * has in place of entry points, since its kernels are known to its copy of the CUDA runtime alone. */
typedef int hd_object_launch(uint32_t variant, uint32_t row, uint64_t blocks, uint32_t threads, void **args,
                             void *stream);

#define HD_OBJECT_ROWS                                                                                 \
    "HKV_LISTED(variant), HIVE_LISTED(variant), OVS_LISTED(variant), HD_POLICY(name, what, flags) or " \
    "HD_PREDICATE(name, what, arguments)"

#define HD_OBJECT_TEXT_(a, b, c) #a "." #b "." #c
#define HD_OBJECT_TEXT(a, b, c)  HD_OBJECT_TEXT_(a, b, c)
#define HD_OBJECT_VERSION        HD_OBJECT_TEXT(HD_VERSION_MAJOR, HD_VERSION_MINOR, HD_VERSION_PATCH)

#endif
