/* SPDX-License-Identifier: Apache-2.0
 *
 * exclusive.c - one batch at a time, whatever it does, in the order of the calls.
 */
#include "concurrency/gate.h"

const hd_lock_row hd_lock_exclusive = { "exclusive",
                                        "one batch at a time, in the order of the calls",
                                        0,
                                        HD_APART_BY_EVENTS,
                                        hd_gate_open,
                                        hd_gate_close,
                                        hd_gate_enter,
                                        hd_gate_leave };
