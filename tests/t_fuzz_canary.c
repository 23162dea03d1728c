/* SPDX-License-Identifier: Apache-2.0
 *
 * t_fuzz_canary.c - are the fuzzers of kernels awake? Kernels with one fault each, of tests/canaries, run every operation of their family; the
 * target must find each by inputs made by chance, and make what found it small. Without a fault in them the same inputs find nothing.
 */
#include <string.h>

#include "fuzz/hunt.h"
#include "fuzz/stage.h"
#include "tests/testing.h"

#include "gpu/hkv/fetch.h"
#include "gpu/hkv/rows.h"

#include "tests/canaries/absent.h"

#include "tests/canaries/key_before_digest.h"
#include "tests/canaries/key_before_value.h"
#include "tests/canaries/looked_too_early.h"
#include "tests/canaries/no_locked_check.h"
#include "tests/canaries/pinned_victim.h"
#include "tests/canaries/refused_unlisted.h"
#include "tests/canaries/score_wraps.h"

#define CANARY control_upsert
#define CANARY_FAMILY HKV_UPSERT
#include "tests/canaries/frame.h"
#define CANARY control_update
#define CANARY_FAMILY HKV_UPDATE
#include "tests/canaries/frame.h"

SIMT_KERNEL(canary_list, hkv_args, a) { hkv_list(&a, HKV_BY_WARP, (uint8_t *)0); }

typedef unsigned long long ull;

typedef struct canary {
    const char *name, *target;
    void (*text)(const void *);
    hkv_family family;
    uint64_t runs; /* within which it must be found; of the control: how many must be fine */
} canary;

static const canary canaries[] = {
    { "key_before_digest", "schedule", canary_key_before_digest, HKV_FAMILY_upsert, 3000 },
    { "key_before_value", "schedule", canary_key_before_value, HKV_FAMILY_update, 3000 },
    { "looked_too_early", "schedule", canary_looked_too_early, HKV_FAMILY_upsert, 3000 },
    { "no_locked_check", "schedule", canary_no_locked_check, HKV_FAMILY_update, 20000 },
    { "pinned_victim", "kernels", canary_pinned_victim, HKV_FAMILY_upsert, 3000 },
    { "refused_unlisted", "kernels", canary_refused_unlisted, HKV_FAMILY_upsert, 3000 },
    { "score_wraps", "kernels", canary_score_wraps, HKV_FAMILY_upsert, 3000 },
};

static const canary controls[] = {
    { "control_upsert", "schedule", control_upsert, HKV_FAMILY_upsert, 1500 },
    { "control_update", "schedule", control_update, HKV_FAMILY_update, 1500 },
    { "control_upsert", "kernels", control_upsert, HKV_FAMILY_upsert, 400 },
};

static hd_status queue(const scene_kernel *k, simt_machine *m, const hkv_args *args, uint32_t stream)
{
    hd_status s = scene_queue(k, m, args, stream);
    return s || !args->stage_flag ? s : simt_machine_launch(m, canary_list, args, sizeof *args, 1, 32, stream);
}

static fuzz_hunt hunt(const canary *c)
{
    fuzz_hunt h;
    scene_kernel k;
    memset(&h, 0, sizeof h);
    memset(&k, 0, sizeof k);
    k.name = c->name;
    k.strictness = SCENE_ORDER;
    k.queue = queue;
    k.text = c->text;
    k.lanes = 1;
    k.threads = 32;
    h.target = fuzz_target_find(c->target);
    h.seed = 4;
    h.runs = c->runs;
    h.loud = true;
    fuzz_stand_in(&k, c->family);
    must(fuzz_hunt_run(&h));
    fuzz_stand_in(NULL, c->family);
    return h;
}

static void faults_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof canaries / sizeof *canaries; i++) {
        const canary *c = &canaries[i];
        test_case("heddle fuzz %s with %s", c->target, c->name);
        fuzz_hunt h = hunt(c);
        fuzz_find *f = &h.found;
        check(f->wrong && !f->crashed, "not found in %llu inputs", (ull)h.executions);
        check(f->n <= f->n_before && f->n < 60, "%zu bytes of %zu are left", f->n, f->n_before);
        test_note("%-18s by %-8s input %4llu, %3zu bytes made %2zu: %.90s", c->name, c->target, (ull)f->run, f->n_before, f->n, f->why);
        fuzz_hunt_close(&h);
    }
}

static void controls_are_fine(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++) {
        canary c = controls[i];
        c.runs = test_times(c.runs);
        test_case("heddle fuzz %s with %s", c.target, c.name);
        fuzz_hunt h = hunt(&c);
        check(!h.found.wrong, "input %llu: %s", (ull)h.found.run, h.found.why);
        check(h.executions == c.runs, "%llu of %llu inputs were run", (ull)h.executions, (ull)c.runs);
        fuzz_hunt_close(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(faults_are_found), cmocka_unit_test(controls_are_fine) };
    return test_run(tests);
}
