/* SPDX-License-Identifier: Apache-2.0
 *
 * t_hostile_api.c - unusual calls, by class: fields of one design given to another, snapshots with invalid headers,
 * targets of hd_run_growing that no table can reach. Each class has a table of cases.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/backend_host.h"
#include "lib/table.h"
#include "policies/policy.h"
#include "tests/far.h"
#include "tests/snapshots.h"

static uint64_t tried;

static void how_many(void)
{
    test_tried("misuse", tried, "hostile calls of the API, by class");
    assert_true(tried >= 50);
}

/* ---- Fields of one design, given to another --------------------------------------------------------------------- */

typedef struct foreign_field {
    const char *design, *field;
    size_t at, bytes;
    uint64_t number;  /* that is not the field's usual one */
    const char *text; /* of hash */
} foreign_field;

#define FIELD(member, name, number) name, offsetof(hd_config, member), sizeof((hd_config *)0)->member, number, NULL

static const foreign_field foreign[] = {
    { "hkv", FIELD(hive.hashes, "hashes", 1) },
    { "hkv", FIELD(hive.hashes, "hashes", 3) },
    { "hkv", FIELD(hive.hashes, "hashes", 9) },
    { "hkv", FIELD(hive.hashes, "hashes", UINT32_MAX) },
    { "hkv", FIELD(hive.spare, "spare", 1) },
    { "hkv", FIELD(hive.spare, "spare", HD_SPARE_USUAL - 1) },
    { "hkv", "hash", offsetof(hd_config, hive.hash), HD_HASH_NAMES_MOST, 0, "bithash1,bithash2" },
    { "hkv", "hash", offsetof(hd_config, hive.hash), HD_HASH_NAMES_MOST, 0, "crc32" },
    { "hkv", FIELD(layout, "layout", HD_LAYOUT_WORDS) },
    { "hkv", FIELD(layout, "layout", HD_LAYOUT_MASKS) },
    { "hive", FIELD(hkv.dual, "dual", true) },
    { "hive", FIELD(hkv.admit, "admit", HD_ADMIT_ALWAYS) },
    { "hive", FIELD(hkv.tiers, "tiers", HD_TIERS_POSITION) },
    { "hive", FIELD(hkv.device_value_bytes, "device_value_bytes", 1) },
    { "hive", FIELD(hkv.device_value_bytes, "device_value_bytes", UINT64_MAX) },
    { "hive", FIELD(hkv.fetch, "fetch", HD_FETCH_SORTED) },
    { "hive", FIELD(hkv.fetch, "fetch", HD_FETCH_DIRECT) },
    { "hive", FIELD(clock, "clock", HD_CLOCK_DEVICE) },
    { "hive", FIELD(hkv.pins, "pins", 1) },
    { "hive", FIELD(hkv.pins, "pins", 1025) },
    { "hive", FIELD(layout, "layout", HD_LAYOUT_PLANES) },
    { "hive", FIELD(layout, "layout", HD_LAYOUT_PAIRS) },
    { "hkv", FIELD(ovs.segment_bytes, "segment", 128) },
    { "hkv", FIELD(ovs.near_bytes, "near", 1 << 20) },
    { "hive", FIELD(ovs.near_bytes, "near", UINT64_MAX) },
    { "hive", FIELD(sl.segment_bytes, "segment", 1024) },
    { "ovs", FIELD(sl.segment_bytes, "segment", 256) },
    { "ovs", FIELD(sl.near_bytes, "near", 1 << 20) },
    { "ovs", FIELD(hkv.pins, "pins", 1) },
    { "ovs", FIELD(hkv.dual, "dual", true) },
    { "ovs", FIELD(hive.hashes, "hashes", 3) },
    { "ovs", FIELD(clock, "clock", HD_CLOCK_DEVICE) },
    { "ovs", FIELD(layout, "layout", HD_LAYOUT_MASKS) },
    { "ovs", FIELD(layout, "layout", HD_LAYOUT_SORTED) },
    { "sl", FIELD(ovs.segment_bytes, "segment", 256) },
    { "sl", FIELD(ovs.near_bytes, "near", 1 << 20) },
    { "sl", FIELD(hkv.device_value_bytes, "device_value_bytes", 1) },
    { "sl", FIELD(hkv.admit, "admit", HD_ADMIT_ALWAYS) },
    { "sl", "hash", offsetof(hd_config, hive.hash), HD_HASH_NAMES_MOST, 0, "crc32" },
    { "sl", FIELD(clock, "clock", HD_CLOCK_DEVICE) },
    { "sl", FIELD(layout, "layout", HD_LAYOUT_WORDS) },
};

