/* SPDX-License-Identifier: Apache-2.0
 *
 * t_canary.c - is the judge awake? Every kernel here has one fault, of a kind that somebody has made; each must be found, by the
 * part of the machinery that is there to find it, within a minute. One that survives fails the suite. The kernels that
 * have no fault are searched in the same way and must be found nothing against.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "judge/agree.h"
#include "lib/error.h"
#include "tests/testing.h"

#include "gpu/hkv/fetch.h"
#include "gpu/hkv/rows.h"

#include "tests/canaries/absent.h"

#include "tests/canaries/copy_not_awaited.h"
#include "tests/canaries/key_before_digest.h"
#include "tests/canaries/key_before_value.h"
#include "tests/canaries/lane_leaves.h"
#include "tests/canaries/listed_too_early.h"
#include "tests/canaries/looked_too_early.h"
#include "tests/canaries/count_left.h"
#include "tests/canaries/erased_twice.h"
#include "tests/canaries/fetched_beside.h"
#include "tests/canaries/narrow_index.h"
#include "tests/canaries/no_acquire.h"
#include "tests/canaries/no_locked_check.h"
#include "tests/canaries/no_release.h"
#include "tests/canaries/no_sync_tile.h"
#include "tests/canaries/optimistic_find.h"
#include "tests/canaries/pinned_victim.h"
#include "tests/canaries/rank_read_twice.h"
#include "tests/canaries/refused_unlisted.h"
#include "tests/canaries/score_wraps.h"
#include "tests/canaries/slot_cas_only.h"
#include "tests/canaries/stale_minimum.h"
#include "tests/canaries/stale_pointer.h"
#include "tests/canaries/unsorted_locks.h"

/* The controls: nothing replaced. */
#define CANARY control_upsert
#define CANARY_FAMILY HKV_UPSERT
#include "tests/canaries/frame.h"
#define CANARY control_upsert_tile
#define CANARY_FAMILY HKV_UPSERT
#define CANARY_TILE 32
#include "tests/canaries/frame.h"
#define CANARY control_update
#define CANARY_FAMILY HKV_UPDATE
#include "tests/canaries/frame.h"
#define CANARY control_lookup
#define CANARY_FAMILY HKV_LOOKUP
#include "tests/canaries/frame.h"
#define CANARY control_erase
#define CANARY_FAMILY HKV_ERASE
#include "tests/canaries/frame.h"

SIMT_KERNEL(canary_list, hkv_args, a) { hkv_list(&a, HKV_BY_WARP, (uint8_t *)0); }
SIMT_KERNEL(canary_sort, hkv_args, a) { hkv_fetch_sort(&a); }
SIMT_KERNEL(canary_fetch, hkv_args, a) { hkv_fetch_values(&a); }

typedef unsigned long long ull;

#ifdef HD_RAW
#define SAME "canaries_raw"
#else
#define SAME "canaries"
#endif

/* ---- What is searched ------------------------------------------------------------------------------------------ */

/* By whom a fault is to be found. */
enum { BY_JUDGE = 1 << SIMT_NO_FAULT, BY_WATCHER = 1 << SIMT_WATCHED, BY_RACES = 1 << SIMT_RACE, BY_BOUNDS = 1 << SIMT_BOUNDS,
       BY_COLLECTIVES = 1 << SIMT_LEFT | 1 << SIMT_MISMATCH | 1 << SIMT_DEADLOCK, BY_PATIENCE = 1 << SIMT_ENDLESS, BY_COPIES = 1 << SIMT_IN_FLIGHT };

typedef struct canary {
    const char *name;
    void (*kernel)(const void *), (*control)(const void *); /* control NULL: the real kernel is in t_agree */
    uint32_t lanes;
    bool races;          /* the race detector is on; off where the fault is to be seen in what it does */
    uint32_t found_by;
    const char *text, *beside; /* the case, and that of a correct control_update at the same time */
    void (*fetch)(const void *); /* in the place of hkv_fetch_values; NULL: none is */
} canary;

#define SMALL "buckets=2 slots=4 batch=10x1 keys=uniform:8 duplicate=200000 extreme=100000 value=16 pins=0"

#define FAR SMALL " near=1"

