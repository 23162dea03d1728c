/* SPDX-License-Identifier: Apache-2.0
 *
 * places.c - the table of places, and their prices.
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
 *
 * Hive's entries are words of key and value in the bucket that is looked in: using one costs nothing more, and one that
 * changes is 1 dirty, the reading of its bucket with it; in layout masks a mask is changed besides. Counted is one
 * bucket: the first one on the key's way, which nobody is spared. Keys that are further on, and searches that go there,
 * are not forced by the layout but by how full it is, and by who came first.
 */
#include "bench/device/places.h"

#include <string.h>

/* Per item: words of what is done, then values (random read, random write), then bytes that stream: so many, and so
 * many values. */
typedef struct place_row {
    hd_op op;
    double uses, rescores, puts, takes, value_read, value_written, bytes, values;
} place_row;

static const place_row found[] = {
    { HD_OP_FIND, 1, 0, 0, 0, 1, 0, 8 + 1, 1 },
    { HD_OP_CONTAINS, 1, 0, 0, 0, 0, 0, 8 + 1, 0 },
    { HD_OP_FIND_PTR, 1, 0, 0, 0, 0, 0, 8 + 8 + 1, 0 },
    { HD_OP_ASSIGN, 0, 1, 0, 0, 0, 1, 8, 1 },
    { HD_OP_ASSIGN_SCORES, 0, 1, 0, 0, 0, 0, 8, 0 },
    { HD_OP_INSERT_OR_ASSIGN, 0, 1, 0, 0, 0, 1, 8, 1 },
    { HD_OP_INSERT_AND_EVICT, 0, 1, 0, 0, 0, 1, 8, 1 },
    { HD_OP_FIND_OR_INSERT, 0, 1, 0, 0, 1, 0, 8, 1 },
    { HD_OP_FIND_OR_INSERT_PTR, 0, 1, 0, 0, 0, 0, 8 + 8 + 1, 0 },
    { HD_OP_ERASE, 0, 0, 0, 1, 0, 0, 8, 0 },
};

static const place_row absent[] = {
    { HD_OP_FIND, 0, 0, 0, 0, 0, 0, 8 + 1, 0 },
    { HD_OP_CONTAINS, 0, 0, 0, 0, 0, 0, 8 + 1, 0 },
    { HD_OP_FIND_PTR, 0, 0, 0, 0, 0, 0, 8 + 1, 0 },
    { HD_OP_ASSIGN, 0, 0, 0, 0, 0, 0, 8, 0 },
    { HD_OP_ASSIGN_SCORES, 0, 0, 0, 0, 0, 0, 8, 0 },
    { HD_OP_INSERT_OR_ASSIGN, 0, 0, 1, 0, 0, 1, 8, 1 },
    { HD_OP_INSERT_AND_EVICT, 0, 0, 1, 0, 0, 1, 8, 1 },
    { HD_OP_FIND_OR_INSERT, 0, 0, 1, 0, 0, 1, 8, 1 },
    { HD_OP_FIND_OR_INSERT_PTR, 0, 0, 1, 0, 0, 1, 8 + 8 + 1, 0 },
    { HD_OP_ERASE, 0, 0, 0, 0, 0, 0, 8, 0 },
};

enum { LINE = 128, ROWS = sizeof found / sizeof *found, OTHER_DIGESTS = 255 };

static void add(bench_places *p, const bench_shape *shape, const place_row *r, double share)
{
    bool pairs = shape->layout != HD_LAYOUT_PLANES;
    double changes = r->puts + r->takes;
    p->reads += share * (r->uses + (pairs ? 0 : r->rescores));
    p->dirty += share * (r->rescores + changes * (pairs ? 1 : 2));
    p->near_dirty += share * (changes + (pairs ? r->takes : 0));
    p->values_read += share * r->value_read;
    p->values_written += share * r->value_written;
    p->bytes += share * (r->bytes + r->values * shape->words * 4);
}

/* An item of Hive whose key is there or not, by the row of it. */
static void add_word(bench_places *p, const bench_shape *shape, const place_row *r, double share)
{
    double moves = r->puts + r->takes, changes = moves + r->value_written > 0 ? 1 : 0;
    p->buckets += share * (1 - changes);
    p->dirty += share * changes;
    p->near_dirty += shape->layout == HD_LAYOUT_MASKS ? share * moves : 0;
    p->bytes += share * (r->bytes + r->values * shape->words * 4);
}

