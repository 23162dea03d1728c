/* SPDX-License-Identifier: Apache-2.0
 *
 * t_alloc.c - failures of memory and files. Every allocation of every public call fails, once and for good; every file
 * call of save and load fails in every way; for every design. Each time the status is the documented one, nothing
 * leaks, the table is unchanged, and the same call works afterwards.
 */
#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <xxhash.h>

#include "judge/oracle.h"
#include "judge/rules.h"
#include "judge/mem_files.h"
#include "base/op.h"
#include "policies/policy.h"
#include "tests/testing.h"

enum { N = 40, LIMIT = 2, VALUE_BYTES = 24, SLOTS = 4, CAPACITY = 32 };

/* A table with two thirds of its entries, on seams that can fail, and snapshots of it on a shelf. */
typedef struct world {
    counting memory;
    judge_shelf shelf;
    hd_seams seams;
    const struct kind *kind;
    hd_config config;
    hd_table *table, *second; /* second: what an act opened */
    uint64_t key[N], score[N], score_out[N], list_key[N], list_score[N], list_item[N], count;
    uint64_t key_out[N * LIMIT];
    uint8_t value[N][VALUE_BYTES], value_out[N * LIMIT][VALUE_BYTES], list_value[N][VALUE_BYTES], outcome[N], flag[N];
    void *ptr[N];
    bool missing[3]; /* of the keys that were to be pinned: did not get in */
} world;

/* Of the tables of the running test. */
static const char *backend = "ref";

/* Tables of a cache that is full, with pins and, in dual mode, two tiers; of a dictionary, most of whose keys are in,
 * and some in the stash; and of segments, some of which are in host memory in the other mode. */
typedef struct kind {
    const char *design;
    const char *policy[2], *counted; /* single, dual; of batches: what counts        */
    uint32_t slots, other_slots, value_bytes, pins;
    void (*shape)(hd_config *c, bool dual); /* what else a table of the mode has     */
    bool merges, mixes;                     /* it shrinks without memory; it has mixed batches */
} kind;

static void shape_hkv(hd_config *c, bool dual)
{
    c->hkv.fetch = HD_FETCH_SORTED;
    c->hkv.dual = dual;
    c->hkv.device_value_bytes = dual ? CAPACITY * VALUE_BYTES / 2 : 0;
}
static void shape_hive(hd_config *c, bool dual)
{
    if (dual) c->hive.hashes = 3, c->layout = HD_LAYOUT_MASKS;
}
static void shape_ovs(hd_config *c, bool dual)
{
    c->ovs.segment_bytes = 128;
    c->ovs.near_bytes = dual ? 128 : 0;
    c->ovs.partition = dual ? HD_PARTITION_RANGE : HD_PARTITION_HASH;
}
static void shape_sl(hd_config *c, bool dual)
{
    c->sl.segment_bytes = dual ? 256 : 128;
    c->value_bytes = dual ? 8 : 4;
}

