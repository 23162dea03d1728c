/* SPDX-License-Identifier: Apache-2.0
 *
 * schedule.h - decisions, and the lanes that stop for one.
 */
#ifndef HD_SIMT_SCHEDULE_H
#define HD_SIMT_SCHEDULE_H

#include "simt/state.h"

simt_strategy schedule_strategy(const simt_machine *m); /* of the run that made the schedule, in a replay */
void schedule_begin(simt_machine *m);
uint32_t schedule_choose(simt_machine *m, uint32_t n); /* 0 <= answer < n; 0 is the default */
void schedule_run(simt_machine *m);
void schedule_backoff(simt_machine *m, lane *l);
/* these lanes of w are ready from now on, and no others */
void schedule_ready(simt_machine *m, warp *w, uint32_t lanes);

void lane_stop(lane *l, const char *site, uint32_t kind); /* to the hub; returns when it is scheduled again */
_Noreturn void lane_hang(lane *l);                        /* after a finding: never scheduled again */

#endif
