/* SPDX-License-Identifier: Apache-2.0
 *
 * args.h - what every kernel of the Hive table is given, by value, and how its kernels live together. All pointers are
 * device memory.
 *
 * Words (ref/hive/layout.h) are read by single relaxed loads and changed by compare-and-swap; who holds a CLAIMED or
 * LEAVING one, and nobody else, may store to it. A key has a way, its candidates in order and then the ring of the
 * stash, and moves forward on it only.
 *
 *   search    bucket after bucket along the way. (K, v): there. LEAVING(K): it is on its way, from the beginning again.
 *             A bucket that is open, of which more than `spare` slots say FRESH, ends it: nobody goes past such a one,
 *             and none becomes FRESH. Before the ring: no entry is stashed, and that ends it.
 *   change    (K, v) -> (K, new), or -> VACANT, by compare-and-swap.
 *   insert    a free slot of the first candidate that has more than `spare`, else of that which has most, as the search
 *             saw them: it saw none open before. Where the batch is `distinct` it becomes (K, v) at once. Else
 *             CLAIMED(K), and after a fence K is searched again: both of two that bring K claim before they search, so
 *             one of them sees the other. If K is elsewhere, or claimed earlier on the way, the claim is given back;
 *             while one is later on the way its owner is waited for. If there is nothing the claim becomes (K, v).
 *   displace  all candidates full: X moves from one of them to a later candidate of its own. The slot there ->
 *             CLAIMED(X), (X, w) -> LEAVING(X), there (X, w) is stored, and the slot that X left is the inserter's.
 *             Where no X has such room one goes through another's bucket, and the chain is moved from its end.
 *   stash     none can move: an entry of the stash is counted first, and taken along the ring.
 *
 * A claim that is given back becomes VACANT, never FRESH. In layout "masks" a free slot is first won by taking its bit
 * out of the bucket's mask (the paper's WABC), and only then written; a slot is free for who looks when its word says
 * so, not its bit, or a bucket could seem full whose slots still say FRESH. No step waits for anybody: it says "again",
 * and begins from the key's state.
 *
 * Tickets: UPDATED and ERASED at the compare-and-swap; INSERTED at the store, or the compare-and-swap, that shows (K,
 * v); HIVE_MOVE at the one that makes (X, w) LEAVING, with the places from and to. What changes nothing, HIT, MISS,
 * PENDING and RESERVED, was so at some moment between the item's start (simt_started) and its ticket: a search is many
 * loads.
 */
#ifndef HIVE_ARGS_H
#define HIVE_ARGS_H

#include "base/op.h"
#include "heddle.h"
#include "ref/hive/layout.h"

#define HIVE_MOVE UINT64_MAX /* a ticket of nobody's item: the key in place a is in place b from now on */

enum {
    HIVE_LISTS = 8192,     /* parts of a range that is listed, at most */
    HIVE_LIST_LEAST = 512, /* items, or slots, of one                  */
    HIVE_LIST_WORDS = HIVE_LISTS + 2
};

/* What hive_args.pass says, of a list: how many each part of the range lists; or write them. */
enum { HIVE_COUNTS, HIVE_WRITES };

/* Whether such a batch, which is not mixed, may bring keys in. */
HD_FN bool hive_op_inserts(uint32_t op) { return HD_OP_IN(op, HD_OPS_UPSERT); }

typedef struct hive_args {
    hive_view v;       /* but for v.stashed, which is the host's opinion and not looked at */
    uint64_t *stashed; /* (1): entries in the stash, or about to be     */

    /* The batch (hd_batch). */
    uint32_t op;        /* hd_op   */
    uint32_t elem;      /* hd_elem */
    uint32_t predicate; /* hd_predicate; all: where the operation has none */
    uint32_t pass;
    bool distinct; /* no key twice */
    bool moves;    /* keys may come and move while it runs: it is mixed, or inserts */
    uint64_t n;
    uint64_t first, last; /* this launch runs items, or slots, [first, last) */
    const uint8_t *each;  /* NULL: op is everybody's */
    const uint64_t *key;
    const uint8_t *value; /* (n, half / 8 bytes) */
    const uint8_t *flag;  /* NULL: HD_EITHER */
    uint64_t pred_arg[2];

    uint8_t *outcome;
    uint8_t *value_out;
    uint64_t *score_out; /* 0 where it is delivered */
    uint64_t *ptr;
    uint64_t *list_key, *list_score, *list_item, *count;
    uint8_t *list_value;
    uint64_t *tally; /* (HD_OUTCOME_COUNT): outcomes are added */

    uint8_t *stage_flag; /* (window): which items of the launch list; NULL: slots are listed, or nothing */
    /* (HIVE_LIST_WORDS): how many each part lists; then the list's length before a window, at its number modulo 2 */
    uint64_t *listed;
    uint32_t window; /* its number */

    /* growth: bucket b of [first, last) is split into itself and bucket round + b; shrinking: is joined by it */
    uint64_t round;
    hive_segment was; /* the stash that was: [first, last) are its slots */
    /* (2): one more than the last bucket that cannot take its partner's keys; 0: all can. And how many keys went on so
     * that it can */
    uint64_t *crowded;
} hive_args;

#endif
