/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_sched.c - one case of a kernel, schedule after schedule: does any interleaving of its lanes go wrong?
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "judge/crash.h"
#include "judge/story_run.h"
#include "simt/simt.h"
#include "tools/case_run.h"
#include "tools/annotation.h"
#include "tools/junit.h"
#include "tools/page.h"
#include "tools/progress.h"
#include "tools/with.h"

typedef struct sched_options {
    uint64_t seed, schedules, rows, bound, threads, blocks;
    const char *strategy, *unit, *preempt, *replay, *html, *junit;
    bool weak, crash;
} sched_options;

static const char *const strategies[] = { "turn", "random", "pct", "search", NULL }; /* in the order of simt_strategy */
static const char *const units[] = { "lane", "warp", NULL };                         /* ... of simt_unit */
static const char *const places[] = { "none", "sync", "atomic", "all", NULL };
static const uint32_t place_kinds[] = { SIMT_AT_NONE, SIMT_AT_SYNC, SIMT_AT_ATOMIC, SIMT_AT_ALL };

static const tool_option option[] = {
    { "schedules", 'n', "N", "how many at most (1000)", TOOL_RANGE(sched_options, schedules, 1, 1ull << 40) },
    { "seed", 's', "N", "of the first; the next ones follow (1)", TOOL_RANGE(sched_options, seed, 0, UINT64_MAX) },
    { "strategy", 'S', "NAME", "random, pct, search (all of them) or turn (random)",
      TOOL_CHOICE(sched_options, strategy, strategies) },
    { "unit", 'u', "NAME", "what is scheduled: lane or warp (lane)", TOOL_CHOICE(sched_options, unit, units) },
    { "preempt", 'p', "NAME", "where: none, sync, atomic or all accesses (all)",
      TOOL_CHOICE(sched_options, preempt, places) },
    { "bound", 'b', "N", "search: preemptions at most (2)", TOOL_RANGE(sched_options, bound, 0, 1000) },
    { "weak", 'w', NULL, "store buffers, and relaxed loads that return older values", TOOL_FIELD(sched_options, weak) },
    { "crash", 'c', NULL, "let each schedule crash, and judge what the design recovers of persistent memory",
      TOOL_FIELD(sched_options, crash) },
    { "threads", 't', "N", "per block, whole warps (32)", TOOL_RANGE(sched_options, threads, 32, 1024) },
    { "blocks", 'B', "N", "at most (2)", TOOL_RANGE(sched_options, blocks, 1, 64) },
    { "replay", 'r', "SCHEDULE", "run this one and tell its story; SCHEDULE@CRASH: with this crash",
      TOOL_FIELD(sched_options, replay) },
    { "html", 'H', "FILE", "write the story as a page for a browser: of what went wrong, or of the first schedule",
      TOOL_FIELD(sched_options, html) },
    JUNIT_OPTION(sched_options),
    { "rows", 'R', "N", "of the story, the last ones (40)", TOOL_RANGE(sched_options, rows, 0, 1000000) },
    { .name = NULL },
};

static uint32_t index_of(const char *name, const char *const *names)
{
    uint32_t i = 0;
    while (strcmp(names[i], name) != 0) i++;
    return i;
}

static simt_config config_of(const sched_options *o, comparison *a)
{
    simt_config c = simt_config_default();
    c.seed = o->seed;
    c.strategy = (simt_strategy)index_of(o->strategy, strategies);
    c.unit = (simt_unit)index_of(o->unit, units);
    c.preempt = place_kinds[index_of(o->preempt, places)];
    c.bound = (uint32_t)o->bound;
    c.weak = o->weak;
    c.shared_bytes = 48 << 10;
    comparison_watch_with(a, &c, 1);
    return c;
}

/* ---- The story ------------------------------------------------------------------------------- */

