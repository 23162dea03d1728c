/* SPDX-License-Identifier: Apache-2.0
 *
 * t_kernels.c - the GPU's kernels on the host machine. With items in order, under eviction, the oracle judges each
 * item. Under random preemption with the race detector, in cases where the order has no effect, the oracle judges too.
 * Under eviction in any order the test checks what must hold: invariants, conservation of entries, values that belong
 * to their keys.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/run.h"
#include "lib/backend_host.h"
#include "base/op.h"
#include "gpu/hkv/select.h"
#include "lib/table.h"
#include "policies/policy.h"
#include "tests/variants.h"

typedef struct shape {
    uint32_t buckets, slots, value_bytes;
} shape;

/* Multiples of 16 and of nothing, values of every alignment, buckets wider than a tile sees at once. */
static const shape shapes[] = { { 4, 128, 16 }, { 5, 16, 8 },   { 7, 5, 3 },    { 3, 6, 20 },  { 4, 20, 100 },
                                { 2, 48, 0 },   { 3, 256, 48 }, { 2, 1024, 4 }, { 4, 2, 1040 } };
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Bytes of values near, of table number i: all, about a third, or not one. */
static uint32_t near_of(const shape *s, uint64_t i)
{
    return i % 3 == 0 ? 0 : i % 3 == 1 ? s->buckets * s->slots * s->value_bytes / 3 + 1 : 1;
}

static bool fits(const char *variant, const shape *s)
{
    hd_info info = { .slots = s->slots };
    info.layout = HD_LAYOUT_PAIRS; /* the usual one */
    for (uint32_t i = 0; i < hkv_row_count(); i++)
        if (strcmp(hkv_row_name(i), variant) == 0 && hkv_row(i)->fits(&info)) return false;
    return true;
}

/* The variant where it runs such operations; else NULL: the table chooses. */
static const char *for_family(const char *variant, hkv_family f)
{
    return hkv_row_of(variant, f) < hkv_row_count() ? variant : NULL;
}

/* Another operation on the same batch. */
static void run_by(hd_table *t, hd_batch *b, const char *variant, hd_op op)
{
    b->op = op;
    b->kernel = for_family(variant, hkv_family_of(op));
    must(hd_run(t, b));
}

/* Only the host machine can be told how to run, and what it did. */
static bool on_host(void) { return strcmp(test_backend("host"), "host") == 0; }

static void host_only(void)
{
    if (!on_host()) test_skip("of the host machine alone");
}

static void run_as(hd_table *t, const simt_config *m)
{
    if (!on_host()) return;
    must(hd_host_configure(t, m));
    must(hd_host_lanes(t, 2, 64));
}

/* Way number i of running a small batch. */
static simt_config way(uint64_t i)
{
    static const uint32_t preempt[] = { SIMT_AT_ALL, SIMT_AT_SYNC, SIMT_AT_ATOMIC, SIMT_AT_NONE };
    simt_config c = simt_config_default();
    c.strategy = i % 5 == 4 ? SIMT_PCT : SIMT_RANDOM;
    c.preempt = preempt[i % 4];
    c.unit = i % 3 == 2 ? SIMT_BY_WARP : SIMT_BY_LANE;
    c.weak = i % 7 == 3;
    c.seed = i + 1;
    c.resident = 2 + (uint32_t)(i % 3);
    c.shared_bytes = 48 << 10;
    c.step_limit = 50000000;
    return c;
}

static void judged(const char *text)
{
    hd_case c;
    test_case("%s", text);
    must(hd_case_parse(text, &c));
    hd_run_report report = { 0 };
    must(hd_case_run(&c, NULL, NULL, &report));
    check(report.wrong[0] == 0, "%s", report.wrong);
    check(report.judged > 0, "nothing was judged");
}

/* Whether `upserts` of few keys in few buckets take effect in item order, when one warp in lock step runs them. */
static bool keeps_order(const char *variant, simt_config m)
{
    enum { N = 96 };
    uint64_t key[N], state = 1;
    size_t n;
    m.quiet = false;
    hd_table *t = test_table(.backend = "host", .slots = 16, .capacity = 32);
    must(hd_host_configure(t, &m));
    must(hd_host_lanes(t, 1, 32));
    for (uint64_t i = 0; i < N; i++) key[i] = test_below(&state, 40);
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = N, .key = key, .kernel = for_family(variant, HKV_UPSERT) };
    must(hd_run(t, &b));
    const simt_ticket_record *ticket = simt_machine_tickets(hd_host_machine(t), &n);
    bool ordered = n == N;
    for (size_t i = 1; i < n; i++) ordered = ordered && ticket[i - 1].item < ticket[i].item;
    hd_close(t);
    return ordered;
}

/* One warp in lock step runs the items of most variants one after another, or lane by lane: in item order. Full
 * buckets, duplicates, pins, growth, snapshots. */
static void in_order(void **state)
{
    const char *variant = VARIANT_OF(state);
    simt_config c = simt_config_default();
    uint64_t runs = 0;
    host_only();
    c.strategy = SIMT_ROUND_ROBIN;
    c.unit = SIMT_BY_WARP;
    c.preempt = SIMT_AT_NONE;
    c.quiet = true;
    c.step_limit = 1ull << 40;
    if (!keeps_order(variant, c)) test_skip("it takes items in another order");
    for (uint64_t i = 0; i < SHAPES * HD_POLICY_COUNT * 2; i++) {
        const shape *s = &shapes[i % SHAPES];
        if (!test_takes(i) || !fits(variant, s)) continue;
        c.race = i % 3 == 0;
        char text[256];
        uint64_t seed = i * 7 + 1, keys = s->buckets * s->slots;
        keys += keys / 4 + 4;
        for (uint64_t k = 0; k < test_scale(); k++) {
            snprintf(text, sizeof text,
                     "hkv.mix.%s policy=%s buckets=%u slots=%u value=%u dual=%d pins=16 batch=%ux%u keys=uniform:%llu "
                     "duplicate=100000 extreme=50000 reserved=10000 epoch_every=5 admit=%s near=%u tiers=%s seed=%llu "
                     "judge=1",
                     variant, hd_policy_rows[i / SHAPES % HD_POLICY_COUNT].name, s->buckets, s->slots, s->value_bytes,
                     (int)(i / SHAPES / HD_POLICY_COUNT), s->slots > 200 ? 400u : 96u, s->slots > 200 ? 12u : 24u,
                     (ull)keys, i % 2 ? "score" : "always", near_of(s, i), i / 2 % 2 ? "position" : "bucket",
                     (ull)(seed + k * 1000));
            hd_host_usual(&c, 1, 32);
            judged(text);
            hd_host_usual(NULL, 0, 0);
            runs++;
        }
    }
    test_note("%s: %llu cases in item order", variant, (ull)runs);
}

