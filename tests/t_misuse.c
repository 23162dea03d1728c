/* SPDX-License-Identifier: Apache-2.0
 *
 * t_misuse.c - invalid calls, as many kinds as the header's types allow: each returns the documented status and a
 * reason that names the field, and the table does not change. The cases come from tables: every operation x every field
 * that can be missing, every number x every value outside its range.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "judge/oracle.h"
#include "judge/rules.h"
#include "base/op.h"
#include "tests/testing.h"

enum { N = 6, VALUE_BYTES = 8 };

static uint64_t tried;

static const uint64_t huge[] = { (uint64_t)1 << 61,       ((uint64_t)1 << 62) + 1, (uint64_t)1 << 63,
                                 ((uint64_t)1 << 63) + 1, UINT64_MAX - 1,          UINT64_MAX,
                                 SIZE_MAX / 8 + 1 };
enum { HUGES = sizeof huge / sizeof *huge };

/* ---- A table to be wronged ------------------------------------------------------------------- */

static struct {
    hd_table *table;
    uint64_t key[N], value[N], score[N], value_out[N], score_out[N], list_key[64], list_value[64], list_score[64],
        list_item[64], count;
    uint8_t flag[N], outcome[N];
    void *ptr[N];
} x;

static hd_info shape; /* of it */

/* The tables: caches with one or two candidate buckets and different policies, and a dictionary. */
typedef struct kind {
    const char *design, *policy;
    bool dual;
} kind;

static const kind one_bucket = { "hkv", "lru", false }, two_buckets = { "hkv", "custom", true },
                  counts = { "hkv", "lfu", false }, dictionary = { "hive", "none", false };

static void open_table(const kind *q)
{
    bool cache = strcmp(q->design, "hkv") == 0;
    x.table = test_table(.design = q->design, .backend = test_backend("ref"), .policy = q->policy, .hkv.dual = q->dual,
                         .capacity = 32, .slots = 8, .value_bytes = cache ? VALUE_BYTES : VALUE_BYTES / 2,
                         .hkv.pins = cache ? 4 : 0);
    must(hd_table_info(x.table, &shape));
    for (int i = 0; i < N; i++)
        x.key[i] = (uint64_t)i, x.value[i] = x.score[i] = 10 + (uint64_t)i, x.flag[i] = HD_EITHER;
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = N, .key = x.key, .value = x.value, .score = x.score };
    must(hd_run(x.table, &b));
}

/* Whether the table can pin. */
static bool pins(void) { return strcmp(shape.design, "hkv") == 0; }

static hd_batch good(hd_op op)
{
    hd_batch b = { .op = op, .n = N, .holder = pins() || !hd_op_does(op, HD_MAY_PIN), .pred = "all" };
    b.elem = shape.value_bytes < VALUE_BYTES ? HD_I32 : HD_U64;
    test_point(&b, &x);
    b.key2 = x.key;
    return b;
}

typedef struct seen {
    uint64_t now, size, sum, items, batches;
} seen;

static int add_entry(void *context, uint64_t key, uint64_t score, void *value)
{
    uint64_t v = 0, *sum = (uint64_t *)context;
    memcpy(&v, value, shape.value_bytes);
    *sum = *sum * 31 + key * 7 + score * 3 + v;
    return 0;
}

static seen look(void)
{
    seen s = { 0, 0, 0, 0, 0 };
    hd_info info;
    hd_counters c;
    must(hd_check(x.table));
    must(hd_table_info(x.table, &info));
    must(hd_for_each(x.table, add_entry, &s.sum));
    must(hd_counters_sync(x.table, &c));
    s.now = info.now, s.size = info.capacity, s.items = c.items, s.batches = c.batches;
    return s;
}

/* The batch must be refused with a reason that has the word; nothing may be written or change. */
static void refused(hd_batch b, const char *word, const char *what)
{
    uint8_t before[sizeof x];
    seen then = look(), now;
    test_case("%s: %s", hd_op_name(b.op), what);
    memset(x.outcome, 0x5a, sizeof x.outcome);
    memset(x.value_out, 0x5a, sizeof x.value_out);
    memset(x.list_key, 0x5a, sizeof x.list_key);
    x.count = 0x5a5a;
    memcpy(before, &x, sizeof x);
    must_fail(hd_run(x.table, &b), HD_EINVAL, word);
    check(memcmp(before, &x, sizeof x) == 0, "an output was written");
    now = look();
    check(memcmp(&then, &now, sizeof now) == 0, "the table has changed");
    tried++;
}

/* ---- Batches --------------------------------------------------------------------------------- */

static void missing_fields(hd_op op, bool scores_needed)
{
    uint32_t needs = hd_op_row_of(op)->needs;
    hd_batch b = good(op);
    if (needs & HD_NEEDS_KEY) b.key = NULL, refused(b, "key", "no keys"), b = good(op);
    if (needs & HD_NEEDS_KEY2) b.key2 = NULL, refused(b, "key2", "no upper keys"), b = good(op);
    if (needs & HD_NEEDS_VALUE) b.value = NULL, refused(b, "value", "no values"), b = good(op);
    if (needs & HD_NEEDS_PTR) b.ptr = NULL, refused(b, "ptr", "no pointers"), b = good(op);
    if (needs & HD_NEEDS_COUNT) b.count = NULL, refused(b, "count", "no count"), b = good(op);
    if (needs & HD_NEEDS_HOLDER) b.holder = 0, refused(b, "holder", "0 holds nothing"), b = good(op);
    if ((needs & HD_MAY_PIN) && !pins()) b.holder = 1, refused(b, "holder", "no pins"), b = good(op);
    if ((needs & HD_SCORES) && scores_needed) b.score = NULL, refused(b, "score", "no scores"), b = good(op);
    if (needs & HD_SCORES) {
        b.raw_scores = true;
        b.score = NULL;
        refused(b, pins() ? "score" : "raw_scores", "raw scores, and none given");
        b = good(op);
        b.raw_scores = true;
        if (!pins()) refused(b, "raw_scores", "raw scores where there are none");
        b = good(op);
    }
    if (!(needs & HD_NEEDS_PRED)) return;
    b.pred = NULL, refused(b, "pred", "no predicate");
    b.pred = "", refused(b, "pred", "empty predicate");
    b.pred = "al", refused(b, "all", "unknown predicate");
    b.pred = "score_bellow", refused(b, "score_below", "unknown predicate");
    char longest[5000];
    memset(longest, 'p', sizeof longest);
    longest[sizeof longest - 1] = 0;
    b.pred = longest, refused(b, "pred", "long predicate");
}

