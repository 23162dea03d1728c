/* SPDX-License-Identifier: Apache-2.0
 *
 * port.c - the port of Hive to the judge: the struct of judge/design.h.
 */
#include <stdio.h>
#include <string.h>

#include "gpu/hive/rows.h"
#include "judge/hive/fixture.h"

extern const hd_design hd_design_hive;

/* Half of the items insert, as in the paper's mixtures (section V-C2). */
static const uint8_t mixture[HD_OP_COUNT_] = {
    [HD_OP_INSERT_OR_ASSIGN] = 3, [HD_OP_FIND_OR_INSERT] = 1, [HD_OP_ACCUM_OR_ASSIGN] = 1, [HD_OP_FIND] = 2,
    [HD_OP_CONTAINS] = 1,         [HD_OP_ASSIGN] = 1,         [HD_OP_ASSIGN_VALUES] = 1,   [HD_OP_ERASE] = 2,
};

static bool runs(uint32_t row, hd_op op)
{
    if (op == JUDGE_MIXED) return hive_row(row)->family == GPU_ITEMS;
    return !hive_unsupported(op) && hive_row(row)->family == gpu_family_of(op);
}

static uint32_t buckets_of_key(const hd_case *c) { return c->table.hive.hashes; }

/* clang-format off */
const judge_design judge_design_hive = {
    .name = "hive", .buckets_of_key = buckets_of_key,
    .keys = (1ull << 32) - HIVE_LEAVING, .host = &hd_design_hive, .dictionary = true,
    .roams = true, .mix = mixture, .runs = runs, .small = { 8, "uniform:24" },
    .wide = { 32, "uniform:90" }, .table_size = sizeof(hive_fixture_table),
    .memory = hive_fixture_memory, .laid = hive_fixture_laid, .clear = hive_fixture_clear,
    .fill = hive_fixture_fill, .apply = hive_fixture_apply,
    .resize = hive_fixture_resize, .buckets = hive_fixture_buckets, .first = hive_fixture_first,
    .places = hive_fixture_places, .key_at = hive_fixture_key_at, .value_at = hive_fixture_value_at,
    .differs = hive_fixture_differs, .describe = hive_fixture_describe, .bucket_name = hive_fixture_bucket_name,
    .names = hive_fixture_names,
    .candidates = hive_fixture_candidates, .tell = hive_fixture_tell,
    .accept = hive_fixture_accept, .move = hive_fixture_move, .check = hive_fixture_check, .watch = hive_fixture_watch
};
/* clang-format on */
