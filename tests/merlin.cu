/* SPDX-License-Identifier: Apache-2.0
 *
 * merlin.cu - every method of include/heddle/merlin_hashtable.cuh on a device, against a map of the host.
 * tests/t_cuda_headers.sh compiles it as a user's program. Prints TAP; exit code 77: there is no device.
 */
#include <cstdio>
#include <random>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#include "merlin_hashtable.cuh"
#include "merlin_localfile.hpp"

using nv::merlin::EvictStrategy;
using nv::merlin::HashTable;
using nv::merlin::HashTableOptions;

static int cases, failed, wrong;

#define EXPECT(holds)                                                                  \
    do {                                                                               \
        if (!(holds) && wrong++ < 5) std::printf("# line %d: %s\n", __LINE__, #holds); \
    } while (0)

#define EXPECT_THROWS(exception, ...) \
    do {                              \
        bool thrown = false;          \
        try {                         \
            __VA_ARGS__;              \
        } catch (const exception &) { \
            thrown = true;            \
        }                             \
        EXPECT(thrown);               \
    } while (0)

template <class F> static void unit(const char *name, F f)
{
    wrong = 0;
    try {
        f();
    } catch (const std::exception &e) {
        std::printf("# %s\n", e.what());
        wrong++;
    }
    std::printf("%sok %d - %s\n", wrong ? "not " : "", ++cases, name);
    std::fflush(stdout);
    failed += wrong != 0;
}

/* An array in device memory. */
template <class T> struct array {
    T *p = nullptr;
    size_t n;

    explicit array(size_t rows) : n(rows)
    {
        CUDA_CHECK(cudaMalloc(&p, n * sizeof(T)));
        CUDA_CHECK(cudaMemset(p, 0, n * sizeof(T)));
    }
    explicit array(const std::vector<T> &v) : array(v.size()) { set(v); }
    array(const array &) = delete;
    ~array() { cudaFree(p); }
    operator T *() const { return p; }

    void set(const std::vector<T> &v) { CUDA_CHECK(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyDefault)); }
    std::vector<T> get() const
    {
        std::vector<T> v(n);
        copy(v.data());
        return v;
    }
    void copy(T *to) const { CUDA_CHECK(cudaMemcpy(to, p, n * sizeof(T), cudaMemcpyDefault)); } /* waits */
};

static std::vector<bool> flags_of(const array<bool> &a)
{
    std::unique_ptr<bool[]> all(new bool[a.n]);
    a.copy(all.get());
    return std::vector<bool>(all.get(), all.get() + a.n);
}

enum : size_t { DIM = 12, MANY = 4096, BUCKET = 128 };

static HashTableOptions options_of(size_t init, size_t most, size_t dim = DIM)
{
    HashTableOptions o;
    o.init_capacity = init;
    o.max_capacity = most;
    o.max_hbm_for_vectors = size_t(1) << 30;
    o.dim = dim;
    return o;
}

/* Keys from `first` on, step 3, and the values and scores that belong to them. */
template <class K> static std::vector<K> keys_from(size_t first, size_t n)
{
    std::vector<K> key(n);
    for (size_t i = 0; i < n; i++) key[i] = K(3 * (first + i) + 1);
    return key;
}
template <class V, class K> static std::vector<V> values_of(const std::vector<K> &key, size_t dim = DIM)
{
    std::vector<V> value(key.size() * dim);
    for (size_t i = 0; i < value.size(); i++) value[i] = V((uint64_t(key[i / dim]) * 7 + i % dim) % 1000);
    return value;
}
template <class S, class K> static std::vector<S> scores_of(const std::vector<K> &key)
{
    std::vector<S> score(key.size());
    for (size_t i = 0; i < key.size(); i++) score[i] = S(key[i] % 1009);
    return score;
}

/* The rows `from` of both are the same. */
template <class V>
static bool same_row(const std::vector<V> &a, size_t i, const std::vector<V> &b, size_t k, size_t dim)
{
    return std::equal(a.begin() + i * dim, a.begin() + (i + 1) * dim, b.begin() + k * dim);
}

/* ---- Every method that reads and writes ------------------------------------------------------ */

