/* SPDX-License-Identifier: Apache-2.0
 *
 * lazy.h - a device for looks: its memory is memory of this process, and it works only when it is waited for, up to the
 * event or to the end of what it was given. So memory that is used again too early has the wrong bytes.
 */
#ifndef HD_MUSEUM_LAZY_H
#define HD_MUSEUM_LAZY_H

#include "base/backend.h"

enum { LAZY_WORKS = 4096, LAZY_EVENTS = 16 };

typedef struct lazy_work {
    void *to;
    const void *from;
    size_t bytes;
    hd_batch batch; /* to NULL: a kernel over it */
} lazy_work;

typedef struct lazy {
    hd_device_seam seam;
    lazy_work work[LAZY_WORKS];
    size_t works, done;
    size_t event[LAZY_EVENTS]; /* the number of works before it */
    int events;
    void (*kernel)(const struct lazy *d, const hd_batch *b);
    uint32_t row; /* for the kernel: bytes of a value */
} lazy;

void lazy_init(lazy *d);
/* Something more to do; NULL: there is no room for it. */
lazy_work *lazy_next(lazy *d);

#endif
