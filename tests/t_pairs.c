/* SPDX-License-Identifier: Apache-2.0
 *
 * t_pairs.c - combinations: every possible pair of classes of the fields of a case (judge/space.h), in few cases
 * (judge/cover.h), each judged; and of what tables, kernels and loads are every triple, with all operations. Each rule
 * that makes combinations impossible is held against the library, which has to refuse them. In long runs all triples.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/op.h"
#include "judge/cover.h"
#include "judge/run.h"
#include "tests/testing.h"

enum { TEXT = 1024 };

static const char *backends(void) { return test_far() ? "cuda" : "ref host"; }

/* NULL, or what is wrong with the case. */
static const char *judged(const hd_case *c, uint64_t *items)
{
    static char why[TEXT];
    hd_run_report report;
    if (hd_case_run(c, NULL, NULL, &report)) {
        snprintf(why, sizeof why, "refused, and no rule says so: %s", hd_why());
        return why;
    }
    *items += report.judged;
    snprintf(why, sizeof why, "%s", report.wrong);
    return *why ? why : NULL;
}

/* What all designs' arrays came to. */
static struct {
    ull cases, covered, possible, impossible, rules;
} sum;

static uint32_t strength(void) { return getenv("HEDDLE_TEST_LONG") ? 3 : 2; }

static const char *what(void) { return strength() == 2 ? "pairs" : "triples"; }

/* Runs the rows of an array, all of them, and closes it. */
static void run_rows(cover *c, const char *of)
{
    ull wrong = 0, ran = 0;
    uint64_t items = 0;
    for (uint64_t i = 0; i < c->rows; i++) {
        char text[TEXT];
        hd_case x;
        if (!test_takes(i)) continue; /* builds in which everything takes long run a part of the cases */
        ran++;
        must(space_case(c->s, &c->row[i], i + 1, &x));
        hd_case_print(&x, text, sizeof text);
        test_case("%s", text);
        const char *why = judged(&x, &items);
        wrong += why != NULL;
        if (why) test_note("wrong: %s\n#   heddle run --judge '%s'", why, text);
    }
    test_tried("combinations", ran == c->rows ? c->covered : ran, "%s of %s, in %llu cases, %llu items judged", of,
               c->s->design, (ull)c->rows, (ull)items);
    check(wrong == 0, "%llu of %llu cases are wrong", wrong, ran);
    check(c->covered == c->combinations - c->impossible, "a possible combination is not covered");
}

static void pairs_are_truthful(void **state)
{
    space *s;
    cover c;
    must(space_open((const char *)*state, backends(), &s));
    const space_domain all = space_all(s);
    must(cover_open(s, &all, UINT64_MAX, strength(), 1, &c));
    sum.covered += c.covered;
    sum.possible += c.combinations - c.impossible;
    sum.impossible += c.impossible;
    sum.rules += s->rules;
    sum.cases += c.rows;
    run_rows(&c, what());
    cover_close(&c);
    space_close(s);
}

/* Every triple of what decides about a table, its kernel and its load, under one word for operations, in large batches:
 * what few items do seldom, many do. */
static void run_structures(const space *s, const char *op)
{
    char of[128];
    cover c;
    space_domain d = space_all(s);
    space_fix(s, &d, "op", op);
    space_fix(s, &d, "batch", "200x*");
    must(cover_open(s, &d, space_structure(s), 3, 2, &c));
    if (!c.rows) return cover_close(&c); /* the design has no such operation */
    snprintf(of, sizeof of, "triples of what tables are, under %s,", op);
    run_rows(&c, of);
    cover_close(&c);
}

/* Under each operation that gives several rows per item, which are few items among all operations; in long runs under
 * all operations, too. */
static void structures_are_truthful(void **state)
{
    space *s;
    must(space_open((const char *)*state, backends(), &s));
    if (test_is_long()) run_structures(s, "mix");
    for (int op = 0; op < HD_OP_COUNT_; op++)
        if (hd_op_does((hd_op)op, HD_GIVES_ROWS)) run_structures(s, hd_op_name((hd_op)op));
    space_close(s);
}

static void everything_is_covered(void)
{
    test_note("%s: %llu of %llu covered by %llu cases, %llu impossible by %llu rules", what(), sum.covered,
              sum.possible, sum.cases, sum.impossible, sum.rules);
    check(sum.covered == sum.possible, "a possible combination is not covered");
}

/* The rules' combinations: each is refused, if no other rule is broken. */
static void rule_is_true(const space *s, const space_rule *r, uint64_t n, ull *tried)
{
    char text[TEXT];
    space_domain d = space_all(s);
    hd_case c;
    hd_run_report report;
    static const char *const cheap[][2] = { { "fill", "0" }, { "batch", "1x16" }, { "between", "nothing" } };
    for (size_t i = 0; i < sizeof cheap / sizeof *cheap; i++) space_fix(s, &d, cheap[i][0], cheap[i][1]);
    for (uint32_t i = 0; i < r->terms; i++) { /* number n of its combinations */
        uint64_t in = r->term[i].classes, count = (uint64_t)__builtin_popcountll(in);
        for (uint64_t k = n % count; k; k--) in &= in - 1;
        n /= count;
        d.of[r->term[i].factor] = in & (0 - in);
    }
    if (!space_random(s, &d, r, n + 7)) return; /* it always breaks another one, too */
    must(space_case(s, &d, 1, &c));
    hd_case_print(&c, text, sizeof text);
    test_case("%s", text);
    check(hd_case_run(&c, NULL, NULL, &report) == HD_EINVAL, "'%s' forbids a case that runs", r->reason);
    ++*tried;
}

static void rules_are_true(void **state)
{
    ull tried = 0;
    space *s;
    must(space_open((const char *)*state, backends(), &s));
    for (uint32_t k = 0; k < s->rules; k++) {
        const space_rule *r = &s->rule[k];
        uint64_t all = 1;
        for (uint32_t j = 0; j < r->terms; j++) all *= (uint64_t)__builtin_popcountll(r->term[j].classes);
        for (uint64_t n = 0; n < all; n++) rule_is_true(s, r, n, &tried);
    }
    test_tried("combinations", tried, "combinations that rules of %s call impossible, each refused", s->design);
    space_close(s);
}

/* A test of each kind for each design: rules_hkv, pairs_hkv ... */
enum { KINDS = 3, TESTS = 32 };
static const struct {
    const char *name;
    CMUnitTestFunction run;
} kinds[KINDS] = { { "rules", rules_are_true },
                   { "pairs", pairs_are_truthful },
                   { "structures", structures_are_truthful } };

int main(void)
{
    static char name[TESTS][64];
    struct CMUnitTest tests[TESTS] = { { 0 } };
    hd_row row;
    size_t n = 0;
    test_add_designs();
    for (size_t i = 0; hd_list(HD_DESIGNS, i, &row); i++)
        for (int k = 0; k < KINDS && n + 1 < TESTS; k++, n++) {
            snprintf(name[n], sizeof name[n], "%s_%s", kinds[k].name, row.name);
            tests[n].name = name[n];
            tests[n].test_func = kinds[k].run;
            tests[n].initial_state = (void *)(uintptr_t)row.name;
        }
    tests[n++] = (struct CMUnitTest)unit(everything_is_covered);
    return test_run_named("pairs", tests, n);
}
