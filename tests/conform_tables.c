/* SPDX-License-Identifier: Apache-2.0
 *
 * conform_tables.c - the tables of a design on every backend; "cuda" is a fake device. Judged runs of all operations,
 * with growth, shrinking, other limits of device memory and snapshots between batches. PENDING, and the growth that
 * ends it. All kinds of keys and values. Limits of device memory. What is refused. Windows of an export. Files of every
 * shape in tables of every other one; files that are damaged. Every invariant is broken, and hd_check names it.
 */
#include "tests/conform_tables.h"

#include <stdlib.h>
#include <string.h>

#include "heddle_view.h"
#include "judge/mem_files.h"
#include "lib/cuda_state.h"
#include "lib/params.h"
#include "lib/table.h"
#include "tests/between.h"
#include "tests/snapshots.h"

static const char *const backends[] = { "ref", "host", "cuda" };
enum { BACKENDS = sizeof backends / sizeof *backends };

/* The program's design. */
static const table_design *const d = &table_this;

/* The device, the memory and the files of all tables. */
static fake_device fake;
static faulty files;

BETWEEN(void, judge_shelf_open, (judge_shelf * s));
void __wrap_judge_shelf_open(judge_shelf *s)
{
    __real_judge_shelf_open(s);
    s->seams.device = &fake.seam;
}

/* The files of this test need not outlive the machine. */
static int no_sync(void *self, int fd) { return (void)self, (void)fd, 0; }
static int no_sync_folder(void *self, const char *path) { return (void)self, (void)path, 0; }

static void begin(void)
{
    fake_init(&fake);
    faulty_init(&files, NO_FAULT, 0);
    files.memory.seams.file.sync = no_sync;
    files.memory.seams.file.sync_folder = no_sync_folder;
    files.memory.seams.device = &fake.seam;
}

static void end(void)
{
    fake_settled(&fake);
    check(files.memory.live_bytes == 0, "%llu bytes were not given back", (ull)files.memory.live_bytes);
}

/* A test of one table. */
typedef void table_test(size_t shape, const char *backend);

