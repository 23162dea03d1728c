/* SPDX-License-Identifier: Apache-2.0
 *
 * t_locks.c - one validator of batch locks, for every row of concurrency/registry.inc: who may be inside together is, who may not is not, and
 * nobody starves; on this machine's threads, on the streams of a device, and by the word in its memory. Locks with a fault each say
 * whether it would find one.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "concurrency/gate.h"
#include "concurrency/streams.h"
#include "gpu/hkv/rows.h"
#include "tests/fake_device.h"

typedef unsigned long long ull;

static const char *const role_name[HD_ROLES] = { "reader", "updater", "inserter" };

static bool may(uint32_t together, hd_role a, hd_role b) { return a == b && (together >> a & 1); }

/* ---- Threads: the first layer ------------------------------------------------------------------------------------ */

enum { CROWD = 8, PATIENCE_MS = 5000, SHORT_MS = 8 };

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
    uint64_t written[2]; /* by who is alone: equal whenever somebody looks */
    hd_role role, many;  /* of the guest, of the stream */
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
            if (atomic_load(&t->inside[r]) > (r == (int)role ? may(t->together, role, role) ? CROWD : 1u : 0u)) atomic_store(&t->wrong, true);
        if (pass == 0 && us) sleep_us(us);
    }
    if (!may(t->together, role, role) && !atomic_load(&t->wrong)) t->written[0]++, t->written[1]++;
    atomic_fetch_sub(&t->inside[role], 1);
    t->row->leave(t->self, role);
}

/* Enters, says so, and stays until it is told. */
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
    if (arrives(t, both ? PATIENCE_MS : SHORT_MS) != both) wrong = both ? "may run together, and do not" : "run together, and may not";
    t->row->leave(t->self, in);
    if (!wrong && !arrives(t, PATIENCE_MS)) wrong = "nobody is inside any more, and the other one still waits";
    atomic_store(&t->go_on, true);
    pthread_join(other, NULL);
    return wrong;
}

static void *one_of_a_crowd(void *context)
{
    trial *t = (trial *)context;
    uint64_t random = (uint64_t)(uintptr_t)&random;
    for (uint64_t i = 0; i < test_times(400) && !atomic_load(&t->wrong); i++) visit(t, (hd_role)test_below(&random, HD_ROLES), test_below(&random, 8) ? 0 : 20);
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

/* Stays inside for a while, again and again: of several, one always is. */
static void *one_of_a_stream(void *context)
{
    trial *t = (trial *)context;
    while (!atomic_load(&t->stop)) visit(t, t->many, 300);
    return NULL;
}

/* A stream of those who may run together; each of the others gets in before many more of them. */
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
static const char *lock_wrong(const hd_lock_row *row, uint32_t together)
{
    trial *t = (trial *)test_alloc(1, sizeof *t);
    const char *wrong = NULL;
    static char why[256];
    t->row = row;
    t->together = together;
    must(row->open(t->self, together));
    for (int a = 0; a < HD_ROLES && !wrong; a++)
        for (int b = 0; b < HD_ROLES && !wrong; b++)
            if ((wrong = pair_wrong(t, (hd_role)a, (hd_role)b))) snprintf(why, sizeof why, "%s inside, %s comes: %s", role_name[a], role_name[b], wrong);
    if (!wrong && (wrong = crowd_wrong(t))) snprintf(why, sizeof why, "%s", wrong);
    for (int a = 0; a < HD_ROLES && !wrong; a++)
        for (int b = 0; b < HD_ROLES && !wrong; b++)
            if (a != b && may(together, (hd_role)a, (hd_role)a) && (wrong = progress_wrong(t, (hd_role)a, (hd_role)b)))
                snprintf(why, sizeof why, "%ss, and one %s: %s", role_name[a], role_name[b], wrong);
    row->close(t->self);
    free(t);
    return wrong ? why : NULL;
}

static void every_row_keeps_threads_apart(void **unused)
{
    (void)unused;
    const hd_lock_row *row;
    for (size_t i = 0; (row = hd_lock_at(i)); i++) {
        if (row->apart == HD_APART_NOT) continue; /* the caller's promise */
        for (int owns = 0; owns < 2; owns++) {
            uint32_t together = row->together & (owns ? ~0u : ~(uint32_t)HD_UPDATERS);
            test_case("lock %s, %s", row->name, owns ? "updaters own what they change" : "updaters do not");
            const char *wrong = lock_wrong(row, together);
            check(!wrong, "%s", wrong);
        }
    }
}

/* ---- Locks with a fault, which the validator must find ------------------------------------------------------------------ */

/* Takes updaters for readers. */
static void mistaken_enter(void *self, hd_role role) { hd_gate_enter(self, role == HD_UPDATER ? HD_READER : role); }
static void mistaken_leave(void *self, hd_role role) { hd_gate_leave(self, role == HD_UPDATER ? HD_READER : role); }

/* Lets in whoever is like those inside, however long the others have waited. */
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

/* Once in a while it looks away. */
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

/* All alone, where some may run together. */
static hd_status strict_open(void *self, uint32_t together) { return (void)together, hd_gate_open(self, 0); }

static void broken_locks_are_found(void **unused)
{
    (void)unused;
    static const hd_lock_row broken[] = {
        { "mistaken", "updaters are readers to it", 0, HD_APART_BY_MARKS, hd_gate_open, hd_gate_close, mistaken_enter, mistaken_leave },
        { "unfair", "who is like those inside comes first", 0, HD_APART_BY_MARKS, unfair_open, unfair_close, unfair_enter, unfair_leave },
        { "careless", "looks away", 0, HD_APART_BY_MARKS, hd_gate_open, hd_gate_close, careless_enter, careless_leave },
        { "strict", "nobody together", 0, HD_APART_BY_MARKS, strict_open, hd_gate_close, hd_gate_enter, hd_gate_leave },
    };
    const char *wrong = lock_wrong(hd_lock_named("none"), HD_READERS | HD_UPDATERS);
    check(wrong, "nothing is wrong with no lock at all");
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        wrong = lock_wrong(&broken[i], HD_READERS | HD_UPDATERS);
        test_case("lock %s: %s", broken[i].name, broken[i].what);
        check(wrong, "nothing was found");
        test_note("%s: %s", broken[i].name, wrong);
    }
}