template <class K, class V, class S> static void reads_and_writes(int reserved_bit)
{
    using table = HashTable<K, V, S, EvictStrategy::kCustomized>;
    const auto key = keys_from<K>(0, MANY), absent = keys_from<K>(MANY, MANY);
    const auto value = values_of<V>(key);
    const auto score = scores_of<S>(key);
    array<K> k(key), other(absent);
    array<V> v(value), out(MANY * DIM);
    array<S> s(score), score_out(MANY);
    array<bool> found(MANY);
    array<V *> pointer(MANY);
    HashTableOptions o = options_of(4 * MANY, 4 * MANY);
    o.reserved_key_start_bit = reserved_bit;
    table t;
    EXPECT_THROWS(nv::merlin::MerlinException, t.insert_or_assign(1, k, v, s));
    t.init(o);
    t.init(o);
    EXPECT(t.capacity() == 4 * MANY && t.dim() == DIM && t.max_bucket_size() == BUCKET &&
           t.bucket_count() == 4 * MANY / BUCKET && t.empty());
    EXPECT_THROWS(nv::merlin::MerlinException, t.insert_or_assign(1, k, v, nullptr)); /* custom needs scores */

    t.insert_or_assign(MANY, k, v, s);
    EXPECT(t.size() == MANY && t.load_factor() == 0.25f);
    t.find(MANY, k, out, found, score_out);
    EXPECT(out.get() == value && score_out.get() == score && flags_of(found) == std::vector<bool>(MANY, true));
    t.contains(MANY, other, found);
    EXPECT(flags_of(found) == std::vector<bool>(MANY, false));

    /* Pointers: half of the keys are absent. */
    std::vector<K> half = key;
    std::copy(absent.begin(), absent.begin() + MANY / 2, half.begin());
    array<K> mixed(half);
    t.find(MANY, mixed, pointer, found, score_out);
    const auto p = pointer.get();
    for (size_t i = 0; i < MANY; i++) EXPECT((p[i] != nullptr) == (i >= MANY / 2));
    std::vector<V> one(DIM);
    CUDA_CHECK(cudaMemcpy(one.data(), p[MANY - 1], DIM * sizeof(V), cudaMemcpyDefault));
    EXPECT(same_row(one, 0, value, MANY - 1, DIM));

    /* Missed keys. */
    array<K> missed(MANY);
    array<int> index(MANY), count(1);
    t.find(MANY, mixed, out, missed, index, count, score_out);
    const auto number = index.get();
    const auto lost = missed.get();
    EXPECT(count.get()[0] == int(MANY / 2));
    for (size_t i = 0; i < MANY / 2; i++) EXPECT(lost[i] == half[size_t(number[i])] && size_t(number[i]) < MANY / 2);

    /* Assignments change what is there and insert nothing. */
    auto changed = value;
    for (V &x : changed) x = V(x + 1);
    auto risen = score;
    for (S &x : risen) x = S(x + 5000);
    array<V> w(changed);
    array<S> r(risen);
    t.assign_values(MANY, mixed, w);
    t.assign_scores(MANY, k, r);
    t.find(MANY, k, out, found, score_out);
    auto now = out.get();
    EXPECT(score_out.get() == risen && t.size() == MANY);
    for (size_t i = 0; i < MANY; i++) EXPECT(same_row(now, i, i < MANY / 2 ? value : changed, i, DIM));
    t.assign(MANY, k, v, s);
    t.find(MANY, k, out, found, score_out);
    EXPECT(out.get() == value && score_out.get() == score);
    t.assign(MANY, k, static_cast<const S *>(r));
    t.find_and_update(MANY, k, pointer, found, s);
    t.find(MANY, k, out, found, score_out);
    EXPECT(score_out.get() == score && pointer.get()[0] != nullptr);

    /* find_or_insert: the present rows come out, the absent go in. */
    array<V> both(changed);
    t.find_or_insert(MANY, mixed, both, s);
    now = both.get();
    for (size_t i = 0; i < MANY; i++) EXPECT(same_row(now, i, i < MANY / 2 ? changed : value, i, DIM));
    EXPECT(t.size() == MANY + MANY / 2);
    t.erase(MANY / 2, mixed);
    EXPECT(t.size() == MANY);

    /* accum_or_assign */
    std::vector<uint8_t> present(MANY);
    for (size_t i = 0; i < MANY; i++) present[i] = i >= MANY / 2;
    array<bool> flag(MANY);
    CUDA_CHECK(cudaMemcpy(flag, present.data(), MANY, cudaMemcpyDefault));
    t.accum_or_assign(MANY, mixed, v, flag, s);
    t.find(MANY, mixed, out, found, score_out);
    now = out.get();
    for (size_t i = 0; i < MANY; i++)
        for (size_t j = 0; j < DIM; j++)
            EXPECT(now[i * DIM + j] == V(value[i * DIM + j] + (i >= MANY / 2 ? value[i * DIM + j] : V(0))));
    t.clear();
    EXPECT(t.empty());
}

