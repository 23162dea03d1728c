/* SPDX-License-Identifier: Apache-2.0
 *
 * assert.h - the library's own invariants. A build with --enable-verify checks them where they would break first; other
 * builds compile them to nothing, and so does nvcc. A caller's mistake is no assertion but a status (error.h).
 *
 *     HD_ASSERT(v->pins > 0);
 *     HD_ASSERT(v->pins > 0, "HKV-6: an entry is unpinned that nothing has pinned");
 *
 * The condition has no side effects, and no access that the host SIMT machine would see as a step: a verify build
 * computes what every other build does.
 */
#ifndef HD_ASSERT_H
#define HD_ASSERT_H

#if defined HD_VERIFY && !defined __CUDACC__
#ifdef __cplusplus
extern "C"
#endif
    /* Prints "FILE:LINE: CONDITION: MESSAGE", and aborts. */
    __attribute__((noreturn)) void
    hd_assert_failed(const char *file, int line, const char *condition, const char *message);

#define HD_ASSERT(condition, ...) \
    ((condition) ? (void)0 : hd_assert_failed(__FILE__, __LINE__, #condition, "" __VA_ARGS__))
#else
#define HD_ASSERT(condition, ...) ((void)sizeof((condition) ? 1 : 0))
#endif

#endif
