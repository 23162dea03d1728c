/* SPDX-License-Identifier: Apache-2.0
 *
 * t_gfsl.c - the reference of the skip list gfsl: how many entries chunks have after merges, by insertions and removals
 * in several orders; and a list that is pressed together.
 */
#include <string.h>

#include "lib/table.h"
#include "gfsl/ref/gfsl.h"
#include "tests/testing.h"

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

int main(void)
{
    static const struct CMUnitTest tests[] = { unit(keys_come_and_go), unit(pressed) };
    return test_run(tests);
}
