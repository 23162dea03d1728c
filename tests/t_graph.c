/* SPDX-License-Identifier: Apache-2.0
 *
 * t_graph.c - asynchronous batches: recorded and replayed (as CUDA graphs), on many streams, from several threads; on a
 * fake device, or on a real one (far.h). The reference computes the expected results.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/hkv/rows.h"
#include "judge/run.h"
#include "base/op.h"
#include "tests/far.h"
#include "tests/model.h"
#include "tests/twin.h"

enum { KEYS = 96, VALUE = 24 };

/* ---- A batch's arrays on the device ---------------------------------------------------------- */

/* A copy of own arrays over there, guards and poison and all: one block after another. */
typedef struct mirror {
    far_device *f;
    const judge_arrays *of;
    size_t at[JUDGE_ARRAYS + 1];
    uint8_t *there, *staged;
} mirror;

/* Guard, array, guard. */
static size_t guard_of(const judge_arrays *a, int k)
{
    return (size_t)((uint8_t *)judge_arrays_at(a, (judge_array)k) - a->block[k]);
}
static size_t bytes_of(const judge_arrays *a, int k) { return a->used[k] + 2 * guard_of(a, k); }

static void mirror_send(const mirror *m)
{
    for (int k = 0; k < JUDGE_ARRAYS; k++) memcpy(m->staged + m->at[k], m->of->block[k], bytes_of(m->of, k));
    far_write(m->f, m->there, m->staged, m->at[JUDGE_ARRAYS]);
}

static void mirror_fetch(const mirror *m)
{
    far_read(m->f, m->staged, m->there, m->at[JUDGE_ARRAYS]);
    for (int k = 0; k < JUDGE_ARRAYS; k++) memcpy(m->of->block[k], m->staged + m->at[k], bytes_of(m->of, k));
}

static void *mirror_at(const mirror *m, int k) { return m->there + m->at[k] + guard_of(m->of, k); }

/* b, whose arrays were drawn, moves over there with them. */
static void mirror_open(mirror *m, far_device *f, const judge_arrays *of, hd_batch *b)
{
    m->f = f;
    m->of = of;
    m->at[0] = 0;
    for (int k = 0; k < JUDGE_ARRAYS; k++) m->at[k + 1] = m->at[k] + (bytes_of(of, k) + 255) / 256 * 256;
    m->staged = (uint8_t *)test_alloc(m->at[JUDGE_ARRAYS], 1);
    m->there = (uint8_t *)far_array(f, NULL, m->at[JUDGE_ARRAYS]);
    mirror_send(m);
    b->key = (const uint64_t *)mirror_at(m, JUDGE_KEY);
    b->value = mirror_at(m, JUDGE_VALUE);
    b->score = (const uint64_t *)mirror_at(m, JUDGE_SCORE);
    b->flag = (const uint8_t *)mirror_at(m, JUDGE_FLAG);
    b->outcome = (uint8_t *)mirror_at(m, JUDGE_OUTCOME);
    b->found = (bool *)mirror_at(m, JUDGE_FOUND);
    b->value_out = mirror_at(m, JUDGE_VALUE_OUT);
    b->score_out = (uint64_t *)mirror_at(m, JUDGE_SCORE_OUT);
    b->ptr = (void **)mirror_at(m, JUDGE_PTR);
    b->list_key = (uint64_t *)mirror_at(m, JUDGE_LIST_KEY);
    b->list_value = mirror_at(m, JUDGE_LIST_VALUE);
    b->list_score = (uint64_t *)mirror_at(m, JUDGE_LIST_SCORE);
    b->list_item = (uint64_t *)mirror_at(m, JUDGE_LIST_ITEM);
    b->count = (uint64_t *)mirror_at(m, JUDGE_COUNT);
}

static void mirror_close(mirror *m)
{
    far_drop(m->f, m->there);
    free(m->staged);
}

/* ---- Two tables, one of them there ----------------------------------------------------------- */

typedef struct fixture {
    far_device *f;
    hd_table *ref, *far;
    hd_info info;
    uint64_t random, time;
    twin w;
} fixture;

