/* SPDX-License-Identifier: Apache-2.0
 *
 * t_backend.c - a backend with kernels against the reference, through the public interface: every operation, variant,
 * policy, mode and geometry. HEDDLE_TEST_BACKEND names the backend; the default is host.
 *
 *   item by item     batches of one item on full tables: every output, and every entry in its slot, byte by byte
 *   with room        batches of distinct keys that all find room: every output, and the same entries
 *   without          batches of distinct keys into full tables, with sizes for which the entries do not depend on the
 *                    order of the items
 *   snapshots        one backend loads what the other saved
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/hkv/rows.h"
#include "judge/rules.h"
#include "lib/backend_host.h"
#include "base/op.h"
#include "policies/policy.h"
#include "tests/model.h"
#include "tests/twin.h"

typedef struct shape {
    uint64_t buckets;
    uint32_t slots, value_bytes;
} shape;

static const shape shapes[] = {
    { 4, 128, 8 }, { 5, 33, 3 }, { 3, 16, 24 }, { 2, 256, 100 }, { 7, 48, 0 }, { 6, 5, 16 }
};
static const shape small[] = { { 2, 16, 8 }, { 4, 16, 8 }, { 3, 12, 4 } };
enum { SHAPES = sizeof shapes / sizeof *shapes, SMALL = sizeof small / sizeof *small };

static bool runs(const char *variant, hd_op op, const hd_info *info)
{
    uint32_t row = hkv_row_of(variant, hkv_family_of(op));
    return row < hkv_row_count() && !hkv_row(row)->fits(info);
}

/* ---- Two tables alike ------------------------------------------------------------------------ */

typedef struct pair {
    hd_table *ref, *own;
    hd_info info;
    uint64_t clock;        /* of values: no two batches bring the same */
    const uint64_t *score; /* given to the first entries; NULL: at random */
    twin w;
} pair;

/* Policies: the rows of the registry, and after them expressions. */
static const char *const expressions[] = { "expr:on_insert=given;on_hit=max(old,given)+1;admission=MAX",
                                           "expr:on_insert=max(now,now-1)" };
enum { EXPRESSIONS = sizeof expressions / sizeof *expressions, POLICIES = HD_POLICY_COUNT + EXPRESSIONS };

static const char *policy_name(uint32_t policy)
{
    return policy < HD_POLICY_COUNT ? hd_policy_rows[policy].name : expressions[policy - HD_POLICY_COUNT];
}

static hd_config config_of(const shape *s, uint32_t policy, bool dual)
{
    hd_config c = test_usual(.policy = policy_name(policy), .capacity = s->buckets * s->slots, .slots = s->slots,
                             .value_bytes = s->value_bytes, .hkv.dual = dual, .epoch = 3, .seed = dual ? 17 : 0);
    return c;
}

/* A scheduler that may switch at every atomic operation, with three blocks at a time and no race detector. */
static simt_config in_some_order(simt_strategy strategy, uint64_t seed)
{
    simt_config m = simt_config_default();
    m.strategy = strategy;
    m.preempt = SIMT_AT_ATOMIC;
    m.race = false;
    m.quiet = true;
    m.resident = 3;
    m.shared_bytes = 48 << 10;
    m.step_limit = 1ull << 40;
    m.seed = seed;
    return m;
}

/* Empty tables. On the host machine in random order. */
static void pair_open(pair *p, hd_config c, uint64_t most, uint64_t keys)
{
    memset(p, 0, sizeof *p);
    must(hd_open(&c, &p->ref));
    c.backend = test_backend("host");
    c.hkv.tiers = c.hkv.dual ? HD_TIERS_POSITION : HD_TIERS_BUCKET;
    /* of every other shape */
    if (c.slots % 16 != 0 || c.slots == 128) c.hkv.device_value_bytes = c.capacity * c.value_bytes * 2 / 5 + 1;
    if (c.slots % 2 && c.hkv.dual) c.layout = HD_LAYOUT_PLANES;
    c.hkv.fetch = HD_FETCH_SORTED;
    simt_config m = in_some_order(SIMT_RANDOM, keys);
    hd_host_usual(&m, 3, 64);
    must(hd_open(&c, &p->own));
    hd_host_usual(NULL, 0, 0);
    must(hd_table_info(p->own, &p->info));
    twin_open(&p->w, most, keys, c.value_bytes);
}

static void pair_close(pair *p)
{
    twin_close(&p->w);
    hd_close(p->own);
    hd_close(p->ref);
}

