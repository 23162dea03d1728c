/* SPDX-License-Identifier: Apache-2.0
 *
 * model_queues.c - the model of policies with queues and ghosts (doc/contract-hkv.md, "Policies with queues"). A
 * ghost is a key in an array, the oldest first; a target is a number with a fraction. It shares no line with ref/ or
 * policies/.
 */
#include "tests/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UPPER  9223372036854775808u
#define MIDDLE 4611686018427387904u

typedef struct model_ghost {
    uint64_t key;
    int list; /* 1 or 2 */
} model_ghost;

typedef struct model_past {
    model_ghost *ghost; /* (slots), the oldest first */
    uint32_t ghosts;
    double target; /* of ARC */
} model_past;

/* A bucket that an absent key may come to. */
typedef struct taking {
    uint64_t b;
    bool full;
    uint32_t upper, middle, of_list[3];
    int ghost;         /* the list in which the key is; 0: none */
    model_past *there; /* where, and which */
    uint32_t which;
    double target;
} taking;

static bool is(const model *m, const char *name) { return !strcmp(m->policy, name); }

bool model_has_queues(const model *m)
{
    return is(m, "slru") || is(m, "twoq") || is(m, "s3fifo") || is(m, "arc") || model_has_counts(m);
}

void model_queues_open(model *m)
{
    if (!model_has_queues(m)) return;
    m->past = (model_past *)test_alloc(m->buckets, sizeof *m->past);
    for (uint64_t b = 0; b < m->buckets; b++)
        m->past[b] = (model_past){ (model_ghost *)test_alloc(m->slots, sizeof(model_ghost)), 0, 0 };
}

void model_queues_close(model *m)
{
    for (uint64_t b = 0; m->past && b < m->buckets; b++) free(m->past[b].ghost);
    free(m->past);
}

/* ---- Scores ---------------------------------------------------------------------------------- */

static uint64_t at_most(uint64_t x, uint64_t most) { return x < most ? x : most; }
static uint64_t above(uint64_t tick) { return tick > UINT64_MAX - UPPER ? UINT64_MAX : tick + UPPER; }
static uint64_t hits_of(uint64_t score) { return score % 4; }

static uint64_t place(const model *m) { return at_most(m->now, 562949953421311u) * 16384 + 4 * (uint64_t)m->spared; }

/* Of a segment of wtinylfu. */
static uint64_t in_segment(const model *m, uint64_t first, uint32_t spared)
{
    return first + at_most(m->now, 562949953421311u) * 8192 + spared;
}

uint64_t model_queues_on_insert(const model *m)
{
    if (is(m, "wtinylfu")) return in_segment(m, UPPER, m->spared);
    if (is(m, "tinylfu")) return at_most(m->now, UPPER - 2) + 1;
    if (is(m, "slru")) return at_most(m->now, 1125899906842623u) * 8192 + m->spared;
    if (is(m, "s3fifo")) return place(m) + (m->ghost == 1 ? UPPER : 0);
    return m->ghost ? above(m->now) : at_most(m->now, UPPER - 1);
}

uint64_t model_queues_on_hit(const model *m, uint64_t old, uint64_t given)
{
    if (is(m, "s3fifo")) return old + at_most(given, 3 - hits_of(old));
    if (is(m, "wtinylfu")) return in_segment(m, old < UPPER ? MIDDLE : UPPER, 8191);
    if (is(m, "tinylfu")) return at_most(m->now, UPPER - 2) + 1;
    if (!is(m, "twoq")) return above(m->now);
    return old < UPPER || old > above(m->now) ? old : above(m->now);
}

/* ---- What leaves ----------------------------------------------------------------------------- */

static void see_ghosts(model *m, const uint64_t b[2], unsigned n, uint64_t key, taking *t)
{
    for (unsigned k = 0; k < n && !t->ghost; k++)
        for (uint32_t i = 0; i < m->past[b[k]].ghosts && !t->ghost; i++)
            if (m->past[b[k]].ghost[i].key == key) {
                t->ghost = m->past[b[k]].ghost[i].list;
                t->there = &m->past[b[k]];
                t->which = i;
            }
    for (uint32_t i = 0; i < m->past[t->b].ghosts; i++) t->of_list[m->past[t->b].ghost[i].list]++;
}

