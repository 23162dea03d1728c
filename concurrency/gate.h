/* SPDX-License-Identifier: Apache-2.0
 *
 * gate.h - the first layer of a lock, on this machine. A batch enters when all batches that came before it have entered
 * and it may run together with those inside. So no batch starves, and batches that may run together do when they come
 * together.
 */
#ifndef HD_GATE_H
#define HD_GATE_H

#include "concurrency/lock.h"

/* For rows. */
hd_status hd_gate_open(void *self, uint32_t together);
void hd_gate_close(void *self);
void hd_gate_enter(void *self, hd_role role);
void hd_gate_leave(void *self, hd_role role);

#endif
