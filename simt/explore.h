/* SPDX-License-Identifier: Apache-2.0
 *
 * explore.h - runs a trial under many schedules; the first fault is reported with a schedule as short as possible.
 */
#ifndef HD_EXPLORE_H
#define HD_EXPLORE_H

#include "simt/machine.h"

/* A trial: how it is prepared, and what must hold at its end. */
typedef struct simt_trial {
    void *context;
    /* Before every run: memory as it was, regions, launches. */
    hd_status (*prepare)(void *context, simt_machine *m);
    /* After every run that found nothing: NULL, or a sentence (static, or the context's). */
    const char *(*judge)(void *context, simt_machine *m);
    /* After every run: whether that was the last. NULL: never. */
    bool (*ended)(void);
} simt_trial;

typedef struct simt_exploration {
    uint64_t schedules, distinct; /* runs, and different interleavings among them */
    uint64_t hash;                /* of every run's interleaving, in order        */
    bool exhausted;               /* SIMT_SEARCH: all of them                     */
    bool wrong;
    uint64_t seed;                      /* of the wrong run                             */
    simt_finding finding;               /* fault SIMT_NO_FAULT: the trial's judge objected */
    simt_decision *schedule;            /* (schedule_n): the shortest that was found, on the machine's seams; */
    size_t schedule_n, schedule_before; /* and how many decisions it had at first   */
    uint64_t tries;                     /* runs spent on making it short                */
    /* simt_explore_crashes: crashes and images, also of them the wrong one (config.crash_at, lost; fault SIMT_CRASH) */
    uint64_t points, images, crash_at;
    simt_decision *lost; /* (lost_n), on the machine's seams */
    size_t lost_n, lost_before;
    struct simt_crash *crash; /* SIMT_REPLAY: at the image that was judged; else NULL */
    uint64_t time_ns;         /* until it went wrong, or the end              */
} simt_exploration;

/* Runs the trial with seeds c->seed, c->seed + 1, ... (SIMT_SEARCH: all schedules), at most `schedules` times and
 * for about `time_ns` (0: no limit), until there is a fault. Its schedule is then shortened in at most `tries` more
 * runs. Fails only when the trial cannot be prepared, or memory runs out. */
hd_status simt_explore(simt_machine *m, const simt_trial *trial, const simt_config *c, uint64_t schedules,
                       uint64_t time_ns, uint64_t tries, simt_exploration *e);
void simt_exploration_free(simt_machine *m, simt_exploration *e);

/* What becomes of a crash. */
typedef struct simt_recovery {
    /* Memory is one that a crash has left: what was persistent is an image (crash.h), and the rest is anything.
     * Recovers, and says what is wrong: a sentence, or NULL. ended: the launches had come to their end. It may run
     * kernels on m, but must not search. */
    const char *(*recover)(void *context, simt_machine *m, const struct simt_crash *crash, bool ended);
    uint64_t all;   /* up to so many images of a crash: all of them; 0: SIMT_CRASH_ALL */
    uint64_t every; /* only every so many-th crash of a run, and that at its end; 0: all */
    bool lazy;      /* recover looks at words before it uses them, or runs kernels: crash.h */
} simt_recovery;

/* simt_explore, which also lets each run that found nothing crash: at its end, and before each event that makes stores
 * durable. These crashes have all images that any crash has. SIMT_REPLAY: only the crash that the configuration names.
 */
hd_status simt_explore_crashes(simt_machine *m, const simt_trial *trial, const simt_recovery *how, const simt_config *c,
                               uint64_t schedules, uint64_t time_ns, uint64_t tries, simt_exploration *e);

/* The story of the last run (made with config.trace) as a table: one line a step, one column a thread, at most `rows`
 * lines, the last ones. Text, ends in NUL; returns the bytes it would need. */
size_t simt_story_print(const simt_machine *m, size_t rows, char *text, size_t bytes);

#endif
