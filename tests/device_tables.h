/* SPDX-License-Identifier: Apache-2.0
 *
 * device_tables.h - tables on a fake device and elsewhere, HKV tables of several shapes among them.
 */
#ifndef DEVICE_TABLES_H
#define DEVICE_TABLES_H

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "lib/staging.h"
#include "lib/table.h"
#include "tests/fake_device.h"
#include "tests/model.h"

typedef struct shape {
    const char *name;
    bool dual, pins;
    hd_layout layout;
    hd_tiers tiers;
    uint32_t value_bytes;
    uint64_t near; /* hd_hkv_config.device_value_bytes, in values */
} shape;

static inline hd_config shape_config(const shape *s, uint64_t buckets, uint32_t slots)
{
    hd_config c = test_usual(.slots = slots, .capacity = buckets * slots, .value_bytes = s->value_bytes,
                             .layout = s->layout, .policy = "custom", .hkv.dual = s->dual, .hkv.tiers = s->tiers,
                             .hkv.device_value_bytes = s->near * s->value_bytes, .hkv.pins = s->pins);
    return c;
}

typedef struct bench {
    fake_device fake;
    counting memory;
    hd_table *far;
} bench;

/* A fake device and counted memory, for a table to come. */
static inline void bench_begin(bench *b)
{
    fake_init(&b->fake);
    counting_init(&b->memory);
    b->memory.seams.device = &b->fake.seam;
}

static inline void bench_open_table(bench *b, hd_config c)
{
    c.backend = "cuda";
    c.seams = &b->memory.seams;
    must(hd_open(&c, &b->far));
}

/* page: what memory that can grow comes in; 0: it cannot. */
static inline void bench_open_config(bench *b, hd_config c, uint64_t page)
{
    bench_begin(b);
    b->fake.page = page;
    bench_open_table(b, c);
}

static inline void bench_close(bench *b)
{
    hd_close(b->far);
    fake_settled(&b->fake);
    check(b->memory.live_bytes == 0, "%llu bytes were not given back", (ull)b->memory.live_bytes);
}

/* Both are whole, and have the same entries; slots: in the same slots. */
static inline void same_entries(hd_table *a, hd_table *b, bool slots)
{
    model_contents x, y;
    must(hd_check(a));
    must(hd_check(b));
    contents_take(&x, a);
    contents_take(&y, b);
    check(contents_equal(&x, &y, slots), "%llu and %llu entries, or others", (ull)x.n, (ull)y.n);
    contents_give(&x);
    contents_give(&y);
}

static inline void same_tables(hd_table *a, hd_table *b) { same_entries(a, b, true); }

/* A path in the test's folder, valid until the fourth call after this one. */
static inline const char *file_named(const char *name)
{
    static char path[4][512];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", test_folder(), name);
    return path[turn];
}

/* Up to 8 bytes of the device's memory. */
static inline void bench_put(bench *b, void *at, uint64_t word, size_t bytes)
{
    b->fake.seam.copy(&b->fake, at, &word, bytes, HD_TO_DEVICE, NULL);
    b->fake.seam.wait(&b->fake, NULL);
}

/* Bytes of the device's memory. */
static inline void bench_read(bench *b, void *to, const void *at, size_t bytes)
{
    if (!bytes) return;
    must(b->fake.seam.copy(&b->fake, to, at, bytes, HD_FROM_DEVICE, NULL) ? HD_ECUDA : HD_OK);
    must(b->fake.seam.wait(&b->fake, NULL) ? HD_ECUDA : HD_OK);
}

static inline uint64_t bench_get(bench *b, const void *at, size_t bytes)
{
    uint64_t word = 0;
    bench_read(b, &word, at, bytes);
    return word;
}

/* ---- Calls of the whole table ----------------------------------------------------------------- */

typedef struct visits {
    uint64_t n, most, last;
    uint32_t value_bytes;
} visits;

/* A visitor that changes every value, and ends the walk after `most` entries; 0: never. */
static inline int change(void *context, uint64_t key, uint64_t score, void *value)
{
    visits *v = (visits *)context;
    (void)score;
    v->last = key;
    value_make((uint8_t *)value, v->value_bytes, key, 77);
    return ++v->n == v->most;
}

/* Inserts n keys of a dictionary, some twice, in parts, so that a stash fills, too; and erases an eighth of each part.
 */
static inline void fill_dictionary(hd_table *t, uint64_t n, uint64_t seed)
{
    enum { BATCH = 64, VALUE_MOST = 8 };
    uint64_t key[BATCH], random = seed;
    uint8_t value[BATCH * VALUE_MOST];
    hd_info info;
    must(hd_table_info(t, &info));
    for (uint64_t done = 0; done < n; done += BATCH) {
        uint64_t some = n - done < BATCH ? n - done : BATCH;
        for (uint64_t i = 0; i < some; i++) {
            key[i] = test_random(&random) % info.keys;
            value_make(value + i * info.value_bytes, info.value_bytes, key[i], i);
        }
        hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, some, key, value, NULL);
        must(hd_run(t, &b));
        b.op = HD_OP_ERASE;
        b.n = some / 8;
        must(hd_run(t, &b));
    }
}

/* What the reference says of a copy of the table. */
static inline void by_reference(hd_table *t, char *why, size_t bytes)
{
    must(hd_stage(t->backend, t->state, false));
    hd_status status = (t->backend->check)(t->state);
    snprintf(why, bytes, "%s", status ? hd_why() : "");
    must(hd_settle(t->backend, t->state, false));
}

