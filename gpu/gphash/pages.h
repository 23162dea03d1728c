/* SPDX-License-Identifier: Apache-2.0
 *
 * pages.h - which pages of the far arrays have changed (hd_gpu.changed): a map in device memory, a byte for each page.
 * The arrays are in the order of gphash_extents, and each begins with a page of its own. Whatever stores to a far array
 * marks the pages.
 */
#ifndef GPHASH_PAGES_H
#define GPHASH_PAGES_H

#include "ref/gphash/layout.h"

enum { GPHASH_PAGE = 4096 /* HD_EXTENT_PAGE */ };

HD_FN uint64_t gphash_pages_of(uint64_t bytes) { return (bytes + GPHASH_PAGE - 1) / GPHASH_PAGE; }

/* Of the keys of a level; its numbers have as many. */
HD_FN uint64_t gphash_level_pages(const gphash_view *v, uint32_t level)
{
    return gphash_pages_of(gphash_level_buckets(v, level) * v->slots * sizeof(uint64_t));
}
/* The first page of a level's keys; of a chunk of cells. */
HD_FN uint64_t gphash_level_page(const gphash_view *v, uint32_t level)
{
    uint64_t first = 0;
    for (uint32_t i = v->bottom; i < level; i++) first += 2 * gphash_level_pages(v, i);
    return first;
}
HD_FN uint64_t gphash_chunk_page(const gphash_view *v, uint32_t chunk)
{
    uint64_t first = gphash_level_page(v, gphash_top(v) + 1);
    for (uint32_t k = 0; k < chunk; k++) first += gphash_pages_of(gphash_chunk_cells(v, k) * v->cell_bytes);
    return first;
}
HD_FN uint64_t gphash_pages(const gphash_view *v) { return gphash_chunk_page(v, v->grown + 1); }

#endif
