/* SPDX-License-Identifier: Apache-2.0
 *
 * observers.c - a machine with all its observers.
 */
#include "simt/observers.h"

/* Bounds are checked before races, races and crashes before anything is recorded or held back. */
static const simt_observer *const observers[] = { &simt_meter,   &simt_bounds, &simt_race,
                                                  &simt_persist, &simt_trace,  &simt_weak };

hd_status simt_machine_open(const hd_seams *seams, simt_machine **m)
{
    return simt_machine_open_with(seams, observers, sizeof observers / sizeof *observers, m);
}
