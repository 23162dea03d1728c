/* SPDX-License-Identifier: Apache-2.0
 *
 * gate.c - see gate.h; concurrency/group3.pml is the same as a model.
 */
#include "concurrency/gate.h"

#include <pthread.h>

#include "base/error.h"

typedef struct gate {
    pthread_mutex_t guard; /* of all that follows */
    pthread_cond_t changed;
    uint64_t next, serving; /* tickets: the next to be drawn, and whose turn it is */
    uint32_t inside;        /* batches, all of ... */
    hd_role role;
    uint32_t together;
} gate;

_Static_assert(sizeof(gate) <= HD_LOCK_BYTES, "a gate fits");

hd_status hd_gate_open(void *self, uint32_t together)
{
    gate *g = (gate *)self;
    HD_ASSERT(g->next == 0 && g->serving == 0 && g->inside == 0, "a lock is opened in memory that is not zeroed");
    g->together = together;
    /* GCOVR_EXCL_START: POSIX lets both fail, and glibc's never do. */
    if (pthread_mutex_init(&g->guard, NULL)) return hd_fail(HD_ENOMEM, "lock: no memory for a mutex");
    if (!pthread_cond_init(&g->changed, NULL)) return HD_OK;
    pthread_mutex_destroy(&g->guard);
    return hd_fail(HD_ENOMEM, "lock: no memory for a condition");
    /* GCOVR_EXCL_STOP */
}

void hd_gate_close(void *self)
{
    gate *g = (gate *)self;
    HD_ASSERT(g->inside == 0, "a lock is closed while batches are inside");
    HD_ASSERT(g->serving == g->next, "a lock is closed while batches wait");
    pthread_cond_destroy(&g->changed);
    pthread_mutex_destroy(&g->guard);
}

static bool admits(const gate *g, hd_role role)
{
    return g->inside == 0 || (g->role == role && (g->together >> role & 1));
}

/* The next in turn may have a reason to go on. */
static void tell(gate *g)
{
    HD_ASSERT(g->serving <= g->next, "a ticket is served that was not drawn");
    if (g->serving != g->next) pthread_cond_broadcast(&g->changed);
}

void hd_gate_enter(void *self, hd_role role)
{
    gate *g = (gate *)self;
    HD_ASSERT((unsigned)role < HD_ROLES);
    pthread_mutex_lock(&g->guard);
    uint64_t mine = g->next++;
    while (g->serving != mine || !admits(g, role)) pthread_cond_wait(&g->changed, &g->guard);
    HD_ASSERT(g->inside == 0 || role != HD_INSERTER, "an inserter is not alone");
    g->serving++;
    g->inside++;
    g->role = role;
    tell(g);
    pthread_mutex_unlock(&g->guard);
}

void hd_gate_leave(void *self, hd_role role)
{
    gate *g = (gate *)self;
    (void)role;
    pthread_mutex_lock(&g->guard);
    HD_ASSERT(g->inside > 0, "a batch leaves that is not inside");
    HD_ASSERT(g->role == role, "a batch leaves in another role than it has entered in");
    if (--g->inside == 0) tell(g);
    pthread_mutex_unlock(&g->guard);
}