static void foreign_fields(void)
{
    static const char *const backends[] = { "ref", "host" };
    for (size_t k = 0; k < sizeof foreign / sizeof *foreign * 2; k++, tried++) {
        const foreign_field *f = &foreign[k / 2];
        hd_config c = hd_config_of(f->design);
        hd_table *t = NULL;
        c.backend = backends[k % 2];
        c.capacity = 1024;
        must(hd_open(&c, &t)); /* as it is, it can be opened */
        hd_close(t);
        t = NULL;
        if (f->text)
            memcpy((char *)&c + f->at, f->text, strlen(f->text) + 1);
        else
            memcpy((char *)&c + f->at, &f->number, f->bytes); /* little-endian */
        test_case("%s on %s: %s=%llu%s", f->design, c.backend, f->field, (ull)f->number, f->text ? f->text : "");
        must_fail(hd_open(&c, &t), HD_EINVAL, f->field);
        check(t == NULL, "there is a table");
    }
}

/* ---- Snapshots ----------------------------------------------------------------------------------------------------
 */

static hd_table *some_table(const char *design)
{
    hd_config c = hd_config_of(design);
    hd_table *t;
    uint64_t key[100], value[100] = { 0 };
    c.backend = test_backend("ref");
    c.capacity = 1024;
    must(hd_open(&c, &t));
    for (uint64_t i = 0; i < 100; i++) key[i] = i * 7;
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = 100, .key = key, .value = value };
    must(hd_run(t, &b));
    return t;
}

enum { HEADER_BYTES = 256, HASHES_AT = 120 };

/* Sets a 32-bit number of a snapshot's header, and its sum with it. */
static void patch_header(const char *path, size_t at, uint32_t number)
{
    size_t n;
    uint8_t *p = test_read(path, &n);
    check(p && n > HEADER_BYTES, "there is no snapshot");
    memcpy(p + at, &number, sizeof number);
    snapshot_sum(p + HEADER_BYTES - 16, p, HEADER_BYTES - 16);
    test_write(path, p, n);
    free(p);
}

/* An earlier version accepted `hashes` for design hkv and wrote it to the header. Such files load. */
static void files_with_hashes(void)
{
    static const uint32_t hashes[] = { 1, 2, 9, UINT32_MAX };
    for (size_t k = 0; k < sizeof hashes / sizeof *hashes; k++, tried++) {
        hd_table *t = some_table("hkv"), *u = NULL;
        hd_info info;
        uint64_t dropped = 99;
        const char *path = test_path("with_hashes");
        test_case("hashes=%u in the header of a table of hkv", hashes[k]);
        must(hd_save(t, path));
        patch_header(path, HASHES_AT, hashes[k]);
        must(hd_open_snapshot(path, NULL, &u));
        must(hd_table_info(u, &info));
        check(info.hive.hashes == 0, "hashes is %u", info.hive.hashes);
        same_table(t, u);
        must(hd_clear(u));
        must(hd_load(u, path, &dropped));
        check(dropped == 0, "%llu were dropped", (ull)dropped);
        must(hd_save(u, path)); /* and what is saved then is a file like any other */
        hd_close(u);
        u = NULL;
        must(hd_open_snapshot(path, NULL, &u));
        same_table(t, u);
        hd_close(t);
        hd_close(u);
    }
}

/* A table whose numbers no reader would accept is not saved, and the file that was there stays. */
static void save_what_cannot_be_loaded(void)
{
    for (int k = 0; k < 6; k++, tried++) {
        hd_table *t = some_table(k < 3 ? "hkv" : "hive"), *u = NULL;
        hd_info info = t->info;
        const char *path = test_path("kept");
        must(hd_save(t, path));
        switch (k) {
        case 0: t->info.base_buckets = 3; break;
        case 1: t->info.stash_buckets = 1; break;
        case 2: t->info.base_buckets = t->info.buckets + 1; break;
        case 3: t->info.hive.hashes = 9; break;
        case 4: t->info.base_buckets = t->info.buckets + 1; break;
        default: memcpy(t->info.hive.hash, "crc32", 6); break;
        }
        test_case("header that no reader accepts: %d", k);
        unsigned files = test_files();
        must_fail(hd_save(t, path), HD_ECORRUPT, path);
        check(test_files() == files, "a file was left");
        t->info = info;
        must(hd_open_snapshot(path, NULL, &u)); /* the one from before */
        hd_close(u);
        hd_close(t);
    }
}

