/* SPDX-License-Identifier: Apache-2.0
 *
 * curve.c - one pass over requests for caches of many sizes.
 *
 * Each key of the sample is at a time: that of its last request. The units at later times, and its own, are its stack
 * distance. A cache with refusal is no stack: an object that is larger than the cache is not there, and does not push
 * others. So objects are in classes, by the least capacity that holds them, each with sums of its own, and a capacity
 * counts the classes up to its own. Most traces have one class.
 */
#include "tools/curve.h"

#include <math.h>

#include "tools/caches/index.h"
#include "tools/sample.h"

/* Times in a block; the first number of times there is room for. */
enum { BLOCK = 16, FIRST_ROOM = 1 << 12 };

typedef struct curve_node {
    uint64_t key, size; /* units */
    uint32_t time;      /* 0: the node is free */
    uint32_t least;     /* its class: the number of capacities that are too small for it */
} curve_node;

/* Units by time. tree[i] is the sum of the blocks i to i + (i & -i) - 1, from 1: a sum over the times after one takes
 * as many steps as the logarithm of how long ago it is. */
typedef struct curve_sums {
    uint64_t *unit, *tree; /* (room), (room / BLOCK + 2); NULL: there is no object of the class */
    size_t next;           /* the next class that has objects, or the number of capacities */
} curve_sums;

typedef struct curve_kept {
    uint64_t key, size;
} curve_kept;

struct curve {
    curve_config of;
    curve_facts facts;
    sample chosen;
    cache_index index;
    curve_node *node; /* (nodes), of (node_room) */
    uint64_t nodes, node_room, room;
    uint32_t now, spare; /* the last time; a free node, or CACHE_NONE */
    curve_sums *sums;    /* (capacities) by class */
    double *hits;        /* (capacities + 1) differences: the hits of a capacity are the sum up to it */
    double weighed;      /* the requests that the sampled ones stood for */
    uint32_t *heap;      /* (facts.keys), of (node_room): nodes, the greatest hash first; only if `most` */
    curve_kept *kept;    /* (kepts), of (kept_room) */
    uint64_t kepts, kept_room;
};

static uint64_t node_hash(const curve *c, uint32_t at) { return sample_hash(&c->chosen, c->node[at].key); }
static cache_keys keys_of(const curve *c) { return (cache_keys){ c->node, sizeof *c->node }; }
static hd_status refused(const curve *c)
{
    return hd_fail(HD_ENOMEM, "a curve of %" PRIu64 " keys: memory was refused", c->facts.keys);
}

/* The number of the least capacity of at least so many units; of.capacities: none is. */
static size_t first_holding(const curve *c, uint64_t units)
{
    const uint64_t *at = c->of.capacity;
    size_t n = c->of.capacities;
    while (n) {
        size_t half = n / 2;
        bool below = at[half] < units;
        at += below ? half + 1 : 0;
        n = below ? n - half - 1 : half;
    }
    return (size_t)(at - c->of.capacity);
}

/* ---- Sums over times ----------------------------------------------------------------------------- */

static void sums_add(curve_sums *s, uint32_t time, uint64_t units)
{
    s->unit[time] += units;
    for (uint64_t i = time / BLOCK + 1; i; i &= i - 1) s->tree[i] += units;
}

/* Units after the time, up to now. */
static uint64_t sums_after(const curve_sums *s, uint32_t time, uint32_t now)
{
    uint64_t sum = 0, last = now / BLOCK + 1;
    for (uint64_t t = (uint64_t)time + 1; t % BLOCK; t++) sum += s->unit[t];
    for (uint64_t i = time / BLOCK + 2; i <= last; i += i & -i) sum += s->tree[i];
    return sum;
}

static bool sums_open(curve_sums *s, uint64_t room)
{
    s->unit = (uint64_t *)calloc((size_t)room, sizeof *s->unit);
    s->tree = (uint64_t *)calloc((size_t)room / BLOCK + 2, sizeof *s->tree);
    return s->unit && s->tree;
}

static void sums_close(curve_sums *s)
{
    free(s->unit);
    free(s->tree);
    s->unit = s->tree = NULL;
}

/* The keys get the first times, in their order. owner: (room) nodes by time. */
static void times_pack(curve *c, const uint32_t *owner, uint64_t room)
{
    uint32_t last = c->now;
    c->now = 0;
    for (uint64_t t = 1; t <= last && t < room; t++) {
        if (owner[t] == CACHE_NONE) continue;
        curve_node *n = &c->node[owner[t]];
        n->time = ++c->now;
        if (n->least < c->of.capacities) sums_add(&c->sums[n->least], n->time, n->size);
    }
}