/* Of every shape, on every backend. */
static void for_each_table(table_test *test)
{
    for (size_t i = 0; i < table_this.shapes_n * BACKENDS; i++) {
        begin();
        test(i / BACKENDS, backends[i % BACKENDS]);
        end();
    }
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* The case DESIGN.mix of a shape; more: as printf. The case is being tried. */
static hd_case __attribute__((format(printf, 3, 4)))
table_case(const char *shape, const char *backend, const char *more, ...)
{
    char rest[512], text[1024];
    const char *fields = strchr(shape, ' ');
    bool ref = strcmp(backend, "ref") == 0; /* it has no kernel but its own */
    hd_case c;
    va_list list;
    va_start(list, more);
    vsnprintf(rest, sizeof rest, more, list);
    va_end(list);
    snprintf(text, sizeof text, "%s.mix.%.*s%s backend=%s %s", d->name, ref ? 5 : (int)(fields - shape),
             ref ? "usual" : shape, fields, backend, rest);
    test_case("%s", text);
    must(hd_case_parse(text, &c));
    return c;
}

static hd_table *table_open(const char *shape, const char *backend)
{
    hd_case c = table_case(shape, backend, " ");
    hd_config config = hd_case_config(&c);
    hd_table *t;
    config.seams = &files.memory.seams;
    must(hd_open(&config, &t));
    return t;
}

/* ---- Judged runs ----------------------------------------------------------------------------- */

static const char *const betweens[] = { "nothing", "grow", "shrink", "load", "reshape", "reopen", "near" };
enum { BETWEENS = sizeof betweens / sizeof *betweens };

/* What tables of the design do not do, hd_shrink or hd_set_near refuses. */
static bool does(size_t shape, const char *between)
{
    hd_table *t = table_open(d->shapes[shape], "ref");
    hd_status status = HD_OK;
    if (strcmp(between, "shrink") == 0) status = hd_shrink(t, test_info(t).buckets);
    if (strcmp(between, "near") == 0) status = hd_set_near(t, 0);
    hd_close(t);
    return status == HD_OK;
}

static uint64_t judged;

/* On a device the order of items is not known. */
static void lives(size_t shape, const char *backend)
{
    bool device = strcmp(backend, "cuda") == 0;
    for (size_t k = 0; k < BETWEENS; k++) {
        hd_run_report report;
        if (!does(shape, betweens[k])) continue;
        hd_case c = table_case(d->shapes[shape], backend,
                               "between=%s outputs=%s batch=%s distinct=%d reserved=20000 seed=%llu judge=1",
                               betweens[k], k % 2 ? "some" : "all", device && !d->dictionary ? "1x200" : "30x24",
                               device, (ull)(shape * BETWEENS + k));
        must(hd_case_run(&c, NULL, NULL, &report));
        check(!report.wrong[0] && report.judged == report.requests, "%s", report.wrong);
        judged += report.judged;
    }
}

static void lives_are_judged(void **unused)
{
    (void)unused;
    for_each_table(lives);
    test_tried("differential", judged, "items on all backends, judged, between growth, snapshots and other limits");
}

/* ---- PENDING --------------------------------------------------------------------------------- */

enum { KEYS_MOST = 4096 };

/* Key i of an order: ascending, descending, or any. */
static uint64_t key_in(int order, uint64_t i) { return order == 0 ? i : order == 1 ? 60000 - i : i * 40503 % 65521; }

/* Inserts keys in an order until one is PENDING, which it is without any change; how many came. */
static uint64_t fill(hd_table *t, int order)
{
    uint64_t n = 0, value;
    hd_outcome o;
    while ((o = test_put(t, key_in(order, n), n)) == HD_INSERTED && n < KEYS_MOST) n++;
    check(o == HD_PENDING, "%s after %llu keys", hd_outcome_name(o), (ull)n);
    check(!test_get(t, key_in(order, n), &value) && test_size(t) == n, "a key that is pending is there");
    must(hd_check(t));
    return n;
}

/* The table has the first n keys of an order, and no other. */
static void has_keys(hd_table *t, int order, uint64_t n)
{
    uint64_t value, mask = UINT64_MAX >> (64 - 8 * test_info(t).value_bytes);
    must(hd_check(t));
    check(test_size(t) == n, "%llu entries, and not %llu", (ull)test_size(t), (ull)n);
    for (uint64_t i = 0; i < n; i++)
        check(test_get(t, key_in(order, i), &value) && value == (i & mask), "key %llu has value %llu, and not %llu",
              (ull)key_in(order, i), (ull)value, (ull)i);
}

static void pending(size_t shape, const char *backend)
{
    for (int order = 0; order < 3; order++) {
        hd_table *t = table_open(d->shapes[shape], backend);
        uint64_t n = fill(t, order), key = key_in(order, n), last = key_in(order, n - 1);
        uint8_t outcome;
        bool skewed = strstr(d->shapes[shape], "partition=range");
        check(skewed || n * 100 >= test_info(t).places * d->load, "PENDING with %llu of %llu places taken", (ull)n,
              (ull)test_info(t).places);
        check(test_put(t, last, n - 1) == HD_UPDATED, "a key that is there needs no room");
        check(test_erase(t, last) == HD_ERASED && test_put(t, last, n - 1) == HD_INSERTED, "its place is not free");
        hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, 1, &key, &n, &outcome);
        must(hd_run_growing(t, &b, 0));
        check(outcome == HD_INSERTED, "%s after growth", hd_outcome_name((hd_outcome)outcome));
        has_keys(t, order, n + 1);
        hd_close(t);
    }
}

static void pending_ends_by_growth(void **unused)
{
    (void)unused;
    for_each_table(pending);
}

/* ---- Keys and values ------------------------------------------------------------------------- */

