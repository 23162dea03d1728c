/* SPDX-License-Identifier: Apache-2.0
 *
 * t_soak.c - sixteen threads with a stream each on one table, all operations, all judged, also while the table is
 * cleared, grows, is saved and loaded. Seconds in the suite; `t_soak --seconds 600 [LOCK ...]` for as long as you like,
 * on the backend of HEDDLE_TEST_BACKEND.
 *
 * Own keys: each key is used by one thread, so this thread knows the history of the key; other threads can only evict
 * it (soak_own.c). While all threads rest, the number of missing keys must equal the number of evictions that outcomes
 * reported.
 *
 * Shared keys, in a table with room and in one that evicts all the time: values are whole and never too old, sums lose
 * nothing (soak_shared.c).
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu/hkv/rows.h"
#include "base/op.h"
#include "judge/space.h"
#include "simt/sanitizer.h"
#include "tests/soak.h"

void complain(worker *w, const flight *a, uint64_t i, const char *what)
{
    soak *s = w->s;
    bool batch = a && a->here, keyed = batch && hd_op_is_keyed(hd_op_row_of(a->b.op)) && i < a->b.n;
    pthread_mutex_lock(&s->say);
    if (!atomic_load(&s->wrong))
        snprintf(s->why, sizeof s->why, "thread %d, %s by %s, item %d, key %llx, %s: %s", (int)w->number,
                 batch ? hd_op_name(a->b.op) : "no batch", batch && a->b.ran ? a->b.ran : "-", (int)i,
                 keyed ? (ull)a->here->key[i] : 0ull, keyed ? hd_outcome_name((hd_outcome)a->here->outcome[i]) : "-",
                 what);
    atomic_store(&s->wrong, true);
    pthread_mutex_unlock(&s->say);
}

/* ---- Batches --------------------------------------------------------------------------------- */

static const char *any_variant(worker *w, hd_op op, const hd_info *info)
{
    static const char *const names[] = { "tlpv1", "tlpv2", "pipeline", "warp", "coalesced" };
    const char *name = names[test_below(&w->random, 5)];
    uint32_t row = hkv_row_of(name, hkv_family_of((uint32_t)op));
    return row < hkv_row_count() && !hkv_row(row)->fits(info) && test_below(&w->random, 2) ? name : NULL;
}

/* info: not NULL if the thread may choose any variant. */
static bool put(worker *w, flight *a, const hd_info *info)
{
    const hd_device_seam *d = w->s->p->seam;
    arrays *x = a->there;
    a->b.elem = HD_U64;
    a->b.holder = hd_op_does(a->b.op, HD_NEEDS_HOLDER) ? w->number + 1 : 0;
    a->b.stream = w->stream;
    a->b.key = x->key, a->b.value = x->value, a->b.score = x->score, a->b.flag = x->flag;
    a->b.outcome = x->outcome, a->b.value_out = x->value_out, a->b.score_out = x->score_out,
    a->b.ptr = (void **)(void *)x->ptr;
    a->b.list_key = x->list_key, a->b.list_value = x->list_value, a->b.count = &x->count;
    if (d && info) a->b.kernel = any_variant(w, a->b.op, info);
    if (d && d->copy(d->self, a->there, a->here, sizeof *a->here, HD_TO_DEVICE, w->stream)) return false;
    return hd_run(w->s->t, &a->b) == HD_OK;
}

static bool draw_and_put(worker *w, flight *a, const hd_info *info)
{
    memset(&a->b, 0, sizeof a->b);
    a->done = atomic_load(&w->s->done);
    if (w->s->leg == OWN)
        own_draw(w, a);
    else
        shared_draw(w, a);
    return put(w, a, info);
}

static void judge(worker *w, flight *a)
{
    soak *s = w->s;
    bool keyed = hd_op_is_keyed(hd_op_row_of(a->b.op)), own = s->leg == OWN;
    atomic_fetch_add(&s->ops[a->b.op], 1);
    if (keyed) atomic_fetch_add(&s->items, a->b.n);
    if (a->b.op == HD_OP_INSERT_AND_EVICT && !own) shared_judge_list(w, a); /* what left was there before */
    for (uint64_t i = 0; keyed && i < a->b.n; i++) {
        if (a->here->outcome[i] >= HD_OUTCOME_COUNT) return complain(w, a, i, "no outcome");
        atomic_fetch_add(&s->outcome[a->here->outcome[i]], 1);
        if (own)
            own_judge(w, a, i);
        else
            shared_judge(w, a, i);
    }
    if (a->b.op == HD_OP_INSERT_AND_EVICT && own) own_judge_list(w, a);
    if (!keyed) own_judge_range(w, a);
}

