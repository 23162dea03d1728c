/* SPDX-License-Identifier: Apache-2.0
 *
 * raw_memory.h - included first in files whose C accesses are instrumented: it redirects their calls of memcpy and its
 * family to simt/raw_hooks.c.
 */
#ifndef HD_SIMT_RAW_MEMORY_H
#define HD_SIMT_RAW_MEMORY_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t n) __asm__("__tsan_memcpy");
void *memmove(void *to, const void *from, size_t n) __asm__("__tsan_memmove");
void *memset(void *to, int c, size_t n) __asm__("__tsan_memset");

#endif
