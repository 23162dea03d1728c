/* SPDX-License-Identifier: Apache-2.0
 *
 * lane.h - exact caches by the thousand, for a device and for this machine: a lane is one cache, and goes over the
 * requests of a trace whose keys are numbers. The policies are those of tools/caches/, which have the papers; what
 * follows says how a lane keeps their state.
 *
 * Neighbouring lanes read the same request at the same time. So what a lane knows of a key is a byte in the row of that
 * key, next to those of its neighbours: a hit reads one sector for 32 lanes. No lane needs an index. The rings of a
 * lane's queues are its own. A key that leaves a queue in its midst stays there, and its byte counts such stale places.
 * Where hits move keys between lists, the links of a key lie as its byte does.
 *
 * LRU has no state but a place in the trace: a key is resident if its last request is at or behind that place. Which
 * requests are the last of their keys is the same for all lanes.
 */
#ifndef HD_LANE_H
#define HD_LANE_H

#include "simt/fn.h"

#define LANE_NONE UINT32_MAX

/* Threads of a block, and blocks that a processor runs at a time. */
enum { LANES_THREADS = 128, LANES_BLOCKS = 8 };

typedef enum lane_policy {
    LANE_BLANK,
    LANE_LRU,
    LANE_FIFO,
    LANE_CLOCK,
    LANE_SIEVE,
    LANE_S3FIFO,
    LANE_SLRU, /* this one and those behind it have lists of keys */
    LANE_2Q,
    LANE_ARC,
    LANE_POLICIES
} lane_policy;

/* A queue in a ring of words. */
typedef struct lane_queue {
    uint32_t first, entries;
} lane_queue;

typedef struct lane {
    uint64_t words, column, link; /* where its queues begin; its byte and its links in the rows of keys */
    uint64_t missed_bytes;
    uint32_t policy, capacity;
    uint32_t misses, evicted; /* of counted requests */
    uint32_t entries;
    uint32_t hand;                 /* LRU: a request; FIFO, CLOCK, SIEVE: a place of the ring */
    uint32_t used;                 /* SIEVE: places of the ring, with those of entries that left */
    lane_queue small, main, ghost; /* S3-FIFO; the ghosts' with what is stale */
    uint32_t ghosts;
    double target; /* ARC: of T1 */
} lane;

/* All lanes and the requests [from, to) of a trace. */
typedef struct lanes_args {
    lane *each;                   /* (lanes) */
    uint8_t *state;               /* (keys, columns) */
    uint32_t *word;               /* all queues */
    uint32_t *link;               /* (keys, links, 2): the next newer key of the list and the next older one */
    const uint32_t *id;           /* (requests): the key */
    const uint32_t *since, *next; /* (requests): the key's request before, from 1, or 0; its next one, or LANE_NONE */
    const uint64_t *size;         /* (requests), or NULL: the trace has none */
    uint64_t lanes, columns, links;
    uint32_t requests, from, to;
    uint32_t counted; /* the first that counts */
    uint32_t width;   /* lanes of a warp that work: a power of two */
} lanes_args;

HD_FN uint8_t *lane_state(const lanes_args *a, const lane *c, uint32_t id)
{
    return &a->state[id * a->columns + c->column];
}

HD_FN void lane_fetch(const void *p)
{
#ifdef __CUDA_ARCH__
    asm volatile("prefetch.global.L2 [%0];" : : "l"(p));
#else
    __builtin_prefetch(p);
#endif
}

/* ---- LRU, FIFO, CLOCK -------------------------------------------------------------------------------- */

/* Each access returns whether it was a hit. */
HD_FN bool lane_lru(const lanes_args *a, lane *c, uint32_t i)
{
    if (a->since[i] > c->hand) return true;
    if (c->entries < c->capacity) {
        c->entries++;
        return false;
    }
    while (a->next[c->hand] < i) c->hand++; /* not the last request of its key */
    c->hand++;
    return false;
}

HD_FN uint32_t ring_after(uint32_t place, uint32_t room) { return place + 1 == room ? 0 : place + 1; }

