/* SPDX-License-Identifier: Apache-2.0
 *
 * cover.c - see cover.h.
 */
#include "judge/cover.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "workload/rng.h"

/* Pairs are triples with a factor of one class, NONE, which comes before all others. */
enum { NONE = 0, FACTORS = SPACE_FACTORS + 1, TRIES = 4 /* rows of which the best is taken */ };

struct cover_map {
    uint32_t factors, classes[FACTORS];
    uint64_t at[FACTORS][FACTORS][FACTORS], all; /* where the combinations of three factors begin */
    uint8_t *done;                               /* (all) covered or impossible */
    hd_rng rng;
};

typedef struct cover_map map;

/* A row that is being made: the classes of the factors that have one, in the map's numbers. */
typedef struct making {
    space_domain d;
    uint32_t chosen[FACTORS], factor[FACTORS],
        n; /* chosen: by factor; factor: those that are, in the order of choice */
} making;

static uint64_t place(const map *m, const uint32_t f[3], const uint32_t k[3])
{
    uint32_t x = 0, y = 1, z = 2, t;
    if (f[x] > f[y]) t = x, x = y, y = t;
    if (f[y] > f[z]) t = y, y = z, z = t;
    if (f[x] > f[y]) t = x, x = y, y = t;
    return m->at[f[x]][f[y]][f[z]] + ((uint64_t)k[x] * m->classes[f[y]] + k[y]) * m->classes[f[z]] + k[z];
}

static bool is_core(const cover *c, uint32_t f) { return f == NONE || c->core >> (f - 1) & 1; }

/* Of the combinations of class k of core factor f with classes that the row has: how many are not done; and marks them,
 * where it is to. */
static uint64_t combine(const cover *c, const making *x, uint32_t f, uint32_t k, bool mark)
{
    map *m = c->map;
    uint64_t n = 0;
    for (uint32_t i = 0; i < x->n; i++)
        for (uint32_t j = c->strength == 2 ? i : 0; j < (c->strength == 2 ? i + 1 : i); j++) {
            uint32_t g = c->strength == 2 ? NONE : x->factor[j], h = x->factor[i];
            if (!is_core(c, g) || !is_core(c, h)) continue;
            const uint32_t factor[3] = { f, g, h }, classes[3] = { k, g == NONE ? 0 : x->chosen[g], x->chosen[h] };
            uint8_t *done = &m->done[place(m, factor, classes)];
            n += !*done;
            if (mark) *done = 1;
        }
    return n;
}

static bool choose(making *x, uint32_t f, uint32_t k, const space *s)
{
    space_domain with = x->d;
    with.of[f - 1] &= 1ull << k;
    if (!space_possible(s, &with, NULL)) return false;
    x->d = with;
    x->chosen[f] = k;
    x->factor[x->n++] = f;
    return true;
}

/* The class of factor f that covers most, of those that are possible. */
static void choose_best(cover *c, making *x, uint32_t f)
{
    map *m = c->map;
    uint64_t tried = 0;
    for (;;) {
        uint32_t best = 0;
        uint64_t most = 0, ties = 0;
        for (uint32_t k = 0; k < m->classes[f]; k++) {
            if (tried >> k & 1) continue;
            uint64_t n = 1 + (is_core(c, f) ? combine(c, x, f, k, false) : 0);
            ties = n > most ? 1 : ties + (n == most);
            if (n > most || (n == most && hd_rng_below(&m->rng, ties) == 0)) most = n, best = k;
        }
        if (choose(x, f, best, c->s)) return;
        tried |= 1ull << best;
    }
}

/* A row that begins with these classes; how many combinations it would cover. */
static uint64_t make_row(cover *c, const uint32_t f[3], const uint32_t k[3], making *x)
{
    map *m = c->map;
    uint32_t order[FACTORS], n = 0;
    uint64_t covers = 1;
    x->n = 0;
    x->d = c->within;
    for (uint32_t i = 0; i < 3; i++)
        if (f[i] != NONE) choose(x, f[i], k[i], c->s);
    for (uint32_t g = 1; g < m->factors; g++)
        if (g != f[0] && g != f[1] && g != f[2]) order[n++] = g;
    for (; n; n--) {
        uint32_t at = (uint32_t)hd_rng_below(&m->rng, n), g = order[at];
        order[at] = order[n - 1];
        choose_best(c, x, g);
        x->n--;
        if (is_core(c, g)) covers += combine(c, x, g, x->chosen[g], false);
        x->n++;
    }
    return covers;
}

