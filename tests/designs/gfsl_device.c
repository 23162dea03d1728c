/* SPDX-License-Identifier: Apache-2.0
 *
 * gfsl_device.c - the skip list, for tests/conform_device.h. Then batches beside the reference, PENDING and growth, and
 * each rule of hd_check broken alone.
 */
#include "gpu/gfsl/own.h"
#include "ref/gfsl/gfsl.h"
#include "tests/conform_device.h"
#include "workload/case.h"

/* Cases whose table is opened. */
static const char *const shapes[] = {
    "gfsl.mixed.chunk buckets=80 slots=6",
    "gfsl.mixed.chunk buckets=30 slots=14",
    "gfsl.mixed.chunk buckets=20 slots=30",
    "gfsl.mixed.chunk buckets=180 slots=6 level_pools=1 far=data unsorted=1",
    "gfsl.mixed.chunk buckets=40 slots=14 far=all keys_per_block=5 blocks=3",
    "gfsl.mixed.chunk buckets=180 slots=6 level_pools=1 keys_per_block=100",
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static const char *name(size_t i) { return shapes[i]; }

static hd_config config(size_t shape)
{
    hd_case c;
    must(hd_case_parse(shapes[shape], &c));
    hd_config f = c.table;
    f.design = "gfsl";
    f.policy = "none";
    f.capacity = c.buckets * c.slots;
    f.slots = c.slots;
    f.value_bytes = c.value_bytes;
    f.layout = c.layout;
    return f;
}

static gfsl_own *own_of(bench *b) { return (gfsl_own *)(void *)((hd_cuda *)b->far->state)->own; }

/* The same items for both, no key twice; the outcomes and values are the same. */
static void run_both(hd_table *a, hd_table *b, hd_op op, uint64_t n, uint64_t keys, uint64_t *random)
{
    enum { MOST = 64 };
    uint64_t key[MOST], first = test_random(random) % keys, list[2][MOST], count[2] = { 0, 0 };
    uint32_t value[MOST], out[2][MOST];
    uint8_t outcome[2][MOST];
    memset(out, 0, sizeof out);
    memset(list, 0, sizeof list);
    for (uint64_t i = 0; i < n; i++) {
        key[i] = (first + i * 7) % keys;
        value[i] = (uint32_t)test_random(random);
    }
    for (int k = 0; k < 2; k++) {
        hd_batch x = test_batch(op, n, key, value, outcome[k]);
        x.distinct = true;
        x.elem = HD_I32;
        if (hd_op_does(op, HD_GIVES_VALUE)) x.value_out = out[k];
        if (hd_op_does(op, HD_ORDERED)) x.key_out = list[k], x.value_out = out[k];
        if (op == HD_OP_FIND_MISSED) x.list_key = list[k], x.count = &count[k];
        must(hd_run(k ? b : a, &x));
    }
    check(memcmp(outcome[0], outcome[1], n) == 0, "%s: other outcomes", hd_op_name(op));
    check(memcmp(out[0], out[1], sizeof out[0]) == 0 && memcmp(list[0], list[1], sizeof list[0]) == 0 &&
              count[0] == count[1],
          "%s: other values, or misses", hd_op_name(op));
}

/* A range, the ends, and now and then erase_if. */
static void whole_both(hd_table *a, hd_table *b, uint64_t keys, uint64_t n)
{
    enum { LIMIT = 9 };
    uint64_t key = n * 5 % keys, last = key + n % 40, key_out[2][LIMIT + 2], count[2][3];
    uint32_t value[2][LIMIT + 2], rows[2];
    bool more[2];
    memset(key_out, 0, sizeof key_out);
    memset(value, 0, sizeof value);
    for (int k = 0; k < 2; k++) {
        hd_batch x = test_batch(HD_OP_RANGE, 1, &key, NULL, NULL);
        x.key2 = &last;
        x.limit = LIMIT;
        x.key_out = key_out[k];
        x.value_out = value[k];
        x.rows = &rows[k];
        x.more = &more[k];
        must(hd_run(k ? b : a, &x));
        for (int end = 0; end < 3; end++) {
            x = test_batch(end == 0 ? HD_OP_MIN : end == 1 ? HD_OP_MAX : HD_OP_ERASE_IF, 0, NULL, NULL, NULL);
            x.count = &count[k][end];
            if (end < 2) x.key_out = key_out[k] + LIMIT + end, x.value_out = value[k] + LIMIT + end;
            x.pred = end == 2 ? "key_masked" : NULL;
            x.pred_arg[0] = 7;
            x.pred_arg[1] = n % 8;
            if (end < 2 || n % 3 == 0) must(hd_run(k ? b : a, &x));
            if (end == 2 && n % 3) count[k][end] = 0;
        }
    }
    check(memcmp(key_out[0], key_out[1], sizeof key_out[0]) == 0 && memcmp(value[0], value[1], sizeof value[0]) == 0,
          "other entries");
    check(rows[0] == rows[1] && more[0] == more[1] && memcmp(count[0], count[1], sizeof count[0]) == 0,
          "other numbers of entries");
}

static void batches_are_the_references(void **unused)
{
    static const hd_op ops[] = {
        HD_OP_INSERT_OR_ASSIGN, HD_OP_FIND,          HD_OP_CONTAINS,        HD_OP_FIND_OR_INSERT,
        HD_OP_ACCUM_OR_ASSIGN,  HD_OP_ASSIGN_VALUES, HD_OP_ERASE,           HD_OP_FIND_MISSED,
        HD_OP_PREDECESSOR,      HD_OP_SUCCESSOR,     HD_OP_INSERT_OR_ASSIGN
    };
    ull ran = 0;
    (void)unused;
    for (size_t i = 0; i < SHAPES; i++) {
        bench b;
        uint64_t random = i, keys = 121; /* 7 does not divide it, and there is room for all */
        hd_table *here;
        hd_config c = config(i);
        c.backend = "ref";
        must(hd_open(&c, &here));
        device_open(&b, i);
        for (uint64_t n = 0; n < test_times(160); ran += 1 + n++ % 60) {
            test_case("%s, batch %llu", shapes[i], (ull)n);
            run_both(here, b.far, ops[n % (sizeof ops / sizeof *ops)], 1 + n % 60, keys, &random);
            if (n % 16 == 0) whole_both(here, b.far, keys, n / 16);
            if (n % 16 == 0) same_entries(here, b.far, false);
        }
        must(hd_run(here, &(hd_batch){ .op = HD_OP_CLEAR }));
        must(hd_run(b.far, &(hd_batch){ .op = HD_OP_CLEAR }));
        same_entries(here, b.far, false);
        hd_close(here);
        bench_close(&b);
    }
    test_tried("differential", ran, "items of gfsl on a fake device, beside the reference");
}

/* Ascending keys leave chunks half full. No chunk is free at last; then the table grows, and has room. */
static void pending_and_growth(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < SHAPES; i++) {
        bench b;
        uint64_t key = 0, size, kept = 0;
        uint8_t outcome = HD_INSERTED;
        test_case("%s", shapes[i]);
        device_open(&b, i);
        while (outcome == HD_INSERTED) {
            uint32_t value = (uint32_t)key;
            must(hd_upsert(b.far, 1, &key, &value, NULL, &outcome));
            key += outcome == HD_INSERTED;
        }
        check(outcome == HD_PENDING && 5 * key > b.far->info.capacity, "%s after %llu keys",
              hd_outcome_name((hd_outcome)outcome), (ull)key);
        must(hd_check(b.far));
        must(hd_grow(b.far, 2 * b.far->info.buckets));
        must(hd_check(b.far));
        must(hd_size_sync(b.far, &size));
        check(size == key, "%llu of %llu keys are left", (ull)size, (ull)key);
        must(hd_upsert(b.far, 1, &key, &(uint32_t){ 0 }, NULL, &outcome));
        check(outcome == HD_INSERTED, "it has grown, and there is no room");
        for (uint64_t k = 0; k <= key; k++) {
            uint32_t value;
            must(hd_find(b.far, 1, &k, &value, &outcome));
            kept += outcome == HD_HIT && value == (k < key ? (uint32_t)k : 0);
        }
        check(kept == key + 1, "%llu of %llu keys have their values", (ull)kept, (ull)key + 1);
        bench_close(&b);
    }
}

