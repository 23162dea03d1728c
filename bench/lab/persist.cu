/* SPDX-License-Identifier: Apache-2.0
 *
 * persist.cu - gphash tables with a file on a GPU: rates of batches that are durable when the call returns, recovery of
 * a file that no one closed, and the disk's own rate. Wall clock, arrays on the device. persist.sh has the command.
 */
#include <cuda_runtime.h>
#include <fcntl.h>
#include <heddle.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define MUST(call)                                                                   \
    do {                                                                             \
        if ((call) != HD_OK) fprintf(stderr, "%s: %s\n", #call, hd_why()), _exit(1); \
    } while (0)

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

__host__ __device__ static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Keys number [first, first + n) of a sequence without repetitions; or n random ones of the first `of`. Values: the
 * word key + turn, as often as it fits. */
__global__ static void fill(uint64_t *key, uint64_t *value, uint64_t words, uint64_t n, uint64_t first, uint64_t of,
                            uint64_t turn)
{
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        uint64_t k = of ? mixed(turn << 40 ^ i) % of : first + i;
        key[i] = mixed(k) & ~(1ull << 63);
        for (uint64_t w = 0; w < words; w++) value[i * words + w] = key[i] + turn;
    }
}
/* Keys by Zipf's law, number 0 most often, in the way of YCSB (Gray et al., SIGMOD '94). */
struct zipf {
    double n, theta, alpha, zeta, eta;
    zipf(uint64_t keys, double skew) : n((double)keys), theta(skew), alpha(1 / (1 - skew)), zeta(0)
    {
        for (uint64_t k = 1; k <= keys; k++) zeta += pow((double)k, -theta);
        eta = (1 - pow(2 / n, 1 - theta)) / (1 - (1 + pow(0.5, theta)) / zeta);
    }
};
__global__ static void fill_zipf(uint64_t *key, uint64_t *value, uint64_t words, uint64_t n, zipf z, uint64_t turn)
{
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        double u = (double)(mixed(turn << 40 ^ i) >> 11) / 9007199254740992.0, at = u * z.zeta;
        uint64_t k = at < 1                       ? 0
                     : at < 1 + pow(0.5, z.theta) ? 1
                                                  : (uint64_t)(z.n * pow(z.eta * u - z.eta + 1, z.alpha));
        if (k >= z.n) k = (uint64_t)z.n - 1;
        key[i] = mixed(k) & ~(1ull << 63);
        for (uint64_t w = 0; w < words; w++) value[i * words + w] = key[i] + turn;
    }
}
__global__ static void judge(const uint64_t *key, const uint64_t *value, uint64_t words, uint64_t n,
                             const uint8_t *outcome, uint64_t turns, unsigned long long *wrong)
{
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        bool good = outcome[i] == HD_HIT && value[i * words] - key[i] < turns;
        for (uint64_t w = 1; w < words; w++) good = good && value[i * words + w] == value[i * words];
        if (!good) atomicAdd(wrong, 1);
    }
}

struct plan {
    const char *file;
    uint64_t keys, batch, words;
    hd_index index;
    hd_durable durable;
    double cached; /* share of the values, or buckets, that have copies */
};

struct arrays {
    uint64_t *key, *value, *value_out;
    uint8_t *outcome;
    unsigned long long *wrong;
    explicit arrays(const plan &p)
    {
        cudaMalloc(&key, p.batch * 8);
        cudaMalloc(&value, p.batch * 8 * p.words);
        cudaMalloc(&value_out, p.batch * 8 * p.words);
        cudaMalloc(&outcome, p.batch);
        cudaMallocManaged(&wrong, 8);
        *wrong = 0;
    }
};