/* ---- At rest --------------------------------------------------------------------------------- */

typedef struct walk {
    soak *s;
    flight floors; /* of shared keys: everything is finished */
    uint64_t entries, sum;
    bool there[THREADS][KEYS_MOST];
} walk;

static int see(void *context, uint64_t key, uint64_t score, void *value)
{
    walk *k = (walk *)context;
    soak *s = k->s;
    uint64_t thread, n, v[WORDS];
    memcpy(v, value, sizeof v);
    k->entries++;
    if (s->leg != OWN) return shared_saw(&s->worker[0], &k->floors, key, v, &k->sum), 0;
    if (!own_place(s, key, &thread, &n)) return complain(&s->worker[0], NULL, 0, "a key of no thread"), 1;
    own_saw(&s->worker[thread], n, v, score);
    k->there[thread][n] = true;
    return 0;
}

static void miss(soak *s, const walk *k)
{
    for (int t = 0; t < THREADS && s->leg == OWN; t++)
        for (uint64_t n = 0; n < s->keys; n++)
            if (!k->there[t][n]) own_missed(&s->worker[t], n);
}

/* What came, went and stayed since the last rest; a reset in between takes along what it likes. */
static void account(soak *s, const walk *k, const hd_counters *c, char *why, size_t bytes)
{
    uint64_t evicted = atomic_load(&s->outcome[HD_EVICTED]), gone = atomic_load(&s->noticed),
             inserted = atomic_load(&s->outcome[HD_INSERTED]);
    uint64_t erased = atomic_load(&s->outcome[HD_ERASED]), added = atomic_load(&s->added), left = atomic_load(&s->left),
             shared = s->leg == OWN ? 0 : SHARED;
    bool reset = atomic_load(&s->done) != s->settled;
    if (!reset && s->leg == OWN && evicted - s->evicted != gone - s->gone)
        snprintf(why, bytes, "%llu entries were evicted, %llu are missing", (ull)(evicted - s->evicted),
                 (ull)(gone - s->gone));
    else if (!reset && k->entries - s->entries != inserted - s->inserted - (erased - s->erased))
        snprintf(why, bytes, "%llu entries, %llu before, %llu inserted and %llu erased", (ull)k->entries,
                 (ull)s->entries, (ull)(inserted - s->inserted), (ull)(erased - s->erased));
    else if (!reset && k->sum - s->sum + left - s->sum_left != added - s->sum_added)
        snprintf(why, bytes, "sums of %llu, %llu before, and %llu that left, after %llu additions", (ull)k->sum,
                 (ull)s->sum, (ull)(left - s->sum_left), (ull)(added - s->sum_added));
    else if (c->outcome[HD_EVICTED] != evicted || c->outcome[HD_INSERTED] != inserted + shared)
        snprintf(why, bytes, "the counters say %llu evicted, %llu inserted; outcomes said %llu and %llu",
                 (ull)c->outcome[HD_EVICTED], (ull)c->outcome[HD_INSERTED], (ull)evicted, (ull)(inserted + shared));
    s->entries = k->entries, s->evicted = evicted, s->gone = gone, s->inserted = inserted, s->erased = erased,
    s->sum = k->sum, s->sum_left = left, s->sum_added = added;
    s->settled = atomic_load(&s->done);
}

/* From here on it is known of every key whether it is pinned. */
static void settle_pins(soak *s)
{
    const hd_device_seam *d = s->p->seam;
    for (int t = 0; t < THREADS && s->leg == OWN; t++) {
        worker *w = &s->worker[t];
        flight *a = &w->slot[0];
        memset(&a->b, 0, sizeof a->b);
        if (!own_draw_doubtful(w, a)) continue;
        if (!put(w, a, NULL) || (d && d->wait(d->self, w->stream))) complain(w, NULL, 0, hd_why());
    }
}

