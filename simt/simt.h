/* SPDX-License-Identifier: Apache-2.0
 *
 * simt.h - the dialect: C11 that is also CUDA C++, with lanes.
 *
 * Kernel text uses this and the shared definitions (HD_FN, fn.h), and nothing else. nvcc makes lanes CUDA threads
 * (simt_cuda.h: intrinsics and PTX, no cost); a C compiler makes them fibers under a seeded scheduler (simt_host.h:
 * every operation below is a place where the host machine may switch, count or object). doc/dialect.md teaches it.
 *
 * Names say the memory order: ld, st plain; ldrlx, strlx relaxed; ldacq acquire; strel release; ldcs, stcs plain
 * and streaming (evict first). T is u8 u32 u64 v4 (16 bytes, four u32) unless said. Orders of read-modify-writes are
 * literals. Scope is the device. A plain access that meets another lane's without happens-before is an error, and so
 * is a relaxed one that meets a plain one.
 *
 *   identity     simt_lane()  simt_thread()  simt_threads()  simt_block()  simt_blocks()
 *   time         simt_clock_ns(): nanoseconds since 1970, as the device counts them
 *   tiles        simt_tile_of(size): 1, 2, 4, ... 32 consecutive lanes; every collective names its tile, and the
 *                whole tile must reach it, at one place in the text:
 *                simt_ballot(t, p): bit r is rank r's p     simt_any(t, p)   simt_all(t, p)
 *                simt_shfl_u32/u64(t, v, rank)              simt_shfl_xor_u32/u64(t, v, bits)
 *                simt_reduce_min_u32/u64(t, v)   simt_reduce_max_u32(t, v)   simt_reduce_add_u32/u64(t, v)
 *                simt_match_u64(t, v): bit r is whether rank r has the same v
 *                simt_sync_tile(t), simt_sync_block(): these two order memory; ballots and shuffles do not
 *   memory       simt_ld_T(p)  simt_st_T(p, v)  simt_ldrlx_T(p)  simt_strlx_T(p, v)  simt_ldacq_u32/u64/v4(p)
 *                simt_strel_u32/u64(p, v)  simt_ldcs_v4(p)  simt_stcs_v4(p, v); simt_ldrlx_2u64, simt_ldacq_2u64(p, &a,
 *                &b), simt_strel_2u64(p, a, b): v4 and 2u64 are atomic per element only
 *                simt_cas_u32/u64(p, expected, desired, ORDER)  simt_exch_u32/u64(p, v, ORDER)
 *                simt_add_u32/u64(p, v, ORDER)  simt_min_u32/u64(p, v, ORDER)  simt_max_u32/u64(p, v, ORDER)
 *                simt_and_u32(p, v, ORDER)  simt_or_u32(p, v, ORDER): the old value
 *                simt_add_f32/f64/f16/bf16(p, bits): adds a float, given as its bits; the old bits. Relaxed. p is
 *                aligned to the float. CUDA chooses the payload of a NaN, and may take an f32 below 2^-126 for 0
 *                simt_add_4f32/8f16/8bf16(p, v4): the same for each float of 16 aligned bytes; no result
 *                simt_fence()  simt_fence_system(): the lane's stores to persistent memory are durable after it
 *   shared       SIMT_SHARED(T, name, n) declares; plain ld and st reach it; simt_shared_add_u32(p, v) and
 *                simt_shared_cas_u32(p, e, d) are its atomics (relaxed)
 *   async        simt_copy16_async(shared, global)  simt_copy16_const_async(...): of memory that no lane writes during
 *                the launch, through the first-level cache  simt_copy16_rlx_async(...): of memory that other lanes may
 *                write meanwhile, relaxed by element of eight bytes or fewer
 *                simt_copy_commit()  simt_copy_wait(LITERAL): as cp.async groups; what was copied is the copying lane's
 *                after the wait, others' after a sync besides
 *   pure         simt_ffs(x): 1 + lowest set bit, 0 for 0   simt_popc(x)   simt_eq4(a, b): 0xff in each equal byte
 *   progress     simt_backoff(ns): every unbounded loop calls it
 *   host only    simt_ticket(item, what, a, b): the item takes effect here; simt_ticket_store(...): ... when the lane's
 *                last store becomes visible; simt_ticket_before(item, what, a, b, other): ... just before item `other`
 *                of the same stream did, or will; simt_ticket_beside(item, what, a, b, other, place): ... before
 *                `other` (place < 0) or after it (place > 0), in the order of the places; simt_owns(item, b): place b
 *                belongs to the item from here on; simt_ticket_before_owner(item, what, a, b): ... just before the item
 *                of any stream that place b belongs to did, or will; simt_started(item);
 *                simt_join(): control flow joins here. On CUDA they are nothing, unless HD_TICKETS is defined, which
 *                gives tickets a global counter. simt_tells(): a constant, whether they are something: for what only a
 *                ticket has to know
 *   loops        SIMT_UNROLL, SIMT_UNROLL_BY(n), SIMT_ROLLED before a loop: what becomes of it on CUDA
 *   kernels      SIMT_KERNEL(name, args_type, a) { ... }   a by value; SIMT_ENTRY(name, args_type, text): the
 *                kernel that calls text(&a), under a name that stands in the source; SIMT_FN marks functions of kernel
 *                text;
 *                SIMT_FN_APART such as a device calls, where others would have them in the midst of their text: long
 *                ones that are seldom needed
 *
 * Not in the dialect: raw dereference of device memory, designated initialisers, compound literals, variable-length
 * arrays, implicit conversion from void *, bare `restrict`, recursion, static locals, two memory operations of one kind
 * on one line (a site is a line).
 */
#ifndef HD_SIMT_H
#define HD_SIMT_H

#include "simt/float.h"
#include "simt/fn.h"

/* ---- What is the same on every machine; how it is done is the machine's ---------------------- */

enum { SIMT_RELAXED = 0, SIMT_ACQUIRE = 1, SIMT_RELEASE = 2, SIMT_ACQ_REL = 3 };

/* A tile as one of its lanes sees it. */
typedef struct simt_tile {
    uint32_t mask; /* its lanes in the warp    */
    uint32_t base; /* its first lane           */
    uint32_t rank; /* this lane within it      */
    uint32_t size; /* 1, 2, 4, 8, 16 or 32     */
} simt_tile;

#ifdef __CUDACC__
#include "simt/simt_cuda.h"
#else
#include "simt/simt_host.h"
#endif

SIMT_FN simt_tile simt_tile_of(uint32_t size)
{
    simt_tile t;
    uint32_t lane = simt_lane();
    t.size = size;
    t.base = lane & ~(size - 1);
    t.rank = lane & (size - 1);
    t.mask = (size == 32 ? 0xffffffffu : (1u << size) - 1) << t.base;
    return t;
}

#endif