static const canary canaries[] = {
    { "key_before_value", canary_key_before_value, control_update, 1, true, BY_RACES, "hkv.assign.frame " SMALL, NULL, NULL },
    { "key_before_value, races not looked for", canary_key_before_value, control_update, 1, false, BY_JUDGE, "hkv.assign.frame " SMALL, NULL, NULL },
    { "no_locked_check", canary_no_locked_check, control_update, 1, true, BY_JUDGE, "hkv.assign.frame " SMALL, NULL, NULL },
    { "stale_minimum", canary_stale_minimum, control_upsert, 1, false, BY_JUDGE, "hkv.insert_or_assign.frame policy=lfu buckets=2 slots=4 batch=10x1 keys=uniform:64", NULL, NULL },
    { "stale_minimum, races looked for", canary_stale_minimum, control_upsert, 1, true, BY_RACES, "hkv.insert_or_assign.frame policy=lfu buckets=2 slots=4 batch=10x1 keys=uniform:64", NULL, NULL },
    { "looked_too_early", canary_looked_too_early, control_upsert, 1, false, BY_JUDGE | BY_WATCHER, "hkv.insert_or_assign.frame " SMALL, NULL, NULL },
    { "erased_twice", canary_erased_twice, control_erase, 1, false, BY_JUDGE | BY_WATCHER, "hkv.erase.frame " SMALL, NULL, NULL },
    { "no_release", canary_no_release, control_upsert, 1, true, BY_RACES, "hkv.insert_or_assign.frame " SMALL, NULL, NULL },
    { "no_acquire", canary_no_acquire, control_upsert, 1, true, BY_RACES, "hkv.insert_or_assign.frame " SMALL, NULL, NULL },
    { "optimistic_find", canary_optimistic_find, NULL, 1, false, BY_JUDGE, "hkv.find.frame " SMALL, "hkv.assign_values.frame " SMALL, NULL },
    { "no_sync_tile", canary_no_sync_tile, control_upsert_tile, 32, true, BY_RACES, "hkv.insert_or_assign.frame buckets=2 slots=4 batch=6x1 keys=uniform:4 value=64", NULL, NULL },
    { "slot_cas_only", canary_slot_cas_only, control_upsert, 1, false, BY_JUDGE | BY_WATCHER, "hkv.insert_or_assign.frame " SMALL, NULL, NULL },
    { "lane_leaves", canary_lane_leaves, control_upsert_tile, 32, true, BY_COLLECTIVES, "hkv.insert_or_assign.frame buckets=2 slots=4 batch=6x1 keys=uniform:4 value=64", NULL, NULL },
    { "key_before_digest", canary_key_before_digest, control_upsert, 1, true, BY_WATCHER, "hkv.insert_or_assign.frame " SMALL, NULL, NULL },
    { "pinned_victim", canary_pinned_victim, control_upsert, 1, true, BY_JUDGE, "hkv.insert_or_assign.frame buckets=2 slots=4 batch=10x1 keys=uniform:64 pins=6", NULL, NULL },
    { "score_wraps", canary_score_wraps, control_upsert, 1, true, BY_JUDGE, "hkv.insert_or_assign.frame policy=lfu extreme=300000 buckets=2 slots=4 batch=10x1 keys=uniform:8", NULL, NULL },
    { "listed_too_early", canary_listed_too_early, control_upsert, 1, true, BY_JUDGE, "hkv.insert_and_evict.frame " SMALL, NULL, NULL },
    { "refused_unlisted", canary_refused_unlisted, control_upsert, 1, true, BY_JUDGE, "hkv.insert_and_evict.frame policy=custom " SMALL, NULL, NULL },
    { "stale_pointer", canary_stale_pointer, control_lookup, 1, true, BY_JUDGE, "hkv.find_ptr.frame " SMALL, NULL, NULL },
    { "narrow_index", canary_narrow_index, control_upsert, 1, true, BY_JUDGE, "hkv.insert_or_assign.frame buckets=2 slots=16 batch=4x1 keys=uniform:32 value=4096", NULL, NULL },
    { "unsorted_locks", canary_unsorted_locks, control_upsert, 1, true, BY_PATIENCE, "hkv.insert_or_assign.frame dual=1 buckets=4 slots=4 batch=10x1 keys=uniform:16", NULL, NULL },
    { "copy_not_awaited", canary_copy_not_awaited, NULL, 32, true, BY_COPIES, "hkv.insert_or_assign.frame buckets=2 slots=16 batch=6x1 keys=uniform:32 value=16", NULL, NULL },
    { "rank_read_twice", canary_rank_read_twice, control_lookup, 1, true, BY_RACES, "hkv.find.frame " FAR, NULL, NULL },
    { "rank_read_twice, races not looked for", canary_rank_read_twice, control_lookup, 1, false, BY_JUDGE, "hkv.find.frame " FAR, NULL, NULL },
    { "fetched_beside", control_lookup, control_lookup, 1, true, BY_JUDGE, "hkv.find.frame " FAR, NULL, canary_fetched_beside },
    { "count_left", control_lookup, control_lookup, 1, true, BY_JUDGE, "hkv.find.frame " FAR, NULL, canary_count_left },
};

