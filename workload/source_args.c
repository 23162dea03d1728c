/* SPDX-License-Identifier: Apache-2.0
 *
 * source_args.c - what a row's open asks about its arguments.
 */
#include <string.h>

#include "base/error.h"
#include "base/parse.h"
#include "workload/workload.h"

const char *hd_source_option(const hd_source_args *a, const char *name, const char *otherwise)
{
    for (size_t i = 0; i < a->options; i++)
        if (strcmp(a->option[i][0], name) == 0) return a->option[i][1];
    return otherwise;
}

/* HD_EINVAL when an option outside `known` was given. */
static hd_status options_known(const hd_source_args *a, const char *const *known)
{
    for (size_t i = 0; i < a->options; i++) {
        const char *name = a->option[i][0];
        char all[256] = "", nearest[HD_NEAREST_TEXT];
        hd_nearest near = { name, NULL, 0 };
        bool there = false;
        for (const char *const *k = known; *k; k++) {
            there = there || strcmp(name, *k) == 0;
            hd_nearest_try(&near, *k);
            hd_name_add(all, sizeof all, *k);
        }
        if (!*known) return hd_fail(HD_EINVAL, "%s: takes no option, so no '%.60s'", a->name, name);
        if (!there)
            return hd_fail(HD_EINVAL, "%s: there is no option '%.60s'%s; all: %s", a->name, name,
                           hd_nearest_text(&near, "", nearest), all);
    }
    return HD_OK;
}

hd_status hd_source_shape(const hd_source_args *a, size_t args, const char *const *known)
{
    if (a->args == args) return options_known(a, known);
    return hd_fail(HD_EINVAL, "%s: %zu argument%s given; the form is %s", a->name, a->args, a->args == 1 ? "" : "s",
                   a->row->form);
}

hd_status hd_source_take(const hd_source_args *a, const char *what, size_t bytes, const hd_source *as, hd_source **s)
{
    void *p;
    hd_status e = hd_take(a->seams, what, 1, bytes, &p);
    if (e) return e;
    memset(p, 0, bytes);
    *s = (hd_source *)p;
    **s = *as;
    (*s)->seams = a->seams;
    return HD_OK;
}

static const struct {
    const char *name;
    uint64_t tick;
} ticks[] = { { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 } };
enum { TICKS = sizeof ticks / sizeof ticks[0] };

const char *hd_unit_name(uint64_t tick)
{
    for (size_t i = 0; i < TICKS; i++)
        if (ticks[i].tick == tick) return ticks[i].name;
    return NULL;
}

bool hd_unit_of(const char *name, size_t bytes, uint64_t *tick)
{
    for (size_t i = 0; i < TICKS; i++)
        if (strlen(ticks[i].name) == bytes && memcmp(ticks[i].name, name, bytes) == 0) {
            *tick = ticks[i].tick;
            return true;
        }
    return false;
}

hd_status hd_source_flag(const hd_source_args *a, const char *name, bool otherwise, bool *on)
{
    uint64_t v = otherwise;
    const char *text = hd_source_option(a, name, NULL);
    hd_status e = text ? hd_parse_u64(name, text, 0, 1, &v) : HD_OK;
    *on = v != 0;
    return e;
}