/* What the caller says beside the file may be another design's: he may not know which is in it. */
/* A file decides its design: the usual configuration says nothing, and one of another design is refused. */
static void snapshots_of_either_design(void)
{
    for (int k = 0; k < 2; k++, tried++) {
        const char *of = k ? "hive" : "hkv", *field = k ? "hashes" : "design";
        hd_table *t = some_table(of), *u = NULL;
        hd_config usual = hd_config_default(), c = usual;
        must(hd_save(t, test_path("either")));
        test_case("a file of %s", of);
        must(hd_open_snapshot(test_path("either"), &usual, &u));
        same_table(t, u);
        hd_close(u);
        if (k)
            c.hive.hashes = 3;
        else
            c = hd_config_of("hive");
        check(hd_open_snapshot(test_path("either"), &c, &u) == HD_EINVAL, "a configuration of another table");
        check(strncmp(hd_why(), field, strlen(field)) == 0, "%s", hd_why());
        hd_close(t);
    }
}

/* ---- hd_run_growing -------------------------------------------------------------------------- */

enum { MANY = 100000 };

static uint64_t many_key[MANY], many_value[MANY], many_out[MANY];
static uint8_t many_fate[MANY];
static void *many_ptr[MANY];

static hd_table *small_cache(bool dual, const hd_seams *seams)
{
    hd_table *t = test_table(.backend = "ref", .capacity = 1024, .hkv.dual = dual, .threads = 1, .seams = seams,
                             .value_bytes = 8);
    return t;
}

/* n items of `keys` different keys, each of value 1. */
static hd_batch many_items(hd_op op, uint64_t n, uint64_t keys)
{
    for (uint64_t i = 0; i < n; i++) many_key[i] = i % keys * 977, many_value[i] = 1;
    memset(many_fate, 0xee, sizeof many_fate);
    return (hd_batch){
        .op = op, .n = n, .key = many_key, .value = many_value, .elem = HD_U64, .outcome = many_fate, .ptr = many_ptr
    };
}

static uint64_t fates(hd_outcome o, uint64_t n)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++) sum += many_fate[i] == o;
    return sum;
}

/* A cache that may grow loses no entry, whatever the size of the batch. */
static void growth_before_eviction(void)
{
    static const struct {
        bool dual;
        double target;
        hd_op op;
        uint64_t keys;
    } cases[] = { { false, 0.5, HD_OP_INSERT_OR_ASSIGN, MANY },   { true, 0.9, HD_OP_INSERT_OR_ASSIGN, MANY },
                  { false, 0.25, HD_OP_ACCUM_OR_ASSIGN, MANY },   { true, 0.5, HD_OP_FIND_OR_INSERT, MANY },
                  { false, 0.5, HD_OP_FIND_OR_INSERT_PTR, MANY }, { false, 0.5, HD_OP_INSERT_AND_EVICT, MANY },
                  { false, 0.5, HD_OP_INSERT_OR_ASSIGN, 300 },    { false, 0.5, HD_OP_FIND_OR_INSERT_PTR, MANY / 3 } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++, tried++) {
        uint64_t size, count = 99;
        double load;
        hd_info info;
        hd_table *t = small_cache(cases[k].dual, NULL);
        hd_batch b = many_items(cases[k].op, MANY, cases[k].keys);
        if (cases[k].op == HD_OP_INSERT_AND_EVICT) b.list_key = many_out, b.count = &count;
        test_case("%s of %llu keys, target %g", hd_op_name(b.op), (ull)cases[k].keys, cases[k].target);
        must(hd_run_growing(t, &b, cases[k].target));
        check(fates(HD_EVICTED, MANY) + fates(HD_REFUSED, MANY) == 0, "%llu were evicted, %llu refused",
              (ull)fates(HD_EVICTED, MANY), (ull)fates(HD_REFUSED, MANY));
        must(hd_size_sync(t, &size));
        must(hd_load_factor_sync(t, &load));
        must(hd_table_info(t, &info));
        check(size == cases[k].keys, "%llu entries", (ull)size);
        check(load <= cases[k].target, "load factor %.3f", load);
        check(!b.count || count == 0, "%llu were listed", (ull)count);
        if (cases[k].keys < MANY / 3) check(info.capacity == 1024, "it grew to %llu", (ull)info.capacity);
        if (cases[k].op == HD_OP_FIND_OR_INSERT_PTR) { /* the pointers are good when the call returns */
            for (uint64_t i = 0; i < MANY; i++) memcpy(many_ptr[i], &many_key[i], sizeof many_key[i]);
            hd_batch find = many_items(HD_OP_FIND, MANY, cases[k].keys);
            find.value_out = many_out;
            must(hd_run(t, &find));
            for (uint64_t i = 0; i < MANY; i++)
                check(many_out[i] == many_key[i], "key %llu has %llu", (ull)many_key[i], (ull)many_out[i]);
        }
        must(hd_check(t));
        hd_close(t);
    }
}

