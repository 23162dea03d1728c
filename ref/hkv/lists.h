/* SPDX-License-Identifier: Apache-2.0
 *
 * lists.h - the lists of a batch, whose rows are in the order of items, or of slots, whichever thread makes them.
 */
#ifndef HD_HKV_LISTS_H
#define HD_HKV_LISTS_H

#include "base/team.h"
#include "ref/hkv/hkv.h"

static inline bool hkv_list_wanted(const hd_batch *b)
{
    return b->list_key || b->list_value || b->list_score || b->list_item || b->count;
}

/* Writes row `at`. value (value_bytes) may be NULL. */
void hkv_list_put(const hkv_view *v, const hd_batch *b, uint64_t at, uint64_t key, const void *value, uint64_t score,
                  uint64_t item);

/* Adds up what the threads of a team have counted, in the order of the threads: `mine` to *sum, and counts
 * (HD_OUTCOME_COUNT; NULL: there are none) to tally. Returns the sum of the threads before thread t. Every thread of
 * the team calls it equally often. */
uint64_t hkv_add_in_turn(hd_team *m, uint32_t t, uint64_t mine, uint64_t *sum, const uint64_t *counts, uint64_t *tally);

/* ---- Rows that wait -------------------------------------------------------------------------- */

/* Where a row belongs is known when all threads have run the items before it. Until then it waits in the memory of its
 * thread. */
enum { HKV_ROWS_BYTES = 16 << 10 /* on its stack */ };

typedef struct hkv_rows {
    uint64_t n, row_words;
    uint64_t word[HKV_ROWS_BYTES / 8]; /* a row: item, key, score, value */
} hkv_rows;

/* How many rows have room. */
uint64_t hkv_rows_most(uint32_t value_bytes);
void hkv_rows_begin(hkv_rows *r, uint32_t value_bytes);
/* Where the next row's value goes (value_bytes), ... */
void *hkv_row_value(hkv_rows *r);
/* ... and the row itself. */
void hkv_row_add(hkv_rows *r, uint64_t item, uint64_t key, uint64_t score);

/* Writes the rows of this thread to the list, from row `at` on, and forgets them. They are of n items from `first` on;
 * listed (n) says which of all items have a row. Returns the place behind the last row of any thread. */
uint64_t hkv_rows_place(const hkv_view *v, const hd_batch *b, hkv_rows *r, uint64_t first, uint64_t n,
                        const uint8_t *listed, uint64_t at);

#endif
