/* SPDX-License-Identifier: Apache-2.0
 *
 * crash.h - judges what a design makes of its memory after a crash (judge_design.recover). The crash leaves an image of
 * the persistent regions (simt/crash.h); the other regions are as an empty table has them. Then all of this must hold:
 *
 *   Recovery succeeds, and the invariants hold. No key is in two places.
 *   Each key is as it was after a prefix of the items on it, in the order of their tickets; an item that has drawn no
 *   ticket yet may have happened after them. When the launches had ended it is as after all items.
 *   Another crash at the end of the recovery, and another recovery, change no byte of the persistent regions; nor does
 *   a crash in it: of the words that it changes one alone is still old, or one alone is new already.
 */
#ifndef HD_JUDGE_CRASH_H
#define HD_JUDGE_CRASH_H

#include "judge/comparison.h"

/* For simt_explore_crashes with comparison_trial. HD_EINVAL: the design recovers nothing. */
hd_status crash_recovery(const comparison *a, simt_recovery *r);
/* NULL, or what is wrong: for one image, with the machine whose run the crash ended. Valid until the next call. */
const char *crash_judge(void *a, simt_machine *m, bool ended);

#endif