static void narrow_keys()
{
    /* With another bit the keys from 2^64 - 3 on are keys as others, and those of the option are not. */
    HashTable<uint64_t, float, uint64_t, EvictStrategy::kCustomized> t;
    HashTableOptions o = options_of(1024, 1024, 1);
    o.reserved_key_start_bit = 2;
    t.init(o);
    const uint64_t low = ~(uint64_t(3) << 2) & ~uint64_t(1);
    const std::vector<uint64_t> key = { UINT64_MAX, UINT64_MAX - 2, UINT64_MAX - 3, 5, low, low | 4, UINT64_MAX - 1 };
    array<uint64_t> k(key), s(scores_of<uint64_t>(key)), listed(1024);
    array<float> v(values_of<float>(key, 1)), out(1024);
    array<bool> found(key.size());
    t.insert_or_assign(key.size(), k, v, s);
    t.contains(key.size(), k, found);
    EXPECT((flags_of(found) == std::vector<bool>{ true, true, true, true, false, false, false }));
    EXPECT(t.export_batch(1024, 0, listed, out) == 4);
    auto all = listed.get();
    std::sort(all.begin(), all.begin() + 4);
    EXPECT((std::vector<uint64_t>(all.begin(), all.begin() + 4) ==
            std::vector<uint64_t>{ 5, UINT64_MAX - 3, UINT64_MAX - 2, UINT64_MAX }));
    for (int bit = 1; bit <= 62; bit++) {
        nv::merlin::detail::key_map map;
        map.bit = bit;
        for (uint64_t x : { UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 2, low, ~(uint64_t(3) << bit), uint64_t(7) })
            EXPECT(map(map(x)) == x);
    }
}

/* ---- Evictions and growth -------------------------------------------------------------------- */

static void evictions()
{
    HashTable<int64_t, float, uint64_t, EvictStrategy::kCustomized> t;
    t.init(options_of(MANY, MANY));
    const size_t n = 3 * MANY;
    const auto key = keys_from<int64_t>(0, n);
    const auto value = values_of<float>(key);
    const auto score = scores_of<uint64_t>(key);
    array<int64_t> k(key), gone(n);
    array<float> v(value), gone_value(n * DIM);
    array<uint64_t> s(score), gone_score(n);
    const size_t left = t.insert_and_evict(n, k, v, s, gone, gone_value, gone_score);
    EXPECT(left > 0 && left + t.size() == n);
    const auto keys = gone.get();
    const auto values = gone_value.get();
    const auto scores = gone_score.get();
    for (size_t i = 0; i < left; i++) {
        const size_t row = size_t(keys[i] - 1) / 3;
        EXPECT(scores[i] == score[row] && same_row(values, i, value, row, DIM));
    }
    array<bool> found(n);
    t.contains(n, k, found);
    const auto there = flags_of(found);
    for (size_t i = 0; i < left; i++) EXPECT(!there[size_t(keys[i] - 1) / 3]);
    EXPECT(size_t(std::count(there.begin(), there.end(), true)) == n - left);
}

static void growth()
{
    HashTable<uint64_t, float> t; /* lru: no scores */
    t.init(options_of(BUCKET, 8 * MANY));
    for (size_t at = 0; at < 4 * MANY; at += MANY) {
        const auto key = keys_from<uint64_t>(at, MANY);
        array<uint64_t> k(key);
        array<float> v(values_of<float>(key));
        EXPECT_THROWS(nv::merlin::MerlinException, t.insert_or_assign(MANY, k, v, k));
        t.insert_or_assign(MANY, k, v);
    }
    EXPECT(t.capacity() == 8 * MANY && t.size() == 4 * MANY);
    t.reserve(32 * MANY); /* beyond the maximum: nothing */
    EXPECT(t.capacity() == 8 * MANY);
    EXPECT_THROWS(std::invalid_argument, t.set_max_capacity(100));
    t.set_max_capacity(16 * MANY);
    t.reserve(9 * MANY);
    EXPECT(t.capacity() == 16 * MANY && t.size() == 4 * MANY);
    const auto key = keys_from<uint64_t>(0, 4 * MANY);
    array<uint64_t> k(key);
    array<float> out(4 * MANY * DIM);
    array<bool> found(4 * MANY);
    t.find(4 * MANY, k, out, found);
    EXPECT(out.get() == values_of<float>(key));
}

