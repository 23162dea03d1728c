/* SPDX-License-Identifier: Apache-2.0
 *
 * simt_kernels.h - small kernels for the host machine. Some are correct; most have one fault each, which the comment
 * names. They run with 64 threads per block, unless the comment says otherwise.
 */
#ifndef SIMT_KERNELS_H
#define SIMT_KERNELS_H

#include "simt/simt.h"

enum { WORDS = 4096 };

typedef struct buffers {
    uint32_t *in, *out; /* (WORDS) */
} buffers;

/* ---- Correct --------------------------------------------------------------------------------- */

/* Sums a block: shuffles within a warp, shared memory across. */
SIMT_KERNEL(k_sum, buffers, a)
{
    SIMT_SHARED(uint32_t, part, 32);
    simt_tile t = simt_tile_of(32);
    uint32_t i = simt_thread(), v = simt_ld_u32(a.in + simt_block() * simt_threads() + i);
    for (uint32_t o = 16; o; o >>= 1) v += simt_shfl_xor_u32(t, v, o);
    if (t.rank == 0) simt_st_u32(part + i / 32, v);
    simt_sync_block();
    if (i < 32) {
        v = i < simt_threads() / 32 ? simt_ld_u32(part + i) : 0;
        v = simt_reduce_add_u32(t, v);
        if (i == 0) simt_st_u32(a.out + simt_block(), v);
    }
}

/* Tiles of eight in branches that part: masks are the tiles' own. */
SIMT_KERNEL(k_tiles, buffers, a)
{
    simt_tile t = simt_tile_of(8);
    uint32_t r;
    if (simt_lane() >> 3 & 1)
        r = simt_ballot(t, t.rank < 3);
    else
        r = simt_shfl_u32(t, simt_lane() * 10, 5);
    simt_st_u32(a.out + simt_block() * simt_threads() + simt_thread(), r);
}

/* Reads what its neighbour copied, after the wait and the barrier. */
SIMT_KERNEL(k_copy, buffers, a)
{
    SIMT_SHARED(simt_v4, buffer, 64);
    uint32_t i = simt_thread();
    simt_copy16_async(buffer + i, (const simt_v4 *)(const void *)a.in + i);
    simt_copy_commit();
    simt_copy_wait(0);
    simt_sync_block();
    simt_v4 v = simt_ld_v4(buffer + (i + 1) % 64);
    simt_st_u32(a.out + i, v.x + v.y + v.z + v.w);
}

/* A lock taken by lanes of one warp: needs lanes that go on by themselves. */
SIMT_KERNEL(k_lock, buffers, a)
{
    while (simt_cas_u32(a.out, 0u, 1u, SIMT_ACQUIRE) != 0) simt_backoff(8);
    uint32_t n = simt_ld_u32(a.out + 1);
    simt_st_u32(a.out + 1, n + 1);
    simt_strel_u32(a.out, 0u);
}

/* Every collective of the dialect against its meaning; out[thread] is a bit set of what went wrong. */
SIMT_KERNEL(k_collectives, buffers, a)
{
    uint32_t bad = 0, lane = simt_lane();
    for (uint32_t size = 1; size <= 32; size *= 2) {
        simt_tile t = simt_tile_of(size);
        uint32_t all = size == 32 ? ~0u : (1u << size) - 1, v = lane * 7 + 1;
        uint32_t ballot = simt_ballot(t, true);
        bad |= ballot != all ? 1u : 0u;
        uint32_t odd = simt_ballot(t, t.rank & 1);
        bad |= odd != (0xaaaaaaaau & all) ? 2u : 0u;
        bool any = simt_any(t, t.rank == size - 1);
        bad |= !any ? 4u : 0u;
        bool every = simt_all(t, t.rank < size / 2);
        bad |= every ? 8u : 0u;
        uint64_t far = simt_shfl_u64(t, (uint64_t)v << 32, size - 1);
        bad |= far != (uint64_t)((t.base + size - 1) * 7 + 1) << 32 ? 16u : 0u;
        uint32_t other = simt_shfl_xor_u32(t, v, size / 2);
        bad |= other != (lane ^ size / 2) * 7 + 1 ? 32u : 0u;
        uint64_t least = simt_reduce_min_u64(t, (uint64_t)v << 40);
        bad |= least != (uint64_t)(t.base * 7 + 1) << 40 ? 64u : 0u;
        uint32_t most = simt_reduce_max_u32(t, v);
        bad |= most != (t.base + size - 1) * 7 + 1 ? 128u : 0u;
        uint64_t sum = simt_reduce_add_u64(t, 1ull << 33);
        bad |= sum != (uint64_t)size << 33 ? 256u : 0u;
        uint32_t same = simt_match_u64(t, (uint64_t)(t.rank % 3) << 40);
        bad |= same != (0x49249249u << t.rank % 3 & all) ? 512u : 0u;
    }
    simt_st_u32(a.out + simt_thread(), bad);
}