/* More keys than there is room for; the one table loads what the other saved: slot by slot the same. */
static void pair_fill(pair *p, uint64_t *random)
{
    char path[4200];
    hd_batch b, unused;
    snprintf(path, sizeof path, "%s/pair", test_folder());
    twin_draw(&p->w, &b, &unused, HD_OP_INSERT_OR_ASSIGN, p->w.keys, &p->info, p->clock++, random);
    if (p->score) b.score = p->score;
    b.raw_scores = false; /* else two entries of a bucket may have the same score, and either may be evicted */
    must(hd_run(p->ref, &b));
    must(hd_save(p->ref, path));
    must(hd_load(p->own, path, NULL));
    must(hd_load(p->ref, path, NULL)); /* a snapshot has no ghosts: then neither has */
}

/* The same entries; `whole`: in the same slots. */
static void pair_agree(pair *p, bool whole)
{
    model_contents x, y;
    must(hd_check(p->own));
    contents_take(&x, p->ref);
    contents_take(&y, p->own);
    check(x.n == y.n, "%llu entries instead of %llu", (ull)y.n, (ull)x.n);
    check(x.now == y.now && x.epoch == y.epoch, "another clock or epoch");
    check(contents_equal(&x, &y, whole), "other entries");
    contents_give(&x);
    contents_give(&y);
}

static void pair_run(pair *p, hd_op op, const char *variant, uint64_t n, bool places, uint64_t *random)
{
    hd_batch x, y;
    twin_draw(&p->w, &x, &y, op, n, &p->info, p->clock++, random);
    y.kernel = variant;
    must(hd_run(p->ref, &x));
    must(hd_run(p->own, &y));
    const char *no = twin_differs(&p->w, &x, &y, places);
    check(!no, "%s", no);
}

static void same_counters(pair *p)
{
    hd_counters x, y;
    must(hd_counters_sync(p->ref, &x));
    must(hd_counters_sync(p->own, &y));
    for (int o = 0; o < HD_OUTCOME_COUNT; o++)
        check(x.outcome[o] == y.outcome[o], "%llu items were %s instead of %llu", (ull)y.outcome[o],
              hd_outcome_name((hd_outcome)o), (ull)x.outcome[o]);
    check(memcmp(x.op, y.op, sizeof x.op) == 0 && x.items == y.items, "the operations are counted differently");
}

/* ---- Every cell of the grid ------------------------------------------------------------------ */

typedef struct cell {
    const shape *table;
    uint32_t policy;
    bool dual;
    const char *variant;
} cell;

typedef uint64_t cell_test(const cell *c, uint64_t number);

/* A test of every cell, with these shapes of tables; on a device with the large ones, too. */
typedef struct grid {
    cell_test *test;
    const char *what;
    const shape *shapes;
    size_t n;
    const shape *large; /* two; NULL: none */
} grid;

static void say(const cell *c, const char *op, const char *what)
{
    test_case("hkv.%s.%s policy=%s buckets=%llu slots=%u value=%u dual=%d on %s, %s", op, c->variant,
              policy_name(c->policy), (ull)c->table->buckets, c->table->slots, c->table->value_bytes, c->dual,
              test_backend("host"), what);
}

/* One in five where there is no device (the host machine is searched by t_agree): by chance, so that it is of every
 * policy and mode. */
static bool takes(uint64_t number)
{
    uint64_t random = number;
    return test_takes(number) && (test_far() || test_random(&random) % 5 == 0);
}

static void every_cell(cell_test *test, const shape *all, size_t n, const char *what, const char *which)
{
    enum { EXPRESSIONS_FROM = 200000 };
    uint64_t cells = 0, items = 0, number = 0, others = 0;
    for (uint32_t row = 0; row < hkv_row_count(); row++)
        for (size_t s = 0; s < n && hkv_is_first(row); s++)
            for (uint32_t policy = 0; policy < POLICIES; policy++)
                for (int dual = 0; dual < 2; dual++) {
                    uint64_t i = policy < HD_POLICY_COUNT ? number++ : EXPRESSIONS_FROM + others++;
                    if (!takes(i)) continue;
                    cell c = { &all[s], policy, dual, hkv_row_name(row) };
                    uint64_t did = test(&c, i);
                    cells += did != 0;
                    items += did;
                }
    check(items > 0 || test_times(8) < 8, "nothing was run");
    test_tried("differential", items, "items on %llu tables of kernels and of the reference: %s%s", (ull)cells, what,
               which);
}

