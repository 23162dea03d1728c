/* SPDX-License-Identifier: Apache-2.0
 *
 * search_sched.c - looks for a bug among the schedules of kernels: fixture after fixture, and of each some schedules,
 * by lane and by warp, at random and by priorities, judged as judge/comparison.h does. What was found is made short,
 * and must go wrong in the same way twice.
 *
 *     sched [quiet] [weak] [unlawful] [shape] [threads=N] [blocks=N] [steps=N] CASE [+ CASE]
 *     crash [WORDS] CASE [+ CASE]
 *
 * crash: each schedule also crashes, at all moments that matter, and images that the crash may leave are recovered
 * (judge/crash.h). Races and the invariants between steps are then left to other looks. The sentence begins with the
 * shortest crash that was found, as simt_crash_print writes it.
 * steps: before a run counts as endless. quiet: races are not looked for, so that the fault is found by what it does.
 * unlawful: the two cases may not run beside each other, and the bug is to believe that they may; sound kernels would
 * fail there, too. shape: the kernels are judged as if their rows said HD_SHAPE.
 */
#include <stdio.h>
#include <string.h>

#include "judge/comparison.h"
#include "judge/crash.h"
#include "judge/kernels.h"
#include "base/error.h"
#include "judge/museum/museum.h"
#include "simt/crash.h"

enum { PARTS = 2, SHORTER = 300 };
/* Of schedules that crash: as many of a fixture; images of a crash that are made in any case. */
enum { CRASHED = 6, IMAGES = 72 };

typedef struct look {
    hd_case c[PARTS];
    fixture_kernel kernel[PARTS];
    uint32_t parts, threads, blocks, steps, lanes;
    bool quiet, weak, unlawful, shape, crash;
} look;

/* The judge that a finding belongs to. */
static museum_judge judge_of(simt_fault f, const comparison *a)
{
    static const museum_judge of[SIMT_FAULT_COUNT] = {
        [SIMT_MISMATCH] = MUSEUM_COLLECTIVES, [SIMT_LEFT] = MUSEUM_COLLECTIVES, [SIMT_OUTSIDE] = MUSEUM_COLLECTIVES,
        [SIMT_DEADLOCK] = MUSEUM_COLLECTIVES, [SIMT_BOUNDS] = MUSEUM_BOUNDS,    [SIMT_MISALIGNED] = MUSEUM_BOUNDS,
        [SIMT_UNINITIALISED] = MUSEUM_COPIES, [SIMT_IN_FLIGHT] = MUSEUM_COPIES, [SIMT_ENDLESS] = MUSEUM_PATIENCE,
        [SIMT_RACE] = MUSEUM_RACES,           [SIMT_RAW] = MUSEUM_BOUNDS,       [SIMT_WATCHED] = MUSEUM_WATCH,
        [SIMT_RESOURCE] = MUSEUM_BOUNDS,      [SIMT_SPACE] = MUSEUM_BOUNDS,     [SIMT_CRASH] = MUSEUM_CRASH,
    };
    int part = 0;
    if (f != SIMT_NO_FAULT) return of[f];
    while (!(comparison_objector(a) >> part & 1)) part++;
    return (museum_judge)part; /* the first judges are COMPARISON_*, in their order */
}

/* One word of the look, or the beginning of a case. */
static bool option(look *l, const char *word)
{
    if (strcmp(word, "quiet") == 0) return l->quiet = true;
    if (strcmp(word, "weak") == 0) return l->weak = true;
    if (strcmp(word, "unlawful") == 0) return l->unlawful = true;
    if (strcmp(word, "shape") == 0) return l->shape = true;
    return sscanf(word, "threads=%u", &l->threads) == 1 || sscanf(word, "blocks=%u", &l->blocks) == 1 ||
           sscanf(word, "steps=%u", &l->steps) == 1;
}

