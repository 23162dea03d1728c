/* SPDX-License-Identifier: Apache-2.0
 *
 * cache_models.c - models of caches that are made of queues.
 */
#include "tests/cache_models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Queues ---------------------------------------------------------------------------------- */

uint64_t model_units(const cache_model *m, int q)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < m->q[q].n; i++) sum += m->q[q].at[i].size;
    return sum;
}

uint64_t model_used(const cache_model *m)
{
    uint64_t sum = 0;
    for (int q = 0; q < MODEL_QUEUES; q++)
        if (m->rule->residents >> q & 1) sum += model_units(m, q);
    return sum;
}

uint64_t model_entries(const cache_model *m)
{
    uint64_t sum = 0;
    for (int q = 0; q < MODEL_QUEUES; q++)
        if (m->rule->residents >> q & 1) sum += m->q[q].n;
    return sum;
}

bool model_lacks(const cache_model *m, uint64_t size) { return model_used(m) + size > m->capacity; }

int64_t model_find(const cache_model *m, int q, uint64_t key)
{
    for (size_t i = 0; i < m->q[q].n; i++)
        if (m->q[q].at[i].key == key) return (int64_t)i;
    return -1;
}

model_entry model_take(cache_model *m, int q, size_t i)
{
    model_queue *w = &m->q[q];
    model_entry x = w->at[i];
    memmove(&w->at[i], &w->at[i + 1], (w->n - i - 1) * sizeof *w->at);
    w->n--;
    return x;
}

void model_put(cache_model *m, int q, model_entry x)
{
    if (m->q[q].n == MODEL_MOST) abort();
    m->q[q].at[m->q[q].n++] = x;
}

model_entry model_leave(cache_model *m, int q, size_t i)
{
    m->left++;
    return model_take(m, q, i);
}

/* ---- LRU, FIFO, CLOCK, RANDOM, LFU ----------------------------------------------------------- */

static void lru_hit(cache_model *m, int q, size_t i) { model_put(m, q, model_take(m, q, i)); }

static void no_hit(cache_model *m, int q, size_t i) { (void)m, (void)q, (void)i; }

static void mark_hit(cache_model *m, int q, size_t i) { m->q[q].at[i].mark = 1; }

static void oldest_miss(cache_model *m, model_entry x)
{
    while (model_lacks(m, x.size)) model_leave(m, 0, 0);
    model_put(m, 0, x);
}

static void clock_miss(cache_model *m, model_entry x)
{
    while (model_lacks(m, x.size)) {
        model_entry oldest = model_take(m, 0, 0);
        if (oldest.mark) {
            oldest.mark = 0;
            model_put(m, 0, oldest);
        } else
            m->left++;
    }
    model_put(m, 0, x);
}

/* The last one takes the place of the one that leaves. */
static void random_miss(cache_model *m, model_entry x)
{
    while (model_lacks(m, x.size)) {
        model_queue *w = &m->q[0];
        w->at[hd_rng_below(&m->rng, w->n)] = w->at[w->n - 1];
        w->n--;
        m->left++;
    }
    model_put(m, 0, x);
}

static void lfu_miss(cache_model *m, model_entry x)
{
    while (model_lacks(m, x.size)) {
        size_t least = 0;
        const model_entry *e = m->q[0].at;
        for (size_t i = 1; i < m->q[0].n; i++)
            if (e[i].times < e[least].times || (e[i].times == e[least].times && e[i].last < e[least].last)) least = i;
        model_leave(m, 0, least);
    }
    model_put(m, 0, x);
}

/* ---- SIEVE: NSDI '24, Algorithm 1 -------------------------------------------------------------- */

static void sieve_miss(cache_model *m, model_entry x)
{
    model_queue *w = &m->q[0];
    while (model_lacks(m, x.size)) {
        int64_t at = m->hand < 0 ? 0 : m->hand;
        while (w->at[at].mark) {
            w->at[at].mark = 0;
            at = at + 1 == (int64_t)w->n ? 0 : at + 1;
        }
        model_leave(m, 0, (size_t)at);
        m->hand = at == (int64_t)w->n ? -1 : at; /* the next newer one, or none */
    }
    model_put(m, 0, x);
}

/* ---- S3-FIFO: SOSP '23, Algorithm 1, but a main queue that is too large waits for the next eviction ------------ */

enum { SMALL, MAIN, GHOST };

static void s3fifo_hit(cache_model *m, int q, size_t i)
{
    if (m->q[q].at[i].mark < 3) m->q[q].at[i].mark++;
}

