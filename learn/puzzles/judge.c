/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c - runs a kernel on every example of its puzzle under many schedules, until a check objects; then the failing
 * schedule is made short and run again with a trace. A kernel that no check objects to is metered.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "learn/puzzles/puzzle.h"
#include "simt/explore.h"
#include "simt/simt.h"

/* How an example is run, in this order: what fails in a simple way is told in a simple way. */
typedef struct look {
    simt_strategy strategy;
    simt_unit unit;
    bool weak;
    uint32_t schedules;
} look;

static const look looks[] = {
    { SIMT_ROUND_ROBIN, SIMT_BY_WARP, false, 1 }, { SIMT_SEARCH, SIMT_BY_WARP, false, 300 },
    { SIMT_SEARCH, SIMT_BY_LANE, false, 300 },    { SIMT_RANDOM, SIMT_BY_LANE, false, 600 },
    { SIMT_PCT, SIMT_BY_LANE, false, 300 },       { SIMT_RANDOM, SIMT_BY_LANE, true, 2000 },
};

enum { STEPS_MOST = 20000, TRIES = 400 };

/* ---- Ideas ----------------------------------------------------------------------------------- */

/* For checks on which a puzzle has no sentence of its own. */
static const puzzle_idea general[] = {
    { "mismatched collectives", "All lanes of a tile must come to the same collective, at the same line: a ballot, "
                                "vote or shuffle inside of a branch that some lanes do not take has no result." },
    { "lane left", "A lane must not return while other lanes of its tile wait for it at a collective." },
    { "outside the mask", "A lane can use a collective only of the tile that it is in, and read only lanes of it." },
    { "deadlock", "Lanes wait for each other, and none can go on: what one waits for must not need the other." },
    { "out of bounds", "A lane may access only what it was given: check an index before you use it." },
    { "wrong space", "Relaxed, ordered and atomic instructions are for device memory; shared memory has its own." },
    { "misaligned", "The address of an access must be a multiple of its size." },
    { "uninitialised", "Shared memory has no value before it is written." },
    { "copy in flight", "What an async copy brings is there after simt_copy_wait, and not before." },
    { "endless", "Every loop needs an end that comes in every schedule." },
    { "data race", "Two lanes access the same bytes, one of them writes, and nothing orders the two." },
    { "raw access", "Kernels access memory only through the dialect: simt_ld_u64(p) instead of *p. Otherwise the "
                    "simulator neither checks nor counts the access." },
    { "resource", "The kernel needs more shared memory or async copies than there are." },
    { "64 bits",
      "Half of a number was lost: keys, values and scores have 64 bits, and two that agree in 32 of them are "
      "not equal. A uint64_t keeps all of them, and so do the functions that end in _u64." },
    { "input changed", "The kernel writes to memory that it should only read." },
    { "cost", "The result is right, but the kernel moves more than it needs." },
    { NULL, NULL },
};

static const char *idea_in(const puzzle_idea *list, const char *by)
{
    while (list->by && strcmp(list->by, by) != 0) list++;
    return list->idea;
}

/* The sentence for a check: the puzzle's, or the general one. weak: in a run with weak memory. */
static const char *idea_of(const puzzle *p, const char *by, bool weak)
{
    char in_weak[64];
    snprintf(in_weak, sizeof in_weak, "%s, weak", by);
    const char *own = weak ? idea_in(p->idea, in_weak) : NULL;
    if (!own) own = idea_in(p->idea, by);
    const char *any = own ? own : idea_in(general, by);
    return any ? any : "The result is not what the task asks for.";
}

/* ---- A trial --------------------------------------------------------------------------------- */

typedef struct trial {
    const puzzle *p;
    puzzle_bed *bed;
    void (*kernel)(const void *);
} trial;

static hd_status prepare(void *context, simt_machine *m)
{
    trial *t = (trial *)context;
    puzzle_bed *b = t->bed;
    b->arrays = 0;
    b->used = 0;
    b->by = NULL;
    b->chance = hd_rng_from(b->example);
    b->runs++;
    t->p->deal(b);
    memcpy(b->before, b->memory, b->used);
    for (int i = 0; i < b->arrays; i++) {
        const puzzle_array *a = &b->array[i];
        hd_status s = simt_machine_region(m, a->p, (size_t)a->bytes * a->n, a->name);
        if (s) return s;
    }
    return simt_machine_launch(m, t->kernel, b->args, b->args_bytes, b->blocks, b->threads, 0);
}

/* The input that the kernel has changed. */
static const puzzle_array *changed_input(const puzzle_bed *b)
{
    for (int i = 0; i < b->arrays; i++) {
        const puzzle_array *a = &b->array[i];
        size_t at = (size_t)((unsigned char *)a->p - b->memory);
        if (a->input && memcmp(a->p, b->before + at, (size_t)a->bytes * a->n) != 0) return a;
    }
    return NULL;
}

