/* SPDX-License-Identifier: Apache-2.0
 *
 * t_device_walk.c - calls that go over a whole HKV table, on a fake device: hd_save, hd_load, hd_for_each, hd_check.
 * The table is copied in parts, so host memory does not depend on its size. Files are those of other backends, byte by
 * byte. hd_check says what the reference says of a copy. Batches that read go on while a table is saved. A device call
 * or an allocation that fails leaves the table as it was.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/hkv/own.h"
#include "lib/backend_cuda.h"
#include "lib/cuda_state.h"
#include "lib/table.h"
#include "tests/device_tables.h"
#include "tests/faulty.h"

typedef unsigned long long ull;

/* ---- Tables ---------------------------------------------------------------------------------- */

enum { SLOTS = 16, BUCKETS = 13, VALUE_MOST = 40 };

static const shape shapes[] = {
    { "pairs", false, false, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, 40, 0 },
    { "planes, no values", true, false, HD_LAYOUT_PLANES, HD_TIERS_BUCKET, 0, 0 },
    { "half is near", true, false, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, 24, BUCKETS *SLOTS / 2 + 3 },
    { "half is near, by position", false, false, HD_LAYOUT_PLANES, HD_TIERS_POSITION, 7, BUCKETS *SLOTS / 2 + 3 },
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static hd_config config_of(const shape *s, uint64_t buckets) { return shape_config(s, buckets, SLOTS); }

/* A part has two buckets or so. */
static void in_small_parts(hd_table *t)
{
    const hd_staging_sizes sizes = { 4096, 0 };
    hd_cuda_staging(t, &sizes);
}

static void fill(hd_table *t, uint64_t n, uint64_t seed)
{
    hd_info info;
    must(hd_table_info(t, &info));
    uint64_t *key = (uint64_t *)test_alloc(n, 8), *score = (uint64_t *)test_alloc(n, 8), random = seed;
    uint8_t *value = (uint8_t *)test_alloc(n, info.value_bytes + 1);
    for (uint64_t i = 0; i < n; i++) {
        key[i] = test_random(&random) >> 1;
        score[i] = test_random(&random) >> 8;
        value_make(value + i * info.value_bytes, info.value_bytes, key[i], i);
    }
    hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, n, key, value, NULL);
    b.score = score;
    b.kernel = "tlpv1";
    must(hd_run(t, &b));
    b.op = HD_OP_ERASE; /* holes */
    b.n = n / 8;
    must(hd_run(t, &b));
    free(key);
    free(score);
    free(value);
}

static void bench_open(bench *b, const shape *s, uint64_t buckets)
{
    bench_open_config(b, config_of(s, buckets), 4096);
    in_small_parts(b->far);
}

/* ---- Contents -------------------------------------------------------------------------------- */

/* A table on the host machine with what a file has. */
static hd_table *open_here(const shape *s, const char *path)
{
    hd_config c = config_of(s, BUCKETS);
    hd_table *here;
    c.backend = "host";
    must(hd_open(&c, &here));
    must(hd_load(here, path, NULL));
    return here;
}

/* The host machine saves what it has loaded as the same bytes, and the device loads that. */
static void saves_and_loads(const shape *s)
{
    bench b, other;
    const char *from_host = file_named("host"), *from_device = file_named("device");
    test_case("%s", s->name);
    bench_open(&b, s, BUCKETS);
    bench_open(&other, s, BUCKETS);
    fill(b.far, 2 * BUCKETS * SLOTS, 7);
    fill(other.far, BUCKETS, 8); /* what is there is lost */
    must(hd_save(b.far, from_device));
    hd_table *here = open_here(s, from_device);
    same_tables(here, b.far);
    must(hd_save(here, from_host));
    test_same_files(from_host, from_device);
    must(hd_load(other.far, from_host, NULL));
    same_tables(other.far, b.far);
    bench_close(&other);
    bench_close(&b);
    hd_close(here);
}

static void files_are_those_of_other_backends(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < SHAPES; i++) saves_and_loads(&shapes[i]);
}

/* A table of the usual parts, more than one of which it has. */
static void a_larger_table_is_loaded(void **unused)
{
    (void)unused;
    bench b, other;
    const shape s = { "1 KiB", false, false, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, 1024, 0 };
    const uint64_t buckets = 3 * (4 << 20) / 1024 / SLOTS + 5;
    bench_open(&b, &s, buckets);
    bench_open(&other, &s, buckets);
    fill(b.far, buckets * SLOTS / 2, 3);
    const char *path = file_named("large");
    must(hd_save(b.far, path));
    must(hd_load(other.far, path, NULL));
    same_tables(b.far, other.far);
    bench_close(&other);
    bench_close(&b);
}

