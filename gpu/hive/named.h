/* SPDX-License-Identifier: Apache-2.0
 *
 * named.h - kernels for tables whose hash functions have names, which are compiled apart.
 */
#ifndef HIVE_NAMED_H
#define HIVE_NAMED_H

#include <stdint.h>

enum { HIVE_NAMED = 128 /* kernel k has this number and k more */ };

/* What runs kernel `kernel` with these arguments, if their table has such functions; NULL: what runs it for all
 * tables. */
const void *hive_named_entry(uint32_t kernel, const void *args);

#endif
