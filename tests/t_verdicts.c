/* SPDX-License-Identifier: Apache-2.0
 *
 * t_verdicts.c - every objection of the oracle, of the mix of operations and of the comparison of two drawn tables:
 * each comes from a result or a table with exactly this mistake. The linker puts functions between the judges and the
 * library that fail or lie on request. And the store for the snapshots of a mix, call by call.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "judge/arrays.h"
#include "judge/oracle.h"
#include "judge/run.h"
#include "judge/rules.h"
#include "judge/design.h"
#include "judge/mem_files.h"
#include "base/error.h"
#include "gpu/hkv/state.h"
#include "ref/hkv/hkv.h"
#include "tests/between.h"
#include "tests/testing.h"

/* ---- In between ------------------------------------------------------------------------------ */

typedef enum call {
    CALL_RUN,
    CALL_INFO,
    CALL_SIZE,
    CALL_CHECK,
    CALL_GROW,
    CALL_SAVE,
    CALL_LOAD,
    CALL_OPEN,
    CALL_OPEN_SNAPSHOT,
    CALL_COUNTERS,
    CALLS
} call;

static const char *const call_name[CALLS] = { "hd_run",           "hd_table_info",   "hd_size_sync", "hd_check",
                                              "hd_grow",          "hd_save",         "hd_load",      "hd_open",
                                              "hd_open_snapshot", "hd_counters_sync" };

typedef enum lie { NO_LIE, LATER, OTHER_EPOCH, DROPPED, FAR, TWICE, TOO_MANY, LARGER, NO_KERNELS } lie;

static struct {
    call of;
    uint64_t at, seen; /* which call of it, from 1; 0: none */
    lie tells;         /* NO_LIE: it fails                  */
    bool always;       /* every call of it                  */
} plan;

static bool chosen(call c) { return plan.of == c && (++plan.seen == plan.at || plan.always); }
static hd_status fails(void) { return hd_fail(HD_EIO, "as planned"); }

BETWEEN(hd_status, hd_run, (hd_table * t, hd_batch *b));
BETWEEN(hd_status, hd_table_info, (const hd_table *t, hd_info *info));
BETWEEN(hd_status, hd_size_sync, (hd_table * t, uint64_t *size));
BETWEEN(hd_status, hd_check, (hd_table * t));
BETWEEN(hd_status, hd_grow, (hd_table * t, uint64_t buckets));
BETWEEN(hd_status, hd_save, (hd_table * t, const char *path));
BETWEEN(hd_status, hd_load, (hd_table * t, const char *path, uint64_t *dropped));
BETWEEN(hd_status, hd_open, (const hd_config *c, hd_table **t));
BETWEEN(hd_status, hd_open_snapshot, (const char *path, const hd_config *c, hd_table **t));
BETWEEN(hd_status, hd_counters_sync, (const hd_table *t, hd_counters *c));

hd_status __wrap_hd_run(hd_table *t, hd_batch *b)
{
    bool now = chosen(CALL_RUN);
    if (now && plan.tells == NO_LIE) return fails();
    hd_status status = __real_hd_run(t, b);
    if (now && plan.tells == TWICE) b->list_key[1] = b->list_key[0];
    if (now && plan.tells == TOO_MANY) *b->count = b->n + 1;
    return status;
}

hd_status __wrap_hd_table_info(const hd_table *t, hd_info *info)
{
    bool now = chosen(CALL_INFO);
    if (now && plan.tells == NO_LIE) return fails();
    hd_status status = __real_hd_table_info(t, info);
    if (now && plan.tells == LATER) info->now++;
    if (now && plan.tells == OTHER_EPOCH) info->epoch++;
    if (now && plan.tells == FAR) info->backend = "cuda";
    if (now && plan.tells == NO_KERNELS) info->design = "no_such";
    return status;
}

hd_status __wrap_hd_size_sync(hd_table *t, uint64_t *size)
{
    bool now = chosen(CALL_SIZE);
    if (now && plan.tells == NO_LIE) return fails();
    hd_status status = __real_hd_size_sync(t, size);
    if (now && plan.tells == LARGER) ++*size;
    return status;
}

hd_status __wrap_hd_load(hd_table *t, const char *path, uint64_t *dropped)
{
    bool now = chosen(CALL_LOAD);
    if (now && plan.tells == NO_LIE) return fails();
    hd_status status = __real_hd_load(t, path, dropped);
    if (now && plan.tells == DROPPED) ++*dropped;
    return status;
}

hd_status __wrap_hd_counters_sync(const hd_table *t, hd_counters *c)
{
    return chosen(CALL_COUNTERS) ? fails() : __real_hd_counters_sync(t, c);
}
hd_status __wrap_hd_check(hd_table *t) { return chosen(CALL_CHECK) ? fails() : __real_hd_check(t); }
hd_status __wrap_hd_grow(hd_table *t, uint64_t buckets)
{
    return chosen(CALL_GROW) ? fails() : __real_hd_grow(t, buckets);
}
hd_status __wrap_hd_save(hd_table *t, const char *path)
{
    return chosen(CALL_SAVE) ? fails() : __real_hd_save(t, path);
}
hd_status __wrap_hd_open(const hd_config *c, hd_table **t)
{
    return chosen(CALL_OPEN) ? fails() : __real_hd_open(c, t);
}
hd_status __wrap_hd_open_snapshot(const char *path, const hd_config *c, hd_table **t)
{
    return chosen(CALL_OPEN_SNAPSHOT) ? fails() : __real_hd_open_snapshot(path, c, t);
}

