/* SPDX-License-Identifier: Apache-2.0
 *
 * layout.h - a table with linear probing, as the reference and the kernels see it: one array of 64-bit words.
 *
 *     word    key << 32 | value, or LINEAR_EMPTY
 *     home    the slot that a key's hash names. A search begins there, goes on slot by slot, and ends at the key or at
 *             the first empty slot. After the last slot comes slot 0
 *     insert  takes the first empty slot of its search. Entries are not erased, so a slot with a key keeps it until the
 *             table is cleared
 *
 *   LINEAR-1  a search for the key of a slot ends at that slot: no slot on its way is empty, and no key is there twice
 */
#ifndef LINEAR_LAYOUT_H
#define LINEAR_LAYOUT_H

#include "policies/hashes/hash.h"

#define LINEAR_EMPTY   UINT64_MAX
#define LINEAR_KEYS    0xfffffffdu /* a table holds the keys below this one */
#define LINEAR_NOWHERE UINT64_MAX

typedef struct linear_view {
    uint64_t *word; /* (slots) */
    uint64_t slots, seed;
} linear_view;

HD_FN uint64_t linear_home(const linear_view *v, uint64_t key)
{
    return hd_first_bucket(hd_hash(key, v->seed), v->slots);
}
HD_FN uint64_t linear_next(const linear_view *v, uint64_t at) { return at + 1 < v->slots ? at + 1 : 0; }
HD_FN uint64_t linear_word(uint64_t key, uint32_t value) { return key << 32 | value; }
HD_FN uint64_t linear_key_of(uint64_t word) { return word >> 32; }

#endif
