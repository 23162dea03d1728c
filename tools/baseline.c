/* SPDX-License-Identifier: Apache-2.0
 *
 * baseline.c - the table of exact caches, and requests through one of them. Each size is a run of its own;
 * curve.h has the misses of many sizes.
 */
#include "tools/caches/cache.h"

/* ---- The table of baselines -------------------------------------------------------------------- */

static const cache_kind *const kinds[] = {
    &cache_lru,      &cache_lfu,  &cache_fifo, &cache_clock, &cache_random,     &cache_belady,   &cache_sieve,
    &cache_s3fifo,   &cache_slru, &cache_2q,   &cache_arc,   &cache_lfuda,      &cache_gdsf,     &cache_tinylfu,
    &cache_wtinylfu, &cache_lirs, &cache_lruk, &cache_lrfu,  &cache_hyperbolic, &cache_clockpro, &cache_slru2,
};
enum { KINDS = sizeof kinds / sizeof *kinds };

const baseline_row *baseline_at(size_t i) { return i < KINDS ? &kinds[i]->row : NULL; }

const baseline_row *baseline_named(const char *name)
{
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(kinds[i]->row.name, name) == 0) return &kinds[i]->row;
    return NULL;
}

/* ---- Running ----------------------------------------------------------------------------------- */

hd_status baseline_open(const baseline_config *config, baseline **cache)
{
    size_t i = 0;
    while (&kinds[i]->row != config->row) i++;
    if (config->bytes && !config->row->bytes)
        return hd_fail(HD_EINVAL, "%s: its capacity is a number of entries, not of bytes", config->row->name);
    baseline *b = (baseline *)calloc(1, sizeof *b);
    void *own = calloc(1, kinds[i]->own + 1);
    if (b)
        *b = (baseline){ .kind = kinds[i],
                         .own = own,
                         .freed = CACHE_NONE,
                         .capacity = config->capacity,
                         .bytes = config->bytes,
                         .always = config->always,
                         .rng = hd_rng_from(config->seed) };
    hd_status s = b && own ? HD_OK : hd_fail(HD_ENOMEM, "%s: memory was refused", config->row->name);
    if (!s) s = cache_room(b);
    if (!s && b->kind->open) s = b->kind->open(b);
    if (s && !b) free(own);
    if (s) baseline_close(b);
    *cache = s ? NULL : b;
    return s;
}

void baseline_close(baseline *b)
{
    if (!b) return;
    if (b->own && b->kind->close) b->kind->close(b);
    free(b->keys.at);
    free(b->nodes);
    free(b->ranked);
    free(b->bag);
    free(b->more);
    free(b->own);
    free(b);
}

uint64_t baseline_entries(const baseline *b) { return b->entries; }

static hd_status miss_run(baseline *b, uint32_t at, const hd_request *r, uint8_t *outcome)
{
    uint64_t size = b->bytes ? r->size : 1, left = b->left;
    *outcome = HD_REFUSED;
    if (size > b->capacity) return HD_OK;
    hd_status s = cache_room(b);
    if (s) return s;
    b->newcomer = CACHE_NONE;
    b->kind->miss(b, at, r, size);
    if (b->newcomer != CACHE_NONE && b->nodes[b->newcomer].resident)
        *outcome = b->left > left ? HD_EVICTED : HD_INSERTED;
    return HD_OK;
}

static hd_status request_run(baseline *b, const hd_request *r, uint32_t tag, uint8_t *outcome)
{
    b->number++;
    b->tag = tag;
    *outcome = HD_RESERVED;
    if (r->key >= HD_KEY_RESERVED) return HD_OK;
    hd_status s = b->kind->see ? b->kind->see(b, r) : HD_OK;
    if (s) return s;
    uint32_t at = cache_find(b, r->key);
    if (at == CACHE_NONE || !b->nodes[at].resident) return miss_run(b, at, r, outcome);
    *outcome = HD_UPDATED;
    return b->kind->hit(b, at, r);
}

/* ---- Prefetching ------------------------------------------------------------------------------- */

/* Requests of a block; how many requests before its turn one's place in the index, its node and the neighbours of its
 * node in the list are fetched. */
enum { BLOCK = 256, PLACE_AHEAD = 24, NODE_AHEAD = 16, LINKS_AHEAD = 8 };

/* The node at the tag's first place, or that of a list if the place is empty: no branch depends on which, for a
 * processor could not predict it. Another key's node is no harm. */
static const cache_node *node_there(const baseline *b, uint32_t tag)
{
    uint64_t at = (uint32_t)b->keys.at[cache_home(&b->keys, tag)];
    return &b->nodes[at & ((uint64_t)0 - (at != CACHE_NONE))];
}

static void links_fetch(const baseline *b, uint32_t tag)
{
    const cache_node *n = node_there(b, tag);
    if (b->kind->heap) __builtin_prefetch(&b->ranked[n->position]);
    __builtin_prefetch(&b->nodes[n->newer]);
    __builtin_prefetch(&b->nodes[n->older]);
}

static hd_status block_run(baseline *b, const hd_request *r, size_t n, uint8_t *outcome)
{
    uint32_t tag[BLOCK + PLACE_AHEAD] = { 0 };
    hd_status s = HD_OK;
    for (size_t i = 0; i < n; i++) tag[i] = cache_tag(r[i].key);
    for (size_t i = 0; i < n && !s; i++) {
        cache_place_fetch(b, tag[i + PLACE_AHEAD]);
        __builtin_prefetch(node_there(b, tag[i + NODE_AHEAD]));
        links_fetch(b, tag[i + LINKS_AHEAD]);
        s = request_run(b, &r[i], tag[i], &outcome[i]);
    }
    return s;
}

hd_status baseline_run(baseline *b, const hd_request *r, size_t n, uint8_t *outcome)
{
    hd_status s = HD_OK;
    for (size_t i = 0; i < n && !s; i += BLOCK) s = block_run(b, r + i, n - i < BLOCK ? n - i : BLOCK, outcome + i);
    return s;
}
