/* SPDX-License-Identifier: Apache-2.0 */
#include "puzzles/insert/given.h"

SIMT_KERNEL(insert, insert_args, a)
{
    uint32_t i = simt_thread(), place = FULL;
    if (i >= a.n) return;
    uint64_t key = simt_ld_u64(&a.key[i]);

    /* Put the key into a free slot. */

    simt_st_u32(&a.place[i], place);
}
