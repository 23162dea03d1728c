/* SPDX-License-Identifier: Apache-2.0
 *
 * t_device_faults.c - every device call of every operation, and of every other call of a table, fails in four ways: no
 * memory, a wrong argument, a failed launch, and a launch that loses the device. If the device works afterwards, the
 * table is valid, in the state before or after the call, and the same call works. If the device is lost, every call
 * reports it. Nothing leaks. (t_device does the same for the life of a table from open to close.) The device below is
 * the fake one or, if HEDDLE_TEST_BACKEND is cuda, a real one with its runtime.
 */
#include <stdlib.h>
#include <string.h>

#include "base/op.h"
#include "lib/backend_cuda.h"
#include "policies/hashes/hash.h"
#include "ref/hive/hive.h"
#include "ref/ovs/ovs.h"
#include "ref/sl/sl.h"
#include "tests/failing.h"
#include "tests/fake_device.h"
#include "tests/far.h"
#include "tests/faulty.h"

enum { N = 12, VALUE = 24, SLOTS = 16, CAPACITY = 32, MANY = 24 };

/* ---- A table on a device that can fail ------------------------------------------------------- */

typedef struct arrays {
    uint64_t key[N], score[N], score_out[N], list_key[CAPACITY], list_score[CAPACITY], list_item[CAPACITY], count;
    uint8_t value[N][VALUE], value_out[N][VALUE], list_value[CAPACITY][VALUE], flag[N], outcome[N];
    void *ptr[N];
} arrays;

typedef struct world {
    far_device *far;
    failing_device device;
    counting memory;
    hd_table *table;
    arrays a;
    void *stream;
} world;

/* Of the tables of the running test. */
static const char *design = "hkv", *policy = "lfu", *kernel = NULL;
static bool ranges; /* ovs with ranges of keys */
static uint32_t value_bytes = VALUE;
static uint64_t times = 1; /* how often each key comes in a batch */
/* several launches change the table: one of them that fails leaves what those before it did */
static bool in_steps = false;
/* how host arrays are copied: as usual, but with less memory, which the fake device fills */
static const hd_staging_sizes in_one_go = { 64 << 10, 64 << 10 };
static const hd_staging_sizes *staging = &in_one_go;

static void fill(arrays *a, uint64_t from, uint64_t step)
{
    memset(a, 0x5a, sizeof *a);
    for (uint64_t i = 0; i < N; i++) {
        a->key[i] = from + step * (i / times);
        a->score[i] = 100 + 7 * i % 5;
        a->flag[i] = HD_EITHER;
        memset(a->value[i], (int)(a->key[i] % 251), VALUE);
    }
}

static hd_batch batch_over(arrays *a, hd_op op)
{
    hd_batch b = { .op = op,
                   .elem = value_bytes % 8 ? HD_I32 : HD_U64,
                   .kernel = kernel,
                   .n = hd_op_row_of(op)->needs & HD_OF_SLOTS ? CAPACITY : N };
    b.holder = hd_op_does(op, HD_NEEDS_HOLDER) ? 2 : 0, b.pred = "key_in";
    b.pred_arg[1] = 9;
    test_point(&b, a);
    if (hd_op_does(op, HD_NEEDS_KEY2)) b.key2 = b.key, b.limit = 1;
    return b;
}

static bool is_dictionary(void) { return strcmp(design, "hkv") != 0; }

static void as_a_cache(hd_config *c)
{
    c->hkv.capture_times = true;
    c->policy = policy;
    c->hkv.pins = 4;
    c->hkv.device_value_bytes = CAPACITY * VALUE / 2;
    c->hkv.fetch = HD_FETCH_SORTED;
}