/* Makes room for a time more: twice as much if over half of the times have keys. */
static hd_status times_room(curve *c)
{
    if (c->now + 1 < c->room) return HD_OK;
    uint64_t room = c->facts.keys > c->room / 2 ? 2 * c->room : c->room;
    if (room > INT32_MAX) return hd_fail(HD_EINVAL, "a curve of more than 2^29 keys");
    uint32_t *owner = (uint32_t *)malloc((size_t)room * sizeof *owner);
    bool ok = owner != NULL;
    for (size_t k = 0; ok && k < c->of.capacities; k = c->sums[k].next) {
        sums_close(&c->sums[k]);
        ok = sums_open(&c->sums[k], room);
    }
    if (ok) {
        memset(owner, 0xff, (size_t)room * sizeof *owner);
        for (uint64_t i = 0; i < c->nodes; i++)
            if (c->node[i].time) owner[c->node[i].time] = (uint32_t)i;
        times_pack(c, owner, room);
        c->room = room;
    }
    free(owner);
    return ok ? HD_OK : refused(c);
}

static hd_status nodes_room(curve *c)
{
    if (c->spare != CACHE_NONE || c->nodes < c->node_room) return HD_OK;
    uint64_t room = 2 * c->node_room;
    curve_node *node = (curve_node *)realloc(c->node, (size_t)room * sizeof *node);
    if (node) c->node = node;
    uint32_t *heap = node && c->of.most ? (uint32_t *)realloc(c->heap, (size_t)room * sizeof *heap) : NULL;
    if (heap) c->heap = heap;
    if (!node || (c->of.most && !heap)) return refused(c);
    c->node_room = room;
    return HD_OK;
}

/* The class of objects of so many units, which has sums from now on. */
static hd_status least_of(curve *c, uint64_t size, uint32_t *least)
{
    size_t n = c->of.capacities, before = 0, k = first_holding(c, size);
    *least = (uint32_t)k;
    if (k == n || c->sums[k].unit) return HD_OK;
    if (!sums_open(&c->sums[k], c->room)) return refused(c);
    while (c->sums[before].next < k) before = c->sums[before].next;
    c->sums[k].next = c->sums[before].next;
    c->sums[before].next = k;
    return HD_OK;
}

/* ---- The sample ---------------------------------------------------------------------------------- */

static void heap_add(curve *c, uint32_t at)
{
    uint64_t i = c->facts.keys - 1, hash = node_hash(c, at);
    for (uint64_t up; i && node_hash(c, c->heap[up = (i - 1) / 2]) < hash; i = up) c->heap[i] = c->heap[up];
    c->heap[i] = at;
}

/* Takes the node with the greatest hash; facts.keys are those without it. */
static uint32_t heap_take(curve *c)
{
    uint64_t n = c->facts.keys, i = 0;
    uint32_t top = c->heap[0], last = c->heap[n];
    for (uint64_t j; (j = 2 * i + 1) < n; i = j) {
        if (j + 1 < n && node_hash(c, c->heap[j + 1]) > node_hash(c, c->heap[j])) j++;
        if (node_hash(c, c->heap[j]) <= node_hash(c, last)) break;
        c->heap[i] = c->heap[j];
    }
    c->heap[i] = last;
    return top;
}

static void limit_set(curve *c, uint64_t limit)
{
    c->chosen.limit = limit;
    c->facts.rate = sample_rate(&c->chosen);
}

/* The key with the greatest hash leaves the sample, and leaves the spare node. */
static void sample_fall(curve *c)
{
    c->facts.keys--;
    uint32_t at = heap_take(c);
    curve_node *n = &c->node[at];
    limit_set(c, node_hash(c, at) - 1);
    if (n->least < c->of.capacities) sums_add(&c->sums[n->least], n->time, -n->size);
    c->facts.units -= n->size;
    cache_index_erase(&c->index, cache_tag(n->key), at);
    n->time = 0;
    c->spare = at;
}

/* ---- Kept requests --------------------------------------------------------------------------------- */

/* Forgets those of keys that are in the sample no more. */
static void kept_filter(curve *c)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < c->kepts; i++)
        if (sample_has(&c->chosen, c->kept[i].key)) c->kept[n++] = c->kept[i];
    c->kepts = n;
}

static hd_status kept_add(curve *c, const hd_request *r)
{
    if (c->kepts == c->kept_room) kept_filter(c);
    if (2 * c->kepts >= c->kept_room) {
        uint64_t room = c->kept_room ? 2 * c->kept_room : FIRST_ROOM;
        curve_kept *more = (curve_kept *)realloc(c->kept, (size_t)room * sizeof *more);
        if (!more) return refused(c);
        c->kept = more;
        c->kept_room = room;
    }
    c->kept[c->kepts++] = (curve_kept){ r->key, r->size };
    return HD_OK;
}

