/* SPDX-License-Identifier: Apache-2.0
 *
 * t_all_kernels.c - tests of the tour that runs a workload through every kernel (judge/all_kernels.h), and of the
 * situations that kernels are put into (judge/fixture.h): which rows a tour has, how many items each runs, which kernel
 * it finds wrong, and how to repeat that; which situations are refused, and why. Some kernels here are wrong: the
 * linker puts them in the place of the library's.
 */
#include <string.h>

#include "gpu/hkv/rows.h"
#include "judge/comparison.h"
#include "judge/hkv/fixture.h"
#include "judge/kernels.h"
#include "judge/all_kernels.h"
#include "lib/backend_host.h"
#include "base/error.h"
#include "simt/simt.h"
#include "tests/between.h"
#include "tests/testing.h"
#include "workload/workload.h"

/* ---- Calls that fail ------------------------------------------------------------------------- */

static between_failing calls = { .how = HD_ENOMEM };

/* What a tour calls. The fixture of a judge that fails is closed, as comparison_open says. */
BETWEEN_FAILING(&calls, hd_source_next, (hd_source * s, hd_request *r, size_t max, size_t *got), (s, r, max, got),
                (void)0)
BETWEEN_FAILING(&calls, simt_machine_open, (const hd_seams *seams, simt_machine **m), (seams, m), (void)0)
BETWEEN_FAILING(&calls, fixture_open_empty, (const hd_case *c, fixture **s), (c, s), (void)0)
BETWEEN_FAILING(&calls, comparison_open, (fixture * s, comparison **a), (s, a), fixture_close(s))
BETWEEN_FAILING(&calls, fixture_batch,
                (fixture * s, const fixture_kernel *k, hd_op op, const uint64_t *key, uint64_t n), (s, k, op, key, n),
                (void)0)
BETWEEN_FAILING(&calls, comparison_run, (comparison * a, simt_machine *m, const simt_config *c, const char **why),
                (a, m, c, why), (void)0)

/* ---- Kernels of ours ------------------------------------------------------------------------- */

BETWEEN(hd_status, simt_machine_launch,
        (simt_machine * m, void (*kernel)(const void *), const void *args, size_t args_bytes, uint32_t blocks,
         uint32_t threads, uint32_t stream));

static hd_host_text *ours; /* NULL: the library's */

hd_status __wrap_simt_machine_launch(simt_machine *m, void (*kernel)(const void *), const void *args, size_t args_bytes,
                                     uint32_t blocks, uint32_t threads, uint32_t stream)
{
    return __real_simt_machine_launch(m, ours ? ours : kernel, args, args_bytes, blocks, threads, stream);
}

static void does_nothing(const void *args) { (void)args; }

/* Does its work, and besides every lane writes the same word. */
static void races(const void *args)
{
    hkv_host_kernel(hkv_row_of("tlpv1", HKV_LOOKUP))(args);
    simt_st_u32(((const hkv_args *)args)->groups.left_count + 1, 0);
}

/* ---- Tours ----------------------------------------------------------------------------------- */

static int stop_at, rows_seen;

static int count_rows(void *context, uint64_t done, uint64_t total)
{
    (void)context;
    check(done < total && done == (uint64_t)rows_seen, "row %llu of %llu", (ull)done, (ull)total);
    return ++rows_seen == stop_at;
}

/* The case's requests are those of a file: a key, or a verb and a key. */
static void keys_of(hd_case *c, const char *text)
{
    const char *path = test_text_file("keys.txt", text);
    check(snprintf(c->keys, sizeof c->keys, strchr(text, ',') ? "csv:%s,key=2,verb=1,header=0" : "txt:%s", path) <
              (int)sizeof c->keys,
          "%s is a long path", path);
}

static void all_kernels_of(const char *text, all_kernels *t)
{
    hd_case c;
    test_case("%s", text);
    must(hd_case_parse(text, &c));
    rows_seen = 0;
    must(all_kernels_run(&c, count_rows, NULL, t));
}

/* The tour finds a kernel that does nothing at once, and a kernel with a race only under random schedules. It reports
 * both with the case that shows it. */
