/* SPDX-License-Identifier: Apache-2.0
 *
 * args.h - what every kernel of the ovs table is given, by value, and how its kernels live together. All pointers are
 * memory that the device reaches: near segments are in its own memory, far ones in pinned memory of the host.
 *
 * Words (ref/ovs/layout.h) are read by single loads, which are relaxed but in the search after a claim, and changed by
 * compare-and-swap (CAS). Only the owner of a CLAIMED word may store to it. Keys do not move while batches run.
 *
 *   search    Bucket after bucket along the way. (K, v): present. An open bucket ends the search: no item goes past it,
 *             and no word becomes FRESH.
 *   change    (K, v) -> (K, new), or -> VACANT, by CAS.
 *   insert    The first free slot of the way, after the whole way was searched. In a batch with distinct keys the slot
 *             becomes (K, v) at once. Else it becomes CLAIMED(K), and after a fence the item searches K again. Of two
 *             items that insert K, both claim before they search, so one of them sees the other. If K is elsewhere, or
 *             claimed earlier on the way, the item gives its claim back. If K is claimed later on the way, the item
 *             searches again until that claim ends. Else the claim becomes (K, v).
 *
 * Digests: only an item that has claimed a slot writes its digest, after the claim and before the fence. So of two
 * items that insert K, the one whose fence is later sees the other's digest, too; and when (K, v) shows, its digest
 * does. In a batch with distinct keys the digest follows (K, v): no other item of the batch looks for K. Digests that
 * are not 0 never become 0 while such kernels run. An erasure leaves the digest: a later claim of the slot replaces it.
 *
 * In a segment with digests a search reads the words of a bucket only if it has the key's digest, or if it needs a free
 * slot; and it ends where a digest is 0, whatever the words say. A word ceases to be FRESH before its digest ceases to
 * be 0. So an item may see an open bucket without a free slot: it searches again.
 *
 * A claim that is given back becomes VACANT, never FRESH. No step waits: it returns "again", and the next turn begins
 * from the state of the key.
 *
 * Tickets: UPDATED and ERASED at the CAS; INSERTED at the store, or the CAS, that shows (K, v). An outcome that changes
 * nothing (HIT, MISS, PENDING, RESERVED) was true at some moment between the item's start (simt_started) and its
 * ticket: a search is many loads.
 */
#ifndef OVS_ARGS_H
#define OVS_ARGS_H

#include "gpu/batch.h"
#include "ref/ovs/layout.h"

enum { OVS_BLOCKS_LEAST = 8 };

typedef struct ovs_args {
    ovs_view v;
    gpu_batch b;
    uint64_t round; /* resizing: the partner of segment g of [first, last) is segment round + g */
    /* flip, sorted: words code << 32 | item, in the order of codes; item is counted from b.first. A code is the bucket
     * where the way begins, without its lowest code_shift bits. And the next word that is to be taken */
    uint64_t *sorted, *next;
    uint32_t code_shift;
    uint64_t block_items; /* sorted: no more blocks run than one for so many items, and OVS_BLOCKS_LEAST; 0: all run */
    uint64_t *kept;       /* (1): the number of words, of items that digests have not settled; NULL: all have a word */
    uint64_t *kept_next;  /* (1): that of the next window, which becomes 0 */
    uint64_t *crowded;    /* (1): one more than the last segment that cannot take its partner's keys; 0: all can */
    /* Resizing with ranges */
    uint32_t *keys;           /* (segments) how many each has */
    const uint32_t *wait;     /* keys that wait for room, ascending */
    ovs_task *task;           /* of which [b.first, b.last) are at work; NULL: all segments are */
    const uint64_t *row_here; /* (rows) the host's copy of the directory */
    uint64_t rows;            /* how many of them are written to v.row */
} ovs_args;

/* The words of segments [first, last) get other homes (gpu/ovs/near.c). */
typedef struct ovs_move_args {
    ovs_view from, to; /* the same table, before and after */
    uint64_t first, last;
} ovs_move_args;

#endif