/* A policy that rules.c does not state. */
BETWEEN(bool, judge_borrow_policy, (const char *name, uint32_t *row));
bool __wrap_judge_borrow_policy(const char *name, uint32_t *row)
{
    return __real_judge_borrow_policy(strcmp(name, "new_here") == 0 ? "lfu" : name, row);
}

static void plan_for(call of, uint64_t at, lie tells)
{
    memset(&plan, 0, sizeof plan);
    plan.of = of;
    plan.at = at;
    plan.tells = tells;
}

/* ---- A table of one bucket ------------------------------------------------------------------- */

enum { SLOTS = 4, MOST = 8 };

typedef struct bed {
    hd_config config;
    hd_table *table;
    hd_oracle *oracle;
    hd_info before;
    hd_batch b;
    uint64_t key[MOST], value[MOST], score[MOST], value_out[MOST], score_out[MOST], list_key[MOST], list_value[MOST],
        list_score[MOST], list_item[MOST], count;
    uint8_t flag[MOST], outcome[MOST];
    void *ptr[MOST];
} bed;

static void bed_open(bed *d, uint32_t value_bytes, const char *policy)
{
    memset(d, 0, sizeof *d);
    d->config = hd_config_default();
    d->config.policy = policy;
    d->config.capacity = d->config.slots = SLOTS;
    d->config.value_bytes = value_bytes;
    d->config.hkv.pins = 2;
    d->config.threads = 1;
    plan_for(CALLS, 0, NO_LIE);
    must(hd_open(&d->config, &d->table));
    must(hd_oracle_open(&d->config, &d->oracle));
}

static void bed_close(bed *d)
{
    plan_for(CALLS, 0, NO_LIE);
    hd_close(d->table);
    hd_oracle_close(d->oracle);
}

/* Keys key, key + 1, ... with values 100 + key and scores 10 + key. */
static void bed_run(bed *d, hd_op op, uint64_t key, uint64_t n)
{
    hd_batch *b = &d->b;
    memset(b, 0, sizeof *b);
    b->op = op;
    b->n = n;
    b->elem = HD_U64;
    b->holder = 7;
    b->pred = "score_below";
    b->pred_arg[0] = 13;
    test_point(b, d);
    for (uint64_t i = 0; i < n; i++)
        d->key[i] = key + i, d->value[i] = 100 + d->key[i], d->score[i] = 10 + d->key[i], d->flag[i] = HD_EITHER;
    must(hd_table_info(d->table, &d->before));
    must(hd_run(d->table, b));
}

static const char *bed_judge(bed *d)
{
    return hd_oracle_batch(d->oracle, d->table, &d->b, NULL, d->before.now, d->before.epoch);
}

static void bed_truth(bed *d, hd_op op, uint64_t key, uint64_t n)
{
    bed_run(d, op, key, n);
    const char *wrong = bed_judge(d);
    check(!wrong, "a true account of %s: %s", hd_op_name(op), wrong);
}

/* ---- The oracle ------------------------------------------------------------------------------ */

static void without_outcomes(bed *d) { d->b.outcome = NULL; }
static void unknown_operation(bed *d) { d->b.op = HD_OP_COUNT_; }
static void without_count(bed *d) { d->b.count = NULL; }
static void without_keys(bed *d) { d->b.list_key = NULL; }
static void count_too_large(bed *d) { d->count = d->b.n + 1; }
static void other_threshold(bed *d) { d->b.pred_arg[0] = 12; }
static void no_predicate(bed *d) { d->b.pred = NULL; }
static void strange_predicate(bed *d) { d->b.pred = "no_such"; }
static void begins_later(bed *d) { d->b.start = 1; }
static void ends_earlier(bed *d) { d->b.n = 2, d->count = 3, d->b.n = 3, d->list_item[2] = 3; }
static void slots_again(bed *d) { d->list_item[1] = d->list_item[0]; }
static void score_listed(bed *d) { d->list_score[0]++; }
static void value_listed(bed *d) { d->list_value[0]++; }
static void key_listed(bed *d) { d->list_key[0] = 99; }
static void twice_listed(bed *d) { d->list_key[1] = d->list_key[0]; }
static void count_by_one(bed *d) { d->count++; }
static void many_near(bed *d) { d->count = SLOTS + 1; }
static void evicts_itself(bed *d) { d->outcome[0] = HD_EVICTED; }
static void info_fails(bed *d) { (void)d, plan_for(CALL_INFO, 1, NO_LIE); }
static void export_fails(bed *d) { (void)d, plan_for(CALL_RUN, 1, NO_LIE); }

/* Behind the judge's back: the pinned entry is unpinned and erased. */
static void says_pending(bed *d) { d->outcome[0] = HD_PENDING; }
static void lose_pinned(bed *d)
{
    uint64_t key = 1;
    must(hd_run(d->table, &(hd_batch){ .op = HD_OP_UNLOCK_KEYS, .n = 1, .key = &key, .holder = 7 }));
    must(hd_run(d->table, &(hd_batch){ .op = HD_OP_ERASE, .n = 1, .key = &key }));
}

/* What a judge says has these words; NULL: it says nothing. */
static void says(const char *wrong, const char *words)
{
    check(words ? wrong && strstr(wrong, words) : !wrong, "%s", wrong ? wrong : "no objection");
}