static hd_status parse(look *l, const char *what, bool crash)
{
    char text[PARTS][1024] = { "", "" }, word[256];
    int n;
    uint32_t row;
    hd_status s = HD_OK;
    memset(l, 0, sizeof *l);
    l->crash = crash;
    l->threads = 32;
    l->blocks = 4;
    for (; sscanf(what, "%255s%n", word, &n) == 1; what += n) {
        if (strcmp(word, "+") == 0 && l->parts + 1 < PARTS)
            l->parts++;
        else if (text[l->parts][0] || !option(l, word))
            snprintf(text[l->parts] + strlen(text[l->parts]), sizeof text[0] - strlen(text[l->parts]), "%s ", word);
    }
    l->parts++;
    for (uint32_t k = 0; k < l->parts && !s; k++) {
        s = hd_case_parse(text[k], &l->c[k]);
        if (!s) s = fixture_kernel_row(&l->c[k], &row);
        if (s) return s;
        l->kernel[k] = fixture_kernel_at(judge_design_named(l->c[k].design), row, l->threads, l->blocks);
        if (l->shape) l->kernel[k].strictness = FIXTURE_SHAPE;
        if (l->kernel[k].lanes > l->lanes) l->lanes = l->kernel[k].lanes;
    }
    return s;
}

static hd_status open_fixture(const look *l, uint64_t seed, uint32_t muted_checks, fixture **f, comparison **a)
{
    hd_case c[PARTS];
    const fixture_kernel *kernel[PARTS];
    memcpy(c, l->c, sizeof c);
    for (uint32_t k = 0; k < l->parts; k++) {
        c[k].seed = seed;
        kernel[k] = &l->kernel[k];
    }
    hd_status status = fixture_open(c, kernel, l->parts, f);
    if (!status) status = comparison_open(*f, a);
    if (!status) comparison_mute(*a, muted_checks);
    return status;
}

static simt_config way(const look *l, uint64_t seed, uint32_t muted_checks)
{
    simt_config w = simt_config_default();
    w.unit = seed % 4 == 3 ? SIMT_BY_WARP : SIMT_BY_LANE;
    w.strategy = seed % 2 ? SIMT_RANDOM : SIMT_PCT;
    w.pct_depth = 4;
    w.pct_length = l->lanes == 1 ? 600 : 4000;
    w.seed = seed * 1000;
    w.race = !l->quiet && !l->crash && !(muted_checks >> MUSEUM_RACES & 1);
    w.persist = l->crash && !(muted_checks >> MUSEUM_CRASH & 1);
    w.weak = l->weak && !(muted_checks >> MUSEUM_WEAK & 1);
    w.step_limit = l->steps ? l->steps : l->lanes == 1 ? 100000 : 1000000;
    w.shared_bytes = 48 << 10;
    return w;
}

hd_status museum_explore(simt_machine *m, comparison *a, const simt_config *c, uint64_t schedules, uint64_t tries,
                         simt_exploration *e)
{
    simt_trial trial = comparison_trial(a);
    simt_recovery how;
    hd_status s = c->persist ? crash_recovery(a, &how) : HD_OK;
    if (s) return s;
    how.all = IMAGES;
    return simt_explore_crashes(m, &trial, c->persist ? &how : NULL, c, schedules, 0, tries, e);
}

/* The sentence of a crash names it. */
static void name_crash(const museum_search *search, museum_sight *sight, const simt_exploration *e)
{
    char crash[256], text[512];
    if (e->finding.fault != SIMT_CRASH) return;
    simt_crash_print(e->crash_at, e->lost, e->lost_n, crash, sizeof crash);
    snprintf(text, sizeof text, "crash %s: %.240s", crash, e->finding.story);
    museum_heard(search, sight, MUSEUM_CRASH, text);
}