/* ---- Item by item ---------------------------------------------------------------------------- */

static uint64_t item_by_item(const cell *c, uint64_t number)
{
    pair p;
    uint64_t random = number, items = 0, capacity = c->table->buckets * c->table->slots;
    hd_elem elem;
    pair_open(&p, config_of(c->table, c->policy, c->dual), capacity + capacity / 4, capacity + capacity / 4);
    pair_fill(&p, &random);
    for (int op = 0; op < HD_OP_COUNT_; op++) {
        if (!runs(c->variant, (hd_op)op, &p.info) ||
            (op == HD_OP_ACCUM_OR_ASSIGN && !twin_adds(c->table->value_bytes, &elem)))
            continue;
        bool keyed = hd_op_is_keyed(hd_op_row_of((hd_op)op));
        for (int k = 0; k < (keyed ? 8 : 2); k++, items++) {
            say(c, hd_op_name((hd_op)op), "item by item");
            pair_run(&p, (hd_op)op, c->variant, keyed ? 1 : capacity, false, &random);
        }
        pair_agree(&p, true);
    }
    pair_close(&p);
    return items;
}

/* ---- With room ------------------------------------------------------------------------------- */

/* Which keys stay, and their scores, depend on what came before each item. */
static bool counts_keys(const cell *c)
{
    return c->policy < HD_POLICY_COUNT && hd_policy_rows[c->policy].flags & HD_COUNTS;
}

/* As many keys as no bucket can have too many of: as one has slots, or, of large tables, an eighth of the capacity. */
static uint64_t with_room(const cell *c, uint64_t number)
{
    pair p;
    uint64_t random = number, items = 0, capacity = c->table->buckets * c->table->slots;
    uint64_t keys = c->table->buckets > 100 ? capacity / 8 : c->table->slots;
    hd_elem elem;
    if (counts_keys(c)) return 0;
    pair_open(&p, config_of(c->table, c->policy, c->dual), capacity, keys);
    for (uint64_t k = 0; k < test_times(2); k++) {
        for (int op = 0; op < HD_OP_COUNT_; op++) {
            if (hd_op_does((hd_op)op, HD_ORDERED)) continue;
            const char *variant = runs(c->variant, (hd_op)op, &p.info) ? c->variant : "tlpv1";
            bool keyed = hd_op_is_keyed(hd_op_row_of((hd_op)op));
            if (op == HD_OP_ACCUM_OR_ASSIGN && !twin_adds(c->table->value_bytes, &elem)) continue;
            if (op == HD_OP_CLEAR && k) continue;
            uint64_t n = keyed ? keys / 2 + test_below(&random, keys / 2) : capacity;
            say(c, hd_op_name((hd_op)op), "distinct keys, with room");
            if (op == HD_OP_LOCK_KEYS) n = n < 40 ? n : 40; /* or nothing could be changed any more */
            pair_run(&p, (hd_op)op, variant, n, true, &random);
            if (capacity < 10000 && op % 4 == 0) pair_agree(&p, false);
            items += keyed ? n : 1;
        }
        pair_agree(&p, false);
    }
    say(c, "mix", "distinct keys, with room");
    same_counters(&p);
    pair_close(&p);
    return items;
}

/* ---- Without room ---------------------------------------------------------------------------- */

/* No score twice, and all above those of the batches before. */
static void raise_scores(pair *p, const hd_batch *b, uint64_t round)
{
    uint64_t *x = (uint64_t *)judge_arrays_at(&p->w.ref, JUDGE_SCORE),
             *y = (uint64_t *)judge_arrays_at(&p->w.own, JUDGE_SCORE);
    for (uint64_t i = 0; i < b->n; i++) x[i] = y[i] = (round << 20) + i * 7 % b->n * 3 + 1;
    judge_arrays_arm(&p->w.ref);
    judge_arrays_arm(&p->w.own);
}

/* No key that was there before. */
static void renew_keys(pair *p, const hd_batch *b, uint64_t round)
{
    uint64_t *x = (uint64_t *)judge_arrays_at(&p->w.ref, JUDGE_KEY),
             *y = (uint64_t *)judge_arrays_at(&p->w.own, JUDGE_KEY);
    for (uint64_t i = 0; i < b->n; i++) x[i] = y[i] = x[i] + (round << 24);
}