/* Read-modify-writes: all threads count, add, take the least, set a bit, and take one away that they have set. */
SIMT_KERNEL(k_atomics, buffers, a)
{
    uint64_t *wide = (uint64_t *)(void *)(a.out + 16);
    uint16_t *half = (uint16_t *)(void *)(a.out + 6);
    simt_add_f32(a.out + 5, simt_bits_of(1.0f));
    simt_add_f64(wide + 8, 0x3ff0000000000000ull); /* 1 */
    simt_add_f16(half, simt_f16_round(1.0f));
    simt_add_bf16(half + 1, simt_bf16_round(1.0f));
    simt_v4 v;
    v.x = simt_bits_of(1.0f);
    v.y = v.z = 0;
    v.w = simt_bits_of(2.0f);
    simt_add_4f32(a.out + 20, v);
    v.x = simt_f16_round(1.0f);
    v.w = simt_f16_round(2.0f) << 16;
    simt_add_8f16((uint16_t *)(void *)(a.out + 24), v);
    v.x = simt_bf16_round(1.0f);
    v.w = simt_bf16_round(2.0f) << 16;
    simt_add_8bf16((uint16_t *)(void *)(a.out + 28), v);
    simt_add_u32(a.out, 2u, SIMT_RELAXED);
    simt_min_u32(a.out + 1, 1000u - simt_thread(), SIMT_RELAXED);
    simt_add_u64(wide, 1ull << 40, SIMT_RELAXED);
    simt_min_u64(wide + 1, (1ull << 50) - simt_thread(), SIMT_RELAXED);
    simt_exch_u32(a.out + 2, 77u, SIMT_RELAXED);
    simt_or_u32(a.out + 3, 1u << simt_lane(), SIMT_RELAXED);
    simt_or_u32(a.out + 4, 1u << simt_lane(), SIMT_RELAXED);
    simt_and_u32(a.out + 4, ~(1u << simt_lane()), SIMT_RELAXED);
}

/* Passes a message from thread 0 to thread 32, with release and acquire. */
SIMT_KERNEL(k_message, buffers, a)
{
    if (simt_thread() == 0) {
        simt_st_u32(a.out + 8, 42u);
        simt_strel_u32(a.out, 1u);
    } else if (simt_thread() == 32) {
        while (simt_ldacq_u32(a.out) == 0) simt_backoff(8);
        simt_st_u32(a.out + 16, simt_ld_u32(a.out + 8));
    }
}

/* The same with fences around relaxed accesses. */
SIMT_KERNEL(k_message_fences, buffers, a)
{
    if (simt_thread() == 0) {
        simt_st_u32(a.out + 8, 42u);
        simt_fence();
        simt_strlx_u32(a.out, 1u);
    } else if (simt_thread() == 32) {
        while (simt_ldrlx_u32(a.out) == 0) simt_backoff(8);
        simt_fence();
        simt_st_u32(a.out + 16, simt_ld_u32(a.out + 8));
    }
}

/* Each thread puts a word together from pieces, and reads it whole at once: its own stores are never missed. */
SIMT_KERNEL(k_pieces, buffers, a)
{
    uint32_t i = simt_block() * simt_threads() + simt_thread(), *own = a.out + 2 * i;
    uint64_t *whole = (uint64_t *)(void *)own;
    simt_strlx_u32(own, 5u);
    uint64_t low = simt_ldrlx_u64(whole);
    simt_strlx_u32(own + 1, 7u);
    simt_strlx_u8((uint8_t *)own + 1, 1);
    uint64_t both = simt_ldrlx_u64(whole);
    simt_st_u64((uint64_t *)(void *)(a.in + 2 * i),
                low == 5 && both == (7ull << 32 | 0x105) && simt_ldrlx_u8((const uint8_t *)own + 1) == 1);
}

