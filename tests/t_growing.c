/* SPDX-License-Identifier: Apache-2.0
 *
 * t_growing.c - hd_run_growing, hd_grow and hd_shrink, on a dictionary that grows in place and on a cache that doubles.
 * Each item counts once, even if allocations fail on the way, with arrays of a device, and if a batch runs in parts.
 * Invalid calls are refused with the reason. The test counts the k-mers of two genomes in tables that begin with 1,024
 * slots.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/table.h"
#include "ref/hive/hive.h"
#include "tests/far.h"
#include "tests/model.h"

enum { N = 5000, KEYS = 3000 };

static uint64_t key[N];
static uint32_t value[N], out[N];
static uint8_t outcome[N], found[N];

static hd_table *open_small(const char *design, const hd_seams *seams)
{
    hd_table *t;
    hd_config c = test_usual(.design = design, .capacity = 32, .slots = strcmp(design, "ovs") == 0 ? 16 : 8,
                             .value_bytes = 4, .threads = 1, .seams = seams);
    if (c.slots == 16) {
        static int opened;
        c.ovs.segment_bytes = 256;
        c.ovs.near_bytes = 768;
        c.ovs.partition = opened++ % 2 ? HD_PARTITION_RANGE : HD_PARTITION_HASH; /* every other table */
    }
    must(hd_open(&c, &t));
    return t;
}

static hd_batch draw(hd_op op, bool distinct, uint64_t *r)
{
    for (uint64_t i = 0; i < N; i++) key[i] = distinct ? i : test_below(r, KEYS), value[i] = 1;
    memset(outcome, 0xee, sizeof outcome);
    hd_batch b = test_batch(op, N, key, value, outcome);
    b.value_out = out, b.elem = HD_I32, b.distinct = distinct;
    return b;
}

/* How often each key should have been added. */
typedef struct tallies {
    uint64_t times[N], entries, n;
} tallies;

static int tally_entry(void *context, uint64_t k, uint64_t score, void *v)
{
    tallies *c = (tallies *)context;
    uint32_t got;
    (void)score;
    memcpy(&got, v, sizeof got);
    check(k < N && c->times[k] == got, "key %llu was added %u times instead of %llu", (ull)k, got,
          k < N ? (ull)c->times[k] : 0);
    c->n++;
    return 0;
}

/* The table has each key that `counts` has, with that value. */
static void tallies_compare(tallies *c, hd_table *t)
{
    uint64_t size;
    c->entries = c->n = 0;
    for (uint64_t k = 0; k < N; k++) c->entries += c->times[k] != 0;
    must(hd_check(t));
    must(hd_for_each(t, tally_entry, c));
    must(hd_size_sync(t, &size));
    check(c->n == c->entries && size == c->entries, "%llu entries instead of %llu", (ull)size, (ull)c->entries);
}

/* ---- Each item once -------------------------------------------------------------------------- */