static void fixture_open_with(fixture *s, const char *policy, bool dual, uint64_t seed, const char *lock)
{
    enum { CAPACITY = 4 * KEYS, SLOTS = 128 /* no bucket can have too many */ };
    *s = (fixture){ .f = far_open(), .random = seed };
    s->ref = test_table(.policy = policy, .capacity = CAPACITY, .slots = SLOTS, .value_bytes = VALUE, .hkv.dual = dual);
    s->far = test_table(.backend = "cuda", .policy = policy, .lock = lock, .capacity = CAPACITY, .slots = SLOTS,
                        .value_bytes = VALUE, .hkv.dual = dual, .hkv.pins = 1, .hkv.capture_times = true,
                        .hkv.device_value_bytes = dual ? CAPACITY * VALUE / 4 : 0, .hkv.fetch = HD_FETCH_SORTED,
                        .seams = far_seams(s->f));
    must(hd_table_info(s->far, &s->info));
    twin_open(&s->w, KEYS, KEYS, VALUE);
}

static void fixture_open(fixture *s, const char *policy, bool dual, uint64_t seed)
{
    fixture_open_with(s, policy, dual, seed, "ordered");
}

static void fixture_close(fixture *s)
{
    twin_close(&s->w);
    hd_close(s->far);
    hd_close(s->ref);
    far_close(s->f);
}

static void draw(fixture *s, twin *w, hd_batch *x, hd_batch *y, hd_op op, uint64_t n)
{
    twin_draw(w, x, y, op, n, &s->info, s->time++, &s->random);
}

static void same_entries(fixture *s)
{
    model_contents x, y;
    must(hd_check(s->far));
    contents_take(&x, s->ref);
    contents_take(&y, s->far);
    check(contents_equal(&x, &y, false), "%llu entries instead of %llu, or others", (ull)y.n, (ull)x.n);
    contents_give(&x);
    contents_give(&y);
}

static void same_outputs(const twin *w, const hd_batch *x, const mirror *m)
{
    hd_batch y = *x;
    mirror_fetch(m);
    y.outcome = (uint8_t *)judge_arrays_at(&w->own, JUDGE_OUTCOME);
    y.count = (uint64_t *)judge_arrays_at(&w->own, JUDGE_COUNT);
    const char *no = twin_differs(w, x, &y, true);
    check(!no, "%s", no);
}

/* Half of the keys come in, on both sides. */
static void half_full(fixture *s)
{
    hd_batch x, y;
    draw(s, &s->w, &x, &y, HD_OP_INSERT_OR_ASSIGN, KEYS / 2);
    must(hd_run(s->ref, &x));
    must(hd_run(s->far, &y));
}

/* ---- Replays --------------------------------------------------------------------------------- */

/* Recorded once, replayed on other inputs. Recording runs nothing; the clock is the recording's, so what a policy makes
 * of the clock is compared once. */
static void replay(const char *variant, hd_op op, const char *policy, bool dual, bool clocked)
{
    fixture s;
    mirror m;
    hd_batch x, y;
    test_case("hkv.%s.%s policy=%s dual=%d, recorded", hd_op_name(op), variant, policy, dual);
    fixture_open(&s, policy, dual, (uint64_t)op + 1);
    half_full(&s);
    void *stream = far_stream(s.f), *other = far_stream(s.f);
    draw(&s, &s.w, &x, &y, op, hd_op_is_keyed(hd_op_row_of(op)) ? KEYS * 3 / 4 : s.w.ref.most);
    mirror_open(&m, s.f, &s.w.own, &y);
    y.stream = stream;
    y.kernel = variant;
    far_record(s.f, stream);
    must(hd_run(s.far, &y));
    void *recording = far_recorded(s.f, stream);
    same_entries(&s);
    for (int k = 0; k < (clocked ? 1 : 3); k++) {
        hd_batch again, unused;
        if (k) draw(&s, &s.w, &again, &unused, op, x.n);
        mirror_send(&m);
        far_replay(s.f, recording, k % 2 ? other : stream);
        must(hd_run(s.ref, &x));
        same_outputs(&s.w, &x, &m);
        same_entries(&s);
    }
    far_forget(s.f, recording);
    mirror_close(&m);
    far_unstream(s.f, other);
    far_unstream(s.f, stream);
    fixture_close(&s);
}

static void every_operation_is_recorded(void)
{
    uint64_t n = 0;
    for (uint32_t row = 0; row < hkv_row_count(); row++)
        for (int op = 0; op < HD_OP_COUNT_; op++) {
            if (hkv_row(row)->family != hkv_family_of((uint32_t)op)) continue;
            for (int dual = 0; dual < 2; dual++, n += 3) {
                if (!test_takes(n)) continue;
                replay(hkv_row_name(row), (hd_op)op, "lfu", dual, false);
                replay(hkv_row_name(row), (hd_op)op, "custom", dual, false);
                replay(hkv_row_name(row), (hd_op)op, "lru", dual, true);
            }
        }
    test_note("%llu recordings", (ull)n);
}