static hd_status keep_row(cover *c, const making *x)
{
    making part = *x;
    if (c->rows == c->rows_room) {
        uint64_t room = c->rows_room ? 2 * c->rows_room : 256;
        space_domain *all = (space_domain *)realloc(c->row, room * sizeof *all);
        if (!all) return hd_fail(HD_ENOMEM, "cover: no memory for %llu rows", (unsigned long long)room);
        c->row = all;
        c->rows_room = room;
    }
    for (part.n = 0; part.n < x->n; part.n++) {
        uint32_t f = x->factor[part.n];
        if (is_core(c, f)) c->covered += combine(c, &part, f, x->chosen[f], true);
    }
    c->row[c->rows++] = x->d;
    return HD_OK;
}

static hd_status cover_from(cover *c, const uint32_t f[3], const uint32_t k[3])
{
    making x, best;
    uint64_t most = 0;
    for (int i = 0; i < TRIES; i++) {
        uint64_t n = make_row(c, f, k, &x);
        if (n > most) most = n, best = x;
    }
    return keep_row(c, &best);
}

/* Calls visit for every combination, in order. */
static hd_status each(cover *c, hd_status (*visit)(cover *c, const uint32_t f[3], const uint32_t k[3], uint8_t *done))
{
    const map *m = c->map;
    uint32_t last = c->strength == 2 ? 1 : m->factors, f[3], k[3];
    hd_status status = HD_OK;
    for (f[0] = c->strength == 2 ? NONE : 1; f[0] < last; f[0]++)
        for (f[1] = f[0] + 1; f[1] < m->factors; f[1]++)
            for (f[2] = f[1] + 1; f[2] < m->factors; f[2]++)
                for (k[0] = 0; k[0] < m->classes[f[0]]; k[0]++)
                    for (k[1] = 0; k[1] < m->classes[f[1]]; k[1]++)
                        for (k[2] = 0; k[2] < m->classes[f[2]] && !status; k[2]++)
                            status = visit(c, f, k, &m->done[place(m, f, k)]);
    return status;
}

static hd_status count_one(cover *c, const uint32_t f[3], const uint32_t k[3], uint8_t *done)
{
    space_domain d = c->within;
    for (int i = 0; i < 3; i++)
        if (f[i] != NONE) d.of[f[i] - 1] &= 1ull << k[i];
    *done = !is_core(c, f[0]) || !is_core(c, f[1]) || !is_core(c, f[2]);
    if (*done) return HD_OK;
    *done = !space_possible(c->s, &d, NULL);
    c->combinations++;
    c->impossible += *done;
    return HD_OK;
}

static hd_status cover_one(cover *c, const uint32_t f[3], const uint32_t k[3], uint8_t *done)
{
    return *done ? HD_OK : cover_from(c, f, k);
}

hd_status cover_open(const space *s, const space_domain *within, uint64_t core, uint32_t strength, uint64_t seed,
                     cover *c)
{
    memset(c, 0, sizeof *c);
    map *m = (map *)calloc(1, sizeof *m);
    if (!m) return hd_fail(HD_ENOMEM, "cover: no memory");
    c->s = s;
    c->strength = strength;
    c->within = *within;
    c->core = core;
    c->map = m;
    m->factors = s->factors + 1;
    m->classes[NONE] = 1;
    m->rng = hd_rng_from(seed);
    for (uint32_t f = 1; f < m->factors; f++) m->classes[f] = s->factor[f - 1].classes;
    for (uint32_t x = strength == 2 ? NONE : 1; x < (strength == 2 ? 1 : m->factors); x++)
        for (uint32_t y = x + 1; y < m->factors; y++)
            for (uint32_t z = y + 1; z < m->factors; z++) {
                m->at[x][y][z] = m->all;
                m->all += (uint64_t)m->classes[x] * m->classes[y] * m->classes[z];
            }
    m->done = (uint8_t *)calloc(m->all, 1);
    hd_status status = m->done ? each(c, count_one) : hd_fail(HD_ENOMEM, "cover: no memory");
    if (!status) status = each(c, cover_one);
    if (status) cover_close(c);
    return status;
}

void cover_close(cover *c)
{
    if (c->map) free(c->map->done);
    free(c->map);
    free(c->row);
    memset(c, 0, sizeof *c);
}
