/* SPDX-License-Identifier: Apache-2.0
 *
 * layout.h - where the bytes of a GPHash table are (GPHash section 3.1, Figure 2).
 *
 * A table is a stack of levels, each with twice the buckets of the one below. Level i has base x 2^i buckets of `slots`
 * slots; a table has the `levels` consecutive ones from `bottom` on. A key has `hashes` candidate buckets in each
 * level, so that its candidates have levels x hashes x slots = 32 slots in all: a warp reads all of them at once.
 *
 * Hash function j of a key gives two parts (gphash_part). In level i they name bucket
 *
 *     (first part * base / 2^32) + base * (low i bits of the second part)
 *
 * The lowest bits of the second parts, as many as tell the functions apart, are made to differ. So the candidates of a
 * key in one level are different buckets, and stay so in each level above.
 *
 * Growth adds a level on top and gives up the bottom one. The entry in slot s of bottom bucket b, which is there by
 * hash function j, goes to slot s of bucket j in the new level. That bucket's number has the low bits of b, so b alone
 * feeds it, and slots keep their numbers: the place is free, always. Nothing is searched, and nothing can fail.
 *
 * A slot has a word for the key and a word for the value. The key word is a key, HD_KEY_EMPTY or, while an item is
 * inserting, HD_KEY_LOCKED. The value word is
 *
 *   layout inline   the value itself, of at most 8 bytes
 *   layout cells    its number: 16 bits of the key's hash, a version of 16 bits, a cell of 32; or GPHASH_NONE
 *
 * A cell has the bytes of a value, rounded up to 16. Free cells wait in a ring, which is not a part of the table's
 * lasting bytes. No launch takes a cell that it has freed; the reference, item after item, may. Cells come in chunks:
 * chunk 0 has those of a new table, chunk k those that growth k brings. An update writes a new cell and then changes
 * the number, so no reader, and no crash, sees half a value. Recovery fills the ring anew: cells that no number names
 * are free.
 *
 * Differs from the paper: it lets two items insert one key and cleans up later; it chooses a place for every entry that
 * growth moves, which may fail; its two hash functions may name one bucket; the number of buckets is a power of two.
 *
 * Invariants, by number (ref/gphash/check.c), at rest:
 *   GP-1  a key is in one slot of the table
 *   GP-2  a key is in one of its candidate buckets
 *   GP-3  no slot is locked
 *   GP-4  the number of an entry has its key's tag and a cell that exists, and no other entry has the cell
 *   GP-5  a near index (gpu/gphash/args.h) has the keys of the far slots, and their numbers
 *   GP-8  cells in use and free cells are all cells, and no cell is both
 */
#ifndef HD_GPHASH_LAYOUT_H
#define HD_GPHASH_LAYOUT_H

#include "heddle.h"
#include "policies/hashes/hash.h"

enum {
    GPHASH_LEVELS = 32, /* of which `levels` are there       */
    GPHASH_LANES = 32,  /* slots that a key may be in        */
    GPHASH_INLINE = 8,  /* bytes of the largest inline value */
    GPHASH_CELL_ALIGN = 16,
    GPHASH_SPARE_LEAST = 256,   /* cells that a table has besides one for each slot: an eighth of its slots ... */
    GPHASH_SPARE_MOST = 1 << 20 /* ... within these bounds */
};
#define GPHASH_NOWHERE UINT64_MAX
#define GPHASH_NONE    UINT64_MAX /* the number of no cell: no value is there */

typedef struct gphash_level {
    uint64_t *key, *number; /* (buckets of it, slots); NULL: it is not there */
} gphash_level;

