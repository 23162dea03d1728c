/* SPDX-License-Identifier: Apache-2.0
 *
 * t_baseline.c - the exact caches of heddle sim (tools/baseline.h): each request's outcome against plain models that
 * search all entries, tables of one bucket, and known figures; full:belady against a search of every possible choice,
 * and never beaten by a table; next accesses against those of a real trace.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/testing.h"
#include "tools/baseline.h"

enum { REQUESTS = 113872, LRU_MISSES = 99411 };
static const char real_trace[] = "cloudPhysicsIO.oracleGeneral.zst";

/* ---- Requests ---------------------------------------------------------------------------------- */

/* The next access of each, by looking for it. */
static void link_plainly(hd_request *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        r[i].next = -1;
        for (size_t k = i + 1; k < n && r[i].next < 0; k++)
            if (r[k].key == r[i].key) r[i].next = (int64_t)k + 1;
    }
}

static void draw(hd_request *r, size_t n, uint64_t keys, uint64_t *random)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t a = test_below(random, keys), b = test_below(random, keys);
        r[i] = (hd_request){ .key = a < b ? a : b, .size = 1 };
    }
    link_plainly(r, n);
}

/* Reads `spec`, with the next accesses that it knows, or else those of baseline_next. */
static hd_request *read_all(const char *spec, size_t most, size_t *n)
{
    hd_source *s;
    hd_request *r = (hd_request *)test_alloc(most, sizeof *r);
    must(hd_source_open_spec(spec, 1, &s));
    must(hd_source_next(s, r, most, n));
    hd_source_close(s);
    return r;
}

static bool never(void) { return false; }

static void take_next(hd_request *r, size_t n, const char *spec)
{
    char text[4200];
    hd_source_args a;
    uint32_t *next;
    uint64_t found;
    must(hd_source_parse(spec, text, sizeof text, &a));
    a.seed = 1;
    must(baseline_next(&a, n, never, &next, &found));
    check(found == n, "%llu next accesses of %zu requests", (ull)found, n);
    for (size_t i = 0; i < n; i++) r[i].next = next[i] ? (int64_t)next[i] : -1;
    free(next);
}

static baseline *open_cache(const char *name, uint64_t capacity, uint64_t seed, bool always)
{
    baseline *b;
    const baseline_row *row = baseline_named(name);
    check(row, "%s is no baseline", name);
    must(baseline_open(&(baseline_config){ .row = row, .capacity = capacity, .seed = seed, .always = always }, &b));
    return b;
}

static uint64_t misses_of(const uint8_t *outcome, size_t n)
{
    uint64_t misses = 0;
    for (size_t i = 0; i < n; i++)
        misses += outcome[i] == HD_INSERTED || outcome[i] == HD_EVICTED || outcome[i] == HD_REFUSED;
    return misses;
}

static uint64_t misses(const char *name, uint64_t capacity, bool always, const hd_request *r, size_t n)
{
    uint8_t *outcome = (uint8_t *)test_alloc(n, 1);
    baseline *b = open_cache(name, capacity, 1, always);
    must(baseline_run(b, r, n, outcome));
    baseline_close(b);
    uint64_t m = misses_of(outcome, n);
    free(outcome);
    return m;
}

/* ---- Plain models -------------------------------------------------------------------------------- */

typedef struct entry {
    uint64_t key, inserted, used, times, next;
    bool referenced;
} entry;

enum { MOST = 16 };

typedef struct plain {
    entry at[MOST]; /* in the order in which slots were taken */
    size_t n, capacity, hand;
} plain;

/* Whether x leaves before y. */
typedef bool earlier(const entry *x, const entry *y);
static bool lru_earlier(const entry *x, const entry *y) { return x->used < y->used; }
static bool fifo_earlier(const entry *x, const entry *y) { return x->inserted < y->inserted; }
static bool lfu_earlier(const entry *x, const entry *y)
{
    return x->times < y->times || (x->times == y->times && x->used < y->used);
}
static bool belady_earlier(const entry *x, const entry *y) { return x->next > y->next; }

static size_t plain_victim(plain *p, earlier *before)
{
    size_t v = 0;
    for (size_t i = 1; before && i < p->n; i++)
        if (before(&p->at[i], &p->at[v])) v = i;
    while (!before) { /* full:clock */
        v = p->hand;
        p->hand = (p->hand + 1) % p->n;
        if (!p->at[v].referenced) break;
        p->at[v].referenced = false;
    }
    return v;
}

