/* SPDX-License-Identifier: Apache-2.0
 *
 * story_run.h - the story of a run of kernels on a fixture: the buckets that the run touched and the batch's items as
 * panels, device memory as sectors, and a step for what the lanes of a warp did together. It knows no design: panels,
 * rows and columns follow from the names of the memory (cells.h).
 */
#ifndef HD_JUDGE_STORY_RUN_H
#define HD_JUDGE_STORY_RUN_H

#include "judge/event.h"
#include "judge/fixture.h"
#include "judge/story.h"
#include "simt/crash.h"

typedef struct run_told {
    const fixture *s;
    const simt_machine *m;   /* its last run was one of s, with config.trace */
    bool all;                /* collectives and fences, too */
    bool apart;              /* a step for every lane */
    uint64_t most;           /* the last so many steps; 0: all */
    const char *said;        /* what a check said, or NULL: steps that change the slots that it names matter,
                            * or else those that change any slot */
    const simt_crash *crash; /* at an image of a crash that ended the run, or NULL */
} run_told;

/* Adds panels, memory and steps to `st`. false: memory was refused. */
bool story_of_run(story *st, const run_told *r);

#endif