static void tours_name_the_wrong(void)
{
    static const struct {
        hd_host_text *kernel;
        const char *sentence, *text;
        bool at_random;
    } wrongs[] = {
        { does_nothing, "item 0 has no outcome",
          "hkv.touch.tlpv1 buckets=2 slots=8 batch=32x2 keys=uniform:60 threads=1", false },
        { races, "race", "hkv.find.tlpv1 buckets=2 slots=8 batch=256x2 keys=uniform:60 threads=1", true },
    };
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        all_kernels t;
        stop_at = 0;
        ours = wrongs[i].kernel;
        all_kernels_of(wrongs[i].text, &t);
        ours = NULL;
        check(t.rows == 2 && t.ran == 2 && t.wrong == 2 && rows_seen == 2, "%zu rows, %llu ran, %llu wrong", t.rows,
              (ull)t.ran, (ull)t.wrong);
        for (size_t k = 0; k < t.rows; k++) {
            hd_case again;
            const all_kernels_row *r = &t.row[k];
            check(strstr(r->wrong, wrongs[i].sentence) && r->at_random == wrongs[i].at_random &&
                      !strchr(r->wrong, '\n'),
                  "%s%s", r->at_random ? "at random: " : "", r->wrong);
            must(hd_case_parse(r->again, &again));
            check(again.table.hkv.dual == r->dual && strcmp(again.kernel, "tlpv1") == 0 &&
                      strcmp(again.op, hd_op_name(r->op)) == 0,
                  "%s", r->again);
        }
        all_kernels_close(&t);
        all_kernels_of(wrongs[i].text, &t);
        check(t.wrong == 0 && t.ran == 2, "sound kernels: %llu wrong, %s", (ull)t.wrong, t.row[0].wrong);
        assert_string_equal(all_kernels_agrees(&t.row[0]), "yes");
        t.row[0].kernel.strictness = FIXTURE_SHAPE;
        assert_string_equal(all_kernels_agrees(&t.row[0]), "shape");
        strcpy(t.row[0].wrong, "wrong");
        assert_string_equal(all_kernels_agrees(&t.row[0]), "no");
        all_kernels_close(&t);
    }
}

/* A tour that is stopped early reports the rows that it has. */
static void tours_end_early(void)
{
    all_kernels t;
    stop_at = 3;
    all_kernels_of("hkv.mix.ref buckets=2 slots=16 batch=16x2 keys=uniform:60 threads=1", &t);
    check(t.rows > 50 && t.ran == 2 && t.wrong == 0 && rows_seen == 3, "%zu rows, %llu ran, %llu wrong", t.rows,
          (ull)t.ran, (ull)t.wrong);
    all_kernels_close(&t);
    stop_at = 0;
}

/* Which rows a all_kernels has, and how much each is asked: what there is of requests, of kernels that fit, of buckets
 * to choose from. */
static void tours_go_where_they_can(void)
{
    static const struct {
        const char *text;
        size_t rows, ran;
        uint64_t filled, asked;
    } ways[] = {
        { "hkv.find.tlpv1 buckets=1 slots=16 batch=24x1 keys=uniform:60 threads=1", 1, 1, 0, 24 },
        { "hkv.find.tlpv1 buckets=2 slots=16 batch=24x3 keys=uniform:60 threads=1", 2, 2, 48, 24 },
        { "hkv.find.tlpv1 slots=16 capacity=20 batch=24x3 keys=uniform:60 threads=1", 2, 2, 48, 24 },
        { "hkv.find.tlpv1 slots=16 capacity=16 batch=24x3 keys=uniform:60 threads=1", 1, 1, 48, 24 },
        { "hkv.find.pipeline buckets=2 slots=12 batch=24x3 keys=uniform:60 threads=1", 2, 0, 48, 24 },
        { "hkv.insert_or_assign.coalesced buckets=2 slots=16 layout=planes batch=8x1 keys=uniform:60 threads=1", 2, 0,
          0, 8 },
        { "hkv.find.tlpv1 buckets=64 slots=16 batch=10000x1 keys=uniform:600 threads=1", 2, 2, 4096, 4096 },
        { "hkv.accum_or_assign.tlpv1 buckets=2 slots=16 value=5 batch=8x1 keys=uniform:60 threads=1", 2, 2, 0, 8 },
        { "hkv.unlock_keys.tlpv1 buckets=2 slots=16 pins=5 batch=8x1 keys=uniform:60 threads=1", 2, 2, 0, 8 },
        { "hkv.erase_if.tlpv1 buckets=2 slots=16 batch=8x2 keys=uniform:60 threads=1", 2, 2, 8, 8 },
        { "hkv.erase.tlpv1 buckets=2 slots=16 policy=custom batch=64x2 keys=uniform:30 threads=1", 2, 2, 64, 64 },
        { "hkv.assign.tlpv1 buckets=2 slots=16 extreme=300000 batch=64x2 keys=uniform:30 threads=1", 2, 2, 64, 64 },
        { "hkv.size.tlpv1 buckets=2 slots=16 extreme=300000 batch=64x2 keys=uniform:30 threads=1", 2, 2, 64, 64 },
        { "hkv.serve.tlpv1 buckets=2 slots=16 batch=64x2 keys=ycsb:a,60 threads=1", 4, 4, 64, 64 },
        { "hkv.serve.tlpv1 buckets=2 slots=16 batch=64x2 keys=ycsb:c,60 threads=1", 2, 2, 64, 64 },
        { "hkv.serve.tlpv1 buckets=2 slots=16 batch=64x2 keys=ycsb:f,60 threads=1", 4, 4, 64, 64 },
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        all_kernels t;
        all_kernels_of(ways[i].text, &t);
        check(t.rows == ways[i].rows && t.ran == ways[i].ran && t.wrong == 0, "%zu rows, %llu ran, %llu wrong: %s",
              t.rows, (ull)t.ran, (ull)t.wrong, t.row[0].wrong);
        check(t.filled == ways[i].filled && t.asked == ways[i].asked, "%llu filled, %llu asked", (ull)t.filled,
              (ull)t.asked);
        for (size_t k = 0; k < t.rows; k++)
            check((t.row[k].unsupported[0] != 0) == (ways[i].ran == 0) && (t.row[k].items > 0) == (ways[i].ran > 0) &&
                      !t.row[k].at_random,
                  "row %zu: %s", k, t.row[k].unsupported);
        all_kernels_close(&t);
    }
}

