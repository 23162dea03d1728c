/* SPDX-License-Identifier: Apache-2.0
 *
 * explore.c - many runs, and then the shortest schedule with the same fault.
 */
#include "simt/explore.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "simt/crash.h"
#include "simt/finding.h"
#include "simt/list.h"

/* ---- Interleavings seen, as a set of hashes -------------------------------------------------- */

typedef struct hash_set {
    uint64_t *place; /* (places), a power of two; 0: free */
    uint64_t places, n;
} hash_set;

static hd_status set_grow(const hd_seams *s, hash_set *set);

static hd_status set_add(const hd_seams *s, hash_set *set, uint64_t hash)
{
    hash += hash == 0;
    hd_status status = set->n * 2 >= set->places ? set_grow(s, set) : HD_OK;
    if (status) return status;
    uint64_t i = hash & (set->places - 1);
    HD_ASSERT(set->n < set->places, "a search in a full set has no end");
    while (set->place[i] && set->place[i] != hash) i = (i + 1) & (set->places - 1);
    set->n += set->place[i] == 0;
    set->place[i] = hash;
    return HD_OK;
}

static hd_status set_grow(const hd_seams *s, hash_set *set)
{
    hash_set larger = { NULL, set->places ? set->places * 2 : 1024, 0 };
    void *p;
    hd_status status = hd_take(s, "explore: interleavings", larger.places, 8, &p);
    if (status) return status;
    larger.place = (uint64_t *)memset(p, 0, larger.places * 8);
    for (uint64_t i = 0; i < set->places; i++)
        if (set->place[i]) set_add(s, &larger, set->place[i]);
    hd_give(s, set->place, set->places, 8);
    *set = larger;
    return HD_OK;
}

/* ---- One run --------------------------------------------------------------------------------- */

typedef struct run_result {
    bool wrong;
    simt_finding finding;
} run_result;

/* What is explored. */
typedef struct exploring {
    simt_machine *m;
    const hd_seams *s;
    const simt_trial *trial;
    const simt_recovery *how; /* NULL: without crashes */
    simt_exploration *e;
    vec *moments;  /* of the last run */
    uint64_t come; /* so many could have been noted */
} exploring;

static bool ended(const simt_trial *trial) { return trial->ended && trial->ended(); }

/* A run that a crash ends is not judged: its images are. */
static hd_status run_once(const exploring *x, const simt_config *c, run_result *r)
{
    const simt_trial *trial = x->trial;
    simt_machine_forget(x->m);
    hd_status status = trial->prepare(trial->context, x->m);
    if (status) return status;
    r->wrong = !simt_machine_run(x->m, c);
    r->finding = *simt_machine_finding(x->m);
    if (r->finding.fault == SIMT_RESOURCE) return hd_fail(HD_ENOMEM, "%s", r->finding.story);
    if (x->how && r->finding.fault == SIMT_CRASH) return r->wrong = false, HD_OK;
    const char *why = !r->wrong && trial->judge ? trial->judge(trial->context, x->m) : NULL;
    if (why) {
        r->wrong = true;
        snprintf(r->finding.story, sizeof r->finding.story, "%s", why);
    }
    return HD_OK;
}

/* ---- Crashes --------------------------------------------------------------------------------- */

static hd_status keep_decisions(const hd_seams *s, const simt_decision *all, size_t n, simt_decision **kept)
{
    void *p = NULL;
    hd_status status = hd_take(s, "explore: schedule", n, sizeof *all, &p);
    if (status) return status;
    if (n) memcpy(p, all, n * sizeof *all);
    *kept = (simt_decision *)p;
    return HD_OK;
}

/* A crash before an event; 0: at the end of the run. */
typedef struct moment {
    simt_crash *crash;
    uint64_t event;
} moment;

static uint64_t images_of(const exploring *x) { return x->how->all ? x->how->all : SIMT_CRASH_ALL; }

static void note_moment(void *context, simt_machine *m, uint64_t event)
{
    exploring *x = (exploring *)context;
    moment now = { NULL, event };
    if (event && x->how->every && x->come++ % x->how->every) return;
    if (simt_crash_open(m, images_of(x), &now.crash))
        found(m, SIMT_RESOURCE, "%s", hd_why());
    else if (!vec_push(m, x->moments, &now))
        simt_crash_close(now.crash);
}

static void forget_moments(const exploring *x)
{
    const moment *all = (const moment *)x->moments->p;
    while (x->moments->n) simt_crash_close(all[--x->moments->n].crash);
}

