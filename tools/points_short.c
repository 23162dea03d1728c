/* SPDX-License-Identifier: Apache-2.0
 *
 * points_short.c - what stands below the table of points: each row that is short of its goal, by how much, what bounds
 * it as far as that was counted, and what was tried.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/device/notes.h"
#include "base/error.h"
#include "tools/points_report.h"
#include "tools/table_text.h"

/* Files of before there were others do not say the design. */
static const char *design_of(const points_row *r)
{
    return strcmp(r->cell[POINTS_DESIGN], hd_config_default().design) == 0 ? "" : r->cell[POINTS_DESIGN];
}

static bench_row_key key_of(const points_row *r)
{
    return (bench_row_key){ r->cell[POINTS_OPERATION], r->cell[POINTS_HITS],     r->cell[POINTS_BUCKETS],
                            r->cell[POINTS_DIM],       r->cell[POINTS_LOAD],     r->cell[POINTS_KEYS],
                            r->cell[POINTS_BATCH],     r->cell[POINTS_CAPACITY], design_of(r) };
}

static double figure(const points_row *r, points_column c) { return atof(r->cell[c]); }

static bool is_short(const points_row *r)
{
    return *r->cell[POINTS_GOAL] && *r->cell[POINTS_RATE] && figure(r, POINTS_RATE) < figure(r, POINTS_GOAL);
}

static void print_short(const points_report *r, const points_row *p, FILE *f)
{
    char bound[192];
    bench_row_key key = key_of(p);
    double rate = figure(p, POINTS_RATE), floor = figure(p, POINTS_FLOOR), goal = figure(p, POINTS_GOAL);
    fprintf(f, "%s, hits %s, %s, dim %s, load %s: %s of %s, %.1f%% short, %.0f%% of the floor", key.operation, key.hits,
            strcmp(key.buckets, "1") == 0 ? "one bucket"
            : *key.buckets == '2'         ? "two buckets"
                                          : "three buckets",
            key.dim, key.load, p->cell[POINTS_RATE], p->cell[POINTS_GOAL], 100 * (1 - rate / goal), 100 * rate / floor);
    if (goal > floor) fprintf(f, " of %s, which the goal is beyond", p->cell[POINTS_FLOOR]);
    fprintf(f, "; bound by %s\n",
            notes_counted(r->device, &key, bound, sizeof bound) ? bound : "what was not counted yet");
}

static bool is_short_of(const points_row *r, hd_op op)
{
    return is_short(r) && strcmp(r->cell[POINTS_OPERATION], bench_buffers_name(op)) == 0;
}

/* What was tried for the rows of an operation that are short, each line once. */
static void print_tried(const points_report *r, hd_op op, FILE *f)
{
    enum { LINES = 64 };
    const char *told[LINES], *line;
    size_t lines = 0, n;
    for (size_t i = 0; i < r->json.rows; i++) {
        bench_row_key key = key_of(&r->point[i]);
        size_t at = 0;
        while (is_short_of(&r->point[i], op) && (line = notes_tried(&key, &at, &n))) {
            size_t k = 0;
            while (k < lines && told[k] != line) k++;
            if (k < lines || lines == LINES) continue;
            told[lines++] = line;
            fprintf(f, "  tried: %.*s\n", (int)n, line);
        }
    }
}

void points_short_print(const points_report *r, FILE *f)
{
    size_t shorts = 0, goals = 0, rows = r->json.rows;
    for (size_t i = 0; i < rows; i++) goals += *r->point[i].cell[POINTS_GOAL] != 0, shorts += is_short(&r->point[i]);
    if (goals) fprintf(f, "\n%zu of %zu goals are met\n", goals - shorts, goals);
    for (int op = 0; op < BENCH_OPS; op++) {
        size_t told = 0;
        for (size_t i = 0; i < rows; i++) {
            if (!is_short_of(&r->point[i], (hd_op)op)) continue;
            if (told++ == 0) fputc('\n', f);
            print_short(r, &r->point[i], f);
        }
        print_tried(r, (hd_op)op, f);
    }
}

/* ---- Of a table that was saved --------------------------------------------------------------- */

/* The cells of a line, cut in place; columns that the file has not stay empty. */
static int row_read(points_report *r, char *line, const int *column, int columns)
{
    points_row *point = (points_row *)realloc(r->point, (r->json.rows + 1) * sizeof *point);
    if (!point) return tool_say(TOOL_SYSTEM, "memory was refused while reading a table");
    r->point = point;
    points_row *p = &point[r->json.rows++];
    memset(p, 0, sizeof *p);
    for (int c = 0; line && c < columns; c++) {
        char *value = strsep(&line, "\t");
        if (column[c] >= 0) snprintf(p->cell[column[c]], POINTS_CELL, "%s", value);
    }
    return TOOL_OK;
}

/* "# heddle 0.1.0; NVIDIA H200; rates ..." */
static void device_read(points_report *r, const char *line)
{
    const char *from = strchr(line, ';'), *to = from ? strchr(from + 1, ';') : NULL;
    if (strncmp(line, "# heddle ", 9) == 0 && to)
        snprintf(r->device, sizeof r->device, "%.*s", (int)(to - from - 2), from + 2);
}

/* 0: these are none of a table of points. */
static int columns_read(char *line, int *column)
{
    const unsigned needed = 1u << POINTS_OPERATION | 1u << POINTS_RATE | 1u << POINTS_GOAL | 1u << POINTS_FLOOR;
    unsigned known = 0;
    int columns = 0;
    for (char *name; line && columns < 2 * POINTS_COLUMNS; columns++) {
        name = strsep(&line, "\t");
        column[columns] = points_column_named(name);
        known |= column[columns] >= 0 ? 1u << column[columns] : 0;
    }
    return (known & needed) == needed ? columns : 0;
}

/* The text is cut in place. */
static int table_read(points_report *r, char *text, const char *path)
{
    int column[2 * POINTS_COLUMNS], columns = 0, code = TOOL_OK;
    bool headed = false;
    for (char *line; !code && text && (line = strsep(&text, "\n"), *line || text);) {
        if (*line == '#')
            device_read(r, line);
        else if (columns == 0 && !(columns = columns_read(line, column)))
            break;
        else if (!headed)
            headed = true;
        else
            code = row_read(r, line, column, columns);
    }
    if (!code && r->json.rows == 0) code = tool_say(TOOL_DATA, "%s: this is no table of points", path);
    return code;
}

int points_short_of(const char *path)
{
    points_report r;
    char *text = NULL;
    memset(&r, 0, sizeof r);
    int code = table_text(&text, path, "table of points");
    if (!code) code = table_read(&r, text, path);
    if (!code) points_short_print(&r, stdout);
    free(text);
    free(r.point);
    return code;
}
