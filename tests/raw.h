/* SPDX-License-Identifier: Apache-2.0
 *
 * raw.h - kernel code in which every C access is instrumented. Files that are compiled with -fsanitize=thread call
 * __tsan_read4(p) and its family before each access. simt/raw_hooks.c replaces these functions of the sanitizer, and
 * reports the access to the host machine. Compiled in this way: the real kernels (gpu/hkv/host.c) and raw_kernels.c.
 */
#ifndef HD_TESTS_RAW_H
#define HD_TESTS_RAW_H

#include <stdint.h>

/* The number of accesses reported since the start; if it is 0, nothing was tested. */
uint64_t raw_told(void);

typedef struct raw_args {
    uint32_t *in, *out; /* (1024) each */
} raw_args;

/* Kernels of 64 threads. One keeps to the dialect, and each of the others goes around it once: thread 5, 17 words into
 * `in` or `out`, 5 into shared `words`. */
typedef struct raw_kernel {
    const char *name;
    void (*kernel)(const void *);
    const char *sentence; /* of the finding; NULL: there is none */
} raw_kernel;
extern const raw_kernel raw_kernels[];
extern const int raw_kernels_n;

#endif
