/* SPDX-License-Identifier: Apache-2.0
 *
 * t_threads.c - several host threads on one table, with every lock that allows it: entries are conserved and counters
 * exact. And one batch on a team of threads: the results are the same as on one.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/hashes/hash.h"
#include "judge/rules.h"
#include "tests/testing.h"

/* ---- Host threads on one table --------------------------------------------------------------- */

enum { WORKERS = 4, ROUNDS = 300, BATCH = 64, HOT = 50, COLD = 3000 };

/* A value says whose it is and repeats it, so that a torn copy shows. */
typedef struct sealed {
    uint64_t key, stamp, seal;
} sealed;

static sealed seal(uint64_t key, uint64_t stamp) { return (sealed){ key, stamp, key * 0x9e3779b97f4a7c15u ^ stamp }; }
static bool intact(const sealed *v, uint64_t key)
{
    return v->key == key && v->seal == (v->key * 0x9e3779b97f4a7c15u ^ v->stamp);
}

typedef struct worker {
    hd_table *table;
    uint64_t number, items, outcome[HD_OUTCOME_COUNT];
    uint64_t gone; /* entries on insert_and_evict's lists with outcome EVICTED */
    char wrong[160];
} worker;

static void tally(worker *w, const hd_batch *b)
{
    w->items += b->n;
    for (uint64_t i = 0; i < b->n; i++) w->outcome[b->outcome[i]]++;
}

static void complain(worker *w, const char *what, uint64_t key)
{
    if (!w->wrong[0])
        snprintf(w->wrong, sizeof w->wrong, "worker %d: %s, key %llu: %.100s", (int)w->number, what, (ull)key,
                 hd_why());
}

/* Readers, updaters, inserters and table-wide operations in turn, on keys that all workers share. */
static void *work(void *context)
{
    static const hd_op ops[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_FIND,          HD_OP_INSERT_AND_EVICT, HD_OP_TOUCH,
                                 HD_OP_FIND_OR_INSERT,   HD_OP_ASSIGN_SCORES, HD_OP_FIND_MISSED,      HD_OP_ERASE,
                                 HD_OP_CONTAINS,         HD_OP_ASSIGN,        HD_OP_ACCUM_OR_ASSIGN };
    worker *w = (worker *)context;
    uint64_t r = w->number + 1, key[BATCH], score[BATCH], list_key[BATCH], list_item[BATCH], count, size;
    sealed value[BATCH], value_out[BATCH], list_value[BATCH];
    uint8_t outcome[BATCH], flag[BATCH];
    hd_info info;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < BATCH; i++) {
            key[i] = test_below(&r, test_below(&r, 2) ? HOT : COLD);
            value[i] = seal(key[i], test_random(&r));
            flag[i] = HD_ASSIGN_NEW; /* a sum would break the seal */
            score[i] = test_below(&r, 100);
        }
        hd_batch b = test_batch(ops[test_below(&r, sizeof ops / sizeof *ops)], BATCH, key, value, outcome);
        b.elem = HD_U64, b.score = score, b.flag = flag, b.value_out = value_out;
        test_lists(&b, list_key, list_value, NULL, list_item, &count);
        if (hd_run(w->table, &b)) complain(w, "hd_run", 0);
        tally(w, &b);
        for (uint64_t i = 0; i < BATCH && judge_ops[b.op].value_out; i++)
            if (judge_delivers(b.op, (hd_outcome)outcome[i]) && !intact(&value_out[i], key[i]))
                complain(w, "a torn or foreign value", key[i]);
        for (uint64_t i = 0; b.op == HD_OP_INSERT_AND_EVICT && i < count; i++)
            if (!intact(&list_value[i], list_key[i])) complain(w, "a torn or foreign value in the list", list_key[i]);
        if (round % 16 == 0 &&
            (hd_size_sync(w->table, &size) || hd_table_info(w->table, &info) || size > info.capacity))
            complain(w, "size", 0);
        if (round % 64 == (int)w->number && hd_check(w->table)) complain(w, "hd_check", 0);
    }
    return NULL;
}

