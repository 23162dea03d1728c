/* SPDX-License-Identifier: Apache-2.0
 *
 * t_soak.c - sixteen threads with a stream each on one table, all operations, all judged. Seconds in the suite; `t_soak --seconds 600
 * [LOCK]` for as long as you like, on the backend of HEDDLE_TEST_BACKEND.
 *
 * Own keys: each key is used by one thread, so what that thread did to it is its history, in which nobody else takes part but by evicting
 * it. A value that comes back is the last that was written; a key that was gone stays gone; a pinned one is there. And when all rest, all
 * evictions that outcomes told of are keys that are missing, neither more nor fewer.
 *
 * Shared keys: every write has a stamp of its writer's, counting up. What is read is whole, was written, and is not older than what its
 * writer had finished before the read began, or than what the reader has seen of that writer already. Sums lose nothing.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu/hkv/rows.h"
#include "lib/op.h"
#include "tests/fake_device.h"
#include "tests/far.h"

typedef unsigned long long ull;

enum { THREADS = 16, DEPTH = 3, MOST = 512, KEYS_MOST = 4096, SHARED = 64, WORDS = 2 };

/* ---- A device for many threads ------------------------------------------------------------------------------------- */

/* The fake one serves one thread at a time. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static const hd_device_seam *inner;
#define PASS(name, parameters, arguments)                                    \
    static int pass_##name parameters                                        \
    {                                                                        \
        pthread_mutex_lock(&one_at_a_time);                                  \
        int code = inner->name arguments;                                    \
        pthread_mutex_unlock(&one_at_a_time);                                \
        return code;                                                         \
    }
PASS(find, (void *s, hd_device *d), (s, d))
PASS(use, (void *s, int d, int *before), (s, d, before))
PASS(take, (void *s, void **p, size_t bytes), (s, p, bytes))
PASS(give, (void *s, void *p), (s, p))
PASS(take_far, (void *s, void **p, size_t bytes), (s, p, bytes))
PASS(give_far, (void *s, void *p, size_t bytes), (s, p, bytes))
PASS(copy, (void *s, void *to, const void *from, size_t bytes, hd_way way, void *stream), (s, to, from, bytes, way, stream))
PASS(fill, (void *s, void *to, int byte, size_t bytes, void *stream), (s, to, byte, bytes, stream))
PASS(launch, (void *s, const hd_launch *l, void *stream), (s, l, stream))
PASS(wait, (void *s, void *stream), (s, stream))
PASS(mark, (void *s, void **mark, void *stream), (s, mark, stream))
PASS(after, (void *s, void *mark, void *stream), (s, mark, stream))
PASS(unmark, (void *s, void *mark), (s, mark))
PASS(records, (void *s, void *stream, uint64_t *recording), (s, stream, recording))
PASS(owns, (void *s, const void *p, bool *owns), (s, p, owns))

/* Where tables are: on this machine (seam NULL) or on a device. */
typedef struct place {
    const char *backend;
    const hd_device_seam *seam;
    hd_device_seam passing;
    hd_seams seams;
    fake_device fake;
} place;

static void place_open(place *p, const char *backend)
{
    memset(p, 0, sizeof *p);
    p->backend = backend;
    p->seams = hd_seams_os;
    if (strcmp(backend, "cuda") != 0) return;
    p->seam = &hd_device_os;
    if (test_far()) return;
    fake_init(&p->fake);
    inner = &p->fake.seam;
    hd_device_seam passing = {
        pass_find, pass_use,  pass_take,  pass_give,   pass_take_far, pass_give_far, pass_copy,    pass_fill, pass_launch,
        pass_wait, pass_mark, pass_after, pass_unmark, pass_records,  pass_owns,     inner->error, inner->self,
    };
    p->passing = passing;
    p->seam = p->seams.device = &p->passing;
}

static void place_close(place *p)
{
    if (p->seam == &p->passing) fake_settled(&p->fake);
}

/* ---- What is known ----------------------------------------------------------------------------------------------------- */

typedef struct known {
    uint64_t value[WORDS], score;
    bool present, pinned;
} known;

typedef struct arrays {
    uint64_t key[MOST], value[MOST][WORDS], score[MOST], value_out[MOST][WORDS], score_out[MOST], ptr[MOST], count;
    uint8_t flag[MOST], outcome[MOST];
    uint64_t list_key[KEYS_MOST], list_value[KEYS_MOST][WORDS];
} arrays;

