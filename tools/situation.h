/* SPDX-License-Identifier: Apache-2.0
 *
 * situation.h - what sched, diff and explain share: a case of their command line as a fixture on a machine, and how to go
 * through it.
 */
#ifndef HD_TOOLS_SITUATION_H
#define HD_TOOLS_SITUATION_H

#include "judge/agree.h"
#include "judge/kernels.h"
#include "tools/tool.h"

enum { SITUATION_TEXT = 1024 };

typedef struct situation {
    hd_case c[FIXTURE_PARTS];
    fixture_kernel kernel[FIXTURE_PARTS];
    uint32_t parts;
    char text[SITUATION_TEXT]; /* the case, complete */
    agree *a;
    fixture *s; /* a's */
    simt_machine *m;
} situation;

/* The words with blanks between them. */
int situation_words(char *const *word, int words, char text[SITUATION_TEXT]);
/* Whether a kernel does not run on the small tables of its design, and so wants the wide ones. */
bool situation_wide(const judge_design *d, const char *kernel);
/* The design of a text that begins with one, "hkv.find ..."; NULL: there are no kernels of that. */
const judge_design *situation_design(const char *text);
/* Opens `text`: one case, or two with a + between them. What it does not say is that of a small table with `batch`
 * items. Blocks of `threads`, `blocks` of them. -1, or the exit code after a sentence. */
int situation_open(situation *x, const char *text, unsigned batch, uint32_t threads, uint32_t blocks);
void situation_close(situation *x);

/* "key bucket 1, slot 3": a place in memory as people know it. */
const char *situation_place(const situation *x, const void *p, char *text, size_t bytes);

#endif