typedef struct gphash_view {
    gphash_level level[GPHASH_LEVELS];
    uint8_t *cell[GPHASH_LEVELS]; /* chunk k: (cells of it, cell_bytes); layout inline: all NULL */
    uint32_t *free;               /* (gphash_ring) the ring of free cells; layout inline: NULL     */
    uint64_t *mark;               /* (cells / 64, rounded up) bits for checks and recovery; likewise */
    uint64_t base, seed;
    uint64_t first_places; /* when it had not grown yet        */
    uint32_t bottom, levels, hashes, slots, grown;
    uint32_t hash_bits, slot_bits;    /* hashes and slots are powers of two: their logarithms */
    uint32_t value_bytes, cell_bytes; /* cell_bytes 0: layout inline      */
} gphash_view;

/* ---- Levels and slots ------------------------------------------------------------------------ */

/* The lowest level that a table can have: its buckets' numbers have the bits that tell hash functions apart. */
HD_FN uint32_t gphash_least_bottom(uint32_t hashes) { return hashes > 2 ? 2 : hashes - 1; }

HD_FN uint64_t gphash_level_buckets(const gphash_view *v, uint32_t level) { return v->base << level; }
HD_FN uint32_t gphash_top(const gphash_view *v) { return v->bottom + v->levels - 1; }
HD_FN uint64_t gphash_buckets(const gphash_view *v) { return (v->base << v->bottom) * ((1ull << v->levels) - 1); }
HD_FN uint64_t gphash_places(const gphash_view *v) { return gphash_buckets(v) * v->slots; }

