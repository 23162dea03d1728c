/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture.c - see fixture.h.
 */
#include "fuzz/fixture.h"

#include <stdio.h>
#include <string.h>

#include "judge/kernels.h"
#include "judge/space.h"
#include "lib/params.h"
#include "policies/policy.h"

simt_machine *fuzz_machine(void)
{
    static simt_machine *machine;
    if (!machine && simt_machine_open(NULL, &machine)) machine = NULL;
    return machine;
}

/* fuzz_kernel_only; NULL: all designs and variants. */
static const judge_design *only_design;
static const char *only_variant;

static bool has_variant(const judge_design *d, const char *variant)
{
    for (uint32_t k = 0; k < fixture_row_count(d); k++)
        if (strcmp(fixture_row_name(d, k), variant) == 0) return true;
    return false;
}

bool fuzz_kernel_only(const char *variant)
{
    for (size_t i = 0; judge_design_at(i); i++)
        if (has_variant(judge_design_at(i), variant)) {
            only_design = judge_design_at(i);
            only_variant = variant;
            return true;
        }
    return false;
}

static bool row_runs(const judge_design *d, uint32_t row, hd_op op, const hd_case *c)
{
    return fixture_runs(d, row, op) && !fixture_unsupported(d, row, c);
}

uint32_t fuzz_row(feed *f, const judge_design *d, hd_op op, const hd_case *c)
{
    uint32_t rows = 0, row = 0;
    for (uint32_t k = 0; k < fixture_row_count(d); k++) {
        bool runs = row_runs(d, k, op, c);
        if (runs && only_variant && strcmp(fixture_row_name(d, k), only_variant) == 0) return k;
        rows += runs;
    }
    if (!rows) return fixture_row_count(d);
    uint64_t left = feed_below(f, rows);
    while (!row_runs(d, row, op, c) || left--) row++;
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

const char *fuzz_policy(const char *text)
{
    for (size_t i = 0; space_expression_at(i); i++)
        if (strcmp(space_expression_at(i), text) == 0) return space_expression_at(i);
    const hd_policy_row *row = hd_policy_row_of(hd_policy_named(text));
    return row ? row->name : NULL; /* never: it is one of these */
}

/* Of a case every target has the table, and batches of its own. */
static const char *const fixed_in_all[][2] = { { "capacity", "300" },  { "slots", "2,3,6,8,14,16,17,30,32" },
                                               { "table_seed", "0" },  { "threads", "1" },
                                               { "batch", "33x12" },   { "keys", "uniform:100%" },
                                               { "fill", "0" },        { "between", "nothing" },
                                               { "reserved", "0" },    { "sorted", "0" },
                                               { "limit", "0" },       { "holder", "0" },
                                               { "predicate", "all" }, { NULL, NULL } };

const char *const fuzz_fixed_in_fixtures[][2] = {
    { "op", "find" },     { "lock", "ordered" }, { "clock", "logical" },       { "epoch_every", "0" },
    { "outputs", "all" }, { "skew", "0" },       { "value", "0,?,12,16,100" }, { "segment", "128,256,1024" },
    { NULL, NULL }
};

/* Most inputs are of the first design. */
static const judge_design *design_of(uint64_t byte)
{
    enum { OTHERS_FROM = 192 };
    uint64_t n = 0;
    if (only_design) return only_design;
    while (judge_design_at(n + 1)) n++;
    return judge_design_at(n && byte >= OTHERS_FROM ? 1 + byte % n : 0);
}

/* The space of a design, for the reference; opened once in a process. NULL: no memory. */
static const space *space_of(const judge_design *d)
{
    enum { DESIGNS = 8 };
    static space *known[DESIGNS];
    int i = 0;
    while (i + 1 < DESIGNS && known[i] && strcmp(known[i]->design, d->name) != 0) i++;
    if (!known[i] && space_open(d->name, "ref", &known[i])) known[i] = NULL;
    return known[i];
}

static void fix_all(const space *s, space_domain *d, const char *const (*fixed)[2])
{
    for (; (*fixed)[0]; fixed++) space_fix(s, d, (*fixed)[0], (*fixed)[1]);
}

static uint64_t below(void *self, uint64_t n) { return feed_below((feed *)self, n); }

const judge_design *fuzz_table_of(feed *f, uint32_t buckets, const char *backend, const char *const (*fixed)[2],
                                  hd_case *c)
{
    const judge_design *d = design_of(feed_byte(f));
    const space *s = space_of(d);
    uint8_t shape = feed_byte(f);
    *c = hd_case_of(d->name);
    if (!s) return NULL;
    space_domain of = space_all(s);
    fix_all(s, &of, fixed_in_all);
    fix_all(s, &of, fixed);
    if (!space_draw(s, &of, NULL, below, f) || space_case(s, &of, shape, c)) return NULL;
    c->buckets = ((const uint64_t[]){ 2, 1, 3, 4, 5, 8 })[shape % buckets];
    if (c->buckets == 1) c->buckets += hd_params_number(&c->table, c->design, "dual");
    c->table_seed = shape >> 5;
    snprintf(c->backend, sizeof c->backend, "%s", backend);
    space_limits(s, &of, c);
    return d;
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
