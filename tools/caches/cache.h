/* SPDX-License-Identifier: Apache-2.0
 *
 * cache.h - what the policies of exact caches share: entries as nodes of one array, an index of their keys, lists of
 * nodes, and the steps of an entry. A node is resident, or the ghost of an entry that left: a key and its history.
 *
 * A policy is a cache_kind in a file of its own. The caller (tools/baseline.c) finds the key's node, and calls `hit` if
 * it is resident, else `miss`. Sizes and the capacity are in units: bytes, or entries, each of size 1.
 */
#ifndef HD_CACHES_CACHE_H
#define HD_CACHES_CACHE_H

#include "tools/baseline.h"
#include "tools/caches/index.h"

/* The first nodes of the array are no entries, but the ends of lists. */
enum { CACHE_LISTS = 4 };

typedef struct cache_node {
    uint64_t key;
    uint64_t size;         /* of its last insertion, in units */
    uint32_t newer, older; /* in its list; newer: the next free node */
    uint32_t position;     /* in the heap */
    uint8_t list;          /* below CACHE_LISTS */
    uint8_t mark;          /* what the policy remembers of hits */
    bool resident;
} cache_node;

/* The least leaves first: by rank, then by time. */
typedef struct cache_rank {
    uint64_t rank, time;
    uint32_t at; /* the node */
} cache_rank;

typedef struct cache_kind {
    baseline_row row;
    /* Any request but those for reserved keys, before the others; NULL: nothing. HD_ENOMEM. */
    hd_status (*see)(baseline *b, const hd_request *r);
    /* A request for an entry. */
    hd_status (*hit)(baseline *b, uint32_t at, const hd_request *r);
    /* A request for another key, whose size is at most the capacity. at: its ghost, or CACHE_NONE. The policy makes
     * room and calls cache_enter, or refuses the key. There is room for one node more. */
    void (*miss)(baseline *b, uint32_t at, const hd_request *r, uint64_t size);
    /* Sets `own` up once the capacity is known; NULL: it is zero. HD_ENOMEM. */
    hd_status (*open)(baseline *b);
    size_t own;                 /* bytes of baseline.own, zero at first */
    size_t more;                /* bytes per node of baseline.more */
    bool heap;                  /* it uses cache_heap */
    bool bag;                   /* it uses cache_bag */
    void (*close)(baseline *b); /* gives back what `own` points to; NULL: nothing */
} cache_kind;

struct baseline {
    const cache_kind *kind;
    cache_index keys;
    cache_node *nodes;  /* (nodes_used), of (room); at most CACHE_INDEX_MOST */
    cache_rank *ranked; /* (ranks), of (room): a heap; NULL: the policy needs none */
    uint32_t *bag;      /* (bagged), of (room); NULL: the policy needs none */
    char *more;         /* (room, kind->more): fields of a node that one policy has */
    void *own;          /* the policy's state */
    uint64_t room, nodes_used, ranks, bagged;
    uint32_t freed;              /* the first free node, or CACHE_NONE */
    uint32_t newcomer;           /* the node that this request's key took, or CACHE_NONE */
    uint64_t capacity, used;     /* units */
    uint64_t entries, left;      /* residents now; entries that have left */
    uint64_t units[CACHE_LISTS]; /* of the nodes in each list */
    uint64_t number;             /* of the present request, from 1 */
    uint32_t tag;                /* of its key; cache_tag */
    bool bytes, always;
    hd_rng rng;
};

/* ---- Lists ----------------------------------------------------------------------------------- */

/* nodes[list] is before the newest and after the oldest: its `older` is the newest node, its `newer` the oldest. */
static inline uint32_t cache_newest(const baseline *b, uint32_t list) { return b->nodes[list].older; }
static inline uint32_t cache_oldest(const baseline *b, uint32_t list) { return b->nodes[list].newer; }
static inline bool cache_list_empty(const baseline *b, uint32_t list) { return b->nodes[list].older == list; }

/* Makes the node the newest of the list. */
static inline void cache_push(baseline *b, uint32_t list, uint32_t at)
{
    cache_node *n = &b->nodes[at];
    uint32_t newest = b->nodes[list].older;
    n->list = (uint8_t)list;
    n->newer = list;
    n->older = newest;
    b->nodes[newest].newer = at;
    b->nodes[list].older = at;
    b->units[list] += n->size;
}

