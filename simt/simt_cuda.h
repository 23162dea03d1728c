/* SPDX-License-Identifier: Apache-2.0
 *
 * simt_cuda.h - the dialect on CUDA, sm_80 and later: every operation is the instruction that its name says. What
 * the host machine wants to know besides (sites, tickets, joins) is nothing here. tests/machine_code.cu shows
 * that kernels written in it are, instruction by instruction, those that one would write without it.
 *
 * Blocks have one dimension. Relaxed, ordered and streaming accesses and read-modify-writes are of global memory;
 * plain ones reach shared memory too.
 */
#ifndef HD_SIMT_CUDA_H
#define HD_SIMT_CUDA_H

#define SIMT_FN            static __device__ __forceinline__
#define SIMT_FN_APART      static __device__ __noinline__
#define SIMT_UNROLL        _Pragma("unroll")
#define SIMT_UNROLL_BY(n)  SIMT_PRAGMA(unroll n)
#define SIMT_ROLLED        SIMT_UNROLL_BY(1)
#define SIMT_PRAGMA(words) _Pragma(#words)

/* An argument by value that is never copied: its address may be taken (__grid_constant__). The kernel's name is C++'s,
 * for a library may have the host machine's kernel of the same name, which is C's. */
#define SIMT_KERNEL(name, args_type, a) __global__ void name(const __grid_constant__ args_type a)

/* The kernel NAME calls TEXT with a pointer to its arguments. */
#define SIMT_ENTRY(name, args_type, text) \
    SIMT_KERNEL(name, args_type, a) { text(&a); }

typedef uint4 simt_v4; /* as the host's: x y z w, aligned to 16 */

/* ---- Identity -------------------------------------------------------------------------------- */

SIMT_FN uint32_t simt_lane(void) { return threadIdx.x & 31; }
SIMT_FN uint32_t simt_thread(void) { return threadIdx.x; }
SIMT_FN uint32_t simt_threads(void) { return blockDim.x; }
SIMT_FN uint32_t simt_block(void) { return blockIdx.x; }
SIMT_FN uint32_t simt_blocks(void) { return gridDim.x; }

/* The device takes it from the host's clock when it is attached, and counts on by its own oscillator: it is not set
 * again, and does not go back. */