static void s3fifo_evict_main(cache_model *m)
{
    for (;;) {
        model_entry t = model_take(m, MAIN, 0);
        if (t.mark == 0) break;
        t.mark--;
        model_put(m, MAIN, t);
    }
    m->left++;
}

static void s3fifo_evict_small(cache_model *m)
{
    bool evicted = false;
    while (!evicted && m->q[SMALL].n) {
        model_entry t = model_take(m, SMALL, 0);
        if (t.mark > 1) {
            t.mark = 0;
            model_put(m, MAIN, t);
        } else {
            model_put(m, GHOST, t);
            while (10 * model_units(m, GHOST) > 9 * m->capacity) model_take(m, GHOST, 0);
            evicted = true;
            m->left++;
        }
    }
}

static void s3fifo_miss(cache_model *m, model_entry x)
{
    while (model_lacks(m, x.size)) {
        if (10 * model_units(m, SMALL) >= m->capacity || !m->q[MAIN].n)
            s3fifo_evict_small(m);
        else
            s3fifo_evict_main(m);
    }
    int64_t ghost = model_find(m, GHOST, x.key);
    if (ghost >= 0) model_take(m, GHOST, (size_t)ghost);
    model_put(m, ghost >= 0 ? MAIN : SMALL, x);
}

/* ---- SLRU: SOSP '13, S4LRU --------------------------------------------------------------------- */

/* Segment q has a quarter; segment 0 the remainder, too. */
static bool slru_over(const cache_model *m, int q)
{
    uint64_t quarter = m->capacity / 4;
    return model_units(m, q) > (q ? quarter : m->capacity - 3 * quarter);
}

static void slru_settle(cache_model *m)
{
    for (int q = 3; q > 0; q--)
        while (slru_over(m, q)) model_put(m, q - 1, model_take(m, q, 0));
    while (slru_over(m, 0)) model_leave(m, 0, 0);
}

static void slru_hit(cache_model *m, int q, size_t i)
{
    model_entry x = model_take(m, q, i);
    model_put(m, q < 3 ? q + 1 : 3, x);
    slru_settle(m);
}

static void slru_miss(cache_model *m, model_entry x)
{
    if (x.size > m->capacity - 3 * (m->capacity / 4)) return;
    model_put(m, 0, x);
    slru_settle(m);
}

/* ---- SLRU: two segments, four fifths protected ------------------------------------------------- */

static void slru2_hit(cache_model *m, int q, size_t i)
{
    model_put(m, 1, model_take(m, q, i));
    while (5 * model_units(m, 1) > 4 * m->capacity) model_put(m, 0, model_take(m, 1, 0));
}

static void slru2_miss(cache_model *m, model_entry x)
{
    for (; model_lacks(m, x.size); m->left++) model_take(m, m->q[0].n ? 0 : 1, 0);
    model_put(m, 0, x);
}

/* ---- 2Q: VLDB '94, full version ------------------------------------------------------------------ */

enum { A1IN, A1OUT, AM };

static void twoq_hit(cache_model *m, int q, size_t i)
{
    if (q == AM) model_put(m, AM, model_take(m, AM, i));
}

static void twoq_miss(cache_model *m, model_entry x)
{
    bool was_out = model_find(m, A1OUT, x.key) >= 0;
    while (model_lacks(m, x.size)) {
        if (4 * model_units(m, A1IN) > m->capacity || !m->q[AM].n) {
            model_put(m, A1OUT, model_leave(m, A1IN, 0));
            while (2 * model_units(m, A1OUT) > m->capacity) model_take(m, A1OUT, 0);
        } else
            model_leave(m, AM, 0);
    }
    int64_t out = model_find(m, A1OUT, x.key);
    if (out >= 0) model_take(m, A1OUT, (size_t)out);
    model_put(m, was_out ? AM : A1IN, x);
}

/* ---- ARC: FAST '03, Figure 4 --------------------------------------------------------------------- */

enum { T1, T2, B1, B2 };

static void arc_hit(cache_model *m, int q, size_t i) { model_put(m, T2, model_take(m, q, i)); }

static void arc_replace(cache_model *m, bool in_b2)
{
    double t1 = (double)model_units(m, T1), p = round(m->value * 0x1p32) * 0x1p-32; /* so that 4/3 + 4/3 + 4/3 is 4 */
    bool from_t1 = m->q[T1].n && (t1 > p || (in_b2 && t1 == p));
    if (!m->q[T2].n) from_t1 = true;
    model_put(m, from_t1 ? B1 : B2, model_leave(m, from_t1 ? T1 : T2, 0));
}

