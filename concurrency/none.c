/* SPDX-License-Identifier: Apache-2.0
 *
 * none.c - no lock: the caller promises one batch at a time.
 */
#include "concurrency/lock.h"

static hd_status none_open(void *self) { return (void)self, HD_OK; }
static void none_close(void *self) { (void)self; }
static void none_pass(void *self, hd_role role) { (void)self, (void)role; }

const hd_lock_row hd_lock_none = { "none", "no lock: the caller promises one batch at a time", none_open, none_close, none_pass, none_pass };
