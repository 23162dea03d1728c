/* SPDX-License-Identifier: Apache-2.0 */
#include "puzzles/lock/given.h"

SIMT_KERNEL(lock, lock_args, a)
{
    simt_tile t = simt_tile_of(simt_threads());
    uint64_t amount = simt_ld_u64(&a.amount[t.rank]);

    /* Add the amount to the account, then vote. */
}