/* Takes the node out of its list. */
static inline void cache_pull(baseline *b, uint32_t at)
{
    const cache_node *n = &b->nodes[at];
    b->nodes[n->newer].older = n->older;
    b->nodes[n->older].newer = n->newer;
    b->units[n->list] -= n->size;
}

static inline void cache_move(baseline *b, uint32_t list, uint32_t at)
{
    cache_pull(b, at);
    cache_push(b, list, at);
}

/* ---- The steps of an entry ------------------------------------------------------------------- */

/* Whether an object of this size needs others to leave. size: at most the capacity. */
static inline bool cache_lacks(const baseline *b, uint64_t size) { return b->used > b->capacity - size; }

/* The key of the request gets resident, in no list. at: its ghost, in no list, or CACHE_NONE. Its node. */
uint32_t cache_enter(baseline *b, uint32_t at, const hd_request *r, uint64_t size);

/* The entry leaves, and its node, in whatever list it is, gets a ghost. */
static inline void cache_leave(baseline *b, uint32_t at)
{
    b->nodes[at].resident = false;
    b->used -= b->nodes[at].size;
    b->entries--;
    b->left++;
}

/* The key's node, or CACHE_NONE: making room may have forgotten its ghost. */
static inline uint32_t cache_find(const baseline *b, uint64_t key)
{
    return cache_index_find(&b->keys, (cache_keys){ b->nodes, sizeof *b->nodes }, b->tag, key);
}

/* The ghost, in no list, is gone. */
void cache_forget(baseline *b, uint32_t at);

static inline void cache_place_fetch(const baseline *b, uint32_t tag)
{
    __builtin_prefetch(&b->keys.at[cache_home(&b->keys, tag)]);
}

/* The ghost, in a list, is gone. The next newer node is likely to be the next one: what that needs is fetched. */
static inline void cache_lay(baseline *b, uint32_t at)
{
    const cache_node *next = &b->nodes[b->nodes[at].newer];
    cache_pull(b, at);
    cache_forget(b, at);
    cache_place_fetch(b, cache_tag(next->key));
    __builtin_prefetch(&b->nodes[next->newer]);
}

/* The entry, in a list, leaves without a ghost. */
static inline void cache_drop(baseline *b, uint32_t at)
{
    cache_leave(b, at);
    cache_lay(b, at);
}

/* Forgets the oldest ghosts of a list above `most` units. */
static inline void cache_trim(baseline *b, uint32_t list, uint64_t most)
{
    while (b->units[list] > most) cache_lay(b, cache_oldest(b, list));
}

/* Room for one node more. */
hd_status cache_room(baseline *b);

/* ---- A heap ---------------------------------------------------------------------------------- */

/* Adds the node, which is not in the heap. */
void cache_heap_add(baseline *b, uint32_t at, uint64_t rank, uint64_t time);
/* Gives the node another rank. */
void cache_heap_set(baseline *b, uint32_t at, uint64_t rank, uint64_t time);
void cache_heap_take(baseline *b, uint32_t at);
/* The least entry leaves without a ghost. */
void cache_heap_drop(baseline *b);
/* The node's rank and time. */
static inline const cache_rank *cache_heap_of(const baseline *b, uint32_t at)
{
    return &b->ranked[b->nodes[at].position];
}

/* ---- A bag: the entries in any order, to draw from --------------------------------------------- */

static inline void cache_bag_add(baseline *b, uint32_t at) { b->bag[b->bagged++] = at; }

/* The entry at this place of the bag leaves without a ghost; the last one takes its place. */
static inline void cache_bag_drop(baseline *b, uint64_t place)
{
    uint32_t at = b->bag[place];
    b->bag[place] = b->bag[--b->bagged];
    cache_leave(b, at);
    cache_forget(b, at);
}

/* ---- The policies ---------------------------------------------------------------------------- */

extern const cache_kind cache_lru, cache_lfu, cache_fifo, cache_clock, cache_random, cache_belady, cache_sieve,
    cache_s3fifo, cache_slru, cache_slru2, cache_2q, cache_arc, cache_lfuda, cache_gdsf, cache_tinylfu, cache_wtinylfu,
    cache_lirs, cache_lruk, cache_lrfu, cache_hyperbolic, cache_clockpro;

#endif
