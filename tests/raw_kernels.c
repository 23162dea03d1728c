/* SPDX-License-Identifier: Apache-2.0
 *
 * raw_kernels.c - kernels with accesses that kernel code must not make: C accesses to device and shared memory, one of
 * each kind.
 */
#include "tests/raw.h"

#include <string.h>

#include "simt/simt.h"

enum { WHO = 5, WHERE = 17 };

typedef struct record {
    uint64_t a, b;
} record;
typedef unsigned __int128 sixteen;
typedef struct wide {
    uint64_t word[9];
} wide;

SIMT_FN const void *from(raw_args a) { return a.in + WHERE; }
SIMT_FN void *to(raw_args a) { return a.out + WHERE; }
SIMT_FN const record *record_of(raw_args a) { return (const record *)(const void *)(a.in + 16); }

SIMT_FN void keep(raw_args a, uint32_t v) { simt_st_u32(a.out + 512 + simt_thread(), v); }

/* Thread WHO goes around the dialect after an operation of it. */
#define RAW(name, act)                                  \
    SIMT_KERNEL(name, raw_args, a)                      \
    {                                                   \
        uint32_t v = simt_ld_u32(a.in + simt_thread()); \
        if (simt_thread() == WHO) {                     \
            act                                         \
        }                                               \
        keep(a, v);                                     \
    }

RAW(k_sound, v += simt_ld_u32(a.in + WHERE);)
RAW(k_read_1, v += *(const volatile uint8_t *)from(a);)
RAW(k_read_2, v += *(const volatile uint16_t *)from(a);)
RAW(k_read_4, v += *(const volatile uint32_t *)from(a);)
RAW(k_read_8, v += (uint32_t)record_of(a)->b;)
RAW(k_read_16, v += (uint32_t) * (const volatile sixteen *)(const void *)(a.in + 16);)
RAW(k_read_vector, v += ((const simt_v4 *)(const void *)(a.in + 16))->y;)
RAW(k_write_1, *(volatile uint8_t *)to(a) = 1;)
RAW(k_write_2, *(volatile uint16_t *)to(a) = 1;)
RAW(k_write_4, *(volatile uint32_t *)to(a) = 1;)
RAW(k_write_8, ((record *)(void *)(a.out + 16))->b = 1;)
RAW(k_write_16, *(volatile sixteen *)(void *)(a.out + 16) = v;)
RAW(k_write_vector, *(simt_v4 *)(void *)(a.out + 16) = simt_ld_v4((const simt_v4 *)(const void *)a.in);)
RAW(k_index, a.out[WHERE] = a.in[WHERE];)
RAW(k_increment, a.out[WHERE]++;)
RAW(k_memcpy_from, wide w; memcpy(&w, from(a), simt_threads()); v += (uint32_t)w.word[v % 8];)
RAW(k_memcpy_to, wide w = { { v } }; memcpy(to(a), &w, simt_threads());)
RAW(k_memmove, wide w = { { v } }; memmove(to(a), &w, simt_threads());)
RAW(k_memset, memset(to(a), 1, simt_threads());)
RAW(k_memset_over, memset(a.out - 1, 1, simt_threads());)
RAW(k_atomic, v += __atomic_fetch_add((uint32_t *)to(a), 1, __ATOMIC_RELAXED);)
RAW(k_compare, uint32_t e = 0;
    __atomic_compare_exchange_n((uint32_t *)to(a), &e, 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);)

SIMT_KERNEL(k_shared, raw_args, a)
{
    SIMT_SHARED(uint32_t, words, 64);
    simt_st_u32(words + simt_thread(), simt_thread());
    simt_sync_block();
    keep(a, simt_thread() == WHO ? words[WHO] : 0);
}

const raw_kernel raw_kernels[] = {
    { "sound", k_sound, NULL },
    { "read 1", k_read_1, "1 bytes are read around the dialect, at byte 68 of in" },
    { "read 2", k_read_2, "2 bytes are read around the dialect, at byte 68 of in" },
    { "read 4", k_read_4, "4 bytes are read around the dialect, at byte 68 of in" },
    { "read 8", k_read_8, "8 bytes are read around the dialect, at byte 72 of in" },
    { "read 16", k_read_16, "16 bytes are read around the dialect, at byte 64 of in" },
    { "read of a vector", k_read_vector, "4 bytes are read around the dialect, at byte 68 of in" },
    { "write 1", k_write_1, "1 bytes are written around the dialect, at byte 68 of out" },
    { "write 2", k_write_2, "2 bytes are written around the dialect, at byte 68 of out" },
    { "write 4", k_write_4, "4 bytes are written around the dialect, at byte 68 of out" },
    { "write 8", k_write_8, "8 bytes are written around the dialect, at byte 72 of out" },
    { "write 16", k_write_16, "16 bytes are written around the dialect, at byte 64 of out" },
    { "write of a vector", k_write_vector, "written around the dialect, at byte 64 of out" },
    { "index", k_index, "4 bytes are read around the dialect, at byte 68 of in" },
    { "increment", k_increment, "around the dialect, at byte 68 of out" },
    { "memcpy from", k_memcpy_from, "64 bytes are read around the dialect, at byte 68 of in" },
    { "memcpy to", k_memcpy_to, "64 bytes are written around the dialect, at byte 68 of out" },
    { "memmove", k_memmove, "64 bytes are written around the dialect, at byte 68 of out" },
    { "memset", k_memset, "64 bytes are written around the dialect, at byte 68 of out" },
    { "memset that begins before", k_memset_over, "64 bytes are written around the dialect, at byte 0 of out" },
    { "atomic", k_atomic, "4 bytes are written around the dialect, at byte 68 of out" },
    { "compare and exchange", k_compare, "4 bytes are written around the dialect, at byte 68 of out" },
    { "shared", k_shared, "4 bytes are read around the dialect, at byte 20 of words" },
};
const int raw_kernels_n = sizeof raw_kernels / sizeof *raw_kernels;
