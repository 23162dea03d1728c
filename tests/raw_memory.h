/* SPDX-License-Identifier: Apache-2.0
 *
 * raw_memory.h - read before all else in files whose C accesses are told of: their calls of memcpy and its family are
 * those of simt/raw_hooks.c.
 */
#ifndef HD_RAW_MEMORY_H
#define HD_RAW_MEMORY_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t n) __asm__("__tsan_memcpy");
void *memmove(void *to, const void *from, size_t n) __asm__("__tsan_memmove");
void *memset(void *to, int c, size_t n) __asm__("__tsan_memset");

#endif
