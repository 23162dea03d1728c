/* SPDX-License-Identifier: Apache-2.0
 *
 * counter_device.h - a tally that counts on a device: keys are copied on one stream and counted on another, so that
 * the copy of a batch runs beside the kernels of the one before.
 */
#ifndef HD_COUNTER_DEVICE_H
#define HD_COUNTER_DEVICE_H

#include "tools/tally.h"

typedef struct counter_device counter_device;

/* t: of which tally_is_far. The caller's, until counter_device_close. */
hd_status counter_device_open(tally *t, counter_device **d);

/* Counts n keys, at most `most` of the tally; they are the caller's again. Keys in pinned memory are copied fastest. */
hd_status counter_device_give(counter_device *d, const uint64_t *key, size_t n);

/* Waits until all is counted. */
hd_status counter_device_end(counter_device *d);

/* NULL is fine. */
void counter_device_close(counter_device *d);

#endif
