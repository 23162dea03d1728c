/* SPDX-License-Identifier: Apache-2.0
 *
 * designs.c - the designs of judge/designs.inc as an array. JUDGE_MORE is a file with more such lines, for one program.
 */
#include <string.h>

#include "judge/design.h"
#include "judge/rules.h"
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

bool judge_dictionary(const char *design)
{
    const judge_design *d = judge_design_named(design);
    if (d) return d->dictionary;
    const hd_design *row = hd_design_named(design); /* its kernels cannot be judged, or it has none */
    return row && row->policy;
}

uint64_t judge_keys(const hd_config *c)
{
    uint64_t all = judge_dictionary(c->design) && c->value_bytes < 8 ? 1ull << (8 * c->value_bytes) : 0; /* 0: 2^64 */
    return all - 3;
}
