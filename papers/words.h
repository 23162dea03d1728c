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

struct words; /* what a program takes from its command line */

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

/* A mode of a program: its name, the names of its columns, and what runs it. Each program defines its words. */
typedef struct word_mode {
    const char *name, *head;
    void (*run)(const struct words *w);
} word_mode;

/* The mode that the command line names: MODE [NAME=VALUE ...]. NULL: after `head MODE`, which prints its columns. */
static inline const word_mode *word_mode_of(int argc, char **argv, const word_mode *modes, size_t many)
{
    bool head = argc > 2 && strcmp(argv[1], "head") == 0;
    size_t m = 0;
    if (argc < 2) stop("usage", EXPERIMENT " [head] MODE [NAME=VALUE ...]");
    while (m < many && strcmp(modes[m].name, argv[head ? 2 : 1]) != 0) m++;
    if (m == many) stop("there is no such mode", argv[head ? 2 : 1]);
    if (!head) return &modes[m];
    if (printf("%s\n", modes[m].head) < 0) exit(1);
    return NULL;
}

#define WORD_MODE(argc, argv, modes) word_mode_of((argc), (argv), (modes), sizeof(modes) / sizeof *(modes))

static inline uint64_t table_size(hd_table *t)
{
    uint64_t size;
    must(hd_size_sync(t, &size));
    return size;
}

static inline hd_info table_info(hd_table *t)
{
    hd_info info;
    must(hd_table_info(t, &info));
    return info;
}

#define WORDS_READ(word, n, rows) words_read((word), (n), (rows), sizeof(rows) / sizeof *(rows))

#endif
