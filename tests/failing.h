/* SPDX-License-Identifier: Apache-2.0
 *
 * failing.h - a layer in front of another device, the fake or the real one. Its calls fail on request, before they
 * reach the other device. It records what was allocated and is not freed yet.
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
    const char *failed;                          /* its name */
    uint64_t pieces, far_bytes, events, streams; /* that are held */
} failing_device;

void failing_init(failing_device *f, const hd_device_seam *inner);
/* Checks that everything was given back. */
void failing_settled(const failing_device *f);

#endif
