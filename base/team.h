/* SPDX-License-Identifier: Apache-2.0
 *
 * team.h - teams: several threads that run one function, in a process that may be busy.
 *
 * The threads that help are kept, and sleep between teams. A thread that waits for another one spins for some
 * microseconds and then sleeps, so that a busy machine loses no time to threads that wait. OpenMP's would spin for
 * milliseconds, unless the environment forbade it before their runtime was loaded. Helpers that do not come soon are
 * not waited for, so a team may be smaller than asked for, down to the caller alone; what a team computes must not
 * depend on its size.
 *
 * A child of fork has one thread, and no helpers.
 */
#ifndef HD_TEAM_H
#define HD_TEAM_H

#include <stdint.h>

#include "base/assert.h"

typedef struct hd_team hd_team;

/* What thread t of a team of `many` does; the caller is thread 0. */
typedef void hd_team_work(hd_team *m, uint32_t t, uint32_t many, void *context);

/* Runs `work` on at most `threads` threads, and returns when all of them have. `items` says how much it is: units that
 * take some 100 ns each. */
void hd_team_run(uint32_t threads, uint64_t items, hd_team_work *work, void *context);

/* A team with at least so many items waits for its helpers, whenever they come: 65,536. Tests say 0. */
extern uint64_t hd_team_patient;

/* Returns when every thread of the team has called it. */
void hd_team_meet(hd_team *m);

/* What is between the two is done by one thread after another, in their order. Every thread of the team takes its turn
 * equally often. */
void hd_team_turn_take(hd_team *m, uint32_t t);
void hd_team_turn_give(hd_team *m, uint32_t t);

/* The threads of a team by default: as many as OpenMP would take, which OMP_NUM_THREADS limits; 1 without it. */
uint32_t hd_team_usual(void);

/* A share of 0 .. n - 1 for thread t of many. */
static inline uint64_t hd_team_share(uint64_t n, uint64_t t, uint64_t many)
{
    HD_ASSERT(many > 0 && t <= many);
    return n / many * t + (n % many * t) / many;
}

#endif