/* Word `to` becomes what word `from` is, with some bits, and more. Far chunks are in this machine's memory. */
static void change_word(bench *b, uint64_t *to, const uint64_t *from, uint64_t bits, uint64_t more)
{
    const gfsl_own *o = own_of(b);
    bool far = o->v.near == 0 && to != o->v.head && to != o->v.head + GFSL_USED;
    uint64_t is = ((far ? *from : bench_get(b, from, 8)) | bits) + more;
    if (far)
        *to = is;
    else
        bench_put(b, to, is, 8);
}

/* Words of the table that are not as they should be. */
static void damage_is_told(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < SHAPES; i++)
        for (int how = 0; how < 4; how++) {
            static const char *const says[] = { "GFSL-1", "GFSL-3", "GFSL-4", "GFSL-3" };
            bench b;
            test_case("%s, %d", shapes[i], how);
            device_open(&b, i);
            fill_dictionary(b.far, b.far->info.capacity / 3, 3);
            must(hd_check(b.far));
            gfsl_view v = own_of(&b)->v;
            uint64_t *first = gfsl_at(&v, 0), *seal = first + v.slots + 1, *used = v.head + GFSL_USED;
            if (how == 0) change_word(&b, first + 1, first, 0, 0); /* a key twice */
            if (how == 1) change_word(&b, seal, seal, GFSL_LOCKED, 0);
            if (how == 2) change_word(&b, v.head, v.head, 0, 1);
            if (how == 3) change_word(&b, used, used, 0, 1);
            must_fail(hd_check(b.far), HD_ECORRUPT, says[how]);
            bench_close(&b);
        }
}

static const struct CMUnitTest tests[] = { unit(batches_are_the_references), unit(pending_and_growth),
                                           unit(damage_is_told) };

const device_design device_this = { .shapes = SHAPES,
                                    .name = name,
                                    .config = config,
                                    .part = 640,
                                    .roams = true,
                                    .stride = 8,
                                    .full = 3,
                                    .tests = tests,
                                    .tests_n = sizeof tests / sizeof *tests };
