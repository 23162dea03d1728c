/* SPDX-License-Identifier: Apache-2.0
 *
 * args.h - what every kernel of the skip list gfsl is given, by value, and how its kernels live together. All pointers
 * are device memory.
 *
 * A tile of lanes has one item and reads a chunk at a time, a lane per word (gfsl/ref/layout.h). All accesses to chunks
 * are relaxed, but for the seal:
 *
 *   look    The last lane reads the seal with acquire; all lanes read their words; after a fence the last lane reads
 *           the seal again. If the chunk was locked, or the seal has changed, the words may be of two states of the
 *           chunk, and the tile looks again.
 *   lock    A compare-and-swap of the seal that was seen. If it succeeds, the words that were read are still those of
 *           the chunk. If it fails, another item has changed or locked the chunk, or it is a zombie by now: the item
 *           searches again.
 *   change  The lanes store new words. The store of a new seal, with release, unlocks the chunk.
 *
 * A split first writes the new chunk, then the link and the words of the old one, which is locked. Only the merge locks
 * two chunks: a chunk, and then the one to which its link leads. So no items wait for each other in a circle. A merge
 * waits for the second lock and holds the first; all other items hold no lock while they wait.
 *
 * Keys move to the right only, and links lead to the right, so a search that meets an old entry goes on to the right.
 * Chunks of a batch that become zombies are free after it (gfsl_relink, gfsl_release): no item can still be on its way
 * to them then.
 *
 * Tickets: INSERTED, UPDATED and ERASED while the chunk of the key is locked. An outcome that changes nothing (HIT,
 * MISS, PENDING, RESERVED) was true at some moment between the item's start (simt_started) and its ticket.
 */
#ifndef GFSL_ARGS_H
#define GFSL_ARGS_H

#include "gpu/batch.h"
#include "gfsl/ref/layout.h"

typedef struct gfsl_args {
    gfsl_view v;
    gpu_batch b;

    /* ordered operations; see hd_batch */
    const uint64_t *key2;
    uint64_t *key_out;
    uint32_t *rows;
    uint8_t *more;
    uint32_t limit;
    bool inclusive;

    uint32_t level;          /* of a step of erase_if (prune.h) */
    uint32_t keys_per_block; /* consecutive items that a block has; 0: one for each of its tiles */
    uint32_t blocks;         /* of a launch over items, at most; 0: as many as there are items for. The host's */
} gfsl_args;

#endif
