/* SPDX-License-Identifier: Apache-2.0
 *
 * growth.h - lets a table grow, and shrink if it can, on the simulator, with another schedule each time. Growth is no
 * batch: it has no outcomes and no tickets, and it must not change the contents. So the check is short: every entry is
 * still there once, with its value, every invariant holds, and the machine found no fault.
 */
#ifndef HD_JUDGE_GROWTH_H
#define HD_JUDGE_GROWTH_H

#include "workload/case.h"
#include "simt/machine.h"

/* The part of the judge that objects. */
enum { JUDGE_GROWTH_MACHINE = 1 << 0, JUDGE_GROWTH_CONTENTS = 1 << 1, JUDGE_GROWTH_INVARIANTS = 1 << 2 };

typedef struct judge_growth {
    uint64_t grown, shrunk, short_of; /* resizes; of them, to more buckets than requested, because the entries need
                                       * them */
    uint64_t moved;                   /* other limits of device memory */
    uint64_t stashed, entries;        /* entries over all resizes, in the stash and elsewhere */
    uint32_t by;
    char wrong[512]; /* "": nothing */
} judge_growth;

/* Fills a table of c's shape, on backend host, until it refuses or evicts keys, and resizes it `times` times: with
 * other bucket counts each time, and with the schedule of `way` and the next seed. After each time a table with a limit
 * of device memory gets another one, from that of the case on. Keys are erased and inserted between. A table that
 * cannot shrink is opened anew instead; every second one grows in place. `muted_checks`: checks that are ignored. */
hd_status judge_growth_run(const hd_case *c, const simt_config *way, uint64_t times, uint32_t muted_checks,
                           judge_growth *g);

#endif