/* The image that memory is now. A run that is made short is not counted again. */
static void judge_image(const exploring *x, const simt_crash *crash, bool over, run_result *r)
{
    const char *why = x->how->recover(x->trial->context, x->m, crash, over);
    x->e->images += !x->e->wrong;
    if (!why) return;
    r->wrong = true;
    r->finding.fault = SIMT_CRASH;
    snprintf(r->finding.story, sizeof r->finding.story, "%s", why);
    simt_crash_tell(crash, r->finding.story, sizeof r->finding.story);
}

/* The images that a crash before that event may leave (0: at the end), until one is wrong. */
static hd_status judge_images(const exploring *x, simt_crash *crash, uint64_t event, run_result *r)
{
    simt_exploration *e = x->e;
    e->points += !e->wrong;
    if (x->how->lazy) simt_crash_lazily(crash);
    while (!r->wrong && simt_crash_next(crash)) judge_image(x, crash, !event, r);
    if (!r->wrong) return HD_OK;
    const simt_decision *lost = simt_crash_lost(crash, &e->lost_n);
    e->lost_before = e->lost_n;
    e->crash_at = event;
    return keep_decisions(x->s, lost, e->lost_n, &e->lost);
}

/* After a run: the image that the configuration names. */
static hd_status judge_one(const exploring *x, const simt_config *c, run_result *r)
{
    simt_crash *crash;
    bool over = r->finding.fault != SIMT_CRASH;
    hd_status status = simt_crash_open(x->m, images_of(x), &crash);
    if (status) return status;
    x->e->points += !x->e->wrong;
    simt_crash_put(crash, c->lost, c->lost_n);
    judge_image(x, crash, over, r);
    if (x->e->wrong)
        simt_crash_close(crash);
    else
        x->e->crash = crash;
    return HD_OK;
}

static hd_status run_again(const exploring *x, const simt_config *c)
{
    run_result r;
    return run_once(x, c, &r);
}

/* The crashes of a run that has ended. It runs again for what is asked of it afterwards, up to the crash that is wrong.
 */
static hd_status judge_crashes(const exploring *x, const simt_config *config, run_result *r)
{
    simt_config c = *config;
    hd_status status = HD_OK;
    note_moment(config->durables, x->m, 0);
    if (x->m->finding.fault) return hd_fail(HD_ENOMEM, "%s", x->m->finding.story);
    const moment *all = (const moment *)x->moments->p;
    size_t n = x->moments->n;
    for (size_t i = 0; i < n && !status && !r->wrong; i++) /* the end comes first */
        status = judge_images(x, all[(i + n - 1) % n].crash, all[(i + n - 1) % n].event, r);
    c.crash_at = r->wrong ? x->e->crash_at : 0;
    c.durable = NULL;
    return status ? status : run_again(x, &c);
}

/* ---- Making it short ------------------------------------------------------------------------- */

static hd_status keep_schedule(const exploring *x)
{
    simt_exploration *e = x->e;
    size_t n;
    const simt_decision *now = simt_machine_schedule(x->m, &n);
    hd_status status = keep_decisions(x->s, now, n, &e->schedule);
    if (!status) e->schedule_n = e->schedule_before = n;
    return status;
}

static hd_status replay_once(const exploring *x, const simt_config *c, run_result *r)
{
    hd_status status = run_once(x, c, r);
    return status || r->wrong || !x->how ? status : judge_one(x, c, r);
}

/* The wrong run again. */
static simt_config replay_of(const exploring *x, const simt_config *c)
{
    const simt_exploration *e = x->e;
    simt_config r = *c;
    r.strategy = SIMT_REPLAY;
    r.replayed = c->strategy;
    r.seed = e->seed;
    r.crash_at = e->crash_at;
    r.schedule = e->schedule;
    r.schedule_n = e->schedule_n;
    r.lost = e->lost;
    r.lost_n = e->lost_n;
    return r;
}

/* Removes smaller and smaller pieces of a list, the schedule or what is lost, while the fault stays the same (ddmin of
 * Zeller and Hildebrandt, without its complements). Decisions after a piece keep their numbers, so that the rest keeps
 * its meaning. */
static hd_status make_short(const exploring *x, const simt_config *c, uint64_t tries, simt_decision *list, size_t *n)
{
    simt_exploration *e = x->e;
    size_t places = *n;
    void *p;
    hd_status status = hd_take(x->s, "explore: schedule", places, sizeof *list, &p);
    simt_decision *shorter = (simt_decision *)p;
    for (size_t piece = *n; piece && !status; piece /= 2)
        for (size_t at = 0; at < *n && e->tries < tries && !status && !ended(x->trial);) {
            HD_ASSERT(*n <= places && at < *n);
            size_t left_out = *n - at < piece ? *n - at : piece, left = *n - left_out;
            memcpy(shorter, list, at * sizeof *shorter);
            memcpy(shorter + at, list + at + left_out, (left - at) * sizeof *shorter);
            simt_config replay = replay_of(x, c);
            *(list == e->lost ? &replay.lost : &replay.schedule) = shorter;
            *(list == e->lost ? &replay.lost_n : &replay.schedule_n) = left;
            run_result r;
            e->tries++;
            status = replay_once(x, &replay, &r);
            if (!status && r.wrong && r.finding.fault == e->finding.fault) {
                memcpy(list, shorter, left * sizeof *shorter);
                *n = left;
                e->finding = r.finding;
            } else {
                at += left_out;
            }
        }
    hd_give(x->s, shorter, places, sizeof *shorter);
    return status;
}

