/* SPDX-License-Identifier: Apache-2.0
 *
 * t_lru.c - one bucket of n slots under policy lru is an LRU list of n entries: same outcomes and same victims, request
 * by request, for every n. The test has its own textbook list.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/testing.h"

/* ---- A plain LRU list: a chain from newest to oldest, and a hash map into it ----------------- */

enum { NIL = -1 };

typedef struct node {
    uint64_t key;
    int newer, older, next; /* next: in its map chain */
} node;

typedef struct lru {
    node *at;   /* (most) */
    int *chain; /* (chains) heads */
    int most, used, newest, oldest, chains;
} lru;

static void lru_open(lru *l, int most)
{
    l->most = most;
    l->used = 0;
    l->newest = l->oldest = NIL;
    l->chains = 4 * most + 1;
    l->at = (node *)test_alloc((uint64_t)most, sizeof *l->at);
    l->chain = (int *)test_alloc((uint64_t)l->chains, sizeof *l->chain);
    for (int i = 0; i < l->chains; i++) l->chain[i] = NIL;
}

static void lru_close(lru *l)
{
    free(l->at);
    free(l->chain);
}

static int *chain_of(lru *l, uint64_t key)
{
    return &l->chain[(key * 0x9e3779b97f4a7c15u >> 20) % (uint64_t)l->chains];
}

static void unlink_node(lru *l, int i)
{
    node *n = &l->at[i];
    *(n->newer == NIL ? &l->newest : &l->at[n->newer].older) = n->older;
    *(n->older == NIL ? &l->oldest : &l->at[n->older].newer) = n->newer;
}

static void link_newest(lru *l, int i)
{
    l->at[i].newer = NIL;
    l->at[i].older = l->newest;
    *(l->newest == NIL ? &l->oldest : &l->at[l->newest].newer) = i;
    l->newest = i;
}

/* Uses a key; returns the outcome that an upsert must have, and the key that it must evict. */
static hd_outcome lru_use(lru *l, uint64_t key, uint64_t *victim)
{
    int i = *chain_of(l, key);
    while (i != NIL && l->at[i].key != key) i = l->at[i].next;
    if (i != NIL) {
        unlink_node(l, i);
        link_newest(l, i);
        return HD_UPDATED;
    }
    hd_outcome fate = HD_INSERTED;
    if (l->used < l->most) {
        i = l->used++;
    } else {
        fate = HD_EVICTED;
        i = l->oldest;
        *victim = l->at[i].key;
        int *at = chain_of(l, *victim);
        while (*at != i) at = &l->at[*at].next;
        *at = l->at[i].next;
        unlink_node(l, i);
    }
    l->at[i].key = key;
    l->at[i].next = *chain_of(l, key);
    *chain_of(l, key) = i;
    link_newest(l, i);
    return fate;
}

/* ---- Side by side ---------------------------------------------------------------------------- */

enum { BATCH = 1000 };

