/* SPDX-License-Identifier: Apache-2.0
 *
 * port.c - the port of design linear to the judge of kernels: how entries are read. The table, the kernels and the
 * reference are those of backend "host".
 */
#include "judge/design.h"
#include "ref/linear/layout.h"

extern const hd_design hd_design_linear;

/* What the state of gpu/linear/host.c begins with. */
typedef struct linear_table {
    hd_gpu_state gpu;
    linear_view v;
} linear_table;

static const linear_table *of(const void *table) { return (const linear_table *)table; }

static uint64_t buckets(const void *table) { return of(table)->gpu.info.buckets; }
static uint64_t first(const void *table, uint64_t b) { return b * of(table)->gpu.info.slots; }

static uint64_t key_at(const void *table, uint64_t e)
{
    uint64_t word = of(table)->v.word[e];
    return word == LINEAR_EMPTY ? HD_KEY_EMPTY : linear_key_of(word);
}

static uint8_t *value_at(const void *table, uint64_t e) { return (uint8_t *)(of(table)->v.word + e); }

extern const judge_design judge_design_linear;

const judge_design judge_design_linear = {
    .name = "linear",
    .keys = LINEAR_KEYS,
    .dictionary = true,
    .roams = true,
    .host = &hd_design_linear,
    .small = { 4, "uniform:12" },
    .buckets = buckets,
    .first = first,
    .key_at = key_at,
    .value_at = value_at,
};
