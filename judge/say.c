/* SPDX-License-Identifier: Apache-2.0
 *
 * say.c - the sentences of the oracle.
 */
#include <stdarg.h>
#include <stdio.h>

#include "judge/state.h"

const char judge_no_memory[] = "the judge ran out of memory";

const char *judge_say(hd_oracle *o, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(o->sentence, sizeof o->sentence, format, ap);
    va_end(ap);
    return o->sentence;
}