/* Every kernel, on everything that it runs: those that fit are all right. */
static void all_kernels_all_kernels(void)
{
    all_kernels t;
    uint64_t unsupported = 0;
    all_kernels_of("hkv.mix.ref buckets=2 slots=16 pins=4 batch=24x3 keys=uniform:60 threads=1", &t);
    for (size_t i = 0; i < t.rows; i++) unsupported += t.row[i].unsupported[0] != 0;
    check(t.ran + unsupported == t.rows && t.ran > 100 && t.wrong == 0 && (size_t)rows_seen == t.rows,
          "%zu rows, %llu ran, %llu wrong", t.rows, (ull)t.ran, (ull)t.wrong);
    all_kernels_close(&t);
}

/* What is no tour: said in words, and nothing is left to close. */
static void no_tour_goes_there(void)
{
    static const struct {
        const char *text, *keys, *word; /* keys: of a file, NULL: the case's own */
        hd_status status;
    } nowhere[] = {
        { "hkv.find.tlpv1 buckets=2 slots=16 batch=8x1 keys=zebra:60", NULL, "zebra", HD_EINVAL },
        { "hkv.find.tlpv1 buckets=2 slots=16 batch=8x1", "# none\n", "without one request", HD_ECORRUPT },
        { "hkv.find.tlpv1 buckets=2 slots=16 batch=8x1", "r,1\nr,2\n3\n", "line 3", HD_ECORRUPT },
        { "hkv.lock_keys.pipeline buckets=2 slots=16 batch=8x1 keys=uniform:60", NULL,
          "pipeline runs nothing of lock_keys", HD_EINVAL },
        { "hkv.find.weft buckets=2 slots=16 batch=8x1 keys=uniform:60", NULL, "weft runs nothing of find", HD_EINVAL },
        { "hkv.find.tlpv1 buckets=2Mi slots=16 batch=8x1 keys=uniform:60", NULL, "this is a large one", HD_EINVAL },
    };
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        hd_case c;
        all_kernels t;
        test_case("%s", nowhere[i].text);
        must(hd_case_parse(nowhere[i].text, &c));
        if (nowhere[i].keys) keys_of(&c, nowhere[i].keys);
        must_fail(all_kernels_run(&c, NULL, NULL, &t), nowhere[i].status, nowhere[i].word);
        check(!t.row && !t.rows, "rows are left");
    }
    hd_case c;
    all_kernels t;
    must(hd_case_parse(nowhere[0].text, &c));
    snprintf(c.design, sizeof c.design, "cube");
    must_fail(all_kernels_run(&c, NULL, NULL, &t), HD_EINVAL, "no kernels of design cube");
}

