/* SPDX-License-Identifier: Apache-2.0
 *
 * t_judge_runs.c - whole runs of a case (judge/run.h): each lie is found, and by the right judge; calls of the table
 * that fail; workloads that end; cases that cannot run, and why. The linker puts this file between the runs and the
 * tables, so it can alter results and let calls fail.
 */
#include <string.h>

#include "judge/trusted_rows.h"
#include "judge/map.h"
#include "judge/rules.h"
#include "judge/run.h"
#include "lib/backend_host.h"
#include "base/error.h"
#include "tests/between.h"
#include "tests/fake_device.h"
#include "workload/workload.h"

/* ---- What is put in between ------------------------------------------------------------------ */

static between_failing calls = { .how = HD_EIO };

/* A lie alters a result of the table; place: which result. */
typedef enum place { IN_BATCH, IN_INFO, IN_TICKETS, IN_COUNTERS, IN_CHECK } place;

typedef struct tickets {
    simt_ticket_record at[64];
    size_t n;
} tickets;

static struct {
    place where;
    bool (*tell)(void *said); /* NULL: the truth. False: no occasion */
    bool told;
} now;

static void may_lie(place where, void *said)
{
    if (now.tell && now.where == where && now.tell(said)) now.told = true;
}

#define MAY_LIE(call, parameters, arguments, where, said) \
    BETWEEN(hd_status, call, parameters);                 \
    hd_status __wrap_##call parameters                    \
    {                                                     \
        hd_status status = between_fails(&calls, #call);  \
        if (!status) status = __real_##call arguments;    \
        if (!status) may_lie(where, said);                \
        return status;                                    \
    }
MAY_LIE(hd_run, (hd_table * t, hd_batch *b), (t, b), IN_BATCH, b)
MAY_LIE(hd_table_info, (const hd_table *t, hd_info *info), (t, info), IN_INFO, info)
MAY_LIE(hd_counters_sync, (const hd_table *t, hd_counters *c), (t, c), IN_COUNTERS, c)
#undef MAY_LIE

BETWEEN_FAILING(&calls, hd_size_sync, (hd_table * t, uint64_t *size), (t, size), (void)0)
BETWEEN_FAILING(&calls, hd_for_each, (hd_table * t, hd_visitor *visit, void *context), (t, visit, context), (void)0)
BETWEEN_FAILING(&calls, hd_epoch_set, (hd_table * t, uint32_t epoch), (t, epoch), (void)0)
BETWEEN_FAILING(&calls, hd_host_draw_tickets, (hd_table * t), (t), (void)0)
BETWEEN_FAILING(&calls, hd_source_next, (hd_source * s, hd_request *r, size_t max, size_t *got), (s, r, max, got),
                (void)0)

BETWEEN(hd_status, hd_check, (hd_table * t));

hd_status __wrap_hd_check(hd_table *t)
{
    bool sound = true;
    hd_status status = between_fails(&calls, "hd_check");
    may_lie(IN_CHECK, &sound);
    if (!status && !sound) status = hd_fail(HD_ECORRUPT, "HKV-9: a lie");
    return status ? status : __real_hd_check(t);
}

BETWEEN(const simt_ticket_record *, simt_machine_tickets, (const simt_machine *m, size_t *n));

const simt_ticket_record *__wrap_simt_machine_tickets(const simt_machine *m, size_t *n)
{
    static tickets all;
    const simt_ticket_record *drawn = __real_simt_machine_tickets(m, n);
    if (!now.tell) return drawn;
    check(*n <= sizeof all.at / sizeof *all.at, "%zu tickets", *n);
    memcpy(all.at, drawn, *n * sizeof *drawn);
    all.n = *n;
    may_lie(IN_TICKETS, &all);
    *n = all.n;
    return all.at;
}

/* Tables on a device have this one. */
static fake_device device;
static hd_seams seams;
static bool on_device;

hd_status __real_hd_open(const hd_config *c, hd_table **t);
hd_status __wrap_hd_open(const hd_config *c, hd_table **t);

hd_status __wrap_hd_open(const hd_config *c, hd_table **t)
{
    hd_config config = *c;
    if (on_device) {
        seams = *c->seams;
        seams.device = &device.seam;
        config.seams = &seams;
    }
    return __real_hd_open(&config, t);
}

/* A policy that the judge does not restate: another name for one that it does. */
bool __real_judge_borrow_policy(const char *name, uint32_t *row);
bool __wrap_judge_borrow_policy(const char *name, uint32_t *row);
bool __wrap_judge_borrow_policy(const char *name, uint32_t *row)
{
    return __real_judge_borrow_policy(strcmp(name, "new_here") == 0 ? "epoch_lfu" : name, row);
}

/* ---- A run ----------------------------------------------------------------------------------- */

static hd_case case_of(const char *text)
{
    hd_case c;
    test_case("%s", text);
    must(hd_case_parse(text, &c));
    return c;
}

/* The case's keys are those of a file. */
static void keys_of(hd_case *c, const char *text)
{
    const char *path = test_text_file("keys.txt", text);
    check(snprintf(c->keys, sizeof c->keys, strchr(text, ',') ? "csv:%s,key=2,header=0" : "txt:%s", path) <
              (int)sizeof c->keys,
          "%s is a long path", path);
}

/* ---- Lies ------------------------------------------------------------------------------------ */

static bool other_outcome(void *said)
{
    hd_batch *b = (hd_batch *)said;
    if (b->op != HD_OP_FIND) return false;
    b->outcome[0] = b->outcome[0] == HD_MISS ? HD_HIT : HD_MISS;
    return true;
}

static bool outcome_beyond(void *said)
{
    hd_batch *b = (hd_batch *)said;
    if (b->op != HD_OP_FIND) return false;
    b->outcome[b->n] ^= 1;
    return true;
}

static bool other_time(void *said) { return ++((hd_info *)said)->now; }

/* Every other reading. */
static bool other_time_now_and_then(void *said)
{
    static uint64_t readings;
    return readings++ % 2 && ++((hd_info *)said)->now;
}

static bool ticket_lost(void *said) { return ((tickets *)said)->n--; }
static bool ticket_of_nobody(void *said) { return ((tickets *)said)->at[0].item = 64, true; }
static bool counted_twice(void *said) { return ++((hd_counters *)said)->outcome[HD_HIT]; }
static bool unsound(void *said) { return *(bool *)said = false, true; }

#define SHAPE " buckets=2 slots=8 value=8 batch=16x6 keys=uniform:40 threads=1 judge=1"

static const struct {
    const char *sentence, *text;
    uint32_t by;
    place where;
    bool (*tell)(void *said);
} lies[] = {
    { "batch 1: item 0 (find, ", "hkv.find.ref" SHAPE, HD_RUN_ORACLE, IN_BATCH, other_outcome },
    { "batch 1: find: bytes beside the array outcome were written", "hkv.find.ref" SHAPE, HD_RUN_ARRAYS, IN_BATCH,
      outcome_beyond },
    { "insert_or_assign: the clock went wrong", "hkv.insert_or_assign.ref policy=custom" SHAPE, HD_RUN_ORACLE, IN_INFO,
      other_time_now_and_then },
    { "batch 0: insert_or_assign: not every item drew one ticket", "hkv.insert_or_assign.warp backend=host" SHAPE,
      HD_RUN_ORACLE, IN_TICKETS, ticket_lost },
    { "batch 0: insert_or_assign: not every item drew one ticket", "hkv.insert_or_assign.warp backend=host" SHAPE,
      HD_RUN_ORACLE, IN_TICKETS, ticket_of_nobody },
    { "hit: the counter differs from the outcomes", "hkv.find.ref" SHAPE, HD_RUN_COUNTERS, IN_COUNTERS, counted_twice },
    { "batch 0: insert_or_assign: HKV-9: a lie", "hkv.insert_or_assign.ref" SHAPE, HD_RUN_INVARIANTS, IN_CHECK,
      unsound },
};

/* One judge finds each lie. Without this judge the run passes. */
static void every_judge_has_its_objection(void)
{
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        hd_case c = case_of(lies[i].text);
        for (int judges = 0; judges < 3; judges++) {
            hd_run_report r;
            uint32_t heard = judges == 0 ? 0u : judges == 1 ? (uint32_t)HD_RUN_ALL : lies[i].by;
            test_case("%s, to be told '%s', judges %x", lies[i].text, lies[i].sentence, heard);
            now.where = lies[i].where, now.tell = lies[i].tell, now.told = false;
            must(hd_case_run_judged(&c, heard, NULL, NULL, &r));
            now.tell = NULL;
            check(now.told || !heard, "no occasion");
            if (heard)
                check(strstr(r.wrong, lies[i].sentence) && r.by == lies[i].by, "by %x: %s", r.by, r.wrong);
            else
                check(!r.wrong[0], "no judge was asked: %s", r.wrong);
            must(hd_case_run(&c, NULL, NULL, &r));
            check(!r.wrong[0] && r.judged == 16 * 6, "the truth: %s, %llu items judged", r.wrong, (ull)r.judged);
        }
    }
}

