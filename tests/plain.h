/* SPDX-License-Identifier: Apache-2.0
 *
 * plain.h - checks for tests that use only the library: no cmocka, no test library. C11 and C++17.
 */
#ifndef PLAIN_H
#define PLAIN_H

#include <stdio.h>

static int plain_cases, plain_failed;

/* One TAP case: passes when `good`. */
#define ok(good, what) plain_case((good) ? 1 : 0, what, __FILE__, __LINE__)

static inline int plain_case(int good, const char *what, const char *file, int line)
{
    plain_cases++;
    plain_failed += !good;
    printf("%sok %d - %s\n", good ? "" : "not ", plain_cases, what);
    if (!good) printf("#   %s:%d\n", file, line);
    return good;
}

/* Prints the plan; main returns this. */
static inline int plain_finish(void)
{
    printf("1..%d\n", plain_cases);
    return plain_failed != 0;
}

#endif
