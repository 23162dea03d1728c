/* SPDX-License-Identifier: Apache-2.0
 *
 * t_device.c - tables in the memory of a fake device. They give the same results as tables on the host machine, with
 * any arrays and streams. If any device call fails, the table reports the error, and no other table is affected.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/backend_cuda.h"
#include "lib/backend_host.h"
#include "base/error.h"
#include "base/op.h"
#include "concurrency/streams.h"
#include "tests/fake_device.h"

enum { MOST = 96, VALUE_MOST = 64 };

/* ---- A batch with room for all that any operation wants -------------------------------------- */

typedef struct arrays {
    uint64_t key[MOST], score[MOST], score_out[MOST], list_key[MOST], list_score[MOST], list_item[MOST], count;
    uint8_t value[MOST * VALUE_MOST], value_out[MOST * VALUE_MOST], list_value[MOST * VALUE_MOST], flag[MOST],
        outcome[MOST];
    void *ptr[MOST];
} arrays;

/* A batch over the arrays of *there, wherever that lies. */
static hd_batch batch_over(arrays *there, hd_op op, uint64_t n)
{
    hd_batch b = { .op = op, .n = n };
    test_point(&b, there);
    return b;
}

static hd_batch batch_of(uint64_t *random, const hd_info *info, arrays *a, hd_op op)
{
    static const char *const pred[] = { "all", "key_in", "score_below", "value_zero" };
    hd_batch b = batch_over(a, op, 0);
    memset(a, 0x5a, sizeof *a);
    b.elem = HD_U64;
    /* left to itself a table looks at its load factor, which a device tells late */
    b.kernel = test_below(random, 2) ? "tlpv1" : "warp";
    b.n = test_below(random, MOST + 1);
    b.holder = 7;
    b.pred = pred[test_below(random, 4)];
    b.pred_arg[0] = 20;
    b.pred_arg[1] = 60;
    for (uint64_t i = 0; i < MOST; i++) {
        a->key[i] = test_below(random, 400);
        a->score[i] = test_below(random, 1000);
        a->flag[i] = (uint8_t)test_below(random, 3);
    }
    if (b.n > 3) a->key[3] = HD_KEY_RESERVED;
    for (size_t i = 0; i < sizeof a->value; i++) a->value[i] = (uint8_t)test_random(random);
    if (hd_op_row_of(b.op)->needs & HD_OF_SLOTS) {
        b.start = test_below(random, info->capacity + 1);
        if (b.n > info->capacity - b.start) b.n = info->capacity - b.start;
    }
    return b;
}

static hd_batch any_batch(uint64_t *random, const hd_info *info, arrays *a)
{
    hd_op op = test_below(random, 2) ? HD_OP_INSERT_OR_ASSIGN : (hd_op)test_below(random, HD_OP_COUNT_);
    if (hd_op_does(op, HD_ORDERED)) op = HD_OP_FIND;
    if (op == HD_OP_CLEAR && test_below(random, 4)) op = HD_OP_FIND;
    return batch_of(random, info, a, op);
}

static hd_config shape(uint64_t *random)
{
    static const uint32_t bytes[] = { 0, 8, 24, 64 }, slots[] = { 16, 20, 33, 128 };
    hd_config c = hd_config_default();
    c.slots = slots[test_below(random, 4)];
    c.capacity = c.slots * (2 + test_below(random, 3));
    c.value_bytes = bytes[test_below(random, 4)];
    c.hkv.dual = test_below(random, 2);
    c.policy = test_below(random, 2) ? "lfu" : "custom";
    c.hkv.pins = 5;
    c.hkv.tiers = test_below(random, 2) ? HD_TIERS_POSITION : HD_TIERS_BUCKET;
    c.hkv.device_value_bytes = test_below(random, 3) * c.capacity * c.value_bytes / 3;
    c.hkv.fetch = (hd_fetch)test_below(random, 3);
    return c;
}

/* ---- Contents -------------------------------------------------------------------------------- */

typedef struct content {
    uint64_t n, sum;
} content;

static int add_entry(void *context, uint64_t key, uint64_t score, void *value)
{
    content *c = (content *)context;
    uint64_t first = 0;
    memcpy(&first, value, 8);
    c->n++;
    c->sum = c->sum * 0x9e3779b97f4a7c15u + (key ^ score << 20 ^ first);
    return 0;
}

static int add_head(void *context, uint64_t key, uint64_t score, void *value)
{
    uint64_t none = 0;
    (void)value;
    return add_entry(context, key, score, &none);
}

static content content_of(hd_table *t)
{
    hd_info info;
    content c = { 0, 0 };
    must(hd_check(t));
    must(hd_table_info(t, &info));
    must(hd_for_each(t, info.value_bytes ? add_entry : add_head, &c));
    return c;
}