/* Returns the misses. */
static uint64_t compare(const char *what, const uint64_t *key, uint64_t n, uint32_t slots)
{
    lru list;
    test_case("hkv.insert_and_evict policy=lru buckets=1 slots=%u keys=%s", slots, what);
    hd_table *t =
        test_table(.backend = test_backend("ref"), .capacity = slots, .slots = slots, .value_bytes = 8, .threads = 1);
    lru_open(&list, (int)slots);

    uint8_t fate[BATCH];
    uint64_t gone[BATCH], gone_value[BATCH], gone_score[BATCH], gone_item[BATCH], count, misses = 0;
    for (uint64_t from = 0; from < n; from += BATCH) {
        uint64_t some = n - from < BATCH ? n - from : BATCH, listed = 0;
        hd_batch b = test_batch(HD_OP_INSERT_AND_EVICT, some, key + from, key + from, fate);
        test_lists(&b, gone, gone_value, gone_score, gone_item, &count);
        must(test_in_order(t, &b));
        for (uint64_t i = 0; i < some; i++) {
            uint64_t victim = 0;
            hd_outcome want = lru_use(&list, key[from + i], &victim);
            misses += want != HD_UPDATED;
            check(fate[i] == want, "request %llu: the list says %s, the table %s", (ull)(from + i),
                  hd_outcome_name(want), hd_outcome_name((hd_outcome)fate[i]));
            if (want != HD_EVICTED) continue;
            check(listed < count && gone_item[listed] == i, "request %llu: its victim is not in the list",
                  (ull)(from + i));
            check(gone[listed] == victim && gone_value[listed] == victim,
                  "request %llu: the list puts out %llu, the table %llu", (ull)(from + i), (ull)victim,
                  (ull)gone[listed]);
            listed++;
        }
        check(listed == count, "%llu victims listed, %llu left", (ull)count, (ull)listed);
    }

    /* what stayed is what the list holds, and the clock orders it as the list does */
    uint64_t size;
    must(hd_size_sync(t, &size));
    check(size == (uint64_t)list.used, "size %llu, the list holds %d", (ull)size, list.used);
    uint64_t last = UINT64_MAX;
    for (int i = list.newest; i != NIL; i = list.at[i].older) {
        uint64_t score;
        hd_batch b = { .op = HD_OP_FIND, .n = 1, .key = &list.at[i].key, .score_out = &score, .outcome = fate };
        must(hd_run(t, &b));
        check(fate[0] == HD_HIT && score < last, "key %llu is gone or out of order", (ull)list.at[i].key);
        last = score;
    }
    lru_close(&list);
    hd_close(t);
    return misses;
}

static void every_n(const char *what, const uint64_t *key, uint64_t all)
{
    uint64_t n = test_some(all);
    static const uint32_t spread[] = { 2,   3,   4,   7,   8,   15,   31,   32,   33,  100,
                                       127, 128, 129, 255, 500, 1000, 1023, 1024, 4096 };
    if (test_scale() >= 10) {
        for (uint32_t slots = HD_SLOTS_MIN; slots <= 1024; slots++) compare(what, key, n, slots);
        compare(what, key, n, HD_SLOTS_MAX);
        test_note("%s: %llu requests, every n from 2 to 1024, and %u", what, (ull)n, HD_SLOTS_MAX);
        return;
    }
    for (size_t i = 0; i < sizeof spread / sizeof spread[0]; i++) compare(what, key, n, spread[i]);
    test_note("%s: %llu requests, %zu values of n", what, (ull)n, sizeof spread / sizeof spread[0]);
}

static uint64_t *trace_keys(uint64_t *n)
{
    char spec[4200] = "oracleGeneral:";
    strcat(spec, test_data("cloudPhysicsIO.oracleGeneral.zst"));
    return test_keys(spec, 1, UINT64_MAX, n);
}

static void a_trace(void)
{
    uint64_t n, *key = trace_keys(&n);
    every_n("cloudPhysicsIO", key, n);
    free(key);
}

/* doc/contract-hkv.md: every correct LRU of 128 objects has the same number of misses. */
static void a_trace_at_128(void)
{
    uint64_t n, *key = trace_keys(&n), misses = compare("cloudPhysicsIO", key, n, 128);
    test_note("cloudPhysicsIO, lru 128: %llu misses of %llu", (ull)misses, (ull)n);
    check(n == 113872 && misses == 99411, "%llu misses of %llu", (ull)misses, (ull)n);
    free(key);
}

static void generated(const char *spec, uint64_t seed)
{
    uint64_t n, *key = test_keys(spec, seed, 40000, &n);
    every_n(spec, key, n);
    free(key);
}

static void made_traces(void)
{
    static const char *const specs[] = { "zipf:1.2,100000", "zipf:0.99,20000", "zipf:0.4,1500", "uniform:130" };
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) generated(specs[i], i + 1);
}

static const struct CMUnitTest tests[] = { unit(a_trace_at_128), unit(a_trace), unit(made_traces) };

int main(void) { return test_run(tests); }
