/* SPDX-License-Identifier: Apache-2.0
 *
 * roofline.c - the table of places, and their prices.
 *
 * An operation's item either finds its key or does not. What it then does with an entry is in five words, which the
 * layouts translate:
 *
 *   uses      the key is compared, nothing changes      planes, pairs: 1 read
 *   rescores  the score changes                         planes: 1 read, 1 dirty        pairs: 1 dirty
 *   puts      a key takes a slot                        planes: 2 dirty, digest        pairs: 1 dirty, digest
 *   takes     a key leaves a slot                       planes: 2 dirty, digest        pairs: 1 dirty, digest, bound
 *   evicts    the least score of a bucket is found      planes: 8 bytes per slot       pairs: the bounds, and 8 slots
 *
 * Besides, every item reads a line of digests per bucket that it looks in, and a key for each digest that is equal by
 * chance: slots x load / 255 of them where the key is not there, half of that before it is found.
 */
#include "bench/device/roofline.h"

/* clang-format off */
const struct bench_places_row bench_places_rows[BENCH_PLACE_ROWS] = {
    { HD_OP_FIND,               { 1, 0, 0, 0, 1, 0, 8 + 1, 1 },     { 0, 0, 0, 0, 0, 0, 8 + 1, 0 } },
    { HD_OP_CONTAINS,           { 1, 0, 0, 0, 0, 0, 8 + 1, 0 },     { 0, 0, 0, 0, 0, 0, 8 + 1, 0 } },
    { HD_OP_FIND_PTR,           { 1, 0, 0, 0, 0, 0, 8 + 8 + 1, 0 }, { 0, 0, 0, 0, 0, 0, 8 + 1, 0 } },
    { HD_OP_ASSIGN,             { 0, 1, 0, 0, 0, 1, 8, 1 },         { 0, 0, 0, 0, 0, 0, 8, 0 } },
    { HD_OP_ASSIGN_SCORES,      { 0, 1, 0, 0, 0, 0, 8, 0 },         { 0, 0, 0, 0, 0, 0, 8, 0 } },
    { HD_OP_INSERT_OR_ASSIGN,   { 0, 1, 0, 0, 0, 1, 8, 1 },         { 0, 0, 1, 0, 0, 1, 8, 1 } },
    { HD_OP_INSERT_AND_EVICT,   { 0, 1, 0, 0, 0, 1, 8, 1 },         { 0, 0, 1, 0, 0, 1, 8, 1 } },
    { HD_OP_FIND_OR_INSERT,     { 0, 1, 0, 0, 1, 0, 8, 1 },         { 0, 0, 1, 0, 0, 1, 8, 1 } },
    { HD_OP_FIND_OR_INSERT_PTR, { 0, 1, 0, 0, 0, 0, 8 + 8 + 1, 0 }, { 0, 0, 1, 0, 0, 1, 8 + 8 + 1, 0 } },
    { HD_OP_ERASE,              { 0, 0, 0, 1, 0, 0, 8, 0 },         { 0, 0, 0, 0, 0, 0, 8, 0 } },
};
/* clang-format on */

/* The price of a place of so many bytes: of the next size that was measured; above the largest, that many times its
 * price. */
static double price(const bench_limits *l, uint32_t bytes, const bench_limit_name *name, int names)
{
    for (int i = 0; i < names; i++)
        if (bytes <= bench_limit_rows[name[i]].limit.bytes) return 1 / l->per_s[name[i]];
    return (double)bytes / bench_limit_rows[name[names - 1]].limit.bytes / l->per_s[name[names - 1]];
}

double bench_floor_s(const bench_places *p, uint32_t value_bytes, const bench_limits *l)
{
    static const bench_limit_name reads[] = { BENCH_read_32, BENCH_read_64, BENCH_read_128, BENCH_read_256 };
    static const bench_limit_name writes[] = { BENCH_write_8, BENCH_write_32, BENCH_write_64, BENCH_write_128,
                                               BENCH_write_256 };
    if (!p->known) return 0;
    double s =
        p->lines / l->per_s[BENCH_near_line] + p->reads / l->per_s[BENCH_read_32] + p->scans / l->per_s[BENCH_read_128];
    if (p->buckets > 0) s += p->buckets * price(l, p->bucket_bytes, reads, 4);
    s += p->near_dirty / l->per_s[BENCH_near_write] + p->dirty / l->per_s[BENCH_write_8] +
         p->bytes / l->per_s[BENCH_copy];
    if (value_bytes > 0)
        s += p->values_read * price(l, value_bytes, reads, 4) + p->values_written * price(l, value_bytes, writes, 5);
    return s;
}
