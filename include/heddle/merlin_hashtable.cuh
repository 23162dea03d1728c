/* SPDX-License-Identifier: Apache-2.0
 *
 * merlin_hashtable.cuh - nv::merlin::HashTable over heddle.h. Programs that were written for HierarchicalKV compile
 * with this folder in the place of its include folder, and link with libheddle. C++17 for nvcc; header-only.
 *
 * Each method is one batch of a table on backend "cuda" (heddle.h, struct hd_batch). Arrays are in memory that kernels
 * reach. A method puts its batch on the stream and returns, unless its comment says that it waits. Errors are thrown:
 * CudaException if a device call failed, MerlinException otherwise; both are std::runtime_error.
 *
 * doc/merlin.md lists what differs from HierarchicalKV, and why.
 */
#ifndef HEDDLE_MERLIN_HASHTABLE_CUH
#define HEDDLE_MERLIN_HASHTABLE_CUH

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <type_traits>
#include <vector>

#include <cuda_bf16.h>

#include "heddle.h"
#include "merlin/allocator.cuh"
#include "merlin/types.cuh"
#include "merlin/utils.cuh"

namespace nv
{
namespace merlin
{

/* How entries are scored: HashTable's parameter Strategy. */
struct EvictStrategy {
    enum EvictStrategyEnum { kLru = 0, kLfu = 1, kEpochLru = 2, kEpochLfu = 3, kCustomized = 4 };
};

enum class TableMode {
    kThroughput = 0, /* one candidate bucket per key */
    kMemory = 1      /* two: buckets become fuller before entries are evicted (hd_hkv_config.dual) */
};

/* Accepted, and not used: Heddle keeps no such pools. */
struct MemoryPoolOptions {
    size_t max_stock = 4, max_pending = 16;
};

/* The fields without a comment are accepted and not used. */
struct HashTableOptions {
    size_t init_capacity = 0;       /* entries. If two times as many are within max_capacity, they are rounded up to a
                                       power of two of buckets; otherwise the table has max_capacity at once */
    size_t max_capacity = 0;        /* entries; the table doubles up to this size, and then evicts */
    size_t max_hbm_for_vectors = 0; /* kThroughput: the most bytes of values in device memory; the others are in pinned
                                       host memory. kMemory: all values are in device memory */
    size_t max_bucket_size = 128;   /* slots of a bucket: a power of two from 2 to 4096 */
    size_t dim = 64;                /* elements of a value */
    float max_load_factor = 0.5f;   /* the table doubles before a batch that could exceed it */
    int block_size = 128;
    int io_block_size = 1024;
    int device_id = -1; /* init selects this device for the calling thread; -1: the present one */
    bool io_by_cpu = false;
    bool use_constant_memory = false;
    int reserved_key_start_bit = 0; /* 0: the keys from 2^64 - 3 on are reserved. 1 to 62: instead, the four keys whose
                                       bits are all 1 but for bit 0, which is 0, and this one and the next, which are
                                       anything. Keys are then translated on their way in and out */
    size_t num_of_buckets_per_alloc = 1;
    bool api_lock = true; /* false: the caller separates calls that conflict (batch lock "none") */
    TableMode table_mode = TableMode::kThroughput;
    MemoryPoolOptions device_memory_pool, host_memory_pool;
};

template <class K, class S>
using EraseIfPredict = bool (*)(const K &key, S &score, const K &pattern, const S &threshold);

namespace detail
{

inline void check(hd_status status)
{
    if (status == HD_ECUDA) throw CudaException(hd_why());
    if (status) throw MerlinException(std::string(hd_status_name(status)) + ": " + hd_why());
}

constexpr int THREADS = 256;
inline unsigned grid_of(size_t threads) { return unsigned(std::min<size_t>((threads + THREADS - 1) / THREADS, 4096)); }

/* The permutation of keys that exchanges the keys that Heddle reserves with those that the options reserve. */
struct key_map {
    int bit = 0; /* HashTableOptions.reserved_key_start_bit; 0: nothing is exchanged */

    __host__ __device__ uint64_t operator()(uint64_t key) const
    {
        const uint64_t low = ~(uint64_t(3) << bit) & ~uint64_t(1), next = low | uint64_t(1) << bit;
        if (key == UINT64_MAX - 2) return low;
        if (key == UINT64_MAX) return next;
        if (key == low) return UINT64_MAX - 2;
        return key == next ? UINT64_MAX : key; /* UINT64_MAX - 1 is reserved by both */
    }

    /* A key that is reserved with and without the exchange. */
    uint64_t empty() const { return bit ? UINT64_MAX - 1 : DEFAULT_EMPTY_KEY; }
};

/* Converts n rows; or *count, if there is a count. */
template <class To, class From> __global__ void convert(const From *from, To *to, size_t n, const uint64_t *count)
{
    const size_t rows = count ? *count : n;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < rows; i += size_t(gridDim.x) * blockDim.x)
        to[i] = static_cast<To>(from[i]);
}

/* The same with keys, exchanged. */
template <class T> __global__ void map_keys(const uint64_t *from, T *to, size_t n, const uint64_t *count, key_map map)
{
    const size_t rows = count ? *count : n;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < rows; i += size_t(gridDim.x) * blockDim.x)
        to[i] = static_cast<T>(map(from[i]));
}

/* to[i]: whether the item has that outcome. */
template <class T> __global__ void has_outcome(const uint8_t *outcome, hd_outcome which, T *to, size_t n)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        to[i] = outcome[i] == which;
}

/* The keys of items without a token, which are not pinned, become reserved. */
template <class K> __global__ void keys_of_tokens(K *const *token, const K *key, K *to, size_t n, K reserved)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        to[i] = token[i] ? key[i] : reserved;
}

/* ---- Functors over rows of entries ----------------------------------------------------------- */

/* Rows [n, padded) have no entry: they complete the last group of threads. Their key is the empty one. */
template <class K, class S> __global__ void pad(K *key, S *score, size_t n, size_t padded, K empty)
{
    for (size_t i = n + threadIdx.x; i < padded; i += blockDim.x) {
        key[i] = empty;
        score[i] = 0;
    }
}

template <class K, class S, template <typename, typename> class Pred>
__global__ void matches(const K *key, S *score, size_t n, K pattern, S threshold, uint8_t *flag)
{
    Pred<K, S> pred;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
        S own = score[i];
        flag[i] = pred(key[i], own, pattern, threshold);
    }
}

/* pred is called by whole groups of `Group` threads, each with a row of its own. */
template <int Group, class K, class V, class S, class Pred>
__global__ void matches_by_groups(const K *key, const V *value, const S *score, size_t n, size_t padded, size_t dim,
                                  Pred pred, uint8_t *flag)
{
    cg::thread_block_tile<Group> g = cg::tiled_partition<Group>(cg::this_thread_block());
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < padded; i += size_t(gridDim.x) * blockDim.x) {
        const K its_key = key[i];
        const S its_score = score[i];
        const V *its_value = value + i * dim;
        const bool holds = pred.template operator()<Group>(its_key, its_value, its_score, g);
        if (i < n) flag[i] = holds;
    }
}

template <int Group, class K, class V, class S, class Function>
__global__ void visit_by_groups(const K *key, V *const *value, V *spare, S *score, size_t n, size_t padded, Function f)
{
    cg::thread_block_tile<Group> g = cg::tiled_partition<Group>(cg::this_thread_block());
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < padded; i += size_t(gridDim.x) * blockDim.x) {
        const K its_key = key[i];
        f.template operator()<Group>(its_key, i < n ? value[i] : spare, score + i, g);
    }
}