SIMT_FN uint64_t simt_clock_ns(void)
{
    uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

/* ---- Memory: loads and stores ---------------------------------------------------------------- */

SIMT_FN size_t simt_global(const void *p) { return __cvta_generic_to_global(p); }
SIMT_FN uint32_t simt_shared(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

#define SIMT_PLAIN(t, T)                             \
    SIMT_FN T simt_ld_##t(const T *p) { return *p; } \
    SIMT_FN void simt_st_##t(T *p, T v) { *p = v; }
SIMT_PLAIN(u8, uint8_t)
SIMT_PLAIN(u32, uint32_t)
SIMT_PLAIN(u64, uint64_t)
SIMT_PLAIN(v4, simt_v4)
#undef SIMT_PLAIN

SIMT_FN simt_v4 simt_ldcs_v4(const simt_v4 *p) { return __ldcs(p); }
SIMT_FN void simt_stcs_v4(simt_v4 *p, simt_v4 v) { __stcs(p, v); }

/* simt_NAME_t: `ld.` or `st.` with an order. reg is the register's letter. */
#define SIMT_LOAD(name, order, t, T, type, reg)                                                                   \
    SIMT_FN T simt_##name##_##t(const T *p)                                                                       \
    {                                                                                                             \
        T v;                                                                                                      \
        asm volatile("ld." order ".gpu.global." type " %0, [%1];" : "=" reg(v) : "l"(simt_global(p)) : "memory"); \
        return v;                                                                                                 \
    }
#define SIMT_STORE(name, order, t, T, type, reg)                                                               \
    SIMT_FN void simt_##name##_##t(T *p, T v)                                                                  \
    {                                                                                                          \
        asm volatile("st." order ".gpu.global." type " [%0], %1;" : : "l"(simt_global(p)), reg(v) : "memory"); \
    }
SIMT_LOAD(ldrlx, "relaxed", u32, uint32_t, "u32", "r")
SIMT_LOAD(ldrlx, "relaxed", u64, uint64_t, "u64", "l")
SIMT_LOAD(ldacq, "acquire", u32, uint32_t, "u32", "r")
SIMT_LOAD(ldacq, "acquire", u64, uint64_t, "u64", "l")
SIMT_STORE(strlx, "relaxed", u32, uint32_t, "u32", "r")
SIMT_STORE(strlx, "relaxed", u64, uint64_t, "u64", "l")
SIMT_STORE(strel, "release", u32, uint32_t, "u32", "r")
SIMT_STORE(strel, "release", u64, uint64_t, "u64", "l")
#undef SIMT_LOAD
#undef SIMT_STORE

/* There are no 8-bit registers. */
SIMT_FN uint8_t simt_ldrlx_u8(const uint8_t *p)
{
    uint32_t v;
    asm volatile("ld.relaxed.gpu.global.u8 %0, [%1];" : "=r"(v) : "l"(simt_global(p)) : "memory");
    return (uint8_t)v;
}

SIMT_FN void simt_strlx_u8(uint8_t *p, uint8_t v)
{
    asm volatile("st.relaxed.gpu.global.u8 [%0], %1;" : : "l"(simt_global(p)), "r"((uint32_t)v) : "memory");
}

#define SIMT_LOAD_V4(name, order)                                             \
    SIMT_FN simt_v4 simt_##name##_v4(const simt_v4 *p)                        \
    {                                                                         \
        simt_v4 v;                                                            \
        asm volatile("ld." order ".gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];" \
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)             \
                     : "l"(simt_global(p))                                    \
                     : "memory");                                             \
        return v;                                                             \
    }
SIMT_LOAD_V4(ldrlx, "relaxed")
SIMT_LOAD_V4(ldacq, "acquire")
#undef SIMT_LOAD_V4

SIMT_FN void simt_strlx_v4(simt_v4 *p, simt_v4 v)
{
    asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(simt_global(p)), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
                 : "memory");
}

#define SIMT_LOAD_2U64(name, order)                                              \
    SIMT_FN void simt_##name##_2u64(const uint64_t *p, uint64_t *a, uint64_t *b) \
    {                                                                            \
        uint64_t x, y;                                                           \
        asm volatile("ld." order ".gpu.global.v2.u64 {%0, %1}, [%2];"            \
                     : "=l"(x), "=l"(y)                                          \
                     : "l"(simt_global(p))                                       \
                     : "memory");                                                \
        *a = x;                                                                  \
        *b = y;                                                                  \
    }
SIMT_LOAD_2U64(ldrlx, "relaxed")
SIMT_LOAD_2U64(ldacq, "acquire")
#undef SIMT_LOAD_2U64

SIMT_FN void simt_strel_2u64(uint64_t *p, uint64_t a, uint64_t b)
{
    asm volatile("st.release.gpu.global.v2.u64 [%0], {%1, %2};" : : "l"(simt_global(p)), "l"(a), "l"(b) : "memory");
}

/* ---- Memory: read-modify-writes -------------------------------------------------------------- */

/* `order` is a literal, so one of the four remains. The old value. */
#define SIMT_ATOMIC(name, T, parameters, ATOM, op, reg)     \
    SIMT_FN T name parameters                               \
    {                                                       \
        T old;                                              \
        switch (order) {                                    \
        case SIMT_RELAXED: ATOM("relaxed", op, reg); break; \
        case SIMT_ACQUIRE: ATOM("acquire", op, reg); break; \
        case SIMT_RELEASE: ATOM("release", op, reg); break; \
        default: ATOM("acq_rel", op, reg); break;           \
        }                                                   \
        return old;                                         \
    }
