/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_puzzle.c - kernels with holes: the list, a task, a hint, and the verdict on an answer (learn/puzzles/puzzle.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "learn/puzzles/puzzle.h"
#include "tools/output.h"
#include "tools/page.h"
#include "tools/puzzle_progress.h"
#include "tools/puzzle_try.h"

enum { NAME = 64, NUMBER = 32 };

typedef struct puzzle_options {
    bool hint;
    const char *html, *headers;
} puzzle_options;

static const tool_option option[] = {
    { "hint", 'i', NULL, "show the next of three hints", TOOL_FIELD(puzzle_options, hint) },
    { "html", 'H', "FILE", "write the failing schedule as a page that plays it", TOOL_FIELD(puzzle_options, html) },
    { "headers", 'I', "FOLDER", "write the headers that answers include, for an editor or nvcc",
      TOOL_FIELD(puzzle_options, headers) },
    { .name = NULL },
};

static const char *const cost_name[] = { "sectors", "atomics", "steps" };

/* ---- Which puzzle ---------------------------------------------------------------------------- */

static int puzzle_count(void)
{
    int n = 0;
    while (puzzles[n]) n++;
    return n;
}

/* By its number or its name. *number: from 1. */
static int puzzle_find_word(const char *word, int *number)
{
    const char *name[NAME];
    uint64_t n = (uint64_t)puzzle_count(), k;
    for (uint64_t i = 0; i <= n; i++) name[i] = puzzles[i] ? puzzles[i]->name : NULL;
    for (uint64_t i = 0; i < n; i++)
        if (strcmp(name[i], word) == 0) return *number = (int)i + 1, TOOL_OK;
    if (*word >= '0' && *word <= '9') {
        if (tool_read(hd_parse_u64("PUZZLE", word, 1, n, &k))) return TOOL_USAGE;
        return *number = (int)k, TOOL_OK;
    }
    return tool_say(TOOL_USAGE, "there is no puzzle '%.60s'%s", word, tool_nearest(word, name));
}

static const char *text_of(const puzzle *p, const char *file)
{
    char path[NAME + NUMBER];
    snprintf(path, sizeof path, "puzzles/%s/%s", p->name, file);
    return puzzle_text(path);
}

/* ---- The list -------------------------------------------------------------------------------- */

static int list(const tool_line *line)
{
    static const out_column column[] = {
        { "number", "no.", OUT_PLAIN },   { "name", "name", OUT_TEXT },    { "title", "what to write", OUT_TEXT },
        { "solved", "solved", OUT_FLAG }, { "tries", "tries", OUT_COUNT }, { "hints", "hints", OUT_COUNT },
        { "best", "best", OUT_FIXED },    { "par", "par", OUT_FIXED },     { "cost", "per key", OUT_TEXT },
    };
    uint64_t solved = 0;
    int next = 0; /* the first that is not solved */
    out *r = out_open(line->form, "heddle.puzzle.list/1", column, 9);
    json_t *kept = puzzle_progress_read();
    for (int i = 0; puzzles[i]; i++) {
        const puzzle *p = puzzles[i];
        puzzle_progress done = puzzle_progress_in(kept, p->name);
        solved += done.solved;
        if (!next && !done.solved) next = i + 1;
        out_row(r, (const out_value[]){ out_count((uint64_t)i + 1), out_text(p->name), out_text(p->title),
                                        out_flag(done.solved), out_count(done.tries), out_count(done.hints),
                                        done.solved ? out_real(done.best) : out_none(), out_real(p->par),
                                        out_text(cost_name[p->cost]) });
    }
    json_decref(kept);
    out_fact(r, "puzzles", "puzzles", OUT_COUNT, out_count((uint64_t)puzzle_count()));
    out_fact(r, "solved", "solved", OUT_COUNT, out_count(solved));
    if (next)
        out_note(r, "\nheddle puzzle %d shows the %s task and writes the file to begin with.\n", next,
                 solved ? "next" : "first");
    else
        out_note(r, "\nAll of them are solved. A best cost above par can still be lowered.\n");
    return out_close(r, TOOL_OK);
}

/* ---- A task, a hint -------------------------------------------------------------------------- */

/* The text with {par} replaced. malloc; NULL: memory was refused. */
static char *task_text(const puzzle *p)
{
    const char *text = text_of(p, "task.txt"), *hole = strstr(text, "{par}");
    char *task = NULL;
    int n = hole ? asprintf(&task, "%.*s%.2f%s", (int)(hole - text), text, p->par, hole + strlen("{par}"))
                 : asprintf(&task, "%s", text);
    return n < 0 ? NULL : task;
}

/* Writes the starting file if there is none. *begun: it was written. */
static int start_write(const puzzle *p, const char *file, bool *begun)
{
    FILE *f = fopen(file, "wx");
    *begun = f != NULL;
    if (!f) return errno == EEXIST ? TOOL_OK : tool_say(TOOL_SYSTEM, "'%s': %s", file, strerror(errno));
    bool well = fputs(text_of(p, "start.c"), f) >= 0;
    well = fclose(f) == 0 && well;
    return well ? TOOL_OK : tool_say(TOOL_SYSTEM, "'%s': %s", file, strerror(errno));
}

static void facts_of(out *r, const puzzle *p, int number)
{
    out_fact(r, "number", "puzzle", OUT_PLAIN, out_count((uint64_t)number));
    out_fact(r, "name", "name", OUT_TEXT, out_text(p->name));
    out_fact(r, "title", NULL, OUT_TEXT, out_text(p->title));
}

static int show_task(const tool_line *line, const puzzle *p, int number)
{
    char file[NUMBER];
    bool begun;
    snprintf(file, sizeof file, "puzzle%d.c", number);
    int code = start_write(p, file, &begun);
    char *task = code ? NULL : task_text(p);
    if (code) return code;
    if (!task) return tool_say(TOOL_SYSTEM, "memory was refused");
    out *r = out_open(line->form, "heddle.puzzle.task/1", NULL, 0);
    facts_of(r, p, number);
    out_fact(r, "task", NULL, OUT_TEXT, out_text(task));
    out_fact(r, "file", "your answer", OUT_TEXT, out_text(file));
    out_fact(r, "begun", NULL, OUT_FLAG, out_flag(begun));
    out_note(r,
             "\n%s\n%s %s. When you have an answer:\n    heddle puzzle %d %s\nA hint:\n    heddle puzzle %d --hint\n",
             task, begun ? "The file to begin with is" : "You have begun in", file, number, file, number);
    free(task);
    return out_close(r, TOOL_OK);
}

/* Hint number `which`, from 0: the text between blank lines. */
static const char *hint_text(const puzzle *p, uint64_t which, int *bytes)
{
    const char *text = text_of(p, "hints.txt"), *end;
    while (which-- && (end = strstr(text, "\n\n")) != NULL) text = end + 2;
    end = strstr(text, "\n\n");
    *bytes = (int)(end ? (size_t)(end - text) : strlen(text) - 1);
    return text;
}

static int show_hint(const tool_line *line, const puzzle *p, int number)
{
    puzzle_progress done = puzzle_progress_of(p->name);
    uint64_t which = done.hints < PUZZLE_HINTS ? done.hints : PUZZLE_HINTS - 1;
    int bytes;
    const char *text = hint_text(p, which, &bytes);
    char *hint = strndup(text, (size_t)bytes);
    done.hints = which + 1;
    puzzle_progress_keep(p->name, &done);
    out *r = out_open(line->form, "heddle.puzzle.hint/1", NULL, 0);
    facts_of(r, p, number);
    out_fact(r, "hint", "hint", OUT_COUNT, out_count(which + 1));
    out_fact(r, "hints", "of", OUT_COUNT, out_count(PUZZLE_HINTS));
    out_fact(r, "text", NULL, OUT_TEXT, hint ? out_text(hint) : out_none());
    out_note(r, "\n%s\n", hint ? hint : "");
    free(hint);
    return out_close(r, TOOL_OK);
}

/* ---- A verdict ------------------------------------------------------------------------------- */

static const out_column column[] = {
    { "step", "step", OUT_PLAIN },        { "who", "who", OUT_TEXT },     { "lanes", "lanes", OUT_TEXT },
    { "does", "what they do", OUT_TEXT }, { "place", "where", OUT_TEXT }, { "operation", "how", OUT_TEXT },
    { "before", "was", OUT_TEXT },        { "after", "is", OUT_TEXT },    { "site", "in the text", OUT_TEXT },
    { "note", NULL, OUT_TEXT },
};
enum { COLUMNS = sizeof column / sizeof *column, ROWS_SHOWN = 60 };

static out_value text_in(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? out_text(text) : out_none();
}

/* "0-3 7" */
static const char *lanes_text(const json_t *lanes, char *text, size_t bytes)
{
    size_t n = json_array_size(lanes), used = 0;
    text[0] = 0;
    for (size_t i = 0; i < n && used < bytes;) {
        size_t last = i;
        json_int_t first = json_integer_value(json_array_get(lanes, i));
        while (last + 1 < n &&
               json_integer_value(json_array_get(lanes, last + 1)) == first + (json_int_t)(last + 1 - i))
            last++;
        const char *gap = i ? " " : "";
        used += (size_t)(last > i ? snprintf(text + used, bytes - used, "%s%d-%d", gap, (int)first,
                                             (int)first + (int)(last - i))
                                  : snprintf(text + used, bytes - used, "%s%d", gap, (int)first));
        i = last + 1;
    }
    return text;
}

static void steps_report(out *r, const json_t *story)
{
    const json_t *steps = json_object_get(story, "steps");
    size_t n = json_array_size(steps);
    for (size_t i = n > ROWS_SHOWN ? n - ROWS_SHOWN : 0; i < n; i++) {
        char lanes[OUT_CELL];
        const json_t *s = json_array_get(steps, i);
        out_row(r, (const out_value[]){
                       out_count((uint64_t)json_integer_value(json_object_get(s, "step"))), text_in(s, "who"),
                       out_text(lanes_text(json_object_get(s, "lanes"), lanes, sizeof lanes)), text_in(s, "does"),
                       text_in(s, "place"), text_in(s, "operation"), text_in(s, "before"), text_in(s, "after"),
                       text_in(s, "site"), text_in(s, "note") });
    }
}

static const char *note_of(const json_t *steps, size_t i)
{
    return json_string_value(json_object_get(json_array_get(steps, i), "note"));
}

/* Below the table: each note once, with its steps. */
static void notes_report(out *r, const json_t *story)
{
    const json_t *steps = json_object_get(story, "steps");
    size_t n = json_array_size(steps), first = n > ROWS_SHOWN ? n - ROWS_SHOWN : 0;
    for (size_t i = first, k; i < n; i++) {
        const char *note = note_of(steps, i);
        for (k = first; note && k < i && (!note_of(steps, k) || strcmp(note_of(steps, k), note) != 0);) k++;
        if (!note || k < i) continue; /* it was told with an earlier step */
        out_note(r, "\nStep ");
        for (const char *gap = ""; k < n; k++) {
            if (!note_of(steps, k) || strcmp(note_of(steps, k), note) != 0) continue;
            out_note(r, "%s%d", gap, (int)json_integer_value(json_object_get(json_array_get(steps, k), "step")));
            gap = ", ";
        }
        out_note(r, ": %s\n", note);
    }
}

/* Costs per key, and the par of the one that counts. */
static void costs_report(out *r, const puzzle *p, const json_t *v, bool accepted)
{
    static const char *const label[] = { "sectors per key", "atomics per key", "steps per key" };
    for (int i = 0; i < 3; i++) {
        double cost = json_number_value(json_object_get(v, cost_name[i]));
        bool counts = (puzzle_cost)i == p->cost;
        out_fact(r, cost_name[i], cost >= 0 && (counts || accepted) ? label[i] : NULL, OUT_FIXED,
                 cost >= 0 ? out_real(cost) : out_none());
        if (counts) out_fact(r, "par", accepted ? "par" : NULL, OUT_FIXED, out_real(p->par));
    }
    out_fact(r, "cost", NULL, OUT_TEXT, out_text(cost_name[p->cost]));
}

static void schedule_report(out *r, const json_t *v)
{
    const char *schedule = json_string_value(json_object_get(v, "schedule"));
    bool weak = json_is_true(json_object_get(v, "weak"));
    uint64_t n = (uint64_t)json_integer_value(json_object_get(v, "schedules"));
    out_fact(r, "schedule", schedule && *schedule ? "schedule" : NULL, OUT_TEXT, text_in(v, "schedule"));
    out_fact(r, "weak", weak ? "weak memory" : NULL, OUT_FLAG, out_flag(weak));
    out_fact(r, "schedules", "schedules", OUT_COUNT, out_count(n));
}

static int report(const tool_line *line, const puzzle *p, int number, const json_t *v, bool html)
{
    const char *by = json_string_value(json_object_get(v, "by"));
    const json_t *story = json_object_get(v, "story");
    out *r = out_open(line->form, "heddle.puzzle/1", column, COLUMNS);
    facts_of(r, p, number);
    out_fact(r, "accepted", "accepted", OUT_FLAG, out_flag(!by));
    out_fact(r, "by", by ? "rejected by" : NULL, OUT_TEXT, text_in(v, "by"));
    out_fact(r, "idea", by ? "because" : NULL, OUT_TEXT, text_in(v, "idea"));
    out_fact(r, "detail", NULL, OUT_TEXT, text_in(v, "detail"));
    schedule_report(r, v);
    costs_report(r, p, v, !by);
    out_member(r, "story", json_incref(json_object_get(v, "story")));
    steps_report(r, story);
    notes_report(r, story);
    const char *detail = json_string_value(json_object_get(v, "detail"));
    if (by && detail) out_note(r, "\n%s\n", detail);
    if (json_is_object(story) && !html) out_note(r, "\nThe same as a page that plays: --html FILE\n");
    if (!by && puzzles[number]) out_note(r, "\nThe next one: heddle puzzle %d\n", number + 1);
    return out_close(r, by ? TOOL_DIFFERS : TOOL_OK);
}

static void progress_note(const puzzle *p, const json_t *v)
{
    puzzle_progress done = puzzle_progress_of(p->name);
    double cost = json_number_value(json_object_get(v, cost_name[p->cost]));
    done.tries++;
    if (json_is_null(json_object_get(v, "by"))) {
        if (!done.solved || cost < done.best) done.best = cost;
        done.solved = true;
    }
    puzzle_progress_keep(p->name, &done);
}

static int page(const puzzle *p, int number, const json_t *v, const char *path)
{
    char title[NAME + NUMBER + 64];
    json_t *story = json_object_get(v, "story");
    if (!json_is_object(story))
        return tool_say(TOOL_OK, "--html: there is no failing schedule to show, and '%s' is not written", path);
    snprintf(title, sizeof title, "Puzzle %d, %.80s", number, p->title);
    return page_write(path, title, &story, 1);
}

static int judge(const tool_line *line, const puzzle_options *o, const puzzle *p, int number)
{
    json_t *v;
    const char *path = line->word[1];
    int code = tool_file("FILE", path);
    if (!code && o->html) code = tool_apart("--html", o->html, path);
    if (!code && o->html) code = tool_writable("--html", o->html);
    if (!code) code = puzzle_try(p, path, &v);
    if (code) return code;
    progress_note(p, v);
    code = report(line, p, number, v, o->html != NULL);
    int written = o->html ? page(p, number, v, o->html) : TOOL_OK;
    json_decref(v);
    return written ? written : code;
}

/* ---- The verb -------------------------------------------------------------------------------- */

static int run(tool_line *line, int argc, char **argv)
{
    puzzle_options o = { false, NULL, NULL };
    int number = 0, code = tool_parse(line, argc, argv, &o);
    if (code >= 0) return code;
    if (o.headers && (code = puzzle_headers(o.headers)) != TOOL_OK) return code;
    if (!line->words)
        return o.hint || o.html ? tool_say(TOOL_USAGE, "which puzzle? heddle puzzle lists them") : list(line);
    code = puzzle_find_word(line->word[0], &number);
    if (code) return code;
    const puzzle *p = puzzles[number - 1];
    if (line->words == 2 && o.hint) return tool_say(TOOL_USAGE, "--hint takes no answer to judge");
    if (line->words == 2) return judge(line, &o, p, number);
    if (o.html) return tool_say(TOOL_USAGE, "--html needs an answer to judge: heddle puzzle %d FILE", number);
    return o.hint ? show_hint(line, p, number) : show_task(line, p, number);
}

static const char doc[] =
    "Twelve kernels with holes, from finding a key in a bucket to weak memory (doc/puzzles.md). Without words it lists "
    "them. With a number or a name it shows the task, and writes the file to begin with, puzzleN.c, if there is none. "
    "With a file (heddle puzzle 3 puzzle3.c) it compiles the answer with the C compiler (CC, else cc), runs it in the "
    "simulator under many "
    "schedules, and judges it: accepted (exit code 0), with its costs against par; or rejected (1), with the idea that "
    "is missing and the shortest schedule that fails.\n"
    "An answer is a program that runs with your rights. Judge only files that you would also run.\n"
    "Progress is kept in $XDG_STATE_HOME/heddle/puzzles.json, else in ~/.local/state.\n"
    "\n"
    "EXAMPLES\n"
    "  heddle puzzle\n"
    "  heddle puzzle 3\n"
    "  heddle puzzle 3 --hint\n"
    "  heddle puzzle --headers include\n";

const tool_verb verb_puzzle = {
    "puzzle", "[PUZZLE [FILE]]", "kernels with holes: write them, and have them judged", doc, 0, 2, option, NULL, run
};