/* Distinct keys that all find room: whatever the order, the outcomes are the same. */
static void in_any_order(void **state)
{
    const char *variant = VARIANT_OF(state);
    uint64_t runs = 0;
    for (uint64_t i = 0; i < SHAPES * HD_POLICY_COUNT * 2 * test_scale(); i++) {
        const shape *s = &shapes[i % SHAPES];
        bool dual = i / SHAPES / HD_POLICY_COUNT % 2;
        if (!test_takes(i) || !fits(variant, s) || s->slots < 5) continue;
        char text[256];
        simt_config c = way(i);
        /* the order of the items within a batch is not known on a GPU */
        uint32_t items = s->slots < 64 ? s->slots * 2 : 80, batches = 14, batch = on_host() ? items : 1;
        snprintf(text, sizeof text,
                 "hkv.mix.%s backend=%s policy=%s buckets=%u slots=%u value=%u dual=%d batch=%ux%u keys=uniform:%u "
                 "distinct=1 reserved=10000 near=%u seed=%llu judge=1",
                 variant, test_backend("host"), hd_policy_rows[i / SHAPES % HD_POLICY_COUNT].name, s->buckets, s->slots,
                 s->value_bytes, dual, batch, batches * items / batch, s->slots < 64 ? s->slots : 64, near_of(s, i),
                 (ull)(i + 1));
        hd_host_usual(&c, 3, i % 2 ? 32 : 64);
        judged(text);
        hd_host_usual(NULL, 0, 0);
        runs++;
    }
    test_note("%s: %llu cases in random order", variant, (ull)runs);
}

/* ---- Under eviction, in whatever order ------------------------------------------------------- */

enum { ITEMS = 70, KEYS = 60 };

static uint8_t value_byte(uint64_t key, uint32_t at) { return (uint8_t)(key * 31 + at * 7 + 1); }

static void set_value(uint8_t *value, uint64_t key, uint32_t bytes)
{
    for (uint32_t k = 0; k < bytes; k++) value[k] = value_byte(key, k);
}

static void value_must_be(const uint8_t *value, uint64_t key, uint32_t bytes, const char *where)
{
    for (uint32_t k = 0; k < bytes; k++)
        check(value[k] == value_byte(key, k), "%s: key %llu has another's value at byte %u", where, (ull)key, k);
}

typedef struct census {
    uint32_t bytes;
    int64_t there[KEYS + 1];
} census;

static int count_entry(void *context, uint64_t key, uint64_t score, void *value)
{
    census *c = (census *)context;
    (void)score;
    check(key <= KEYS, "a key that was never inserted: %llu", (ull)key);
    c->there[key]++;
    value_must_be((const uint8_t *)value, key, c->bytes, "in the table");
    return 0;
}

/* What was there and what came in is there or has left: key by key. */
static void evict_once(hd_table *t, const char *variant, const shape *s, uint64_t *state, census *before)
{
    uint32_t bytes = s->value_bytes;
    uint64_t key[ITEMS], list_key[ITEMS], list_score[ITEMS], list_item[ITEMS], count = 0;
    uint8_t outcome[ITEMS], *value = (uint8_t *)test_alloc(ITEMS, bytes + 1),
                            *list_value = (uint8_t *)test_alloc(ITEMS, bytes + 1);
    for (uint32_t i = 0; i < ITEMS; i++) {
        key[i] = 1 + test_below(state, KEYS);
        set_value(value + i * bytes, key[i], bytes);
    }
    hd_batch b = { .op = HD_OP_INSERT_AND_EVICT,
                   .kernel = for_family(variant, HKV_UPSERT),
                   .n = ITEMS,
                   .key = key,
                   .score = key,
                   .value = value,
                   .outcome = outcome,
                   .list_key = list_key,
                   .list_value = list_value,
                   .list_score = list_score,
                   .list_item = list_item,
                   .count = &count };
    must(hd_run(t, &b));
    must(hd_check(t));
    census after = { .bytes = bytes };
    must(hd_for_each(t, count_entry, &after));
    int64_t left[KEYS + 1] = { 0 };
    uint64_t listed = 0;
    for (uint32_t i = 0; i < ITEMS; i++) {
        if (outcome[i] == HD_INSERTED || outcome[i] == HD_EVICTED)
            left[key[i]]++;
        else
            check(outcome[i] == HD_UPDATED || outcome[i] == HD_REFUSED, "item %u: outcome %d", i, outcome[i]);
        if (outcome[i] != HD_EVICTED && outcome[i] != HD_REFUSED) continue;
        check(listed < count && list_item[listed] == i, "entry %llu of the list should be item %u's", (ull)listed, i);
        if (outcome[i] == HD_EVICTED)
            left[list_key[listed]]--;
        else
            check(list_key[listed] == key[i], "item %u was refused, and the list has another key", i);
        check(list_score[listed] <= KEYS, "a score that was never given");
        value_must_be(list_value + listed * bytes, list_key[listed], bytes, "in the list");
        listed++;
    }
    check(listed == count, "the list has %llu entries instead of %llu", (ull)count, (ull)listed);
    for (uint32_t k = 0; k <= KEYS; k++)
        check(before->there[k] + left[k] == after.there[k], "key %u: %d before, %+d, %d after", k,
              (int)before->there[k], (int)left[k], (int)after.there[k]);
    *before = after;
    free(value);
    free(list_value);
}

