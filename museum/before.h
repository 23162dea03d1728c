/* SPDX-License-Identifier: Apache-2.0
 *
 * before.h - what altered copies are compiled behind. Bugs are found in a few schedules: what counts is how fast all of
 * this is compiled.
 */
#include "museum/now.h"

#define SIMT_FN       static inline __attribute__((unused))
#define SIMT_FN_APART static __attribute__((unused))
#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("O1")
#endif
