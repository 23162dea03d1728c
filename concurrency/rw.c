/* SPDX-License-Identifier: Apache-2.0
 *
 * rw.c - the usual reader/writer lock, with which the paper compares its own (section 5.4, Exp 3e): to it an update of
 * a value is a write like any other.
 */
#include "concurrency/gate.h"

const hd_lock_row hd_lock_rw = { "rw",          "readers together, everything else alone",
                                 HD_READERS,    HD_APART_BY_EVENTS,
                                 hd_gate_open,  hd_gate_close,
                                 hd_gate_enter, hd_gate_leave };