#define SIMT_RMW(name, T, op, reg) SIMT_ATOMIC(name, T, (T * p, T v, int order), SIMT_ATOM, op, reg)
#define SIMT_ATOM(order, op, reg)                                 \
    asm volatile("atom." order ".gpu.global." op " %0, [%1], %2;" \
                 : "=" reg(old)                                   \
                 : "l"(simt_global(p)), reg(v)                    \
                 : "memory")
SIMT_RMW(simt_exch_u32, uint32_t, "exch.b32", "r")
SIMT_RMW(simt_exch_u64, uint64_t, "exch.b64", "l")
SIMT_RMW(simt_add_u32, uint32_t, "add.u32", "r")
SIMT_RMW(simt_add_u64, uint64_t, "add.u64", "l")
SIMT_RMW(simt_min_u32, uint32_t, "min.u32", "r")
SIMT_RMW(simt_min_u64, uint64_t, "min.u64", "l")
SIMT_RMW(simt_max_u32, uint32_t, "max.u32", "r")
SIMT_RMW(simt_max_u64, uint64_t, "max.u64", "l")
SIMT_RMW(simt_and_u32, uint32_t, "and.b32", "r")
SIMT_RMW(simt_or_u32, uint32_t, "or.b32", "r")
#undef SIMT_RMW
#undef SIMT_ATOM

#define SIMT_CAS(order, type, reg)                                          \
    asm volatile("atom." order ".gpu.global.cas." type " %0, [%1], %2, %3;" \
                 : "=" reg(old)                                             \
                 : "l"(simt_global(p)), reg(expected), reg(desired)         \
                 : "memory")
SIMT_ATOMIC(simt_cas_u32, uint32_t, (uint32_t * p, uint32_t expected, uint32_t desired, int order), SIMT_CAS, "b32",
            "r")
SIMT_ATOMIC(simt_cas_u64, uint64_t, (uint64_t * p, uint64_t expected, uint64_t desired, int order), SIMT_CAS, "b64",
            "l")
#undef SIMT_CAS
#undef SIMT_ATOMIC

/* Floats as bits; relaxed. */
SIMT_FN uint32_t simt_add_f32(uint32_t *p, uint32_t bits)
{
    float old;
    asm volatile("atom.relaxed.gpu.global.add.f32 %0, [%1], %2;"
                 : "=f"(old)
                 : "l"(simt_global(p)), "f"(simt_float_of(bits))
                 : "memory");
    return simt_bits_of(old);
}

SIMT_FN uint64_t simt_add_f64(uint64_t *p, uint64_t bits)
{
    double old;
    asm volatile("atom.relaxed.gpu.global.add.f64 %0, [%1], %2;"
                 : "=d"(old)
                 : "l"(simt_global(p)), "d"(__longlong_as_double((long long)bits))
                 : "memory");
    return (uint64_t)__double_as_longlong(old);
}

SIMT_FN uint32_t simt_add_f16(uint16_t *p, uint32_t bits)
{
    uint16_t old;
    asm volatile("atom.relaxed.gpu.global.add.noftz.f16 %0, [%1], %2;"
                 : "=h"(old)
                 : "l"(simt_global(p)), "h"((uint16_t)bits)
                 : "memory");
    return old;
}

/* Before compute capability 9.0 there is no such instruction: a CAS of the word that has the number. */
SIMT_FN uint32_t simt_add_bf16(uint16_t *p, uint32_t bits)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    uint32_t *word = (uint32_t *)(void *)((uintptr_t)p & ~(uintptr_t)3);
    uint32_t shift = (uintptr_t)p % 4 * 8, there, seen = simt_ldrlx_u32(word);
    do {
        there = seen;
        uint32_t sum = simt_sum_bf16(there >> shift & 0xffffu, bits) << shift;
        seen = simt_cas_u32(word, there, (there & ~(0xffffu << shift)) | sum, SIMT_RELAXED);
    } while (seen != there);
    return seen >> shift & 0xffffu;