enum { LANE_IN = 1, LANE_HIT = 2 };

HD_FN bool lane_fifo(const lanes_args *a, lane *c, uint32_t i)
{
    uint32_t id = a->id[i], *ring = a->word + c->words;
    uint8_t *state = lane_state(a, c, id);
    if (*state) return true;
    if (c->entries < c->capacity)
        c->entries++;
    else
        *lane_state(a, c, ring[c->hand]) = 0;
    ring[c->hand] = id;
    c->hand = ring_after(c->hand, c->capacity);
    *state = LANE_IN;
    return false;
}

/* The states of keys that the hand comes to next are likely to be needed at the next miss. */
HD_FN void hand_fetch(const lanes_args *a, const lane *c, uint32_t end)
{
    enum { AHEAD = 3 };
    const uint32_t *ring = a->word + c->words;
    for (uint32_t k = c->hand; k < end && k - c->hand < AHEAD; k++)
        if (ring[k] != LANE_NONE) lane_fetch(lane_state(a, c, ring[k]));
}

HD_FN bool lane_clock(const lanes_args *a, lane *c, uint32_t i)
{
    uint32_t id = a->id[i], *ring = a->word + c->words;
    uint8_t *state = lane_state(a, c, id), *oldest;
    if (*state) {
        if (*state == LANE_IN) *state = LANE_IN | LANE_HIT;
        return true;
    }
    if (c->entries < c->capacity)
        c->entries++;
    else {
        while (*(oldest = lane_state(a, c, ring[c->hand])) != LANE_IN) {
            *oldest = LANE_IN;
            c->hand = ring_after(c->hand, c->capacity);
        }
        *oldest = 0;
    }
    ring[c->hand] = id;
    c->hand = ring_after(c->hand, c->capacity);
    *state = LANE_IN;
    if (c->entries == c->capacity) hand_fetch(a, c, c->capacity);
    return false;
}

/* ---- SIEVE --------------------------------------------------------------------------------------------- */

/* The ring is no ring: it begins with the oldest entry, and the last of its `used` places has the newest. Those of
 * entries that left are LANE_NONE until it is packed. When one leaves, the last place has an entry, for a new one
 * follows each that left. */
HD_FN uint32_t sieve_room(const lane *c) { return 2 * c->capacity; }

HD_FN void sieve_pack(lane *c, uint32_t *ring)
{
    uint32_t n = 0, hand = 0;
    for (uint32_t k = 0; k < c->used; k++) {
        if (k == c->hand) hand = n;
        if (ring[k] != LANE_NONE) ring[n++] = ring[k];
    }
    c->hand = hand;
    c->used = n;
}

/* The entry at or after the hand that was not hit leaves. */
HD_FN void sieve_evict(const lanes_args *a, lane *c, uint32_t *ring)
{
    uint8_t *state;
    for (;; c->hand = ring_after(c->hand, c->used)) {
        if (ring[c->hand] == LANE_NONE) continue;
        state = lane_state(a, c, ring[c->hand]);
        if (*state == LANE_IN) break;
        *state = LANE_IN;
    }
    *state = 0;
    ring[c->hand] = LANE_NONE;
    c->hand = ring_after(c->hand, c->used);
}

HD_FN bool lane_sieve(const lanes_args *a, lane *c, uint32_t i)
{
    uint32_t id = a->id[i], *ring = a->word + c->words;
    uint8_t *state = lane_state(a, c, id);
    if (*state) {
        if (*state == LANE_IN) *state = LANE_IN | LANE_HIT;
        return true;
    }
    if (c->entries < c->capacity)
        c->entries++;
    else
        sieve_evict(a, c, ring);
    if (c->used == sieve_room(c)) sieve_pack(c, ring);
    ring[c->used++] = id;
    *state = LANE_IN;
    if (c->entries == c->capacity) hand_fetch(a, c, c->used);
    return false;
}

/* ---- S3-FIFO ------------------------------------------------------------------------------------------- */

/* The byte of a key: in which queue it is, its hits, and how many places of the ghosts' ring are stale, for it was
 * there. These are older than the one where it is, if it is a ghost. */