/* Every new key has a higher score than all entries, and no bucket gets more new keys than it has slots. So in every
 * order of the items the table has the same entries in the end. Single mode only: in dual mode the order decides which
 * bucket a key goes to. All keys are new where a score or a value depends on the old one. */
static uint64_t without_room(const cell *c, uint64_t number)
{
    static const hd_op ops[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_INSERT_AND_EVICT, HD_OP_FIND_OR_INSERT,
                                 HD_OP_FIND_OR_INSERT_PTR, HD_OP_ACCUM_OR_ASSIGN };
    pair p;
    uint64_t random = number, items = 0, capacity = c->table->buckets * c->table->slots, n = c->table->slots;
    bool keeps = c->policy >= HD_POLICY_COUNT || !(hd_policy_rows[c->policy].flags & HD_ORDER_FREE) ||
                 hd_policy_rows[c->policy].flags & HD_QUEUES; /* a hit changes which entry leaves */
    hd_elem elem;
    if (c->dual || counts_keys(c)) return 0;
    pair_open(&p, config_of(c->table, c->policy, false), capacity + capacity / 4, capacity + capacity / 4);
    pair_fill(&p, &random);
    for (uint64_t round = 1; round <= test_times(5) + 5; round++) {
        hd_op op = ops[round % (twin_adds(c->table->value_bytes, &elem) ? 5 : 4)];
        hd_batch x, y;
        uint64_t listed = 0;
        say(c, hd_op_name(op), "distinct keys, full buckets");
        if (!runs(c->variant, op, &p.info)) continue;
        twin_draw(&p.w, &x, &y, op, n, &p.info, p.clock++, &random);
        if (keeps || op == HD_OP_ACCUM_OR_ASSIGN || op == HD_OP_FIND_OR_INSERT || op == HD_OP_FIND_OR_INSERT_PTR)
            renew_keys(&p, &x, round);
        raise_scores(&p, &x, round);
        x.flag = y.flag = NULL;
        x.raw_scores = y.raw_scores = false; /* they may be above those that the policy gives later, or equal */
        x.holder = y.holder = 0;             /* which keys stay would depend on the order */
        y.kernel = c->variant;
        must(hd_run(p.ref, &x));
        must(hd_run(p.own, &y));
        const char *no = judge_arrays_check(&p.w.own, &y);
        check(!no, "%s", no);
        pair_agree(&p, false);
        for (uint64_t i = 0; i < n; i++) listed += y.outcome[i] == HD_EVICTED || y.outcome[i] == HD_REFUSED;
        check(op != HD_OP_INSERT_AND_EVICT || *y.count == listed, "%llu are listed, %llu left", (ull)*y.count,
              (ull)listed);
        items += n;
    }
    pair_close(&p);
    return items;
}

/* Given scores, no two the same: a bucket keeps the greatest of all that ever came, in whatever order. Many more come
 * than there is room for. */
static uint64_t the_greatest_stay(const cell *c, uint64_t number)
{
    pair p;
    uint64_t random = number, capacity = c->table->buckets * c->table->slots, n = 4 * capacity, items = 0;
    if (c->dual || strcmp(policy_name(c->policy), "custom") != 0) return 0;
    pair_open(&p, config_of(c->table, c->policy, false), n, n);
    for (uint64_t round = 0; round < 3; round++, items += n) {
        hd_batch x, y;
        say(c, "insert_or_assign", "distinct scores, four times what there is room for");
        if (!runs(c->variant, HD_OP_INSERT_OR_ASSIGN, &p.info)) continue;
        twin_draw(&p.w, &x, &y, HD_OP_INSERT_OR_ASSIGN, n, &p.info, p.clock++, &random);
        renew_keys(&p, &x, round);
        uint64_t *score = (uint64_t *)judge_arrays_at(&p.w.ref, JUDGE_SCORE),
                 *same = (uint64_t *)judge_arrays_at(&p.w.own, JUDGE_SCORE);
        /* distinct but for a chance of 10^-6 */
        for (uint64_t i = 0; i < n; i++) score[i] = same[i] = (test_random(&random) >> 20) * 16 + round;
        judge_arrays_arm(&p.w.ref);
        judge_arrays_arm(&p.w.own);
        y.kernel = c->variant;
        must(hd_run(p.ref, &x));
        must(hd_run(p.own, &y));
        pair_agree(&p, false);
    }
    pair_close(&p);
    return items;
}

/* ---- Few outputs ----------------------------------------------------------------------------- */