/* Two thirds full, with a pin, values near and far; a dictionary has grown by a bucket. */
static void world_open(world *w, const char *lock)
{
    hd_config c = hd_config_of(design);
    arrays a;
    hd_batch b = batch_over(&a, HD_OP_INSERT_OR_ASSIGN);
    memset(w, 0, sizeof *w);
    w->far = far_open();
    w->stream = far_stream(w->far);
    failing_init(&w->device, far_seams(w->far)->device);
    counting_init(&w->memory);
    w->memory.seams.device = &w->device.seam;
    c.backend = "cuda";
    c.lock = lock;
    if (!is_dictionary()) as_a_cache(&c);
    if (strcmp(design, "sl") == 0) c.sl.segment_bytes = 128;
    if (strcmp(design, "ovs") == 0) c.ovs.segment_bytes = 128;
    if (ranges) c.ovs.partition = HD_PARTITION_RANGE;
    c.capacity = CAPACITY;
    c.slots = SLOTS;
    c.value_bytes = value_bytes;
    c.seams = &w->memory.seams;
    must(hd_open(&c, &w->table));
    hd_cuda_staging(w->table, staging);
    for (uint64_t from = 0; from < MANY; from += N) {
        fill(&a, from, 1);
        must(hd_run(w->table, &b));
    }
    b = batch_over(&a, HD_OP_LOCK_KEYS);
    b.kernel = NULL;
    b.n = 1;
    must(is_dictionary() ? hd_grow(w->table, CAPACITY / SLOTS + 1) : hd_run(w->table, &b));
    fill(&w->a, 3, 3); /* keys that are there, and keys that are not */
}

static void world_close(world *w)
{
    hd_close(w->table);
    failing_settled(&w->device);
    far_unstream(w->far, w->stream);
    far_close(w->far);
    check(w->memory.live_bytes == 0, "%llu bytes were not given back", (ull)w->memory.live_bytes);
}

static int add_entry(void *context, uint64_t key, uint64_t score, void *value)
{
    uint64_t v[VALUE / 8] = { 0 }, *sum = (uint64_t *)context;
    memcpy(v, value, value_bytes);
    uint64_t all = score ^ v[0] ^ v[1] << 1 ^ v[2] << 2;
    if (is_dictionary())
        *sum += hd_mix64(key + all * 0x9e3779b97f4a7c15u); /* wherever it is */
    else
        *sum = (*sum + key) * 0x9e3779b97f4a7c15u + all;
    return 0;
}

static uint64_t contents(world *w)
{
    uint64_t sum = 0;
    must(hd_check(w->table));
    must(hd_for_each(w->table, add_entry, &sum));
    return sum;
}

/* ---- What is done to it ---------------------------------------------------------------------- */

typedef struct act {
    const char *name;
    hd_status (*run)(world *w, const struct act *a);
    hd_op op;
    bool changes_shape; /* so that made again it does nothing, or something else */
} act;

static hd_status with_own_arrays(world *w, const act *a)
{
    hd_batch b = batch_over(&w->a, a->op);
    return hd_run(w->table, &b);
}

/* The arrays are the device's, and the stream is another one, so the test waits before it reads results. */
static hd_status with_its_arrays(world *w, const act *a)
{
    arrays *there = (arrays *)far_array(w->far, &w->a, sizeof w->a);
    hd_batch b = batch_over(there, a->op);
    b.stream = w->stream;
    b.distinct = times == 1;
    hd_status status = hd_run(w->table, &b);
    far_read(w->far, &w->a, there, sizeof w->a);
    far_drop(w->far, there);
    return status;
}

/* Recorded, and replayed twice. */
static hd_status recorded(world *w, const act *a)
{
    arrays *there = (arrays *)far_array(w->far, &w->a, sizeof w->a);
    hd_batch b = batch_over(there, a->op);
    b.stream = w->stream;
    far_record(w->far, b.stream);
    hd_status status = hd_run(w->table, &b);
    void *r = far_recorded(w->far, b.stream);
    for (int i = 0; i < 2 && !status; i++) far_replay(w->far, r, w->stream);
    far_read(w->far, &w->a, there, sizeof w->a);
    far_drop(w->far, there);
    far_forget(w->far, r);
    return status;
}

