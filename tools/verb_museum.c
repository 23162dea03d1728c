/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_museum.c - known bugs, built into copies of the library: each is run under the checks that have to find it.
 * The copies are in a program of their own, heddle-museum (judge/museum/guide.c), which says a line for each; this
 * makes a report of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "tools/beside.h"
#include "tools/page.h"
#include "tools/progress.h"
#include "tools/with.h"

enum { WORDS = 160, LINES = 1024, FIELDS = 16 };

typedef struct museum_options {
    bool list, sound;
    uint64_t fixtures, schedules;
    const char *html;
    tool_words without;
} museum_options;

static const tool_option option[] = {
    { "without", 'w', "JUDGE", "leave a judge out, and see who survives; more than once: several",
      TOOL_SEVERAL(museum_options, without, TOOL_WORDS, "more than 32 times") },
    { "sound", 's', NULL, "the same search with no bug built in: nothing may be found",
      TOOL_FIELD(museum_options, sound) },
    { "list", 'l', NULL, "only say which bugs there are", TOOL_FIELD(museum_options, list) },
    { "html", 'H', "FILE", "of one bug of kernels: write the run in which it shows as a page for a browser",
      TOOL_FIELD(museum_options, html) },
    { "fixtures", 'n', "N", "situations or cases at most that a bug is looked for in (100)",
      TOOL_RANGE(museum_options, fixtures, 1, 1u << 20) },
    { "schedules", 'm', "N", "of one situation, at most (60)", TOOL_RANGE(museum_options, schedules, 1, 1u << 20) },
    { .name = NULL },
};

/* ---- What the other program says ------------------------------------------------------------- */

/* Its lines, as fields; each line is one piece of memory that field 0 begins. */
typedef struct said {
    char *field[LINES][FIELDS];
    int lines;
    int code; /* its exit code; -1: it could not be started */
} said;

static void said_drop(said *s)
{
    for (int i = 0; i < s->lines; i++) free(s->field[i][0]);
}

static bool said_line(said *s, const char *text)
{
    char *line = s->lines < LINES ? strdup(text) : NULL;
    if (!line) return false;
    for (int f = 0; f < FIELDS; f++) {
        s->field[s->lines][f] = line;
        line += strcspn(line, "\t\n");
        if (*line) *line++ = 0;
    }
    s->lines++;
    return true;
}

/* Runs it; p, if not NULL, gets the number of lines so far, of `looks`. */
static void ask(char *const *argv, said *s, progress *p, uint64_t looks)
{
    int ends[2], code = -1;
    pid_t pid = 0;
    char *line = NULL;
    size_t room = 0;
    memset(s, 0, sizeof *s);
    s->code = -1;
    if (pipe(ends)) return;
    int e = beside_start(argv, ends[1], STDOUT_FILENO, ends[0], &pid);
    close(ends[1]);
    if (!e && tool_stopped()) beside_stop(); /* Ctrl-C came before it had a number */
    FILE *f = e ? NULL : fdopen(ends[0], "r");
    while (f && getline(&line, &room, f) > 0 && said_line(s, line))
        if (p && progress_at(p, (uint64_t)s->lines, looks, -1)) break;
    free(line);
    if (f)
        fclose(f);
    else
        close(ends[0]);
    s->code = e || beside_wait(pid, &code) ? -1 : code;
}

/* ---- The command line, checked against what there is ----------------------------------------- */

static int must_be_among(const char *what, const char *word, const said *s)
{
    const char *name[LINES + 1];
    for (int i = 0; i < s->lines; i++) name[i] = s->field[i][0];
    name[s->lines] = NULL;
    for (int i = 0; i < s->lines; i++)
        if (strcmp(word, name[i]) == 0) return TOOL_OK;
    return tool_say(TOOL_USAGE, "%s: there is no '%s'%s", what, word, tool_nearest(word, name));
}