/* Each replay happens at the times of the first one: what was there before it is not taken for an item of its own. The
 * values of a batch whose keys come often are those of the last replay. */
static void a_replay_is_no_item_of_itself(void)
{
    enum { OFTEN = 8, ITEMS = 256, REPLAYS = 3 };
    uint64_t key[ITEMS], value[ITEMS], found[OFTEN];
    far_device *f = far_open();
    hd_table *t = test_table(.backend = "cuda", .policy = "lru", .capacity = 1024, .value_bytes = sizeof *value,
                             .seams = far_seams(f), .hkv.capture_times = true);
    hd_batch b = { .n = 0 };
    for (uint64_t i = 0; i < ITEMS; i++) key[i] = i % OFTEN;
    void *stream = far_stream(f), *there = far_array(f, NULL, sizeof value);
    b.op = HD_OP_INSERT_OR_ASSIGN;
    b.n = ITEMS;
    b.key = (const uint64_t *)far_array(f, key, sizeof key);
    b.value = there;
    b.stream = stream;
    far_record(f, stream);
    must(hd_run(t, &b));
    void *recording = far_recorded(f, stream);
    for (uint64_t k = 0; k < REPLAYS; k++) {
        for (uint64_t i = 0; i < ITEMS; i++) value[i] = k * OFTEN + key[i];
        far_write(f, there, value, sizeof value);
        far_replay(f, recording, stream);
        hd_batch find = { .op = HD_OP_FIND, .n = OFTEN, .key = key, .value_out = found };
        must(hd_run(t, &find));
        test_case("replay %llu of %s", (ull)k, b.ran);
        for (uint64_t i = 0; i < OFTEN; i++)
            check(found[i] == k * OFTEN + i, "key %llu has the value of replay %llu", (ull)i, (ull)(found[i] / OFTEN));
    }
    far_forget(f, recording);
    hd_close(t);
    far_unstream(f, stream);
    far_drop(f, there);
    far_drop(f, (void *)(uintptr_t)b.key);
    far_close(f);
}

/* Several batches in one recording, then replays and plain batches of one table on several streams: each inserts what
 * the one before has erased, or the other way around. */
static void replays_keep_the_order(void)
{
    enum { N = 20000, FEW = 64, STREAMS = 3, STEPS = 40 };
    uint64_t n = test_far() ? N : FEW, random = 5, inserted = 0, erased = 0,
             *key = (uint64_t *)test_alloc(n, sizeof *key);
    far_device *f = far_open();
    void *stream[STREAMS], *recording[3];
    hd_counters counted;
    hd_table *t = test_table(.backend = "cuda", .capacity = 16 * n, .seams = far_seams(f), .hkv.capture_times = true);
    for (uint64_t i = 0; i < n; i++) key[i] = i;
    hd_batch b = { .n = n, .key = (const uint64_t *)far_array(f, key, n * sizeof *key) };
    for (int i = 0; i < STREAMS; i++) stream[i] = far_stream(f);
    for (int i = 0; i < 3; i++) { /* insert; erase; insert, erase, insert */
        b.stream = stream[i % STREAMS];
        far_record(f, b.stream);
        for (int k = 0; k < (i == 2 ? 3 : 1); k++) {
            b.op = (i + k) % 2 ? HD_OP_ERASE : HD_OP_INSERT_OR_ASSIGN;
            must(hd_run(t, &b));
        }
        recording[i] = far_recorded(f, b.stream);
    }
    for (int i = 0; i < STEPS; i++) {
        bool there = inserted > erased, plain = test_below(&random, 2);
        b.stream = stream[test_below(&random, STREAMS)];
        b.op = there ? HD_OP_ERASE : HD_OP_INSERT_OR_ASSIGN;
        if (plain)
            must(hd_run(t, &b));
        else
            far_replay(f, recording[there ? 1 : 2 * (i % 3 == 0)], b.stream);
        inserted += there ? 0 : !plain && i % 3 == 0 ? 2 : 1;
        erased += there ? 1 : !plain && i % 3 == 0 ? 1 : 0;
    }
    must(hd_counters_sync(t, &counted));
    test_case("%d plain batches and replays on %d streams, %llu items each", STEPS, STREAMS, (ull)n);
    check(counted.outcome[HD_INSERTED] == inserted * n && counted.outcome[HD_ERASED] == erased * n &&
              counted.items == (inserted + erased) * n,
          "%llu of %llu items were inserted, %llu of %llu erased, of %llu", (ull)counted.outcome[HD_INSERTED],
          (ull)(inserted * n), (ull)counted.outcome[HD_ERASED], (ull)(erased * n), (ull)counted.items);
    for (int i = 0; i < 3; i++) far_forget(f, recording[i]);
    for (int i = 0; i < STREAMS; i++) far_unstream(f, stream[i]);
    hd_close(t);
    far_drop(f, (void *)(uintptr_t)b.key);
    far_close(f);
    free(key);
}

