/* SPDX-License-Identifier: Apache-2.0
 *
 * case_run.h - what sched, diff and explain share: a case of their command line as a fixture on a machine.
 */
#ifndef HD_TOOLS_CASE_RUN_H
#define HD_TOOLS_CASE_RUN_H

#include "judge/comparison.h"
#include "judge/kernels.h"
#include "tools/tool.h"

enum { CASE_RUN_TEXT = 1024 };

typedef struct case_run {
    hd_case c[FIXTURE_PARTS];
    fixture_kernel kernel[FIXTURE_PARTS];
    uint32_t parts;
    char text[CASE_RUN_TEXT]; /* the case, complete */
    comparison *a;
    fixture *s; /* a's */
    simt_machine *m;
} case_run;

/* Opens the case that the command line's words are, for blocks of `threads`. -1, or the exit code after a sentence. */
int case_run_take(case_run *x, const tool_line *line, unsigned batch, uint64_t threads, uint64_t blocks);
/* The words with blanks between them. */
int case_run_words(char *const *word, int words, char text[CASE_RUN_TEXT]);
/* Whether a kernel does not run on the small tables of its design, and so wants the wide ones. */
bool case_run_wide(const judge_design *d, const char *kernel);
/* The cases of a text: one, or two with a + between them. -1, or the exit code after a sentence. */
int case_run_parse(const char *text, hd_case c[FIXTURE_PARTS], uint32_t *parts);
/* Fills in what a case leaves open: a table without a size would have thousands of slots. */
void case_run_complete(const judge_design *d, bool wide, unsigned batch, hd_case *c);
/* Opens parts cases that run at the same time. What a case does not set is that of a small table with `batch` items.
 * Blocks of `threads`, `blocks` of them. -1, or the exit code after a sentence. */
int case_run_open(case_run *x, const hd_case *c, uint32_t parts, unsigned batch, uint32_t threads, uint32_t blocks);
void case_run_close(case_run *x);

/* "key bucket 1, slot 3": a location in memory, by name. */
const char *case_run_location(const case_run *x, const void *p, char *text, size_t bytes);

/* What is shown of a value that location p has. An address in the array ptr is shown as the number of bytes before it
 * in its array, because addresses differ from run to run. */
uint64_t case_run_shown(const case_run *x, const void *p, uint64_t value);

#endif