/* ---- hd_for_each ----------------------------------------------------------------------------- */

/* All are changed, or those up to one at which the caller stops. */
static void values_are_changed(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < SHAPES; i++)
        for (uint64_t most = 0; most < 70; most += 23) {
            bench b;
            const char *path = file_named("before");
            test_case("%s, %llu entries", shapes[i].name, (ull)most);
            bench_open(&b, &shapes[i], BUCKETS);
            fill(b.far, BUCKETS * SLOTS, 5);
            must(hd_save(b.far, path));
            hd_table *here = open_here(&shapes[i], path);
            change_both(here, b.far, most, shapes[i].value_bytes);
            hd_close(here);
            bench_close(&b);
        }
}

/* ---- hd_check -------------------------------------------------------------------------------- */

/* Changes some bytes of the device's planes, at random. */
static void damage(bench *b, uint64_t *random)
{
    hkv_own *o = (hkv_own *)(void *)((hd_cuda *)b->far->state)->own;
    const hkv_view *v = &o->v;
    uint64_t e = test_below(random, hkv_capacity(v)), f = test_below(random, hkv_capacity(v)), word;
    uint64_t bucket = e / SLOTS * SLOTS;
    static const uint64_t words[] = { HD_KEY_EMPTY, HD_KEY_LOCKED, HD_KEY_RESERVED, 5, 0 };
    void *at = NULL;
    size_t bytes = 8;
    word = words[test_below(random, sizeof words / sizeof *words)];
    if (v->dual && test_below(random, 2)) bucket = f / SLOTS * SLOTS;
    switch (test_below(random, 8)) {
    case 0: at = v->digest + e, bytes = 1, word = test_below(random, 256); break;
    case 1: at = hkv_key_at(v, e); break;
    case 2: at = hkv_score_at(v, e); break;
    case 3: at = v->bound ? v->bound + e / HKV_BOUNDED : hkv_score_at(v, e), word = ~0ull; break;
    case 4: at = &o->words->pins.count; break;
    case 5: at = v->holder ? v->holder + e : (uint64_t *)hkv_key_at(v, e); break;
    default: /* an entry is in another slot, too */
        f = bucket + test_below(random, SLOTS);
        bench_put(b, hkv_score_at(v, f), bench_get(b, hkv_score_at(v, e), 8), 8);
        bench_put(b, v->digest + f, bench_get(b, v->digest + e, 1), 1);
        at = hkv_key_at(v, f);
        word = bench_get(b, hkv_key_at(v, e), 8);
    }
    bench_put(b, at, word, bytes);
}

static void pin_some(hd_table *t)
{
    uint64_t key[9], n = 0;
    model_contents all;
    contents_take(&all, t);
    for (; n < 9 && n < all.n; n++) key[n] = all.key[n * all.n / 9];
    contents_give(&all);
    hd_batch b = test_batch(HD_OP_LOCK_KEYS, n, key, NULL, NULL);
    b.holder = 3;
    must(hd_run(t, &b));
}

/* The first slot that is used, or not; the capacity: there is none. */
static uint64_t slot_that_is(bench *b, const hkv_view *v, bool used)
{
    uint64_t e = 0;
    while (e < hkv_capacity(v) && (bench_get(b, hkv_key_at(v, e), 8) != HD_KEY_EMPTY) != used) e++;
    return e;
}

/* An entry of the bucket that its key names first, again in the other one. */
static void place_twice(bench *b, const hkv_view *v)
{
    for (uint64_t e = 0; e < hkv_capacity(v); e++) {
        uint64_t key = bench_get(b, hkv_key_at(v, e), 8), h = hd_hash(key, v->seed);
        if (key == HD_KEY_EMPTY || hd_first_bucket(h, v->buckets) != e / v->slots) continue;
        uint64_t f = hkv_entry(v, hd_second_bucket(h, v->buckets), 0);
        bench_put(b, hkv_key_at(v, f), key, 8);
        bench_put(b, v->digest + f, hd_digest(h), 1);
        bench_put(b, hkv_score_at(v, f), bench_get(b, hkv_score_at(v, e), 8), 8);
        return;
    }
}