template <class S> __global__ void differ(const S *a, const S *b, size_t n, uint64_t *count)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        if (a[i] != b[i]) atomicAdd(count, uint64_t(1));
}

template <class T> __global__ void count_flags(const T *flag, size_t n, uint64_t *count)
{
    uint64_t own = 0;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        own += flag[i];
    if (own) atomicAdd(count, own);
}

/* Appends the rows with a flag to the outputs, of which there are *count. A warp copies a row. */
template <class K, class V, class S>
__global__ void append(const K *key, const V *value, const S *score, const uint8_t *flag, size_t n, size_t dim,
                       K *to_key, V *to_value, S *to_score, uint64_t *count)
{
    const unsigned lane = threadIdx.x % 32;
    const size_t warps = size_t(gridDim.x) * blockDim.x / 32;
    for (size_t i = (blockIdx.x * size_t(blockDim.x) + threadIdx.x) / 32; i < n; i += warps) {
        if (!flag[i]) continue;
        unsigned long long at = 0;
        if (lane == 0) at = atomicAdd(count, uint64_t(1));
        at = __shfl_sync(0xffffffffu, at, 0);
        if (lane == 0) to_key[at] = key[i];
        if (lane == 0 && to_score) to_score[at] = score[i];
        for (size_t j = lane; to_value && j < dim; j += 32) to_value[at * dim + j] = value[i * dim + j];
    }
}

/* ---- Memory of a table ----------------------------------------------------------------------- */

/* A function that throws is one that refuses: no exception may pass through the library, which is in C. */
template <class F> int refused(F &&f)
{
    try {
        f();
        return 0;
    } catch (...) {
        return int(cudaErrorMemoryAllocation);
    }
}

/* The allocator as heddle.h knows it. Memory of the host, which is little, is the library's own: BaseAllocator does not
 * align it. */
inline hd_allocator memory_of(BaseAllocator *allocator)
{
    hd_allocator a{};
    a.context = allocator;
    a.device_take = [](void *context, void **p, size_t bytes) {
        return refused([&] { static_cast<BaseAllocator *>(context)->alloc(Device, p, bytes); });
    };
    a.device_give = [](void *context, void *p) {
        return refused([&] {
            CUDA_CHECK(cudaDeviceSynchronize()); /* the allocator may not wait for kernels */
            static_cast<BaseAllocator *>(context)->free(Device, p);
        });
    };
    a.pinned_take = [](void *context, void **p, size_t bytes) {
        return refused([&] {
            static_cast<BaseAllocator *>(context)->alloc(Pinned, p, bytes, cudaHostAllocMapped | cudaHostAllocPortable);
        });
    };
    a.pinned_give = [](void *context, void *p, size_t) {
        return refused([&] {
            CUDA_CHECK(cudaDeviceSynchronize());
            static_cast<BaseAllocator *>(context)->free(Pinned, p);
        });
    };
    return a;
}

/* ---- Elements of values ---------------------------------------------------------------------- */

/* The element type of sums; HD_ELEM_COUNT: values of T are not added. Frameworks have classes of their own for __half
 * and __nv_bfloat16. Those can be made from a float, and the bits of 1 tell which one a class is. */
template <class T> hd_elem elem_of()
{
    if (std::is_same<T, float>::value) return HD_F32;
    if (std::is_same<T, double>::value) return HD_F64;
    if constexpr (std::is_class<T>::value && sizeof(T) == 2 && std::is_constructible<T, float>::value) {
        const T one(1.0f);
        uint16_t bits;
        std::memcpy(&bits, &one, sizeof bits);
        return bits == 0x3c00 ? HD_F16 : bits == 0x3f80 ? HD_BF16 : HD_ELEM_COUNT;
    }
    if (!std::is_integral<T>::value) return HD_ELEM_COUNT;
    switch (sizeof(T)) {
    case 1: return HD_U8; /* integers wrap, so that a type without a sign adds those with one, too */
    case 2: return HD_I16;
    case 4: return HD_I32;
    default: return HD_U64;
    }
}

/* Device memory for the length of one call; it is freed in the order of the stream. */
class room
{
  public:
    room(BaseAllocator *allocator, cudaStream_t stream) : allocator_(allocator), stream_(stream) {}
    ~room()
    {
        try {
            for (void *p : held_) allocator_->free_async(Device, p, stream_);
        } catch (...) { /* the device is lost, and its memory with it */
        }
    }
    room(const room &) = delete;
    room &operator=(const room &) = delete;

    template <class T> T *take(size_t n)
    {
        void *p = nullptr;
        held_.reserve(held_.size() + 1);
        allocator_->alloc_async(Device, &p, std::max<size_t>(n, 1) * sizeof(T), stream_);
        held_.push_back(p);
        return static_cast<T *>(p);
    }

  private:
    BaseAllocator *allocator_;
    cudaStream_t stream_;
    std::vector<void *> held_;
};

} // namespace detail

/* ---- The interface --------------------------------------------------------------------------- */

/* K: int64_t or uint64_t. V: an element of a value, copied as bytes. S: uint64_t, or uint32_t with kCustomized. All
 * arrays have n rows; rows of values have `dim` elements. unique_key promises that no key occurs twice. */