static void conserves(void **state)
{
    const char *variant = VARIANT_OF(state);
    static const shape small[] = { { 3, 4, 16 }, { 2, 16, 32 }, { 3, 5, 7 }, { 2, 16, 640 } };
    uint64_t random = 11, batches = 0, schedules = 0;
    for (uint64_t i = 0; i < 80 * test_scale(); i++) {
        const shape *s = &small[i % 4];
        bool dual = i / 4 % 2;
        if (!test_takes(i) || !fits(variant, s)) continue;
        hd_table *t = test_table(.backend = test_backend("host"), .capacity = s->buckets * s->slots, .slots = s->slots,
                                 .value_bytes = s->value_bytes, .policy = "custom", .hkv.dual = dual);
        census before = { 0 };
        for (uint64_t k = 0; k < 3; k++) {
            simt_config m = way(i * 3 + k);
            test_case("insert_and_evict by %s, %u x %u slots, value %u, dual %d, way %llu", variant, s->buckets,
                      s->slots, s->value_bytes, dual, (ull)(i * 3 + k));
            run_as(t, &m);
            evict_once(t, variant, s, &random, &before);
            batches++;
            schedules += !on_host() || simt_machine_totals(hd_host_machine(t)).switches > 0;
        }
        hd_close(t);
    }
    test_note("%s: %llu batches conserved every key", variant, (ull)batches);
    check(schedules == batches, "the machine did not run");
}

/* ---- Duplicates, in whatever order ----------------------------------------------------------- */

enum { FEW = 9 };

typedef struct sums {
    uint64_t value[FEW], score[FEW];
    uint32_t n, bytes;
} sums;

static int note_entry(void *context, uint64_t key, uint64_t score, void *value)
{
    sums *s = (sums *)context;
    check(key < FEW, "a key that was never inserted: %llu", (ull)key);
    memcpy(&s->value[key], value, 8);
    for (uint32_t k = 8; k < s->bytes; k += 8)
        check(memcmp((const char *)value + k, &s->value[key], 8) == 0, "key %llu: a torn value", (ull)key);
    s->score[key] = score;
    s->n++;
    return 0;
}

static void contents(hd_table *t, sums *s, uint32_t bytes)
{
    memset(s, 0, sizeof *s);
    s->bytes = bytes;
    must(hd_check(t));
    must(hd_for_each(t, note_entry, s));
}

static uint32_t outcomes_of(const hd_batch *b, uint64_t key, hd_outcome o)
{
    uint32_t n = 0;
    for (uint64_t i = 0; i < b->n; i++) n += b->key[i] == key && b->outcome[i] == o;
    return n;
}

/* What many items do to few keys, where the order does not show: sums of values, sums of scores, one of several values
 * and all of it, one pin, one that erases. */
static void duplicates(void **state)
{
    enum { N = 96 };
    const char *variant = VARIANT_OF(state);
    uint64_t key[N], random = 3, batches = 0;
    uint8_t outcome[N], value[N * 32];
    for (uint64_t i = 0; i < 30 * test_scale(); i++) {
        if (!test_takes(i)) continue;
        hd_table *t;
        hd_batch b;
        sums s;
        uint64_t sum[FEW] = { 0 }, count[FEW] = { 0 };
        uint32_t bytes = i % 2 ? 8 : 32, kinds = 0;
        hd_config c = test_usual(.backend = test_backend("host"), .policy = "lfu", .slots = 16, .capacity = 48,
                                 .value_bytes = bytes, .hkv.dual = i / 2 % 2);
        must(hd_open(&c, &t));
        simt_config m = way(i);
        test_case("duplicates by %s, value %u, dual %d, way %llu", variant, bytes, c.hkv.dual, (ull)i);
        run_as(t, &m);
        b = test_batch((hd_op)0, N, key, value, outcome);
        b.elem = HD_U64;
        b.kernel = for_family(variant, HKV_UPSERT);
        for (uint64_t k = 0; k < N; k++) {
            key[k] = test_below(&random, FEW);
            uint64_t v = test_random(&random);
            for (uint32_t at = 0; at < bytes; at += 8) memcpy(value + k * bytes + at, &v, 8);
            sum[key[k]] += v;
            count[key[k]]++;
        }
        b.op = HD_OP_ACCUM_OR_ASSIGN;
        must(hd_run(t, &b));
        contents(t, &s, bytes);
        for (uint64_t k = 0; k < FEW; k++) {
            kinds += count[k] != 0;
            check(s.value[k] == sum[k] && s.score[k] == count[k], "key %llu: sums of %llu items are wrong", (ull)k,
                  (ull)count[k]);
            check(outcomes_of(&b, k, HD_INSERTED) == (count[k] != 0), "key %llu was not inserted once", (ull)k);
        }
        check(s.n == kinds, "%u entries of %u keys", s.n, kinds);

        static const hd_op changes[] = { HD_OP_ASSIGN, HD_OP_TOUCH, HD_OP_INSERT_OR_ASSIGN, HD_OP_ASSIGN_SCORES };
        for (uint64_t k = 0; k < 4; k++) {
            b.op = changes[k];
            b.kernel = for_family(variant, hkv_family_of(b.op));
            must(hd_run(t, &b));
            contents(t, &s, bytes);
            for (uint64_t j = 0; j < FEW; j++) {
                bool one = false;
                for (uint64_t at = 0; at < N; at++)
                    one = one || (key[at] == j && memcmp(value + at * bytes, &s.value[j], 8) == 0);
                check(count[j] == 0 || (one && s.score[j] == (k + 2) * count[j]), "key %llu after %s", (ull)j,
                      hd_op_name(b.op));
            }
        }
        b.holder = 7;
        run_by(t, &b, variant, HD_OP_LOCK_KEYS);
        for (uint64_t k = 0; k < FEW; k++)
            check(outcomes_of(&b, k, HD_HIT) == (count[k] != 0), "key %llu was not pinned once", (ull)k);
        run_by(t, &b, variant, HD_OP_ERASE);
        for (uint64_t k = 0; k < FEW; k++)
            check(outcomes_of(&b, k, HD_PINNED) == count[k], "key %llu is pinned", (ull)k);
        run_by(t, &b, variant, HD_OP_UNLOCK_KEYS);
        for (uint64_t k = 0; k < FEW; k++)
            check(outcomes_of(&b, k, HD_HIT) == (count[k] != 0), "key %llu was not unpinned once", (ull)k);
        run_by(t, &b, variant, HD_OP_ERASE);
        for (uint64_t k = 0; k < FEW; k++)
            check(outcomes_of(&b, k, HD_ERASED) == (count[k] != 0), "key %llu was not erased once", (ull)k);
        contents(t, &s, bytes);
        check(s.n == 0, "%u entries are left", s.n);
        hd_close(t);
        batches += 9;
    }
    test_note("%s: %llu batches of duplicates", variant, (ull)batches);
}

