/* SPDX-License-Identifier: Apache-2.0
 *
 * stage.c - see stage.h.
 */
#include "fuzz/stage.h"

#include <stdio.h>

#include "judge/kernels.h"
#include "judge/space.h"
#include "policies/policy.h"

simt_machine *fuzz_machine(void)
{
    static simt_machine *machine;
    if (!machine && simt_machine_open(NULL, &machine)) machine = NULL;
    return machine;
}

uint32_t fuzz_row(feed *f, const judge_design *d, hd_op op, const hd_case *c)
{
    uint32_t rows = 0;
    for (uint32_t k = 0; k < fixture_row_count(d); k++) rows += fixture_runs(d, k, op) && !fixture_unfit(d, k, c);
    if (!rows) return fixture_row_count(d);
    uint64_t left = feed_below(f, rows);
    uint32_t row = 0;
    while (!(fixture_runs(d, row, op) && !fixture_unfit(d, row, c)) || left--) row++;
    return row;
}

static struct {
    const fixture_kernel *k;
    const judge_design *d;
    uint32_t row;
} bench_fixture_in;

void fuzz_stand_in(const fixture_kernel *k, const judge_design *d, uint32_t row)
{
    bench_fixture_in.k = k;
    bench_fixture_in.d = d;
    bench_fixture_in.row = row;
}

fixture_kernel fuzz_kernel(const judge_design *d, uint32_t row, hd_op op, uint32_t threads, uint32_t blocks)
{
    if (bench_fixture_in.k && bench_fixture_in.d == d && fixture_runs(d, bench_fixture_in.row, op))
        return *bench_fixture_in.k;
    return fixture_kernel_at(d, row, threads, blocks);
}

enum { EXPRESSIONS_FROM = 160, OTHERS_FROM = 192 }; /* bytes */

static const char *policy_of(uint64_t byte)
{
    uint64_t n = 0;
    while (space_expression_at(n)) n++;
    if (byte >= EXPRESSIONS_FROM && byte < OTHERS_FROM) return space_expression_at(byte % n);
    return hd_policy_rows[byte % HD_POLICY_COUNT].name;
}

const char *fuzz_policy(const char *text)
{
    for (size_t i = 0; space_expression_at(i); i++)
        if (strcmp(space_expression_at(i), text) == 0) return space_expression_at(i);
    uint32_t row = hd_policy_named(text);
    return row < HD_POLICY_COUNT ? hd_policy_rows[row].name : NULL; /* never: it is one of these */
}

const judge_design *fuzz_design(feed *f, hd_case *c)
{
    uint64_t n = 0, byte = feed_byte(f);
    while (judge_design_at(n + 1)) n++;
    const judge_design *d = judge_design_at(n && byte >= OTHERS_FROM ? 1 + byte % n : 0);
    snprintf(c->design, sizeof c->design, "%s", d->name);
    snprintf(c->policy, sizeof c->policy, "%s", policy_of(byte));
    return d;
}

/* Value i of those that are drawn for a field: 0 to the last of an enum; of a number the least, some above it, and the
 * usual one. False past the last. */
static bool param_value(const hd_param *p, uint64_t i, uint64_t *v)
{
    static const uint64_t above[] = { 0, 1, 2, 3, 16, 100, 1000 };
    enum { ABOVE = sizeof above / sizeof *above };
    *v = i;
    if (p->type == HD_PARAM_BOOL) return i < 2;
    if (p->type == HD_PARAM_ENUM) return p->values[i] != NULL;
    if (p->type != HD_PARAM_U32 && p->type != HD_PARAM_U64) return false;
    bool is_above = i < ABOVE && above[i] <= p->most - p->least;
    *v = is_above ? p->least + above[i] : p->usual;
    return is_above || i == ABOVE;
}

static uint64_t param_values(const hd_param *p)
{
    uint64_t n = 0, v;
    while (param_value(p, n, &v)) n++;
    return n;
}

void fuzz_params(feed *f, const judge_design *d, hd_case *c)
{
    const hd_params *own = d->host ? d->host->params : NULL;
    uint64_t all = 1, v;
    for (size_t k = 0; own && k < own->count; k++) all *= param_values(&own->row[k]) + !param_values(&own->row[k]);
    uint64_t n = feed_below(f, all);
    for (size_t k = 0; own && k < own->count; k++) {
        uint64_t values = param_values(&own->row[k]);
        if (!values) continue;
        param_value(&own->row[k], n % values, &v);
        hd_param_number_set(&own->row[k], hd_params_in(own, &c->table), v);
        n /= values;
    }
}

void fuzz_bend(const judge_design *d, hd_case *c)
{
    if (d->bend) d->bend(c);
}

simt_config fuzz_way(feed *f)
{
    static const uint32_t places[] = { SIMT_AT_ALL, SIMT_AT_ATOMIC, SIMT_AT_SYNC, SIMT_AT_NONE };
    simt_config c = simt_config_default();
    uint8_t how = feed_byte(f);
    c.preempt = places[how & 3];
    c.unit = how & 4 ? SIMT_BY_WARP : SIMT_BY_LANE;
    c.weak = (how & 24) == 24;
    c.shared_bytes = 48 << 10;
    c.step_limit = 2000000;
    return c;
}