/* Checks the whole table. No other thread uses it meanwhile. */
static void rest(soak *s)
{
    char why[320] = "";
    walk *k = (walk *)test_alloc(1, sizeof *k);
    hd_counters c;
    k->s = s;
    shared_floors(&s->worker[0], &k->floors);
    s->rests++;
    if (hd_check(s->t) || hd_for_each(s->t, see, k) || hd_counters_sync(s->t, &c))
        snprintf(why, sizeof why, "%s", hd_why());
    else {
        miss(s, k);
        account(s, k, &c, why, sizeof why);
        settle_pins(s);
    }
    if (*why) complain(&s->worker[0], NULL, 0, why);
    free(k);
}

/* ---- A thread -------------------------------------------------------------------------------- */

/* A round: some batches on the stream, one after the other, a wait, and judgement. */
static void round_of(worker *w, const hd_info *info)
{
    soak *s = w->s;
    const hd_device_seam *d = s->p->seam;
    int put_n = 0;
    atomic_store(&w->oldest, atomic_load(&s->done));
    while (put_n < DEPTH && !atomic_load(&s->wrong) && draw_and_put(w, &w->slot[put_n], info)) put_n++;
    if (put_n < DEPTH && !atomic_load(&s->wrong)) complain(w, NULL, 0, hd_why());
    for (int i = 0; i < put_n && d; i++)
        d->copy(d->self, w->slot[i].here, w->slot[i].there, sizeof(arrays), HD_FROM_DEVICE, w->stream);
    if (d && d->wait(d->self, w->stream)) complain(w, NULL, 0, "the device failed");
    uint64_t begun = atomic_load(&s->begun);
    for (int i = 0; i < put_n && !atomic_load(&s->wrong); i++) {
        w->slot[i].begun = begun;
        judge(w, &w->slot[i]);
    }
}

static void *work(void *context)
{
    worker *w = (worker *)context;
    soak *s = w->s;
    hd_info info;
    bool over = hd_table_info(s->t, &info) != HD_OK;
    for (uint64_t round = 0; !over; round++) {
        round_of(w, &info);
        if (!atomic_load(&s->wrong)) whole_table(w);
        /* beside the others */
        if (w->number == 0 && round % 32 == 31 && hd_check(s->t)) complain(w, NULL, 0, hd_why());
        if (round % s->stretch != s->stretch - 1 && hd_seams_os.time.now_ns(NULL) < s->end_ns &&
            !atomic_load(&s->wrong))
            continue;
        /* All threads meet here, also those that are done: all end after the same rest. */
        pthread_barrier_wait(&s->rest);
        if (w->number == 0) {
            if (!atomic_load(&s->wrong)) rest(s);
            if (atomic_load(&s->wrong) || hd_seams_os.time.now_ns(NULL) >= s->end_ns) s->seconds = 0;
        }
        pthread_barrier_wait(&s->rest);
        over = s->seconds == 0;
    }
    return NULL;
}

/* ---- A soak ---------------------------------------------------------------------------------- */

static void worker_open(worker *w, soak *s, uint64_t number)
{
    const hd_device_seam *d = s->p->seam;
    w->s = s;
    w->number = number;
    w->random = number * 77 + 5 + (s->c.hkv.dual ? 1000 : 0);
    w->key = (known *)test_alloc(s->keys, sizeof *w->key);
    w->stream = place_stream(s->p);
    for (int i = 0; i < DEPTH; i++) {
        void *there = NULL;
        w->slot[i].here = (arrays *)test_alloc(1, sizeof(arrays));
        if (d) check(d->take(d->self, &there, sizeof(arrays)) == 0, "no memory on the device");
        w->slot[i].there = d ? (arrays *)there : w->slot[i].here;
    }
}

static void worker_close(worker *w)
{
    const hd_device_seam *d = w->s->p->seam;
    for (int i = 0; i < DEPTH; i++) {
        if (d) d->give(d->self, w->slot[i].there);
        free(w->slot[i].here);
    }
    place_stream_ends(w->s->p, w->stream);
    free(w->key);
}

typedef struct turn {
    const char *policy;
    bool dual;
    soak_leg leg;
} turn;

static uint64_t capacity_of(const soak *s)
{
    if (s->leg == OWN) return THREADS * s->keys / 4;
    return s->leg == SHARED_FULL ? 4 * 32 : 8 * 32 * 8;
}

