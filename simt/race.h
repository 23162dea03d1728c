/* SPDX-License-Identifier: Apache-2.0
 *
 * race.h - the vector clocks of the race detector, for the model of weak memory. self: the state of simt_race.
 */
#ifndef HD_SIMT_RACE_H
#define HD_SIMT_RACE_H

#include "simt/observer.h"

typedef struct lane_time {
    uint32_t time, clock;
} lane_time;

/* The lane's own component, as it is now. */
lane_time race_time(const void *self, const lane *l);
/* Whether what happened then happens before what the lane does next. */
bool race_knows(const void *self, const lane *l, lane_time then);

#endif
