/* SPDX-License-Identifier: Apache-2.0
 *
 * goals.c - looks up the goals of a point. The data are in goals_hkv.c, goals_hive.c, goals_ovs.c
 * and goals_sl.c.
 */
#include "bench/device/goals.h"

#include <string.h>

static const bench_goals *const tables[] = { &bench_goals_hkv, &bench_goals_hive, &bench_goals_ovs, &bench_goals_sl };

const bench_goals *goals_of(const char *design)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (strcmp(tables[i]->design, design) == 0) return tables[i];
    return tables[0];
}

bench_places bench_places_of(const bench_shape *shape, hd_op op, double hits, double load)
{
    const bench_goals *g = goals_of(shape->table.design);
    bench_places unknown;
    memset(&unknown, 0, sizeof unknown);
    if (strcmp(g->design, shape->table.design) != 0 || !g->places) return unknown;
    bench_places p = g->places(shape, op, hits, load);
    p.known = true;
    return p;
}

int goals_dims(const bench_goals *g)
{
    int d = 0;
    while (d < GOAL_DIMS && g->dim[d]) d++;
    return d;
}

int goals_loads(const bench_goals *g)
{
    int l = 0;
    while (l < GOAL_LOADS && g->load[l] > 0) l++;
    return l;
}

uint64_t goal_capacity(const bench_goals *g, uint32_t dim, double load)
{
    if (g->bulk) return point_room(g->n, load);
    return dim <= 32 ? 128ull << 20 : 64ull << 20;
}

/* The row of such a point; NULL: there is none. */
static const bench_goal *row_of(const bench_goals *g, const bench_shape *shape, const bench_point *p)
{
    bool dual = bench_shape_dual(shape);
    for (int i = 0; i < g->rows; i++) {
        const bench_goal *row = &g->row[i];
        bool form = p->n == (row->n ? row->n : g->n) && p->bulk == (g->bulk && !row->n);
        if (row->op == p->op && row->hits == p->hits && row->dual == dual && form) return row;
    }
    return NULL;
}

bench_peers goal_of(const char *device, const bench_shape *shape, const bench_point *p)
{
    const bench_peers none = { 0, 0 };
    const bench_goals *g = goals_of(shape->table.design);
    int d = 0, l = 0;
    bool near = shape->near > 0 && g->bulk; /* figures of entries are of device memory alone */
    if (strcmp(g->design, shape->table.design) != 0 || near || !strstr(device, g->device)) return none;
    while (d < GOAL_DIMS && g->dim[d] != shape->words) d++;
    while (l < GOAL_LOADS && g->load[l] != p->load) l++;
    if (d == GOAL_DIMS || l == GOAL_LOADS || shape->table.capacity != goal_capacity(g, shape->words, p->load))
        return none;
    const bench_goal *row = row_of(g, shape, p);
    return row ? (bench_peers){ row->goal[d][l], row->peer[d][l] } : none;
}
