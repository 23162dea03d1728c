/* SPDX-License-Identifier: Apache-2.0
 *
 * lock.h - the batch lock: which batches may run at the same time on one table. A lock is one file with its row at
 * the bottom, and one line of registry.inc.
 */
#ifndef HD_LOCK_H
#define HD_LOCK_H

#include "lib/op.h"

enum { HD_LOCK_BYTES = 128 };

typedef struct hd_lock_row {
    const char *name, *what;
    hd_status (*open)(void *self);  /* self: HD_LOCK_BYTES, aligned to 16, zeroed */
    void (*close)(void *self);
    void (*enter)(void *self, hd_role role); /* waits */
    void (*leave)(void *self, hd_role role);
} hd_lock_row;

const hd_lock_row *hd_lock_at(size_t i); /* NULL past the end */

#endif
