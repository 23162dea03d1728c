/* SPDX-License-Identifier: Apache-2.0
 *
 * t_story.c - tests of stories of runs (judge/story_run.h). The steps, replayed on the cells, lead to the table
 * that the kernels left; every place that a step names is there. A story that is cut ends in the same cells.
 */
#include <inttypes.h>
#include <string.h>

#include "judge/cells.h"
#include "judge/comparison.h"
#include "judge/design.h"
#include "judge/kernels.h"
#include "judge/story_run.h"
#include "tests/testing.h"

/* ---- A story's cells ------------------------------------------------------------------------- */

static json_int_t number(const json_t *array, size_t i) { return json_integer_value(json_array_get(array, i)); }

static json_t *row_of(const json_t *story, json_int_t panel, json_int_t row)
{
    json_t *p = json_array_get(json_object_get(story, "panels"), (size_t)panel);
    return json_array_get(json_object_get(p, "cells"), (size_t)row);
}

/* Writes what the steps change into the panels' cells. Each place that a step names must be there. */
static void replay(json_t *story)
{
    json_t *steps = json_object_get(story, "steps"), *step, *set, *look, *sector;
    json_t *memory = json_object_get(story, "memory");
    size_t i, k;
    json_int_t last = 0;
    json_array_foreach(steps, i, step)
    {
        json_array_foreach(json_object_get(step, "sets"), k, set)
            check(json_array_set(row_of(story, number(set, 0), number(set, 1)), (size_t)number(set, 2),
                                 json_array_get(set, 3)) == 0,
                  "step %zu changes a cell that is not there", i);
        json_array_foreach(json_object_get(step, "looks"), k, look)
            check(json_array_get(row_of(story, number(look, 0), number(look, 1)), (size_t)number(look, 2)),
                  "step %zu reads a cell that is not there", i);
        json_array_foreach(json_object_get(step, "sectors"), k, sector)
            check(number(sector, 1) <
                      json_integer_value(json_object_get(json_array_get(memory, (size_t)number(sector, 0)), "sectors")),
                  "step %zu moves a sector that is not there", i);
        json_int_t at = json_integer_value(json_object_get(step, "step"));
        check(at >= last, "step %zu comes before the one before it", i);
        last = at;
    }
}

static size_t index_in(const json_t *names, const char *name)
{
    size_t i = 0;
    while (i < json_array_size(names) && strcmp(json_string_value(json_array_get(names, i)), name) != 0) i++;
    return i;
}

