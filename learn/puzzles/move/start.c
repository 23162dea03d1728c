/* SPDX-License-Identifier: Apache-2.0 */
#include "puzzles/move/given.h"

SIMT_KERNEL(move, move_args, a)
{
    uint32_t i = simt_thread();
    if (i >= a.n) return;
    uint64_t key = simt_ld_u64(simt_block() == 0 ? &a.key[i] : &a.wanted[i]);
    if (simt_block() == 0) {

        /* Move the key from first[i] to second[i]. */

        return;
    }
    uint32_t found = 0;

    /* Is the key in first[i] or in second[i]? */

    simt_st_u32(&a.found[i], found);
}
