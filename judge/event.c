/* SPDX-License-Identifier: Apache-2.0
 *
 * event.c - see event.h.
 */
#include "judge/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "judge/design.h"

static bool starts(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

bool event_is(const simt_event *e, const char *operation) { return starts(e->what, operation); }

bool event_takes_effect(const simt_event *e) { return strcmp(e->what, "takes effect") == 0; }

bool event_reads(const simt_event *e)
{
    return event_is(e, "ld") || (strcmp(e->what, "cas") == 0 && e->after == e->before);
}

const char *event_meaning(const simt_event *e)
{
    if (event_takes_effect(e)) return e->before == JUDGE_MOVE ? "moves an entry" : "takes effect";
    if (!e->p) return event_is(e, "sync") ? "meets its tile" : event_is(e, "fence") ? "orders memory" : "votes";
    if (event_is(e, "ld")) return "reads";
    if (strcmp(e->what, "strel") == 0) return "publishes";
    if (event_is(e, "st")) return "writes";
    return strcmp(e->what, "cas") == 0 ? (e->after != e->before ? "claims" : "fails to claim") : "counts";
}

const char *event_note(const simt_event *e, const char *place)
{
    static const struct {
        const char *does, *place, *note;
    } notes[] = {
        { "claims", "lock", "The lock was free, and now this lane holds it. Other lanes that need it must wait." },
        { "claims", "", "The compare-and-swap found what it expected, so this lane owns the place from now on." },
        { "fails to claim", "", "The compare-and-swap found another value than it expected, and changes nothing." },
        { "publishes", "",
          "A release store: a lane that reads it with acquire sees everything that was written before." },
        { "takes effect", "", "The item's outcome is decided in this step." },
        { "moves an entry", "", "From this step on the entry is in another slot." },
        { "votes", "", "The lanes exchange values in registers. No memory is read." },
        { "meets its tile", "", "The lanes wait until all of them are here." },
    };
    const char *does = event_meaning(e);
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        if (strcmp(does, notes[i].does) == 0 && starts(place, notes[i].place)) return notes[i].note;
    return NULL;
}

bool event_matters(const simt_event *e) { return e->p || event_takes_effect(e); }

size_t event_group_end(const simt_event *e, size_t n, size_t i, bool apart)
{
    size_t end = i + 1;
    while (!apart && end < n && e[end].site == e[i].site && e[end].what == e[i].what && e[end].block == e[i].block &&
           e[end].thread / 32 == e[i].thread / 32 && e[end].thread > e[end - 1].thread)
        end++;
    return end;
}

void event_lanes(uint32_t lanes, char *text, size_t bytes)
{
    size_t used = 0;
    for (uint32_t i = 0; i < 32 && used < bytes; i++) {
        if (!(lanes >> i & 1)) continue;
        uint32_t last = i;
        while (last < 31 && lanes >> (last + 1) & 1) last++;
        used += (size_t)(last > i ? snprintf(text + used, bytes - used, "%s%u-%u", used ? " " : "", i, last)
                                  : snprintf(text + used, bytes - used, "%s%u", used ? " " : "", i));
        i = last;
    }
}

event_common event_common_of(const simt_event *e, size_t n)
{
    event_common c = { 0, true, true, true };
    for (size_t k = 0; k < n; k++) {
        c.lanes |= 1u << e[k].thread % 32;
        c.place = c.place && e[k].p == e->p;
        c.before = c.before && e[k].before == e->before;
        c.after = c.after && e[k].after == e->after;
    }
    return c;
}

const char *event_vote(const simt_event *e, char *text, size_t bytes)
{
    enum { PACKED = 1 << 16 };
    bool lanes = strcmp(e->what, "ballot") == 0 || strcmp(e->what, "match") == 0;
    if (!lanes && e->after >= PACKED) return NULL;
    if (!lanes)
        snprintf(text, bytes, "%" PRIu64, e->after);
    else {
        snprintf(text, bytes, "%s", e->after ? "lanes " : "no lane");
        event_lanes((uint32_t)e->after, text + strlen(text), bytes - strlen(text));
    }
    return text;
}