template <typename K, typename V, typename S = uint64_t> class HashTableBase
{
  public:
    using size_type = size_t;
    using key_type = K;
    using value_type = V;
    using score_type = S;
    using allocator_type = BaseAllocator;

    virtual ~HashTableBase() = default;

    /* Opens the table. The caller keeps the allocator; nullptr: DefaultAllocator. A second call does nothing. */
    virtual void init(const HashTableOptions &options, allocator_type *allocator = nullptr) = 0;

    /* Upserts. ignore_evict_strategy: `scores` are stored as they are. */
    virtual void insert_or_assign(const size_type n, const key_type *keys, const value_type *values,
                                  const score_type *scores = nullptr, cudaStream_t stream = 0, bool unique_key = true,
                                  bool ignore_evict_strategy = false) = 0;
    /* The same, and lists the evicted entries and the refused items. The second waits, and returns their number. */
    virtual void insert_and_evict(const size_type n, const key_type *keys, const value_type *values,
                                  const score_type *scores, key_type *evicted_keys, value_type *evicted_values,
                                  score_type *evicted_scores, size_type *d_evicted_counter, cudaStream_t stream = 0,
                                  bool unique_key = true, bool ignore_evict_strategy = false) = 0;
    virtual size_type insert_and_evict(const size_type n, const key_type *keys, const value_type *values,
                                       const score_type *scores, key_type *evicted_keys, value_type *evicted_values,
                                       score_type *evicted_scores, cudaStream_t stream = 0, bool unique_key = true,
                                       bool ignore_evict_strategy = false) = 0;
    /* accum_or_assigns[i]: true: adds to the value if the key is present; false: inserts if it is absent. */
    virtual void accum_or_assign(const size_type n, const key_type *keys, const value_type *value_or_deltas,
                                 const bool *accum_or_assigns, const score_type *scores = nullptr,
                                 cudaStream_t stream = 0, bool ignore_evict_strategy = false) = 0;
    /* values: in, the values of new entries; out, the values of those that were present. */
    virtual void find_or_insert(const size_type n, const key_type *keys, value_type *values,
                                const score_type *scores = nullptr, cudaStream_t stream = 0, bool unique_key = true,
                                bool ignore_evict_strategy = false) = 0;
    /* Pointers to values; nullptr: the item was refused. With locked_key_ptrs it pins the entries. */
    virtual void find_or_insert(const size_type n, const key_type *keys, value_type **values, bool *founds,
                                score_type *scores = nullptr, cudaStream_t stream = 0, bool unique_key = true,
                                bool ignore_evict_strategy = false, key_type **locked_key_ptrs = nullptr) = 0;
    /* Pins entries. locked_key_ptrs: tokens for unlock_keys, nullptr for keys that are absent. */
    virtual void lock_keys(const size_type n, key_type const *keys, key_type **locked_key_ptrs,
                           bool *succeededs = nullptr, cudaStream_t stream = 0, score_type const *scores = nullptr) = 0;
    virtual void unlock_keys(const size_type n, key_type **locked_key_ptrs, const key_type *keys,
                             bool *succeededs = nullptr, cudaStream_t stream = 0) = 0;

    virtual void assign(const size_type n, const key_type *keys, const value_type *values,
                        const score_type *scores = nullptr, cudaStream_t stream = 0, bool unique_key = true) = 0;
    virtual void assign_scores(const size_type n, const key_type *keys, const score_type *scores = nullptr,
                               cudaStream_t stream = 0, bool unique_key = true) = 0;
    virtual void assign(const size_type n, const key_type *keys, const score_type *scores = nullptr,
                        cudaStream_t stream = 0, bool unique_key = true) = 0;
    virtual void assign_values(const size_type n, const key_type *keys, const value_type *values,
                               cudaStream_t stream = 0, bool unique_key = true) = 0;

    virtual void find(const size_type n, const key_type *keys, value_type *values, bool *founds,
                      score_type *scores = nullptr, cudaStream_t stream = 0) const = 0;
    /* Lists the absent keys and the numbers of their items. missed_size: (1), in device memory. */
    virtual void find(const size_type n, const key_type *keys, value_type *values, key_type *missed_keys,
                      int *missed_indices, int *missed_size, score_type *scores = nullptr,
                      cudaStream_t stream = 0) const = 0;
    /* Pointers to values; nullptr: absent. */
    virtual void find(const size_type n, const key_type *keys, value_type **values, bool *founds,
                      score_type *scores = nullptr, cudaStream_t stream = 0, bool unique_key = true) const = 0;
    /* The same, and rescores. scores: in, as for assign_scores; out, the new scores. */
    virtual void find_and_update(const size_type n, const key_type *keys, value_type **values, bool *founds,
                                 score_type *scores = nullptr, cudaStream_t stream = 0, bool unique_key = true) = 0;
    virtual void contains(const size_type n, const key_type *keys, bool *founds, cudaStream_t stream = 0) const = 0;

    virtual void erase(const size_type n, const key_type *keys, cudaStream_t stream = 0) = 0;
    virtual void clear(cudaStream_t stream = 0) = 0;

    /* The entries of the slots [offset, offset + n). The second waits, and returns their number. */
    virtual void export_batch(size_type n, const size_type offset, size_type *d_counter, key_type *keys,
                              value_type *values, score_type *scores = nullptr, cudaStream_t stream = 0) const = 0;
    virtual size_type export_batch(const size_type n, const size_type offset, key_type *keys, value_type *values,
                                   score_type *scores = nullptr, cudaStream_t stream = 0) const = 0;

    /* These wait for all earlier batches of the table, on any stream. */
    virtual bool empty(cudaStream_t stream = 0) const = 0;
    virtual size_type size(cudaStream_t stream = 0) const = 0;
    virtual float load_factor(cudaStream_t stream = 0) const = 0;
    /* Doubles the table until it has new_capacity, but not beyond max_capacity. */
    virtual void reserve(const size_type new_capacity, cudaStream_t stream = 0) = 0;

    virtual size_type capacity() const = 0;
    virtual void set_max_capacity(size_type new_max_capacity) = 0; /* a power of two: std::invalid_argument */
    virtual size_type dim() const noexcept = 0;
    virtual size_type max_bucket_size() const noexcept = 0;
    virtual size_type bucket_count() const noexcept = 0;

    /* Both wait, and return the rows written or read. max_workspace_size: bytes of a piece. */
    virtual size_type save(BaseKVFile<K, V, S> *file, const size_t max_workspace_size = 1L * 1024 * 1024,
                           cudaStream_t stream = 0) const = 0;
    virtual size_type load(BaseKVFile<K, V, S> *file, const size_t max_workspace_size = 1L * 1024 * 1024,
                           cudaStream_t stream = 0) = 0;

    virtual void set_global_epoch(const uint64_t epoch) = 0;
};

template <typename K, typename V, typename S = uint64_t, int Strategy = EvictStrategy::kLru, typename ArchTag = void>
class HashTable : public HashTableBase<K, V, S>
{
  public:
    using size_type = size_t;
    using key_type = K;
    using value_type = V;
    using score_type = S;
    using allocator_type = BaseAllocator;
    using Pred = EraseIfPredict<K, S>;
    static constexpr int evict_strategy = Strategy;

    static_assert(std::is_same<K, int64_t>::value || std::is_same<K, uint64_t>::value, "K is int64_t or uint64_t");
    static_assert(std::is_same<S, uint64_t>::value ||
                      (std::is_same<S, uint32_t>::value && Strategy == EvictStrategy::kCustomized),
                  "S is uint64_t, or uint32_t with kCustomized");
    static_assert(Strategy >= EvictStrategy::kLru && Strategy <= EvictStrategy::kCustomized, "no such strategy");

    HashTable() = default;
    ~HashTable() override { hd_close(table_); }
    HashTable(const HashTable &) = delete;
    HashTable &operator=(const HashTable &) = delete;

    void init(const HashTableOptions &options, allocator_type *allocator = nullptr) override
    {
        if (table_) return;
        MERLIN_CHECK(options.reserved_key_start_bit >= 0 && options.reserved_key_start_bit <= MAX_RESERVED_KEY_BIT,
                     "reserved_key_start_bit: 0 to 62");
        MERLIN_CHECK(is_power_of_two(options.max_bucket_size), "max_bucket_size: not a power of two");
        MERLIN_CHECK(options.init_capacity > 0, "init_capacity: 0");
        options_ = options;
        if (options_.device_id >= 0)
            CUDA_CHECK(cudaSetDevice(options_.device_id));
        else
            CUDA_CHECK(cudaGetDevice(&options_.device_id));
        allocator_ = allocator ? allocator : &default_allocator_;
        map_.bit = options_.reserved_key_start_bit;
        hd_config c = configuration();
        const hd_allocator memory = detail::memory_of(allocator_);
        if (allocator) c.allocator = &memory;
        if (epoch_ != IGNORED_GLOBAL_EPOCH) c.epoch = uint32_t(epoch_);
        detail::check(hd_open(&c, &table_));
        see_size();
        options_.max_capacity = std::max<size_t>(options_.max_capacity, capacity_);
        see_size();
    }

    void insert_or_assign(const size_type n, const key_type *keys, const value_type *values,
                          const score_type *scores = nullptr, cudaStream_t stream = 0, bool unique_key = true,
                          bool ignore_evict_strategy = false) override
    {
        if (n == 0) return;
        prepare_insert(n, scores, ignore_evict_strategy);
        shared beside(*this);
        call c(*this, HD_OP_INSERT_OR_ASSIGN, n, stream, unique_key);
        c.inputs(keys, values, scores, ignore_evict_strategy);
        c.run();
    }

