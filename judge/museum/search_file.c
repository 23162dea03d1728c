/* SPDX-License-Identifier: Apache-2.0
 *
 * search_file.c - looks for a bug in tables with files: life after life, with seeds that follow each other, judged as
 * judge/trial.h does.
 *
 *     file cuts [changes=N] [random=N] [churns] CASE   the power is cut at any time
 *     file calls CASE                                  each call of the file seam fails once
 *     file damage [changes=N] CASE                     the process is killed, and the file is damaged
 *
 * CASE says what the table is; its operation, and its batches, are not used. random: files with any sectors lost,
 * beside those of each kind (cuts_each). churns: batches take more cells than are free.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "judge/museum/museum.h"
#include "judge/trial.h"
#include "workload/case.h"

enum { CHANGES = 40, RANDOM = 4 };

typedef struct look {
    hd_case c;
    shape of;
    uint64_t changes, random;
} look;

static life had; /* it is large */

static void cut(const look *l, trial *x, uint64_t seed)
{
    trial_live(x, &had, &l->of, "ref", seed, l->changes, l->random);
}

static void fail_calls(const look *l, trial *x, uint64_t seed)
{
    for (uint64_t at = 1; !x->wrong && trial_fail(x, &had, &l->of, EIO, seed, at); at++) continue;
}

static void damage(const look *l, trial *x, uint64_t seed)
{
    cuts_file left;
    trial_damage(x, &had, &l->of, seed, l->changes, &left);
    free(left.bytes);
}

static const struct {
    const char *name;
    void (*once)(const look *l, trial *x, uint64_t seed);
} ways[] = { { "cuts", cut }, { "calls", fail_calls }, { "damage", damage } };
enum { WAYS = sizeof ways / sizeof *ways };

/* The words before the case, and the case. */
static hd_status parse(const char *what, look *l)
{
    char word[64];
    int n;
    *l = (look){ .changes = CHANGES, .random = RANDOM };
    for (; sscanf(what, " %63s%n", word, &n) == 1; what += n) {
        if (strcmp(word, "churns") == 0)
            l->of.churns = true;
        else if (sscanf(word, "changes=%" SCNu64, &l->changes) != 1 && sscanf(word, "random=%" SCNu64, &l->random) != 1)
            break;
    }
    hd_status status = hd_case_parse(what, &l->c);
    l->of.name = l->c.design;
    l->of.config = hd_case_config(&l->c);
    return status;
}

const char *museum_look_file(const museum_search *s, museum_sight *sight)
{
    const size_t n = strcspn(s->what, " ");
    look l;
    size_t way = 0;
    while (way < WAYS && (strlen(ways[way].name) != n || strncmp(ways[way].name, s->what, n) != 0)) way++;
    if (way == WAYS) return "there is no such way to harm a file";
    if (parse(s->what + n, &l)) return hd_why();
    if (s->muted_checks >> MUSEUM_FILE & 1) return NULL; /* no one else looks */
    for (uint64_t seed = 1; seed <= s->fixtures && !sight->found; seed++) {
        trial x = { .random = hd_rng_from(seed), .again = 64 };
        ways[way].once(&l, &x, seed);
        sight->tries += 1 + x.tried; /* the life, and files of it */
        sight->hash = sight->hash * 31 + x.tried + had.changes;
        if (!x.wrong || !museum_heard(s, sight, MUSEUM_FILE, x.why)) continue;
        sight->seed = seed;
        snprintf(sight->at, sizeof sight->at, "%s", s->what);
    }
    return NULL;
}
