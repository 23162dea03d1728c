/* SPDX-License-Identifier: Apache-2.0
 *
 * progress.h - one line on standard error that says how far, how fast and how long yet; only when
 * that is a terminal, and gone at the end.
 */
#ifndef HD_PROGRESS_H
#define HD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
    const char *what, *unit; /* "sim lru 10,240", "requests" */
    uint64_t begin_ns, drawn_ns;
    bool shown, on;
} progress;

void progress_begin(progress *p, const char *what, const char *unit);
/* done of total (0: not known); draws at most five times a second. `share` below 0 means done/total;
 * otherwise it says how much of the work is over when only that is known (bytes of a file). Returns
 * whether the caller should stop (Ctrl-C). */
bool progress_at(progress *p, uint64_t done, uint64_t total, double share);
void progress_end(progress *p);

/* The form that hd_case_run calls; context is a progress. */
int progress_call(void *context, uint64_t done, uint64_t total);

/* Monotonic. */
uint64_t progress_now_ns(void);

#endif
