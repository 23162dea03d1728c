/* SPDX-License-Identifier: Apache-2.0
 *
 * story.c - what is said when something is found: one sentence, then who was where; and schedules as text.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "simt/state.h"

const char *simt_fault_name(simt_fault f)
{
    static const char *const name[SIMT_FAULT_COUNT] = {
        "none",           "mismatched collectives",
        "lane left",      "outside the mask",
        "deadlock",       "out of bounds",
        "misaligned",     "uninitialised",
        "copy in flight", "endless",
        "data race",      "raw access",
        "invariant",      "resource",
    };
    return (unsigned)f < SIMT_FAULT_COUNT ? name[f] : "?";
}

const char *collective_name(simt_collective_op op)
{
    static const char *const name[] = { "ballot",     "any",        "all",        "shfl",     "shfl_xor",
                                        "reduce_min", "reduce_max", "reduce_add", "sync_tile" };
    return name[op];
}

const char *kind_name(uint32_t kind)
{
    switch (kind) {
    case SIMT_LD: return "ld";
    case SIMT_ST: return "st";
    case SIMT_LDRLX: return "ldrlx";
    case SIMT_STRLX: return "strlx";
    case SIMT_LDACQ: return "ldacq";
    default: return "strel"; /* read-modify-writes have names of their own: memory.c */
    }
}

const char *simt_site_name(const char *site)
{
    const char *slash = strrchr(site, '/');
    return slash ? slash + 1 : site;
}

/* Only the first finding of a run is told: what comes after it may be its consequence. */
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
    if (m->finding.step != m->totals.steps) return; /* an earlier finding's story is told */
    size_t used = strlen(m->finding.story), room = sizeof m->finding.story - used;
    if (room < 8) return;
    memcpy(m->finding.story + used, "\n  ", 4);
    va_list ap;
    va_start(ap, format);
    vsnprintf(m->finding.story + used + 3, room - 3, format, ap);
    va_end(ap);
}

void event_note(simt_machine *m, const char *site, const char *what, const void *p, uint32_t bytes, uint64_t before,
                uint64_t after)
{
    const lane *l = m->now;
    simt_event e = { m->totals.steps, site, what, l->ids.block, l->ids.thread, bytes, p, before, after };
    vec_push(m, &m->events, &e);
}

/* ---- Schedules as text ----------------------------------------------------------------------- */

size_t simt_schedule_print(const simt_decision *s, size_t n, char *text, size_t bytes)
{
    size_t used = 0;
    if (bytes) text[0] = 0;
    for (size_t i = 0; i < n; i++) {
        char word[40];
        size_t k = (size_t)snprintf(word, sizeof word, "%s%" PRIu64 ":%" PRIu32, i ? "," : "", s[i].at, s[i].choice);
        if (used + k < bytes) memcpy(text + used, word, k + 1);
        used += k;
    }
    return used;
}

/* Digits only: strtoull would take blanks and signs, and a number that is too large for the largest. */
static bool take_number(const char **text, uint64_t most, uint64_t *v)
{
    char *end;
    if ((*text)[0] < '0' || (*text)[0] > '9') return false;
    errno = 0;
    *v = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0 && *v <= most;
}

hd_status simt_schedule_parse(const char *text, simt_decision *s, size_t *n)
{
    size_t places = *n;
    uint64_t last = 0;
    for (*n = 0; *text; ++*n) {
        const char *word = text;
        uint64_t at, choice;
        bool fine = take_number(&text, UINT64_MAX, &at) && *text++ == ':' && take_number(&text, UINT32_MAX, &choice) &&
                    (!*text || *text == ',');
        if (!fine) return hd_fail(HD_EINVAL, "schedule: '%.20s' is no decision (number:choice)", word);
        if (*n && at <= last)
            return hd_fail(HD_EINVAL, "schedule: decision %" PRIu64 " comes after %" PRIu64, at, last);
        if (*n == places) return hd_fail(HD_EINVAL, "schedule: more than %zu decisions", places);
        last = at;
        s[*n].at = at;
        s[*n].choice = (uint32_t)choice;
        text += *text == ',';
    }
    return HD_OK;
}