/* Votes are left out: they would drown what is done to memory. */
static void tell(out *o, const case_run *x, uint64_t rows, const simt_crash *crash)
{
    size_t n, first;
    const simt_event *e = simt_machine_events(x->m, &n);
    for (first = n; first && rows; first--) rows -= event_matters(&e[first - 1]);
    for (size_t i = first; i < n; i++) {
        char place[96], what[32];
        bool writes = strncmp(e[i].what, "ld", 2) != 0, effect = e[i].p == NULL;
        if (!event_matters(&e[i])) continue;
        snprintf(what, sizeof what, "%s%s", e[i].what, crash && simt_crash_loses(crash, &e[i]) ? ", lost" : "");
        out_row(o, (const out_value[]){ out_count(e[i].step), out_text(simt_site_name(e[i].site)),
                                        out_count(e[i].block), out_count(e[i].thread), out_text(what),
                                        effect ? out_text(hd_outcome_name((hd_outcome)e[i].after))
                                               : out_text(case_run_location(x, e[i].p, place, sizeof place)),
                                        effect ? out_none() : out_count(case_run_shown(x, e[i].p, e[i].before)),
                                        writes && !effect ? out_count(case_run_shown(x, e[i].p, e[i].after))
                                                          : out_none() });
    }
}

/* Runs the schedule of c once, with a trace. */
static hd_status once(case_run *x, const simt_recovery *how, simt_config c, simt_exploration *e)
{
    simt_trial trial = comparison_trial(x->a);
    c.replayed = c.strategy;
    c.strategy = SIMT_REPLAY;
    c.trace = true;
    return simt_explore_crashes(x->m, &trial, how, &c, 1, 0, 0, e);
}

/* ---- The verb -------------------------------------------------------------------------------- */

static const out_column column[] = {
    { "step", "step", OUT_PLAIN },   { "site", "where in the text", OUT_TEXT },
    { "block", "block", OUT_PLAIN }, { "thread", "thread", OUT_PLAIN },
    { "what", "what", OUT_TEXT },    { "place", "of", OUT_TEXT },
    { "before", "was", OUT_HEX },    { "after", "is", OUT_HEX },
};

/* The first line of a finding, without its end. */
static void first_line(const char *text, char sentence[512])
{
    const char *end = strchr(text, '\n');
    snprintf(sentence, 512, "%.*s", end ? (int)(end - text) : 500, text);
}

/* The command that shows a schedule again. */
static void command_of(const sched_options *o, const case_run *x, uint64_t seed, const char *schedule,
                       char command[2 * CASE_RUN_TEXT])
{
    snprintf(command, 2 * CASE_RUN_TEXT,
             "%s sched '%s' --strategy %s --unit %s --preempt %s%s%s --threads %" PRIu64 " --blocks %" PRIu64
             " --seed %" PRIu64 " --replay '%s'",
             with_command(), x->text, o->strategy, o->unit, o->preempt, o->weak ? " --weak" : "",
             o->crash ? " --crash" : "", o->threads, o->blocks, seed, schedule);
}

static void report_wrong(out *r, const sched_options *o, const case_run *x, const simt_exploration *e,
                         const char *schedule)
{
    char command[2 * CASE_RUN_TEXT], sentence[512];
    first_line(e->finding.story, sentence);
    out_fact(r, "fault", "found by", OUT_TEXT,
             out_text(e->finding.fault ? simt_fault_name(e->finding.fault) : "judge"));
    out_fact(r, "wrong", "wrong", OUT_TEXT, out_text(sentence));
    out_fact(r, "seed", "seed", OUT_PLAIN, out_count(e->seed));
    out_fact(r, "schedule", "schedule", OUT_TEXT, schedule ? out_text(schedule) : out_none());
    if (!schedule) return;
    command_of(o, x, e->seed, schedule, command);
    out_fact(r, "replay", "again", OUT_TEXT, out_text(command));
}

enum { STORY_STEPS = 1000 };