/* Values of which most are in host memory. */
static void tiers()
{
    HashTable<uint64_t, float> t;
    HashTableOptions o = options_of(2 * MANY, 4 * MANY);
    o.max_hbm_for_vectors = MANY * DIM * sizeof(float);
    t.init(o);
    const auto key = keys_from<uint64_t>(0, MANY);
    array<uint64_t> k(key);
    array<float> v(values_of<float>(key)), out(MANY * DIM);
    array<bool> found(MANY);
    t.insert_or_assign(MANY, k, v);
    t.find(MANY, k, out, found);
    EXPECT(out.get() == values_of<float>(key));
    hd_info info;
    EXPECT(!hd_table_info(t.heddle(), &info) && info.values_host_bytes > 0 && info.values_device_bytes > 0);
}

/* ---- Strategies ------------------------------------------------------------------------------ */

static void strategies()
{
    const auto key = keys_from<uint64_t>(0, MANY);
    array<uint64_t> k(key), one(std::vector<uint64_t>(MANY, 3)), score(MANY);
    array<float> v(values_of<float>(key)), out(MANY * DIM);
    array<float *> pointer(MANY);
    array<bool> found(MANY);
    {
        HashTable<uint64_t, float, uint64_t, EvictStrategy::kLfu> t;
        t.init(options_of(4 * MANY, 4 * MANY));
        t.insert_or_assign(MANY, k, v, one);
        t.insert_or_assign(MANY, k, v, one);
        array<uint64_t> more(std::vector<uint64_t>(MANY, 5));
        t.find_and_update(MANY, k, pointer, found, more);
        EXPECT(more.get() == std::vector<uint64_t>(MANY, 11));
        t.insert_or_assign(MANY, k, v, one, 0, true, true); /* as they are */
        t.find(MANY, k, out, found, score);
        EXPECT(score.get() == std::vector<uint64_t>(MANY, 3));
    }
    {
        HashTable<uint64_t, float, uint64_t, EvictStrategy::kEpochLfu> t;
        t.init(options_of(4 * MANY, 4 * MANY));
        EXPECT_THROWS(nv::merlin::MerlinException, t.insert_or_assign(MANY, k, v, one));
        t.set_global_epoch(9);
        t.insert_or_assign(MANY, k, v, one);
        t.find(MANY, k, out, found, score);
        EXPECT(score.get() == std::vector<uint64_t>(MANY, uint64_t(9) << 32 | 3));
    }
    {
        HashTable<uint64_t, float, uint64_t, EvictStrategy::kEpochLru> t;
        t.init(options_of(4 * MANY, 4 * MANY));
        t.set_global_epoch(4);
        t.insert_or_assign(MANY, k, v);
        t.find(MANY, k, out, found, score);
        for (uint64_t x : score.get()) EXPECT(x >> 32 == 4);
    }
    {
        HashTableOptions o = options_of(MANY, MANY);
        o.table_mode = nv::merlin::TableMode::kMemory;
        HashTable<uint64_t, float> t;
        t.init(o);
        t.insert_or_assign(MANY / 2, k, v);
        t.contains(MANY, k, found);
        const auto there = flags_of(found);
        EXPECT(std::count(there.begin(), there.end(), true) == MANY / 2);
        hd_info info;
        EXPECT(!hd_table_info(t.heddle(), &info) && info.hkv.dual && info.values_host_bytes == 0);
    }
}

template <class K, class S> struct every_entry {
    __device__ bool operator()(const K &, S &, const K &, const S &) { return true; }
};

/* ---- Pins ------------------------------------------------------------------------------------ */

