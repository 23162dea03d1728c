/* SPDX-License-Identifier: Apache-2.0
 *
 * rules.h - the contract's tables, restated for the judge: what each operation does to a present and to an absent key,
 * what it delivers, how policies score, when predicates hold, how elements add. Nothing is taken from ref/, policies/
 * or predicates/, so that a mistake in one of the two statements is found. (trusted_rows.h: rows that are not restated
 * yet.)
 */
#ifndef HD_JUDGE_RULES_H
#define HD_JUDGE_RULES_H

#include "heddle.h"
#include "judge/trusted_rows.h"
#include "judge/expression.h"

/* Which entries an ordered operation is about. */
typedef enum judge_order {
    JUDGE_UNORDERED,
    JUDGE_BELOW,   /* the last one below the key, or at it */
    JUDGE_ABOVE,   /* the first one above the key, or at it */
    JUDGE_BETWEEN, /* the first `limit` ones from key to key2 */
    JUDGE_LEAST,
    JUDGE_GREATEST
} judge_order;

typedef struct judge_op {
    bool keyed;    /* one outcome per item, one tick per item           */
    bool enters;   /* an absent key is inserted, when it is admitted    */
    bool changes;  /* a pinned entry makes the outcome PINNED           */
    bool rescores; /* by the policy, when the key is present            */
    bool value_in; /* replaces the value, when the key is present       */
    bool value_out, score_out, ptr_out;
    bool may_pin; /* with a holder, pins what it finds and inserts  */
    bool reads;   /* changes nothing, not even a pin                */
    bool list;    /* fills the list                                   */
    bool predicate;
    bool range;         /* of slots                                       */
    judge_order order;  /* key_out, and value_out of these entries */
    hd_outcome present; /* the outcome when the key is present, not pinned */
} judge_op;

extern const judge_op judge_ops[HD_OP_COUNT_];

/* Whether the policy may need the caller's scores. */
static inline bool judge_scores_items(const judge_op *r) { return r->rescores || r->enters; }

/* Whether the batch stores the scores that it is given, as policy custom does (hd_batch.raw_scores). */
bool judge_raw(const hd_batch *b);

hd_op judge_op_named(const char *name); /* HD_OP_COUNT_: none */
uint64_t judge_keyed_ops(hd_op *op);    /* all of them; how many */

/* The least key that such a table answers RESERVED; whether its design is a dictionary: no scores and no evictions. */
uint64_t judge_keys(const hd_config *c);
bool judge_dictionary(const char *design);

/* The operation of an item; whether the batch has keyed items. */
hd_op judge_item_op(const hd_batch *b, uint64_t i);
bool judge_keyed_batch(const hd_batch *b);
/* "find"; "mixed" */
const char *judge_batch_name(const hd_batch *b);

/* Whether hd_batch.found is true for an item with this outcome. In unlock_keys a MISS may be either: JUDGE_EITHER. */
typedef enum judge_found { JUDGE_ABSENT, JUDGE_PRESENT, JUDGE_EITHER } judge_found;
judge_found judge_finds(hd_op op, hd_outcome o);
/* hd_batch.found of item i, where it has that array, as the byte that it is: poison is no bool. */
uint8_t judge_found_byte(const hd_batch *b, uint64_t i);
uint8_t judge_more_byte(const hd_batch *b, uint64_t i);

/* The order of the batch's operation; JUDGE_UNORDERED for a mixed batch. */
judge_order judge_order_of(const hd_batch *b);
/* Rows of key_out and value_out in the whole batch. */
uint64_t judge_rows_out(const hd_batch *b);

/* Whether an item with this outcome writes value_out and score_out; whether it writes ptr. */
bool judge_delivers(hd_op op, hd_outcome o);
bool judge_delivers_ptr(hd_op op, hd_outcome o);

typedef enum judge_rule {
    JUDGE_LRU,
    JUDGE_LFU,
    JUDGE_EPOCH_LRU,
    JUDGE_EPOCH_LFU,
    JUDGE_CUSTOM,
    JUDGE_FIFO,
    JUDGE_EPOCH_FIFO,
    JUDGE_NONE,
    JUDGE_EXPRESSION, /* judge/expression.h */
    JUDGE_POLICIES
} judge_rule;

/* A borrowed policy is JUDGE_POLICIES + its row. */
typedef struct judge_policy {
    uint32_t rule;
    judge_expression expression; /* of JUDGE_EXPRESSION */
} judge_policy;

bool judge_policy_find(const char *name, judge_policy *p);
bool judge_policy_borrowed(const judge_policy *p);
bool judge_policy_needs_scores(const judge_policy *p);
/* Whether an eviction changes scores of other entries, or a new entry's score depends on others. */
bool judge_policy_keeps_order(const judge_policy *p);
/* Whether an insert may change scores of other entries, and the new entry's score depends on what buckets remember. */
bool judge_policy_has_queues(const judge_policy *p);
uint64_t judge_score_new(const judge_policy *p, judge_score_in in);
uint64_t judge_score_hit(const judge_policy *p, uint64_t old, judge_score_in in);
uint64_t judge_admission(const judge_policy *p, judge_score_in in);
/* The least that it can be, or the greatest, whatever the table has counted of keys. */
uint64_t judge_admission_bound(const judge_policy *p, judge_score_in in, bool greatest);
/* The score with which an entry that is about to leave is spared; no more than `old`: it leaves. */
uint64_t judge_score_spared(const judge_policy *p, uint64_t old, judge_score_in in);
/* HD_CLOCK_DEVICE: a time in ticks of 2^20 ns, which begin 2^32 ticks or fewer before the table was opened. */
uint64_t judge_tick(uint64_t now_ns, uint64_t opened_ns);

/* 1 or 0; -1: no such predicate. */
int judge_holds(const char *pred, const uint64_t arg[2], uint64_t key, uint64_t score, const uint8_t *value,
                uint32_t bytes);

uint32_t judge_elem_bytes(hd_elem e);
/* The first element type, from e on, whose size divides value_bytes. One byte divides every size. */
hd_elem judge_elem_that_fits(hd_elem e, uint32_t value_bytes);
void judge_add(hd_elem e, uint8_t *sum, const uint8_t *add, uint32_t bytes);

/* Makes values of random words: floats become small whole numbers, so that sums of them are exact, whatever the order
 * in which they are added; other elements take all bits. */
uint64_t judge_summable(hd_elem e, uint64_t word);

#endif