static void same_content(hd_table *a, hd_table *b)
{
    content x = content_of(a), y = content_of(b);
    check(x.n == y.n && x.sum == y.sum, "%llu and %llu entries, or others", (ull)x.n, (ull)y.n);
}

/* ---- Like the host machine ------------------------------------------------------------------- */

/* A fake device and the seams that have it. */
typedef struct bench {
    fake_device fake;
    counting memory;
} bench;

/* Returns the configuration of a table there. */
static hd_config bench_open(bench *b)
{
    fake_init(&b->fake);
    counting_init(&b->memory);
    b->memory.seams.device = &b->fake.seam;
    return test_usual(.backend = "cuda", .seams = &b->memory.seams, .hkv.capture_times = true, .value_bytes = 8);
}

/* A table there, with values of 8 bytes. */
static hd_table *bench_table(bench *b, const char *lock, uint64_t capacity, uint32_t slots)
{
    bench_open(b);
    return test_table(.backend = "cuda", .seams = &b->memory.seams, .hkv.capture_times = true, .lock = lock,
                      .capacity = capacity, .slots = slots, .value_bytes = 8);
}

static void bench_close(bench *b)
{
    fake_settled(&b->fake);
    check(b->memory.live_bytes == 0, "%llu bytes were not given back", (ull)b->memory.live_bytes);
}

/* Runs the batch on t with arrays of the device, copies of *a, and brings them back. */
static hd_status run_far(fake_device *f, hd_table *t, hd_batch b, arrays *a)
{
    arrays *there = (arrays *)fake_array(f, a, sizeof *a);
    test_point(&b, there);
    hd_status status = hd_run(t, &b);
    fake_read(f, a, there, sizeof *a);
    fake_drop(f, there);
    return status;
}

/* The same, recorded and replayed twice. */
static hd_status run_recorded(fake_device *f, hd_table *t, hd_batch b, arrays *a)
{
    arrays *there = (arrays *)fake_array(f, a, sizeof *a);
    static char stream[2];
    test_point(&b, there);
    b.stream = &stream[0];
    fake_record(f, b.stream);
    hd_status status = hd_run(t, &b);
    fake_recording *r = fake_recorded(f);
    for (int i = 0; i < 2 && !status; i++) fake_replay(f, r, &stream[i]);
    fake_read(f, a, there, sizeof *a);
    fake_drop(f, there);
    fake_forget(r);
    return status;
}

/* Pointers into two tables that say the same, do not look the same. */
static void forget_pointers(arrays *a)
{
    for (int i = 0; i < MOST; i++) a->ptr[i] = NULL;
}

static void counters_agree(hd_table *a, hd_table *b)
{
    hd_counters x, y;
    must(hd_counters_sync(a, &x));
    must(hd_counters_sync(b, &y));
    check(x.batches == y.batches, "%d and %d batches were counted", (int)x.batches, (int)y.batches);
    for (int o = 0; o < HD_OUTCOME_COUNT; o++)
        check(x.outcome[o] == y.outcome[o], "%d and %d items were %s", (int)x.outcome[o], (int)y.outcome[o],
              hd_outcome_name((hd_outcome)o));
    check(memcmp(x.op, y.op, sizeof x.op) == 0, "the operations are counted differently");
}

static void agrees_with_the_host_machine(void)
{
    static char stream[3];
    uint64_t random = 1;
    for (uint64_t round = 0; round < test_quarter(24); round++) {
        bench on;
        hd_config c = shape(&random);
        hd_table *far, *here;
        hd_info info;
        c.hkv.dual = false; /* there a device decides how many items run at a time, and so their order */
        bench_open(&on);
        c.backend = "host";
        must(hd_open(&c, &here));
        must(hd_host_lanes(here, 16, 0)); /* one processor's */
        c.backend = "cuda";
        c.seams = &on.memory.seams;
        must(hd_open(&c, &far));
        must(hd_table_info(far, &info));
        for (int i = 0; i < 20; i++) {
            arrays a, b;
            hd_batch batch = any_batch(&random, &info, &a);
            bool theirs = test_below(&random, 2);
            test_case("round %d, batch %d: %s of %d, slots=%u value=%u dual=%d %s arrays", (int)round, i,
                      hd_op_name(batch.op), (int)batch.n, info.slots, info.value_bytes, info.hkv.dual,
                      theirs ? "device" : "host");
            memcpy(&b, &a, sizeof a);
            must(hd_run(here, &batch));
            test_point(&batch, &b);
            batch.stream = test_below(&random, 2) ? &stream[test_below(&random, 3)] : NULL;
            must(theirs ? run_far(&on.fake, far, batch, &b) : hd_run(far, &batch));
            forget_pointers(&a);
            forget_pointers(&b);
            check(memcmp(&a, &b, sizeof a) == 0, "outputs differ");
            if (i % 5 == 4) same_content(here, far);
        }
        same_content(here, far);
        counters_agree(here, far);
        must(hd_grow(here, 2 * info.buckets));
        must(hd_grow(far, 2 * info.buckets));
        same_content(here, far);
        must(hd_save(far, "t_device.snapshot"));
        must(hd_clear(far));
        must(hd_clear(here));
        same_content(here, far);
        must(hd_load(here, "t_device.snapshot", NULL));
        must(hd_load(far, "t_device.snapshot", NULL));
        remove("t_device.snapshot");
        same_content(here, far);
        counters_agree(here, far);
        hd_close(here);
        hd_close(far);
        bench_close(&on);
    }
}