/* A batch on its way. */
typedef struct flight {
    arrays *here, *there; /* there: the same without a device */
    hd_batch b;
    uint64_t floor[SHARED][THREADS]; /* of item i: what each writer had finished, the thread itself had put there */
} flight;

typedef struct soak {
    place *p;
    hd_table *t;
    hd_config c;
    uint64_t keys, batch; /* of a thread; items at most */
    bool shared, exact_scores;
    double seconds;
    uint64_t end_ns;
    pthread_barrier_t rest;
    _Atomic uint64_t outcome[HD_OUTCOME_COUNT], ops[HD_OP_COUNT_], items, noticed, evicted, added;
    _Atomic uint64_t finished[THREADS][SHARED], issued[THREADS];
    _Atomic bool wrong;
    char why[512];
    pthread_mutex_t say;
    struct worker *worker;
    uint64_t rests;
} soak;

typedef struct worker {
    soak *s;
    uint64_t number, random, stamp;
    void *stream;
    known *key;                           /* (keys) */
    uint64_t seen[SHARED][THREADS], wrote[SHARED]; /* of shared keys: what was read; what was put on the stream */
    flight slot[DEPTH];
} worker;

static void complain(worker *w, const flight *a, uint64_t i, const char *what)
{
    soak *s = w->s;
    pthread_mutex_lock(&s->say);
    if (!atomic_load(&s->wrong))
        snprintf(s->why, sizeof s->why, "thread %d, %s by %s, item %d, key %llx, %s: %s", (int)w->number, a ? hd_op_name(a->b.op) : "at rest", a && a->b.ran ? a->b.ran : "-",
                 (int)i, a ? (ull)a->here->key[i] : 0ull, a && a->b.outcome && hd_op_is_keyed(hd_op_row_of(a->b.op)) ? hd_outcome_name((hd_outcome)a->here->outcome[i]) : "-", what);
    atomic_store(&s->wrong, true);
    pthread_mutex_unlock(&s->say);
}

static uint64_t key_of(const worker *w, uint64_t i) { return (w->number + 1) << 32 | i; }
static uint64_t tag_of(uint64_t key) { return key * 0x9e3779b97f4a7c15u; }
static uint64_t seal_of(uint64_t stamp) { return stamp * 0xbf58476d1ce4e5b9u ^ 0x5851f42d4c957f2du; }

/* ---- Own keys ------------------------------------------------------------------------------------------------------------- */

static void gone(worker *w, const flight *a, uint64_t i, known *k)
{
    if (k->present && k->pinned) complain(w, a, i, "a pinned key is gone");
    if (k->present) atomic_fetch_add(&w->s->noticed, 1);
    k->present = false;
}

static void must_be_known(worker *w, const flight *a, uint64_t i, const known *k)
{
    if (!k->present) complain(w, a, i, "a key is there that had been erased or evicted");
}

static void comes(worker *w, const flight *a, uint64_t i, known *k, const uint64_t *value)
{
    gone(w, a, i, k);
    k->present = true;
    k->pinned = false;
    memcpy(k->value, value, sizeof k->value);
    k->score = a->here->score[i];
}

static void judge_value(worker *w, const flight *a, uint64_t i, const known *k)
{
    const arrays *x = a->here;
    if (memcmp(x->value_out[i], k->value, sizeof k->value) != 0) complain(w, a, i, "a value that is not the last one written");
    if (w->s->exact_scores && x->score_out[i] != k->score) complain(w, a, i, "a score that is not the last one given");
}

static bool judge_lookup(worker *w, flight *a, uint64_t i, known *k)
{
    if (a->here->outcome[i] != HD_HIT) return false;
    must_be_known(w, a, i, k);
    if (a->b.op == HD_OP_FIND || a->b.op == HD_OP_FIND_MISSED) judge_value(w, a, i, k);
    return true;
}