#else
    uint16_t old;
    asm volatile("atom.relaxed.gpu.global.add.noftz.bf16 %0, [%1], %2;"
                 : "=h"(old)
                 : "l"(simt_global(p)), "h"((uint16_t)bits)
                 : "memory");
    return old;
#endif
}

/* Sixteen bytes of floats by one instruction; before compute capability 9.0 by one for each float. */
SIMT_FN void simt_add_4f32(uint32_t *p, simt_v4 v)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    simt_add_f32(p, v.x);
    simt_add_f32(p + 1, v.y);
    simt_add_f32(p + 2, v.z);
    simt_add_f32(p + 3, v.w);
#else
    asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(simt_global(p)), "f"(simt_float_of(v.x)), "f"(simt_float_of(v.y)), "f"(simt_float_of(v.z)),
                   "f"(simt_float_of(v.w))
                 : "memory");
#endif
}

SIMT_FN void simt_add_8f16(uint16_t *p, simt_v4 v)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    for (uint32_t k = 0; k < 8; k++)
        simt_add_f16(p + k, (k < 2 ? v.x : k < 4 ? v.y : k < 6 ? v.z : v.w) >> k % 2 * 16 & 0xffffu);
#else
    asm volatile("red.relaxed.gpu.global.add.noftz.v4.f16x2 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(simt_global(p)), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
                 : "memory");
#endif
}

SIMT_FN void simt_add_8bf16(uint16_t *p, simt_v4 v)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    for (uint32_t k = 0; k < 8; k++)
        simt_add_bf16(p + k, (k < 2 ? v.x : k < 4 ? v.y : k < 6 ? v.z : v.w) >> k % 2 * 16 & 0xffffu);
#else
    asm volatile("red.relaxed.gpu.global.add.noftz.v4.bf16x2 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(simt_global(p)), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
                 : "memory");
#endif
}

SIMT_FN void simt_fence(void) { __threadfence(); }
SIMT_FN void simt_fence_system(void) { __threadfence_system(); }

/* ---- Shared memory and copies into it -------------------------------------------------------- */

/* A pointer, as on the host. */
#define SIMT_SHARED(T, name, n)                 \
    __shared__ __align__(16) T name##_bytes[n]; \
    T *const name = name##_bytes

SIMT_FN uint32_t simt_shared_add_u32(uint32_t *p, uint32_t v)
{
    uint32_t old;
    asm volatile("atom.relaxed.cta.shared.add.u32 %0, [%1], %2;" : "=r"(old) : "r"(simt_shared(p)), "r"(v) : "memory");
    return old;
}

SIMT_FN uint32_t simt_shared_cas_u32(uint32_t *p, uint32_t expected, uint32_t desired)
{
    uint32_t old;
    asm volatile("atom.relaxed.cta.shared.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(old)
                 : "r"(simt_shared(p)), "r"(expected), "r"(desired)
                 : "memory");
    return old;
}

/* Past the first-level cache (.cg): what is copied once is not read again there. */
SIMT_FN void simt_copy16_async(void *shared, const void *global)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :
                 : "r"(simt_shared(shared)), "l"(simt_global(global))
                 : "memory");
}

/* Through the first-level cache, which keeps the line for the other lanes of the multiprocessor. */
SIMT_FN void simt_copy16_const_async(void *shared, const void *global)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;"
                 :
                 : "r"(simt_shared(shared)), "l"(simt_global(global))
                 : "memory");
}

/* The hardware copies sixteen bytes of one sector at a time; as little as a relaxed load it keeps what it read. */
SIMT_FN void simt_copy16_rlx_async(void *shared, const void *global) { simt_copy16_async(shared, global); }

