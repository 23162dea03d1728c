/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_walk.c - walks over the entries of a table on a device (hd_backend.walk): for hd_for_each, hd_save, and hd_load
 * into a table of the file's shape. The table is copied in parts of a few MiB, ranges of buckets, through two pieces of
 * pinned memory: while the caller reads one part, the device copies the next one to the other piece. Copies go on a
 * stream of the walk. So host memory does not depend on the size of the table.
 *
 * A walk that reads is a reader of the table: the caller holds the lock as one, so no call of the host changes the
 * table meanwhile, and batches that read go on. All batches that were put on streams before have run when it begins.
 *
 * A piece is used again when its copy is done: the walk waits for the event behind it.
 *
 * The table of a design without parts (hd_gpu.parts) is staged as a whole for a walk.
 */
#include <inttypes.h>
#include <string.h>

#include "lib/cuda_state.h"
#include "lib/device_memory.h"

#define ASK HD_CUDA_ASK

static const char what_for[] = "walk over the table";

enum { PIECES = HD_CUDA_WALK_PIECES };

/* ---- Copies ---------------------------------------------------------------------------------- */

/* Copies those planes of piece k that `what` has, and records its event. */
static hd_status copy_part(hd_cuda *c, int k, uint32_t what, hd_way way)
{
    hd_cuda_walk_state *w = &c->walk;
    hd_part p = w->part[k];
    hd_plane all[HD_MEMORY_MOST];
    p.what = what;
    int n = c->gpu->parts->planes(c->state, &p, all);
    hd_status status = HD_OK;
    for (int i = 0; i < n && !status; i++) {
        bool out = way == HD_TO_DEVICE;
        if (all[i].bytes == 0) continue;
        status = ASK(c, what_for, copy, out ? all[i].there : all[i].here, out ? all[i].here : all[i].there,
                     (size_t)all[i].bytes, way, w->stream);
    }
    return status ? status : ASK(c, what_for, event_record, &w->event[k], w->stream, 0);
}

static hd_status await_part(hd_cuda *c, int k)
{
    return c->walk.event[k] ? ASK(c, what_for, event_sync, c->walk.event[k]) : HD_OK;
}

/* The table's buckets, and those of its stash. */
static uint64_t all_buckets(hd_cuda *c)
{
    const hd_info *info = &hd_cuda_state(c)->info;
    return info->buckets + info->stash_buckets;
}

/* What the walk changes: the values of the entries that are there, or all of an empty table. */
static hd_status store_part(hd_cuda *c, int k)
{
    hd_cuda_walk_state *w = &c->walk;
    if (w->how == HD_WALK_READ || !w->part[k].buckets) return HD_OK;
    w->stored = true;
    return copy_part(c, k, w->how == HD_WALK_CHANGE ? (uint32_t)HD_PART_VALUES : (uint32_t)HD_PART_ALL, HD_TO_DEVICE);
}

/* Piece k becomes the part that begins with a bucket. On the walk's stream this is behind the copy of what it had. */
static hd_status fetch_part(hd_cuda *c, int k, uint64_t bucket)
{
    hd_cuda_walk_state *w = &c->walk;
    uint64_t left = all_buckets(c) - bucket;
    hd_status status = w->how == HD_WALK_FILL ? await_part(c, k) : HD_OK;
    if (status) return status;
    w->part[k].first = bucket;
    w->part[k].buckets = left < w->each ? left : w->each;
    w->part[k].what = w->what;
    if (w->how != HD_WALK_FILL) return copy_part(c, k, w->what, HD_FROM_DEVICE);
    c->gpu->parts->clear(c->state, &w->part[k]);
    return HD_OK;
}

static bool has_bucket(const hd_part *p, uint64_t bucket)
{
    return bucket >= p->first && bucket - p->first < p->buckets;
}