static hd_outcome plain_run(plain *p, earlier *before, bool may_refuse, const hd_request *r, uint64_t now)
{
    entry fresh = { r->key, now, now, 1, r->next < 0 ? UINT64_MAX : (uint64_t)r->next, false };
    for (size_t i = 0; i < p->n; i++) {
        entry *e = &p->at[i];
        if (e->key != r->key) continue;
        e->used = now;
        e->times++;
        e->next = fresh.next;
        e->referenced = true;
        return HD_UPDATED;
    }
    if (p->n < p->capacity) {
        p->at[p->n++] = fresh;
        return HD_INSERTED;
    }
    size_t v = plain_victim(p, before);
    if (may_refuse && fresh.next > p->at[v].next) return HD_REFUSED;
    p->at[v] = fresh;
    return HD_EVICTED;
}

static const struct rule {
    const char *name;
    earlier *before;
    bool may_refuse;
} rules[] = { { "full:lru", lru_earlier, false },
              { "full:fifo", fifo_earlier, false },
              { "full:lfu", lfu_earlier, false },
              { "full:clock", NULL, false },
              { "full:belady", belady_earlier, true } };
enum { RULES = sizeof rules / sizeof *rules };

static void plain_models(void)
{
    enum { N = 400 };
    hd_request r[N];
    uint8_t outcome[N];
    uint64_t random = 7, tried = 0, rounds = test_times(2000);
    for (uint64_t round = 0; round < rounds; round++) {
        const struct rule *rule = &rules[round % RULES];
        bool always = round / RULES % 2;
        uint64_t capacity = 1 + test_below(&random, MOST), keys = 1 + test_below(&random, 3 * capacity + 2);
        plain p = { .capacity = (size_t)capacity };
        draw(r, N, keys, &random);
        test_case("%s, capacity %llu, %llu keys, round %llu%s", rule->name, (ull)capacity, (ull)keys, (ull)round,
                  always ? ", always" : "");
        baseline *b = open_cache(rule->name, capacity, round, always);
        size_t first = (size_t)test_below(&random, N); /* two batches */
        must(baseline_run(b, r, first, outcome));
        must(baseline_run(b, r + first, N - first, outcome + first));
        for (size_t i = 0; i < N; i++, tried++) {
            hd_outcome want = plain_run(&p, rule->before, rule->may_refuse && !always, &r[i], i);
            check(outcome[i] == want, "request %zu: %s instead of %s", i, hd_outcome_name((hd_outcome)outcome[i]),
                  hd_outcome_name(want));
        }
        baseline_close(b);
    }
    test_note("%llu requests", (ull)tried);
}

/* ---- Every possible choice ----------------------------------------------------------------------- */

enum { FEW_KEYS = 6, FEW = 14, SETS = 1 << FEW_KEYS };

/* The least misses that any cache can have: over each set of keys that it may hold after each request. */
static uint64_t least_misses(const hd_request *r, size_t n, int capacity, bool may_refuse)
{
    uint64_t now[SETS], then[SETS], least = UINT64_MAX;
    memset(now, 0xff, sizeof now);
    now[0] = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bit = 1u << r[i].key;
        memset(then, 0xff, sizeof then);
        for (uint32_t set = 0; set < SETS; set++) {
            if (now[set] == UINT64_MAX) continue;
            uint64_t cost = now[set] + !(set & bit);
            bool full = __builtin_popcount(set) == capacity;
            if (set & bit || (full && may_refuse)) then[set] = cost < then[set] ? cost : then[set];
            if (set & bit) continue;
            if (!full) then[set | bit] = cost < then[set | bit] ? cost : then[set | bit];
            for (uint32_t k = 0; full && k < FEW_KEYS; k++) {
                uint32_t to = (set & ~(1u << k)) | bit;
                if (set >> k & 1 && cost < then[to]) then[to] = cost;
            }
        }
        memcpy(now, then, sizeof now);
    }
    for (uint32_t set = 0; set < SETS; set++) least = now[set] < least ? now[set] : least;
    return least;
}

static void belady_is_the_least(void)
{
    uint64_t random = 3, rounds = test_times(3000);
    for (uint64_t round = 0; round < rounds; round++) {
        hd_request r[FEW];
        bool always = round % 2;
        int capacity = 1 + (int)test_below(&random, 4);
        draw(r, FEW, FEW_KEYS, &random);
        test_case("round %llu, capacity %d%s", (ull)round, capacity, always ? ", always" : "");
        uint64_t want = least_misses(r, FEW, capacity, !always),
                 got = misses("full:belady", (uint64_t)capacity, always, r, FEW);
        check(got == want, "%llu misses, the least are %llu", (ull)got, (ull)want);
    }
}

/* ---- Beside tables ------------------------------------------------------------------------------- */

