/* SPDX-License-Identifier: Apache-2.0
 *
 * t_locks.c - one validator of batch locks, for every row of concurrency/registry.inc, on this machine's threads:
 * batches that may run together do, batches that must not do not, and no batch starves. Locks with a fault each show
 * that the validator finds faults.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "concurrency/gate.h"
#include "lib/table.h"
#include "tests/testing.h"

static const char *const role_name[HD_ROLES] = { "reader", "updater", "inserter" };

static bool may(uint32_t together, hd_role a, hd_role b) { return a == b && (together >> a & 1); }

/* PATIENCE_MS only ends what hangs; IMPATIENCE_MS is for locks in which something is to be found; within SHORT_MS what
 * must not happen is given a chance, and may miss it. */
enum { CROWD = 8, PATIENCE_MS = 60000, IMPATIENCE_MS = 500, SHORT_MS = 8 };

static void sleep_us(long us)
{
    struct timespec t = { 0, us * 1000 };
    nanosleep(&t, NULL);
}

static uint64_t now_ms(void) { return hd_seams_os.time.now_ns(NULL) / 1000000; }

/* A lock that is being tried, and what was seen of it. */
typedef struct trial {
    const hd_lock_row *row;
    uint32_t together;
    _Alignas(16) unsigned char self[HD_LOCK_BYTES];
    _Atomic uint32_t inside[HD_ROLES];
    _Atomic uint64_t entries;
    _Atomic bool wrong, stop;
    uint64_t written[2];  /* by a thread that is alone: two equal values for every reader */
    hd_role role, many;   /* of the guest, of the stream */
    uint64_t patience_ms; /* after which a guest hangs */
    _Atomic bool arrived, go_on, asked;
    _Atomic uint64_t asked_at; /* entries, when the guest asked */
} trial;

static void visit(trial *t, hd_role role, long us)
{
    t->row->enter(t->self, role);
    atomic_fetch_add(&t->inside[role], 1);
    atomic_fetch_add(&t->entries, 1);
    for (int pass = 0; pass < 2; pass++) {
        for (int r = 0; r < HD_ROLES; r++)
            if (atomic_load(&t->inside[r]) > (r == (int)role ? may(t->together, role, role) ? CROWD : 1u : 0u))
                atomic_store(&t->wrong, true);
        if (pass == 0 && us) sleep_us(us);
    }
    if (!may(t->together, role, role) && !atomic_load(&t->wrong)) t->written[0]++, t->written[1]++;
    atomic_fetch_sub(&t->inside[role], 1);
    t->row->leave(t->self, role);
}

/* Enters, reports it, and stays until it may go on. */
static void *guest(void *context)
{
    trial *t = (trial *)context;
    atomic_store(&t->asked_at, atomic_load(&t->entries));
    atomic_store(&t->asked, true);
    t->row->enter(t->self, t->role);
    atomic_store(&t->arrived, true);
    while (!atomic_load(&t->go_on)) sleep_us(50);
    t->row->leave(t->self, t->role);
    return NULL;
}

static bool arrives(trial *t, uint64_t ms)
{
    for (uint64_t end = now_ms() + ms; !atomic_load(&t->arrived) && now_ms() < end;) sleep_us(50);
    return atomic_load(&t->arrived);
}

/* One is inside; another one comes. */
static const char *pair_wrong(trial *t, hd_role in, hd_role comes)
{
    pthread_t other;
    const char *wrong = NULL;
    bool both = may(t->together, in, comes);
    t->role = comes;
    atomic_store(&t->arrived, false);
    atomic_store(&t->go_on, false);
    t->row->enter(t->self, in);
    check(pthread_create(&other, NULL, guest, t) == 0, "no thread");
    if (arrives(t, both ? t->patience_ms : SHORT_MS) != both)
        wrong = both ? "may run together, and do not" : "run together, and may not";
    t->row->leave(t->self, in);
    if (!wrong && !arrives(t, t->patience_ms)) wrong = "none is inside any more, and the other one still waits";
    atomic_store(&t->go_on, true);
    pthread_join(other, NULL);
    return wrong;
}

static void *one_of_a_crowd(void *context)
{
    trial *t = (trial *)context;
    uint64_t random = (uint64_t)(uintptr_t)&random;
    for (uint64_t i = 0; i < test_times(400) && !atomic_load(&t->wrong); i++)
        visit(t, (hd_role)test_below(&random, HD_ROLES), test_below(&random, 8) ? 0 : 20);
    return NULL;
}

static const char *crowd_wrong(trial *t)
{
    pthread_t thread[CROWD];
    for (int i = 0; i < CROWD; i++) check(pthread_create(&thread[i], NULL, one_of_a_crowd, t) == 0, "no thread");
    for (int i = 0; i < CROWD; i++) pthread_join(thread[i], NULL);
    if (atomic_load(&t->wrong)) return "a crowd: some were inside that may not be inside together";
    return t->written[0] == t->written[1] ? NULL : "a crowd: two wrote at a time";
}