/* ---- What a miss costs ----------------------------------------------------------------------- */

/* Proposition 3.1, counted: the digests settle a miss, in one 128-byte line a bucket, however full. Only digests are
 * read sixteen bytes at a time. */
static void miss_is_one_line(void)
{
    enum { CAPACITY = 1 << 13, N = 2000 };
    uint64_t key[N];
    host_only();
    for (int i = 0; i < 8; i++) {
        bool dual = i % 2;
        uint64_t fill = i < 2 ? 0 : i < 4 ? CAPACITY / 2 : i < 6 ? CAPACITY : 4 * CAPACITY, lines = 0;
        size_t n = 0;
        hd_table *t = test_table(.backend = "host", .capacity = CAPACITY, .hkv.dual = dual);
        hd_batch b = { .key = key, .op = HD_OP_INSERT_OR_ASSIGN };
        for (uint64_t done = 0; done < fill; done += b.n) {
            b.n = fill - done < N ? fill - done : N;
            for (uint64_t k = 0; k < b.n; k++) key[k] = done + k;
            must(hd_run(t, &b));
        }
        simt_config m = simt_config_default();
        m.strategy = SIMT_ROUND_ROBIN;
        m.preempt = SIMT_AT_NONE;
        m.race = false;
        m.meter = m.quiet = true;
        must(hd_host_configure(t, &m));
        for (uint64_t k = 0; k < N; k++) key[k] = (1ull << 40) + k;
        b.op = HD_OP_CONTAINS;
        b.kernel = "warp";
        b.n = N;
        must(hd_run(t, &b));
        const simt_site *site = simt_machine_sites(hd_host_machine(t), &n);
        for (size_t k = 0; k < n; k++)
            if (!site[k].shared && site[k].bytes == 16 * site[k].lanes) lines += site[k].lines;
        test_case("%llu keys into %d slots, dual %d", (ull)fill, CAPACITY, dual);
        check(lines == N * (1ull + dual), "%d misses read %llu lines of digests", N, (ull)lines);
        hd_close(t);
    }
}

enum { SECTORS_N = 4096 };

/* Sectors that the warps ask for, per item of a batch of SECTORS_N keys. */
static double sectors_of(hd_table *t, const char *variant, hd_op op, uint64_t first_key)
{
    /* as device memory is; a compiler may begin in mid-sector */
    static __attribute__((aligned(128))) uint64_t key[SECTORS_N];
    static __attribute__((aligned(128))) uint8_t value[SECTORS_N * 64];
    hd_batch b = test_batch(op, SECTORS_N, key, value, NULL);
    b.value_out = op == HD_OP_FIND ? value : NULL;
    b.kernel = for_family(variant, hkv_family_of(op));
    for (uint64_t i = 0; i < SECTORS_N; i++) key[i] = first_key + i;
    must(hd_run(t, &b));
    return (double)simt_machine_totals(hd_host_machine(t)).sectors / SECTORS_N;
}

/* What a variant asks of memory, in a full table with values of 64 bytes: how often a sector of 32 is asked for, caches
 * left aside. Compared with another's it says what the lanes side by side are worth. A value of two sectors is read and
 * written; what a search or a scan asks for besides has no least number. The most is a request for each 16 bytes of a
 * bucket's digests, of its pairs and of both values, and REST for locks, bounds and what is delivered. */
static void sectors(void **state)
{
    enum { CAPACITY = 1 << 16, FILLS = 2 * CAPACITY / SECTORS_N };
    enum { VALUE = 2 + 2, REST = 12, MOST_SEARCH = 128 / 16 + 128 + REST, MOST = MOST_SEARCH + 64 / 16 * 2 };
    const char *variant = VARIANT_OF(state);
    simt_config m = simt_config_default();
    host_only();
    hd_table *t = test_table(.backend = "host", .capacity = CAPACITY, .value_bytes = 64);
    m.strategy = SIMT_ROUND_ROBIN;
    m.preempt = SIMT_AT_NONE;
    m.race = false;
    m.meter = m.quiet = true;
    for (uint64_t k = 0; k < FILLS; k++) sectors_of(t, "tlpv1", HD_OP_INSERT_OR_ASSIGN, k * SECTORS_N);
    must(hd_host_configure(t, &m));
    test_case("%s", variant);
    double hit = sectors_of(t, variant, HD_OP_FIND, (FILLS - 1) * SECTORS_N),
           miss = sectors_of(t, variant, HD_OP_CONTAINS, 1 << 20);
    double upsert = sectors_of(t, variant, HD_OP_INSERT_OR_ASSIGN, 1 << 20);
    check(miss > 0 && hit >= VALUE && upsert >= VALUE, "fewer than a value has: %.2f, %.2f, %.2f", miss, hit, upsert);
    check(miss <= MOST_SEARCH && hit <= MOST && upsert <= MOST,
          "more than a bucket and two values have: %.2f, %.2f, %.2f", miss, hit, upsert);
    if (strcmp(variant, "coalesced") == 0) /* lanes share a value: its two sectors are read once, and written once */
        check(hit - miss < 2 + 2 + 3, "a hit takes %.2f sectors more than a miss", hit - miss);
    test_note("%s: sectors per key: %.1f for a miss, %.1f for a hit, %.1f for an eviction", variant, miss, hit, upsert);
    hd_close(t);
}

/* ---- Choice ---------------------------------------------------------------------------------- */

/* The variant of a table of such values. */
static const char *selected(hd_op op, uint32_t value_bytes, double load_factor, hd_amount amount, uint32_t choice)
{
    hd_info info = { .value_bytes = value_bytes };
    return hkv_select(op, &info, load_factor, amount, choice);
}

