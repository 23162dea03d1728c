/* SPDX-License-Identifier: Apache-2.0
 *
 * bucket_conflicts.c - see bucket_conflicts.h: a union-find over the cells of a block's buckets.
 */
#include "ref/hkv/bucket_conflicts.h"

#include "ref/hkv/share.h"

uint64_t hkv_turns_of(const hkv_view *v) { return (v->buckets < HKV_CELLS_MOST ? v->buckets : HKV_CELLS_MOST) / 4; }

static uint32_t cell_of(uint64_t bucket) { return (uint32_t)bucket & (HKV_CELLS_MOST - 1); }

/* The root of a cell's party. Every second step is left out from now on. */
static uint32_t root_of(uint16_t *cell, uint32_t c)
{
    while (cell[c] != c) {
        HD_ASSERT(cell[c] < c, "a cell's parent is not below it");
        cell[c] = cell[cell[c]];
        c = cell[c];
    }
    return c;
}

void hkv_take_turns(const hkv_view *v, const uint64_t *key, uint64_t n, uint64_t threads, hkv_turns *t)
{
    HD_ASSERT(n <= hkv_turns_of(v), "a block has more items than take turns");
    for (uint32_t c = 0; c < HKV_CELLS_MOST; c++) t->cell[c] = (uint16_t)c;
    for (uint64_t i = 0; i < n; i++) {
        hkv_home home = hkv_home_of(v, key[i]);
        uint32_t a = root_of(t->cell, cell_of(home.bucket[0])), b = root_of(t->cell, cell_of(home.bucket[1]));
        uint32_t low = a < b ? a : b, high = a < b ? b : a;
        t->cell[high] = (uint16_t)low;
        t->owner[i] = (uint16_t)low;
    }
    for (uint64_t i = 0; i < n; i++) t->owner[i] = (uint16_t)hkv_owner(root_of(t->cell, t->owner[i]), threads);
}