static void share_a_table(const char *lock, const char *policy, bool dual)
{
    worker w[WORKERS];
    pthread_t thread[WORKERS];
    test_case("lock %s, policy %s, %s", lock, policy, dual ? "dual" : "single");
    hd_table *t = test_table(.lock = lock, .policy = policy, .hkv.dual = dual, .capacity = 512, .slots = 32,
                             .value_bytes = sizeof(sealed), .threads = 1);
    for (int k = 0; k < WORKERS; k++) {
        w[k] = (worker){ .table = t, .number = (uint64_t)k };
        check(pthread_create(&thread[k], NULL, work, &w[k]) == 0, "no thread");
    }
    hd_counters counters, sum = { 0 };
    for (int k = 0; k < WORKERS; k++) {
        pthread_join(thread[k], NULL);
        sum.items += w[k].items;
        for (int o = 0; o < HD_OUTCOME_COUNT; o++) sum.outcome[o] += w[k].outcome[o];
    }
    for (int k = 0; k < WORKERS; k++) check(!w[k].wrong[0], "%s", w[k].wrong);
    must(hd_counters_sync(t, &counters));
    check(counters.items == sum.items, "%llu items counted, %llu run", (ull)counters.items, (ull)sum.items);
    for (int o = 0; o < HD_OUTCOME_COUNT; o++)
        check(counters.outcome[o] == sum.outcome[o], "%s: %llu counted, %llu seen", hd_outcome_name((hd_outcome)o),
              (ull)counters.outcome[o], (ull)sum.outcome[o]);
    uint64_t size;
    hd_info info;
    must(hd_size_sync(t, &size));
    must(hd_table_info(t, &info));
    must(hd_check(t));
    check(info.now == sum.items, "the clock is at %llu after %llu items", (ull)info.now, (ull)sum.items);
    check(size == sum.outcome[HD_INSERTED] - sum.outcome[HD_ERASED], "%llu entries, but %llu inserted and %llu erased",
          (ull)size, (ull)sum.outcome[HD_INSERTED], (ull)sum.outcome[HD_ERASED]);
    hd_close(t);
}

static void host_threads(void)
{
    hd_row row;
    for (size_t i = 0; hd_list(HD_LOCKS, i, &row); i++) {
        if (strcmp(row.name, "none") == 0) continue; /* the caller promises that no other batch runs */
        share_a_table(row.name, "lru", false);
        share_a_table(row.name, "lfu", true);
        share_a_table(row.name, "custom", false);
    }
}

/* Sums from several threads: every addition counts, and none twice. */
static void *add_ones(void *context)
{
    worker *w = (worker *)context;
    uint64_t key[BATCH], one[BATCH];
    for (int round = 0; round < ROUNDS; round++) {
        for (uint64_t i = 0; i < BATCH; i++) key[i] = i * 7 % 40, one[i] = 1;
        if (hd_run(w->table,
                   &(hd_batch){ .op = HD_OP_ACCUM_OR_ASSIGN, .elem = HD_U64, .n = BATCH, .key = key, .value = one }))
            complain(w, "accum", 0);
    }
    return NULL;
}

static int add_up(void *context, uint64_t key, uint64_t score, void *value)
{
    uint64_t v;
    (void)key, (void)score;
    memcpy(&v, value, 8);
    *(uint64_t *)context += v;
    return 0;
}

static void run_workers(hd_table *t, void *(*work)(void *))
{
    worker w[WORKERS];
    pthread_t thread[WORKERS];
    for (int k = 0; k < WORKERS; k++) {
        w[k] = (worker){ .table = t, .number = (uint64_t)k };
        check(pthread_create(&thread[k], NULL, work, &w[k]) == 0, "no thread");
    }
    for (int k = 0; k < WORKERS; k++) pthread_join(thread[k], NULL);
    for (int k = 0; k < WORKERS; k++) check(!w[k].wrong[0], "%s", w[k].wrong);
}

static void sums_are_exact(void)
{
    hd_config c = hd_config_default();
    hd_table *t;
    uint64_t sum = 0;
    c.capacity = 4096;
    must(hd_open(&c, &t));
    run_workers(t, add_ones);
    must(hd_for_each(t, add_up, &sum));
    check(sum == (uint64_t)WORKERS * ROUNDS * BATCH, "the sum is %llu", (ull)sum);
    hd_close(t);
}

