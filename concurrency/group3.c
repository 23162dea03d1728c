/* SPDX-License-Identifier: Apache-2.0
 *
 * group3.c - the paper's triple group (sections 3.5 and 4.4): readers run together, updaters run together, an inserter
 * runs alone. The lock has two layers: the first on this machine; the second is a word in the device's memory, which a
 * step before the batch takes and a step after it releases (word.h). The order in which streams get to the word is not
 * the order of the calls.
 *
 * Differs: the paper's counters admit the batch that polls at the right moment, and its calls end when their batches
 * have ended. Here batches are admitted in the order in which they came, so no inserter starves, and the host waits for
 * nothing.
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
