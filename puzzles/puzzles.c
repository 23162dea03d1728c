/* SPDX-License-Identifier: Apache-2.0
 *
 * puzzles.c - the table of puzzles, their memory, and the texts that the command carries.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "puzzles/puzzle.h"

#define PUZZLE(name) extern const puzzle puzzle_##name;
#include "puzzles/registry.inc"
#undef PUZZLE

const puzzle *const puzzles[] = {
#define PUZZLE(name) &puzzle_##name,
#include "puzzles/registry.inc"
#undef PUZZLE
    NULL
};

/* ---- Memory ---------------------------------------------------------------------------------- */

void *bed_array(puzzle_bed *b, const char *table, const char *row, const char *name, uint32_t bytes, uint32_t n)
{
    enum { LINE = 128 }; /* between two arrays is a line of nobody's, so that an access past an end is out of bounds */
    puzzle_array *a = &b->array[b->arrays++];
    size_t size = (size_t)bytes * n;
    *a = (puzzle_array){ name, table ? table : name, row, bytes, n, b->memory + b->used, false };
    b->used += (size + LINE - 1) / LINE * LINE + LINE;
    return memset(a->p, 0, size);
}

void *bed_input(puzzle_bed *b, const char *table, const char *row, const char *name, uint32_t bytes, uint32_t n)
{
    void *p = bed_array(b, table, row, name, bytes, n);
    b->array[b->arrays - 1].input = true;
    return p;
}

void bed_launch(puzzle_bed *b, const void *args, size_t args_bytes, uint32_t blocks, uint32_t threads, uint32_t keys)
{
    memcpy(b->args, args, args_bytes);
    b->args_bytes = args_bytes;
    b->blocks = blocks;
    b->threads = threads;
    b->keys = keys;
}

const char *bed_wrong(puzzle_bed *b, const char *by, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(b->detail, sizeof b->detail, format, ap);
    va_end(ap);
    return by;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static const struct text {
    const char *path, *text;
} texts[] = {
#include "puzzles/texts.inc"
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
