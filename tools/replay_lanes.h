/* SPDX-License-Identifier: Apache-2.0
 *
 * replay_lanes.h - the rows of exact caches that run in lanes (tools/lanes/) of a backend: all at once, over requests
 * that are read once.
 */
#ifndef HD_REPLAY_LANES_H
#define HD_REPLAY_LANES_H

#include "tools/lanes/lanes.h"
#include "tools/output.h"
#include "tools/replay.h"

/* Zero: no row runs in a lane. */
typedef struct replay_lanes {
    const hd_device_seam *device;
    uint32_t width; /* in: as lanes_run has it */
    size_t caches;
    lanes_facts facts;
    double read_s, run_s;
    uint64_t steps; /* requests of all caches */
} replay_lanes;

/* Finds the device of the plan's backend, if an exact cache is among the policies, and says so in the plan. Usage
 * errors: what lanes do not have. TOOL_OK, or what was said. */
int replay_lanes_open(replay_lanes *l, replay_plan *p, const replay_list *policies);
/* Runs those rows. */
int replay_lanes_run(replay_lanes *l, const replay_plan *p, replay_row *row, size_t rows);
void replay_lanes_facts(out *o, const replay_lanes *l);

#endif
