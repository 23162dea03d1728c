/* SPDX-License-Identifier: Apache-2.0
 *
 * words.c - see words.h.
 */
#include "judge/words/words.h"

#include <string.h>

#include "judge/rules.h"

static word_item item_of(const fixture *s, uint32_t k, uint64_t i)
{
    const hd_batch *b = &s->part[k].batch;
    word_item it = { judge_item_op(b, i), b->elem, b->flag ? b->flag[i] : HD_EITHER, b->key[i], 0 };
    /* little-endian, as the table's words are */
    memcpy(&it.value, (const uint8_t *)b->value + i * s->value_bytes, s->value_bytes);
    return it;
}

const char *judge_word_item(const fixture *s, uint32_t k, uint64_t i, const simt_ticket_record *t, judge_listing *l,
                            word_item *it, word_seen *seen)
{
    const hd_batch *b = &s->part[k].batch;
    *it = item_of(s, k, i);
    memset(seen, 0, sizeof *seen);
    seen->outcome = (hd_outcome)b->outcome[i];
    seen->entry = t && seen->outcome == HD_INSERTED ? t->b : WORD_NOWHERE;
    seen->shown = judge_delivers(it->op, seen->outcome) && judge_ops[it->op].value_out;
    if (seen->shown) memcpy(&seen->value, (const uint8_t *)b->value_out + i * s->value_bytes, s->value_bytes);
    l->listed = !b->each && it->op == HD_OP_FIND_MISSED && seen->outcome == HD_MISS;
    l->key = it->key;
    bool scored = judge_delivers(it->op, seen->outcome) && b->score_out[i] != 0;
    return scored ? "delivered a score, and there are none" : NULL;
}

uint64_t judge_word_others(const fixture *s)
{
    uint64_t n = 0;
    for (uint32_t k = 0; k < s->parts; k++) n += s->part[k].batch.n;
    return n - 1;
}

bool judge_word_erases(const fixture *s, uint64_t key)
{
    for (uint32_t k = 0; k < s->parts; k++) {
        const hd_batch *b = &s->part[k].batch;
        if (!judge_keyed_batch(b)) return true;
        for (uint64_t i = 0; i < b->n; i++)
            if (b->key[i] == key && judge_item_op(b, i) == HD_OP_ERASE) return true;
    }
    return false;
}