static void accounts(void)
{
    static const struct {
        hd_op op;
        uint64_t key, n; /* of the batch; keys 1 to 4, in this order, are in the table */
        void (*doctor)(bed *d);
        const char *sentence;
    } all[] = {
        { HD_OP_FIND, 1, 4, without_outcomes, "find: the judge needs outcomes" },
        { HD_OP_FIND, 1, 4, unknown_operation, "there is no operation" },
        { HD_OP_FIND, 1, 4, info_fails, "hd_table_info: as planned" },
        { HD_OP_EXPORT, 0, 4, without_count, "export: no list, or one that is too long" },
        { HD_OP_EXPORT, 0, 4, without_keys, "export: no list, or one that is too long" },
        { HD_OP_EXPORT, 0, 4, count_too_large, "export: no list, or one that is too long" },
        { HD_OP_EXPORT, 0, 4, key_listed, "key 99, is not in the table" },
        { HD_OP_EXPORT, 0, 4, twice_listed, "is in the list twice" },
        { HD_OP_EXPORT, 0, 4, score_listed, "has another score" },
        { HD_OP_EXPORT, 0, 4, value_listed, "has another value" },
        { HD_OP_EXPORT, 0, 4, begins_later, "entry 0 of the list, key 1, is outside the window" },
        { HD_OP_EXPORT, 0, 4, ends_earlier, "entry 2 of the list, key 3, is outside the window" },
        { HD_OP_EXPORT, 0, 4, slots_again, "entry 1 of the list, key 2, is out of order" },
        { HD_OP_EXPORT_IF, 0, 4, other_threshold, "key 2, does not satisfy the predicate" },
        { HD_OP_EXPORT_IF, 0, 4, no_predicate, "export_if: the judge knows no predicate '(null)'" },
        { HD_OP_SIZE_IF, 0, 0, strange_predicate, "size_if: the judge knows no predicate 'no_such'" },
        { HD_OP_SIZE_IF, 0, 0, count_by_one, "size_if: the count is 3 instead of 2" },
        { HD_OP_PROMOTE, 0, 4, many_near, "promote: 5 entries came near" },
        /* it left before anything had made it leave */
        { HD_OP_INSERT_OR_ASSIGN, 2, 1, evicts_itself, "insert_or_assign: item 0: " },
        { HD_OP_INSERT_OR_ASSIGN, 9, 1, says_pending, "inserted, evicted or refused expected" }, /* by a cache */
        { HD_OP_INSERT_OR_ASSIGN, 9, 1, lose_pinned, "key 1 was pinned, and is gone" },
        { HD_OP_INSERT_OR_ASSIGN, 9, 1, export_fails, "export: as planned" },
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        bed d;
        bed_open(&d, 8, "custom");
        bed_truth(&d, HD_OP_INSERT_OR_ASSIGN, 1, 4);
        bed_truth(&d, HD_OP_LOCK_KEYS, 1, 1);
        bed_run(&d, all[k].op, all[k].key, all[k].n);
        all[k].doctor(&d);
        test_case("row %zu, %s", k, all[k].sentence);
        says(bed_judge(&d), all[k].sentence);
        bed_close(&d);
    }
}

/* What a caller leaves out, he is not judged by; the rest is judged as before. */
static void arrays_left_out(void)
{
    uint64_t judged = 0;
    for (uint32_t bytes = 0; bytes <= 8; bytes += 8)
        for (int op = 0; op < HD_OP_COUNT_; op++)
            for (unsigned out = 0; out < 1u << 9; out++) {
                bed d;
                if ((op == HD_OP_ACCUM_OR_ASSIGN && !bytes)) continue;
                bed_open(&d, bytes, "lfu");
                bed_truth(&d, HD_OP_INSERT_OR_ASSIGN, 1, 4);
                bed_truth(&d, HD_OP_TOUCH, 2, 3);
                hd_batch *b = &d.b;
                memset(b, 0, sizeof *b);
                b->op = (hd_op)op;
                b->n = judge_ops[op].keyed ? 4 : judge_ops[op].range ? SLOTS : 0;
                b->elem = HD_U64;
                b->holder = 7;
                b->pred = "score_below";
                b->pred_arg[0] = 13;
                test_point(b, &d);
                for (uint64_t i = 0; i < b->n; i++)
                    d.key[i] = 3 + i, d.value[i] = i, d.score[i] = 1000, d.flag[i] = HD_EITHER;
                if (out & 1) b->score = NULL;
                if (out & 2) b->flag = NULL;
                if (out & 4) b->value_out = NULL;
                if (out & 8) b->score_out = NULL;
                if (out & 16) b->list_key = NULL;
                if (out & 32) b->list_value = NULL;
                if (out & 64) b->list_score = NULL;
                if (out & 128) b->list_item = NULL;
                if (out & 256) b->count = NULL;
                if (out == 511 || !bytes) b->value = bytes ? b->value : NULL;
                must(hd_table_info(d.table, &d.before));
                test_case("%s, values of %u bytes, without %x", hd_op_name(b->op), bytes, out);
                bool exports = op == HD_OP_EXPORT || op == HD_OP_EXPORT_IF;
                /* a list without its keys or its end says nothing */
                if (!hd_run(d.table, b) && !(exports && (out & (16 | 256)))) {
                    const char *wrong = bed_judge(&d);
                    if (!wrong) wrong = hd_oracle_compare(d.oracle, d.table);
                    check(!wrong, "%s", wrong);
                    judged++;
                }
                bed_close(&d);
            }
    check(judged > 5000, "only %llu batches were run", (ull)judged);
    test_tried("differential", judged, "batches that leave arrays out, judged by the others");
}

