/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.c - whole batches, on one thread.
 */
#include "ref/ovs/ovs.h"

void ovs_clear(ovs_view *v)
{
    for (uint64_t e = 0; e < ovs_places(v); e++) ovs_write(v, e, ovs_fresh());
}

void ovs_run_batch(ovs_view *v, const hd_batch *b, uint64_t *tally)
{
    const word_table t = ovs_words_of(v);
    if (!b->each && b->op == HD_OP_CLEAR)
        ovs_clear(v);
    else
        word_run(&t, b, tally);
}
