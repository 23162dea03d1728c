/* SPDX-License-Identifier: Apache-2.0
 *
 * params.c - the fields of all designs (params.h).
 */
#include "lib/params.h"

#include <string.h>

#include "base/design.h"
#include "base/error.h"

const hd_params *hd_params_at(size_t i)
{
    const hd_design *d;
    if (i == 0) return &hd_params_common;
    for (size_t k = 0; (d = hd_design_at(k)); k++) {
        if (d->params && --i == 0) return d->params;
    }
    return NULL;
}

static const hd_param *named(const hd_params *s, const char *name)
{
    for (size_t k = 0; k < s->count; k++)
        if (strcmp(s->row[k].name, name) == 0 || (s->row[k].alias && strcmp(s->row[k].alias, name) == 0))
            return &s->row[k];
    return NULL;
}

const hd_param *hd_param_named(const char *name, const char *design, const hd_params **of)
{
    const hd_params *s;
    const hd_param *found = NULL, *p;
    for (size_t i = 0; (s = hd_params_at(i)); i++) {
        bool own = s->design && design && strcmp(s->design, design) == 0;
        if ((found && !own) || !(p = named(s, name))) continue;
        found = p;
        *of = s;
    }
    return found;
}

const hd_param *hd_param_own(const char *name, const char *design, const hd_params **of)
{
    const hd_param *p = hd_param_named(name, design, of);
    return p && design && (*of)->design && strcmp((*of)->design, design) == 0 ? p : NULL;
}

static void reset(const hd_params *s, hd_config *c)
{
    for (size_t k = 0; k < s->count; k++) {
        HD_ASSERT(s->row[k].at + s->row[k].bytes <= s->bytes, "a row is of another struct");
        hd_param_reset(&s->row[k], hd_params_in(s, c));
    }
}

void hd_params_reset(hd_config *c)
{
    const hd_params *s;
    memset(c, 0, sizeof *c);
    for (size_t i = 0; (s = hd_params_at(i)); i++) reset(s, c);
}

/* The defaults, from the tables of parameters. */
hd_config hd_config_default(void)
{
    hd_config c;
    hd_params_reset(&c);
    return c;
}

/* The defaults of a design; of an unknown name the general ones, with that name. */
hd_config hd_config_of(const char *design)
{
    const hd_design *d = design ? hd_design_named(design) : NULL;
    hd_config c = hd_config_default();
    if (design) c.design = design;
    if (d && d->usual) d->usual(&c);
    return c;
}

void hd_params_drop_others(const hd_params *own, hd_config *c)
{
    const hd_params *s;
    for (size_t i = 1; (s = hd_params_at(i)); i++)
        if (s != own) reset(s, c);
}

uint64_t hd_params_number(const hd_config *c, const char *design, const char *name)
{
    const hd_params *of;
    const hd_param *p = hd_param_own(name, design, &of);
    return p ? hd_param_number(p, hd_params_of(of, c)) : 0;
}

uint64_t hd_params_number_of_table(const hd_info *info, const char *name)
{
    const hd_params *of;
    const hd_param *p = hd_param_own(name, info->design, &of);
    return p ? hd_param_number(p, hd_params_of_table(of, info)) : 0;
}

void hd_params_number_set(hd_config *c, const char *design, const char *name, uint64_t v)
{
    const hd_params *of;
    const hd_param *p = hd_param_own(name, design, &of);
    if (p) hd_param_number_set(p, hd_params_in(of, c), v);
}

const char *hd_params_differ(const hd_config *a, const hd_config *b)
{
    const hd_params *s;
    for (size_t i = 1; (s = hd_params_at(i)); i++)
        for (size_t k = 0; k < s->count; k++)
            if (!hd_param_same(&s->row[k], hd_params_of(s, a), hd_params_of(s, b))) return s->row[k].name;
    return NULL;
}

static hd_status check_set(const hd_params *s, const hd_config *c)
{
    hd_status status = HD_OK;
    for (size_t k = 0; k < s->count && !status; k++) status = hd_param_check(&s->row[k], hd_params_of(s, c));
    return status;
}

hd_status hd_params_check(const hd_params *own, const char *design, const hd_config *c)
{
    const hd_params *s;
    hd_status status = check_set(&hd_params_common, c);
    if (!status && own) status = check_set(own, c);
    for (size_t i = 1; !status && (s = hd_params_at(i)); i++)
        for (size_t k = 0; k < s->count && s != own; k++)
            if (!hd_param_unused(&s->row[k], hd_params_of(s, c)))
                return hd_fail(HD_EINVAL,
                               "%s: a field of design %s, not of %s; leave it as hd_config_of(\"%s\") has it",
                               s->row[k].name, s->design, design, design);
    return status;
}

hd_status hd_config_set(hd_config *c, const char *name, const char *text)
{
    const hd_params *s;
    if (!c || !name || !text) return hd_fail(HD_EINVAL, "%s: NULL", !c ? "config" : !name ? "name" : "text");
    const hd_param *p = hd_param_named(name, c->design, &s);
    if (!p) return hd_fail_name("field", name, HD_PARAMETERS);
    return hd_param_set(p, hd_params_in(s, c), text);
}