/* ---- Arrays in any memory -------------------------------------------------------------------- */

typedef enum memory { PLAIN, PINNED, DEVICE, MEMORIES } memory;
static const char *const memory_names[] = { "plain", "pinned", "device" };

/* The arrays of a batch, those in plain memory where they were. */
typedef struct placed {
    hd_array here[HD_ARRAYS_MOST];
    void *at[HD_ARRAYS_MOST];
    memory in[HD_ARRAYS_MOST];
    int used;
    bool plain; /* at least one array is in plain memory */
} placed;

/* How two kinds of memory are dealt out to the arrays of a batch. */
enum { FIRST_ALONE, LAST_ALONE, OUTCOME_ALONE, IN_TURN, DEALS };

static bool is_first_kind(int deal, const hd_array *all, int i, int used)
{
    if (deal == OUTCOME_ALONE) return all[i].field == offsetof(hd_batch, outcome);
    return deal == FIRST_ALONE ? i == 0 : deal == LAST_ALONE ? i == used - 1 : i % 2 == 0;
}

static void place(placed *p, fake_device *f, hd_batch *b, uint32_t value_bytes, const memory kind[2], int deal)
{
    p->used = hd_batch_arrays(b, value_bytes, p->here);
    p->plain = false;
    for (int i = 0; i < p->used; i++) {
        const hd_array *a = &p->here[i];
        p->in[i] = kind[!is_first_kind(deal, p->here, i, p->used)];
        p->at[i] = p->in[i] == PLAIN    ? a->p
                   : p->in[i] == PINNED ? fake_pinned_array(f, a->p, a->bytes)
                                        : fake_array(f, a->p, a->bytes);
        p->plain = p->plain || p->in[i] == PLAIN;
        hd_field_set(b, a->field, p->at[i]);
    }
}

/* How many copies a batch makes whose arrays kernels reach: a number in pinned memory is added up on the device. */
static uint64_t copies_of_sums(const placed *p, hd_op op)
{
    uint64_t n = 0;
    for (int i = 0; i < p->used; i++) n += p->here[i].field == offsetof(hd_batch, count) && p->in[i] == PINNED;
    return hd_op_adds_up(hd_op_row_of(op)) ? n : 0;
}

static void bring_home(placed *p, fake_device *f)
{
    for (int i = 0; i < p->used; i++) {
        if (p->in[i] == PLAIN) continue;
        fake_read(f, p->here[i].p, p->at[i], p->here[i].bytes);
        fake_drop(f, p->at[i]);
    }
}

/* How host arrays go to the device (lib/staging.h). */
static const struct {
    const char *name;
    hd_staging_sizes sizes;
} ways[] = { { "direct", { 64 << 10, 64 << 10 } },
             { "pieces", { 2048, 0 } },
             { "pieces of a few items", { 768, 0 } },
             { "whole", { 256, 0 } } };

/* Each of two kinds of memory, for every operation: the results are the host machine's, and what kernels reach is not
 * copied. */
