/* SPDX-License-Identifier: Apache-2.0
 *
 * lines.c - see lines.h: x86-64 by clwb, else clflushopt, else clflush; aarch64 by dc cvap.
 */
#include "base/lines.h"

#include <stdint.h>

#if defined(__x86_64__)

#include <cpuid.h>

enum { LINE = 64, CLFLUSHOPT = 1 << 23, CLWB = 1 << 24 /* of EBX of leaf 7 */ };

/* All threads find the same. */
static unsigned features(void)
{
    static unsigned found;
    unsigned a, b = 0, c, d, known = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (known) return known;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) b = 0;
    __atomic_store_n(&found, b | 1, __ATOMIC_RELAXED);
    return b | 1;
}

bool hd_lines_can(void) { return true; } /* each has clflush */

void hd_lines_write_back(const void *p, size_t bytes)
{
    const unsigned has = features();
    const char *at = (const char *)p - (uintptr_t)p % LINE, *end = (const char *)p + bytes;
    for (; at < end; at += LINE) {
        if (has & CLWB)
            __asm__ volatile("clwb %0" : : "m"(*at) : "memory");
        else if (has & CLFLUSHOPT)
            __asm__ volatile("clflushopt %0" : : "m"(*at) : "memory");
        else
            __asm__ volatile("clflush %0" : : "m"(*at) : "memory");
    }
}

void hd_lines_fence(void) { __asm__ volatile("sfence" : : : "memory"); }

#elif defined(__aarch64__)

#include <sys/auxv.h>

enum { CAN_CVAP = 1 << 16 /* HWCAP_DCPOP */ };

bool hd_lines_can(void) { return getauxval(AT_HWCAP) & CAN_CVAP; }

void hd_lines_write_back(const void *p, size_t bytes)
{
    uint64_t type;
    __asm__("mrs %0, ctr_el0" : "=r"(type));
    const uintptr_t line = (uintptr_t)4 << (type >> 16 & 15), end = (uintptr_t)p + bytes;
    for (uintptr_t at = (uintptr_t)p / line * line; at < end; at += line)
        __asm__ volatile("sys #3, c7, c12, #1, %0" : : "r"(at) : "memory"); /* dc cvap */
}

void hd_lines_fence(void) { __asm__ volatile("dsb sy" : : : "memory"); }

#else

bool hd_lines_can(void) { return false; }
void hd_lines_write_back(const void *p, size_t bytes) { (void)p, (void)bytes; }
void hd_lines_fence(void) {}

#endif