/* ---- Requests -------------------------------------------------------------------------------------- */

/* The hits of a request for the key, which stands for `weight` requests. */
static void hits_add(curve *c, const curve_node *n, double weight)
{
    uint64_t after = 0;
    for (size_t k = 0; k < c->of.capacities; k = c->sums[k].next) {
        after += sums_after(&c->sums[k], n->time, c->now);
        double scaled = ceil((double)after / c->facts.rate);
        if (scaled > 0x1p62) return;
        size_t end = c->sums[k].next;
        size_t from = first_holding(c, n->size + (c->facts.rate < 1 ? (uint64_t)scaled : after));
        if (from < k) from = k;
        if (from < n->least) from = n->least;
        if (from >= end) continue;
        c->hits[from] += weight;
        c->hits[end] -= weight;
    }
}

/* A node for the key of the request, in the sample from now on. */
static hd_status node_take(curve *c, const hd_request *r, uint32_t *at)
{
    hd_status s = nodes_room(c);
    if (!s) s = cache_index_room(&c->index);
    if (s) return s;
    *at = c->spare != CACHE_NONE ? c->spare : (uint32_t)c->nodes++;
    c->spare = CACHE_NONE;
    c->node[*at] = (curve_node){ .key = r->key, .size = UINT64_MAX };
    cache_index_add(&c->index, cache_tag(r->key), *at);
    c->facts.keys++;
    if (c->of.most) heap_add(c, *at);
    return HD_OK;
}

/* The key has this size from now on, and not what it had before. */
static hd_status node_resize(curve *c, curve_node *n, uint64_t size)
{
    bool fresh = !n->time;
    c->facts.resized += !fresh;
    c->facts.units -= fresh ? 0 : n->size;
    n->size = size;
    if (__builtin_add_overflow(c->facts.units, size, &c->facts.units))
        return hd_fail(HD_EINVAL, "the sizes of all keys are 2^64 bytes or more");
    return least_of(c, size, &n->least);
}

static hd_status sampled_run(curve *c, const hd_request *r, uint32_t tag)
{
    uint64_t size = c->of.bytes ? r->size : 1;
    if (c->of.most && !sample_has(&c->chosen, r->key)) return HD_OK; /* since it was chosen */
    c->facts.sampled++;
    c->weighed += 1 / c->facts.rate;
    hd_status s = times_room(c);
    if (!s && c->of.keeps) s = kept_add(c, r);
    if (s) return s;
    uint32_t at = cache_index_find(&c->index, keys_of(c), tag, r->key);
    if (at != CACHE_NONE) {
        curve_node *n = &c->node[at];
        hits_add(c, n, 1 / c->facts.rate);
        if (n->least < c->of.capacities) sums_add(&c->sums[n->least], n->time, -n->size);
    } else if ((s = node_take(c, r, &at)))
        return s;
    curve_node *n = &c->node[at];
    if (n->size != size && (s = node_resize(c, n, size))) return s;
    n->time = ++c->now;
    if (n->least < c->of.capacities) sums_add(&c->sums[n->least], n->time, size);
    if (c->of.most && c->facts.keys > c->of.most) sample_fall(c);
    return HD_OK;
}

/* How many requests before its turn one's place in the index, its node, and the units at its node's time are fetched.
 * Another key's are no harm. */
enum { SOME = 256, PLACE_AHEAD = 24, NODE_AHEAD = 16, TIME_AHEAD = 8 };

static void node_fetch(const curve *c, uint32_t tag, bool time)
{
    uint32_t at = (uint32_t)c->index.at[cache_home(&c->index, tag)];
    if (at == CACHE_NONE) return;
    if (!time)
        __builtin_prefetch(&c->node[at]);
    else {
        const uint64_t *unit = &c->sums->unit[c->node[at].time / BLOCK * BLOCK];
        __builtin_prefetch(unit, 1);
        __builtin_prefetch(unit + BLOCK / 2, 1);
        __builtin_prefetch(&c->sums->tree[c->node[at].time / BLOCK + 1], 1);
    }
}

/* tag: (n) of the requests, and PLACE_AHEAD more of none. */
static hd_status some_run(curve *c, const hd_request *r, const uint32_t *tag, size_t n)
{
    hd_status s = HD_OK;
    for (size_t i = 0; i < n && !s; i++) {
        __builtin_prefetch(&c->index.at[cache_home(&c->index, tag[i + PLACE_AHEAD])]);
        node_fetch(c, tag[i + NODE_AHEAD], false);
        node_fetch(c, tag[i + TIME_AHEAD], true);
        s = sampled_run(c, &r[i], tag[i]);
    }
    return s;
}