    void insert_and_evict(const size_type n, const key_type *keys, const value_type *values, const score_type *scores,
                          key_type *evicted_keys, value_type *evicted_values, score_type *evicted_scores,
                          size_type *d_evicted_counter, cudaStream_t stream = 0, bool unique_key = true,
                          bool ignore_evict_strategy = false) override
    {
        if (n == 0) return;
        prepare_insert(n, scores, ignore_evict_strategy);
        shared beside(*this);
        call c(*this, HD_OP_INSERT_AND_EVICT, n, stream, unique_key);
        c.inputs(keys, values, scores, ignore_evict_strategy);
        c.list(evicted_keys, evicted_values, evicted_scores, d_evicted_counter);
        c.run();
    }

    size_type insert_and_evict(const size_type n, const key_type *keys, const value_type *values,
                               const score_type *scores, key_type *evicted_keys, value_type *evicted_values,
                               score_type *evicted_scores, cudaStream_t stream = 0, bool unique_key = true,
                               bool ignore_evict_strategy = false) override
    {
        if (n == 0) return 0;
        detail::room room(allocator_, stream);
        size_type *count = room.template take<size_type>(1);
        insert_and_evict(n, keys, values, scores, evicted_keys, evicted_values, evicted_scores, count, stream,
                         unique_key, ignore_evict_strategy);
        return read(count, stream);
    }

    void accum_or_assign(const size_type n, const key_type *keys, const value_type *value_or_deltas,
                         const bool *accum_or_assigns, const score_type *scores = nullptr, cudaStream_t stream = 0,
                         bool ignore_evict_strategy = false) override
    {
        static_assert(sizeof(bool) == 1 && HD_ASSIGN_NEW == 0 && HD_ADD == 1, "a bool is a flag");
        MERLIN_CHECK(detail::elem_of<V>() != HD_ELEM_COUNT, "accum_or_assign: values of this type are not added");
        if (n == 0) return;
        prepare_insert(n, scores, ignore_evict_strategy);
        shared beside(*this);
        call c(*this, HD_OP_ACCUM_OR_ASSIGN, n, stream, false);
        c.inputs(keys, value_or_deltas, scores, ignore_evict_strategy);
        c.b.flag = reinterpret_cast<const uint8_t *>(accum_or_assigns);
        c.b.elem = detail::elem_of<V>();
        c.run();
    }

    void find_or_insert(const size_type n, const key_type *keys, value_type *values, const score_type *scores = nullptr,
                        cudaStream_t stream = 0, bool unique_key = true, bool ignore_evict_strategy = false) override
    {
        if (n == 0) return;
        prepare_insert(n, scores, ignore_evict_strategy);
        shared beside(*this);
        call c(*this, HD_OP_FIND_OR_INSERT, n, stream, unique_key);
        c.inputs(keys, values, scores, ignore_evict_strategy);
        c.b.value_out = values;
        c.run();
    }

    void find_or_insert(const size_type n, const key_type *keys, value_type **values, bool *founds,
                        score_type *scores = nullptr, cudaStream_t stream = 0, bool unique_key = true,
                        bool ignore_evict_strategy = false, key_type **locked_key_ptrs = nullptr) override
    {
        if (n == 0) return;
        prepare_insert(n, scores, ignore_evict_strategy);
        shared beside(*this);
        call c(*this, HD_OP_FIND_OR_INSERT_PTR, n, stream, unique_key);
        c.inputs(keys, nullptr, scores, ignore_evict_strategy);
        c.pointers(values);
        c.b.found = founds;
        c.b.holder = locked_key_ptrs ? HOLDER : 0;
        c.run();
        if (locked_key_ptrs)
            CUDA_CHECK(
                cudaMemcpyAsync(locked_key_ptrs, c.b.ptr, n * sizeof *c.b.ptr, cudaMemcpyDeviceToDevice, stream));
    }

    void lock_keys(const size_type n, key_type const *keys, key_type **locked_key_ptrs, bool *succeededs = nullptr,
                   cudaStream_t stream = 0, score_type const *scores = nullptr) override
    {
        if (n == 0) return;
        if (scores) assign_scores(n, keys, scores, stream, false);
        shared beside(*this);
        call c(*this, HD_OP_LOCK_KEYS, n, stream, false);
        c.keys(keys);
        c.pointers(reinterpret_cast<value_type **>(locked_key_ptrs));
        c.b.holder = HOLDER;
        c.succeeds(HD_HIT, succeededs);
        c.run();
    }

    void unlock_keys(const size_type n, key_type **locked_key_ptrs, const key_type *keys, bool *succeededs = nullptr,
                     cudaStream_t stream = 0) override
    {
        if (n == 0) return;
        shared beside(*this);
        call c(*this, HD_OP_UNLOCK_KEYS, n, stream, false);
        key_type *pinned = c.room.template take<key_type>(n);
        detail::keys_of_tokens<<<detail::grid_of(n), detail::THREADS, 0, stream>>>(locked_key_ptrs, keys, pinned, n,
                                                                                   K(map_.empty()));
        c.keys(pinned);
        c.b.holder = HOLDER;
        c.succeeds(HD_HIT, succeededs);
        c.run();
    }

    void assign(const size_type n, const key_type *keys, const value_type *values, const score_type *scores = nullptr,
                cudaStream_t stream = 0, bool unique_key = true) override
    {
        if (n) check_scores(scores);
        update(HD_OP_ASSIGN, n, keys, values, scores, stream, unique_key);
    }

    void assign_scores(const size_type n, const key_type *keys, const score_type *scores = nullptr,
                       cudaStream_t stream = 0, bool unique_key = true) override
    {
        if (n) check_scores(scores);
        update(HD_OP_ASSIGN_SCORES, n, keys, nullptr, scores, stream, unique_key);
    }

    void assign(const size_type n, const key_type *keys, const score_type *scores = nullptr, cudaStream_t stream = 0,
                bool unique_key = true) override
    {
        assign_scores(n, keys, scores, stream, unique_key);
    }

    void assign_values(const size_type n, const key_type *keys, const value_type *values, cudaStream_t stream = 0,
                       bool unique_key = true) override
    {
        update(HD_OP_ASSIGN_VALUES, n, keys, values, nullptr, stream, unique_key);
    }

    void find(const size_type n, const key_type *keys, value_type *values, bool *founds, score_type *scores = nullptr,
              cudaStream_t stream = 0) const override
    {
        if (n == 0) return;
        shared beside(*this);
        call c(*this, HD_OP_FIND, n, stream, false);
        c.keys(keys);
        c.b.value_out = values;
        c.b.found = founds;
        c.scores_out(scores);
        c.run();
    }

    void find(const size_type n, const key_type *keys, value_type *values, key_type *missed_keys, int *missed_indices,
              int *missed_size, score_type *scores = nullptr, cudaStream_t stream = 0) const override
    {
        if (n == 0) return;
        shared beside(*this);
        call c(*this, HD_OP_FIND_MISSED, n, stream, false);
        size_type *count = c.room.template take<size_type>(1);
        c.keys(keys);
        c.b.value_out = values;
        c.scores_out(scores);
        c.list(missed_keys, nullptr, nullptr, count);
        c.b.list_item = c.room.template take<uint64_t>(n);
        c.run();
        if (missed_indices)
            detail::convert<<<detail::grid_of(n), detail::THREADS, 0, stream>>>(c.b.list_item, missed_indices, n,
                                                                                c.b.count);
        if (missed_size) detail::convert<<<1, 1, 0, stream>>>(c.b.count, missed_size, size_t(1), nullptr);
        CUDA_CHECK(cudaGetLastError());
    }