static void sizes_and_names(hd_op op)
{
    hd_batch b = good(op);
    for (int k = 0; k < HUGES; k++) b.n = huge[k], refused(b, "n", "too many items");
    b = good(op);
    b.kernel = "tlpv9", refused(b, "kernel", "unknown kernel");
    b.kernel = "", refused(b, "kernel", "empty kernel");
    if (!strcmp(test_backend("ref"), "ref"))
        b.kernel = "tlpv2", refused(b, "does not run on backend ref; there are ref", "another backend's kernel");
    b = good(op);
    if (!(hd_op_row_of(op)->needs & HD_OF_SLOTS)) return;
    uint64_t all = shape.places;
    b.start = all + 1, refused(b, "start", "start beyond the capacity");
    b.start = UINT64_MAX, refused(b, "start", "start beyond everything");
    b.start = all, b.n = 1, refused(b, "n", "one slot beyond the capacity");
    b.start = 1, b.n = all, refused(b, "n", "one slot beyond the capacity");
    b.start = 0, b.n = all + 1, refused(b, "n", "one slot beyond the capacity");
}

/* Operations of their own for the items. */
static void mixtures(void)
{
    static const int none[] = {
        HD_OP_FIND_MISSED, HD_OP_INSERT_AND_EVICT, HD_OP_LOCK_KEYS, HD_OP_SIZE, HD_OP_CLEAR, HD_OP_COUNT_, 255
    };
    uint8_t each[N];
    memset(each, HD_OP_FIND, sizeof each);
    hd_batch b = good(HD_OP_FIND);
    b.each = each;
    if (!judge_table_runs(&shape, HD_OP_FIND, each)) {
        refused(b, "it runs one operation at a time", "a mixed batch");
        return;
    }
    for (size_t k = 0; k < sizeof none / sizeof *none && !test_far(); k++) {
        each[k % N] = (uint8_t)none[k];
        refused(b, "each", "an operation that cannot be mixed");
        each[k % N] = HD_OP_FIND;
    }
    each[N - 1] = HD_OP_ACCUM_OR_ASSIGN;
    if (!test_far()) b.elem = HD_ELEM_COUNT, refused(b, "elem", "an element type that is none, in a mixed batch");
    b = good(HD_OP_FIND), b.each = each, b.key = NULL, refused(b, "key", "no keys, in a mixed batch");
}

static void batches(const kind *q)
{
    open_table(q);
    for (int op = 0; op < HD_OP_COUNT_; op++) {
        missing_fields((hd_op)op, strcmp(q->policy, "custom") == 0);
        sizes_and_names((hd_op)op);
        if (!judge_table_runs(&shape, (hd_op)op, NULL))
            refused(good((hd_op)op), "op: no kernel of design", "an operation that the design does not have");
    }
    mixtures();
    hd_batch b = good(HD_OP_ACCUM_OR_ASSIGN);
    for (int k = 0; k < N && !test_far(); k++) { /* arrays of a device are not looked into */
        x.flag[k] = (uint8_t)(HD_EITHER + 1 + 40 * k);
        refused(b, "flag", "a flag that is none");
        x.flag[k] = HD_EITHER;
    }
    static const int none[] = { HD_ELEM_COUNT, HD_ELEM_COUNT + 1, 100, -1, INT_MIN, INT_MAX };
    for (size_t k = 0; k < sizeof none / sizeof *none; k++)
        b.elem = (hd_elem)none[k], refused(b, "elem", "an element type that is none");
    for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
        b = good((hd_op)(none[k] < HD_OP_COUNT_ && none[k] >= 0 ? HD_OP_COUNT_ : none[k]));
        refused(b, "op", "an operation that is none");
    }
    b = good(HD_OP_FIND);
    must_fail(hd_run(NULL, &b), HD_EINVAL, "table");
    must_fail(hd_run(x.table, NULL), HD_EINVAL, "batch");
    must_fail(hd_run(NULL, NULL), HD_EINVAL, NULL);
    tried += 3;
    hd_close(x.table);
}

static void batches_lru(void) { batches(&one_bucket); }
static void batches_custom_dual(void) { batches(&two_buckets); }
static void batches_dictionary(void) { batches(&dictionary); }

/* Element types that do not divide the value. */
static void odd_values(void)
{
    for (uint32_t bytes = 0; bytes <= 19; bytes++)
        for (int e = 0; e < HD_ELEM_COUNT; e++) {
            bool packed = bytes > 17; /* two sizes that a dictionary has */
            hd_config c = packed ? hd_config_of("hive") : test_config();
            hd_table *t;
            uint64_t key = 1, value[4] = { 0 };
            c.backend = test_backend("ref");
            c.capacity = 4, c.slots = packed ? 8 : 2, c.value_bytes = packed ? 2u << (bytes - 18) : bytes;
            must(hd_open(&c, &t));
            hd_batch b = { .op = HD_OP_ACCUM_OR_ASSIGN, .elem = (hd_elem)e, .n = 1, .key = &key, .value = value };
            test_case("%s, %u bytes of %s", c.design, c.value_bytes, hd_elem_name((hd_elem)e));
            if (c.value_bytes % judge_elem_bytes((hd_elem)e))
                must_fail(hd_run(t, &b), HD_EINVAL, "elem");
            else
                must(hd_run(t, &b));
            hd_close(t);
            tried++;
        }
}