hd_status curve_run(curve *c, const hd_request *r, size_t n)
{
    hd_request some[SOME];
    uint32_t tag[SOME + PLACE_AHEAD] = { 0 };
    hd_status s = HD_OK;
    for (size_t i = 0, chosen; i < n && !s;) {
        for (chosen = 0; i < n && chosen < SOME; i++) {
            if (r[i].key >= HD_KEY_RESERVED) {
                c->facts.reserved++;
                continue;
            }
            c->facts.requests++;
            if (!sample_has(&c->chosen, r[i].key)) continue;
            tag[chosen] = cache_tag(r[i].key);
            some[chosen++] = r[i];
        }
        memset(tag + chosen, 0, PLACE_AHEAD * sizeof *tag);
        s = some_run(c, some, tag, chosen);
    }
    return s;
}

/* ---- Results --------------------------------------------------------------------------------------- */

static double within(const curve *c, double misses)
{
    double most = (double)c->facts.requests;
    return misses < 0 ? 0 : misses > most ? most : misses;
}

double curve_misses(const curve *c, size_t k)
{
    double hits = 0;
    for (size_t i = 0; i <= k; i++) hits += c->hits[i];
    return within(c, c->weighed - hits);
}

curve_facts curve_about(const curve *c) { return c->facts; }

/* The number of each kept request's key's next one, from 1; -1: there is none. The caller frees it. */
static int64_t *kept_next(const curve *c)
{
    int64_t *next = (int64_t *)malloc((size_t)(c->kepts + 1) * sizeof *next);
    uint64_t *last = (uint64_t *)calloc((size_t)c->nodes + 1, sizeof *last);
    for (uint64_t i = 0; next && last && i < c->kepts; i++) {
        uint32_t at = cache_index_find(&c->index, keys_of(c), cache_tag(c->kept[i].key), c->kept[i].key);
        if (last[at]) next[last[at] - 1] = (int64_t)i + 1;
        last[at] = i + 1;
        next[i] = -1;
    }
    if (!last) free(next);
    free(last);
    return last ? next : NULL;
}

hd_status curve_mini(curve *c, const baseline_row *row, size_t k, double *misses)
{
    hd_request r[SOME];
    uint8_t outcome[SOME];
    uint64_t missed = 0, n;
    baseline_config config = { row, sample_units(c->facts.rate, c->of.capacity[k]), c->of.seed, c->of.bytes, false };
    baseline *b = NULL;
    kept_filter(c);
    int64_t *next = row->next ? kept_next(c) : NULL;
    hd_status s = row->next && !next ? refused(c) : baseline_open(&config, &b);
    for (uint64_t i = 0; i < c->kepts && !s; i += n) {
        n = c->kepts - i < SOME ? c->kepts - i : SOME;
        for (uint64_t j = 0; j < n; j++)
            r[j] =
                (hd_request){ .key = c->kept[i + j].key, .size = c->kept[i + j].size, .next = next ? next[i + j] : -1 };
        s = baseline_run(b, r, (size_t)n, outcome);
        for (uint64_t j = 0; j < n; j++) missed += outcome[j] != HD_UPDATED;
    }
    baseline_close(b);
    free(next);
    *misses = within(c, (double)missed / c->facts.rate);
    return s;
}

hd_status curve_open(const curve_config *config, curve **out)
{
    curve *c = (curve *)calloc(1, sizeof *c);
    *out = c;
    if (!c) return hd_fail(HD_ENOMEM, "a curve: memory was refused");
    *c = (curve){
        .of = *config, .chosen = sample_of(config->rate, config->seed), .spare = CACHE_NONE, .room = FIRST_ROOM
    };
    c->facts.rate = sample_rate(&c->chosen);
    c->node_room = FIRST_ROOM;
    c->node = (curve_node *)malloc(FIRST_ROOM * sizeof *c->node);
    c->heap = (uint32_t *)malloc(FIRST_ROOM * sizeof *c->heap);
    c->sums = (curve_sums *)calloc(config->capacities, sizeof *c->sums);
    c->hits = (double *)calloc(config->capacities + 1, sizeof *c->hits);
    hd_status s = c->node && c->heap && c->sums && c->hits && sums_open(c->sums, c->room) ? HD_OK : refused(c);
    if (!s) s = cache_index_room(&c->index);
    if (!s) c->sums->next = config->capacities;
    if (!s) return s;
    curve_close(c);
    *out = NULL;
    return s;
}

void curve_close(curve *c)
{
    if (!c) return;
    for (size_t k = 0; c->sums && k < c->of.capacities; k++) sums_close(&c->sums[k]);
    free(c->index.at);
    free(c->node);
    free(c->heap);
    free(c->sums);
    free(c->hits);
    free(c->kept);
    free(c);
}