static void pins()
{
    HashTable<int64_t, float, uint64_t, EvictStrategy::kCustomized> t;
    t.init(options_of(MANY, MANY));
    const auto key = keys_from<int64_t>(0, MANY / 2);
    const size_t n = key.size();
    array<int64_t> k(key), other(keys_from<int64_t>(n, 4 * MANY));
    array<float> v(values_of<float>(key)), w(4 * MANY * DIM), out(n * DIM);
    array<uint64_t> low(std::vector<uint64_t>(n, 1)), high(std::vector<uint64_t>(4 * MANY, 9));
    array<int64_t *> token(n);
    array<bool> done(n), found(n);
    t.insert_or_assign(n, k, v, low);
    t.lock_keys(n, k, token, done);
    EXPECT(flags_of(done) == std::vector<bool>(n, true));
    t.insert_or_assign(4 * MANY, other, w, high);
    t.find(n, k, out, found);
    EXPECT(flags_of(found) == std::vector<bool>(n, true) && out.get() == values_of<float>(key));
    EXPECT(t.template erase_if<every_entry>(0, 0) + n == MANY); /* all but the pinned */
    t.unlock_keys(n, token, k, done);
    EXPECT(flags_of(done) == std::vector<bool>(n, true));
    t.unlock_keys(n, token, k, done); /* they are pinned no more */
    EXPECT(flags_of(done) == std::vector<bool>(n, false));
    CUDA_CHECK(cudaMemset(token, 0, n * sizeof(int64_t *)));
    array<float *> pointer(n);
    t.find_or_insert(n, k, pointer, found, low, 0, true, false, token);
    EXPECT(flags_of(found) == std::vector<bool>(n, true));
    for (int64_t *p : token.get()) EXPECT(p != nullptr);
    t.unlock_keys(n, token, k, done);
    EXPECT(flags_of(done) == std::vector<bool>(n, true));
    t.erase(n, k);
    EXPECT(t.empty());
    t.find_or_insert(n, k, pointer, found, low);
    EXPECT(flags_of(found) == std::vector<bool>(n, false) && t.size() == n);
}

/* ---- Functors -------------------------------------------------------------------------------- */

template <class K, class S> struct below {
    __device__ bool operator()(const K &key, S &score, const K &pattern, const S &threshold)
    {
        return (uint64_t(key) & 1) == uint64_t(pattern) && score < threshold;
    }
};

/* The same by groups, which read the values together: entries whose first and last element are those of the key. */
template <class K, class V, class S> struct below_by_groups {
    K pattern;
    S threshold;
    int dim;

    template <int Group>
    __device__ bool operator()(const K &key, const V *value, const S &score, cg::thread_block_tile<Group> &g)
    {
        bool holds = uint64_t(key) < UINT64_MAX - 2 && (uint64_t(key) & 1) == uint64_t(pattern) && score < threshold;
        for (int i = 0; i < int(g.size()); i++) {
            const auto its_key = g.shfl(uint64_t(key), i);
            const auto its_value = reinterpret_cast<const V *>(g.shfl(reinterpret_cast<uintptr_t>(value), i));
            const bool in_question = g.shfl(holds, i);
            if (!in_question) continue;
            bool differs = false;
            for (int j = int(g.thread_rank()); j < dim; j += int(g.size()))
                differs = differs || its_value[j] != V((its_key * 7 + uint64_t(j)) % 1000);
            if (g.any(differs) && int(g.thread_rank()) == i) holds = false;
        }
        return holds;
    }
};

/* Doubles values and raises scores. */
template <class K, class V, class S> struct twice {
    int dim;

    template <int Group> __device__ void operator()(const K &key, V *value, S *score, cg::thread_block_tile<Group> &)
    {
        if (uint64_t(key) >= UINT64_MAX - 2) return;
        for (int j = 0; j < dim; j++) value[j] = value[j] * 2;
        *score += 100000;
    }
};

