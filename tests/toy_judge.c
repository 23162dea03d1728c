/* SPDX-License-Identifier: Apache-2.0
 *
 * toy_judge.c - the toy design's port to the judge of kernels: what a design with backend "host" must provide.
 */
#include "judge/design.h"
#include "tests/toy_design.h"

static const toy_view *view_of(const void *table) { return &((const toy_state *)table)->v; }

static uint64_t buckets(const void *table) { return view_of(table)->boards; }
static uint64_t first(const void *table, uint64_t b) { return (void)table, b * TOY_PLACES; }

static uint64_t *place_at(const void *table, uint64_t e)
{
    return view_of(table)->board[e / TOY_PLACES] + e % TOY_PLACES * 2;
}

static uint64_t key_at(const void *table, uint64_t e) { return *place_at(table, e); }
static uint8_t *value_at(const void *table, uint64_t e) { return (uint8_t *)(place_at(table, e) + 1); }

static const uint8_t mix[HD_OP_COUNT_] = { [HD_OP_FIND] = 1, [HD_OP_INSERT_OR_ASSIGN] = 2 };

const judge_design judge_design_toy = {
    .name = "toy",
    .keys = HD_KEY_RESERVED,
    .host = &toy_design,
    .small = { TOY_PLACES, "uniform:90" },
    .mix = mix,
    .buckets = buckets,
    .first = first,
    .key_at = key_at,
    .value_at = value_at,
};
