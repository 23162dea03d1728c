/* SPDX-License-Identifier: Apache-2.0
 *
 * hive_tables.h - shared by the tests of Hive: tables of several shapes, the content of all their slots, and a
 * reference map that is simple enough to trust: an array with an element for every possible key.
 */
#ifndef HIVES_H
#define HIVES_H

#include "lib/table.h"
#include "ref/hive/hive.h"
#include "tests/testing.h"

typedef struct hive_shape {
    uint64_t buckets;
    uint32_t slots, value_bytes, hashes;
    hd_layout layout;
    uint64_t seed;
    uint32_t spare;
    const char *hash; /* NULL: mix64 */
} hive_shape;

/* Shape i of all that differ in slots, bytes, hashes and layout: 24; with so many buckets. Spare slots there are none,
 * the usual, or as many as there may be: each of these with each number of slots. Some have hash functions by name. */
hive_shape hive_shape_at(uint64_t i, uint64_t buckets);
enum { HIVE_SHAPES = 24 };
hd_config hive_config(const hive_shape *s);
/* Names the shape as what is being tried. seams: NULL, the operating system's. */
hd_table *hive_table(const hive_shape *s, const hd_seams *seams);
hive_view *hive_view_in(hd_table *t);

/* Every word, mask and lock of a table, in its own memory. */
typedef struct hive_image {
    uint64_t places, buckets, stashed, *word; /* (places) */
    uint32_t *mask, *lock;                    /* (buckets, the stash's among them); zeros where there are none */
} hive_image;
void hive_image_take(hive_image *m, const hive_view *v);
void hive_image_give(hive_image *m);
bool hive_image_is(const hive_image *m, const hive_view *v);
void hive_image_back(const hive_image *m, hive_view *v); /* v has as many buckets as it had */

/* A map of the keys below `keys`. */
typedef struct hive_map {
    uint64_t keys, n, *value; /* (keys) */
    bool *there;              /* (keys) */
} hive_map;
void hive_map_open(hive_map *m, uint64_t keys);
void hive_map_close(hive_map *m);

/* What must become of an item, values being whole numbers of that many bytes; now it has. *value: what it delivers on
 * HD_HIT. A key that is absent and wants in is INSERTED unless it was said to be PENDING. */
hd_outcome hive_map_apply(hive_map *m, const hive_item *it, uint32_t value_bytes, hd_outcome said, uint64_t *value);

/* The table holds the map's entries and no others, and its invariants hold. */
void hive_map_compare(const hive_map *m, hd_table *t);

#endif
