/* SPDX-License-Identifier: Apache-2.0
 *
 * tell.c - a bug of kernels as a story: the shortest run in which it shows, and the same schedule without it.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/story_run.h"
#include "base/error.h"
#include "museum/museum.h"

enum { STEPS = 1000, SCHEDULE = 4096 };

/* Runs the schedule with a trace; *e says what came of it. */
static hd_status run_again(simt_machine *m, comparison *a, const simt_config *c, simt_exploration *e)
{
    simt_trial trial = comparison_trial(a);
    simt_config traced = *c;
    traced.trace = true;
    return simt_explore(m, &trial, &traced, 1, 0, 0, e);
}

static void tell_finding(story *st, const museum_search *s, const museum_sight *sight, const simt_exploration *e,
                         const simt_config *c)
{
    char schedule[SCHEDULE], by[256], sentence[512];
    const char *line = strchr(e->finding.story, '\n');
    simt_schedule_print(c->schedule, c->schedule_n, schedule, sizeof schedule);
    snprintf(by, sizeof by, "%s (%s)", museum_judge_name[sight->by], museum_judge_what[sight->by]);
    snprintf(sentence, sizeof sentence, "%s", s->row->bug);
    *sentence = (char)toupper((unsigned char)*sentence);
    story_finding(st, sentence, by, *schedule ? schedule : NULL);
    story_blame(st, sight->sentence, s->row->change);
    for (; line; line = strchr(line, '\n')) {
        line += 1 + strspn(line + 1, " ");
        story_concerned(st, "%.*s", (int)strcspn(line, "\n"), line);
    }
}

/* The machine's last run as a story; NULL: no memory. */
static json_t *story_of(const museum_search *s, const museum_sight *sight, const fixture *f, const simt_machine *m,
                        const simt_exploration *e, const simt_config *c)
{
    char title[128], command[128];
    const run_told told = { .s = f, .m = m, .most = STEPS };
    snprintf(title, sizeof title, "%.40s by %.40s, %s", f->c[0].op, f->c[0].kernel,
             museum_now ? "with the bug" : "without the bug");
    snprintf(command, sizeof command, "heddle museum %.48s --html %.48s.html", s->row->name, s->row->name);
    story *st = story_open(title, command);
    story_about(st, "%s",
                museum_now
                    ? "A simulator ran the kernel with the bug, and chose at each access which lane goes on, until a "
                      "check objected. This is the shortest schedule that was found."
                : c->strategy == SIMT_REPLAY ? "The same batch under the same schedule, with the kernel as it is."
                                             : "The same batch under a random schedule, with the kernel as it is.");
    story_fact(st, "case", "%s", sight->at);
    if (museum_now) story_fact(st, "from", "%s", s->row->from);
    if (c->weak) story_fact(st, "weak memory", "a store is shown when its lane makes it; others may see it later");
    if (museum_now) tell_finding(st, s, sight, e, c);
    bool whole = st && story_of_run(st, &told);
    json_t *j = whole ? story_json(st) : NULL;
    story_close(st);
    return j;
}

/* Appends the story of a run. NULL, or what went wrong; *again: the run ended otherwise than it should. */
static const char *append_run(json_t *all, const museum_search *s, const museum_sight *sight, const fixture *f,
                              simt_machine *m, comparison *a, const simt_config *c, bool *again)
{
    simt_exploration e;
    const char *why = NULL;
    if (run_again(m, a, c, &e)) return hd_why();
    *again = e.wrong != (museum_now != 0);
    json_t *j = *again ? NULL : story_of(s, sight, f, m, &e, c);
    if (!*again && (!j || json_array_append_new(all, j))) why = "no memory for a story";
    simt_exploration_free(m, &e);
    return why;
}

/* The run without the bug: under the same schedule, or, if lanes then wait for each other for ever, under a random one.
 */
static const char *append_sound(json_t *all, const museum_search *s, const museum_sight *sight, const fixture *f,
                                simt_machine *m, comparison *a, const simt_config *c)
{
    simt_config random = *c;
    bool again;
    random.strategy = SIMT_RANDOM;
    const char *why = append_run(all, s, sight, f, m, a, c, &again);
    return why || !again ? why : append_run(all, s, sight, f, m, a, &random, &again);
}

const char *museum_tell(const museum_search *s, const museum_sight *sight, const fixture *f, simt_machine *m,
                        comparison *a, const simt_config *c, bool lawful)
{
    int number = museum_now;
    json_t *all = json_array();
    bool again = false;
    const char *why = all ? append_run(all, s, sight, f, m, a, c, &again) : "no memory for a story";
    if (again) why = "the schedule does not fail again";
    museum_now = 0;
    if (!why && lawful) why = append_sound(all, s, sight, f, m, a, c);
    museum_now = number;
    if (!why && json_dump_file(all, s->story, JSON_COMPACT)) why = "the story could not be written";
    json_decref(all);
    return why;
}
