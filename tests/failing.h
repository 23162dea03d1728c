/* SPDX-License-Identifier: Apache-2.0
 *
 * failing.h - in front of another device: calls that fail when told to, before the device hears of them, and a ledger
 * of what it was asked for and has not been given back. The other device is the fake one, or a real one.
 */
#ifndef FAILING_H
#define FAILING_H

#include "tests/testing.h"

typedef struct failing_device {
    hd_device_seam seam; /* counting.seams.device = &failing.seam */
    const hd_device_seam *inner;
    /* The chosen call, from 1, fails with `code`; with `sticky` all later ones do, too. Whatever gives back does so all
     * the same, and a wait waits. */
    uint64_t calls, fail_at;
    int code;
    bool sticky;
    const char *failed;                 /* its name */
    uint64_t pieces, far_bytes, events; /* that are held */
} failing_device;

void failing_init(failing_device *f, const hd_device_seam *inner);
/* Checks that everything was given back. */
void failing_settled(const failing_device *f);

#endif
