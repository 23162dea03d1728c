/* SPDX-License-Identifier: Apache-2.0
 *
 * heddle_calls.h - one short call per operation, over hd_run. heddle.h includes this file.
 *
 *     hd_upsert(t, n, keys, values, NULL, outcomes);
 *     hd_find(t, n, keys, values_out, outcomes);
 *
 * Every call builds a batch of one operation and runs it. hd_op states what the operation does. hd_batch in heddle.h
 * states the shapes, the ownership and the place of the arrays, and hd_run the errors. The calls use the default stream
 * and the kernel that the table selects. For another stream, a mixed batch, a chosen kernel or the promise `distinct`,
 * start from hd_batch_of and call hd_run.
 *
 * Arguments stand in this order: the table, the number of items, what the operation reads, what it writes.
 *
 *     name       shape                direction  NULL is allowed
 *     keys       (n)                  in         no
 *     values     (n, value_bytes)     in         when value_bytes is 0
 *     scores     (n)                  in         unless the policy needs scores (`custom`)
 *     flags      (n), hd_accum        in         yes: HD_EITHER for every item
 *     outcomes   (n), hd_outcome      out        yes
 *     values_out (n, value_bytes)     out        yes; of hd_range (n, limit, value_bytes)
 *     ptrs       (n)                  out        no
 *     upper      (n)                  in         no
 *     keys_out   (n), range (n, limit) out       yes
 *     rows, more (n)                  out        yes
 *     list_*     at most n rows       out        yes
 *     count      (1)                  out        yes, but for hd_size, hd_size_if, hd_min and hd_max
 *
 * A row of values_out is written only for an item that found an entry: read `outcomes` first, or fill the array with a
 * default before the call. Calls with `start` and `slots` cover the slots [start, start + slots); the table has
 * hd_info.places slots.
 */
#ifndef HEDDLE_CALLS_H
#define HEDDLE_CALLS_H

#include <string.h>

#include "heddle.h"

/* A batch of one operation over n keys; every other field is zero. It does not run: set fields, then call hd_run. */
static inline hd_batch hd_batch_of(hd_op op, uint64_t n, const uint64_t *keys)
{
    hd_batch b;
    memset(&b, 0, sizeof b);
    b.op = op;
    b.n = n;
    b.key = keys;
    return b;
}

/* The same with the arrays that most keyed operations have; NULL where this one has none. */
static inline hd_batch hd_batch_keyed(hd_op op, uint64_t n, const uint64_t *keys, const void *values,
                                      const uint64_t *scores, void *values_out, void **ptrs, uint8_t *outcomes)
{
    hd_batch b = hd_batch_of(op, n, keys);
    b.value = values;
    b.score = scores;
    b.value_out = values_out;
    b.ptr = ptrs;
    b.outcome = outcomes;
    return b;
}

/* Gives a batch the arrays that it lists entries in; any may be NULL. */
static inline void hd_batch_set_lists(hd_batch *b, uint64_t *list_keys, void *list_values, uint64_t *list_scores,
                                      uint64_t *list_items, uint64_t *count)
{
    b->list_key = list_keys;
    b->list_value = list_values;
    b->list_score = list_scores;
    b->list_item = list_items;
    b->count = count;
}

/* Runs a batch of one keyed operation; NULL where the operation has no such array. The calls below are this. */
static inline hd_status hd_run_keyed(hd_table *t, hd_op op, uint64_t n, const uint64_t *keys, const void *values,
                                     const uint64_t *scores, void *values_out, void **ptrs, uint8_t *outcomes)
{
    hd_batch b = hd_batch_keyed(op, n, keys, values, scores, values_out, ptrs, outcomes);
    return hd_run(t, &b);
}

