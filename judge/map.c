/* SPDX-License-Identifier: Apache-2.0
 *
 * map.c - linear probing at half load, deletion by moving the run up: no tombstones.
 */
#include "judge/map.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES_AT_FIRST = 16 };

static uint64_t home(const judge_map *m, uint64_t key)
{
    return ((key ^ key >> 29) * 0x9e3779b97f4a7c15u >> 20) & (m->places - 1);
}

static uint64_t place_of(const judge_map *m, uint64_t key)
{
    uint64_t p = home(m, key);
    while (m->at[p] && m->at[p]->key != key) p = (p + 1) & (m->places - 1);
    return p;
}

static bool widen(judge_map *m, uint64_t places)
{
    judge_map wide = { (judge_entry **)calloc((size_t)places, sizeof(judge_entry *)), places, m->n, m->value_bytes };
    judge_entry *e;
    if (!wide.at) return false;
    for (uint64_t p = 0; (e = judge_map_next(m, &p));) wide.at[place_of(&wide, e->key)] = e;
    free(m->at);
    *m = wide;
    return true;
}

bool judge_map_open(judge_map *m, uint32_t value_bytes)
{
    *m = (judge_map){ NULL, 0, 0, value_bytes };
    return widen(m, PLACES_AT_FIRST);
}

void judge_map_clear(judge_map *m)
{
    for (uint64_t p = 0; p < m->places; p++) {
        free(m->at[p]);
        m->at[p] = NULL;
    }
    m->n = 0;
}

void judge_map_close(judge_map *m)
{
    judge_map_clear(m);
    free(m->at);
    *m = (judge_map){ NULL, 0, 0, 0 };
}

bool judge_map_copy(const judge_map *from, judge_map *to)
{
    const judge_entry *e;
    if (!judge_map_open(to, from->value_bytes)) return false;
    for (uint64_t p = 0; (e = judge_map_next(from, &p));) {
        judge_entry *f = judge_map_put(to, e->key, e->value, e->score);
        if (!f) {
            judge_map_close(to);
            return false;
        }
        f->holder = e->holder, f->born = e->born, f->seen = e->seen, f->mark = e->mark;
    }
    return true;
}

judge_entry *judge_map_find(const judge_map *m, uint64_t key) { return m->at[place_of(m, key)]; }

judge_entry *judge_map_put(judge_map *m, uint64_t key, const void *value, uint64_t score)
{
    if (2 * (m->n + 1) > m->places && !widen(m, 2 * m->places)) return NULL;
    judge_entry *e = (judge_entry *)calloc(1, sizeof *e + m->value_bytes);
    if (!e) return NULL;
    e->key = key;
    e->score = score;
    if (value && m->value_bytes) memcpy(e->value, value, m->value_bytes);
    m->at[place_of(m, key)] = e;
    m->n++;
    return e;
}

void judge_map_drop(judge_map *m, uint64_t key)
{
    uint64_t mask = m->places - 1, hole = place_of(m, key);
    free(m->at[hole]);
    m->at[hole] = NULL;
    m->n--;
    for (uint64_t p = (hole + 1) & mask; m->at[p]; p = (p + 1) & mask) {
        uint64_t from = home(m, m->at[p]->key);
        if (((p - from) & mask) < ((p - hole) & mask)) continue; /* its home is after the hole: it stays */
        m->at[hole] = m->at[p];
        m->at[p] = NULL;
        hole = p;
    }
}

judge_entry *judge_map_next(const judge_map *m, uint64_t *place)
{
    while (*place < m->places) {
        judge_entry *e = m->at[(*place)++];
        if (e) return e;
    }
    return NULL;
}