/* Refused, with the recording unharmed: it takes the next batch. */
static void what_cannot_be_recorded_is_refused(void)
{
    fixture s;
    mirror m;
    hd_batch x, y, here;
    fixture_open(&s, "custom", false, 3);
    draw(&s, &s.w, &x, &here, HD_OP_INSERT_OR_ASSIGN, KEYS);
    y = here;
    mirror_open(&m, s.f, &s.w.own, &y);
    void *stream = far_stream(s.f), *branch = far_stream(s.f);
    here.stream = y.stream = stream;
    far_record(s.f, stream);
    must_fail(hd_run(s.far, &here), HD_EINVAL,
              "stream: it is being captured, and key is in memory that kernels do not reach");
    must(hd_run(s.far, &y));
    far_branch(s.f, stream, branch);
    y.stream = branch;
    must_fail(hd_run(s.far, &y), HD_EINVAL, "stream: this capture has a batch of the table on another stream");
    far_merge(s.f, stream, branch);
    void *recording = far_recorded(s.f, stream);
    far_replay(s.f, recording, stream);
    must(hd_run(s.ref, &x));
    same_outputs(&s.w, &x, &m);
    same_entries(&s);
    far_forget(s.f, recording);
    far_unstream(s.f, branch);
    far_unstream(s.f, stream);
    mirror_close(&m);
    fixture_close(&s);
}

/* Under group3 the first batch with raw scores waits for those before it, so it is not recorded; later ones are. */
static void the_first_raw_scores_are_not_recorded(void)
{
    const char *const locks[] = { "ordered", "group3" };
    for (int k = 0; k < 2; k++) {
        fixture s;
        mirror m;
        hd_batch x, y;
        fixture_open_with(&s, "lru", false, 3, locks[k]);
        draw(&s, &s.w, &x, &y, HD_OP_INSERT_OR_ASSIGN, KEYS);
        y.raw_scores = x.raw_scores = true;
        mirror_open(&m, s.f, &s.w.own, &y);
        y.stream = far_stream(s.f);
        test_case("lock=%s", locks[k]);
        far_record(s.f, y.stream);
        if (k) must_fail(hd_run(s.far, &y), HD_EINVAL, "the first batch with raw_scores waits");
        if (!k) must(hd_run(s.far, &y));
        void *recording = far_recorded(s.f, y.stream);
        far_replay(s.f, recording, y.stream);
        if (k) must(hd_run(s.far, &y));
        must(hd_run(s.ref, &x));
        same_outputs(&s.w, &x, &m);
        same_entries(&s);
        far_forget(s.f, recording);
        far_record(s.f, y.stream);
        must(hd_run(s.far, &y));
        recording = far_recorded(s.f, y.stream);
        far_replay(s.f, recording, y.stream);
        must(hd_run(s.ref, &x));
        same_outputs(&s.w, &x, &m);
        same_entries(&s);
        far_forget(s.f, recording);
        far_unstream(s.f, (void *)y.stream);
        mirror_close(&m);
        fixture_close(&s);
    }
}

/* ---- Streams --------------------------------------------------------------------------------- */

/* Batches of one table on two streams, none waited for, each with arrays of its own: as the reference has them, in the
 * order of the calls. */
