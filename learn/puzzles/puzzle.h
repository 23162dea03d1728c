/* SPDX-License-Identifier: Apache-2.0
 *
 * puzzle.h - a puzzle: a kernel with a hole, the memory that the kernel gets, what must hold after each run, and a
 * sentence for each way to be wrong. A folder learn/puzzles/NAME/ has it (doc/extending.md, "A puzzle"):
 *
 *   given.h     what the answer includes: the arguments of the kernel and constants, in the dialect
 *   task.txt    what `heddle puzzle N` prints
 *   hints.txt   three hints, a blank line between two
 *   start.c     the file that a player begins with
 *   model.c     an answer that is accepted, within par; not part of the command
 *   wrong.txt   answers that are rejected: the check that objects, words of its sentence, the changes of model.c
 *               (tests/puzzle_mutants.awk)
 *   mutants.txt changes of model.c that are rejected, of each KIND (tests/t_puzzles.sh), or `none KIND` and why
 *   judge.c     deals the memory and checks the result; ends in the row, `const puzzle puzzle_NAME`
 *
 * and learn/puzzles/registry.inc has the line PUZZLE(NAME).
 */
#ifndef HD_PUZZLE_H
#define HD_PUZZLE_H

#include "simt/machine.h"
#include "workload/rng.h"

enum { PUZZLE_ARRAYS = 12, PUZZLE_ARGS = 128, PUZZLE_MEMORY = 64 << 10, PUZZLE_HINTS = 3, PUZZLE_SQUARE = 32 };

/* Device memory of a puzzle: (n) elements of `bytes`. Arrays of the same table are shown side by side. */
typedef struct puzzle_array {
    const char *name, *table, *row; /* row: what an index counts, "slot" */
    uint32_t bytes, n;
    void *p;
    bool input; /* the kernel must not change it */
} puzzle_array;

/* What one run of a kernel works on. */
typedef struct puzzle_bed {
    uint32_t example;
    _Alignas(128) unsigned char memory[PUZZLE_MEMORY], before[PUZZLE_MEMORY]; /* before: as it was dealt */
    size_t used;
    puzzle_array array[PUZZLE_ARRAYS];
    int arrays;
    _Alignas(16) unsigned char args[PUZZLE_ARGS];
    size_t args_bytes;
    uint32_t blocks, threads, keys; /* keys: what costs are divided by */
    hd_rng chance;
    char detail[256];       /* what exactly is wrong, for the player */
    const char *by;         /* the check that objected after the last run; NULL: none */
    bool reached;           /* set by a check: this run has what some run of the example must have */
    volatile uint64_t runs; /* so far: a signal handler sees whether there is progress */
} puzzle_bed;

/* ---- For the judge of a puzzle --------------------------------------------------------------- */

/* Adds an array of zeros. table NULL: a table of its own. */
void *bed_array(puzzle_bed *b, const char *table, const char *row, const char *name, uint32_t bytes, uint32_t n);
/* The same, of memory that the kernel must not change. */
void *bed_input(puzzle_bed *b, const char *table, const char *row, const char *name, uint32_t bytes, uint32_t n);
/* The last example has more lanes than there are keys. */
void bed_launch(puzzle_bed *b, const void *args, size_t args_bytes, uint32_t blocks, uint32_t threads, uint32_t keys);
/* Numbers that are drawn for an example, the same in every run of it: no answer can compute them. */
uint32_t bed_below(puzzle_bed *b, uint32_t n);
/* v: (n), no two equal, none 0, in no order. In example 0 they have two or three digits, for readers. In others they
 * have 64 bits, and many agree in 32 of them: an answer that keeps or compares a half errs. */
void bed_numbers(puzzle_bed *b, uint64_t *v, uint32_t n);
/* Puts v, (n), into another order. */
void bed_shuffle(puzzle_bed *b, uint64_t *v, uint32_t n);
/* Another number that agrees with v in 32 of 64 bits. */
uint64_t bed_twin(puzzle_bed *b, uint64_t v);
/* The check that objects to an answer that took `said` for `want`: "64 bits" if the two agree in 32 bits, else `by`. */
const char *bed_taken(uint64_t said, uint64_t want, const char *by);
/* The one that objects where `said` is stored and `want` is right: "64 bits" if it is the low half, else `by`. */
const char *bed_stored(uint64_t said, uint64_t want, const char *by);
/* What was at p, a place of an array, before the run. */
const void *bed_before(const puzzle_bed *b, const void *p);
/* Says what is wrong, and returns `by`, the name of the check. */
const char *bed_wrong(puzzle_bed *b, const char *by, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A check that may object, and the idea that an answer which it rejects has not had. The name is the fault's of the
 * simulator (simt_fault_name), the judge's "cost", "input changed", or one of the puzzle's own. "NAME, weak" is for
 * runs with weak memory. */
typedef struct puzzle_idea {
    const char *by, *idea;
} puzzle_idea;

typedef enum puzzle_cost { PUZZLE_SECTORS, PUZZLE_ATOMICS, PUZZLE_STEPS } puzzle_cost;

typedef struct puzzle {
    const char *name, *title; /* title: a few words */
    const char *kernel;       /* the function that the answer defines with SIMT_KERNEL */
    uint32_t examples;        /* from 0, the smallest first; the last one is metered   */
    void (*deal)(puzzle_bed *b);
    const char *(*check)(puzzle_bed *b); /* NULL, or bed_wrong() */
    const puzzle_idea *idea;             /* up to one without a name */
    puzzle_cost cost;                    /* what par counts, per key */
    const char *unreached; /* the check that objects if no run of the last example sets `reached`, or NULL */
    double par, most;      /* more than `most`: rejected by "cost"; 0: no limit */
} puzzle;

/* In the order of their numbers: puzzles[0] is puzzle 1. Ends with NULL. */
extern const puzzle *const puzzles[];

/* ---- Judging --------------------------------------------------------------------------------- */

typedef struct puzzle_verdict {
    const char *by;    /* NULL: accepted; else the check that objected ... */
    const char *idea;  /* ... the sentence that names the idea ...         */
    char detail[2048]; /* ... and what happened, a sentence and lines      */
    uint64_t schedules;
    double cost[3]; /* per key, by puzzle_cost; negative: not measured */
    /* The failing run is the machine's last, with its events; */
    char *schedule; /* as text; "": in turn. malloc; NULL: no run failed  */
    bool weak;
} puzzle_verdict;

/* Judges a kernel. bed: what it last ran on. False: memory was refused. */
bool puzzle_judge(const puzzle *p, void (*kernel)(const void *), simt_machine *m, puzzle_bed *bed, puzzle_verdict *v);

/* The text of a file that answers or players need, by its path in the tree ("puzzles/find/task.txt", "simt/simt.h");
 * NULL: there is none. */
const char *puzzle_text(const char *path);
/* Text i, for i from 0: its path; NULL: past the last one. */
const char *puzzle_text_at(size_t i, const char **text);

#endif