/* What threads need not know of a table is drawn from the space of cases: how it lies in memory, what is on the host,
 * how that is fetched, and its seed. */
static void draw_table(hd_config *c, uint64_t seed)
{
    static const char *const fixed[][2] = { { "op", "find" },        { "batch", "33x12" }, { "capacity", "300" },
                                            { "slots", "32" },       { "value", "16" },    { "policy", "lru" },
                                            { "dual", "0" },         { "admit", "score" }, { "clock", "logical" },
                                            { "between", "nothing" } };
    space *s;
    hd_case drawn;
    must(space_open("hkv", "ref", &s));
    space_domain d = space_all(s);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) space_fix(s, &d, fixed[i][0], fixed[i][1]);
    check(space_random(s, &d, NULL, seed), "there is no such table");
    must(space_case(s, &d, seed, &drawn));
    drawn.buckets = c->capacity / c->slots;
    space_limits(s, &d, &drawn);
    c->layout = drawn.layout;
    c->seed = drawn.table_seed;
    c->hkv.tiers = drawn.table.hkv.tiers;
    c->hkv.fetch = drawn.table.hkv.fetch;
    c->hkv.device_value_bytes = drawn.table.hkv.device_value_bytes;
    space_close(s);
}

/* What was found, or NULL. The seed draws the table. */
static const char *soak_wrong(place *p, const char *lock, const turn *of, double seconds, uint64_t seed, char *why,
                              size_t bytes)
{
    static const char *const legs[] = { "own keys", "shared keys", "shared keys, full" };
    bool large = p->seam == &hd_device_os, slow = p->seam && !large;
    soak *s = (soak *)test_alloc(1, sizeof *s);
    pthread_t thread[THREADS];
    s->p = p;
    s->keys = large ? KEYS_MOST : slow ? 16 : 128;
    s->stretch = large ? 256 : slow ? 3 : 48;
    s->one_in = large ? 12 : slow ? 1 : 4;
    s->batch = large ? MOST : slow ? 16 : 48;
    s->c = hd_config_default();
    s->c.backend = p->backend;
    s->c.lock = lock;
    s->c.policy = of->policy;
    s->c.hkv.dual = of->dual;
    s->c.slots = 32;
    s->leg = of->leg;
    s->c.capacity = capacity_of(s);
    atomic_store(&s->capacity, s->c.capacity);
    atomic_store(&s->growing, s->c.capacity);
    s->c.value_bytes = 8 * WORDS;
    s->c.hkv.pins = 64;
    s->c.threads = 1;
    draw_table(&s->c, seed);
    s->c.seams = &p->seams;
    s->exact_scores = strcmp(of->policy, "custom") == 0;
    s->seconds = seconds;
    pthread_mutex_init(&s->say, NULL);
    pthread_barrier_init(&s->rest, NULL, THREADS);
    must(hd_open(&s->c, &s->t));
    if (s->leg != OWN) shared_fill(s), s->entries = SHARED;
    whole_open(s);
    s->worker = (worker *)test_alloc(THREADS, sizeof *s->worker);
    for (uint64_t i = 0; i < THREADS; i++) worker_open(&s->worker[i], s, i);
    s->start_ns = hd_seams_os.time.now_ns(NULL);
    s->end_ns = s->start_ns + (uint64_t)(seconds * 1e9);
    for (int i = 0; i < THREADS; i++) check(pthread_create(&thread[i], NULL, work, &s->worker[i]) == 0, "no thread");
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    bool wrong = atomic_load(&s->wrong);
    uint64_t batches = 0;
    for (int o = 0; o < HD_OP_COUNT_; o++) batches += atomic_load(&s->ops[o]);
    snprintf(why, bytes, "%s", s->why);
    test_tried("soak", atomic_load(&s->items),
               "backend=%s lock=%s policy=%s dual=%d layout=%d tiers=%d device_value_bytes=%llu fetch=%d %s: %llu "
               "batches, %llu evicted, %llu clears, %llu growths, %llu "
               "saves, %llu loads, %llu rests: %s",
               p->backend, lock, of->policy, of->dual, (int)s->c.layout, (int)s->c.hkv.tiers,
               (ull)s->c.hkv.device_value_bytes, (int)s->c.hkv.fetch, legs[of->leg], (ull)batches,
               (ull)atomic_load(&s->outcome[HD_EVICTED]), (ull)s->wholes[0], (ull)s->wholes[1], (ull)s->wholes[2],
               (ull)s->wholes[3], (ull)s->rests, wrong ? why : "clean");
    for (int i = 0; i < THREADS; i++) worker_close(&s->worker[i]);
    whole_close(s);
    hd_close(s->t);
    pthread_barrier_destroy(&s->rest);
    pthread_mutex_destroy(&s->say);
    free(s->worker);
    free(s);
    return wrong ? why : NULL;
}

