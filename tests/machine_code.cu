/* SPDX-License-Identifier: Apache-2.0
 *
 * machine_code.cu - kernels written twice: dialect_X in the dialect, cuda_X in the CUDA that one would write without
 * it. tests/t_machine_code.sh compares their machine code, instruction by instruction. one_X, at the end, calibrate the
 * reader: each has one instruction X besides what any kernel has.
 *
 * The table of the pairs: 128 slots a bucket, a power of two of buckets, values of 64 bytes.
 */
#include "simt/simt.h"

enum { SLOTS = 128, VALUE_WORDS = 4, WARP = 32 };

typedef struct table_args {
    const uint8_t *digest; /* (buckets, SLOTS)              */
    uint64_t *key;         /* (buckets, SLOTS)              */
    uint64_t *score;       /* (buckets, SLOTS)              */
    simt_v4 *value;        /* (buckets, SLOTS, VALUE_WORDS) */
    uint32_t *lock;        /* (buckets)                     */
    uint64_t last_bucket;
    const uint64_t *wanted; /* (n)              */
    simt_v4 *value_out;     /* (n, VALUE_WORDS) */
    uint8_t *found;         /* (n)              */
    uint32_t n;
} table_args;

/* ---- A thread per key: sixteen digests a load, streaming stores ------------------------------ */

SIMT_KERNEL(dialect_find_by_thread, table_args, a)
{
    uint32_t i = simt_block() * simt_threads() + simt_thread();
    if (i >= a.n) return;
    uint64_t key = simt_ld_u64(a.wanted + i), first = (key & a.last_bucket) * SLOTS;
    uint32_t pattern = (uint32_t)(key >> 56) * 0x01010101u, at = SLOTS;
    for (uint32_t s = 0; s < SLOTS && at == SLOTS; s += 16) {
        simt_v4 d = simt_ld_v4((const simt_v4 *)(a.digest + first + s));
        SIMT_UNROLL
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t match = simt_eq4(k == 0 ? d.x : k == 1 ? d.y : k == 2 ? d.z : d.w, pattern);
            while (match) {
                uint32_t slot = s + 4 * k + (simt_ffs(match) - 1) / 8;
                if (simt_ld_u64(a.key + first + slot) == key) at = slot;
                match &= match - 0x100;
                match &= match - 1;
            }
        }
    }
    simt_st_u8(a.found + i, at < SLOTS);
    if (at == SLOTS) return;
    SIMT_UNROLL
    for (uint32_t w = 0; w < VALUE_WORDS; w++) {
        simt_v4 v = simt_ld_v4(a.value + (first + at) * VALUE_WORDS + w);
        simt_stcs_v4(a.value_out + (size_t)i * VALUE_WORDS + w, v);
    }
}

extern "C" __global__ void cuda_find_by_thread(const __grid_constant__ table_args a)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.n) return;
    uint64_t key = a.wanted[i], first = (key & a.last_bucket) * SLOTS;
    uint32_t pattern = (uint32_t)(key >> 56) * 0x01010101u, at = SLOTS;
    for (uint32_t s = 0; s < SLOTS && at == SLOTS; s += 16) {
        uint4 d = *(const uint4 *)(a.digest + first + s);
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t match = __vcmpeq4(k == 0 ? d.x : k == 1 ? d.y : k == 2 ? d.z : d.w, pattern);
            while (match) {
                uint32_t slot = s + 4 * k + ((uint32_t)__ffs((int)match) - 1) / 8;
                if (a.key[first + slot] == key) at = slot;
                match &= match - 0x100;
                match &= match - 1;
            }
        }
    }
    uint8_t *found = a.found + i;
    *found = at < SLOTS;
    if (at == SLOTS) return;
#pragma unroll
    for (uint32_t w = 0; w < VALUE_WORDS; w++) {
        uint4 v = a.value[(first + at) * VALUE_WORDS + w];
        __stcs(a.value_out + (size_t)i * VALUE_WORDS + w, v);
    }
}

/* ---- A warp per key: a word of digests a lane, ballots, the value shared out ----------------- */

SIMT_KERNEL(dialect_find_by_warp, table_args, a)
{
    simt_tile t = simt_tile_of(WARP);
    uint32_t i = (simt_block() * simt_threads() + simt_thread()) / WARP;
    if (i >= a.n) return;
    uint64_t key = simt_ld_u64(a.wanted + i), first = (key & a.last_bucket) * SLOTS;
    uint32_t word = simt_ldrlx_u32((const uint32_t *)(a.digest + first) + t.rank);
    uint32_t match = simt_eq4(word, (uint32_t)(key >> 56) * 0x01010101u) & 0x01010101u, mine = SLOTS;
    while (match) {
        uint32_t slot = 4 * t.rank + (simt_ffs(match) - 1) / 8;
        if (simt_ldrlx_u64(a.key + first + slot) == key) mine = slot;
        match &= match - 1;
    }
    uint32_t who = simt_ballot(t, mine < SLOTS);
    if (t.rank == 0) simt_st_u8(a.found + i, who != 0);
    if (!who) return;
    uint32_t at = simt_shfl_u32(t, mine, simt_ffs(who) - 1);
    if (t.rank < VALUE_WORDS)
        simt_stcs_v4(a.value_out + (size_t)i * VALUE_WORDS + t.rank,
                     simt_ldrlx_v4(a.value + (first + at) * VALUE_WORDS + t.rank));
}