static hd_config config_of(const plan &p, const char *backend)
{
    hd_config c = hd_config_of("gphash");
    c.backend = backend;
    c.capacity = p.keys + p.keys / 2;
    c.value_bytes = (uint32_t)(8 * p.words);
    c.file = strcmp(p.file, "-") ? p.file : NULL;
    c.durable = p.durable;
    c.gphash.index = p.index; /* "ref" does not read it */
    if (p.cached == 0) return c;
    c.gphash.cache = p.index == HD_INDEX_FAR ? HD_CACHE_BUCKETS : HD_CACHE_VALUES;
    c.gphash.cached = (uint64_t)((double)(p.index == HD_INDEX_FAR ? c.capacity / 8 : p.keys) * p.cached);
    return c;
}

static hd_table *open_table(const plan &p)
{
    hd_config c = config_of(p, "cuda");
    hd_table *t;
    MUST(hd_open(&c, &t));
    return t;
}

/* One batch of the operation, of the keys that are there; seconds. */
static double run_filled(hd_table *t, const arrays &a, hd_op op, uint64_t n)
{
    hd_batch b;
    memset(&b, 0, sizeof b);
    cudaDeviceSynchronize();
    b.op = op;
    b.n = n;
    b.key = a.key;
    b.outcome = a.outcome;
    if (op == HD_OP_FIND)
        b.value_out = a.value_out;
    else if (op != HD_OP_ERASE)
        b.value = a.value;
    double began = now();
    MUST(hd_run(t, &b));
    cudaDeviceSynchronize();
    return now() - began;
}

static double run(hd_table *t, const plan &p, const arrays &a, hd_op op, uint64_t first, uint64_t of, uint64_t turn)
{
    fill<<<1024, 256>>>(a.key, a.value, p.words, p.batch, first, of, turn);
    return run_filled(t, a, op, p.batch);
}

static void tell(const plan &p, const char *what, std::vector<double> s)
{
    static const char *const index[] = { "usual", "device", "far", "near" }, *const mode[] = { "none", "process",
                                                                                               "line", "disk" };
    std::sort(s.begin(), s.end());
    double n = (double)p.batch / 1e9, usual = s[s.size() / 2], sum = 0;
    for (double one : s) sum += one;
    if (p.durable == HD_DURABLE_DISK) usual = sum / (double)s.size(); /* some batches have a checkpoint */
    printf("%s\t%s\t%s\t%llu\t%llu\t%llu\t%.4f\t%.4f\t%.4f\n", what, mode[p.durable], index[p.index],
           (unsigned long long)p.words * 8, (unsigned long long)p.keys, (unsigned long long)p.batch, n / usual,
           n / s.back(), n / s[0]);
    fflush(stdout);
}

static void find_all(hd_table *t, const plan &p, const arrays &a, uint64_t turns)
{
    for (uint64_t at = 0; at < p.keys; at += p.batch) {
        run(t, p, a, HD_OP_FIND, at, 0, 0);
        judge<<<1024, 256>>>(a.key, a.value_out, p.words, p.batch, a.outcome, turns, a.wrong);
    }
    cudaDeviceSynchronize();
    if (*a.wrong) printf("# WRONG: %llu of %llu keys\n", *a.wrong, (unsigned long long)p.keys);
}