/* The piece in use becomes the one that has the bucket; the other one gets the part behind it. */
static hd_status go_to(hd_cuda *c, uint64_t bucket)
{
    hd_cuda_walk_state *w = &c->walk;
    int other = 1 - w->now;
    hd_status status = store_part(c, w->now);
    if (!status && !has_bucket(&w->part[other], bucket)) status = fetch_part(c, other, bucket);
    if (!status && w->how != HD_WALK_FILL) status = await_part(c, other);
    if (status) return status;
    w->now = other;
    uint64_t next = w->part[other].first + w->part[other].buckets;
    if (w->how == HD_WALK_FILL || next >= all_buckets(c)) return HD_OK;
    return fetch_part(c, 1 - other, next);
}

/* False: the walk has failed, and w->status says so. */
static bool reach(hd_cuda *c, uint64_t slot)
{
    hd_cuda_walk_state *w = &c->walk;
    const hd_part *p = &w->part[w->now];
    uint64_t slots = hd_cuda_state(c)->info.slots;
    int before = c->device.number;
    if (w->status) return false;
    if (slot >= p->first * slots && slot < (p->first + p->buckets) * slots) return true;
    w->status = hd_cuda_enter(c, &before);
    if (!w->status) w->status = go_to(c, slot / slots);
    w->status = hd_cuda_leave(c, before, w->status);
    return !w->status;
}

/* ---- Entries --------------------------------------------------------------------------------- */

size_t hd_cuda_walk_next(hd_cuda *c, hd_entry *e, size_t most)
{
    const hd_cuda_walk_state *w = &c->walk;
    uint64_t slots = all_buckets(c) * hd_cuda_state(c)->info.slots;
    size_t n = 0;
    while (n == 0 && e->slot < slots && reach(c, e->slot)) n = c->gpu->parts->next(c->state, &w->part[w->now], e, most);
    return n;
}

/* True after a failure of the device, too: it is told at the end of the walk. */
bool hd_cuda_walk_put_at(hd_cuda *c, const hd_entry *e)
{
    return !reach(c, e->slot) || c->gpu->parts->put_at(c->state, &c->walk.part[c->walk.now], e);
}

/* ---- Begin and end --------------------------------------------------------------------------- */

/* As many buckets as fit into a piece, but at least one. */
static uint64_t buckets_of_piece(const hd_cuda *c, uint64_t buckets, uint64_t bytes)
{
    uint64_t least = 1;
    for (uint64_t step = 1ull << 40; step; step /= 2)
        if (least + step <= buckets && c->gpu->parts->bytes(c->state, least + step) <= bytes) least += step;
    return least;
}

static hd_status take_pieces(hd_cuda *c)
{
    hd_cuda_walk_state *w = &c->walk;
    void *p = NULL;
    w->each = buckets_of_piece(c, all_buckets(c), c->staging.sizes.slot_bytes);
    w->bytes = c->gpu->parts->bytes(c->state, w->each);
    int code = hd_device_take_pinned(c->seams, &p, (size_t)(PIECES * w->bytes));
    if (code == HD_DEVICE_NO_MEMORY)
        return hd_fail(HD_ENOMEM, "%s: two pieces of %" PRIu64 " bytes of host memory cannot be pinned", what_for,
                       w->bytes);
    w->memory = (uint8_t *)p;
    for (int k = 0; k < PIECES && p; k++) w->part[k].memory = w->memory + (uint64_t)k * w->bytes;
    return HD_TOLD(c->seam, code, "take_pinned", what_for);
}

static void give_all(hd_cuda *c)
{
    hd_cuda_walk_state *w = &c->walk;
    for (int k = 0; k < PIECES; k++)
        if (w->event[k]) c->seam->event_destroy(c->seam->self, w->event[k]);
    if (w->stream) c->seam->stream_destroy(c->seam->self, w->stream);
    hd_cuda_give_pinned(c, w->memory, PIECES * w->bytes);
    memset(w, 0, sizeof *w);
}