enum { S3_SMALL = 1, S3_MAIN, S3_GHOST, S3_QUEUE = 3, S3_ONE_HIT = 4, S3_HITS = 12, S3_ONE_STALE = 16, S3_STALE = 240 };

HD_FN uint32_t s3_small_most(const lane *c) { return c->capacity / 10 + (c->capacity % 10 != 0); }
HD_FN uint32_t s3_main_most(const lane *c) { return c->capacity - s3_small_most(c); }
/* Room for as many stale ghosts as others. */
HD_FN uint32_t s3_ghost_room(const lane *c) { return 2 * s3_main_most(c) + 2; }

HD_FN uint32_t *s3_ring(const lanes_args *a, const lane *c, uint32_t queue)
{
    return a->word + c->words + (uint64_t)(queue - S3_SMALL) * c->capacity;
}

HD_FN void queue_push(lane_queue *q, uint32_t *ring, uint32_t room, uint32_t id)
{
    uint64_t place = (uint64_t)q->first + q->entries++;
    ring[place < room ? place : place - room] = id;
}

HD_FN uint32_t queue_pull(lane_queue *q, const uint32_t *ring, uint32_t room)
{
    uint32_t id = ring[q->first];
    q->first = ring_after(q->first, room);
    q->entries--;
    return id;
}

/* Takes the oldest place of the ghosts' ring. LANE_NONE: it was stale. */
HD_FN uint32_t s3_ghost_oldest(const lanes_args *a, lane *c)
{
    uint32_t id = queue_pull(&c->ghost, s3_ring(a, c, S3_GHOST), s3_ghost_room(c));
    uint8_t *state = lane_state(a, c, id);
    if (!(*state & S3_STALE)) return id;
    *state = (uint8_t)(*state - S3_ONE_STALE);
    return LANE_NONE;
}

/* Leaves out what is stale in the ghosts' ring. */
HD_FN void s3_ghosts_pack(const lanes_args *a, lane *c)
{
    for (uint32_t n = c->ghost.entries; n > 0; n--) {
        uint32_t id = s3_ghost_oldest(a, c);
        if (id != LANE_NONE) queue_push(&c->ghost, s3_ring(a, c, S3_GHOST), s3_ghost_room(c), id);
    }
}

HD_FN void s3_ghost_add(const lanes_args *a, lane *c, uint32_t id, uint8_t *state)
{
    if (c->ghost.entries == s3_ghost_room(c)) s3_ghosts_pack(a, c);
    queue_push(&c->ghost, s3_ring(a, c, S3_GHOST), s3_ghost_room(c), id);
    *state = (uint8_t)((*state & S3_STALE) | S3_GHOST);
    c->ghosts++;
    while (c->ghosts > s3_main_most(c)) {
        uint32_t oldest = s3_ghost_oldest(a, c);
        if (oldest == LANE_NONE) continue;
        *lane_state(a, c, oldest) = 0;
        c->ghosts--;
    }
}

HD_FN void s3_main_evict(const lanes_args *a, lane *c)
{
    uint32_t *ring = s3_ring(a, c, S3_MAIN), id;
    uint8_t *state;
    while (*(state = lane_state(a, c, id = queue_pull(&c->main, ring, c->capacity))) & S3_HITS) {
        *state = (uint8_t)(*state - S3_ONE_HIT);
        queue_push(&c->main, ring, c->capacity, id);
    }
    *state = (uint8_t)(*state & S3_STALE);
    c->entries--;
}

HD_FN void s3_small_evict(const lanes_args *a, lane *c)
{
    while (c->small.entries) {
        uint32_t id = queue_pull(&c->small, s3_ring(a, c, S3_SMALL), c->capacity);
        uint8_t *state = lane_state(a, c, id);
        if ((*state & S3_HITS) <= S3_ONE_HIT) {
            c->entries--;
            s3_ghost_add(a, c, id, state);
            return;
        }
        *state = (uint8_t)((*state & S3_STALE) | S3_MAIN);
        queue_push(&c->main, s3_ring(a, c, S3_MAIN), c->capacity, id);
    }
}

