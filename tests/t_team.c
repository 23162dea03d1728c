/* SPDX-License-Identifier: Apache-2.0
 *
 * t_team.c - teams of threads (base/team.h): every thread takes part once, meetings and turns hold, several callers and
 * children of fork have teams. On a machine with more to do than it has processors a batch with the usual threads takes
 * at most a few times as long as with one.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/team.h"
#include "tests/testing.h"

/* ---- What a team does ------------------------------------------------------------------------ */

enum { MOST = 16, MEETINGS = 50 };

typedef struct record {
    _Atomic uint32_t ran[MOST], here[MEETINGS], many;
    uint32_t turns, order[2 * MOST]; /* guarded by the turns themselves */
    uint64_t shared;
    bool early; /* a thread left a meeting before all had come */
} record;

static void take_part(hd_team *m, uint32_t t, uint32_t many, void *context)
{
    record *r = (record *)context;
    r->ran[t]++;
    r->many = many;
    for (int k = 0; k < MEETINGS; k++) {
        r->here[k]++;
        hd_team_meet(m);
        if (r->here[k] != many) r->early = true;
    }
    for (int round = 0; round < 2; round++) {
        hd_team_turn_take(m, t);
        r->order[r->turns++] = t;
        hd_team_turn_give(m, t);
    }
}

static void run_once(uint32_t asked, uint64_t items, bool all)
{
    static _Thread_local record r;
    memset(&r, 0, sizeof r);
    hd_team_run(asked, items, take_part, &r);
    uint32_t many = r.many;
    check(many >= 1 && many <= (asked ? asked : 1), "%u of %u threads", many, asked);
    check(!all || many == (asked ? asked : 1), "%u of %u threads", many, asked);
    check(!r.early, "a thread left a meeting before all had come");
    check(r.turns == 2 * many, "%u turns of %u threads", r.turns, many);
    for (uint32_t t = 0; t < MOST; t++) check(r.ran[t] == (t < many), "thread %u ran %u times", t, r.ran[t]);
    for (uint32_t k = 0; k < r.turns; k++) check(r.order[k] == k % many, "turn %u was thread %u's", k, r.order[k]);
}

static void teams_of_every_size(void)
{
    for (int round = 0; round < 20; round++)
        for (uint32_t asked = 0; asked <= MOST; asked++) {
            test_case("%u threads, round %d", asked, round);
            run_once(asked, 1, true);
        }
    hd_team_patient = UINT64_MAX; /* helpers that are late are not waited for */
    for (int round = 0; round < 200; round++) run_once(1 + (uint32_t)round % MOST, 1, false);
    hd_team_patient = 0;
}

static void *call_often(void *unused)
{
    for (int round = 0; round < 50; round++) run_once(2 + (uint32_t)round % 5, 1, true);
    return unused;
}

static void several_callers(void)
{
    enum { CALLERS = 6 };
    pthread_t caller[CALLERS];
    for (int k = 0; k < CALLERS; k++) check(pthread_create(&caller[k], NULL, call_often, NULL) == 0, "no thread");
    for (int k = 0; k < CALLERS; k++) pthread_join(caller[k], NULL);
}

static void count_threads(hd_team *m, uint32_t t, uint32_t many, void *context)
{
    (void)m;
    if (t == 0) *(uint32_t *)context = many;
}

/* It ends as a process does, with the destructors of libraries. */
static void children_are_alone(void)
{
    run_once(4, 1, true);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        uint32_t many = 0;
        hd_team_run(4, 1, count_threads, &many);
        exit(many == 1 ? 0 : 1);
    }
    int code = 0;
    check(waitpid(child, &code, 0) == child, "no child");
    check(code == 0, "the child's team: status %d", code);
    run_once(4, 1, true);
}

/* ---- A busy machine -------------------------------------------------------------------------- */

enum { KEYS = 4096, ROUNDS = 41, CHILDREN_MOST = 64 };

static pid_t busy[CHILDREN_MOST];
static long busy_n;

static int keep_busy(void **state)
{
    (void)state;
    busy_n = 2 * sysconf(_SC_NPROCESSORS_ONLN);
    if (busy_n > CHILDREN_MOST) busy_n = CHILDREN_MOST;
    hd_team_patient = 1 << 16;
    fflush(NULL);
    for (long k = 0; k < busy_n; k++) {
        pid_t parent = getpid();
        if ((busy[k] = fork())) continue;
        while (getppid() == parent)
            for (volatile int i = 0; i < 1000000; i++) continue;
        _exit(0);
    }
    return 0;
}

static int let_go(void **state)
{
    (void)state;
    hd_team_patient = 0;
    for (long k = 0; k < busy_n; k++) {
        kill(busy[k], SIGKILL);
        waitpid(busy[k], NULL, 0);
    }
    return 0;
}

static double ms_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int by_size(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static double median(double *ms)
{
    qsort(ms, ROUNDS, sizeof *ms, by_size);
    return ms[ROUNDS / 2];
}

/* Spinning costs processor time, and sleepers that are called late cost time. Both are compared, by turns. */
static void a_busy_machine(void)
{
    static uint64_t key[KEYS], value[KEYS];
    static uint8_t outcome[KEYS];
    static double wall[2][ROUNDS];
    double used[2] = { 0, 0 };
    hd_table *t[2];
    for (int k = 0; k < 2; k++) {
        hd_config c = hd_config_default();
        c.capacity = 1 << 16;
        c.threads = k ? 0 : 1;
        must(hd_open(&c, &t[k]));
        for (uint64_t i = 0; i < KEYS; i++) key[i] = value[i] = i;
        hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, KEYS, key, value, outcome);
        must(hd_run(t[k], &b));
    }
    for (int round = 0; round < 2 * ROUNDS; round++) {
        hd_batch b = test_batch(HD_OP_FIND, KEYS, key, NULL, outcome);
        b.value_out = value;
        double begun = ms_of(CLOCK_MONOTONIC), begun_used = ms_of(CLOCK_PROCESS_CPUTIME_ID);
        must(hd_run(t[round % 2], &b));
        wall[round % 2][round / 2] = ms_of(CLOCK_MONOTONIC) - begun;
        used[round % 2] += ms_of(CLOCK_PROCESS_CPUTIME_ID) - begun_used;
    }
    double one = median(wall[0]), usual = median(wall[1]);
    test_note(
        "4,096 keys beside %ld busy processes: %.2f ms with one thread, %.2f ms with the usual %u; processor: %.2f, "
        "%.2f ms",
        busy_n, one, usual, hd_team_usual(), used[0] / ROUNDS, used[1] / ROUNDS);
    check(used[1] < 4 * used[0] + 0.1 * ROUNDS, "%.2f ms of processor time, and %.2f ms with one thread",
          used[1] / ROUNDS, used[0] / ROUNDS);
    check(usual < 10 * one + 1, "%.2f ms, and %.2f ms with one thread", usual, one);
    hd_close(t[0]);
    hd_close(t[1]);
}

static const struct CMUnitTest team[] = { unit(teams_of_every_size), unit(several_callers), unit(children_are_alone),
                                          unit_in("a_busy_machine", a_busy_machine, keep_busy, let_go) };

int main(void) { return test_run(team); }