SIMT_FN void simt_copy_commit(void) { asm volatile("cp.async.commit_group;" : : : "memory"); }

#define simt_copy_wait(n) asm volatile("cp.async.wait_group %0;" : : "n"(n) : "memory")

/* ---- Tiles and collectives ------------------------------------------------------------------- */

/* A tile of one lane needs no collective: where the size is a constant, nothing remains. */
SIMT_FN uint32_t simt_ballot(simt_tile t, bool p) { return t.size == 1 ? p : __ballot_sync(t.mask, p) >> t.base; }
SIMT_FN bool simt_any(simt_tile t, bool p) { return t.size == 1 ? p : __any_sync(t.mask, p); }
SIMT_FN bool simt_all(simt_tile t, bool p) { return t.size == 1 ? p : __all_sync(t.mask, p); }
SIMT_FN void simt_sync_tile(simt_tile t)
{
    if (t.size > 1) __syncwarp(t.mask);
}
SIMT_FN void simt_sync_block(void) { __syncthreads(); }

#define SIMT_SHUFFLES(t, T, wide)                                                                  \
    SIMT_FN T simt_shfl_##t(simt_tile tile, T v, uint32_t rank)                                    \
    {                                                                                              \
        return tile.size == 1 ? v : (T)__shfl_sync(tile.mask, (wide)v, (int)rank, (int)tile.size); \
    }                                                                                              \
    SIMT_FN T simt_shfl_xor_##t(simt_tile tile, T v, uint32_t bits)                                \
    {                                                                                              \
        return tile.size == 1 ? v : (T)__shfl_xor_sync(tile.mask, (wide)v, (int)bits);             \
    }
SIMT_SHUFFLES(u32, uint32_t, unsigned)
SIMT_SHUFFLES(u64, uint64_t, unsigned long long)
#undef SIMT_SHUFFLES

/* A butterfly: log2(size) exchanges give the result to every lane of the tile. */
#define SIMT_BUTTERFLY(name, t, T, JOIN)                        \
    SIMT_FN T simt_butterfly_##name##_##t(simt_tile tile, T v)  \
    {                                                           \
        SIMT_UNROLL                                             \
        for (uint32_t bit = tile.size / 2; bit > 0; bit /= 2) { \
            T other = simt_shfl_xor_##t(tile, v, bit);          \
            v = JOIN;                                           \
        }                                                       \
        return v;                                               \
    }
SIMT_BUTTERFLY(min, u32, uint32_t, other < v ? other : v)
SIMT_BUTTERFLY(max, u32, uint32_t, other > v ? other : v)
SIMT_BUTTERFLY(add, u32, uint32_t, v + other)
SIMT_BUTTERFLY(min, u64, uint64_t, other < v ? other : v)
SIMT_BUTTERFLY(add, u64, uint64_t, v + other)
#undef SIMT_BUTTERFLY

/* A whole warp has an instruction for 32 bits (redux.sync). Smaller tiles would take it in turns. */
SIMT_FN uint32_t simt_reduce_min_u32(simt_tile t, uint32_t v)
{
    return t.size == 32 ? __reduce_min_sync(t.mask, v) : simt_butterfly_min_u32(t, v);
}

SIMT_FN uint32_t simt_reduce_max_u32(simt_tile t, uint32_t v)
{
    return t.size == 32 ? __reduce_max_sync(t.mask, v) : simt_butterfly_max_u32(t, v);
}

SIMT_FN uint32_t simt_reduce_add_u32(simt_tile t, uint32_t v)
{
    return t.size == 32 ? __reduce_add_sync(t.mask, v) : simt_butterfly_add_u32(t, v);
}

/* The least upper half, then the least lower half among those that have it: 2 instructions for 10 shuffles. */
SIMT_FN uint64_t simt_reduce_min_u64(simt_tile t, uint64_t v)
{
    if (t.size != 32) return simt_butterfly_min_u64(t, v);
    uint32_t high = __reduce_min_sync(t.mask, (uint32_t)(v >> 32));
    uint32_t low = __reduce_min_sync(t.mask, (uint32_t)(v >> 32) == high ? (uint32_t)v : 0xffffffffu);
    return (uint64_t)high << 32 | low;
}

