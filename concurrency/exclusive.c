/* SPDX-License-Identifier: Apache-2.0
 *
 * exclusive.c - one batch at a time, whatever it does.
 */
#include <pthread.h>

#include "concurrency/lock.h"
#include "lib/error.h"

_Static_assert(sizeof(pthread_mutex_t) <= HD_LOCK_BYTES, "a mutex fits");

static hd_status exclusive_open(void *self)
{
    return pthread_mutex_init((pthread_mutex_t *)self, NULL) ? hd_fail(HD_ENOMEM, "lock: no memory for a mutex") : HD_OK;
}
static void exclusive_close(void *self) { pthread_mutex_destroy((pthread_mutex_t *)self); }
static void exclusive_enter(void *self, hd_role role) { (void)role, pthread_mutex_lock((pthread_mutex_t *)self); }
static void exclusive_leave(void *self, hd_role role) { (void)role, pthread_mutex_unlock((pthread_mutex_t *)self); }

const hd_lock_row hd_lock_exclusive = { "exclusive", "one batch at a time", exclusive_open, exclusive_close, exclusive_enter, exclusive_leave };