/* An empty batch is valid, and needs no arrays. Every optional output may be NULL. */
static void nothing_is_fine_for(const kind *q)
{
    open_table(q);
    for (int op = 0; op < HD_OP_COUNT_; op++) {
        if (op == HD_OP_CLEAR || op == HD_OP_ERASE_IF || !judge_table_runs(&shape, (hd_op)op, NULL)) continue;
        seen then = look();
        hd_batch b = { .op = (hd_op)op, .n = 0, .holder = good((hd_op)op).holder, .pred = "all", .count = &x.count };
        test_case("%s of nothing", hd_op_name((hd_op)op));
        must(hd_run(x.table, &b));
        if (hd_op_is_keyed(hd_op_row_of((hd_op)op))) {
            b = good((hd_op)op);
            b.outcome = NULL, b.value_out = NULL, b.score_out = NULL, b.list_key = NULL, b.list_value = NULL,
            b.list_score = NULL, b.list_item = NULL, b.count = NULL;
            must(hd_run(x.table, &b));
        }
        seen now = look();
        check(then.size == now.size, "the capacity has changed");
        tried += 2;
    }
    hd_close(x.table);
}

static void nothing_is_fine(void) { nothing_is_fine_for(&one_bucket), nothing_is_fine_for(&dictionary); }

/* ---- Reserved keys: never an error, never found, nothing done -------------------------------- */

static void reserved_keys_of(const kind *q)
{
    open_table(q);
    for (int op = 0; op < HD_OP_COUNT_; op++) {
        if (!hd_op_is_keyed(hd_op_row_of((hd_op)op)) || !judge_table_runs(&shape, (hd_op)op, NULL)) continue;
        uint64_t key[4] = { HD_KEY_EMPTY, HD_KEY_LOCKED, HD_KEY_RESERVED, shape.keys };
        seen then = look();
        hd_batch b = good((hd_op)op);
        b.key = key;
        b.n = 4;
        memset(x.outcome, 0x5a, sizeof x.outcome);
        memset(x.value_out, 0x5a, sizeof x.value_out);
        memset(x.ptr, 0x5a, sizeof x.ptr);
        test_case("%s of reserved keys", hd_op_name((hd_op)op));
        must(hd_run(x.table, &b));
        for (int i = 0; i < 4; i++) {
            check(x.outcome[i] == HD_RESERVED, "key %llx is %s", (ull)key[i],
                  hd_outcome_name((hd_outcome)x.outcome[i]));
            check(x.value_out[i] == 0x5a5a5a5a5a5a5a5aull && x.ptr[i] == (void *)0x5a5a5a5a5a5a5a5aull,
                  "an output was written");
        }
        check(look().sum == then.sum, "the contents have changed");
        tried += 4;
    }
    hd_close(x.table);
}

static void reserved_keys(void) { reserved_keys_of(&two_buckets), reserved_keys_of(&dictionary); }

/* ---- Configurations -------------------------------------------------------------------------- */

static void config_refused(hd_config c, hd_status status, const char *word)
{
    hd_table *t = (hd_table *)&x; /* anything but NULL: it must not be touched */
    test_case("config: %s", word);
    must_fail(hd_open(&c, &t), status, word);
    check(t == (hd_table *)&x, "the table was written");
    tried++;
}

static void *take_up_to_a_gibibyte(void *self, size_t bytes, size_t align)
{
    return bytes >> 30 ? NULL : hd_seams_os.memory.take(self, bytes, align);
}

static void *take_up_to_a_terabyte(void *self, size_t bytes, size_t align)
{
    return bytes >> 40 ? NULL : hd_seams_os.memory.take(self, bytes, align);
}

/* Of fields that t_tables_hive does not have as text. */
static void dictionaries(void)
{
    static const char *const policies[] = { NULL, "", "custom", "nonee" };
    hd_config usual = hd_config_of("hive"), c;
    usual.backend = test_backend("ref");
    for (size_t k = 0; k < sizeof policies / sizeof *policies; k++)
        c = usual, c.policy = policies[k], config_refused(c, HD_EINVAL, "policy");
    c = usual, c.hkv.dual = true, config_refused(c, HD_EINVAL, "dual");
    c = usual, c.hkv.device_value_bytes = 1, config_refused(c, HD_EINVAL, "device_value_bytes");
    c = usual, c.layout = (hd_layout)-1, config_refused(c, HD_EINVAL, "layout");
    for (int k = 0; k < HUGES; k++) c = usual, c.capacity = huge[k], config_refused(c, HD_EINVAL, "capacity");
    /* 2^31 buckets of 32, and one */
    c = usual, c.capacity = ((uint64_t)1 << 36) + 1, config_refused(c, HD_EINVAL, "capacity");
    hd_seams small = hd_seams_os;
    small.memory.take = take_up_to_a_gibibyte;
    c = usual, c.seams = &small, c.capacity = (uint64_t)1 << 35, config_refused(c, HD_ENOMEM, "capacity");
}

