/* SPDX-License-Identifier: Apache-2.0
 *
 * lock.h - the batch lock: which batches of one table may run at the same time, and which wait for which (HKV section
 * 3.5). A lock is one file with its row at the bottom, and one line of registry.inc.
 *
 * Batches of different roles never run together, and inserters never do (Table 4): what is left to say of a lock is of
 * which roles it lets several run, and how those that may not are kept apart. That is done twice. Here, on this
 * machine, by enter and leave: a batch inside may use the table's state. There, on a device, where a batch runs
 * after its call has returned: streams.h.
 */
#ifndef HD_LOCK_H
#define HD_LOCK_H

#include "base/op.h"

enum { HD_LOCK_BYTES = 128 };

enum { HD_READERS = 1 << HD_READER, HD_UPDATERS = 1 << HD_UPDATER, HD_INSERTERS = 1 << HD_INSERTER, HD_ROLES = 3 };

/* How batches on a device's streams are kept apart. */
typedef enum hd_apart {
    HD_APART_NOT,       /* the caller sees to it */
    HD_APART_BY_EVENTS, /* a stream waits for events of other streams: in the order of the calls */
    /* a step on the stream waits for a word in the device's memory: in the order in which streams get there */
    HD_APART_BY_WORD
} hd_apart;

typedef struct hd_lock_row {
    const char *name, *what;
    /* roles of which several may run at a time; updaters only where they own what they change (hd_design.owns) */
    uint32_t together;
    hd_apart apart;
    hd_status (*open)(void *self, uint32_t together); /* self: HD_LOCK_BYTES, aligned to 16, zeroed */
    void (*close)(void *self);
    void (*enter)(void *self, hd_role role); /* waits */
    void (*leave)(void *self, hd_role role);
} hd_lock_row;

const hd_lock_row *hd_lock_at(size_t i);            /* NULL past the end  */
const hd_lock_row *hd_lock_named(const char *name); /* NULL: there is none */

#endif