static const kind kinds[] = {
    { "hkv", { "lru", "custom" }, "lfu", SLOTS, 2 * SLOTS, VALUE_BYTES, 8, shape_hkv, false, false },
    { "hive", { "none", "none" }, "none", 2 * SLOTS, 8 * SLOTS, 4, 0, shape_hive, false, true },
    { "ovs", { "none", "none" }, "none", 16, 16, 4, 0, shape_ovs, true, true },
    { "sl", { "none", "none" }, "none", 16, 16, 4, 0, shape_sl, false, false }
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bool is_dictionary(const kind *q) { return strcmp(q->design, "hkv") != 0; }

static hd_config config_of(const kind *q, const char *policy, bool dual)
{
    hd_config c = test_usual(.design = q->design, .backend = backend, .policy = policy, .capacity = CAPACITY,
                             .slots = q->slots, .value_bytes = q->value_bytes, .hkv.pins = q->pins);
    q->shape(&c, dual);
    return c;
}

/* Whether tables of that kind have the operation. */
static bool has_op(const kind *q, hd_op op)
{
    hd_info info = { .design = q->design, .backend = "ref" };
    return judge_table_runs(&info, op, NULL);
}

static void world_open(world *w, const kind *q, const char *policy, bool dual)
{
    memset(w, 0, sizeof *w);
    w->kind = q;
    counting_init(&w->memory);
    judge_shelf_open(&w->shelf);
    w->seams = w->shelf.seams;
    w->seams.memory = w->memory.seams.memory;
    w->config = config_of(q, policy, dual);
    w->config.seams = &w->seams;
    uint64_t r = 1;
    for (int i = 0; i < N; i++) {
        w->key[i] = (uint64_t)i;
        w->score[i] = test_below(&r, 9);
        w->flag[i] = HD_EITHER;
        for (int k = 0; k < VALUE_BYTES; k++) w->value[i][k] = (uint8_t)test_random(&r);
    }
    must(hd_open(&w->config, &w->table));
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = N, .key = w->key, .value = w->value, .score = w->score };
    must(hd_run(w->table, &b));
    if (q->pins)
        must(hd_run(w->table,
                    &(hd_batch){
                        .op = HD_OP_LOCK_KEYS, .n = 3, .key = w->key + N - 3, .holder = 1, .outcome = w->outcome }));
    if (is_dictionary(q)) must(hd_grow(w->table, CAPACITY / q->slots + 3));
    for (int i = 0; i < 3; i++) w->missing[i] = w->outcome[i] == HD_MISS;
    must(hd_save(w->table, "old"));
    must(hd_save(w->table, "same"));
    hd_config other = w->config;
    hd_table *t;
    other.capacity = 2 * CAPACITY;
    other.seed = 5;
    must(hd_open(&other, &t));
    must(hd_run(t, &b));
    must(hd_save(t, "other"));
    hd_close(t);
}

static void world_close(world *w)
{
    hd_close(w->table);
    check(w->memory.live_bytes == 0, "%llu bytes were not given back", (ull)w->memory.live_bytes);
    judge_shelf_close(&w->shelf);
}

/* What must not change when a call fails. */
typedef struct photograph {
    uint64_t contents;
    hd_info info;
    hd_counters counters;
} photograph;

static int add_entry(void *context, uint64_t key, uint64_t score, void *value)
{
    uint64_t pair[2] = { key, score };
    photograph *p = (photograph *)context;
    p->contents += XXH3_64bits_withSeed(value, p->info.value_bytes, XXH3_64bits(pair, sizeof pair));
    return 0;
}

static photograph take_photograph(world *w)
{
    photograph p = { 0 };
    must(hd_check(w->table));
    must(hd_table_info(w->table, &p.info));
    must(hd_for_each(w->table, add_entry, &p));
    must(hd_counters_sync(w->table, &p.counters));
    return p;
}

/* How large it is, apart, and how much of it may be near. */
static void forget_size(hd_info *info)
{
    info->buckets = info->capacity = info->places = info->stash_buckets = info->memory_bytes = 0;
    info->values_device_bytes = info->values_host_bytes = 0;
    info->ovs.near_bytes = 0;
}

/* resized: some of the way it may have come. */
static void same_photograph(world *w, const photograph *then, bool resized)
{
    photograph now = take_photograph(w), was = *then, *before = &was;
    if (resized) forget_size(&now.info), forget_size(&was.info);
    check(memcmp(&now, before, sizeof now) == 0, "the table has changed: contents %llx to %llx, clock %llu to %llu",
          (ull)before->contents, (ull)now.contents, (ull)before->info.now, (ull)now.info.now);
    if (!w->kind->pins) return;
    /* the pins too: only the holder can lift them */
    uint8_t fate[2][3];
    for (uint64_t holder = 2; holder >= 1; holder--)
        must(hd_run(w->table, &(hd_batch){ .op = HD_OP_UNLOCK_KEYS,
                                           .n = 3,
                                           .key = w->key + N - 3,
                                           .holder = holder,
                                           .outcome = fate[holder - 1] }));
    for (int i = 0; i < 3; i++)
        check((fate[1][i] == HD_PINNED && fate[0][i] == HD_HIT) ||
                  (fate[1][i] == HD_MISS && fate[0][i] == HD_MISS && w->missing[i]),
              "pin %d is lost", i);
}

