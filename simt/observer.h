/* SPDX-License-Identifier: Apache-2.0
 *
 * observer.h - the hooks of the host machine. The machine runs lanes; observers check, count and record what lanes do,
 * or weaken the memory that they see. The machine knows observers only by this struct: observers.c lists them.
 *
 * A hook may be NULL. `self` is the observer's own state, (state_bytes) zeroed when the machine is opened. Observers
 * are called in the order of the list. After on_access and on_done the machine stops the lane when there is a finding.
 */
#ifndef HD_SIMT_OBSERVER_H
#define HD_SIMT_OBSERVER_H

#include <string.h>

#include "simt/state.h"

typedef enum access_way {
    ACCESS_LOAD,
    ACCESS_STORE,
    ACCESS_RMW,
    ACCESS_COPY_FROM, /* an async copy's source, in global memory ...     */
    ACCESS_COPY_TO,   /* ... its target, in shared memory ...             */
    ACCESS_COPY_DONE  /* ... and the target again, when it was waited for */
} access_way;

/* An access of the lane m->now. */
typedef struct memory_access {
    access_way way;
    uint32_t kind, bytes; /* kind: SIMT_LD, ... */
    const char *site;
    void *p;
    simt_space space;
    const void *value; /* ACCESS_STORE: what is stored */
    simt_rmw_op op;    /* ACCESS_RMW */
    int order;         /* ACCESS_RMW: SIMT_RELAXED, ... */
    /* For on_done: the first eight bytes read or replaced, and those written; wrote: false for a CAS that failed. */
    uint64_t before, after;
    bool wrote;
    uint64_t step; /* on_visible: when the store was made */
} memory_access;

typedef struct simt_observer {
    uint32_t kinds; /* of accesses that it has to see: SIMT_AT_... */
    size_t state_bytes;
    bool (*wanted)(const simt_config *c);                        /* in a run that c configures */
    bool (*on_run)(void *self, simt_machine *m, uint64_t lanes); /* of all launches; false: a finding says why not */
    void (*on_launch)(void *self, simt_machine *m, const launch *of);     /* its first block begins */
    void (*on_launch_end)(void *self, simt_machine *m, const launch *of); /* its last block has ended */
    void (*on_block)(void *self, simt_machine *m, const block *b); /* b's shared memory is about to be a new block's */
    void (*on_lane_begin)(void *self, simt_machine *m, const lane *l);
    void (*on_lane_end)(void *self, simt_machine *m, const lane *l);
    void (*on_access)(void *self, simt_machine *m, const memory_access *a);        /* before it is made */
    bool (*on_load)(void *self, simt_machine *m, const memory_access *a, void *v); /* true: *v is given, not memory's */
    bool (*on_store)(void *self, simt_machine *m, const memory_access *a);         /* true: held back (on_release) */
    /* What was read is known, and what will be written: no ACCESS_STORE that is held back. */
    void (*on_done)(void *self, simt_machine *m, const memory_access *a);
    void (*on_release)(void *self, simt_machine *m,
                       lane *l); /* all that l holds back happens; NULL: one effect of any lane */
    /* A store of l that was held back changes memory now. */
    void (*on_visible)(void *self, simt_machine *m, const lane *l, const memory_access *a);
    void (*on_fence)(void *self, simt_machine *m, const char *site, bool of_system);
    void (*on_sync)(void *self, simt_machine *m, lane *const *lanes, uint32_t n); /* these order memory among them */
    void (*on_collective)(void *self, simt_machine *m, const lane *l);            /* l has its result */
    void (*on_converge)(void *self, simt_machine *m, const warp *w); /* all its lanes meet, or its block ends */
    void (*on_join)(void *self, simt_machine *m, const lane *l);     /* simt_join */
    /* true: it is drawn when what it belongs to is released */
    bool (*on_ticket)(void *self, simt_machine *m, const char *site, const simt_ticket_record *t, bool with_last_store);
    void (*close)(void *self, simt_machine *m);
} simt_observer;

/* The first eight bytes at most, of 1, 2, 4, 8 or 16. */
static inline uint64_t memory_word(const void *p, uint32_t bytes)
{
    uint64_t v = 0;
    if (bytes >= 8)
        memcpy(&v, p, 8);
    else if (bytes == 4)
        memcpy(&v, p, 4);
    else
        memcpy(&v, p, bytes == 2 ? 2 : 1);
    return v;
}

/* Calls the hook of every observer of this run. */
#define OBSERVERS_CALL(m, hook, ...)                                                    \
    for (const watcher *o_ = (m)->watching; o_ < (m)->watching + (m)->watching_n; o_++) \
        if (o_->observer->hook) o_->observer->hook(o_->self, (m), __VA_ARGS__)

/* A machine with these n observers; the list must outlive it. simt_machine_open: with all that there are. */
hd_status simt_machine_open_with(const hd_seams *seams, const simt_observer *const *observers, size_t n,
                                 simt_machine **m);

/* The observer's state; NULL: it is not in the machine's last run. */
void *observer_state(const simt_machine *m, const simt_observer *observer);

#endif
