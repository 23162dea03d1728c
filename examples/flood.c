/* SPDX-License-Identifier: Apache-2.0
 *
 * flood.c - measures what an attacker who chooses the keys can do to a table (doc/security.md). The hash is a public
 * bijection: an attacker who also knows the seed can compute any number of keys of one bucket. The program attacks a
 * table with seed 0, and one whose seed the attacker does not know.
 *
 *     cc -O2 flood.c $(pkg-config --cflags --libs heddle) && ./a.out
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "heddle.h"

enum {
    SLOTS = 128,
    BUCKETS = 4096,
    CAPACITY = SLOTS * BUCKETS,
    VICTIMS = CAPACITY / 2,
    FLOOD = 1 << 18,
    BATCH = 4096,
    ENOUGH = 1 << 15
};

static uint64_t key[FLOOD], value[FLOOD], victim[VICTIMS];
static uint8_t outcome[FLOOD];

static uint64_t random_word(uint64_t *state) /* SplitMix64 */
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* ---- The attacker: from a hash back to the key ----------------------------------------------- */

static uint64_t key_of_hash(uint64_t h)
{
    h ^= h >> 33;
    h *= 0x9cb4b2f8129337dbu; /* the inverses of the hash's two factors */
    h ^= h >> 33;
    h *= 0x4f74430c22a54005u;
    return h ^ h >> 33;
}

typedef enum attack { NONE_KNOWN, ONE_BUCKET, ONE_BUCKET_AND_DIGEST } attack;

/* FLOOD different keys: any; of the bucket `at`; of that bucket, and with one digest. */
static void make_keys(attack a, uint64_t at, uint64_t seed)
{
    uint64_t state = 7;
    for (uint64_t i = 0; i < FLOOD; i++) {
        uint64_t h = random_word(&state);
        if (a != NONE_KNOWN) h = at * (UINT64_MAX / BUCKETS + 1) + h % (UINT64_MAX / BUCKETS + 1);
        /* it is made of their difference */
        if (a == ONE_BUCKET_AND_DIGEST) h = (h & ~(uint64_t)0xffff) | (h >> 32 & 0xffff);
        key[i] = key_of_hash(h) ^ seed;
    }
}

/* ---- The table ------------------------------------------------------------------------------- */

static void stop_on(hd_status s)
{
    if (s == HD_OK) return;
    fprintf(stderr, "flood: %s\n", hd_why());
    exit(4);
}

static hd_table *table_with_victims(uint64_t seed)
{
    hd_config c = hd_config_default();
    hd_table *t;
    uint64_t state = 99;
    c.capacity = CAPACITY;
    c.slots = SLOTS;
    c.seed = seed;
    c.threads = 1;
    stop_on(hd_open(&c, &t));
    for (uint64_t i = 0; i < VICTIMS; i++) victim[i] = random_word(&state);
    for (uint64_t i = 0; i < VICTIMS; i += BATCH)
        stop_on(hd_run(t, &(hd_batch){ .op = HD_OP_INSERT_OR_ASSIGN, .n = BATCH, .key = victim + i, .value = value }));
    return t;
}

static uint64_t hits(hd_table *t, const uint64_t *keys, uint64_t n)
{
    uint64_t found = 0;
    for (uint64_t i = 0; i < n; i += BATCH) {
        uint64_t m = n - i < BATCH ? n - i : BATCH;
        stop_on(hd_run(t, &(hd_batch){ .op = HD_OP_CONTAINS, .n = m, .key = keys + i, .outcome = outcome }));
        for (uint64_t k = 0; k < m; k++) found += outcome[k] == HD_HIT;
    }
    return found;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Brings the flood in; per key, in nanoseconds. */
static double bring_in(hd_table *t)
{
    double start = now();
    for (uint64_t i = 0; i < FLOOD; i += BATCH)
        stop_on(hd_run(t, &(hd_batch){ .op = HD_OP_INSERT_OR_ASSIGN, .n = BATCH, .key = key + i, .value = value }));
    return (now() - start) * 1e9 / FLOOD;
}

static double look_up(hd_table *t)
{
    double start = now();
    hits(t, key, FLOOD);
    return (now() - start) * 1e9 / FLOOD;
}

/* How many of the attacker's keys it takes until a key that was just used is gone; 0: more than ENOUGH. */
static uint64_t keys_to_evict(hd_table *t, uint64_t target)
{
    stop_on(hd_run(t, &(hd_batch){ .op = HD_OP_TOUCH, .n = 1, .key = &target }));
    for (uint64_t i = 0; i < ENOUGH; i++) {
        stop_on(hd_run(t, &(hd_batch){ .op = HD_OP_INSERT_OR_ASSIGN, .n = 1, .key = key + i, .value = value }));
        if (!hits(t, &target, 1)) return i + 1;
    }
    return 0;
}

/* ---- Figures --------------------------------------------------------------------------------- */

static uint64_t bucket_of(uint64_t k, uint64_t seed)
{
    uint64_t h = k ^ seed;
    h ^= h >> 33, h *= 0xff51afd7ed558ccdu, h ^= h >> 33, h *= 0xc4ceb9fe1a85ec53u, h ^= h >> 33;
    return h / (UINT64_MAX / BUCKETS + 1);
}

static int row(const char *what, attack a, uint64_t seed, uint64_t believed)
{
    hd_table *t = table_with_victims(seed);
    uint64_t target = victim[0], kept = hits(t, victim, VICTIMS);
    make_keys(a, bucket_of(target, believed), believed);
    uint64_t needed = keys_to_evict(t, target);
    hd_close(t);
    t = table_with_victims(seed);
    double insert_ns = bring_in(t), find_ns = look_up(t);
    uint64_t lost = kept - hits(t, victim, VICTIMS);
    char count[32] = "over 32768";
    if (needed) snprintf(count, sizeof count, "%" PRIu64, needed);
    printf("%-42s %13s %9" PRIu64 " %9.0f %9.0f\n", what, count, lost, insert_ns, find_ns);
    stop_on(hd_check(t));
    hd_close(t);
    bool known = a != NONE_KNOWN && seed == believed;
    /* as doc/security.md has it */
    return known ? needed == 0 || needed > SLOTS || lost > SLOTS : needed && needed <= SLOTS;
}

int main(void)
{
    uint64_t secret = 0x243f6a8885a308d3u;
    int wrong = 0;
    printf("%d entries, half of them victims; %d keys of an attacker, lru\n\n", CAPACITY, FLOOD);
    printf("%-42s %13s %9s %9s %9s\n", "", "keys to evict", "victims", "ns/key", "ns/key");
    printf("%-42s %13s %9s %9s %9s\n", "the attacker", "a chosen one", "lost", "insert", "find");
    wrong += row("chooses nothing", NONE_KNOWN, 0, 0);
    wrong += row("knows the seed: one bucket", ONE_BUCKET, 0, 0);
    wrong += row("knows the seed: one bucket, one digest", ONE_BUCKET_AND_DIGEST, 0, 0);
    wrong += row("takes a secret seed for 0: one bucket", ONE_BUCKET, secret, 0);
    wrong += row("takes a secret seed for 0: and one digest", ONE_BUCKET_AND_DIGEST, secret, 0);
    return wrong != 0;
}