static int check_words(const tool_line *line, const museum_options *o, const said *bugs, const said *judges)
{
    int code = TOOL_OK;
    for (int i = 0; i < line->words && !code; i++) code = must_be_among("NAME", line->word[i], bugs);
    for (int i = 0; i < o->without.n && !code; i++) code = must_be_among("--without", o->without.word[i], judges);
    return code;
}

/* ---- The report ------------------------------------------------------------------------------ */

enum {
    NAME,
    BUG,
    FROM,
    LOOK,
    FOUND,
    JUDGE,
    BY,
    NEEDS,
    SEED,
    TRIES,
    DECISIONS,
    DECISIONS_BEFORE,
    HASH,
    SECONDS,
    CASE,
    SENTENCE
};

/* clang-format off */
static const out_column column[] = {
    { "name", "name", OUT_TEXT },           { "found", "found", OUT_TEXT },          { "judge", "by", OUT_TEXT },
    { "seed", "seed", OUT_PLAIN },          { "tries", "tries", OUT_COUNT },         { "time_s", "time", OUT_SECONDS },
    { "wrong", "what was said", OUT_TEXT }, { "bug", "what it was", OUT_TEXT },      { "from", NULL, OUT_TEXT },
    { "look", NULL, OUT_TEXT },             { "by", NULL, OUT_TEXT },                { "needs", NULL, OUT_TEXT },
    { "decisions", NULL, OUT_COUNT },       { "decisions_before", NULL, OUT_COUNT }, { "tries_hash", NULL, OUT_TEXT },
    { "case", NULL, OUT_TEXT },
};
/* clang-format on */

static const out_column list_column[] = {
    { "name", "name", OUT_TEXT },      { "by", "to be found by", OUT_TEXT }, { "needs", "not without", OUT_TEXT },
    { "bug", "what it is", OUT_TEXT }, { "from", "who had it", OUT_TEXT },   { "look", NULL, OUT_TEXT },
};

static out_value text_or_none(const char *s) { return *s ? out_text(s) : out_none(); }
static out_value number(const char *s) { return out_count(strtoull(s, NULL, 10)); }

static int report_list(tool_line *line, const said *s)
{
    out *r = out_open(line->form, "heddle.museum.list/1", list_column, 6);
    out_fact(r, "looks", "looks", OUT_COUNT, out_count((uint64_t)s->lines));
    for (int i = 0; i < s->lines; i++) {
        char *const *f = s->field[i];
        out_row(r, (const out_value[]){ out_text(f[NAME]), out_text(f[BY]), text_or_none(f[NEEDS]), out_text(f[BUG]),
                                        out_text(f[FROM]), out_text(f[LOOK]) });
    }
    return out_close(r, TOOL_OK);
}

static void report_row(out *r, char *const *f)
{
    bool found = strcmp(f[FOUND], "yes") == 0;
    out_row(r, (const out_value[]){
                   out_text(f[NAME]), out_text(f[FOUND]), text_or_none(f[JUDGE]), found ? number(f[SEED]) : out_none(),
                   number(f[TRIES]), out_real(strtod(f[SECONDS], NULL)), text_or_none(f[SENTENCE]), out_text(f[BUG]),
                   out_text(f[FROM]), out_text(f[LOOK]), out_text(f[BY]), text_or_none(f[NEEDS]),
                   found ? number(f[DECISIONS]) : out_none(), found ? number(f[DECISIONS_BEFORE]) : out_none(),
                   out_text(f[HASH]), text_or_none(f[CASE]) });
}

/* The page of the stories that the other program has written. */
static int write_page(const tool_line *line, const museum_options *o, const char *stories)
{
    enum { MOST = 2 };
    char title[96];
    json_t *all = json_load_file(stories, 0, NULL), *story[MOST] = { NULL, NULL };
    size_t n = json_array_size(all);
    snprintf(title, sizeof title, "heddle museum %.64s", line->word[0]);
    for (size_t i = 0; i < n && i < MOST; i++) page_add_sources(story[i] = json_array_get(all, i));
    int code = n ? page_write(o->html, title, story, n < MOST ? n : MOST)
                 : tool_say(TOOL_DIFFERS, "--html: the bug was not found, so there is no page");
    json_decref(all);
    return code;
}

