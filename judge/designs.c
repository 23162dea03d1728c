/* SPDX-License-Identifier: Apache-2.0
 *
 * designs.c - the designs of judge/designs.inc, and those that a program adds.
 */
#include <string.h>

#include "judge/design.h"
#include "judge/rules.h"
#include "base/error.h"

/* A NULL ends them. */
static const judge_design *designs[HD_DESIGNS_MOST + 1] = {
#define JUDGE_DESIGN(name) &judge_design_##name,
#include "judge/designs.inc"
#undef JUDGE_DESIGN
};

hd_status judge_design_add(const judge_design *d, const char *before)
{
    size_t at = 0, n = 0;
    while (designs[n]) n++;
    if (n == HD_DESIGNS_MOST || judge_design_named(d->name))
        return hd_fail(HD_EINVAL, "design: the judge has a '%s' already, or no room for it", d->name);
    while (at < n && (!before || strcmp(designs[at]->name, before) != 0)) at++;
    memmove(designs + at + 1, designs + at, (n - at) * sizeof *designs);
    designs[at] = d;
    return HD_OK;
}

const judge_design *judge_design_at(size_t i) { return i < HD_DESIGNS_MOST ? designs[i] : NULL; }

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

bool judge_dictionary(const char *design)
{
    const judge_design *d = judge_design_named(design);
    if (d) return d->dictionary;
    const hd_design *row = hd_design_named(design); /* its kernels cannot be judged, or it has none */
    return row && row->policy;
}

uint64_t judge_keys(const hd_config *c)
{
    const judge_design *d = judge_design_named(c->design);
    bool narrow = judge_dictionary(c->design) && !(d && d->wide_keys) && c->value_bytes < 8;
    uint64_t all = narrow ? 1ull << (8 * c->value_bytes) : 0; /* 0: 2^64 */
    return all - 3;
}