/* Enters for a while, again and again: with several threads one is always inside. */
static void *one_of_a_stream(void *context)
{
    trial *t = (trial *)context;
    while (!atomic_load(&t->stop)) visit(t, t->many, 300);
    return NULL;
}

/* Batches that may run together keep coming; a batch of another role gets in before many more of them. */
static const char *progress_wrong(trial *t, hd_role many, hd_role one)
{
    enum { MANY = 4, TIMES = 7, MOST = 40, FAR_TOO_MANY = 1000 };
    pthread_t thread[MANY];
    const char *wrong = NULL;
    int late = 0; /* it may have lost its processor just when it asked: not every time */
    t->many = many;
    atomic_store(&t->stop, false);
    for (int i = 0; i < MANY; i++) {
        check(pthread_create(&thread[i], NULL, one_of_a_stream, t) == 0, "no thread");
        sleep_us(70);
    }
    for (int i = 0; i < TIMES && !wrong; i++) {
        pthread_t other;
        atomic_store(&t->asked, false);
        atomic_store(&t->arrived, false);
        atomic_store(&t->go_on, true); /* leaves at once */
        t->role = one;
        check(pthread_create(&other, NULL, guest, t) == 0, "no thread");
        uint64_t passed = 0;
        while (!atomic_load(&t->arrived) && passed < FAR_TOO_MANY) {
            sleep_us(50);
            if (atomic_load(&t->asked)) passed = atomic_load(&t->entries) - atomic_load(&t->asked_at);
        }
        late += passed > MOST;
        if (passed >= FAR_TOO_MANY || late > TIMES / 2) wrong = "one waits while the others come and go";
        if (wrong) atomic_store(&t->stop, true); /* so that it gets in */
        pthread_join(other, NULL);
    }
    atomic_store(&t->stop, true);
    for (int i = 0; i < MANY; i++) pthread_join(thread[i], NULL);
    return wrong ? wrong : atomic_load(&t->wrong) ? "a stream: some were inside that may not be inside together" : NULL;
}

/* What is wrong with a lock that is to let `together` run together; NULL: nothing. */
static const char *lock_wrong(const hd_lock_row *row, uint32_t together, uint64_t patience_ms)
{
    trial *t = (trial *)test_alloc(1, sizeof *t);
    const char *wrong = NULL;
    static char why[256];
    t->row = row;
    t->together = together;
    t->patience_ms = patience_ms;
    must(row->open(t->self, together));
    for (int a = 0; a < HD_ROLES && !wrong; a++)
        for (int b = 0; b < HD_ROLES && !wrong; b++)
            if ((wrong = pair_wrong(t, (hd_role)a, (hd_role)b)))
                snprintf(why, sizeof why, "%s inside, %s comes: %s", role_name[a], role_name[b], wrong);
    if (!wrong && (wrong = crowd_wrong(t))) snprintf(why, sizeof why, "%s", wrong);
    for (int a = 0; a < HD_ROLES && !wrong; a++)
        for (int b = 0; b < HD_ROLES && !wrong; b++)
            if (a != b && may(together, (hd_role)a, (hd_role)a) && (wrong = progress_wrong(t, (hd_role)a, (hd_role)b)))
                snprintf(why, sizeof why, "%ss, and one %s: %s", role_name[a], role_name[b], wrong);
    row->close(t->self);
    free(t);
    return wrong ? why : NULL;
}

static void every_row_keeps_threads_apart(void)
{
    const hd_lock_row *row;
    for (size_t i = 0; (row = hd_lock_at(i)); i++) {
        if (row->apart == HD_APART_NOT) continue; /* the caller's promise */
        for (int owns = 0; owns < 2; owns++) {
            uint32_t together = row->together & (owns ? ~0u : ~(uint32_t)HD_UPDATERS);
            test_case("lock %s, %s", row->name, owns ? "updaters own what they change" : "updaters do not");
            const char *wrong = lock_wrong(row, together, PATIENCE_MS);
            check(!wrong, "%s", wrong);
        }
    }
}

/* ---- What a table asks of its lock ----------------------------------------------------------- */

typedef struct an_update {
    hd_table *t;
    hd_status status;
    _Atomic bool done;
} an_update;

static void *update_once(void *context)
{
    an_update *u = (an_update *)context;
    uint64_t key = 1, value = 2;
    u->status = hd_run(u->t, &(hd_batch){ .op = HD_OP_ASSIGN, .n = 1, .key = &key, .value = &value });
    atomic_store(&u->done, true);
    return NULL;
}

static bool is_done(an_update *u, uint64_t ms)
{
    for (uint64_t end = now_ms() + ms; !atomic_load(&u->done) && now_ms() < end;) sleep_us(50);
    return atomic_load(&u->done);
}

