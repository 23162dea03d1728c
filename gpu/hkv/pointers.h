/* SPDX-License-Identifier: Apache-2.0
 *
 * pointers.h - the last launch of find_or_insert_ptr. An item of the batch may evict an entry that an earlier item
 * found or inserted, so an item knows its pointer only when the batch ends. This launch checks every pointer that
 * hd_batch.ptr has, and replaces it by NULL if the entry has another key now. It has nothing to do if scores are
 * times and no item evicted an entry of this batch (args.lost), and is left out where the evicting item knows whose
 * pointer it was (hkv_loser_is_known). If addresses do not tell their entries, hd_batch.ptr has numbers, of which
 * this launch makes addresses (deliver.h).
 */
#ifndef HKV_POINTERS_H
#define HKV_POINTERS_H

#include "gpu/hkv/deliver.h"

SIMT_FN void hkv_pointer_of(const hkv_args *a, uint64_t i, bool numbers)
{
    uint64_t key = simt_ld_u64(a->key + i), p = 0, entry;
    if (key < HD_KEY_RESERVED) p = simt_ld_u64(a->ptr + i);
    if (!p) return;
    entry = numbers ? p - 1 : (p - (uint64_t)(uintptr_t)a->v.value) / a->v.value_bytes;
    p = 0;
    if (simt_ld_u64(hkv_key_at(&a->v, entry)) == key) p = (uint64_t)(uintptr_t)hkv_value(&a->v, entry);
    simt_st_u64(a->ptr + i, p);
}

SIMT_FN void hkv_pointers(const hkv_args *a)
{
    bool numbers = hkv_ptr_is_number(a);
    uint64_t threads = (uint64_t)simt_blocks() * simt_threads();
    if (!numbers && a->times_tell && simt_ld_u64(a->lost) != a->clock + 1) return;
    for (uint64_t i = (uint64_t)simt_block() * simt_threads() + simt_thread(); i < a->n; i += threads)
        hkv_pointer_of(a, i, numbers);
}

#endif