static void two_streams_of_one_table(void)
{
    enum { BATCHES = 12 };
    static const hd_op ops[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_FIND,           HD_OP_ERASE,
                                 HD_OP_ACCUM_OR_ASSIGN,  HD_OP_FIND_OR_INSERT, HD_OP_INSERT_AND_EVICT,
                                 HD_OP_FIND_MISSED };
    for (uint64_t round = 0; round < test_times(6); round++) {
        fixture s;
        twin w[BATCHES];
        mirror m[BATCHES];
        hd_batch x[BATCHES], y[BATCHES];
        fixture_open(&s, round % 2 ? "lru" : "lfu", round / 2 % 2, round + 1);
        void *stream[] = { far_stream(s.f), far_stream(s.f) };
        for (int i = 0; i < BATCHES; i++) {
            twin_open(&w[i], KEYS, KEYS, VALUE);
            draw(&s, &w[i], &x[i], &y[i], ops[test_below(&s.random, 7)], KEYS * 2 / 3);
            mirror_open(&m[i], s.f, &w[i].own, &y[i]);
        }
        for (int i = 0; i < BATCHES; i++) {
            y[i].stream = stream[test_below(&s.random, 2)];
            must(hd_run(s.far, &y[i]));
            must(hd_run(s.ref, &x[i]));
        }
        for (int i = BATCHES - 1; i >= 0; i--) {
            test_case("round %d, batch %d of %d, %s", (int)round, i, BATCHES, hd_op_name(x[i].op));
            same_outputs(&w[i], &x[i], &m[i]);
        }
        same_entries(&s);
        for (int i = 0; i < BATCHES; i++) mirror_close(&m[i]), twin_close(&w[i]);
        for (int i = 0; i < 2; i++) far_unstream(s.f, stream[i]);
        fixture_close(&s);
    }
}

/* ---- Threads --------------------------------------------------------------------------------- */

typedef struct judged {
    char text[512], why[512];
    hd_run_report report;
    hd_status status;
} judged;

static void *run_case(void *p)
{
    judged *j = (judged *)p;
    hd_case c;
    j->status = hd_case_parse(j->text, &c);
    if (!j->status) j->status = hd_case_run(&c, NULL, NULL, &j->report);
    snprintf(j->why, sizeof j->why, "%s", j->status ? hd_why() : j->report.wrong);
    return NULL;
}

/* Each of two threads has a table; the oracle approves every item of both. Batches of one item on full tables, and of
 * distinct keys on roomy ones; of one everywhere on a device, which draws no tickets. */
static void two_tables_of_two_threads(void)
{
    const char *backend = test_backend("host");
    for (uint64_t i = 0; i < test_times(8); i++) {
        judged j[2];
        pthread_t thread[2];
        memset(j, 0, sizeof j);
        snprintf(j[0].text, sizeof j[0].text,
                 "hkv.mix.tlpv1 backend=%s policy=lfu buckets=4 slots=16 value=16 dual=%d pins=8 batch=1x400 "
                 "keys=uniform:90 seed=%llu judge=1",
                 backend, (int)(i % 2), (ull)i + 1);
        snprintf(j[1].text, sizeof j[1].text,
                 "hkv.mix.warp backend=%s policy=lru buckets=8 slots=64 value=24 dual=%d batch=%s keys=uniform:64 "
                 "distinct=1 seed=%llu judge=1",
                 backend, (int)(i / 2 % 2), test_far() ? "1x400" : "60x40", (ull)i + 1);
        for (int k = 0; k < 2; k++) check(pthread_create(&thread[k], NULL, run_case, &j[k]) == 0, "no thread");
        for (int k = 0; k < 2; k++) pthread_join(thread[k], NULL);
        for (int k = 0; k < 2; k++) {
            test_case("%s, beside another", j[k].text);
            check(!j[k].why[0], "%s", j[k].why);
            check(j[k].report.judged > 0, "nothing was judged");
        }
    }
}

/* Two threads, one table, keys of their own: in the end all are there. */
typedef struct share {
    hd_table *t;
    uint64_t from;
    hd_status status;
    char why[512];
} share;

enum { SHARE = 2000, AT_ONCE = 50 };

static void *put_share(void *p)
{
    share *s = (share *)p;
    uint64_t key[AT_ONCE];
    for (uint64_t i = 0; i < SHARE && !s->status; i += AT_ONCE) {
        for (uint64_t k = 0; k < AT_ONCE; k++) key[k] = s->from + i + k;
        hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = AT_ONCE, .key = key, .score = key, .value = key };
        s->status = hd_run(s->t, &b);
        snprintf(s->why, sizeof s->why, "%s", s->status ? hd_why() : "");
    }
    return NULL;
}