static hd_status ask_info(world *w, const act *a) { return (void)a, test_ask_info(w->table); }
static hd_status ask_size(world *w, const act *a) { return (void)a, test_ask_size(w->table); }
static hd_status ask_load(world *w, const act *a) { return (void)a, test_ask_load_factor(w->table); }
static hd_status ask_counters(world *w, const act *a) { return (void)a, test_ask_counters(w->table); }
static hd_status ask_check(world *w, const act *a) { return (void)a, hd_check(w->table); }
static hd_status clear(world *w, const act *a) { return (void)a, hd_clear(w->table); }
static hd_status walk(world *w, const act *a)
{
    uint64_t sum = 0;
    return (void)a, hd_for_each(w->table, add_entry, &sum);
}
static hd_status grow(world *w, const act *a) { return (void)a, hd_grow(w->table, 3 * CAPACITY / SLOTS); }
static hd_status shrink(world *w, const act *a) { return (void)a, hd_shrink(w->table, CAPACITY / SLOTS); }
static hd_status reserve(world *w, const act *a) { return (void)a, hd_reserve(w->table, 2 * CAPACITY + 1); }
static hd_status save(world *w, const act *a) { return (void)a, hd_save(w->table, test_path("saved")); }
static hd_status load(world *w, const act *a) { return (void)a, hd_load(w->table, test_path("kept"), NULL); }
static hd_status load_another(world *w, const act *a) { return (void)a, hd_load(w->table, test_path("another"), NULL); }

/* More new keys than there are places, in arrays of the device: some are pending at first. */
static hd_status grow_by_itself(world *w, const act *a)
{
    enum { KEYS = 48 };
    typedef struct batch {
        uint64_t key[KEYS];
        uint32_t value[KEYS];
        uint8_t outcome[KEYS];
    } batch;
    batch here, *there;
    (void)a;
    for (uint64_t i = 0; i < KEYS; i++) here.key[i] = 1000 + i, here.value[i] = 7;
    there = (batch *)far_array(w->far, &here, sizeof here);
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN,
                   .n = KEYS,
                   .key = there->key,
                   .value = there->value,
                   .outcome = there->outcome,
                   .stream = w->stream };
    hd_status status = hd_run_growing(w->table, &b, 0);
    far_drop(w->far, there);
    return status;
}

static const act others[] = { { "info", ask_info, HD_OP_COUNT_, false },
                              { "size_sync", ask_size, HD_OP_COUNT_, false },
                              { "load_factor_sync", ask_load, HD_OP_COUNT_, false },
                              { "counters_sync", ask_counters, HD_OP_COUNT_, false },
                              { "check", ask_check, HD_OP_COUNT_, false },
                              { "clear", clear, HD_OP_COUNT_, false },
                              { "for_each", walk, HD_OP_COUNT_, false },
                              { "grow", grow, HD_OP_COUNT_, true },
                              { "reserve", reserve, HD_OP_COUNT_, true },
                              { "save", save, HD_OP_COUNT_, false },
                              { "load", load, HD_OP_COUNT_, false },
                              { "load another shape", load_another, HD_OP_COUNT_, false } };

/* ---- Each call of the device, in each way ---------------------------------------------------- */

typedef struct way {
    const char *name;
    int code;
    bool sticky;
} way;

static const way ways[] = { { "no memory", HD_DEVICE_NO_MEMORY, false },
                            { "a wrong argument", FAKE_INVALID, false },
                            { "a failed launch", FAKE_LAUNCH_FAILED, false },
                            { "the device is lost", FAKE_LAUNCH_FAILED, true } };
enum { WAYS = sizeof ways / sizeof *ways };

static uint64_t failures;

/* What may fail without a word: what is given back when all is done; the old state of a growth or a load. */
static bool may_be_silent(const act *a, const char *call)
{
    return strncmp(call, "give", 4) == 0 || strstr(call, "_destroy") ||
           ((a->changes_shape || a->run == load || a->run == load_another) && strcmp(call, "use") == 0);
}

