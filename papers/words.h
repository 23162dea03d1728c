/* SPDX-License-Identifier: Apache-2.0
 *
 * words.h - the command line of the experiments: NAME=VALUE words; what goes wrong ends the program with exit code 2
 * and a sentence. Included once by each program, which says its name as EXPERIMENT.
 */
#ifndef PAPERS_WORDS_H
#define PAPERS_WORDS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle.h"
#include "base/parse.h"

static inline void stop(const char *what, const char *why)
{
    fprintf(stderr, EXPERIMENT ": %s: %s\n", what, why);
    exit(2);
}

static inline void must(hd_status s)
{
    if (s) stop(hd_status_name(s), hd_why());
}

/* A word that a program takes: its name, what it is, the greatest number, and where its value goes. */
typedef enum word_kind { WORD_TEXT /* char[16] */, WORD_WHOLE /* uint64_t */, WORD_REAL /* double */ } word_kind;

typedef struct word_row {
    const char *name; /* "load=" */
    word_kind kind;
    uint64_t most;
    void *out;
} word_row;

static inline void word_read(const word_row *row, const char *value)
{
    switch (row->kind) {
    case WORD_TEXT: snprintf((char *)row->out, 16, "%s", value); break;
    case WORD_WHOLE: must(hd_parse_u64(row->name, value, 0, row->most, (uint64_t *)row->out)); break;
    case WORD_REAL: must(hd_parse_double(row->name, value, 0, (double)row->most, (double *)row->out)); break;
    }
}

/* Every word of `word` (n) by its row of `rows` (many); a word without a row ends the program. */
static inline void words_read(char **word, int n, const word_row *rows, size_t many)
{
    for (int i = 0; i < n; i++) {
        size_t r = 0;
        while (r < many && strncmp(word[i], rows[r].name, strlen(rows[r].name)) != 0) r++;
        if (r == many) stop("there is no such word", word[i]);
        word_read(&rows[r], word[i] + strlen(rows[r].name));
    }
}

#define WORDS_READ(word, n, rows) words_read((word), (n), (rows), sizeof(rows) / sizeof *(rows))

#endif