static void judge_own(worker *w, flight *a, uint64_t i)
{
    static const uint64_t zero[WORDS] = { 0 };
    arrays *x = a->here;
    known *k = &w->key[(uint32_t)x->key[i]];
    hd_op op = a->b.op;
    hd_outcome o = (hd_outcome)x->outcome[i];
    if (hd_op_row_of(op)->role == HD_READER) {
        if (!judge_lookup(w, a, i, k)) gone(w, a, i, k);
        return;
    }
    if (o == HD_MISS && op != HD_OP_UNLOCK_KEYS) return gone(w, a, i, k);
    if (o == HD_REFUSED && op != HD_OP_LOCK_KEYS) return gone(w, a, i, k);
    if (o == HD_INSERTED || o == HD_EVICTED) return comes(w, a, i, k, op == HD_OP_FIND_OR_INSERT_PTR ? zero : x->value[i]);
    if (o == HD_PINNED && !k->pinned && op != HD_OP_UNLOCK_KEYS) complain(w, a, i, "pinned by nobody");
    if (op == HD_OP_UNLOCK_KEYS) {
        if (o == HD_PINNED) complain(w, a, i, "pinned by somebody else");
        if ((o == HD_HIT) != (k->pinned && k->present)) complain(w, a, i, k->pinned ? "the pin is lost" : "a pin that was never put");
        k->pinned = false;
        return;
    }
    if (op == HD_OP_LOCK_KEYS && o == HD_REFUSED) return;
    must_be_known(w, a, i, k);
    if (op == HD_OP_ERASE && o == HD_ERASED) k->present = false;
    if (op == HD_OP_LOCK_KEYS && o == HD_HIT) k->pinned = true;
    if (op == HD_OP_ERASE || op == HD_OP_LOCK_KEYS) return;
    if (k->pinned && o == HD_UPDATED) complain(w, a, i, "a pinned key was changed");
    bool accum = op == HD_OP_ACCUM_OR_ASSIGN, rescores = op != HD_OP_ASSIGN_VALUES && !(accum && x->flag[i] == HD_ASSIGN_NEW);
    if (o != HD_PINNED && rescores) k->score = x->score[i];
    if (op == HD_OP_TOUCH || op == HD_OP_FIND_OR_INSERT) judge_value(w, a, i, k);
    if (o != HD_UPDATED) return;
    if (op == HD_OP_ASSIGN || op == HD_OP_ASSIGN_VALUES || op == HD_OP_INSERT_OR_ASSIGN || op == HD_OP_INSERT_AND_EVICT) memcpy(k->value, x->value[i], sizeof k->value);
    if (accum)
        for (int n = 0; n < WORDS; n++) k->value[n] += x->value[i][n];
}

/* What was on the list, of whomever. */
static void judge_evicted(worker *w, flight *a)
{
    arrays *x = a->here;
    uint64_t told = 0;
    for (uint64_t i = 0; i < a->b.n; i++) told += x->outcome[i] == HD_EVICTED || x->outcome[i] == HD_REFUSED;
    if (x->count != told) complain(w, a, 0, "the list is longer or shorter than the outcomes say");
    for (uint64_t i = 0; i < x->count && i < KEYS_MOST; i++) {
        uint64_t owner = (x->list_key[i] >> 32) - 1;
        if (owner >= THREADS || (uint32_t)x->list_key[i] >= w->s->keys) complain(w, a, i, "a listed key that nobody has");
        if (x->list_value[i][0] != tag_of(x->list_key[i]) && x->list_value[i][0] != 0) complain(w, a, i, "a listed value of another key");
    }
}

/* Operations on the thread's whole range of keys. */
static void judge_range(worker *w, flight *a)
{
    uint64_t present = 0, pinned = 0;
    arrays *x = a->here;
    for (uint64_t i = 0; i < w->s->keys; i++) present += w->key[i].present, pinned += w->key[i].present && w->key[i].pinned;
    if (a->b.op == HD_OP_SIZE) {
        if (x->count > w->s->c.capacity) complain(w, a, 0, "more entries than places");
        return;
    }
    if (x->count > present || (a->b.op != HD_OP_ERASE_IF && x->count < pinned)) complain(w, a, 0, "more or fewer than there can be");
    if (a->b.op == HD_OP_SIZE_IF) return;
    if (a->b.op == HD_OP_ERASE_IF) {
        atomic_fetch_add(&w->s->noticed, present - pinned - x->count);
        if (x->count > present - pinned) complain(w, a, 0, "more were erased than there were");
        atomic_fetch_add(&w->s->outcome[HD_ERASED], x->count);
        for (uint64_t i = 0; i < w->s->keys; i++) w->key[i].present = w->key[i].present && w->key[i].pinned;
        return;
    }
    static _Thread_local bool listed[KEYS_MOST];
    memset(listed, 0, sizeof listed);
    for (uint64_t i = 0; i < x->count && i < KEYS_MOST; i++) {
        uint64_t n = (uint32_t)x->list_key[i];
        if (x->list_key[i] >> 32 != w->number + 1 || n >= w->s->keys || listed[n]) complain(w, a, 0, "a listed key of another thread, or twice");
        else if (!w->key[n].present || memcmp(w->key[n].value, x->list_value[i], sizeof w->key[n].value) != 0) complain(w, a, 0, "a listed entry that is not what was written");
        else listed[n] = true;
    }
    for (uint64_t n = 0; n < w->s->keys; n++)
        if (!listed[n]) gone(w, a, 0, &w->key[n]);
}