/* The place of slot 0 of a level's bucket 0: levels follow each other from the bottom. */
HD_FN uint64_t gphash_first(const gphash_view *v, uint32_t level)
{
    return (gphash_level_buckets(v, level) - gphash_level_buckets(v, v->bottom)) * v->slots;
}
/* The level that place e is in. */
HD_FN uint32_t gphash_level_of(const gphash_view *v, uint64_t e)
{
    uint32_t level = gphash_top(v);
    while (e < gphash_first(v, level)) level--;
    return level;
}
HD_FN uint64_t *gphash_key_at(const gphash_view *v, uint64_t e)
{
    uint32_t level = gphash_level_of(v, e);
    return v->level[level].key + (e - gphash_first(v, level));
}
HD_FN uint64_t *gphash_number_at(const gphash_view *v, uint64_t e)
{
    uint32_t level = gphash_level_of(v, e);
    return v->level[level].number + (e - gphash_first(v, level));
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* Of a table that has grown so many times: items of a launch that may take a cell, or give one back; cells that are
 * free however full it is, and all cells. */
HD_FN uint64_t gphash_window_then(const gphash_view *v, uint32_t grown)
{
    const uint64_t least = GPHASH_SPARE_LEAST, most = GPHASH_SPARE_MOST;
    uint64_t eighth = (v->first_places << grown) / 8;
    return eighth < least ? least : eighth < most ? eighth : most;
}
HD_FN uint64_t gphash_spare_then(const gphash_view *v, uint32_t grown)
{
    return v->cell_bytes ? gphash_window_then(v, grown) : 0;
}
HD_FN uint64_t gphash_cells_then(const gphash_view *v, uint32_t grown)
{
    return v->cell_bytes ? (v->first_places << grown) + gphash_spare_then(v, grown) : 0;
}
HD_FN uint64_t gphash_cells(const gphash_view *v) { return gphash_cells_then(v, v->grown); }
/* Of what such a cache may have a copy, and the bytes of one. */
HD_FN uint64_t gphash_units(const gphash_view *v, hd_cache cache)
{
    return cache == HD_CACHE_BUCKETS ? gphash_buckets(v) : cache == HD_CACHE_VALUES ? gphash_cells(v) : 0;
}
HD_FN uint32_t gphash_unit_bytes(const gphash_view *v, hd_cache cache)
{
    return cache == HD_CACHE_BUCKETS ? v->slots * 2 * (uint32_t)sizeof(uint64_t) : v->cell_bytes;
}
/* Places of the ring of free cells: no item of a launch takes at a place where another one gives. */
HD_FN uint64_t gphash_ring_then(const gphash_view *v, uint32_t grown)
{
    return gphash_cells_then(v, grown) + gphash_spare_then(v, grown);
}
HD_FN uint64_t gphash_ring(const gphash_view *v) { return gphash_ring_then(v, v->grown); }
/* Whether so many cells were taken since all were put in order that it is worth while to do it again. */
HD_FN bool gphash_is_to_arrange(uint64_t head, uint64_t tail) { return head > 0 && head >= (tail - head) / 4; }
HD_FN uint64_t gphash_chunk_cells(const gphash_view *v, uint32_t chunk)
{
    return gphash_cells_then(v, chunk) - (chunk ? gphash_cells_then(v, chunk - 1) : 0);
}
/* The chunk of a cell, whose number becomes that in the chunk. */
HD_FN uint32_t gphash_chunk_of(const gphash_view *v, uint64_t *cell)
{
    uint32_t chunk = 0;
    while (*cell >= gphash_cells_then(v, chunk)) chunk++;
    if (chunk) *cell -= gphash_cells_then(v, chunk - 1);
    return chunk;
}
HD_FN uint8_t *gphash_cell(const gphash_view *v, uint64_t cell)
{
    uint32_t chunk = gphash_chunk_of(v, &cell);
    return v->cell[chunk] + cell * v->cell_bytes;
}

HD_FN uint64_t gphash_tag(uint64_t hash) { return hash >> 32 & 0xffff; }
HD_FN uint64_t gphash_pack(uint64_t hash, uint64_t version, uint64_t cell)
{
    return gphash_tag(hash) << 48 | (version & 0xffff) << 32 | cell;
}
/* No number: its cell is none. Different keys may have one announcement. */
HD_FN uint64_t gphash_announcement(uint64_t hash) { return hash | 0xffffffff; }
HD_FN uint64_t gphash_tag_of(uint64_t number) { return number >> 48; }
HD_FN uint64_t gphash_version_of(uint64_t number) { return number >> 32 & 0xffff; }
HD_FN uint64_t gphash_cell_of(uint64_t number) { return number & 0xffffffff; }

/* ---- Candidates ------------------------------------------------------------------------------ */

HD_FN uint64_t gphash_hash(const gphash_view *v, uint64_t key) { return hd_hash(key, v->seed); }

/* The two parts that hash function j makes of a key's hash: the first in the upper 32 bits. */
HD_FN uint64_t gphash_part(const gphash_view *v, uint64_t hash, uint32_t j)
{
    uint64_t part = j ? hd_mix64(hash + j) : hash;
    return (part & ~(uint64_t)(v->hashes - 1)) | ((hash + j) & (v->hashes - 1));
}

HD_FN uint64_t gphash_bucket(const gphash_view *v, uint64_t part, uint32_t level)
{
    return ((part >> 32) * v->base >> 32) + v->base * (part & ((1ull << level) - 1));
}

/* The place that lane l of a warp looks at, and its key word: the top level first, then hash functions, then slots. */
HD_FN uint64_t *gphash_candidate_key(const gphash_view *v, uint64_t hash, uint32_t lane, uint64_t *place)
{
    uint32_t j = lane >> v->slot_bits & (v->hashes - 1),
             level = gphash_top(v) - (lane >> (v->slot_bits + v->hash_bits));
    uint64_t at = gphash_bucket(v, gphash_part(v, hash, j), level) * v->slots + (lane & (v->slots - 1));
    *place = gphash_first(v, level) + at;
    return v->level[level].key + at;
}
HD_FN uint64_t gphash_candidate(const gphash_view *v, uint64_t hash, uint32_t lane)
{
    uint64_t place;
    (void)gphash_candidate_key(v, hash, lane, &place);
    return place;
}

/* The hash function by which place e, in that level, is a candidate of the key; `hashes`: by none. */
HD_FN uint32_t gphash_function_of(const gphash_view *v, uint64_t hash, uint32_t level, uint64_t bucket)
{
    uint32_t j = 0;
    while (j < v->hashes && gphash_bucket(v, gphash_part(v, hash, j), level) != bucket) j++;
    return j;
}

#endif