static void one_table_of_two_threads(void)
{
    share s[2];
    pthread_t thread[2];
    model_contents all;
    hd_table *t =
        test_table(.backend = test_backend("host"), .policy = "custom", .capacity = 1 << 14, .value_bytes = 8);
    for (int k = 0; k < 2; k++) {
        s[k] = (share){ t, (uint64_t)k * 100000, HD_OK, "" };
        check(pthread_create(&thread[k], NULL, put_share, &s[k]) == 0, "no thread");
    }
    for (int k = 0; k < 2; k++) pthread_join(thread[k], NULL);
    for (int k = 0; k < 2; k++) check(!s[k].status, "%s", s[k].why);
    must(hd_check(t));
    contents_take(&all, t);
    check(all.n == 2 * SHARE, "%llu entries instead of %d", (ull)all.n, 2 * SHARE);
    for (uint64_t i = 0; i < all.n; i++) {
        uint64_t key = i < SHARE ? i : 100000 + i - SHARE;
        check(all.key[i] == key && all.score[i] == key && memcmp(all.value + 8 * i, &key, 8) == 0,
              "key %llu is not there, or another's value", (ull)key);
    }
    contents_give(&all);
    hd_close(t);
}

/* A batch that was recorded before its table had room for pins does not evict entries that were pinned since. The first
 * batch that pins cannot be recorded, for it takes memory. */
static void replays_see_later_pins(void)
{
    enum { SLOTS = 16, HELD = 5, HOLDER = 9 };
    uint64_t key[2 * SLOTS];
    uint8_t outcome[SLOTS];
    hd_table *t;
    far_device *f = far_open();
    t = test_table(.backend = "cuda", .capacity = SLOTS, .slots = SLOTS, .hkv.capture_times = true,
                   .seams = far_seams(f));
    for (uint64_t i = 0; i < 2 * SLOTS; i++) key[i] = i;
    void *stream = far_stream(f), *there = far_array(f, key + SLOTS, SLOTS * sizeof *key);
    hd_batch here = { .op = HD_OP_INSERT_OR_ASSIGN, .n = SLOTS, .key = key, .outcome = outcome },
             later = { .op = HD_OP_INSERT_OR_ASSIGN, .n = SLOTS, .key = (const uint64_t *)there, .stream = stream };
    must(hd_run(t, &here));
    far_record(f, stream);
    must(hd_run(t, &later));
    hd_batch pin = {
        .op = HD_OP_LOCK_KEYS, .n = SLOTS, .key = (const uint64_t *)there, .holder = HOLDER, .stream = stream
    };
    must_fail(hd_run(t, &pin), HD_EINVAL, "stream: it is being captured, and the table has no room for pins yet");
    void *recording = far_recorded(f, stream);
    here.op = HD_OP_LOCK_KEYS;
    here.n = HELD;
    here.holder = HOLDER;
    must(hd_run(t, &here));
    far_replay(f, recording, stream);
    here.op = HD_OP_FIND;
    here.n = SLOTS;
    must(hd_run(t, &here));
    for (uint64_t i = 0; i < SLOTS; i++)
        check(outcome[i] == (i < HELD ? HD_HIT : HD_MISS), "key %llu: %d", (ull)i, outcome[i]);
    here.op = HD_OP_UNLOCK_KEYS;
    must(hd_run(t, &here));
    for (uint64_t i = 0; i < SLOTS; i++)
        check(outcome[i] == (i < HELD ? HD_HIT : HD_MISS), "key %llu is unpinned: %d", (ull)i, outcome[i]);
    far_record(f, stream);
    must(hd_run(t, &pin));
    void *pins = far_recorded(f, stream);
    far_replay(f, pins, stream);
    must(hd_check(t));
    far_forget(f, pins);
    far_forget(f, recording);
    far_unstream(f, stream);
    hd_close(t);
    far_drop(f, there);
    far_close(f);
}

static const struct CMUnitTest tests[] = { unit(every_operation_is_recorded),
                                           unit(replays_keep_the_order),
                                           unit(what_cannot_be_recorded_is_refused),
                                           unit(the_first_raw_scores_are_not_recorded),
                                           unit(a_replay_is_no_item_of_itself),
                                           unit(two_streams_of_one_table),
                                           unit(two_tables_of_two_threads),
                                           unit(one_table_of_two_threads),
                                           unit(replays_see_later_pins) };

int main(void) { return test_run(tests); }
