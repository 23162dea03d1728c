/* SPDX-License-Identifier: Apache-2.0 */
#include "puzzles/publish/given.h"

SIMT_KERNEL(publish, publish_args, a)
{
    uint32_t i = simt_thread();
    if (i >= a.n) return;
    if (simt_block() == 0) {
        uint64_t key = simt_ld_u64(&a.key[i]);
        uint64_t value = simt_ld_u64(&a.value[i]);

        /* Write the entry: key and value. */

        return;
    }
    uint64_t wanted = simt_ld_u64(&a.wanted[i]), got = ABSENT;

    /* If the key is there, read its value. */

    simt_st_u64(&a.got[i], got);
}
