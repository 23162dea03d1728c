/* SPDX-License-Identifier: Apache-2.0
 *
 * growth.h - a dictionary that grows and shrinks on the host machine, by one schedule after another. Growth is no
 * batch: nothing has an outcome or a ticket, and all that is to be seen of it is that nothing is. So its judge is
 * short: what was in the table is in it, with its value and once, every invariant holds, and the machine found no
 * fault.
 */
#ifndef HD_JUDGE_GROWTH_H
#define HD_JUDGE_GROWTH_H

#include "workload/case.h"
#include "simt/machine.h"

/* Who objects. */
enum { JUDGE_GROWTH_MACHINE = 1 << 0, JUDGE_GROWTH_CONTENTS = 1 << 1, JUDGE_GROWTH_INVARIANTS = 1 << 2 };

typedef struct judge_growth {
    uint64_t grown, shrunk, short_of; /* how often; to more buckets than was asked, for who is in them */
    uint64_t stashed, entries;        /* all that were there, of all times, in the stash and elsewhere */
    uint32_t by;
    char wrong[512]; /* "": nothing */
} judge_growth;

/* A table of c's shape, on backend host, is filled until it turns keys away, and resized `times` times, each time
 * another way and by the schedule that `way` says with the next seed; between them keys come and go. `deaf`: who is not
 * heard. */
hd_status judge_growth_run(const hd_case *c, const simt_config *way, uint64_t times, uint32_t deaf, judge_growth *g);

#endif
