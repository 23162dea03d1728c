/* SPDX-License-Identifier: Apache-2.0
 *
 * share.h - what is counted first and then listed in order is cut into shares, one warp each. The first launch notes
 * how many each share has; in the second one a share adds up those before it.
 */
#ifndef SL_SHARE_H
#define SL_SHARE_H

#include "gpu/sl/entry.h"
#include "gpu/sort.h"

/* counts: (shares) */
SIMT_FN uint32_t sl_share_before(simt_tile w, const uint32_t *counts, uint32_t share)
{
    uint32_t n = 0;
    for (uint32_t k = w.rank; k < share; k += 32) n += simt_ld_u32(counts + k);
    simt_join();
    return simt_reduce_add_u32(w, n);
}

/* What lanes before this one have of a bit; *all: what all have. */
SIMT_FN uint32_t sl_bits_before(simt_tile w, bool mine, uint32_t *all)
{
    uint32_t bits = simt_ballot(w, mine);
    *all = simt_popc(bits);
    return simt_popc(bits & ((1u << w.rank) - 1));
}

SIMT_FN void sl_note(simt_tile w, uint32_t *count, uint32_t n)
{
    if (w.rank == 0) simt_st_u32(count, n);
    simt_join();
}

/* The words of the directory's counts of used homes, as they are changed. */
SIMT_FN uint32_t *sl_used_word(const sl_args *a, uint64_t home) { return (uint32_t *)(void *)a->v.used + home / 32; }

#endif