static void arrays_lie_in_any_memory(void)
{
    uint64_t random = 5, batches = 0;
    for (int round = 0; round < 2 * (int)(sizeof ways / sizeof *ways); round++) {
        const hd_staging_sizes *sizes = &ways[round / 2].sizes;
        bench on;
        hd_config c = shape(&random);
        hd_table *far, *here;
        hd_info info;
        c.hkv.dual = false; /* there a device decides how many items run at a time, and so their order */
        bench_open(&on);
        c.value_bytes = 24;
        c.backend = "host";
        must(hd_open(&c, &here));
        must(hd_host_lanes(here, 16, 0));
        c.backend = "cuda";
        c.seams = &on.memory.seams;
        must(hd_open(&c, &far));
        hd_cuda_staging(far, sizes);
        must(hd_table_info(far, &info));
        for (int op = 0; op < HD_OP_COUNT_; op++)
            for (int k = 0; k < MEMORIES * MEMORIES * DEALS && !hd_op_does((hd_op)op, HD_ORDERED); k++, batches++) {
                arrays a, b;
                placed p;
                const memory kind[2] = { (memory)(k % MEMORIES), (memory)(k / MEMORIES % MEMORIES) };
                hd_batch x = batch_of(&random, &info, &a, k % 2 ? (hd_op)op : HD_OP_INSERT_OR_ASSIGN), y;
                if (x.n == 0) x.n = 1, x.start = 0;
                if (x.op == HD_OP_CLEAR && k > 5) continue;
                if (!sizes->direct_bytes) x.kernel = "tlpv1"; /* its items run in order, in one launch or in several */
                memcpy(&b, &a, sizeof a);
                y = x;
                test_point(&y, &b);
                place(&p, &on.fake, &y, info.value_bytes, kind, k / MEMORIES / MEMORIES);
                test_case("%s of %d, %s and %s, deal %d, %s", hd_op_name(x.op), (int)x.n, memory_names[kind[0]],
                          memory_names[kind[1]], k / MEMORIES / MEMORIES, ways[round / 2].name);
                uint64_t copies = on.fake.copies;
                must(hd_run(here, &x));
                must(hd_run(far, &y));
                if (!p.plain || (sizes->direct_bytes && !hd_op_adds_up(hd_op_row_of(x.op))))
                    check(on.fake.copies - copies == copies_of_sums(&p, x.op), "%d copies",
                          (int)(on.fake.copies - copies));
                bring_home(&p, &on.fake);
                forget_pointers(&a);
                forget_pointers(&b);
                check(memcmp(&a, &b, sizeof a) == 0, "outputs differ");
            }
        same_content(here, far);
        hd_close(here);
        hd_close(far);
        bench_close(&on);
    }
    test_note("%d batches", (int)batches);
}

/* Any one array that is another device's: the message names it, and nothing has run. */
static void memory_of_another_device_is_refused(void)
{
    bench on;
    hd_table *t = bench_table(&on, "ordered", 128, 128);
    hd_info info;
    uint64_t random = 3, refused = 0;
    must(hd_table_info(t, &info));
    for (int op = 0; op < HD_OP_COUNT_; op++)
        for (int i = 0; i < HD_ARRAYS_MOST && !hd_op_does((hd_op)op, HD_ORDERED); i++) {
            static const memory kind[2] = { DEVICE, PLAIN };
            char name[64];
            arrays a;
            placed p;
            hd_info after;
            hd_batch b = batch_of(&random, &info, &a, (hd_op)op);
            b.n = 1, b.start = 0;
            place(&p, &on.fake, &b, info.value_bytes, kind, i % DEALS);
            if (i < p.used) {
                snprintf(name, sizeof name, "%s: %s: ", hd_op_name(b.op), p.here[i].name);
                void *there = fake_array_of_another(&on.fake, p.here[i].bytes);
                hd_field_set(&b, p.here[i].field, there);
                must_fail(hd_run(t, &b), HD_EINVAL, name);
                fake_drop(&on.fake, there);
                must(hd_table_info(t, &after));
                check(after.now == info.now, "%s: its ticks are taken", name);
                refused++;
            }
            bring_home(&p, &on.fake);
        }
    check(refused > HD_OP_COUNT_, "only %d", (int)refused);
    hd_close(t);
    bench_close(&on);
}

/* Addresses of the device are asked for once. Memory of this machine may be pinned at one time and not at another. */
static void what_is_pinned_is_asked_for_each_time(void)
{
    bench on;
    hd_table *t;
    uint64_t key = 7, count;
    uint8_t outcome = 0;
    hd_config c = bench_open(&on);
    c.value_bytes = 0;
    c.capacity = 128;
    must(hd_open(&c, &t));
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = 1, .key = &key };
    must(hd_run(t, &b)); /* takes the table's pinned memory: below, the outcome is the last */
    b.key = (const uint64_t *)fake_array(&on.fake, &key, sizeof key);
    b.outcome = (uint8_t *)fake_pinned_array(&on.fake, &outcome, 1);
    must(hd_run(t, &b));
    for (int pinned = 1; pinned >= 0; pinned--) {
        on.fake.fars -= !pinned; /* the last */
        uint64_t calls = on.fake.calls, copies = on.fake.copies;
        must(hd_run(t, &b));
        check(on.fake.copies == copies, "%d copies", (int)(on.fake.copies - copies));
        /* use, reach of the outcome, stream_state, launch, event_record; two waits */
        check(on.fake.calls - calls <= (pinned ? 5 : 7), "%d calls", (int)(on.fake.calls - calls));
        on.fake.fars += !pinned;
    }
    must(hd_run_growing(t, &b, 0.5));
    must(hd_size_sync(t, &count));
    check(count == 1 && *b.outcome == HD_UPDATED, "%d entries, outcome %d", (int)count, *b.outcome);
    fake_drop(&on.fake, (void *)(uintptr_t)b.key);
    fake_drop(&on.fake, b.outcome);
    hd_close(t);
    bench_close(&on);
}