static void select_is_pure(void)
{
    assert_string_equal(selected(HD_OP_INSERT_OR_ASSIGN, 32, 0.98, HD_MANY, 0), "coalesced");
    assert_string_equal(selected(HD_OP_INSERT_OR_ASSIGN, 32, 0.98, HD_MANY, 1), "tlpv1");
    assert_string_equal(selected(HD_OP_INSERT_OR_ASSIGN, 33, 0.95, HD_MANY, 1), "tlpv2");
    assert_string_equal(selected(HD_OP_INSERT_OR_ASSIGN, HD_VALUE_BYTES_MAX, 1, HD_MANY, 0), "coalesced");
    assert_string_equal(selected(HD_OP_INSERT_OR_ASSIGN, HD_VALUE_BYTES_MAX, 1, HD_MANY, 1), "tlpv2");
    assert_string_equal(selected(HD_OP_FIND, 16, 1, HD_MANY, 1), "tlpv1");
    assert_string_equal(selected(HD_OP_FIND, 17, 1, HD_MANY, 1), "tlpv2");
    assert_string_equal(selected(HD_OP_EXPORT, 17, 1, HD_MANY, 0), "warp");
    assert_string_equal(selected(HD_OP_CLEAR, 0, 0, HD_MANY, 0), "warp");
    assert_null(selected(HD_OP_FIND, 8, 1, HD_MANY, 2));
    assert_string_equal(selected(HD_OP_FIND, 64, 1, HD_FEW, 0), "direct");
    assert_string_equal(selected(HD_OP_FIND_MISSED, 64, 1, HD_FEW, 0), "direct");
    assert_string_equal(selected(HD_OP_ASSIGN, 64, 1, HD_FEW, 0), "coalesced");
    assert_string_equal(selected(HD_OP_INSERT_OR_ASSIGN, 64, 1, HD_FEW, 0), "coalesced");
    assert_string_equal(selected(HD_OP_INSERT_OR_ASSIGN, 64, 1, HD_FEWEST, 0), "warp");
    assert_string_equal(selected(HD_OP_FIND, 64, 1, HD_FEWEST, 0), "direct");
    assert_string_equal(selected(HD_OP_ERASE, 64, 1, HD_FEWEST, 0), "coalesced");
    for (int op = 0; op < HD_OP_COUNT_;
         op++) /* there is one for any batch: the last row holds what the others do not */
        for (uint64_t bytes = 0; bytes <= UINT32_MAX && !hd_op_does((hd_op)op, HD_ORDERED); bytes = 3 * bytes + 1)
            check(selected((hd_op)op, (uint32_t)bytes, 2, HD_MANY, 0), "%s has none", hd_op_name((hd_op)op));
}

static void choice_is_the_pick(const hd_design *d, const hd_backend *on)
{
    static const double load_factor[HD_LOAD_BANDS] = { 0.5, 0.75, 0.9, 1 };
    static const uint8_t each = 0;
    uint64_t few = hd_few_items_on(d, on);
    hd_config c = hd_config_of(d->name);
    hd_info info;
    hd_table *t;
    hd_kernel_choice choice;
    c.backend = on->device_arrays ? "ref" : on->name;
    c.capacity = 4096;
    must(hd_open(&c, &t));
    must(hd_table_info(t, &info));
    hd_close(t);
    info.backend = on->name;
    hd_kernels_choose(&info, &choice);
    for (int op = 0; op < HD_CHOICES; op++)
        for (uint32_t at = 0; at < HD_AMOUNTS * HD_LOAD_BANDS; at++) {
            uint32_t amount = at / HD_LOAD_BANDS, band = at % HD_LOAD_BANDS;
            hd_kernel k;
            hd_batch b = { .each = op == HD_CHOICE_MIXED ? &each : NULL,
                           .op = op == HD_CHOICE_MIXED ? HD_OP_FIND : (hd_op)op,
                           .n = amount == HD_MANY  ? 1 << 20
                                : amount == HD_FEW ? few
                                                   : d->fewest_distinct,
                           .distinct = amount == HD_FEWEST };
            assert_int_equal(hd_amount_of(d, on, &b), few ? amount : HD_MANY);
            if (hd_kernel_pick(&info, &b, load_factor[band], &k)) k.variant = NULL;
            check(choice.of[amount][band][op].variant == k.variant &&
                      (!k.variant || choice.of[amount][band][op].row == k.row),
                  "%s on %s, operation %d: the choice is another", d->name, on->name, op);
            assert_int_equal(hd_load_band(load_factor[band]), band);
            if (few) continue;
            b.n = 0; /* an empty batch is none that is selected for apart */
            check(hd_amount_of(d, on, &b) == HD_MANY, "%s on %s: a batch is small", d->name, on->name);
        }
}

/* What a table resolved when it was opened is what would be picked for each batch. */
static void the_choice_at_open_is_the_pick(void)
{
    const hd_design *d;
    const hd_backend *on;
    for (size_t i = 0; (d = hd_design_at(i)); i++)
        for (size_t k = 0; (on = hd_backend_at(d, k)); k++) choice_is_the_pick(d, on);
}

/* Of a dictionary the selector knows nothing: whatever the operation and the load factor, the first row that fits runs
 * it. */
static void dictionaries_take_the_first(void)
{
    static const struct {
        uint32_t slots;
        hd_layout layout;
        const char *variant;
    } tables[] = { { 8, HD_LAYOUT_WORDS, "batched" },
                   { 16, HD_LAYOUT_WORDS, "batched" },
                   { 32, HD_LAYOUT_WORDS, "tile" },
                   { 16, HD_LAYOUT_MASKS, "tile" },
                   { 32, HD_LAYOUT_MASKS, "tile" } };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        hd_table *t;
        hd_info info;
        hd_config c = test_usual(.design = "hive", .slots = tables[i].slots, .layout = tables[i].layout,
                                 .backend = "host", .value_bytes = 4);
        must(hd_open(&c, &t));
        must(hd_table_info(t, &info));
        for (int op = 0; op < HD_OP_COUNT_; op++) {
            hd_kernel k;
            hd_batch b = { .op = (hd_op)op };
            assert_null(hd_design_named("hive")->select);
            if (hd_kernel_pick(&info, &b, op % 2, &k)) continue; /* not of this design */
            /* batched leaves whole tables to it */
            const char *want = hd_op_is_keyed(hd_op_row_of(b.op)) ? tables[i].variant : "tile";
            check(strcmp(k.variant->name, want) == 0, "%s of %u slots is run by %s, not by %s", hd_op_name(b.op),
                  c.slots, k.variant->name, want);
        }
        hd_close(t);
    }
}