/* Runs a batch over slots or over the whole table, with a predicate or without (NULL). */
static inline hd_status hd_run_slots(hd_table *t, hd_op op, uint64_t start, uint64_t slots, const char *pred,
                                     const uint64_t *args, uint64_t *list_keys, void *list_values,
                                     uint64_t *list_scores, uint64_t *count)
{
    hd_batch b = hd_batch_of(op, slots, NULL);
    b.start = start;
    b.pred = pred;
    if (args) memcpy(b.pred_arg, args, sizeof b.pred_arg);
    hd_batch_set_lists(&b, list_keys, list_values, list_scores, NULL, count);
    return hd_run(t, &b);
}

/* ---- Look up: no entry and no score changes ------------------------------------------------------------------ */

/* Copies the values of present keys to values_out. Outcomes: HIT, MISS. */
static inline hd_status hd_find(hd_table *t, uint64_t n, const uint64_t *keys, void *values_out, uint8_t *outcomes)
{
    return hd_run_keyed(t, HD_OP_FIND, n, keys, NULL, NULL, values_out, NULL, outcomes);
}

/* Tests which keys are present. Outcomes: HIT, MISS. */
static inline hd_status hd_contains(hd_table *t, uint64_t n, const uint64_t *keys, uint8_t *outcomes)
{
    return hd_run_keyed(t, HD_OP_CONTAINS, n, keys, NULL, NULL, NULL, NULL, outcomes);
}

/* Writes the addresses of the values of present keys. They are valid until the next inserter
 * (hd_op). Outcomes: HIT, MISS. */
static inline hd_status hd_find_ptr(hd_table *t, uint64_t n, const uint64_t *keys, void **ptrs, uint8_t *outcomes)
{
    return hd_run_keyed(t, HD_OP_FIND_PTR, n, keys, NULL, NULL, NULL, ptrs, outcomes);
}

/* As hd_find, and lists the absent keys: list_keys receives the keys, list_items the numbers of their items, and count
 * their number. Outcomes: HIT, MISS. */
static inline hd_status hd_find_missed(hd_table *t, uint64_t n, const uint64_t *keys, void *values_out,
                                       uint8_t *outcomes, uint64_t *list_keys, uint64_t *list_items, uint64_t *count)
{
    hd_batch b = hd_batch_keyed(HD_OP_FIND_MISSED, n, keys, NULL, NULL, values_out, NULL, outcomes);
    hd_batch_set_lists(&b, list_keys, NULL, NULL, list_items, count);
    return hd_run(t, &b);
}

/* ---- In the order of keys: tables that keep one (design sl) --------------------------------------------------- */

/* hd_predecessor or hd_successor. */
static inline hd_status hd_run_neighbour(hd_table *t, hd_op op, uint64_t n, const uint64_t *keys, bool inclusive,
                                         uint64_t *keys_out, void *values_out, uint8_t *outcomes)
{
    hd_batch b = hd_batch_keyed(op, n, keys, NULL, NULL, values_out, NULL, outcomes);
    b.inclusive = inclusive;
    b.key_out = keys_out;
    return hd_run(t, &b);
}

/* For each key the entry with the greatest key below it; inclusive: at or below it. Outcomes: HIT, MISS. */
static inline hd_status hd_predecessor(hd_table *t, uint64_t n, const uint64_t *keys, bool inclusive,
                                       uint64_t *keys_out, void *values_out, uint8_t *outcomes)
{
    return hd_run_neighbour(t, HD_OP_PREDECESSOR, n, keys, inclusive, keys_out, values_out, outcomes);
}

/* For each key the entry with the least key above it; inclusive: at or above it. Outcomes: HIT, MISS. */
static inline hd_status hd_successor(hd_table *t, uint64_t n, const uint64_t *keys, bool inclusive, uint64_t *keys_out,
                                     void *values_out, uint8_t *outcomes)
{
    return hd_run_neighbour(t, HD_OP_SUCCESSOR, n, keys, inclusive, keys_out, values_out, outcomes);
}

/* For each item the first `limit` entries with keys from keys[i] to upper[i], both included, in ascending order. Item i
 * has the rows [i * limit, i * limit + rows[i]) of keys_out and values_out; more[i] says whether its range has further
 * entries. Outcomes: HIT (the range has an entry, even if limit is 0), MISS. */
