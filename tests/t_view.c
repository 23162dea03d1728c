/* SPDX-License-Identifier: Apache-2.0
 *
 * t_view.c - hd_view: what it says of every slot is what export says, on every backend and in every layout; and the
 * batches that conflict with a reader wait while a view is open.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "heddle_view.h"
#include "tests/device_tables.h"

typedef unsigned long long ull;

/* ---- Tables ---------------------------------------------------------------------------------- */

enum { KEYS = 300 };

static const shape hkv_shapes[] = {
    { "pairs", false, false, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, 12, 0 },
    { "planes, no values", true, false, HD_LAYOUT_PLANES, HD_TIERS_BUCKET, 0, 0 },
    { "half is near", true, true, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, 24, 111 },
    { "half is near, by position", false, false, HD_LAYOUT_PLANES, HD_TIERS_POSITION, 7, 111 },
};
enum { SHAPES = sizeof hkv_shapes / sizeof *hkv_shapes };

static void fill(hd_table *t, uint64_t seed)
{
    uint64_t key[KEYS], score[KEYS], random = seed;
    hd_info info;
    must(hd_table_info(t, &info));
    uint8_t *value = (uint8_t *)test_alloc(KEYS, info.value_bytes + 1);
    for (uint64_t i = 0; i < KEYS; i++) {
        key[i] = test_random(&random) % (info.keys < 1 << 20 ? info.keys : 1 << 20);
        score[i] = test_random(&random) >> 8;
        value_make(value + i * info.value_bytes, info.value_bytes, key[i], seed);
    }
    hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, KEYS, key, value, NULL);
    if (strcmp(info.policy, "custom") == 0) b.score = score;
    must(hd_run_growing(t, &b, 0));
    b.op = HD_OP_ERASE; /* holes */
    b.score = NULL;
    b.n = KEYS / 8;
    must(hd_run(t, &b));
    free(value);
}

/* A copy of a device's view whose arrays are here; free_copy frees them. */
static hd_view copy_view(bench *b, const hd_view *v)
{
    hd_view c = *v;
    uint64_t stride = v->step, near = v->far ? 0 : v->places;
    if (v->word_bytes) {
        uint64_t buckets = v->base_buckets;
        for (int k = 0; k < HD_VIEW_SEGMENTS && v->segment[k]; k++, buckets = v->base_buckets << (k - 1)) {
            size_t bytes = (size_t)(buckets * v->slots * v->word_bytes);
            c.segment[k] = (uint8_t *)memset(test_alloc(bytes, 1), 0, bytes);
            bench_read(b, (void *)(uintptr_t)c.segment[k], v->segment[k], bytes);
        }
        size_t bytes = (size_t)((v->places - v->buckets * v->slots) * v->word_bytes);
        c.stash = (uint8_t *)test_alloc(bytes, 1);
        bench_read(b, (void *)(uintptr_t)c.stash, v->stash, bytes);
        return c;
    }
    uint64_t *key = (uint64_t *)test_alloc(v->places * stride, 8), *score = key + 1;
    bench_read(b, key, v->key, v->places * stride * 8);
    if (stride == 1) {
        score = (uint64_t *)test_alloc(v->places, 8);
        bench_read(b, score, v->score, v->places * 8);
    }
    for (uint64_t s = 0; v->far && s < v->places; s++) {
        const uint8_t *at = hd_view_value(v, s);
        near += at < v->far || at >= v->far + v->places * v->value_bytes;
    }
    uint8_t *value = (uint8_t *)test_alloc(near * v->value_bytes + 1, 1);
    bench_read(b, value, v->value, near * v->value_bytes);
    c.key = key;
    c.score = score;
    c.value = value;
    return c; /* far values are in this machine's memory */
}

static void free_copy(hd_view *c)
{
    if (c->word_bytes) {
        for (int k = 0; k < HD_VIEW_SEGMENTS && c->segment[k]; k++) free((void *)(uintptr_t)c->segment[k]);
        free((void *)(uintptr_t)c->stash);
        return;
    }
    if (c->step == 1) free((void *)(uintptr_t)c->score);
    free((void *)(uintptr_t)c->key);
    free((void *)(uintptr_t)c->value);
}