static __device__ uint32_t load_u32(const uint32_t *p)
{
    uint32_t v;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(__cvta_generic_to_global(p)) : "memory");
    return v;
}

static __device__ uint64_t load_u64(const uint64_t *p)
{
    uint64_t v;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(__cvta_generic_to_global(p)) : "memory");
    return v;
}

static __device__ uint4 load_uint4(const uint4 *p)
{
    uint4 v;
    asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(__cvta_generic_to_global(p))
                 : "memory");
    return v;
}

extern "C" __global__ void cuda_find_by_warp(const __grid_constant__ table_args a)
{
    uint32_t lane = threadIdx.x & 31, i = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    if (i >= a.n) return;
    uint64_t key = a.wanted[i], first = (key & a.last_bucket) * SLOTS;
    uint32_t word = load_u32((const uint32_t *)(a.digest + first) + lane);
    uint32_t match = __vcmpeq4(word, (uint32_t)(key >> 56) * 0x01010101u) & 0x01010101u, mine = SLOTS;
    while (match) {
        uint32_t slot = 4 * lane + ((uint32_t)__ffs((int)match) - 1) / 8;
        if (load_u64(a.key + first + slot) == key) mine = slot;
        match &= match - 1;
    }
    uint32_t who = __ballot_sync(0xffffffffu, mine < SLOTS);
    if (lane == 0) a.found[i] = who != 0;
    if (!who) return;
    uint32_t at = __shfl_sync(0xffffffffu, mine, __ffs((int)who) - 1);
    if (lane < VALUE_WORDS)
        __stcs(a.value_out + (size_t)i * VALUE_WORDS + lane, load_uint4(a.value + (first + at) * VALUE_WORDS + lane));
}

/* ---- A bucket's lock, an update under it ----------------------------------------------------- */

SIMT_KERNEL(dialect_update_under_lock, table_args, a)
{
    uint32_t i = simt_block() * simt_threads() + simt_thread();
    if (i >= a.n) return;
    uint64_t key = simt_ld_u64(a.wanted + i), b = key & a.last_bucket;
    for (bool done = false; !done;) {
        if (simt_cas_u32(a.lock + b, 0, 1, SIMT_ACQUIRE) == 0) {
            uint64_t score = simt_ld_u64(a.score + b * SLOTS);
            simt_st_u64(a.score + b * SLOTS, score + key);
            simt_ticket(i, 1, key, b);
            simt_strel_u32(a.lock + b, 0);
            done = true;
        } else {
            simt_backoff(100);
        }
    }
}

extern "C" __global__ void cuda_update_under_lock(const __grid_constant__ table_args a)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.n) return;
    uint64_t key = a.wanted[i], b = key & a.last_bucket;
    for (bool done = false; !done;) {
        uint32_t old;
        asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], 0, 1;"
                     : "=r"(old)
                     : "l"(__cvta_generic_to_global(a.lock + b))
                     : "memory");
        if (old == 0) {
            a.score[b * SLOTS] += key;
            asm volatile("st.release.gpu.global.u32 [%0], 0;" : : "l"(__cvta_generic_to_global(a.lock + b)) : "memory");
            done = true;
        } else {
            __nanosleep(100);
        }
    }
}

/* ---- Reductions: the least score of a bucket by a warp, its sum by tiles of eight ------------ */

SIMT_KERNEL(dialect_reduce, table_args, a)
{
    simt_tile w = simt_tile_of(WARP), t = simt_tile_of(8);
    uint64_t b = (simt_block() * simt_threads() + simt_thread()) / WARP;
    uint64_t score = simt_ld_u64(a.score + b * SLOTS + w.rank);
    uint32_t least = simt_reduce_min_u32(w, (uint32_t)score);
    uint64_t sum = simt_reduce_add_u64(t, score);
    if (t.rank == 0) simt_st_u64(a.key + b * SLOTS + w.rank, sum + least);
}

extern "C" __global__ void cuda_reduce(const __grid_constant__ table_args a)
{
    uint32_t lane = threadIdx.x & 31;
    uint32_t tile = 0xffu << (lane & ~7u);
    uint64_t b = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    unsigned long long score = a.score[b * SLOTS + lane], sum = score;
    uint32_t least = __reduce_min_sync(0xffffffffu, (uint32_t)score);
#pragma unroll
    for (int bit = 4; bit > 0; bit /= 2) sum += __shfl_xor_sync(tile, sum, bit);
    if ((lane & 7) == 0) {
        uint64_t *to = a.key + b * SLOTS + lane;
        *to = sum + least;
    }
}

