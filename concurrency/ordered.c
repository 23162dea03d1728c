/* SPDX-License-Identifier: Apache-2.0
 *
 * ordered.c - the paper's three groups without its word: groups that conflict follow one another in the order of the
 * calls, on whichever streams, because a stream waits for marks in the others. No step spins, the host waits for
 * nothing, and what the order of the calls says holds, as with one stream. The usual lock.
 */
#include "concurrency/gate.h"

const hd_lock_row hd_lock_ordered = {
    "ordered",
    "the three groups, in the order of the calls; on a device by events of its streams",
    HD_READERS | HD_UPDATERS,
    HD_APART_BY_EVENTS,
    hd_gate_open,
    hd_gate_close,
    hd_gate_enter,
    hd_gate_leave
};
