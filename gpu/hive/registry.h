/* SPDX-License-Identifier: Apache-2.0
 *
 * registry.h - the variants: a file and its table each. host.c compiles them for the host machine, kernels.cu and
 * kernels_named.cu for CUDA, and variants.c takes the tables alone. A table that may choose takes the first variant
 * that fits.
 */
#ifndef HIVE_REGISTRY_H
#define HIVE_REGISTRY_H

#include "gpu/hive/batched.h"
#include "gpu/hive/tile.h"
#include "gpu/hive/wabc.h"

/* Under the name that the file which includes this list gives it. */
const hd_variant *const HIVE_REGISTRY[] = { &hive_variant_batched, &hive_variant_tile, &hive_variant_wabc, NULL };

#endif
