/* SPDX-License-Identifier: Apache-2.0
 *
 * t_gfsl.c - the reference of the skip list gfsl beside a map, by insertions and removals in several orders; how many
 * entries chunks have after merges; PENDING, and what a table holds then; growth and snapshots; every invariant broken
 * by hand; random requests of all operations to the reference and to the kernels, judged by an ordered map.
 */
#include <string.h>

#include "judge/run.h"
#include "lib/table.h"
#include "ref/gfsl/gfsl.h"
#include "tests/snapshots.h"
#include "tests/testing.h"
#include "workload/rng.h"

typedef unsigned long long ull;

/* kind: whether each level has a pool, and whether chunks are unsorted. */
enum { KIND_POOLS = 1, KIND_UNSORTED = 2, KINDS = 4 };

static hd_table *table_of(uint32_t slots, uint64_t chunks, int kind)
{
    hd_config c = hd_config_of("gfsl");
    hd_table *t;
    c.gfsl.level_pools = kind & KIND_POOLS;
    c.gfsl.unsorted = kind & KIND_UNSORTED;
    c.slots = slots;
    c.capacity = chunks * slots;
    must(hd_open(&c, &t));
    return t;
}

static gfsl_view *view_in(hd_table *t) { return gfsl_view_of(t->state); }

static hd_outcome put(hd_table *t, uint64_t key)
{
    uint32_t value = (uint32_t)key * 3;
    uint8_t outcome = HD_MISS;
    must(hd_upsert(t, 1, &key, &value, NULL, &outcome));
    return (hd_outcome)outcome;
}

static hd_outcome take(hd_table *t, uint64_t key)
{
    uint8_t outcome = HD_MISS;
    must(hd_erase(t, 1, &key, &outcome));
    return (hd_outcome)outcome;
}

static bool has(hd_table *t, uint64_t key)
{
    const gfsl_view *v = view_in(t);
    uint64_t e = gfsl_find(v, key);
    check(e == WORD_NOWHERE || gfsl_low(*gfsl_slot(v, e)) == (uint32_t)key * 3, "key %llu has another value", (ull)key);
    return e != WORD_NOWHERE;
}

/* Key i of n in an order: ascending, descending, or as a generator has them. */
static uint64_t key_of(int order, uint64_t i, uint64_t n)
{
    return order == 0 ? i : order == 1 ? n - 1 - i : i * 7919 % n;
}

/* Chunks of level 0 with fewer entries than a merge leaves, besides the first and the last. */
static uint64_t thin_chunks(const gfsl_view *v)
{
    uint64_t thin = 0;
    for (uint32_t c = gfsl_low(gfsl_at(v, 0)[v->slots]); c != GFSL_NONE; c = gfsl_low(gfsl_at(v, c)[v->slots])) {
        uint32_t n = 0;
        while (n < v->slots && gfsl_at(v, c)[n] != GFSL_EMPTY) n++;
        thin += n < gfsl_least(v) && gfsl_low(gfsl_at(v, c)[v->slots]) != GFSL_NONE;
    }
    return thin;
}

/* Section 3.2: a chunk with less than a third of its entries is merged. */
static void keys_come_and_go(void **unused)
{
    static const uint32_t slots[] = { 6, 14, 30 };
    (void)unused;
    for (int round = 0; round < 9 * KINDS; round++) {
        uint32_t s = slots[round / 3 % 3];
        const uint64_t n = 40 * s;
        hd_table *t = table_of(s, 300, round / 9);
        test_case("%u slots, order %d, kind %d", s, round % 3, round / 9);
        for (uint64_t i = 0; i < n; i++) {
            check(put(t, key_of(round % 3, i, n)) == HD_INSERTED, "key %llu did not come", (ull)i);
            if (i % 16 == 0) must(hd_check(t));
        }
        for (uint64_t key = 0; key < n; key++) check(has(t, key), "key %llu is missing", (ull)key);
        check(view_in(t)->head[GFSL_TOP] > 0, "the list has no index");
        for (uint64_t i = 0; i < n; i++) {
            uint64_t key = key_of((round + 1) % 3, i, n);
            check(take(t, key) == HD_ERASED && !has(t, key), "key %llu did not leave", (ull)key);
            must(hd_check(t));
            check(thin_chunks(view_in(t)) == 0, "%llu chunks have few entries", (ull)thin_chunks(view_in(t)));
        }
        check(view_in(t)->head[0] <= 2, "%llu chunks are left", (ull)view_in(t)->head[0]);
        hd_close(t);
    }
}