/* Each rule is broken alone, and the kernel names it as the reference does. */
static void every_rule_is_checked(void **unused)
{
    enum { NO_DIGEST, LOCKED, RESERVED, TWICE, PINNED, SCORE, BREAKS };
    (void)unused;
    unsigned rules = 0, found = 0;
    for (int i = 0; i < SHAPES * BREAKS; i++) {
        bench b;
        char expected[256], what[96];
        bench_open(&b, &shapes[i / BREAKS], BUCKETS);
        fill(b.far, BUCKETS * SLOTS / 2, 1);
        pin_some(b.far);
        const hkv_view *v = &((hkv_own *)(void *)((hd_cuda *)b.far->state)->own)->v;
        uint64_t used = slot_that_is(&b, v, true), unused_slot = slot_that_is(&b, v, false);
        switch (i % BREAKS) {
        case NO_DIGEST: bench_put(&b, v->digest + used, HKV_NO_DIGEST, 1); break;
        case LOCKED: bench_put(&b, hkv_key_at(v, used), HD_KEY_LOCKED, 8); break;
        case RESERVED: bench_put(&b, hkv_key_at(v, used), HD_KEY_RESERVED, 8); break;
        case TWICE:
            if (v->dual) place_twice(&b, v);
            break;
        case PINNED: bench_put(&b, v->holder + unused_slot, 3, 8); break;
        default: bench_put(&b, hkv_score_at(v, unused_slot), 7, 8);
        }
        snprintf(what, sizeof what, "%s, rule %d", shapes[i / BREAKS].name, i % BREAKS);
        check_as_reference(b.far, what, expected, sizeof expected);
        rules += expected[0] != 0;
        found |= expected[0] ? 1u << (i % BREAKS) : 0;
        bench_close(&b);
    }
    check(found == (1u << BREAKS) - 1, "broken in some shape: %x, %u in all", found, rules);
}

static void the_check_is_the_reference_s(void **unused)
{
    (void)unused;
    uint64_t random = 1, n = test_times(60), broken = 0;
    unsigned rules = 0;
    for (uint64_t i = 0; i < n; i++) {
        bench b;
        char expected[256], what[96];
        bench_open(&b, &shapes[i % SHAPES], BUCKETS);
        fill(b.far, BUCKETS * SLOTS * (1 + i % 3) / 2, i + 1);
        if (i % 2) pin_some(b.far);
        must(hd_check(b.far));
        for (int k = 0; k < 3; k++) {
            damage(&b, &random);
            snprintf(what, sizeof what, "%s, damage %llu", shapes[i % SHAPES].name, (ull)(3 * i + (ull)k));
            check_as_reference(b.far, what, expected, sizeof expected);
            broken += expected[0] != 0;
            if (expected[0]) rules |= 1u << (expected[4] - '0');
        }
        bench_close(&b);
    }
    check(broken > n, "only %llu of %llu tables were found broken", (ull)broken, (ull)(3 * n));
    check(n < 60 || rules == 0x1fe, "the rules that were broken: %x", rules);
}

/* ---- Host memory ----------------------------------------------------------------------------- */

/* Entries are large, so that few of them make a table of several parts of the usual size. */
static const shape large_entries = { "4 KiB", false, false, HD_LAYOUT_PAIRS, HD_TIERS_BUCKET, 4096, 0 };

static void measure(uint64_t buckets, uint64_t *bytes)
{
    bench b;
    bench_open(&b, &large_entries, buckets);
    hd_cuda_staging(b.far, &hd_staging_usual);
    fill(b.far, buckets * SLOTS / 2, 3);
    measure_calls(&b, buckets, bytes);
    bench_close(&b);
}

/* With twice the table, no call has more. Both tables are larger than the pieces of a walk. */
static void no_call_takes_host_memory_for_the_table(void **unused)
{
    (void)unused;
    uint64_t small[CALLS_OF_ALL], large[CALLS_OF_ALL];
    const uint64_t buckets = 3 * (4 << 20) / 4096 / SLOTS;
    measure(buckets, small);
    measure(2 * buckets, large);
    memory_is_bounded(small, large, 4096, 4096, 12 << 20);
}

/* ---- Readers go on --------------------------------------------------------------------------- */

static void readers_go_on_while_a_table_is_saved(void **unused)
{
    (void)unused;
    bench b;
    open_with_reader(&b, config_of(&shapes[0], BUCKETS));
    in_small_parts(b.far);
    fill(b.far, BUCKETS * SLOTS / 2, 3);
    check_readers_go_on(&b);
    bench_close(&b);
}