enum {
    LISTS = 1u << JUDGE_LIST_KEY | 1u << JUDGE_LIST_VALUE | 1u << JUDGE_LIST_SCORE | 1u << JUDGE_LIST_ITEM,
    OUTPUTS = 1u << JUDGE_OUTCOME | 1u << JUDGE_FOUND | 1u << JUDGE_VALUE_OUT | 1u << JUDGE_SCORE_OUT |
              1u << JUDGE_PTR | LISTS | 1u << JUDGE_COUNT
};

/* Only those outputs that are given are left in the batch. */
static void give_few(hd_batch *b, unsigned given)
{
    if (!(given >> JUDGE_OUTCOME & 1)) b->outcome = NULL;
    if (!(given >> JUDGE_FOUND & 1)) b->found = NULL;
    if (!(given >> JUDGE_VALUE_OUT & 1)) b->value_out = NULL;
    if (!(given >> JUDGE_SCORE_OUT & 1)) b->score_out = NULL;
    if (!(given >> JUDGE_PTR & 1)) b->ptr = NULL;
    if (!(given >> JUDGE_LIST_KEY & 1)) b->list_key = NULL;
    if (!(given >> JUDGE_LIST_VALUE & 1)) b->list_value = NULL;
    if (!(given >> JUDGE_LIST_SCORE & 1)) b->list_score = NULL;
    if (!(given >> JUDGE_LIST_ITEM & 1)) b->list_item = NULL;
    if (!(given >> JUDGE_COUNT & 1)) b->count = NULL;
}

/* The reference is given all of them, with `also` only those, too: each that is given is the same, and the others stay
 * as they were. */
static void run_with_few(pair *p, hd_op op, const char *variant, uint64_t n, unsigned given, bool also,
                         uint64_t *random)
{
    hd_batch x, y;
    uint8_t *before[JUDGE_ARRAYS];
    twin_draw(&p->w, &x, &y, op, n, &p->info, p->clock++, random);
    y.kernel = variant;
    for (int k = JUDGE_OUTCOME; k <= JUDGE_COUNT; k++) {
        before[k] = (uint8_t *)test_alloc(1, p->w.own.used[k] + 1);
        memcpy(before[k], judge_arrays_at(&p->w.own, (judge_array)k), p->w.own.used[k]);
    }
    give_few(&y, given);
    if (also) give_few(&x, given);
    must(hd_run(p->ref, &x));
    must(hd_run(p->own, &y));
    for (int k = JUDGE_OUTCOME; k <= JUDGE_COUNT; k++) {
        bool is_given = given >> k & 1;
        const uint8_t *own = (const uint8_t *)judge_arrays_at(&p->w.own, (judge_array)k),
                      *ref = (const uint8_t *)judge_arrays_at(&p->w.ref, (judge_array)k);
        if (!is_given)
            check(memcmp(own, before[k], p->w.own.used[k]) == 0, "array %d of %d was written", k, JUDGE_ARRAYS);
        if (!is_given && also)
            check(memcmp(ref, before[k], p->w.own.used[k]) == 0, "array %d of %d was written by the reference", k,
                  JUDGE_ARRAYS);
        if (is_given && k != JUDGE_PTR)
            check(memcmp(own, ref, p->w.own.used[k]) == 0, "array %d of %d: another output", k, JUDGE_ARRAYS);
        free(before[k]);
    }
}

/* An operation with every selection of those outputs that it has, on a full table: items that change it by one, readers
 * and ranges all at once. */
static uint64_t with_few_outputs(const cell *c, hd_op op, uint64_t number)
{
    pair p;
    const hd_op_row *row = hd_op_row_of(op);
    uint64_t random = number, tried = 0, capacity = c->table->buckets * c->table->slots;
    unsigned vary = judge_ops[op].list ? LISTS | 1u << JUDGE_OUTCOME | 1u << JUDGE_FOUND | 1u << JUDGE_COUNT
                                       : OUTPUTS & ~(unsigned)LISTS,
             given = vary;
    uint64_t n = !hd_op_is_keyed(row) ? capacity : row->role == HD_READER ? capacity / 2 : 1;
    pair_open(&p, config_of(c->table, c->policy, c->dual), capacity + capacity / 4, capacity + capacity / 4);
    pair_fill(&p, &random);
    say(c, hd_op_name(op), "every selection of outputs");
    for (bool more = true; more; given = (given - 1) & vary, tried++) {
        more = given != 0;
        if ((row->needs & HD_NEEDS_COUNT && !(given >> JUDGE_COUNT & 1)) ||
            (row->needs & HD_NEEDS_PTR && !(given >> JUDGE_PTR & 1)))
            continue;
        p.w.own.skew = p.w.ref.skew = (uint32_t)(tried % 3 ? 0 : tried % 2 ? 1 : 4); /* values lie anywhere */
        run_with_few(&p, op, c->variant, n, given, tried % 2, &random);
        if (tried % 8 == 0 && judge_ops[op].list) run_with_few(&p, op, c->variant, 0, given, tried % 16 == 0, &random);
    }
    pair_agree(&p, true);
    pair_close(&p);
    return tried;
}