static void counted_once(void)
{
    static const char *const designs[] = { "hive", "hkv", "ovs" };
    static const hd_op ops[] = { HD_OP_ACCUM_OR_ASSIGN, HD_OP_INSERT_OR_ASSIGN, HD_OP_FIND_OR_INSERT };
    for (int k = 0; k < 36; k++) {
        static tallies c;
        const char *design = designs[k % 3];
        bool cache = k % 3 == 1, distinct = k / 3 % 2, silent = k / 6 % 2;
        hd_op op = ops[k / 12];
        uint64_t r = (uint64_t)k, seen[HD_OUTCOME_COUNT] = { 0 };
        hd_counters count;
        hd_table *t = open_small(design, NULL);
        test_case("%s %s distinct=%d outcomes=%d", design, hd_op_name(op), distinct, !silent);
        if (cache) must(hd_grow(t, 4096)); /* it evicts; but not where there is room */
        hd_batch b = draw(op, distinct, &r);
        if (silent) b.outcome = NULL;
        memset(found, 0x5a, sizeof found);
        if (op == HD_OP_FIND_OR_INSERT) b.found = (bool *)found;
        must(hd_run_growing(t, &b, 0));
        for (int i = 0; i < N && b.found && !silent; i++)
            check(found[i] == (outcome[i] == HD_HIT), "item %d: found is %d, and the outcome %s", i, found[i],
                  hd_outcome_name((hd_outcome)outcome[i]));
        check(b.outcome == (silent ? NULL : outcome) && b.n == N && b.key == key && b.value == value &&
                  b.value_out == out,
              "the batch is another");
        check(strstr(b.ran, design) == b.ran, "it was run by %s", b.ran);
        memset(&c, 0, sizeof c);
        for (int i = 0; i < N; i++) c.times[key[i]] = op == HD_OP_ACCUM_OR_ASSIGN ? c.times[key[i]] + 1 : 1;
        tallies_compare(&c, t);
        for (int i = 0; i < N && !silent; i++) {
            check(outcome[i] < HD_OUTCOME_COUNT, "item %d has no outcome", i);
            seen[outcome[i]]++;
        }
        check(silent || seen[HD_INSERTED] == c.entries, "%llu were inserted", (ull)seen[HD_INSERTED]);
        check(silent || seen[op == HD_OP_FIND_OR_INSERT ? HD_HIT : HD_UPDATED] == N - c.entries,
              "and others not updated");
        must(hd_counters_sync(t, &count));
        check(count.outcome[HD_INSERTED] == c.entries && (count.outcome[HD_PENDING] > 0) == !cache,
              "the counters say %llu inserted, %llu pending", (ull)count.outcome[HD_INSERTED],
              (ull)count.outcome[HD_PENDING]);
        check(count.items == N + count.outcome[HD_PENDING] && count.op[op] == count.items, "%llu items",
              (ull)count.items);
        hd_close(t);
    }
}

