/* SPDX-License-Identifier: Apache-2.0
 *
 * explain_lock.c - a batch lock that is a word in device memory (concurrency/word.h), on the simulated machine: batches
 * come on streams of their own, draw tickets, wait, run together or alone, and leave. The steps are the accesses of the
 * lock's kernels to the word.
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "concurrency/lock.h"
#include "concurrency/word.h"
#include "simt/machine.h"
#include "tools/explain.h"

enum { BATCHES_MOST = 16, LIST_TEXT = 128, COLUMNS = 10, WORK = 24 };

/* What a batch does between the two steps of the lock: it takes time. */
typedef struct work_args {
    uint32_t *data;
} work_args;

SIMT_KERNEL(k_explain_enter, hd_word_args, a) { hd_word_enter(&a); }
SIMT_KERNEL(k_explain_leave, hd_word_args, a) { hd_word_leave(&a); }
SIMT_KERNEL(k_explain_work, work_args, a)
{
    for (int i = 0; simt_thread() == 0 && i < WORK; i++) (void)simt_ldrlx_u32(a.data);
}

typedef enum stage { COMES, WAITS, NEXT, INSIDE, LEFT } stage;
static const char *const state_name[] = { "comes", "waits", "is next", "inside", "has left" };

typedef struct one_batch {
    hd_role role;
    stage state;
    uint32_t ticket;
    bool has_ticket, polled; /* polled: it was told what the word said when the batch last looked */
    uint32_t polled_value;
} one_batch;

typedef struct lock_told {
    const hd_lock_row *lock;
    uint64_t seed;
    one_batch batch[BATCHES_MOST];
    uint32_t batches;
    struct {
        hd_word word;
        uint32_t data;
    } memory;
    hd_word word;      /* as the steps so far have made it */
    uint32_t together; /* the most batches that were inside at a time */
    explain_told *to;
} lock_told;

/* ---- Words ----------------------------------------------------------------------------------- */

static bool is_lock(const char *word) { return explain_value(word, "lock") != NULL; }

static const char *const role_name[HD_ROLES] = {
    [HD_READER] = "reader", [HD_UPDATER] = "updater", [HD_INSERTER] = "inserter"
};
static const char role_letter[HD_ROLES] = { [HD_READER] = 'R', [HD_UPDATER] = 'U', [HD_INSERTER] = 'I' };

static int read_lock(lock_told *p, const char *name)
{
    const hd_lock_row *row, *word = NULL;
    for (size_t i = 0; (row = hd_lock_at(i)); i++)
        if (row->apart == HD_APART_BY_WORD) word = row;
    p->lock = hd_lock_named(name);
    if (!p->lock) return tool_fail(hd_fail_name("lock", name, HD_LOCKS));
    if (p->lock->apart == HD_APART_BY_WORD) return TOOL_OK;
    return tool_say(TOOL_USAGE, "lock: %s is no word in device memory; %s is", name, word->name);
}

static int read_batches(lock_told *p, const char *letters)
{
    p->batches = 0;
    for (; *letters; letters++) {
        const char *at = (const char *)memchr(role_letter, *letters, HD_ROLES);
        if (!at) return tool_say(TOOL_USAGE, "batches: '%c' is not R, U or I: reader, updater, inserter", *letters);
        if (p->batches == BATCHES_MOST) return tool_say(TOOL_USAGE, "batches: more than %d", BATCHES_MOST);
        p->batch[p->batches++] = (one_batch){ .role = (hd_role)(at - role_letter) };
    }
    return p->batches ? TOOL_OK : tool_say(TOOL_USAGE, "batches: there is none");
}

static int read_words(lock_told *p, const tool_line *line)
{
    int code = read_batches(p, "RRUUIR");
    for (int i = 0; i < line->words && !code; i++) {
        const char *word = line->word[i], *v;
        if ((v = explain_value(word, "lock")))
            code = read_lock(p, v);
        else if ((v = explain_value(word, "batches")))
            code = read_batches(p, v);
        else if ((v = explain_value(word, "seed")))
            code = explain_number("seed", v, 0, UINT64_MAX, &p->seed);
        else
            code = tool_say(TOOL_USAGE, "'%.60s' is not lock=, batches= or seed=", word);
    }
    return code;
}

/* ---- The run --------------------------------------------------------------------------------- */

static hd_status launch_all(lock_told *p, simt_machine *m)
{
    hd_status s = simt_machine_region(m, &p->memory.word, sizeof p->memory.word, "word");
    if (!s) s = simt_machine_region(m, &p->memory.data, sizeof p->memory.data, "data");
    const work_args work = { &p->memory.data };
    for (uint32_t i = 0; i < p->batches && !s; i++) {
        const hd_word_args a = { &p->memory.word, p->batch[i].role, p->lock->together };
        s = simt_machine_launch(m, k_explain_enter, &a, sizeof a, 1, 32, i);
        if (!s) s = simt_machine_launch(m, k_explain_work, &work, sizeof work, 1, 32, i);
        if (!s) s = simt_machine_launch(m, k_explain_leave, &a, sizeof a, 1, 32, i);
    }
    return s;
}