/* What was chosen is reported; what does not fit is refused by its name, and not chosen without. */
static void choice_is_told(void)
{
    hd_table *t;
    uint64_t key[10];
    host_only();
    hd_config c = test_usual(.backend = "host", .capacity = 10, .slots = 10);
    must(hd_open(&c, &t));
    for (uint64_t i = 0; i < 10; i++) key[i] = i;
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = 10, .key = key };
    must(hd_run(t, &b));
    assert_string_equal(b.ran, "hkv.insert_or_assign.tlpv1");
    b.kernel = "pipeline";
    must_fail(hd_run(t, &b), HD_EINVAL, "multiple of 16");
    hd_table *wide;
    hd_config w = c;
    w.capacity = w.slots = 512;
    must(hd_open(&w, &wide));
    must_fail(hd_run(wide, &b), HD_EINVAL, "pipeline cannot run this batch: it has room for the scores of 256 slots");
    hd_close(wide);
    b.kernel = "warp";
    must(hd_run(t, &b));
    assert_string_equal(b.ran, "hkv.insert_or_assign.warp");
    b.kernel = "ref";
    must_fail(hd_run(t, &b), HD_EINVAL,
              "kernel: ref does not run on backend host; there are tlpv1, tlpv2, pipeline, warp, coalesced, direct");
    b.kernel = "wrap";
    must_fail(hd_run(t, &b), HD_EINVAL,
              "kernel: there is no 'wrap'; nearest: warp; all: ref, tlpv1, tlpv2, pipeline, warp, coalesced, direct");
    b.kernel = NULL; /* what the selector wants first does not fit buckets of ten */
    must(hd_run(t, &b));
    assert_string_equal(b.ran, "hkv.insert_or_assign.tlpv1");
    hd_close(t);
    c.slots = 16;
    must(hd_open(&c, &t));
    must(hd_run(t, &b));
    assert_string_equal(b.ran, "hkv.insert_or_assign.coalesced");
    hd_close(t);
}

static hd_table *open_host(const char *policy, uint32_t slots, uint64_t capacity, hd_layout layout,
                           uint32_t value_bytes)
{
    hd_table *t = test_table(.backend = test_backend("host"), .policy = policy, .slots = slots, .capacity = capacity,
                             .layout = layout, .value_bytes = value_bytes);
    return t;
}

/* ---- Large batches --------------------------------------------------------------------------- */

/* Batches of many blocks, of which two are resident, by one lane after the other and by any lane at every access. */
static void large_batches(void **state)
{
    enum { CAPACITY = 1 << 15, N = 1 << 13 };
    static const hd_op ops[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_FIND, HD_OP_CONTAINS };
    const char *variant = VARIANT_OF(state);
    uint64_t *key = (uint64_t *)test_alloc(N, 8), random = 5;
    uint8_t *value = (uint8_t *)test_alloc(N, 64), *out = (uint8_t *)test_alloc(N, 64);
    host_only();
    hd_table *t = open_host("lru", 128, CAPACITY, HD_LAYOUT_USUAL, 64);
    for (int preempted = 0; preempted < 2; preempted++) {
        simt_config m = simt_config_default();
        m.race = false;
        m.quiet = true;
        m.resident = 2;
        m.step_limit = 1ull << 40;
        if (preempted) must(hd_host_configure(t, &m));
        for (uint64_t i = 0; i < N; i++) key[i] = test_below(&random, CAPACITY + CAPACITY / 2);
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
            hd_batch b = { .op = ops[o], .n = preempted ? N / 4 : N, .key = key, .value = value };
            b.kernel = for_family(variant, hkv_family_of(b.op));
            b.value_out = b.op == HD_OP_FIND ? out : NULL;
            test_case("%s by %s, %s", hd_op_name(b.op), variant, preempted ? "any lane" : "one lane after another");
            if (b.kernel) must(hd_run(t, &b));
        }
    }
    must(hd_check(t));
    hd_close(t);
    free(key);
    free(value);
    free(out);
}

/* ---- What is left behind --------------------------------------------------------------------- */

/* Keys 0 to n - 1, with such scores. */
static void put_keys(hd_table *t, const char *kernel, uint64_t n, uint64_t score)
{
    uint64_t *key = (uint64_t *)test_alloc(n, 8), *scores = (uint64_t *)test_alloc(n, 8);
    uint8_t *value = (uint8_t *)test_alloc(n, 8);
    for (uint64_t i = 0; i < n; i++) key[i] = i, scores[i] = score;
    hd_batch b = {
        .op = HD_OP_INSERT_OR_ASSIGN, .n = n, .key = key, .score = scores, .value = value, .kernel = kernel
    };
    must(hd_run(t, &b));
    free(key);
    free(scores);
    free(value);
}

/* Nothing that an entry had stays in its slot, in the last of an odd number least of all. */
static void clear_leaves_nothing(void **state)
{
    const char *variant = VARIANT_OF(state);
    for (int i = 0; i < 4; i++) {
        uint32_t slots = i / 2 ? 5 : 3;
        test_case("hkv.clear.%s slots=%u layout=%s", variant, slots, i % 2 ? "pairs" : "planes");
        hd_table *t = open_host("custom", slots, 3 * slots, i % 2 ? HD_LAYOUT_PAIRS : HD_LAYOUT_PLANES, 8);
        uint64_t size = 1;
        put_keys(t, NULL, 200, 7);
        must(hd_size_sync(t, &size));
        check(size == 3 * slots, "%llu slots are in use", (ull)size);
        hd_batch b = { .op = HD_OP_CLEAR, .kernel = for_family(variant, HKV_CLEAR) };
        must(hd_run(t, &b));
        must(hd_size_sync(t, &size));
        must(hd_check(t));
        check(size == 0, "%llu entries are left", (ull)size);
        hd_close(t);
    }
}

