/* SPDX-License-Identifier: Apache-2.0
 *
 * args.h - what every kernel of the Hive table is given, by value, and how its kernels live together. All pointers are
 * device memory.
 *
 * Words (ref/hive/layout.h) are read by single relaxed loads and changed by compare-and-swap (CAS). Only the owner of a
 * CLAIMED or LEAVING word may store to it. The way of a key is its candidates in order, then the ring of the stash. A
 * key moves forward on its way only.
 *
 *   search    Bucket after bucket along the way. (K, v): present. LEAVING(K): the key is moving; the search starts
 *             again. A bucket is open if more than `spare` of its slots say FRESH. An open bucket ends the search:
 *             no item goes past it, and no word becomes FRESH. An empty stash ends the search before the ring.
 *   change    (K, v) -> (K, new), or -> VACANT, by CAS.
 *   insert    A free slot of the first candidate that has more than `spare` of them, else of the candidate that has
 *             most, as the search saw them; the search saw no open bucket before. In a batch with distinct keys the
 *             slot becomes (K, v) at once. Else it becomes CLAIMED(K), and after a fence the item searches K again.
 *             Of two items that insert K, both claim before they search, so one of them sees the other. If K is
 *             elsewhere, or claimed earlier on the way, the item gives its claim back. If K is claimed later on the
 *             way, the item searches again until that claim ends. Else the claim becomes (K, v).
 *   displace  All candidates are full: a key X moves from one of them to a later candidate of its own. The slot
 *             there -> CLAIMED(X); (X, w) -> LEAVING(X); (X, w) is stored there; the slot that X left is the
 *             inserter's. If no X has such room, one X goes through the bucket of another key, and the chain moves
 *             from its end.
 *   stash     No key can move: an entry of the stash is counted first, and then taken along the ring.
 *
 * A claim that is given back becomes VACANT, never FRESH. In layout "masks" an item first wins a free slot by taking
 * its bit out of the bucket's mask (the paper's WABC), and only then writes it. Readers decide by the word, not by the
 * bit: else a bucket could seem full whose slots still say FRESH. No step waits: it returns "again", and the next turn
 * begins from the state of the key.
 *
 * Tickets: UPDATED and ERASED at the CAS; INSERTED at the store, or the CAS, that shows (K, v); HIVE_MOVE at the CAS
 * that makes (X, w) LEAVING, with the places from and to. An outcome that changes nothing (HIT, MISS, PENDING,
 * RESERVED) was true at some moment between the item's start (simt_started) and its ticket: a search is many loads.
 */
#ifndef HIVE_ARGS_H
#define HIVE_ARGS_H

#include "gpu/batch.h"
#include "ref/hive/layout.h"

#define HIVE_MOVE UINT64_MAX /* a ticket of no item: the key in place a is in place b from now on */

typedef struct hive_args {
    hive_view v;       /* kernels do not read v.stashed, the host's copy                   */
    uint64_t *stashed; /* (1): entries in the stash, or about to be     */

    bool moves; /* keys may come and move while it runs: it is mixed, or inserts */
    gpu_batch b;

    /* growth: bucket b of [first, last) is split into itself and bucket round + b; shrinking: is joined by it */
    uint64_t round;
    hive_segment was; /* the stash that was: [first, last) are its slots */
    /* (2): one more than the last bucket that cannot take its partner's keys; 0: all can. And how many keys went on so
     * that it can */
    uint64_t *crowded;
} hive_args;

#endif
