/* SPDX-License-Identifier: Apache-2.0
 *
 * goals.h - the rows of the table that `heddle bench` prints for a GPU, one table for each design: an operation at a
 * share of hits, its goal, and the rate of the best peer. The figures hold on one kind of GPU, for the shapes for which
 * they were set.
 */
#ifndef HD_BENCH_GOALS_H
#define HD_BENCH_GOALS_H

#include "bench/device/roofline.h"
#include "bench/device/point.h"

enum { GOAL_DIMS = 3, GOAL_LOADS = 3 };

/* 1e9 items per second; 0: none. */
typedef struct bench_goal {
    hd_op op;
    double hits;
    bool dual;
    uint64_t n; /* items of a call; 0: as many as the table has */
    double goal[GOAL_DIMS][GOAL_LOADS];
    double peer[GOAL_DIMS][GOAL_LOADS];
} bench_goal;

/* Figures for one size of values, at the first two load factors. */
#define GOAL_AT(a, b) \
    {                 \
        {             \
            a, b, 0   \
        }             \
    }
#define GOAL_NONE GOAL_AT(0, 0)

/* Of distinct keys: calls of n in a queue, or, `bulk`, all of a table in one call. */
typedef struct bench_goals {
    const char *design, *device;
    uint32_t dim[GOAL_DIMS]; /* floats in a value; 0: no more */
    double load[GOAL_LOADS]; /* 0: no more                    */
    uint64_t n;
    bool bulk;
    const bench_goal *row; /* (rows) in the order of a run  */
    int rows;
    /* What its layouts force per item; NULL: not counted, and reports have no roofline. */
    bench_places (*places)(const bench_shape *shape, hd_op op, double hits, double load);
    /* Only this share of the table's entries, or of its values, is to be in device memory; NULL: all are there. */
    void (*near)(hd_config *c, double share);
    /* Within a doubling some segments have twice the load of others: growth by parts is not measured. */
    bool doubles;
} bench_goals;

extern const bench_goals bench_goals_hkv, bench_goals_hive, bench_goals_ovs, bench_goals_sl;
/* A share of the bytes of all entries, which are twice their values: at least 1. */
static inline uint64_t bench_share_of(const hd_config *c, double share)
{
    return (uint64_t)(share * (double)c->capacity) * 2 * c->value_bytes + 1;
}
bench_places bench_places_hkv(const bench_shape *shape, hd_op op, double hits, double load);
bench_places bench_places_hive(const bench_shape *shape, hd_op op, double hits, double load);

/* A design's table; one without figures has the usual design's rows, and none of its figures. */
const bench_goals *goals_of(const char *design);
/* hits: the share of items whose key is there; load: of the table. Not `known`
 * for a design whose places are not counted. */
bench_places bench_places_of(const bench_shape *shape, hd_op op, double hits, double load);
int goals_dims(const bench_goals *g);
int goals_loads(const bench_goals *g);

/* The capacity that belongs to a value of so many floats, and a load factor. */
uint64_t goal_capacity(const bench_goals *g, uint32_t dim, double load);

/* What a point is held against: on a device of that name. 0: there is none. */
typedef struct bench_peers {
    double goal, peer;
} bench_peers;
bench_peers goal_of(const char *device, const bench_shape *shape, const bench_point *p);

#endif
