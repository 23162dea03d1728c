/* SPDX-License-Identifier: Apache-2.0
 *
 * museum.h - the bug museum: known bugs of hash tables. Each is built into a copy of the source that it would be in
 * here, and a number switches it on (alter.awk). A *look* is a run that must find it. A bug is a file of bugs/:
 *
 *     bug    what it is, a sentence
 *     from   its source
 *     look   sched [WORDS] CASE [+ CASE]   schedules of kernels on the host machine (search_sched.c)
 *            crash [WORDS] CASE             crashes in such schedules, and what is recovered (search_sched.c)
 *            run CASE                       batches through the public interface (search_run.c)
 *            grow CASE                      a table that grows, or shrinks, on the host machine (search_grow.c)
 *            chase CASE                     a key that is displaced while an item looks for it (search_chase.c)
 *            call NAME                      something that is no batch (search_call.c)
 *            file WORDS CASE                a table with a file: power cuts, failing calls, damage (search_file.c)
 *     by     the judges that may find it
 *     needs  judges without which no look finds it, if there are any
 *
 * and then the source lines to replace, with their replacements. A bug may have several looks; each is a row.
 */
#ifndef HD_MUSEUM_H
#define HD_MUSEUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "judge/comparison.h"
#include "judge/museum/now.h"

/* ---- Judges ---------------------------------------------------------------------------------- */

/* Each has a name and can be left out: what it alone would have said is then not heard, and the search goes on. */
typedef enum museum_judge {
    MUSEUM_ARRAYS,      /* outputs within their bounds, untouched where nothing was delivered          */
    MUSEUM_TICKETS,     /* each item, at its turn, as the reference allows                              */
    MUSEUM_CONTENTS,    /* the table at the end, entry by entry                                         */
    MUSEUM_LISTS,       /* lists and their counts                                                       */
    MUSEUM_COUNTS,      /* as many came and went as is said                                             */
    MUSEUM_REST,        /* locks left, guards, invariants after a run of kernels                        */
    MUSEUM_WATCH,       /* invariants between any two steps                                             */
    MUSEUM_RACES,       /* happens-before                                                               */
    MUSEUM_WEAK,        /* store buffers and old values: a way of running that shows others what it does */
    MUSEUM_BOUNDS,      /* of device memory and shared memory                                           */
    MUSEUM_COLLECTIVES, /* lanes that left, or wait for each other                                      */
    MUSEUM_COPIES,      /* asynchronous copies that are read too early                                  */
    MUSEUM_PATIENCE,    /* nothing goes on for ever                                                     */
    MUSEUM_ORACLE,      /* a map that knows no buckets                                                  */
    MUSEUM_INVARIANTS,  /* hd_check                                                                     */
    MUSEUM_COUNTERS,    /* the table's counters against the outcomes                                    */
    MUSEUM_FACES,       /* what the reference does against what it allows                               */
    MUSEUM_ORDER,       /* which batch comes after which on streams                                     */
    MUSEUM_CRASH,       /* what is recovered of each image that a crash may leave                       */
    MUSEUM_FILE,        /* what opens of each file that a cut, a failing call or damage may leave       */
    MUSEUM_JUDGES
} museum_judge;

extern const char *const museum_judge_name[MUSEUM_JUDGES];
extern const char *const museum_judge_what[MUSEUM_JUDGES];
/* MUSEUM_JUDGES: there is none of that name. */
museum_judge museum_judge_named(const char *name, size_t letters);

/* ---- Bugs ------------------------------------------------------------------------------------ */

typedef struct museum_row {
    int number; /* for museum_now; rows of one bug have the same */
    const char *name, *bug, *from, *look, *by, *needs;
    const char *change; /* "in FILE", then lines with - that are replaced by lines with +, in which BUG is true */
    const char *lost;   /* "", or the files that have not the text any more that would be altered */
} museum_row;

extern const museum_row museum_rows[];
extern const size_t museum_row_count;
int museum_number(const char *name); /* 0: there is no such bug, or its text is lost */

/* ---- Looks ----------------------------------------------------------------------------------- */

typedef struct museum_search {
    const char *what;      /* the words after its kind */
    uint32_t muted_checks; /* judges that are left out */
    uint64_t fixtures;     /* at most: situations of a search, cases of a run, tables of a call */
    uint64_t schedules;    /* of one fixture */
    const char *story;     /* a look of kernels writes the failing run as a story into this file; NULL: it does not */
    const museum_row *row;
} museum_search;

typedef struct museum_sight {
    bool found;
    museum_judge by;
    char sentence[512];
    char at[512]; /* the case that shows it again */
    uint64_t seed;
    uint64_t tries;     /* schedules, cases, calls or files until then, or in all */
    uint64_t decisions; /* of the shortest schedule, and ...  */
    uint64_t decisions_before;
    uint64_t hash; /* of the interleavings: equal on every machine */
    double seconds;
} museum_sight;

/* NULL, or why the look could not be tried. museum_now is set. */
const char *museum_look_sched(const museum_search *s, museum_sight *sight);
const char *museum_look_crash(const museum_search *s, museum_sight *sight);
const char *museum_look_run(const museum_search *s, museum_sight *sight);
const char *museum_look_grow(const museum_search *s, museum_sight *sight);
const char *museum_look_chase(const museum_search *s, museum_sight *sight);
const char *museum_look_call(const museum_search *s, museum_sight *sight);
const char *museum_look_file(const museum_search *s, museum_sight *sight);

/* simt_explore for looks of kernels. c->persist: simt_explore_crashes. */
hd_status museum_explore(simt_machine *m, comparison *a, const simt_config *c, uint64_t schedules, uint64_t tries,
                         simt_exploration *e);

/* What a look of kernels found, as stories in a file, a JSON array (heddle.story/1): the schedule of `c`, which fails,
 * and if it is lawful a run without the bug. NULL, or why it could not be written. */
const char *museum_tell(const museum_search *s, const museum_sight *sight, const fixture *f, simt_machine *m,
                        comparison *a, const simt_config *c, bool lawful);

/* Whether a judge is heard; if so what it says is noted. */
bool museum_heard(const museum_search *s, museum_sight *sight, museum_judge by, const char *sentence);

#endif