/* hd_run_growing keeps the load factor at or below its target. */
static void target_is_kept(void)
{
    static const double targets[] = { 0.05, 0.3, 0.5, 0.85, 1 };
    for (size_t k = 0; k < 2 * sizeof targets / sizeof *targets; k++) {
        bool hive = k % 2;
        double load;
        uint64_t r = 1;
        hd_table *t = open_small(hive ? "hive" : "hkv", NULL);
        hd_batch b = draw(HD_OP_INSERT_OR_ASSIGN, false, &r);
        test_case("%s target=%g", hive ? "hive" : "hkv", targets[k / 2]);
        for (b.n = 10; b.n <= N; b.n *= 5) {
            must(hd_run_growing(t, &b, targets[k / 2]));
            must(hd_load_factor_sync(t, &load));
            check(load <= targets[k / 2], "load factor %.3f", load);
        }
        check(load > targets[k / 2] / 4, "load factor %.3f: it grew too far", load);
        must(hd_check(t));
        b.op = HD_OP_SIZE; /* what has no items has none that are pending */
        b.count = key;
        must(hd_run_growing(t, &b, targets[k / 2]));
        b.n = 0;
        b.op = HD_OP_INSERT_OR_ASSIGN;
        must(hd_run_growing(t, &b, 0));
        hd_close(t);
    }
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* A batch many times as large as the table runs in parts, so that few items find a full table. A repeated key is
 * added each time. */
static void in_parts(void)
{
    enum { MANY = 300000, EACH = 3 };
    static uint64_t many[MANY];
    static uint32_t add[MANY];
    static uint8_t fate[MANY];
    for (int k = 0; k < 4; k++) {
        bool distinct = k % 2, mixed = k / 2;
        static uint8_t each[MANY];
        uint64_t n[HD_OUTCOME_COUNT] = { 0 }, keys = distinct ? MANY : MANY / EACH, wrong = 0;
        hd_table *t = open_small("hive", NULL);
        hd_counters count;
        hd_info info;
        double load;
        test_case("distinct=%d mixed=%d", distinct, mixed);
        for (uint64_t i = 0; i < MANY; i++) many[i] = i % keys, add[i] = 1, each[i] = HD_OP_ACCUM_OR_ASSIGN;
        memset(fate, 0xee, sizeof fate);
        hd_batch b = test_batch(HD_OP_ACCUM_OR_ASSIGN, MANY, many, add, fate);
        b.elem = HD_I32, b.distinct = distinct, b.each = mixed ? each : NULL;
        must(hd_run_growing(t, &b, 0.6));
        for (uint64_t i = 0; i < MANY; i++) fate[i] < HD_OUTCOME_COUNT ? n[fate[i]]++ : wrong++;
        check(!wrong && n[HD_INSERTED] == keys && n[HD_UPDATED] == MANY - keys, "%llu inserted, %llu updated",
              (ull)n[HD_INSERTED], (ull)n[HD_UPDATED]);
        must(hd_counters_sync(t, &count));
        must(hd_load_factor_sync(t, &load));
        must(hd_table_info(t, &info));
        check(count.items == MANY + count.outcome[HD_PENDING] && count.batches >= 3, "%llu items in %llu batches",
              (ull)count.items, (ull)count.batches);
        /* a part goes beyond the target by a sixteenth of the slots at most */
        check(count.outcome[HD_PENDING] == 0, "%llu met a full table", (ull)count.outcome[HD_PENDING]);
        check(load <= 0.6 && load > 0.25, "load factor %.3f", load);
        uint64_t whole = info.base_buckets;
        while (whole < info.buckets) whole *= 2;
        check(whole == info.buckets, "%llu buckets of %llu", (ull)info.buckets, (ull)info.base_buckets);
        must(hd_check(t));
        b = (hd_batch){ .op = HD_OP_FIND, .n = keys, .key = many, .value_out = add, .outcome = fate };
        must(hd_run(t, &b));
        for (uint64_t i = 0; i < keys; i++) wrong += fate[i] != HD_HIT || add[i] != (distinct ? 1 : EACH);
        check(!wrong, "%llu keys were not added as often as they came", (ull)wrong);
        hd_close(t);
    }
}

enum { TOGETHER = 60 };

/* TOGETHER keys that share their candidate buckets until the table has 128 of them. */
static void keys_together(hd_table *t)
{
    enum { APART = 64 };
    hive_view later = *hive_view_of(t->state); /* as it will be with so many buckets */
    uint64_t first[2] = { 0, 0 }, n = 0;
    while (hive_buckets(&later) < APART) later.level++;
    for (uint64_t k = 1; n < TOGETHER; k++) {
        uint64_t h = hive_hash(&later, k), a = hive_candidate(&later, h, 0), b = hive_candidate(&later, h, 1);
        if (n && (a != first[0] || b != first[1])) continue;
        first[0] = a, first[1] = b;
        key[n] = k, value[n] = (uint32_t)k, n++;
    }
}

/* Each growth makes room for few of them, and the others are pending again. */
static void pending_again(void)
{
    hd_table *t = open_small("hive", NULL);
    hd_counters count;
    keys_together(t);
    hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, TOGETHER, key, value, outcome);
    must(hd_run_growing(t, &b, 0));
    for (int i = 0; i < TOGETHER; i++)
        check(outcome[i] == HD_INSERTED, "item %d: %s", i, hd_outcome_name((hd_outcome)outcome[i]));
    must(hd_counters_sync(t, &count));
    check(count.batches > 2 && count.outcome[HD_PENDING] > TOGETHER, "%llu batches, %llu were pending",
          (ull)count.batches, (ull)count.outcome[HD_PENDING]);
    b = (hd_batch){ .op = HD_OP_FIND, .n = TOGETHER, .key = key, .value_out = out, .outcome = outcome };
    must(hd_run(t, &b));
    for (int i = 0; i < TOGETHER; i++) check(outcome[i] == HD_HIT && out[i] == key[i], "key %llu is lost", (ull)key[i]);
    must(hd_check(t));
    hd_close(t);
}