/* Every slot is what export says of it. */
static void check_view(bench *b, hd_table *t, const char *what)
{
    model_contents all;
    hd_view v, copy;
    uint64_t n = 0;
    test_case("%s", what);
    contents_take(&all, t);
    must(hd_view_open(t, NULL, &v));
    copy = b ? copy_view(b, &v) : v;
    for (uint64_t slot = 0; slot < v.places; slot++) {
        hd_view_entry e;
        if (!hd_view_row(&copy, slot, &e)) continue;
        uint64_t i = 0;
        while (i < all.n && all.slot[i] != slot) i++;
        check(i < all.n, "slot %llu: key %llu, which export does not list", (ull)slot, (ull)e.key);
        check(all.key[i] == e.key && all.score[i] == e.score, "slot %llu: key %llu, score %llu", (ull)slot, (ull)e.key,
              (ull)e.score);
        check(!memcmp(all.value + i * v.value_bytes, e.value, v.value_bytes), "slot %llu: another value", (ull)slot);
        n++;
    }
    must(hd_view_close(t, NULL));
    check(n == all.n && n > 0, "%llu entries, and export has %llu", (ull)n, (ull)all.n);
    if (b) free_copy(&copy);
    contents_give(&all);
}

static hd_config segments_config(void)
{
    hd_config c = hd_config_of("ovs");
    c.capacity = 200;
    c.ovs.segment_bytes = 256;
    return c;
}

static hd_config dictionary_config(uint64_t k)
{
    if (k == SHAPES + 2) return segments_config();
    hd_config c = hd_config_of("hive");
    c.slots = k % 2 ? 8 : 16;
    c.capacity = 5 * c.slots;
    c.value_bytes = k % 2 ? 2 : 4;
    c.layout = k % 2 ? HD_LAYOUT_MASKS : HD_LAYOUT_WORDS;
    return c;
}

static void rows_are_those_of_export(void **unused)
{
    (void)unused;
    static const char *const backends[] = { "ref", "host" };
    for (uint64_t k = 0; k < 2 * (SHAPES + 3); k++) {
        uint64_t s = k / 2;
        hd_config c = s < SHAPES ? shape_config(&hkv_shapes[s], 16, 16) : dictionary_config(s);
        hd_table *t;
        c.backend = backends[k % 2];
        must(hd_open(&c, &t));
        fill(t, k + 1);
        check_view(NULL, t, s < SHAPES ? hkv_shapes[s].name : "a dictionary");
        hd_close(t);
    }
}

static void rows_on_a_device(void **unused)
{
    (void)unused;
    for (uint64_t s = 0; s < SHAPES + 3; s++) {
        bench b;
        bench_open_config(&b, s < SHAPES ? shape_config(&hkv_shapes[s], 16, 16) : dictionary_config(s), 4096);
        fill(b.far, s + 1);
        check_view(&b, b.far, s < SHAPES ? hkv_shapes[s].name : "a dictionary");
        bench_close(&b);
    }
}

/* ---- Batches beside a view ------------------------------------------------------------------- */

static struct {
    hd_table *t;
    _Atomic int stage;
} other;

static void *insert_one(void *unused)
{
    uint64_t key = 77777;
    uint8_t value[64] = { 0 };
    hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, 1, &key, value, NULL);
    atomic_store(&other.stage, 1);
    must(hd_run(other.t, &b));
    atomic_store(&other.stage, 2);
    return unused;
}

