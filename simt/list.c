/* SPDX-License-Identifier: Apache-2.0
 *
 * list.c - arrays and hash tables of the machine.
 */
#include "simt/list.h"

#include <string.h>

#include "base/error.h"
#include "simt/finding.h"

bool vec_push(simt_machine *m, vec *v, const void *element)
{
    if (v->n == v->places) {
        size_t places = v->places ? v->places * 2 : 64;
        void *p;
        if (hd_take(&m->seams, "simt: list", places, v->size, &p)) {
            found(m, SIMT_RESOURCE, "no memory for %zu elements of a list", places);
            return false;
        }
        if (v->n) memcpy(p, v->p, v->n * v->size);
        hd_give(&m->seams, v->p, v->places, v->size);
        v->p = p;
        v->places = places;
    }
    HD_ASSERT(v->size > 0 && v->n < v->places, "a list has no room");
    char *to = (char *)v->p + v->n++ * v->size;
    if (v->size == sizeof(simt_decision))
        memcpy(to, element, sizeof(simt_decision)); /* one a stop */
    else
        memcpy(to, element, v->size);
    return true;
}

void vec_free(simt_machine *m, vec *v)
{
    hd_give(&m->seams, v->p, v->places, v->size);
    v->p = NULL;
    v->n = v->places = 0;
}

void vec_of(simt_machine *m, vec *v, size_t size)
{
    if (v->size != size) vec_free(m, v);
    v->size = size;
    v->n = 0;
}

uint64_t hash_spread(uint64_t key) { return (key * 0x9e3779b97f4a7c15ull) ^ (key * 0x9e3779b97f4a7c15ull) >> 29; }

static bool table_grow(simt_machine *m, table *t)
{
    table old = *t;
    void *p;
    t->places = old.places ? old.places * 2 : 1024;
    if (hd_take(&m->seams, "simt: table", t->places, t->size, &p)) {
        *t = old;
        found(m, SIMT_RESOURCE, "no memory for a table of %zu places", old.places * 2);
        return false;
    }
    t->p = (uint8_t *)p;
    t->n = 0;
    memset(t->p, 0, t->places * t->size);
    for (size_t i = 0; i < old.places; i++) {
        const slot_head *from = (const slot_head *)(const void *)(old.p + i * old.size);
        if (from->generation != m->generation) continue;
        void *to = table_at(m, t, from->key, true);
        memcpy(to, from, t->size);
    }
    hd_give(&m->seams, old.p, old.places, old.size);
    return true;
}

void *table_at(simt_machine *m, table *t, uint64_t key, bool create)
{
    if (create && (t->n + 1) * 2 > t->places && !table_grow(m, t)) return NULL;
    if (t->places == 0) return NULL;
    HD_ASSERT(t->n < t->places && (t->places & (t->places - 1)) == 0, "a search in a full table has no end");
    /* neighbours stay together: they are used one after another */
    uint64_t home = hash_spread(key >> 3) >> 20 << 3 | (key & 7);
    for (size_t i = home & (t->places - 1);; i = (i + 1) & (t->places - 1)) {
        slot_head *s = (slot_head *)(void *)(t->p + i * t->size);
        bool present = s->generation == m->generation;
        if (present && s->key == key) return s;
        if (present) continue;
        if (!create) return NULL;
        memset(s, 0, t->size);
        s->key = key;
        s->generation = m->generation;
        t->n++;
        return s;
    }
}

void table_free(simt_machine *m, table *t)
{
    hd_give(&m->seams, t->p, t->places, t->size);
    memset(t, 0, sizeof *t);
}

/* SplitMix64 (Steele, Lea, Flood 2014). */
uint64_t machine_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}
