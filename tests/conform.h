/* SPDX-License-Identifier: Apache-2.0
 *
 * conform.h - one suite for the kernels of every design of the judge: they run against the reference
 * (judge/comparison.h), for many fixtures and schedules. tests/conform_agree.c has what is the same for all designs.
 * tests/designs/NAME.c has the data of a design, and the tests that only this design needs. Each design has a program
 * of these two files.
 */
#ifndef CONFORM_H
#define CONFORM_H

#include "judge/comparison.h"
#include "judge/design.h"
#include "judge/kernels.h"
#include "simt/machine.h"
#include "tests/testing.h"

typedef unsigned long long ull;

enum { CONFORM_SPECIAL = 3 };

typedef struct totals {
    ull schedules, distinct, fixtures;
    ull outcome[HD_OUTCOME_COUNT], moves; /* of each fixture's last run */
    ull special[CONFORM_SPECIAL];         /* what else a design counts  */
} totals;

/* A fixture, and how its schedules are explored. scene_begin and scene_part fill it in. */
typedef struct scene {
    hd_case c[FIXTURE_PARTS];
    fixture_kernel kernel[FIXTURE_PARTS];
    uint32_t parts;
    simt_config way;
    uint32_t watch;                               /* the invariants are looked at after so many steps */
    ull schedules;                                /* at most */
    void (*lay)(fixture *s, const void *context); /* changes the fixture before its first run. NULL: it stays */
    const void *context;
    void (*look)(const fixture *s, totals *t); /* counts after the last run. NULL: conform_design.look */
} scene;

/* What the judge's port is asked about a table. */
typedef enum conform_question {
    ASK_WATCH,  /* whether it may be so between two steps of a run */
    ASK_CHECK,  /* ... and at rest */
    ASK_PLACE,  /* what place `at` looks like, with its key and the first byte of its value */
    ASK_ACCEPT, /* item `whose` of the batch, with a ticket of place `at`; CONFORM_NO_TICKET: without one */
    ASK_MOVE    /* of the entry at place `at` to place `whose` */
} conform_question;
#define CONFORM_NO_TICKET UINT64_MAX

/* The design changes a table or its batch, and the port says something. */
typedef struct conform_step {
    conform_question asks;
    int does; /* the design's number. 0: nothing */
    uint64_t at;
    int whose;
    const char *want; /* a part of what it says. NULL: nothing */
} conform_step;

/* What byte `at` of a region is called. */
typedef struct conform_name {
    const char *region;
    uint64_t at;
    const char *want;
} conform_name;

/* Steps that follow each other on a table that is empty at first, and names there. */
typedef struct conform_script {
    const char *shape;
    const conform_step *step;
    size_t steps;
    const conform_name *name;
    size_t names;
} conform_script;

typedef struct conform_design {
    const judge_design *judge;
    const char *const *shapes; /* of tables and batches: parts of a case */
    size_t shapes_n;
    bool restarts; /* each row and operation begins with the first shape; else they go on where the last one was */
    uint64_t (*rounds)(uint32_t row, int op); /* fixtures of each row and operation */
    ull schedules, whole;                     /* of a fixture; of an operation without keys */
    bool windows; /* every other fixture that lists misses does so in windows of few items */
    /* Changes a scene of row, operation, round k of these and round n of all. NULL: the next shape that fits */
    void (*set)(scene *x, uint32_t row, int op, uint64_t k, uint64_t n);
    simt_config (*way)(uint64_t n, uint32_t lanes); /* default: conform_way */
    uint32_t watch;                                 /* default: 3 with weak memory, else 1 */
    bool moves;                                     /* entries move */
    void (*look)(const fixture *s, totals *t);      /* counts totals.special */
    const char *special[CONFORM_SPECIAL];           /* their names. NULL: there are fewer */
    const char *const *growing;                     /* kernels and shapes of tables that grow and shrink */
    size_t growing_n;
    uint64_t grown; /* so many tables */
    const conform_script *scripts;
    size_t scripts_n;
    void (*change)(fixture *s, const conform_step *x); /* does what x->does says */
    const struct CMUnitTest *tests;                    /* of this design alone */
    size_t tests_n;
    int (*run)(void); /* runs all tests. Default: that every kernel agrees, and `tests` */
} conform_design;

extern const conform_design conform_this; /* the program's design */
extern simt_machine *conform_machine;

#define CONFORM_COUNT(list) (sizeof(list) / sizeof(list)[0])

/* Way n of running schedules. */
simt_config conform_way(uint64_t n, uint32_t lanes);
/* All schedules by warp with at most so many preemptions, at atomics. */
simt_config conform_all(uint32_t bound);
/* The row of a variant (NULL: of any) that runs the operation. */
uint32_t conform_row(const char *variant, int op);
/* The case DESIGN.OP.VARIANT; the rest as printf. */
hd_case conform_case(int op, const char *variant, uint64_t seed, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

scene scene_begin(uint64_t n, uint32_t lanes, ull schedules); /* explored in way n */
scene scene_search(uint32_t bound, ull schedules);            /* explored in all ways */
/* One part more: a row, in at most so many blocks of so many threads, and its case. */
void scene_part(scene *x, uint32_t row, uint32_t threads, uint32_t blocks, const hd_case *c);
/* The same, in numbers of threads and blocks that change with n. */
void scene_part_of(scene *x, uint32_t row, uint64_t n, const hd_case *c);
/* Opens the fixture, which has to be closed unless scene_explore takes it. The scene has to last as long. */
fixture *scene_open(const scene *x);
/* Explores and judges; a failure says how to see it again. Takes s. */
void scene_explore(const scene *x, fixture *s, totals *t);
void scene_run(const scene *x, totals *t);
/* Runs a fixture's batch once, without an objection. Takes s; the caller closes what it returns. */
comparison *scene_once(fixture *s, const simt_config *w);

/* Explores every operation that the rows [from, to) run. */
void conform_rows(uint32_t from, uint32_t to, totals *t);

#endif
