/* SPDX-License-Identifier: Apache-2.0
 *
 * steps.h - what the reference does for an item, in steps. The reference has no events: the steps follow from the table
 * before the item, from the table after it, and from what the design says of its search and its choice
 * (judge_design.tell). So a step that changes a place is what the reference did, and the steps together are the whole
 * change; steps_wrong checks that.
 */
#ifndef HD_JUDGE_STEPS_H
#define HD_JUDGE_STEPS_H

#include "judge/fixture.h"

enum { STEP_PLACE = 64, STEP_ENTRY = 96, STEP_NOTE = 256, STEP_SETS = 2 };

/* A place that a step changes, and what is there from then on, as judge_design.describe says it. */
typedef struct judge_step_set {
    uint64_t place;
    char entry[STEP_ENTRY];
} judge_step_set;

typedef struct judge_step {
    const char *does;                                              /* "searches", "compares", "moves"; static storage */
    char place[STEP_PLACE], before[STEP_ENTRY], after[STEP_ENTRY]; /* "": none */
    char note[STEP_NOTE];                                          /* a sentence for people */
    uint64_t look, looks;                                          /* it reads so many places, from `look` on ... */
    bool scores;                                                   /* ... their scores; else their keys */
    judge_step_set set[STEP_SETS];
    uint32_t sets;
} judge_step;

typedef struct judge_steps {
    judge_step *step; /* (steps) */
    uint64_t steps, room;
    judge_step spare; /* what is written to where memory was refused */
    bool failed;      /* memory was refused */
} judge_steps;

void judge_steps_close(judge_steps *t);
/* One more step, valid until the next one. Never NULL. */
judge_step *judge_steps_add(judge_steps *t, const char *does);
void judge_step_note(judge_step *step, const char *format, ...) __attribute__((format(printf, 2, 3)));
void judge_step_at(judge_step *step, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Two tables of a fixture, over memory of their own. */
typedef struct judge_moment {
    uint8_t *memory;
    void *table;
} judge_moment;
hd_status judge_moment_open(judge_moment *x, const fixture *s);
void judge_moment_close(judge_moment *x);
/* The table as it is after the first n items of part 0, in item order; the outcomes are in the batch's arrays. */
void judge_moment_after(judge_moment *x, fixture *s, uint64_t n);

/* What the reference did for item i of part 0: `before` and `after` are the tables after i items and after i + 1.
 * HD_ENOMEM. */
hd_status judge_steps_of_item(judge_steps *t, const fixture *s, uint64_t i, const void *before, const void *after);
/* What turned one table into the other, which has the same buckets or more. Entries move first: each into a free place,
 * so the last of a chain first. Places are those of `after`. */
hd_status judge_steps_of_change(judge_steps *t, const struct judge_design *d, const void *before, const void *after);
/* What was at place e of `after` before; "": there was no such place. */
void judge_steps_entry_before(const struct judge_design *d, const void *before, const void *after, uint64_t e,
                              char text[STEP_ENTRY]);
/* NULL when the steps from `first` on turn the entries of `before` into those of `after`; else why not. */
const char *judge_steps_wrong(const judge_steps *t, uint64_t first, const struct judge_design *d, const void *before,
                              const void *after, char why[STEP_NOTE]);

#endif
