/* SPDX-License-Identifier: Apache-2.0
 *
 * sanitizer.h - HD_ASAN, HD_TSAN: this is compiled for the address, or the thread, sanitizer. clang and gcc say it differently.
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
#endif
#if defined(__SANITIZE_ADDRESS__)
#define HD_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define HD_TSAN 1
#endif

#endif
