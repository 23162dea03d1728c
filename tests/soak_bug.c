/* SPDX-License-Identifier: Apache-2.0
 *
 * soak_bug.c - for a program that is linked with the museum's copies: switches on the bug that MUSEUM_BUG names, before
 * the program begins (t_soak_judge.sh).
 */
#include <stdio.h>
#include <stdlib.h>

#include "judge/museum/museum.h"

__attribute__((constructor)) static void put_bug(void)
{
    const char *name = getenv("MUSEUM_BUG");
    if (name && !(museum_now = museum_number(name))) {
        fprintf(stderr, "the museum has no bug %s\n", name);
        _Exit(3);
    }
}