/* hd_why() is each thread's own. */
static void *fail_often(void *context)
{
    worker *w = (worker *)context;
    static const char *const field[WORKERS] = { "key", "holder", "pred", "count" };
    static const hd_op ops[WORKERS] = { HD_OP_FIND, HD_OP_LOCK_KEYS, HD_OP_ERASE_IF, HD_OP_SIZE };
    uint64_t key = 1;
    for (int round = 0; round < 20000; round++) {
        hd_batch b = { .op = ops[w->number], .n = 1, .key = w->number ? &key : NULL };
        if (hd_run(w->table, &b) != HD_EINVAL || !strstr(hd_why(), field[w->number]))
            complain(w, "another thread's reason", 0);
    }
    return NULL;
}

static void reasons_are_private(void)
{
    hd_config c = hd_config_default();
    hd_table *t;
    c.capacity = 256;
    must(hd_open(&c, &t));
    run_workers(t, fail_often);
    hd_close(t);
}

/* ---- One batch on several threads ------------------------------------------------------------ */

/* ITEMS are well above the reference's threshold, and several of its blocks */
enum { ITEMS = 6000, CAPACITY_MOST = 1 << 15, VALUE_BYTES = 16, HOT_KEYS = 40 };

typedef struct shape {
    const char *what;
    uint32_t slots;
    uint64_t capacity; /* a multiple of slots */
    hd_layout layout;
    uint64_t near_bytes;
    int policies; /* of the list below, the first so many */
} shape;

static const shape shapes[] = {
    { "few buckets without bounds", 60, 3000, HD_LAYOUT_USUAL, 0, 3 },
    { "few buckets with bounds", 128, 3072, HD_LAYOUT_PAIRS, 0, 2 },
    { "many buckets: threads take turns in dual mode", 8, 24576, HD_LAYOUT_PAIRS, 0, 3 },
    { "many buckets without bounds, values in two tiers", 7, 7 * 3000, HD_LAYOUT_PLANES, 100000, 1 },
    { "too large for a cache: items look ahead", 128, CAPACITY_MOST, HD_LAYOUT_PAIRS, 0, 2 },
    { "the same without bounds", 128, CAPACITY_MOST, HD_LAYOUT_PLANES, 0, 1 },
};

/* All that a run shows: every output array, every byte. */
typedef struct shown {
    uint8_t outcome[ITEMS];
    uint64_t value_out[ITEMS][2], score_out[ITEMS], list_key[ITEMS], list_value[ITEMS][2], list_score[ITEMS],
        list_item[ITEMS], count;
    uint64_t ptr_value[ITEMS]; /* what the pointers show: addresses may differ */
    uint64_t export_key[CAPACITY_MOST], export_value[CAPACITY_MOST][2], export_score[CAPACITY_MOST],
        export_slot[CAPACITY_MOST], export_count;
} shown;

/* Keys that come and go, a few that come again and again, and reserved ones. */
static uint64_t key_of(uint64_t *r, uint64_t capacity)
{
    if (test_below(r, 30) == 0) return HD_KEY_EMPTY;
    return test_below(r, 4) ? test_below(r, 2 * capacity) : test_below(r, HOT_KEYS);
}

/* The batches of one run: the table is filled, entries are pinned, some are unpinned, then comes the operation. */
static void run_step(hd_table *t, const shape *how, hd_op op, uint64_t number, uint64_t *r, shown *s, void **ptr)
{
    static uint64_t key[ITEMS], score[ITEMS], value[ITEMS][2];
    static uint8_t flag[ITEMS];
    for (int i = 0; i < ITEMS; i++) {
        key[i] = key_of(r, how->capacity);
        score[i] = test_below(r, 20);
        value[i][0] = test_random(r), value[i][1] = test_random(r);
        flag[i] = (uint8_t)test_below(r, 3);
    }
    hd_batch b = test_batch(op, ITEMS, key, value, s->outcome);
    b.elem = HD_U64, b.score = score, b.flag = flag, b.value_out = s->value_out, b.score_out = s->score_out;
    b.holder = 1 + number % 2, b.ptr = ptr, b.pred = "score_in", b.pred_arg[1] = 9;
    test_lists(&b, s->list_key, s->list_value, s->list_score, s->list_item, &s->count);
    if (op == HD_OP_EXPORT || op == HD_OP_EXPORT_IF) b.start = 11, b.n = how->capacity - 20;
    if (op == HD_OP_EXPORT || op == HD_OP_EXPORT_IF) b.n = b.n < ITEMS ? b.n : ITEMS;
    if (op == HD_OP_PROMOTE) b.n = how->capacity;
    must(hd_run(t, &b));
}