static inline hd_status hd_range(hd_table *t, uint64_t n, const uint64_t *keys, const uint64_t *upper, uint32_t limit,
                                 uint64_t *keys_out, void *values_out, uint32_t *rows, bool *more, uint8_t *outcomes)
{
    hd_batch b = hd_batch_keyed(HD_OP_RANGE, n, keys, NULL, NULL, values_out, NULL, outcomes);
    b.key2 = upper;
    b.limit = limit;
    b.key_out = keys_out;
    b.rows = rows;
    b.more = more;
    return hd_run(t, &b);
}

/* hd_min or hd_max. */
static inline hd_status hd_run_end(hd_table *t, hd_op op, uint64_t *key_out, void *value_out, uint64_t *count)
{
    hd_batch b = hd_batch_of(op, 0, NULL);
    b.key_out = key_out;
    b.value_out = value_out;
    b.count = count;
    return hd_run(t, &b);
}

/* The entry with the least key: key_out (1) and value_out (1, value_bytes). count: 1; 0 if the table is empty, and then
 * nothing else is written. */
static inline hd_status hd_min(hd_table *t, uint64_t *key_out, void *value_out, uint64_t *count)
{
    return hd_run_end(t, HD_OP_MIN, key_out, value_out, count);
}

/* The same of the greatest key. */
static inline hd_status hd_max(hd_table *t, uint64_t *key_out, void *value_out, uint64_t *count)
{
    return hd_run_end(t, HD_OP_MAX, key_out, value_out, count);
}

/* ---- Change entries that are present ------------------------------------------------------------------------- */

/* As hd_find, and rescores the entries that it finds: the lookup of a cache. Outcomes: HIT, MISS, PINNED. */
static inline hd_status hd_touch(hd_table *t, uint64_t n, const uint64_t *keys, const uint64_t *scores,
                                 void *values_out, uint8_t *outcomes)
{
    return hd_run_keyed(t, HD_OP_TOUCH, n, keys, NULL, scores, values_out, NULL, outcomes);
}

/* Replaces the values of present keys and rescores them. Outcomes: UPDATED, MISS, PINNED. */
static inline hd_status hd_assign(hd_table *t, uint64_t n, const uint64_t *keys, const void *values,
                                  const uint64_t *scores, uint8_t *outcomes)
{
    return hd_run_keyed(t, HD_OP_ASSIGN, n, keys, values, scores, NULL, NULL, outcomes);
}

/* Replaces the values of present keys; scores stay. Outcomes: UPDATED, MISS, PINNED. */
static inline hd_status hd_assign_values(hd_table *t, uint64_t n, const uint64_t *keys, const void *values,
                                         uint8_t *outcomes)
{
    return hd_run_keyed(t, HD_OP_ASSIGN_VALUES, n, keys, values, NULL, NULL, NULL, outcomes);
}

/* Rescores present keys; values stay. Outcomes: UPDATED, MISS, PINNED. */
static inline hd_status hd_assign_scores(hd_table *t, uint64_t n, const uint64_t *keys, const uint64_t *scores,
                                         uint8_t *outcomes)
{
    return hd_run_keyed(t, HD_OP_ASSIGN_SCORES, n, keys, NULL, scores, NULL, NULL, outcomes);
}

/* ---- Insert -------------------------------------------------------------------------------------------------- */

/* insert_or_assign: replaces the value of a present key, inserts an absent one. A full bucket evicts the entry with
 * the lowest score, or refuses the key. Outcomes: UPDATED, INSERTED, EVICTED, REFUSED, PINNED, PENDING. */
static inline hd_status hd_insert_or_assign(hd_table *t, uint64_t n, const uint64_t *keys, const void *values,
                                            const uint64_t *scores, uint8_t *outcomes)
{
    return hd_run_keyed(t, HD_OP_INSERT_OR_ASSIGN, n, keys, values, scores, NULL, NULL, outcomes);
}
/* The same, by its short name. */
static inline hd_status hd_upsert(hd_table *t, uint64_t n, const uint64_t *keys, const void *values,
                                  const uint64_t *scores, uint8_t *outcomes)
{
    return hd_insert_or_assign(t, n, keys, values, scores, outcomes);
}