/* After a device that is lost, nothing works, and everything says so. */
static void all_is_lost(world *w)
{
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        hd_status s = others[k].run(w, &others[k]);
        /* it may be as large already, or larger */
        bool asks_nothing = others[k].run == ask_info || (is_dictionary() && others[k].changes_shape);
        check(s == HD_ECUDA || ((s == HD_OK || s == HD_EINVAL) && asks_nothing), "%s of a lost device: %s",
              others[k].name, hd_status_name(s));
    }
    hd_batch b = batch_over(&w->a, HD_OP_FIND);
    must_fail(hd_run(w->table, &b), HD_ECUDA, NULL);
}

/* The act with the device failing at its call number k. False when it does not make so many. */
static bool fail_one(const act *a, const char *lock, const way *how, uint64_t k, uint64_t before, uint64_t after)
{
    world w;
    world_open(&w, lock);
    uint64_t live = w.memory.live_bytes, there = w.device.pieces;
    w.device.fail_at = w.device.calls + k;
    w.device.code = how->code;
    w.device.sticky = how->sticky;
    hd_status s = a->run(&w, a);
    const char *failed = w.device.failed;
    test_case("%s, lock %s: call %llu (%s) fails: %s", a->name, lock, (ull)k, failed ? failed : "none", how->name);
    if (!failed) {
        must(s);
        world_close(&w);
        return false;
    }
    check(s == HD_ECUDA || (s == HD_ENOMEM && how->code == HD_DEVICE_NO_MEMORY) ||
              (s == HD_OK && may_be_silent(a, failed)),
          "%s: %s", hd_status_name(s), hd_why());
    if (s) check(strlen(hd_why()) > 10, "no reason is given");
    if (how->sticky) {
        if (s) all_is_lost(&w);
    } else {
        w.device.fail_at = 0;
        uint64_t now = contents(&w);
        if (s)
            check(now == before || now == after || in_steps, "the table is neither what it was nor what it was to be");
        else
            check(now == after, "it says that it is done, and is not");
        bool part_of_the_way = is_dictionary() && a->changes_shape;
        /* one: where arrays are brought */
        check(w.device.pieces <= there + 1 || !s || part_of_the_way, "%lld pieces more are held over there",
              (long long)(w.device.pieces - there));
        if (s) check(w.memory.live_bytes == live, "%lld bytes more are held", (long long)(w.memory.live_bytes - live));
        must(a->run(&w, a));
        must(hd_check(w.table));
    }
    world_close(&w);
    failures++;
    return true;
}

/* Call k fails in one way, in long runs in all. */
static bool fails_in(int way, uint64_t k)
{
    return (uint64_t)way == k % WAYS || (test_is_long() && test_takes(k * WAYS + (uint64_t)way));
}

static void fail_each(const act *a, const char *lock)
{
    world w;
    test_case("%s, lock %s, nothing fails", a->name, lock);
    world_open(&w, lock);
    uint64_t before = contents(&w);
    must(a->run(&w, a));
    uint64_t after = contents(&w);
    world_close(&w);
    for (uint64_t k = 1, more = 1; more; k++) {
        more = 0;
        for (int i = 0; i < WAYS; i++)
            if (fails_in(i, k)) more |= fail_one(a, lock, &ways[i], k, before, after);
    }
}

/* For the loads. */
static void keep_a_snapshot(void)
{
    world w;
    world_open(&w, "ordered");
    hd_batch b = batch_over(&w.a, HD_OP_INSERT_OR_ASSIGN);
    must(hd_run(w.table, &b));
    must(hd_save(w.table, test_path("kept")));
    must(hd_grow(w.table, 2 * CAPACITY / SLOTS));
    must(hd_save(w.table, test_path("another")));
    world_close(&w);
}

