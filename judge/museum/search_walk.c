/* SPDX-License-Identifier: Apache-2.0
 *
 * search_walk.c - looks for a bug in walks over a table on a device (lib/cuda_walk.c): on a lazy device (lazy.h) a
 * piece that is used before its copy is done has the wrong bytes. The table here has two planes, keys and values of 8
 * bytes. Key 0 is an empty slot.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lib/cuda_state.h"
#include "judge/museum/lazy.h"
#include "judge/museum/streams.h"
#include "workload/rng.h"

enum { ENTRIES = 400 };

typedef struct planes {
    hd_gpu_state gpu;
    uint64_t key[ENTRIES], value[ENTRIES];
} planes;

/* ---- Parts ----------------------------------------------------------------------------------- */

static uint64_t part_slots(const void *state, uint64_t buckets)
{
    return buckets * ((const hd_gpu_state *)state)->info.slots;
}
static uint64_t part_bytes(const void *state, uint64_t buckets) { return 16 * part_slots(state, buckets); }

/* The values of a part are behind its keys. */
static uint64_t *values_of(const void *state, const hd_part *p)
{
    return (uint64_t *)p->memory + part_slots(state, p->buckets);
}

static int part_planes(const void *state, const hd_part *p, hd_plane *all)
{
    planes *t = (planes *)(uintptr_t)state;
    uint64_t first = part_slots(state, p->first), bytes = 8 * part_slots(state, p->buckets);
    all[0] = (hd_plane){ "keys", t->key + first, p->memory, p->what & HD_PART_KEYS ? bytes : 0 };
    all[1] = (hd_plane){ "values", t->value + first, values_of(state, p), p->what & HD_PART_VALUES ? bytes : 0 };
    return 2;
}

static size_t part_next(const void *state, const hd_part *p, hd_entry *e, size_t most)
{
    uint64_t first = part_slots(state, p->first), end = first + part_slots(state, p->buckets), at = e->slot;
    const uint64_t *key = (const uint64_t *)p->memory;
    size_t n = 0;
    for (; at < end && n < most; at++)
        if (key[at - first]) e[n++] = (hd_entry){ at, key[at - first], 0, values_of(state, p) + (at - first) };
    if (n == 0) e->slot = at;
    return n;
}

static bool part_put_at(const void *state, const hd_part *p, const hd_entry *e)
{
    uint64_t at = e->slot - part_slots(state, p->first);
    ((uint64_t *)p->memory)[at] = e->key;
    memcpy(values_of(state, p) + at, e->value, 8);
    return true;
}

static void part_clear(const void *state, const hd_part *p)
{
    memset(p->memory, 0, (size_t)part_bytes(state, p->buckets));
}

static const hd_gpu_parts parts = { part_bytes, part_planes, part_next, part_put_at, part_clear, NULL, NULL, NULL };

/* ---- A walk ---------------------------------------------------------------------------------- */

enum { SOME = 7 /* entries at a time, at most */ };

/* Visits all entries, and changes some of them; NULL, or what is wrong. */
static const char *visit_all(hd_cuda *c, hd_rng *g, planes *wanted, bool changes)
{
    hd_entry e[SOME] = { { 0, 0, 0, NULL } };
    uint64_t slot = 0;
    for (size_t n; (n = hd_cuda_walk_next(c, e, 1 + (size_t)hd_rng_below(g, SOME))); e->slot = slot)
        for (size_t i = 0; i < n; i++, slot++) {
            while (slot < e[i].slot && !wanted->key[slot]) slot++;
            if (slot != e[i].slot || e[i].key != wanted->key[slot] || *(uint64_t *)e[i].value != wanted->value[slot])
                return "the walk sees another entry";
            if (changes && hd_rng_below(g, 2)) *(uint64_t *)e[i].value = wanted->value[slot] = hd_rng_next(g);
        }
    while (slot < ENTRIES && !wanted->key[slot]) slot++;
    return slot < ENTRIES && slot < part_slots(c->state, hd_cuda_state(c)->info.buckets) ? "the walk ends early" : NULL;
}

