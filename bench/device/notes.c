/* SPDX-License-Identifier: Apache-2.0
 *
 * notes.c - the lines of two files; the makefile makes bench/notes.inc from them.
 */
#include "bench/device/notes.h"

#include <stdio.h>
#include <string.h>

static const struct notes_file {
    const char *name, *text;
} files[] = {
#include "bench/notes.inc"
};
enum { FILES = sizeof files / sizeof *files, TRIED = 0 };

/* The line at *at, and where the next begins; NULL: there is none. */
static const char *line_next(const char *text, size_t *at, size_t *bytes)
{
    const char *line = text + *at;
    if (!*line) return NULL;
    *bytes = strcspn(line, "\n");
    *at += *bytes + (line[*bytes] == '\n');
    return line;
}

/* The field before the first of `ends`, and on behind it. */
static const char *field_next(const char **p, const char *ends, size_t *bytes)
{
    const char *field = *p;
    *bytes = strcspn(field, ends);
    *p += *bytes;
    if (**p && **p != '\n') ++*p;
    return field;
}

/* What a row is called in the file. */
static const char *name_of(const bench_row_key *row, char *text, size_t bytes)
{
    snprintf(text, bytes, "%s%s%s", row->design, *row->design ? "." : "", row->operation);
    return text;
}

static bool is(const char *field, size_t bytes, const char *wanted)
{
    return strlen(wanted) == bytes && memcmp(field, wanted, bytes) == 0;
}

const char *notes_tried(const bench_row_key *row, size_t *at, size_t *bytes)
{
    char name[64];
    const char *const wanted[] = { name_of(row, name, sizeof name), row->hits, row->buckets, row->load };
    const char *line;
    while ((line = line_next(files[TRIED].text, at, bytes))) {
        const char *p = line;
        bool all = *bytes > 0 && *line != '#';
        for (int i = 0; i < 4 && all; i++) {
            size_t n = 0;
            const char *field = field_next(&p, i < 3 ? " \n" : ":\n", &n);
            all = is(field, n, wanted[i]) || is(field, n, "-");
        }
        if (!all) continue;
        while (*p == ' ') p++;
        *bytes -= (size_t)(p - line);
        return p;
    }
    return NULL;
}

/* Which column of a table's head has this name; -1: none. */
static int column_of(const char *head, const char *name)
{
    for (int c = 0; *head && *head != '\n'; c++) {
        size_t n;
        const char *field = field_next(&head, "\t\n", &n);
        if (is(field, n, name)) return c;
    }
    return -1;
}

static void cell(const char *line, int column, char *text, size_t bytes)
{
    size_t n = 0;
    const char *field = "";
    for (int c = 0; c <= column; c++) field = field_next(&line, "\t\n", &n);
    snprintf(text, bytes, "%.*s", column < 0 ? 0 : (int)n, field);
}

static bool row_is(const char *head, const char *line, const bench_row_key *row)
{
    const struct {
        const char *column, *wanted;
    } all[] = { { "operation", row->operation }, { "hits", row->hits },
                { "buckets", row->buckets },     { "dim", row->dim },
                { "load", row->load },           { "keys", row->keys },
                { "batch", row->batch },         { "capacity", row->capacity } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[32];
        cell(line, column_of(head, all[i].column), text, sizeof text);
        if (strcmp(text, all[i].wanted) != 0) return false;
    }
    return true;
}

static void tell(const char *head, const char *line, char *text, size_t bytes)
{
    static const char *const names[] = { "bound", "l2", "dram", "issue", "places", "occupancy", "waits" };
    char value[7][32];
    for (int i = 0; i < 7; i++) cell(line, column_of(head, names[i]), value[i], sizeof value[i]);
    snprintf(
        text, bytes,
        "%s (l2 %s, dram %s, issue %s of their peaks, places %s of the floor; occupancy %s, waiting for memory %s)",
        value[0], value[1], value[2], value[3], value[4], value[5], value[6]);
}

/* The lines above the head name the device: "; NVIDIA H200;". */
static bool is_of(const char *text, const char *device)
{
    char between[160];
    snprintf(between, sizeof between, "; %.128s;", device);
    return strstr(text, between) != NULL;
}

bool notes_counted(const char *device, const bench_row_key *row, char *text, size_t bytes)
{
    for (int f = 0; f < FILES; f++) {
        const char *head = NULL, *line;
        size_t at = 0, n;
        if (f == TRIED || !is_of(files[f].text, device)) continue;
        while ((line = line_next(files[f].text, &at, &n))) {
            if (n == 0 || *line == '#') continue;
            if (!head)
                head = line;
            else if (row_is(head, line, row))
                return tell(head, line, text, bytes), true;
        }
    }
    return false;
}