/* ---- Failures -------------------------------------------------------------------------------- */

/* The device's call number `at` fails; false: there are fewer. */
static bool device_call_fails(int k, const shape *s, int code, uint64_t at)
{
    bench b;
    model_contents before, now;
    const char *path = file_named("failing"), *good = file_named("good");
    bench_open(&b, s, BUCKETS);
    fill(b.far, BUCKETS * SLOTS, 4);
    must(hd_save(b.far, good));
    must(hd_save(b.far, path));
    if (k == CALL_LOAD_ANOTHER) save_another(&b, path);
    fill(b.far, BUCKETS, 9);
    contents_take(&before, b.far);
    b.fake.fail_at = b.fake.calls + at;
    b.fake.code = code;
    b.fake.failed = NULL;
    hd_status status = call_of_all(&b, k, path, BUCKETS);
    const char *failed = b.fake.failed;
    b.fake.fail_at = 0;
    b.fake.device = 0;
    test_case("%s, %s: call %llu (%s) fails with %d", call_name[k], s->name, (ull)at, failed ? failed : "none", code);
    check(status == HD_OK || status == HD_ECUDA || (status == HD_ENOMEM && code == HD_DEVICE_NO_MEMORY), "%s: %s",
          hd_status_name(status), hd_why());
    check(failed || !status, "%s", hd_why());
    must(hd_check(b.far));
    contents_take(&now, b.far);
    bool loads = k == CALL_LOAD || k == CALL_LOAD_ANOTHER;
    if (k != CALL_WALK && (!loads || status)) check(contents_equal(&before, &now, true), "the contents changed");
    check(k != CALL_WALK || before.n == now.n, "there are other entries");
    if (k == CALL_SAVE && status) test_same_files(path, good); /* the old file stands */
    must(call_of_all(&b, k, path, BUCKETS));
    contents_give(&before);
    contents_give(&now);
    bench_close(&b);
    return failed != NULL;
}

static void every_call_may_fail(void **unused)
{
    static const int codes[] = { HD_DEVICE_NO_MEMORY, FAKE_LAUNCH_FAILED };
    (void)unused;
    uint64_t failures = 0;
    for (int k = 0; k < CALL_GROW; k++)
        for (size_t i = 0; i < SHAPES; i++) {
            uint64_t at = 1;
            while (device_call_fails(k, &shapes[i], codes[i % 2], at)) at++;
            failures += at - 1;
        }
    check(failures > 300, "only %llu", (ull)failures);
    test_tried("device-faults", failures, "calls of the device that failed while a table was saved, loaded or read");
}

static void host_memory_is_refused(void **unused)
{
    (void)unused;
    uint64_t refused = 0;
    for (int k = 0; k < CALL_GROW; k++)
        for (uint64_t at = 1, more = 1; more; at++) {
            bench b;
            const char *path = file_named("refused");
            model_contents before, now;
            bench_open(&b, &shapes[2], BUCKETS);
            fill(b.far, BUCKETS * SLOTS, 4);
            must(hd_save(b.far, path));
            if (k == CALL_LOAD_ANOTHER) save_another(&b, path);
            contents_take(&before, b.far);
            counting_refuse(&b.memory, at, false);
            hd_status status = call_of_all(&b, k, path, BUCKETS);
            more = counting_refused(&b.memory);
            refused += more;
            test_case("%s, piece %llu is refused", call_name[k], (ull)at);
            check(status == (more ? HD_ENOMEM : HD_OK), "%s: %s", hd_status_name(status), hd_why());
            contents_take(&now, b.far);
            /* another shape keeps other entries of a table that is nearly full */
            check(k == CALL_WALK || (k == CALL_LOAD_ANOTHER && !more) || contents_equal(&before, &now, true),
                  "the contents changed");
            contents_give(&before);
            contents_give(&now);
            bench_close(&b);
        }
    test_tried("memory", refused, "allocations refused while a table was saved, loaded or read");
    check(refused > 0, "nothing was refused");
}

static const struct CMUnitTest tests[] = { unit(files_are_those_of_other_backends),
                                           unit(a_larger_table_is_loaded),
                                           unit(values_are_changed),
                                           unit(every_rule_is_checked),
                                           unit(the_check_is_the_reference_s),
                                           unit(no_call_takes_host_memory_for_the_table),
                                           unit(readers_go_on_while_a_table_is_saved),
                                           unit(every_call_may_fail),
                                           unit(host_memory_is_refused) };

int main(void) { return test_run(tests); }