static void configurations(void)
{
    hd_config usual = test_config(), c;
    char longest[5000];
    memset(longest, 'z', sizeof longest);
    longest[sizeof longest - 1] = 0;
    static const char *const names[] = { NULL, "", "x", "LRU", "lru ", "rw\n", "hkv2", "reff" };
    for (size_t k = 0; k <= sizeof names / sizeof *names; k++) {
        const char *name = k < sizeof names / sizeof *names ? names[k] : longest;
        c = usual, c.design = name, config_refused(c, HD_EINVAL, "design");
        c = usual, c.backend = name, config_refused(c, HD_EINVAL, "backend");
        c = usual, c.policy = name, config_refused(c, HD_EINVAL, "policy");
        c = usual, c.lock = name, config_refused(c, HD_EINVAL, "lock");
    }
    static const uint32_t slots[] = { 0, 1, 4097, 1u << 16, 1u << 31, UINT32_MAX },
                          bytes[] = { 65537, 1u << 31, UINT32_MAX }, threads[] = { 1025, UINT32_MAX };
    for (size_t k = 0; k < sizeof slots / sizeof *slots; k++)
        c = usual, c.slots = slots[k], config_refused(c, HD_EINVAL, "slots");
    for (size_t k = 0; k < sizeof bytes / sizeof *bytes; k++)
        c = usual, c.value_bytes = bytes[k], config_refused(c, HD_EINVAL, "value_bytes");
    for (size_t k = 0; k < sizeof threads / sizeof *threads; k++)
        c = usual, c.threads = threads[k], config_refused(c, HD_EINVAL, "threads");
    c = usual, c.hkv.pins = UINT32_MAX, config_refused(c, HD_EINVAL, "pins");
    c = usual, c.hkv.admit = (hd_admit)2, config_refused(c, HD_EINVAL, "admit");
    c = usual, c.hkv.admit = (hd_admit)-1, config_refused(c, HD_EINVAL, "admit");
    c = usual, c.hkv.tiers = (hd_tiers)2, config_refused(c, HD_EINVAL, "tiers");
    c = usual, c.hkv.fetch = (hd_fetch)3, config_refused(c, HD_EINVAL, "fetch");
    c = usual, c.clock = (hd_clock)2, config_refused(c, HD_EINVAL, "clock");
    c = usual, c.clock = (hd_clock)INT_MIN, config_refused(c, HD_EINVAL, "clock");
    c = usual, c.capacity = 0, config_refused(c, HD_EINVAL, "capacity");
    c = usual, c.hkv.dual = true, c.capacity = c.slots, config_refused(c, HD_EINVAL, "dual");
    c = usual, c.hkv.dual = true, c.capacity = 1, config_refused(c, HD_EINVAL, "dual");
    static const uint32_t odd_slots[] = { 2, 3, 128, 1000, 4096 }, value_bytes[] = { 0, 8, 65536 };
    for (int k = 0; k < HUGES; k++)
        for (size_t s = 0; s < 5; s++)
            for (size_t v = 0; v < 3; v++) {
                c = usual, c.capacity = huge[k], c.slots = odd_slots[s], c.value_bytes = value_bytes[v];
                config_refused(c, HD_EINVAL, "capacity");
            }
    /* Addressable, but this machine has 2^40 bytes at most. */
    hd_seams small = hd_seams_os;
    small.memory.take = take_up_to_a_terabyte;
    c = usual, c.seams = &small, c.capacity = (uint64_t)1 << 56, c.value_bytes = 0,
    config_refused(c, HD_ENOMEM, "capacity");
    c = usual, c.seams = &small, c.capacity = (uint64_t)1 << 26, c.slots = 2, c.value_bytes = 65536,
    config_refused(c, HD_ENOMEM, "capacity: values");
    hd_table *t = NULL;
    must_fail(hd_open(NULL, &t), HD_EINVAL, "config");
    must_fail(hd_open(&usual, NULL), HD_EINVAL, "table");
    tried += 2;
}

/* ---- The other calls ------------------------------------------------------------------------- */

static int never(void *context, uint64_t key, uint64_t score, void *value)
{
    (void)context, (void)key, (void)score, (void)value;
    return 0;
}

