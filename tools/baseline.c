/* SPDX-License-Identifier: Apache-2.0
 *
 * baseline.c - exact caches: a map from keys to nodes, and for each baseline three functions that keep an order of the
 * nodes. full:lru has a list (O(1) per request); full:fifo, full:clock and full:random have the array of nodes as a
 * ring (O(1)); full:lfu and full:belady have a heap (O(log n)). Each size is a run of its own: one pass with a Fenwick
 * tree gives full:lru at all sizes, but takes 200 ns per request where a run takes 30, and runs go side by side.
 */
#include "tools/baseline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "workload/rng.h"

enum { PLACES_FIRST = 1024, NODES_FIRST = 512, BATCH = 4096 };
#define NONE      UINT32_MAX
#define NODE_MOST ((uint64_t)UINT32_MAX - 1)

/* ---- A map from keys to numbers: open addressing, linear probing, at most half full ------------ */

typedef struct place {
    uint64_t key;
    uint32_t number; /* NONE: the place is empty */
} place;

typedef struct map {
    place *at; /* (places), a power of two */
    uint64_t places, used;
} map;

static uint64_t map_home(const map *m, uint64_t key) { return hd_avalanche(key) & (m->places - 1); }

/* The key's place, or the empty one where it belongs. */
static place *map_place(const map *m, uint64_t key)
{
    uint64_t i = map_home(m, key);
    while (m->at[i].number != NONE && m->at[i].key != key) i = (i + 1) & (m->places - 1);
    return &m->at[i];
}

static hd_status map_grow(map *m)
{
    map more = { NULL, m->places ? 2 * m->places : PLACES_FIRST, m->used };
    more.at = (place *)malloc((size_t)more.places * sizeof *more.at);
    if (!more.at) return hd_fail(HD_ENOMEM, "a map of %" PRIu64 " keys: memory was refused", m->used);
    memset(more.at, 0xff, (size_t)more.places * sizeof *more.at);
    for (uint64_t i = 0; i < m->places; i++)
        if (m->at[i].number != NONE) *map_place(&more, m->at[i].key) = m->at[i];
    free(m->at);
    *m = more;
    return HD_OK;
}

/* Room for one key more. Places that were found before are not valid afterwards. */
static hd_status map_room(map *m) { return 2 * m->used < m->places ? HD_OK : map_grow(m); }

static void map_put(map *m, place *p, uint64_t key, uint32_t at)
{
    *p = (place){ key, at };
    m->used++;
}

/* Moves later keys of the run back, so that each is still reached from its home. */
static void map_erase(map *m, uint64_t key)
{
    uint64_t mask = m->places - 1, hole = (uint64_t)(map_place(m, key) - m->at);
    for (uint64_t i = (hole + 1) & mask; m->at[i].number != NONE; i = (i + 1) & mask) {
        uint64_t home = map_home(m, m->at[i].key);
        if (((i - home) & mask) < ((i - hole) & mask)) continue;
        m->at[hole] = m->at[i];
        hole = i;
    }
    m->at[hole].number = NONE;
    m->used--;
}

/* ---- A cache --------------------------------------------------------------------------------- */

typedef struct node {
    uint64_t key;
    union {
        struct {
            uint32_t newer, older;
        } list;              /* full:lru           */
        uint32_t referenced; /* full:clock         */
        uint32_t position;   /* its place in the heap */
    };
} node;

/* The least rank leaves first; among equal ones the least time. */
typedef struct ranked {
    uint64_t rank, time;
    uint32_t at; /* the node */
} ranked;

typedef struct exact {
    baseline_row row;
    void (*enter)(baseline *b, uint32_t at, const hd_request *r);
    hd_status (*hit)(baseline *b, uint32_t at, const hd_request *r);
    /* Of a full cache; NONE: the request is refused. */
    uint32_t (*victim)(baseline *b, const hd_request *r);
    bool heap;
} exact;

struct baseline {
    const exact *kind;
    map keys;
    node *nodes;  /* (used), of (room) */
    ranked *heap; /* (used), of (room); NULL: it needs none */
    uint64_t capacity, room, used;
    uint64_t number;         /* of the present request, from 1 */
    uint64_t ahead;          /* by how much the trace's numbers are larger, once a hit has shown it */
    uint32_t newest, oldest; /* full:lru */
    uint32_t hand;           /* of the ring */
    bool always, ahead_known;
    hd_rng rng;
};