static const char *right(void *context, simt_machine *m)
{
    trial *t = (trial *)context;
    (void)m;
    const puzzle_array *changed = changed_input(t->bed);
    t->bed->by = changed ? bed_wrong(t->bed, "input changed", "%s was changed", changed->name) : t->p->check(t->bed);
    return t->bed->by ? t->bed->detail : NULL;
}

/* ---- Judging --------------------------------------------------------------------------------- */

static simt_config config_of(const look *l)
{
    simt_config c = simt_config_default();
    c.strategy = l->strategy;
    c.unit = l->unit;
    c.weak = l->weak;
    c.bound = 2;
    c.local_first = true;
    c.pct_length = 200;
    c.step_limit = STEPS_MOST;
    return c;
}

/* The schedule that failed, once more with a trace. */
static bool tell(trial *t, simt_machine *m, simt_config c, const simt_exploration *e, puzzle_verdict *v)
{
    simt_exploration again;
    simt_trial trial = { t, prepare, right, NULL };
    size_t bytes = simt_schedule_print(e->schedule, e->schedule_n, NULL, 0) + 1;
    v->schedule = (char *)calloc(bytes, 1);
    if (!v->schedule) return false;
    simt_schedule_print(e->schedule, e->schedule_n, v->schedule, bytes);
    c.replayed = c.strategy;
    c.strategy = SIMT_REPLAY;
    c.seed = e->seed;
    c.schedule = e->schedule;
    c.schedule_n = e->schedule_n;
    c.trace = true;
    if (simt_explore(m, &trial, &c, 1, 0, 0, &again)) return false;
    v->by = again.finding.fault ? simt_fault_name(again.finding.fault) : t->bed->by ? t->bed->by : "wrong";
    v->idea = idea_of(t->p, v->by, c.weak);
    v->weak = c.weak;
    snprintf(v->detail, sizeof v->detail, "%s", again.finding.story);
    simt_exploration_free(m, &again);
    return true;
}

/* Runs the example in one way. */
static bool look_at(trial *t, simt_machine *m, const look *l, puzzle_verdict *v)
{
    simt_exploration e;
    simt_trial trial = { t, prepare, right, NULL };
    simt_config c = config_of(l);
    if (simt_explore(m, &trial, &c, l->schedules, 0, TRIES, &e)) return false;
    v->schedules += e.schedules;
    bool well = !e.wrong || tell(t, m, c, &e, v);
    simt_exploration_free(m, &e);
    return well;
}

/* Rejects without a failing run. */
static bool reject(const puzzle *p, const char *by, puzzle_verdict *v)
{
    v->by = by;
    v->idea = idea_of(p, by, false);
    v->schedule = strdup("");
    return v->schedule != NULL;
}

/* What the last example costs, its warps in turn. */
static bool measure(trial *t, simt_machine *m, puzzle_verdict *v)
{
    static const char *const unit[] = { "sectors", "atomics", "steps" };
    simt_exploration e;
    simt_trial trial = { t, prepare, right, NULL };
    simt_config c = config_of(&looks[0]);
    c.meter = c.trace = true;
    if (simt_explore(m, &trial, &c, 1, 0, 0, &e)) return false;
    simt_exploration_free(m, &e);
    simt_totals n = simt_machine_totals(m);
    v->cost[PUZZLE_SECTORS] = (double)n.sectors / t->bed->keys;
    v->cost[PUZZLE_ATOMICS] = (double)n.atomics / t->bed->keys;
    v->cost[PUZZLE_STEPS] = (double)n.steps / t->bed->keys;
    if (!t->p->most || v->cost[t->p->cost] <= t->p->most) return true;
    snprintf(v->detail, sizeof v->detail, "%.2f %s per key; par is %.2f, and at most %.2f are accepted",
             v->cost[t->p->cost], unit[t->p->cost], t->p->par, t->p->most);
    return reject(t->p, "cost", v);
}

bool puzzle_judge(const puzzle *p, void (*kernel)(const void *), simt_machine *m, puzzle_bed *bed, puzzle_verdict *v)
{
    trial t = { p, bed, kernel };
    memset(v, 0, sizeof *v);
    v->cost[0] = v->cost[1] = v->cost[2] = -1;
    for (bed->example = 0; bed->example < p->examples; bed->example++) {
        bed->reached = false;
        for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
            if (!look_at(&t, m, &looks[i], v)) return false;
            if (v->by) return true;
        }
    }
    bed->example = p->examples - 1;
    if (!measure(&t, m, v)) return false;
    if (v->by || !p->unreached || bed->reached) return true;
    snprintf(v->detail, sizeof v->detail, "so it was in all %llu schedules", (unsigned long long)v->schedules);
    return reject(p, p->unreached, v);
}