static int report(tool_line *line, const museum_options *o, const said *s, const char *stories)
{
    out *r = out_open(line->form, "heddle.museum/1", column, 16);
    char without[256] = "";
    uint64_t found = 0, failed = 0;
    double seconds = 0;
    for (int i = 0; i < o->without.n; i++)
        snprintf(without + strlen(without), sizeof without - strlen(without), "%s%s", i ? " " : "", o->without.word[i]);
    for (int i = 0; i < s->lines; i++) {
        found += strcmp(s->field[i][FOUND], "yes") == 0;
        failed += strcmp(s->field[i][FOUND], "failed") == 0;
        seconds += strtod(s->field[i][SECONDS], NULL);
    }
    uint64_t looks = (uint64_t)s->lines;
    out_fact(r, "looks", "looks", OUT_COUNT, out_count(looks));
    out_fact(r, "caught", "caught", OUT_COUNT, out_count(found));
    out_fact(r, "survived", "survived", OUT_COUNT, out_count(looks - found - failed));
    out_fact(r, "failed", failed ? "could not be tried" : NULL, OUT_COUNT, out_count(failed));
    out_fact(r, "without", *without ? "without" : NULL, OUT_TEXT, text_or_none(without));
    out_fact(r, "sound", o->sound ? "no bug built in" : NULL, OUT_FLAG, out_flag(o->sound));
    out_fact(r, "time_s", "time", OUT_SECONDS, out_real(seconds));
    for (int i = 0; i < s->lines; i++) report_row(r, s->field[i]);
    int page = o->html ? write_page(line, o, stories) : TOOL_OK;
    if (o->html && !page) out_note(r, "\nThe page is in %s.\n", o->html);
    bool well = failed == 0 && found == (o->sound ? 0 : looks);
    int code = out_close(r, well ? TOOL_OK : TOOL_DIFFERS);
    return page ? page : code;
}

/* ---- The verb -------------------------------------------------------------------------------- */

/* How many looks at the bugs of the command line there will be. */
static uint64_t looks_of(const tool_line *line, const said *bugs)
{
    uint64_t looks = line->words ? 0 : (uint64_t)bugs->lines;
    for (int i = 0; i < line->words; i++)
        for (int k = 0; k < bugs->lines; k++) looks += strcmp(line->word[i], bugs->field[k][NAME]) == 0;
    return looks;
}

/* stories: where the other program writes them; NULL: nowhere. */
static int look(tool_line *line, const museum_options *o, char *program, const said *bugs, const char *stories)
{
    char word[2][64], where[BESIDE_BYTES + 8], judge[TOOL_WORDS][64], sound[] = "sound", *argv[WORDS] = { program };
    int n = 1;
    progress p;
    said s;
    snprintf(word[0], sizeof word[0], "fixtures=%llu", (unsigned long long)o->fixtures);
    snprintf(word[1], sizeof word[1], "schedules=%llu", (unsigned long long)o->schedules);
    argv[n++] = word[0];
    argv[n++] = word[1];
    if (o->sound) argv[n++] = sound;
    snprintf(where, sizeof where, "story=%s", stories ? stories : "");
    if (stories) argv[n++] = where;
    for (int i = 0; i < o->without.n; i++) {
        snprintf(judge[i], sizeof judge[i], "without=%.48s", o->without.word[i]);
        argv[n++] = judge[i];
    }
    for (int i = 0; i < line->words && n < WORDS - 1; i++) argv[n++] = line->word[i];
    argv[n] = NULL;
    progress_begin(&p, "museum", "looks");
    ask(argv, &s, &p, looks_of(line, bugs));
    progress_end(&p);
    int code = tool_stopped() ? TOOL_STOPPED
               : s.code       ? tool_say(TOOL_SYSTEM, "%s ended with %d", program, s.code)
                              : report(line, o, &s, stories);
    said_drop(&s);
    return code;
}