/* One launch, and the one that makes its list, or those that fetch what it put off. */
static hd_status queue(const scene_kernel *k, simt_machine *m, const hkv_args *args, uint32_t stream)
{
    hkv_args a = *args;
    const canary *c = (const canary *)k->row;
    if (hkv_fetches(&a)) hkv_fetch_cut(&a);
    hd_status s = scene_queue(k, m, &a, stream);
    if (!s && hkv_fetches(&a)) s = simt_machine_launch(m, canary_sort, &a, sizeof a, 1, 32, stream);
    if (!s && hkv_fetches(&a)) s = simt_machine_launch(m, c->fetch ? c->fetch : canary_fetch, &a, sizeof a, 1, 32, stream);
    return s || !a.stage_flag ? s : simt_machine_launch(m, canary_list, &a, sizeof a, 1, 32, stream);
}

/* c: what of it fetches, if it puts off. */
static scene_kernel kernel_of(void (*text)(const void *), uint32_t lanes, const canary *c)
{
    scene_kernel k;
    memset(&k, 0, sizeof k);
    k.name = "frame";
    k.strictness = SCENE_ORDER;
    k.queue = queue;
    k.text = text;
    k.lanes = lanes;
    k.threads = 64;
    k.row = c;
    return k;
}

static agree *open_scene(const canary *c, void (*text)(const void *), uint64_t seed)
{
    hd_case cases[2];
    scene_kernel kernels[2] = { kernel_of(text, c->lanes, c), kernel_of(control_update, 1, c) };
    static scene_kernel kept[2];
    const scene_kernel *which[2] = { &kept[0], &kept[1] };
    scene *s;
    agree *a;
    memcpy(kept, kernels, sizeof kept);
    must(hd_case_parse(c->text, &cases[0]));
    if (c->beside) must(hd_case_parse(c->beside, &cases[1]));
    cases[0].seed = cases[1].seed = seed;
    must(scene_open(cases, which, c->beside ? 2 : 1, &s));
    must(agree_open(s, &a));
    return a;
}

/* Scene after scene, and of each some schedules, by lane and by warp, at random and by priorities. */
static simt_config way(const canary *c, uint64_t seed)
{
    simt_config w = simt_config_default();
    w.unit = seed % 4 == 3 ? SIMT_BY_WARP : SIMT_BY_LANE;
    w.strategy = seed % 2 ? SIMT_RANDOM : SIMT_PCT;
    w.pct_depth = 4;
    w.pct_length = c->lanes == 1 ? 600 : 4000;
    w.seed = seed * 1000;
    w.race = c->races;
    w.step_limit = 100000;
    w.shared_bytes = 48 << 10;
    return w;
}

typedef struct search {
    uint64_t scene, schedules, distinct;
    double seconds; /* until it went wrong, or the end */
    bool wrong;
    simt_exploration last; /* when wrong */
    simt_config config;
} search;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

enum { SCHEDULES = 60, MINUTE = 60 };

/* At most `scenes`, until something is wrong. The scene stays open in *a when something is. */
static search look(simt_machine *m, const canary *c, void (*text)(const void *), uint64_t scenes, agree **a)
{
    search s;
    memset(&s, 0, sizeof s);
    double start = seconds();
    for (s.scene = 1; s.scene <= scenes && s.seconds < MINUTE; s.scene++) {
        *a = open_scene(c, text, s.scene);
        s.config = way(c, s.scene);
        agree_watch_with(*a, &s.config, 1);
        simt_trial trial = agree_trial(*a);
        double before = seconds() - start;
        must(simt_explore(m, &trial, &s.config, SCHEDULES, 0, 300, &s.last));
        s.schedules += s.last.schedules;
        s.distinct += s.last.distinct;
        s.seconds = before + (double)s.last.time_ns * 1e-9; /* without the time that making it short took */
        s.wrong = s.last.wrong;
        if (s.wrong) return s;
        simt_exploration_free(m, &s.last);
        agree_close(*a);
    }
    return s;
}

/* ---- The tests --------------------------------------------------------------------------------------------------------- */