/* Many items of few keys, of tiles whose lanes start an item far apart: an item that changes nothing may have read its
 * key at any moment after its first lane began. */
static void few_keys_and_tiles_that_come_late(void)
{
    for (int seed = 1; seed <= 3; seed++) {
        char text[256];
        hd_run_report r;
        check(snprintf(text, sizeof text,
                       "ovs.mixed.probe4 backend=host capacity=2000 segment=128 partition=range batch=2000x1 "
                       "keys=uniform:40,first=0 judge=1 seed=%d",
                       seed) < (int)sizeof text,
              "too long");
        hd_case c = case_of(text);
        must(hd_case_run(&c, NULL, NULL, &r));
        check(!r.wrong[0] && r.judged == 2000, "%s, %llu items judged", r.wrong, (ull)r.judged);
    }
}

/* A clock that is wrong by the same amount before and after a batch passes: only the difference counts. */
static void clocks_are_compared(void)
{
    hd_case c = case_of("hkv.insert_or_assign.ref policy=custom" SHAPE);
    hd_run_report r;
    now.where = IN_INFO, now.tell = other_time, now.told = false;
    must(hd_case_run(&c, NULL, NULL, &r));
    now.tell = NULL;
    check(now.told && !r.wrong[0], "%s", r.wrong);
}

