/* SPDX-License-Identifier: Apache-2.0 */
#include "puzzles/move/given.h"

SIMT_KERNEL(move, move_args, a)
{
    uint32_t i = simt_thread();
    if (i >= a.n) return;
    uint64_t key = simt_ld_u64(simt_block() == 0 ? &a.key[i] : &a.wanted[i]);
    if (simt_block() == 0) {
        simt_strel_u64(&a.second[i], key);
        simt_strel_u64(&a.first[i], 0);
        return;
    }
    uint32_t found = simt_ldacq_u64(&a.first[i]) == key;
    if (!found) found = simt_ldacq_u64(&a.second[i]) == key;
    simt_st_u32(&a.found[i], found);
}