static void inserters_wait(void **unused)
{
    (void)unused;
    for (int far = 0; far < 2; far++) {
        bench b;
        hd_config c = hd_config_default();
        hd_view v;
        pthread_t thread;
        c.slots = 16;
        c.capacity = 256;
        test_case(far ? "a device" : "ref");
        bench_begin(&b);
        c.backend = far ? "cuda" : "ref";
        c.seams = &b.memory.seams;
        must(hd_open(&c, &b.far));
        other.t = b.far;
        atomic_store(&other.stage, 0);
        must(hd_view_open(b.far, NULL, &v));
        check(pthread_create(&thread, NULL, insert_one, NULL) == 0, "no thread");
        while (atomic_load(&other.stage) == 0) {
        }
        for (int i = 0; i < 20; i++) {
            struct timespec nap = { 0, 1000000 };
            nanosleep(&nap, NULL);
            check(atomic_load(&other.stage) == 1, "a batch ran while the view was open");
        }
        must(hd_view_close(b.far, NULL));
        pthread_join(thread, NULL);
        check(atomic_load(&other.stage) == 2, "the batch did not run");
        bench_close(&b);
    }
}

/* How many waits for work of stream `of` were put on stream `on` since work number `first`. */
static uint64_t waits(const bench *b, size_t first, const void *on, const void *of)
{
    uint64_t n = 0;
    for (size_t i = first; i < b->fake.works; i++)
        n += b->fake.work[i].kind == FAKE_WAIT && b->fake.work[i].stream == on && b->fake.work[i].mark_stream == of;
    return n;
}

/* What the caller puts on its stream comes after the inserter before it, and before the one that follows. */
static void streams_are_in_order(void **unused)
{
    static char stream[2];
    (void)unused;
    bench b;
    hd_view v;
    uint64_t key = 5, score = 1;
    uint8_t value[12] = { 0 };
    bench_open_config(&b, shape_config(&hkv_shapes[0], 16, 16), 4096);
    hd_batch x = test_batch(HD_OP_INSERT_OR_ASSIGN, 1, &key, value, NULL);
    x.score = &score;
    x.stream = &stream[0];
    must(hd_run(b.far, &x));
    size_t before = b.fake.works;
    must(hd_view_open(b.far, &stream[1], &v));
    check(waits(&b, before, &stream[1], &stream[0]) == 1, "the view does not wait for the batch before it");
    must(hd_view_close(b.far, &stream[1]));
    before = b.fake.works;
    hd_batch clear = { .op = HD_OP_CLEAR, .stream = &stream[0] };
    must(hd_run(b.far, &clear));
    check(waits(&b, before, &stream[0], &stream[1]) == 1, "the next batch does not wait for the view");
    must(hd_check(b.far));
    bench_close(&b);
}

/* ---- Failures -------------------------------------------------------------------------------- */

static void failures(void **unused)
{
    (void)unused;
    bench b;
    hd_view v;
    uint64_t n = 0;
    must_fail(hd_view_open(NULL, NULL, &v), HD_EINVAL, "table");
    must_fail(hd_view_close(NULL, NULL), HD_EINVAL, "table");
    bench_open_config(&b, shape_config(&hkv_shapes[0], 16, 16), 4096);
    must_fail(hd_view_open(b.far, NULL, NULL), HD_EINVAL, "view");
    fill(b.far, 1);
    for (uint64_t at = 1, more = 1; more; at++) {
        b.fake.fail_at = b.fake.calls + at;
        b.fake.code = FAKE_INVALID;
        b.fake.failed = NULL;
        hd_status status = hd_view_open(b.far, NULL, &v), closed = HD_OK;
        if (!status) closed = hd_view_close(b.far, NULL);
        more = b.fake.failed != NULL;
        test_case("call %llu (%s)", (ull)at, more ? b.fake.failed : "none");
        b.fake.fail_at = 0;
        b.fake.device = 0;
        check((status || closed) == more, "%s, %s", hd_status_name(status), hd_status_name(closed));
        check(!status || status == HD_ECUDA, "%s", hd_status_name(status));
        n += more;
        must(hd_check(b.far)); /* the lock is free */
    }
    check(n > 3, "only %llu calls", (ull)n);
    test_tried("device-faults", n, "calls of the device that failed while a view was opened or closed");
    bench_close(&b);
}

static const struct CMUnitTest tests[] = { unit(rows_are_those_of_export), unit(rows_on_a_device), unit(inserters_wait),
                                           unit(streams_are_in_order), unit(failures) };

int main(void) { return test_run(tests); }