/* ---- Calls that fail ------------------------------------------------------------------------- */

/* Whatever call of a run fails, and whenever: the run ends with that, or the judge names it. */
static void calls_that_fail_end_a_run(void)
{
    static const char *const texts[] = {
        "hkv.find.ref epoch_every=2" SHAPE,
        "hkv.export.ref" SHAPE,
        "hkv.serve.ref buckets=2 slots=8 batch=16x3 keys=ycsb:a,40 threads=1 judge=1",
        "hkv.insert_or_assign.warp backend=host" SHAPE,
        "hkv.mix.ref policy=lfu pins=3 epoch_every=3" SHAPE,
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        hd_case c = case_of(texts[i]);
        hd_run_report r;
        for (calls.fail_at = 1;; calls.fail_at++) {
            calls.n = 0;
            hd_status status = hd_case_run(&c, NULL, NULL, &r);
            test_case("%s, and call %llu fails, %s", texts[i], (ull)calls.fail_at, calls.failed);
            if (calls.n < calls.fail_at) break;
            const char *said = status ? hd_why() : r.wrong;
            check((!status || status == HD_EIO) && strstr(said, calls.failed) && strstr(said, "not today"), "%s: %s",
                  hd_status_name(status), said);
        }
        check(calls.n > 12 && !r.wrong[0], "%llu calls: %s", (ull)calls.n, r.wrong);
        calls.fail_at = 0;
    }
}

/* ---- Where a run ends ------------------------------------------------------------------------ */

static int stop_at(void *context, uint64_t done, uint64_t total)
{
    check(total == 96 && done % 16 == 0, "%llu of %llu", (ull)done, (ull)total);
    return done == *(uint64_t *)context;
}

static void a_run_ends_where_it_is_told(void)
{
    hd_run_report r;
    hd_case c = case_of("hkv.find.ref" SHAPE);
    for (uint64_t stop = 0; stop <= 96; stop += 16) {
        must(hd_case_run(&c, stop_at, &stop, &r));
        check(r.requests == stop && r.judged == stop && !r.wrong[0], "%llu requests of %llu: %s", (ull)r.requests,
              (ull)stop, r.wrong);
    }
    c = case_of("hkv.insert_or_assign.ref buckets=2 slots=8 batch=4x9 threads=1 judge=1");
    keys_of(&c, "1\n2\n3\n4\n5\n6\n");
    must(hd_case_run(&c, NULL, NULL, &r));
    check(r.requests == 6 && r.size == 6 && !r.wrong[0], "%llu requests of six", (ull)r.requests);
    keys_of(&c, "1\n2\n3\n4\n");
    must(hd_case_run(&c, NULL, NULL, &r));
    check(r.requests == 4 && r.size == 4 && !r.wrong[0], "%llu requests of four", (ull)r.requests);
}