/* ---- Shared keys --------------------------------------------------------------------------------------------------------------- */

static void judge_shared(worker *w, flight *a, uint64_t i)
{
    arrays *x = a->here;
    uint64_t k = x->key[i] - 1, stamp = x->value_out[i][0], writer = stamp >> 40, seq = stamp & ((1ull << 40) - 1);
    bool writes = a->b.op == HD_OP_ASSIGN_VALUES || a->b.op == HD_OP_INSERT_OR_ASSIGN || a->b.op == HD_OP_ASSIGN;
    if (a->b.op == HD_OP_ACCUM_OR_ASSIGN) return;
    if (writes) {
        atomic_store(&w->s->finished[w->number][k], x->value[i][0] & ((1ull << 40) - 1));
        w->seen[k][w->number] = x->value[i][0] & ((1ull << 40) - 1);
        return;
    }
    if (x->outcome[i] != HD_HIT) return complain(w, a, i, "a key of a table with room is gone");
    if (x->value_out[i][1] != seal_of(stamp) || writer >= THREADS) return complain(w, a, i, "a torn value");
    if (seq > atomic_load(&w->s->issued[writer])) return complain(w, a, i, "a value that nobody wrote");
    if (seq < a->floor[i][writer]) return complain(w, a, i, "a value that its writer had already replaced when this began");
    if (seq < w->seen[k][writer]) return complain(w, a, i, "a value older than one that was seen before");
    w->seen[k][writer] = seq;
}

static void draw_shared(worker *w, flight *a)
{
    static const hd_op ops[] = { HD_OP_FIND, HD_OP_TOUCH, HD_OP_ASSIGN_VALUES, HD_OP_ASSIGN, HD_OP_FIND, HD_OP_INSERT_OR_ASSIGN, HD_OP_ACCUM_OR_ASSIGN };
    arrays *x = a->here;
    a->b.op = ops[test_below(&w->random, 7)];
    a->b.n = 1 + test_below(&w->random, SHARED / 2);
    uint64_t first = test_below(&w->random, SHARED);
    bool writes = a->b.op == HD_OP_ASSIGN_VALUES || a->b.op == HD_OP_INSERT_OR_ASSIGN || a->b.op == HD_OP_ASSIGN;
    if (writes) atomic_store(&w->s->issued[w->number], ++w->stamp);
    for (uint64_t i = 0; i < a->b.n; i++) {
        uint64_t k = (first + 3 * i) % SHARED;
        x->key[i] = k + 1;
        x->score[i] = test_below(&w->random, 1000);
        x->flag[i] = HD_EITHER;
        x->value[i][0] = w->number << 40 | w->stamp;
        x->value[i][1] = seal_of(x->value[i][0]);
        for (int t = 0; t < THREADS && !writes; t++) a->floor[i][t] = t == (int)w->number ? w->wrote[k] : atomic_load(&w->s->finished[t][k]);
        if (writes) w->wrote[k] = w->stamp;
        if (a->b.op != HD_OP_ACCUM_OR_ASSIGN) continue;
        x->key[i] = SHARED + 1 + k;
        x->value[i][0] = 1;
        x->value[i][1] = 3;
        atomic_fetch_add(&w->s->added, 1);
    }
}

/* ---- A thread -------------------------------------------------------------------------------------------------------------------------- */