/* More requests than a all_kernels takes, of a file that has fewer than a batch. */
static void a_tour_takes_what_there_is(void)
{
    hd_case c;
    all_kernels t;
    must(hd_case_parse("hkv.find.tlpv1 buckets=1 slots=16 batch=4096x5000", &c));
    keys_of(&c, "1\n2\n3\n");
    must(all_kernels_run(&c, NULL, NULL, &t));
    check(t.rows == 1 && t.ran == 1 && t.wrong == 0 && t.filled == 0 && t.asked == 3 && t.row[0].metered == 3,
          "%llu filled, %llu asked", (ull)t.filled, (ull)t.asked);
    all_kernels_close(&t);
    must(hd_case_parse("hkv.serve.tlpv1 buckets=1 slots=16 batch=3x1", &c));
    keys_of(&c, "w,1\nw,2\nw,3\n");
    must(all_kernels_run(&c, NULL, NULL, &t));
    check(t.rows == 1 && t.ran == 1 && t.wrong == 0 && t.row[0].op == HD_OP_INSERT_OR_ASSIGN, "only writes: %zu rows",
          t.rows);
    all_kernels_close(&t);
}

/* Whatever a all_kernels calls, and whenever: it ends with that, and keeps nothing. */
static void calls_that_fail_end_a_all_kernels(void)
{
    static const char *const texts[] = {
        "hkv.unlock_keys.tlpv1 buckets=2 slots=16 pins=5 batch=8x3 keys=uniform:60 threads=1",
        "hkv.find.tlpv1 buckets=2 slots=16 batch=8x3 keys=uniform:60 threads=1"
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        hd_case c;
        all_kernels t;
        must(hd_case_parse(texts[i], &c));
        for (calls.fail_at = 1;; calls.fail_at++) {
            calls.n = 0;
            hd_status status = all_kernels_run(&c, NULL, NULL, &t);
            test_case("%s, and call %llu fails, %s", texts[i], (ull)calls.fail_at, calls.failed);
            if (calls.n < calls.fail_at) break;
            check(status == HD_ENOMEM && strstr(hd_why(), calls.failed), "%s: %s", hd_status_name(status),
                  status ? hd_why() : "it was not reported");
            check(!t.row && !t.rows, "rows are left");
        }
        check(calls.n > 12 && t.ran == 2, "%llu calls", (ull)calls.n);
        calls.fail_at = 0;
        all_kernels_close(&t);
    }
}

/* ---- What is no situation -------------------------------------------------------------------- */

#define SMALL " buckets=2 slots=4 batch=4x1 keys=uniform:9"

static const struct {
    const char *text, *word, *design, *policy, *keys; /* NULL: the case's own; keys: of a file */
} no_fixtures[] = {
    { "hkv.mix.tlpv1" SMALL, "a fixture is of one operation, not of 'mix'", NULL, NULL, NULL },
    { "hkv.find.tlpv1" SMALL, "no kernels of design cube", "cube", NULL, NULL },
    { "hkv.find.tlpv1" SMALL, "policy: there is no 'lfru'; nearest: lru", NULL, "lfru", NULL },
    { "hkv.find.tlpv1 dual=1 buckets=1 slots=4 batch=4x1", "dual: two candidate buckets need a capacity above 4", NULL,
      NULL, NULL },
    { "hkv.find.tlpv1 buckets=2Mi slots=4 batch=4x1", "at most", NULL, NULL, NULL },
    { "hkv.find.tlpv1 buckets=1Ki slots=1024 value=64Ki batch=4x1", "this is a large one", NULL, NULL, NULL },
    { "hkv.find.tlpv1 buckets=2 slots=4 batch=100000x1", "at most 65536 items", NULL, NULL, NULL },
    { "hkv.find.tlpv1 buckets=2 slots=4 batch=4x1 keys=zebra:5", "zebra", NULL, NULL, NULL },
    { "hkv.find.tlpv1" SMALL, "ends after 3 of 4", NULL, NULL, "1\n2\n3\n" },
    { "hkv.find.tlpv1" SMALL, "line 3", NULL, NULL, "r,1\nr,2\n3\nr,4\n" },
};

