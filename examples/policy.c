/* SPDX-License-Identifier: Apache-2.0
 *
 * policy.c - an eviction policy of your own, in two ways.
 *
 * In the application: with policy `custom` a table keeps the scores that it is given, and evicts the least. Here that
 * makes GreedyDual (Young 1994) for keys that cost more or less to fetch: a key's score is its cost plus L, and L is
 * the score of the last entry that was evicted. The program compares it with lru by the cost of all misses.
 *
 * In the library: a policy is one header in policies/ and one line in policies/registry.inc; doc/extending.md builds
 * one, `twice`. It runs everywhere, kernels included, and is judged by the tests. Give its name to this program:
 *
 *     cc policy.c $(pkg-config --cflags --libs heddle) && ./a.out [POLICY]...
 */
#include <heddle.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { REQUESTS = 50000, KEYS = 4000, CAPACITY = 512, DEAR = 100 };

/* Every eighth key is dear: to fetch it costs 100; the others cost 1. */
static uint64_t cost_of(uint64_t key) { return key % 8 == 0 ? DEAR : 1; }

/* A skewed workload: the product of two uniform numbers prefers small keys. */
static uint64_t draw_key(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t a = (*state >> 33) % KEYS, b = (*state >> 13) % KEYS;
    return a * b / KEYS;
}

/* One request at a time: the score of the next one depends on what this one evicted. */
static hd_status run_greedy_dual(hd_table *t, uint64_t *cost)
{
    uint64_t state = 1, least = 0;
    for (int i = 0; i < REQUESTS; i++) {
        uint64_t key = draw_key(&state), score = least + cost_of(key), left_score, left;
        uint8_t outcome;
        hd_status status = hd_insert_and_evict(t, 1, &key, NULL, &score, &outcome, NULL, NULL, &left_score, &left);
        if (status) return status;
        if (outcome != HD_UPDATED) *cost += cost_of(key);
        if (outcome == HD_EVICTED) least = left_score;
    }
    return HD_OK;
}

static hd_status run_by_name(hd_table *t, uint64_t *cost)
{
    uint64_t state = 1;
    for (int i = 0; i < REQUESTS; i++) {
        uint64_t key = draw_key(&state);
        uint8_t outcome;
        hd_status status = hd_upsert(t, 1, &key, NULL, NULL, &outcome);
        if (status) return status;
        if (outcome != HD_UPDATED) *cost += cost_of(key);
    }
    return HD_OK;
}

/* Runs the workload under a policy of the library; `custom` is GreedyDual here. */
static hd_status run_policy(const char *policy, uint64_t *cost)
{
    hd_config c = hd_config_default();
    hd_table *t;
    c.policy = policy;
    c.capacity = c.slots = CAPACITY; /* one bucket: eviction looks at every entry */
    c.value_bytes = 0;
    c.threads = 1;
    *cost = 0;
    hd_status status = hd_open(&c, &t);
    if (status) return status;
    status = strcmp(policy, "custom") == 0 ? run_greedy_dual(t, cost) : run_by_name(t, cost);
    hd_close(t);
    return status;
}

int main(int argc, char **argv)
{
    uint64_t lru, own, cost;
    if (run_policy("lru", &lru) || run_policy("custom", &own)) return puts(hd_why()), 1;
    printf("policy      cost of all misses\n");
    printf("%-10s  %18" PRIu64 "\n", "lru", lru);
    printf("%-10s  %18" PRIu64 "\n", "GreedyDual", own);
    for (int i = 1; i < argc; i++) {
        if (run_policy(argv[i], &cost)) return puts(hd_why()), 1;
        printf("%-10s  %18" PRIu64 "\n", argv[i], cost);
    }
    return own < lru ? 0 : 1;
}