/* The outcomes of one insert_or_assign per request, in order. */
static void table_run(const hd_config *c, const hd_request *r, size_t n, uint8_t *outcome)
{
    hd_table *t;
    uint64_t *key = (uint64_t *)test_alloc(n, sizeof *key), *score = (uint64_t *)test_alloc(n, sizeof *score);
    for (size_t i = 0; i < n; i++) {
        key[i] = r[i].key;
        score[i] = r[i].next < 0 ? 0 : UINT64_MAX - (uint64_t)r[i].next;
    }
    must(hd_open(c, &t));
    hd_batch b = test_batch(HD_OP_INSERT_OR_ASSIGN, n, key, NULL, outcome);
    if (strcmp(c->policy, "custom") == 0) b.score = score;
    must(hd_run(t, &b));
    hd_close(t);
    free(key);
    free(score);
}

static hd_config config_of(const char *policy, uint64_t buckets, uint32_t slots)
{
    hd_config c = test_usual(.policy = policy, .capacity = buckets * slots, .slots = slots, .threads = 1);
    return c;
}

/* A table of one bucket is the exact cache, request by request. (lfu breaks ties in another way.) */
static void one_bucket(void)
{
    static const char *const pairs[][2] = { { "lru", "full:lru" },
                                            { "fifo", "full:fifo" },
                                            { "custom", "full:belady" } };
    enum { N = 20000 };
    uint8_t *of_table = (uint8_t *)test_alloc(N, 1), *of_cache = (uint8_t *)test_alloc(N, 1);
    for (size_t k = 0; k < 3; k++)
        for (uint32_t slots = 2; slots <= 512; slots *= 4) {
            size_t n;
            hd_request *r = read_all("zipf:0.8,2000", N, &n);
            take_next(r, n, "zipf:0.8,2000");
            test_case("%s, %u slots", pairs[k][0], slots);
            hd_config c = config_of(pairs[k][0], 1, slots);
            table_run(&c, r, n, of_table);
            baseline *b = open_cache(pairs[k][1], slots, 1, false);
            must(baseline_run(b, r, n, of_cache));
            baseline_close(b);
            for (size_t i = 0; i < n; i++)
                check(of_table[i] == of_cache[i], "request %zu: %s, and by the cache %s", i,
                      hd_outcome_name((hd_outcome)of_table[i]), hd_outcome_name((hd_outcome)of_cache[i]));
            free(r);
        }
    free(of_table);
    free(of_cache);
}

static void never_beaten(void)
{
    static const char *const specs[] = { "zipf:0.9,3000", "uniform:1500", "zipf:0.5,800" };
    enum { N = 30000 };
    uint8_t *outcome = (uint8_t *)test_alloc(N, 1);
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        size_t n;
        hd_request *r = read_all(specs[s], N, &n);
        take_next(r, n, specs[s]);
        uint64_t least = misses("full:belady", 512, false, r, n), lists = 0;
        const baseline_row *row;
        for (size_t i = 0; (row = baseline_at(i)); i++)
            check(misses(row->name, 512, false, r, n) >= least, "%s: %s beats full:belady", specs[s], row->name);
        hd_row policy;
        for (size_t i = 0; hd_list(HD_POLICIES, i / 4, &policy); i++, lists++) {
            if (strcmp(policy.name, "none") == 0) continue;
            hd_config c = config_of(policy.name, 8, 64);
            c.hkv.dual = i % 2;
            c.hkv.admit = i / 2 % 2 ? HD_ADMIT_ALWAYS : HD_ADMIT_SCORE;
            test_case("%s, %s%s, admit %d", specs[s], policy.name, i % 2 ? ", dual" : "", (int)c.hkv.admit);
            table_run(&c, r, n, outcome);
            check(misses_of(outcome, n) >= least, "%llu misses, full:belady has %llu", (ull)misses_of(outcome, n),
                  (ull)least);
        }
        check(lists >= 4, "there are no policies");
        free(r);
    }
    free(outcome);
}

/* ---- Known figures ------------------------------------------------------------------------------- */

/* libCacheSim 0.3.5 has the same. */
static const struct figure {
    const char *name;
    uint64_t capacity, misses;
} known[] = {
    { "full:lfu", 490, 96757 },   { "full:lfu", 4896, 90047 },   { "full:fifo", 490, 96515 },
    { "full:fifo", 4896, 91716 }, { "full:clock", 490, 95329 },  { "full:clock", 4896, 91602 },
    { "full:sieve", 490, 94415 }, { "full:sieve", 4896, 90047 }, { "full:2q", 490, 94572 },
    { "full:2q", 4896, 88162 },   { "full:arc", 490, 94228 },    { "full:arc", 4896, 88004 },
};
enum { KNOWN = sizeof known / sizeof *known };