/* hd_upsert with hd_run_growing: grows the table until no item is PENDING and, if target is above 0, until the load
 * factor is at most `target`. Outcomes: as hd_upsert; after HD_OK none is PENDING. */
static inline hd_status hd_upsert_growing(hd_table *t, uint64_t n, const uint64_t *keys, const void *values,
                                          const uint64_t *scores, uint8_t *outcomes, double target)
{
    hd_batch b = hd_batch_keyed(HD_OP_INSERT_OR_ASSIGN, n, keys, values, scores, NULL, NULL, outcomes);
    return hd_run_growing(t, &b, target);
}

/* As hd_upsert, but the scores, which are required, are stored as they are, whatever the policy (hd_batch.raw_scores):
 * brings in entries of another table or of a file. Outcomes: as hd_upsert. */
static inline hd_status hd_import(hd_table *t, uint64_t n, const uint64_t *keys, const void *values,
                                  const uint64_t *scores, uint8_t *outcomes)
{
    hd_batch b = hd_batch_keyed(HD_OP_INSERT_OR_ASSIGN, n, keys, values, scores, NULL, NULL, outcomes);
    b.raw_scores = true;
    return hd_run(t, &b);
}

/* As hd_upsert, and lists each evicted entry and each refused item once, with key, value and score. */
static inline hd_status hd_insert_and_evict(hd_table *t, uint64_t n, const uint64_t *keys, const void *values,
                                            const uint64_t *scores, uint8_t *outcomes, uint64_t *list_keys,
                                            void *list_values, uint64_t *list_scores, uint64_t *count)
{
    hd_batch b = hd_batch_keyed(HD_OP_INSERT_AND_EVICT, n, keys, values, scores, NULL, NULL, outcomes);
    hd_batch_set_lists(&b, list_keys, list_values, list_scores, NULL, count);
    return hd_run(t, &b);
}

/* Copies the value of a present key to values_out and rescores the entry; inserts the row of `values` for an absent
 * key. Outcomes: HIT, INSERTED, EVICTED, REFUSED, PINNED, PENDING. */
static inline hd_status hd_find_or_insert(hd_table *t, uint64_t n, const uint64_t *keys, const void *values,
                                          const uint64_t *scores, void *values_out, uint8_t *outcomes)
{
    return hd_run_keyed(t, HD_OP_FIND_OR_INSERT, n, keys, values, scores, values_out, NULL, outcomes);
}

/* Writes the address of each key's value; inserts an absent key with a value of zero bytes. An address is valid until
 * the next inserter, and an item of the same batch may evict the entry. Outcomes: as hd_find_or_insert. */
static inline hd_status hd_find_or_insert_ptr(hd_table *t, uint64_t n, const uint64_t *keys, const uint64_t *scores,
                                              void **ptrs, uint8_t *outcomes)
{
    return hd_run_keyed(t, HD_OP_FIND_OR_INSERT_PTR, n, keys, NULL, scores, NULL, ptrs, outcomes);
}

/* Adds `values`, whose elements have the type `elem`, to the value of a present key; inserts an absent key.
 * Outcomes: UPDATED, INSERTED, EVICTED, REFUSED, PINNED, PENDING; HIT and MISS for flags that do not match
 * (hd_accum). */
static inline hd_status hd_accum_or_assign(hd_table *t, uint64_t n, const uint64_t *keys, const void *values,
                                           hd_elem elem, const uint64_t *scores, const uint8_t *flags,
                                           uint8_t *outcomes)
{
    hd_batch b = hd_batch_keyed(HD_OP_ACCUM_OR_ASSIGN, n, keys, values, scores, NULL, NULL, outcomes);
    b.elem = elem;
    b.flag = flags;
    return hd_run(t, &b);
}

/* ---- Remove and pin ------------------------------------------------------------------------------------------ */