static void run_with(shown *s, const shape *how, hd_op op, const char *policy, bool dual, uint32_t threads)
{
    static void *ptr[ITEMS];
    uint64_t r = 77;
    hd_table *t = test_table(.policy = policy, .capacity = how->capacity, .slots = how->slots,
                             .value_bytes = VALUE_BYTES, .layout = how->layout, .threads = threads, .hkv.dual = dual,
                             .hkv.device_value_bytes = how->near_bytes);
    uint64_t fills = 2 * how->capacity / ITEMS + 1, pins = fills + 2, unpins = pins + 1;
    for (uint64_t step = 0; step <= unpins; step++) {
        hd_op now = step < fills    ? HD_OP_INSERT_OR_ASSIGN
                    : step < pins   ? HD_OP_LOCK_KEYS
                    : step < unpins ? HD_OP_UNLOCK_KEYS
                                    : op;
        memset(ptr, 0, sizeof ptr);
        memset(s, 0x3c, sizeof *s);
        memset(s->ptr_value, 0, sizeof s->ptr_value);
        run_step(t, how, now, step, &r, s, ptr);
    }
    for (int i = 0; i < ITEMS; i++)
        if (ptr[i]) memcpy(&s->ptr_value[i], ptr[i], 8);
    hd_batch e = { .op = HD_OP_EXPORT,
                   .n = how->capacity,
                   .list_key = s->export_key,
                   .list_value = s->export_value,
                   .list_score = s->export_score,
                   .list_item = s->export_slot,
                   .count = &s->export_count };
    must(hd_run(t, &e));
    must(hd_check(t));
    hd_close(t);
}

static void compare(const shown *one, const shown *many)
{
    check(memcmp(one->outcome, many->outcome, sizeof one->outcome) == 0, "outcomes differ");
    check(one->count == many->count && memcmp(one->list_item, many->list_item, sizeof one->list_item) == 0,
          "lists differ");
    check(one->export_count == many->export_count &&
              memcmp(one->export_key, many->export_key, sizeof one->export_key) == 0,
          "keys or slots differ");
    check(memcmp(one, many, sizeof *one) == 0, "outputs or contents differ");
}

static void teams_do_not_show(void)
{
    static const char *const policies[] = { "lru", "custom", "lfu" };
    static const uint32_t counts[] = { 2, 3, 8 };
    shown *one = (shown *)test_alloc(1, sizeof(shown)), *many = (shown *)test_alloc(1, sizeof(shown));
    for (size_t h = 0; h < sizeof shapes / sizeof *shapes; h++)
        for (int op = 0; op < HD_OP_COUNT_; op++)
            for (int k = 0; k < 2 * shapes[h].policies && (h == 0 || judge_ops[op].keyed) && !judge_ops[op].order;
                 k++) {
                const char *policy = policies[k / 2];
                run_with(one, &shapes[h], (hd_op)op, policy, k % 2, 1);
                for (int n = h != 0; n < 3; n++) {
                    test_case("%s, %s, %s, %s, %u threads", hd_op_name((hd_op)op), policy, k % 2 ? "dual" : "single",
                              shapes[h].what, counts[n]);
                    run_with(many, &shapes[h], (hd_op)op, policy, k % 2, counts[n]);
                    compare(one, many);
                }
            }
    free(one);
    free(many);
}

/* In the first block of a batch one thread pins the entry that its bucket would evict next. A later block has one key,
 * of the same bucket. Most likely another thread runs it, which has pinned nothing itself. */