/* Ten batches on ten streams, none waited for: each is an insert of what the next one erases. */
static void batches_keep_their_order_across_streams(void)
{
    static char stream[10];
    bench on;
    arrays *there[10];
    hd_table *t = bench_table(&on, "ordered", 1024, 128);
    arrays a = { 0 };
    for (uint64_t i = 0; i < MOST; i++) a.key[i] = i;
    for (int k = 0; k < 10; k++) {
        there[k] = (arrays *)fake_array(&on.fake, &a, sizeof a);
        hd_batch b = batch_over(there[k], k % 2 ? HD_OP_ERASE : HD_OP_INSERT_OR_ASSIGN, MOST);
        b.stream = &stream[k];
        must(hd_run(t, &b));
    }
    check(on.fake.works > 10, "a batch was waited for");
    for (int k = 9; k >= 0; k--) { /* the last stream first */
        must(on.fake.seam.wait(&on.fake, &stream[k]) ? HD_ECUDA : HD_OK);
        fake_read(&on.fake, &a, there[k], sizeof a);
        for (int i = 0; i < MOST; i++)
            check(a.outcome[i] == (k % 2 ? HD_ERASED : HD_INSERTED), "batch %d, item %d: %s", k, i,
                  hd_outcome_name((hd_outcome)a.outcome[i]));
        fake_drop(&on.fake, there[k]);
    }
    hd_close(t);
    bench_close(&on);
}

/* Mixed batches in the device's memory, which the host does not read: one item for each value of the byte. */
static void operations_that_do_not_mix_are_reserved(void)
{
    static const char *const kernels[] = { "batched", "tile" };
    typedef struct mixture {
        uint64_t key[256];
        uint32_t value[256];
        uint8_t each[256], outcome[256];
    } mixture;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        bench on;
        uint64_t size = 0, inserts = 0;
        hd_config c = bench_open(&on);
        hd_table *t =
            test_table(.design = "hive", .backend = "cuda", .seams = c.seams, .capacity = 1024, .value_bytes = 4);
        mixture here = { 0 };
        for (uint64_t i = 0; i < 256; i++) here.key[i] = i, here.each[i] = (uint8_t)i;
        mixture *there = (mixture *)fake_array(&on.fake, &here, sizeof here);
        hd_batch b = test_batch(HD_OP_FIND, 256, there->key, there->value, there->outcome);
        b.each = there->each;
        b.kernel = kernels[k];
        must(hd_run(t, &b));
        must(on.fake.seam.wait(&on.fake, NULL) ? HD_ECUDA : HD_OK);
        fake_read(&on.fake, &here, there, sizeof here);
        for (int i = 0; i < 256; i++) {
            bool mixes = i < HD_OP_COUNT_ && hd_op_does((hd_op)i, HD_MIXES);
            check((here.outcome[i] == HD_RESERVED) == !mixes, "%s, operation %d: %s", kernels[k], i,
                  hd_outcome_name((hd_outcome)here.outcome[i]));
            inserts += here.outcome[i] == HD_INSERTED;
        }
        must(hd_size_sync(t, &size));
        assert_int_equal(size, inserts);
        b.each = there->each + 1; /* not aligned, and no multiple of what a lane loads */
        b.n = 201;
        must(hd_run(t, &b));
        hd_counters counters;
        must(hd_counters_sync(t, &counters));
        for (int i = 0; i < HD_OP_COUNT_; i++) {
            if (!hd_op_is_keyed(hd_op_row_of((hd_op)i))) continue; /* hd_size_sync ran one */
            uint64_t items = hd_op_does((hd_op)i, HD_MIXES) ? 1 + (i >= 1) : 0;
            check(counters.op[i] == items, "%s: %llu items of %s", kernels[k], (ull)counters.op[i],
                  hd_op_name((hd_op)i));
        }
        fake_drop(&on.fake, there);
        hd_close(t);
        bench_close(&on);
    }
}

/* Streams keep a prepared launch from their second batch on; a slot that another stream takes keeps none. By the word
 * there is none: a kernel that waits on the device must not be behind a launch of another stream. */
