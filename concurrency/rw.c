/* SPDX-License-Identifier: Apache-2.0
 *
 * rw.c - readers together, everything else alone: the strongest sharing that is sound for the sequential backend,
 * whose updaters copy values without atomics. (HKV Table 4 lets updaters run together as well: that takes kernels
 * which own an entry while they change it.)
 */
#include <pthread.h>

#include "concurrency/lock.h"
#include "lib/error.h"

_Static_assert(sizeof(pthread_rwlock_t) <= HD_LOCK_BYTES, "a reader-writer lock fits");

/* Writers first: a stream of finds must not keep an insert waiting for ever. */
static hd_status rw_open(void *self)
{
    pthread_rwlockattr_t attr;
    bool failed = pthread_rwlockattr_init(&attr) != 0;
#ifdef __GLIBC__
    if (!failed) pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    failed = failed || pthread_rwlock_init((pthread_rwlock_t *)self, &attr) != 0;
    pthread_rwlockattr_destroy(&attr);
    return failed ? hd_fail(HD_ENOMEM, "lock: no memory for a reader-writer lock") : HD_OK;
}

static void rw_close(void *self) { pthread_rwlock_destroy((pthread_rwlock_t *)self); }

static void rw_enter(void *self, hd_role role)
{
    if (role == HD_READER) pthread_rwlock_rdlock((pthread_rwlock_t *)self);
    else pthread_rwlock_wrlock((pthread_rwlock_t *)self);
}

static void rw_leave(void *self, hd_role role) { (void)role, pthread_rwlock_unlock((pthread_rwlock_t *)self); }

const hd_lock_row hd_lock_rw = { "rw", "readers together, everything else alone", rw_open, rw_close, rw_enter, rw_leave };