static void test_with_few_outputs(void)
{
    static const shape few[] = { { 3, 16, 20 }, { 2, 32, 16 }, { 3, 16, 0 } };
    uint64_t batches = 0, number = 0;
    for (uint32_t row = 0; row < hkv_row_count(); row++)
        for (int op = 0; op < HD_OP_COUNT_; op++)
            for (size_t s = 0; s < sizeof few / sizeof *few && !hd_op_does((hd_op)op, HD_ORDERED); s++, number++) {
                cell c = { &few[s], number % 2 ? HD_POLICY_custom : HD_POLICY_lru, number / 2 % 2, hkv_row_name(row) };
                hd_elem elem;
                /* where most hangs on what is asked for */
                bool always =
                    judge_ops[op].list || !hd_op_is_keyed(hd_op_row_of((hd_op)op)) || op == HD_OP_ACCUM_OR_ASSIGN;
                if (hkv_row(row)->family != hkv_family_of((uint32_t)op) || op == HD_OP_CLEAR ||
                    !(always || test_takes(number)))
                    continue;
                if (op == HD_OP_ACCUM_OR_ASSIGN && !twin_adds(few[s].value_bytes, &elem)) continue;
                batches += with_few_outputs(&c, (hd_op)op, number);
            }
    test_tried("differential", batches, "batches of which not all outputs are asked for");
}

/* Lists of several segments, which several blocks write at the same time: the block of a later segment waits for the
 * counts of the earlier ones. The host machine schedules by priorities, so some block is far behind the others. */
static void test_long_lists(void)
{
    static const shape of_some = { 20, 128, 4 };
    static const char *const pred[] = { "key_in", "value_zero" };
    uint64_t capacity = of_some.buckets * of_some.slots, batches = 0;
    for (uint32_t row = 0; row < hkv_row_count(); row++)
        for (uint64_t round = 0;
             round < test_times(1) && (hkv_row(row)->family == HKV_EXPORT || hkv_row(row)->family == HKV_LOOKUP);
             round++) {
            pair p;
            uint64_t random = row + 100 * round;
            cell c = { &of_some, HD_POLICY_custom, round % 2, hkv_row_name(row) };
            pair_open(&p, config_of(&of_some, c.policy, c.dual), capacity, capacity + capacity / 4);
            p.w.keys = capacity;
            pair_fill(&p, &random);
            simt_config m = in_some_order(SIMT_PCT, random);
            m.pct_length = 20000;
            if (hd_host_machine(p.own)) must(hd_host_configure(p.own, &m));
            for (int k = 0; k < 4; k++, batches++) {
                hd_batch x, y;
                hd_op op = hkv_row(row)->family == HKV_LOOKUP ? HD_OP_FIND_MISSED
                           : k % 2                            ? HD_OP_EXPORT_IF
                                                              : HD_OP_EXPORT;
                say(&c, hd_op_name(op), "a list of several segments");
                twin_draw(&p.w, &x, &y, op, capacity, &p.info, p.clock++, &random);
                x.pred = y.pred = pred[round % 2];
                y.kernel = c.variant;
                must(hd_run(p.ref, &x));
                must(hd_run(p.own, &y));
                const char *no = twin_differs(&p.w, &x, &y, false);
                check(!no, "%s", no);
            }
            pair_close(&p);
        }
    test_tried("differential", batches, "lists of several segments");
}

/* ---- Pins ------------------------------------------------------------------------------------ */

/* One item at a time, in full tables of which most entries, or all, are pinned: a key that has no bucket with an
 * unpinned entry is refused. */
