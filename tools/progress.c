/* SPDX-License-Identifier: Apache-2.0
 *
 * progress.c - the line on standard error.
 */
#include "tools/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "tools/output.h"

enum { FIRST_NS = 400000000, EVERY_NS = 200000000 }; /* quick work shows nothing at all */

uint64_t progress_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void progress_begin(progress *p, const char *what, const char *unit)
{
    p->what = what;
    p->unit = unit;
    p->begin_ns = progress_now_ns();
    p->drawn_ns = p->begin_ns + FIRST_NS - EVERY_NS;
    p->shown = false;
    p->on = isatty(STDERR_FILENO) == 1;
}

bool progress_at(progress *p, uint64_t done, uint64_t total, double share)
{
    if (!p->on) return tool_stopped();
    uint64_t now = progress_now_ns();
    if (now < p->drawn_ns + EVERY_NS) return tool_stopped();
    p->drawn_ns = now;
    p->shown = true;

    double seconds = (double)(now - p->begin_ns) * 1e-9;
    if (share < 0 && total) share = (double)done / (double)total;
    char count[OUT_CELL], rate[OUT_CELL], left[OUT_CELL];
    fprintf(stderr, "\r\033[K%s: %s %s, %s", p->what, out_format(count, OUT_COUNT, out_count(done)), p->unit,
            out_format(rate, OUT_RATE, out_real((double)done / seconds)));
    if (share > 0)
        fprintf(stderr, ", %.0f%%, %s left", share * 100,
                out_format(left, OUT_SECONDS, out_real(seconds * (1 - share) / share)));
    fflush(stderr);
    return tool_stopped();
}

void progress_end(progress *p)
{
    if (p->shown) fputs("\r\033[K", stderr);
    p->shown = false;
}

int progress_call(void *context, uint64_t done, uint64_t total)
{
    return progress_at((progress *)context, done, total == UINT64_MAX ? 0 : total, -1);
}
