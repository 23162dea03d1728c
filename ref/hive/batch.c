/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.c - whole batches, on one thread.
 */
#include "ref/hive/hive.h"

void hive_clear(hive_view *v)
{
    for (uint64_t e = 0; e < hive_places(v); e++) hive_write(v, e, hive_fresh(v));
    v->stashed = 0;
}

void hive_run_batch(hive_view *v, const hd_batch *b, uint64_t *tally)
{
    const word_table t = hive_words_of(v);
    if (!b->each && b->op == HD_OP_CLEAR)
        hive_clear(v);
    else
        word_run(&t, b, tally);
}