template <class S> static void functors(size_t dim)
{
    using table = HashTable<uint64_t, float, S, EvictStrategy::kCustomized>;
    table t;
    t.init(options_of(2 * MANY, 2 * MANY, dim));
    const size_t n = MANY + 77;
    const auto key = keys_from<uint64_t>(0, n);
    const auto value = values_of<float>(key, dim);
    const auto score = scores_of<S>(key);
    array<uint64_t> k(key), to_key(2 * MANY);
    array<float> v(value), to_value(2 * MANY * dim);
    array<S> s(score), to_score(2 * MANY);
    array<size_t> count(1);
    array<bool> found(n);
    t.insert_or_assign(n, k, v, s);
    const S threshold = 500;
    std::unordered_map<uint64_t, size_t> expected;
    for (size_t i = 0; i < n; i++)
        if (key[i] % 2 == 1 && score[i] < threshold) expected[key[i]] = i;

    t.template size_if<below>(1, threshold, count);
    EXPECT(count.get()[0] == expected.size());
    below_by_groups<uint64_t, float, S> pred{ 1, threshold, int(dim) };
    for (int by_groups = 0; by_groups < 2; by_groups++) {
        if (by_groups)
            t.export_batch_if_v2(pred, t.capacity(), 0, count, to_key, to_value, to_score);
        else
            t.template export_batch_if<below>(1, threshold, t.capacity(), 0, count, to_key, to_value, to_score);
        const auto keys = to_key.get();
        const auto values = to_value.get();
        const auto scores = to_score.get();
        const size_t rows = count.get()[0];
        EXPECT(rows == expected.size());
        for (size_t i = 0; i < rows; i++) {
            const auto its = expected.find(keys[i]);
            EXPECT(its != expected.end() && scores[i] == score[its->second] &&
                   same_row(values, i, value, its->second, dim));
        }
    }

    twice<uint64_t, float, S> f{ int(dim) };
    t.for_each(0, t.capacity(), f);
    t.find(n, k, to_value, found, to_score);
    const auto values = to_value.get();
    const auto scores = to_score.get();
    for (size_t i = 0; i < n; i++) EXPECT(values[i * dim] == 2 * value[i * dim] && scores[i] == score[i] + 100000);
    t.insert_or_assign(n, k, v, s);

    EXPECT(t.template erase_if<below>(1, threshold) == expected.size() && t.size() == n - expected.size());
    t.contains(n, k, found);
    const auto there = flags_of(found);
    for (size_t i = 0; i < n; i++) EXPECT(there[i] == !expected.count(key[i]));
    t.insert_or_assign(n, k, v, s);
    EXPECT(t.erase_if_v2(pred) == expected.size() && t.size() == n - expected.size());
}

/* ---- Files ----------------------------------------------------------------------------------- */

template <class S> static void files()
{
    const std::string folder = std::getenv("TMPDIR") ? std::getenv("TMPDIR") : "/tmp",
                      stem = folder + "/heddle-merlin." + std::to_string(getpid());
    const std::string path[3] = { stem + ".keys", stem + ".values", stem + ".scores" };
    using table = HashTable<uint64_t, float, S, EvictStrategy::kCustomized>;
    table t, u;
    t.init(options_of(2 * MANY, 2 * MANY));
    u.init(options_of(2 * MANY, 2 * MANY));
    const auto key = keys_from<uint64_t>(0, MANY);
    array<uint64_t> k(key);
    array<float> v(values_of<float>(key)), out(MANY * DIM);
    array<S> s(scores_of<S>(key)), score(MANY);
    array<bool> found(MANY);
    t.insert_or_assign(MANY, k, v, s);
    nv::merlin::LocalKVFile<uint64_t, float, S> file;
    EXPECT(!file.open(folder + "/no/such/folder", path[1], path[2], "wb"));
    EXPECT(file.open(path[0], path[1], path[2], "wb"));
    EXPECT(t.save(&file, 100000) == MANY);
    file.close();
    EXPECT_THROWS(nv::merlin::MerlinException, t.save(&file, 3)); /* less than an entry */
    EXPECT(file.open(path[0], path[1], path[2], "rb"));
    EXPECT(u.load(&file, 77777) == MANY && u.size() == MANY);
    u.find(MANY, k, out, found, score);
    EXPECT(out.get() == values_of<float>(key) && score.get() == scores_of<S>(key));
    for (const std::string &p : path) std::remove(p.c_str());
}

int main()
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::printf("1..0 # SKIP no device\n");
        return 77;
    }
    unit("reads and writes, 64-bit scores", [] { reads_and_writes<uint64_t, float, uint64_t>(0); });
    unit("reads and writes, 32-bit scores, other reserved keys",
         [] { reads_and_writes<int64_t, int32_t, uint32_t>(3); });
    unit("reserved keys", narrow_keys);
    unit("evictions", evictions);
    unit("growth", growth);
    unit("tiers", tiers);
    unit("strategies", strategies);
    unit("pins", pins);
    unit("functors, groups of 32", [] { functors<uint64_t>(40); });
    unit("functors, groups of 8, 32-bit scores", [] { functors<uint32_t>(9); });
    unit("functors, single threads", [] { functors<uint64_t>(3); });
    unit("files", files<uint64_t>);
    unit("files, 32-bit scores", files<uint32_t>);
    std::printf("1..%d\n", cases);
    return failed != 0;
}
