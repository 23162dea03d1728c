/* SPDX-License-Identifier: Apache-2.0
 *
 * t_judge_growth.c - the judge of growth (judge/growth.h) passes on each call that fails, and objects to each table
 * that grows in another way than it should.
 */
#include <string.h>

#include "judge/growth.h"
#include "lib/backend_host.h"
#include "tests/between.h"
#include "tests/testing.h"

static between_failing calls;
BETWEEN_FAILING(&calls, hd_open, (const hd_config *c, hd_table **t), (c, t), (void)0)
BETWEEN_FAILING(&calls, hd_table_info, (const hd_table *t, hd_info *info), (t, info), (void)0)
BETWEEN_FAILING(&calls, hd_run, (hd_table * t, hd_batch *b), (t, b), (void)0)
BETWEEN_FAILING(&calls, hd_host_configure, (hd_table * t, const simt_config *c), (t, c), (void)0)

/* What one walk through a table says that is not true. */
typedef enum lie { TRUTH, NOTHING, ONE_LESS, ONE_MORE, ONE_TWICE, OTHER_VALUE, NO_END } lie;

static struct {
    lie tells;
    uint64_t at, walks; /* which walk, from 1; how many there were */
    bool unsound;       /* hd_check fails                          */
    hd_visitor *visit;
    void *context;
    uint64_t visits;
} plan;

static int visit_as_planned(void *context, uint64_t key, uint64_t score, void *value)
{
    uint32_t other = 77777;
    (void)context;
    bool first = plan.visits++ == 0;
    if (plan.tells == NOTHING || (plan.tells == ONE_LESS && first)) return 0;
    if (plan.tells == ONE_TWICE && first) plan.visit(plan.context, key, score, value);
    if (plan.tells == ONE_MORE && first) plan.visit(plan.context, UINT64_MAX, score, value);
    if (plan.tells == NO_END) {
        while (!plan.visit(plan.context, key, score, value)) {
        }
        return 1;
    }
    return plan.visit(plan.context, key, score, plan.tells == OTHER_VALUE && first ? &other : value);
}

BETWEEN(hd_status, hd_for_each, (hd_table * t, hd_visitor *visit, void *context));
hd_status __wrap_hd_for_each(hd_table *t, hd_visitor *visit, void *context)
{
    hd_status status = between_fails(&calls, "hd_for_each");
    if (status) return status;
    if (++plan.walks != plan.at) return __real_hd_for_each(t, visit, context);
    plan.visit = visit;
    plan.context = context;
    return __real_hd_for_each(t, visit_as_planned, NULL);
}

BETWEEN(hd_status, hd_check, (hd_table * t));
hd_status __wrap_hd_check(hd_table *t)
{
    return plan.unsound ? hd_fail(HD_ECORRUPT, "as planned") : __real_hd_check(t);
}

enum { MANY = 100000000 };

/* One table of two buckets, resized twice. */
static hd_status judged(uint64_t steps, uint32_t muted_checks, judge_growth *g)
{
    hd_case c;
    simt_config w = simt_config_default();
    w.strategy = SIMT_ROUND_ROBIN;
    w.quiet = true;
    w.step_limit = steps;
    must(hd_case_parse("hive.mix.tile buckets=2 slots=8 seed=3", &c));
    return judge_growth_run(&c, &w, 2, muted_checks, g);
}

static void test_failures(void **unused)
{
    (void)unused;
    judge_growth g;
    uint64_t at = 0;
    do {
        calls = (between_failing){ HD_EIO, 0, ++at, NULL };
        hd_status status = judged(MANY, 0, &g);
        test_case("call %llu fails, %s", (ull)at, calls.failed ? calls.failed : "and there is none");
        check(status == (calls.failed ? HD_EIO : HD_OK) && !g.wrong[0], "%s: %s", hd_status_name(status), g.wrong);
    } while (calls.failed);
    calls.fail_at = 0;
    check(at > 15, "only %llu calls", (ull)at);
    check(g.grown + g.shrunk == 2, "%llu resizes", (ull)(g.grown + g.shrunk));
}

typedef struct objection {
    lie tells;
    uint64_t walk; /* 3: the one after the first resize */
    bool unsound;
    uint32_t by;
    const char *sentence;
} objection;

static const objection objections[] = {
    { NOTHING, 3, false, JUDGE_GROWTH_CONTENTS, " is lost" },
    { ONE_LESS, 3, false, JUDGE_GROWTH_CONTENTS, " is lost" },
    { ONE_MORE, 3, false, JUDGE_GROWTH_CONTENTS, "key ffffffffffffffff is there, or there once more" },
    { ONE_TWICE, 3, false, JUDGE_GROWTH_CONTENTS, " is there, or there once more" },
    { NOTHING, 2, false, JUDGE_GROWTH_CONTENTS, " is there, or there once more" },
    { OTHER_VALUE, 3, false, JUDGE_GROWTH_CONTENTS, " has another value" },
    { NO_END, 3, false, JUDGE_GROWTH_CONTENTS, "more entries than places" },
    { TRUTH, 0, true, JUDGE_GROWTH_INVARIANTS, "as planned" },
    { NOTHING, 3, true, JUDGE_GROWTH_INVARIANTS, "as planned" }, /* the first objection counts */
};

static void test_objections(void **unused)
{
    (void)unused;
    judge_growth g;
    for (size_t k = 0; k < sizeof objections / sizeof *objections; k++) {
        const objection *o = &objections[k];
        test_case("row %zu", k);
        memset(&plan, 0, sizeof plan);
        plan.tells = o->tells, plan.at = o->walk, plan.unsound = o->unsound;
        must(judged(MANY, 0, &g));
        check(g.by == o->by && strstr(g.wrong, o->sentence) && strncmp(g.wrong, "growth from 2 to", 16) == 0,
              "by %u: %s", g.by, g.wrong);
        plan.walks = plan.visits = 0;
        must(judged(MANY, JUDGE_GROWTH_CONTENTS | JUDGE_GROWTH_INVARIANTS, &g));
        check(!g.wrong[0], "%s", g.wrong);
    }
    memset(&plan, 0, sizeof plan);
    plan.tells = NOTHING, plan.at = 4; /* then there is nothing to erase */
    must(judged(MANY, 0, &g));
    check(!g.wrong[0] && plan.walks > 4, "%s", g.wrong);
    memset(&plan, 0, sizeof plan);
    must(judged(20, 0, &g));
    check(g.by == JUDGE_GROWTH_MACHINE, "by %u: %s", g.by, g.wrong);
    must_fail(judged(20, JUDGE_GROWTH_MACHINE, &g), HD_EKERNEL, NULL);
    check(!g.wrong[0], "%s", g.wrong);
}

static const struct CMUnitTest tests[] = { unit(test_failures), unit(test_objections) };

int main(void) { return test_run(tests); }
