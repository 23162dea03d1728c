/* SPDX-License-Identifier: Apache-2.0
 *
 * parts.h - collects keys by the part of a table that they are in, until a part has a batch of them.
 *
 * Keys in any order wait for the memory of a large table: every key uses cache lines that no key before it used. The
 * keys of a batch from here use a part of the table that fits into the processor's cache, and share its lines.
 *
 * A part is a range of hash values. The reference of hkv has its buckets in the order of hash values, whatever its
 * size. With another table the counts are the same, and nothing is gained.
 */
#ifndef HD_PARTS_H
#define HD_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PARTS_BATCH = 8 << 10 /* keys of a batch, at most */ };

/* Keys of one part, and the next batch of a list. free() it. */
typedef struct parts_batch {
    struct parts_batch *next;
    size_t n;
    uint64_t key[PARTS_BATCH];
} parts_batch;

/* Batches in the order in which they came. Begins with all zeroes. */
typedef struct parts_list {
    parts_batch *first, *last;
} parts_list;

typedef struct parts {
    uint64_t seed;      /* of the table's hash        */
    uint32_t count;     /* 0: keys are not collected  */
    parts_batch **part; /* (count) never full         */
} parts;

/* Collects for a table of that many bytes from now on. If it should have more parts than there are, all that is
 * collected goes to the list. There are none of a small table, or if memory is refused. Begins with parts that are all
 * zeroes, but for the seed. */
void parts_fit(parts *p, uint64_t table_bytes, parts_list *to);

/* Adds n keys. Batches that are full go to the list. False: memory was refused. */
bool parts_add(parts *p, const uint64_t *key, size_t n, parts_list *to);

/* All that is collected goes to the list, and there are no parts. */
void parts_end(parts *p, parts_list *to);

/* The first batch of the list, which is the caller's; NULL: it is empty. */
parts_batch *parts_list_take(parts_list *list);

#endif