/* Items in another order than their numbers: then their entries are found by number, and have to be in that order. */
static void lists_in_order(void)
{
    static const uint64_t order[] = { 2, 0, 1 };
    static const char missing[] = "find_missed: the judge needs list_item and count";
    static const char *const sentences[] = { NULL, missing, missing,
                                             "find_missed: entry 1 of the list is item 0's, and comes after item 0's" };
    for (int k = 0; k < 4; k++) {
        bed d;
        bed_open(&d, 8, "custom");
        bed_truth(&d, HD_OP_INSERT_OR_ASSIGN, 1, 4);
        bed_run(&d, HD_OP_FIND_MISSED, 50, 3);
        if (k == 1) d.b.list_item = NULL;
        if (k == 2) d.b.count = NULL;
        if (k == 3) d.list_item[1] = 0;
        test_case("list %d", k);
        says(hd_oracle_batch(d.oracle, d.table, &d.b, order, d.before.now, d.before.epoch), sentences[k]);
        bed_close(&d);
    }
}

/* The judge does not follow pointers of a device. */
static void far_pointers(void)
{
    for (int far = 0; far < 2; far++) {
        bed d;
        bed_open(&d, 8, "custom");
        bed_truth(&d, HD_OP_INSERT_OR_ASSIGN, 1, 4);
        bed_run(&d, HD_OP_FIND_PTR, 1, 4);
        uint64_t elsewhere = 5;
        for (int i = 0; i < 4; i++) d.ptr[i] = far ? (void *)(uintptr_t)16 : &elsewhere;
        if (far) plan_for(CALL_INFO, 1, FAR);
        says(bed_judge(&d), far ? NULL : "the pointer does not show its value");
        bed_close(&d);
    }
}

/* What it is opened with, and what happens to it besides batches. */
static void oracles(void)
{
    bed d;
    hd_oracle *o;
    bed_open(&d, 8, "lru");
    hd_config c = d.config;
    c.policy = NULL;
    must(hd_oracle_open(&c, &o)); /* lru */
    bed_truth(&d, HD_OP_INSERT_OR_ASSIGN, 1, 4);
    const char *wrong = hd_oracle_batch(o, d.table, &d.b, NULL, d.before.now, d.before.epoch);
    if (!wrong) wrong = hd_oracle_compare(o, d.table);
    check(!wrong, "another policy than lru: %s", wrong);
    hd_oracle_close(o);
    c.policy = "no_such";
    must_fail(hd_oracle_open(&c, &o), HD_EINVAL, "no_such");
    c.policy = "lru";
    check(hd_oracle_restates("epoch_lfu") && !hd_oracle_restates("no_such") && !hd_oracle_restates("new_here"),
          "what is stated twice");
    hd_config wide = hd_config_of("hive");
    wide.value_bytes = 8;
    check(judge_keys(&c) == UINT64_MAX - 2 && judge_keys(&wide) == UINT64_MAX - 2, "keys of 64 bits");
    wide.value_bytes = 2;
    check(judge_keys(&wide) == 65536 - 3, "keys of 16 bits");
    check(judge_dictionary("hive") && !judge_dictionary("hkv") && !judge_dictionary("no_such"), "dictionaries");
    hd_oracle_close(NULL);

    bed_run(&d, HD_OP_FIND, 1, 0);
    d.b.outcome = NULL;
    check(!bed_judge(&d), "no item needs no outcome");
    uint64_t seven = 7;
    hd_oracle_wrote(d.oracle, 99, &seven); /* of a key that is not there: nothing */
    check(!hd_oracle_compare(d.oracle, d.table), "nothing was written");
    hd_oracle_wrote(d.oracle, 2, &seven);
    for (int exports = 0; exports < 2; exports++) {
        plan_for(CALL_INFO, 1, exports ? FAR : NO_KERNELS);
        says(hd_oracle_compare(d.oracle, d.table), "key 2 with another value");
    }
    plan_for(CALLS, 0, NO_LIE);
    bed_close(&d);
    bed_open(&d, 0, "lru");
    bed_truth(&d, HD_OP_INSERT_OR_ASSIGN, 1, 4);
    hd_oracle_wrote(d.oracle, 2, NULL); /* there is no value */
    check(!hd_oracle_compare(d.oracle, d.table), "a set has no values");
    bed_close(&d);
}

/* ---- The whole table ------------------------------------------------------------------------- */

