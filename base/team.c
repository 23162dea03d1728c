/* SPDX-License-Identifier: Apache-2.0
 *
 * team.c - see team.h.
 */
#include "base/team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/thread.h"

enum {
    HELPERS_MOST = 1023, /* of the process */
    SPINS = 1000         /* 10 to 50 us: a thread that has to be woken takes as long */
};

uint64_t hd_team_patient = 1 << 16;

struct hd_team {
    hd_team_work *work;
    void *context;
    uint32_t many;                      /* from `begun` on */
    _Atomic uint32_t begun, came, left; /* begun: 0 or 1; helpers */
    _Atomic uint32_t met, meeting;      /* threads at this meeting; its number */
    _Atomic uint32_t turn;
    pthread_mutex_t lock; /* of the words above, for those that sleep */
    pthread_cond_t changed;
};

typedef struct helper {
    struct helper *next; /* in `idle` */
    hd_team *team;       /* that it is to join; NULL: none */
    pthread_t thread;
    pthread_cond_t wake;
} helper;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all that follows, and of `came` */
static helper all[HELPERS_MOST];
static helper *idle;
static uint32_t started;
static bool child, ending;

/* ---- Waiting --------------------------------------------------------------------------------- */

static inline void rest(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ __volatile__("yield");
#endif
}

static bool spin_until(_Atomic uint32_t *word, uint32_t value, uint64_t spins)
{
    for (uint64_t i = 0; i < spins; i++) {
        if (atomic_load_explicit(word, memory_order_acquire) == value) return true;
        rest();
    }
    return false;
}

static void sleep_until(hd_team *m, _Atomic uint32_t *word, uint32_t value)
{
    pthread_mutex_lock(&m->lock);
    while (atomic_load(word) != value) pthread_cond_wait(&m->changed, &m->lock);
    pthread_mutex_unlock(&m->lock);
}

static void wait_until(hd_team *m, _Atomic uint32_t *word, uint32_t value)
{
    if (!spin_until(word, value, SPINS)) sleep_until(m, word, value);
}

static void set(hd_team *m, _Atomic uint32_t *word, uint32_t value)
{
    pthread_mutex_lock(&m->lock);
    atomic_store(word, value);
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
}

void hd_team_meet(hd_team *m)
{
    if (m->many == 1) return;
    uint32_t next = atomic_load(&m->meeting) + 1;
    uint32_t met = atomic_fetch_add(&m->met, 1) + 1;
    HD_ASSERT(met <= m->many, "more threads meet than the team has");
    if (met < m->many) {
        wait_until(m, &m->meeting, next);
        return;
    }
    atomic_store(&m->met, 0);
    set(m, &m->meeting, next);
}

void hd_team_turn_take(hd_team *m, uint32_t t)
{
    if (m->many > 1) wait_until(m, &m->turn, t);
}

void hd_team_turn_give(hd_team *m, uint32_t t)
{
    HD_ASSERT(m->many == 1 || atomic_load(&m->turn) == t, "a thread ends a turn that is not its own");
    if (m->many > 1) set(m, &m->turn, (t + 1) % m->many);
}

/* ---- Helpers --------------------------------------------------------------------------------- */

/* `lock` is held. */
static void put_idle(helper *h)
{
    h->next = idle;
    idle = h;
}

/* The caller frees the team when all have left: it takes the lock once more, so no thread is still inside. */
static void help(hd_team *m, uint32_t t)
{
    wait_until(m, &m->begun, 1);
    HD_ASSERT(t < m->many, "a helper has joined that the team does not count");
    m->work(m, t, m->many, m->context);
}