/* Any keys come and leave, beside a map. */
static void as_a_map(void **unused)
{
    enum { KEYS = 400 };
    (void)unused;
    for (uint64_t seed = 1; seed <= test_times(12); seed++) {
        hd_rng g = hd_rng_from(seed);
        bool there[KEYS] = { false };
        hd_table *t = table_of(seed % 2 ? 6 : 14, 240, (int)(seed / 2 % KINDS));
        test_case("seed %llu", (ull)seed);
        for (uint64_t i = 0; i < 3000; i++) {
            uint64_t key = hd_rng_below(&g, KEYS);
            bool comes = hd_rng_below(&g, 1000) < (i / 1000 % 2 ? 350u : 650u);
            hd_outcome got = comes ? put(t, key) : take(t, key), should = comes ? there[key] ? HD_UPDATED : HD_INSERTED
                                                                          : there[key] ? HD_ERASED
                                                                                       : HD_MISS;
            check(got == should, "key %llu: %s", (ull)key, hd_outcome_name(got));
            there[key] = comes;
            if (i % 10 == 0) must(hd_check(t));
        }
        for (uint64_t key = 0; key < KEYS; key++) check(has(t, key) == there[key], "key %llu", (ull)key);
        hd_close(t);
    }
}

/* Ascending keys leave chunks half full, so that a table is PENDING with more than 2/5 of its places in use; it can
 * grow then, and its file can be loaded. */
static void pending_of(int kind, int into)
{
    uint64_t n = 0, dropped = 1;
    const char *path = test_path("gfsl");
    test_case("kind %d, into kind %d", kind, into);
    hd_table *t = table_of(30, 40, kind), *again = table_of(30, 40, into);
    while (put(t, n) == HD_INSERTED) n++;
    check(5 * n > 2 * 40 * 30, "only %llu keys came", (ull)n);
    must(hd_check(t));
    check(take(t, 5) == HD_ERASED && put(t, 5) == HD_INSERTED, "a place that is free is not taken");
    must(hd_save(t, path));
    must(hd_load(again, path, &dropped));
    must(hd_check(again));
    for (uint64_t key = 0; key < n; key++) check(has(again, key), "key %llu is not in the file", (ull)key);
    check(dropped == 0, "%llu were dropped", (ull)dropped);
    must(hd_grow(t, 80));
    check(put(t, n) == HD_INSERTED, "it has grown, and there is no room");
    for (uint64_t key = 0; key <= n; key++) check(has(t, key), "key %llu is missing", (ull)key);
    must(hd_check(t));
    hd_close(t);
    hd_close(again);
}

static void pending(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < KINDS; kind++)
        for (int into = 0; into < KINDS; into++)
            if ((kind & KIND_POOLS) == (into & KIND_POOLS)) pending_of(kind, into);
}

/* A file of a list with one pool may have more entries than the same list with level pools can hold: that one grows, as
 * one with fewer or smaller chunks does. */
static void others_files(void **unused)
{
    static const struct {
        uint32_t slots;
        uint64_t chunks;
        int kind;
    } into[] = { { 6, 12, KIND_POOLS }, { 6, 6, 0 }, { 14, 1, 0 }, { 14, 3, KIND_POOLS }, { 30, 100, 0 } };
    const char *path = test_path("gfsl");
    (void)unused;
    for (int ascending = 0; ascending < 2; ascending++) {
        uint64_t n = 0;
        hd_table *t = table_of(6, 12, 0);
        gfsl_view *v = view_in(t);
        while (gfsl_place(v, n, 3 * n) != WORD_NOWHERE || (!ascending && gfsl_press(v, n, 3 * n) != WORD_NOWHERE)) n++;
        must(hd_save(t, path));
        hd_close(t);
        for (size_t k = 0; k < sizeof into / sizeof *into; k++) {
            uint64_t dropped = 1, size, buckets;
            hd_table *again = table_of(into[k].slots, into[k].chunks, into[k].kind);
            hd_info info;
            must(hd_table_info(again, &info));
            buckets = info.buckets;
            test_case("%llu keys into slots %u, %llu chunks, kind %d", (ull)n, into[k].slots, (ull)into[k].chunks,
                      into[k].kind);
            must(hd_load(again, path, &dropped));
            must(hd_check(again));
            must(hd_size_sync(again, &size));
            must(hd_table_info(again, &info));
            check(dropped == 0 && size == n, "%llu were dropped, and %llu are there", (ull)dropped, (ull)size);
            check(info.capacity >= n && info.buckets % buckets == 0, "%llu chunks", (ull)info.buckets);
            for (uint64_t key = 0; key < n; key++) check(has(again, key), "key %llu is missing", (ull)key);
            check(put(again, n) == HD_INSERTED || !hd_grow(again, 2 * info.buckets), "it has no further room: %s",
                  hd_why());
            must(hd_check(again));
            hd_close(again);
        }
    }
}