static bench_places hive_places_of(const bench_shape *shape, hd_op op, double hits, double load)
{
    enum { WORD = 8 };
    bench_places p;
    memset(&p, 0, sizeof p);
    p.bucket_bytes = shape->slots * WORD;
    if (op == HD_OP_EXPORT) p.bytes = WORD + load * (8 + 8 + shape->words * 4.0);
    for (int i = 0; i < ROWS; i++) {
        if (found[i].op != op) continue;
        add_word(&p, shape, &found[i], hits);
        add_word(&p, shape, &absent[i], 1 - hits);
    }
    return p;
}

/* A mixed batch is so much of each of its operations, whose outcomes are asked for. */
static bench_places mixed_places_of(const bench_shape *shape, double hits, double load)
{
    static const struct {
        hd_op op;
        double share;
        bool told;
    } part[] = { { HD_OP_INSERT_OR_ASSIGN, 0.5, false }, { HD_OP_FIND, 0.3, true }, { HD_OP_ERASE, 0.2, false } };
    bench_places p;
    memset(&p, 0, sizeof p);
    for (int i = 0; i < 3; i++) {
        bench_places one = hive_places_of(shape, part[i].op, part[i].op == HD_OP_INSERT_OR_ASSIGN ? 0 : hits, load);
        p.bucket_bytes = one.bucket_bytes;
        p.buckets += part[i].share * one.buckets;
        p.dirty += part[i].share * one.dirty;
        p.near_dirty += part[i].share * one.near_dirty;
        /* each item's outcome and operation are a byte */
        p.bytes += part[i].share * (one.bytes + (part[i].told ? 0 : 1)) + part[i].share;
    }
    return p;
}

/* Who leaves a full bucket, or pair of buckets; and, for who lists it, what it was. */
static void add_eviction(bench_places *p, const bench_shape *shape, hd_op op, double share)
{
    bool pairs = shape->layout != HD_LAYOUT_PLANES;
    double buckets = shape->dual ? 2 : 1, value_bytes = shape->words * 4;
    p->lines += pairs ? share * buckets * shape->slots / LINE : 0;
    p->scans += pairs ? share : share * buckets * shape->slots * 8 / LINE;
    if (op != HD_OP_INSERT_AND_EVICT) return;
    p->values_read += share;
    p->bytes += share * (8 + 8 + value_bytes);
}

bench_places bench_places_of(const bench_shape *shape, hd_op op, double hits, double load)
{
    bench_places p;
    double row_bytes = 8 + 8 + shape->words * 4.0, digest_lines = shape->slots < LINE ? 1 : (double)shape->slots / LINE;
    double chance = load * shape->slots / OTHER_DIGESTS, look = shape->dual ? 2 : 1, look_found = shape->dual ? 1.5 : 1;
    memset(&p, 0, sizeof p);
    if (strcmp(shape->design, "hive") == 0)
        return op == BENCH_MIXED ? mixed_places_of(shape, hits, load) : hive_places_of(shape, op, hits, load);
    if (strcmp(shape->design, "hkv") != 0) return p;
    if (op == HD_OP_EXPORT) { /* per slot: planes are read and lists are written, in order */
        p.bytes = 1 + load * 2 * row_bytes;
        return p;
    }
    for (int i = 0; i < ROWS; i++) {
        if (found[i].op != op) continue;
        add(&p, shape, &found[i], hits);
        add(&p, shape, &absent[i], 1 - hits);
        p.lines += digest_lines * (hits * look_found + (1 - hits) * look);
        p.reads += chance * (hits * (look_found - 0.5) + (1 - hits) * look);
        if (absent[i].puts > 0 && load >= 1) add_eviction(&p, shape, op, 1 - hits);
    }
    return p;
}

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
    double s =
        p->lines / l->per_s[BENCH_near_line] + p->reads / l->per_s[BENCH_read_32] + p->scans / l->per_s[BENCH_read_128];
    if (p->buckets > 0) s += p->buckets * price(l, p->bucket_bytes, reads, 4);
    s += p->near_dirty / l->per_s[BENCH_near_write] + p->dirty / l->per_s[BENCH_write_8] +
         p->bytes / l->per_s[BENCH_copy];
    if (value_bytes > 0)
        s += p->values_read * price(l, value_bytes, reads, 4) + p->values_written * price(l, value_bytes, writes, 5);
    return s;
}