/* All points of a table; it is not closed. Rates are those of the median batch; in mode disk, of all together. */
static void points(const plan &p, uint64_t rounds)
{
    hd_table *t = open_table(p);
    arrays a(p);
    std::vector<double> s;
    run(t, p, a, HD_OP_INSERT_OR_ASSIGN, 0, 0, 0); /* the first batch loads kernels */
    for (uint64_t at = p.batch; at < p.keys; at += p.batch) s.push_back(run(t, p, a, HD_OP_INSERT_OR_ASSIGN, at, 0, 0));
    tell(p, "insert_or_assign, new keys", s), s.clear();
    if (p.durable != HD_DURABLE_DISK) {
        for (uint64_t k = 1; k <= rounds; k++) s.push_back(run(t, p, a, HD_OP_FIND, 0, p.keys, k));
        tell(p, "find, hits", s), s.clear();
        for (uint64_t k = 1; k <= rounds; k++) s.push_back(run(t, p, a, HD_OP_FIND, 2 * p.keys + k * p.batch, 0, 0));
        tell(p, "find, misses", s), s.clear();
    }
    for (uint64_t k = 0; k < p.keys / p.batch; k++) /* no cell is taken for the first time any more */
        run(t, p, a, HD_OP_ASSIGN, 0, p.keys, k % rounds + 1);
    for (uint64_t k = 1; k <= rounds; k++) s.push_back(run(t, p, a, HD_OP_ASSIGN, 0, p.keys, k));
    tell(p, "assign, hits", s), s.clear();
    for (uint64_t k = 1; k <= rounds; k++) s.push_back(run(t, p, a, HD_OP_INSERT_OR_ASSIGN, 0, p.keys, k));
    tell(p, "insert_or_assign, hits", s), s.clear();
    find_all(t, p, a, rounds + 1);
    if (p.durable == HD_DURABLE_PROCESS) {
        for (uint64_t k = 0; k < 4; k++) s.push_back(run(t, p, a, HD_OP_ERASE, k * p.batch, 0, 0));
        tell(p, "erase", s), s.clear();
        for (uint64_t k = 0; k < 4; k++) run(t, p, a, HD_OP_INSERT_OR_ASSIGN, k * p.batch, 0, 0);
    }
}

/* Skewed batches of lookups (YCSB C), after one load of the cache; then of as many updates (YCSB A: half of each). */
static void cached_points(const plan &p, const zipf &z, uint64_t rounds)
{
    enum { BEFORE = 512 };
    hd_table *t = open_table(p);
    arrays a(p);
    hd_info info;
    hd_batch b;
    std::vector<double> s;
    uint64_t turn = 1, came = 0;
    auto batch = [&](hd_op op) {
        fill_zipf<<<1024, 256>>>(a.key, a.value, p.words, p.batch, z, turn++);
        double seconds = run_filled(t, a, op, p.batch);
        if (op == HD_OP_FIND) judge<<<1024, 256>>>(a.key, a.value_out, p.words, p.batch, a.outcome, turn, a.wrong);
        return seconds;
    };
    for (uint64_t at = 0; at < p.keys; at += p.batch) run(t, p, a, HD_OP_INSERT_OR_ASSIGN, at, 0, 0);
    for (int k = 0; k < BEFORE && p.cached > 0; k++) batch(HD_OP_FIND);
    MUST(hd_table_info(t, &info));
    memset(&b, 0, sizeof b);
    b.op = HD_OP_PROMOTE, b.n = info.places, b.count = &came;
    double began = now();
    if (p.cached > 0) MUST(hd_run(t, &b));
    double seconds = now() - began;
    for (hd_op op : { HD_OP_FIND, HD_OP_ASSIGN }) {
        char name[96];
        for (uint64_t k = 0; k < rounds; k++) s.push_back(batch(op));
        snprintf(name, sizeof name, "%s, cached %.2f", op == HD_OP_FIND ? "YCSB C" : "its keys, updated", p.cached);
        tell(p, name, s), s.clear();
    }
    batch(HD_OP_FIND);
    if (p.cached > 0) printf("# promotion of %llu took %.4f s\n", (unsigned long long)came, seconds);
    cudaDeviceSynchronize();
    if (*a.wrong) printf("# WRONG: %llu lookups\n", *a.wrong);
    fflush(stdout);
}

/* What a process left that ended without closing the table. */
static void recover(const plan &p, uint64_t rounds)
{
    hd_info info;
    double began = now();
    hd_table *t = open_table(p);
    double open = now() - began;
    arrays a(p);
    MUST(hd_table_info(t, &info));
    double seconds = (double)info.image.recovered.ns / 1e9, map = (double)info.image.recovered.map_ns / 1e9;
    printf("# recovery\t%s\tplaces %llu\tclean %d\tcleared %llu\topen %.3f s\tof it recovery %.3f s, of it mapping "
           "%.3f s\t%.2f GB/s of slots besides\n",
           p.file, (unsigned long long)info.places, (int)info.image.recovered.was_clean,
           (unsigned long long)info.image.recovered.cleared, open, seconds, map,
           (double)info.places * 16 / (seconds - map) / 1e9);
    find_all(t, p, a, rounds + 1);
    hd_close(t);
}