/* A target that is none is refused before anything is done. */
static void targets(void)
{
    static const double bad[] = { 1e-300, 2.3e-308, 5e-324, 1e-12, 1e-9, 0.0009, -0.1, -1e-300, 1.0001, 1e300 };
    for (size_t k = 0; k < 2 * sizeof bad / sizeof *bad; k++, tried++) {
        hd_table *t = some_table(k % 2 ? "hive" : "hkv");
        uint64_t before, after;
        hd_batch b = many_items(HD_OP_INSERT_OR_ASSIGN, 500, 500);
        test_case("%s, target %g", k % 2 ? "hive" : "hkv", bad[k / 2]);
        must(hd_size_sync(t, &before));
        must_fail(hd_run_growing(t, &b, bad[k / 2]), HD_EINVAL, "target");
        must(hd_size_sync(t, &after));
        check(before == after && fates((hd_outcome)0xee, 500) == 500, "the table has changed, or an outcome");
        hd_close(t);
    }
}

static int sum_value(void *context, uint64_t key, uint64_t score, void *value)
{
    uint64_t v = 0;
    memcpy(&v, value, sizeof(uint32_t));
    (void)key, (void)score;
    *(uint64_t *)context += v;
    return 0;
}

/* When growth is refused, what has not run is PENDING, and everything else has. */
static uint64_t refused_halfway(const char *design, hd_op op, bool for_good)
{
    for (uint64_t k = 1;; k++, tried++) {
        enum { ITEMS = 3000, DIFFERENT = 2500 };
        static uint32_t one[ITEMS];
        counting memory;
        uint64_t sum = 0, n = 0;
        counting_init(&memory);
        hd_table *t = test_table(.design = design, .capacity = 256, .slots = 32, .value_bytes = 4, .threads = 1,
                                 .seams = &memory.seams);
        hd_batch b = many_items(op, ITEMS, DIFFERENT);
        for (int i = 0; i < ITEMS; i++) one[i] = 1;
        b.value = one;
        b.elem = HD_I32;
        test_case("%s, growing, allocation %llu refused%s", design, (ull)k, for_good ? ", and all later ones" : "");
        counting_refuse(&memory, k, for_good);
        hd_status s = hd_run_growing(t, &b, 0.4);
        bool reached = counting_refused(&memory);
        check(s == (reached ? HD_ENOMEM : HD_OK), "%s", hd_status_name(s));
        must(hd_check(t));
        must(hd_for_each(t, sum_value, &sum));
        for (uint64_t i = 0; i < ITEMS; i++) {
            check(many_fate[i] < HD_OUTCOME_COUNT, "item %llu has no outcome", (ull)i);
            if (many_fate[i] == HD_PENDING) many_key[n++] = many_key[i];
        }
        check(fates(HD_EVICTED, ITEMS) == 0, "%llu were evicted", (ull)fates(HD_EVICTED, ITEMS));
        check(sum == ITEMS - n && (s || n == 0), "%llu were added, and %llu are pending", (ull)sum, (ull)n);
        b.n = n;
        must(hd_run_growing(t, &b, 0.4));
        sum = 0;
        must(hd_for_each(t, sum_value, &sum));
        check(sum == ITEMS, "%llu were added", (ull)sum);
        hd_close(t);
        check(memory.live_bytes == 0, "%llu bytes are still held", (ull)memory.live_bytes);
        if (!reached) return k - 1;
    }
}