static void launches_are_prepared_for_one_stream(void)
{
    enum { STREAMS = 3 * HD_STREAM_SLOTS };
    static const char *const locks[] = { "ordered", "group3" };
    static char stream[STREAMS];
    for (size_t l = 0; l < sizeof locks / sizeof *locks; l++) {
        bench on;
        bool by_word = l == 1;
        hd_table *t = bench_table(&on, locks[l], 1024, 128);
        arrays a = { 0 }, *there = (arrays *)fake_array(&on.fake, &a, sizeof a);
        hd_batch b = batch_over(there, HD_OP_FIND, 1);
        for (int k = 0; k < STREAMS; k++) { /* each stream has one batch */
            b.stream = &stream[k];
            must(hd_run(t, &b));
            check(on.fake.prepared == 0, "%s: a stream's first batch was prepared", locks[l]);
        }
        for (int k = 0; k < 3; k++) must(hd_run(t, &b));
        assert_int_equal(on.fake.prepared, by_word ? 0 : 1);
        assert_int_equal(on.fake.prepared_runs, by_word ? 0 : 2);
        for (int k = 0; k < HD_STREAM_SLOTS; k++) { /* the slots change hands */
            b.stream = &stream[k];
            must(hd_run(t, &b));
        }
        assert_int_equal(on.fake.prepared, 0);
        must(on.fake.seam.wait(&on.fake, b.stream) ? HD_ECUDA : HD_OK);
        fake_drop(&on.fake, there);
        hd_close(t);
        bench_close(&on);
    }
}

/* The thread's device is another one than the table's, and stays so. */
static void a_table_keeps_its_device(void)
{
    bench on;
    hd_table *t;
    uint64_t key = 1, size = 0;
    uint8_t outcome = 255;
    hd_config c = bench_open(&on);
    c.capacity = 128;
    c.value_bytes = 0;
    on.fake.device = 3;
    must(hd_open(&c, &t));
    on.fake.device = 5;
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = 1, .key = &key, .outcome = &outcome };
    must(hd_run(t, &b));
    must(hd_size_sync(t, &size));
    must(hd_check(t));
    check(outcome == HD_INSERTED && size == 1, "outcome %d, size %d", outcome, (int)size);
    check(on.fake.device == 5, "the thread was left with device %d", on.fake.device);
    hd_close(t);
    on.fake.device = 0;
    bench_close(&on);
}

/* ---- When the device fails ------------------------------------------------------------------- */

/* What is done to a table, from open to its counters; each step with whether it failed. */
enum { OPEN, RUN, RUN_FAR, RECORD, LIST, SIZE, WALK, CHECK, GROW, SAVE, LOAD, COUNTERS, STEPS };
static const char *const step_name[STEPS] = { "open", "run",   "run far", "record", "list", "size",
                                              "walk", "check", "grow",    "save",   "load", "counters" };

static int nothing(void *context, uint64_t key, uint64_t score, void *value)
{
    (void)context, (void)key, (void)score, (void)value;
    return 0;
}

static hd_status take_step(int step, fake_device *f, hd_table *t, arrays *a)
{
    hd_counters counters;
    uint64_t size;
    hd_batch b = batch_over(a, step == LIST ? HD_OP_INSERT_AND_EVICT : HD_OP_INSERT_OR_ASSIGN, MOST);
    switch (step) {
    case RUN:
    case LIST: return hd_run(t, &b);
    case RUN_FAR: return run_far(f, t, b, a);
    case RECORD: return run_recorded(f, t, b, a);
    case SIZE: return hd_size_sync(t, &size);
    case WALK: return hd_for_each(t, nothing, NULL);
    case CHECK: return hd_check(t);
    case GROW: return hd_grow(t, 4);
    case SAVE: return hd_save(t, "t_device.snapshot");
    case LOAD: return hd_load(t, "t_device.snapshot", NULL);
    default: return hd_counters_sync(t, &counters);
    }
}

/* Everything, with the device failing at call number `at`. Returns how many calls there were. */
static uint64_t with_fault(const char *lock, uint64_t at_call, int code, bool sticky)
{
    bench on;
    hd_table *t = NULL;
    bool clean = true;
    bench_open(&on);
    on.fake.fail_at = at_call;
    on.fake.code = code;
    on.fake.sticky = sticky;
    arrays a = { 0 };
    for (uint64_t i = 0; i < MOST; i++) a.key[i] = 11 * i;
    hd_config c = test_usual(.hkv.capture_times = true, .backend = "cuda", .lock = lock, .capacity = 64, .slots = 32,
                             .hkv.device_value_bytes = 200, .hkv.fetch = HD_FETCH_SORTED, .seams = &on.memory.seams,
                             .value_bytes = 8);
    for (int step = OPEN; step < STEPS; step++) {
        bool before = on.fake.failed != NULL;
        hd_status status = step == OPEN ? hd_open(&c, &t) : take_step(step, &on.fake, t, &a);
        bool during = !before && on.fake.failed;
        test_case("lock %s, call %d (%s) fails with %d%s during %s", lock, (int)at_call,
                  on.fake.failed ? on.fake.failed : "none", code, sticky ? " and all after it" : "", step_name[step]);
        if (status) {
            bool memory = code == HD_DEVICE_NO_MEMORY && status == HD_ENOMEM;
            check(status == HD_ECUDA || memory || (step == LOAD && !clean && status == HD_EIO), "%s: %s",
                  hd_status_name(status), hd_why());
            check(during || before, "failed without a fault: %s", hd_why());
            check(status == HD_EIO || strlen(hd_why()) > 10, "no reason is given");
            clean = false;
        } else {
            /* The old state, closed when the new one stands, has nowhere to report to. */
            const char *call = during ? on.fake.failed : "";
            bool closing = strncmp(call, "give", 4) == 0 || strstr(call, "_destroy");
            bool old = (step == GROW || step == LOAD) && during && strcmp(on.fake.failed, "use") == 0;
            check(!during || closing || old, "the fault passed without a word");
        }
        if (step == OPEN && status) break;
    }
    hd_close(t);
    remove("t_device.snapshot");
    uint64_t calls = on.fake.calls;
    on.fake.device = 0; /* when `use` itself failed, it was not given back */
    bench_close(&on);
    return calls;
}