/* ---- The list of full:lru --------------------------------------------------------------------- */

static void list_push(baseline *b, uint32_t at)
{
    node *n = &b->nodes[at];
    n->list.newer = NONE;
    n->list.older = b->newest;
    if (b->newest != NONE) b->nodes[b->newest].list.newer = at;
    b->newest = at;
    if (b->oldest == NONE) b->oldest = at;
}

static void list_take(baseline *b, uint32_t at)
{
    const node *n = &b->nodes[at];
    *(n->list.newer == NONE ? &b->newest : &b->nodes[n->list.newer].list.older) = n->list.older;
    *(n->list.older == NONE ? &b->oldest : &b->nodes[n->list.older].list.newer) = n->list.newer;
}

static void lru_enter(baseline *b, uint32_t at, const hd_request *r)
{
    (void)r;
    list_push(b, at);
}

static hd_status lru_hit(baseline *b, uint32_t at, const hd_request *r)
{
    (void)r;
    if (at == b->newest) return HD_OK;
    list_take(b, at);
    list_push(b, at);
    return HD_OK;
}

static uint32_t lru_victim(baseline *b, const hd_request *r)
{
    (void)r;
    uint32_t at = b->oldest;
    list_take(b, at);
    return at;
}

/* ---- The ring of full:fifo, full:clock and full:random ------------------------------------------- */

static uint32_t ring_turn(baseline *b)
{
    uint32_t at = b->hand;
    b->hand = at + 1 < b->used ? at + 1 : 0;
    return at;
}

static void ring_enter(baseline *b, uint32_t at, const hd_request *r)
{
    (void)r;
    b->nodes[at].referenced = 0;
}

static hd_status ring_hit(baseline *b, uint32_t at, const hd_request *r)
{
    (void)r;
    b->nodes[at].referenced = 1;
    return HD_OK;
}

static uint32_t fifo_victim(baseline *b, const hd_request *r)
{
    (void)r;
    return ring_turn(b);
}

static uint32_t clock_victim(baseline *b, const hd_request *r)
{
    (void)r;
    uint32_t at = ring_turn(b);
    while (b->nodes[at].referenced) {
        b->nodes[at].referenced = 0;
        at = ring_turn(b);
    }
    return at;
}

static uint32_t random_victim(baseline *b, const hd_request *r)
{
    (void)r;
    return (uint32_t)hd_rng_below(&b->rng, b->used);
}

/* ---- The heap of full:lfu and full:belady --------------------------------------------------------- */

static bool before(ranked x, ranked y) { return x.rank != y.rank ? x.rank < y.rank : x.time < y.time; }

static void heap_put(baseline *b, uint64_t position, ranked x)
{
    b->heap[position] = x;
    b->nodes[x.at].position = (uint32_t)position;
}

/* Gives the node another rank, and moves it to where it belongs. */
static void heap_rank(baseline *b, uint32_t at, uint64_t rank)
{
    ranked x = { rank, b->number, at };
    uint64_t p = b->nodes[at].position;
    for (; p && before(x, b->heap[(p - 1) / 2]); p = (p - 1) / 2) heap_put(b, p, b->heap[(p - 1) / 2]);
    for (uint64_t least; (least = 2 * p + 1) < b->used; p = least) {
        if (least + 1 < b->used && before(b->heap[least + 1], b->heap[least])) least++;
        if (!before(b->heap[least], x)) break;
        heap_put(b, p, b->heap[least]);
    }
    heap_put(b, p, x);
}

static void lfu_enter(baseline *b, uint32_t at, const hd_request *r)
{
    (void)r;
    heap_rank(b, at, 1);
}

static hd_status lfu_hit(baseline *b, uint32_t at, const hd_request *r)
{
    (void)r;
    heap_rank(b, at, b->heap[b->nodes[at].position].rank + 1);
    return HD_OK;
}

static uint32_t lfu_victim(baseline *b, const hd_request *r)
{
    (void)r;
    return b->heap[0].at;
}