/* ---- Streams: who comes after whom -------------------------------------------------------------------------------------------- */

enum { BATCHES = 60, STREAMS = 6, MANY_STREAMS = HD_LANES + 8, KEYS = 8, WORKS = 2048 };

typedef struct put_batch {
    hd_op op;
    hd_role role;
    bool lists;
    int stream;
    size_t first, end; /* its pieces of work */
} put_batch;

typedef struct streams_scene {
    fake_device fake;
    counting memory;
    hd_table *t;
    const hd_lock_row *row;
    uint64_t *key, *out; /* the device's: keys; room for every output */
    put_batch batch[BATCHES];
    int batches;
    bool after[WORKS][BATCHES]; /* work w comes after all of batch b */
} streams_scene;

static char stream_address[MANY_STREAMS];

static streams_scene *scene_open(const char *lock)
{
    streams_scene *s = (streams_scene *)test_alloc(1, sizeof *s);
    uint64_t key[KEYS];
    hd_config c = hd_config_default();
    fake_init(&s->fake);
    counting_init(&s->memory);
    s->memory.seams.device = &s->fake.seam;
    c.backend = "cuda";
    c.lock = lock;
    c.capacity = 64;
    c.slots = 16;
    c.seams = &s->memory.seams;
    must(hd_open(&c, &s->t));
    s->row = hd_lock_named(lock);
    for (uint64_t i = 0; i < KEYS; i++) key[i] = i;
    s->key = (uint64_t *)fake_array(&s->fake, key, sizeof key);
    s->out = (uint64_t *)fake_array(&s->fake, NULL, 1 << 14);
    return s;
}

static void scene_close(streams_scene *s)
{
    must(hd_check(s->t)); /* all of it has run */
    hd_close(s->t);
    fake_drop(&s->fake, s->key);
    fake_drop(&s->fake, s->out);
    fake_settled(&s->fake);
    free(s);
}

