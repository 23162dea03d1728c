/* SPDX-License-Identifier: Apache-2.0
 *
 * designs.c - the designs of judge/designs.inc as an array. JUDGE_MORE is a file with more such lines, for one program.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "judge/design.h"
#include "base/error.h"

#ifdef JUDGE_MORE
#define JUDGE_DESIGN(name) extern const judge_design judge_design_##name;
#include JUDGE_MORE
#undef JUDGE_DESIGN
#endif

static const judge_design *const designs[] = {
#define JUDGE_DESIGN(name) &judge_design_##name,
#include "judge/designs.inc"
#ifdef JUDGE_MORE
#include JUDGE_MORE
#endif
#undef JUDGE_DESIGN
};

const judge_design *judge_design_at(size_t i) { return i < sizeof designs / sizeof *designs ? designs[i] : NULL; }

const judge_design *judge_design_named(const char *name)
{
    size_t i = 0;
    while (judge_design_at(i) && strcmp(designs[i]->name, name) != 0) i++;
    return judge_design_at(i);
}

const judge_design *judge_design_of(const hd_case *c)
{
    const judge_design *d = judge_design_named(c->design);
    if (!d) (void)hd_fail(HD_EINVAL, "case: there are no kernels of design %s", c->design);
    return d;
}

const char *fixture_say(char why[JUDGE_SENTENCE], const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(why, JUDGE_SENTENCE, format, ap);
    va_end(ap);
    return why;
}