/* The shortest schedule must go wrong in the same way, twice. What the last run was. */
static simt_totals replays(simt_machine *m, agree *a, const search *s)
{
    simt_totals totals[2];
    simt_trial trial = agree_trial(a);
    simt_config c = s->config;
    c.strategy = SIMT_REPLAY;
    c.replayed = s->config.strategy;
    c.seed = s->last.seed;
    c.schedule = s->last.schedule;
    c.schedule_n = s->last.schedule_n;
    for (int twice = 0; twice < 2; twice++) {
        simt_exploration e;
        must(simt_explore(m, &trial, &c, 1, 0, 0, &e));
        check(e.wrong && e.finding.fault == s->last.finding.fault, "the replay went otherwise");
        check(s->last.schedule_n == 0 || strcmp(e.finding.story, s->last.finding.story) == 0, "another story:\n%s\n%s", e.finding.story, s->last.finding.story);
        totals[twice] = simt_machine_totals(m);
        simt_exploration_free(m, &e);
    }
    check(totals[0].hash == totals[1].hash && totals[0].steps == totals[1].steps, "two replays of one schedule went two ways");
    return totals[1];
}

/* What a seed means must not depend on the build: the search, what it found, and the shortest schedule. */
static void report(FILE *same, const canary *c, const search *s, const simt_totals *t)
{
    fprintf(same, "%s: %s\nscene %llu, seed %llu, schedules %llu, distinct %llu, the last %llu %016llx; decisions %zu of %zu, steps %llu, interleaving %016llx\n", c->name, c->text,
            (ull)s->scene, (ull)s->last.seed, (ull)s->schedules, (ull)s->distinct, (ull)s->last.schedules, (ull)s->last.hash, s->last.schedule_n, s->last.schedule_before, (ull)t->steps, (ull)t->hash);
    size_t bytes = simt_schedule_print(s->last.schedule, s->last.schedule_n, NULL, 0) + 1;
    char *schedule = (char *)test_alloc(bytes, 1);
    simt_schedule_print(s->last.schedule, s->last.schedule_n, schedule, bytes);
    fprintf(same, "%s\n%s: %s\n\n", schedule, simt_fault_name(s->last.finding.fault), s->last.finding.story);
    free(schedule);
}

static void test_canaries(void **unused)
{
    (void)unused;
    simt_machine *m;
    FILE *same = test_same(SAME);
    must(simt_machine_open(NULL, &m));
    for (size_t i = 0; i < sizeof canaries / sizeof *canaries; i++) {
        const canary *c = &canaries[i];
        agree *a = NULL;
        test_case("canary %s: %s", c->name, c->text);
        search s = look(m, c, c->kernel, UINT64_MAX, &a);
        check(s.wrong, "it survived %llu schedules of %llu scenes", (ull)s.schedules, (ull)s.scene - 1);
        check(c->found_by >> s.last.finding.fault & 1, "found, but not by who should: %s: %s", simt_fault_name(s.last.finding.fault), s.last.finding.story);
        check(s.seconds < MINUTE, "found after %.0f s only", s.seconds);
        const char *end = strchr(s.last.finding.story, '\n');
        test_note("%-40s scene %llu, seed %llu, schedule %llu, %.3f s, %zu decisions of %zu: %s: %.*s", c->name, (ull)s.scene, (ull)s.last.seed, (ull)s.schedules, s.seconds,
                  s.last.schedule_n, s.last.schedule_before, simt_fault_name(s.last.finding.fault), end ? (int)(end - s.last.finding.story) : 200, s.last.finding.story);
        simt_totals totals = replays(m, a, &s);
        if (same) report(same, c, &s, &totals);
        simt_exploration_free(m, &s.last);
        agree_close(a);
    }
    test_tried("canaries", sizeof canaries / sizeof *canaries, "kernels with one fault each, every one found and replayed");
    simt_machine_close(m);
    if (same) fclose(same);
}

/* As long as the longest search of a canary, and then some. */
static void test_controls(void **unused)
{
    (void)unused;
    simt_machine *m;
    must(simt_machine_open(NULL, &m));
    uint64_t schedules = 0, distinct = 0;
    for (size_t i = 0; i < sizeof canaries / sizeof *canaries; i++) {
        canary sound = canaries[i];
        const canary *c = &sound;
        agree *a = NULL;
        sound.fetch = NULL;
        if (!c->control) continue;
        test_case("control of %s: %s", c->name, c->text);
        search s = look(m, c, c->control, test_times(12), &a);
        check(!s.wrong, "scene %llu, seed %llu: %s: %s", (ull)s.scene, (ull)s.last.seed, simt_fault_name(s.last.finding.fault), s.last.finding.story);
        schedules += s.schedules;
        distinct += s.distinct;
    }
    test_tried("schedules", schedules, "of the canaries' kernels without a fault, %llu distinct: nothing found", (ull)distinct);
    simt_machine_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_canaries), cmocka_unit_test(test_controls) };
    return test_run(tests);
}
