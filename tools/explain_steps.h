/* SPDX-License-Identifier: Apache-2.0
 *
 * explain_steps.h - steps of the reference (judge/steps.h) as a report and as a story with a panel for each bucket.
 */
#ifndef HD_TOOLS_EXPLAIN_STEPS_H
#define HD_TOOLS_EXPLAIN_STEPS_H

#include "judge/design.h"
#include "judge/steps.h"
#include "tools/explain.h"

enum { EXPLAIN_PLACES_MOST = 1024 };

typedef struct explain_steps {
    explain_told *to;
    const judge_design *design;
    const void *table; /* whose buckets are the panels */
    uint64_t told;     /* steps so far */
    bool items;        /* steps are of items */
    int column[3];     /* of the panels: the key's, the score's, the value's; -1: there is none */
} explain_steps;

/* TOOL_OK, or the exit code after a sentence: the table has too many places to be drawn. */
int explain_steps_fit(uint64_t places);
/* Opens the report; the columns are item, step, does, place, before, after, note. */
void explain_steps_open(explain_steps *x, const tool_line *line, const char *schema);
/* Begins the story: panels as `before` has them, which may be smaller. */
void explain_steps_story(explain_steps *x, const void *before);
/* Tells steps from `first` on. item: UINT64_MAX: they are of none. */
void explain_steps_tell(explain_steps *x, const judge_steps *t, uint64_t first, uint64_t item);

#endif
