/* SPDX-License-Identifier: Apache-2.0
 *
 * now.h - which bug is there now. The bugs in the altered copies are behind this number.
 */
#ifndef HD_MUSEUM_NOW_H
#define HD_MUSEUM_NOW_H

#include <stdbool.h>

extern int museum_now; /* 0: none */

static inline bool museum_is(int number) { return museum_now == number; }

#endif
