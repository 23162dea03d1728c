/* SPDX-License-Identifier: Apache-2.0
 *
 * oracle.h - an independent judge of tables: a plain map from key to value and score that knows nothing of buckets,
 * hashes or eviction order. It gets each outcome that a table delivered, and decides whether a correct cache could
 * have delivered it:
 *
 *   entries may leave, when an outcome says so (EVICTED names the victim, REFUSED the key that did not enter);
 *   values, scores, hits and misses are exactly those of the map;
 *   entries are conserved: old + inserted = new + evicted + refused + erased, as multisets.
 *
 * It shares no code with ref/. Policies, predicates and sums are restated in rules.c for the same reason.
 */
#ifndef HD_ORACLE_H
#define HD_ORACLE_H

#include "heddle.h"

typedef struct hd_oracle hd_oracle;

/* Whether rules.c restates this policy. If not, its own functions are used (trusted_rows.h). */
bool hd_oracle_restates(const char *policy);

/* HD_EINVAL for an unknown policy. */
hd_status hd_oracle_open(const hd_config *c, hd_oracle **o);
hd_status hd_oracle_copy(const hd_oracle *from, hd_oracle **to);
void hd_oracle_close(hd_oracle *o); /* NULL is fine */

/* Judges a batch that the table has run, with every output array present, the table's clock before it (with
 * HD_CLOCK_DEVICE: the time of the batch) and the epoch it ran at. NULL: it is correct, and the map was changed
 * accordingly; else a sentence that names the item. `order`: (b->n) item numbers in the order in which they took
 * effect; NULL: item order. For operations that evict without a list the victims are learned from `table` by an export
 * after the batch. After a sentence the oracle cannot be used any more.*/
const char *hd_oracle_batch(hd_oracle *o, hd_table *table, const hd_batch *b, const uint64_t *order, uint64_t clock,
                            uint32_t epoch);

/* For the next batch, which has an order, on a dictionary: since[p] items had taken effect when the item that is
 * p-th in the order began to look at the table. An item that changes nothing is correct if it was right at some
 * moment from then on. (b->n); it is written to. */
void hd_oracle_since(hd_oracle *o, uint64_t *since);

/* Exports the whole table and compares it with the map: same keys, values, scores, size. */
const char *hd_oracle_compare(hd_oracle *o, hd_table *table);

/* The same for a table that was loaded from a snapshot of the judged one and had no room for
 * `dropped` of its entries. */
const char *hd_oracle_compare_part(hd_oracle *o, hd_table *table, uint64_t dropped);

/* Events between batches: a value was written through a pointer; a load dropped the pins. */
void hd_oracle_wrote(hd_oracle *o, uint64_t key, const void *value);
void hd_oracle_unpin(hd_oracle *o);

/* Whether a kernel of such tables runs the operation, or mixed batches (each not NULL). */
bool judge_table_runs(const hd_info *info, hd_op op, const uint8_t *each);

#endif