/* Two kernels of one stream: the second reads what the first wrote. */
SIMT_KERNEL(k_write, buffers, a) { simt_st_u32(a.out + simt_block() * simt_threads() + simt_thread(), simt_thread()); }
SIMT_KERNEL(k_read, buffers, a)
{
    uint32_t i = simt_block() * simt_threads() + simt_thread();
    simt_st_u32(a.in + i, simt_ld_u32(a.out + (i ^ 1)));
}

/* ---- With a fault ---------------------------------------------------------------------------- */

SIMT_KERNEL(k_two_collectives, buffers, a) /* one mask, two collectives */
{
    simt_tile t = simt_tile_of(32);
    uint32_t r = t.rank < 16 ? simt_ballot(t, true) : simt_any(t, true);
    simt_st_u32(a.out + simt_thread(), r);
}

SIMT_KERNEL(k_two_places, buffers, a) /* one collective at two places of the text */
{
    simt_tile t = simt_tile_of(32);
    uint32_t r;
    if (t.rank < 16)
        r = simt_ballot(t, true);
    else
        r = simt_ballot(t, false);
    simt_st_u32(a.out + simt_thread(), r);
}

SIMT_KERNEL(k_half_at_barrier, buffers, a) /* half the warp votes, half waits at the barrier */
{
    simt_tile t = simt_tile_of(32);
    uint32_t r = 0;
    if (t.rank < 16) r = simt_ballot(t, true);
    simt_sync_block();
    simt_st_u32(a.out + simt_thread(), r);
}

SIMT_KERNEL(k_early_exit, buffers, a) /* a lane returns, the others vote with a full mask */
{
    simt_tile t = simt_tile_of(32);
    if (t.rank == 7) return;
    simt_st_u32(a.out + simt_thread(), simt_ballot(t, true));
}

SIMT_KERNEL(k_first_leaves, buffers, a) /* the same; if lanes run in order, no lane waits yet */
{
    simt_tile t = simt_tile_of(32);
    if (t.rank == 0) return;
    simt_st_u32(a.out + simt_thread(), simt_ballot(t, true));
}

SIMT_KERNEL(k_exit_barrier, buffers, a) /* a thread returns, the others meet at the barrier */
{
    if (simt_thread() == 9) return;
    simt_sync_block();
    simt_st_u32(a.out + simt_thread(), 1u);
}

SIMT_KERNEL(k_not_in_mask, buffers, a) /* the caller is not in its mask */
{
    simt_tile t = simt_tile_of(16);
    t.mask = 0xffffu;
    simt_st_u32(a.out + simt_thread(), simt_ballot(t, true));
}

SIMT_KERNEL(k_shuffle_outside, buffers, a) /* a shuffle reads a lane that is not in the mask */
{
    simt_tile t = simt_tile_of(8);
    simt_st_u32(a.out + simt_thread(), simt_shfl_u32(t, 1u, 8u));
}

SIMT_KERNEL(k_cycle, buffers, a) /* lane 0 waits for 1, 1 for 2, 2 for 0 */
{
    simt_tile t = simt_tile_of(32);
    uint32_t r = 0;
    t.base = 0;
    t.mask = t.rank == 0 ? 3u : t.rank == 1 ? 6u : 5u;
    if (t.rank < 3) r = simt_ballot(t, true);
    simt_st_u32(a.out + simt_thread(), r);
}

SIMT_KERNEL(k_two_barriers, buffers, a) /* two barriers for one */
{
    if (simt_thread() < 32)
        simt_sync_block();
    else
        simt_sync_block();
    simt_st_u32(a.out + simt_thread(), 1u);
}

SIMT_KERNEL(k_unwritten, buffers, a) /* thread 5 leaves its word of shared memory unwritten */
{
    SIMT_SHARED(uint32_t, word, 64);
    uint32_t i = simt_thread();
    if (i != 5) simt_st_u32(word + i, i);
    simt_sync_block();
    simt_st_u32(a.out + i, simt_ld_u32(word + i));
}

SIMT_KERNEL(k_beyond_shared, buffers, a) /* one word beyond a shared array */
{
    SIMT_SHARED(uint32_t, word, 64);
    uint32_t i = simt_thread();
    simt_st_u32(word + i + (i == 63 ? 1 : 0), i);
    simt_sync_block();
    simt_st_u32(a.out + i, simt_ld_u32(word + i));
}

/* one word beyond device memory */
SIMT_KERNEL(k_beyond_global, buffers, a) { simt_st_u32(a.out + WORDS - 63 + simt_thread(), 1u); }

/* one word before it */
SIMT_KERNEL(k_before_global, buffers, a) { simt_st_u32(a.out + simt_thread(), simt_ld_u32(a.in - 1)); }

