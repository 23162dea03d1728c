/* SPDX-License-Identifier: Apache-2.0
 *
 * explore.c - many runs, and then the shortest schedule with the same fault.
 */
#include "simt/explore.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

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

static hd_status run_once(simt_machine *m, const simt_trial *trial, const simt_config *c, run_result *r)
{
    simt_machine_forget(m);
    hd_status status = trial->prepare(trial->context, m);
    if (status) return status;
    r->wrong = !simt_machine_run(m, c);
    r->finding = *simt_machine_finding(m);
    if (r->finding.fault == SIMT_RESOURCE) return hd_fail(HD_ENOMEM, "%s", r->finding.story);
    const char *why = !r->wrong && trial->judge ? trial->judge(trial->context, m) : NULL;
    if (why) {
        r->wrong = true;
        snprintf(r->finding.story, sizeof r->finding.story, "%s", why);
    }
    return HD_OK;
}

static bool ended(const simt_trial *trial) { return trial->ended && trial->ended(); }

/* ---- Making it short ------------------------------------------------------------------------- */

static hd_status keep_schedule(simt_machine *m, const hd_seams *s, simt_exploration *e)
{
    size_t n;
    const simt_decision *now = simt_machine_schedule(m, &n);
    void *p = NULL;
    hd_status status = hd_take(s, "explore: schedule", n, sizeof *now, &p);
    if (status) return status;
    if (n) memcpy(p, now, n * sizeof *now);
    e->schedule = (simt_decision *)p;
    e->schedule_n = e->schedule_before = n;
    return HD_OK;
}

/* Removes smaller and smaller pieces of the schedule while the fault stays the same (ddmin of Zeller and
 * Hildebrandt, without its complements). Decisions after a piece keep their numbers, so that the rest keeps its
 * meaning. */
static hd_status make_short(simt_machine *m, const hd_seams *s, const simt_trial *trial, const simt_config *c,
                            uint64_t tries, simt_exploration *e)
{
    simt_config replay = *c;
    replay.strategy = SIMT_REPLAY;
    replay.replayed = c->strategy;
    replay.seed = e->seed;
    size_t places = e->schedule_n;
    void *p;
    hd_status status = hd_take(s, "explore: schedule", places, sizeof *e->schedule, &p);
    simt_decision *shorter = (simt_decision *)p;
    for (size_t piece = e->schedule_n; piece && !status; piece /= 2)
        for (size_t at = 0; at < e->schedule_n && e->tries < tries && !status && !ended(trial);) {
            HD_ASSERT(e->schedule_n <= places && at < e->schedule_n);
            size_t left_out = e->schedule_n - at < piece ? e->schedule_n - at : piece;
            memcpy(shorter, e->schedule, at * sizeof *shorter);
            memcpy(shorter + at, e->schedule + at + left_out, (e->schedule_n - at - left_out) * sizeof *shorter);
            replay.schedule = shorter;
            replay.schedule_n = e->schedule_n - left_out;
            run_result r;
            e->tries++;
            status = run_once(m, trial, &replay, &r);
            if (!status && r.wrong && r.finding.fault == e->finding.fault) {
                memcpy(e->schedule, shorter, replay.schedule_n * sizeof *shorter);
                e->schedule_n = replay.schedule_n;
                e->finding = r.finding;
            } else {
                at += left_out;
            }
        }
    hd_give(s, shorter, places, sizeof *shorter);
    return status;
}

/* ---- Exploring ------------------------------------------------------------------------------- */

static hd_status explore(simt_machine *m, const hd_seams *s, hash_set *seen, const simt_trial *trial,
                         const simt_config *config, uint64_t schedules, uint64_t time_ns, simt_exploration *e)
{
    simt_config c = *config;
    uint64_t start = s->time.now_ns(s->time.self);
    bool search = c.strategy == SIMT_SEARCH;
    if (search) simt_machine_restart(m);
    while (e->schedules < schedules) {
        run_result r;
        hd_status status = run_once(m, trial, &c, &r);
        uint64_t hash = simt_machine_totals(m).hash;
        e->schedules++;
        e->hash = (e->hash ^ hash) * 0x100000001b3ull;
        if (!status) status = set_add(s, seen, hash);
        if (status) return status;
        e->time_ns = s->time.now_ns(s->time.self) - start;
        if (r.wrong) {
            e->wrong = true;
            e->seed = c.seed;
            e->finding = r.finding;
            return keep_schedule(m, s, e);
        }
        if (search && !simt_machine_next(m)) {
            e->exhausted = true;
            break;
        }
        if (!search) c.seed++;
        if ((time_ns && e->time_ns >= time_ns) || ended(trial)) break;
    }
    return HD_OK;
}

hd_status simt_explore(simt_machine *m, const simt_trial *trial, const simt_config *c, uint64_t schedules,
                       uint64_t time_ns, uint64_t tries, simt_exploration *e)
{
    const hd_seams *s = simt_machine_seams(m);
    hash_set seen = { NULL, 0, 0 };
    memset(e, 0, sizeof *e);
    hd_status status = explore(m, s, &seen, trial, c, schedules, time_ns, e);
    e->distinct = seen.n;
    hd_give(s, seen.place, seen.places, 8);
    if (!status && e->wrong && e->schedule_n) status = make_short(m, s, trial, c, tries, e);
    return status;
}

void simt_exploration_free(simt_machine *m, simt_exploration *e)
{
    hd_give(simt_machine_seams(m), e->schedule, e->schedule_before, sizeof *e->schedule);
    e->schedule = NULL;
}