/* The least and the greatest keys, reserved ones, and values that are such numbers, or other keys. */
static void all_kinds(size_t shape, const char *backend)
{
    enum { N = 12, PUT = 9 };
    hd_table *t = table_open(d->shapes[shape], backend);
    uint64_t most = test_info(t).keys, value_bytes = test_info(t).value_bytes, got,
             mask = UINT64_MAX >> (64 - 8 * value_bytes);
    const uint64_t key[N] = { 0, 1, 2, most / 2, most - 1, most, most + 1, most + 2, UINT64_MAX, 3, most - 2, 70 };
    uint8_t value[N * 8], outcome[N];
    for (int i = 0; i < N; i++) {
        uint64_t number = i % 3 ? ~key[i] : key[(i + 1) % N];
        memcpy(value + (size_t)i * value_bytes, &number, value_bytes);
    }
    hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, PUT, key, value, outcome);
    must(hd_run_growing(t, &b, 0));
    for (int i = 0; i < N; i++) {
        bool reserved = key[i] >= most, there = !reserved && i < PUT;
        uint64_t number = (i % 3 ? ~key[i] : key[(i + 1) % N]) & mask;
        check(i >= PUT || outcome[i] == (reserved ? HD_RESERVED : HD_INSERTED), "key %llx: %s", (ull)key[i],
              hd_outcome_name((hd_outcome)outcome[i]));
        check(test_get(t, key[i], &got) == there && (!there || got == number), "key %llx has value %llx, and not %llx",
              (ull)key[i], (ull)got, (ull)number);
    }
    must(hd_check(t));
    hd_close(t);
}

static void keys_of_all_kinds(void **unused)
{
    (void)unused;
    for_each_table(all_kinds);
}

/* ---- Limits of device memory ----------------------------------------------------------------- */

/* The least that the refusal of less names. */
static uint64_t least_near(hd_table *t)
{
    must_fail(hd_set_near(t, 1), HD_EINVAL, "near: 1 bytes");
    const char *at = hd_why() + strlen("near: 1 bytes");
    return strtoull(at + strcspn(at, "0123456789"), NULL, 10);
}

/* What the table has of the device beside copies of batches' arrays, which do not count. */
static uint64_t taken(hd_table *t, uint64_t bytes) { return bytes - ((hd_cuda *)t->state)->staging.room_bytes; }

/* At no moment does the call take more than both limits allow. Entries and slots are what they were. */
static void set_limit(hd_table *t, uint64_t was, uint64_t near, uint64_t least)
{
    uint64_t most = was && near ? (was > near ? was : near) : UINT64_MAX, live = fake.live_bytes;
    bool few = near && near < least;
    model_contents before, now;
    hd_info then = test_info(t), info;
    contents_take(&before, t);
    fake.peak_bytes = fake.live_bytes;
    test_case("%s, near %llu, then %llu of at least %llu", then.design, (ull)was, (ull)near, (ull)least);
    test_status(hd_set_near(t, near), few ? HD_EINVAL : HD_OK, few ? "near" : NULL, "hd_set_near", __FILE__, __LINE__);
    info = test_info(t);
    check(few ? fake.peak_bytes == live && memcmp(&info, &then, sizeof info) == 0 : taken(t, fake.peak_bytes) <= most,
          "%llu bytes taken", (ull)fake.peak_bytes);
    check(few || !near || taken(t, fake.live_bytes) <= near, "%llu bytes kept", (ull)fake.live_bytes);
    check(few || near || info.values_host_bytes == 0, "%llu bytes are far", (ull)info.values_host_bytes);
    check(info.capacity == then.capacity && fake.far_bytes >= info.values_host_bytes, "%llu bytes pinned",
          (ull)fake.far_bytes);
    must(hd_check(t));
    contents_take(&now, t);
    check(contents_equal(&before, &now, true), "entries have moved");
    contents_give(&before);
    contents_give(&now);
}

static uint64_t moved;