/* The key is a ghost no more, and its place is stale. */
HD_FN void s3_ghost_take(const lanes_args *a, lane *c, uint8_t *state)
{
    if ((*state & S3_STALE) == S3_STALE) s3_ghosts_pack(a, c);
    *state = (uint8_t)(*state + S3_ONE_STALE);
    c->ghosts--;
}

/* As hand_fetch: the oldest of each queue. */
HD_FN void s3_fetch(const lanes_args *a, const lane *c)
{
    if (c->small.entries) lane_fetch(lane_state(a, c, s3_ring(a, c, S3_SMALL)[c->small.first]));
    if (c->main.entries) lane_fetch(lane_state(a, c, s3_ring(a, c, S3_MAIN)[c->main.first]));
    if (c->ghost.entries) lane_fetch(lane_state(a, c, s3_ring(a, c, S3_GHOST)[c->ghost.first]));
}

HD_FN bool lane_s3fifo(const lanes_args *a, lane *c, uint32_t i)
{
    uint32_t id = a->id[i];
    uint8_t *state = lane_state(a, c, id);
    uint32_t queue = *state & S3_QUEUE;
    if (queue == S3_SMALL || queue == S3_MAIN) {
        if ((*state & S3_HITS) != S3_HITS) *state = (uint8_t)(*state + S3_ONE_HIT);
        return true;
    }
    while (c->entries == c->capacity) {
        if (c->small.entries >= s3_small_most(c) || !c->main.entries)
            s3_small_evict(a, c);
        else
            s3_main_evict(a, c);
    }
    bool ghost = (*state & S3_QUEUE) == S3_GHOST; /* making room may have forgotten it */
    if (ghost) s3_ghost_take(a, c, state);
    queue = ghost ? S3_MAIN : S3_SMALL;
    queue_push(ghost ? &c->main : &c->small, s3_ring(a, c, queue), c->capacity, id);
    *state = (uint8_t)((*state & S3_STALE) | queue);
    c->entries++;
    if (c->entries == c->capacity) s3_fetch(a, c);
    return false;
}

/* ---- Lists of keys: SLRU, 2Q, ARC ---------------------------------------------------------------------- */

/* A lane's words are its lists. The byte of a key is 1 and the number of its list. */
typedef struct lane_list {
    uint32_t newest, oldest, entries; /* of an empty one the first two say nothing */
} lane_list;

enum { LANE_LISTS = 4 };

HD_FN lane_list *lane_lists(const lanes_args *a, const lane *c) { return (lane_list *)(void *)(a->word + c->words); }

HD_FN uint32_t *lane_link(const lanes_args *a, const lane *c, uint32_t id)
{
    return &a->link[2 * (id * a->links + c->link)];
}

/* Makes the key the newest of the list. */
HD_FN void list_push(const lanes_args *a, const lane *c, uint32_t list, uint32_t id)
{
    lane_list *l = lane_lists(a, c) + list;
    uint32_t *link = lane_link(a, c, id);
    link[0] = LANE_NONE;
    link[1] = l->entries ? l->newest : LANE_NONE;
    if (l->entries)
        lane_link(a, c, l->newest)[0] = id;
    else
        l->oldest = id;
    l->newest = id;
    l->entries++;
    *lane_state(a, c, id) = (uint8_t)(list + 1);
}

/* Takes the key out of the list. */
HD_FN void list_pull(const lanes_args *a, const lane *c, uint32_t list, uint32_t id)
{
    lane_list *l = lane_lists(a, c) + list;
    const uint32_t *link = lane_link(a, c, id);
    uint32_t newer = link[0], older = link[1];
    if (newer == LANE_NONE)
        l->newest = older;
    else
        lane_link(a, c, newer)[1] = older;
    if (older == LANE_NONE)
        l->oldest = newer;
    else
        lane_link(a, c, older)[0] = newer;
    l->entries--;
}

