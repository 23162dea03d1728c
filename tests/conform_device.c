/* SPDX-License-Identifier: Apache-2.0
 *
 * conform_device.c - calls that go over a whole table, on a fake device: hd_save, hd_load, hd_for_each, hd_check. The
 * table is copied in parts, so host memory does not depend on its size. Files are those of other backends, byte by
 * byte. hd_check says what the reference says of a copy. Batches that read go on while a table is saved. A device call
 * or an allocation that fails leaves the table as it was. Then what is special to the design (tests/designs/).
 */
#include "tests/conform_device.h"

#include "tests/faulty.h"

/* ---- Tables ---------------------------------------------------------------------------------- */

static void in_parts(hd_table *t, uint64_t bytes)
{
    const hd_staging_sizes sizes = { bytes, 0 };
    hd_cuda_staging(t, &sizes);
}

void device_open(bench *b, size_t shape)
{
    bool anew = device_this.growths && shape == device_this.shapes + device_this.growths - 1;
    bench_open_config(b, device_this.config(shape), anew ? 0 : 4096);
    in_parts(b->far, device_this.part);
    if (device_this.opened) device_this.opened(b->far, shape);
}

void device_fill(hd_table *t, uint64_t parts, uint64_t seed)
{
    hd_info info;
    must(hd_table_info(t, &info));
    uint64_t n = info.places * device_this.full / 8 * parts / DEVICE_FULL;
    (device_this.fill ? device_this.fill : fill_dictionary)(t, n, seed);
}

hd_table *device_open_here(const char *backend, hd_config c, const char *path)
{
    hd_table *here;
    c.backend = backend;
    must(hd_open(&c, &here));
    must(hd_load(here, path, NULL));
    return here;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void same(hd_table *a, hd_table *b) { same_entries(a, b, !device_this.roams); }

/* A table that was loaded takes new keys, and grows. */
static void goes_on(hd_table *t, uint64_t seed)
{
    hd_info info;
    device_fill(t, DEVICE_HALF / 3, seed);
    must(hd_check(t));
    if (!device_this.grows_by) return;
    must(hd_table_info(t, &info));
    must(hd_grow(t, info.buckets + device_this.grows_by));
    must(hd_check(t));
}

/* The host machine saves what it has loaded as the same bytes, and the device loads that. */
static void saves_and_loads(size_t shape, uint64_t parts)
{
    bench b, other;
    const char *from_host = file_named("host"), *from_device = file_named("device");
    test_case("%s, %llu of 24", device_this.name(shape), (ull)parts);
    device_open(&b, shape);
    device_open(&other, shape);
    if (parts) device_fill(b.far, parts, 7);
    device_fill(other.far, DEVICE_FEW, 8); /* what is there is lost */
    must(hd_save(b.far, from_device));
    hd_table *here = device_open_here("host", device_this.config(shape), from_device);
    same(here, b.far);
    must(hd_save(here, from_host));
    if (!device_this.roams) test_same_files(from_host, from_device);
    must(hd_load(other.far, from_host, NULL));
    same(other.far, b.far);
    if (device_this.loaded) device_this.loaded(&b, &other);
    goes_on(other.far, parts + 1);
    goes_on(here, parts + 1);
    bench_close(&other);
    bench_close(&b);
    hd_close(here);
}

static void files_are_those_of_other_backends(void **unused)
{
    static const uint64_t parts[] = { 0, DEVICE_FEW, DEVICE_FULL };
    (void)unused;
    for (size_t i = 0; i < 3 * device_this.shapes; i++) saves_and_loads(i / 3, parts[i % 3]);
}

/* Changes all values, or those up to one at which the caller stops. */
static void change_values(size_t shape, uint64_t most)
{
    bench b;
    const char *path = file_named("before");
    test_case("%s, %llu entries", device_this.name(shape), (ull)most);
    device_open(&b, shape);
    device_fill(b.far, DEVICE_FULL, 5);
    must(hd_save(b.far, path));
    hd_table *here = device_open_here("host", device_this.config(shape), path);
    visits x = { 0, most, 0, b.far->info.value_bytes }, y = x;
    must(hd_for_each(here, change, &x));
    must(hd_for_each(b.far, change, &y));
    check(x.n == y.n && (device_this.roams || x.last == y.last) && (!most || x.n == most), "%llu and %llu visits",
          (ull)x.n, (ull)y.n);
    same(here, b.far);
    hd_close(here);
    bench_close(&b);
}

static void values_are_changed(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < device_this.shapes; i++)
        for (uint64_t most = 0; most < (device_this.roams ? 1 : 70); most += 23) change_values(i, most);
}

