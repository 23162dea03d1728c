/* SPDX-License-Identifier: Apache-2.0
 *
 * options.c - see options.h.
 */
#include "base/options.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"

typedef struct option {
    const char *name;
    uint32_t bit;
    bool is_text; /* compared by its characters */
    size_t at, bytes;
} option;

#define AT(member) offsetof(hd_config, member), sizeof((hd_config *)0)->member

/* clang-format off */
static const option options[] = {
    { "dual",       HD_OPTION_DUAL,   false, AT(dual) },
    { "hashes",     HD_OPTION_HASHES, false, AT(hashes) },
    { "spare",      HD_OPTION_SPARE,  false, AT(spare) },
    { "hash",       HD_OPTION_HASH,   true,  AT(hash) },
    { "admit",      HD_OPTION_ADMIT,  false, AT(admit) },
    { "tiers",      HD_OPTION_TIERS,  false, AT(tiers) },
    { "near_bytes", HD_OPTION_NEAR,   false, AT(near_bytes) },
    { "fetch",      HD_OPTION_FETCH,  false, AT(fetch) },
    { "clock",      HD_OPTION_CLOCK,  false, AT(clock) },
    { "pins",       HD_OPTION_PINS,   false, AT(pins) },
};
/* clang-format on */
enum { OPTIONS = sizeof options / sizeof *options };

static bool has_option(const hd_design *d, const option *o) { return d->options && *d->options & o->bit; }

static bool is_same(const option *o, const hd_config *a, const hd_config *b)
{
    if (o->is_text) return strcmp(a->hash, b->hash) == 0;
    return memcmp((const char *)a + o->at, (const char *)b + o->at, o->bytes) == 0;
}

hd_status hd_options_check(const hd_design *d, const hd_config *c)
{
    hd_config usual = hd_config_of(d->name);
    for (int i = 0; i < OPTIONS; i++)
        if (!has_option(d, &options[i]) && !is_same(&options[i], c, &usual))
            return hd_fail(HD_EINVAL, "%s: design %s has no such field; leave it as hd_config_of(\"%s\") has it",
                           options[i].name, d->name, d->name);
    return HD_OK;
}

void hd_options_drop(const hd_design *d, hd_config *c)
{
    hd_config usual = hd_config_of(d->name);
    for (int i = 0; i < OPTIONS; i++)
        if (!has_option(d, &options[i]))
            memcpy((char *)c + options[i].at, (const char *)&usual + options[i].at, options[i].bytes);
}
