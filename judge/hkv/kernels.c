/* SPDX-License-Identifier: Apache-2.0
 *
 * hkv_kernels.c - launches of the real kernels on a scene's machine, what lib/backend_host.c does for a table; and HKV
 * as a design for the judge of kernels.
 */
#include <string.h>

#include "gpu/hkv/rows.h"
#include "judge/hkv/scene.h"
#include "judge/kernels.h"
#include "lib/backend_host.h"

/* No more lanes than there is work for. */
static hd_status launch(void *self, uint32_t kernel, const void *args, size_t args_bytes, uint64_t blocks,
                        uint32_t threads)
{
    const hkv_args *a = (const hkv_args *)args;
    uint64_t lanes = (a->last - a->first) * (kernel < HKV_ROWS ? hkv_rows[kernel].lanes : 1);
    (void)blocks;
    return scene_launch((const scene_target *)self, hd_host_kernel(kernel), args, args_bytes, lanes, threads);
}

static hd_status queue(const scene_kernel *k, simt_machine *m, const void *args, uint32_t stream)
{
    const hkv_row *row = (const hkv_row *)k->row;
    scene_target t = scene_target_of(k, m, stream, row->threads);
    hkv_launcher l = { launch, scene_zero, &t, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, NULL };
    return hkv_launch(&l, (uint32_t)(row - hkv_rows), *(const hkv_args *)args);
}

hd_status hkv_scene_queue_text(const scene_kernel *k, simt_machine *m, const void *args, uint32_t stream)
{
    const hkv_args *a = (const hkv_args *)args;
    uint64_t lanes = (a->last - a->first) * k->lanes;
    return simt_machine_launch(m, k->text, a, sizeof *a, (uint32_t)((lanes + k->threads - 1) / k->threads), k->threads,
                               stream);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static const judge_row rows[] = {
#define HKV_KERNEL(variant, family, lanes, threads, fits, strictness, what) \
    { #variant, lanes, threads, SCENE_##strictness },
#include "gpu/hkv/registry.inc"
#undef HKV_KERNEL
};

static bool runs(uint32_t row, hd_op op) { return op < HD_OP_COUNT_ && hkv_rows[row].family == hkv_family_of(op); }

static const char *unfit(uint32_t row, const hd_case *c)
{
    hd_info info;
    memset(&info, 0, sizeof info);
    info.slots = c->slots;
    info.value_bytes = c->value_bytes;
    info.dual = c->dual;
    info.layout = c->layout == HD_LAYOUT_PLANES ? HD_LAYOUT_PLANES : HD_LAYOUT_PAIRS;
    return hkv_rows[row].fits(&info);
}

static scene_kernel kernel(uint32_t row)
{
    scene_kernel k = scene_kernel_of_row(&rows[row], queue, &hkv_rows[row]);
    if (strcmp(k.name, "gather") == 0) k.lanes = 32; /* a warp works for its 32 keys */
    return k;
}

scene_kernel hkv_scene_kernel_at(uint32_t row, uint32_t threads, uint32_t blocks)
{
    scene_kernel k = kernel(row);
    k.threads = threads;
    k.blocks = blocks;
    return k;
}

const judge_design judge_design_hkv = {
    .name = "hkv",
    .keys = HD_KEY_RESERVED,
    .dual = true,
    .row = rows,
    .rows = HKV_ROWS,
    .runs = runs,
    .unfit = unfit,
    .kernel = kernel,
    .small = { 4, "uniform:12" },
    .wide = { 16, "uniform:40" },
    .table_size = sizeof(hkv_scene_table),
    .args_size = sizeof(hkv_scene_args),
    .shape = hkv_scene_shape,
    .lay_table = hkv_scene_lay_table,
    .lay_part = hkv_scene_lay_part,
    .clear = hkv_scene_clear,
    .fill = hkv_scene_fill,
    .args = hkv_scene_make_args,
    .scores = hkv_scene_scores,
    .view = hkv_scene_view_over,
    .apply = hkv_scene_apply,
    .buckets = hkv_scene_buckets,
    .first = hkv_scene_first,
    .key_at = hkv_scene_key_at,
    .value_at = hkv_scene_value_at,
    .differs = hkv_scene_differs,
    .describe = hkv_scene_describe,
    .names = hkv_scene_names,
    .accept = hkv_scene_accept,
    .beside = hkv_scene_beside,
    .promised = hkv_scene_promised,
    .idle = hkv_scene_idle,
    .check = hkv_scene_check,
    .watch = hkv_scene_watch,
};
