/* SPDX-License-Identifier: Apache-2.0
 *
 * roofline_hkv.c - the costs of the words of roofline.c in HKV's layouts (ref/hkv/layout.h).
 */
#include <string.h>

#include "bench/device/goals.h"

enum { LINE = 128, OTHER_DIGESTS = 255 };

static void add(bench_places *p, const bench_shape *shape, const bench_place_row *r, double share)
{
    bool pairs = shape->table.layout != HD_LAYOUT_PLANES;
    double changes = r->puts + r->takes;
    p->reads += share * (r->uses + (pairs ? 0 : r->rescores));
    p->dirty += share * (r->rescores + changes * (pairs ? 1 : 2));
    p->near_dirty += share * (changes + (pairs ? r->takes : 0));
    p->values_read += share * r->value_read;
    p->values_written += share * r->value_written;
    p->bytes += share * (r->bytes + r->values * shape->words * 4);
}

/* Finding the victim of a full bucket, or of two; and, if the operation lists it, reading its value. */
static void add_eviction(bench_places *p, const bench_shape *shape, hd_op op, double share)
{
    bool pairs = shape->table.layout != HD_LAYOUT_PLANES;
    double buckets = bench_shape_dual(shape) ? 2 : 1, value_bytes = shape->words * 4;
    p->lines += pairs ? share * buckets * shape->table.slots / LINE : 0;
    p->scans += pairs ? share : share * buckets * shape->table.slots * 8 / LINE;
    if (op != HD_OP_INSERT_AND_EVICT) return;
    p->values_read += share;
    p->bytes += share * (8 + 8 + value_bytes);
}

bench_places bench_places_hkv(const bench_shape *shape, hd_op op, double hits, double load)
{
    bench_places p;
    double row_bytes = 8 + 8 + shape->words * 4.0,
           digest_lines = shape->table.slots < LINE ? 1 : (double)shape->table.slots / LINE;
    double chance = load * shape->table.slots / OTHER_DIGESTS, look = bench_shape_dual(shape) ? 2 : 1,
           look_found = bench_shape_dual(shape) ? 1.5 : 1;
    memset(&p, 0, sizeof p);
    if (op == HD_OP_EXPORT) { /* per slot: planes are read and lists are written, in order */
        p.bytes = 1 + load * 2 * row_bytes;
        return p;
    }
    for (int i = 0; i < BENCH_PLACE_ROWS; i++) {
        if (bench_places_rows[i].op != op) continue;
        add(&p, shape, &bench_places_rows[i].found, hits);
        add(&p, shape, &bench_places_rows[i].absent, 1 - hits);
        p.lines += digest_lines * (hits * look_found + (1 - hits) * look);
        p.reads += chance * (hits * (look_found - 0.5) + (1 - hits) * look);
        if (bench_places_rows[i].absent.puts > 0 && load >= 1) add_eviction(&p, shape, op, 1 - hits);
    }
    return p;
}
