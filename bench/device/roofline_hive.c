/* SPDX-License-Identifier: Apache-2.0
 *
 * roofline_hive.c - what Hive's layouts (ref/hive/layout.h) make of the words of roofline.c.
 *
 * Hive's entries are words of key and value in the bucket that is searched: reading one costs nothing more, and
 * changing one is 1 dirty, which includes the read of its bucket; in layout masks a mask changes too. Only one bucket
 * is counted: the first candidate of the key, which every item reads. Later candidates, and searches that reach them,
 * do not depend on the layout but on the load factor and on the order of the inserts.
 */
#include <string.h>

#include "bench/device/goals.h"

/* An item of Hive whose key is there or not, by the row of it. */
static void add_word(bench_places *p, const bench_shape *shape, const bench_place_row *r, double share)
{
    double moves = r->puts + r->takes, changes = moves + r->value_written > 0 ? 1 : 0;
    p->buckets += share * (1 - changes);
    p->dirty += share * changes;
    p->near_dirty += shape->table.layout == HD_LAYOUT_MASKS ? share * moves : 0;
    p->bytes += share * (r->bytes + r->values * shape->words * 4);
}

static bench_places hive_places_of(const bench_shape *shape, hd_op op, double hits, double load)
{
    enum { WORD = 8 };
    bench_places p;
    memset(&p, 0, sizeof p);
    p.bucket_bytes = shape->table.slots * WORD;
    if (op == HD_OP_EXPORT) p.bytes = WORD + load * (8 + 8 + shape->words * 4.0);
    for (int i = 0; i < BENCH_PLACE_ROWS; i++) {
        if (bench_places_rows[i].op != op) continue;
        add_word(&p, shape, &bench_places_rows[i].found, hits);
        add_word(&p, shape, &bench_places_rows[i].absent, 1 - hits);
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

bench_places bench_places_hive(const bench_shape *shape, hd_op op, double hits, double load)
{
    return op == BENCH_MIXED ? mixed_places_of(shape, hits, load) : hive_places_of(shape, op, hits, load);
}
