/* SPDX-License-Identifier: Apache-2.0
 *
 * puzzles.c - the table of puzzles, and the texts that the command carries.
 */
#include <string.h>

#include "learn/puzzles/puzzle.h"

#define PUZZLE(name) extern const puzzle puzzle_##name;
#include "learn/puzzles/registry.inc"
#undef PUZZLE

const puzzle *const puzzles[] = {
#define PUZZLE(name) &puzzle_##name,
#include "learn/puzzles/registry.inc"
#undef PUZZLE
    NULL
};

/* ---- Texts ----------------------------------------------------------------------------------- */

static const struct text {
    const char *path, *text;
} texts[] = {
#include "learn/puzzles/texts.inc"
};

const char *puzzle_text_at(size_t i, const char **text)
{
    if (i >= sizeof texts / sizeof *texts) return NULL;
    *text = texts[i].text;
    return texts[i].path;
}

const char *puzzle_text(const char *path)
{
    const char *text = NULL, *name;
    for (size_t i = 0; (name = puzzle_text_at(i, &text)) != NULL; i++)
        if (strcmp(name, path) == 0) return text;
    return NULL;
}
