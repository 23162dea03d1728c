/* SPDX-License-Identifier: Apache-2.0
 *
 * group3.c - the paper's triple group (sections 3.5 and 4.4): readers run together, updaters run together, inserters
 * alone; in two layers, the first on this machine, the second a word in the device's memory, which a step before the
 * batch waits for and a step after it gives back (word.h). The order in which streams get to the word is not the order
 * of the calls.
 *
 * Differs: the paper's counters let those in who happen to look at the right moment, and its calls end when their
 * batches have. Here who comes first is in first, so that no inserter starves, and the host waits for nothing.
 */
#include "concurrency/gate.h"

const hd_lock_row hd_lock_group3 = {
    "group3",
    "the paper's three groups: readers together, updaters together, inserters alone; by a word in device memory",
    HD_READERS | HD_UPDATERS,
    HD_APART_BY_WORD,
    hd_gate_open,
    hd_gate_close,
    hd_gate_enter,
    hd_gate_leave
};