/* The schedule is made short, and replayed: the same fault, and where it was made short the same story. */
static hd_status shorten(simt_machine *m, const museum_search *search, const look *l, const fixture *f, comparison *a,
                         simt_config w, const simt_exploration *found, museum_sight *sight)
{
    simt_exploration e, again;
    w.seed = found->seed;
    hd_status s = museum_explore(m, a, &w, 1, SHORTER, &e);
    if (s) return s;
    name_crash(search, sight, &e);
    sight->decisions = e.schedule_n;
    sight->decisions_before = e.schedule_before;
    simt_config c = w;
    c.strategy = SIMT_REPLAY;
    c.replayed = w.strategy;
    c.schedule = e.schedule;
    c.schedule_n = e.schedule_n;
    c.crash_at = e.crash_at;
    c.lost = e.lost;
    c.lost_n = e.lost_n;
    for (int twice = 0; twice < 2 && !s; twice++) {
        s = museum_explore(m, a, &c, 1, 0, &again);
        if (s) break;
        if (!again.wrong || again.finding.fault != e.finding.fault ||
            (e.schedule_n && strcmp(again.finding.story, e.finding.story) != 0))
            s = hd_fail(HD_ECORRUPT, "the shortest schedule went otherwise when it was replayed: %s",
                        again.wrong ? again.finding.story : "nothing was found");
        simt_exploration_free(m, &again);
    }
    const char *why = NULL;
    if (!s && search->story) why = museum_tell(search, sight, f, m, a, &c, !l->unlawful);
    if (why) s = hd_fail(HD_EIO, "%s", why);
    simt_exploration_free(m, &e);
    return s;
}

/* Runs the schedules of a fixture until a judge that counts objects. */
static hd_status look_at(simt_machine *m, const museum_search *s, const look *l, uint64_t seed, const fixture *f,
                         comparison *a, museum_sight *sight)
{
    simt_config w = way(l, seed, s->muted_checks);
    hd_status status = HD_OK;
    comparison_watch_with(a, &w, l->crash || s->muted_checks >> MUSEUM_WATCH & 1 ? 0 : w.weak ? 3 : 1);
    for (uint64_t left = l->crash && s->schedules > CRASHED ? CRASHED : s->schedules;
         left && !status && !sight->found;) {
        simt_exploration e;
        status = museum_explore(m, a, &w, left, 0, &e);
        if (status) break;
        left -= e.schedules;
        sight->tries += e.schedules;
        sight->hash = sight->hash * 31 + e.hash;
        sight->seconds += (double)e.time_ns * 1e-9;
        if (e.wrong && museum_heard(s, sight, judge_of(e.finding.fault, a), e.finding.story)) {
            sight->seed = e.seed;
            hd_case_print(&f->c[0], sight->at, sizeof sight->at);
            status = shorten(m, s, l, f, a, w, &e, sight);
        }
        w.seed = e.seed + 1; /* it was not heard: on */
        simt_exploration_free(m, &e);
        if (!e.wrong) break;
    }
    return status;
}

/* Fixture after fixture, until a judge objects. */
static hd_status look_through(simt_machine *m, const museum_search *s, const look *l, museum_sight *sight)
{
    hd_status status = HD_OK;
    for (uint64_t seed = 1; seed <= s->fixtures && !status && !sight->found; seed++) {
        fixture *f;
        comparison *a = NULL;
        status = open_fixture(l, seed, s->muted_checks & ((1u << MUSEUM_WATCH) - 1), &f, &a);
        if (!status) status = look_at(m, s, l, seed, f, a, sight);
        comparison_close(a);
    }
    return status;
}

/* For a story the smallest batch that shows the bug: 2, 4, ... items, at last as many as the look says. */
static hd_status look_small(simt_machine *m, const museum_search *s, const look *l, museum_sight *sight)
{
    hd_status status = HD_OK;
    for (uint64_t batch = 2; batch < l->c[0].batch && !status && !sight->found; batch *= 2) {
        look small = *l;
        for (uint32_t k = 0; k < l->parts; k++) small.c[k].batch = batch;
        status = look_through(m, s, &small, sight);
    }
    return status;
}

static const char *look_for(const museum_search *s, museum_sight *sight, bool crash)
{
    look l;
    simt_machine *m;
    hd_status status = parse(&l, s->what, crash);
    if (!status) status = simt_machine_open(NULL, &m);
    if (status) return hd_why();
    if (l.unlawful && !museum_now) l.parts = 1;
    if (s->story) status = look_small(m, s, &l, sight);
    if (!status && !sight->found) status = look_through(m, s, &l, sight);
    simt_machine_close(m);
    return status ? hd_why() : NULL;
}

const char *museum_look_sched(const museum_search *s, museum_sight *sight) { return look_for(s, sight, false); }
const char *museum_look_crash(const museum_search *s, museum_sight *sight) { return look_for(s, sight, true); }
