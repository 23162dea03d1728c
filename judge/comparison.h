/* SPDX-License-Identifier: Apache-2.0
 *
 * comparison.h - compares the results of kernels on a fixture with the reference. Concurrent items may take effect in
 * any order, so the reference runs them in the order of their tickets, on a copy of the table. Then all of this must
 * hold:
 *
 *   Every item that changes something drew one ticket, with the outcome that it delivered. Values, scores, pointers,
 *   lists and counts are what the reference delivers at that moment. Each entry is at the place that its ticket says.
 *   The contents of both tables are equal. Every invariant holds, no lock is held, and no byte outside of the table
 *   and the outputs has changed.
 *
 * comparison_watch checks, between steps, the invariants that hold while lanes run: a visible key is in one slot only,
 * and in a bucket where it may be.
 */
#ifndef HD_JUDGE_COMPARISON_H
#define HD_JUDGE_COMPARISON_H

#include "judge/fixture.h"
#include "simt/explore.h"

typedef struct comparison comparison;

/* A comparison of one fixture. It owns s from now on, also when it fails. */
hd_status comparison_open(fixture *s, comparison **a);
void comparison_close(comparison *a); /* NULL is fine */

/* The fixture for simt_explore. a is the context of all three functions. */
simt_trial comparison_trial(comparison *a);
/* NULL, or what is wrong: after a run that found nothing, and (simt_config.watch) in one. Valid until the next run. */
const char *comparison_judge(void *a, simt_machine *m);
const char *comparison_watch(void *a);
/* Prepares, runs as c says, judges. *why: NULL, or what is wrong. */
hd_status comparison_run(comparison *a, simt_machine *m, const simt_config *c, const char **why);
/* The checks of a comparison. To measure what one of them is worth, comparison_mute ignores its objections, and
 * those that depend on it. */
enum {
    /* outputs stay within their bounds, and are untouched where nothing was delivered */
    COMPARISON_ARRAYS = 1 << 0,
    /* each item is what the reference allows at its ticket, at its place */
    COMPARISON_TICKETS = 1 << 1,
    /* values, scores and pins at the end; without tickets, the reference's result in item order */
    COMPARISON_CONTENTS = 1 << 2,
    COMPARISON_LISTS = 1 << 3,
    /* as many entries came and went as the outcomes say */
    COMPARISON_COUNTS = 1 << 4,
    COMPARISON_REST =
        1 << 5 /* locks, guards, invariants                                                                  */
};
void comparison_mute(comparison *a, uint32_t parts);
/* The check that made the last objection. */
uint32_t comparison_objector(const comparison *a);

/* Watches every n-th step of the runs that c configures; 0: none. */
void comparison_watch_with(comparison *a, simt_config *c, uint32_t n);

/* The buckets that differ between the kernels' table and the reference's after a judged run, side by side; text as
 * snprintf. */
size_t comparison_draw(const comparison *a, char *text, size_t bytes);

#endif