static void compared(void)
{
    static const struct {
        call of;
        lie tells;
        const char *whole, *part; /* sentences; NULL: none */
    } all[] = {
        { CALLS, NO_LIE, NULL, NULL },
        { CALL_INFO, NO_LIE, "hd_table_info: as planned", "hd_table_info: as planned" },
        { CALL_INFO, NO_KERNELS, NULL, NULL }, /* walked, where nothing exports */
        { CALL_RUN, NO_LIE, "export: as planned", "export: as planned" },
        { CALL_RUN, TWICE, "the table holds key 1 twice", "the table holds key 1 twice" },
        { CALL_RUN, TOO_MANY, "export of 4 slots gave 5 entries", "export of 4 slots gave 5 entries" },
        { CALL_SIZE, NO_LIE, "hd_size_sync: as planned", NULL },
        { CALL_SIZE, LARGER, "the size is said to be 5, but it is 4", NULL },
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (int part = 0; part < 2; part++) {
            bed d;
            bed_open(&d, 8, "custom");
            bed_truth(&d, HD_OP_INSERT_OR_ASSIGN, 1, 4);
            plan_for(all[k].of, 1, all[k].tells);
            test_case("row %zu, %s", k, part ? "part" : "whole");
            says(part ? hd_oracle_compare_part(d.oracle, d.table, 0) : hd_oracle_compare(d.oracle, d.table),
                 part ? all[k].part : all[k].whole);
            bed_close(&d);
        }
}

/* A table of some keys is loaded into one bucket of four slots: which keys may be missing? */
static void parts(void)
{
    static const struct {
        uint64_t lost, others, dropped; /* the missing key; how many others are there; the reported number of drops */
        bool dual;
        const char *sentence;
    } all[] = {
        { 0, 4, 0, false, NULL },
        { 1, 4, 1, false, NULL }, /* below all of a full bucket */
        { 1, 4, 0, false, "4 entries are there and 0 were said to be dropped, of 5" },
        { 1, 4, 2, false, "4 entries are there and 2 were said to be dropped, of 5" },
        { 3, 4, 1, false, "key 3, score 13, was dropped, but lower scores were kept" },
        { 1, 3, 1, false, "key 1, score 11, was dropped, but lower scores were kept" }, /* there was room */
        { 1, 4, 1, true, "key 1, score 11, was dropped, but lower scores were kept" },  /* in one of two */
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        bed d;
        bed_open(&d, 8, "custom");
        hd_table *larger;
        hd_config c = d.config;
        c.capacity = c.slots = 8; /* where they come from */
        must(hd_open(&c, &larger));
        hd_close(d.table);
        d.table = larger;
        hd_oracle_close(d.oracle);
        must(hd_oracle_open(&c, &d.oracle));
        bed_truth(&d, HD_OP_INSERT_OR_ASSIGN, 1, all[k].others + (all[k].lost != 0));
        c = d.config;
        c.hkv.dual = all[k].dual;
        c.capacity = all[k].dual ? 2 * SLOTS : SLOTS;
        hd_table *small;
        must(hd_open(&c, &small));
        for (uint64_t key = 1; key <= all[k].others + (all[k].lost != 0); key++) {
            uint64_t value = 100 + key, score = 10 + key;
            if (key != all[k].lost)
                must(hd_run(small,
                            &(hd_batch){
                                .op = HD_OP_INSERT_OR_ASSIGN, .n = 1, .key = &key, .value = &value, .score = &score }));
        }
        test_case("row %zu", k);
        says(hd_oracle_compare_part(d.oracle, small, all[k].dropped), all[k].sentence);
        hd_close(small);
        bed_close(&d);
    }
}

/* ---- The mix --------------------------------------------------------------------------------- */

/* Says what happens besides batches, one thing a batch, and leaves the rest to chance. */
typedef struct script {
    uint64_t random, batch;
    const char *besides; /* g: grow; b, e, o: save, and load back, elsewhere, open; others: nothing */
    uint64_t kind;       /* of the load that comes; 3: none does */
} script;

static uint64_t script_below(void *self, uint64_t n)
{
    script *s = (script *)self;
    if (n == 256) { /* rarely: the last number is the least quiet */
        char c = s->besides[s->batch] ? s->besides[s->batch++] : '.';
        s->kind = c == 'b' ? 0 : c == 'e' ? 1 : c == 'o' ? 2 : 3;
        return c == 'g' ? 255 : s->kind < 3 ? 254 : 0;
    }
    if (n == 3 && s->kind < 3) {
        uint64_t kind = s->kind;
        s->kind = 3;
        return kind;
    }
    return test_below(&s->random, n);
}
static uint64_t script_number(void *self) { return test_random(&((script *)self)->random); }
static bool script_more(void *self) { return (void)self, true; }

static hd_status mix(const char *text, const char *besides, uint64_t seed, hd_run_report *r)
{
    hd_case c;
    script s = { seed, 0, besides, 3 };
    hd_choices choices = { script_below, script_number, script_more, NULL, &s };
    must(hd_case_parse(text, &c));
    return hd_case_run_by(&c, &choices, r);
}

/* Each call of each function fails once: the run ends with this error, or a judge reports it. No failure is
 * ignored. */
static void mix_fails(void)
{
    static const char *const cases[] = {
        "hkv.mix.ref policy=lfu buckets=4 slots=4 batch=6x8 keys=uniform:30 threads=1 judge=1",
        "hkv.mix.ref policy=custom buckets=4 slots=4 dual=1 batch=6x8 keys=uniform:30 threads=1 judge=0",
        "hive.mix.ref buckets=4 slots=8 value=4 batch=6x8 keys=uniform:30 threads=1 judge=1" /* of fewer calls */
    };
    uint64_t failed = 0;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int c = 0; c < CALLS; c++)
            for (uint64_t at = 1;; at++, failed++) {
                hd_run_report r;
                plan_for((call)c, at, NO_LIE);
                test_case("%s, call %llu of %s fails", cases[k], (ull)at, call_name[c]);
                hd_status status = mix(cases[k], "gbeogbeo", 3, &r);
                bool reached = plan.seen >= at;
                plan_for(CALLS, 0, NO_LIE);
                if (!reached) {
                    check(!status && !r.wrong[0] && (at > 1 || k == 2), "%s", status ? hd_why() : r.wrong);
                    break;
                }
                check(status ? status == HD_EIO && strstr(hd_why(), "as planned")
                             : strstr(r.wrong, "as planned") != NULL,
                      "%s: %s; %s", hd_status_name(status), hd_why(), r.wrong);
            }
    check(failed > 100, "only %llu calls", (ull)failed);
    test_note("%llu calls of the library failed under a mix", (ull)failed);
}