SIMT_KERNEL(k_nowhere, buffers, a) /* a null pointer, nearly */
{
    simt_st_u32(a.out + simt_thread(), simt_ld_u32((const uint32_t *)(uintptr_t)simt_threads()));
}

SIMT_KERNEL(k_other_block, buffers, a) /* block 1 reads what is block 0's own */
{
    SIMT_SHARED(uint32_t, word, 64);
    uint64_t *where = (uint64_t *)(void *)a.out, at;
    uint32_t i = simt_thread();
    simt_st_u32(word + i, i);
    if (simt_block() == 0 && i == 0) simt_strel_u64(where, (uint64_t)(uintptr_t)word);
    while ((at = simt_ldacq_u64(where)) == 0) simt_backoff(8);
    if (simt_block() == 1) simt_st_u32(a.out + 64 + i, simt_ld_u32((const uint32_t *)(uintptr_t)at + i));
}

SIMT_KERNEL(k_no_room, buffers, a) /* an array that is larger than what a block has */
{
    SIMT_SHARED(uint32_t, word, 1 << 16);
    simt_st_u32(word + simt_thread(), simt_ld_u32(a.in));
}

SIMT_KERNEL(k_copy_elsewhere, buffers, a) /* an async copy to device memory */
{
    simt_copy16_async((simt_v4 *)(void *)a.out + simt_thread(), (const simt_v4 *)(const void *)a.in);
    simt_copy_commit();
    simt_copy_wait(0);
}

/* Each accesses shared memory by an instruction of device memory, or the reverse. */
SIMT_KERNEL(k_atomic_in_shared, buffers, a)
{
    SIMT_SHARED(uint32_t, word, 64);
    simt_st_u32(word + simt_thread(), simt_ld_u32(a.in));
    simt_sync_block();
    simt_add_u32(word + 3, 1u, SIMT_RELAXED);
}

SIMT_KERNEL(k_cas_in_shared, buffers, a)
{
    SIMT_SHARED(uint64_t, word, 64);
    simt_st_u64(word + simt_thread(), simt_ld_u32(a.in));
    simt_sync_block();
    simt_cas_u64(word + 3, 0u, 1u, SIMT_ACQ_REL);
}

SIMT_KERNEL(k_shared_atomic_outside, buffers, a) { simt_shared_add_u32(a.out + 3, 1u); }

SIMT_KERNEL(k_acquire_in_shared, buffers, a)
{
    SIMT_SHARED(uint32_t, word, 64);
    simt_st_u32(word + simt_thread(), simt_ld_u32(a.in));
    simt_st_u32(a.out + simt_thread(), simt_ldacq_u32(word + simt_thread()));
}

SIMT_KERNEL(k_relaxed_in_shared, buffers, a)
{
    SIMT_SHARED(uint32_t, word, 64);
    simt_strlx_u32(word + simt_thread(), simt_ld_u32(a.in));
}

SIMT_KERNEL(k_copy_from_shared, buffers, a)
{
    SIMT_SHARED(simt_v4, from, 64);
    SIMT_SHARED(simt_v4, to, 64);
    simt_st_v4(from + simt_thread(), simt_ld_v4((const simt_v4 *)(const void *)a.in));
    simt_copy16_async(to + simt_thread(), from + simt_thread());
    simt_copy_commit();
    simt_copy_wait(0);
}

SIMT_KERNEL(k_copies, buffers, a) /* more of them than the machine keeps */
{
    SIMT_SHARED(simt_v4, buffer, 64);
    for (uint32_t k = 0; k < 100; k++)
        simt_copy16_async(buffer + simt_thread(), (const simt_v4 *)(const void *)a.in + k);
    simt_copy_commit();
    simt_copy_wait(0);
}

SIMT_KERNEL(k_misaligned, buffers, a) /* 16 bytes at an address that is a multiple of 4 only */
{
    simt_v4 v = simt_ld_v4((const simt_v4 *)(const void *)(a.in + simt_thread()));
    simt_st_u32(a.out + simt_thread(), v.x);
}

SIMT_KERNEL(k_no_barrier, buffers, a) /* another warp's word without a barrier */
{
    SIMT_SHARED(uint32_t, word, 64);
    uint32_t i = simt_thread();
    simt_st_u32(word + i, i);
    simt_st_u32(a.out + i, simt_ld_u32(word + (i ^ 32)));
}