/* The last run as a story; NULL: no memory. */
static story *story_of(const sched_options *o, const case_run *x, const simt_exploration *e, const char *schedule,
                       const simt_crash *crash)
{
    char command[2 * CASE_RUN_TEXT], title[128], sentence[512];
    const run_told told = {
        .s = x->s, .m = x->m, .most = STORY_STEPS, .said = e->wrong ? sentence : NULL, .crash = crash
    };
    uint64_t n = x->s->part[0].batch.n;
    snprintf(title, sizeof title, "%.40s, %" PRIu64 " item%s, kernel %.40s: %s", x->c[0].op, n, n == 1 ? "" : "s",
             x->c[0].kernel, e->wrong ? "a schedule that goes wrong" : "a schedule");
    if (schedule)
        command_of(o, x, e->seed, schedule, command);
    else
        snprintf(command, sizeof command, "%s sched '%s' --seed %" PRIu64 " --schedules 1 --html schedule.html",
                 with_command(), x->text, o->seed);
    story *st = story_open(title, command);
    story_about(st,
                "A simulator ran the kernel, and chose at each access which lane goes on. Steps in which lanes only "
                "vote or wait are left out.");
    story_fact(st, "case", "%s", x->text);
    story_fact(st, "seed", "%" PRIu64, e->seed);
    if (o->weak) story_fact(st, "weak memory", "a store is shown when its lane makes it; others may see it later");
    if (e->wrong) {
        first_line(e->finding.story, sentence);
        story_finding(st, sentence,
                      e->finding.fault ? simt_fault_name(e->finding.fault) : "the comparison with the reference",
                      schedule);
        story_concerned(st, e->finding.story);
    }
    if (!st || story_of_run(st, &told)) return st;
    story_close(st);
    return NULL;
}

/* Ends the report; told: the machine's last run, which had a trace. */
static int close_with_story(out *r, int code, const tool_line *line, const sched_options *o, const case_run *x,
                            const simt_exploration *e, const char *schedule, const simt_exploration *told)
{
    char title[128];
    if (!told || (line->form != TOOL_JSON && !o->html)) return out_close(r, code);
    story *st = story_of(o, x, e, schedule, told->crash);
    snprintf(title, sizeof title, "heddle sched %.20s.%.40s.%.40s", x->c[0].design, x->c[0].op, x->c[0].kernel);
    if (st) return page_close_report(r, code, o->html, title, &st, 1);
    out_drop(r);
    return tool_say(TOOL_SYSTEM, "no memory for a story");
}

/* What was checked, for machines. */
static int checked(const sched_options *o, const case_run *x, const simt_exploration *e, const char *schedule)
{
    char sentence[512] = "", command[2 * CASE_RUN_TEXT], *more = NULL;
    junit *j;
    int code = junit_open(o->junit, &j);
    if (code) return code;
    if (e->wrong) {
        first_line(e->finding.story, sentence);
        command_of(o, x, e->seed, schedule ? schedule : "", command);
        annotation_of_check(sentence, e->finding.story);
        if (asprintf(&more, "%s\nagain: %s", e->finding.story, command) < 0) more = NULL;
    }
    junit_check(j, "heddle sched", x->text, (double)e->time_ns * 1e-9, e->wrong ? sentence : NULL, more);
    free(more);
    return junit_close(j, TOOL_OK);
}

