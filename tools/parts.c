/* SPDX-License-Identifier: Apache-2.0
 *
 * parts.c - see parts.h.
 */
#include "tools/parts.h"

#include <stdlib.h>

#include "policies/hashes/hash.h"

enum {
    PART_BYTES = 1 << 20, /* of the table: half of a second-level cache. More keys of a batch share its lines than in a
                             larger part */
    LEAST = 16,           /* parts of a table that has any: the caches hold a smaller one */
    MOST = 4096           /* the places that keys are written to should be in the cache, too */
};

static void list_add(parts_list *list, parts_batch *b)
{
    b->next = NULL;
    if (list->last)
        list->last->next = b;
    else
        list->first = b;
    list->last = b;
}

parts_batch *parts_list_take(parts_list *list)
{
    parts_batch *b = list->first;
    if (b) list->first = b->next;
    if (!list->first) list->last = NULL;
    return b;
}

static parts_batch *batch_new(void)
{
    parts_batch *b = (parts_batch *)malloc(sizeof *b);
    if (b) b->n = 0;
    return b;
}

static bool parts_open(parts *p, uint32_t count)
{
    p->part = (parts_batch **)calloc(count, sizeof(parts_batch *));
    if (!p->part) return false;
    p->count = count;
    for (uint32_t i = 0; i < count; i++)
        if (!(p->part[i] = batch_new())) return false;
    return true;
}

void parts_fit(parts *p, uint64_t table_bytes, parts_list *to)
{
    uint64_t count = table_bytes / PART_BYTES;
    if (count > MOST) count = MOST;
    if (count < LEAST || count <= p->count) return;
    parts_end(p, to);
    if (!parts_open(p, (uint32_t)count)) parts_end(p, to);
}

bool parts_add(parts *p, const uint64_t *key, size_t n, parts_list *to)
{
    for (size_t i = 0; i < n; i++) {
        parts_batch **at = &p->part[hd_first_bucket(hd_hash(key[i], p->seed), p->count)], *b = *at;
        b->key[b->n++] = key[i];
        if (b->n < PARTS_BATCH) continue;
        if (!(*at = batch_new())) {
            *at = b;
            return false;
        }
        list_add(to, b);
    }
    return true;
}

void parts_end(parts *p, parts_list *to)
{
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->part[i] && p->part[i]->n)
            list_add(to, p->part[i]);
        else
            free(p->part[i]);
    }
    free(p->part);
    *p = (parts){ .seed = p->seed };
}
