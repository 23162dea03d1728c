/* SPDX-License-Identifier: Apache-2.0
 *
 * t_device_growth.c - growth of HKV tables on a fake device: in place, where the planes' memory can grow, and anew.
 * The result is that of the same table on the host machine. Memory stays within what the call promises.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/device_tables.h"

/* ---- Tables ---------------------------------------------------------------------------------- */

enum { SLOTS = 32, BUCKETS = 8, VALUE = 1024, CAPACITY = BUCKETS * SLOTS };

/* Values are large, so that few entries make a table whose planes can grow (gpu/hkv/launch.c). */
static const shape shapes[] = {
    { "single", false, false, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, VALUE, 0 },
    { "dual, pins", true, true, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, VALUE, 0 },
    { "planes, pins", false, true, HD_LAYOUT_PLANES, HD_TIERS_BUCKET, VALUE, 0 },
    { "half is near", true, false, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, VALUE, CAPACITY / 2 + 3 },
    { "half is near, by position", false, true, HD_LAYOUT_PAIRS, HD_TIERS_POSITION, VALUE, CAPACITY / 2 + 3 },
    { "all is near at first", false, false, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, VALUE, CAPACITY + 19 },
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static hd_config config_of(const shape *s, uint64_t buckets) { return shape_config(s, buckets, SLOTS); }

static void fill(hd_table *t, uint64_t n, uint64_t seed, bool pins)
{
    uint64_t *key = (uint64_t *)test_alloc(n, 8), *score = (uint64_t *)test_alloc(n, 8), random = seed;
    uint8_t *value = (uint8_t *)test_alloc(n, VALUE);
    for (uint64_t i = 0; i < n; i++) {
        key[i] = test_random(&random) >> 1;
        score[i] = test_random(&random) >> 8;
        value_make(value + i * VALUE, VALUE, key[i], i);
    }
    hd_batch b = {
        .op = HD_OP_INSERT_OR_ASSIGN, .n = n, .key = key, .value = value, .score = score, .kernel = "tlpv1"
    };
    must(hd_run(t, &b));
    b.op = HD_OP_LOCK_KEYS;
    b.n = pins ? 9 : 0;
    b.holder = 5;
    must(hd_run(t, &b));
    b.op = HD_OP_ERASE; /* holes, but where entries are pinned */
    b.n = 20;
    must(hd_run(t, &b));
    free(key);
    free(score);
    free(value);
}

static void bench_open(bench *b, const shape *s, const char *lock, uint64_t page)
{
    hd_config c = config_of(s, BUCKETS);
    c.lock = lock;
    bench_open_config(b, c, page);
}

/* ---- The same as on the host machine --------------------------------------------------------- */

static void grows(const shape *s, uint64_t page, uint64_t times)
{
    bench b;
    hd_table *here;
    hd_config c = config_of(s, BUCKETS);
    test_case("%s, %s, %llu times", s->name, page ? "in place" : "anew", (ull)times);
    c.backend = "host";
    must(hd_open(&c, &here));
    bench_open(&b, s, "ordered", page);
    fill(here, 2 * CAPACITY, 7, s->pins);
    fill(b.far, 2 * CAPACITY, 7, s->pins);
    same_tables(here, b.far);
    uint64_t before = b.fake.live_bytes;
    b.fake.peak_bytes = 0;
    must(hd_grow(here, times * BUCKETS));
    must(hd_grow(b.far, times * BUCKETS));
    uint64_t peak = b.fake.peak_bytes, after = b.fake.live_bytes;
    same_tables(here, b.far);
    hd_info is = test_info(b.far);
    check(is.buckets == times * BUCKETS && is.capacity == times * CAPACITY, "%llu buckets", (ull)is.buckets);
    /* beside the table: room for batches in its old size; words of buckets; near values of a bucket */
    uint64_t besides = (64 << 10) + (s->near ? SLOTS * VALUE : 0);
    if (page) check(peak <= after + besides, "%llu bytes at a time, %llu afterwards", (ull)peak, (ull)after);
    check(page || peak >= before + after - besides, "%llu at a time: the old table was in the way", (ull)peak);
    fill(here, CAPACITY, 8, s->pins); /* and it goes on as before */
    fill(b.far, CAPACITY, 8, s->pins);
    must(hd_grow(here, 2 * times * BUCKETS));
    must(hd_grow(b.far, 2 * times * BUCKETS));
    same_tables(here, b.far);
    hd_close(here);
    bench_close(&b);
}

static void as_on_the_host_machine(void)
{
    for (size_t i = 0; i < SHAPES; i++)
        for (int in_place = 0; in_place < 2; in_place++)
            for (uint64_t times = 2; times <= 3; times++) grows(&shapes[i], in_place ? 4096 : 0, times);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Where there is no room for two tables, one whose planes can grow does, and another one stays as it was. */
static void without_room_for_two(void)
{
    for (int in_place = 0; in_place < 2; in_place++) {
        bench b;
        test_case("%s", in_place ? "in place" : "anew");
        bench_open(&b, &shapes[0], "ordered", in_place ? 4096 : 0);
        fill(b.far, 2 * CAPACITY, 3, false);
        model_contents before, after;
        contents_take(&before, b.far);
        uint64_t live = b.fake.live_bytes, more = (uint64_t)CAPACITY * (VALUE + 40);
        b.fake.most_bytes = live + more;
        hd_status status = hd_grow(b.far, 2 * BUCKETS);
        check(in_place ? status == HD_OK : status == HD_ENOMEM, "%s: %s", hd_status_name(status), hd_why());
        check(in_place || b.fake.live_bytes == live, "%lld bytes more are held", (long long)(b.fake.live_bytes - live));
        check(test_info(b.far).buckets == (in_place ? 2 : 1) * BUCKETS, "%llu buckets", (ull)test_info(b.far).buckets);
        must(hd_check(b.far));
        contents_take(&after, b.far);
        check(contents_equal(&before, &after, !in_place), "the contents changed");
        contents_give(&before);
        contents_give(&after);
        bench_close(&b);
    }
}

/* A table whose near values fill the device doubles all the same: they stay where they are. Only keys, and values in
 * this machine's memory, become more. */
static void the_host_tier_grows(void)
{
    bench b;
    const shape s = {
        "near values fill the device", false, false, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, VALUE, CAPACITY * 3 / 4
    };
    model_contents before, after;
    bench_open(&b, &s, "ordered", 4096);
    fill(b.far, 2 * CAPACITY, 3, false);
    contents_take(&before, b.far);
    hd_info was = test_info(b.far);
    /* for keys, locks, and the near values of a bucket aside; less than another near tier */
    uint64_t more = (uint64_t)SLOTS * VALUE + (32 << 10);
    check(more < was.values_device_bytes * 2 / 3, "%llu bytes of values are near", (ull)was.values_device_bytes);
    b.fake.most_bytes = b.fake.live_bytes + more;
    must(hd_grow(b.far, 2 * BUCKETS));
    hd_info is = test_info(b.far);
    check(is.values_device_bytes == was.values_device_bytes &&
              is.values_host_bytes == was.values_host_bytes + (uint64_t)CAPACITY * VALUE,
          "%llu bytes of values are near and %llu far", (ull)is.values_device_bytes, (ull)is.values_host_bytes);
    must(hd_check(b.far));
    contents_take(&after, b.far);
    check(contents_equal(&before, &after, false), "the contents changed");
    contents_give(&before);
    contents_give(&after);
    bench_close(&b);
}

static const struct CMUnitTest tests[] = { unit(as_on_the_host_machine), unit(without_room_for_two),
                                           unit(the_host_tier_grows) };

int main(void) { return test_run(tests); }