static void other_calls(void)
{
    hd_info info;
    hd_counters counters;
    hd_snapshot_info shot;
    uint64_t size;
    double load;
    hd_table *t = NULL;
    hd_config usual = test_config();
    open_table(&counts);
    seen then = look();
    must_fail(hd_table_info(NULL, &info), HD_EINVAL, "table");
    must_fail(hd_table_info(x.table, NULL), HD_EINVAL, "info");
    must_fail(hd_epoch_set(NULL, 1), HD_EINVAL, "table");
    must_fail(hd_counters_sync(NULL, &counters), HD_EINVAL, "table");
    must_fail(hd_counters_sync(x.table, NULL), HD_EINVAL, "counters");
    must_fail(hd_size_sync(NULL, &size), HD_EINVAL, "table");
    must_fail(hd_size_sync(x.table, NULL), HD_EINVAL, "size");
    must_fail(hd_load_factor_sync(NULL, &load), HD_EINVAL, "table");
    must_fail(hd_load_factor_sync(x.table, NULL), HD_EINVAL, "load_factor");
    must_fail(hd_clear(NULL), HD_EINVAL, "table");
    must_fail(hd_for_each(NULL, never, NULL), HD_EINVAL, "table");
    must_fail(hd_for_each(x.table, NULL, NULL), HD_EINVAL, "visit");
    must_fail(hd_check(NULL), HD_EINVAL, "table");
    must_fail(hd_grow(NULL, 8), HD_EINVAL, "table");
    must_fail(hd_reserve(NULL, 8), HD_EINVAL, "table");
    must_fail(hd_shrink(NULL, 1), HD_EINVAL, "table");
    must_fail(hd_shrink(x.table, 1), HD_EINVAL, "does not shrink");
    must_fail(hd_set_near(NULL, 1), HD_EINVAL, "table");
    must_fail(hd_set_near(x.table, 1 << 20), HD_EINVAL, "design hkv does not change its limit of device memory");
    must_fail(hd_save(NULL, "x"), HD_EINVAL, "table");
    must_fail(hd_save(x.table, NULL), HD_EINVAL, "path");
    must_fail(hd_load(NULL, "x", NULL), HD_EINVAL, "table");
    must_fail(hd_load(x.table, NULL, NULL), HD_EINVAL, "path");
    must_fail(hd_open_snapshot(NULL, &usual, &t), HD_EINVAL, "path");
    must_fail(hd_open_snapshot("x", &usual, NULL), HD_EINVAL, "table");
    must_fail(hd_snapshot_inspect(NULL, &shot), HD_EINVAL, "path");
    must_fail(hd_snapshot_inspect("x", NULL), HD_EINVAL, "info");
    tried += 25;
    static const uint64_t buckets[] = { 0,
                                        1,
                                        2,
                                        3,
                                        5,
                                        6,
                                        7,
                                        9,
                                        1025,
                                        ((uint64_t)1 << 32) + 1,
                                        UINT64_MAX,
                                        UINT64_MAX - 3,
                                        (uint64_t)1 << 63,
                                        (uint64_t)1 << 60 };
    for (size_t k = 0; k < sizeof buckets / sizeof *buckets; k++) {
        test_case("grow to %llu buckets", (ull)buckets[k]);
        must_fail(hd_grow(x.table, buckets[k]), HD_EINVAL, "buckets");
        tried++;
    }
    for (int k = 0; k < HUGES; k++) {
        test_case("reserve %llu", (ull)huge[k]);
        must_fail(hd_reserve(x.table, huge[k]), HD_EINVAL, NULL);
        tried++;
    }
    static const char *const paths[] = { "", "/", ".", "/no/such/folder/at/all", "no-such-file" };
    for (size_t k = 0; k < sizeof paths / sizeof *paths; k++) {
        test_case("path '%s'", paths[k]);
        must_fail(hd_load(x.table, paths[k], NULL), HD_EIO, NULL);
        must_fail(hd_open_snapshot(paths[k], NULL, &t), HD_EIO, NULL);
        must_fail(hd_snapshot_inspect(paths[k], &shot), HD_EIO, NULL);
        if (k < 4) must_fail(hd_save(x.table, paths[k]), HD_EIO, NULL);
        check(t == NULL, "a table came of it");
        tried += 4;
    }
    seen now = look();
    check(memcmp(&then, &now, sizeof now) == 0, "the table has changed");
    hd_close(x.table);
    hd_close(NULL);
}

/* Numbers that are no enumerator have the name "?"; lists end. */
static void names(void)
{
    static const int none[] = { -1, 1000, INT_MAX, INT_MIN };
    for (size_t k = 0; k < 4; k++) {
        assert_string_equal(hd_status_name((hd_status)none[k]), "?");
        assert_string_equal(hd_op_name((hd_op)none[k]), "?");
        assert_string_equal(hd_outcome_name((hd_outcome)none[k]), "?");
        assert_string_equal(hd_elem_name((hd_elem)none[k]), "?");
        hd_row row;
        assert_false(hd_list((hd_kind)none[k], 0, &row));
        tried += 5;
    }
    for (int kind = HD_DESIGNS; kind <= HD_PARAMETERS; kind++) {
        hd_row row;
        assert_true(hd_list((hd_kind)kind, 0, &row));
        assert_true(row.name && row.name[0] && row.what && row.what[0] && row.more);
        assert_false(hd_list((hd_kind)kind, 1000, &row));
        assert_false(hd_list((hd_kind)kind, SIZE_MAX, &row));
        tried += 3;
    }
}

/* Refused, and the configuration is as it was. */
static void fields_by_name(void)
{
    static const struct {
        const char *name, *text, *word;
    } all[] = { { NULL, "1", "name: NULL" },
                { "seed", NULL, "text: NULL" },
                { "sed", "1", "seed" },
                { "seed", "one", "seed" },
                { "threads", "1000000", "threads" },
                { "layout", "plane", "planes" },
                { "hash", "", "hash: it is empty" },
                { "hash", "crc32,city32,bithash1,bithash2,murmur,and,another,and,another,and,another",
                  "is longer than" } };
    hd_config c = hd_config_of("hive"), same = c;
    must_fail(hd_config_set(NULL, "seed", "1"), HD_EINVAL, "config: NULL");
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        test_case("row %zu", k);
        must_fail(hd_config_set(&c, all[k].name, all[k].text), HD_EINVAL, all[k].word);
        check(memcmp(&c, &same, sizeof c) == 0, "the configuration is another");
        tried++;
    }
    must(hd_config_set(&c, "hash", "crc32,bithash1"));
    check(strcmp(c.hive.hash, "crc32,bithash1") == 0, "%s", c.hive.hash);
    c.policy = NULL;
    config_refused(c, HD_EINVAL, "policy");
}

/* ---- Drawn ----------------------------------------------------------------------------------- */