static int report(tool_line *line, const sched_options *o, case_run *x, const simt_exploration *e, const char *schedule,
                  const simt_exploration *told)
{
    int written = checked(o, x, e, schedule);
    if (written) return written;
    out *r = out_open(line->form, "heddle.sched/1", column, 8);
    const char *end = strchr(e->finding.story, '\n');
    out_fact(r, "case", "case", OUT_TEXT, out_text(x->text));
    out_fact(r, "strategy", "strategy", OUT_TEXT, out_text(o->strategy));
    out_fact(r, "unit", "unit", OUT_TEXT, out_text(o->unit));
    out_fact(r, "weak", "weak memory", OUT_FLAG, out_flag(o->weak));
    out_fact(r, "schedules", "schedules", OUT_COUNT, out_count(e->schedules));
    out_fact(r, "distinct", "distinct", OUT_COUNT, out_count(e->distinct));
    out_fact(r, "schedules_hash", "interleavings", OUT_HEX, out_count(e->hash));
    out_fact(r, "exhausted", "all there are", OUT_FLAG, out_flag(e->exhausted));
    if (o->crash) {
        out_fact(r, "crashes", "crashes", OUT_COUNT, out_count(e->points));
        out_fact(r, "images", "images of them", OUT_COUNT, out_count(e->images));
    }
    out_fact(r, "time_s", "time", OUT_SECONDS, out_real((double)e->time_ns * 1e-9));
    out_fact(r, "schedules_per_s", "rate", OUT_RATE,
             e->time_ns ? out_real((double)e->schedules * 1e9 / (double)e->time_ns) : out_none());
    out_fact(r, "bugs", "bugs", OUT_COUNT, out_count(e->wrong));
    if (e->wrong) {
        report_wrong(r, o, x, e, schedule);
    } else { /* a row of a table has every fact */
        out_fact(r, "fault", NULL, OUT_TEXT, out_none());
        out_fact(r, "wrong", NULL, OUT_TEXT, out_none());
        out_fact(r, "seed", NULL, OUT_PLAIN, out_none());
        out_fact(r, "schedule", NULL, OUT_TEXT, schedule ? out_text(schedule) : out_none());
    }
    if (told) tell(r, x, o->rows, told->crash);
    if (e->wrong && end) out_note(r, "%s\n", e->finding.story);
    return close_with_story(r, e->wrong ? TOOL_DIFFERS : TOOL_OK, line, o, x, e, schedule, told);
}

/* A schedule, or SCHEDULE@CRASH with --crash, into c; room for n decisions. */
static hd_status read_replay(const sched_options *o, simt_decision *room, size_t n, simt_config *c)
{
    size_t before = strcspn(o->replay, "@"), at;
    char *schedule = strdup(o->replay);
    if (!schedule) return hd_fail(HD_ENOMEM, "--replay: no memory");
    schedule[before] = 0;
    c->schedule = room;
    c->schedule_n = c->lost_n = n;
    hd_status status = simt_schedule_parse(schedule, room, &c->schedule_n);
    free(schedule);
    at = status ? 0 : c->schedule_n;
    c->lost = room + at;
    c->lost_n = 0;
    if (status || !o->replay[before]) return status;
    if (!o->crash) return hd_fail(HD_EINVAL, "--replay: a crash needs --crash");
    c->lost_n = n - at;
    return simt_crash_parse(o->replay + before + 1, &c->crash_at, room + at, &c->lost_n);
}

static int replay(tool_line *line, const sched_options *o, case_run *x, const simt_recovery *how, simt_config c)
{
    size_t n = strlen(o->replay) / 2 + 1;
    simt_decision *room = (simt_decision *)malloc(n * sizeof *room);
    simt_exploration e;
    if (!room) return tool_say(TOOL_SYSTEM, "--replay: no memory");
    hd_status status = read_replay(o, room, n, &c);
    if (!status) status = once(x, how, c, &e);
    int code = status ? tool_fail(status) : report(line, o, x, &e, o->replay, &e);
    if (!status) simt_exploration_free(x->m, &e);
    free(room);
    return code;
}

/* Of the schedules of a search it is only known how many there are at most. */
static struct {
    progress line;
    uint64_t done, most;
} running;

static bool schedule_ended(void)
{
    running.done++;
    uint64_t total = running.done < running.most ? running.most : 0; /* beyond: the schedule is made short */
    return progress_at(&running.line, running.done, total, -1);
}

/* What went wrong, as --replay takes it; NULL: no memory. */
static char *replay_text(const sched_options *o, const simt_exploration *e)
{
    size_t schedule = simt_schedule_print(e->schedule, e->schedule_n, NULL, 0),
           crash = simt_crash_print(e->crash_at, e->lost, e->lost_n, NULL, 0), bytes = schedule + crash + 2;
    bool crashed = o->crash && e->finding.fault == SIMT_CRASH;
    char *text = (char *)calloc(bytes, 1);
    if (!text) return NULL;
    simt_schedule_print(e->schedule, e->schedule_n, text, bytes);
    if (!crashed) return text;
    text[schedule] = '@';
    simt_crash_print(e->crash_at, e->lost, e->lost_n, text + schedule + 1, bytes - schedule - 1);
    return text;
}

