/* SPDX-License-Identifier: Apache-2.0
 *
 * lists.c - see lists.h.
 */
#include "ref/hkv/lists.h"

#include <string.h>

void hkv_list_put(const hkv_view *v, const hd_batch *b, uint64_t at, uint64_t key, const void *value, uint64_t score,
                  uint64_t item)
{
    if (b->list_key) b->list_key[at] = key;
    if (b->list_score) b->list_score[at] = score;
    if (b->list_item) b->list_item[at] = item;
    if (b->list_value && value && v->value_bytes)
        memcpy((char *)b->list_value + at * v->value_bytes, value, v->value_bytes);
}

uint64_t hkv_add_in_turn(hd_team *m, uint32_t t, uint64_t mine, uint64_t *sum, const uint64_t *counts, uint64_t *tally)
{
    hd_team_turn_take(m, t);
    uint64_t before = *sum;
    *sum += mine;
    for (int o = 0; counts && o < HD_OUTCOME_COUNT; o++) tally[o] += counts[o];
    hd_team_turn_give(m, t);
    return before;
}

/* ---- Rows that wait -------------------------------------------------------------------------- */

enum { ITEM, KEY, SCORE, VALUE };

static uint64_t row_words(uint32_t value_bytes) { return VALUE + (value_bytes + 7u) / 8; }

uint64_t hkv_rows_most(uint32_t value_bytes) { return HKV_ROWS_BYTES / 8 / row_words(value_bytes); }

void hkv_rows_begin(hkv_rows *r, uint32_t value_bytes)
{
    r->n = 0;
    r->row_words = row_words(value_bytes);
}

static uint64_t *row_at(hkv_rows *r, uint64_t i) { return r->word + i * r->row_words; }

void *hkv_row_value(hkv_rows *r) { return row_at(r, r->n) + VALUE; }

void hkv_row_add(hkv_rows *r, uint64_t item, uint64_t key, uint64_t score)
{
    HD_ASSERT((r->n + 1) * r->row_words <= HKV_ROWS_BYTES / 8, "more rows wait than fit");
    uint64_t *row = row_at(r, r->n++);
    row[ITEM] = item;
    row[KEY] = key;
    row[SCORE] = score;
}

uint64_t hkv_rows_place(const hkv_view *v, const hd_batch *b, hkv_rows *r, uint64_t first, uint64_t n,
                        const uint8_t *listed, uint64_t at)
{
    uint64_t k = 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t *row = row_at(r, k);
        if (!listed[i]) continue;
        if (k < r->n && row[ITEM] == first + i) {
            hkv_list_put(v, b, at, row[KEY], row + VALUE, row[SCORE], row[ITEM]);
            k++;
        }
        at++;
    }
    HD_ASSERT(k == r->n, "a row has no place in the list");
    r->n = 0;
    return at;
}