/* Reads are served before writes, of one kind or the other, or both. */
static void what_is_served(void)
{
    static const struct {
        const char *verbs;
        uint64_t reads, writes;
    } served[] = { { "r,1\nr,2\nr,1\n", 3, 0 },
                   { "w,1\nw,2\nw,1\n", 0, 3 },
                   { "w,1\nrmw,2\nr,1\n", 2, 2 },
                   { "rmw,1\nrmw,2\nrmw,3\n", 3, 3 } };
    for (size_t i = 0; i < sizeof served / sizeof *served; i++) {
        hd_run_report r;
        hd_case c = case_of("hkv.serve.ref buckets=2 slots=8 batch=3x1 threads=1 judge=1");
        keys_of(&c, served[i].verbs);
        snprintf(c.keys + strlen(c.keys), sizeof c.keys - strlen(c.keys), ",verb=1");
        must(hd_case_run(&c, NULL, NULL, &r));
        check(r.counters.op[HD_OP_FIND_OR_INSERT] == served[i].reads &&
                  r.counters.op[HD_OP_INSERT_OR_ASSIGN] == served[i].writes,
              "number %zu", i);
        check(r.requests == served[i].reads + served[i].writes && !r.wrong[0], "%llu requests: %s", (ull)r.requests,
              r.wrong);
    }
}

/* ---- What is no run -------------------------------------------------------------------------- */

static void no_run_is_made_of_these(void)
{
    static const struct {
        const char *text, *word;
        hd_status status;
        const char *keys;
    } none[] = {
        { "hkv.find.ref buckets=2 slots=8 batch=8x1 keys=zebra:5 judge=1", "zebra", HD_EINVAL, NULL },
        { "hkv.find.ref dual=1 buckets=1 slots=8 batch=8x1 judge=1", "dual", HD_EINVAL, NULL },
        { "hkv.insert_or_assign.ref buckets=2 slots=8 batch=2x9", "line 3", HD_ECORRUPT, "1,1\n2,2\n3\n" },
        { "hkv.mix.weft buckets=2 slots=8 batch=8x1 keys=uniform:9", "weft", HD_EINVAL, NULL },
        { "hkv.mix.coalesced backend=host buckets=2 slots=12 batch=8x4 keys=uniform:9", "coalesced", HD_EINVAL, NULL },
    };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        hd_run_report r;
        hd_case c = case_of(none[i].text);
        if (none[i].keys) keys_of(&c, none[i].keys);
        must_fail(hd_case_run(&c, NULL, NULL, &r), none[i].status, none[i].word);
    }
    hd_run_report r;
    hd_case c = case_of("hkv.find.ref buckets=2 slots=8");
    c.batch = UINT64_MAX / 64;
    must_fail(hd_case_run(&c, NULL, NULL, &r), HD_ENOMEM, "items are more than memory holds");
}

/* A kernel that runs only some operations of a mix runs those. */
static void kernels_run_what_they_can_of_a_mix(void)
{
    hd_run_report r;
    hd_case c =
        case_of("hkv.mix.pipeline backend=host buckets=2 slots=16 value=16 batch=16x40 keys=uniform:60 pins=3 judge=1");
    must(hd_case_run(&c, NULL, NULL, &r));
    check(!r.wrong[0] && r.counters.op[HD_OP_LOCK_KEYS] && r.counters.op[HD_OP_FIND], "%s", r.wrong);
}

/* Kernels take other locks for batches of one item. Mixes of every policy and mode. */
static void batches_of_one_item(void)
{
    hd_row policy;
    for (size_t i = 0; hd_list(HD_POLICIES, i / 2, &policy); i++) {
        char text[200];
        hd_run_report r;
        snprintf(text, sizeof text,
                 "hkv.mix.coalesced backend=host policy=%s dual=%zu buckets=4 slots=16 value=16 batch=1x300 "
                 "keys=zipf:0.9,120 judge=1",
                 policy.name, i % 2);
        hd_case c = case_of(text);
        must(hd_case_run(&c, NULL, NULL, &r));
        check(!r.wrong[0] && r.judged && r.counters.op[HD_OP_INSERT_OR_ASSIGN], "%llu judged: %s", (ull)r.judged,
              r.wrong);
    }
}