    void find(const size_type n, const key_type *keys, value_type **values, bool *founds, score_type *scores = nullptr,
              cudaStream_t stream = 0, bool unique_key = true) const override
    {
        if (n == 0) return;
        shared beside(*this);
        call c(*this, HD_OP_FIND_PTR, n, stream, unique_key);
        c.keys(keys);
        c.pointers(values);
        c.b.found = founds;
        c.scores_out(scores);
        c.run();
    }

    void find_and_update(const size_type n, const key_type *keys, value_type **values, bool *founds,
                         score_type *scores = nullptr, cudaStream_t stream = 0, bool unique_key = true) override
    {
        if (n == 0) return;
        check_scores(scores);
        shared beside(*this);
        call c(*this, HD_OP_TOUCH, n, stream, unique_key);
        c.inputs(keys, nullptr, scores, false);
        c.pointers(values);
        c.b.found = founds;
        if (scores && Strategy != EvictStrategy::kCustomized) c.scores_in_and_out(scores);
        c.run();
    }

    void contains(const size_type n, const key_type *keys, bool *founds, cudaStream_t stream = 0) const override
    {
        if (n == 0) return;
        shared beside(*this);
        call c(*this, HD_OP_CONTAINS, n, stream, false);
        c.keys(keys);
        c.b.found = founds;
        c.run();
    }

    void erase(const size_type n, const key_type *keys, cudaStream_t stream = 0) override
    {
        update(HD_OP_ERASE, n, keys, nullptr, nullptr, stream, false);
    }

    void clear(cudaStream_t stream = 0) override
    {
        shared beside(*this);
        call c(*this, HD_OP_CLEAR, 0, stream, false);
        c.run();
    }

    /* Erases the entries for which Pred<K, S>()(key, score, pattern, threshold) is true. Waits, and returns how many
     * were erased. */
    template <template <typename, typename> class PredFunctor>
    size_type erase_if(const key_type &pattern, const score_type &threshold, cudaStream_t stream = 0)
    {
        return erase_matches(false, stream, [&](const rows &r, uint8_t *flag) {
            match<PredFunctor>(r, pattern, threshold, flag, stream);
        });
    }

    /* The same with pred.template operator()<Group>(key, value, score, group), called by groups of 1, 8, 16 or 32
     * threads. A thread without an entry calls it with the empty key and score 0, and its result does not count. */
    template <typename PredFunctor> size_type erase_if_v2(PredFunctor &pred, cudaStream_t stream = 0)
    {
        return erase_matches(true, stream,
                             [&](const rows &r, uint8_t *flag) { match_by_groups(r, pred, flag, stream); });
    }

    void export_batch(size_type n, const size_type offset, size_type *d_counter, key_type *keys, value_type *values,
                      score_type *scores = nullptr, cudaStream_t stream = 0) const override
    {
        CUDA_CHECK(cudaMemsetAsync(d_counter, 0, sizeof *d_counter, stream));
        shared beside(*this);
        if (offset >= capacity_ || n == 0) return;
        call c(*this, HD_OP_EXPORT, std::min(n, capacity_ - offset), stream, false);
        c.b.start = offset;
        c.list(keys, values, scores, d_counter);
        c.run();
    }

    size_type export_batch(const size_type n, const size_type offset, key_type *keys, value_type *values,
                           score_type *scores = nullptr, cudaStream_t stream = 0) const override
    {
        detail::room room(allocator_, stream);
        size_type *count = room.template take<size_type>(1);
        export_batch(n, offset, count, keys, values, scores, stream);
        return read(count, stream);
    }

    /* Those of them for which Pred<K, S>()(key, score, pattern, threshold) is true. Waits. */
    template <template <typename, typename> class PredFunctor>
    void export_batch_if(const key_type &pattern, const score_type &threshold, size_type n, const size_type offset,
                         size_type *d_counter, key_type *keys, value_type *values, score_type *scores = nullptr,
                         cudaStream_t stream = 0) const
    {
        export_matches(n, offset, d_counter, keys, values, scores, stream,
                       [&](const rows &r, uint8_t *flag) { match<PredFunctor>(r, pattern, threshold, flag, stream); });
    }

    /* The same with a functor of groups; see erase_if_v2. */
    template <typename PredFunctor>
    void export_batch_if_v2(PredFunctor &pred, size_type n, const size_type offset, size_type *d_counter,
                            key_type *keys, value_type *values, score_type *scores = nullptr,
                            cudaStream_t stream = 0) const
    {
        export_matches(n, offset, d_counter, keys, values, scores, stream,
                       [&](const rows &r, uint8_t *flag) { match_by_groups(r, pred, flag, stream); });
    }

    /* Calls f.template operator()<Group>(key, value, score, group) for the entries of the slots [first, last); f may
     * change *value and *score. For threads without an entry see erase_if_v2; they get a value of their own. Waits. */
    template <typename ExecutionFunc>
    void for_each(const size_type first, const size_type last, ExecutionFunc &f, cudaStream_t stream = 0)
    {
        alone whole(*this);
        if (first >= last || last > capacity_) return;
        detail::room room(allocator_, stream);
        V **pointer = nullptr;
        V *spare = room.template take<V>(options_.dim);
        S *before = nullptr;
        walk(first, last - first, false, stream, [&](const rows &r) {
            if (!pointer) pointer = room.template take<V *>(r.most);
            if (!before) before = room.template take<S>(r.most);
            pointers_of(r, pointer, stream);
            CUDA_CHECK(cudaMemcpyAsync(before, r.score, r.n * sizeof(S), cudaMemcpyDeviceToDevice, stream));
            by_groups([&](auto group) {
                detail::visit_by_groups<decltype(group)::value>
                    <<<detail::grid_of(r.padded), detail::THREADS, 0, stream>>>(r.key, pointer, spare, r.score, r.n,
                                                                                r.padded, f);
            });
            CUDA_CHECK(cudaGetLastError());
            store_changed_scores(r, before, stream);
        });
    }

    /* *d_counter: the entries for which Pred<K, S>()(key, score, pattern, threshold) is true. Waits. */
    template <template <typename, typename> class PredFunctor>
    void size_if(const key_type &pattern, const score_type &threshold, size_type *d_counter,
                 cudaStream_t stream = 0) const
    {
        CUDA_CHECK(cudaMemsetAsync(d_counter, 0, sizeof *d_counter, stream));
        shared beside(*this);
        detail::room room(allocator_, stream);
        uint8_t *flag = nullptr;
        walk(0, capacity_, false, stream, [&](const rows &r) {
            if (!flag) flag = room.template take<uint8_t>(r.most);
            match<PredFunctor>(r, pattern, threshold, flag, stream);
            count_of(flag, r.n, d_counter, stream);
        });
    }

    bool empty(cudaStream_t stream = 0) const override { return size(stream) == 0; }

    size_type size(cudaStream_t = 0) const override
    {
        uint64_t n = 0;
        detail::check(hd_size_sync(table_, &n));
        return n;
    }

    float load_factor(cudaStream_t stream = 0) const override
    {
        return float(double(size(stream)) / double(capacity()));
    }