/* The farther the next access, the less; 0 without one. */
static uint64_t nearness(const hd_request *r) { return r->next < 0 ? 0 : UINT64_MAX - (uint64_t)r->next; }

static void belady_enter(baseline *b, uint32_t at, const hd_request *r) { heap_rank(b, at, nearness(r)); }

/* A trace that was cut from a longer one has larger numbers, all by the same. */
static hd_status belady_hit(baseline *b, uint32_t at, const hd_request *r)
{
    uint64_t rank = b->heap[b->nodes[at].position].rank, said = UINT64_MAX - rank;
    if (rank && !b->ahead_known) {
        b->ahead = said - b->number;
        b->ahead_known = true;
    }
    if (!rank || said - b->ahead != b->number)
        return hd_fail(HD_ECORRUPT, "request %" PRIu64 ": its key should come %s by the trace's next accesses",
                       b->number, rank ? "at another request" : "no more");
    heap_rank(b, at, nearness(r));
    return HD_OK;
}

static uint32_t belady_victim(baseline *b, const hd_request *r)
{
    return b->always || nearness(r) >= b->heap[0].rank ? b->heap[0].at : NONE;
}

/* ---- The table of baselines -------------------------------------------------------------------- */

/* clang-format off */
static const exact kinds[] = {
    { { "full:lru", "exact, all entries in one set: the least recently used leaves", false, false },
      lru_enter, lru_hit, lru_victim, false },
    { { "full:lfu", "the least frequently used leaves, of equal ones the least recently used", false, false },
      lfu_enter, lfu_hit, lfu_victim, true },
    { { "full:fifo", "the entry that was inserted first leaves", false, false },
      ring_enter, ring_hit, fifo_victim, false },
    { { "full:clock", "fifo, but an entry that was hit stays for one more round", false, false },
      ring_enter, ring_hit, clock_victim, false },
    { { "full:random", "a random entry leaves", false, true },
      ring_enter, ring_hit, random_victim, false },
    { { "full:belady", "the key whose next access is farthest leaves, or is refused: the least misses", true, false },
      belady_enter, belady_hit, belady_victim, true },
};
/* clang-format on */
enum { KINDS = sizeof kinds / sizeof *kinds };

const baseline_row *baseline_at(size_t i) { return i < KINDS ? &kinds[i].row : NULL; }

const baseline_row *baseline_named(const char *name)
{
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].row.name, name) == 0) return &kinds[i].row;
    return NULL;
}

/* ---- Running ----------------------------------------------------------------------------------- */

hd_status baseline_open(const baseline_config *config, baseline **cache)
{
    const exact *kind = kinds;
    while (&kind->row != config->row) kind++;
    baseline *b = (baseline *)calloc(1, sizeof *b);
    if (!b) return hd_fail(HD_ENOMEM, "%s: memory was refused", config->row->name);
    b->kind = kind;
    b->capacity = config->capacity < NODE_MOST ? config->capacity : NODE_MOST;
    b->always = config->always;
    b->newest = b->oldest = NONE;
    b->rng = hd_rng_from(config->seed);
    *cache = b;
    return HD_OK;
}

void baseline_close(baseline *b)
{
    if (!b) return;
    free(b->keys.at);
    free(b->nodes);
    free(b->heap);
    free(b);
}

/* Room for one node more. */
static hd_status node_room(baseline *b)
{
    if (b->used < b->room) return HD_OK;
    uint64_t room = b->room ? 2 * b->room : NODES_FIRST;
    if (room > b->capacity) room = b->capacity;
    node *n = (node *)realloc(b->nodes, (size_t)room * sizeof *n);
    if (n) b->nodes = n;
    ranked *heap = n && b->kind->heap ? (ranked *)realloc(b->heap, (size_t)room * sizeof *heap) : NULL;
    if (heap) b->heap = heap;
    if (!n || (b->kind->heap && !heap))
        return hd_fail(HD_ENOMEM, "%s: %" PRIu64 " entries: memory was refused", b->kind->row.name, b->used);
    b->room = room;
    return HD_OK;
}