static void pins_of_other_threads(void)
{
    enum { SLOTS = 8, BUCKETS = 3072, ROUNDS_OF_PINS = 20 };
    static uint64_t key[ITEMS], score[ITEMS], value[ITEMS][2];
    static uint8_t outcome[ITEMS];
    uint64_t next = 1000;
    hd_table *t = test_table(.policy = "custom", .capacity = SLOTS * BUCKETS, .slots = SLOTS,
                             .value_bytes = VALUE_BYTES, .threads = 8, .hkv.dual = true, .hkv.pins = 1);
    hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, ITEMS, key, value, outcome);
    b.score = score;
    while (next < 5 * SLOTS * BUCKETS) {
        for (int i = 0; i < ITEMS; i++) key[i] = next++, score[i] = 10;
        must(hd_run(t, &b));
    }
    for (uint64_t round = 0; round < ROUNDS_OF_PINS; round++) {
        uint64_t bucket = hd_first_bucket(hd_hash(round + 1, 0), BUCKETS);
        while (hd_first_bucket(hd_hash(next, 0), BUCKETS) != bucket) next++;
        for (int i = 0; i < ITEMS; i++) key[i] = HD_KEY_EMPTY;
        key[0] = round + 1, key[ITEMS / 2] = next++;
        b.op = HD_OP_FIND_OR_INSERT, b.n = ITEMS, b.holder = 1;
        must(hd_run(t, &b));
        check(outcome[0] == HD_EVICTED && outcome[ITEMS / 2] == HD_EVICTED, "the keys did not enter");
        must(hd_check(t));
        b.op = HD_OP_UNLOCK_KEYS;
        must(hd_run(t, &b));
        check(outcome[0] == HD_HIT && outcome[ITEMS / 2] == HD_HIT, "a pinned entry was evicted");
    }
    hd_close(t);
}

/* ---- The load factor, while another thread resizes --------------------------------------------- */

enum { FILL = 20000 };
static atomic_bool resized;

static void *resize_often(void *context)
{
    worker *w = (worker *)context;
    hd_info info;
    must(hd_table_info(w->table, &info));
    for (int round = 0; round < 200; round++) {
        if (hd_grow(w->table, 2 * info.buckets) || hd_shrink(w->table, info.buckets)) complain(w, hd_why(), 0);
    }
    atomic_store(&resized, true);
    return NULL;
}

static void load_factors_are_of_one_moment(void)
{
    static const char *const designs[] = { "hive", "ovs", "sl" };
    for (size_t d = 0; d < sizeof designs / sizeof *designs; d++) {
        static uint64_t key[FILL], value[FILL];
        static uint8_t outcome[FILL];
        double least = 1, most = 0, now;
        uint64_t asked = 0;
        pthread_t thread;
        hd_config c = hd_config_of(designs[d]);
        worker w = { 0 };
        test_case("%s", designs[d]);
        c.capacity = FILL;
        must(hd_open(&c, &w.table));
        for (uint64_t i = 0; i < FILL; i++) key[i] = i + 1;
        hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, FILL * 3 / 4, key, value, outcome);
        must(hd_run(w.table, &b));
        atomic_store(&resized, false);
        check(pthread_create(&thread, NULL, resize_often, &w) == 0, "no thread");
        for (; !atomic_load(&resized); asked++) {
            must(hd_load_factor_sync(w.table, &now));
            least = now < least ? now : least, most = now > most ? now : most;
        }
        pthread_join(thread, NULL);
        check(!w.wrong[0], "%s", w.wrong);
        check(least > 0 && most <= 1, "load factors from %g to %g", least, most);
        test_note("%s: %llu load factors from %.3f to %.3f", designs[d], (ull)asked, least, most);
        hd_close(w.table);
    }
}

static const struct CMUnitTest threads[] = { unit(host_threads),        unit(sums_are_exact),
                                             unit(reasons_are_private), unit(pins_of_other_threads),
                                             unit(teams_do_not_show),   unit(load_factors_are_of_one_moment) };

int main(void) { return test_run(threads); }