/* Limits go up and down at random; between them items run, and the table grows and shrinks, within the limit. */
static void limits(size_t shape, const char *backend)
{
    enum { ROUNDS = 12 };
    if (strcmp(backend, "cuda") != 0) return;
    hd_table *t = table_open(d->shapes[shape], backend);
    must(hd_set_near(t, 0));
    uint64_t random = shape, near = 0, bytes = test_info(t).values_device_bytes;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t least = least_near(t), then = least + test_below(&random, 4 * bytes + 1),
                 far = test_info(t).values_host_bytes;
        if (round % 5 == 3) then = round % 2 ? 0 : least - 1;
        set_limit(t, near, then, least);
        near = hd_params_number_of_table(&t->info, "near");
        moved += test_info(t).values_host_bytes != far;
        for (uint64_t i = 0; i < 40; i++) test_put(t, key_in(2, 40 * round + i), i);
        fake.peak_bytes = fake.live_bytes;
        hd_info info = test_info(t);
        hd_status status = round % 3 == 2 ? hd_shrink(t, info.base_buckets) : hd_grow(t, info.buckets * 3 / 2 + 1);
        check(status == HD_OK || (near && status == HD_EINVAL), "%s", hd_why());
        check(!near || taken(t, fake.peak_bytes) <= near, "%llu bytes taken by growth", (ull)fake.peak_bytes);
        must(hd_check(t));
    }
    hd_close(t);
}

static void limits_are_kept(void **unused)
{
    (void)unused;
    for_each_table(limits);
    check(moved > 3, "only %llu limits moved entries", (ull)moved);
    test_note("%llu limits moved entries, counted at the seam", (ull)moved);
}

/* ---- What is refused ------------------------------------------------------------------------- */

/* Fields that no table of the design has, and numbers that no table has: as text, or when it is opened. */
static void shapes_are_refused(void **unused)
{
    uint64_t refused = 0;
    (void)unused;
    for (size_t k = 0; k < 2 * d->refusals; k++, refused++) {
        const test_refusal *r = &d->refusal[k / 2];
        hd_config c = hd_config_of(d->name);
        hd_table *t = NULL;
        char words[256], *rest = words;
        hd_status status = HD_OK;
        c.backend = backends[k % 2];
        snprintf(words, sizeof words, "%s", r->text);
        test_case("%s on %s: %s", d->name, c.backend, r->text);
        for (char *name; !status && (name = strtok_r(rest, " ", &rest));) {
            char *value = strchr(name, '=');
            *value = 0;
            status = hd_config_set(&c, name, value + 1);
        }
        if (!status) status = hd_open(&c, &t);
        check(status == HD_EINVAL && strstr(hd_why(), r->word) && !t, "%s: %s", hd_status_name(status), hd_why());
    }
    test_tried("misuse", refused, "shapes of tables that a design does not have");
}

/* ---- Walks ----------------------------------------------------------------------------------- */

/* A table with holes. */
static hd_table *some_table(size_t shape, const char *backend)
{
    enum { N = 90 };
    hd_table *t = table_open(d->shapes[shape], backend);
    uint64_t key[N], value[N * 3] = { 0 };
    for (uint64_t i = 0; i < N; i++) key[i] = key_in(2, i), value[i] = i;
    hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, N, key, test_info(t).value_bytes ? value : NULL, NULL);
    must(hd_run_growing(t, &b, 0));
    b = test_batch(HD_OP_ERASE, N / 8, key, NULL, NULL);
    must(hd_run(t, &b));
    return t;
}

