/* SPDX-License-Identifier: Apache-2.0
 *
 * t_replay.c - a real trace through every kernel that inserts. With one request per batch and one bucket the result is
 * plain LRU, exactly. In batches, one after another on one table, the reference approves every item in the order in
 * which it took effect, and the content after the batch; if one warp takes the items in order, also the outcomes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/comparison.h"
#include "judge/hkv/fixture.h"
#include "judge/kernels.h"
#include "judge/run.h"
#include "lib/backend_host.h"
#include "tests/variants.h"

enum { REQUESTS = 113872, LRU_MISSES = 99411 };
static const char trace_name[] = "cloudPhysicsIO.oracleGeneral.zst";

/* The how-manieth variant it is: each has other cases by default. Skips those that bring no keys in. */
static uint64_t turn_of(const char *variant)
{
    uint32_t row = hkv_row_of(variant, HKV_UPSERT);
    uint64_t turn = 0;
    if (row == hkv_row_count()) test_skip("it inserts nothing");
    for (uint32_t i = 0; i < row; i++) turn += hkv_row(i)->family == HKV_UPSERT;
    return turn;
}

/* Of a whole trace: what became of it. */
typedef struct ending {
    uint64_t n, outcome[HD_OUTCOME_COUNT], batches, random;
    bool ordered; /* items took effect one after another */
} ending;

static uint64_t misses(const uint64_t *outcome)
{
    return outcome[HD_INSERTED] + outcome[HD_EVICTED] + outcome[HD_REFUSED];
}

/* Random: any lane at any of its atomics, under the race detector; else warp after warp. */
static simt_config schedule(bool random, uint64_t seed)
{
    simt_config c = simt_config_default();
    c.seed = seed;
    c.shared_bytes = 48 << 10;
    c.step_limit = 1ull << 40;
    c.preempt = random ? SIMT_AT_ATOMIC : SIMT_AT_NONE;
    c.race = random;
    if (random) return c;
    c.unit = SIMT_BY_WARP;
    c.strategy = SIMT_ROUND_ROBIN;
    return c;
}

/* How much of the trace is run: all of it in long runs, otherwise a sixth. */
static uint64_t share(void)
{
    uint64_t n = test_times((uint64_t)REQUESTS / (test_is_long() ? 1 : 6));
    return n < REQUESTS ? n : REQUESTS;
}

static bool right(uint64_t missed) { return share() < REQUESTS || missed == LRU_MISSES; }

/* ---- A request a batch: through the table ---------------------------------------------------- */

static hd_run_report one_by_one(const char *op, const char *variant, const char *shape)
{
    hd_case c;
    hd_run_report report;
    char text[512];
    simt_config warp = schedule(false, 1);
    snprintf(text, sizeof text, "hkv.%s.%s %s batch=1x%llu keys=oracleGeneral:%s", op, variant, shape, (ull)share(),
             test_data(trace_name));
    test_case("%s", text);
    must(hd_case_parse(text, &c));
    hd_host_usual(&warp, 1, 32);
    must(hd_case_run(&c, NULL, NULL, &report));
    hd_host_usual(NULL, 0, 0);
    check(report.requests == share(), "%llu requests", (ull)report.requests);
    return report;
}

static void is_lru(void **state)
{
    static const char *const ops[] = { "insert_or_assign", "find_or_insert", "insert_and_evict", "accum_or_assign",
                                       "find_or_insert_ptr" };
    enum { OPS = sizeof ops / sizeof *ops };
    uint64_t turn = turn_of(VARIANT_OF(state)), most = test_scale() > 1 ? OPS : 1;
    for (uint64_t i = 0; i < most; i++) {
        const char *op = ops[(turn + i) % OPS];
        hd_run_report r = one_by_one(op, VARIANT_OF(state), "buckets=1");
        check(right(misses(r.counters.outcome)), "%llu misses", (ull)misses(r.counters.outcome));
        test_tried("differential", r.requests, "requests of a real trace one by one by %s, %llu misses", r.ran,
                   (ull)misses(r.counters.outcome));
    }
}

/* With two buckets to choose from there is no list to compare with, but the reference's counts and contents. Under lru
 * no two scores are equal: of equal ones a kernel may take another than the reference. */
static void is_the_reference(void **state)
{
    static const char shape[] = "buckets=4 slots=32 dual=1 policy=lru";
    turn_of(VARIANT_OF(state));
    hd_run_report want = one_by_one("find_or_insert", "ref", shape),
                  got = one_by_one("find_or_insert", VARIANT_OF(state), shape);
    check(memcmp(got.counters.outcome, want.counters.outcome, sizeof want.counters.outcome) == 0,
          "%llu misses, and the reference has %llu", (ull)misses(got.counters.outcome),
          (ull)misses(want.counters.outcome));
    check(got.contents_hash == want.contents_hash, "other contents than the reference's");
}

/* ---- In batches: on a fixture that goes on ----------------------------------------------------- */