static hd_status run_all(lock_told *p, simt_machine *m)
{
    hd_status s = launch_all(p, m);
    simt_config c = simt_config_default();
    c.seed = p->seed;
    c.strategy = SIMT_RANDOM;
    c.resident = 2 * BATCHES_MOST;
    c.trace = true;
    if (s) return s;
    return simt_machine_run(m, &c) ? HD_OK : hd_fail(HD_EKERNEL, "%.400s", simt_machine_finding(m)->story);
}

/* ---- The steps ------------------------------------------------------------------------------- */

/* "R0 R1": the batches in a state, or in one of two. */
static const char *list_of(const lock_told *p, stage a, stage b, char text[LIST_TEXT])
{
    size_t used = 0;
    *text = 0;
    for (uint32_t i = 0; i < p->batches; i++)
        if (p->batch[i].state == a || p->batch[i].state == b)
            used += (size_t)snprintf(text + used, LIST_TEXT - used, "%s%c%" PRIu32, used ? " " : "",
                                     role_letter[p->batch[i].role], i);
    return text;
}

static uint32_t count_inside(const lock_told *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->batches; i++) n += p->batch[i].state == INSIDE;
    return n;
}

/* Panels: the word, the batches. */
enum { WORD_NEXT, WORD_SERVING, WORD_INSIDE, WORD_ROLE };

static void tell(lock_told *p, const simt_event *e, const char *does, const char *note)
{
    story *s = p->to->steps;
    char waiting[LIST_TEXT], inside[LIST_TEXT], who[48];
    const one_batch *b = &p->batch[e->stream];
    list_of(p, WAITS, NEXT, waiting);
    list_of(p, INSIDE, INSIDE, inside);
    out_row(p->to->report,
            (const out_value[COLUMNS]){
                out_count(e->step), out_count(e->stream), out_text(role_name[b->role]), out_text(does), out_text(note),
                out_count(p->word.next), out_count(p->word.serving), out_count(p->word.inside),
                *waiting ? out_text(waiting) : out_none(), *inside ? out_text(inside) : out_none() });
    snprintf(who, sizeof who, "batch %" PRIu32 ", %s", e->stream, role_name[b->role]);
    story_step(s, &(story_act){ .step = e->step,
                                .who = who,
                                .does = does,
                                .place = "word of the lock",
                                .operation = e->what,
                                .note = note });
    story_change(s, 0, WORD_NEXT, 0, "%" PRIu32, p->word.next);
    story_change(s, 0, WORD_SERVING, 0, "%" PRIu32, p->word.serving);
    story_change(s, 0, WORD_INSIDE, 0, "%" PRIu32, p->word.inside);
    story_change(s, 0, WORD_ROLE, 0, "%s", p->word.inside ? role_name[p->word.role] : "");
    story_change(s, 1, (int)e->stream, 1, "%s", state_name[b->state]);
    if (b->has_ticket) story_change(s, 1, (int)e->stream, 2, "%" PRIu32, b->ticket);
}

static void on_next(lock_told *p, one_batch *b, const simt_event *e)
{
    char note[96];
    b->state = WAITS;
    b->ticket = (uint32_t)e->before;
    b->has_ticket = true;
    p->word.next = (uint32_t)e->after;
    snprintf(note, sizeof note, "It draws ticket %" PRIu32 ".", b->ticket);
    tell(p, e, "draws a ticket", note);
}

static void on_serving(lock_told *p, one_batch *b, const simt_event *e)
{
    char note[128];
    uint32_t value = (uint32_t)e->before;
    if (strcmp(e->what, "strel") == 0) {
        p->word.serving = (uint32_t)e->after;
        snprintf(note, sizeof note, "The batch with ticket %" PRIu32 " is next.", p->word.serving);
        tell(p, e, "passes the turn", note);
        return;
    }
    if (value == b->ticket) b->state = NEXT;
    if (b->polled && value != b->ticket) return; /* that it waits is told once */
    b->polled = value != b->ticket;
    b->polled_value = value;
    if (value == b->ticket)
        snprintf(note, sizeof note, "Ticket %" PRIu32 " is next: it may enter when those inside allow it.", b->ticket);
    else
        snprintf(note, sizeof note, "Ticket %" PRIu32 " is next, and it has ticket %" PRIu32 ".", value, b->ticket);
    tell(p, e, value == b->ticket ? "is next" : "waits", note);
}