/* A list without free chunks is pressed together, until every place of level 0 is used. */
static void pressed(void **unused)
{
    uint64_t n = 0;
    (void)unused;
    for (int kind = 0; kind < KINDS; kind++, n = 0) {
        hd_table *t = table_of(6, 12, kind);
        gfsl_view *v = view_in(t);
        uint64_t chunks = kind & KIND_POOLS ? 1 + v->end[0] - v->end[v->levels - 1] : 12 - v->levels + 1;
        test_case("kind %d", kind);
        while (gfsl_place(v, 7 * n % 101, 3 * (uint32_t)(7 * n % 101)) != WORD_NOWHERE ||
               gfsl_press(v, 7 * n % 101, 3 * (uint32_t)(7 * n % 101)) != WORD_NOWHERE) {
            n++;
            must(hd_check(t));
        }
        check(n == chunks * 6, "%llu keys", (ull)n);
        for (uint64_t i = 0; i < n; i++) check(has(t, 7 * i % 101), "key %llu is missing", (ull)i);
        hd_close(t);
    }
}

/* ---- Invariants ------------------------------------------------------------------------------ */

static void break_it(gfsl_view *v, int how)
{
    uint64_t *first = gfsl_at(v, 0), *index = gfsl_at(v, 1), seal = v->slots + 1;
    uint32_t next = gfsl_low(first[v->slots]);
    switch (how) {
    case 0: first[0] = first[1]; break;                                /* a key twice */
    case 1: first[1] = first[0] + (100ull << 32); break;               /* above the fence */
    case 2: first[v->slots] = (uint64_t)1 << 32 | next; break;         /* a fence below a key */
    case 3: first[v->slots] |= GFSL_NONE; break;                       /* the chain ends early */
    case 4: gfsl_at(v, next)[v->slots] &= ~(uint64_t)GFSL_NONE; break; /* the chain is a ring */
    case 5: first[0] = GFSL_EMPTY; break;                              /* a free word in the midst */
    case 6: gfsl_at(v, next)[seal] |= gfsl_seal(1, 0); break;          /* of another level */
    case 7: index[1] = (index[1] & ~(uint64_t)GFSL_NONE) | 2; break;   /* an entry to a chunk of level 2 */
    case 8: index[0] |= 1ull << 32; break;                             /* no least key */
    case 9: index[0] = gfsl_low(index[1]); break;                      /* the least key leads too far */
    case 10: first[seal] |= GFSL_LOCKED; break;
    case 11: gfsl_at(v, next)[seal] |= GFSL_ZOMBIE; break;
    case 12: v->head[GFSL_ZOMBIES] = 1; break;
    case 13: v->head[GFSL_USED]++; break;
    case 14: v->head[GFSL_FREED] = 1; break; /* chunk 0 is in use */
    case 15: v->head[0]++; break;
    default: v->head[GFSL_TOP] = 0; break;
    }
}

static void invariants(void **unused)
{
    static const char *const says[] = { "GFSL-1", "GFSL-1", "GFSL-1", "GFSL-1", "GFSL-1", "GFSL-1",
                                        "GFSL-1", "GFSL-2", "GFSL-2", "GFSL-2", "GFSL-3", "GFSL-3",
                                        "GFSL-3", "GFSL-3", "GFSL-3", "GFSL-4", "GFSL-4" };
    (void)unused;
    for (int how = 0; how < 17; how++) {
        hd_table *t = table_of(6, 40, 0);
        for (uint64_t key = 10; key < 40; key++) put(t, key);
        must(hd_check(t));
        test_case("broken %d", how);
        break_it(view_in(t), how);
        must_fail(hd_check(t), HD_ECORRUPT, says[how]);
        hd_close(t);
    }
}

/* ---- Random requests ------------------------------------------------------------------------- */

#define ONE_OF(r, ...) ((const uint64_t[]){ __VA_ARGS__ })[test_below(r, sizeof(uint64_t[]){ __VA_ARGS__ } / 8)]