static void put_random(streams_scene *s, uint64_t *random, int streams)
{
    static const struct {
        hd_op op;
        hd_role role;
        bool lists;
    } ops[] = { { HD_OP_FIND, HD_READER, false },       { HD_OP_FIND_MISSED, HD_READER, true },  { HD_OP_EXPORT, HD_READER, true },
                { HD_OP_SIZE, HD_READER, false },       { HD_OP_ASSIGN, HD_UPDATER, false },     { HD_OP_TOUCH, HD_UPDATER, false },
                { HD_OP_INSERT_OR_ASSIGN, HD_INSERTER, false }, { HD_OP_INSERT_AND_EVICT, HD_INSERTER, true }, { HD_OP_ERASE, HD_INSERTER, false } };
    size_t k = test_below(random, 3) ? test_below(random, 6) : test_below(random, 9);
    put_batch *p = &s->batch[s->batches++];
    *p = (put_batch){ ops[k].op, ops[k].role, ops[k].lists, (int)test_below(random, (uint64_t)streams), s->fake.works, 0 };
    hd_batch b;
    memset(&b, 0, sizeof b);
    b.op = p->op;
    b.n = KEYS;
    b.key = s->key;
    b.value = s->key;
    b.list_key = s->out;
    b.count = s->out + 1024;
    b.stream = &stream_address[p->stream];
    must(hd_run(s->t, &b));
    p->end = s->fake.works;
}

/* The batch's own: what its lock puts on the stream aside. */
static bool is_effect(const fake_work *w)
{
    bool word = w->kind == FAKE_LAUNCH && (w->launch.kernel == HKV_NUMBER_word_enter || w->launch.kernel == HKV_NUMBER_word_leave);
    return w->kind != FAKE_AFTER && !word;
}

/* From what lies on the streams: the batches that each piece of work comes after. */
static void trace_order(streams_scene *s)
{
    size_t last[MANY_STREAMS];
    check(s->fake.works < WORKS, "%d pieces of work", (int)s->fake.works);
    memset(s->after, 0, sizeof s->after);
    for (int k = 0; k < MANY_STREAMS; k++) last[k] = SIZE_MAX;
    for (size_t w = 0; w < s->fake.works; w++) {
        const fake_work *work = &s->fake.work[w];
        int k = (int)((const char *)work->stream - stream_address);
        size_t from[2] = { k >= 0 && k < MANY_STREAMS ? last[k] : SIZE_MAX, SIZE_MAX };
        if (work->kind == FAKE_AFTER && work->mark > s->fake.before)
            for (size_t x = work->mark - s->fake.before; x-- > 0;)
                if (s->fake.work[x].stream == work->mark_stream) {
                    from[1] = x;
                    break;
                }
        for (int f = 0; f < 2; f++)
            for (int b = 0; from[f] != SIZE_MAX && b < s->batches; b++) {
                size_t end = s->batch[b].end;
                while (end > s->batch[b].first && !is_effect(&s->fake.work[end - 1])) end--; /* its last effect */
                s->after[w][b] |= s->after[from[f]][b] || from[f] + 1 == end;
            }
        if (k >= 0 && k < MANY_STREAMS) last[k] = w;
    }
}

static bool is_after(const streams_scene *s, int late, int early)
{
    size_t w = s->batch[late].first;
    while (!is_effect(&s->fake.work[w])) w++;
    return s->after[w][early];
}

/* From the lock's row: what must come after what, and what need not. */
static void order_wanted(const streams_scene *s, bool chained, bool (*want)[BATCHES])
{
    bool marks = s->row->apart == HD_APART_BY_MARKS;
    memset(want, 0, sizeof(bool[BATCHES][BATCHES]));
    for (int y = 0; y < s->batches; y++)
        for (int x = y - 1; x >= 0; x--) {
            const put_batch *p = &s->batch[x], *q = &s->batch[y];
            bool conflict = marks && (chained || !may(s->row->together, p->role, q->role));
            if (!conflict && p->stream != q->stream && !(p->lists && q->lists)) continue;
            want[y][x] = true;
            for (int z = 0; z < x; z++) want[y][z] |= want[x][z];
        }
}

