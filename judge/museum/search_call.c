/* SPDX-License-Identifier: Apache-2.0
 *
 * search_call.c - looks for bugs that no batch of one table shows.
 *
 *     call reserve      tables grow to capacities of every kind
 *     call threads      the epoch is one thread's, the batch another's
 *     call tables CASE  a second table has batches between those of the first
 *     call faces        judge/hkv/apply_vs_accept.h
 *     call streams      the order of batches on streams (search_streams.c)
 *     call staging      copies of host arrays (search_staging.c)
 *     call edge         batches whose arrays end where the process's memory does (search_prefetch.c)
 *     call single CASE  batches of many items against batches of one (search_prefetch.c)
 *     call rows         rows that threads keep for a list (search_prefetch.c)
 *     call walk         walks over tables on a device (search_walk.c)
 *     call budget NAME  device memory of tables of a design, against `near` (search_budget.c)
 */
#include <pthread.h>
#include <string.h>
#include <sys/time.h>

#include "judge/hkv/apply_vs_accept.h"
#include "judge/oracle.h"
#include "judge/run.h"
#include "base/error.h"
#include "judge/museum/streams.h"

const char *museum_try_seeds(const museum_search *s, museum_sight *sight, museum_judge judge,
                             const char *(*once)(hd_rng *))
{
    for (uint64_t seed = 1; seed <= s->fixtures && !sight->found; seed++) {
        hd_rng g = hd_rng_from(seed);
        const char *wrong = once(&g);
        sight->tries++;
        sight->seed = seed;
        if (wrong) museum_heard(s, sight, judge, wrong);
    }
    return NULL;
}

/* ---- reserve --------------------------------------------------------------------------------- */

enum { CALL_SECONDS = 2 /* of processor time: more than a call on a small table takes */ };

/* SIGPROF ends the process when it has used so much processor time from now on; 0: it never does. */
static void limit_processor(time_t seconds)
{
    setitimer(ITIMER_PROF, &(struct itimerval){ .it_value = { .tv_sec = seconds } }, NULL);
}

static const char *look_reserve(const museum_search *s, museum_sight *sight, const char *words)
{
    (void)words;
    for (uint64_t wanted = 1; wanted <= s->fixtures && !sight->found; wanted++) {
        hd_config c = hd_config_default();
        hd_table *t;
        hd_info info;
        c.slots = 3;
        c.capacity = 3 * (1 + wanted % 4);
        if (hd_open(&c, &t)) return hd_why();
        sight->tries++;
        limit_processor(CALL_SECONDS);
        hd_status status = hd_reserve(t, 7 * wanted);
        if (!status) status = hd_table_info(t, &info);
        limit_processor(0);
        if (status)
            museum_heard(s, sight, MUSEUM_ORACLE, hd_why());
        else if (info.capacity < 7 * wanted)
            museum_heard(s, sight, MUSEUM_ORACLE, "there is less room than was reserved");
        hd_close(t);
    }
    return NULL;
}

/* ---- threads --------------------------------------------------------------------------------- */

static void *set_epoch(void *t) { return hd_epoch_set((hd_table *)t, 7), NULL; }

static const char *look_threads(const museum_search *s, museum_sight *sight, const char *words)
{
    hd_config c = hd_config_default();
    hd_table *t;
    hd_oracle *o = NULL;
    pthread_t other;
    uint64_t key[4] = { 1, 2, 3, 4 }, value[4] = { 5, 6, 7, 8 };
    uint8_t outcome[4];
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = 4, .key = key, .value = value, .outcome = outcome };
    (void)words;
    c.policy = "epoch_lru";
    c.capacity = 256;
    hd_status status = hd_open(&c, &t);
    if (!status) status = hd_oracle_open(&c, &o);
    if (status) return hd_why();
    if (pthread_create(&other, NULL, set_epoch, t)) return "there is no thread";
    pthread_join(other, NULL);
    status = hd_run(t, &b);
    const char *wrong = status ? hd_why() : hd_oracle_batch(o, t, &b, NULL, 0, 7);
    if (!wrong) wrong = hd_oracle_compare(o, t);
    sight->tries = 1;
    if (wrong) museum_heard(s, sight, MUSEUM_ORACLE, wrong);
    hd_oracle_close(o);
    hd_close(t);
    return NULL;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Between two batches of the table that is judged. */
static int run_beside(void *context, uint64_t done, uint64_t total)
{
    uint64_t key = done, value = total;
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = 1, .key = &key, .value = &value };
    return hd_run((hd_table *)context, &b) != HD_OK;
}

static const char *look_tables(const museum_search *s, museum_sight *sight, const char *words)
{
    hd_config config = hd_config_default();
    hd_case c;
    hd_table *beside;
    hd_run_report report;
    config.capacity = 256;
    if (hd_case_parse(words, &c) || hd_open(&config, &beside)) return hd_why();
    c.judge = true;
    uint32_t judges = s->muted_checks >> MUSEUM_COUNTERS & 1 ? HD_RUN_ALL & ~(uint32_t)HD_RUN_COUNTERS : HD_RUN_ALL;
    hd_status status = hd_case_run_judged(&c, judges, run_beside, beside, &report);
    sight->tries = 1;
    if (!status && report.wrong[0])
        museum_heard(s, sight, report.by == HD_RUN_COUNTERS ? MUSEUM_COUNTERS : MUSEUM_ORACLE, report.wrong);
    hd_close(beside);
    return status ? hd_why() : NULL;
}

/* ---- faces ----------------------------------------------------------------------------------- */

static const char *look_faces(const museum_search *s, museum_sight *sight, const char *words)
{
    faces_counts n;
    char why[FACES_TEXT];
    (void)words;
    faces_search(s->fixtures, 300, &n, why);
    sight->tries = n.tables;
    sight->hash = n.items * 31 + n.lies;
    if (why[0]) museum_heard(s, sight, MUSEUM_FACES, why);
    return NULL;
}

/* ---- The table of calls ---------------------------------------------------------------------- */

static const struct {
    const char *name;
    const char *(*look)(const museum_search *, museum_sight *, const char *words);
} calls[] = { { "reserve", look_reserve },  { "threads", look_threads },        { "tables", look_tables },
              { "faces", look_faces },      { "streams", museum_look_streams }, { "staging", museum_look_staging },
              { "edge", museum_look_edge }, { "single", museum_look_single },   { "rows", museum_look_rows },
              { "walk", museum_look_walk }, { "budget", museum_look_budget },   { "limits", museum_look_limits } };

const char *museum_look_call(const museum_search *s, museum_sight *sight)
{
    size_t n = strcspn(s->what, " ");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strlen(calls[i].name) == n && strncmp(calls[i].name, s->what, n) == 0)
            return calls[i].look(s, sight, s->what + n + (s->what[n] == ' '));
    return "there is no such call";
}