/* What the header says of a batch, in words of its own: the field that is wrong, or NULL. */
static const char *wrong_field(const hd_batch *b, bool scores_needed)
{
    if ((int)b->op < 0 || b->op >= HD_OP_COUNT_) return "op";
    uint32_t needs = hd_op_row_of(b->op)->needs;
    bool known = b->pred && (!strcmp(b->pred, "all") || !strcmp(b->pred, "key_in"));
    if (b->n > PTRDIFF_MAX / VALUE_BYTES) return "n";
    if (b->n && (needs & HD_NEEDS_KEY) && !b->key) return "key";
    if (b->n && (needs & HD_NEEDS_KEY2) && !b->key2) return "key2";
    if (b->n && (needs & HD_NEEDS_VALUE) && !b->value) return "value";
    if (b->n && (needs & HD_NEEDS_PTR) && !b->ptr) return "ptr";
    if ((needs & HD_SCORES) && b->raw_scores && !pins()) return "raw_scores";
    if (b->n && (needs & HD_SCORES) && (scores_needed || b->raw_scores) && !b->score) return "score";
    if ((needs & HD_NEEDS_COUNT) && !b->count) return "count";
    if ((needs & HD_NEEDS_HOLDER) && !b->holder) return "holder";
    if ((needs & HD_MAY_PIN) && b->holder && !pins()) return "holder";
    if ((needs & HD_NEEDS_PRED) && !known) return "pred";
    if ((needs & HD_OF_SLOTS) && b->start > shape.places) return "start";
    if ((needs & HD_OF_SLOTS) && b->n > shape.places - b->start) return "n";
    if (b->op == HD_OP_ACCUM_OR_ASSIGN &&
        ((int)b->elem < 0 || b->elem >= HD_ELEM_COUNT || shape.value_bytes % judge_elem_bytes(b->elem)))
        return "elem";
    for (uint64_t i = 0; b->op == HD_OP_ACCUM_OR_ASSIGN && b->flag && i < b->n; i++)
        if (b->flag[i] > HD_EITHER) return "flag";
    /* one that is none; or none has the operation */
    return b->kernel || !judge_table_runs(&shape, b->op, NULL) ? "kernel" : NULL;
}

/* Every size that a careless cast makes another one of. */
static const uint64_t sizes[] = { 0,
                                  1,
                                  N,
                                  32,
                                  33,
                                  0x7fffffff,
                                  0x80000000,
                                  0x80000001,
                                  0xffffffff,
                                  0x100000000,
                                  0x100000001,
                                  (uint64_t)1 << 63,
                                  SIZE_MAX / 8,
                                  SIZE_MAX };
enum { SIZES = sizeof sizes / sizeof *sizes };

/* One thing at a time is done to a batch that was good. */
static void spoil(hd_batch *b, uint64_t *random)
{
    static const char *const pred[] = { NULL, "", "ALL", "key_in", "key_in " };
    switch (test_below(random, 16)) {
    case 0: b->key = NULL; break;
    case 1: b->value = NULL; break;
    case 2: b->ptr = NULL; break;
    case 3: b->score = NULL, b->raw_scores = test_below(random, 2); break;
    case 4: b->count = NULL; break;
    case 5: b->outcome = NULL, b->value_out = NULL, b->score_out = NULL; break;
    case 6: b->list_key = NULL, b->list_value = NULL, b->list_score = NULL, b->list_item = NULL; break;
    case 7: b->holder = 0; break;
    case 8: b->pred = pred[test_below(random, 5)]; break;
    case 9: b->elem = (hd_elem)((int)test_below(random, 40) - 20); break;
    case 10: b->op = (hd_op)((int)test_below(random, 100) - 50); break;
    case 11: b->start = sizes[test_below(random, SIZES)]; break;
    case 12: b->kernel = test_below(random, 2) ? "" : "no_such_kernel"; break;
    case 13: x.flag[test_below(random, N)] = (uint8_t)test_random(random); break;
    case 14: b->n = sizes[test_below(random, SIZES)]; break;
    /* overlapping outputs */
    default: b->value_out = x.list_value, b->score_out = x.list_score, b->list_item = x.list_key; break;
    }
}

/* True: n is above the length of the arrays. The library cannot detect that, so it is no case for a test. */
static bool lies(const hd_batch *b, const char *wrong)
{
    bool keyed = (int)b->op >= 0 && b->op < HD_OP_COUNT_ && hd_op_is_keyed(hd_op_row_of(b->op));
    return keyed && b->n > N && (!wrong || !strcmp(wrong, "flag") || !strcmp(wrong, "kernel"));
}

static void drawn(void)
{
    static const uint64_t keys[] = { 0,
                                     1,
                                     1,
                                     2,
                                     HD_KEY_RESERVED - 1,
                                     HD_KEY_RESERVED,
                                     HD_KEY_LOCKED,
                                     HD_KEY_EMPTY,
                                     (uint64_t)1 << 32,
                                     (uint64_t)1 << 63 };
    uint64_t random = 3, before = tried, wrongs = 0;
    static const kind *const all[] = { &counts, &two_buckets, &dictionary };
    for (int k = 0; k < 3; k++) {
        bool custom = k == 1;
        open_table(all[k]);
        for (uint64_t i = 0; i < test_times(2000); i++) {
            hd_batch b = good((hd_op)test_below(&random, HD_OP_COUNT_));
            uint8_t as_it_was[sizeof x];
            for (int item = 0; item < N; item++)
                x.key[item] = keys[test_below(&random, 10)], x.flag[item] = (uint8_t)test_below(&random, 3);
            for (uint64_t times = 1 + test_below(&random, 3); times; times--) spoil(&b, &random);
            const char *wrong = wrong_field(&b, custom);
            if (lies(&b, wrong) || (wrong && !strcmp(wrong, "flag") && test_far())) continue;
            test_case("drawn %d: %s of %llu from %llu, holder %llu, pred %s, elem %d, wrong is %s", (int)i,
                      hd_op_name(b.op), (ull)b.n, (ull)b.start, (ull)b.holder, b.pred ? b.pred : "NULL", (int)b.elem,
                      wrong ? wrong : "nothing");
            seen then = look();
            memcpy(as_it_was, &x, sizeof x);
            if (wrong) {
                must_fail(hd_run(x.table, &b), HD_EINVAL,
                          strcmp(wrong, "op") && strcmp(wrong, "kernel") ? wrong : NULL);
                check(memcmp(as_it_was, &x, sizeof x) == 0, "an output was written");
                seen now = look();
                check(memcmp(&then, &now, sizeof now) == 0, "the table has changed");
                wrongs++;
            } else {
                must(hd_run(x.table, &b));
                must(hd_check(x.table));
            }
            tried++;
        }
        hd_close(x.table);
    }
    test_note("%llu drawn, %llu of them wrong", (ull)(tried - before), (ull)wrongs);
    check(wrongs > (tried - before) / 4, "only %llu were wrong", (ull)wrongs);
}