static taking take(model *m, uint64_t to, bool full, const uint64_t b[2], unsigned n, uint64_t key)
{
    taking t = { .b = to, .full = full };
    for (uint32_t s = 0; s < m->used[to]; s++) {
        uint64_t score = m->score[to * m->slots + s];
        t.upper += score >= UPPER;
        t.middle += score >= MIDDLE && score < UPPER;
    }
    see_ghosts(m, b, n, key, &t);
    double own = t.of_list[t.ghost], other = t.of_list[3 - t.ghost - (t.ghost == 0)];
    double step = other > own ? other / (own > 0 ? own : 1) : 1;
    t.target = m->past[to].target + (t.ghost == 1 ? step : t.ghost == 2 ? -step : 0);
    t.target = t.target < 0 ? 0 : t.target > m->slots ? m->slots : t.target;
    return t;
}

/* wtinylfu: the entries of the window, and how many are protected that should not be. */
static uint32_t window(const model *m) { return m->slots < 200 ? 1 : m->slots / 100; }
static uint32_t demoted(const model *m, const taking *t)
{
    uint32_t most = 4 * (m->slots - window(m)) / 5;
    return t->middle > most ? t->middle - most : 0;
}
static bool window_is_next(const model *m, const taking *t)
{
    return m->spared == demoted(m, t) && t->upper >= window(m);
}

static bool from_upper(const model *m, const taking *t)
{
    if (is(m, "tinylfu")) return false;
    if (is(m, "wtinylfu")) return window_is_next(m, t);
    uint32_t lower = m->slots - t->upper;
    double p = round(t->target * 0x1p32) * 0x1p-32;
    if (is(m, "slru")) return 5 * (t->upper - at_most(m->spared, t->upper)) > 4 * (uint64_t)m->slots;
    if (is(m, "twoq")) return 4 * lower <= m->slots - m->slots % 4;
    if (is(m, "s3fifo")) return 10 * lower < m->slots;
    return !(lower > p || (t->ghost == 2 && lower == p));
}

/* The place of the lowest score from `from` to `to`. */
static int64_t lowest(const model *m, uint64_t b, uint64_t from, uint64_t to)
{
    int64_t found = MODEL_NONE;
    for (uint64_t p = b * m->slots; p < b * m->slots + m->used[b]; p++)
        if (m->score[p] >= from && m->score[p] <= to && (found == MODEL_NONE || m->score[p] < m->score[found]))
            found = (int64_t)p;
    return found;
}

/* The place of the entry that leaves first; MODEL_NONE: the bucket is empty. */
static int64_t first(const model *m, const taking *t)
{
    bool wanted = from_upper(m, t);
    int64_t found = MODEL_NONE;
    if (is(m, "wtinylfu") && m->spared < demoted(m, t)) return lowest(m, t->b, MIDDLE, UPPER - 1);
    for (int turn = 0; turn < 2 && found == MODEL_NONE; turn++, wanted = !wanted)
        found = lowest(m, t->b, wanted ? UPPER : 0, wanted ? UINT64_MAX : UPPER - 1);
    return found;
}

/* The score with which the entry stays; its own: it leaves. */
static uint64_t moved(const model *m, const taking *t, int64_t p)
{
    uint64_t old = m->score[p];
    if (is(m, "wtinylfu")) {
        int64_t rival = lowest(m, t->b, 0, UPPER - 1);
        bool wins = rival == MODEL_NONE || model_count_of(m, t->b, m->key[p]) > model_count_of(m, t->b, m->key[rival]),
             enters = old >= UPPER && window_is_next(m, t) && (!t->full || wins);
        return enters || m->spared < demoted(m, t) ? in_segment(m, 0, m->spared) : old;
    }
    if (is(m, "slru")) return from_upper(m, t) ? model_queues_on_insert(m) : old;
    if (!is(m, "s3fifo") || !t->full || hits_of(old) < (old >= UPPER ? 1 : 2)) return old;
    return UPPER + place(m) + (old >= UPPER ? hits_of(old) - 1 : 0);
}

