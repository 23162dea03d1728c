/* SPDX-License-Identifier: Apache-2.0
 *
 * frame.h - the shortest kernel there is around the steps of gpu/hkv/steps.h, read once per canary with a step replaced:
 *
 *     CANARY          the kernel's name
 *     CANARY_FAMILY   HKV_UPSERT, ...
 *     CANARY_TILE     lanes per item (1)
 *     CANARY_BEGIN    a statement after an item has begun (none)
 *     CANARY_TRY, CANARY_MOVE, CANARY_END   in the place of hkv_try, hkv_move, hkv_end
 *     CANARY_ROOM     words of shared memory per thread, as `room` (none)
 *
 * With nothing replaced it is correct: the canaries' control.
 */
#ifndef CANARY_TILE
#define CANARY_TILE 1
#endif
#ifndef CANARY_BEGIN
#define CANARY_BEGIN
#endif
#ifndef CANARY_TRY
#define CANARY_TRY hkv_try
#endif
#ifndef CANARY_MOVE
#define CANARY_MOVE hkv_move
#endif
#ifndef CANARY_END
#define CANARY_END hkv_end
#endif

SIMT_KERNEL(CANARY, hkv_args, args)
{
    const hkv_args *a = &args;
    simt_tile t = simt_tile_of(CANARY_TILE);
    uint64_t step = (uint64_t)simt_blocks() * simt_threads() / CANARY_TILE;
#ifdef CANARY_ROOM
    SIMT_SHARED(uint64_t, all_room, CANARY_ROOM * 64);
    uint64_t *room = all_room + CANARY_ROOM * simt_thread();
#endif
    for (uint64_t i = a->first + ((uint64_t)simt_block() * simt_threads() + simt_thread()) / CANARY_TILE; i < a->last; i += step) {
        hkv_one o = hkv_begin(a, i);
        CANARY_BEGIN
        while (!CANARY_TRY(t, a, CANARY_FAMILY, &o)) simt_backoff(64);
        CANARY_MOVE(t, a, &o, false);
        CANARY_END(t, a, &o);
        if (t.rank == 0) simt_add_u64(a->tally + o.outcome, 1, SIMT_RELAXED);
    }
}

#undef CANARY
#undef CANARY_FAMILY
#undef CANARY_TILE
#undef CANARY_BEGIN
#undef CANARY_TRY
#undef CANARY_MOVE
#undef CANARY_END
#undef CANARY_ROOM