/* Each of them twice: the second items hit in a run of their own, and deliver what the caller asked for. */
static void hits_among_the_rest(void)
{
    for (int asks = 0; asks < 4; asks++) {
        hd_table *t = open_small("hive", NULL);
        uint64_t score[2 * TOGETHER];
        test_case("%s value_out, %s score_out", asks & 1 ? "with" : "without", asks & 2 ? "with" : "without");
        keys_together(t);
        memcpy(key + TOGETHER, key, TOGETHER * sizeof *key);
        memset(value + TOGETHER, 0x55, TOGETHER * sizeof *value);
        memset(score, 0xee, sizeof score);
        memset(out, 0xee, 2 * TOGETHER * sizeof *out);
        hd_batch b = test_batch(HD_OP_FIND_OR_INSERT, 2 * TOGETHER, key, value, outcome);
        if (asks & 1) b.value_out = out;
        if (asks & 2) b.score_out = score;
        must(hd_run_growing(t, &b, 0));
        uint64_t hits = 0;
        for (int i = 0; i < 2 * TOGETHER; i++) {
            bool hit = outcome[i] == HD_HIT;
            hits += hit;
            check(hit || outcome[i] == HD_INSERTED, "item %d: %s", i, hd_outcome_name((hd_outcome)outcome[i]));
            check(!(asks & 1) || out[i] == (hit ? (uint32_t)key[i] : 0xeeeeeeee), "item %d: value %x", i, out[i]);
            check(!(asks & 2) || score[i] == (hit ? 0 : 0xeeeeeeeeeeeeeeee), "item %d: score %llx", i, (ull)score[i]);
        }
        check(hits == TOGETHER, "%llu hits", (ull)hits);
        must(hd_check(t));
        hd_close(t);
    }
}

/* A batch that lists runs whole, whichever of the lists there is: one list has one order. */
static void lists_are_of_one_batch(void)
{
    static uint64_t list[N];
    for (int k = 0; k < 6; k++) {
        uint64_t r = 6, count = 0;
        hd_counters counters;
        hd_table *t = open_small("hkv", NULL);
        hd_batch b = draw(HD_OP_INSERT_AND_EVICT, true, &r);
        test_case("list %d", k);
        b.count = k == 1 ? &count : NULL;
        b.list_key = k == 2 ? list : NULL;
        b.list_score = k == 3 ? list : NULL;
        b.list_item = k == 4 ? list : NULL;
        b.list_value = k == 5 ? list : NULL;
        must(hd_run_growing(t, &b, 0.5));
        must(hd_counters_sync(t, &counters));
        check((counters.batches == 1) == (k > 0), "%llu batches", (ull)counters.batches);
        hd_close(t);
    }
}

/* An entry that left without an outcome (clear, erase_if) takes no room. */
static void erased_untold(void)
{
    for (int k = 0; k < 4; k++) {
        uint64_t r = 2, size;
        hd_info before, after;
        hd_table *t = open_small(k % 2 ? "hive" : "hkv", NULL);
        hd_batch b = draw(HD_OP_INSERT_OR_ASSIGN, true, &r),
                 all = { .op = k / 2 ? HD_OP_CLEAR : HD_OP_ERASE_IF, .pred = "all" };
        test_case("%s, %s", k % 2 ? "hive" : "hkv", k / 2 ? "clear" : "erase_if");
        if (k % 2 == 0) must(hd_grow(t, 2048)); /* it evicts where there is no room */
        must(hd_run_growing(t, &b, 0.5));
        must(hd_run(t, &all));
        must(hd_table_info(t, &before));
        b.n = N / 2;
        must(hd_run_growing(t, &b, 0.5));
        must(hd_table_info(t, &after));
        must(hd_size_sync(t, &size));
        check(before.buckets == after.buckets && size <= N / 2 && size > N / 4,
              "%llu entries, and it grew from %llu to %llu buckets", (ull)size, (ull)before.buckets,
              (ull)after.buckets);
        hd_close(t);
    }
}

/* ---- Arrays of a device ---------------------------------------------------------------------- */