/* exact: and nothing waits that need not. */
static const char *order_wrong(streams_scene *s, bool chained, bool exact)
{
    static char why[256];
    static bool want[BATCHES][BATCHES];
    trace_order(s);
    order_wanted(s, chained, want);
    for (int y = 0; y < s->batches; y++)
        for (int x = 0; x < y; x++) {
            bool is = is_after(s, y, x);
            if (is == want[y][x] || (is && !exact)) continue;
            snprintf(why, sizeof why, "batch %d (%s, stream %d) %s batch %d (%s, stream %d)", y, hd_op_name(s->batch[y].op), s->batch[y].stream,
                     is ? "waits without need for" : "does not wait for", x, hd_op_name(s->batch[x].op), s->batch[x].stream);
            return why;
        }
    return NULL;
}

/* Each batch lies between the word's two steps, in its role, and what it waits for before them. */
static const char *bracket_wrong(const streams_scene *s)
{
    for (int b = 0; b < s->batches; b++) {
        const put_batch *p = &s->batch[b];
        size_t w = p->first;
        while (w < p->end && s->fake.work[w].kind == FAKE_AFTER) w++;
        const fake_work *enter = &s->fake.work[w], *leave = &s->fake.work[p->end - 1];
        if (enter->kind != FAKE_LAUNCH || enter->launch.kernel != HKV_NUMBER_word_enter || ((const hd_word_args *)enter->kept)->role != (uint32_t)p->role)
            return "a batch that does not begin with the word";
        if (leave->kind != FAKE_LAUNCH || leave->launch.kernel != HKV_NUMBER_word_leave) return "a batch that does not end with the word";
        for (w++; w + 1 < p->end; w++)
            if (!is_effect(&s->fake.work[w])) return "a batch that waits while it holds the word";
    }
    return NULL;
}

static void every_row_orders_streams(void **unused)
{
    (void)unused;
    const hd_lock_row *row;
    for (size_t i = 0; (row = hd_lock_at(i)); i++)
        for (uint64_t round = 0; round < test_times(30); round++) {
            bool many = round % 5 == 4;
            uint64_t random = round + 1;
            streams_scene *s = scene_open(row->name);
            test_case("lock %s, round %d", row->name, (int)round);
            while (s->batches < BATCHES) put_random(s, &random, many ? MANY_STREAMS : STREAMS);
            const char *wrong = order_wrong(s, false, !many);
            if (!wrong && row->apart == HD_APART_BY_WORD) wrong = bracket_wrong(s);
            check(!wrong, "%s", wrong);
            scene_close(s);
        }
}

/* With a recording of the table's all follow each other, by marks; the word goes on as before. */
static void a_recording_chains_what_follows(void **unused)
{
    (void)unused;
    const hd_lock_row *row;
    for (size_t i = 0; (row = hd_lock_at(i)); i++) {
        uint64_t random = 7;
        streams_scene *s = scene_open(row->name);
        test_case("lock %s, after a recording", row->name);
        hd_batch b;
        memset(&b, 0, sizeof b);
        b.op = HD_OP_FIND;
        b.n = KEYS;
        b.key = s->key;
        b.stream = &stream_address[0];
        fake_record(&s->fake, b.stream);
        must(hd_run(s->t, &b));
        fake_recording *r = fake_recorded(&s->fake);
        while (s->batches < BATCHES) put_random(s, &random, STREAMS);
        const char *wrong = order_wrong(s, row->apart == HD_APART_BY_MARKS, row->apart == HD_APART_BY_WORD);
        check(!wrong, "%s", wrong);
        for (int k = 0; k < 3; k++) fake_replay(&s->fake, r, &stream_address[k]);
        scene_close(s);
        fake_forget(r);
    }
}

/* Each wait that the lock asks for between two streams, once not done. */
static void a_wait_that_is_left_out_is_found(void **unused)
{
    (void)unused;
    uint64_t found = 0, all = 0;
    for (uint64_t k = 1; k < 200; k++) {
        uint64_t random = 3;
        streams_scene *s = scene_open("ordered");
        s->fake.skip_after = k;
        while (s->batches < BATCHES) put_random(s, &random, STREAMS);
        bool was_asked = s->fake.skipped == 2;
        test_case("wait %d is left out", (int)k);
        const char *wrong = order_wrong(s, false, false);
        all += was_asked;
        found += was_asked && wrong;
        scene_close(s);
    }
    test_note("%llu of %llu waits between streams that were left out were found; others are implied", (ull)found, (ull)all);
    check(all > 40 && found * 2 >= all, "%llu of %llu", (ull)found, (ull)all);
}