static hd_case draw_case(uint64_t number)
{
    static const hd_op ops[] = { HD_OP_PREDECESSOR, HD_OP_SUCCESSOR, HD_OP_RANGE, HD_OP_MIN,
                                 HD_OP_MAX,         HD_OP_FIND,      HD_OP_ERASE, HD_OP_ERASE_IF,
                                 HD_OP_EXPORT,      HD_OP_SIZE_IF,   HD_OP_CLEAR, HD_OP_ACCUM_OR_ASSIGN };
    uint64_t r = number ^ 0x6766736c, op = test_below(&r, 24);
    hd_case c = hd_case_of("gfsl");
    snprintf(c.op, sizeof c.op, "%s", op < sizeof ops / sizeof *ops ? hd_op_name(ops[op]) : op < 14 ? "mixed" : "mix");
    c.slots = (uint32_t)ONE_OF(&r, 6, 6, 14, 30);
    c.buckets = ONE_OF(&r, 1, 2, 3, 5, 13, 40, 120);
    c.table.gfsl.level_pools = test_below(&r, 2);
    c.table.gfsl.unsorted = test_below(&r, 2);
    c.table.gfsl.far = (hd_gfsl_far)ONE_OF(&r, HD_GFSL_NEAR, HD_GFSL_FAR);
    c.table.gfsl.keys_per_block = (uint32_t)ONE_OF(&r, 0, 0, 1, 7, 100);
    c.batch = 1 + test_below(&r, ONE_OF(&r, 4, 30, 200));
    c.batches = 1 + (4000 + test_below(&r, 4000)) / (c.batch + 20);
    snprintf(c.keys, sizeof c.keys, test_below(&r, 3) ? "uniform:%llu" : "zipf:0.9,%llu",
             (ull)(1 + c.buckets * c.slots * ONE_OF(&r, 1, 2, 3, 8) / 2));
    c.reserved_ppm = (uint32_t)ONE_OF(&r, 0, 10000, 200000);
    c.distinct = test_below(&r, 8) == 0;
    c.duplicate_ppm = (uint32_t)ONE_OF(&r, 0, 100000, 700000);
    c.seed = number;
    c.judge = true;
    return c;
}

static void requests_are_answered(const char *backend, uint64_t cases, uint64_t items)
{
    hd_run_report all = { 0 }, report;
    for (uint64_t k = 0; k < cases; k++) {
        char text[1024];
        hd_case c = draw_case(k);
        snprintf(c.backend, sizeof c.backend, "%s", backend);
        if (strcmp(backend, "host") == 0) snprintf(c.kernel, sizeof c.kernel, "chunk");
        if (c.batches > 1 + items / (c.batch + 20)) c.batches = 1 + items / (c.batch + 20);
        hd_case_print(&c, text, sizeof text);
        test_case("%s", text);
        must(hd_case_run(&c, NULL, NULL, &report));
        check(!report.wrong[0] && report.judged == report.requests, "%s", report.wrong);
        all.judged += report.judged;
        for (int op = 0; op < HD_OP_COUNT_; op++) all.counters.op[op] += report.counters.op[op];
    }
    check(cases < 100 || (all.counters.op[HD_OP_RANGE] && all.counters.op[HD_OP_PREDECESSOR] &&
                          all.counters.op[HD_OP_MAX] && all.counters.op[HD_OP_ERASE_IF]),
          "an operation was not drawn");
    test_tried("differential", all.judged, "items of gfsl on backend %s, judged, of %llu random cases", backend,
               (ull)cases);
}

static void random_requests(void **unused)
{
    (void)unused;
    requests_are_answered("ref", test_times(400), 8000);
    requests_are_answered("host", test_times(200), 700);
}

static void shapes_are_refused(void **unused)
{
    hd_config c = hd_config_of("gfsl");
    hd_table *t;
    (void)unused;
    c.slots = 8;
    must_fail(hd_open(&c, &t), HD_EINVAL, "6, 14 or 30");
    c = hd_config_of("gfsl");
    c.value_bytes = 8;
    must_fail(hd_open(&c, &t), HD_EINVAL, "value_bytes");
    c = hd_config_of("gfsl");
    c.layout = HD_LAYOUT_MASKS;
    must_fail(hd_open(&c, &t), HD_EINVAL, "layout");
    c = hd_config_of("gfsl");
    c.capacity = 1ull << 40;
    must_fail(hd_open(&c, &t), HD_EINVAL, "chunks");
    c = hd_config_of("gfsl");
    c.gfsl.far = HD_GFSL_FAR_DATA;
    must_fail(hd_open(&c, &t), HD_EINVAL, "level_pools");
}

int main(void)
{
    static const struct CMUnitTest tests[] = { unit(keys_come_and_go), unit(as_a_map),          unit(pending),
                                               unit(others_files),     unit(random_requests),   unit(pressed),
                                               unit(invariants),       unit(shapes_are_refused) };
    return test_run(tests);
}