/* Lets each word lose as few stores as are needed. */
static hd_status lose_less(const exploring *x, const simt_config *c, uint64_t tries)
{
    simt_exploration *e = x->e;
    hd_status status = HD_OK;
    for (size_t i = 0; i < e->lost_n; i++) {
        uint32_t most = e->lost[i].choice;
        for (e->lost[i].choice = 1; e->lost[i].choice < most && e->tries < tries && !status; e->lost[i].choice++) {
            simt_config replay = replay_of(x, c);
            run_result r;
            e->tries++;
            status = replay_once(x, &replay, &r);
            if (status || !r.wrong || r.finding.fault != e->finding.fault) continue;
            e->finding = r.finding;
            most = e->lost[i].choice;
        }
        e->lost[i].choice = most;
    }
    return status;
}

/* ---- Exploring ------------------------------------------------------------------------------- */

static hd_status explore(const exploring *x, hash_set *seen, const simt_config *config, uint64_t schedules,
                         uint64_t time_ns)
{
    simt_exploration *e = x->e;
    simt_config c = *config;
    const hd_seams *s = x->s;
    uint64_t start = s->time.now_ns(s->time.self);
    bool search = c.strategy == SIMT_SEARCH, replay = c.strategy == SIMT_REPLAY;
    if (search) simt_machine_restart(x->m);
    while (e->schedules < schedules) {
        run_result r;
        hd_status status = replay ? replay_once(x, &c, &r) : run_once(x, &c, &r);
        uint64_t hash = simt_machine_totals(x->m).hash;
        e->schedules++;
        e->hash = (e->hash ^ hash) * 0x100000001b3ull;
        if (!status) status = set_add(s, seen, hash);
        if (!status && x->how && !replay && !r.wrong) status = judge_crashes(x, &c, &r);
        forget_moments(x);
        if (status) return status;
        e->time_ns = s->time.now_ns(s->time.self) - start;
        if (r.wrong) {
            e->wrong = true;
            e->seed = c.seed;
            e->finding = r.finding;
            return keep_schedule(x);
        }
        if (replay && x->how) break;
        if (search && !simt_machine_next(x->m)) {
            e->exhausted = true;
            break;
        }
        if (!search) c.seed++;
        if ((time_ns && e->time_ns >= time_ns) || ended(x->trial)) break;
    }
    return HD_OK;
}

hd_status simt_explore_crashes(simt_machine *m, const simt_trial *trial, const simt_recovery *how,
                               const simt_config *config, uint64_t schedules, uint64_t time_ns, uint64_t tries,
                               simt_exploration *e)
{
    vec moments = { .size = sizeof(moment) };
    exploring x = { m, simt_machine_seams(m), trial, how, e, &moments, 0 };
    simt_config c = *config;
    hash_set seen = { NULL, 0, 0 };
    memset(e, 0, sizeof *e);
    if (how) c.persist = true;
    if (how && c.strategy != SIMT_REPLAY) c.durable = note_moment, c.durables = &x;
    hd_status status = explore(&x, &seen, &c, schedules, time_ns);
    c.durable = NULL;
    vec_free(m, &moments);
    e->distinct = seen.n;
    hd_give(x.s, seen.place, seen.places, 8);
    if (!status && e->wrong && e->schedule_n) status = make_short(&x, &c, tries, e->schedule, &e->schedule_n);
    if (!status && e->wrong && e->lost_n) status = make_short(&x, &c, tries, e->lost, &e->lost_n);
    return status ? status : lose_less(&x, &c, tries);
}

hd_status simt_explore(simt_machine *m, const simt_trial *trial, const simt_config *c, uint64_t schedules,
                       uint64_t time_ns, uint64_t tries, simt_exploration *e)
{
    return simt_explore_crashes(m, trial, NULL, c, schedules, time_ns, tries, e);
}

void simt_exploration_free(simt_machine *m, simt_exploration *e)
{
    hd_give(simt_machine_seams(m), e->schedule, e->schedule_before, sizeof *e->schedule);
    hd_give(simt_machine_seams(m), e->lost, e->lost_before, sizeof *e->lost);
    simt_crash_close(e->crash);
    e->schedule = e->lost = NULL;
    e->crash = NULL;
}
