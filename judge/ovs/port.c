/* SPDX-License-Identifier: Apache-2.0
 *
 * port.c - the port of ovs to the judge: the struct of judge/design.h.
 */
#include <string.h>

#include "gpu/ovs/rows.h"
#include "judge/ovs/fixture.h"

extern const hd_design hd_design_ovs;

/* Half of the items insert, so that segments fill up; a fifth erases, so that slots become vacant. */
static const uint8_t mixture[HD_OP_COUNT_] = {
    [HD_OP_INSERT_OR_ASSIGN] = 3, [HD_OP_FIND_OR_INSERT] = 1, [HD_OP_ACCUM_OR_ASSIGN] = 1, [HD_OP_FIND] = 2,
    [HD_OP_CONTAINS] = 1,         [HD_OP_ASSIGN] = 1,         [HD_OP_ASSIGN_VALUES] = 1,   [HD_OP_ERASE] = 3,
};

static bool runs(uint32_t row, hd_op op)
{
    static const uint8_t each = HD_OP_INSERT_OR_ASSIGN;
    static const hd_info any = { .buckets = 1 };
    hd_batch b;
    memset(&b, 0, sizeof b);
    b.op = op == JUDGE_MIXED ? HD_OP_INSERT_OR_ASSIGN : op;
    b.each = op == JUDGE_MIXED ? &each : NULL;
    return !ovs_unsupported_row(hd_variant_row_numbered(ovs_variants, row), &any, &b);
}

static uint32_t buckets_of_key(const hd_case *c)
{
    uint32_t buckets = c->table.ovs.segment_bytes / OVS_LINE;
    return buckets < OVS_WAY ? buckets : (uint32_t)OVS_WAY;
}

/* clang-format off */
const judge_design judge_design_ovs = {
    .name = "ovs", .buckets_of_key = buckets_of_key,
    .keys = (1ull << OVS_HALF) - WORD_LEAVING, .host = &hd_design_ovs, .dictionary = true,
    .roams = true, .mix = mixture, .runs = runs, .small = { OVS_SLOTS, "uniform:40", "segment", "256" },
    .table_size = sizeof(ovs_fixture_table),
    .memory = ovs_fixture_memory, .laid = ovs_fixture_laid, .clear = ovs_fixture_clear, .fill = ovs_fixture_fill,
    .apply = ovs_fixture_apply, .resize = ovs_fixture_resize,
    .buckets = ovs_fixture_buckets, .first = ovs_fixture_first, .places = ovs_fixture_places,
    .key_at = ovs_fixture_key_at, .value_at = ovs_fixture_value_at, .describe = ovs_fixture_describe,
    .names = ovs_fixture_names, .candidates = ovs_fixture_candidates, .tell = ovs_fixture_tell,
    .accept = ovs_fixture_accept, .move = ovs_fixture_move, .check = ovs_fixture_check, .watch = ovs_fixture_watch
};
/* clang-format on */
