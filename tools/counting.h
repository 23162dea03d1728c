/* SPDX-License-Identifier: Apache-2.0
 *
 * counting.h - a tally that counts in a thread of its own, while the caller reads the next keys. There are two batches:
 * one is counted, the other is filled. The size of a batch is decided when the batch before the last has been counted,
 * so it depends on the keys alone, and the reports of two runs are the same.
 */
#ifndef HD_COUNTING_H
#define HD_COUNTING_H

#include "tools/tally.h"

typedef struct counting counting;

/* t: open, and the caller's; no other call may use it until counting_close. If no thread can be started, counting_give
 * counts itself. */
hd_status counting_open(tally *t, counting **c);

/* The next batch to fill: *most keys. Waits until it has been counted. NULL: a batch has failed. */
uint64_t *counting_room(counting *c, size_t *most);

/* The batch of counting_room has n keys now. share: of all keys, with these; other than 0 to 1: not known. */
void counting_give(counting *c, size_t n, double share);

/* Keys counted so far. */
uint64_t counting_counted(const counting *c);

/* Waits until all batches are counted, and frees c. The status of the first batch that failed, and its hd_why(). */
hd_status counting_close(counting *c);

#endif