static void *helper_run(void *context)
{
    helper *h = (helper *)context;
    pthread_mutex_lock(&lock);
    while (h->team || !ending) {
        hd_team *m = h->team;
        if (!m) {
            pthread_cond_wait(&h->wake, &lock);
            continue;
        }
        h->team = NULL;
        uint32_t t = atomic_fetch_add(&m->came, 1) + 1;
        pthread_mutex_unlock(&lock);
        help(m, t);
        pthread_mutex_lock(&lock);
        put_idle(h); /* before it leaves: the next team of the caller finds it */
        set(m, &m->left, atomic_load(&m->left) + 1);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* A helper that is free, or NULL. `lock` is held. */
static helper *take_idle(void)
{
    helper *h = idle;
    if (h) {
        idle = h->next;
        return h;
    }
    if (started == HELPERS_MOST) return NULL;
    h = &all[started];
    h->team = NULL;
    if (pthread_cond_init(&h->wake, NULL) || !hd_thread_start(&h->thread, helper_run, h)) return NULL;
    started++;
    return h;
}

/* Calls at most `most` helpers; how many there are. */
static uint32_t call(hd_team *m, uint32_t most, helper **called)
{
    uint32_t n = 0;
    pthread_mutex_lock(&lock);
    for (helper *h; n < most && !ending && (h = take_idle()); n++) {
        h->team = m;
        h->next = *called;
        *called = h;
        pthread_cond_signal(&h->wake);
    }
    pthread_mutex_unlock(&lock);
    return n;
}

/* Sends those home that have not come; how many have. */
static uint32_t send_home(hd_team *m, helper *called)
{
    pthread_mutex_lock(&lock);
    for (helper *h = called, *next; h; h = next) {
        next = h->next;
        if (h->team != m) continue;
        h->team = NULL;
        put_idle(h);
    }
    uint32_t came = atomic_load(&m->came);
    pthread_mutex_unlock(&lock);
    return came;
}

/* ---- Children of fork, and the end ----------------------------------------------------------- */

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork(void) { pthread_mutex_unlock(&lock); }
static void begin_child(void)
{
    child = true;
    started = 0;
    idle = NULL;
    pthread_mutex_unlock(&lock);
}

/* Without memory for it a child is not known as one. */
static void watch(void) { (void)pthread_atfork(before_fork, after_fork, begin_child); }

/* Where the library is unloaded its code must not be run any more. A helper that is at work is left alone: its team
 * waits for it, or the process ends under it. */
static __attribute__((destructor)) void end(void)
{
    if (pthread_mutex_trylock(&lock)) return;
    ending = true;
    helper *h = idle;
    idle = NULL;
    for (helper *e = h; e; e = e->next) pthread_cond_signal(&e->wake);
    pthread_mutex_unlock(&lock);
    for (; h; h = h->next) pthread_join(h->thread, NULL);
}

/* ---- Teams ----------------------------------------------------------------------------------- */

static void run_with(hd_team *m, uint32_t helpers, uint64_t items)
{
    helper *called = NULL;
    uint32_t asked = call(m, helpers, &called);
    if (asked && items < hd_team_patient) {
        (void)spin_until(&m->came, asked, SPINS + items / 4); /* a fifth of what the caller needs alone */
        asked = send_home(m, called);
    }
    m->many = asked + 1;
    set(m, &m->begun, 1);
    m->work(m, 0, m->many, m->context);
    (void)spin_until(&m->left, asked, SPINS);
    sleep_until(m, &m->left, asked);
    HD_ASSERT(atomic_load(&m->met) == 0, "a thread has left before a meeting");
    HD_ASSERT(atomic_load(&m->turn) == 0, "a thread has taken fewer turns than another");
}

void hd_team_run(uint32_t threads, uint64_t items, hd_team_work *work, void *context)
{
    hd_team m = { .work = work, .context = context, .many = 1 };
    if (threads > 1) pthread_once(&once, watch);
    if (threads <= 1 || child || pthread_mutex_init(&m.lock, NULL)) {
        work(&m, 0, 1, context);
        return;
    }
    if (pthread_cond_init(&m.changed, NULL) == 0) {
        run_with(&m, threads - 1, items);
        pthread_cond_destroy(&m.changed);
    } else {                     /* GCOVR_EXCL_LINE: glibc's never fails */
        work(&m, 0, 1, context); /* GCOVR_EXCL_LINE */
    }
    pthread_mutex_destroy(&m.lock);
}

uint32_t hd_team_usual(void)
{
#ifdef _OPENMP
    return (uint32_t)omp_get_max_threads();
#else
    return 1;
#endif
}