/* Which ends as it does with arrays of this machine; also where some are pending. */
static void arrays_of_a_device(void)
{
    enum { FEW = 600 };
    static const hd_op ops[] = { HD_OP_ACCUM_OR_ASSIGN, HD_OP_INSERT_OR_ASSIGN, HD_OP_FIND_OR_INSERT };
    uint64_t pending = 0;
    for (int k = 0; k < 12; k++) {
        static tallies c;
        bool distinct = k % 2, with_target = k / 2 % 2;
        uint64_t r = (uint64_t)k + 50, seen[HD_OUTCOME_COUNT] = { 0 }, wrong = 0;
        double load;
        hd_counters count;
        far_device *f = far_open();
        test_case("%s, distinct=%d target=%d", hd_op_name(ops[k / 4]), distinct, with_target);
        hd_table *t = test_table(.design = "hive", .backend = "cuda", .capacity = 64, .slots = 8, .value_bytes = 4,
                                 .seams = far_seams(f));
        hd_batch b = draw(ops[k / 4], distinct, &r), there;
        for (int i = 0; i < FEW && !distinct; i++) key[i] %= FEW / 2;
        b.n = FEW;
        memset(out, 0x5a, sizeof out);
        there = b;
        there.key = (uint64_t *)far_array(f, key, FEW * sizeof *key);
        /* some are this machine's: none; the values; all outputs */
        if (k % 3 != 1) there.value = far_array(f, value, FEW * sizeof *value);
        if (k % 3 != 2) there.value_out = far_array(f, out, FEW * sizeof *out);
        if (k % 3 != 2) there.outcome = (uint8_t *)far_array(f, outcome, FEW);
        there.stream = far_stream(f);
        if (with_target) { /* some are there, and the table learns of it */
            there.n = FEW / 4;
            must(hd_run_growing(t, &there, 0.5));
            there.n = FEW;
        }
        must(hd_run_growing(t, &there, with_target ? 0.5 : 0));
        if (k % 3 != 2) far_read(f, outcome, there.outcome, FEW);
        if (k % 3 != 2) far_read(f, out, there.value_out, FEW * sizeof *out);
        memset(&c, 0, sizeof c);
        for (int i = 0; i < FEW + (with_target ? FEW / 4 : 0); i++)
            c.times[key[i % FEW]] = ops[k / 4] == HD_OP_ACCUM_OR_ASSIGN ? c.times[key[i % FEW]] + 1 : 1;
        tallies_compare(&c, t);
        for (int i = 0; i < FEW; i++) {
            check(outcome[i] < HD_OUTCOME_COUNT, "item %d has no outcome", i);
            seen[outcome[i]]++;
            wrong += out[i] != (outcome[i] == HD_HIT ? 1 : 0x5a5a5a5a);
        }
        check(!wrong, "%llu values were delivered that should not, or not those that should", (ull)wrong);
        check(seen[HD_PENDING] == 0 &&
                  seen[HD_INSERTED] + seen[ops[k / 4] == HD_OP_FIND_OR_INSERT ? HD_HIT : HD_UPDATED] == FEW,
              "%llu inserted", (ull)seen[HD_INSERTED]);
        must(hd_counters_sync(t, &count));
        check(count.outcome[HD_INSERTED] == c.entries, "the counters say that %llu came",
              (ull)count.outcome[HD_INSERTED]);
        check(count.items == FEW + (with_target ? FEW / 4u : 0u) + count.outcome[HD_PENDING], "%llu items",
              (ull)count.items);
        pending += count.outcome[HD_PENDING];
        must(hd_load_factor_sync(t, &load));
        check(!with_target || load <= 0.5, "load factor %.3f", load);
        uint8_t *told = there.outcome;
        there.outcome = NULL;
        must_fail(hd_run_growing(t, &there, 0.5), HD_EINVAL, "outcome");
        there.outcome = told;
        far_record(f, there.stream);
        must_fail(hd_run_growing(t, &there, 0.5), HD_EINVAL, "captured");
        far_forget(f, far_recorded(f, there.stream));
        tallies_compare(&c, t);
        far_unstream(f, there.stream);
        far_drop(f, (void *)(uintptr_t)there.key);
        if (k % 3 != 1) far_drop(f, (void *)(uintptr_t)there.value);
        if (k % 3 != 2) far_drop(f, there.value_out);
        if (k % 3 != 2) far_drop(f, there.outcome);
        hd_close(t);
        far_close(f);
    }
    check(pending > 0, "nothing was ever pending");
    test_note("%llu items of a device's arrays were pending at first", (ull)pending);
}

