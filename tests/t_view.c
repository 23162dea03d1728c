/* SPDX-License-Identifier: Apache-2.0
 *
 * t_view.c - hd_view: the batches that conflict with a reader wait while a view is open. (tests/conform_tables.c: what
 * a view says of every slot.)
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "heddle_view.h"
#include "tests/device_tables.h"

/* ---- Tables ---------------------------------------------------------------------------------- */

static const shape pairs = { "pairs", false, false, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, 12, 0 };

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

static void inserters_wait(void)
{
    for (int far = 0; far < 2; far++) {
        bench b;
        hd_view v;
        pthread_t thread;
        test_case(far ? "a device" : "ref");
        bench_begin(&b);
        b.far = test_table(.slots = 16, .capacity = 256, .backend = far ? "cuda" : "ref", .seams = &b.memory.seams,
                           .value_bytes = 8);
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
static void streams_are_in_order(void)
{
    static char stream[2];
    bench b;
    hd_view v;
    uint64_t key = 5, score = 1;
    uint8_t value[12] = { 0 };
    bench_open_config(&b, shape_config(&pairs, 16, 16), 4096);
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

static void failures(void)
{
    bench b;
    hd_view v;
    uint64_t n = 0;
    must_fail(hd_view_open(NULL, NULL, &v), HD_EINVAL, "table");
    must_fail(hd_view_close(NULL, NULL), HD_EINVAL, "table");
    bench_open_config(&b, shape_config(&pairs, 16, 16), 4096);
    must_fail(hd_view_open(b.far, NULL, NULL), HD_EINVAL, "view");
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

static const struct CMUnitTest tests[] = { unit(inserters_wait), unit(streams_are_in_order), unit(failures) };

int main(void) { return test_run(tests); }
