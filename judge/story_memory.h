/* SPDX-License-Identifier: Apache-2.0
 *
 * story_memory.h - the memory of a story of a run: all named memory that the run touched, as cells of panels, and a
 * copy of the memory as the story's steps have written it so far. For story_run.c only.
 */
#ifndef HD_JUDGE_STORY_MEMORY_H
#define HD_JUDGE_STORY_MEMORY_H

#include "judge/cells.h"
#include "judge/story_run.h"

/* A piece of device memory. */
typedef struct story_space {
    const uint8_t *p;
    size_t bytes;
    uint8_t *copy; /* (bytes) what the story's steps have written so far: of the fixture's memory a part of `image` */
    bool own;      /* the copy is this space's */
    bool *touched; /* (bytes) by the run ... */
    bool any;      /* ... and whether any of them is */
    bool output;   /* it begins as poison, which the story does not show ... */
    bool *written; /* (bytes) ... where the steps have not written it; NULL: it is no output */
    int region;    /* the story's number of it; -1: none */
    char name[CELL_NAME];
} story_space;

/* A named piece of it that a panel shows. */
typedef struct shown_cell {
    const uint8_t *p;
    story_space *in;
    size_t bytes;
    int panel, row, column;
    cell_name name;
    uint64_t place;           /* of an entry: its number in the table */
    const simt_event *holder; /* who wrote "locked" or "held" into it; NULL: it has another text */
} shown_cell;

typedef struct story_memory {
    story *st;
    const run_told *r;
    uint8_t *image; /* (bytes of the fixture) its memory as the story's steps have written it so far ... */
    void *view;     /* ... and the table over it */
    story_space *memory;
    size_t spaces;
    char (*table)[CELL_NAME]; /* (tables) buckets that the run touched */
    size_t tables;
    shown_cell *shown; /* by address, when the panels are made */
    size_t cells, room;
    int panels;
    bool several; /* warps act */
    bool failed;
} story_memory;

#define STORY_NOT_WRITTEN "not written" /* what outputs show until the run writes them */

/* Makes the panels of a story; st and r are set, all else is 0. false: memory was refused. */
bool story_memory_open(story_memory *mem);
void story_memory_close(story_memory *mem); /* also after a failure */

/* The space of an address; NULL: it is in none. */
story_space *story_space_of(const story_memory *mem, const void *address);
/* The bytes of an event that lie in x. */
size_t story_space_bytes(const story_space *x, const simt_event *e);
/* Whether no step has written these bytes of an output. */
bool story_space_unwritten(const story_space *x, size_t at, size_t bytes);
/* Writes the bytes of a store to the copy. */
void story_space_write(story_space *x, const simt_event *e);

/* The first cell that ends behind p. */
shown_cell *story_cell_from(const story_memory *mem, const uint8_t *p);
/* by: the event that has just written the cell; NULL: none has. */
void story_cell_show(const story_memory *mem, shown_cell *c, const simt_event *by);
/* Rows of a bucket are slots. All slots of a bucket are shown when the run touched one. */
bool story_of_slot(const cell_name *c);

#endif