/* ---- What cannot be -------------------------------------------------------------------------- */

static void misuse(void)
{
    static const uint64_t too_many[] = { (1ull << 31) + 1, 1ull << 32, (1ull << 32) + 9, 1ull << 40,
                                         1ull << 60,       1ull << 63, UINT64_MAX };
    static const double no_share[] = { -0.1, 1.0001, -INFINITY, INFINITY, NAN, 1e-300, 1e-12, 0.0009 };
    uint64_t r = 3;
    hd_table *t = open_small("hive", NULL), *cache = open_small("hkv", NULL);
    hd_batch b = draw(HD_OP_INSERT_OR_ASSIGN, false, &r);
    model_contents was, is;
    b.n = 20;
    must(hd_run(t, &b));
    must(hd_run(cache, &b));
    must(hd_grow(t, 9));
    contents_take(&was, t);
    must_fail(hd_shrink(NULL, 4), HD_EINVAL, "table");
    must_fail(hd_shrink(cache, 1), HD_EINVAL, "hkv does not shrink");
    must_fail(hd_shrink(t, 0), HD_EINVAL, "buckets");
    check(!strstr(hd_why(), "fewer"), "0 is not too many to shrink to: %s", hd_why());
    for (uint64_t few = 1; few < 4; few++) {
        must_fail(hd_shrink(t, few), HD_EINVAL, "fewer than the 4 that the table began with");
        must_fail(hd_grow(t, 2 * few), HD_EINVAL, "fewer than the present 9");
    }
    must_fail(hd_shrink(t, 10), HD_EINVAL, "buckets");
    must_fail(hd_grow(t, 8), HD_EINVAL, "fewer than the present 9");
    must_fail(hd_grow(t, 0), HD_EINVAL, "buckets");
    for (size_t k = 0; k < sizeof too_many / sizeof *too_many; k++) {
        must_fail(hd_grow(t, too_many[k]), HD_EINVAL, "more than a table can have");
        must_fail(hd_shrink(t, too_many[k]), HD_EINVAL, "buckets");
    }
    must_fail(hd_reserve(t, UINT64_MAX), HD_EINVAL, "buckets");
    must(hd_shrink(t, 9)); /* as many as there are: nothing */
    must(hd_grow(t, 9));
    must(hd_reserve(t, 72));
    must_fail(hd_run_growing(NULL, &b, 0), HD_EINVAL, "table");
    must_fail(hd_run_growing(t, NULL, 0), HD_EINVAL, "batch");
    for (size_t k = 0; k < sizeof no_share / sizeof *no_share; k++)
        must_fail(hd_run_growing(t, &b, no_share[k]), HD_EINVAL, "target");
    b.op = HD_OP_TOUCH;
    must_fail(hd_run_growing(t, &b, 0), HD_EINVAL, "scores");
    b.op = HD_OP_COUNT_;
    must_fail(hd_run_growing(t, &b, 0), HD_EINVAL, "op");
    b.op = HD_OP_INSERT_OR_ASSIGN;
    b.key = NULL;
    must_fail(hd_run_growing(t, &b, 0), HD_EINVAL, "key");
    b.key = key;
    b.n = UINT64_MAX / 2;
    must_fail(hd_run_growing(t, &b, 0), HD_EINVAL, "n:");
    b.outcome = NULL;
    must_fail(hd_run_growing(t, &b, 0), HD_EINVAL, "n:");
    contents_take(&is, t);
    check(contents_equal(&was, &is, true), "the table has noticed");
    contents_give(&was);
    contents_give(&is);

    must(hd_check(t));
    must(hd_check(cache));
    hd_close(t);
    hd_close(cache);
}