/* A batch that fails has left: all roles get in afterwards. */
static void errors_in_between(void **unused)
{
    (void)unused;
    const hd_lock_row *row;
    static const hd_op ops[] = { HD_OP_FIND, HD_OP_ASSIGN, HD_OP_INSERT_OR_ASSIGN, HD_OP_EXPORT };
    for (size_t i = 0; (row = hd_lock_at(i)); i++) {
        streams_scene *s = scene_open(row->name);
        hd_config c = hd_config_default();
        hd_table *here;
        c.lock = row->name;
        c.capacity = 64;
        c.slots = 16;
        must(hd_open(&c, &here));
        for (int k = 0; k < 16; k++) {
            hd_batch b;
            memset(&b, 0, sizeof b);
            b.op = ops[k % 4];
            b.n = KEYS;
            b.stream = &stream_address[k % 3];
            test_case("lock %s, %s fails", row->name, hd_op_name(b.op));
            b.key = NULL;
            if (b.op == HD_OP_EXPORT) b.n = 1000;
            must_fail(hd_run(here, &b), HD_EINVAL, NULL);
            must_fail(hd_run(s->t, &b), HD_EINVAL, NULL);
            must(hd_check(here));
            if (b.op == HD_OP_EXPORT) continue;
            b.key = s->key;
            b.value = s->key;
            s->fake.fail_at = s->fake.calls + 4 + (uint64_t)(k / 8); /* `use`, `owns`, `records`, then the lock's or the batch's */
            s->fake.code = FAKE_INVALID;
            must_fail(hd_run(s->t, &b), HD_ECUDA, NULL);
            s->fake.fail_at = 0;
            must(hd_run(s->t, &b));
            must(hd_check(s->t));
        }
        hd_close(here);
        scene_close(s);
    }
}

/* ---- The word: the second layer of group3 ---------------------------------------------------------------------------------------- */

typedef struct word_body {
    uint32_t *inside;  /* (HD_ROLES) */
    uint32_t *wrong;   /* (1) */
    uint32_t *data;    /* (2): who is alone writes, others read: a race when they are not apart */
    uint32_t role, together;
} word_body;

SIMT_KERNEL(k_word_enter, hd_word_args, a) { hd_word_enter(&a); }
SIMT_KERNEL(k_word_leave, hd_word_args, a) { hd_word_leave(&a); }

SIMT_KERNEL(k_word_body, word_body, a)
{
    if (simt_thread() != 0) return;
    simt_add_u32(a.inside + a.role, 1u, SIMT_RELAXED);
    for (uint32_t r = 0; r < 3; r++) {
        uint32_t n = simt_ldrlx_u32(a.inside + r), most = r != a.role ? 0u : a.together >> r & 1 ? 99u : 1u;
        if (n > most) simt_strlx_u32(a.wrong, 1u);
    }
    uint32_t x = simt_ld_u32(a.data);
    if (!(a.together >> a.role & 1)) simt_st_u32(a.data, x + 1);
    simt_backoff(1);
    simt_add_u32(a.inside + a.role, 0xffffffffu, SIMT_RELAXED);
}

/* With a fault each. */
SIMT_KERNEL(k_word_pass, hd_word_args, a) { (void)a; }
SIMT_KERNEL(k_word_leave_relaxed, hd_word_args, a)
{
    if (simt_thread() == 0) simt_add_u32(&a.word->inside, 0xffffffffu, SIMT_RELAXED);
}
SIMT_KERNEL(k_word_enter_mistaken, hd_word_args, a)
{
    hd_word_args b = a;
    if (b.role == HD_UPDATER) b.role = HD_READER;
    hd_word_enter(&b);
}
SIMT_KERNEL(k_word_enter_early, hd_word_args, a) /* the next one's turn before it is inside itself */
{
    if (simt_thread() != 0) return;
    uint32_t mine = simt_add_u32(&a.word->next, 1, SIMT_RELAXED);
    while (simt_ldacq_u32(&a.word->serving) != mine) simt_backoff(8);
    simt_strel_u32(&a.word->serving, mine + 1);
    while (simt_ldacq_u32(&a.word->inside) != 0) simt_backoff(8);
    simt_strlx_u32(&a.word->role, a.role);
    simt_add_u32(&a.word->inside, 1, SIMT_RELAXED);
}
SIMT_KERNEL(k_word_leave_never, hd_word_args, a) /* the one who is left waits for ever */
{
    if (a.role != HD_READER) hd_word_leave(&a);
}

