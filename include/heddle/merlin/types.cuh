/* SPDX-License-Identifier: Apache-2.0
 *
 * merlin/types.cuh - the constants of keys and scores, and the base class of files, as programs written for
 * HierarchicalKV use them.
 */
#ifndef HEDDLE_MERLIN_TYPES_CUH
#define HEDDLE_MERLIN_TYPES_CUH

#include <cstddef>
#include <cstdint>

namespace nv
{
namespace merlin
{

/* Keys that no entry has. */
constexpr uint64_t DEFAULT_EMPTY_KEY = UINT64_MAX;
constexpr uint64_t DEFAULT_RECLAIM_KEY = UINT64_MAX - 1;
constexpr uint64_t DEFAULT_LOCKED_KEY = UINT64_MAX - 2;

/* Whether no entry has the key; reserved_key_start_bit is 0. */
template <class K> __host__ __device__ constexpr bool IS_RESERVED_KEY(K key)
{
    return static_cast<uint64_t>(key) >= DEFAULT_LOCKED_KEY;
}

constexpr uint64_t MAX_SCORE = UINT64_MAX;
constexpr uint64_t EMPTY_SCORE = 0;
constexpr uint64_t IGNORED_GLOBAL_EPOCH = UINT64_MAX;

constexpr int MAX_RESERVED_KEY_BIT = 62;

/* HashTable's last parameter. It has no effect: libheddle contains kernels for each architecture that it was built
 * for. */
struct Sm70 {
};
struct Sm72 {
};
struct Sm75 {
};
struct Sm80 {
};
struct Sm86 {
};
struct Sm90 {
};

/* What HashTable::save writes and HashTable::load reads: rows of a key, `dim` elements and a score. */
template <class K, class V, class S> class BaseKVFile
{
  public:
    virtual ~BaseKVFile() = default;
    /* Reads at most n rows, and returns how many; 0 at the end of the file. The arrays are in host memory. */
    virtual size_t read(const size_t n, const size_t dim, K *keys, V *vectors, S *scores) = 0;
    /* Appends n rows, and returns how many were written. */
    virtual size_t write(const size_t n, const size_t dim, const K *keys, const V *vectors, const S *scores) = 0;
};

} // namespace merlin
} // namespace nv

#endif
