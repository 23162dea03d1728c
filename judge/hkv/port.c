/* SPDX-License-Identifier: Apache-2.0
 *
 * port.c - the port of HKV to the judge: the struct of judge/design.h.
 */
#include <string.h>

#include "judge/hkv/fixture.h"
#include "judge/kernels.h"

extern const hd_design hd_design_hkv;

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
    .name = "hkv", .keys = HD_KEY_RESERVED, .host = &hd_design_hkv, .dual = true,
    .kernel = kernel, .small = { 4, "uniform:12" }, .wide = { 16, "uniform:40" },
    .shape = hkv_fixture_shape, .memory = hkv_fixture_memory, .laid = hkv_fixture_laid, .clear = hkv_fixture_clear,
    .fill = hkv_fixture_fill, .scores = hkv_fixture_scores, .times_tell = hkv_fixture_times_tell,
    .rises = hkv_fixture_rises,
    .apply = hkv_fixture_apply, .buckets = hkv_fixture_buckets,
    .first = hkv_fixture_first, .key_at = hkv_fixture_key_at, .value_at = hkv_fixture_value_at,
    .differs = hkv_fixture_differs, .describe = hkv_fixture_describe, .names = hkv_fixture_names,
    .candidates = hkv_fixture_candidates, .tell = hkv_fixture_tell,
    .accept = hkv_fixture_accept, .beside = hkv_fixture_beside, .promised = hkv_fixture_promised,
    .idle = hkv_fixture_idle, .check = hkv_fixture_check, .watch = hkv_fixture_watch
};
/* clang-format on */