/* ---- hd_check -------------------------------------------------------------------------------- */

static void the_check_is_the_reference_s(void **unused)
{
    uint64_t random = 4, n = test_quarter(device_this.tables), broken = 0, of = 0;
    unsigned rules = 0;
    (void)unused;
    for (uint64_t i = 0; i < n; i++) {
        bench b;
        char expected[256], what[96];
        size_t shape = i % device_this.shapes;
        device_open(&b, shape);
        device_fill(b.far, DEVICE_FULL / 3 * (1 + i % 3), i + 1);
        if (i % 2 && device_this.more) device_this.more(b.far);
        must(hd_check(b.far));
        for (int k = 0; k < device_this.damages; k++, of++) {
            device_this.damage(&b, &random);
            snprintf(what, sizeof what, "%s, damage %llu", device_this.name(shape), (ull)of);
            check_as_reference(b.far, what, expected, sizeof expected);
            broken += expected[0] != 0;
            if (expected[0]) rules |= 1u << (expected[device_this.rule_at] - '0');
        }
        bench_close(&b);
    }
    check(broken > of / 3, "only %llu of %llu tables were found broken", (ull)broken, (ull)of);
    check(n < 40 || rules == device_this.rules, "the rules that were broken: %x", rules);
}

/* ---- Host memory ----------------------------------------------------------------------------- */

static void measure(uint64_t times, uint64_t *bytes)
{
    const device_large *l = device_this.large;
    bench b;
    bench_open_config(&b, l->config(times), 4096);
    hd_cuda_staging(b.far, &l->parts);
    device_fill(b.far, DEVICE_HALF, 3);
    measure_calls(&b, b.far->info.buckets, bytes);
    bench_close(&b);
}

/* With twice the table, no call has more. Both tables are larger than the pieces of a walk. */
static void no_call_takes_host_memory_for_the_table(void **unused)
{
    uint64_t small[CALLS_OF_ALL], large[CALLS_OF_ALL];
    (void)unused;
    measure(1, small);
    measure(2, large);
    memory_is_bounded(small, large, device_this.large->more, device_this.large->in_files, 12 << 20);
}

/* ---- Readers go on --------------------------------------------------------------------------- */

static void readers_go_on_while_a_table_is_saved(void **unused)
{
    bench b;
    (void)unused;
    open_with_reader(&b, device_this.config(0));
    in_parts(b.far, device_this.part);
    device_fill(b.far, DEVICE_HALF, 3);
    check_readers_go_on(&b);
    bench_close(&b);
}

/* ---- Failures -------------------------------------------------------------------------------- */

/* A table that has not what a file has, for call k. */
static void open_for(bench *b, int k, size_t shape, const char *path)
{
    device_open(b, shape);
    device_fill(b->far, DEVICE_HALF, 4);
    must(hd_save(b->far, path));
    if (k == CALL_LOAD_ANOTHER) save_another(b, path);
}

/* The device's call number `at` fails; false: there are fewer. */
static bool device_call_fails(int k, size_t shape, int code, uint64_t at)
{
    bench b;
    model_contents before, now;
    const char *path = file_named("failing"), *good = file_named("good");
    open_for(&b, k, shape, path);
    must(hd_save(b.far, good));
    device_fill(b.far, DEVICE_FEW, 9);
    contents_take(&before, b.far);
    uint64_t live = b.fake.live_bytes, was = b.far->info.buckets, buckets = was + device_this.grows_by;
    b.fake.fail_at = b.fake.calls + at;
    b.fake.code = code;
    b.fake.failed = NULL;
    hd_status status = call_of_all(&b, k, path, buckets);
    const char *failed = b.fake.failed;
    b.fake.fail_at = 0;
    b.fake.device = 0;
    test_case("%s, %s: call %llu (%s) fails with %d", call_name[k], device_this.name(shape), (ull)at,
              failed ? failed : "none", code);
    check(status == HD_OK || status == HD_ECUDA || (status == HD_ENOMEM && code == HD_DEVICE_NO_MEMORY), "%s: %s",
          hd_status_name(status), hd_why());
    check(failed || !status, "%s", hd_why());
    must(hd_check(b.far));
    contents_take(&now, b.far);
    bool loads = k == CALL_LOAD || k == CALL_LOAD_ANOTHER;
    if (k != CALL_WALK && (!loads || status))
        check(contents_equal(&before, &now, !device_this.roams && b.far->info.buckets == was), "the contents changed");
    /* growth that failed holds no more, unless it went some of the way */
    check(k != CALL_GROW || !status || b.far->info.buckets != was || b.fake.live_bytes == live,
          "%lld bytes more are held", (long long)(b.fake.live_bytes - live));
    check(k != CALL_WALK || before.n == now.n, "there are other entries");
    if (k == CALL_SAVE && status) test_same_files(path, good); /* the old file stands */
    /* some of the way it may have come */
    must(call_of_all(&b, k, path, b.far->info.buckets > buckets ? b.far->info.buckets : buckets));
    must(hd_check(b.far));
    contents_give(&before);
    contents_give(&now);
    bench_close(&b);
    return failed != NULL;
}