/* hd_check says of the table, which `what` tells, what the reference says of a copy; `why`: "" that it is whole. */
static inline void check_as_reference(hd_table *t, const char *what, char *why, size_t bytes)
{
    by_reference(t, why, bytes);
    test_case("%s: %s", what, why);
    hd_status status = hd_check(t);
    check(status == (why[0] ? HD_ECORRUPT : HD_OK), "%s", hd_status_name(status));
    check(!why[0] || strcmp(why, hd_why()) == 0, "the kernel says: %s", hd_why());
}

/* The most host memory that a call has, beside what the table had before. */
typedef struct memory_mark {
    uint64_t taken, pinned;
} memory_mark;

static inline memory_mark begin_call(bench *b)
{
    b->memory.peak_bytes = b->memory.live_bytes;
    b->fake.far_peak = b->fake.far_bytes;
    return (memory_mark){ b->memory.live_bytes, b->fake.far_bytes };
}

/* Bytes of host memory, pinned ones included. */
static inline uint64_t end_call(const bench *b, memory_mark m)
{
    return b->memory.peak_bytes - m.taken + b->fake.far_peak - m.pinned;
}

/* Calls of the whole table. call_of_all runs one; path: the file of hd_save and hd_load; buckets: those of hd_grow. */
enum { CALL_CHECK, CALL_WALK, CALL_SAVE, CALL_LOAD, CALL_LOAD_ANOTHER, CALL_GROW, CALLS_OF_ALL };
static const char *const call_name[CALLS_OF_ALL] = {
    "hd_check", "hd_for_each", "hd_save", "hd_load", "hd_load of another shape", "hd_grow"
};

/* Saves a table of another seed with the entries of the device's. */
static inline void save_another(bench *b, const char *path)
{
    const hd_info *info = &b->far->info;
    hd_table *another = test_table(.design = info->design, .policy = info->policy, .capacity = 2 * info->capacity,
                                   .slots = info->slots, .value_bytes = info->value_bytes, .seed = info->seed + 1);
    must(hd_save(b->far, path));
    must(hd_load(another, path, NULL));
    must(hd_save(another, path));
    hd_close(another);
}

static inline hd_status call_of_all(bench *b, int k, const char *path, uint64_t buckets)
{
    visits v = { 0, 0, 0, b->far->info.value_bytes };
    if (k == CALL_CHECK) return hd_check(b->far);
    if (k == CALL_WALK) return hd_for_each(b->far, change, &v);
    if (k == CALL_SAVE) return hd_save(b->far, path);
    return k == CALL_GROW ? hd_grow(b->far, buckets) : hd_load(b->far, path, NULL);
}

/* The host memory of each of them. The last one doubles the table. */
static inline void measure_calls(bench *b, uint64_t buckets, uint64_t *bytes)
{
    const char *path = file_named("measured");
    for (int k = 0; k < CALLS_OF_ALL; k++) {
        if (k == CALL_LOAD_ANOTHER) save_another(b, path);
        memory_mark m = begin_call(b);
        must(call_of_all(b, k, path, 2 * buckets));
        bytes[k] = end_call(b, m);
    }
}

/* With twice the table no call has more, but for `more` bytes, or `in_files` where it reads or writes a file; and none
 * has more than `most`. */
static inline void memory_is_bounded(const uint64_t *once, const uint64_t *twice, uint64_t more, uint64_t in_files,
                                     uint64_t most)
{
    for (int k = 0; k < CALLS_OF_ALL; k++) {
        bool file = k == CALL_SAVE || k == CALL_LOAD || k == CALL_LOAD_ANOTHER;
        test_case("%s: %llu bytes of host memory, and %llu for twice the table", call_name[k], (ull)once[k],
                  (ull)twice[k]);
        check(twice[k] <= once[k] + (file ? in_files : more), "it depends on the table");
        /* batches of host arrays fill the new table, which takes pinned memory for them */
        uint64_t staging = k == CALL_LOAD_ANOTHER ? hd_staging_bytes(&hd_staging_usual) : 0;
        check(twice[k] <= most + staging, "that is much");
    }
}

/* ---- Readers beside hd_save ------------------------------------------------------------------- */

static struct {
    hd_table *t;
    uint64_t key[8];
    uint64_t hits, batches;
    bool done;
} reader;

static inline void *read_some(void *unused)
{
    uint8_t outcome[8];
    hd_batch b = test_batch(HD_OP_CONTAINS, 8, reader.key, NULL, outcome);
    must(hd_run(reader.t, &b));
    for (int i = 0; i < 8; i++) reader.hits += outcome[i] == HD_HIT;
    reader.batches++;
    return unused;
}

static const hd_file_seam *real_file;

/* Another thread reads in the middle of the call. It would wait for ever if the table were not to be read. */
static inline ptrdiff_t write_and_read(void *self, int fd, const void *p, size_t bytes)
{
    pthread_t thread;
    if (!reader.done) {
        check(pthread_create(&thread, NULL, read_some, NULL) == 0, "no thread");
        pthread_join(thread, NULL);
    }
    return real_file->write(self, fd, p, bytes);
}

/* A table whose hd_save lets another thread read before each write. */
static inline void open_with_reader(bench *b, hd_config c)
{
    bench_begin(b);
    real_file = &hd_seams_os.file;
    b->memory.seams.file.write = write_and_read;
    bench_open_table(b, c);
}

/* Saves the table, and every lookup meanwhile finds its keys. */
static inline void check_readers_go_on(bench *b)
{
    model_contents all;
    contents_take(&all, b->far);
    memset(&reader, 0, sizeof reader);
    reader.t = b->far;
    for (int i = 0; i < 8; i++) reader.key[i] = all.key[i];
    contents_give(&all);
    must(hd_save(b->far, file_named("read")));
    reader.done = true;
    check(reader.batches > 0 && reader.hits == 8 * reader.batches, "%llu hits of %llu batches", (ull)reader.hits,
          (ull)reader.batches);
}

#endif