/* In turns that last at most a minute each. */
static void soak_all(const char *backend, const char *const *locks, double seconds)
{
    static const turn turns[] = { { "lru", false, OWN },         { "custom", true, OWN },
                                  { "lfu", false, SHARED_ROOM }, { "lru", false, SHARED_FULL },
                                  { "custom", false, OWN },      { "epoch_lru", true, SHARED_ROOM },
                                  { "lru", true, OWN },          { "lfu", true, SHARED_FULL } };
    enum { TURNS = sizeof turns / sizeof *turns };
    size_t n = 0;
    while (locks[n]) n++;
    double each = seconds / (double)(n * TURNS);
    uint64_t times = each > 30 ? (uint64_t)(each / 30) + 1 : 1;
    for (uint64_t i = 0; i < times * n * TURNS; i++) {
        char why[512];
        place p;
        place_open(&p, backend);
        const char *wrong =
            soak_wrong(&p, locks[i / TURNS % n], &turns[i % TURNS], each / (double)times, i, why, sizeof why);
        check(!wrong, "%s", wrong);
        place_close(&p);
    }
}

static double suite_seconds(double usual) { return usual * (double)test_times(100) / 100; }

static void on_this_machine(void)
{
    static const char *const locks[] = { "ordered", "rw", NULL };
    if (test_far()) test_skip("tables are on a device");
    soak_all("ref", locks, suite_seconds(4));
}

static void on_a_device(void)
{
    static const char *const locks[] = { "ordered", "group3", "rw", NULL };
    soak_all("cuda", locks, suite_seconds(test_far() ? 24 : 12));
}

static bool finds_without_a_lock(const char *backend, const turn *of)
{
    char why[512];
    place p;
    place_open(&p, backend);
    bool found = false;
    for (int k = 0; k < 30 && !found; k++) found = soak_wrong(&p, "none", of, 1, 0, why, sizeof why);
    return found;
}

static const turn unlocked[] = { { "lru", false, OWN }, { "lfu", false, SHARED_ROOM } };

/* Without a lock the same soak finds something, or breaks down, and soon: in a process of its own. A process that has
 * used a device cannot go on with it after a fork, so the program starts again. */
static void a_table_without_a_lock_is_found(void)
{
#ifdef HD_TSAN
    test_skip("it races on purpose, and the thread sanitizer says so");
#endif
    for (size_t i = 0; i < sizeof unlocked / sizeof *unlocked; i++) {
        if (test_far() && unlocked[i].leg != OWN) continue; /* updaters own their entries, and nothing else is there */
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            alarm(120); /* it breaks down: it never ends */
            if (test_far()) execl("/proc/self/exe", "t_soak", "--without-a-lock", (char *)NULL);
            _exit(test_far() || !finds_without_a_lock("ref", &unlocked[i]) ? 0 : 1);
        }
        int code = 0;
        check(waitpid(child, &code, 0) == child, "no child");
        check(WIFSIGNALED(code) || WEXITSTATUS(code) != 0, "nothing was found");
    }
}

static double told_seconds;
static const char *told_locks[16] = { "ordered" };

static void as_long_as_told(void) { soak_all(test_backend("ref"), told_locks, told_seconds); }

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { unit(on_this_machine), unit(on_a_device),
                                        unit(a_table_without_a_lock_is_found) };
    const struct CMUnitTest told[] = { unit(as_long_as_told) };
    if (argc == 2 && strcmp(argv[1], "--without-a-lock") == 0) return finds_without_a_lock("cuda", &unlocked[0]);
    if (argc < 3 || strcmp(argv[1], "--seconds") != 0) return test_run(tests);
    told_seconds = atof(argv[2]);
    for (int i = 3; i < argc && i < 3 + 15; i++) told_locks[i - 3] = argv[i];
    return test_run(told);
}