/* Moves what the policy moves. Which of the n buckets takes the key; *leaves: the place of the entry that leaves. */
static unsigned move(model *m, const taking *t, unsigned n, int64_t *leaves)
{
    for (m->spared = 0;; m->spared++) {
        int64_t p[2] = { first(m, &t[0]), n == 2 ? first(m, &t[1]) : MODEL_NONE };
        unsigned k = n == 2 && m->score[p[1]] % UPPER < m->score[p[0]] % UPPER;
        *leaves = p[k];
        if (p[k] == MODEL_NONE || m->spared >= at_most((m->dual ? 8u : 4u) * (uint64_t)m->slots, 4095)) return k;
        uint64_t score = moved(m, &t[k], p[k]);
        if (score == m->score[p[k]]) return k;
        m->score[p[k]] = score;
    }
}

/* ---- Ghosts ---------------------------------------------------------------------------------- */

static void drop(model_past *past, uint32_t i)
{
    past->ghosts--;
    memmove(past->ghost + i, past->ghost + i + 1, (past->ghosts - i) * sizeof *past->ghost);
}

/* The list that the key of an entry joins; 0: none. */
static int joins(const model *m, const taking *t, uint64_t score)
{
    if (is(m, "slru") || model_has_counts(m) || (is(m, "arc") && !t->upper && !t->ghost)) return 0;
    return is(m, "arc") ? 1 + (score >= UPPER) : score < UPPER;
}

/* The list whose oldest is forgotten for it. */
static int forgets(const model *m, const taking *t)
{
    if (is(m, "twoq")) return 2 * (t->of_list[1] + 1) > m->slots;
    if (is(m, "s3fifo")) return 10 * (t->of_list[1] + 1) > 9 * m->slots;
    if (t->ghost) return 0;
    return t->of_list[1] >= t->upper ? 1 : t->of_list[1] + t->of_list[2] >= m->slots ? 2 : 0;
}

/* Before the score of the key is known: what is forgotten for the one that leaves. */
static int make_ghost_room(model *m, taking *t, uint64_t score)
{
    int list = joins(m, t, score), from = list ? forgets(m, t) : 0;
    model_past *past = &m->past[t->b];
    uint32_t i = 0;
    while (from && i < past->ghosts && past->ghost[i].list != from) i++;
    m->ghost = t->ghost;
    if (!from || i == past->ghosts) return list;
    if (t->there == past && t->which == i) {
        m->ghost += 4;
        t->there = NULL;
    }
    if (t->there == past && t->which > i) t->which--;
    drop(past, i);
    return list;
}

static void settle(model *m, taking *t, int list, uint64_t gone)
{
    model_past *past = &m->past[t->b];
    past->target = t->target;
    if (t->there) drop(t->there, t->which);
    if (!list) return;
    if (past->ghosts == m->slots) drop(past, 0);
    past->ghost[past->ghosts++] = (model_ghost){ gone, list };
}

int64_t model_queues_take(model *m, const uint64_t b[2], unsigned n, uint64_t to, uint64_t key)
{
    bool full = m->used[to] == m->slots;
    taking t[2] = { take(m, full ? b[0] : to, full, b, n, key), { 0 } };
    if (full && n == 2) t[1] = take(m, b[1], true, b, n, key);
    int64_t leaves;
    taking *by = &t[move(m, t, full ? n : 1, &leaves)];
    int list = 0;
    m->ghost = by->ghost;
    if (full) list = make_ghost_room(m, by, m->score[leaves]);
    settle(m, by, list, full ? m->key[leaves] : 0);
    return full ? leaves : MODEL_NONE;
}
