/* SPDX-License-Identifier: Apache-2.0
 *
 * twin.c - see twin.h.
 */
#include "tests/twin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/rules.h"
#include "base/op.h"
#include "tests/model.h"

void twin_open(twin *w, uint64_t most, uint64_t keys, uint32_t value_bytes)
{
    check(judge_arrays_open(&w->ref, most, value_bytes) && judge_arrays_open(&w->own, most, value_bytes),
          "no memory for arrays");
    w->keys = keys;
    w->deck = (uint64_t *)test_alloc(keys, sizeof *w->deck);
    for (uint64_t i = 0; i < keys; i++) w->deck[i] = i + 1;
}

void twin_close(twin *w)
{
    judge_arrays_close(&w->ref);
    judge_arrays_close(&w->own);
    free(w->deck);
}

bool twin_adds(uint32_t value_bytes, hd_elem *elem)
{
    *elem = value_bytes % 8 ? HD_I32 : HD_U64;
    return value_bytes % 4 == 0;
}

static void draw_inputs(twin *w, hd_batch *b, uint64_t time, uint64_t *random)
{
    uint64_t *key = (uint64_t *)judge_arrays_at(&w->ref, JUDGE_KEY),
             *score = (uint64_t *)judge_arrays_at(&w->ref, JUDGE_SCORE);
    uint8_t *value = (uint8_t *)judge_arrays_at(&w->ref, JUDGE_VALUE),
            *flag = (uint8_t *)judge_arrays_at(&w->ref, JUDGE_FLAG);
    for (uint64_t i = 0; i < b->n && i < w->keys; i++) { /* ranges of slots may be longer */
        uint64_t other = i + test_below(random, w->keys - i);
        key[i] = w->deck[other];
        w->deck[other] = w->deck[i];
        w->deck[i] = key[i];
        score[i] = test_below(random, 1000);
        flag[i] = (uint8_t)test_below(random, 3);
        value_make(value + i * w->ref.value_bytes, w->ref.value_bytes, key[i], time);
    }
}

void twin_draw(twin *w, hd_batch *ref, hd_batch *own, hd_op op, uint64_t n, const hd_info *info, uint64_t time,
               uint64_t *random)
{
    static const char *const pred[] = { "all", "key_in", "score_below", "value_zero" };
    hd_batch b = { .op = op, .n = n, .holder = 1 + test_below(random, 2) };
    b.raw_scores = test_below(random, 6) == 0;
    b.pred = pred[test_below(random, op == HD_OP_ERASE_IF ? 3 : 4)];
    if (op == HD_OP_ERASE_IF && strcmp(b.pred, "all") == 0) b.pred = "key_in"; /* that would leave nothing */
    b.pred_arg[0] = test_below(random, w->keys);
    b.pred_arg[1] = b.pred_arg[0] + w->keys / 8;
    twin_adds(w->ref.value_bytes, &b.elem);
    if (hd_op_row_of(op)->needs & HD_OF_SLOTS) {
        b.start = test_below(random, 3) ? test_below(random, info->capacity) : 0;
        if (b.n > info->capacity - b.start) b.n = info->capacity - b.start;
    }
    *ref = *own = b;
    judge_arrays_lend(&w->ref, ref);
    judge_arrays_lend(&w->own, own);
    draw_inputs(w, ref, time, random);
    for (int k = JUDGE_KEY; k <= JUDGE_FLAG; k++)
        memcpy(judge_arrays_at(&w->own, (judge_array)k), judge_arrays_at(&w->ref, (judge_array)k), w->ref.used[k]);
    judge_arrays_arm(&w->ref);
    judge_arrays_arm(&w->own);
}

const char *twin_differs(const twin *w, const hd_batch *ref, const hd_batch *own, bool places)
{
    static char sentence[200];
    bool lists = !places || !(hd_op_row_of(ref->op)->needs & HD_OF_SLOTS);
    const char *wrong = judge_arrays_check(&w->own, own);
    if (wrong) return wrong;
    for (int k = JUDGE_OUTCOME; k <= (lists ? JUDGE_COUNT : JUDGE_SCORE_OUT); k++) {
        const uint8_t *x = (const uint8_t *)judge_arrays_at(&w->ref, (judge_array)k),
                      *y = (const uint8_t *)judge_arrays_at(&w->own, (judge_array)k);
        size_t at = 0;
        while (at < w->ref.used[k] && x[at] == y[at]) at++;
        if (k == JUDGE_PTR || at == w->ref.used[k]) continue;
        snprintf(sentence, sizeof sentence, "array %d of %d, byte %zu of %zu: %d instead of %d", k, JUDGE_ARRAYS, at,
                 w->ref.used[k], y[at], x[at]);
        return sentence;
    }
    return NULL;
}