static void every_operation(void)
{
    static hd_status (*const run[])(world *, const act *) = { with_own_arrays, with_its_arrays, recorded };
    static const char *const in[] = { "own arrays", "the device's arrays", "recorded" };
    failures = 0;
    keep_a_snapshot(); /* for this test and the next three */
    for (int op = 0; op < HD_OP_COUNT_; op++)
        for (int r = 0; r < 3 && !hd_op_does((hd_op)op, HD_ORDERED); r++) {
            char name[64];
            snprintf(name, sizeof name, "%s, %s", hd_op_name((hd_op)op), in[r]);
            act a = { name, run[r], (hd_op)op, false };
            fail_each(&a, "ordered");
        }
    check(failures > 500 || test_times(16) < 16, "only %llu failures", (ull)failures);
    test_tried("device-faults", failures, "calls of the device that failed under every operation");
}

static void every_other_call(void)
{
    failures = 0;
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) fail_each(&others[k], "ordered");
    test_tried("device-faults", failures, "under every other call of a table");
}

/* This machine's memory is refused to what brings a table here, or opens another: once, and for good. */
static void every_piece_of_this_machine_s(void)
{
    uint64_t refused = 0;
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        for (int for_good = 0; for_good < 2; for_good++)
            for (uint64_t take = 1, more = 1; more; take++) {
                world w;
                world_open(&w, "ordered");
                uint64_t before = contents(&w), live = w.memory.live_bytes, pieces = w.device.pieces;
                test_case("%s, piece of memory %llu refused%s", others[k].name, (ull)take,
                          for_good ? ", and all after it" : "");
                uint64_t takes = w.memory.takes;
                w.memory.refuse_at = takes + take;
                w.memory.refuse_after = for_good;
                hd_status s = others[k].run(&w, &others[k]);
                more = w.memory.takes >= takes + take;
                w.memory.refuse_at = 0;
                check(s == (more ? HD_ENOMEM : HD_OK), "%s: %s", hd_status_name(s), hd_why());
                if (more) {
                    check(contents(&w) == before, "the table has changed");
                    check(w.memory.live_bytes == live && w.device.pieces == pieces, "more is held");
                    must(others[k].run(&w, &others[k]));
                    must(hd_check(w.table));
                }
                world_close(&w);
                refused += more;
            }
    for (uint64_t take = 1, more = 1; more; take++) { /* and to open */
        world w;
        hd_table *t = NULL;
        world_open(&w, "ordered");
        hd_config c = hd_config_default();
        c.backend = "cuda";
        c.seams = &w.memory.seams;
        w.memory.refuse_at = w.memory.takes + take;
        hd_status s = hd_open(&c, &t);
        more = w.memory.takes >= w.memory.refuse_at;
        w.memory.refuse_at = 0;
        check(s == (more ? HD_ENOMEM : HD_OK) && (t == NULL) == (more != 0), "%s", hd_status_name(s));
        hd_close(t);
        world_close(&w);
        refused += more;
    }
    check(refused > 20, "only %llu were refused", (ull)refused);
    test_tried("memory", refused, "pieces of this machine's memory refused to tables on a device");
}

/* Of each role one, under every lock there is. */
static void every_lock(void)
{
    static const hd_op ops[] = { HD_OP_FIND, HD_OP_ASSIGN, HD_OP_INSERT_AND_EVICT };
    hd_row lock;
    failures = 0;
    for (size_t i = 0; hd_list(HD_LOCKS, i, &lock); i++)
        for (size_t k = 0; k < 3 && strcmp(lock.name, "ordered") != 0; k++)
            for (int far = 0; far < 2; far++) {
                act a = { hd_op_name(ops[k]), far ? with_its_arrays : with_own_arrays, ops[k], false };
                fail_each(&a, lock.name);
            }
    test_tried("device-faults", failures, "under every other lock");
}

/* Keys that repeat: gpu/hkv/repeated_keys.h. */
static void every_pass(void)
{
    static const hd_op ops[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_INSERT_AND_EVICT, HD_OP_FIND_OR_INSERT };
    failures = 0;
    policy = "lru", times = 3, in_steps = true;
    keep_a_snapshot();
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
        for (int far = 0; far < 2; far++) {
            act a = { hd_op_name(ops[k]), far ? with_its_arrays : with_own_arrays, ops[k], false };
            kernel = "coalesced";
            fail_each(&a, "ordered");
        }
    policy = "lfu", times = 1, in_steps = false, kernel = NULL;
    test_tried("device-faults", failures, "in each pass over keys that repeat");
}

