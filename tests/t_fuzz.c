/* SPDX-License-Identifier: Apache-2.0
 *
 * t_fuzz.c - every target of fuzz/: first its corpus, whose files are former bugs or reach rare code; then inputs
 * derived from it, the same ones each time. The targets share the time. HEDDLE_TEST_SCALE makes it longer or shorter.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/driver.h"
#include "tests/testing.h"

static const char *corpus_of(const fuzz_target *t)
{
    static char path[4096];
    const char *top = getenv("top_srcdir");
    snprintf(path, sizeof path, "%s/fuzz/corpus/%s", top ? top : ".", t->name);
    return path;
}

/* In this process, so that a debugger, a sanitizer or valgrind sees it. */
static void corpus_replays(void)
{
    const fuzz_target *t;
    for (size_t i = 0; (t = fuzz_target_at(i)); i++) {
        fuzz_corpus c;
        uint64_t steps = 0;
        must(fuzz_corpus_open(corpus_of(t), &c));
        check(c.n >= 3, "%s: %zu inputs are no corpus", t->name, c.n);
        for (size_t k = 0; k < c.n; k++) {
            char text[2048];
            const fuzz_input *in = &c.input[k];
            size_t n = in->n < t->most ? in->n : t->most;
            test_case("%s: %s", t->name, in->name);
            const char *why = t->run(in->bytes, n, &steps);
            t->tell(in->bytes, n, text, sizeof text);
            check(!why, "%s\n%s", why, text);
        }
        test_note("%-9s %zu inputs of its corpus, %llu steps judged", t->name, c.n, (ull)steps);
        fuzz_corpus_close(&c);
    }
}

/* Every beginning of an input is an input, and so is none at all. */
static void beginnings(void)
{
    const fuzz_target *t;
    for (size_t i = 0; (t = fuzz_target_at(i)); i++) {
        fuzz_corpus c;
        uint64_t steps = 0, tried = 0;
        must(fuzz_corpus_open(corpus_of(t), &c));
        for (size_t k = 0; k < c.n && k < 6; k++)
            for (size_t n = 0; n <= c.input[k].n && n <= t->most; n += 1 + n / 8, tried++) {
                char text[256];
                uint8_t *exact = (uint8_t *)test_alloc(n ? n : 1, 1);
                memcpy(exact, c.input[k].bytes, n);
                test_case("%s: the first %zu bytes of %s", t->name, n, c.input[k].name);
                const char *why = t->run(exact, n, &steps);
                check(!why, "%s", why);
                size_t needed = t->tell(exact, n, text, sizeof text);
                check(strlen(text) == (needed < sizeof text ? needed : sizeof text - 1),
                      "told in %zu bytes, said to be %zu", strlen(text), needed);
                free(exact);
            }
        fuzz_corpus_close(&c);
    }
}

static uint64_t executions, judged;

/* tests/areas.txt: what the inputs of a target are counted as, besides. */
static void count_for_areas(const fuzz_hunt *h)
{
    static const struct {
        const char *target, *area;
        bool steps;
        const char *what;
    } area[] = {
        { "table", "differential", true, "items executed and judged" },
        { "schedule", "schedules", false, "schedules that were inputs" },
        { "trace", "traces", false, "files made of a corpus" },
        { "snapshot", "snapshots", false, "files, good ones changed and others" },
    };
    for (size_t i = 0; i < sizeof area / sizeof *area; i++)
        if (strcmp(h->target->name, area[i].target) == 0)
            test_tried(area[i].area, area[i].steps ? h->steps : h->executions, "%s", area[i].what);
}

static void made_inputs(void)
{
    enum { BUDGET_MS = 5000 };
    const fuzz_target *t;
    for (size_t i = 0; (t = fuzz_target_at(i)); i++) {
        fuzz_corpus c;
        must(fuzz_corpus_open(corpus_of(t), &c));
        fuzz_hunt h = { .target = t, .corpus = &c, .seed = 1 };
        /* the one that is held against another implementation */
        uint64_t shares = strcmp(t->name, "table") == 0 ? 4 : 1;
        h.runs = test_quarter(shares * BUDGET_MS * 1000 / t->cost);
        h.loud = true;
        test_case("heddle fuzz %s --seed 1 --runs %llu", t->name, (ull)h.runs);
        must(fuzz_hunt_run(&h));
        char text[2048] = "";
        if (h.found.wrong) t->tell(h.found.bytes, h.found.n, text, sizeof text);
        check(!h.found.wrong, "input %llu: %s\n%s", (ull)h.found.run, h.found.why, text);
        check(h.executions == h.runs + c.n, "%llu of %llu inputs were run", (ull)h.executions, (ull)(h.runs + c.n));
        test_note("%-9s %9llu inputs, %10llu steps judged, %.1f s, %.0f inputs/s", t->name, (ull)h.executions,
                  (ull)h.steps, h.seconds, (double)h.executions / h.seconds);
        count_for_areas(&h);
        executions += h.executions;
        judged += h.steps;
        fuzz_hunt_close(&h);
        fuzz_corpus_close(&c);
    }
    test_tried("fuzz", executions, "inputs in all, %llu steps judged", (ull)judged);
}