static void growth_is_refused(void)
{
    for (int k = 0; k < 4; k++)
        check(refused_halfway(k / 2 ? "hive" : "hkv", HD_OP_ACCUM_OR_ASSIGN, k % 2) > 5, "few allocations");
}

typedef struct worker {
    pthread_t thread;
    hd_table *t;
    int number;
} worker;

enum { WORKERS = 4, ROUNDS = 6, PER_ROUND = 1500, ALL_KEYS = 4000 };

/* Adds, while the others do, and changes the number of buckets or asks for it. */
static void *grow_and_add(void *self)
{
    const worker *w = (const worker *)self;
    uint64_t key[PER_ROUND], random = (uint64_t)w->number;
    uint32_t one[PER_ROUND];
    uint8_t fate[PER_ROUND];
    hd_info info;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < PER_ROUND; i++) key[i] = test_below(&random, ALL_KEYS), one[i] = 1;
        hd_batch b = { .op = HD_OP_ACCUM_OR_ASSIGN, .n = PER_ROUND, .key = key, .value = one, .elem = HD_I32 };
        b.outcome = w->number % 2 ? fate : NULL;
        if (hd_run_growing(w->t, &b, 0.4)) return (void *)"hd_run_growing";
        if (hd_table_info(w->t, &info)) return (void *)"hd_table_info";
        if (w->number == 0 && hd_reserve(w->t, info.capacity + info.capacity / 2)) return (void *)"hd_reserve";
        if (w->number == 1) hd_shrink(w->t, info.buckets * 3 / 4);         /* a cache does not */
        if (w->number == 2) hd_set_near(w->t, (uint64_t)round % 3 * 2048); /* ovs does */
    }
    return NULL;
}

static void growth_by_threads(void)
{
    static const char *const designs[] = { "hkv", "hive", "ovs" };
    for (int k = 0; k < 3; k++, tried++) {
        worker w[WORKERS];
        uint64_t sum = 0;
        hd_config c = hd_config_of(designs[k]);
        if (k == 2) c.ovs.segment_bytes = 512;
        hd_table *t;
        c.capacity = 256;
        c.slots = k ? 16 : 128;
        c.value_bytes = 4;
        c.threads = 1;
        must(hd_open(&c, &t));
        test_case("%d threads, %s", WORKERS, c.design);
        for (int i = 0; i < WORKERS; i++) {
            w[i].t = t, w[i].number = i;
            check(!pthread_create(&w[i].thread, NULL, grow_and_add, &w[i]), "no thread");
        }
        for (int i = 0; i < WORKERS; i++) {
            void *failed = NULL;
            pthread_join(w[i].thread, &failed);
            check(!failed, "thread %d: %s failed", i, (const char *)failed);
        }
        must(hd_check(t));
        must(hd_for_each(t, sum_value, &sum));
        /* a cache may evict: each thread takes the room that is left for its own */
        check(k ? sum == WORKERS * ROUNDS * PER_ROUND : sum > 0, "%llu were added", (ull)sum);
        hd_close(t);
    }
}

/* ---- Counters -------------------------------------------------------------------------------- */

/* Runs mixed batches and counts by hand. */
static void count_mixed(hd_table *t, far_device *f, uint64_t *ops)
{
    enum { SOME = 777 };
    static const hd_op some[] = { HD_OP_FIND,
                                  HD_OP_CONTAINS,
                                  HD_OP_ASSIGN,
                                  HD_OP_ASSIGN_VALUES,
                                  HD_OP_ACCUM_OR_ASSIGN,
                                  HD_OP_INSERT_OR_ASSIGN,
                                  HD_OP_FIND_OR_INSERT,
                                  HD_OP_ERASE };
    uint64_t key[SOME], random = 5;
    uint32_t value[SOME];
    uint8_t each[SOME];
    for (uint64_t n = 1; n <= SOME; n = n * 3 + 1) {
        for (uint64_t i = 0; i < n; i++) {
            key[i] = test_below(&random, 200);
            value[i] = (uint32_t)i;
            each[i] = (uint8_t)some[test_below(&random, 8)];
            ops[each[i]]++;
        }
        hd_batch b = { .n = n, .key = key, .value = value, .each = each, .elem = HD_I32 };
        if (f) {
            b.key = (uint64_t *)far_array(f, key, n * sizeof *key);
            b.value = far_array(f, value, n * sizeof *value);
            b.each = (uint8_t *)far_array(f, each, n);
        }
        must(hd_run(t, &b));
        must(hd_size_sync(t, &random));
        if (!f) continue;
        far_drop(f, (void *)(uintptr_t)b.key);
        far_drop(f, (void *)(uintptr_t)b.value);
        far_drop(f, (void *)(uintptr_t)b.each);
    }
}