/* Host arrays that go to the device in pieces of a few items, and arrays that go there whole, slot by slot. */
static void every_copy_of_host_arrays(void)
{
    static const struct {
        hd_op op;
        hd_staging_sizes sizes;
    } cases[] = { { HD_OP_FIND, { 512, 0 } },  /* arrays one by one, in pieces */
                  { HD_OP_FIND, { 1024, 0 } }, /* items in pieces, and their launches */
                  { HD_OP_INSERT_AND_EVICT, { 768, 0 } },
                  { HD_OP_INSERT_AND_EVICT, { 1536, 0 } },
                  { HD_OP_EXPORT, { 1024, 0 } },
                  { HD_OP_EXPORT, { 1536, 0 } },
                  { HD_OP_FIND_OR_INSERT_PTR, { 128, 0 } } };
    failures = 0;
    in_steps = true;
    keep_a_snapshot();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char name[64];
        snprintf(name, sizeof name, "%s, slots of %d bytes", hd_op_name(cases[k].op), (int)cases[k].sizes.slot_bytes);
        act a = { name, with_own_arrays, cases[k].op, false };
        staging = &cases[k].sizes;
        fail_each(&a, "ordered");
    }
    staging = &in_one_go, in_steps = false;
    test_tried("device-faults", failures, "while host arrays are copied");
}

/* A batch that counts in the table's room fails in the middle, and the next one at each of its calls, clearing what was
 * left there among them: the one after that is as it should be. */
static void twice_in_a_row(void)
{
    static const hd_op ops[] = { HD_OP_FIND, HD_OP_INSERT_OR_ASSIGN };
    failures = 0;
    policy = "lru", times = 3, kernel = "coalesced";
    for (size_t k = 0; k < 2; k++)
        for (uint64_t first = 3, more = 1; more; first++) {
            more = 0;
            for (uint64_t second = 1, again = 1; again; second++) {
                world w;
                act a = { hd_op_name(ops[k]), with_its_arrays, ops[k], false };
                arrays wanted;
                world_open(&w, "ordered");
                must(a.run(&w, &a));
                wanted = w.a;
                fill(&w.a, 3, 3);
                test_case("%s fails at call %llu, then at call %llu", a.name, (ull)first, (ull)second);
                w.device.fail_at = w.device.calls + first;
                w.device.code = FAKE_LAUNCH_FAILED;
                hd_status s = a.run(&w, &a);
                again = s != HD_OK;
                more |= again;
                w.device.failed = NULL;
                w.device.fail_at = again ? w.device.calls + second : 0;
                if (again) s = a.run(&w, &a);
                again = again && w.device.failed;
                failures += again;
                w.device.fail_at = 0;
                fill(&w.a, 3, 3);
                must(a.run(&w, &a));
                if (ops[k] == HD_OP_FIND)
                    check(memcmp(w.a.value_out, wanted.value_out, sizeof wanted.value_out) == 0 &&
                              memcmp(w.a.outcome, wanted.outcome, N) == 0,
                          "it finds something else");
                must(hd_check(w.table));
                world_close(&w);
            }
        }
    policy = "lfu", times = 1, kernel = NULL;
    check(failures > 20, "only %llu failed twice", (ull)failures);
    test_tried("device-faults", failures, "in two batches, one after the other");
}

/* The least device memory of such a table, as the refusal of less says it. */
static uint64_t least_near(world *w)
{
    must_fail(hd_set_near(w->table, 1), HD_EINVAL, "near: 1 bytes");
    const char *at = hd_why() + strlen("near: 1 bytes");
    return strtoull(at + strcspn(at, "0123456789"), NULL, 10);
}

