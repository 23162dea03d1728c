/* SPDX-License-Identifier: Apache-2.0
 *
 * explain.c - a bug of kernels as a story: the shortest run in which it shows, and the same schedule without it.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/story_run.h"
#include "base/error.h"
#include "judge/museum/museum.h"

enum { STEPS = 1000, SCHEDULE = 4096 };

/* Runs the schedule with a trace; *e says what came of it. */
static hd_status run_again(simt_machine *m, comparison *a, const simt_config *c, simt_exploration *e)
{
    simt_config traced = *c;
    traced.trace = true;
    return museum_explore(m, a, &traced, 1, 0, e);
}

static void tell_finding(story *st, const museum_search *s, const museum_sight *sight, const simt_exploration *e,
                         const simt_config *c)
{
    char schedule[SCHEDULE], by[256], sentence[512];
    simt_schedule_print(c->schedule, c->schedule_n, schedule, sizeof schedule);
    snprintf(by, sizeof by, "%s, which %s", museum_judge_name[sight->by], museum_judge_what[sight->by]);
    snprintf(sentence, sizeof sentence, "%s", s->row->bug);
    *sentence = (char)toupper((unsigned char)*sentence);
    story_finding(st, sentence, by, *schedule ? schedule : NULL);
    story_blame(st, sight->sentence, s->row->change);
    story_concerned(st, e->finding.story);
}

/* The machine's last run as a story; NULL: no memory. */
static json_t *story_of(const museum_search *s, const museum_sight *sight, const fixture *f, const simt_machine *m,
                        const simt_exploration *e, const simt_config *c)
{
    char title[128], command[128];
    const run_told told = {
        .s = f, .m = m, .most = STEPS, .said = museum_now ? sight->sentence : NULL, .crash = e->crash
    };
    snprintf(title, sizeof title, "%.40s, %" PRIu64 " item%s, kernel %.40s, %s", f->c[0].op, f->part[0].batch.n,
             f->part[0].batch.n == 1 ? "" : "s", f->c[0].kernel, museum_now ? "with the bug" : "without the bug");
    snprintf(command, sizeof command, "heddle museum %.48s --html %.48s.html", s->row->name, s->row->name);
    story *st = story_open(title, command);
    story_about(
        st, "%s",
        museum_now ? "A simulator ran the kernel, which is GPU code that many lanes run at once, with the bug. At each "
                     "access it chose which lane goes on, until a check failed. This is the shortest such run that "
                     "was found."
        : c->strategy == SIMT_REPLAY ? "The same batch under the same schedule, with the kernel as it is."
                                     : "The same batch under a random schedule, with the kernel as it is.");
    story_fact(st, "case", "%s", sight->at);
    if (museum_now) story_fact(st, "bug", "planted on purpose, after %s", s->row->from);
    if (c->weak) story_fact(st, "weak memory", "a store is shown when its lane makes it; others may see it later");
    if (e->crash)
        story_fact(st, "crash", "before event %" PRIu64 " of persistent memory (0: after all of them)", c->crash_at);
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

/* Whether two steps are the same act of the same lanes. */
static bool same_act(const json_t *x, const json_t *y)
{
    static const char *const members[] = { "who", "lanes", "does", "place", "operation" };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (!json_equal(json_object_get(x, members[i]), json_object_get(y, members[i]))) return false;
    return true;
}

/* Says in the second story up to which step it is like the first. */
static void tell_difference(json_t *all)
{
    json_t *one = json_object_get(json_array_get(all, 0), "steps"), *second = json_array_get(all, 1),
           *other = json_object_get(second, "steps");
    const char *about = json_string_value(json_object_get(second, "about"));
    size_t n = 0;
    while (n < json_array_size(one) && n < json_array_size(other) &&
           same_act(json_array_get(one, n), json_array_get(other, n)))
        n++;
    if (about && n)
        json_object_set_new(second, "about",
                            json_sprintf("%s The first %d steps are those with the bug; from step %d on they differ.",
                                         about, (int)n, (int)n + 1));
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
    if (!why) tell_difference(all);
    museum_now = number;
    if (!why && json_dump_file(all, s->story, JSON_COMPACT)) why = "the story could not be written";
    json_decref(all);
    return why;
}