/* Windows of an export have the slots that they name, in order. */
static void windows(size_t shape, const char *backend)
{
    enum { MOST = 4096 };
    static uint64_t key[MOST], item[MOST];
    hd_table *t = some_table(shape, backend);
    uint64_t places = test_info(t).places, rows = 0, count;
    model_contents all;
    contents_take(&all, t);
    for (uint64_t start = 0, n; start < places; start += n) {
        n = start % 5 * 7 + 1 < places - start ? start % 5 * 7 + 1 : places - start;
        hd_batch b = test_batch(HD_OP_EXPORT, n, NULL, NULL, NULL);
        b.start = start;
        test_lists(&b, key + rows, NULL, NULL, item + rows, &count);
        must(hd_run(t, &b));
        for (uint64_t i = rows; i < rows + count; i++)
            check(item[i] >= start && item[i] < start + n && (i == rows || item[i] > item[i - 1]),
                  "slot %llu of a window from %llu on", (ull)item[i], (ull)start);
        rows += count;
    }
    check(rows == all.n, "%llu entries in windows, %llu in all", (ull)rows, (ull)all.n);
    for (uint64_t i = 0, k; i < all.n; i++) {
        for (k = 0; k < rows && key[k] != all.key[i];) k++;
        check(k < rows && item[k] == all.slot[i], "key %llu is in no window, or in another slot", (ull)all.key[i]);
    }
    hd_batch beyond = test_batch(HD_OP_EXPORT, places, NULL, NULL, NULL);
    beyond.start = 1, beyond.count = &count;
    must_fail(hd_run(t, &beyond), HD_EINVAL, "beyond");
    contents_give(&all);
    hd_close(t);
}

static void windows_are_of_slots(void **unused)
{
    (void)unused;
    for_each_table(windows);
}

/* What a view says of every slot is what an export says of it. */
static void views(size_t shape, const char *backend)
{
    hd_table *t = some_table(shape, backend);
    model_contents all;
    hd_view v;
    hd_view_entry e;
    uint64_t rows = 0;
    contents_take(&all, t);
    hd_status status = hd_view_open(t, NULL, &v);
    check(status == (d->views ? HD_OK : HD_EINVAL), "%s: %s", hd_status_name(status), hd_why());
    fake_let_in(&fake);
    for (uint64_t slot = 0, i; !status && slot < v.places; slot++) {
        if (!hd_view_row(&v, slot, &e)) continue;
        for (i = 0; i < all.n && all.slot[i] != slot;) i++;
        check(i < all.n && all.key[i] == e.key && all.score[i] == e.score &&
                  !memcmp(all.value + i * v.value_bytes, e.value, v.value_bytes),
              "slot %llu: key %llu, score %llu", (ull)slot, (ull)e.key, (ull)e.score);
        rows++;
    }
    if (!status) must(hd_view_close(t, NULL));
    check(status || rows == all.n, "%llu entries, and export has %llu", (ull)rows, (ull)all.n);
    contents_give(&all);
    hd_close(t);
}