static uint64_t a_limit;
static hd_status lower_limit(world *w, const act *a) { return (void)a, hd_set_near(w->table, a_limit); }
static hd_status other_limits(world *w, const act *a)
{
    hd_status status = lower_limit(w, a);
    if (!status) status = hd_set_near(w->table, a_limit + 300);
    return status ? status : hd_set_near(w->table, 0);
}

/* Windows have their usual sizes, which depend on the limit. */
static void every_limit(void)
{
    static const act both[] = { { "set_near", lower_limit, HD_OP_COUNT_, true },
                                { "set_near, down and up", other_limits, HD_OP_COUNT_, true } };
    world w;
    hd_cuda_windows(0);
    world_open(&w, "ordered");
    a_limit = least_near(&w) + 128;
    world_close(&w);
    for (int k = 0; k < 2; k++) fail_each(&both[k], "ordered");
    hd_cuda_windows(CAPACITY);
}

static const act smaller = { "shrink", shrink, HD_OP_COUNT_, true };
static hd_status (*const run[])(world *, const act *) = { with_own_arrays, with_its_arrays, recorded };

/* A dictionary: its operations, and the other calls. Growth may stop between two launches, and no entry is
 * lost. */
static void every_call_of_words(const char *name, const char *(*unsupported)(hd_op))
{
    static const act larger = { "run_growing", grow_by_itself, HD_OP_COUNT_, true };
    failures = 0;
    design = name, value_bytes = 4;
    keep_a_snapshot();
    for (int op = 0; op < HD_OP_COUNT_; op++)
        for (int r = 0; r < 3 && !unsupported((hd_op)op); r++) {
            if (!test_is_long() && r != op % 3) continue;
            act a = { hd_op_name((hd_op)op), run[r], (hd_op)op, false };
            fail_each(&a, "ordered");
        }
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) fail_each(&others[k], "ordered");
    fail_each(&smaller, "ordered");
    if (strcmp(name, "ovs") == 0) every_limit();
    in_steps = true; /* items that were not pending are there */
    fail_each(&larger, "ordered");
    in_steps = false;
    design = "hkv", value_bytes = VALUE;
    test_tried("device-faults", failures, "under every call of a dictionary");
}

static void every_call_of_a_dictionary(void) { every_call_of_words("hive", hive_unsupported); }
static void every_call_of_segments(void) { every_call_of_words("ovs", ovs_unsupported); }
static void every_call_of_ranges(void)
{
    ranges = true;
    every_call_of_words("ovs", ovs_unsupported);
    ranges = false;
}

/* A batch of an ordered table that inserts or erases is many launches, of which one changes the table, and one more
 * changes values. */
static void every_call_of_an_ordered_table(void)
{
    failures = 0;
    design = "sl", value_bytes = 4;
    keep_a_snapshot();
    for (int op = 0; op < HD_OP_COUNT_; op++)
        for (int r = 0; r < 3 && !sl_unsupported((hd_op)op); r++) {
            if (!test_is_long() && r != op % 3) continue;
            act a = { hd_op_name((hd_op)op), run[r], (hd_op)op, false };
            in_steps = hd_op_row_of((hd_op)op)->role == HD_INSERTER;
            fail_each(&a, "ordered");
        }
    in_steps = true;
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) fail_each(&others[k], "ordered");
    fail_each(&smaller, "ordered");
    in_steps = false;
    every_limit();
    design = "hkv", value_bytes = VALUE;
    test_tried("device-faults", failures, "under every call of an ordered dictionary");
}

static const struct CMUnitTest tests[] = { unit(every_operation),
                                           unit(every_other_call),
                                           unit(every_piece_of_this_machine_s),
                                           unit(every_lock),
                                           unit(every_pass),
                                           unit(every_copy_of_host_arrays),
                                           unit(twice_in_a_row),
                                           unit(every_call_of_a_dictionary),
                                           unit(every_call_of_segments),
                                           unit(every_call_of_ranges),
                                           unit(every_call_of_an_ordered_table) };

int main(void)
{
    hd_cuda_windows(CAPACITY); /* the usual ones are most of a small table's memory */
    return test_run(tests);
}
