/* SPDX-License-Identifier: Apache-2.0
 *
 * assert.c - what a verify build does when an invariant is broken.
 */
#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

#if defined HD_VERIFY
void hd_assert_failed(const char *file, int line, const char *condition, const char *message)
{
    fprintf(stderr, "%s:%d: %s%s%s\n", file, line, condition, *message ? ": " : "", message);
    abort();
}
#endif