static void every_call_may_fail(void)
{
    static const int code[] = { HD_DEVICE_NO_MEMORY, FAKE_INVALID, FAKE_LAUNCH_FAILED };
    hd_cuda_windows(MOST); /* the usual ones are most of a small table's memory */
    uint64_t calls = with_fault("ordered", 0, 0, false), by_word = with_fault("group3", 0, 0, false);
    check(calls > 100 && by_word > calls, "only %d and %d calls", (int)calls, (int)by_word);
    uint64_t failed = by_word;
    for (uint64_t i = 1; i <= calls; i++)
        for (uint64_t k = 0; k < 4; k++) {
            if (!test_is_long() && k != i % 4) continue;
            with_fault("ordered", i, code[k % 3], k == 3);
            failed++;
        }
    /* a word that is not given back stops all others */
    for (uint64_t i = 1; i <= by_word; i++) with_fault("group3", i, code[i % 3], i % 4 == 0);
    hd_cuda_windows(0);
    test_tried("device-faults", failed, "of %d calls of the device in the life of a table, and %d under group3, failed",
               (int)calls, (int)by_word);
}

/* What could not be done is as it was before, when the device can still be asked. */
static void a_failed_growth_changes_nothing(void)
{
    for (uint64_t skip = 1; skip < 60; skip++) {
        bench on;
        hd_table *t = bench_table(&on, "ordered", 64, 32);
        arrays a = { 0 };
        for (uint64_t i = 0; i < MOST; i++) a.key[i] = 11 * i;
        must(take_step(RUN, &on.fake, t, &a));
        content before = content_of(t);
        on.fake.fail_at = on.fake.calls + skip;
        on.fake.code = FAKE_INVALID;
        hd_status status = hd_grow(t, 4);
        on.fake.fail_at = 0;
        hd_info info;
        must(hd_table_info(t, &info));
        test_case("call %d of growth fails", (int)skip);
        check(info.buckets == (status ? 2u : 4u), "%d buckets, status %s", (int)info.buckets, hd_status_name(status));
        if (status) {
            content after = content_of(t);
            check(before.n == after.n && before.sum == after.sum, "the table changed");
        }
        hd_close(t);
        bench_close(&on);
    }
}

static void open_fails(const hd_config *c, hd_status status, const char *word)
{
    hd_table *t = NULL;
    must_fail(hd_open(c, &t), status, word);
    check(!t, "there is a table");
}

/* No device at all: a build without CUDA, or a machine without a driver. */
static void no_device_is_a_clear_answer(void)
{
    bench on;
    hd_config c = bench_open(&on);
    on.fake.fail_at = 1;
    on.fake.code = FAKE_INVALID;
    open_fails(&c, HD_ECUDA, "no CUDA device: invalid argument");
    bench_close(&on);
    hd_device device;
    hd_table *t;
    c.seams = NULL;
    if (hd_device_os.find(hd_device_os.self, &device) == 0) {
        must(hd_open(&c, &t));
        hd_close(t);
    } else {
        open_fails(&c, HD_ECUDA, "no CUDA device");
        test_note("%s", hd_why());
    }
}

static void too_little_memory_is_said(void)
{
    bench on;
    hd_config c = bench_open(&on);
    on.fake.most_bytes = 10 << 20; /* digests, but no keys */
    open_fails(&c, HD_ENOMEM, "capacity: keys: a fake has no memory");
    on.fake.most_bytes = 0;
    on.fake.most_far_bytes = 1 << 20;
    c.hkv.device_value_bytes = 1 << 20; /* of 8 MiB of values */
    open_fails(&c, HD_ENOMEM, "far values: 7340032 bytes of this machine's memory cannot be pinned");
    bench_close(&on);
}

/* Entries that can just be addressed, and with their locks cannot; arrays of which each can be, and all together
 * cannot: not asked for, and not taken for fewer. */
