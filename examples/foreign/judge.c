/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c - runs a hash table of another project on the host SIMT machine, schedule after schedule (see README.md).
 *
 *     judge [at_once] [blind]       2,000 schedules, or until one goes wrong; then that one, made short. at_once: the
 *                                   sound kernel. blind: races are not looked for, only what came of them
 *     judge again SEED SCHEDULE     that one, the last steps of it
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/foreign/cuda_shim.h"
#include "examples/foreign/kernels.h"
#include "heddle.h"
#include "simt/explore.h"

enum { ENTRIES = 16, ITEMS = 8, KEYS = 4, THREADS = 4, BLOCKS = 2, DECISIONS = 4096 };

typedef struct world {
    void (*kernel)(const void *);
    unsigned table[2 * ENTRIES], key[ITEMS], value[ITEMS], placed;
} world;

static hd_status prepare(void *context, simt_machine *m)
{
    world *w = (world *)context;
    table_args a = { w->table, ENTRIES - 1, w->key, w->value, ITEMS, &w->placed };
    memset(w->table, 0xff, sizeof w->table); /* EMPTY */
    for (unsigned i = 0; i < ITEMS; i++) w->key[i] = 1 + i % KEYS, w->value[i] = 100 + i;
    w->placed = 0;
    cuda_forget();
    simt_machine_forget(m);
    hd_status s = simt_machine_region(m, w->table, sizeof w->table, "table");
    if (!s) s = simt_machine_region(m, w->key, sizeof w->key, "key");
    if (!s) s = simt_machine_region(m, w->value, sizeof w->value, "value");
    if (!s) s = simt_machine_region(m, &w->placed, sizeof w->placed, "placed");
    return s ? s : simt_machine_launch(m, w->kernel, &a, sizeof a, BLOCKS, THREADS, 0);
}

/* The table has each key once. All items of a key got the value of the key, which is one of their input values. */
static const char *right(void *context, simt_machine *m)
{
    const world *w = (const world *)context;
    (void)m;
    if (w->placed != KEYS) return "not every key came in once";
    for (unsigned i = 0; i < ITEMS; i++) {
        unsigned there = 0;
        for (unsigned e = 0; e < ENTRIES; e++)
            if (w->table[2 * e] == w->key[i]) there += w->table[2 * e + 1] == w->value[i] ? 1u : 2u;
        if (there != 1) return "an item got a value that is not its key's";
        if (w->value[i] < 100 || w->value[i] >= 100 + ITEMS || (w->value[i] - 100) % KEYS != w->key[i] - 1)
            return "an item got another key's value";
    }
    return NULL;
}

static int fail(void) { return fprintf(stderr, "judge: %s\n", hd_why()), 4; }

static int search(simt_machine *m, world *w, bool blind)
{
    simt_trial trial = { w, prepare, right, NULL };
    simt_config c = simt_config_default();
    simt_exploration e;
    c.race = !blind;
    if (simt_explore(m, &trial, &c, 2000, 0, 2000, &e)) return fail();
    if (!e.wrong) {
        printf("%llu schedules, %llu of them different: nothing found, every answer right\n",
               (unsigned long long)e.schedules, (unsigned long long)e.distinct);
    } else {
        size_t bytes = simt_schedule_print(e.schedule, e.schedule_n, NULL, 0) + 1;
        char *schedule = (char *)malloc(bytes);
        if (!schedule) return 4;
        simt_schedule_print(e.schedule, e.schedule_n, schedule, bytes);
        printf("schedule %llu: %s%s", (unsigned long long)e.schedules, e.finding.story,
               strchr(e.finding.story, 0)[-1] == '\n' ? "" : "\n");
        printf("again: judge again %llu '%s'\n", (unsigned long long)e.seed, schedule);
        free(schedule);
    }
    int wrong = e.wrong;
    simt_exploration_free(m, &e);
    return wrong;
}

static int again(simt_machine *m, world *w, const char *seed, const char *schedule)
{
    static simt_decision decision[DECISIONS];
    static char story[8192];
    size_t n = DECISIONS;
    simt_config c = simt_config_default();
    if (simt_schedule_parse(schedule, decision, &n)) return fail();
    c.replayed = c.strategy;
    c.strategy = SIMT_REPLAY;
    c.seed = strtoull(seed, NULL, 10);
    c.schedule = decision;
    c.schedule_n = n;
    c.trace = true;
    c.race = schedule[0] == 0; /* a schedule with decisions was made to see what comes of a race */
    if (prepare(w, m)) return fail();
    bool clean = simt_machine_run(m, &c);
    simt_story_print(m, 12, story, sizeof story);
    const char *wrong = clean ? right(w, m) : simt_machine_finding(m)->story;
    printf("%s\n%s\n", story, wrong ? wrong : "nothing found");
    return wrong != NULL;
}

int main(int argc, char **argv)
{
    simt_machine *m;
    static world w;
    bool at_once = false, blind = false, known = true, replays = argc == 4 && strcmp(argv[1], "again") == 0;
    for (int i = 1; i < argc && !replays; i++) {
        at_once = at_once || strcmp(argv[i], "at_once") == 0;
        blind = blind || strcmp(argv[i], "blind") == 0;
        known = known && (strcmp(argv[i], "at_once") == 0 || strcmp(argv[i], "blind") == 0);
    }
    if (!known) return fprintf(stderr, "usage: judge [at_once] [blind] | judge again SEED SCHEDULE\n"), 2;
    w.kernel = at_once ? get_or_insert_at_once_run : get_or_insert_run;
    if (simt_machine_open(NULL, &m)) return fail();
    int code = replays ? again(m, &w, argv[2], argv[3]) : search(m, &w, blind);
    simt_machine_close(m);
    return code;
}