typedef void kernel(const void *);

/* Seven streams, two batches each, in a random order. What is wrong, or NULL. */
static const char *word_wrong(kernel *enter, kernel *leave, uint64_t seed, bool weak)
{
    enum { QUEUES = 7, EACH = 2 };
    static char why[512];
    struct {
        hd_word word;
        uint32_t inside[HD_ROLES], wrong, data[2];
    } memory;
    simt_machine *m;
    uint64_t random = seed;
    memset(&memory, 0, sizeof memory);
    must(simt_machine_open(NULL, &m));
    must(simt_machine_region(m, &memory.word, sizeof memory.word, "word"));
    must(simt_machine_region(m, memory.inside, sizeof memory.inside, "inside"));
    must(simt_machine_region(m, &memory.wrong, sizeof memory.wrong, "wrong"));
    must(simt_machine_region(m, memory.data, sizeof memory.data, "data"));
    for (uint32_t q = 0; q < QUEUES; q++)
        for (int k = 0; k < EACH; k++) {
            hd_word_args a = { &memory.word, (uint32_t)test_below(&random, HD_ROLES), HD_READERS | HD_UPDATERS };
            word_body b = { memory.inside, &memory.wrong, memory.data, a.role, a.together };
            must(simt_machine_launch(m, enter, &a, sizeof a, 1, 32, q));
            must(simt_machine_launch(m, k_word_body, &b, sizeof b, 1, 32, q));
            must(simt_machine_launch(m, leave, &a, sizeof a, 1, 32, q));
        }
    simt_config c = simt_config_default();
    c.seed = seed;
    c.strategy = seed % 3 ? SIMT_RANDOM : SIMT_PCT;
    c.weak = weak;
    c.resident = 2 * QUEUES;
    c.step_limit = 400000;
    bool good = simt_machine_run(m, &c);
    snprintf(why, sizeof why, "%.400s", good ? "some were inside that may not be inside together" : simt_machine_finding(m)->story);
    const char *wrong = !good || memory.wrong ? why : NULL;
    simt_machine_close(m);
    return wrong;
}

static void the_word_keeps_kernels_apart(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= test_times(300); seed++) {
        test_case("seed %llu", (ull)seed);
        const char *wrong = word_wrong(k_word_enter, k_word_leave, seed, seed % 2);
        check(!wrong, "%s", wrong);
    }
}

static void broken_words_are_found(void **unused)
{
    (void)unused;
    static const struct {
        const char *what;
        kernel *enter, *leave;
    } broken[] = {
        { "nobody waits", k_word_pass, k_word_pass },
        { "leaves without a release", k_word_enter, k_word_leave_relaxed },
        { "takes updaters for readers", k_word_enter_mistaken, k_word_leave },
        { "calls the next one before it is in", k_word_enter_early, k_word_leave },
        { "readers never leave", k_word_enter, k_word_leave_never },
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        const char *wrong = NULL;
        uint64_t seed = 0;
        while (!wrong && seed++ < 400) wrong = word_wrong(broken[i].enter, broken[i].leave, seed, seed % 2);
        test_case("a word that %s", broken[i].what);
        check(wrong, "nothing was found in %llu schedules", (ull)seed);
        test_note("%s: seed %llu: %.60s", broken[i].what, (ull)seed, wrong);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_keeps_threads_apart), cmocka_unit_test(broken_locks_are_found),
        cmocka_unit_test(every_row_orders_streams),      cmocka_unit_test(a_recording_chains_what_follows),
        cmocka_unit_test(a_wait_that_is_left_out_is_found), cmocka_unit_test(errors_in_between),
        cmocka_unit_test(the_word_keeps_kernels_apart),  cmocka_unit_test(broken_words_are_found),
    };
    return test_run(tests);
}
