/* SPDX-License-Identifier: Apache-2.0
 *
 * pieces.c - see pieces.h.
 */
#include "lib/pieces.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "lib/table.h"

void hd_pieces_find(hd_table *t, hd_pieces *p, hd_superblock *next)
{
    const hd_store *x = t->store;
    memset(next, 0, sizeof *next);
    memcpy(next->magic, HD_IMAGE_MAGIC, sizeof next->magic);
    next->version = HD_IMAGE_VERSION;
    next->bytes = sizeof *next;
    next->id = x->image.sb.id;
    next->batch = x->batch;
    next->shape = hd_snapshot_header_of(t, 0);
    snprintf(next->policy, sizeof next->policy, "%s", t->info.policy);
    p->n = t->backend->extents(t->state, p->all);
    p->pages = 0;
    HD_ASSERT(p->n <= HD_IMAGE_EXTENTS, "a design has more arrays than an image has extents");
    for (int i = 0; i < p->n; i++) {
        HD_ASSERT(p->all[i].bytes % HD_PIECE_ATOM == 0, "an array does not consist of words");
        uint64_t name = XXH3_64bits_withSeed(p->all[i].name, strlen(p->all[i].name), p->all[i].number);
        if (i == 0 || next->extent[next->extents - 1].name != name) next->extent[next->extents++].name = name;
        p->extent[i] = next->extents - 1;
        p->at[i] = next->extent[next->extents - 1].bytes;
        next->extent[next->extents - 1].bytes += p->all[i].bytes;
        p->page[i] = p->pages;
        p->pages += hd_image_pages(p->all[i].bytes);
    }
}

bool hd_pieces_fit(const hd_superblock *next, const hd_superblock *sb)
{
    hd_snapshot_header a = next->shape, b = sb->shape;
    bool same = next->extents == sb->extents;
    for (uint32_t e = 0; e < next->extents && same; e++)
        same = next->extent[e].name == sb->extent[e].name && next->extent[e].bytes == sb->extent[e].bytes;
    a.clock = b.clock = a.epoch = b.epoch = 0;
    return same && memcmp(&a, &b, offsetof(hd_snapshot_header, sum)) == 0;
}
