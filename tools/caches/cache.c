/* SPDX-License-Identifier: Apache-2.0
 *
 * cache.c - the nodes of an exact cache, and its heap.
 */
#include "tools/caches/cache.h"

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* The array with another number of elements; false: memory was refused, and nothing changed. */
static bool array_resize(void **array, uint64_t n, size_t bytes)
{
    void *a = bytes ? realloc(*array, (size_t)n * bytes) : NULL;
    if (a) *array = a;
    return a || !bytes;
}

static hd_status room_more(baseline *b)
{
    enum { FIRST = 512 };
    uint64_t room = b->room ? 2 * b->room : FIRST;
    if (b->nodes_used >= CACHE_INDEX_MOST)
        return hd_fail(HD_EINVAL, "%s: more than 2^31 keys at a time", b->kind->row.name);
    void *nodes = b->nodes, *ranked = b->ranked, *bag = b->bag, *more = b->more;
    bool ok = array_resize(&nodes, room, sizeof *b->nodes) &&
              array_resize(&ranked, room, b->kind->heap ? sizeof *b->ranked : 0) &&
              array_resize(&bag, room, b->kind->bag ? sizeof *b->bag : 0) && array_resize(&more, room, b->kind->more);
    b->nodes = (cache_node *)nodes;
    b->ranked = (cache_rank *)ranked;
    b->bag = (uint32_t *)bag;
    b->more = (char *)more;
    if (!ok) return hd_fail(HD_ENOMEM, "%s: %" PRIu64 " keys: memory was refused", b->kind->row.name, b->nodes_used);
    for (uint32_t l = 0; !b->room && l < CACHE_LISTS; l++) b->nodes[l] = (cache_node){ .newer = l, .older = l };
    if (!b->room) b->nodes_used = CACHE_LISTS;
    b->room = room;
    return HD_OK;
}

hd_status cache_room(baseline *b)
{
    if (b->freed == CACHE_NONE && b->nodes_used == b->room) {
        hd_status s = room_more(b);
        if (s) return s;
    }
    return cache_index_room(&b->keys);
}

uint32_t cache_enter(baseline *b, uint32_t at, const hd_request *r, uint64_t size)
{
    if (at == CACHE_NONE) {
        at = b->freed;
        if (at == CACHE_NONE)
            at = (uint32_t)b->nodes_used++;
        else
            b->freed = b->nodes[at].newer;
        b->nodes[at] = (cache_node){ .key = r->key };
        cache_index_add(&b->keys, b->tag, at);
    }
    cache_node *n = &b->nodes[at];
    n->size = size;
    n->mark = 0;
    n->resident = true;
    b->newcomer = at;
    b->used += size;
    b->entries++;
    return at;
}

void cache_forget(baseline *b, uint32_t at)
{
    cache_index_erase(&b->keys, cache_tag(b->nodes[at].key), at);
    b->nodes[at].newer = b->freed;
    b->freed = at;
}

/* ---- The heap: four children to a parent ------------------------------------------------------- */

enum { CHILDREN = 4 };

static bool before(const cache_rank *x, const cache_rank *y)
{
    return x->rank != y->rank ? x->rank < y->rank : x->time < y->time;
}

static void heap_put(baseline *b, uint64_t position, cache_rank x)
{
    b->ranked[position] = x;
    b->nodes[x.at].position = (uint32_t)position;
}

/* Puts x at the position, or where it belongs above or below. */
static void heap_settle(baseline *b, uint64_t p, cache_rank x)
{
    cache_rank *h = b->ranked;
    for (uint64_t up; p && before(&x, &h[up = (p - 1) / CHILDREN]); p = up) heap_put(b, p, h[up]);
    for (uint64_t least; (least = CHILDREN * p + 1) < b->ranks; p = least) {
        uint64_t end = least + CHILDREN < b->ranks ? least + CHILDREN : b->ranks;
        for (uint64_t i = least + 1; i < end; i++)
            if (before(&h[i], &h[least])) least = i;
        if (!before(&h[least], &x)) break;
        heap_put(b, p, h[least]);
    }
    heap_put(b, p, x);
}

void cache_heap_add(baseline *b, uint32_t at, uint64_t rank, uint64_t time)
{
    b->ranks++;
    heap_settle(b, b->ranks - 1, (cache_rank){ rank, time, at });
}

void cache_heap_set(baseline *b, uint32_t at, uint64_t rank, uint64_t time)
{
    heap_settle(b, b->nodes[at].position, (cache_rank){ rank, time, at });
}

void cache_heap_take(baseline *b, uint32_t at)
{
    uint64_t p = b->nodes[at].position;
    cache_rank last = b->ranked[--b->ranks];
    if (p < b->ranks) heap_settle(b, p, last);
}

void cache_heap_drop(baseline *b)
{
    uint32_t at = b->ranked[0].at;
    cache_heap_take(b, at);
    cache_leave(b, at);
    cache_forget(b, at);
}