/* ---- Values through shared memory by asynchronous copies, two buffers a warp ----------------- */

SIMT_KERNEL(dialect_copy_async, table_args, a)
{
    SIMT_SHARED(simt_v4, buffer, 2 * WARP);
    uint32_t lane = simt_thread();
    simt_copy16_async(buffer + lane, a.value + lane);
    simt_copy_commit();
    for (uint32_t i = 1; i <= a.n; i++) {
        if (i < a.n) simt_copy16_async(buffer + (i & 1) * WARP + lane, a.value + (size_t)i * WARP + lane);
        simt_copy_commit();
        simt_copy_wait(1);
        simt_st_v4(a.value_out + (size_t)(i - 1) * WARP + lane, simt_ld_v4(buffer + ((i - 1) & 1) * WARP + lane));
    }
}

extern "C" __global__ void cuda_copy_async(const __grid_constant__ table_args a)
{
    __shared__ __align__(16) uint4 buffer[2 * WARP];
    uint32_t lane = threadIdx.x;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :
                 : "r"((uint32_t)__cvta_generic_to_shared(buffer + lane)), "l"(__cvta_generic_to_global(a.value + lane))
                 : "memory");
    asm volatile("cp.async.commit_group;" : : : "memory");
    for (uint32_t i = 1; i <= a.n; i++) {
        if (i < a.n)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                         :
                         : "r"((uint32_t)__cvta_generic_to_shared(buffer + (i & 1) * WARP + lane)),
                           "l"(__cvta_generic_to_global(a.value + (size_t)i * WARP + lane))
                         : "memory");
        asm volatile("cp.async.commit_group;" : : : "memory");
        asm volatile("cp.async.wait_group 1;" : : : "memory");
        a.value_out[(size_t)(i - 1) * WARP + lane] = buffer[((i - 1) & 1) * WARP + lane];
    }
}

/* ---- Calibration: the reader of machine code must see exactly this --------------------------- */

typedef struct one_args {
    uint64_t *p;
    uint32_t x, y;
} one_args;

#define ONE(name, ...) \
    extern "C" __global__ void one_##name(const __grid_constant__ one_args a) { __VA_ARGS__; }
#define ASM_u32(text) asm volatile(text : : "l"(__cvta_generic_to_global(a.p)), "r"(a.x), "r"(a.y) : "memory")

ONE(STG_8, ASM_u32("{ st.global.u8 [%0], %1; }"))
ONE(STG_32, ASM_u32("{ st.global.u32 [%0], %1; }"))
ONE(STG_64, ASM_u32("{ st.global.v2.u32 [%0], {%1, %2}; }"))
ONE(STG_128, ASM_u32("{ st.global.v4.u32 [%0], {%1, %2, %1, %2}; }"))
ONE(LDG_8, ASM_u32("{ .reg .u32 r; ld.global.u8 r, [%0]; st.global.u32 [%0 + 4], r; }"))
ONE(LDG_32, ASM_u32("{ .reg .u32 r; ld.global.u32 r, [%0]; st.global.u32 [%0 + 4], r; }"))
ONE(LDG_64, ASM_u32("{ .reg .u32 r, s; ld.global.v2.u32 {r, s}, [%0]; add.u32 r, r, s; st.global.u32 [%0 + 4], r; }"))
ONE(LDG_128, ASM_u32("{ .reg .u32 r, s, t, u; ld.global.v4.u32 {r, s, t, u}, [%0];"
                     "add.u32 r, r, s; add.u32 t, t, u; add.u32 r, r, t; st.global.u32 [%0 + 4], r; }"))
ONE(ATOM, ASM_u32("{ .reg .u32 r; atom.relaxed.gpu.global.cas.b32 r, [%0], %1, %2; }"))
ONE(LDGSTS, ASM_u32("{ cp.async.cg.shared.global [%1], [%0], 16; }"))
ONE(NANOSLEEP, ASM_u32("{ nanosleep.u32 %1; }"))
ONE(LDL, volatile uint32_t far_[64]; far_[a.x & 63] = a.y; *(uint32_t *)a.p = far_[a.y & 63])
ONE(STL, volatile uint32_t far_[64]; far_[a.x & 63] = a.y; *(uint32_t *)a.p = far_[0])
static __device__ __noinline__ uint32_t elsewhere(uint32_t x)
{
    asm volatile("nanosleep.u32 %0;" : : "r"(x));
    return x + 1;
}
ONE(CALL, *(uint32_t *)a.p = elsewhere(a.x))
