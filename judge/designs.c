/* SPDX-License-Identifier: Apache-2.0
 *
 * designs.c - the designs of judge/designs.inc as an array. JUDGE_MORE is a file of more of its lines, which only one
 * program has.
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

/* ---- Defaults -------------------------------------------------------------------------------- */

judge_scores fixture_scores(const fixture *s) { return s->design->scores ? s->design->scores(s) : JUDGE_NO_SCORES; }

const char *fixture_unfit(const judge_design *d, uint32_t row, const hd_case *c)
{
    return d->unfit ? d->unfit(row, c) : NULL;
}

bool fixture_names(const fixture *s, const char *region, uint64_t at, char *text, size_t bytes)
{
    return s->design->names && s->design->names(s, region, at, text, bytes);
}

void fixture_lay_table(fixture *s)
{
    judge_memory all[JUDGE_MEMORY_MOST];
    if (!s->design->memory) {
        s->design->lay_table(s);
        return;
    }
    uint32_t n = s->design->memory(s, all);
    for (uint32_t i = 0; i < n; i++) {
        void *p = fixture_room(s, all[i].name, all[i].bytes);
        memcpy((char *)s->table + all[i].at, &p, sizeof p);
    }
}

void fixture_view(const fixture *s, uint8_t *memory, void *table)
{
    judge_memory all[JUDGE_MEMORY_MOST];
    if (!s->design->memory) {
        s->design->view(s, memory, table);
        return;
    }
    uint32_t n = s->design->memory(s, all);
    if (table != s->table) memcpy(table, s->table, s->design->table_size);
    for (uint32_t i = 0; i < n; i++) {
        uint8_t *p;
        memcpy(&p, (const char *)s->table + all[i].at, sizeof p);
        p = memory + (p - s->memory);
        memcpy((char *)table + all[i].at, &p, sizeof p);
    }
}

const char *fixture_watch(const fixture *s, bool weak, char why[JUDGE_SENTENCE])
{
    const judge_design *d = s->design;
    if (d->watch) return d->watch(s, weak, why);
    return d->idle && d->idle(s, why) ? NULL : d->check(s->table, why);
}

const char *fixture_say(char why[JUDGE_SENTENCE], const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(why, JUDGE_SENTENCE, format, ap);
    va_end(ap);
    return why;
}