/* ---- The hunt itself ------------------------------------------------------------------------- */

/* Objects to a 7 that comes somewhere after a 42, dies of an 8 and hangs at a 9 there. */
static const char *traps(const uint8_t *bytes, size_t n, uint64_t *steps)
{
    bool armed = false;
    ++*steps;
    for (size_t i = 0; i < n; i++) {
        if (armed && bytes[i] == 7) return fuzz_say("a 7 at %zu", i);
        if (armed && bytes[i] == 8) abort();
        armed = armed || bytes[i] == 42;
    }
    return NULL;
}

static const char *hangs(const uint8_t *bytes, size_t n, uint64_t *steps)
{
    ++*steps;
    for (volatile bool on = n > 2 && bytes[1] > 100; on;) continue;
    return NULL;
}

/* What is wrong here is kept from an input before. */
static const char *remembers(const uint8_t *bytes, size_t n, uint64_t *steps)
{
    static int before;
    ++*steps;
    return n && bytes[0] > 100 && ++before == 20 ? fuzz_say("the twentieth") : NULL;
}

static size_t says_nothing(const uint8_t *bytes, size_t n, char *text, size_t room)
{
    (void)bytes;
    return fuzz_text_in(text, room), n;
}

static fuzz_hunt hunt_of(const fuzz_target *t, uint64_t seed, uint64_t runs)
{
    fuzz_hunt h = { .target = t, .seed = seed, .runs = runs, .input_s = 2 };
    return h;
}

static void finds_are_made_small(void)
{
    static const fuzz_target t = { "traps", "", 300, 1, traps, says_nothing, NULL };
    int crashes = 0, objections = 0;
    for (uint64_t seed = 0; seed < 4 + test_times(8); seed++) {
        fuzz_hunt a = hunt_of(&t, seed, 200000), b = a;
        test_case("traps, seed %llu", (ull)seed);
        must(fuzz_hunt_run(&a));
        must(fuzz_hunt_run(&b));
        fuzz_find *f = &a.found;
        check(f->wrong, "nothing was found");
        check(f->n == 2 && f->bytes[0] == 42 && f->bytes[1] == (f->crashed ? 8 : 7), "%zu bytes are left of %zu: %d %d",
              f->n, f->n_before, f->n ? f->bytes[0] : -1, f->n > 1 ? f->bytes[1] : -1);
        check(strstr(f->why, f->crashed ? "died" : "a 7 at 1"), "it says: %s", f->why);
        check(b.found.run == f->run && b.found.tries == f->tries && b.executions == a.executions && b.found.n == f->n,
              "another hunt by the same seed went otherwise");
        crashes += f->crashed;
        objections += !f->crashed;
        fuzz_hunt_close(&a);
        fuzz_hunt_close(&b);
    }
    check(crashes && objections, "%d crashes and %d objections: one of them was not tried", crashes, objections);
}

static void hangs_end(void)
{
    static const fuzz_target t = { "hangs", "", 16, 1, hangs, says_nothing, NULL };
    fuzz_hunt h = hunt_of(&t, 1, 1000);
    h.input_s = 1;
    h.tries = 3;
    must(fuzz_hunt_run(&h));
    check(h.found.wrong && h.found.crashed && strstr(h.found.why, "did not end"), "%s", h.found.why);
    fuzz_hunt_close(&h);
}

static void inputs_leave_nothing(void)
{
    static const fuzz_target t = { "remembers", "", 16, 1, remembers, says_nothing, NULL };
    fuzz_hunt h = hunt_of(&t, 1, 10000);
    must(fuzz_hunt_run(&h));
    check(h.found.wrong && strstr(h.found.why, "leaves something behind"), "%s", h.found.why);
    fuzz_hunt_close(&h);
}

static int stop_at_once(void *context, uint64_t done, uint64_t total)
{
    (void)context, (void)total;
    return done > 0;
}

static void hunts_stop(void)
{
    static const fuzz_target t = { "quiet", "", 16, 1, traps, says_nothing, NULL };
    fuzz_hunt h = hunt_of(&t, 1, 0);
    must(fuzz_hunt_run(&h)); /* nothing to run */
    check(!h.found.wrong && h.executions == 0, "%llu inputs were run", (ull)h.executions);
    static const fuzz_target slow = { "slow", "", 2, 1, traps, says_nothing, NULL };
    h = hunt_of(&slow, 1, UINT64_MAX);
    h.time_ns = 1;
    h.progress = stop_at_once;
    must(fuzz_hunt_run(&h));
    check(h.executions < UINT64_MAX / 2, "it went on");
    fuzz_hunt_close(&h);
}

static const struct CMUnitTest tests[] = { unit(corpus_replays), unit(beginnings),
                                           unit(made_inputs),    unit(finds_are_made_small),
                                           unit(hangs_end),      unit(inputs_leave_nothing),
                                           unit(hunts_stop) };

int main(void) { return test_run(tests); }
