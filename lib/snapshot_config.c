/* SPDX-License-Identifier: Apache-2.0
 *
 * snapshot_config.c - between the header of a file and a table: the configuration of the table that a file has, and the
 * header of a file that has a table.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "lib/params.h"
#include "lib/snapshot.h"
#include "lib/table.h"
#include "policies/expression.h"

/* The design of the file, on any backend; NULL: this library has none of that name. */
static const hd_design *design_of_file(const hd_snapshot_header *h) { return hd_design_named(h->design); }

/* The policy of the file: a static string, or `text`, if it has expressions. NULL: the design has none of that name, or
 * the expressions are not as a table says them (hd_info.policy). */
static const char *policy_of_file(const hd_design *d, const hd_snapshot_header *h, const char *text)
{
    hd_policy_use use;
    if (d->policy) return strcmp(d->policy, text) == 0 ? d->policy : NULL;
    if (hd_policy_read(text, &use) || strcmp(use.text, text) != 0) return NULL;
    bool expressions = hd_policy_is_expression(text);
    if (expressions != hd_snapshot_has_policy(h)) return NULL;
    return expressions ? text : hd_policy_row_of(use.number)->name;
}

void hd_snapshot_set_config(hd_config *c, const hd_snapshot_header *h, const char *policy)
{
    const hd_design *d = design_of_file(h);
    const hd_params *own = d ? d->params : NULL;
    c->design = d ? d->name : NULL;
    c->policy = d ? policy_of_file(d, h, policy) : NULL;
    c->capacity = h->buckets * h->slots;
    c->slots = h->slots;
    c->value_bytes = h->value_bytes;
    c->clock = h->flags & HD_SNAPSHOT_DEVICE_CLOCK ? HD_CLOCK_DEVICE : HD_CLOCK_LOGICAL;
    c->seed = h->seed;
    c->epoch = h->epoch;
    hd_params_drop_others(own, c);
    if (own) hd_snapshot_get(h, own, false, hd_params_in(own, c));
}

/* Whether the caller's field says nothing against the file's: it is the same, or as hd_config_of has it for the design
 * that the caller names, which is the file's or the default. A table may have more places than were asked for. */
static bool field_agrees(const hd_params *s, const hd_param *p, const hd_config *c, const hd_config *file)
{
    hd_config usual = hd_config_of(c->design);
    hd_policy_use use;
    usual.design = hd_config_default().design;
    if (hd_param_same(p, hd_params_of(s, c), hd_params_of(s, file))) return true;
    if (hd_param_same(p, hd_params_of(s, c), hd_params_of(s, &usual))) return true;
    if (s != &hd_params_common) return false;
    if (p->at == offsetof(hd_config, capacity)) return c->capacity <= file->capacity;
    if (p->at != offsetof(hd_config, policy)) return false;
    return c->policy && !hd_policy_read(c->policy, &use) && strcmp(use.text, file->policy) == 0;
}

/* HD_EINVAL: the caller's configuration names something else than the file has. */
static hd_status check_config(const char *path, const hd_config *c, const hd_config *file)
{
    const hd_params *s;
    for (size_t i = 0; (s = hd_params_at(i)); i++)
        for (size_t k = 0; k < s->count; k++)
            if (!field_agrees(s, &s->row[k], c, file))
                return hd_fail(HD_EINVAL, "%s: %s, of design %s, decides it; leave it as hd_config_of(\"%s\") has it",
                               s->row[k].name, path, file->design, file->design);
    return HD_OK;
}

/* The configuration of the table to open. A mistake of the file is HD_ECORRUPT, where hd_open would call it the
 * caller's. */
hd_status hd_snapshot_config(const char *path, const hd_snapshot_header *h, const char *policy, hd_config *c)
{
    const hd_config asked = *c;
    hd_snapshot_set_config(c, h, policy);
    if (!c->design)
        return hd_fail(HD_ECORRUPT, "%s: the header's design '%s' (byte 16) is unknown%s", path, h->design,
                       hd_design_elsewhere(h->design));
    if (!c->policy)
        return hd_fail(HD_ECORRUPT, "%s: the header's policy '%s' (byte %d) is none of design %s", path, policy,
                       hd_snapshot_has_policy(h) ? (int)sizeof *h : 32, c->design);
    hd_status status = check_config(path, &asked, c);
    if (status) return status;
    hd_info shape;
    memset(&shape, 0, sizeof shape);
    const hd_design *design = design_of_file(h);
    const hd_backend *on = c->backend ? hd_backend_named(design, c->backend) : NULL;
    return on ? hd_snapshot_shape(design, on, path, h, &shape) : HD_OK; /* hd_open refuses the backend */
}

hd_snapshot_header hd_snapshot_header_of(hd_table *t, uint64_t size)
{
    hd_snapshot_header h;
    memset(&h, 0, sizeof h);
    memcpy(h.magic, HD_SNAPSHOT_MAGIC, sizeof h.magic);
    h.version = HD_SNAPSHOT_VERSION;
    h.header_bytes = sizeof h;
    snprintf(h.design, sizeof h.design, "%s", t->info.design);
    bool expressions = hd_policy_is_expression(t->info.policy);
    if (expressions) {
        h.version = HD_SNAPSHOT_VERSION_POLICY;
        h.header_bytes += sizeof(hd_snapshot_policy);
    }
    snprintf(h.policy, sizeof h.policy, "%s", expressions ? HD_SNAPSHOT_EXPRESSIONS : t->info.policy);
    h.buckets = t->info.buckets;
    h.slots = t->info.slots;
    h.value_bytes = t->info.value_bytes;
    h.seed = t->info.seed;
    h.base_buckets = t->info.base_buckets;
    h.stash_buckets = t->info.stash_buckets;
    h.clock = atomic_load(&t->clock);
    h.epoch = atomic_load(&t->epoch);
    h.flags = t->info.clock == HD_CLOCK_DEVICE ? HD_SNAPSHOT_DEVICE_CLOCK : 0u;
    hd_snapshot_put(&h, t->design->params, hd_params_of_table(t->design->params, &t->info));
    h.size = size;
    h.file_bytes = hd_snapshot_bytes(&h);
    hd_snapshot_header_sum(&h, h.sum);
    return h;
}