    void reserve(const size_type new_capacity, cudaStream_t = 0) override
    {
        std::lock_guard<std::mutex> guard(growth_);
        grow_to(new_capacity);
    }

    size_type capacity() const override { return capacity_; }

    void set_max_capacity(size_type new_max_capacity) override
    {
        if (!is_power_of_two(new_max_capacity))
            throw std::invalid_argument("set_max_capacity: " + std::to_string(new_max_capacity) +
                                        " is not a power of two");
        std::lock_guard<std::mutex> guard(growth_);
        if (new_max_capacity < capacity_) return;
        options_.max_capacity = new_max_capacity;
        may_grow_ = capacity_ * 2 <= options_.max_capacity;
    }

    size_type dim() const noexcept override { return options_.dim; }
    size_type max_bucket_size() const noexcept override { return options_.max_bucket_size; }
    size_type bucket_count() const noexcept override { return capacity_ / options_.max_bucket_size; }

    size_type save(BaseKVFile<K, V, S> *file, const size_t max_workspace_size = 1L * 1024 * 1024,
                   cudaStream_t stream = 0) const override
    {
        alone whole(*this);
        host_rows host(*this, max_workspace_size);
        size_type saved = 0;
        walk_by(std::min<size_t>(host.n, capacity_), 0, capacity_, true, stream, [&](const rows &r) {
            host.copy(r.key, r.value, r.score, r.n, cudaMemcpyDeviceToHost, stream);
            CUDA_CHECK(cudaStreamSynchronize(stream));
            const size_t written = file->write(r.n, options_.dim, host.key, host.value, host.score);
            MERLIN_CHECK(written == r.n,
                         "save: the file took " + std::to_string(written) + " of " + std::to_string(r.n) + " rows");
            saved += r.n;
        });
        return saved;
    }

    size_type load(BaseKVFile<K, V, S> *file, const size_t max_workspace_size = 1L * 1024 * 1024,
                   cudaStream_t stream = 0) override
    {
        host_rows host(*this, max_workspace_size);
        detail::room room(allocator_, stream);
        K *key = room.template take<K>(host.n);
        V *value = room.template take<V>(host.n * options_.dim);
        S *score = room.template take<S>(host.n);
        size_type loaded = 0;
        while (const size_t n = file->read(host.n, options_.dim, host.key, host.value, host.score)) {
            host.copy(key, value, score, n, cudaMemcpyHostToDevice, stream);
            insert_or_assign(n, key, value, score, stream, true, true);
            CUDA_CHECK(cudaStreamSynchronize(stream)); /* the host's rows are read again */
            loaded += n;
        }
        return loaded;
    }

    void set_global_epoch(const uint64_t epoch) override
    {
        epoch_ = epoch;
        if (table_ && epoch != IGNORED_GLOBAL_EPOCH) detail::check(hd_epoch_set(table_, uint32_t(epoch)));
    }

    /* The table itself, for what heddle.h has beyond this class. The object keeps it. */
    hd_table *heddle() const noexcept { return table_; }

  private:
    static constexpr uint64_t HOLDER = 1; /* of all pins: whoever has a token may unpin */
    static constexpr size_t WALK_BYTES = size_t(64) << 20;
    static constexpr bool narrow = !std::is_same<S, uint64_t>::value;

    static bool is_power_of_two(size_t n) { return n && (n & (n - 1)) == 0; }

    /* ---- Who may run ---- */

    /* A call beside others; and one that runs alone, after all batches. Under api_lock = false both do nothing. */
    struct shared {
        explicit shared(const HashTable &t) : lock(t.calls_, std::defer_lock)
        {
            MERLIN_CHECK(t.table_, "the table was not initialised");
            if (t.options_.api_lock) lock.lock();
        }
        std::shared_lock<std::shared_mutex> lock;
    };

    struct alone {
        explicit alone(const HashTable &t) : lock(t.calls_, std::defer_lock)
        {
            MERLIN_CHECK(t.table_, "the table was not initialised");
            if (t.options_.api_lock) lock.lock();
            (void)t.size(); /* waits for all batches */
        }
        std::unique_lock<std::shared_mutex> lock;
    };

    /* ---- One batch ---- */

    /* A batch, and what its arrays are converted from and to: scores of 32 bits, and keys if others are reserved. */
    struct call {
        hd_batch b{};
        const HashTable &t;
        cudaStream_t stream;
        detail::room room;
        key_type *to_list_key = nullptr;
        uint64_t *from_list_key = nullptr;
        score_type *to_list_score = nullptr, *to_score = nullptr;
        uint64_t *from_list_score = nullptr, *from_score = nullptr;
        bool *to_succeeded = nullptr;
        hd_outcome success = HD_HIT;

        call(const HashTable &table, hd_op op, size_t n, cudaStream_t s, bool distinct)
            : t(table), stream(s), room(table.allocator_, s)
        {
            b.op = op;
            b.n = n;
            b.distinct = distinct;
            b.stream = s;
        }

        void keys(const key_type *key)
        {
            b.key = reinterpret_cast<const uint64_t *>(key);
            if (t.map_.bit == 0) return;
            uint64_t *mapped = room.template take<uint64_t>(b.n);
            detail::map_keys<<<detail::grid_of(b.n), detail::THREADS, 0, stream>>>(b.key, mapped, b.n, nullptr, t.map_);
            b.key = mapped;
        }

        void inputs(const key_type *key, const value_type *value, const score_type *score, bool raw)
        {
            keys(key);
            b.value = value;
            b.raw_scores = raw && score && Strategy != EvictStrategy::kCustomized;
            if (score) b.score = widened(score);
        }

        const uint64_t *widened(const score_type *score)
        {
            if (!narrow) return reinterpret_cast<const uint64_t *>(score);
            uint64_t *wide = room.template take<uint64_t>(b.n);
            detail::convert<<<detail::grid_of(b.n), detail::THREADS, 0, stream>>>(score, wide, size_t(b.n), nullptr);
            return wide;
        }

        /* Scores of items that deliver none keep what they were. */
        void scores_out(score_type *score)
        {
            if (!score) return;
            b.score_out = reinterpret_cast<uint64_t *>(score);
            if (!narrow) return;
            to_score = score;
            b.score_out = from_score = const_cast<uint64_t *>(widened(score));
        }

        /* The batch reads a copy. */
        void scores_in_and_out(score_type *score)
        {
            uint64_t *copy = room.template take<uint64_t>(b.n);
            CUDA_CHECK(cudaMemcpyAsync(copy, b.score, b.n * sizeof *copy, cudaMemcpyDeviceToDevice, stream));
            b.score = copy;
            scores_out(score);
        }

        /* nullptr for items that deliver none. */
        void pointers(value_type **value)
        {
            if (!value) value = room.template take<value_type *>(b.n);
            CUDA_CHECK(cudaMemsetAsync(value, 0, b.n * sizeof *value, stream));
            b.ptr = reinterpret_cast<void **>(value);
        }

        void list(key_type *key, value_type *value, score_type *score, size_type *count)
        {
            static_assert(sizeof(size_type) == sizeof(uint64_t), "counts have 64 bits");
            b.count = reinterpret_cast<uint64_t *>(count);
            b.list_value = value;
            b.list_key = reinterpret_cast<uint64_t *>(key);
            b.list_score = reinterpret_cast<uint64_t *>(score);
            if (key && t.map_.bit) {
                to_list_key = key;
                b.list_key = from_list_key = room.template take<uint64_t>(b.n);
            }
            if (score && narrow) {
                to_list_score = score;
                b.list_score = from_list_score = room.template take<uint64_t>(b.n);
            }
        }

