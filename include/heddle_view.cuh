/* SPDX-License-Identifier: Apache-2.0
 *
 * heddle_view.cuh - functors of the caller over a table on a device: visitors and predicates that no name in
 * hd_batch.pred says. C++17, compiled by nvcc. An entry is passed as const hd_view_entry &.
 *
 *     heddle::for_each(table, stream, [=] __device__(const hd_view_entry &e) { ... });
 *     uint64_t n;
 *     heddle::count_if(table, stream, [=] __device__(const hd_view_entry &e) { return e.score < old; }, &n);
 *     heddle::erase_if(table, stream, [=] __device__(const hd_view_entry &e) { return is_odd(e.key); }, &n);
 */
#ifndef HEDDLE_VIEW_CUH
#define HEDDLE_VIEW_CUH

#include <cuda_runtime.h>

#include "heddle_view.h"

namespace heddle
{

namespace view_detail
{

enum : unsigned { THREADS = 256, BLOCKS_MOST = 4096 };
enum : uint64_t { PART = 1 << 20 }; /* slots whose keys are listed at a time */

inline unsigned blocks(uint64_t n)
{
    const uint64_t all = (n + THREADS - 1) / THREADS;
    return all == 0 ? 1 : all < BLOCKS_MOST ? unsigned(all) : unsigned(BLOCKS_MOST);
}

template <class F> __global__ void visit(hd_view v, uint64_t first, uint64_t last, F f)
{
    const uint64_t stride = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t slot = first + blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; slot < last; slot += stride) {
        hd_view_entry e;
        if (hd_view_row(&v, slot, &e)) f(e);
    }
}

/* Counts the entries for which pred is true; key: not NULL: lists their keys, in any order. */
template <class P> struct matches {
    P pred;
    unsigned long long *count;
    uint64_t *key;
    __device__ void operator()(const hd_view_entry &e) const
    {
        if (!pred(e)) return;
        const unsigned long long at = atomicAdd(count, 1ull);
        if (key) key[at] = e.key;
    }
};

inline hd_status told(cudaError_t e) { return e == cudaSuccess ? HD_OK : HD_ECUDA; }

/* How many items of a batch had the outcome ERASED. A template, so that several files of a program may have it. */
template <class Byte> __global__ void count_erased(const Byte *outcome, uint64_t n, unsigned long long *count)
{
    const uint64_t stride = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < n; i += stride)
        if (outcome[i] == HD_ERASED) atomicAdd(count, 1ull);
}

/* Memory of the stream: a counter, and room for n keys and their outcomes. */
class room
{
  public:
    room(cudaStream_t stream, uint64_t n) : stream_(stream), n_(n)
    {
        status = told(cudaMallocAsync(&memory_, sizeof(uint64_t) + n * (sizeof(uint64_t) + 1), stream));
    }
    ~room()
    {
        if (memory_) cudaFreeAsync(memory_, stream_);
    }
    room(const room &) = delete;
    room &operator=(const room &) = delete;
    unsigned long long *count() const { return static_cast<unsigned long long *>(memory_); }
    uint64_t *keys() const { return static_cast<uint64_t *>(memory_) + 1; }
    uint8_t *outcomes() const { return reinterpret_cast<uint8_t *>(keys() + n_); }
    hd_status clear() const { return told(cudaMemsetAsync(memory_, 0, sizeof(uint64_t), stream_)); }
    hd_status read(uint64_t *n) const
    {
        hd_status e = told(cudaMemcpyAsync(n, memory_, sizeof *n, cudaMemcpyDeviceToHost, stream_));
        return e ? e : told(cudaStreamSynchronize(stream_));
    }
    hd_status status;

  private:
    void *memory_ = nullptr;
    cudaStream_t stream_;
    uint64_t n_;
};

/* Erases the n keys of the room; *erased: how many were there, and not pinned. */
inline hd_status erase(hd_table *table, cudaStream_t stream, const room &r, uint64_t n, uint64_t *erased)
{
    hd_batch b{};
    b.op = HD_OP_ERASE;
    b.n = n;
    b.distinct = true;
    b.key = r.keys();
    b.outcome = r.outcomes();
    b.stream = stream;
    hd_status e = hd_run(table, &b);
    if (!e) e = r.clear();
    if (!e) count_erased<<<blocks(n), THREADS, 0, stream>>>(r.outcomes(), n, r.count());
    if (!e) e = told(cudaGetLastError());
    return e ? e : r.read(erased);
}

/* *places: the slots of the table. */
template <class F>
hd_status run(hd_table *table, cudaStream_t stream, uint64_t first, uint64_t n, F f, uint64_t *places)
{
    hd_view v;
    hd_status e = hd_view_open(table, stream, &v);
    if (e) return e;
    *places = v.places;
    const uint64_t last = n < v.places && first < v.places - n ? first + n : v.places;
    if (first < last) visit<<<blocks(last - first), THREADS, 0, stream>>>(v, first, last, f);
    e = told(cudaGetLastError());
    const hd_status closed = hd_view_close(table, stream);
    return e ? e : closed;
}

} // namespace view_detail

/* Calls f for every entry, on the device. Returns when the kernel is on the stream. */
template <class F> hd_status for_each(hd_table *table, cudaStream_t stream, F f)
{
    uint64_t places;
    return view_detail::run(table, stream, 0, UINT64_MAX, f, &places);
}

/* *n: the number of entries for which pred is true. Waits. */
template <class P> hd_status count_if(hd_table *table, cudaStream_t stream, P pred, uint64_t *n)
{
    uint64_t places;
    view_detail::room room(stream, 0);
    hd_status e = room.status;
    if (!e) e = room.clear();
    if (!e)
        e = view_detail::run(table, stream, 0, UINT64_MAX, view_detail::matches<P>{ pred, room.count(), nullptr },
                             &places);
    return e ? e : room.read(n);
}

/* Erases the entries for which pred is true, a million slots at a time; *n: how many. An entry that another stream
 * inserts at the same time may be left. Pinned entries stay. Waits. */
template <class P> hd_status erase_if(hd_table *table, cudaStream_t stream, P pred, uint64_t *n)
{
    using namespace view_detail;
    room room(stream, PART);
    hd_status e = room.status;
    uint64_t places = 1, erased = 0;
    for (uint64_t first = 0; first < places && !e; first += PART) {
        uint64_t listed = 0, gone = 0;
        e = room.clear();
        if (!e) e = run(table, stream, first, PART, matches<P>{ pred, room.count(), room.keys() }, &places);
        if (!e) e = room.read(&listed);
        if (!e && listed) e = erase(table, stream, room, listed, &gone);
        erased += gone;
    }
    if (!e) *n = erased;
    return e;
}

} // namespace heddle

#endif