static void views_are_exports(void **unused)
{
    (void)unused;
    for_each_table(views);
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* A full table's file in a table of every shape with such values, on another backend. Nothing is dropped. */
static void full_file(size_t shape, const char *backend)
{
    const char *path = test_path("full");
    int order = (int)(shape % 3);
    hd_table *t = table_open(d->shapes[shape], backend), *u;
    uint64_t n = fill(t, order), dropped;
    uint32_t bytes = test_info(t).value_bytes;
    must(hd_save(t, path));
    hd_close(t);
    for (size_t k = 0; k < d->shapes_n; k++) {
        u = table_open(d->shapes[k], backends[(shape + k) % BACKENDS]);
        if (test_info(u).value_bytes != bytes) {
            must_fail(hd_load(u, path, NULL), HD_EINVAL, "value_bytes");
        } else {
            dropped = 99;
            must(hd_load(u, path, &dropped));
            check(dropped == 0, "%llu were dropped", (ull)dropped);
            has_keys(u, order, n);
            test_put(u, key_in(order, n), n); /* and it goes on */
            must(hd_grow(u, 2 * test_info(u).buckets));
            has_keys(u, order, test_size(u));
        }
        hd_close(u);
    }
}

static void files_of_full_tables(void **unused)
{
    (void)unused;
    for_each_table(full_file);
}

/* ---- Files of a table's life ----------------------------------------------------------------- */

/* One thing more than the times before. */
static void live(hd_table *t, int stage)
{
    enum { N = 150 };
    uint64_t key[N], value[N * 3] = { 0 }, random = (uint64_t)stage, n = 0;
    hd_info info = test_info(t);
    for (uint64_t i = 0; i < N; i++)
        if (stage != 2 || i % 3 == 0) key[n++] = key_in(2, stage == 4 ? test_below(&random, 4 * N) : i);
    bool puts = stage == 1 || stage == 4;
    hd_batch b =
        test_batch(puts ? HD_OP_INSERT_OR_ASSIGN : HD_OP_ERASE, n, key, puts && info.value_bytes ? value : NULL, NULL);
    if (puts) must(hd_run_growing(t, &b, 0));
    if (stage == 2 || stage == 5) must(hd_run(t, &b));
    if (stage == 3) must(hd_grow(t, info.buckets * 2));
    if (stage == 6 && does(0, "shrink")) must(hd_shrink(t, info.base_buckets));
}
enum { STAGES = 7 };

static void same_shape(hd_table *t, hd_table *u)
{
    hd_info a = test_info(t), b = test_info(u);
    model_contents x, y;
    check(a.buckets == b.buckets && a.places == b.places && a.capacity == b.capacity &&
              a.base_buckets == b.base_buckets && a.slots == b.slots && a.seed == b.seed && a.now == b.now &&
              a.epoch == b.epoch,
          "%llu buckets, from %llu on, and when loaded %llu, from %llu on", (ull)a.buckets, (ull)a.base_buckets,
          (ull)b.buckets, (ull)b.base_buckets);
    check(b.memory_bytes <= a.memory_bytes, "%llu bytes, and %llu when loaded", (ull)a.memory_bytes,
          (ull)b.memory_bytes); /* a directory keeps its room when it becomes smaller */
    must(hd_check(t));
    must(hd_check(u));
    contents_take(&x, t);
    contents_take(&y, u);
    check(contents_equal(&x, &y, !d->roams), "%llu and %llu entries, or others", (ull)x.n, (ull)y.n);
    contents_give(&x);
    contents_give(&y);
}

/* Entries that roam make other bytes of the same header. */
static void saves_as(hd_table *t, const char *path)
{
    size_t n, m;
    must(hd_save(t, test_path("again")));
    uint8_t *a = test_read(path, &n), *b = test_read(test_path("again"), &m);
    check(n == m && memcmp(a, b, d->roams ? 256 : n) == 0, "%llu bytes, and %llu of a table that was loaded", (ull)n,
          (ull)m);
    free(a);
    free(b);
}

/* A table that was loaded has the shape of the file, and saves the same bytes, whatever the table went through. */
static void fixed_point(size_t shape, const char *backend)
{
    hd_case c = table_case(d->shapes[shape], backend, " ");
    hd_config config = hd_case_config(&c);
    hd_table *t, *u;
    config.seams = &files.memory.seams;
    must(hd_open(&config, &t));
    for (int stage = 0; stage < STAGES; stage++) {
        const char *path = test_path("first");
        test_case("%s on %s, stage %d", d->shapes[shape], backend, stage);
        live(t, stage);
        must(hd_save(t, path));
        for (int round = 0; round < 2; round++) {
            uint64_t dropped = 7;
            must(hd_open_snapshot(path, &config, &u));
            same_shape(t, u);
            must(hd_load(t, path, &dropped));
            check(dropped == 0, "%llu dropped", (ull)dropped);
            same_shape(t, u);
            saves_as(t, path);
            saves_as(u, path);
            hd_close(t);
            t = u;
        }
    }
    hd_close(t);
}

static void files_are_fixed_points(void **unused)
{
    (void)unused;
    for_each_table(fixed_point);
}

/* A file of a table with holes, a copy of it to be changed, and tables that load that. */
typedef struct victim {
    const char *shape, *path;
    hd_table *t;
    model_contents before, saved;
    uint8_t *good, *bad;
    size_t bytes, at[5];
    uint64_t refused;
} victim;

static void victim_table(victim *v)
{
    v->t = table_open(v->shape, "ref");
    for (uint64_t key = 0; key < 5; key++) test_put(v->t, key, key);
}

/* Whatever the file is now: it is refused, with little memory and without a change; or it is of a sound table with the
 * same entries, which is saved as that file. */
static void load_victim(victim *v, size_t bytes, bool good_sum)
{
    uint64_t live = files.memory.live_bytes, dropped;
    size_t again_bytes;
    hd_table *u = NULL;
    hd_config c = hd_config_default();
    c.seams = &files.memory.seams;
    files.memory.peak_bytes = live;
    files.bytes = v->bad, files.n = bytes;
    hd_status status = hd_load(v->t, v->path, &dropped);
    check(status == HD_ECORRUPT || (good_sum && (status == HD_EINVAL || status == HD_OK)), "hd_load: %s: %s",
          hd_status_name(status), hd_why());
    if (status) {
        model_contents now;
        if (v->refused % 32 == 0) {
            contents_take(&now, v->t);
            check(contents_equal(&v->before, &now, true), "a file that was refused changed the table");
            contents_give(&now);
        }
        check(files.memory.live_bytes == live && files.memory.peak_bytes - live <= 128 * v->bytes + 4096,
              "%llu bytes were taken", (ull)(files.memory.peak_bytes - live));
    } else {
        must(hd_check(v->t));
        check(!d->dictionary || test_size(v->t) == v->saved.n, "there are %llu entries", (ull)test_size(v->t));
        hd_close(v->t);
        victim_table(v);
    }
    v->refused += status != HD_OK;
    status = hd_open_snapshot(v->path, &c, &u);
    files.bytes = NULL;
    check(status == HD_ECORRUPT || (good_sum && status == HD_OK), "hd_open_snapshot: %s: %s", hd_status_name(status),
          hd_why());
    if (status) return;
    must(hd_check(u));
    must(hd_save(u, test_path("again")));
    hd_close(u);
    uint8_t *again = test_read(test_path("again"), &again_bytes);
    memcpy(again + d->unread, v->bad + d->unread, d->unread ? 4 : 0);
    check(again_bytes == bytes && memcmp(again, v->bad, 240) == 0 &&
              (d->roams || memcmp(again + 256, v->bad + 256, bytes - 256) == 0),
          "it is saved as another file");
    free(again);
}

/* Bit flips, lengths. */
static void damaged_files(victim *v)
{
    for (size_t i = 0; i < v->bytes; i++) {
        test_case("%s, %s: a bit of byte %llu of %llu", d->name, v->shape, (ull)i, (ull)v->bytes);
        v->bad[i] ^= (uint8_t)(1u << i % 8);
        load_victim(v, v->bytes, false);
        v->bad[i] ^= (uint8_t)(1u << i % 8);
        test_case("%s, %s: %llu bytes of %llu", d->name, v->shape, (ull)i, (ull)v->bytes);
        load_victim(v, i, false);
    }
}

/* Numbers of the header that make no sense beside the others, and an entry that cannot be. All sums are right. */
static void lying_files(victim *v)
{
    static const uint64_t numbers[] = { 0,          1,          2,          3,          5,          8,
                                        16,         33,         64,         255,        0x7fffffff, 0xffffffff,
                                        1ull << 32, 1ull << 58, 1ull << 61, 1ull << 63, UINT64_MAX };
    for (size_t at = 8; at < 240; at += 4)
        for (size_t k = 0; k < TABLES_COUNT(numbers); k++) {
            bool wide = at % 8 == 0 && (numbers[k] > UINT32_MAX || k % 2);
            /* a dictionary's file may say how entries are admitted */
            if ((d->dictionary && at == 84 && numbers[k] == 2) || (at % 8 && numbers[k] > UINT32_MAX)) continue;
            memcpy(v->bad + at, &numbers[k], wide ? 8 : 4);
            snapshot_sum(v->bad + 240, v->bad, 240);
            test_case("%s, %s: %llu at byte %llu of the header", d->name, v->shape, (ull)numbers[k], (ull)at);
            load_victim(v, v->bytes, true);
            memcpy(v->bad, v->good, 256);
        }
    for (uint64_t i = 0; i < v->saved.n; i++)
        for (int kind = 0; kind < 3; kind++) {
            uint8_t *key = v->bad + v->at[1] + 16 + 8 * i;
            const uint64_t no = UINT64_MAX - i % 3;
            if (kind == 0) memcpy(key, v->good + v->at[1] + 16 + 8 * (i ? i - 1 : 1), 8);
            if (kind == 1) memcpy(key, &no, 8);
            if (kind == 2) v->bad[v->at[0] + 16 + i / 8] ^= (uint8_t)(1u << i % 8);
            for (int k = 0; k < 2; k++)
                snapshot_sum(v->bad + v->at[k + 1] - 16, v->bad + v->at[k], v->at[k + 1] - 16 - v->at[k]);
            test_case("%s, %s: entry %llu is none, kind %d", d->name, v->shape, (ull)i, kind);
            uint64_t refused = v->refused;
            load_victim(v, v->bytes, true);
            check(v->refused == refused + 1, "it was loaded");
            memcpy(v->bad, v->good, v->bytes);
        }
}

static uint64_t hostile_files(void (*change)(victim *v))
{
    uint64_t refused = 0;
    for (size_t shape = 0; shape < d->shapes_n; shape++) {
        victim v = { .shape = d->shapes[shape], .path = test_path("hostile") };
        begin();
        hd_table *t = some_table(shape, "ref");
        must(hd_save(t, v.path));
        contents_take(&v.saved, t);
        hd_close(t);
        v.good = test_read(v.path, &v.bytes);
        v.bad = test_read(v.path, &v.bytes);
        snapshot_sections(v.good, v.bytes, v.at);
        victim_table(&v);
        contents_take(&v.before, v.t);
        change(&v);
        hd_close(v.t);
        contents_give(&v.before);
        contents_give(&v.saved);
        free(v.good);
        free(v.bad);
        refused += v.refused;
        end();
    }
    return refused;
}

static void damaged_files_are_refused(void **unused)
{
    (void)unused;
    test_tried("snapshots", hostile_files(damaged_files), "bits flipped and lengths cut to, of files");
}

static void lying_files_are_refused(void **unused)
{
    (void)unused;
    test_tried("snapshots", hostile_files(lying_files), "files that make no sense, with sums that do");
}

/* ---- Invariants ------------------------------------------------------------------------------ */

static void broken_tables_are_found(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < d->damages; k++) {
        const table_damage *x = &d->damage[k];
        hd_table *t = table_open(x->shape, "ref");
        d->lay(t);
        must(hd_check(t));
        test_case("%s, %s: %s", d->name, x->shape, x->name);
        x->how(t, x->n);
        must_fail(hd_check(t), HD_ECORRUPT, x->says);
        hd_close(t);
    }
}

int main(void)
{
    struct CMUnitTest tests[16] = { unit(shapes_are_refused),        unit(windows_are_of_slots),
                                    unit(damaged_files_are_refused), unit(lying_files_are_refused),
                                    unit(files_are_fixed_points),    unit(lives_are_judged),
                                    unit(views_are_exports) };
    static const struct CMUnitTest of_dictionary[] = { unit(keys_of_all_kinds), unit(pending_ends_by_growth),
                                                       unit(files_of_full_tables), unit(broken_tables_are_found) };
    size_t n = 7;
    test_add_designs();
    for (size_t i = 0; d->dictionary && i < TABLES_COUNT(of_dictionary); i++) tests[n++] = of_dictionary[i];
    begin();
    if (does(0, "near")) tests[n++] = (struct CMUnitTest)unit(limits_are_kept);
    end();
    return test_run_named("tests", tests, n);
}