static void draw_own(worker *w, flight *a)
{
    static const hd_op ops[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_INSERT_OR_ASSIGN, HD_OP_INSERT_AND_EVICT, HD_OP_FIND_OR_INSERT, HD_OP_FIND_OR_INSERT_PTR,
                                 HD_OP_ACCUM_OR_ASSIGN, HD_OP_FIND, HD_OP_FIND, HD_OP_CONTAINS, HD_OP_FIND_PTR, HD_OP_FIND_MISSED, HD_OP_TOUCH, HD_OP_ASSIGN, HD_OP_ASSIGN_VALUES,
                                 HD_OP_ASSIGN_SCORES, HD_OP_ERASE };
    static const hd_op rare[] = { HD_OP_LOCK_KEYS, HD_OP_UNLOCK_KEYS, HD_OP_UNLOCK_KEYS, HD_OP_ERASE_IF, HD_OP_EXPORT_IF, HD_OP_SIZE, HD_OP_SIZE_IF };
    arrays *x = a->here;
    uint64_t keys = w->s->keys, first = test_below(&w->random, keys), stride = 2 * test_below(&w->random, keys / 2) + 1;
    a->b.op = test_below(&w->random, 12) ? ops[test_below(&w->random, sizeof ops / sizeof *ops)] : rare[test_below(&w->random, sizeof rare / sizeof *rare)];
    a->b.n = 1 + test_below(&w->random, w->s->batch);
    if (a->b.op == HD_OP_LOCK_KEYS && a->b.n > 4) a->b.n = 4;
    if (a->b.op == HD_OP_UNLOCK_KEYS) a->b.n = w->s->batch;
    a->b.distinct = test_below(&w->random, 2);
    w->stamp++;
    for (uint64_t i = 0; i < a->b.n; i++) {
        x->key[i] = key_of(w, (first + i * stride) % keys);
        x->score[i] = test_below(&w->random, 1000);
        x->flag[i] = (uint8_t)test_below(&w->random, 2); /* new, or add */
        bool adds = a->b.op == HD_OP_ACCUM_OR_ASSIGN && x->flag[i] == HD_ADD;
        x->value[i][0] = adds ? 0 : tag_of(x->key[i]);
        x->value[i][1] = w->stamp;
    }
    a->b.pred = "key_in";
    a->b.pred_arg[0] = key_of(w, 0);
    a->b.pred_arg[1] = key_of(w, keys - 1);
    if (a->b.op == HD_OP_EXPORT_IF) a->b.n = w->s->c.capacity;
}

static const char *any_variant(worker *w, hd_op op, const hd_info *info)
{
    static const char *const names[] = { "tlpv1", "tlpv2", "pipeline", "warp", "gather" };
    const char *name = names[test_below(&w->random, 5)];
    uint32_t row = hkv_row_of(name, hkv_family_of((uint32_t)op));
    return row < HKV_ROWS && !hkv_rows[row].fits(info) && test_below(&w->random, 2) ? name : NULL;
}

static bool put(worker *w, flight *a, const hd_info *info)
{
    const hd_device_seam *d = w->s->p->seam;
    memset(&a->b, 0, sizeof a->b);
    if (w->s->shared) draw_shared(w, a);
    else draw_own(w, a);
    arrays *x = a->there;
    a->b.elem = HD_U64;
    a->b.holder = w->number + 1;
    a->b.stream = w->stream;
    a->b.key = x->key, a->b.value = x->value, a->b.score = x->score, a->b.flag = x->flag;
    a->b.outcome = x->outcome, a->b.value_out = x->value_out, a->b.score_out = x->score_out, a->b.ptr = (void **)(void *)x->ptr;
    a->b.list_key = x->list_key, a->b.list_value = x->list_value, a->b.count = &x->count;
    if (d) a->b.kernel = any_variant(w, a->b.op, info);
    if (d && d->copy(d->self, a->there, a->here, sizeof *a->here, HD_TO_DEVICE, w->stream)) return false;
    return hd_run(w->s->t, &a->b) == HD_OK;
}