/* All batches that were put on any stream have run. */
static hd_status await_batches(hd_cuda *c)
{
    pthread_mutex_lock(&c->busy);
    hd_status status = hd_streams_join(&c->streams);
    if (!status) status = hd_streams_part(&c->streams, HD_OK);
    pthread_mutex_unlock(&c->busy);
    return hd_cuda_wait_anyway(c, what_for, status, NULL);
}

/* Before the first entry is read. */
static hd_status begin_changing(hd_cuda *c)
{
    hd_cuda_stream o = { c, NULL, what_for, NULL };
    const hd_gpu_machine m = hd_cuda_machine(&o);
    if (c->walk.how != HD_WALK_CHANGE || !c->gpu->parts->changing) return HD_OK;
    hd_status status = c->gpu->parts->changing(c->state, &m);
    return hd_cuda_wait_anyway(c, what_for, status, NULL);
}

hd_status hd_cuda_walk(void *state, hd_walk_how how)
{
    hd_cuda *c = (hd_cuda *)state;
    hd_cuda_walk_state *w = &c->walk;
    int before = c->device.number;
    hd_status status;
    pthread_mutex_lock(&c->walking);
    w->how = how;
    w->what = HD_PART_ALL;
    if (!c->gpu->parts) {
        status = hd_cuda_stage(c, true);
        if (status) pthread_mutex_unlock(&c->walking);
        return status;
    }
    status = hd_cuda_enter(c, &before);
    if (!status) status = await_batches(c);
    if (!status) status = begin_changing(c);
    if (!status) status = take_pieces(c);
    if (!status) status = ASK(c, what_for, stream_make, &w->stream);
    w->on = !status;
    status = hd_cuda_leave(c, before, status);
    if (status) give_all(c);
    if (status) pthread_mutex_unlock(&c->walking);
    return status;
}

hd_status hd_cuda_look(void *state, uint32_t what)
{
    hd_cuda_walk_state *w = &((hd_cuda *)state)->walk;
    w->what = what;
    for (int k = 0; k < PIECES; k++) w->part[k].buckets = 0;
    return w->status;
}

/* What follows from the parts of a table that was filled. */
static hd_status finish_filling(hd_cuda *c)
{
    hd_cuda_stream o = { c, NULL, what_for, NULL };
    const hd_gpu_machine m = hd_cuda_machine(&o);
    hd_cuda_walk_state *w = &c->walk;
    if (w->how != HD_WALK_FILL || !w->stored || !c->gpu->parts->filled) return HD_OK;
    w->stored = false;
    return c->gpu->parts->filled(c->state, &m);
}

/* Between two calls of the walk: all that it has changed so far is on the device. */
hd_status hd_cuda_walk_flush(hd_cuda *c)
{
    hd_cuda_walk_state *w = &c->walk;
    if (!w->status) w->status = store_part(c, w->now);
    w->part[w->now].buckets = 0;
    if (!w->status) w->status = ASK(c, what_for, wait, w->stream);
    if (!w->status) w->status = finish_filling(c);
    return w->status;
}

hd_status hd_cuda_walked(void *state, bool keep)
{
    hd_cuda *c = (hd_cuda *)state;
    hd_cuda_walk_state *w = &c->walk;
    int before = c->device.number;
    if (!c->gpu->parts) {
        hd_status settled = hd_cuda_settle(c, keep && w->how != HD_WALK_READ);
        pthread_mutex_unlock(&c->walking);
        return settled;
    }
    hd_status status = w->status, entered = hd_cuda_enter(c, &before);
    if (!status) status = entered;
    if (!status && keep) status = hd_cuda_walk_flush(c);
    status = hd_cuda_wait_anyway(c, what_for, status, w->stream); /* before its memory is given back */
    give_all(c);
    status = hd_cuda_leave(c, before, status);
    pthread_mutex_unlock(&c->walking);
    return status;
}