/* Each item of a mixed batch counts under its operation, on every backend, with arrays of host or device. */
static void mixed_batches_are_counted(void)
{
    static const char *const backends[] = { "ref", "host", "cuda", "cuda" };
    for (int k = 0; k < 4; k++, tried++) {
        uint64_t ops[HD_OP_COUNT_] = { 0 }, sum = 0;
        hd_counters count;
        hd_table *t;
        far_device *f = k >= 2 ? far_open() : NULL;
        hd_config c =
            test_usual(.design = "hive", .backend = backends[k], .capacity = 512, .threads = 1, .value_bytes = 4);
        if (f) c.seams = far_seams(f);
        must(hd_open(&c, &t));
        test_case("mixed batches on %s, arrays %s", c.backend, k == 3 ? "there" : "here");
        count_mixed(t, k == 3 ? f : NULL, ops);
        for (int twice = 0; twice < 2; twice++) { /* told once, and known then */
            must(hd_counters_sync(t, &count));
            sum = 0;
            for (int o = 0; o < HD_OP_COUNT_; o++) {
                if (o == HD_OP_SIZE) continue;
                check(count.op[o] == ops[o], "%s: %llu instead of %llu", hd_op_name((hd_op)o), (ull)count.op[o],
                      (ull)ops[o]);
                sum += count.op[o];
            }
            check(sum == count.items, "%llu of %llu items", (ull)sum, (ull)count.items);
        }
        hd_close(t);
        if (f) far_close(f);
    }
}

/* ---- The row of every key in one call -------------------------------------------------------- */

/* find_or_insert with value_out == value: each row is what was found, or else what was given. By every kernel. */
static void rows_in_one_call(const char *design, const char *backend, const char *kernel, uint32_t slots)
{
    enum { SOME = 300, DIFFERENT = 120 };
    uint64_t key[SOME], random = slots;
    uint32_t row[SOME], given[SOME], stored[DIFFERENT];
    uint8_t fate[SOME];
    hd_table *t;
    far_device *f = strcmp(backend, "cuda") == 0 ? far_open() : NULL;
    hd_config c = test_usual(.design = design, .backend = backend, .capacity = 1024, .slots = slots, .value_bytes = 4,
                             .threads = 1);
    if (f) c.seams = far_seams(f);
    if (kernel && strcmp(kernel, "wabc") == 0) c.layout = HD_LAYOUT_MASKS;
    must(hd_open(&c, &t));
    test_case("%s on %s, kernel %s", design, backend, kernel ? kernel : "usual");
    for (int round = 0; round < 3; round++, tried++) {
        for (int i = 0; i < SOME; i++) {
            key[i] = test_below(&random, DIFFERENT * (uint64_t)(round + 1) / 3);
            row[i] = given[i] = (uint32_t)(round * SOME + i + 1);
        }
        hd_batch b = { .op = HD_OP_FIND_OR_INSERT, .n = SOME, .key = key, .value = row, .value_out = row };
        b.outcome = fate;
        b.kernel = kernel;
        must(hd_run(t, &b));
        for (int i = 0; i < SOME; i++)
            if (fate[i] == HD_INSERTED) stored[key[i]] = given[i];
        for (int i = 0; i < SOME; i++) {
            check(fate[i] == HD_INSERTED || fate[i] == HD_HIT, "%s", hd_outcome_name((hd_outcome)fate[i]));
            check(row[i] == stored[key[i]], "key %llu: %u instead of %u", (ull)key[i], row[i], stored[key[i]]);
        }
    }
    hd_close(t);
    if (f) far_close(f);
}