/* The oldest key of the list becomes the newest of another. */
HD_FN void list_pass(const lanes_args *a, const lane *c, uint32_t from, uint32_t to)
{
    uint32_t id = lane_lists(a, c)[from].oldest;
    list_pull(a, c, from, id);
    list_push(a, c, to, id);
}

/* The oldest key of the list is forgotten. */
HD_FN void list_lay(const lanes_args *a, const lane *c, uint32_t list)
{
    uint32_t id = lane_lists(a, c)[list].oldest;
    list_pull(a, c, list, id);
    *lane_state(a, c, id) = 0;
}

enum { SLRU_LOWEST, SLRU_HIGHEST = LANE_LISTS - 1 };

HD_FN bool lane_slru(const lanes_args *a, lane *c, uint32_t i)
{
    uint32_t id = a->id[i], quarter = c->capacity / LANE_LISTS, lowest = c->capacity - SLRU_HIGHEST * quarter;
    lane_list *l = lane_lists(a, c);
    uint32_t state = *lane_state(a, c, id), to = state && state <= SLRU_HIGHEST ? state : (uint32_t)SLRU_HIGHEST;
    if (state)
        list_pull(a, c, state - 1, id);
    else {
        to = SLRU_LOWEST;
        c->entries++;
    }
    for (list_push(a, c, to, id); to > SLRU_LOWEST && l[to].entries > quarter; to--) list_pass(a, c, to, to - 1);
    if (l[SLRU_LOWEST].entries > lowest) {
        list_lay(a, c, SLRU_LOWEST);
        c->entries--;
    }
    return state;
}

enum { TWOQ_IN, TWOQ_OUT, TWOQ_MAIN };

HD_FN void twoq_evict(const lanes_args *a, lane *c)
{
    const lane_list *l = lane_lists(a, c);
    c->entries--;
    if (l[TWOQ_IN].entries <= c->capacity / 4 && l[TWOQ_MAIN].entries) {
        list_lay(a, c, TWOQ_MAIN);
        return;
    }
    list_pass(a, c, TWOQ_IN, TWOQ_OUT);
    while (l[TWOQ_OUT].entries > c->capacity / 2) list_lay(a, c, TWOQ_OUT);
}

HD_FN bool lane_2q(const lanes_args *a, lane *c, uint32_t i)
{
    uint32_t id = a->id[i];
    const uint8_t *state = lane_state(a, c, id);
    bool ghost = *state == TWOQ_OUT + 1;
    if (*state && !ghost) {
        if (*state == TWOQ_IN + 1) return true;
        list_pull(a, c, TWOQ_MAIN, id);
        list_push(a, c, TWOQ_MAIN, id);
        return true;
    }
    while (c->entries == c->capacity) twoq_evict(a, c);
    if (*state) list_pull(a, c, TWOQ_OUT, id); /* making room may have forgotten it */
    list_push(a, c, ghost ? TWOQ_MAIN : TWOQ_IN, id);
    c->entries++;
    return false;
}

enum { ARC_T1, ARC_T2, ARC_B1, ARC_B2 };

HD_FN void arc_replace(const lanes_args *a, lane *c, bool in_b2)
{
    const lane_list *l = lane_lists(a, c);
    const double unit = 4294967296.0; /* three steps of a third are one */
    double t1 = (double)l[ARC_T1].entries, p = (double)(uint64_t)(c->target * unit + 0.5) / unit;
    bool over = t1 > p || (in_b2 && t1 == p);
    bool recent = !l[ARC_T2].entries || (l[ARC_T1].entries && over);
    list_pass(a, c, recent ? ARC_T1 : ARC_T2, recent ? ARC_B1 : ARC_B2);
    c->entries--;
}

HD_FN void arc_adapt(const lanes_args *a, lane *c, bool in_b2)
{
    const lane_list *l = lane_lists(a, c);
    double own = (double)l[in_b2 ? ARC_B2 : ARC_B1].entries, other = (double)l[in_b2 ? ARC_B1 : ARC_B2].entries;
    double step = own >= other ? 1 : other / own;
    c->target += in_b2 ? -step : step;
    if (c->target > (double)c->capacity) c->target = (double)c->capacity;
    if (c->target < 0) c->target = 0;
}