/* Cases II and III. */
static void arc_ghost(cache_model *m, model_entry x, int q)
{
    double b1 = (double)model_units(m, B1), b2 = (double)model_units(m, B2), c = (double)m->capacity;
    double more = q == B1 ? (b1 >= b2 || b1 == 0 ? 1 : b2 / b1) : (b2 >= b1 || b2 == 0 ? 1 : b1 / b2);
    m->value += (q == B1 ? more : -more) * (double)x.size;
    m->value = m->value > c ? c : m->value < 0 ? 0 : m->value;
    while (model_lacks(m, x.size)) arc_replace(m, q == B2);
    model_take(m, q, (size_t)model_find(m, q, x.key));
}

/* Case IV. */
static void arc_new(cache_model *m, model_entry x)
{
    while (model_units(m, T1) + model_units(m, B1) + x.size > m->capacity) {
        if (m->q[B1].n)
            model_take(m, B1, 0);
        else
            model_leave(m, T1, 0);
    }
    while (model_lacks(m, x.size)) arc_replace(m, false);
}

static void arc_miss(cache_model *m, model_entry x)
{
    int q = model_find(m, B1, x.key) >= 0 ? B1 : model_find(m, B2, x.key) >= 0 ? B2 : T1;
    if (q == T1)
        arc_new(m, x);
    else
        arc_ghost(m, x, q);
    while (model_used(m) + model_units(m, B1) + model_units(m, B2) + x.size > 2 * m->capacity)
        model_take(m, m->q[B2].n ? B2 : B1, 0);
    model_put(m, q == T1 ? T1 : T2, x);
}

/* ---- The table ----------------------------------------------------------------------------------- */

static const model_rule rules[] = {
    { "full:lru", 1, lru_hit, oldest_miss, true },       { "full:fifo", 1, no_hit, oldest_miss, true },
    { "full:clock", 1, mark_hit, clock_miss, true },     { "full:random", 1, no_hit, random_miss, true },
    { "full:lfu", 1, no_hit, lfu_miss, true },           { "full:sieve", 1, mark_hit, sieve_miss, true },
    { "full:s3fifo", 3, s3fifo_hit, s3fifo_miss, true }, { "full:slru", 15, slru_hit, slru_miss, true },
    { "full:2q", 5, twoq_hit, twoq_miss, true },         { "full:arc", 3, arc_hit, arc_miss, true },
    { "full:slru2", 3, slru2_hit, slru2_miss, true },
};
enum { RULES = sizeof rules / sizeof *rules };

const model_rule *model_at(size_t i)
{
    static const model_rule *const others[] = { &model_lfuda,    &model_gdsf, &model_tinylfu, &model_wtinylfu,
                                                &model_lirs,     &model_lruk, &model_lrfu,    &model_hyperbolic,
                                                &model_clockpro, NULL };
    return i < RULES ? &rules[i] : others[i - RULES];
}

void model_open(cache_model *m, const model_rule *rule, uint64_t capacity, bool bytes, uint64_t seed)
{
    for (int q = 0; q < MODEL_QUEUES; q++) m->q[q].n = 0;
    m->rule = rule;
    m->capacity = capacity;
    m->bytes = bytes;
    m->number = m->left = m->groups = m->added = m->target = 0;
    m->value = 0;
    m->hand = -1;
    m->count = NULL;
    m->rng = hd_rng_from(seed);
}

void model_close(cache_model *m) { free(m->count); }

hd_outcome model_run(cache_model *m, uint64_t key, uint64_t size)
{
    m->number++;
    m->left = 0;
    if (m->rule == &model_tinylfu || m->rule == &model_wtinylfu) model_see(m, key);
    for (int q = 0; q < MODEL_QUEUES; q++) {
        int64_t i = m->rule->residents >> q & 1 ? model_find(m, q, key) : -1;
        if (i < 0) continue;
        model_entry *e = &m->q[q].at[i];
        e->times++;
        e->before = e->last;
        e->last = m->number;
        m->rule->hit(m, q, (size_t)i);
        return HD_UPDATED;
    }
    size = m->bytes ? size : 1;
    if (size > m->capacity) return HD_REFUSED;
    m->rule->miss(m, (model_entry){ .key = key, .size = size, .times = 1, .first = m->number, .last = m->number });
    for (int q = 0; q < MODEL_QUEUES; q++)
        if (m->rule->residents >> q & 1 && model_find(m, q, key) >= 0) return m->left ? HD_EVICTED : HD_INSERTED;
    return HD_REFUSED;
}