/* ---- Acts: every public call that could need memory or files --------------------------------- */

static hd_batch batch_of(world *w, hd_op op)
{
    hd_batch b = { .op = op, .n = N, .holder = is_dictionary(w->kind) ? 0 : 2, .pred = "score_in" };
    b.elem = is_dictionary(w->kind) ? HD_I32 : HD_U64;
    test_point(&b, w);
    b.pred_arg[1] = 4;
    if (hd_op_does(op, HD_ORDERED)) b.key_out = w->key_out;
    if (op == HD_OP_RANGE) b.key2 = w->key, b.limit = LIMIT;
    if (op == HD_OP_EXPORT || op == HD_OP_EXPORT_IF || op == HD_OP_PROMOTE) b.n = CAPACITY;
    return b;
}

typedef struct act {
    const char *name;
    hd_status (*run)(world *w, const struct act *a);
    hd_op op;
    const char *file;
    bool takes;      /* memory: all others must do without */
    bool dictionary; /* for tables that shrink and mix     */
    bool resizes;    /* where launches come one by one it may fail between two of them */
} act;

static hd_status act_run(world *w, const act *a)
{
    hd_batch b = batch_of(w, a->op);
    return hd_run(w->table, &b);
}

static hd_status act_distinct(world *w, const act *a)
{
    hd_batch b = batch_of(w, a->op);
    b.distinct = true;
    return hd_run(w->table, &b);
}

static hd_status act_open(world *w, const act *a) { return (void)a, hd_open(&w->config, &w->second); }

static hd_status act_open_bare(world *w, const act *a)
{
    hd_config c = w->config;
    (void)a;
    c.hkv.pins = 0;
    c.slots = w->kind->other_slots; /* of a cache: with lower bounds */
    c.lock = "none";
    if (!is_dictionary(w->kind)) {
        c.value_bytes = 0;
        c.layout = HD_LAYOUT_PAIRS;
    }
    return hd_open(&c, &w->second);
}

static hd_status act_grow(world *w, const act *a) { return (void)a, hd_grow(w->table, 8 * CAPACITY / w->kind->slots); }
static hd_status act_reserve(world *w, const act *a) { return (void)a, hd_reserve(w->table, 5 * CAPACITY + 1); }
static hd_status act_shrink(world *w, const act *a)
{
    return (void)a, hd_shrink(w->table, w->config.capacity / w->kind->slots);
}
/* Some segments become far, or, where few were near, near. */
static hd_status act_near(world *w, const act *a)
{
    return (void)a, hd_set_near(w->table, w->config.ovs.near_bytes ? 0 : 3 * w->config.ovs.segment_bytes);
}
static hd_status act_save(world *w, const act *a) { return hd_save(w->table, a->file); }

static hd_status act_load(world *w, const act *a)
{
    uint64_t dropped = 12345;
    hd_status s = hd_load(w->table, a->file, &dropped);
    check(s == HD_OK || dropped == 12345, "dropped was written by a call that failed");
    return s;
}

static hd_status act_open_snapshot(world *w, const act *a)
{
    hd_config c = hd_config_default();
    c.backend = backend;
    c.seams = &w->seams;
    return hd_open_snapshot(a->file, &c, &w->second);
}

static hd_status act_size(world *w, const act *a) { return (void)a, test_ask_size(w->table); }
static hd_status act_mixed(world *w, const act *a)
{
    hd_batch b = batch_of(w, a->op);
    uint8_t each[N];
    for (int i = 0; i < N; i++)
        each[i] = (uint8_t)(i % 3 == 0 ? HD_OP_INSERT_OR_ASSIGN : i % 3 == 1 ? HD_OP_FIND : HD_OP_ERASE);
    b.each = each;
    return hd_run(w->table, &b);
}

