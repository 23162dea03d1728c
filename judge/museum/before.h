/* SPDX-License-Identifier: Apache-2.0
 *
 * before.h - included before every altered copy. A bug needs few schedules to be found, so that the time of compiling
 * counts for more than the speed of the code. Assertions are off: the museum asks whether its judges find a bug.
 */
#undef HD_VERIFY
#include "judge/museum/now.h"

#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("O1")
#endif
