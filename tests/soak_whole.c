/* SPDX-License-Identifier: Apache-2.0
 *
 * soak_whole.c - calls for the whole table while fifteen threads use it: clear, growth, saving, loading. The calling
 * thread has no batch in flight, and only one thread makes these calls between two rests, so resets come one at a time
 * (soak.h).
 *
 * A saved file is loaded into a second table and checked like a lookup of all keys. The keys of the saving thread must
 * have the state that this thread knows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/soak.h"

enum { CLEAR, GROW, SAVE, LOAD };

static void content_open(content *c) { c->key = (known(*)[KEYS_MOST])test_alloc(THREADS, sizeof *c->key); }

void whole_open(soak *s)
{
    (void)test_folder(); /* made before there are threads */
    if (s->leg != OWN) return;
    for (int r = 0; r < RESETS; r++) content_open(&s->after[r]);
    content_open(&s->saved);
}

void whole_close(soak *s)
{
    if (s->leg != OWN) return;
    for (int r = 0; r < RESETS; r++) free(s->after[r].key);
    free(s->saved.key);
}

static void path_of(const soak *s, char *path, size_t bytes)
{
    snprintf(path, bytes, "%s/soak%d.heddle", test_folder(), (int)s->leg);
}

static void failed(worker *w, const char *what)
{
    char why[256];
    snprintf(why, sizeof why, "%s: %s", what, hd_why());
    complain(w, NULL, 0, why);
}

/* ---- Files ----------------------------------------------------------------------------------- */

typedef struct reading {
    worker *w;
    flight floors; /* from before it was saved */
    uint64_t sum;
} reading;

static int read_own(void *context, uint64_t key, uint64_t score, void *value)
{
    worker *w = ((reading *)context)->w;
    uint64_t thread, n;
    if (!own_place(w->s, key, &thread, &n)) return complain(w, NULL, 0, "a file has a key of no thread"), 1;
    known *k = &w->s->saved.key[thread][n];
    if (k->present) return complain(w, NULL, 0, "a file has a key twice"), 1;
    memcpy(k->value, value, sizeof k->value);
    k->score = score;
    k->present = true;
    if (k->value[0] != tag_of(key) && k->value[0] != 0) complain(w, NULL, 0, "a file has a value of another key");
    if (thread == w->number) own_saw(w, n, k->value, score);
    return 0;
}

static int read_shared(void *context, uint64_t key, uint64_t score, void *value)
{
    reading *r = (reading *)context;
    uint64_t v[WORDS];
    (void)score;
    memcpy(v, value, sizeof v);
    shared_saw(r->w, &r->floors, key, v, &r->sum);
    return 0;
}

/* Opens the file in a table of the reference's that has its shape. */
static void read_file(worker *w, const char *path, reading *r)
{
    soak *s = w->s;
    hd_table *t = NULL;
    hd_config c = s->c;
    uint64_t dropped = 0;
    c.backend = "ref";
    c.lock = "none";
    c.seams = NULL;
    c.capacity = s->saved_capacity;
    if (s->leg == OWN) memset(s->saved.key, 0, THREADS * sizeof *s->saved.key);
    hd_status e = hd_open(&c, &t);
    if (!e) e = hd_load(t, path, &dropped);
    if (!e) e = hd_check(t);
    if (!e) e = hd_for_each(t, s->leg == OWN ? read_own : read_shared, r);
    if (e) failed(w, "a file that was saved");
    if (dropped) complain(w, NULL, 0, "a file has more than there was room for");
    hd_close(t);
    for (uint64_t n = 0; s->leg == OWN && n < s->keys && !atomic_load(&s->wrong); n++)
        if (!s->saved.key[w->number][n].present) own_missed(w, n);
}

static void save(worker *w)
{
    soak *s = w->s;
    char path[512];
    reading *r = (reading *)test_alloc(1, sizeof *r);
    path_of(s, path, sizeof path);
    r->w = w;
    shared_floors(w, &r->floors);
    s->saved_capacity = atomic_load(&s->capacity);
    if (hd_save(s->t, path))
        failed(w, "save");
    else
        read_file(w, path, r);
    s->has_saved = true;
    free(r);
}

/* ---- Resets ---------------------------------------------------------------------------------- */

/* Whether what was left by the reset before the last RESETS - 1 is no longer asked for. */
static bool may_reset(const soak *s)
{
    uint64_t next = atomic_load(&s->done) + 1;
    for (int t = 0; t < THREADS; t++)
        if (next - atomic_load(&s->worker[t].oldest) >= RESETS) return false;
    return true;
}

static content *reset_begins(soak *s)
{
    uint64_t next = atomic_load(&s->done) + 1;
    return &s->after[next % RESETS];
}

static void clear(worker *w)
{
    soak *s = w->s;
    uint64_t before[THREADS][SHARED];
    if (s->leg == OWN) memset(reset_begins(s)->key, 0, THREADS * sizeof *s->saved.key);
    for (int t = 0; t < THREADS; t++)
        for (int k = 0; k < SHARED; k++)
            before[t][k] = t == (int)w->number ? w->wrote[k] : atomic_load(&s->finished[t][k]);
    atomic_fetch_add(&s->begun, 1);
    if (hd_clear(s->t)) failed(w, "clear");
    for (int t = 0; t < THREADS; t++)
        for (int k = 0; k < SHARED; k++) atomic_store(&s->cleared[t][k], before[t][k] + 1);
    atomic_fetch_add(&s->done, 1);
}

static void load(worker *w)
{
    soak *s = w->s;
    uint64_t dropped = 0;
    char path[512];
    path_of(s, path, sizeof path);
    memcpy(reset_begins(s)->key, s->saved.key, THREADS * sizeof *s->saved.key);
    atomic_fetch_add(&s->begun, 1);
    if (hd_load(s->t, path, &dropped)) failed(w, "load");
    if (dropped && s->saved_capacity == atomic_load(&s->capacity))
        complain(w, NULL, 0, "a load found no room for what had been in a table like this");
    atomic_fetch_add(&s->done, 1);
}

static void grow(worker *w)
{
    soak *s = w->s;
    uint64_t capacity = 2 * atomic_load(&s->capacity);
    atomic_store(&s->growing, capacity);
    if (hd_reserve(s->t, capacity)) failed(w, "growth");
    atomic_store(&s->capacity, capacity);
}

/* ---- Which ----------------------------------------------------------------------------------- */

/* Every other stretch between rests has no resets, so that evictions can be accounted for to the last one; the table
 * grows when a third of the time is over, and when two are. */
void whole_table(worker *w)
{
    soak *s = w->s;
    if (s->rests % THREADS != w->number || test_below(&w->random, s->one_in) > 0) return;
    bool grows = s->wholes[GROW] < 2 &&
                 hd_seams_os.time.now_ns(NULL) > s->start_ns + (s->end_ns - s->start_ns) / 3 * (s->wholes[GROW] + 1);
    bool resets = s->rests % 2 == 1 && s->leg != SHARED_ROOM && may_reset(s);
    uint64_t what = test_below(&w->random, 4);
    if (what == CLEAR && resets)
        clear(w);
    else if (what == LOAD && resets && s->leg == OWN && s->has_saved)
        load(w);
    else if (what == GROW && grows)
        grow(w);
    else if (what == SAVE)
        save(w);
    else
        return;
    s->wholes[what]++;
}