/* The text of the cell, or NULL. */
static const char *text_at(const json_t *story, const char *table, const char *row, const char *column)
{
    json_t *panel;
    size_t i;
    json_array_foreach(json_object_get(story, "panels"), i, panel)
    {
        if (strcmp(json_string_value(json_object_get(panel, "name")), table) != 0) continue;
        json_t *cells = json_array_get(json_object_get(panel, "cells"), index_in(json_object_get(panel, "rows"), row));
        return json_string_value(json_array_get(cells, index_in(json_object_get(panel, "columns"), column)));
    }
    return NULL;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

typedef struct bench {
    simt_machine *m;
    uint64_t stories, cells;
} bench;

/* Compares the keys of the table after the run, or its entries in words, with the story's last cells. */
static void compare_keys(bench *b, const fixture *s, const json_t *story)
{
    const judge_design *d = s->design;
    for (uint64_t e = 0; e < fixture_places(d, s->table); e++) {
        char place[128], want[64];
        uint64_t key = d->key_at(s->table, e);
        fixture_place(d, s->table, e, place, sizeof place);
        char *comma = strstr(place, ", ");
        *comma = 0;
        const char *shown = text_at(story, place, comma + 2, "key");
        cell_text("key", (const uint8_t *)&key, 8, want, sizeof want);
        if (!shown) {
            shown = text_at(story, place, comma + 2, CELL_ENTRY);
            fixture_describe(d, s->table, e, want, sizeof want);
        }
        if (!shown) continue;
        check(strcmp(shown, want) == 0, "%s, %s: the story ends with %s, the table has %s", place, comma + 2, shown,
              want);
        b->cells++;
    }
}

static json_t *story_of(const fixture *s, const simt_machine *m, uint64_t most)
{
    const run_told told = { .s = s, .m = m, .all = true, .most = most };
    story *st = story_open("a run", "none");
    check(story_of_run(st, &told), "no memory");
    json_t *j = story_json(st);
    story_close(st);
    check(j != NULL, "no story");
    return j;
}

/* Both stories end in the same cells; the second has at most `most` steps. */
static void compare_cut(const fixture *s, const simt_machine *m, json_t *whole, uint64_t most)
{
    json_t *cut = story_of(s, m, most);
    size_t steps = json_array_size(json_object_get(whole, "steps")),
           left = json_array_size(json_object_get(cut, "steps"));
    json_int_t skipped = json_integer_value(json_object_get(json_object_get(cut, "skipped"), "steps"));
    replay(cut);
    check(left == (steps < most ? steps : most) && left + (size_t)skipped == steps,
          "of %zu steps %zu are told, and %" PRIi64 " left out", steps, left, (int64_t)skipped);
    check(json_equal(json_object_get(whole, "panels"), json_object_get(cut, "panels")), "the cells differ at the end");
    json_decref(cut);
}

static void tell(bench *b, const judge_design *d, uint32_t row, hd_op op, uint64_t seed)
{
    char text[256];
    hd_case c;
    const char *why;
    simt_config how = simt_config_default();
    how.seed = seed;
    how.trace = true;
    how.shared_bytes = 48 << 10;
    const judge_small is = fixture_wide(d);
    snprintf(text, sizeof text, "%s.%s.%s buckets=2 slots=%u batch=5x1 keys=%s seed=%" PRIu64 "%s%s%s%s", d->name,
             hd_op_name(op), fixture_row_name(d, row), is.slots, is.keys, seed, is.field ? " " : "",
             is.field ? is.field : "", is.field ? "=" : "", is.field ? is.value : "");
    test_case("%s", text);
    must(hd_case_parse(text, &c));
    if (fixture_unsupported(d, row, &c)) return;
    fixture_kernel k = fixture_kernel_at(d, row, 32, 1);
    const fixture_kernel *kernels[] = { &k };
    fixture *s;
    comparison *a;
    must(fixture_open(&c, kernels, 1, &s));
    must(comparison_open(s, &a));
    must(comparison_run(a, b->m, &how, &why));
    check(!why, "%s", why);
    json_t *story = story_of(s, b->m, 0);
    replay(story);
    compare_keys(b, s, story);
    compare_cut(s, b->m, story, 10);
    b->stories++;
    json_decref(story);
    comparison_close(a);
}

static void steps_lead_to_the_table(void)
{
    bench b = { 0 };
    const judge_design *d;
    must(simt_machine_open(NULL, &b.m));
    for (size_t i = 0; (d = judge_design_at(i)); i++)
        for (uint32_t row = 0; fixture_row_name(d, row); row++)
            for (int op = 0; op < HD_OP_COUNT_; op++)
                for (uint64_t seed = 1; seed <= test_quarter(4) && fixture_runs(d, row, (hd_op)op); seed++)
                    tell(&b, d, row, (hd_op)op, seed);
    simt_machine_close(b.m);
    check(b.stories > 100 && b.cells > 1000, "%" PRIu64 " stories, %" PRIu64 " cells", b.stories, b.cells);
    test_note("%" PRIu64 " stories; %" PRIu64 " entries compared", b.stories, b.cells);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static void names_become_cells(void)
{
    static const struct {
        const char *location, *table, *row, *column;
    } known[] = { { "key in bucket 1, slot 3", "bucket 1", "slot 3", "key" },
                  { "least score in bucket 1, from slot 8", "bucket 1", "slot 8", "least score" },
                  { "stash bucket 2, slot 0", "stash bucket 2", "slot 0", "entry" },
                  { "outcome of item 12", "items", "item 12", "outcome" },
                  { "mask of stash bucket 2", "stash buckets", "stash bucket 2", "mask" },
                  { "count of hit", "counts", "hit", "count" } };
    cell_name c;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        test_case("%s", known[i].location);
        check(cell_name_of(known[i].location, &c), "it is no cell");
        check(strcmp(c.table, known[i].table) == 0 && strcmp(c.row, known[i].row) == 0 &&
                  strcmp(c.column, known[i].column) == 0,
              "table %s, row %s, column %s", c.table, c.row, c.column);
    }
    check(!cell_name_of("pin count", &c) && !cell_name_of("rows, byte 8", &c), "a name without a place is a cell");
}

static void values_become_texts(void)
{
    static const struct {
        const char *column;
        uint64_t value, bytes;
        const char *text;
    } known[] = { { "key", HD_KEY_EMPTY, 8, "empty" },
                  { "listed key", HD_KEY_LOCKED, 8, "locked" },
                  { "key", HD_KEY_RESERVED, 8, "reserved" },
                  { "key", 8, 8, "8" },
                  { "key", 1000000, 8, "0xf4240" },
                  { "outcome", HD_EVICTED, 1, "evicted" },
                  { "outcome", 0xa5, 1, "" },
                  { "lock", 1, 4, "held" },
                  { "lock", 2, 4, "2" },
                  { "digest", 11, 1, "0b" },
                  { "score", 999999, 8, "999999" },
                  { "score", 1000000, 8, "0xf4240" },
                  { "value", 5, 16, "5..." } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char text[64];
        test_case("%s %" PRIx64, known[i].column, known[i].value);
        cell_text(known[i].column, (const uint8_t *)&known[i].value, known[i].bytes, text, sizeof text);
        check(strcmp(text, known[i].text) == 0, "it is shown as '%s'", text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { unit(steps_lead_to_the_table), unit(names_become_cells),
                                        unit(values_become_texts) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