/* hd_reserve: as many buckets as hold the entries, not a multiple. */
static void reserves(void)
{
    hd_info info;
    hd_table *t = open_small("hive", NULL);
    must(hd_reserve(t, 33));
    must(hd_table_info(t, &info));
    check(info.buckets == 5 && info.base_buckets == 4 && info.capacity == 40, "%llu buckets", (ull)info.buckets);
    must(hd_reserve(t, 1));
    must(hd_reserve(t, 1000));
    must(hd_table_info(t, &info));
    check(info.buckets == 125 && info.places == 1000 + 8 * info.stash_buckets, "%llu buckets", (ull)info.buckets);
    hd_close(t);
}

/* ---- k-mers ---------------------------------------------------------------------------------- */

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Each distinct one is in the table once, with its number; by sorting. */
static void count_kmers(const char *file, uint64_t counted, uint64_t distinct, double target)
{
    enum { BATCH = 1000 };
    static uint32_t ones[BATCH];
    char spec[4300];
    uint64_t n, runs = 0;
    hd_config c = hd_config_of("hive");
    hd_table *t;
    hd_info info;
    snprintf(spec, sizeof spec, "kmer:%s,16", test_data(file));
    uint64_t *kmer = test_keys(spec, 1, UINT64_MAX, &n);
    check(n == counted, "%llu k-mers", (ull)n);
    c.capacity = 1024;
    must(hd_open(&c, &t));
    for (int i = 0; i < BATCH; i++) ones[i] = 1;
    for (uint64_t at = 0; at < n; at += BATCH) {
        hd_batch b = { .op = HD_OP_ACCUM_OR_ASSIGN,
                       .elem = HD_I32,
                       .n = n - at < BATCH ? n - at : BATCH,
                       .key = kmer + at,
                       .value = ones };
        must(hd_run_growing(t, &b, target));
    }
    must(hd_check(t));
    must(hd_table_info(t, &info));
    uint64_t size, first_buckets = info.buckets;
    must(hd_size_sync(t, &size));
    check(size == distinct, "%llu distinct", (ull)size);
    for (int round = 0; round < 2; round++) {
        qsort(kmer, n, sizeof *kmer, compare_u64);
        for (uint64_t i = 0, times; i < n; i += times, runs++) {
            uint32_t got = 0;
            uint8_t fate;
            for (times = 1; i + times < n && kmer[i + times] == kmer[i];) times++;
            hd_batch b = { .op = HD_OP_FIND, .n = 1, .key = &kmer[i], .value_out = &got, .outcome = &fate };
            must(hd_run(t, &b));
            check(fate == HD_HIT && got == times, "k-mer %llu: %s, %u instead of %llu", (ull)kmer[i],
                  hd_outcome_name((hd_outcome)fate), got, (ull)times);
        }
        /* as few buckets as there is room for: all still there */
        if (round == 0) must(hd_shrink(t, info.base_buckets));
    }
    must(hd_check(t));
    must(hd_table_info(t, &info));
    test_note("%s: %llu of %llu, %llu buckets of %u, %llu after shrinking", file, (ull)distinct, (ull)counted,
              (ull)first_buckets, info.slots, (ull)info.buckets);
    check(runs == 2 * distinct && info.buckets < first_buckets && info.capacity * 4 / 5 < distinct,
          "it shrank to %llu buckets", (ull)info.buckets);
    hd_close(t);
    free(kmer);
}

static void kmers_of_a_genome(void)
{
    count_kmers("lambda_virus.fa", 48487, 48486, 0);
    count_kmers("lambda_virus.fa", 48487, 48486, 0.5);
}

static void kmers_of_reads(void) { count_kmers("lambda_reads_1.fq.zst", 779967, 104580, 0.7); }

static const struct CMUnitTest growing[] = {
    unit(counted_once),  unit(target_is_kept),      unit(in_parts),
    unit(pending_again), unit(hits_among_the_rest), unit(lists_are_of_one_batch),
    unit(erased_untold), unit(arrays_of_a_device),  unit(misuse),
    unit(reserves),      unit(kmers_of_a_genome),   unit(kmers_of_reads)
};

int main(void) { return test_run(growing); }
