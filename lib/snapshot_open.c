/* SPDX-License-Identifier: Apache-2.0
 *
 * snapshot_open.c - hd_open_snapshot and hd_snapshot_inspect: the table that a snapshot was saved from, by the header
 * of the file.
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "lib/params.h"
#include "lib/snapshot_load.h"
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
    return expressions ? text : hd_policy_rows[use.number].name;
}

/* Gives the configuration the fields that the file has. */
static void set_config(hd_config *c, const hd_snapshot_header *h, const char *policy)
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
    set_config(c, h, policy);
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

static bool is_image(const hd_snapshot_file *f) { return memcmp(f->h.magic, HD_IMAGE_MAGIC, sizeof f->h.magic) == 0; }

/* A table in memory that has what an image has. */
static hd_status open_image(const char *path, hd_config *c, const hd_seams *seams, hd_table **table)
{
    hd_store *store = NULL;
    if (c->file) return hd_fail(HD_EINVAL, "file: %s is the file of a table itself, and no snapshot", path);
    hd_status status = hd_store_open_to_read(path, c, seams, &store);
    return status ? status : hd_table_open(c, seams, store, true, table);
}

hd_status hd_open_snapshot(const char *path, const hd_config *config, hd_table **table)
{
    if (!path || !table) return hd_fail(HD_EINVAL, "%s: NULL", path ? "table" : "path");
    hd_config c = config ? *config : hd_config_default();
    hd_snapshot_file f;
    hd_seams seams;
    hd_table *t = NULL;
    hd_status status = hd_seams_of_config(&c, &seams);
    if (status) return status;
    status = hd_snapshot_open_file(&seams, path, &f);
    if (status && is_image(&f)) return hd_snapshot_close_file(&f), open_image(path, &c, &seams, table);
    if (!status) status = hd_snapshot_verify_first(&f, 2); /* the table, and the one that it becomes */
    if (!status) status = hd_snapshot_config(path, &f.h, f.policy, &c);
    if (!status) status = hd_open(&c, &t);
    if (!status) status = hd_snapshot_load_into(t, &f, NULL);
    hd_snapshot_close_file(&f);
    if (status)
        hd_close(t);
    else
        *table = t;
    return status;
}

/* What an image's superblock says, as that of a snapshot; its entries are not counted. */
static hd_status inspect_image(hd_snapshot_file *f)
{
    hd_image im;
    hd_status status = hd_image_open(&im, f->seams, f->path, false);
    hd_image_close(&im);
    f->h = im.sb.shape;
    f->h.version = im.sb.version;
    f->h.file_bytes = im.sb.file_bytes;
    memcpy(f->policy, im.sb.policy, sizeof f->policy);
    if (!status && !im.sb.generation) status = hd_fail(HD_ECORRUPT, "%s: there is no table in it", f->path);
    return status;
}

hd_status hd_snapshot_inspect(const char *path, hd_snapshot_info *info)
{
    if (!path || !info) return hd_fail(HD_EINVAL, "%s: NULL", path ? "info" : "path");
    hd_snapshot_file f;
    hd_status status = hd_snapshot_open_file(&hd_seams_os, path, &f);
    hd_snapshot_close_file(&f);
    if (status && is_image(&f)) status = inspect_image(&f);
    const hd_snapshot_header h = f.h;
    if (status) return status;
    memset(info, 0, sizeof *info);
    info->version = h.version;
    memcpy(info->design, h.design, sizeof h.design);
    memcpy(info->policy, f.policy, sizeof f.policy);
    info->buckets = h.buckets;
    info->capacity = h.buckets * h.slots;
    info->base_buckets = h.base_buckets;
    info->size = h.size;
    info->seed = h.seed;
    info->clock = h.clock;
    info->slots = h.slots;
    info->value_bytes = h.value_bytes;
    info->epoch = h.epoch;
    info->dual = h.flags & HD_SNAPSHOT_DUAL;
    info->admit = h.flags & HD_SNAPSHOT_ADMIT_ALWAYS ? HD_ADMIT_ALWAYS : HD_ADMIT_SCORE;
    info->file_bytes = h.file_bytes;
    info->config = hd_config_of(h.design);
    set_config(&info->config, &h, info->policy);
    return HD_OK;
}
