/* SPDX-License-Identifier: Apache-2.0
 *
 * explain.h - what `heddle explain` can explain besides an operation of a kernel. A subject is a file tools/explain_*.c
 * with its row, and a line of `subjects` in verb_explain.c. It makes two things of the words of the command line:
 * a report, which the terminal shows, and a story of the same steps, which a page plays and --json contains.
 */
#ifndef HD_TOOLS_EXPLAIN_H
#define HD_TOOLS_EXPLAIN_H

#include "judge/story.h"
#include "tools/output.h"
#include "workload/case.h"

typedef struct explain_told {
    bool wants_story; /* the command prints JSON or writes a page */
    out *report;
    story *steps; /* NULL where it is not wanted: the functions of story.h then do nothing */
} explain_told;

typedef struct explain_subject {
    const char *words;            /* "policy=NAME [keys=SPEC slots=N ...]", as --help prints them */
    const char *what;             /* one sentence */
    bool (*is)(const char *word); /* whether the first word of the command line begins such a subject */
    /* Fills *told, whose members the caller closes, also after a failure. The exit code, after a sentence if it is not
     * TOOL_OK or TOOL_DIFFERS. */
    int (*tell)(const tool_line *line, explain_told *told);
} explain_subject;

extern const explain_subject explain_policy, explain_ref, explain_grow, explain_trace, explain_lock;

/* Whether a word is name=..., and what follows; NULL: it is not. */
const char *explain_value(const char *word, const char *name);
/* A number that a word gives. TOOL_OK, or the exit code after a sentence. */
int explain_number(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *n);
/* Takes a word that is name=value of a case, and no other. TOOL_OK, or the exit code after a sentence. */
int explain_case_word(hd_case *c, const char *word);

/* What the command line was: "heddle explain policy=lru slots=4". Static storage. */
const char *explain_command(const tool_line *line);

#endif