/* A sentence for each lie about what happens besides batches. */
static void mix_is_judged(void)
{
    static const char text[] = "hkv.mix.ref policy=lfu buckets=4 slots=4 batch=6x4 keys=uniform:30 threads=1 judge=1";
    static const struct {
        const char *besides;
        call of;
        lie tells;
        const char *sentence;
    } all[] = {
        { "...b", CALL_LOAD, DROPPED, "batch 3: load: a table had no room for its own snapshot" },
        { "...e", CALL_LOAD, DROPPED, "were said to be dropped" },
        { "...b", CALL_INFO, LATER, "batch 3: load: the clock or the epoch is another" },
        { "...e", CALL_INFO, OTHER_EPOCH, "batch 3: load: the clock or the epoch is another" },
        { "...o", CALL_INFO, LATER, "batch 3: load: the clock or the epoch is another" },
        { "...g", CALL_CHECK, NO_LIE, "batch 3: grow: as planned" },
        { "...b", CALL_CHECK, NO_LIE, "batch 3: load: as planned" },
        { "...o", CALL_CHECK, NO_LIE, "batch 3: open_snapshot: as planned" },
        { "...e", CALL_CHECK, NO_LIE, "batch 3: load into another shape: as planned" },
        { "...g", CALL_RUN, TWICE, "batch 3: grow: the table holds key" },
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        bool heard = false;
        hd_run_report r;
        for (uint64_t at = 1; !heard && at < 200; at++) {
            plan_for(all[k].of, at, all[k].tells);
            if (mix(text, all[k].besides, 5, &r)) continue;
            heard = strstr(r.wrong, all[k].sentence) != NULL;
        }
        plan_for(CALLS, 0, NO_LIE);
        test_case("row %zu", k);
        check(heard, "no message was '%s'", all[k].sentence);
    }
}

/* Judges that were not requested do not object; growth ends at its limit; the smallest table has snapshots, too. */
static void mix_has_limits(void)
{
    hd_case c;
    hd_run_report r;
    for (uint32_t judges = 0; judges < 2; judges++) {
        must(hd_case_parse("hkv.mix.ref policy=lru buckets=2 slots=4 batch=2x3000 keys=uniform:30 threads=1 judge=1",
                           &c));
        plan_for(CALL_CHECK, 1, NO_LIE);
        plan.always = true;
        must(hd_case_run_judged(&c, judges ? HD_RUN_ALL - HD_RUN_INVARIANTS : HD_RUN_COUNTERS, NULL, NULL, &r));
        check(!r.wrong[0] && plan.seen > 5, "after %llu checks: %s", (ull)plan.seen, r.wrong);
        must(hd_case_run(&c, NULL, NULL, &r));
        check(r.by == HD_RUN_INVARIANTS && strstr(r.wrong, "as planned"), "%s", r.wrong);
        plan_for(CALLS, 0, NO_LIE);
    }
    must(mix("hkv.mix.ref policy=lru buckets=2 slots=4 batch=2x30 keys=uniform:30 threads=1 judge=1",
             "gggggggggggggggggggggggggggggg", 7, &r));
    check(!r.wrong[0] && r.info.buckets <= 2 * 64 && r.info.buckets > 2 * 64 / 3, "%llu buckets: %s",
          (ull)r.info.buckets, r.wrong);
    must(mix("hkv.mix.ref policy=lru buckets=80 slots=8 value=65536 batch=2x2 keys=uniform:30 threads=1 judge=1", "gg",
             7, &r));
    check(!r.wrong[0] && r.info.buckets == 80, "%llu buckets of 5 MiB: %s", (ull)r.info.buckets, r.wrong);
    for (uint64_t seed = 0; seed < 20; seed++) {
        must(mix("hkv.mix.ref policy=custom buckets=1 slots=2 batch=3x8 keys=uniform:4 threads=1 judge=1", "eeeeeeee",
                 seed, &r));
        check(!r.wrong[0], "two slots, seed %llu: %s", (ull)seed, r.wrong);
    }
}

/* ---- Two tables, drawn ----------------------------------------------------------------------- */

enum { DRAWN = 4 }; /* two buckets of two slots */

typedef struct drawn {
    uint8_t digest[DRAWN];
    uint64_t key[DRAWN], score[DRAWN], value[DRAWN];
    hkv_state state; /* only its view */
} drawn;

static void drawn_make(drawn *t, uint32_t value_bytes)
{
    memset(t, 0, sizeof *t);
    t->state.v = (hkv_view){ .buckets = 2,
                             .slots = 2,
                             .step = 1,
                             .value_bytes = value_bytes,
                             .digest = t->digest,
                             .key = t->key,
                             .score = t->score,
                             .value = (uint8_t *)t->value };
    hkv_clear(&t->state.v, 1);
}

/* The n-th key, from 0, of bucket b. */
static uint64_t key_of(const drawn *t, uint64_t b, uint64_t n)
{
    for (uint64_t key = 1;; key++)
        if (hd_first_bucket(hd_hash(key, t->state.v.seed), t->state.v.buckets) == b && n-- == 0) return key;
}

static void drawn_put(drawn *t, uint64_t e, uint64_t key, uint64_t score, uint64_t value)
{
    t->digest[e] = hd_digest(hd_hash(key, t->state.v.seed));
    t->key[e] = key;
    t->score[e] = score;
    memcpy((uint8_t *)t->value + e * t->state.v.value_bytes, &value, t->state.v.value_bytes);
}

static const judge_design *const hkv = &judge_design_hkv;

