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

/* Each: false when the word does not begin with NAME=; else its value is in *out. */
static inline bool word_text(const char *word, const char *name, char out[16])
{
    size_t n = strlen(name);
    if (strncmp(word, name, n) != 0) return false;
    snprintf(out, 16, "%s", word + n);
    return true;
}

static inline bool word_whole(const char *word, const char *name, uint64_t most, uint64_t *out)
{
    size_t n = strlen(name);
    if (strncmp(word, name, n) != 0) return false;
    must(hd_parse_u64(name, word + n, 0, most, out));
    return true;
}

static inline bool word_real(const char *word, const char *name, double most, double *out)
{
    size_t n = strlen(name);
    if (strncmp(word, name, n) != 0) return false;
    must(hd_parse_double(name, word + n, 0, most, out));
    return true;
}

#endif