static void no_fixture_is_made_of_these(void)
{
    const fixture_kernel k = hkv_fixture_kernel_at(hkv_row_of("tlpv1", HKV_LOOKUP), 32, 1), *kernels[] = { &k, &k };
    for (size_t i = 0; i < sizeof no_fixtures / sizeof *no_fixtures; i++) {
        hd_case both[2], c;
        fixture *s = NULL;
        test_case("%s", no_fixtures[i].text);
        must(hd_case_parse(no_fixtures[i].text, &c));
        if (no_fixtures[i].keys) keys_of(&c, no_fixtures[i].keys);
        if (no_fixtures[i].design) snprintf(c.design, sizeof c.design, "%s", no_fixtures[i].design);
        if (no_fixtures[i].policy) snprintf(c.policy, sizeof c.policy, "%s", no_fixtures[i].policy);
        hd_status status = no_fixtures[i].keys && strchr(no_fixtures[i].keys, ',') ? HD_ECORRUPT : HD_EINVAL;
        must_fail(fixture_open(&c, kernels, 1, &s), status, no_fixtures[i].word);
        must(hd_case_parse("hkv.find.tlpv1" SMALL, &both[1]));
        both[0] = c;
        must_fail(fixture_open(both, kernels, 2, &s), status, no_fixtures[i].word); /* beside another */
        check(!s, "a fixture is left");
    }
}

/* Batch after batch: no more items than there is room for. */
static void no_batch_is_made_of_these(void)
{
    const fixture_kernel k = hkv_fixture_kernel_at(hkv_row_of("tlpv1", HKV_UPSERT), 32, 1);
    uint64_t key[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    hd_case c;
    fixture *s;
    must(hd_case_parse("hkv.mix.tlpv1 value=3" SMALL, &c));
    must(fixture_open_empty(&c, &s));
    must_fail(fixture_batch(s, &k, HD_OP_FIND, key, 5), HD_EINVAL, "5 items, and room for 4");
    must(fixture_batch(s, &k, HD_OP_INSERT_OR_ASSIGN, key, 4));
    fixture_reference(s);
    fixture_begin(s, s->memory, s->clock + 4);
    must(fixture_batch(s, &k, HD_OP_EXPORT, NULL, 0));
    check(s->part[0].batch.n == 4, "a range of %llu slots, and room for 4", (ull)s->part[0].batch.n);
    fixture_begin(s, s->initial, 0);
    check(s->clock == 0 && fixture_entries(s->design, s->table, 0) + fixture_entries(s->design, s->table, 1) == 4,
          "the table that runs begin with");
    fixture_close(s);
    snprintf(c.policy, sizeof c.policy, "unknown");
    must_fail(fixture_open_empty(&c, &s), HD_EINVAL, "policy: there is no 'unknown'");
}

/* A kernel's row for a case, or why there is none. */
static void rows_are_found_by_name(void)
{
    static const struct {
        const char *text, *word;
        const char *variant;
        hkv_family family;
    } names[] = {
        { "hkv.find.warp" SMALL, NULL, "warp", HKV_LOOKUP },
        { "hkv.clear.warp" SMALL, NULL, "warp", HKV_CLEAR },
        { "hkv.insert_or_assign.coalesced slots=16", NULL, "coalesced", HKV_UPSERT },
        { "hkv.insert_or_assign.coalesced slots=16 layout=planes", "coalesced cannot run this table", NULL,
          HKV_LOOKUP },
        { "hkv.find.pipeline slots=12", "pipeline cannot run this table", NULL, HKV_LOOKUP },
        { "hkv.lock_keys.pipeline slots=16", "pipeline does not run lock_keys", NULL, HKV_LOOKUP },
        { "hkv.serve.warp slots=16", "kernels run one operation, not 'serve'", NULL, HKV_LOOKUP },
        { "hkv.find.weft slots=16",
          "there is no 'weft' for the host machine; there are tlpv1, tlpv2, pipeline, warp, coalesced, direct", NULL,
          HKV_LOOKUP },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        hd_case c;
        uint32_t row = hkv_row_count();
        test_case("%s", names[i].text);
        must(hd_case_parse(names[i].text, &c));
        if (names[i].word)
            must_fail(fixture_kernel_row(&c, &row), HD_EINVAL, names[i].word);
        else
            must(fixture_kernel_row(&c, &row));
        check(names[i].word || row == hkv_row_of(names[i].variant, names[i].family), "row %u", row);
    }
}

static const struct CMUnitTest tours[] = { unit(tours_name_the_wrong),
                                           unit(tours_end_early),
                                           unit(tours_go_where_they_can),
                                           unit(all_kernels_all_kernels),
                                           unit(no_tour_goes_there),
                                           unit(a_tour_takes_what_there_is),
                                           unit(calls_that_fail_end_a_all_kernels),
                                           unit(no_fixture_is_made_of_these),
                                           unit(no_batch_is_made_of_these),
                                           unit(rows_are_found_by_name) };

int main(void) { return test_run(tours); }
