/* SPDX-License-Identifier: Apache-2.0
 *
 * t_fuzz_museum.c - tests of the fuzzers of kernels by known bugs: bugs of judge/museum/bugs are switched on in tlpv1,
 * which runs every operation of its family. The target must find each bug with random inputs, and make the input small.
 * Without a bug the same inputs find nothing.
 */
#include <string.h>

#include "fuzz/driver.h"
#include "fuzz/fixture.h"
#include "gpu/hkv/rows.h"
#include "judge/hkv/fixture.h"
#include "judge/museum/museum.h"
#include "tests/testing.h"

typedef struct guest {
    const char *bug, *target; /* bug NULL: none */
    hkv_family family;
    uint64_t runs; /* within which it must be found; of none: how many must be fine */
} guest;

static const guest guests[] = {
    { "key_before_digest", "schedule", HKV_UPSERT, 3000 }, { "key_before_value", "schedule", HKV_UPDATE, 3000 },
    { "looked_too_early", "schedule", HKV_UPSERT, 3000 },  { "no_locked_check", "schedule", HKV_UPDATE, 60000 },
    { "pinned_victim", "kernels", HKV_UPSERT, 3000 },      { "refused_unlisted", "kernels", HKV_UPSERT, 3000 },
    { "score_wraps", "kernels", HKV_UPSERT, 3000 },
};

static const guest controls[] = {
    { NULL, "schedule", HKV_UPSERT, 1500 },
    { NULL, "schedule", HKV_UPDATE, 1500 },
    { NULL, "kernels", HKV_UPSERT, 400 },
};

static fuzz_hunt hunt(const guest *g)
{
    uint32_t row = hkv_row_of("tlpv1", g->family);
    fixture_kernel k = hkv_fixture_kernel_at(row, 32, 8);
    fuzz_hunt h = { .target = fuzz_target_find(g->target) };
    h.seed = 6; /* the rarest of them, no_locked_check, takes 7,000 inputs; other seeds need up to 30,000 */
    h.runs = g->runs;
    h.loud = true;
    museum_now = g->bug ? museum_number(g->bug) : 0;
    check(!g->bug || museum_now, "there is no bug %s", g->bug);
    fuzz_stand_in(&k, &judge_design_hkv, row);
    must(fuzz_hunt_run(&h));
    fuzz_stand_in(NULL, NULL, 0);
    museum_now = 0;
    return h;
}

static void faults_are_found(void)
{
    for (size_t i = 0; i < sizeof guests / sizeof *guests; i++) {
        const guest *g = &guests[i];
        test_case("heddle fuzz %s with %s", g->target, g->bug);
        fuzz_hunt h = hunt(g);
        fuzz_find *f = &h.found;
        check(f->wrong && !f->crashed, "not found in %llu inputs", (ull)h.executions);
        check(f->n <= f->n_before && f->n < 60, "%zu bytes of %zu are left", f->n, f->n_before);
        test_note("%-18s by %-8s input %4llu, %3zu bytes made %2zu: %.90s", g->bug, g->target, (ull)f->run, f->n_before,
                  f->n, f->why);
        fuzz_hunt_close(&h);
    }
}

static void controls_are_fine(void)
{
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++) {
        guest g = controls[i];
        g.runs = test_times(g.runs);
        test_case("heddle fuzz %s of family %d", g.target, (int)g.family);
        fuzz_hunt h = hunt(&g);
        check(!h.found.wrong, "input %llu: %s", (ull)h.found.run, h.found.why);
        check(h.executions == g.runs, "%llu of %llu inputs were run", (ull)h.executions, (ull)g.runs);
        fuzz_hunt_close(&h);
    }
}

static const struct CMUnitTest tests[] = { unit(faults_are_found), unit(controls_are_fine) };

int main(void) { return test_run(tests); }
