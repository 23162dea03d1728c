/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.c - launches HKV's kernels on a fixture's machine; the port of HKV to the judge.
 */
#include <string.h>

#include "gpu/hkv/rows.h"
#include "judge/hkv/fixture.h"
#include "judge/kernels.h"
#include "lib/backend_host.h"

extern const hd_design hd_design_hkv_host;

/* Launches no more lanes than there is work for. */
static hd_status launch(void *self, uint32_t kernel, const void *args, size_t args_bytes, uint64_t blocks,
                        uint32_t threads)
{
    const hkv_args *a = (const hkv_args *)args;
    uint64_t lanes = (a->last - a->first) * (kernel < HD_SHARED_KERNELS ? hkv_row(kernel)->lanes : 1);
    (void)blocks;
    return fixture_launch((const fixture_target *)self, hkv_host_kernel(kernel), args, args_bytes, lanes, threads);
}

static hd_status queue(const fixture_kernel *k, simt_machine *m, const void *args, uint32_t stream)
{
    fixture_target t = fixture_target_of(k, m, stream, hkv_row(k->row)->threads);
    hkv_launcher l = { { launch, fixture_zero, &t, UINT64_MAX, UINT64_MAX }, UINT64_MAX, UINT64_MAX, NULL };
    return hkv_launch(&l, k->row, *(const hkv_args *)args);
}

hd_status hkv_fixture_queue_text(const fixture_kernel *k, simt_machine *m, const void *args, uint32_t stream)
{
    const hkv_args *a = (const hkv_args *)args;
    uint64_t lanes = (a->last - a->first) * k->lanes;
    return simt_machine_launch(m, k->text, a, sizeof *a, (uint32_t)((lanes + k->threads - 1) / k->threads), k->threads,
                               stream);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static fixture_kernel kernel(uint32_t row)
{
    fixture_kernel k = fixture_kernel_of_row(&judge_design_hkv, row);
    if (strcmp(k.name, "coalesced") == 0) k.lanes = 32; /* a warp works for its 32 keys */
    return k;
}

fixture_kernel hkv_fixture_kernel_at(uint32_t row, uint32_t threads, uint32_t blocks)
{
    fixture_kernel k = kernel(row);
    k.threads = threads;
    k.blocks = blocks;
    return k;
}

/* clang-format off */
const judge_design judge_design_hkv = {
    .name = "hkv", .keys = HD_KEY_RESERVED, .host = &hd_design_hkv_host, .dual = true, .queue = queue,
    .kernel = kernel, .small = { 4, "uniform:12" }, .wide = { 16, "uniform:40" },
    .table_size = sizeof(hkv_fixture_table), .args_size = sizeof(hkv_fixture_args), .shape = hkv_fixture_shape,
    .lay_table = hkv_fixture_lay_table, .lay_part = hkv_fixture_lay_part, .clear = hkv_fixture_clear,
    .fill = hkv_fixture_fill, .args = hkv_fixture_make_args, .scores = hkv_fixture_scores,
    .view = hkv_fixture_view_over, .apply = hkv_fixture_apply, .buckets = hkv_fixture_buckets,
    .first = hkv_fixture_first, .key_at = hkv_fixture_key_at, .value_at = hkv_fixture_value_at,
    .differs = hkv_fixture_differs, .describe = hkv_fixture_describe, .names = hkv_fixture_names,
    .accept = hkv_fixture_accept, .beside = hkv_fixture_beside, .promised = hkv_fixture_promised,
    .idle = hkv_fixture_idle, .check = hkv_fixture_check, .watch = hkv_fixture_watch
};
/* clang-format on */
