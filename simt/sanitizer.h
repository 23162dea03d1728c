/* SPDX-License-Identifier: Apache-2.0
 *
 * sanitizer.h - HD_ASAN, HD_TSAN, HD_MSAN: this is compiled for the address, the thread or the memory sanitizer. clang
 * and gcc say it differently. HD_COVERAGE: what runs is counted.
 */
#ifndef HD_SANITIZER_H
#define HD_SANITIZER_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HD_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define HD_TSAN 1
#endif
#if __has_feature(memory_sanitizer)
#define HD_MSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define HD_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define HD_TSAN 1
#endif

/* A library that is not instrumented has written these bytes: the memory sanitizer did not see it. */
#ifdef HD_MSAN
#include <sanitizer/msan_interface.h>
#define HD_WRITTEN(p, bytes) __msan_unpoison((p), (bytes))
#else
#define HD_WRITTEN(p, bytes) ((void)0)
#endif

/* Before _exit, which writes no counts. */
#ifdef HD_COVERAGE
extern void __gcov_dump(void);
#define HD_COUNTED() __gcov_dump()
#else
#define HD_COUNTED() ((void)0)
#endif

#endif