static void judge(worker *w, flight *a)
{
    soak *s = w->s;
    bool keyed = hd_op_is_keyed(hd_op_row_of(a->b.op));
    atomic_fetch_add(&s->ops[a->b.op], 1);
    if (keyed) atomic_fetch_add(&s->items, a->b.n);
    for (uint64_t i = 0; keyed && i < a->b.n; i++) {
        if (a->here->outcome[i] >= HD_OUTCOME_COUNT) return complain(w, a, i, "no outcome");
        atomic_fetch_add(&s->outcome[a->here->outcome[i]], 1);
        if (s->shared) judge_shared(w, a, i);
        else judge_own(w, a, i);
    }
    if (a->b.op == HD_OP_INSERT_AND_EVICT) judge_evicted(w, a);
    if (!keyed) judge_range(w, a);
}

/* ---- At rest --------------------------------------------------------------------------------------------------------------------------------- */

typedef struct walk {
    soak *s;
    uint64_t entries, sum[WORDS];
    bool there[THREADS][KEYS_MOST];
    const char *wrong;
} walk;

static int see(void *context, uint64_t key, uint64_t score, void *value)
{
    walk *k = (walk *)context;
    uint64_t owner = (key >> 32) - 1, n = (uint32_t)key, v[WORDS];
    (void)score;
    memcpy(v, value, sizeof v);
    k->entries++;
    if (k->s->shared) {
        for (int i = 0; i < WORDS; i++) k->sum[i] += key > SHARED ? v[i] : 0;
        return 0;
    }
    if (owner >= THREADS || n >= k->s->keys) return k->wrong = "a key that nobody has", 1;
    const known *known = &k->s->worker[owner].key[n];
    if (!known->present) return k->wrong = "a key that had been erased or evicted", 1;
    if (memcmp(known->value, v, sizeof v) != 0) return k->wrong = "a value that is not the last one written", 1;
    k->there[owner][n] = true;
    return 0;
}

/* Nobody else is at it. */
static const char *rest_wrong(soak *s)
{
    static char why[320];
    walk *k = (walk *)test_alloc(1, sizeof *k);
    hd_counters c;
    k->s = s;
    s->rests++;
    *why = 0;
    if (hd_check(s->t) || hd_for_each(s->t, see, k) || hd_counters_sync(s->t, &c)) snprintf(why, sizeof why, "%s", hd_why());
    else if (k->wrong) snprintf(why, sizeof why, "the table has %s", k->wrong);
    for (int t = 0; t < THREADS && !s->shared && !*why; t++)
        for (uint64_t n = 0; n < s->keys; n++)
            if (!k->there[t][n]) gone(&s->worker[t], NULL, 0, &s->worker[t].key[n]);
    uint64_t evicted = atomic_load(&s->outcome[HD_EVICTED]), noticed = atomic_load(&s->noticed), inserted = atomic_load(&s->outcome[HD_INSERTED]);
    uint64_t erased = atomic_load(&s->outcome[HD_ERASED]), sum = atomic_load(&s->added);
    if (!*why && evicted != noticed) snprintf(why, sizeof why, "%llu entries were evicted, %llu are missing", (ull)evicted, (ull)noticed);
    if (!*why && k->entries != inserted - erased + (s->shared ? SHARED : 0))
        snprintf(why, sizeof why, "%llu entries after %llu inserted and %llu erased", (ull)k->entries, (ull)inserted, (ull)erased);
    if (!*why && s->shared && (k->sum[0] != sum || k->sum[1] != 3 * sum)) snprintf(why, sizeof why, "sums of %llu and %llu after %llu additions", (ull)k->sum[0], (ull)k->sum[1], (ull)sum);
    if (!*why && (c.outcome[HD_EVICTED] != evicted || c.outcome[HD_INSERTED] != inserted + (s->shared ? SHARED : 0)))
        snprintf(why, sizeof why, "the counters say %llu evicted, %llu inserted; outcomes said %llu and %llu", (ull)c.outcome[HD_EVICTED], (ull)c.outcome[HD_INSERTED], (ull)evicted, (ull)inserted);
    free(k);
    return *why ? why : NULL;
}