static hd_status act_load_factor(world *w, const act *a) { return (void)a, test_ask_load_factor(w->table); }
static hd_status act_counters(world *w, const act *a) { return (void)a, test_ask_counters(w->table); }
static hd_status act_info(world *w, const act *a) { return (void)a, test_ask_info(w->table); }
static hd_status act_epoch(world *w, const act *a) { return (void)a, hd_epoch_set(w->table, 3); }
static hd_status act_check(world *w, const act *a) { return (void)a, hd_check(w->table); }
static hd_status act_clear(world *w, const act *a) { return (void)a, hd_clear(w->table); }

static const act acts[] = { { "open", act_open, HD_OP_FIND, NULL, true, false, false },
                            { "open without values and pins", act_open_bare, HD_OP_FIND, NULL, true, false, false },
                            { "grow", act_grow, HD_OP_FIND, NULL, true, false, true },
                            { "reserve", act_reserve, HD_OP_FIND, NULL, true, false, true },
                            { "save", act_save, HD_OP_FIND, "old", true, false, false },
                            { "save anew", act_save, HD_OP_FIND, "new", true, false, false },
                            { "load", act_load, HD_OP_FIND, "same", true, false, false },
                            { "load another shape", act_load, HD_OP_FIND, "other", true, false, false },
                            { "open_snapshot", act_open_snapshot, HD_OP_FIND, "other", true, false, false },
                            { "size", act_size, HD_OP_FIND, NULL, false, false, false },
                            { "load factor", act_load_factor, HD_OP_FIND, NULL, false, false, false },
                            { "counters", act_counters, HD_OP_FIND, NULL, false, false, false },
                            { "info", act_info, HD_OP_FIND, NULL, false, false, false },
                            { "epoch", act_epoch, HD_OP_FIND, NULL, false, false, false },
                            { "check", act_check, HD_OP_FIND, NULL, false, false, false },
                            { "clear", act_clear, HD_OP_FIND, NULL, false, false, false },
                            { "shrink", act_shrink, HD_OP_FIND, NULL, true, true, true },
                            { "near", act_near, HD_OP_FIND, NULL, true, true, true },
                            { "mixed", act_mixed, HD_OP_INSERT_OR_ASSIGN, NULL, false, true, false } };
enum { ACTS = sizeof acts / sizeof *acts };

