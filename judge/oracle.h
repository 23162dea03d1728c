/* SPDX-License-Identifier: Apache-2.0
 *
 * oracle.h - an independent judge: a plain map from key to (value, score) that knows nothing of
 * buckets, hashes or eviction order. It is told what a table said it did, item by item, and
 * answers whether a truthful cache could have said so:
 *
 *   it may forget, if it said so (EVICTED names who left, REFUSED who did not enter);
 *   it may not lie (values, scores, hits and misses are exactly what the map holds);
 *   it must conserve (old + inserted = new + evicted + refused + erased, as multisets).
 *
 * Written without one line of ref/, on purpose. Policies, predicates and sums are restated in rules.c for
 * the same reason.
 */
#ifndef HD_ORACLE_H
#define HD_ORACLE_H

#include "heddle.h"

typedef struct hd_oracle hd_oracle;

/* Whether rules.c states this policy a second time. If not, its own functions are believed (borrow.h). */
bool hd_oracle_restates(const char *policy);

/* HD_EINVAL for a policy that there is not, and for the device clock, which cannot be judged. */
hd_status hd_oracle_open(const hd_config *c, hd_oracle **o);
hd_status hd_oracle_copy(const hd_oracle *from, hd_oracle **to);
void hd_oracle_close(hd_oracle *o); /* NULL is fine */

/* A batch that the table has run, every output array present, with the table's clock before it and
 * the epoch it ran at. NULL: all of it is truthful, and now happened to the map; else a sentence that
 * names the item. Items are taken in `order`, (b->n) their numbers as they took effect; NULL: in item order.
 * For operations that evict without a list (insert_or_assign, ...) the victims are learned from `table`
 * by an export after the batch.
 * After a sentence the oracle is of no further use: it does not know what to believe. */
const char *hd_oracle_batch(hd_oracle *o, hd_table *table, const hd_batch *b, const uint64_t *order, uint64_t clock,
                            uint32_t epoch);

/* For the next batch, which comes with an order, on a table that evicts nobody: the item that is p-th in the order
 * looked at the table from the time on that as many items as since[p] had taken effect. One that changes nothing is
 * truthful if it was at some moment from then on. (b->n); it is written to. */
void hd_oracle_since(hd_oracle *o, uint64_t *since);

/* Exports the whole table and compares it with the map: same keys, values, scores, size. */
const char *hd_oracle_compare(hd_oracle *o, hd_table *table);

/* The same for a table that was loaded from a snapshot of the judged one and had no room for
 * `dropped` of its entries. */
const char *hd_oracle_compare_part(hd_oracle *o, hd_table *table, uint64_t dropped);

/* What happens outside of batches: the caller wrote a value through a pointer; a load dropped the pins. */
void hd_oracle_wrote(hd_oracle *o, uint64_t key, const void *value);
void hd_oracle_unpin(hd_oracle *o);

/* Whether a kernel of such tables runs the operation, or mixed batches (each not NULL). */
bool judge_table_runs(const hd_info *info, hd_op op, const uint8_t *each);

#endif