static uint64_t beside_pins(const cell *c, uint64_t number)
{
    static const hd_op ops[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_INSERT_AND_EVICT, HD_OP_FIND_OR_INSERT, HD_OP_ASSIGN,
                                 HD_OP_TOUCH };
    pair p;
    hd_batch x, y;
    uint64_t random = number, capacity = c->table->buckets * c->table->slots, keys = capacity + capacity / 2, items = 0,
             refused = 0;
    pair_open(&p, config_of(c->table, c->policy, c->dual), keys, keys);
    pair_fill(&p, &random);
    for (int part = 0; part < 2; part++) {
        say(c, "lock_keys", part ? "all of them" : "some of them");
        pair_run(&p, HD_OP_LOCK_KEYS, "tlpv1", part ? keys : keys / 2, true, &random);
        for (int k = 0; k < 40; k++, items++) {
            hd_op op = ops[k % 5];
            say(c, hd_op_name(op), "beside pinned entries");
            if (!runs(c->variant, op, &p.info)) continue;
            twin_draw(&p.w, &x, &y, op, 1, &p.info, p.clock++, &random);
            y.kernel = c->variant;
            x.distinct = y.distinct = k % 2; /* it is */
            must(hd_run(p.ref, &x));
            must(hd_run(p.own, &y));
            const char *no = twin_differs(&p.w, &x, &y, false);
            check(!no, "%s", no);
            refused += x.outcome[0] == HD_REFUSED;
        }
        pair_agree(&p, true);
    }
    check(refused || !runs(c->variant, HD_OP_INSERT_OR_ASSIGN, &p.info), "no variant was refused");
    pair_close(&p);
    return items;
}

/* New keys, one at a time, where no score tells a victim from a pinned entry: all have the highest. Any unpinned entry
 * may be the victim. So outcomes are compared, and every pinned key must stay. */
static uint64_t highest_beside_pins(const cell *c, uint64_t random)
{
    enum { MOST = 128, ITEMS = 40 };
    static const hd_op ops[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_INSERT_AND_EVICT, HD_OP_FIND_OR_INSERT };
    uint64_t capacity = c->table->buckets * c->table->slots, keys = capacity + capacity / 2, evicted = 0;
    uint64_t highest[MOST], pinned[MOST], n = 0, fresh;
    pair p;
    hd_batch x, y;
    assert_true(keys <= MOST);
    memset(highest, 0xff, sizeof highest);
    pair_open(&p, config_of(c->table, c->policy, c->dual), keys, keys);
    if (!runs(c->variant, HD_OP_INSERT_OR_ASSIGN, &p.info)) {
        pair_close(&p);
        return 0;
    }
    p.score = highest;
    pair_fill(&p, &random);
    say(c, "lock_keys", "the highest scores");
    twin_draw(&p.w, &x, &y, HD_OP_LOCK_KEYS, keys / 2, &p.info, p.clock++, &random);
    must(hd_run(p.ref, &x));
    must(hd_run(p.own, &y));
    for (uint64_t i = 0; i < keys / 2; i++)
        if (x.outcome[i] == HD_HIT) pinned[n++] = x.key[i];
    for (int k = 0; k < ITEMS; k++) {
        say(c, hd_op_name(ops[k % 3]), "the highest scores, beside pinned entries");
        twin_draw(&p.w, &x, &y, ops[k % 3], 1, &p.info, p.clock++, &random);
        fresh = keys + 1 + (uint64_t)k;
        x.key = y.key = &fresh;
        x.score = y.score = highest;
        y.kernel = c->variant;
        y.distinct = k % 2;
        must(hd_run(p.ref, &x));
        must(hd_run(p.own, &y));
        check(x.outcome[0] == y.outcome[0], "%s instead of %s", hd_outcome_name((hd_outcome)y.outcome[0]),
              hd_outcome_name((hd_outcome)x.outcome[0]));
        evicted += y.outcome[0] == HD_EVICTED;
    }
    check(evicted, "no entry was evicted");
    must(hd_check(p.own));
    uint8_t there[MOST];
    hd_batch all = hd_batch_keyed(HD_OP_CONTAINS, n, pinned, NULL, NULL, NULL, NULL, there);
    must(hd_run(p.own, &all));
    for (uint64_t i = 0; i < n; i++) check(there[i] == HD_HIT, "key %llu was pinned and is not there", (ull)pinned[i]);
    pair_close(&p);
    return ITEMS;
}

static void test_highest_beside_pins(void)
{
    uint64_t items = 0, number = 0;
    for (uint32_t row = 0; row < hkv_row_count(); row++)
        for (int k = 0; k < 2 * SMALL && hkv_is_first(row); k++) {
            cell c = { &small[k / 2], HD_POLICY_custom, k % 2, hkv_row_name(row) };
            items += highest_beside_pins(&c, number++);
        }
    test_tried("differential", items, "new keys in tables in which all scores are the highest");
}

