/* SPDX-License-Identifier: Apache-2.0
 *
 * next.c - the next access of every request of a source, for full:belady.
 */
#include "tools/caches/index.h"
#include "tools/baseline.h"

enum { BATCH = 4096 };
#define READ_MOST ((uint64_t)UINT32_MAX - 1)

typedef struct last_access {
    uint64_t key;
    uint32_t position;
} last_access;

/* What is known while a trace is walked: by position, the next access; by key, the last access. */
typedef struct walk {
    cache_index keys;
    last_access *last; /* (keys.used), of (lasts) */
    uint64_t lasts;
    uint32_t *next; /* (read), of (room) */
    uint64_t read, room;
} walk;

static hd_status walk_room(walk *w, size_t n)
{
    if (w->read + n <= w->room) return HD_OK;
    if (w->read + n > READ_MOST) return hd_fail(HD_EINVAL, "next accesses of more than 2^32 - 2 requests");
    uint64_t room = w->room ? 2 * w->room : 16 * BATCH;
    uint32_t *next = (uint32_t *)realloc(w->next, (size_t)room * sizeof *next);
    if (!next) return hd_fail(HD_ENOMEM, "next accesses of %" PRIu64 " requests: memory was refused", w->read);
    w->next = next;
    w->room = room;
    return HD_OK;
}

/* Room for one key more. */
static hd_status last_room(walk *w)
{
    hd_status s = cache_index_room(&w->keys);
    if (s || w->keys.used < w->lasts) return s;
    uint64_t lasts = w->lasts ? 2 * w->lasts : BATCH;
    last_access *last = (last_access *)realloc(w->last, (size_t)lasts * sizeof *last);
    if (!last) return hd_fail(HD_ENOMEM, "next accesses of %" PRIu64 " keys: memory was refused", w->lasts);
    w->last = last;
    w->lasts = lasts;
    return HD_OK;
}

static hd_status walk_requests(walk *w, const hd_request *r, size_t n)
{
    hd_status s = walk_room(w, n);
    for (size_t i = 0; i < n && !s; i++, w->read++) {
        s = last_room(w);
        if (s) break;
        w->next[w->read] = 0;
        uint32_t tag = cache_tag(r[i].key), position = (uint32_t)w->read;
        uint32_t at = cache_index_find(&w->keys, (cache_keys){ w->last, sizeof *w->last }, tag, r[i].key);
        if (at == CACHE_NONE) {
            at = (uint32_t)w->keys.used;
            cache_index_add(&w->keys, tag, at);
            w->last[at].key = r[i].key;
        } else
            w->next[w->last[at].position] = position + 1;
        w->last[at].position = position;
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
    free(w.keys.at);
    free(w.last);
    if (s) free(w.next);
    *next = s ? NULL : w.next;
    *n = w.read;
    return s;
}