static void rows_of_all_keys(void)
{
    static const struct {
        const char *design, *kernel;
        uint32_t slots;
    } kernels[] = { { "hkv", "tlpv1", 128 }, { "hkv", "tlpv2", 128 },   { "hkv", "coalesced", 128 },
                    { "hive", "tile", 16 },  { "hive", "batched", 16 }, { "hive", "wabc", 32 } };
    rows_in_one_call("hkv", "ref", NULL, 128);
    rows_in_one_call("hive", "ref", NULL, 16);
    for (size_t k = 0; k < 2 * sizeof kernels / sizeof *kernels; k++)
        rows_in_one_call(kernels[k / 2].design, k % 2 ? "cuda" : "host", kernels[k / 2].kernel, kernels[k / 2].slots);
}

/* ---- What the library says of itself ----------------------------------------------------------- */

/* Programs were built with these numbers. */
static void statuses(void)
{
    static const struct {
        int number;
        const char *name;
    } known[] = { { 0, "HD_OK" },  { 1, "HD_EINVAL" },   { 2, "HD_ENOMEM" }, { 3, "HD_ECUDA" },
                  { 4, "HD_EIO" }, { 5, "HD_ECORRUPT" }, { 6, "HD_EKERNEL" } };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++, tried++)
        check(strcmp(hd_status_name((hd_status)known[k].number), known[k].name) == 0, "status %d is %s",
              known[k].number, hd_status_name((hd_status)known[k].number));
    check(HD_STATUS_COUNT == sizeof known / sizeof *known, "there are %d statuses", HD_STATUS_COUNT);
}

/* A kernel that the host machine stops is no failure of a device. */
static void kernel_is_stopped(void)
{
    for (int k = 0; k < 2; k++, tried++) {
        simt_config way = simt_config_default();
        hd_table *t;
        hd_info info;
        hd_config c =
            test_usual(.design = k ? "hive" : "hkv", .backend = "host", .capacity = 64, .slots = 16, .value_bytes = 4);
        must(hd_open(&c, &t));
        way.step_limit = 40;
        must(hd_host_configure(t, &way));
        hd_batch b = many_items(HD_OP_INSERT_OR_ASSIGN, 32, 32);
        test_case("%s: a batch that is stopped after 40 steps", c.design);
        must_fail(hd_run(t, &b), HD_EKERNEL, NULL);
        must(hd_table_info(t, &info));
        check(info.now == 32, "what may have run keeps its ticks; the clock is at %llu", (ull)info.now);
        hd_close(t);
    }
}

static void policies_are_listed_whole(void)
{
    static const struct {
        uint32_t flag;
        const char *word;
    } words[] = {
        { HD_MONOTONE, "MONOTONE" },    { HD_ORDER_FREE, "ORDER_FREE" },     { HD_SCORES_USED, "scores" },
        { HD_SCORES_NEEDED, "needed" }, { HD_SCORE_ADMITS, "SCORE_ADMITS" }, { HD_SCORE_IS_TIME, "SCORE_IS_TIME" },
        { HD_SPARES, "spares" },        { HD_READS_LEAST, "reads least" }
    };
    hd_row row;
    for (size_t i = 0; hd_list(HD_POLICIES, i, &row); i++)
        for (size_t k = 0; k < sizeof words / sizeof *words; k++, tried++) {
            bool has = hd_policy_rows[hd_policy_named(row.name)].flags & words[k].flag;
            check(has == (strstr(row.more, words[k].word) != NULL), "%s: %s: '%s'", row.name, words[k].word, row.more);
        }
}

/* They take the table's lock, and say so by their type. */
static void nothing_const_is_changed(void)
{
    check(_Generic(&hd_table_info, hd_status(*)(hd_table *, hd_info *) : true, default : false), "hd_table_info");
    check(_Generic(&hd_counters_sync, hd_status(*)(hd_table *, hd_counters *)
                   : true, default
                   : false),
          "hd_counters_sync");
    tried += 2;
}

static const struct CMUnitTest hostile_api[] = { unit(foreign_fields),
                                                 unit(files_with_hashes),
                                                 unit(save_what_cannot_be_loaded),
                                                 unit(snapshots_of_either_design),
                                                 unit(growth_before_eviction),
                                                 unit(targets),
                                                 unit(growth_is_refused),
                                                 unit(growth_by_threads),
                                                 unit(mixed_batches_are_counted),
                                                 unit(rows_of_all_keys),
                                                 unit(statuses),
                                                 unit(kernel_is_stopped),
                                                 unit(policies_are_listed_whole),
                                                 unit(nothing_const_is_changed),
                                                 unit(how_many) };

int main(void) { return test_run(hostile_api); }