SIMT_KERNEL(k_ballot_as_barrier, buffers, a) /* a ballot orders no memory */
{
    SIMT_SHARED(uint32_t, word, 64);
    uint32_t i = simt_thread();
    simt_tile t = simt_tile_of(32);
    simt_st_u32(word + i, i);
    (void)simt_ballot(t, true);
    simt_st_u32(a.out + i, simt_ld_u32(word + (i ^ 1)));
}

SIMT_KERNEL(k_copy_no_wait, buffers, a) /* reads its own copy while it may still be in flight */
{
    SIMT_SHARED(simt_v4, buffer, 64);
    uint32_t i = simt_thread();
    simt_copy16_async(buffer + i, (const simt_v4 *)(const void *)a.in + i);
    simt_copy_commit();
    simt_copy_wait(1);
    simt_v4 v = simt_ld_v4(buffer + i);
    simt_st_u32(a.out + i, v.x);
}

SIMT_KERNEL(k_copy_no_barrier, buffers, a) /* reads its neighbour's copy after its own wait only */
{
    SIMT_SHARED(simt_v4, buffer, 64);
    uint32_t i = simt_thread();
    simt_copy16_async(buffer + i, (const simt_v4 *)(const void *)a.in + i);
    simt_copy_commit();
    simt_copy_wait(0);
    simt_v4 v = simt_ld_v4(buffer + (i + 1) % 64);
    simt_st_u32(a.out + i, v.x);
}

SIMT_KERNEL(k_endless, buffers, a) /* waits for a flag that no thread sets */
{
    while (simt_ldacq_u32(a.out + 9) == 0) simt_backoff(20);
}

SIMT_KERNEL(k_endless_no_backoff, buffers, a) /* the same without a backoff */
{
    while (simt_ldacq_u32(a.out + 9) == 0) {
    }
}

SIMT_KERNEL(k_message_relaxed, buffers, a) /* the flag orders nothing */
{
    if (simt_thread() == 0) {
        simt_st_u32(a.out + 8, 42u);
        simt_strlx_u32(a.out, 1u);
    } else if (simt_thread() == 32) {
        while (simt_ldrlx_u32(a.out) == 0) simt_backoff(8);
        simt_st_u32(a.out + 16, simt_ld_u32(a.out + 8));
    }
}

SIMT_KERNEL(k_message_no_acquire, buffers, a) /* released, but not acquired */
{
    if (simt_thread() == 0) {
        simt_st_u32(a.out + 8, 42u);
        simt_strel_u32(a.out, 1u);
    } else if (simt_thread() == 32) {
        while (simt_ldrlx_u32(a.out) == 0) simt_backoff(8);
        simt_st_u32(a.out + 16, simt_ld_u32(a.out + 8));
    }
}

/* ---- For the weak-memory mode: all accesses relaxed, so none is a race; out[16] + out[17] tells what was seen ---- */

SIMT_KERNEL(k_store_buffering, buffers, a) /* both may read 0 */
{
    if (simt_thread() == 0) {
        simt_strlx_u32(a.out, 1u);
        simt_strlx_u32(a.out + 16, simt_ldrlx_u32(a.out + 1) + 1);
    } else if (simt_thread() == 32) {
        simt_strlx_u32(a.out + 1, 1u);
        simt_strlx_u32(a.out + 17, simt_ldrlx_u32(a.out) + 1);
    }
}

SIMT_KERNEL(k_message_all_relaxed, buffers,
            a) /* the message may be missed: out[16] = 1 + flag, out[17] = 1 + message */
{
    if (simt_thread() == 0) {
        simt_strlx_u32(a.out + 8, 1u);
        simt_strlx_u32(a.out, 1u);
    } else if (simt_thread() == 32) {
        simt_strlx_u32(a.out + 16, simt_ldrlx_u32(a.out) + 1);
        simt_strlx_u32(a.out + 17, simt_ldrlx_u32(a.out + 8) + 1);
    }
}

SIMT_KERNEL(k_one_address, buffers, a) /* coherence: the second read is never older than the first */
{
    if (simt_thread() == 0) {
        simt_strlx_u32(a.out, 1u);
        simt_strlx_u32(a.out, 2u);
        simt_strlx_u32(a.out, 3u);
    } else if (simt_thread() == 32) {
        simt_strlx_u32(a.out + 16, simt_ldrlx_u32(a.out));
        simt_strlx_u32(a.out + 17, simt_ldrlx_u32(a.out));
    }
}

#endif