/* Kernels own what they change; the reference's updaters do not, and run one at a time under any lock. */
static void updaters_run_together_where_they_own(void)
{
    for (int owns = 0; owns < 2; owns++) {
        an_update u = { NULL, HD_OK, false };
        pthread_t thread;
        hd_config c = test_usual(.backend = owns ? "host" : "ref", .lock = "group3", .capacity = 256, .value_bytes = 8);
        test_case("backend %s, an updater inside, and another comes", c.backend);
        must(hd_open(&c, &u.t));
        u.t->lock->enter(u.t->lock_state, HD_UPDATER);
        check(pthread_create(&thread, NULL, update_once, &u) == 0, "no thread");
        bool together = is_done(&u, owns ? PATIENCE_MS : SHORT_MS);
        u.t->lock->leave(u.t->lock_state, HD_UPDATER);
        pthread_join(thread, NULL);
        must(u.status);
        check(together == owns, "they %s together", together ? "ran" : "did not run");
        hd_close(u.t);
    }
}

/* ---- Locks with a fault, which the validator must find --------------------------------------- */

/* Takes updaters for readers. */
static void mistaken_enter(void *self, hd_role role) { hd_gate_enter(self, role == HD_UPDATER ? HD_READER : role); }
static void mistaken_leave(void *self, hd_role role) { hd_gate_leave(self, role == HD_UPDATER ? HD_READER : role); }

/* Admits a batch of the same role as those inside, however long others have waited. */
typedef struct unfair {
    pthread_mutex_t guard;
    pthread_cond_t changed;
    uint32_t inside, together;
    hd_role role;
} unfair;

static hd_status unfair_open(void *self, uint32_t together)
{
    unfair *u = (unfair *)self;
    pthread_mutex_init(&u->guard, NULL);
    pthread_cond_init(&u->changed, NULL);
    u->together = together;
    return HD_OK;
}
static void unfair_close(void *self)
{
    unfair *u = (unfair *)self;
    pthread_cond_destroy(&u->changed);
    pthread_mutex_destroy(&u->guard);
}
static void unfair_enter(void *self, hd_role role)
{
    unfair *u = (unfair *)self;
    pthread_mutex_lock(&u->guard);
    while (u->inside && !(u->role == role && (u->together >> role & 1))) pthread_cond_wait(&u->changed, &u->guard);
    u->inside++;
    u->role = role;
    pthread_mutex_unlock(&u->guard);
}
static void unfair_leave(void *self, hd_role role)
{
    unfair *u = (unfair *)self;
    (void)role;
    pthread_mutex_lock(&u->guard);
    u->inside--;
    pthread_cond_broadcast(&u->changed);
    pthread_mutex_unlock(&u->guard);
}

/* Once in a while it lets a batch pass without the lock. */
static _Atomic uint32_t looked;
static _Thread_local bool passed;
static void careless_enter(void *self, hd_role role)
{
    passed = role != HD_READER && atomic_fetch_add(&looked, 1) % 64 == 63;
    if (!passed) hd_gate_enter(self, role);
}
static void careless_leave(void *self, hd_role role)
{
    if (!passed) hd_gate_leave(self, role);
    passed = false;
}

/* Every batch runs alone, even if some may run together. */
static hd_status strict_open(void *self, uint32_t together) { return (void)together, hd_gate_open(self, 0); }

static void broken_locks_are_found(void)
{
    enum { TRIALS = 20 }; /* on a busy machine `careless` may pass some trials */
    static const hd_lock_row broken[] = {
        { "mistaken", "updaters are readers to it", 0, HD_APART_BY_EVENTS, hd_gate_open, hd_gate_close, mistaken_enter,
          mistaken_leave },
        { "unfair", "who is like those inside comes first", 0, HD_APART_BY_EVENTS, unfair_open, unfair_close,
          unfair_enter, unfair_leave },
        { "careless", "looks away", 0, HD_APART_BY_EVENTS, hd_gate_open, hd_gate_close, careless_enter,
          careless_leave },
        { "strict", "no two together", 0, HD_APART_BY_EVENTS, strict_open, hd_gate_close, hd_gate_enter,
          hd_gate_leave },
    };
    const char *wrong = lock_wrong(hd_lock_named("none"), HD_READERS | HD_UPDATERS, IMPATIENCE_MS);
    check(wrong, "nothing is wrong with no lock at all");
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        wrong = NULL;
        for (int trial = 0; trial < TRIALS && !wrong; trial++)
            wrong = lock_wrong(&broken[i], HD_READERS | HD_UPDATERS, IMPATIENCE_MS);
        test_case("lock %s: %s", broken[i].name, broken[i].what);
        check(wrong, "nothing was found");
        test_note("%s: %s", broken[i].name, wrong);
    }
}

static const struct CMUnitTest tests[] = { unit(every_row_keeps_threads_apart),
                                           unit(updaters_run_together_where_they_own), unit(broken_locks_are_found) };

int main(void) { return test_run(tests); }