/* Whether a bug is looked for among schedules of kernels. */
static bool of_kernels(const said *bugs, const char *name)
{
    for (int i = 0; i < bugs->lines; i++) {
        const char *look = bugs->field[i][LOOK];
        bool kernels = strncmp(look, "sched ", 6) == 0 || strncmp(look, "crash ", 6) == 0;
        if (kernels && strcmp(bugs->field[i][NAME], name) == 0) return true;
    }
    return false;
}

/* The same, with a file for the stories, and a page of them. */
static int look_for_page(tool_line *line, const museum_options *o, char *program, const said *bugs)
{
    const char *folder = getenv("TMPDIR");
    char stories[BESIDE_BYTES];
    snprintf(stories, sizeof stories, "%s/heddle-museum-XXXXXX", folder && *folder ? folder : "/tmp");
    if (line->words != 1 || o->sound || o->list)
        return tool_say(TOOL_USAGE, "--html: it needs one NAME, and neither --sound nor --list");
    if (!of_kernels(bugs, line->word[0]))
        return tool_say(TOOL_USAGE, "--html: '%s' is no bug of kernels; see heddle museum --list --json",
                        line->word[0]);
    int code = tool_writable("--html", o->html), fd = code ? -1 : mkstemp(stories);
    if (code) return code;
    if (fd < 0) return tool_say(TOOL_SYSTEM, "%s: no such file could be made", stories);
    close(fd);
    code = look(line, o, program, bugs, stories);
    unlink(stories);
    return code;
}

static int run(tool_line *line, int argc, char **argv)
{
    museum_options o = { .fixtures = 100, .schedules = 60 };
    char program[BESIDE_BYTES], list[] = "list", judge[] = "judges", *list_words[] = { program, list, NULL },
                                *judge_words[] = { program, judge, NULL };
    const char *name, *text;
    int code = tool_parse(line, argc, argv, &o);
    if (code >= 0) return code;
    if (with_file_at(0, &name, &text))
        return tool_say(TOOL_USAGE, "--with: the museum is a program of its own, to which '%s' adds nothing", name);
    if (!beside_find("heddle-museum", program))
        return tool_say(TOOL_SYSTEM,
                        "the program heddle-museum is not beside this one, nor at %s: a Python package has "
                        "none; ./try or make in the sources builds it",
                        program);
    said *bugs = (said *)calloc(2, sizeof *bugs), *judges = bugs + 1;
    if (!bugs) return tool_say(TOOL_SYSTEM, "no memory");
    ask(list_words, bugs, NULL, 0);
    ask(judge_words, judges, NULL, 0);
    if (bugs->code || judges->code)
        code = tool_say(TOOL_SYSTEM, "%s could not be run", program);
    else
        code = check_words(line, &o, bugs, judges);
    if (!code)
        code = o.html   ? look_for_page(line, &o, program, bugs)
               : o.list ? report_list(line, bugs)
                        : look(line, &o, program, bugs, NULL);
    said_drop(bugs);
    said_drop(judges);
    free(bugs);
    return code;
}

static const char doc[] =
    "Shows that those who are to find bugs find them. The museum has bugs that a table like this one had, or could "
    "have, each built into a copy of the "
    "library at the place where it would live; for each, schedules of kernels, batches, calls or files are tried until "
    "a judge objects. The exit code is 1 when a bug survives, or, with --sound, when something is found where nothing "
    "is.\n"
    "Without a NAME: all of them, one to five minutes. --without leaves a judge out: what it alone would have seen "
    "survives.\n"
    "\n"
    "EXAMPLES\n"
    "  heddle museum key_before_digest slot_cas_only\n"
    "  heddle museum lfu_wraps --json\n"
    "  heddle museum slot_cas_only --html bug.html\n"
    "  heddle museum --list\n"
    "  heddle museum --sound --fixtures 2 no_release\n";

const tool_verb verb_museum = { "museum", "[NAME...]", "show that built-in bugs are found", doc, 0, 100, option,
                                NULL,     run };