/* Half of what was drawn is something that a dictionary could be. */
static void pack(hd_config *c, uint64_t *random)
{
    static const uint32_t hashes[] = { 0, 1, 2, 3, 3, 4, 0xffffffff };
    if (test_below(random, 4)) c->slots = 8u << test_below(random, 3);
    if (test_below(random, 4)) c->value_bytes = 2u << test_below(random, 2);
    if (test_below(random, 4)) c->hkv.dual = false, c->hkv.device_value_bytes = 0, c->hkv.tiers = HD_TIERS_BUCKET;
    if (test_below(random, 2)) c->layout = test_below(random, 2) ? HD_LAYOUT_MASKS : HD_LAYOUT_WORDS;
    c->hive.hashes = hashes[test_below(random, 7)];
}

/* What its page says, in words of their own. */
static bool wrong_dictionary(const hd_config *c)
{
    bool shaped = (c->slots == 8 || c->slots == 16 || c->slots == 32) && (c->value_bytes == 2 || c->value_bytes == 4) &&
                  (c->hive.hashes == 2 || c->hive.hashes == 3);
    bool laid = c->layout == HD_LAYOUT_USUAL || c->layout == HD_LAYOUT_WORDS || c->layout == HD_LAYOUT_MASKS;
    return !shaped || !laid || c->hkv.dual || c->hkv.device_value_bytes || c->capacity == 0 || c->threads > 1024 ||
           c->capacity / c->slots > (uint64_t)1 << 31;
}

static void *take_up_to_64_mib(void *self, size_t bytes, size_t align)
{
    return bytes >> 26 ? NULL : hd_seams_os.memory.take(self, bytes, align);
}

/* Tables of every such size and shape, where there are 64 MiB for each array: opened and in order, or refused in
 * words. */
static void drawn_tables(void)
{
    static const uint32_t slots[] = { 0, 1, 2, 7, 128, 1024, 1025, 4096, 4097, 0x7fffffff, 0x80000000, 0xffffffff };
    static const uint32_t bytes[] = { 0, 1, 8, 65535, 65536, 65537, 0x7fffffff, 0x80000000, 0xffffffff };
    uint64_t random = 4, opened = 0, all = test_times(3000);
    hd_seams small = hd_seams_os;
    small.memory.take = take_up_to_64_mib;
    for (uint64_t i = 0; i < all; i++) {
        bool packed = i % 4 == 3; /* a dictionary */
        hd_config c = packed ? hd_config_of("hive") : test_config();
        hd_table *t = NULL;
        c.backend = test_backend("ref");
        c.seams = &small;
        c.capacity = sizes[test_below(&random, SIZES)] + test_below(&random, 2);
        if (test_below(&random, 3) == 0) c.slots = slots[test_below(&random, 12)];
        if (test_below(&random, 2)) c.value_bytes = bytes[test_below(&random, 9)];
        if (test_below(&random, 4) == 0) c.hkv.pins = slots[test_below(&random, 12)];
        if (test_below(&random, 4) == 0) c.hkv.device_value_bytes = sizes[test_below(&random, SIZES)];
        if (test_below(&random, 8) == 0) c.threads = slots[test_below(&random, 12)];
        c.hkv.dual = test_below(&random, 2);
        c.layout = (hd_layout)test_below(&random, 4);
        c.hkv.tiers = (hd_tiers)test_below(&random, 3);
        if (packed) pack(&c, &random);
        test_case("%s capacity=%llu slots=%u value_bytes=%u pins=%u near_bytes=%llu dual=%d layout=%d", c.design,
                  (ull)c.capacity, c.slots, c.value_bytes, c.hkv.pins, (ull)c.hkv.device_value_bytes, c.hkv.dual,
                  (int)c.layout);
        hd_status s = hd_open(&c, &t);
        check((s == HD_OK) == (t != NULL), "a table and %s", hd_status_name(s));
        check(s == HD_OK || s == HD_EINVAL || s == HD_ENOMEM, "%s: %s", hd_status_name(s), hd_why());
        check(s == HD_OK || strlen(hd_why()) > 10, "no reason is given");
        bool wrong = packed ? wrong_dictionary(&c)
                            : c.slots < 2 || c.slots > 4096 || c.value_bytes > 65536 || c.capacity == 0 ||
                                  c.threads > 1024 || c.layout > HD_LAYOUT_PAIRS || c.hkv.tiers > HD_TIERS_POSITION;
        check(!wrong || s == HD_EINVAL, "%s: %s", hd_status_name(s), s ? hd_why() : "");
        if (!s) {
            uint64_t buckets = sizes[test_below(&random, SIZES)];
            hd_status grown = buckets > 1000 ? hd_grow(t, buckets) : HD_EINVAL;
            check(grown == HD_EINVAL || grown == HD_ENOMEM, "growth to %llu buckets: %s", (ull)buckets,
                  hd_status_name(grown));
            hd_status checked = hd_check(t); /* of a device's table it brings a copy over, into these 64 MiB */
            check(checked == HD_OK || (checked == HD_ENOMEM && c.backend && strcmp(c.backend, "cuda") == 0), "%s: %s",
                  hd_status_name(checked), hd_why());
            opened++;
        }
        hd_close(t);
        tried++;
    }
    test_note("%llu tables asked for, %llu opened", (ull)all, (ull)opened);
}