static bool can(const kind *q, const act *a)
{
    return (is_dictionary(q) || !a->dictionary) && (q->mixes || a->run != act_mixed) &&
           (q->shape == shape_ovs || a->run != act_near);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Refuses the k-th take from now on; k = 0: none. */
static void refuse(world *w, uint64_t k, bool for_good)
{
    w->memory.refuse_at = k ? w->memory.takes + k : 0;
    w->memory.refuse_after = for_good;
}

static void close_second(world *w)
{
    hd_close(w->second);
    w->second = NULL;
}

/* Returns how many takes the act makes. */
static uint64_t refuse_each(const kind *q, const act *a, const char *policy, bool dual, bool for_good)
{
    for (uint64_t k = 1;; k++) {
        world w;
        world_open(&w, q, policy, dual);
        test_case("%s, %s, %s%s, take %llu refused%s", q->design, a->name, policy, dual ? ", dual" : "", (ull)k,
                  for_good ? " and all after it" : "");
        photograph before = take_photograph(&w);
        uint64_t live = w.memory.live_bytes, files = judge_shelf_files(&w.shelf), takes = w.memory.takes;
        refuse(&w, k, for_good);
        hd_status s = a->run(&w, a);
        uint64_t made = w.memory.takes - takes;
        refuse(&w, 0, false);
        check(judge_shelf_descriptors(&w.shelf) == 0, "a file is still open");
        if (made < k) { /* it does not take that often */
            check(s == HD_OK, "it fails by itself: %s", hd_why());
            close_second(&w);
            world_close(&w);
            return k - 1;
        }
        check(s == HD_ENOMEM, "%s instead of HD_ENOMEM: %s", hd_status_name(s), hd_why());
        check(hd_why()[0], "no reason is given");
        check(w.second == NULL, "a table came of it");
        /* the machine keeps its lanes from batch to batch, until the table is closed */
        bool keeps = strcmp(backend, "host") == 0;
        check(keeps || w.memory.live_bytes == live, "%lld bytes more are held",
              (long long)(w.memory.live_bytes - live));
        check(judge_shelf_files(&w.shelf) == files, "a file was left behind");
        same_photograph(&w, &before, keeps && is_dictionary(q) && a->resizes);
        must(a->run(&w, a));
        must(hd_check(w.table));
        close_second(&w);
        world_close(&w);
    }
}

/* Over the acts of every kind of table. */
static uint64_t of_each_act(uint64_t (*failures)(const kind *q, const act *a))
{
    uint64_t n = 0;
    for (const kind *q = kinds; q < kinds + KINDS; q++)
        for (const act *a = acts; a < acts + ACTS; a++) n += can(q, a) ? failures(q, a) : 0;
    return n;
}

static uint64_t refuse_in_each_mode(const kind *q, const act *a)
{
    uint64_t refused = 0;
    for (int way = 0; way < 4; way++) {
        uint64_t takes = refuse_each(q, a, q->policy[way / 2], way / 2, way % 2);
        bool needs = a->takes && !(q->merges && a->run == act_shrink && way / 2 == 0); /* but with ranges */
        check((takes > 0) == needs, "it takes memory %llu times", (ull)takes);
        refused += takes;
    }
    return refused;
}

static void memory_is_refused(void)
{
    backend = "ref";
    test_tried("memory", of_each_act(refuse_in_each_mode),
               "pieces of memory that were refused, under every call of a table");
}

static uint64_t refuse_in_one_mode(const kind *q, const act *a)
{
    bool dual = (a - acts) % 2;
    return refuse_each(q, a, q->policy[0], dual, false) + refuse_each(q, a, q->policy[0], dual, true);
}

/* The host machine allocates memory for what it records; a batch without this memory has not begun. */
static void memory_is_refused_to_the_host_machine(void)
{
    backend = "host";
    uint64_t refused = of_each_act(refuse_in_one_mode);
    for (const kind *q = kinds; q < kinds + KINDS; q++)
        for (int op = 0; op < HD_OP_COUNT_; op++)
            for (int for_good = 0; for_good < 2 && has_op(q, (hd_op)op); for_good++) {
                act a = { hd_op_name((hd_op)op), act_run, (hd_op)op, NULL, true, false, false };
                if (for_good == op % 2 || test_is_long()) refused += refuse_each(q, &a, q->counted, op % 2, for_good);
            }
    test_tried("memory", refused, "refused to tables on the host machine");
}

/* No batch takes memory, but where a verify build checks the promise of distinct keys. */
static void batches_take_none(void)
{
    backend = "ref";
    for (int way = 0; way < 2 * KINDS * HD_OP_COUNT_; way++) {
        const kind *q = &kinds[way / (2 * HD_OP_COUNT_)];
        hd_op op = (hd_op)(way / 2 % HD_OP_COUNT_);
        bool dual = way % 2;
        if (!has_op(q, op)) continue;
        act a = { hd_op_name(op), act_run, op, NULL, false, false, false };
        check(refuse_each(q, &a, dual ? q->counted : q->policy[0], dual, true) == 0, "%s takes memory", a.name);
        a.run = act_distinct;
        uint64_t takes = refuse_each(q, &a, dual ? q->counted : q->policy[0], dual, true);
#ifdef HD_VERIFY
        check(takes <= 1, "%s takes memory %llu times", a.name, (ull)takes);
#else
        check(takes == 0, "%s takes memory", a.name);
#endif
    }
}

/* ---- Files ----------------------------------------------------------------------------------- */

typedef struct fault {
    const char *name;
    int with;
} fault;

static const fault faults[] = { { "EIO", EIO }, { "ENOSPC", ENOSPC }, { "EINTR", EINTR }, { "short", SHELF_SHORT } };

static void remove_parts(world *w)
{
    for (int i = 0; i < SHELF_FILES; i++) {
        const char *name = w->shelf.file[i].name;
        if (w->shelf.file[i].there && strstr(name, ".part")) w->seams.file.unlink(&w->shelf, name);
    }
}

static uint64_t hash_of_file(world *w, const char *name)
{
    const judge_shelf_file *f = judge_shelf_find(&w->shelf, name);
    return f ? XXH3_64bits(f->bytes, f->size) : 0;
}

/* The table is no longer what `old` holds. */
static void world_changed(world *w, const kind *q)
{
    world_open(w, q, q->counted, false);
    w->score[0] = 100;
    w->value[0][0] ^= 1;
    hd_batch b = batch_of(w, HD_OP_INSERT_OR_ASSIGN);
    must(hd_run(w->table, &b));
}

/* Returns how many file calls the act makes. */
static uint64_t fail_each(const kind *q, const act *a, const fault *f, bool for_good)
{
    world well;
    world_changed(&well, q);
    must(a->run(&well, a));
    uint64_t new_file = hash_of_file(&well, a->file);
    close_second(&well);
    world_close(&well);

    for (uint64_t k = 1;; k++) {
        world w;
        test_case("%s, %s, file call %llu, %s %s", q->design, a->name, (ull)k, f->name, for_good ? "for good" : "once");
        world_changed(&w, q);
        uint64_t live = w.memory.live_bytes, files = judge_shelf_files(&w.shelf), old_file = hash_of_file(&w, a->file);
        photograph before = take_photograph(&w);
        w.shelf.calls = 0, w.shelf.fail_at = k, w.shelf.fail_with = f->with, w.shelf.fail_after = for_good;
        hd_status s = a->run(&w, a);
        uint64_t calls = w.shelf.calls, file = hash_of_file(&w, a->file);
        w.shelf.fail_at = 0;
        check(judge_shelf_descriptors(&w.shelf) == 0, "a file is still open");
        if (f->with == SHELF_SHORT) check(s == HD_OK, "a short transfer is no failure: %s", hd_why());
        check(s == HD_OK || s == HD_EIO, "%s instead of HD_EIO: %s", hd_status_name(s), hd_why());
        check(file == old_file || file == new_file, "the file is neither the old nor the new one");
        if (s == HD_OK) check(file == new_file, "it says it has saved, but the file is not the new one");
        check(judge_shelf_files(&w.shelf) == files || file == new_file || for_good, "a part was left behind");
        if (s) {
            check(strstr(hd_why(), a->file), "the file is not named: %s", hd_why());
            check(w.second == NULL, "a table came of it");
            check(w.memory.live_bytes == live, "%lld bytes more are held", (long long)(w.memory.live_bytes - live));
            same_photograph(&w, &before, false);
            remove_parts(&w);
            must(a->run(&w, a));
        }
        must(hd_check(w.table));
        close_second(&w);
        world_close(&w);
        if (calls < k) return k - 1;
    }
}

/* Interrupted for good, a call would be repeated for ever. */
static uint64_t fail_in_each_way(const kind *q, const act *a)
{
    uint64_t failures = 0;
    for (size_t i = 0; i < sizeof faults / sizeof *faults && a->file; i++)
        for (int for_good = 0; for_good < (faults[i].with == EINTR ? 1 : 2); for_good++) {
            uint64_t calls = fail_each(q, a, &faults[i], for_good);
            check(calls >= 4, "it makes %llu file calls only", (ull)calls);
            failures += calls;
        }
    return failures;
}

static void files_fail(void)
{
    backend = "ref";
    test_tried("files", of_each_act(fail_in_each_way), "file calls of snapshots that failed, once and for good");
}

/* ---- Clocks ---------------------------------------------------------------------------------- */

/* A clock that is broken: reading number `at`, and with for_good all later ones, are wrong. */
typedef struct clock_fault {
    const char *name;
    uint64_t (*now)(uint64_t reading);
} clock_fault;

typedef struct broken_clock {
    uint64_t readings, at;
    bool for_good;
    const clock_fault *fault;
} broken_clock;

static uint64_t says_nothing(uint64_t reading) { return (void)reading, 0; }
static uint64_t says_all(uint64_t reading) { return (void)reading, UINT64_MAX; }
static uint64_t goes_back(uint64_t reading) { return 1000000 - 1000 * reading; }
static uint64_t jumps(uint64_t reading) { return test_random(&reading); }

static const clock_fault clock_faults[] = {
    { "0", says_nothing }, { "the end of time", says_all }, { "backwards", goes_back }, { "anything", jumps }
};

static uint64_t broken_now(void *self)
{
    broken_clock *c = (broken_clock *)self;
    uint64_t reading = ++c->readings;
    bool broken = reading == c->at || (c->for_good && reading > c->at);
    return broken ? c->fault->now(reading) : 1000 * reading;
}

/* All operations in turn on a table that goes by such a clock: it only scores badly. Returns how often the clock was
 * read. */
static uint64_t under_clock(broken_clock clock, const char *policy, bool dual)
{
    hd_seams seams = hd_seams_os;
    hd_config c = config_of(&kinds[0], policy, dual);
    hd_table *t;
    world w = { .kind = &kinds[0] };
    seams.time = (hd_time_seam){ broken_now, broken_now, &clock };
    c.clock = HD_CLOCK_DEVICE;
    c.seams = &seams;
    must(hd_open(&c, &t));
    w.table = t;
    for (int round = 0; round < 2 * HD_OP_COUNT_; round++) {
        hd_op op = round % 2 ? (hd_op)(round / 2) : HD_OP_INSERT_OR_ASSIGN;
        if (hd_op_does(op, HD_ORDERED)) continue;
        hd_batch b = batch_of(&w, op);
        hd_counters count;
        uint64_t size;
        for (int i = 0; i < N; i++) w.key[i] = (uint64_t)(i * 3 + round), w.flag[i] = HD_EITHER;
        memset(w.outcome, 0xee, sizeof w.outcome);
        must(hd_run(t, &b));
        must(hd_check(t));
        for (int i = 0; i < N && hd_op_is_keyed(hd_op_row_of(op)); i++)
            check(w.outcome[i] < HD_OUTCOME_COUNT, "item %d has no outcome", i);
        must(hd_size_sync(t, &size));
        must(hd_counters_sync(t, &count));
        check(size <= CAPACITY && count.outcome[HD_INSERTED] >= size, "%llu entries, and %llu came in", (ull)size,
              (ull)count.outcome[HD_INSERTED]);
    }
    hd_close(t);
    return clock.readings;
}

static void clocks_break(void)
{
    uint64_t tried = 0;
    for (int on = 0; on < 2; on++)
        for (int p = 0; p < 2 * HD_POLICY_COUNT; p++) {
            backend = on ? "host" : "ref";
            for (size_t f = 0; f < sizeof clock_faults / sizeof *clock_faults; f++)
                for (int for_good = 0; for_good < 2; for_good++) {
                    broken_clock clock = { 0, 1, for_good, &clock_faults[f] };
                    const char *policy = hd_policy_rows[p / 2].name;
                    uint64_t all = 1;
                    for (; clock.at <= all; clock.at += on ? 41 : 3, tried++) {
                        test_case("%s on %s, reading %llu says %s%s", policy, backend, (ull)clock.at, clock.fault->name,
                                  for_good ? ", and all after it" : "");
                        all = under_clock(clock, policy, p % 2);
                        check(all > HD_OP_COUNT_, "the clock was read %llu times", (ull)all);
                    }
                }
        }
    backend = "ref";
    test_tried("clocks", tried, "readings of the clock that were wrong, once and for good");
}

/* What cannot be addressed is not asked for. */
static void sizes_are_checked(void)
{
    static const struct {
        uint64_t count, size;
    } none[] = { { 0, 8 }, { 8, 0 }, { 0, 0 } },
      more[] = { { 1ull << 60, 8 }, { 8, 1ull << 60 },          { UINT64_MAX, 1 },
                 { 1, UINT64_MAX }, { UINT64_MAX, UINT64_MAX }, { 1ull << 32, 1ull << 32 } };
    counting memory;
    counting_init(&memory);
    for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
        void *p = &memory;
        must(hd_take(&memory.seams, "nothing", none[k].count, none[k].size, &p));
        check(!p, "something for nothing");
    }
    for (size_t k = 0; k < sizeof more / sizeof *more; k++) {
        void *p = &memory;
        test_case("%llu x %llu bytes", (ull)more[k].count, (ull)more[k].size);
        must_fail(hd_take(&memory.seams, "it", more[k].count, more[k].size, &p), HD_ENOMEM,
                  "bytes is more than can be addressed");
        check(!p, "something all the same");
    }
    check(memory.takes == 0, "memory was asked for");
}

