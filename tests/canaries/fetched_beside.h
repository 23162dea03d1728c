/* SPDX-License-Identifier: Apache-2.0 */
/* The far values are fetched in their order, but each is that of another item: the entry beside the item's, in the order in which they were written
 * down instead of the one in which they were sorted. */
SIMT_KERNEL(canary_fetched_beside, hkv_args, args)
{
    hkv_args b = args;
    uint32_t waiting = simt_ld_u32(b.fetch_count + HKV_FETCH_BINS);
    uint64_t k = 0;
    for (uint64_t i = 0; simt_thread() == 0 && i < b.last && k < waiting; i++) {
        uint64_t e = simt_ld_u64(b.fetch_entry + i);
        if (e == HKV_NONE) continue;
        uint32_t to = simt_ld_u32(b.fetch_order + k++);
        hkv_copy(simt_tile_of(1), b.value_out + (uint64_t)to * b.v.value_bytes, hkv_value(&b.v, e), b.v.value_bytes, false);
    }
    for (uint32_t c = simt_thread(); c < b.fetch_bins; c += simt_threads()) simt_st_u32(b.fetch_count + c, 0);
}