static void differences(void)
{
    static const uint32_t sizes[] = { 0, 3, 8 };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        uint32_t bytes = sizes[k];
        drawn a, b;
        drawn_make(&a, bytes);
        drawn_make(&b, bytes);
        uint64_t x = key_of(&a, 0, 0), y = key_of(&a, 0, 1), z = key_of(&a, 1, 0);
        char text[2048], row[128];
        drawn_put(&a, 0, x, 5, 50);
        drawn_put(&b, 1, x, 5, 50); /* another slot of the bucket */
        drawn_put(&a, 2, z, 7, 70);
        drawn_put(&b, 2, z, 7, 70);
        check(!fixture_bucket_differs(hkv, &a.state, &b.state, 0) &&
                  !fixture_bucket_differs(hkv, &a.state, &b.state, 1),
              "buckets are sets");
        check(fixture_draw(hkv, &a.state, "one", &b.state, "other", text, sizeof text) == 0 && !text[0],
              "nothing differs:\n%s", text);
        b.score[1] = 6;
        check(strcmp(hkv->differs(&a.state, &b.state, 0), "has another score than in") == 0, "the score");
        b.score[1] = 5;
        if (bytes) {
            drawn_put(&b, 1, x, 5, 51);
            check(strcmp(hkv->differs(&a.state, &b.state, 0), "has another value than in") == 0, "the value");
            drawn_put(&b, 1, x, 5, 50);
        }
        drawn_put(&b, 1, y, 5, 50);
        check(strcmp(hkv->differs(&a.state, &b.state, 0), "is not in this bucket of") == 0, "another key");
        check(fixture_bucket_differs(hkv, &a.state, &b.state, 0) && !fixture_bucket_differs(hkv, &a.state, &b.state, 1),
              "bucket 0 alone");
        size_t n = fixture_draw(hkv, &a.state, "one", &b.state, "other", text, sizeof text);
        check(n == strlen(text) && strncmp(text, "bucket 0\n", 9) == 0 && strstr(text, "one") &&
                  strstr(text, "other") && !strstr(text, "bucket 1"),
              "%s", text);
        snprintf(row, sizeof row, ">    0  %" PRIx64 " score 5 value %x", x, bytes ? 50 : 0);
        check(strstr(text, row), "no row '%s' in\n%s", row, text);
        check(strstr(text, "     1  -"), "an empty slot is\n%s", text);
        check(fixture_draw(hkv, &a.state, "one", &b.state, "other", NULL, 0) == n,
              "another length without a place for it");
        char part[40];
        check(fixture_draw(hkv, &a.state, "one", &b.state, "other", part, sizeof part) == n &&
                  strncmp(part, text, sizeof part - 1) == 0 && strlen(part) == sizeof part - 1,
              "what fits is '%s'", part);
        /* an owned slot differs from every slot, also from an owned one */
        for (int owned = 0; owned < 2; owned++) {
            drawn c, d;
            uint64_t key = owned ? HKV_KEY_REPLACED : HD_KEY_LOCKED,
                     home = hd_first_bucket(hd_hash(key, a.state.v.seed), 2);
            drawn_make(&c, bytes);
            drawn_make(&d, bytes);
            drawn_put(&c, hkv_entry(&c.state.v, home, 1), key, 5, 50);
            drawn_put(&d, hkv_entry(&d.state.v, home, 1), key, 5, 50);
            check(fixture_bucket_differs(hkv, &c.state, &d.state, home) &&
                      !fixture_bucket_differs(hkv, &c.state, &d.state, 1 - home),
                  "an owned slot");
            fixture_draw(hkv, &c.state, "one", &d.state, "other", text, sizeof text);
            check(strstr(text, ">    1  locked"), "an owned slot is\n%s", text);
        }
        drawn_put(&b, 1, x, 5, 50);
        drawn_put(&a, 1, y, 1, 1);
        check(fixture_entries(hkv, &a.state, 0) == 2 && fixture_entries(hkv, &b.state, 0) == 1, "one entry more");
        check(fixture_bucket_differs(hkv, &a.state, &b.state, 0) && fixture_bucket_differs(hkv, &b.state, &a.state, 0),
              "one entry more, or less");
        fixture_draw(hkv, &a.state, "one", &b.state, "other", text, sizeof text);
        snprintf(row, sizeof row, "     0  %" PRIx64 " score 5", x);
        check(strstr(text, row), "what is in both is marked:\n%s", text);
        snprintf(row, sizeof row, ">    1  %" PRIx64 " score 1", y);
        check(strstr(text, row), "what is in one is not marked:\n%s", text);
        drawn_make(&b, bytes);
        drawn_put(&b, 2, x, 5, 50); /* in the wrong bucket */
        check(strcmp(hkv->differs(&a.state, &b.state, 0), "is not in this bucket of") == 0, "another bucket");
        check(strcmp(hkv->differs(&b.state, &a.state, 2), "is not in this bucket of") == 0,
              "another bucket, from the other side");
    }
}

typedef struct named {
    const char *region;
    uint64_t at; /* of the region */
    const char *want;
} named;

/* Two buckets of 16 slots, values of 8 bytes. */
static const named names[] = {
    { "key", 8 * 17, "key in bucket 1, slot 1" },         { "pair", 16 * 3, "key in bucket 0, slot 3" },
    { "pair", 16 * 3 + 8, "score in bucket 0, slot 3" },  { "bound", 8 * 3, "least score in bucket 1, from slot 8" },
    { "value", 8 * 18 + 5, "value in bucket 1, slot 2" }, { "bucket locks", 4, "lock of bucket 1" },
    { "stage_flag", 5, "list flag of item 5" },
};

