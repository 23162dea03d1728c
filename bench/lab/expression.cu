/* SPDX-License-Identifier: Apache-2.0
 *
 * expression.cu - what policy expressions cost on a GPU: the rates of a row of the registry, and of expressions that
 * compute the same or like scores, in turn, on full tables. Medians of nine calls each, each with a new batch,
 * in 1e9 items/s by events. With the argument `policies`: other rows, and expressions, beside lru. bench/lab/expr.sh
 * compiles and runs it.
 */
#include <heddle.h>
#include <workload/zipf.h>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>

enum { MOST = 1 << 20, CALLS = 9, WARM = 32, CAPACITY = 16 << 20, VALUE_BYTES = 32 };

/* given: the batches have scores. */
struct pair {
    const char *row, *expression;
    bool given;
};

static const pair pairs[] = {
    { "lru", "expr:on_insert=now;on_hit=now+1000", false },
    { "lru", "expr:on_insert=now>>1;on_hit=(now>>1)+(1<<63);admission=MAX", false },
    { "lfu", "expr:on_insert=1;on_hit=old+1;admission=MAX-1", false },
    { "lfu", "expr:on_insert=given;on_hit=min(old+given,1000000);admission=MAX", false },
    { "epoch_lfu",
      "expr:on_insert=(epoch<<32)+min(given,0xffffffff);on_hit=(epoch<<32)+min(old%0x100000000+given,0xffffffff)",
      false },
    { "custom", "expr:on_insert=max(given,1)", true },
    { "custom", "expr:on_insert=given", true },                      /* recognised: the row's speed */
    { "lru", "expr:on_insert=now;on_hit=(old>>1)+(now>>1)", false }, /* hits neither ignore the old score nor add up */
};

/* Policies whose kernels are compiled apart. */
static const pair policies[] = {
    { "lru", "clock", false },
    { "lru", "sieve", false },
    { "lru", "lru2", false },
    { "lru", "lrfu", false },
    { "lru", "slru", false },
    { "lru", "s3fifo", false },
    { "lru", "arc", false },
    { "lru", "tinylfu", false },
    { "lru", "wtinylfu", false },
    { "lru", "twoq", false },
    { "lru",
      "expr:on_insert=tick<<14|spared<<1;on_hit=old|1;admission=MAX;on_evict=old&1?(tick<<14|spared<<1)+0*given:old",
      false },
};

/* What a batch is made of: keys that are in the table, new ones, or both; keys once each, or as often as traffic has
 * them. */
struct traffic {
    hd_op op;
    double hits; /* EVERYWHERE: a zipf of 0.99 over four times the table's entries says which keys are in it */
    bool distinct;
};
enum { EVERYWHERE = -1 };

static const traffic traffics[] = {
    { HD_OP_INSERT_OR_ASSIGN, 0, true },
    { HD_OP_INSERT_OR_ASSIGN, 0.5, true },
    { HD_OP_INSERT_OR_ASSIGN, 1, true },
    { HD_OP_INSERT_OR_ASSIGN, 0.5, false },
    { HD_OP_FIND_OR_INSERT, 0, true },
    { HD_OP_FIND_OR_INSERT, 0.5, true },
    { HD_OP_FIND_OR_INSERT, 0.5, false },
    { HD_OP_TOUCH, 1, true },
    { HD_OP_TOUCH, 1, false },
    { HD_OP_INSERT_OR_ASSIGN, EVERYWHERE, false },
    { HD_OP_FIND_OR_INSERT, EVERYWHERE, false },
};

struct arrays {
    uint64_t *key, *score;
    char *value, *value_out;
    uint8_t *outcome;
};

/* A table, and what is in it: the last keys that were inserted. */
struct bed {
    hd_table *t;
    hd_rng g;
    std::vector<uint64_t> recent;
};

static bool failed(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, hd_why());
    return false;
}

static uint64_t fresh(hd_rng *g) { return hd_rng_next(g) >> 2; }

static bool bed_open(bed *b, const char *policy, const arrays &a)
{
    hd_config c = hd_config_default();
    c.backend = "cuda";
    c.capacity = CAPACITY;
    c.value_bytes = VALUE_BYTES;
    c.policy = policy;
    b->g = hd_rng_from(1);
    if (hd_open(&c, &b->t)) return failed(policy);
    for (int i = 0; i < 3 * (CAPACITY / MOST); i++) {
        b->recent.resize(MOST);
        for (uint64_t &k : b->recent) k = fresh(&b->g);
        cudaMemcpy(a.key, b->recent.data(), MOST * sizeof *a.key, cudaMemcpyHostToDevice);
        if (hd_upsert(b->t, MOST, a.key, a.value, a.score, a.outcome)) return failed("fill");
    }
    return true;
}

