/* SPDX-License-Identifier: Apache-2.0
 *
 * story_run.h - the story of a run of kernels on a fixture: the buckets that the run touched and the batch's items as
 * panels, device memory as sectors, and a step for what the lanes of a warp did together. It knows no design: panels,
 * rows and columns follow from the names of the memory (cells.h).
 */
#ifndef HD_JUDGE_STORY_RUN_H
#define HD_JUDGE_STORY_RUN_H

#include "judge/fixture.h"
#include "judge/story.h"

/* What an event is, in words for people: "reads", "claims", "fails to claim", "takes effect". */
const char *event_meaning(const simt_event *e);
/* Whether it touches memory or takes effect. The others are collectives and fences. */
bool event_matters(const simt_event *e);
/* Events [i, end) are one step: one site, one warp, one lane after another. apart: every event is a step. */
size_t event_group_end(const simt_event *e, size_t n, size_t i, bool apart);

/* The lanes of a step, a bit for each, and whether its n events have the same place and the same values. */
typedef struct event_common {
    uint32_t lanes;
    bool place, before, after;
} event_common;

/* "0", "0-31" or "0 3 7". */
void event_lanes(uint32_t lanes, char *text, size_t bytes);
event_common event_common_of(const simt_event *e, size_t n);

typedef struct run_told {
    const fixture *s;
    const simt_machine *m; /* its last run was one of s, with config.trace */
    bool all;              /* collectives and fences, too */
    bool apart;            /* a step for every lane */
    uint64_t most;         /* the last so many steps; 0: all */
    const char *said;      /* what a check said, or NULL: steps that change the slots that it names matter,
                            * or else those that change any slot */
} run_told;

/* Adds panels, memory and steps to `st`. false: memory was refused. */
bool story_of_run(story *st, const run_told *r);

/* "gpu/hkv/hold.h:37" of a site's path in any build folder. */
const char *story_site(const char *site);

#endif