/* Removes present keys. Outcomes: ERASED, MISS, PINNED. */
static inline hd_status hd_erase(hd_table *t, uint64_t n, const uint64_t *keys, uint8_t *outcomes)
{
    return hd_run_keyed(t, HD_OP_ERASE, n, keys, NULL, NULL, NULL, NULL, outcomes);
}

/* Removes the entries for which predicate `pred` holds with the arguments a and b (`heddle list predicates`). */
static inline hd_status hd_erase_if(hd_table *t, const char *pred, uint64_t a, uint64_t b, uint64_t *count)
{
    const uint64_t args[2] = { a, b };
    return hd_run_slots(t, HD_OP_ERASE_IF, 0, 0, pred, args, NULL, NULL, NULL, count);
}

/* hd_lock_keys or hd_unlock_keys. */
static inline hd_status hd_run_pins(hd_table *t, hd_op op, uint64_t n, const uint64_t *keys, uint64_t holder,
                                    uint8_t *outcomes)
{
    hd_batch b = hd_batch_keyed(op, n, keys, NULL, NULL, NULL, NULL, outcomes);
    b.holder = holder;
    return hd_run(t, &b);
}

/* Pins the entries of present keys against eviction and change; `holder` must not be 0. Outcomes: HIT, MISS, PINNED. */
static inline hd_status hd_lock_keys(hd_table *t, uint64_t n, const uint64_t *keys, uint64_t holder, uint8_t *outcomes)
{
    return hd_run_pins(t, HD_OP_LOCK_KEYS, n, keys, holder, outcomes);
}

/* Unpins keys that `holder` pinned. Outcomes: HIT, MISS, PINNED (another holder pinned it). */
static inline hd_status hd_unlock_keys(hd_table *t, uint64_t n, const uint64_t *keys, uint64_t holder,
                                       uint8_t *outcomes)
{
    return hd_run_pins(t, HD_OP_UNLOCK_KEYS, n, keys, holder, outcomes);
}

/* ---- The whole table ----------------------------------------------------------------------------------------- */

/* The number of entries. */
static inline hd_status hd_size(hd_table *t, uint64_t *count)
{
    return hd_run_slots(t, HD_OP_SIZE, 0, 0, NULL, NULL, NULL, NULL, NULL, count);
}

/* The number of entries for which predicate `pred` holds with the arguments a and b. */
static inline hd_status hd_size_if(hd_table *t, const char *pred, uint64_t a, uint64_t b, uint64_t *count)
{
    const uint64_t args[2] = { a, b };
    return hd_run_slots(t, HD_OP_SIZE_IF, 0, 0, pred, args, NULL, NULL, NULL, count);
}

/* Lists the entries of the slots [start, start + slots) in slot order. */
static inline hd_status hd_export(hd_table *t, uint64_t start, uint64_t slots, uint64_t *list_keys, void *list_values,
                                  uint64_t *list_scores, uint64_t *count)
{
    return hd_run_slots(t, HD_OP_EXPORT, start, slots, NULL, NULL, list_keys, list_values, list_scores, count);
}

/* Lists those entries of the slots for which predicate `pred` holds with the arguments a and b. */
static inline hd_status hd_export_if(hd_table *t, uint64_t start, uint64_t slots, const char *pred, uint64_t a,
                                     uint64_t b, uint64_t *list_keys, void *list_values, uint64_t *list_scores,
                                     uint64_t *count)
{
    const uint64_t args[2] = { a, b };
    return hd_run_slots(t, HD_OP_EXPORT_IF, start, slots, pred, args, list_keys, list_values, list_scores, count);
}

/* In each bucket whose first slot is in [start, start + slots): moves the values of the highest-scored entries to
 * device memory (hd_tiers). count: how many values moved there. */
static inline hd_status hd_promote(hd_table *t, uint64_t start, uint64_t slots, uint64_t *count)
{
    return hd_run_slots(t, HD_OP_PROMOTE, start, slots, NULL, NULL, NULL, NULL, NULL, count);
}

#endif