SIMT_FN uint64_t simt_reduce_add_u64(simt_tile t, uint64_t v) { return simt_butterfly_add_u64(t, v); }

SIMT_FN uint32_t simt_match_u64(simt_tile t, uint64_t v)
{
    return __match_any_sync(t.mask, (unsigned long long)v) >> t.base;
}

/* ---- The rest -------------------------------------------------------------------------------- */

SIMT_FN uint32_t simt_ffs(uint32_t x) { return (uint32_t)__ffs((int)x); }
SIMT_FN uint32_t simt_popc(uint32_t x) { return (uint32_t)__popc(x); }
SIMT_FN uint32_t simt_eq4(uint32_t a, uint32_t b) { return __vcmpeq4(a, b); }
SIMT_FN void simt_backoff(uint32_t ns) { __nanosleep(ns); }

#define simt_started(item) ((void)sizeof(item))
#define simt_owns(item, b) ((void)sizeof(item), (void)sizeof(b))
#define simt_join()        ((void)0)

#ifndef HD_TICKETS

#define simt_tells() false

/* Neither called nor evaluated. */
SIMT_FN void simt_no_ticket(uint64_t, uint32_t, uint64_t, uint64_t) {}
#define simt_ticket(item, what, a, b)       (false ? simt_no_ticket((item), (what), (a), (b)) : (void)0)
#define simt_ticket_store(item, what, a, b) simt_ticket((item), (what), (a), (b))
#define simt_ticket_before(item, what, a, b, other) \
    (false ? simt_no_ticket((item), (what), (a), (b) + (other)) : (void)0)
#define simt_ticket_beside(item, what, a, b, other, place) \
    (false ? simt_no_ticket((item), (what), (a), (b) + (other) + (uint64_t)(place)) : (void)0)

#else

#define simt_tells()                                true

/* A book of tickets in device memory: row k is the item that drew ticket k. The order of draws under one lock is the
 * order of the steps under it. Between locks it is one of the possible orders, up to the time from a step to its draw.
 */
typedef struct simt_ticket_row {
    uint64_t item, what, a, b;
    uint64_t beside; /* the item whose row this row belongs beside; UINT64_MAX: its place is the order of the draws */
    int64_t place;   /* 0: just before it; below 0: before it, and above 0: after it, in the order of the places */
} simt_ticket_row;

typedef struct simt_ticket_book {
    uint64_t *drawn;      /* how many; those beyond `rows` are counted only */
    simt_ticket_row *row; /* (rows) */
    uint64_t rows;
} simt_ticket_book;

static __device__ simt_ticket_book simt_book; /* cudaMemcpyToSymbol sets it */

SIMT_FN void simt_ticket_beside(uint64_t item, uint32_t what, uint64_t a, uint64_t b, uint64_t beside, int64_t place)
{
    if (!simt_book.drawn) return;
    uint64_t k = simt_add_u64(simt_book.drawn, 1, SIMT_RELAXED);
    if (k >= simt_book.rows) return;
    simt_ticket_row r = { item, what, a, b, beside, place };
    simt_book.row[k] = r;
}
#define simt_ticket_before(item, what, a, b, other) simt_ticket_beside((item), (what), (a), (b), (other), 0)
#define simt_ticket(item, what, a, b)               simt_ticket_before((item), (what), (a), (b), UINT64_MAX)
#define simt_ticket_store(item, what, a, b)         simt_ticket((item), (what), (a), (b))

#endif

/* The order of two draws that are as close as this is not known on a GPU. */
#define simt_ticket_before_owner(item, what, a, b) simt_ticket((item), (what), (a), (b))

#endif