static void *work(void *context)
{
    worker *w = (worker *)context;
    soak *s = w->s;
    const hd_device_seam *d = s->p->seam;
    hd_info info;
    bool over = hd_table_info(s->t, &info) != HD_OK;
    for (uint64_t round = 0; !over; round++) {
        int put_n = 0;
        while (put_n < DEPTH && !atomic_load(&s->wrong) && put(w, &w->slot[put_n], &info)) put_n++;
        if (put_n < DEPTH && !atomic_load(&s->wrong)) complain(w, NULL, 0, hd_why());
        for (int i = 0; i < put_n && d; i++) d->copy(d->self, w->slot[i].here, w->slot[i].there, sizeof(arrays), HD_FROM_DEVICE, w->stream);
        if (d && d->wait(d->self, w->stream)) complain(w, NULL, 0, "the device failed");
        for (int i = 0; i < put_n && !atomic_load(&s->wrong); i++) judge(w, &w->slot[i]);
        if (w->number == 0 && round % 64 == 63 && hd_check(s->t)) complain(w, NULL, 0, hd_why()); /* beside the others */
        if (round % 256 != 255 && hd_seams_os.time.now_ns(NULL) < s->end_ns && !atomic_load(&s->wrong)) continue;
        /* Who is late makes the others wait; who is done, too: all leave after the same rest. */
        pthread_barrier_wait(&s->rest);
        if (w->number == 0) {
            const char *wrong = atomic_load(&s->wrong) ? NULL : rest_wrong(s);
            if (wrong) complain(w, NULL, 0, wrong);
            if (atomic_load(&s->wrong) || hd_seams_os.time.now_ns(NULL) >= s->end_ns) s->seconds = 0;
        }
        pthread_barrier_wait(&s->rest);
        over = s->seconds == 0;
    }
    return NULL;
}

/* ---- A soak ------------------------------------------------------------------------------------------------------------------------------------ */

static void *device_stream(const place *p)
{
    return p->seam == &hd_device_os ? far_stream_of_its_own() : p->seam ? test_alloc(1, 1) : NULL;
}

static void worker_open(worker *w, soak *s, uint64_t number)
{
    const hd_device_seam *d = s->p->seam;
    w->s = s;
    w->number = number;
    w->random = number * 77 + 5 + (s->c.dual ? 1000 : 0);
    w->key = (known *)test_alloc(s->keys, sizeof *w->key);
    w->stream = device_stream(s->p);
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
    if (d == &hd_device_os) far_stream_of_its_own_ends(w->stream);
    else free(w->stream);
    free(w->key);
}

/* The shared keys come in, with a stamp of nobody's own. */
static void fill_shared(soak *s)
{
    uint64_t key[SHARED], value[SHARED][WORDS], score[SHARED];
    hd_batch b;
    memset(&b, 0, sizeof b);
    for (uint64_t i = 0; i < SHARED; i++) key[i] = i + 1, value[i][0] = 0, value[i][1] = seal_of(0), score[i] = 1;
    b.op = HD_OP_INSERT_OR_ASSIGN;
    b.n = SHARED;
    b.key = key, b.value = value, b.score = score;
    must(hd_run(s->t, &b));
}