/* Only growth is tried with the shapes that are there for it. */
static bool tries(int k, size_t shape)
{
    return k == CALL_GROW ? device_this.grows_by != 0 : shape < device_this.shapes;
}

static void every_call_may_fail(void **unused)
{
    static const int codes[] = { HD_DEVICE_NO_MEMORY, FAKE_LAUNCH_FAILED };
    const uint64_t stride = test_is_long() ? (device_this.stride + 7) / 8 : device_this.stride;
    const bool few = stride > 8 && !test_is_long(); /* then one shape of each call, too */
    uint64_t failures = 0;
    (void)unused;
    for (size_t i = 0; i < CALLS_OF_ALL * (device_this.shapes + device_this.growths); i++) {
        size_t shape = i / CALLS_OF_ALL, k = i % CALLS_OF_ALL;
        if (!tries((int)k, shape)) continue;
        if (few && shape != k) continue;
        for (uint64_t at = 1 + i % stride; device_call_fails((int)k, shape, codes[shape % 2], at); at += stride)
            failures++;
    }
    check(failures > (few ? 0 : 75 * device_this.shapes / stride), "only %llu", (ull)failures);
    test_tried("device-faults", failures,
               "calls of the device that failed while a table of %s was saved, loaded or read, or grew",
               device_this.config(0).design);
}

/* Allocation number `at` is refused; false: there are fewer. */
static bool allocation_is_refused(int k, size_t shape, uint64_t at)
{
    bench b;
    const char *path = file_named("refused");
    model_contents before, now;
    open_for(&b, k, shape, path);
    contents_take(&before, b.far);
    uint64_t was = b.far->info.buckets;
    counting_refuse(&b.memory, at, false);
    hd_status status = call_of_all(&b, k, path, was + device_this.grows_by);
    bool refused = counting_refused(&b.memory);
    test_case("%s, piece %llu is refused", call_name[k], (ull)at);
    check(status == (refused ? HD_ENOMEM : HD_OK), "%s: %s", hd_status_name(status), hd_why());
    contents_take(&now, b.far);
    /* another shape keeps other entries of a table that is nearly full */
    check(k == CALL_WALK || (k == CALL_LOAD_ANOTHER && !refused) ||
              contents_equal(&before, &now, !device_this.roams && b.far->info.buckets == was),
          "the contents changed");
    contents_give(&before);
    contents_give(&now);
    bench_close(&b);
    return refused;
}

static void host_memory_is_refused(void **unused)
{
    uint64_t refused = 0;
    (void)unused;
    for (size_t shape = device_this.shapes / 2; shape < device_this.shapes + device_this.growths; shape++)
        for (int k = 0; k < CALLS_OF_ALL; k++) {
            if (!tries(k, shape) || (k != CALL_GROW && shape > device_this.shapes / 2)) continue;
            for (uint64_t at = 1; allocation_is_refused(k, shape, at); at++) refused++;
        }
    test_tried("memory", refused, "allocations refused while a table of %s was saved, loaded or read",
               device_this.config(0).design);
    check(refused > 0, "nothing was refused");
}

int main(void)
{
    struct CMUnitTest tests[16] = { unit(files_are_those_of_other_backends), unit(values_are_changed),
                                    unit(readers_go_on_while_a_table_is_saved), unit(every_call_may_fail),
                                    unit(host_memory_is_refused) };
    size_t n = 5;
    if (device_this.damage) tests[n++] = (struct CMUnitTest)unit(the_check_is_the_reference_s);
    if (device_this.large) tests[n++] = (struct CMUnitTest)unit(no_call_takes_host_memory_for_the_table);
    for (size_t i = 0; i < device_this.tests_n; i++) tests[n++] = device_this.tests[i];
    return test_run_named("tests", tests, n);
}
