/* SPDX-License-Identifier: Apache-2.0
 *
 * steps_alone.h - the shortest kernel there is around the steps of gpu/hkv/steps.h, one item a lane, read once per
 * kernel:
 *
 *     STEPS          the kernel's name
 *     STEPS_FAMILY   HKV_UPSERT, ...
 */
SIMT_KERNEL(STEPS, hkv_args, args)
{
    const hkv_args *a = &args;
    simt_tile t = simt_tile_of(1);
    uint64_t step = (uint64_t)simt_blocks() * simt_threads();
    for (uint64_t i = a->first + (uint64_t)simt_block() * simt_threads() + simt_thread(); i < a->last; i += step) {
        hkv_one o = hkv_begin(a, i);
        while (!hkv_try(t, a, STEPS_FAMILY, &o)) simt_backoff(64);
        hkv_move(t, a, &o, false);
        hkv_end(t, a, &o);
        if (o.pins) hkv_pins_add(a, 1);
        simt_add_u64(a->tally + o.outcome, 1, SIMT_RELAXED);
    }
}

#undef STEPS
#undef STEPS_FAMILY