HD_FN bool lane_arc(const lanes_args *a, lane *c, uint32_t i)
{
    uint32_t id = a->id[i], state = *lane_state(a, c, id);
    const lane_list *l = lane_lists(a, c);
    bool hit = state == ARC_T1 + 1 || state == ARC_T2 + 1, in_b2 = state == ARC_B2 + 1;
    if (!hit && state) arc_adapt(a, c, in_b2);
    while (!state && l[ARC_T1].entries + l[ARC_B1].entries >= c->capacity) {
        if (!l[ARC_B1].entries) c->entries--;
        list_lay(a, c, l[ARC_B1].entries ? ARC_B1 : ARC_T1);
    }
    while (!hit && c->entries == c->capacity) arc_replace(a, c, in_b2);
    if (state) list_pull(a, c, state - 1, id);
    while (!hit && (uint64_t)c->entries + l[ARC_B1].entries + l[ARC_B2].entries >= 2 * (uint64_t)c->capacity)
        list_lay(a, c, l[ARC_B2].entries ? ARC_B2 : ARC_B1);
    list_push(a, c, state ? ARC_T2 : ARC_T1, id);
    c->entries += !hit;
    return hit;
}

/* ---- Any policy ---------------------------------------------------------------------------------------- */

/* The words of a lane's queues. */
HD_FN uint64_t lane_words(const lane *c)
{
    switch (c->policy) {
    case LANE_FIFO:
    case LANE_CLOCK: return c->capacity;
    case LANE_SIEVE: return sieve_room(c);
    case LANE_S3FIFO: return 2 * (uint64_t)c->capacity + s3_ghost_room(c);
    case LANE_LRU: return 0;
    default: return LANE_LISTS * sizeof(lane_list) / sizeof(uint32_t);
    }
}

HD_FN bool lane_access(const lanes_args *a, lane *c, uint32_t i, lane_policy policy)
{
    switch (policy) {
    case LANE_LRU: return lane_lru(a, c, i);
    case LANE_FIFO: return lane_fifo(a, c, i);
    case LANE_CLOCK: return lane_clock(a, c, i);
    case LANE_SIEVE: return lane_sieve(a, c, i);
    case LANE_S3FIFO: return lane_s3fifo(a, c, i);
    case LANE_SLRU: return lane_slru(a, c, i);
    case LANE_2Q: return lane_2q(a, c, i);
    default: return lane_arc(a, c, i);
    }
}

/* The policy is a constant where this is called, so the loop has one. */
HD_FN void lane_requests(const lanes_args *a, lane *c, lane_policy policy)
{
    enum { AHEAD = 16 };
    for (uint32_t i = a->from; i < a->to; i++) {
        uint32_t entries = c->entries;
        if (policy != LANE_LRU && a->requests - i > AHEAD) lane_fetch(lane_state(a, c, a->id[i + AHEAD]));
        if (lane_access(a, c, i, policy) || i < a->counted) continue;
        c->misses++;
        c->evicted += c->entries <= entries; /* some left */
        if (a->size) c->missed_bytes += a->size[i];
    }
}

HD_FN void lane_run(const lanes_args *a, uint64_t number)
{
    lane c = a->each[number];
    switch (c.policy) {
    case LANE_LRU: lane_requests(a, &c, LANE_LRU); break;
    case LANE_FIFO: lane_requests(a, &c, LANE_FIFO); break;
    case LANE_CLOCK: lane_requests(a, &c, LANE_CLOCK); break;
    case LANE_SIEVE: lane_requests(a, &c, LANE_SIEVE); break;
    case LANE_S3FIFO: lane_requests(a, &c, LANE_S3FIFO); break;
    case LANE_SLRU: lane_requests(a, &c, LANE_SLRU); break;
    case LANE_2Q: lane_requests(a, &c, LANE_2Q); break;
    case LANE_ARC: lane_requests(a, &c, LANE_ARC); break;
    default: return;
    }
    a->each[number] = c;
}

#endif
