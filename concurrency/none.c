/* SPDX-License-Identifier: Apache-2.0
 *
 * none.c - no lock: the caller promises that batches which conflict do not run at the same time, on threads and on
 * streams.
 */
#include "concurrency/lock.h"

static hd_status none_open(void *self, uint32_t together) { return (void)self, (void)together, HD_OK; }
static void none_close(void *self) { (void)self; }
static void none_pass(void *self, hd_role role) { (void)self, (void)role; }

const hd_lock_row hd_lock_none = {
    "none",
    "no lock: the caller keeps batches apart that conflict",
    HD_READERS | HD_UPDATERS | HD_INSERTERS,
    HD_APART_NOT,
    none_open,
    none_close,
    none_pass,
    none_pass,
};