static void put_all(hd_cuda *c, planes *wanted)
{
    uint64_t slots = part_slots(c->state, hd_cuda_state(c)->info.buckets);
    for (hd_entry e = { 0, 0, 0, NULL }; e.slot < slots; e.slot++) {
        e.key = wanted->key[e.slot];
        e.value = &wanted->value[e.slot];
        if (e.key) hd_cuda_walk_put_at(c, &e);
    }
}

static void draw_entries(hd_rng *g, uint64_t slots, planes *t)
{
    for (uint64_t i = 0; i < slots; i++) {
        if (hd_rng_below(g, 3) == 0) continue;
        t->key[i] = 1 + hd_rng_below(g, 1000);
        t->value[i] = hd_rng_next(g);
    }
}

/* NULL: the walk sees what is there, and leaves what it should. */
static const char *walk(hd_cuda *c, hd_rng *g, planes *wanted)
{
    planes *t = (planes *)(void *)c->state;
    hd_walk_how how = (hd_walk_how)hd_rng_below(g, HD_WALK_FILL + 1);
    if (how == HD_WALK_FILL) memset(t->key, 0, sizeof t->key);
    if (how == HD_WALK_FILL) memset(t->value, 0, sizeof t->value);
    if (hd_cuda_walk(c, how)) return hd_why();
    const char *wrong = NULL;
    if (how == HD_WALK_FILL)
        put_all(c, wanted);
    else
        wrong = visit_all(c, g, wanted, how == HD_WALK_CHANGE);
    if (hd_cuda_walked(c, true)) return hd_why();
    if (wrong) return wrong;
    bool same =
        memcmp(t->key, wanted->key, sizeof t->key) == 0 && memcmp(t->value, wanted->value, sizeof t->value) == 0;
    return same ? NULL : "the table has other entries than the walk has left";
}

static const char *walk_once(hd_rng *g)
{
    static const hd_gpu gpu = { .parts = &parts };
    lazy *d = (lazy *)malloc(sizeof *d);
    hd_cuda *c = (hd_cuda *)calloc(1, sizeof *c + sizeof(planes));
    planes *wanted = (planes *)calloc(1, sizeof *wanted);
    if (!d || !c || !wanted) return free(d), free(c), free(wanted), "there is no memory";
    lazy_init(d);
    hd_seams seams = hd_seams_os;
    seams.device = &d->seam;
    c->gpu = &gpu;
    c->seams = &seams;
    c->seam = &d->seam;
    hd_info *info = &hd_cuda_state(c)->info;
    info->slots = 1 + (uint32_t)hd_rng_below(g, 8);
    info->buckets = 1 + hd_rng_below(g, ENTRIES / 8);
    info->capacity = info->buckets * info->slots;
    c->staging.sizes.slot_bytes = 16 * info->slots * (1 + hd_rng_below(g, 6));
    pthread_mutex_init(&c->walking, NULL);
    pthread_mutex_init(&c->busy, NULL);
    draw_entries(g, part_slots(c->state, info->buckets), wanted);
    memcpy(((planes *)(void *)c->state)->key, wanted->key, sizeof wanted->key);
    memcpy(((planes *)(void *)c->state)->value, wanted->value, sizeof wanted->value);
    const char *wrong = hd_streams_open(&c->streams, c->seam, hd_lock_named("ordered"), NULL, NULL) ? hd_why() : NULL;
    if (!wrong) wrong = walk(c, g, wanted);
    hd_streams_close(&c->streams);
    pthread_mutex_destroy(&c->walking);
    pthread_mutex_destroy(&c->busy);
    free(d);
    free(c);
    free(wanted);
    return wrong;
}

const char *museum_look_walk(const museum_search *s, museum_sight *sight, const char *words)
{
    return (void)words, museum_try_seeds(s, sight, MUSEUM_CONTENTS, walk_once);
}