/* An erase lowers the bound of its group, whichever variant raised the bound. */
static void erase_lowers_bounds(void **state)
{
    enum { SLOTS = 16, CAPACITY = 4 * SLOTS };
    const char *variant = VARIANT_OF(state);
    hd_table *t = open_host("custom", SLOTS, CAPACITY, HD_LAYOUT_PAIRS, 8);
    /* full: victims are looked for, and bounds found */
    for (uint64_t score = 10; score < 15; score++) put_keys(t, "coalesced", 4 * CAPACITY, score);
    for (uint64_t key = 0; key < 4 * CAPACITY; key++) {
        test_case("hkv.erase.%s of key %llu", variant, (ull)key);
        hd_batch b = { .op = HD_OP_ERASE, .n = 1, .key = &key, .kernel = for_family(variant, HKV_ERASE) };
        must(hd_run(t, &b));
        must(hd_check(t));
    }
    hd_close(t);
}

/* Blocks that list ask those before them how much they have, more of them than a block has threads, and wait for an
 * answer. */
static void long_lists_in_any_order(void **state)
{
    enum { LANES = 32, CAPACITY = (LANES + 13) * HKV_SEGMENT_LEAST };
    const char *variant = VARIANT_OF(state), *kernel = for_family(variant, HKV_EXPORT);
    if (!kernel) test_skip("it lists nothing");
    hd_table *t = open_host("lru", 128, CAPACITY, HD_LAYOUT_PAIRS, 0);
    uint64_t *key = (uint64_t *)test_alloc(CAPACITY, 8), *item = (uint64_t *)test_alloc(CAPACITY, 8), count = 0,
             size = 0;
    put_keys(t, NULL, CAPACITY / 8, 0);
    must(hd_size_sync(t, &size));
    for (uint64_t seed = 0; seed < 2; seed++) {
        simt_config m = way(1 + 4 * seed);
        test_case("hkv.export.%s of %d slots in schedule %llu", variant, CAPACITY, (ull)seed);
        m.race = false;
        m.step_limit = 1ull << 40;
        m.resident = 3;
        if (on_host()) must(hd_host_configure(t, &m));
        if (on_host()) must(hd_host_lanes(t, 3, LANES));
        hd_batch b = {
            .op = HD_OP_EXPORT, .n = CAPACITY, .list_key = key, .list_item = item, .count = &count, .kernel = kernel
        };
        must(hd_run(t, &b));
        check(count == size, "%llu of %llu entries are listed", (ull)count, (ull)size);
        for (uint64_t j = 1; j < count; j++)
            check(item[j - 1] < item[j], "place %llu of the list comes after slot %llu, and has %llu", (ull)j,
                  (ull)item[j - 1], (ull)item[j]);
    }
    hd_close(t);
    free(key);
    free(item);
}

/* What items of one key leave, in a batch whose numbers an earlier batch had used: the entry is that of the last one in
 * their order, the one that did not insert the key. */
static void last_of_a_key_stays(void)
{
    enum { N = 5 };
    static const uint64_t before[] = { 1, 1, 2, 2 }, now[N] = { 3, 4, 5, 6, 6 };
    uint64_t value[N] = { 10, 11, 12, 13, 14 }, key = 6, score = 0, read = 0;
    uint8_t fate[N];
    host_only();
    hd_table *t = open_host("lru", 16, 64, HD_LAYOUT_PAIRS, 8);
    must(hd_host_lanes(t, 1, 32));
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = 4, .key = before, .value = value, .kernel = "coalesced" };
    must(hd_run(t, &b));
    b = (hd_batch){
        .op = HD_OP_INSERT_OR_ASSIGN, .n = N, .key = now, .value = value, .kernel = "coalesced", .outcome = fate
    };
    must(hd_run(t, &b));
    uint64_t last = fate[3] == HD_UPDATED ? 3 : 4;
    check(fate[last] == HD_UPDATED && fate[7 - last] == HD_INSERTED, "items 3 and 4: %s and %s",
          hd_outcome_name((hd_outcome)fate[3]), hd_outcome_name((hd_outcome)fate[4]));
    b = (hd_batch){ .op = HD_OP_FIND, .n = 1, .key = &key, .value_out = &read, .score_out = &score };
    must(hd_run(t, &b));
    check(read == value[last] && score == 4 + last, "the last item left value %llu and score %llu", (ull)read,
          (ull)score);
    hd_close(t);
}

/* A warp of coalesced adds its counts of outcomes to the table's every 64 rounds, because they have 7 bits each. One
 * block runs 200 rounds: of lookups, and of members of groups, where few keys repeat. */
static void counts_of_many_rounds(void)
{
    enum { LANES = 128, N = 200 * LANES, KEYS = 40 };
    static uint64_t key[N], value[N];
    host_only();
    hd_table *t = open_host("lru", 64, 256, HD_LAYOUT_PAIRS, 8);
    hd_counters before, after;
    must(hd_host_lanes(t, 1, LANES));
    for (uint64_t i = 0; i < N; i++) key[i] = i % KEYS;
    for (int op = 0; op < 2; op++) {
        hd_batch b = { .op = op ? HD_OP_FIND : HD_OP_INSERT_OR_ASSIGN, .n = N, .key = key, .kernel = "coalesced" };
        if (op) b.value_out = value;
        if (!op) b.value = value;
        test_case("%s of %d items by a block of %d", hd_op_name(b.op), (int)N, (int)LANES);
        must(hd_counters_sync(t, &before));
        must(hd_run(t, &b));
        must(hd_counters_sync(t, &after));
        uint64_t inserted = after.outcome[HD_INSERTED] - before.outcome[HD_INSERTED],
                 same = after.outcome[op ? HD_HIT : HD_UPDATED] - before.outcome[op ? HD_HIT : HD_UPDATED];
        check(inserted == (op ? 0 : KEYS) && inserted + same == N, "%llu inserted, %llu there", (ull)inserted,
              (ull)same);
    }
    hd_close(t);
}

/* An item that brings a key in chooses the least entry to leave, and another uses that entry before it is claimed: then
 * it is not the least. */
