/* SPDX-License-Identifier: Apache-2.0
 *
 * crash.h - judges what a design makes of its memory after a crash (judge_design.recover). The crash leaves an image of
 * the persistent regions (simt/crash.h); the other regions are as an empty table has them. Then all of this must hold:
 *
 *   Recovery succeeds, and the invariants hold. No key is in two places.
 *   Each key is as it was after a prefix of the items on it, in the order of their tickets; an item that has drawn no
 *   ticket yet may have happened after them. The prefix has all items of launches whose stores the host has made
 *   durable. When all launches had ended it is as after all items.
 *   Another crash at the end of the recovery, and another recovery, change no byte of the persistent regions; nor does
 *   a crash in it: of the words that it changes one alone is still old, or one alone is new already.
 *
 * A growth has two tables. Until its launches have ended the old one counts, without the arrays that growth brings;
 * then either may, since the host decides that in one store. Whichever counts has all entries. A batch that runs then
 * (fixture_kernel.then_runs) begins after the new one counts.
 */
#ifndef HD_JUDGE_CRASH_H
#define HD_JUDGE_CRASH_H

#include "judge/comparison.h"

/* For simt_explore_crashes with crash_trial. HD_EINVAL: the design recovers nothing. */
hd_status crash_recovery(const comparison *a, simt_recovery *r);
/* comparison_trial; of a growth (fixture_kernel.grows_to) one that looks for its entries. */
simt_trial crash_trial(comparison *a);
/* NULL, or what is wrong: for one image. Valid until the next call. */
const char *crash_judge(void *a, simt_machine *m, const struct simt_crash *crash, bool ended);

#endif
