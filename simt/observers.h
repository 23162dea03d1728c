/* SPDX-License-Identifier: Apache-2.0
 *
 * observers.h - the observers that there are, one file each.
 */
#ifndef HD_SIMT_OBSERVERS_H
#define HD_SIMT_OBSERVERS_H

#include "simt/observer.h"

extern const simt_observer simt_meter, simt_bounds, simt_race, simt_persist, simt_trace, simt_weak;

#endif