/* The same for tables in segments: what their pages say, in words of their own. */
static bool wrong_segments(const hd_config *c, bool ordered, uint32_t segment)
{
    bool power = segment >= 128 && segment <= 1u << 30 && (segment & (segment - 1)) == 0;
    bool pairs = c->value_bytes == 8, valued = c->value_bytes == 4 || pairs;
    uint64_t fit = segment / (c->value_bytes == 8 ? 16 : 8);
    uint32_t slots = ordered && c->slots == 16 && fit == 8 ? 8 : c->slots; /* the usual ones become 8 */
    bool slotted = ordered ? slots >= 8 && (slots & (slots - 1)) == 0 && slots <= fit && slots <= 4096
                           : c->slots == 16 || (pairs && c->slots == 8);
    bool copies = !ordered && c->ovs.copy_bytes != 0;
    if (!ordered && pairs && (c->ovs.guide != HD_GUIDE_NONE || c->ovs.partition != HD_PARTITION_HASH)) return true;
    if (copies && (pairs || c->ovs.copy_bytes % 32)) return true;
    return !power || !valued || !slotted || c->capacity == 0 || c->threads > 1024 || c->hkv.dual || c->hkv.pins;
}

static void drawn_segments(void)
{
    static const uint32_t slots[] = { 0, 1, 8, 16, 16, 16, 32, 24, 4096, 8192, 0xffffffff },
                          segment[] = { 0, 1, 64, 127, 128, 128, 192, 256, 1024, 65536, 1u << 20, 1u << 30, 1u << 31 };
    uint64_t random = 5, opened = 0, all = test_times(3000);
    hd_seams small = hd_seams_os;
    small.memory.take = take_up_to_64_mib;
    for (uint64_t i = 0; i < all; i++, tried++) {
        bool ordered = i % 2;
        hd_config c = hd_config_of(ordered ? "sl" : "ovs");
        hd_table *t = NULL;
        uint32_t bytes = segment[test_below(&random, 13)];
        uint64_t near = test_below(&random, 2) ? 0 : sizes[test_below(&random, SIZES)];
        c.backend = test_backend("ref");
        c.seams = &small;
        c.capacity = test_below(&random, 3) ? 1 + test_below(&random, 4000) : sizes[test_below(&random, SIZES)];
        if (test_below(&random, 2)) c.slots = slots[test_below(&random, 11)];
        if (test_below(&random, 4) == 0) c.value_bytes = 2u << test_below(&random, 4);
        if (test_below(&random, 16) == 0) c.hkv.pins = 1;
        if (test_below(&random, 16) == 0) c.threads = slots[test_below(&random, 11)];
        if (!ordered && test_below(&random, 4) == 0) c.ovs.guide = HD_GUIDE_DIGEST;
        if (!ordered && test_below(&random, 4) == 0) c.ovs.partition = HD_PARTITION_RANGE;
        if (!ordered && test_below(&random, 4) == 0) c.ovs.copy_bytes = sizes[test_below(&random, SIZES)];
        *(ordered ? &c.sl.segment_bytes : &c.ovs.segment_bytes) = bytes;
        *(ordered ? &c.sl.near_bytes : &c.ovs.near_bytes) = near;
        test_case("%s capacity=%llu slots=%u value_bytes=%u segment=%u near=%llu pins=%u threads=%u", c.design,
                  (ull)c.capacity, c.slots, c.value_bytes, bytes, (ull)near, c.hkv.pins, c.threads);
        hd_status s = hd_open(&c, &t);
        check((s == HD_OK) == (t != NULL), "a table and %s", hd_status_name(s));
        check(s == HD_OK || s == HD_EINVAL || s == HD_ENOMEM, "%s: %s", hd_status_name(s), hd_why());
        check(s == HD_OK || strlen(hd_why()) > 10, "no reason is given");
        check(!wrong_segments(&c, ordered, bytes) || s == HD_EINVAL, "%s: %s", hd_status_name(s), s ? hd_why() : "");
        if (!s) {
            uint64_t key[N] = { 7, 1, 5 }, value[N] = { 0 };
            hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = N, .key = key, .value = value };
            must(hd_run(t, &b));
            must(hd_check(t));
            opened++;
        }
        hd_close(t);
    }
    check(opened > all / 20, "only %llu were opened", (ull)opened);
    test_note("%llu tables in segments asked for, %llu opened", (ull)all, (ull)opened);
}

static void how_many(void)
{
    test_tried("misuse", tried, "calls that the header forbids, from tables and drawn");
    assert_true(tried >= 500);
}

/* A sentence that quotes a caller's text ends no line and drives no terminal. */
static void sentences_are_lines(void)
{
    hd_config c = hd_config_default();
    hd_table *t;
    c.policy = "l\nr\x1b[2Ju\x7f\t";
    must_fail(hd_open(&c, &t), HD_EINVAL, "l?r?[2Ju??");
    must_fail(hd_open_snapshot("no\nsuch\x1b file", NULL, &t), HD_EIO, "no?such? file");
}

static const struct CMUnitTest misuse[] = { unit(batches_lru),   unit(batches_custom_dual), unit(batches_dictionary),
                                            unit(odd_values),    unit(sentences_are_lines), unit(nothing_is_fine),
                                            unit(reserved_keys), unit(configurations),      unit(dictionaries),
                                            unit(other_calls),

                                            unit(names),         unit(fields_by_name),      unit(drawn),
                                            unit(drawn_tables),  unit(drawn_segments),      unit(how_many) };

int main(void) { return test_run(misuse); }
