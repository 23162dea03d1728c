/* SPDX-License-Identifier: Apache-2.0
 *
 * snapshot_open.c - hd_open_snapshot and hd_snapshot_inspect: the table that a snapshot was saved from, by the header
 * of the file.
 */
#include <string.h>

#include "base/error.h"
#include "lib/snapshot_load.h"
#include "lib/table.h"

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
    hd_snapshot_set_config(&info->config, &h, info->policy);
    return HD_OK;
}
