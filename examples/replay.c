/* SPDX-License-Identifier: Apache-2.0
 *
 * replay.c - replays a trace against policies and sizes, and prints miss ratios. A trace is a file of keys, one number
 * per line; without an argument it is made here: a hot set that shifts, interrupted by scans.
 *
 *     cc replay.c $(pkg-config --cflags --libs heddle) && ./a.out [trace.txt]
 *
 * `heddle sim` does this for real trace formats; this is how a simulator of your own begins.
 */
#include <heddle.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MADE = 200000, BATCH = 64 };

typedef struct trace {
    uint64_t *key, n, room;
} trace;

static int trace_add(trace *r, uint64_t key)
{
    if (r->n == r->room) {
        uint64_t room = r->room ? 2 * r->room : 4096;
        uint64_t *more = (uint64_t *)realloc(r->key, room * sizeof *more);
        if (!more) return 0;
        r->key = more;
        r->room = room;
    }
    r->key[r->n++] = key;
    return 1;
}

static int trace_read(trace *r, const char *path)
{
    FILE *f = fopen(path, "r");
    uint64_t key;
    int good = f != NULL;
    while (good && fscanf(f, "%" SCNu64, &key) == 1) good = trace_add(r, key);
    if (f) fclose(f);
    return good && r->n > 0;
}

/* Of 16 requests one belongs to a scan over keys that never come back, the others to a hot set of 2,000 keys, which
 * moves on by one key every 100 requests. */
static int trace_make(trace *r)
{
    uint64_t state = 1, scan = (uint64_t)1 << 32;
    int good = 1;
    for (uint64_t i = 0; i < MADE && good; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t a = (state >> 33) % 2000, b = (state >> 13) % 2000;
        good = trace_add(r, i % 16 == 0 ? scan++ : i / 100 + (a < b ? a : b));
    }
    return good;
}

/* Replays the trace: a key that is absent is a miss, and is inserted. The table is a set: value_bytes is 0. */
static hd_status replay(const trace *r, const char *policy, uint64_t capacity, uint64_t *misses)
{
    uint8_t outcome[BATCH];
    hd_config c = hd_config_default();
    hd_table *t;
    c.policy = policy;
    c.capacity = capacity;
    c.value_bytes = 0;
    c.threads = 1;
    hd_status status = hd_open(&c, &t);
    if (status) return status;
    *misses = 0;
    for (uint64_t i = 0; i < r->n && !status; i += BATCH) {
        uint64_t n = r->n - i < BATCH ? r->n - i : BATCH;
        status = hd_find_or_insert(t, n, r->key + i, NULL, NULL, NULL, outcome);
        for (uint64_t k = 0; k < n && !status; k++) *misses += outcome[k] != HD_HIT;
    }
    hd_close(t);
    return status;
}

int main(int argc, char **argv)
{
    static const char *const policies[] = { "lru", "lfu" };
    static const uint64_t capacities[] = { 512, 1024, 2048 };
    trace r = { NULL, 0, 0 };
    if (!(argc > 1 ? trace_read(&r, argv[1]) : trace_make(&r))) return puts("replay: no trace"), 1;
    printf("policy  capacity  requests  miss ratio\n");
    for (int p = 0; p < 2; p++)
        for (int k = 0; k < 3; k++) {
            uint64_t misses;
            if (replay(&r, policies[p], capacities[k], &misses)) return puts(hd_why()), 1;
            printf("%-6s  %8" PRIu64 "  %8" PRIu64 "      %.4f\n", policies[p], capacities[k], r.n,
                   (double)misses / (double)r.n);
        }
    free(r.key);
    return 0;
}