/* The next batch's keys. Repeated ones: a zipf of 0.99 over those that are hit. */
static void draw(bed *b, const traffic &w, uint64_t n, std::vector<uint64_t> *key)
{
    hd_zipf z = hd_zipf_of(0.99, w.hits == EVERYWHERE ? 4ull * CAPACITY : MOST);
    key->resize(n);
    for (uint64_t i = 0; w.hits == EVERYWHERE && i < n; i++)
        (*key)[i] = hd_zipf_rank(&z, &b->g) * 0x9e3779b97f4a7c15u >> 2;
    if (w.hits == EVERYWHERE) return;
    for (uint64_t i = 0; i < n; i++) {
        bool hit = (double)(hd_rng_next(&b->g) >> 11) / (1ull << 53) < w.hits;
        uint64_t at = w.distinct ? i * (MOST / n) : hd_zipf_rank(&z, &b->g) % MOST;
        (*key)[i] = hit ? b->recent[at] : fresh(&b->g);
    }
}

static double rate(bed *s, const pair &p, const traffic &w, uint64_t n, const arrays &a)
{
    float ms;
    cudaEvent_t from, to;
    std::vector<uint64_t> key;
    draw(s, w, n, &key);
    hd_batch b = hd_batch_keyed(w.op, n, a.key, a.value, p.given ? a.score : nullptr, nullptr, nullptr, a.outcome);
    if (w.op != HD_OP_INSERT_OR_ASSIGN) b.value_out = a.value_out;
    if (w.op == HD_OP_TOUCH) b.value = nullptr;
    b.distinct = w.distinct;
    cudaMemcpy(a.key, key.data(), n * sizeof *a.key, cudaMemcpyHostToDevice);
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    cudaEventRecord(from);
    if (hd_run(s->t, &b)) return failed(p.expression), 0;
    cudaEventRecord(to);
    cudaEventSynchronize(to);
    cudaEventElapsedTime(&ms, from, to);
    cudaEventDestroy(from);
    cudaEventDestroy(to);
    return (double)n / (ms * 1e6);
}

static double median(std::vector<double> v)
{
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

static bool measure(const pair &p, const arrays &a, uint64_t least)
{
    bed row, expression;
    hd_info info;
    if (!bed_open(&row, p.row, a) || !bed_open(&expression, p.expression, a)) return false;
    if (hd_table_info(expression.t, &info)) return failed("info");
    for (const traffic &w : traffics)
        for (uint64_t n = least; n <= MOST; n *= 4) {
            if (w.hits == EVERYWHERE && n < MOST) continue;
            for (int i = 0; w.hits == EVERYWHERE && i < WARM; i++)
                if (!rate(&row, p, w, n, a) || !rate(&expression, p, w, n, a)) return false;
            std::vector<double> of_row, of_expression;
            for (int i = 0; i <= CALLS; i++) {
                double x = rate(&row, p, w, n, a), y = rate(&expression, p, w, n, a);
                if (i) of_row.push_back(x), of_expression.push_back(y); /* the first warms up */
                if (x == 0 || y == 0) return false;
            }
            double x = median(of_row), y = median(of_expression);
            printf("%s\t%s\t%s\t%s\t%.1f\t%d\t%llu\t%.3f\t%.3f\t%.3f\n", p.row, p.expression, info.policy_flags,
                   hd_op_name(w.op), w.hits, w.distinct, (unsigned long long)n, x, y, y / x);
            fflush(stdout);
        }
    hd_close(row.t);
    hd_close(expression.t);
    return true;
}

int main(int argc, char **argv)
{
    bool rows = argc > 1 && strcmp(argv[1], "policies") == 0;
    arrays a;
    cudaMalloc(&a.key, MOST * 8);
    cudaMalloc(&a.score, MOST * 8);
    cudaMalloc(&a.value, (size_t)MOST * VALUE_BYTES);
    cudaMalloc(&a.value_out, (size_t)MOST * VALUE_BYTES);
    cudaMalloc(&a.outcome, MOST);
    cudaMemset(a.value, 1, (size_t)MOST * VALUE_BYTES);
    std::vector<uint64_t> ones(MOST, 1);
    cudaMemcpy(a.score, ones.data(), MOST * 8, cudaMemcpyHostToDevice);
    puts("policy\texpression\tflags\toperation\thits\tdistinct\tn\trow_giga_per_s\texpression_giga_per_s\tratio");
    bool good = true;
    for (const pair &p : pairs) good = (rows || measure(p, a, 1 << 16)) && good;
    for (const pair &p : policies) {
        bool named = argc < 3;
        for (int i = 2; i < argc; i++) named = named || strcmp(argv[i], p.expression) == 0;
        good = (!rows || !named || measure(p, a, MOST)) && good;
    }
    return good ? 0 : 1;
}
