/* SPDX-License-Identifier: Apache-2.0
 *
 * named.h - kernels for tables with named hash functions, which are compiled separately.
 */
#ifndef HIVE_NAMED_H
#define HIVE_NAMED_H

#include <stdint.h>

/* The entry point of kernel `kernel` for these arguments, if their table has such functions; NULL: the one for all
 * tables. */
const void *hive_named_entry(uint32_t kernel, const void *args);
const void *hive_named_module(void); /* hd_gpu.cuda_module */

#endif