static int explore(tool_line *line, const sched_options *o, case_run *x, const simt_recovery *how, simt_config c)
{
    simt_exploration e, again;
    const simt_exploration *told = NULL;
    simt_trial trial = comparison_trial(x->a);
    trial.ended = schedule_ended;
    running.most = c.strategy == SIMT_SEARCH ? 0 : o->schedules;
    progress_begin(&running.line, "sched", "schedules");
    hd_status status = simt_explore_crashes(x->m, &trial, how, &c, o->schedules, 0, 2000, &e);
    progress_end(&running.line);
    trial.ended = tool_stopped;
    if (status) return tool_fail(status);
    char *schedule = NULL;
    if (e.wrong) {
        schedule = replay_text(o, &e);
        c.seed = e.seed;
        c.schedule = e.schedule;
        c.schedule_n = e.schedule_n;
        c.crash_at = e.crash_at;
        c.lost = e.lost;
        c.lost_n = e.lost_n;
        told = once(x, how, c, &again) ? NULL : &again;
    } else if (o->html && !tool_stopped()) { /* the first one, for the page */
        c.trace = true;
        told = simt_explore(x->m, &trial, &c, 1, 0, 0, &again) ? NULL : &again;
    }
    int code = report(line, o, x, &e, schedule, told);
    free(schedule);
    if (told) simt_exploration_free(x->m, &again);
    simt_exploration_free(x->m, &e);
    return code;
}

static int run(tool_line *line, int argc, char **argv)
{
    sched_options o = { 1, 1000, 40, 2, 32, 2, "random", "lane", "all", NULL, NULL, NULL, false, false };
    simt_recovery how = { .recover = NULL };
    case_run x;
    int code = tool_parse(line, argc, argv, &o);
    if (code < 0 && o.html && (code = tool_apart_words("--html", o.html, line)) == TOOL_OK)
        code = tool_writable("--html", o.html);
    if (code <= TOOL_OK && o.junit && (code = tool_apart_words("--junit", o.junit, line)) == TOOL_OK &&
        (code = tool_apart_outputs("--junit", o.junit, "--html", o.html)) == TOOL_OK)
        code = tool_writable("--junit", o.junit);
    if (code == TOOL_OK) code = -1;
    if (code < 0) code = case_run_take(&x, line, 8, o.threads, o.blocks);
    if (code >= 0) return code;
    const simt_config c = config_of(&o, x.a);
    if (o.crash && crash_recovery(x.a, &how))
        code = tool_fail(HD_EINVAL);
    else
        code = (o.replay ? replay : explore)(line, &o, &x, o.crash ? &how : NULL, c);
    case_run_close(&x);
    return code;
}

static const char doc[] =
    "Runs one batch of a GPU kernel on the host machine again and again, each time with another interleaving of its "
    "lanes, and "
    "judges every run: races, collectives, bounds, invariants between any two steps, and whether the reference would "
    "have allowed it. What "
    "goes wrong is made short, told as a table of who did what, and comes with the command that shows it again (exit "
    "code 1).\n"
    "Two cases with a + between them run at the same time, readers with readers and updaters with updaters.\n"
    "With --crash, of designs that survive one, each schedule also crashes: before each fence that makes stores "
    "durable, "
    "and at its end. "
    "Every image that the crash may leave of persistent memory is recovered and judged.\n"
    "\n"
    "EXAMPLES\n"
    "  heddle sched hkv.insert_or_assign.tlpv1 policy=lfu seed=3\n"
    "  heddle sched hkv.find_or_insert.warp duplicate=300000 --weak --schedules 200\n"
    "  heddle sched hkv.assign.tlpv1 + hkv.touch.tlpv2 --schedules 200\n"
    "  heddle sched hkv.erase.tlpv1 batch=2x1 --replay '3:1,9:2' --rows 12\n"
    "  heddle sched hkv.insert_or_assign.tlpv1 batch=2x1 --schedules 50 --html schedule.html\n";

const tool_verb verb_sched = { "sched", "CASE", "search the interleavings of a kernel's lanes", doc, 1, 64, option,
                               NULL,    run };