static void known_figures(void)
{
    char spec[4200];
    snprintf(spec, sizeof spec, "oracleGeneral:%s", test_data(real_trace));
    size_t n;
    hd_request *r = read_all(spec, REQUESTS, &n), *own = (hd_request *)test_alloc(REQUESTS, sizeof *own);
    check(n == REQUESTS, "%zu requests", n);
    uint64_t lru = misses("full:lru", 128, false, r, n), optimum = misses("full:belady", 128, false, r, n);
    check(lru == LRU_MISSES, "full:lru misses %llu times", (ull)lru);
    memcpy(own, r, n * sizeof *own);
    take_next(own, n, spec);
    for (size_t i = 0; i < n; i++)
        check(own[i].next == r[i].next, "request %zu: next %lld, the trace says %lld", i, (long long)own[i].next,
              (long long)r[i].next);
    check(optimum < lru, "the optimum misses %llu times", (ull)optimum);
    for (size_t i = 0; i < KNOWN; i++) {
        uint64_t m = misses(known[i].name, known[i].capacity, false, r, n);
        check(m == known[i].misses, "%s misses %llu times", known[i].name, (ull)m);
    }
    free(r);
    free(own);
}

/* With uniform keys a cache that evicts at random hits capacity / keys of the requests. Five standard deviations. */
static void random_is_random(void)
{
    enum { N = 200000, KEYS = 1000, CAPACITY = 300 };
    size_t n;
    hd_request *r = read_all("uniform:1000", N, &n);
    uint8_t *outcome = (uint8_t *)test_alloc(N, 1), *other = (uint8_t *)test_alloc(N, 1);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        baseline *b = open_cache("full:random", CAPACITY, seed, false);
        must(baseline_run(b, r, n, outcome));
        baseline_close(b);
        double hits = (double)(n - misses_of(outcome, n)), share = (double)CAPACITY / KEYS, want = share * (double)n,
               away = hits - want;
        check(away * away < 25 * want * (1 - share) + 1e6, "seed %llu: %.0f hits, not %.0f", (ull)seed, hits, want);
        if (seed > 1) check(memcmp(outcome, other, n) != 0, "seed %llu: as the one before it", (ull)seed);
        memcpy(other, outcome, n);
    }
    free(r);
    free(outcome);
    free(other);
}

/* ---- What a trace says --------------------------------------------------------------------------- */

static hd_status run_these(const hd_request *r, size_t n, uint8_t *outcome)
{
    baseline *b = open_cache("full:belady", 4, 1, false);
    hd_status s = baseline_run(b, r, n, outcome);
    baseline_close(b);
    return s;
}

/* Next accesses that are wrong are found at the hit; those of a trace that was cut are larger, all by the same. */
static void wrong_next_accesses(void)
{
    hd_request r[] = {
        { .key = 1, .next = 3 }, { .key = 2, .next = 4 }, { .key = 1, .next = -1 }, { .key = 2, .next = -1 }
    };
    uint8_t outcome[4];
    must(run_these(r, 4, outcome));
    for (size_t i = 0; i < 2; i++) r[i].next += 1000;
    must(run_these(r, 4, outcome));
    check(outcome[2] == HD_UPDATED && outcome[3] == HD_UPDATED, "a cut trace has other hits");
    r[1].next++;
    must_fail(run_these(r, 4, outcome), HD_ECORRUPT, "request 4");
    r[1].next = -1;
    must_fail(run_these(r, 4, outcome), HD_ECORRUPT, "request 4");
}

/* Keys that no table holds take no entry. */
static void reserved_keys(void)
{
    hd_request r[8];
    uint8_t outcome[8];
    for (size_t i = 0; i < 8; i++) r[i] = (hd_request){ .key = i % 4 == 3 ? 5 : UINT64_MAX - i % 4 };
    link_plainly(r, 8);
    const baseline_row *row;
    for (size_t k = 0; (row = baseline_at(k)); k++) {
        test_case("%s", row->name);
        baseline *b = open_cache(row->name, 2, 1, false);
        must(baseline_run(b, r, 8, outcome));
        baseline_close(b);
        for (size_t i = 0; i < 8; i++) {
            hd_outcome want = i % 4 != 3 ? HD_RESERVED : i == 3 ? HD_INSERTED : HD_UPDATED;
            check(outcome[i] == want, "request %zu: %s", i, hd_outcome_name((hd_outcome)outcome[i]));
        }
    }
}

static bool at_once(void) { return true; }

static void stopped(void)
{
    char text[64];
    hd_source_args a;
    uint32_t *next;
    uint64_t n;
    must(hd_source_parse("uniform:10", text, sizeof text, &a));
    must_fail(baseline_next(&a, 1000000, at_once, &next, &n), HD_EIO, "interrupted");
    check(!next, "there are next accesses");
}

int main(void)
{
    static const struct CMUnitTest baselines[] = {
        unit(plain_models),     unit(belady_is_the_least), unit(one_bucket),    unit(never_beaten), unit(known_figures),
        unit(random_is_random), unit(wrong_next_accesses), unit(reserved_keys), unit(stopped)
    };
    return test_run(baselines);
}
