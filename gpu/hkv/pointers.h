/* SPDX-License-Identifier: Apache-2.0
 *
 * pointers.h - the last launch of find_or_insert_ptr. An item of the batch may evict an entry that an earlier item
 * found or inserted, so an item knows its pointer only when the batch ends. Until then hd_batch.ptr has the number of
 * its entry, plus 1, or 0 for a refused item (deliver.h). This launch replaces the number by the entry's address, or by
 * NULL if the entry has another key now.
 */
#ifndef HKV_POINTERS_H
#define HKV_POINTERS_H

#include "gpu/hkv/item.h"

SIMT_FN void hkv_pointer_of(const hkv_args *a, uint64_t i)
{
    uint64_t key = simt_ld_u64(a->key + i), number = 0, p = 0;
    if (key < HD_KEY_RESERVED) number = simt_ld_u64(a->ptr + i);
    if (!number) return;
    if (simt_ld_u64(hkv_key_at(&a->v, number - 1)) == key) p = (uint64_t)(uintptr_t)hkv_value(&a->v, number - 1);
    simt_st_u64(a->ptr + i, p);
}

SIMT_FN void hkv_pointers(const hkv_args *a)
{
    uint64_t threads = (uint64_t)simt_blocks() * simt_threads();
    for (uint64_t i = (uint64_t)simt_block() * simt_threads() + simt_thread(); i < a->n; i += threads)
        hkv_pointer_of(a, i);
}

#endif
