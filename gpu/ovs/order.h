/* SPDX-License-Identifier: Apache-2.0
 *
 * order.h - the items of a batch in the order of the addresses that they access: what is sorted (gpu/sort.h).
 */
#ifndef OVS_ORDER_H
#define OVS_ORDER_H

#include "gpu/ovs/args.h"
#include "gpu/sort.h"
#include "gpu/words.h"

/* The bucket where the way of a key begins; of a reserved key, that behind the last. */
SIMT_FN uint32_t ovs_code(const ovs_args *a, uint64_t key)
{
    uint64_t h = ovs_hash(&a->v, key);
    return (uint32_t)(key < word_keys(OVS_HALF) ? ovs_way_bucket(&a->v, h, 0) : ovs_buckets(&a->v));
}

/* Item first + i is word i of `sorted`, in front of the sort. No word is taken yet. */
SIMT_FN void ovs_lay_codes(const ovs_args *a)
{
    if (gpu_thread() == 0) simt_st_u64(a->next, 0);
    for (uint64_t i = gpu_thread(); i < a->b.last - a->b.first; i += gpu_threads()) {
        uint64_t key = simt_ld_u64(a->b.key + a->b.first + i);
        simt_st_u64(a->sorted + i, (uint64_t)ovs_code(a, key) << 32 | i);
    }
    simt_join();
}

#endif