        /* to[i]: whether the item had this outcome. */
        void succeeds(hd_outcome which, bool *to)
        {
            if (!to) return;
            success = which;
            to_succeeded = to;
            b.outcome = room.template take<uint8_t>(b.n);
        }

        void run()
        {
            using namespace detail;
            check(hd_run(t.table_, &b));
            const unsigned grid = grid_of(b.n);
            if (to_list_key) map_keys<<<grid, THREADS, 0, stream>>>(from_list_key, to_list_key, b.n, b.count, t.map_);
            if (to_list_score)
                convert<<<grid, THREADS, 0, stream>>>(from_list_score, to_list_score, size_t(b.n), b.count);
            if (to_score) convert<<<grid, THREADS, 0, stream>>>(from_score, to_score, size_t(b.n), nullptr);
            if (to_succeeded) has_outcome<<<grid, THREADS, 0, stream>>>(b.outcome, success, to_succeeded, size_t(b.n));
            CUDA_CHECK(cudaGetLastError());
        }
    };

    /* A batch that does not insert and delivers nothing. */
    void update(hd_op op, size_type n, const key_type *keys, const value_type *values, const score_type *scores,
                cudaStream_t stream, bool unique_key)
    {
        if (n == 0) return;
        shared beside(*this);
        call c(*this, op, n, stream, unique_key);
        c.inputs(keys, values, scores, false);
        c.run();
    }

    size_type read(const size_type *count, cudaStream_t stream) const
    {
        size_type n = 0;
        CUDA_CHECK(cudaMemcpyAsync(&n, count, sizeof n, cudaMemcpyDeviceToHost, stream));
        CUDA_CHECK(cudaStreamSynchronize(stream));
        return n;
    }

    /* ---- Opening and growing ---- */

    /* A table that will not grow has max_capacity. Another one begins with a power of two of buckets. */
    size_t first_capacity() const
    {
        const size_t init = options_.init_capacity, most = std::max(init, options_.max_capacity);
        size_t capacity = options_.max_bucket_size;
        while (capacity < init) capacity *= 2;
        return init * 2 > most ? most : capacity;
    }

    hd_config configuration() const
    {
        static const char *const policy[] = { "lru", "lfu", "epoch_lru", "epoch_lfu", "custom" };
        const uint64_t value_bytes = uint64_t(options_.dim) * sizeof(V);
        MERLIN_CHECK(value_bytes <= HD_VALUE_BYTES_MAX, "dim: a value has " + std::to_string(value_bytes) + " bytes");
        hd_config c = hd_config_default();
        c.backend = "cuda";
        c.policy = policy[Strategy];
        c.lock = options_.api_lock ? "ordered" : "none";
        c.capacity = first_capacity();
        c.slots = uint32_t(options_.max_bucket_size);
        c.value_bytes = uint32_t(value_bytes);
        if (Strategy == EvictStrategy::kLru || Strategy == EvictStrategy::kEpochLru) c.clock = HD_CLOCK_DEVICE;
        c.hkv.dual = options_.table_mode == TableMode::kMemory;
        const uint64_t all = std::max<uint64_t>(options_.max_capacity, c.capacity) * value_bytes;
        if (!c.hkv.dual && options_.max_hbm_for_vectors < all) {
            c.hkv.tiers = HD_TIERS_POSITION;
            c.hkv.device_value_bytes = std::max<uint64_t>(options_.max_hbm_for_vectors, 1);
        }
        return c;
    }

    void see_size()
    {
        hd_info info;
        detail::check(hd_table_info(table_, &info));
        capacity_ = info.capacity;
        may_grow_ = capacity_ * 2 <= options_.max_capacity;
    }

    /* growth_ is held. */
    void grow_to(size_t wanted)
    {
        MERLIN_CHECK(table_, "the table was not initialised");
        size_t target = capacity_;
        if (wanted > options_.max_capacity) return;
        while (target < wanted && target * 2 <= options_.max_capacity) target *= 2;
        if (target == capacity_) return;
        detail::check(hd_grow(table_, target / options_.max_bucket_size));
        see_size();
    }

    /* Before a batch of n items that may insert. bound_ is at least the number of entries; it is counted again only if
     * it could make the table grow. */
    void prepare_insert(size_t n, const score_type *scores, bool ignore_evict_strategy)
    {
        MERLIN_CHECK(table_, "the table was not initialised");
        if (!ignore_evict_strategy) check_scores(scores);
        if (!may_grow_) return;
        std::lock_guard<std::mutex> guard(growth_);
        const auto too_many = [&] { return double(bound_ + n) > double(options_.max_load_factor) * double(capacity_); };
        if (may_grow_ && too_many()) bound_ = size();
        while (may_grow_ && too_many()) grow_to(capacity_ * 2);
        bound_ += n;
    }

    void check_scores(const score_type *scores) const
    {
        constexpr bool by_time = Strategy == EvictStrategy::kLru || Strategy == EvictStrategy::kEpochLru,
                       by_epoch = Strategy == EvictStrategy::kEpochLru || Strategy == EvictStrategy::kEpochLfu;
        MERLIN_CHECK(!by_time || !scores, "scores: kLru and kEpochLru take none");
        MERLIN_CHECK(by_time || scores, "scores: kLfu, kEpochLfu and kCustomized need them");
        MERLIN_CHECK(!by_epoch || epoch_ != IGNORED_GLOBAL_EPOCH, "no epoch: call set_global_epoch");
    }

    /* ---- Functors ---- */

    /* The entries of some slots, copied out. The arrays have `padded` rows, those from n on without an entry. */
    struct rows {
        K *key;
        V *value; /* nullptr: not copied */
        S *score;
        size_t n, padded, most; /* most: of any rows of this walk */
    };

    template <class F> void walk_by(size_t slots, size_t first, size_t n, bool values, cudaStream_t stream, F f) const
    {
        slots = std::max<size_t>(std::min(slots, n), 1);
        const size_t most = (slots + 31) / 32 * 32;
        detail::room room(allocator_, stream);
        rows r{ room.template take<K>(most),
                values ? room.template take<V>(most * options_.dim) : nullptr,
                room.template take<S>(most),
                0,
                0,
                most };
        size_type *count = room.template take<size_type>(1);
        for (size_t at = 0; at < n; at += slots) {
            call c(*this, HD_OP_EXPORT, std::min(slots, n - at), stream, false);
            c.b.start = first + at;
            c.list(r.key, r.value, r.score, count);
            c.run();
            r.n = read(count, stream);
            r.padded = (r.n + 31) / 32 * 32;
            if (r.n == 0) continue;
            if (r.padded > r.n) detail::pad<<<1, 32, 0, stream>>>(r.key, r.score, r.n, r.padded, K(map_.empty()));
            f(r);
        }
    }

    /* Calls f(rows) for the slots [first, first + n), some MiB at a time. */
    template <class F> void walk(size_t first, size_t n, bool values, cudaStream_t stream, F f) const
    {
        const size_t row = sizeof(K) + sizeof(S) + (values ? options_.dim * sizeof(V) : 0);
        walk_by(std::max<size_t>(WALK_BYTES / row / 32 * 32, 32), first, n, values, stream, f);
    }