/* A node for a new key: one more, or that of the victim. NONE: the request is refused. */
static hd_status node_take(baseline *b, const hd_request *r, uint32_t *at, uint8_t *outcome)
{
    if (b->used == b->capacity) {
        *at = b->kind->victim(b, r);
        *outcome = *at == NONE ? HD_REFUSED : HD_EVICTED;
        if (*at != NONE) map_erase(&b->keys, b->nodes[*at].key);
        return HD_OK;
    }
    hd_status s = node_room(b);
    if (s) return s;
    *at = (uint32_t)b->used;
    if (b->kind->heap) b->nodes[*at].position = *at;
    b->used++;
    *outcome = HD_INSERTED;
    return HD_OK;
}

static hd_status request_run(baseline *b, const hd_request *r, uint8_t *outcome)
{
    uint32_t at = NONE;
    b->number++;
    *outcome = HD_RESERVED;
    if (r->key >= HD_KEY_RESERVED) return HD_OK;
    hd_status s = map_room(&b->keys);
    if (s) return s;
    const place *found = map_place(&b->keys, r->key);
    *outcome = HD_UPDATED;
    if (found->number != NONE) return b->kind->hit(b, found->number, r);
    s = node_take(b, r, &at, outcome);
    if (s || at == NONE) return s;
    b->nodes[at].key = r->key;
    b->kind->enter(b, at, r);
    map_put(&b->keys, map_place(&b->keys, r->key), r->key, at);
    return HD_OK;
}

hd_status baseline_run(baseline *b, const hd_request *r, size_t n, uint8_t *outcome)
{
    hd_status s = HD_OK;
    for (size_t i = 0; i < n && !s; i++) s = request_run(b, &r[i], &outcome[i]);
    return s;
}

/* ---- Next accesses ------------------------------------------------------------------------------- */

/* What is known while a trace is walked: by position, the next access; by key, the last access. */
typedef struct walk {
    map last;
    uint32_t *next; /* (read), of (room) */
    uint64_t read, room;
} walk;

static hd_status walk_room(walk *w, size_t n)
{
    if (w->read + n <= w->room) return HD_OK;
    if (w->read + n > NODE_MOST) return hd_fail(HD_EINVAL, "next accesses of more than 2^32 - 2 requests");
    uint64_t room = w->room ? 2 * w->room : 16 * BATCH;
    uint32_t *next = (uint32_t *)realloc(w->next, (size_t)room * sizeof *next);
    if (!next) return hd_fail(HD_ENOMEM, "next accesses of %" PRIu64 " requests: memory was refused", w->read);
    w->next = next;
    w->room = room;
    return HD_OK;
}

static hd_status walk_requests(walk *w, const hd_request *r, size_t n)
{
    hd_status s = walk_room(w, n);
    for (size_t i = 0; i < n && !s; i++, w->read++) {
        s = map_room(&w->last);
        if (s) break;
        w->next[w->read] = 0;
        place *p = map_place(&w->last, r[i].key);
        if (p->number == NONE)
            map_put(&w->last, p, r[i].key, (uint32_t)w->read);
        else {
            w->next[p->number] = (uint32_t)w->read + 1;
            p->number = (uint32_t)w->read;
        }
    }
    return s;
}

hd_status baseline_next(const hd_source_args *a, uint64_t limit, bool (*stops)(void), uint32_t **next, uint64_t *n)
{
    hd_request *request = (hd_request *)calloc(BATCH, sizeof *request);
    hd_source *source = NULL;
    walk w = { .read = 0 };
    hd_status s = request ? hd_source_open(a, &source) : hd_fail(HD_ENOMEM, "batch: memory was refused");
    for (bool end = false; !s && !end;) {
        size_t want = limit && limit - w.read < BATCH ? (size_t)(limit - w.read) : BATCH, got = 0;
        s = hd_source_next(source, request, want, &got);
        if (!s) s = walk_requests(&w, request, got);
        if (!s && stops()) s = hd_fail(HD_EIO, "interrupted");
        end = got < want || w.read == limit;
    }
    hd_source_close(source);
    free(request);
    free(w.last.at);
    if (s) free(w.next);
    *next = s ? NULL : w.next;
    *n = w.read;
    return s;
}
