/* SPDX-License-Identifier: Apache-2.0
 *
 * story.h - a story: what happened, step by step, in a form that a page can play (doc/output.md, "heddle.story/1").
 * A story has panels, which are tables of cells: a bucket, a lock, the candidates of a policy. It has steps, in order;
 * a step changes cells, and says who did what. The cells before the first step are the panels' initial state.
 *
 *     story *s = story_open("A full bucket evicts", "heddle explain hkv.insert_or_assign.tlpv1");
 *     int bucket = story_panel(s, "bucket 0", column, 4), row = story_row(s, bucket, "slot 0");
 *     story_cell(s, bucket, row, 1, "0x%016" PRIx64, key);        before the first step: how it is at the beginning
 *     story_step(s, &(story_act){ .who = "warp 0", .lanes = 1, .does = "claims", .place = "lock of bucket 0" });
 *     story_cell(s, lock, 0, 0, "held");                          what the step changes
 *     json_t *j = story_json(s);
 *     story_close(s);
 *
 * All texts are copied. Memory that is refused is remembered: story_json() then returns NULL.
 */
#ifndef HD_JUDGE_STORY_H
#define HD_JUDGE_STORY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct story story;

/* What a step says besides the cells that it changes. A text may be NULL: the step has none. */
typedef struct story_act {
    uint64_t step;         /* a number that rises, as in the reports of the command */
    const char *who;       /* "block 0, warp 0", "item 3", "the policy" */
    uint32_t lanes;        /* of a warp, a bit for each */
    const char *does;      /* "reads", "claims", ...; page and text use the same words */
    const char *place;     /* "key in bucket 0, slot 1" */
    const char *operation; /* of the dialect: "ld", "cas" */
    const char *before, *after;
    const char *site; /* "gpu/hkv/hold.h:37": the line of the text that did it */
    const char *note; /* a sentence for people */
    bool unchanged;   /* it writes what was there before */
    uint32_t times;   /* so often, one time after the other; 0: once */
} story_act;

/* title: what the story shows, in a few words. command: what tells it again. */
story *story_open(const char *title, const char *command);
void story_close(story *s);

/* Sentences below the title: what to look at, and why. */
void story_about(story *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A fact with a name that the page shows beside the title: "case", "outcome", "sectors". */
void story_fact(story *s, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A finding: the sentence that says what is wrong, which check said it, and the schedule; each may be NULL. */
void story_finding(story *s, const char *sentence, const char *by, const char *schedule);
/* What the check said, if the sentence is another; and the change of the text that is to blame. Each may be NULL. */
void story_blame(story *s, const char *said, const char *change);
/* The lines of `told` after its first stand below the finding: who was concerned, and where. */
void story_concerned(story *s, const char *told);

/* A step, counted from 0, matters for what the finding says. Of more than STORY_MATTERS steps the last are kept. */
enum { STORY_MATTERS = 8 };
void story_matters(story *s, uint64_t step);

/* A panel, and its number. Rows and columns count from 0. */
int story_panel(story *s, const char *name, const char *const *column, int columns);
int story_row(story *s, int panel, const char *name);

/* Writes a cell: before the first step its initial text, after that a change by the last step. */
void story_cell(story *s, int panel, int row, int column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The same, unless the cell has this text. */
void story_change(story *s, int panel, int row, int column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The last step reads the cell. */
void story_look(story *s, int panel, int row, int column);

void story_step(story *s, const story_act *act);

/* The story begins later: so many steps, which moved so many sectors, are left out, and the cells before the first step
 * are those after them. Before the first step. */
void story_skipped(story *s, uint64_t steps, uint64_t sectors);

/* Memory as sectors of 32 bytes: a region of so many, and its number; a sector that the last step moves. */
int story_region(story *s, const char *name, uint64_t sectors);
void story_sector(story *s, int region, uint64_t sector);

/* The text of a source that sites name. The page shows the lines around a step's site. */
void story_source(story *s, const char *name, const char *text);

/* The story as an object of schema heddle.story/1, which the caller releases; NULL: memory was refused. */
json_t *story_json(const story *s);

#endif