    template <template <typename, typename> class PredFunctor>
    static void match(const rows &r, K pattern, S threshold, uint8_t *flag, cudaStream_t stream)
    {
        detail::matches<K, S, PredFunctor>
            <<<detail::grid_of(r.n), detail::THREADS, 0, stream>>>(r.key, r.score, r.n, pattern, threshold, flag);
        CUDA_CHECK(cudaGetLastError());
    }

    /* Calls f with the size of a group for values of this size: a std::integral_constant. */
    template <class F> void by_groups(F f) const
    {
        if (options_.dim >= 32) return f(std::integral_constant<int, 32>());
        if (options_.dim >= 16) return f(std::integral_constant<int, 16>());
        if (options_.dim >= 8) return f(std::integral_constant<int, 8>());
        return f(std::integral_constant<int, 1>());
    }

    template <class PredFunctor>
    void match_by_groups(const rows &r, PredFunctor &pred, uint8_t *flag, cudaStream_t stream) const
    {
        by_groups([&](auto group) {
            detail::matches_by_groups<decltype(group)::value>
                <<<detail::grid_of(r.padded), detail::THREADS, 0, stream>>>(r.key, r.value, r.score, r.n, r.padded,
                                                                            options_.dim, pred, flag);
        });
        CUDA_CHECK(cudaGetLastError());
    }

    template <class F> size_type erase_matches(bool values, cudaStream_t stream, F flags_of)
    {
        alone whole(*this);
        detail::room room(allocator_, stream);
        uint8_t *flag = nullptr;
        K *key = nullptr;
        size_type *count = room.template take<size_type>(1), erased = 0;
        walk(0, capacity_, values, stream, [&](const rows &r) {
            if (!flag) flag = room.template take<uint8_t>(r.most);
            if (!key) key = room.template take<K>(r.most);
            flags_of(r, flag);
            CUDA_CHECK(cudaMemsetAsync(count, 0, sizeof *count, stream));
            gather(r, flag, key, static_cast<V *>(nullptr), static_cast<S *>(nullptr), count, stream);
            call c(*this, HD_OP_ERASE, read(count, stream), stream, true);
            if (c.b.n == 0) return;
            c.keys(key);
            c.succeeds(HD_ERASED, reinterpret_cast<bool *>(flag)); /* not so, if it is pinned */
            c.run();
            CUDA_CHECK(cudaMemsetAsync(count, 0, sizeof *count, stream));
            count_of(flag, c.b.n, count, stream);
            erased += read(count, stream);
        });
        return erased;
    }

    template <class F>
    void export_matches(size_type n, size_type offset, size_type *d_counter, key_type *keys, value_type *values,
                        score_type *scores, cudaStream_t stream, F flags_of) const
    {
        CUDA_CHECK(cudaMemsetAsync(d_counter, 0, sizeof *d_counter, stream));
        shared beside(*this);
        if (offset >= capacity_ || n == 0) return;
        detail::room room(allocator_, stream);
        uint8_t *flag = nullptr;
        walk(offset, std::min(n, capacity_ - offset), true, stream, [&](const rows &r) {
            if (!flag) flag = room.template take<uint8_t>(r.most);
            flags_of(r, flag);
            gather(r, flag, keys, values, scores, d_counter, stream);
        });
    }

    /* Adds the number of flags to *count. */
    static void count_of(const uint8_t *flag, size_t n, size_type *count, cudaStream_t stream)
    {
        detail::count_flags<<<detail::grid_of(n), detail::THREADS, 0, stream>>>(flag, n,
                                                                                reinterpret_cast<uint64_t *>(count));
        CUDA_CHECK(cudaGetLastError());
    }

    void gather(const rows &r, const uint8_t *flag, K *key, V *value, S *score, size_type *count,
                cudaStream_t stream) const
    {
        detail::append<<<detail::grid_of(r.n * 32), detail::THREADS, 0, stream>>>(r.key, r.value, r.score, flag, r.n,
                                                                                  options_.dim, key, value, score,
                                                                                  reinterpret_cast<uint64_t *>(count));
        CUDA_CHECK(cudaGetLastError());
    }

    void pointers_of(const rows &r, V **pointer, cudaStream_t stream) const
    {
        call c(*this, HD_OP_FIND_PTR, r.n, stream, true);
        c.keys(r.key);
        c.pointers(pointer);
        c.run();
    }

    void store_changed_scores(const rows &r, const S *before, cudaStream_t stream)
    {
        call c(*this, HD_OP_ASSIGN_SCORES, r.n, stream, true);
        size_type *changed = c.room.template take<size_type>(1);
        CUDA_CHECK(cudaMemsetAsync(changed, 0, sizeof *changed, stream));
        detail::differ<<<detail::grid_of(r.n), detail::THREADS, 0, stream>>>(before, r.score, r.n,
                                                                             reinterpret_cast<uint64_t *>(changed));
        if (read(changed, stream) == 0) return;
        c.inputs(r.key, nullptr, r.score, true);
        c.run();
        CUDA_CHECK(cudaStreamSynchronize(stream));
    }

    /* ---- Files ---- */

    /* Pinned memory for the rows of one piece. */
    struct host_rows {
        size_t n;
        K *key = nullptr;
        V *value = nullptr;
        S *score = nullptr;

        host_rows(const HashTable &t, size_t bytes) : allocator(t.allocator_), dim(t.options_.dim)
        {
            const size_t row = sizeof(K) + sizeof(S) + dim * sizeof(V);
            n = bytes / row;
            MERLIN_CHECK(n > 0, "max_workspace_size: an entry has " + std::to_string(row) + " bytes");
            const size_t values = (n * dim * sizeof(V) + 7) / 8 * 8;
            allocator->alloc(Pinned, &memory, n * (sizeof(K) + sizeof(S)) + values);
            char *p = static_cast<char *>(memory);
            key = reinterpret_cast<K *>(p);
            value = reinterpret_cast<V *>(p + n * sizeof(K));
            score = reinterpret_cast<S *>(p + n * sizeof(K) + values);
        }
        ~host_rows()
        {
            try {
                allocator->free(Pinned, memory);
            } catch (...) {
            }
        }
        host_rows(const host_rows &) = delete;
        host_rows &operator=(const host_rows &) = delete;

        void copy(K *device_key, V *device_value, S *device_score, size_t rows, cudaMemcpyKind kind,
                  cudaStream_t stream)
        {
            const bool out = kind == cudaMemcpyDeviceToHost;
            const auto one = [&](void *device, void *host, size_t bytes) {
                CUDA_CHECK(cudaMemcpyAsync(out ? host : device, out ? device : host, bytes, kind, stream));
            };
            one(device_key, key, rows * sizeof(K));
            one(device_value, value, rows * dim * sizeof(V));
            one(device_score, score, rows * sizeof(S));
        }

      private:
        BaseAllocator *allocator;
        size_t dim;
        void *memory = nullptr;
    };

    HashTableOptions options_;
    hd_table *table_ = nullptr;
    DefaultAllocator default_allocator_;
    mutable BaseAllocator *allocator_ = nullptr;
    detail::key_map map_;
    std::atomic<size_t> capacity_{ 0 };
    std::atomic<bool> may_grow_{ false };
    std::atomic<uint64_t> epoch_{ IGNORED_GLOBAL_EPOCH };
    std::mutex growth_;
    std::atomic<size_t> bound_{ 0 }; /* entries at most; written under growth_ */
    mutable std::shared_mutex calls_;
};

} // namespace merlin
} // namespace nv

#endif
