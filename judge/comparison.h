/* SPDX-License-Identifier: Apache-2.0
 *
 * comparison.h - do the results of kernels on a fixture agree with the reference? They need not be the same: a run is
 * judged in the order in which its items took effect, which is that of their tickets. Each item is put to the
 * reference, on a table that began as the kernels' did. What that leaves must be what the kernels left:
 *
 *   every item drew one ticket, with the outcome that was delivered; values, scores, pointers, lists and counts
 *   delivered are what the reference had at that moment; each entry lies where its item's ticket says, slot by slot;
 *   all that tables hold is equal; every invariant holds; no lock is held; what the batch may not touch is untouched.
 *
 * Between steps (comparison_watch), whatever the lanes do, those invariants of the design hold that hold in flight:
 * a key that shows is in one slot of the table, in a bucket where it may be.
 */
#ifndef HD_JUDGE_COMPARISON_H
#define HD_JUDGE_COMPARISON_H

#include "judge/fixture.h"
#include "simt/explore.h"

typedef struct comparison comparison;

/* The judge of one fixture; it keeps s, and closes it at its end. */
hd_status comparison_open(fixture *s, comparison **a);
void comparison_close(comparison *a); /* NULL is fine */

/* The fixture as something to explore. a is the context of all three. */
simt_trial comparison_trial(comparison *a);
/* NULL, or what is wrong: after a run that found nothing, and (simt_config.watch) in one. Valid until the next run. */
const char *comparison_judge(void *a, simt_machine *m);
const char *comparison_watch(void *a);
/* Prepares, runs as c says, judges. *why: NULL, or what is wrong. */
hd_status comparison_run(comparison *a, simt_machine *m, const simt_config *c, const char **why);
/* What the judge of a run goes through. Whoever wants to know what one of these is worth can make the judge deaf to its
 * objections: they are then passed over, with those that cannot be told without it. */
enum {
    /* outputs within their bounds, and where nothing was delivered as they were                  */
    COMPARISON_ARRAYS = 1 << 0,
    /* each item as the reference allows at its turn, in its slot                                 */
    COMPARISON_TICKETS = 1 << 1,
    /* at the end all values, scores and pins; where there are no tickets, as the reference's own */
    COMPARISON_CONTENTS = 1 << 2,
    COMPARISON_LISTS = 1 << 3,
    /* as many came and went as is said                                                           */
    COMPARISON_COUNTS = 1 << 4,
    COMPARISON_REST =
        1 << 5 /* locks, guards, invariants                                                                  */
};
void comparison_deafen(comparison *a, uint32_t parts);
/* Of the last objection that was heard. */
uint32_t comparison_objector(const comparison *a);

/* Watches every n-th step of the runs that c configures; 0: none. */
void comparison_watch_with(comparison *a, simt_config *c, uint32_t n);

/* The buckets that differ between the kernels' table and the reference's after a judged run, side by side; text as
 * snprintf. */
size_t comparison_draw(const comparison *a, char *text, size_t bytes);

#endif
