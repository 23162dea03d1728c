/* SPDX-License-Identifier: Apache-2.0
 *
 * paging.h - a model of managed memory that a GPU oversubscribes: which accesses to an array fault, and what is copied.
 * Included once by each program.
 *
 * An array is cut into blocks of 2 MiB and pages of 64 KiB. `frames` blocks have room in device memory. An access to a
 * page that is not there is a fault: the page is fetched into its block's frame. A block without a frame gets that of
 * the least recent block, whose changed pages are written back first. "Recent" is by the last fault in a block, which
 * is what the driver sees (Allen and Ge, SC 2021), or, by_use, by the last access. With `prefetch` a fault also fetches
 * the rest of each aligned group of 2, 4 ... 32 pages of the block of which more than half is there then, as the
 * driver's tree prefetcher does.
 *
 * remote: nothing moves after paging_start, and an access to what is not there counts the sectors of 32 bytes that it
 * goes to over the bus: cudaMemAdviseSetAccessedBy after a prefetch of the whole array.
 *
 * It is a model of placement alone. Accesses come one after the other, faults are neither batched nor replayed, caches
 * of the GPU hold nothing, and nothing takes time.
 */
#ifndef PAPERS_OVS_PAGING_H
#define PAPERS_OVS_PAGING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_BITS = 16, BLOCK_BITS = 21, BLOCK_PAGES = 1 << (BLOCK_BITS - PAGE_BITS), SECTOR = 32 };
enum { NOWHERE = UINT32_MAX };

typedef struct paging_block {
    uint32_t here, dirty, touched; /* a bit for each page                              */
    uint32_t newer, older;         /* blocks that have frames; NOWHERE: there is none  */
    bool placed;                   /* it has a frame                                   */
} paging_block;

typedef struct paging {
    bool by_use, prefetch, remote;
    uint64_t frames, placed, blocks; /* blocks: of the array */
    paging_block *block;
    uint32_t newest, oldest;
    uint64_t faults, fetched, written, touched; /* pages; touched: different ones that were accessed */
    uint64_t sectors;                           /* over the bus, remote                              */
} paging;

static inline void paging_unlink(paging *p, uint32_t b)
{
    paging_block *k = &p->block[b];
    *(k->newer == NOWHERE ? &p->newest : &p->block[k->newer].older) = k->older;
    *(k->older == NOWHERE ? &p->oldest : &p->block[k->older].newer) = k->newer;
}

static inline void paging_link(paging *p, uint32_t b)
{
    paging_block *k = &p->block[b];
    k->newer = NOWHERE;
    k->older = p->newest;
    *(p->newest == NOWHERE ? &p->oldest : &p->block[p->newest].newer) = b;
    p->newest = b;
}

static inline void paging_evict(paging *p)
{
    const uint32_t b = p->oldest;
    paging_unlink(p, b);
    p->written += (uint64_t)__builtin_popcount(p->block[b].here & p->block[b].dirty);
    p->block[b].here = p->block[b].dirty = 0;
    p->block[b].placed = false;
    p->placed--;
}

/* What is there after a fault on page i of a block of which `here` was. */
static inline uint32_t paging_fetched(uint32_t here, unsigned i, bool prefetch)
{
    here |= 1u << i;
    for (unsigned pages = 2; prefetch && pages <= BLOCK_PAGES; pages *= 2) {
        const uint32_t group = (uint32_t)((1ull << pages) - 1) << i / pages * pages;
        if (2 * (unsigned)__builtin_popcount(here & group) > pages) here |= group;
    }
    return here;
}

static inline void paging_fault(paging *p, uint32_t b, unsigned i)
{
    paging_block *k = &p->block[b];
    if (k->placed) {
        paging_unlink(p, b);
    } else {
        if (p->placed == p->frames) paging_evict(p);
        k->placed = true;
        p->placed++;
    }
    paging_link(p, b);
    const uint32_t here = paging_fetched(k->here, i, p->prefetch);
    p->faults++;
    p->fetched += (uint64_t)__builtin_popcount(here & ~k->here);
    k->here = here;
}

static inline void paging_page(paging *p, uint64_t page, bool write)
{
    const uint32_t b = (uint32_t)(page / BLOCK_PAGES), bit = 1u << page % BLOCK_PAGES;
    paging_block *k = &p->block[b];
    p->touched += !(k->touched & bit);
    k->touched |= bit;
    if (!(k->here & bit)) {
        paging_fault(p, b, page % BLOCK_PAGES);
    } else if (p->by_use && p->newest != b) {
        paging_unlink(p, b);
        paging_link(p, b);
    }
    if (write) k->dirty |= bit;
}

/* An access to `bytes` (at least 1) bytes from `at` on. */
static inline void paging_touch(paging *p, uint64_t at, uint64_t bytes, bool write)
{
    const uint64_t last = at + bytes - 1;
    if (p->remote) {
        for (uint64_t s = at / SECTOR; s <= last / SECTOR; s++)
            p->sectors += !p->block[s * SECTOR >> BLOCK_BITS].placed;
        return;
    }
    for (uint64_t page = at >> PAGE_BITS; page <= last >> PAGE_BITS; page++) paging_page(p, page, write);
}

/* An array of `bytes` that was written once from its beginning to its end, of which `room` bytes fit; nothing is
 * counted yet. The members that choose the model are set before. Give back with free(p->block). */
static inline bool paging_start(paging *p, uint64_t bytes, uint64_t room)
{
    const bool remote = p->remote;
    p->blocks = (bytes + (1 << BLOCK_BITS) - 1) >> BLOCK_BITS;
    p->frames = room >> BLOCK_BITS;
    p->placed = 0;
    p->newest = p->oldest = NOWHERE;
    p->block = (paging_block *)calloc(p->blocks, sizeof *p->block);
    if (!p->block || p->frames == 0) return false;
    p->remote = false;
    paging_touch(p, 0, bytes, true);
    for (uint64_t b = 0; b < p->blocks; b++) p->block[b].touched = 0;
    p->remote = remote;
    p->faults = p->fetched = p->written = p->touched = p->sectors = 0;
    return true;
}

#endif
