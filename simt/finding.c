/* SPDX-License-Identifier: Apache-2.0
 *
 * finding.c - reports a fault: one sentence, then a line for each lane concerned.
 */
#include "simt/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

_Thread_local simt_machine *simt_current;

const char *simt_fault_name(simt_fault f)
{
    static const char *const name[SIMT_FAULT_COUNT] = {
        "none",          "mismatched collectives",
        "lane left",     "outside the mask",
        "deadlock",      "out of bounds",
        "wrong space",   "misaligned",
        "uninitialised", "copy in flight",
        "endless",       "data race",
        "raw access",    "invariant",
        "resource",      "crash",
    };
    return (unsigned)f < SIMT_FAULT_COUNT ? name[f] : "?";
}

const char *collective_name(simt_collective_op op)
{
    static const char *const name[] = { "ballot",     "any",        "all",   "shfl",       "shfl_xor",
                                        "reduce_min", "reduce_max", "match", "reduce_add", "sync_tile" };
    return name[op];
}

const char *simt_site_name(const char *site)
{
    const char *slash = strrchr(site, '/');
    return slash ? slash + 1 : site;
}

/* Only the first fault of a run is reported: later ones may be its consequences. */
void found(simt_machine *m, simt_fault fault, const char *format, ...)
{
    if (m->finding.fault != SIMT_NO_FAULT) return;
    m->finding.fault = fault;
    m->finding.step = m->totals.steps;
    va_list ap;
    va_start(ap, format);
    vsnprintf(m->finding.story, sizeof m->finding.story, format, ap);
    va_end(ap);
}

void found_more(simt_machine *m, const char *format, ...)
{
    if (m->finding.step != m->totals.steps) return; /* an earlier fault is reported */
    size_t used = strlen(m->finding.story), room = sizeof m->finding.story - used;
    if (room < 8) return;
    memcpy(m->finding.story + used, "\n  ", 4);
    va_list ap;
    va_start(ap, format);
    vsnprintf(m->finding.story + used + 3, room - 3, format, ap);
    va_end(ap);
}