/* Sequential writes, each of a batch's bytes and followed by a sync: what the disk itself can. */
static void disk_rate(const plan &p)
{
    enum { WRITES = 24 };
    double seconds = 0;
    size_t bytes = (size_t)(p.batch * (16 + 8 * p.words)) / 4096 * 4096;
    void *memory = NULL;
    if (posix_memalign(&memory, 4096, bytes)) _exit(1);
    memset(memory, 0x5a, bytes);
    int fd = open(p.file, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    for (int i = 0; i < WRITES; i++) {
        double began = now();
        for (size_t at = 0; at < bytes;) {
            ssize_t n = write(fd, (char *)memory + at, bytes - at);
            if (n <= 0) _exit(1);
            at += (size_t)n;
        }
        fdatasync(fd);
        seconds += (now() - began) / WRITES;
    }
    close(fd);
    unlink(p.file);
    free(memory);
    printf("# the disk alone: %.2f GB/s by writes of %zu bytes, each synced: %.4fe9 such items/s\n",
           (double)bytes / seconds / 1e9, bytes, (double)p.batch / seconds / 1e9);
    fflush(stdout);
}

/* A whole snapshot of a hive table with as many keys: what a batch costs without a file. */
static void snapshot(const plan &p)
{
    hd_config c = hd_config_of("hive");
    hd_table *t;
    c.backend = "cuda";
    c.capacity = p.keys + p.keys / 4;
    c.value_bytes = 4;
    MUST(hd_open(&c, &t));
    std::vector<uint64_t> key(1 << 20);
    std::vector<uint32_t> value(1 << 20);
    for (uint64_t at = 0; at < p.keys; at += key.size()) {
        for (uint64_t i = 0; i < key.size(); i++) key[i] = (at + i) * 2654435761u & 0x7fffffff;
        hd_batch b;
        memset(&b, 0, sizeof b);
        b.op = HD_OP_INSERT_OR_ASSIGN, b.n = key.size(), b.key = key.data(), b.value = value.data();
        MUST(hd_run(t, &b));
    }
    double began = now();
    MUST(hd_save(t, p.file));
    printf("# hive, %llu keys of 4 bytes: hd_save %.3f s\n", (unsigned long long)p.keys, now() - began);
    unlink(p.file);
    hd_close(t);
}

/* ---- Figures of the paper -------------------------------------------------------------------- */

static double median(std::vector<double> s) { return std::sort(s.begin(), s.end()), s[s.size() / 2]; }

/* Rows of papers/gphash/results/device.tsv. p.batch is the largest batch. */
static void figures(plan p)
{
    enum { ROUNDS = 9, LEAST = 256 };
    hd_table *t = open_table(p);
    arrays a(p);
    hd_info info;
    for (uint64_t at = 0; at < p.keys; at += p.batch) run(t, p, a, HD_OP_INSERT_OR_ASSIGN, at, 0, 0);
    const uint64_t keys = p.keys, most = p.batch;
    for (p.batch = LEAST; p.batch <= most; p.batch *= 4) {
        std::vector<double> s;
        for (uint64_t k = 1; k <= ROUNDS; k++) s.push_back(run(t, p, a, HD_OP_FIND, 0, keys, k));
        printf("latency_us\t%llu\t%.1f\n", (unsigned long long)p.batch, median(s) * 1e6);
        printf("rate\t%llu\t%.5f\n", (unsigned long long)p.batch, (double)p.batch / median(s) / 1e9);
    }
    MUST(hd_table_info(t, &info));
    double began = now();
    MUST(hd_grow(t, info.buckets + 1));
    printf("growth_ms\t0\t%.1f\n", (now() - began) * 1e3);
    fflush(stdout);
}

static void figures_of_recovery(const plan &p)
{
    hd_info info;
    hd_table *t = open_table(p);
    MUST(hd_table_info(t, &info));
    const hd_recovery *r = &info.image.recovered;
    printf("recovery_ms\t0\t%.1f\nmapping_share\t0\t%.4f\n", (double)r->ns / 1e6, (double)r->map_ns / (double)r->ns);
    hd_close(t);
}

/* ---- Kills ----------------------------------------------------------------------------------- */

enum { KEYS = 4096, ITEMS = 1024, BATCHES = 2000, ABSENT = 0xffff };

/* Batch k of a life: items that the seed draws, different keys, so that their order does not matter. */
struct life {
    uint64_t seed;
    std::vector<uint64_t> key, value;
    std::vector<uint16_t> now = std::vector<uint16_t>(KEYS, ABSENT), then;
    explicit life(uint64_t s) : seed(s), key(ITEMS), value(ITEMS * 16) {}
    hd_op batch(uint64_t k)
    {
        static const hd_op ops[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_INSERT_OR_ASSIGN, HD_OP_ASSIGN, HD_OP_ERASE,
                                     HD_OP_FIND_OR_INSERT };
        uint64_t r = mixed(seed * 1000003 + k), step = 2 * (r >> 8 & 1023) + 1;
        hd_op op = ops[r % 5];
        then = now;
        for (uint64_t i = 0; i < ITEMS; i++) {
            uint64_t at = (r + i * step) % KEYS;
            bool there = now[at] != ABSENT;
            key[i] = mixed(at) & ~(1ull << 63);
            for (int w = 0; w < 16; w++) value[i * 16 + w] = (k & 0x7fff) * 0x0001000100010001ull;
            bool stores =
                op == HD_OP_INSERT_OR_ASSIGN || (op == HD_OP_ASSIGN && there) || (op == HD_OP_FIND_OR_INSERT && !there);
            if (op == HD_OP_ERASE) now[at] = ABSENT;
            if (stores) now[at] = k & 0x7fff;
        }
        return op;
    }
};

/* The child changes the table until it is killed; *promised: batches that have returned. */
static void live(const plan &p, uint64_t seed, volatile uint64_t *promised)
{
    hd_table *t = open_table(p);
    life l(seed);
    for (uint64_t k = 0; k < BATCHES; k++) {
        hd_batch b;
        memset(&b, 0, sizeof b);
        b.op = l.batch(k);
        b.n = ITEMS;
        b.key = l.key.data();
        if (b.op != HD_OP_ERASE) b.value = l.value.data();
        MUST(hd_run(t, &b));
        *promised = k + 1;
    }
    pause();
}

/* What is left, by the reference: of the batch that ran any part, of all others everything. False: it is wrong. */
static bool judge_left(plan p, uint64_t seed, uint64_t promised, bool *torn)
{
    hd_config c = config_of(p, "ref");
    hd_table *t;
    if (hd_open(&c, &t) || hd_check(t)) return printf("# WRONG: %s\n", hd_why()), false;
    life l(seed);
    for (uint64_t k = 0; k < promised; k++) l.batch(k);
    std::vector<uint16_t> was = l.now;
    if (promised < BATCHES) l.batch(promised);
    std::vector<uint64_t> key(KEYS), value(KEYS * p.words);
    std::vector<uint8_t> outcome(KEYS);
    for (uint64_t at = 0; at < KEYS; at++) key[at] = mixed(at) & ~(1ull << 63);
    hd_batch b;
    memset(&b, 0, sizeof b);
    b.op = HD_OP_FIND, b.n = KEYS, b.key = key.data(), b.value_out = value.data(), b.outcome = outcome.data();
    MUST(hd_run(t, &b));
    bool good = true, some = false, all = true;
    for (uint64_t at = 0; at < KEYS; at++) {
        uint16_t is = outcome[at] == HD_HIT ? (uint16_t)value[at * p.words] : (uint16_t)ABSENT;
        for (uint64_t w = 0; outcome[at] == HD_HIT && w < p.words; w++)
            good = good && value[at * p.words + w] == is * 0x0001000100010001ull;
        good = good && (is == was[at] || is == l.now[at]);
        some = some || is != was[at];
        all = all && is == l.now[at];
    }
    *torn = some && !all;
    hd_close(t);
    return good;
}

static int kills(plan p, uint64_t rounds, uint64_t seed)
{
    volatile uint64_t *promised =
        (uint64_t *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t torn = 0, wrong = 0, batches = 0;
    p.keys = KEYS;
    for (uint64_t n = 0; n < rounds; n++) {
        uint64_t of = mixed(seed * 1000000 + n);
        bool cut = false;
        *promised = 0;
        unlink(p.file);
        pid_t child = fork();
        if (child == 0) live(p, of, promised);
        while (!*promised && waitpid(child, NULL, WNOHANG) == 0) usleep(100);
        usleep((useconds_t)(of >> 20 & 0xffff) / 2);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        wrong += !judge_left(p, of, *promised, &cut);
        torn += cut;
        batches += *promised;
    }
    unlink(p.file);
    printf("# kills\t%llu of a process on a GPU, index %s, values of %llu bytes: %llu wrong; %llu cut a batch; %llu "
           "batches\n",
           (unsigned long long)rounds, p.index == HD_INDEX_FAR ? "far" : "near", (unsigned long long)p.words * 8,
           (unsigned long long)wrong, (unsigned long long)torn, (unsigned long long)batches);
    return wrong != 0;
}

int main(int argc, char **argv)
{
    if (argc < 7)
        return fprintf(stderr, "persist FILE process|disk|paper|snapshot near|far WORDS KEYS BATCH\n"
                               "persist FILE cached near|far WORDS KEYS BATCH SHARE ...\n"
                               "persist FILE kills near|far 1|16 ROUNDS SEED\n"),
               2;
    enum { ROUNDS = 9 };
    plan p = { argv[1],
               strtoull(argv[5], NULL, 0),
               strtoull(argv[6], NULL, 0),
               strtoull(argv[4], NULL, 0),
               strcmp(argv[3], "far") ? HD_INDEX_NEAR : HD_INDEX_FAR,
               strcmp(argv[2], "disk") ? HD_DURABLE_PROCESS : HD_DURABLE_DISK,
               0 };
    if (strcmp(argv[2], "snapshot") == 0) return snapshot(p), 0;
    if (strcmp(argv[2], "kills") == 0) return kills(p, p.keys, p.batch);
    const bool paper = strcmp(argv[2], "paper") == 0;
    if (strcmp(argv[2], "cached") == 0) {
        const zipf z(p.keys, 0.99);
        for (int k = 7; k < argc; k++) {
            p.cached = atof(argv[k]);
            unlink(p.file);
            pid_t child = fork();
            if (child == 0) cached_points(p, z, ROUNDS), _exit(0);
            int how = 0;
            waitpid(child, &how, 0);
            if (how) return 1;
        }
        return unlink(p.file);
    }
    if (p.durable == HD_DURABLE_DISK) disk_rate(p);
    const uint64_t rounds = p.durable == HD_DURABLE_DISK ? 4 * ROUNDS : ROUNDS;
    unlink(p.file);
    pid_t child = fork(); /* before CUDA begins */
    if (child == 0) (paper ? figures(p) : points(p, rounds)), _exit(0);
    int how = 0;
    waitpid(child, &how, 0);
    if (how) return 1;
    if (paper)
        figures_of_recovery(p);
    else
        recover(p, rounds);
    if (p.durable == HD_DURABLE_DISK) disk_rate(p);
    unlink(p.file);
    return 0;
}