/* What was found, or NULL. */
static const char *soak_wrong(place *p, const char *lock, const char *policy, bool dual, bool shared, double seconds, char *why, size_t bytes)
{
    bool large = p->seam == &hd_device_os, slow = p->seam && !large;
    soak *s = (soak *)test_alloc(1, sizeof *s);
    pthread_t thread[THREADS];
    s->p = p;
    s->keys = large ? KEYS_MOST : slow ? 16 : 128;
    s->batch = large ? MOST : slow ? 16 : 48;
    s->c = hd_config_default();
    s->c.backend = p->backend;
    s->c.lock = lock;
    s->c.policy = policy;
    s->c.dual = dual;
    s->c.slots = 32;
    s->c.capacity = shared ? 8 * 32 * 8 : THREADS * s->keys / 2;
    s->c.value_bytes = 8 * WORDS;
    s->c.pins = 64;
    s->c.threads = 1;
    s->c.seams = &p->seams;
    s->shared = shared;
    s->exact_scores = strcmp(policy, "custom") == 0;
    s->seconds = seconds;
    pthread_mutex_init(&s->say, NULL);
    pthread_barrier_init(&s->rest, NULL, THREADS);
    must(hd_open(&s->c, &s->t));
    if (shared) fill_shared(s);
    s->worker = (worker *)test_alloc(THREADS, sizeof *s->worker);
    for (uint64_t i = 0; i < THREADS; i++) worker_open(&s->worker[i], s, i);
    s->end_ns = hd_seams_os.time.now_ns(NULL) + (uint64_t)(seconds * 1e9);
    for (int i = 0; i < THREADS; i++) check(pthread_create(&thread[i], NULL, work, &s->worker[i]) == 0, "no thread");
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    bool wrong = atomic_load(&s->wrong);
    uint64_t batches = 0;
    for (int o = 0; o < HD_OP_COUNT_; o++) batches += atomic_load(&s->ops[o]);
    snprintf(why, bytes, "%s", s->why);
    test_note("backend=%s lock=%s policy=%s dual=%d %s keys: %llu batches, %llu items, %llu evicted, %llu rests: %s", p->backend, lock, policy, dual, shared ? "shared" : "own",
              (ull)batches, (ull)atomic_load(&s->items), (ull)atomic_load(&s->outcome[HD_EVICTED]), (ull)s->rests, wrong ? why : "clean");
    for (int i = 0; i < THREADS; i++) worker_close(&s->worker[i]);
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
    static const struct {
        const char *policy;
        bool dual, shared;
    } turns[] = { { "lru", false, false }, { "custom", true, false }, { "lfu", false, true }, { "custom", false, false }, { "lru", true, false }, { "epoch_lru", true, true } };
    enum { TURNS = sizeof turns / sizeof *turns };
    size_t n = 0;
    while (locks[n]) n++;
    double each = seconds / (double)(n * TURNS);
    uint64_t times = each > 30 ? (uint64_t)(each / 30) + 1 : 1;
    for (uint64_t i = 0; i < times * n * TURNS; i++) {
        char why[512];
        place p;
        place_open(&p, backend);
        const char *wrong = soak_wrong(&p, locks[i / TURNS % n], turns[i % TURNS].policy, turns[i % TURNS].dual, turns[i % TURNS].shared, each / (double)times, why, sizeof why);
        check(!wrong, "%s", wrong);
        place_close(&p);
    }
}

static double suite_seconds(double usual) { return usual * (double)test_times(100) / 100; }

static void on_this_machine(void **unused)
{
    (void)unused;
    static const char *const locks[] = { "ordered", "rw", NULL };
    if (test_far()) test_skip("tables are on a device");
    soak_all("ref", locks, suite_seconds(4));
}

static void on_a_device(void **unused)
{
    (void)unused;
    static const char *const locks[] = { "ordered", "group3", "rw", NULL };
    soak_all("cuda", locks, suite_seconds(test_far() ? 24 : 12));
}

/* Without a lock the same soak finds something, or breaks down, and soon: in a process of its own. */
static void a_table_without_a_lock_is_found(void **unused)
{
    (void)unused;
    static const struct {
        const char *policy;
        bool shared;
    } turns[] = { { "lru", false }, { "lfu", true } };
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        if (test_far() && turns[i].shared) continue; /* updaters own their entries, and nothing else is there */
        fflush(NULL);
        pid_t child = test_far() ? 0 : fork();
        if (child == 0) {
            char why[512];
            place p;
            if (!test_far()) alarm(20);
            place_open(&p, test_far() ? "cuda" : "ref");
            bool found = false;
            for (int k = 0; k < 10 && !found; k++) found = soak_wrong(&p, "none", turns[i].policy, false, turns[i].shared, 1, why, sizeof why);
            if (!test_far()) _exit(found ? 1 : 0);
            check(found, "nothing was found");
            continue;
        }
        int code = 0;
        check(waitpid(child, &code, 0) == child, "no child");
        check(WIFSIGNALED(code) || WEXITSTATUS(code) == 1, "nothing was found");
    }
}

static double told_seconds;
static const char *told_lock = "ordered";

static void as_long_as_told(void **unused)
{
    (void)unused;
    const char *const locks[] = { told_lock, NULL };
    soak_all(test_backend("ref"), locks, told_seconds);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(on_this_machine), cmocka_unit_test(on_a_device), cmocka_unit_test(a_table_without_a_lock_is_found) };
    const struct CMUnitTest told[] = { cmocka_unit_test(as_long_as_told) };
    if (argc < 3 || strcmp(argv[1], "--seconds") != 0) return test_run(tests);
    told_seconds = atof(argv[2]);
    if (argc > 3) told_lock = argv[3];
    return test_run(told);
}