static void on_inside(lock_told *p, one_batch *b, const simt_event *e)
{
    char note[LIST_TEXT + 80], inside[LIST_TEXT];
    if (strncmp(e->what, "ld", 2) == 0) {
        if (e->before == 0 || (b->polled && b->polled_value == e->before)) return;
        b->polled = true;
        b->polled_value = (uint32_t)e->before;
        list_of(p, INSIDE, INSIDE, inside);
        snprintf(note, sizeof note, "Inside: %s. A batch joins others of its role, unless they are inserters.", inside);
        tell(p, e, "looks inside", note);
        return;
    }
    bool enters = (uint32_t)e->after > (uint32_t)e->before;
    p->word.inside = (uint32_t)e->after;
    b->state = enters ? INSIDE : LEFT;
    uint32_t n = count_inside(p);
    if (n > p->together) p->together = n;
    if (!enters)
        snprintf(note, sizeof note, "%" PRIu32 " of the batches are inside now.", n);
    else if (n > 1)
        snprintf(note, sizeof note, "It runs together with %" PRIu32 " other%s of its role.", n - 1, n > 2 ? "s" : "");
    else
        snprintf(note, sizeof note, "It is the only one inside.");
    tell(p, e, enters ? "enters" : "leaves", note);
}

static void take(lock_told *p, const simt_event *e)
{
    const hd_word *w = &p->memory.word;
    one_batch *b = &p->batch[e->stream];
    if (e->p == &w->next) on_next(p, b, e);
    if (e->p == &w->serving) on_serving(p, b, e);
    if (e->p == &w->inside) on_inside(p, b, e);
    if (e->p == &w->role && strcmp(e->what, "strlx") == 0) p->word.role = (uint32_t)e->after;
}

/* ---- The subject ----------------------------------------------------------------------------- */

static void begin(lock_told *p, const tool_line *line)
{
    static const out_column column[COLUMNS] = {
        { "step", "step", OUT_PLAIN },        { "batch", "batch", OUT_PLAIN },   { "role", "role", OUT_TEXT },
        { "does", "what it does", OUT_TEXT }, { "note", NULL, OUT_TEXT },        { "next", "next ticket", OUT_PLAIN },
        { "serving", "serving", OUT_PLAIN },  { "inside", "inside", OUT_PLAIN }, { "waiting", "waiting", OUT_TEXT },
        { "running", "running", OUT_TEXT },
    };
    static const char *const value[] = { "value" }, *const of_batch[] = { "role", "state", "ticket" },
                             *const row[] = { "next ticket", "serving", "inside", "their role" };
    char name[48];
    p->to->report = out_open(line->form, "heddle.explain.lock/1", column, COLUMNS);
    out_fact(p->to->report, "lock", "lock", OUT_TEXT, out_text(p->lock->name));
    out_fact(p->to->report, "batches", "batches", OUT_COUNT, out_count(p->batches));
    if (!p->to->wants_story) return;
    snprintf(name, sizeof name, "Batches at the lock %s", p->lock->name);
    story *s = p->to->steps = story_open(name, explain_command(line));
    story_about(s,
                "Each batch draws a ticket and waits for its turn. Then it enters as soon as no batch is inside, or "
                "those inside have its role and are no inserters. While it runs, the next ticket may have its turn.");
    story_fact(s, "lock", "%s: %s", p->lock->name, p->lock->what);
    story_panel(s, "lock word", value, 1);
    for (int i = 0; i < 4; i++) {
        story_row(s, 0, row[i]);
        story_change(s, 0, i, 0, "%s", i == WORD_ROLE ? "" : "0");
    }
    story_panel(s, "batches", of_batch, 3);
    for (uint32_t i = 0; i < p->batches; i++) {
        snprintf(name, sizeof name, "batch %" PRIu32, i);
        story_row(s, 1, name);
        story_change(s, 1, (int)i, 0, "%s", role_name[p->batch[i].role]);
        story_change(s, 1, (int)i, 1, "%s", state_name[COMES]);
    }
}

static int explain(const tool_line *line, explain_told *told)
{
    static lock_told p;
    simt_machine *m;
    size_t n = 0;
    memset(&p, 0, sizeof p);
    p.to = told;
    p.seed = 1;
    int code = read_words(&p, line);
    if (code) return code;
    hd_status s = simt_machine_open(NULL, &m);
    if (s) return tool_fail(s);
    s = run_all(&p, m);
    if (!s) begin(&p, line);
    const simt_event *e = s ? NULL : simt_machine_events(m, &n);
    for (size_t i = 0; i < n; i++) take(&p, &e[i]);
    if (!s) out_fact(told->report, "together", "most at a time", OUT_COUNT, out_count(p.together));
    simt_machine_close(m);
    return s ? tool_fail(s) : TOOL_OK;
}

const explain_subject explain_lock = { "lock=NAME [batches=RRUUIR seed=N]",
                                       "batches at a lock in device memory: who waits, who runs together", is_lock,
                                       explain };