static void what_cannot_be_addressed_is_said(void)
{
    bench on;
    hd_table *t;
    hd_config c = bench_open(&on);
    c.slots = 2;
    c.value_bytes = 0;
    c.capacity = (uint64_t)PTRDIFF_MAX / 17 / 2 * 2 - (1 << 20); /* 17: digest, key, score */
    open_fails(&c, HD_ENOMEM,
               "capacity: bucket locks: 271275648142263235 x 4 bytes more are more than can be addressed");
    check(on.fake.pieces == 0, "memory is held for it");
    c.capacity = 64;
    c.value_bytes = 8;
    must(hd_open(&c, &t));
    size_t pieces = on.fake.pieces;
    for (uint64_t less = 0; less < 4; less++) {
        arrays a;
        hd_batch b = batch_over(&a, HD_OP_FIND_OR_INSERT, (uint64_t)PTRDIFF_MAX / 8 >> less);
        must_fail(hd_run(t, &b), HD_ENOMEM, "batch: its arrays");
        check(on.fake.pieces == pieces, "memory is held for it");
    }
    must(hd_check(t));
    hd_close(t);
    bench_close(&on);
}

/* A table without pins has no memory for them. The first batch that pins takes it, for all entries and once; a growth
 * keeps it. Where there is none, the batch fails, and nothing has changed. */
static void the_first_pin_takes_memory(void)
{
    static const char *const backends[] = { "ref", "host", "cuda" };
    for (int k = 0; k < 3; k++) {
        bench on;
        hd_config c = bench_open(&on);
        hd_info was, is;
        test_case("%s", backends[k]);
        hd_table *t = test_table(.backend = backends[k], .seams = c.seams, .hkv.capture_times = true, .capacity = 1024,
                                 .value_bytes = 8);
        arrays a = { 0 };
        hd_batch b = batch_over(&a, HD_OP_INSERT_OR_ASSIGN, MOST);
        for (uint64_t i = 0; i < MOST; i++) a.key[i] = i;
        must(hd_run(t, &b));
        must(hd_table_info(t, &was));
        check(was.hkv.pins == 0, "there is room for pins before there are any");

        b.op = HD_OP_UNLOCK_KEYS;
        b.holder = 3;
        must(hd_run(t, &b));
        b.op = HD_OP_LOCK_KEYS;
        b.n = 0;
        must(hd_run(t, &b));
        b.n = MOST;
        if (k == 2)
            on.fake.most_bytes = on.fake.live_bytes + 8 * was.capacity - 1;
        else
            counting_refuse(&on.memory, 1, false);
        must_fail(hd_run(t, &b), HD_ENOMEM, "pins: ");
        counting_refused(&on.memory);
        on.fake.most_bytes = 0;
        must(hd_table_info(t, &is));
        check(is.memory_bytes == was.memory_bytes && is.hkv.pins == 0 && is.now == was.now + MOST,
              "a batch that failed has changed the table");

        must(hd_run(t, &b));
        for (uint64_t i = 0; i < MOST; i++) check(a.outcome[i] == HD_HIT, "key %d: %d", (int)i, a.outcome[i]);
        must(hd_table_info(t, &is));
        check(is.memory_bytes == was.memory_bytes + 8 * was.capacity && is.hkv.pins == 1,
              "%llu bytes more for %llu entries", (ull)(is.memory_bytes - was.memory_bytes), (ull)was.capacity);
        b.holder = 4;
        must(hd_run(t, &b));
        for (uint64_t i = 0; i < MOST; i++) check(a.outcome[i] == HD_PINNED, "key %d: %d", (int)i, a.outcome[i]);
        uint64_t bytes = is.memory_bytes;
        must(hd_table_info(t, &is));
        check(is.memory_bytes == bytes, "the second batch that pins takes memory");
        must(hd_grow(t, 2 * was.buckets));
        b.op = HD_OP_UNLOCK_KEYS;
        b.holder = 3;
        must(hd_run(t, &b));
        for (uint64_t i = 0; i < MOST; i++) check(a.outcome[i] == HD_HIT, "key %d: %d", (int)i, a.outcome[i]);
        must(hd_check(t));
        hd_close(t);
        bench_close(&on);
    }
}

static const struct CMUnitTest tests[] = { unit(agrees_with_the_host_machine),
                                           unit(arrays_lie_in_any_memory),
                                           unit(memory_of_another_device_is_refused),
                                           unit(what_is_pinned_is_asked_for_each_time),
                                           unit(batches_keep_their_order_across_streams),
                                           unit(operations_that_do_not_mix_are_reserved),
                                           unit(launches_are_prepared_for_one_stream),
                                           unit(a_table_keeps_its_device),
                                           unit(every_call_may_fail),
                                           unit(a_failed_growth_changes_nothing),
                                           unit(no_device_is_a_clear_answer),
                                           unit(too_little_memory_is_said),
                                           unit(what_cannot_be_addressed_is_said),
                                           unit(the_first_pin_takes_memory) };

int main(void) { return test_run(tests); }
