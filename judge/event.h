/* SPDX-License-Identifier: Apache-2.0
 *
 * event.h - what the events of a run are, in words for people, and which of them are one step.
 */
#ifndef HD_JUDGE_EVENT_H
#define HD_JUDGE_EVENT_H

#include "simt/machine.h"

/* Whether the name of its operation begins so: "ld", "st", "sync". */
bool event_is(const simt_event *e, const char *operation);
bool event_takes_effect(const simt_event *e);
/* It loads, or it is a compare-and-swap that changes nothing. */
bool event_reads(const simt_event *e);
/* What an event is, in words for people: "reads", "claims", "fails to claim", "takes effect". */
const char *event_meaning(const simt_event *e);
/* What it means at this place, in a sentence; NULL: its name says it. */
const char *event_note(const simt_event *e, const char *place);
/* Whether it touches memory or takes effect. The others are collectives and fences. */
bool event_matters(const simt_event *e);
/* Events [i, end) are one step: one site, one warp, one lane after another. apart: every event is a step. */
size_t event_group_end(const simt_event *e, size_t n, size_t i, bool apart);

/* The lanes of a step, a bit for each, and whether its n events have the same place and the same values. */
typedef struct event_common {
    uint32_t lanes;
    bool place, before, after;
} event_common;

event_common event_common_of(const simt_event *e, size_t n);
/* "0", "0-31" or "0 3 7". */
void event_lanes(uint32_t lanes, char *text, size_t bytes);
/* The result of a vote: lanes, or a number; NULL: a number of several packed ones, which says nothing. */
const char *event_vote(const simt_event *e, char *text, size_t bytes);

#endif