/* Batches that evict entries of their own, whose pointers were delivered already; keys repeat, or do not. */
static void pointers_that_the_batch_takes_back(void)
{
    static const char *const keys[] = { "uniform:300", "zipf:0.99,300", "uniform:1000000000",
                                        "uniform:1000000000 distinct=1" };
    for (size_t i = 0; i < 2 * sizeof keys / sizeof *keys; i++) {
        char text[200];
        hd_run_report r;
        snprintf(text, sizeof text,
                 "hkv.find_or_insert_ptr.coalesced backend=host dual=%zu buckets=4 slots=16 value=16 batch=200x4 "
                 "keys=%s judge=1",
                 i % 2, keys[i / 2]);
        hd_case c = case_of(text);
        must(hd_case_run(&c, NULL, NULL, &r));
        check(!r.wrong[0] && r.judged && r.counters.outcome[HD_EVICTED], "%llu judged: %s", (ull)r.judged, r.wrong);
    }
}

/* ---- On a device ----------------------------------------------------------------------------- */

/* A device does not tell the order of the items of a batch, so a judged run has batches of one item. Pointers are the
 * device's. */
static void on_a_device(void)
{
    static const char *const texts[] = {
        "hkv.find_or_insert_ptr.tlpv1 backend=cuda buckets=2 slots=8 value=8 batch=1x60 keys=uniform:30 judge=1",
        "hkv.insert_and_evict.tlpv1 backend=cuda buckets=2 slots=8 value=8 batch=1x60 keys=uniform:90 judge=1",
        "hkv.find.tlpv1 backend=cuda buckets=2 slots=8 value=8 batch=16x4 keys=uniform:90"
    };
    hd_run_report r;
    fake_init(&device);
    on_device = true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        hd_case c = case_of(texts[i]);
        must(hd_case_run(&c, NULL, NULL, &r));
        check(!r.wrong[0] && r.judged == (c.judge ? 60 : 0) && strcmp(r.info.backend, "cuda") == 0,
              "%s, %llu judged: %s", r.info.backend, (ull)r.judged, r.wrong);
    }
    hd_case c = case_of("hkv.find.tlpv1 backend=cuda buckets=2 slots=8 batch=16x4 keys=uniform:90 judge=1");
    must_fail(hd_case_run(&c, NULL, NULL, &r), HD_EINVAL, "batch=1x64, or backend host");
    c = case_of("hkv.find.tlpv1 backend=cuda clock=device buckets=2 slots=8 batch=1x4 keys=uniform:90 judge=1");
    must_fail(hd_case_run(&c, NULL, NULL, &r), HD_EINVAL, "backend host or ref");
    on_device = false;
    fake_settled(&device);
}

/* ---- Rows that the judge does not restate ---------------------------------------------------- */

static void new_policies_are_taken_at_their_word(void)
{
    judge_policy own, other;
    check(judge_policy_find("epoch_lfu", &own) && judge_policy_find("new_here", &other), "they are not found");
    check(!judge_policy_borrowed(&own) && judge_policy_borrowed(&other), "the first is restated, the other is not");
    for (uint64_t given = 0; given < 40; given++) {
        judge_score_in first = { given, 7, 7, 2 }, later = { given, 9, 9, 3 };
        uint64_t old = judge_score_new(&own, first);
        check(judge_score_new(&other, first) == old &&
                  judge_score_hit(&other, old, later) == judge_score_hit(&own, old, later) &&
                  judge_admission(&other, later) == judge_admission(&own, later),
              "given %llu", (ull)given);
    }
}

static const struct CMUnitTest runs[] = { unit(every_judge_has_its_objection),
                                          unit(few_keys_and_tiles_that_come_late),
                                          unit(clocks_are_compared),
                                          unit(calls_that_fail_end_a_run),
                                          unit(a_run_ends_where_it_is_told),
                                          unit(what_is_served),
                                          unit(no_run_is_made_of_these),
                                          unit(on_a_device),
                                          unit(kernels_run_what_they_can_of_a_mix),
                                          unit(batches_of_one_item),
                                          unit(pointers_that_the_batch_takes_back),
                                          unit(new_policies_are_taken_at_their_word) };

int main(void) { return test_run(runs); }