static void victims_are_used_meanwhile(void)
{
    enum { SLOTS = 16, N = 33, SEEDS = 200 };
    uint64_t spared = 0, gone = 0;
    host_only();
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint64_t key[N], value[N] = { 0 }, left[N], score[N], item[N], count = 0;
        uint8_t fate[N], left_value[8 * N];
        simt_config m = simt_config_default();
        hd_table *t = open_host("lru", SLOTS, SLOTS, HD_LAYOUT_PAIRS, 8);
        test_case("insert_and_evict by coalesced, schedule %llu", (ull)seed);
        put_keys(t, "coalesced", SLOTS, 0); /* key 0 is the least */
        for (uint64_t i = 0; i < N; i++) key[i] = HD_KEY_RESERVED;
        key[0] = SLOTS;
        key[seed % 2 ? 1 : N - 1] = 0; /* in the same warp, or in another */
        m.strategy = SIMT_PCT;         /* by priorities: one of the two items is held up at some access for long */
        m.seed = seed;
        m.preempt = SIMT_AT_ALL;
        m.race = true;
        must(hd_host_configure(t, &m));
        must(hd_host_lanes(t, 1, 64));
        hd_batch b = test_batch(HD_OP_INSERT_AND_EVICT, N, key, value, fate);
        b.distinct = true, b.kernel = "coalesced";
        test_lists(&b, left, left_value, score, item, &count);
        must(hd_run(t, &b));
        must(hd_check(t));
        hd_outcome used = (hd_outcome)fate[seed % 2 ? 1 : N - 1];
        check(fate[0] == HD_EVICTED && (used == HD_UPDATED || used == HD_EVICTED), "outcomes %s and %s",
              hd_outcome_name((hd_outcome)fate[0]), hd_outcome_name(used));
        check(count == (used == HD_UPDATED ? 1 : 2) && left[0] == (used == HD_UPDATED),
              "who was used has left: key %llu, of %llu that did", (ull)left[0], (ull)count);
        spared += used == HD_UPDATED;
        gone += used == HD_EVICTED;
        hd_close(t);
    }
    check(spared && gone, "%llu times it stayed, and %llu times it had left", (ull)spared, (ull)gone);
}

/* The choice of a kernel asks how full the table is: what the answers tell, and calls of the whole table. */
static void entries_are_counted(void)
{
    static const char *const backends[] = { "ref", "host" };
    host_only();
    for (int k = 0; k < 2; k++) {
        hd_table *t;
        uint64_t key[40], size, erased;
        hd_config c = test_usual(.backend = backends[k], .slots = 8, .capacity = 64, .value_bytes = 8);
        test_case("backend=%s", c.backend);
        must(hd_open(&c, &t));
        for (uint64_t i = 0; i < 40; i++) key[i] = 160 + i;
        put_keys(t, NULL, 200, 0);
        must(hd_run(t, &(hd_batch){ .op = HD_OP_ERASE, .n = 40, .key = key }));
        uint64_t told = atomic_load(&t->entries);
        must(hd_size_sync(t, &size));
        check(told == size && size > 0 && size < 64, "%llu entries, and %llu were counted", (ull)size, (ull)told);
        must(hd_run(t,
                    &(hd_batch){ .op = HD_OP_ERASE_IF, .pred = "key_in", .pred_arg = { 120, 150 }, .count = &erased }));
        check(erased && atomic_load(&t->entries) == size - erased, "%llu fewer than %llu, and %llu were counted",
              (ull)erased, (ull)size, (ull)atomic_load(&t->entries));
        must(hd_clear(t));
        check(atomic_load(&t->entries) == 0, "%llu entries were counted after a clear", (ull)atomic_load(&t->entries));
        hd_close(t);
    }
}

/* What a row says of itself is what is launched, and blocks are whole warps. */
static void rows_have_the_lanes_they_say(void)
{
    for (uint32_t row = 0; row < hkv_row_count(); row++) {
        const hd_variant_row *r = hkv_row(row);
        const char *name = hkv_row_name(row);
        check(r->threads && r->threads % 32 == 0 && r->threads <= 1024, "a block of %s has %u threads", name,
              r->threads);
        bool thread = strstr(r->what[0], ": a thread per key") != NULL, warp = strstr(r->what[0], ": a warp per key");
        if (thread || warp)
            check(r->lanes == (warp ? 32u : 1u), "%s is '%s', and has %u lanes per item", name, r->what[0], r->lanes);
    }
}

/* How a table runs is for those tables only that run on the host machine, and for whole warps. */
static void settings_are_checked(void)
{
    hd_config c = hd_config_default();
    simt_config m = simt_config_default();
    hd_table *ref, *host;
    c.backend = "ref";
    must(hd_open(&c, &ref));
    c.backend = "host";
    must(hd_open(&c, &host));
    must_fail(hd_host_configure(ref, &m), HD_EINVAL, "host machine");
    must_fail(hd_host_configure(NULL, &m), HD_EINVAL, "host machine");
    must_fail(hd_host_configure(host, NULL), HD_EINVAL, "config: NULL");
    must_fail(hd_host_draw_tickets(ref), HD_EINVAL, "host machine");
    must_fail(hd_host_lanes(ref, 1, 32), HD_EINVAL, "host machine");
    must_fail(hd_host_lanes(host, 1, 33), HD_EINVAL, "whole warps");
    must_fail(hd_host_lanes(host, 1, 1056), HD_EINVAL, "of one block");
    must(hd_host_lanes(host, 1, 1024));
    check(hd_host_machine(host) && !hd_host_machine(ref) && !hd_host_machine(NULL), "a machine where there is none");
    check(hkv_host_kernel(0) && hkv_host_kernel(HKV_KERNELS - 1) && !hkv_host_kernel(HKV_KERNELS) &&
              !hkv_host_kernel(hkv_row_count()),
          "a kernel beyond the last");
    hd_close(ref);
    hd_close(host);
}

int main(void)
{
    static const struct CMUnitTest of_each[] = {
        unit(in_order),     unit(in_any_order),         unit(conserves),           unit(duplicates),
        unit(sectors),      unit(clear_leaves_nothing), unit(erase_lowers_bounds), unit(long_lists_in_any_order),
        unit(large_batches)
    };
    static const struct CMUnitTest of_all[] = { unit(select_is_pure),
                                                unit(the_choice_at_open_is_the_pick),
                                                unit(dictionaries_take_the_first),
                                                unit(choice_is_told),
                                                unit(miss_is_one_line),
                                                unit(settings_are_checked),
                                                unit(rows_have_the_lanes_they_say),
                                                unit(last_of_a_key_stays),
                                                unit(victims_are_used_meanwhile),
                                                unit(counts_of_many_rounds),
                                                unit(entries_are_counted) };
    return variants_run(of_each, sizeof of_each / sizeof *of_each, of_all, sizeof of_all / sizeof *of_all);
}