/* ---- Snapshots ------------------------------------------------------------------------------- */

/* Saved by one, loaded by the other, and back: the same file, the same entries in the same slots. */
static uint64_t crosses(const cell *c, uint64_t number)
{
    pair p;
    char path[4200];
    uint64_t random = number, capacity = c->table->buckets * c->table->slots, dropped = 1;
    if (number >= SHAPES * HD_POLICY_COUNT * 2) return 0; /* one variant will do */
    say(c, "insert_or_assign", "saved and loaded");
    pair_open(&p, config_of(c->table, c->policy, c->dual), capacity + capacity / 4, capacity + capacity / 4);
    pair_fill(&p, &random);
    pair_agree(&p, true);
    must(hd_clear(p.own));
    pair_run(&p, HD_OP_CLEAR, NULL, 0, true, &random);
    hd_batch x, y;
    twin_draw(&p.w, &x, &y, HD_OP_INSERT_OR_ASSIGN, capacity, &p.info, p.clock++, &random);
    must(hd_run(p.own, &y));
    snprintf(path, sizeof path, "%s/own", test_folder());
    must(hd_save(p.own, path));
    must(hd_load(p.ref, path, &dropped));
    check(dropped == 0, "%llu entries found no room", (ull)dropped);
    pair_agree(&p, true);
    hd_table *again;
    hd_config on = hd_config_default();
    on.backend = test_backend("host");
    must(hd_open_snapshot(path, &on, &again));
    hd_close(p.own);
    p.own = again;
    pair_agree(&p, true);
    pair_close(&p);
    return capacity;
}

/* ---- What there is no memory for ------------------------------------------------------------- */

/* More than can be addressed, and more than a device has: said so, with nothing held, and the next table opens. */
static void test_too_large(void)
{
    static const uint64_t capacity[] = { 1ull << 50, 1ull << 40, 1ull << 37 };
    hd_config c = hd_config_default();
    hd_table *t = NULL;
    c.backend = test_backend("host");
    c.value_bytes = 1024;
    for (int i = 0; i < (test_far() ? 3 : 1); i++) {
        c.capacity = capacity[i];
        test_case("%llu entries on %s", (ull)c.capacity, c.backend);
        must_fail(hd_open(&c, &t), HD_ENOMEM, "capacity");
        check(!t, "there is a table");
    }
    c.capacity = 1 << 12;
    must(hd_open(&c, &t));
    must_fail(hd_grow(t, capacity[0] / 128), HD_ENOMEM, "capacity");
    must(hd_check(t));
    hd_close(t);
}

/* ---- The tests ------------------------------------------------------------------------------- */

static const shape roomy[] = { { 1024, 128, 8 }, { 512, 48, 24 } }, wide[] = { { 256, 128, 8 }, { 300, 16, 24 } };

static grid grids[] = { { item_by_item, "item by item, slot by slot", shapes, SHAPES, NULL },
                        { with_room, "distinct keys, with room", shapes, SHAPES, roomy },
                        { without_room, "distinct keys, full buckets", shapes, SHAPES, NULL },
                        { the_greatest_stay, "the greatest stay", shapes, SHAPES, wide },
                        { beside_pins, "beside pinned entries", small, SMALL, NULL },
                        { crosses, "saved by one backend, loaded by another", shapes, SHAPES, NULL } };

static void test_grid(void **state)
{
    const grid *g = (const grid *)*state;
    every_cell(g->test, g->shapes, g->n, g->what, "");
    if (g->large && test_far()) every_cell(g->test, g->large, 2, g->what, ", large tables");
}

static const struct CMUnitTest tests[] = { { "test_item_by_item", test_grid, NULL, NULL, &grids[0] },
                                           { "test_with_room", test_grid, NULL, NULL, &grids[1] },
                                           { "test_without_room", test_grid, NULL, NULL, &grids[2] },
                                           { "test_the_greatest_stay", test_grid, NULL, NULL, &grids[3] },
                                           unit(test_with_few_outputs),
                                           unit(test_long_lists),
                                           { "test_beside_pins", test_grid, NULL, NULL, &grids[4] },
                                           unit(test_highest_beside_pins),
                                           { "test_crosses", test_grid, NULL, NULL, &grids[5] },
                                           unit(test_too_large) };

int main(void) { return test_run(tests); }