/* A batch that was refused has not begun: it takes no time, even with HD_CLOCK_DEVICE, whose readings are final. */
static void refused_under_a_clock(void)
{
    world w;
    hd_info before, after;
    backend = "host";
    world_open(&w, &kinds[0], "lfu", false); /* the other keeps no times */
    hd_config c = w.config;
    c.clock = HD_CLOCK_DEVICE;
    hd_close(w.table);
    must(hd_open(&c, &w.table));
    must(hd_table_info(w.table, &before));
    hd_batch b = batch_of(&w, HD_OP_INSERT_OR_ASSIGN);
    refuse(&w, 1, true);
    must_fail(hd_run(w.table, &b), HD_ENOMEM, NULL);
    refuse(&w, 0, false);
    must(hd_table_info(w.table, &after));
    check(after.now == before.now, "the clock went on to %llu", (ull)after.now);
    must(hd_run(w.table, &b));
    must(hd_check(w.table));
    world_close(&w);
    backend = "ref";
}

/* Every allocation is freed with the size that it was requested with, so an allocator can rely on the size. */
static void all_is_given_back(void)
{
    static const char *const backends[] = { "ref", "host" };
    static const hd_layout layouts[][2] = { { HD_LAYOUT_PLANES, HD_LAYOUT_PAIRS },
                                            { HD_LAYOUT_WORDS, HD_LAYOUT_MASKS } };
    for (int k = 0; k < 12; k++) {
        counting memory;
        bool dictionary = k >= 8;
        hd_table *t;
        counting_init(&memory);
        hd_config c = test_usual(.design = dictionary ? "hive" : "hkv", .backend = backends[k & 1], .capacity = 512,
                                 .slots = 16, .value_bytes = dictionary ? 4 : 8, .seams = &memory.seams,
                                 .layout = layouts[dictionary][k >> 1 & 1], .hkv.pins = dictionary ? 0 : 5,
                                 .hkv.device_value_bytes = k >> 2 == 1 ? 100 : 0);
        test_case("%s, backend %s, layout %d, near_bytes %d", c.design, c.backend, (int)c.layout,
                  (int)c.hkv.device_value_bytes);
        must(hd_open(&c, &t));
        must(hd_grow(t, dictionary ? 150 : 64));
        if (dictionary) must(hd_shrink(t, 40)); /* three segments more, and one of them is given back */
        hd_close(t);
        check(memory.takes == memory.gives && memory.live_bytes == 0,
              "%llu pieces taken, %llu given back, %llu bytes left", (ull)memory.takes, (ull)memory.gives,
              (ull)memory.live_bytes);
    }
}

static const struct CMUnitTest alloc[] = { unit(all_is_given_back),
                                           unit(sizes_are_checked),
                                           unit(refused_under_a_clock),
                                           unit(memory_is_refused),
                                           unit(memory_is_refused_to_the_host_machine),
                                           unit(batches_take_none),
                                           unit(files_fail),
                                           unit(clocks_break) };

int main(void)
{
#ifdef M_MMAP_THRESHOLD
    /* What is given back stays with the process: to clear new pages for each table takes half of the time. */
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
    return test_run(alloc);
}