static void regions_are_named(void)
{
    hd_case c;
    fixture *s;
    char text[64];
    must(hd_case_parse("hkv.find.tlpv1 buckets=2 slots=16 value=8 batch=4x1 keys=uniform:9", &c));
    must(fixture_open_empty(&c, &s));
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        check(fixture_names(s, names[k].region, names[k].at, text, sizeof text), "%s", names[k].region);
        check(strcmp(text, names[k].want) == 0, "'%s' instead of '%s'", text, names[k].want);
    }
    check(!fixture_names(s, "tally", 0, text, sizeof text), "%s", text);
    fixture_close(s);
}

/* ---- The shelf ------------------------------------------------------------------------------- */

static void refused(int made, int why)
{
    check(made == -1 && errno == why, "%d, errno %d and should be %d", made, errno, why);
}

static void shelf(void)
{
    judge_shelf s;
    judge_shelf_open(&s);
    const hd_file_seam *f = &s.seams.file;
    char long_name[SHELF_NAME + 1], bytes[8] = "";
    uint64_t size;
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    refused(f->open(f->self, long_name, O_CREAT, 0), ENAMETOOLONG);
    refused(f->open(f->self, "a", O_RDONLY, 0), ENOENT);
    int a = f->open(f->self, "a", O_CREAT | O_EXCL | O_WRONLY, 0);
    check(a >= 0, "a new file");
    refused(f->open(f->self, "a", O_CREAT | O_EXCL | O_WRONLY, 0), EEXIST);
    check(f->write(f->self, a, "abcdef", 6) == 6 && f->write(f->self, a, "", 0) == 0, "six bytes, and none");
    int again = f->open(f->self, "a", O_CREAT | O_RDWR, 0);
    check(again >= 0 && again != a && f->read(f->self, again, bytes, 3) == 3 && memcmp(bytes, "abc", 3) == 0,
          "its beginning");
    check(f->write(f->self, again, "X", 1) == 1 && f->size(f->self, again, &size) == 0 && size == 6,
          "%llu bytes when one in the middle was written", (ull)size);
    check(f->read(f->self, again, bytes, 8) == 2 && memcmp(bytes, "ef", 2) == 0 &&
              f->read(f->self, again, bytes, 8) == 0,
          "its end");
    check(f->seek(f->self, again, 2) == 0 && f->read(f->self, again, bytes, 2) == 2 && memcmp(bytes, "cX", 2) == 0,
          "its middle");
    refused(f->rename(f->self, "missing", "b"), ENOENT);
    refused(f->rename(f->self, "a", long_name), ENAMETOOLONG);
    check(f->rename(f->self, "a", "a") == 0 && judge_shelf_find(&s, "a"), "to itself");
    refused(f->unlink(f->self, "missing"), ENOENT);
    check(f->close(f->self, a) == 0 && f->sync(f->self, again) == 0, "one of two");

    /* Numbers that are none of it: below, beyond, and closed. */
    const int none[] = { -1, 0, again + SHELF_DESCRIPTORS, a };
    for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
        test_case("descriptor %d", none[k]);
        refused((int)f->read(f->self, none[k], bytes, 1), EBADF);
        refused((int)f->write(f->self, none[k], bytes, 1), EBADF);
        refused(f->size(f->self, none[k], &size), EBADF);
        refused(f->seek(f->self, none[k], 0), EBADF);
        refused(f->sync(f->self, none[k]), EBADF);
        refused(f->close(f->self, none[k]), EBADF);
    }
    int anew = f->open(f->self, "a", O_WRONLY | O_TRUNC, 0);
    check(anew >= 0 && f->size(f->self, again, &size) == 0 && size == 0 && f->write(f->self, anew, "xyz", 3) == 3 &&
              f->close(f->self, anew) == 0,
          "%llu bytes begun anew", (ull)size);
    check(f->read(f->self, again, bytes, 8) == 0, "something beyond the end");
    check(f->unlink(f->self, "a") == 0 && judge_shelf_files(&s) == 0 && judge_shelf_descriptors(&s) == 1,
          "a file without a name, still open");
    int other = f->open(f->self, "other", O_CREAT | O_WRONLY, 0); /* somewhere else */
    check(other >= 0 && f->write(f->self, other, "0123456789", 10) == 10 && f->close(f->self, other) == 0 &&
              f->unlink(f->self, "other") == 0,
          "another file");
    check(f->size(f->self, again, &size) == 0 && size == 3 && f->close(f->self, again) == 0, "and still there");

    int d[SHELF_DESCRIPTORS];
    for (int i = 0; i < SHELF_FILES; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i);
        d[i] = f->open(f->self, name, O_CREAT | O_WRONLY, 0);
        check(d[i] >= 0, "file %d", i);
    }
    refused(f->open(f->self, "one more", O_CREAT | O_WRONLY, 0), ENFILE);
    for (int i = SHELF_FILES; i < SHELF_DESCRIPTORS; i++) d[i] = f->open(f->self, "f0", O_RDONLY, 0);
    refused(f->open(f->self, "f0", O_RDONLY, 0), EMFILE);
    for (int i = 0; i < SHELF_DESCRIPTORS; i++) check(f->close(f->self, d[i]) == 0, "descriptor %d", i);
    check(judge_shelf_files(&s) == SHELF_FILES && judge_shelf_descriptors(&s) == 0, "all are closed");
    judge_shelf_close(&s);
}

static const struct CMUnitTest verdicts[] = { unit(accounts),       unit(arrays_left_out), unit(lists_in_order),
                                              unit(far_pointers),   unit(oracles),         unit(compared),
                                              unit(parts),          unit(mix_fails),       unit(mix_is_judged),
                                              unit(mix_has_limits), unit(differences),     unit(regions_are_named),
                                              unit(shelf) };

int main(void) { return test_run(verdicts); }
