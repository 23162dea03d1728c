/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.c - whole batches, on one thread.
 */
#include "ref/ovs/ovs.h"

#include <string.h>

#include "base/op.h"

void ovs_clear(ovs_view *v)
{
    for (uint64_t g = 0; g < ovs_segments(v); g++) {
        uint64_t *word = ovs_segment_at(v, g);
        uint8_t *digests = ovs_digests_at(v, g);
        for (uint64_t k = 0; k < ovs_segment_words(v); k++) word[k] = UINT64_MAX; /* fresh */
        if (digests) memset(digests, 0, ovs_digest_bytes(v, 1));                  /* of fresh slots */
    }
}

void ovs_run_batch(ovs_view *v, const hd_batch *b, uint64_t *tally)
{
    const word_table t = ovs_words_of(v);
    if (hd_role_of_batch(b) != HD_READER) ovs_forget_copies(v);
    if (!b->each && b->op == HD_OP_CLEAR)
        ovs_clear(v);
    else
        word_run(&t, b, tally);
}
