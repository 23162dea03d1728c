/* SPDX-License-Identifier: Apache-2.0
 *
 * counter.h - a tally that counts while the caller reads the next keys: in a thread of its own, or on a device.
 *
 * How many keys a batch has depends on the keys before it alone. So the reports of two runs are the same.
 */
#ifndef HD_COUNTER_H
#define HD_COUNTER_H

#include "tools/tally.h"

typedef struct counter counter;

/* t: open, and the caller's; no other call may use it until counter_close. If no thread can be started, counter_give
 * counts itself. */
hd_status counter_open(tally *t, counter **c);

/* Counts n keys, at most `most` of the tally; they are the caller's again. share: of all keys, with these; other than 0
 * to 1: not known. A failure may be one of earlier keys. */
hd_status counter_give(counter *c, const uint64_t *key, size_t n, double share);

/* Keys counted so far; on a device, keys that were given to it. */
uint64_t counter_counted(const counter *c);

/* Waits until all keys are counted, or, if it is stopped, not for all; and frees c. The status of the first keys that
 * failed, and its hd_why(). */
hd_status counter_close(counter *c, bool stopped);

#endif