/* Every random_every-th batch in random order (0: none), its lanes in several blocks; the others warp after warp;
 * in_order: all of it in one warp. */
static ending replay(const char *text, const uint64_t *key, uint64_t n, uint64_t random_every, bool in_order)
{
    hd_case c;
    fixture *s;
    comparison *a;
    simt_machine *m;
    uint32_t row;
    ending e = { .ordered = true };
    must(hd_case_parse(text, &c));
    must(fixture_kernel_row(&c, &row));
    must(fixture_open_empty(&c, &s));
    must(comparison_open(s, &a));
    must(simt_machine_open(NULL, &m));
    fixture_kernel k = in_order ? hkv_fixture_kernel_at(row, 32, 1) : hkv_fixture_kernel_at(row, 64, 4);
    hd_op op = HD_OP_FIND;
    while (strcmp(hd_op_name(op), c.op) != 0) op = (hd_op)(op + 1);
    for (uint64_t at = 0; at < n; at += c.batch, e.batches++) {
        bool random = random_every && e.batches % random_every == 0;
        simt_config way = schedule(random, e.batches + 1);
        const char *why;
        test_case("%s, batch %llu%s", text, (ull)e.batches, random ? ", random" : "");
        must(fixture_batch(s, &k, op, key + at, n - at < c.batch ? n - at : c.batch));
        must(comparison_run(a, m, &way, &why));
        check(!why, "%s", why);
        size_t tickets;
        const simt_ticket_record *ticket = simt_machine_tickets(m, &tickets);
        for (size_t t = 1; t < tickets; t++) e.ordered = e.ordered && ticket[t].item > ticket[t - 1].item;
        if (in_order && !e.ordered) break; /* such a variant says nothing here */
        const hd_batch *b = &s->part[0].batch;
        for (uint64_t i = 0; i < b->n; i++) e.outcome[b->outcome[i]]++;
        e.random += random ? b->n : 0;
        e.n += b->n;
        fixture_begin(s, s->memory, s->clock + b->n);
    }
    simt_machine_close(m);
    comparison_close(a);
    return e;
}

static uint64_t *requests(uint64_t *n)
{
    char spec[4200];
    snprintf(spec, sizeof spec, "oracleGeneral:%s", test_data(trace_name));
    uint64_t *key = test_keys(spec, 1, REQUESTS, n);
    check(*n == REQUESTS, "%llu requests", (ull)*n);
    *n = share();
    return key;
}

/* In item order it does not matter how the trace is cut. */
static void in_order(void **state)
{
    char text[256];
    uint64_t turn = turn_of(VARIANT_OF(state));
    uint64_t n, *key = requests(&n);
    snprintf(text, sizeof text, "hkv.find_or_insert.%s buckets=1 batch=%ux1", VARIANT_OF(state),
             turn % 2 ? 4096u : 1024u);
    ending e = replay(text, key, n, 0, true);
    if (!e.ordered) {
        free(key);
        test_skip("it takes the items of a warp in another order");
    }
    check(right(misses(e.outcome)), "%llu misses", (ull)misses(e.outcome));
    test_note("%s, in order: %llu requests in %llu batches, %llu misses", text, (ull)e.n, (ull)e.batches,
              (ull)misses(e.outcome));
    free(key);
}

/* Each of two operations, with one shape, batch and policy after another: all 24 of them when there is time. */
static void in_batches(void **state)
{
    static const char *const ops[] = { "find_or_insert", "insert_or_assign" };
    static const char *const shapes[] = { "buckets=1", "buckets=8", "buckets=8 dual=1",
                                          "buckets=6 slots=48 dual=1 value=32" };
    static const char *const policies[] = { "lru", "lfu" };
    static const unsigned batches[] = { 64, 1024, 4096 };
    uint64_t turn = turn_of(VARIANT_OF(state)), n, *key = requests(&n);
    for (uint64_t i = 0; i < 2 * test_scale(); i++) {
        uint64_t k = turn * 2 + i % 2 + i / 2 * 5;
        char text[256];
        snprintf(text, sizeof text, "hkv.%s.%s %s policy=%s batch=%ux1", ops[i % 2], VARIANT_OF(state), shapes[k % 4],
                 policies[(k + k / 4) % 2], batches[k % 3]);
        ending e = replay(text, key, n, 8, false);
        check(e.n == n, "%llu of %llu requests", (ull)e.n, (ull)n);
        test_note("%s: %llu requests approved, %llu of them in random order; %llu misses, %llu evicted, %llu refused",
                  text, (ull)e.n, (ull)e.random, (ull)misses(e.outcome), (ull)e.outcome[HD_EVICTED],
                  (ull)e.outcome[HD_REFUSED]);
    }
    free(key);
}

int main(void)
{
    static const struct CMUnitTest of_each[] = { unit(is_lru), unit(is_the_reference), unit(in_order),
                                                 unit(in_batches) };
    return variants_run(of_each, sizeof of_each / sizeof *of_each, NULL, 0);
}
