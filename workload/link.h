/* SPDX-License-Identifier: Apache-2.0
 *
 * link.h - the next access of every request of a trace: known only from behind. Requests go in forward; then
 * they are walked backward with a map from each key to its last position, and come out forward again.
 *
 * The requests wait in runs of 16 MiB: one in memory, the others in an unlinked file. What grows in
 * memory is the map: 16 bytes per place, at most three quarters full, so 22 to 43 bytes per distinct key,
 * and half as much again while it doubles.
 */
#ifndef HD_LINK_H
#define HD_LINK_H

#include "workload/workload.h"

typedef struct hd_link hd_link;

/* The file of runs lies beside `path`, or in $TMPDIR (else /tmp) when that is "-" or a device. */
hd_status hd_link_open(const hd_seams *seams, const char *path, hd_link **l);
hd_status hd_link_put(hd_link *l, const hd_request *r, size_t n);
/* Hands all requests, in order and linked, to emit; stops at the first failure. Once. */
typedef hd_status hd_link_emit(void *context, const hd_request *r, size_t n);
hd_status hd_link_finish(hd_link *l, hd_link_emit *emit, void *context);
void hd_link_close(hd_link *l);

#endif
