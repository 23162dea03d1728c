/* SPDX-License-Identifier: Apache-2.0
 *
 * backend_cuda.c - tables in a device's memory, whose batches are run by a design's kernels. All of it is over the
 * device seam, so that a test can put a machine without a GPU, or one that fails, in its place. Here a table is opened
 * and closed, and batches are put on streams.
 *
 * Each array of a batch is asked for by itself. Where kernels reach all of them, the batch is put on its stream, and
 * nothing is waited for. Otherwise staging.c copies the arrays that kernels do not reach, and the batch is done when
 * the call returns.
 *
 * What batches on different streams may do at the same time is the lock's to say (concurrency/streams.h). What a launch
 * writes beside the table, besides sums, only those write that list; the lock keeps them apart, too.
 *
 * An atomic addition across the bus takes a microsecond. So kernels add up a number that the caller wants in managed or
 * pinned memory in a word of the device, of which the table has one, and a copy follows on the stream.
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/op.h"
#include "lib/backend_cuda.h"
#include "lib/cuda_state.h"
#include "lib/table.h"

typedef hd_cuda cuda;

#define ASK HD_CUDA_ASK

enum { SEEN = HD_CUDA_SEEN, SEEN_WAYS = 4 /* addresses of arrays that were asked for */ };

static hd_gpu_state *state_of(cuda *c) { return hd_cuda_state(c); }

/* ---- Open and close -------------------------------------------------------------------------- */

static hd_status shape(const hd_design *d, const hd_config *config, hd_info *info)
{
    hd_status status = hd_gpu_shape(d, config, info, true);
    if (!status) info->memory_bytes += hd_gpu_scratch(d->gpu, info, true) + hd_staging_bytes(&hd_staging_usual);
    return status;
}

void hd_cuda_close(void *state, const hd_seams *s)
{
    cuda *c = (cuda *)state;
    int before = c->device.number;
    hd_cuda_enter(c, &before);
    hd_cuda_give_all(c);
    hd_staging_close(&c->staging);
    hd_streams_close(&c->streams);
    hd_cuda_leave(c, before, HD_OK);
    if (c->staged) c->design->ref->close(c->staged, s);
    pthread_mutex_destroy(&c->busy);
    pthread_mutex_destroy(&c->walking);
    hd_give(s, c, 1, sizeof *c + c->gpu->state_bytes);
}

static hd_status make_empty(cuda *c)
{
    hd_cuda_stream o = { c, NULL, hd_op_name(HD_OP_CLEAR), NULL };
    hd_launcher l = hd_cuda_launcher(&o);
    hd_status status = c->gpu->empty(c->state, &l);
    return status ? status : ASK(c, "table: an empty one", wait, NULL);
}

static _Thread_local uint64_t window_items;
void hd_cuda_windows(uint64_t items) { window_items = items; }

/* bare: the planes of the table are as they come. */
static hd_status open_table(const hd_design *d, const hd_info *info, const hd_seams *s, bool bare, void **state)
{
    const hd_gpu *gpu = d->gpu;
    hd_device device = { 0, 0, 0, "" };
    int code = s->device->find(s->device->self, &device);
    if (code) return hd_fail(HD_ECUDA, "no CUDA device: %s", s->device->error(s->device->self, code));

    void *p;
    size_t bytes = sizeof(cuda) + gpu->state_bytes;
    hd_status status = hd_take(s, "table", 1, bytes, &p);
    if (status) return status;
    cuda *c = (cuda *)memset(p, 0, bytes);
    c->design = d;
    c->gpu = gpu;
    c->seams = s;
    c->seam = s->device;
    c->device = device;
    state_of(c)->info = *info;
    state_of(c)->device = true;
    state_of(c)->page = s->allocator.device_take ? 0 : device.page;
    state_of(c)->window_most = window_items;
    gpu->begin(c->state);
    hd_staging_open(&c->staging, s, c->device.name);
    pthread_mutex_init(&c->busy, NULL);
    pthread_mutex_init(&c->walking, NULL);
    status = hd_cuda_take_all(c);
    if (!status && !bare) status = make_empty(c);
    if (!status) status = hd_streams_open(&c->streams, c->seam, hd_lock_named(info->lock), state_of(c)->word, gpu);
    if (status)
        hd_cuda_close(c, s);
    else
        *state = c;
    return status;
}

static hd_status open_filled(const hd_design *d, const hd_info *info, const hd_seams *s, void **state)
{
    return open_table(d, info, s, false, state);
}

hd_status hd_cuda_open_bare(const hd_design *d, const hd_info *info, const hd_seams *s, void **state)
{
    return open_table(d, info, s, true, state);
}

/* ---- Where a batch's arrays are -------------------------------------------------------------- */

/* The word of `seen` that has the address, or the one to give to it. */
static _Atomic uintptr_t *seen_at(cuda *c, uintptr_t p, bool *has)
{
    uint32_t home = (uint32_t)((uint64_t)p * 0x9e3779b97f4a7c15u >> 32) % (SEEN / SEEN_WAYS) * SEEN_WAYS;
    for (uint32_t i = 0; i < SEEN_WAYS; i++)
        if ((*has = atomic_load_explicit(&c->seen[home + i], memory_order_relaxed) == p)) return &c->seen[home + i];
    return &c->seen[home + atomic_fetch_add_explicit(&c->seen_turn, 1, memory_order_relaxed) % SEEN_WAYS];
}

/* To ask takes a tenth of a microsecond, and callers use their arrays again. Only memory of a device is remembered: its
 * addresses are no other memory's as long as the process uses CUDA. Memory of this machine may be pinned at one time
 * and not at another. */
static hd_status find_reach(cuda *c, const void *p, hd_reach *reach)
{
    bool seen;
    _Atomic uintptr_t *word = seen_at(c, (uintptr_t)p, &seen);
    *reach = HD_REACH_DEVICE;
    if (seen) return HD_OK;
    hd_status status = ASK(c, "batch: its arrays", reach, p, reach);
    if (!status && *reach == HD_REACH_DEVICE) atomic_store_explicit(word, (uintptr_t)p, memory_order_relaxed);
    return status;
}

/* Where each of `all` is, and how many kernels do not reach. */
static hd_status find_all(cuda *c, const hd_batch *b, const hd_array *all, int n, hd_reach *reach, int *out_of_reach)
{
    hd_status status = HD_OK;
    *out_of_reach = 0;
    for (int i = 0; i < n && !status; i++) {
        status = find_reach(c, all[i].p, &reach[i]);
        if (!status && reach[i] == HD_REACH_OTHER)
            status = hd_fail(HD_EINVAL, "%s: %s: it is in another device's memory, which %s cannot access",
                             hd_row_of_batch(b)->name, all[i].name, c->device.name);
        *out_of_reach += reach[i] == HD_REACH_NONE;
    }
    return status;
}

/* ---- A batch --------------------------------------------------------------------------------- */

/* A batch that is about to be run: by which row, when, and as the lock sees it. */
typedef struct visit {
    uint32_t row;
    hd_when when;
    hd_visit lock;
    uint64_t *sum_to; /* where the sum of kernels is copied to; NULL: they add it up where it is wanted */
} visit;

static hd_status launch_batch(cuda *c, const hd_launcher *l, const hd_batch *b, const visit *v)
{
    if (!v->sum_to) return c->gpu->launch(c->state, l, v->row, b, v->when);
    hd_batch there = *b;
    there.count = state_of(c)->sum;
    hd_status status = c->gpu->launch(c->state, l, v->row, &there, v->when);
    if (status) return status;
    return ASK(c, "batch: its count", copy, v->sum_to, there.count, sizeof *v->sum_to, HD_FROM_DEVICE, b->stream);
}

/* Everything that is put on the stream between enter and leave, and nothing else: concurrency/word.h says why. */
static hd_status put_batch(cuda *c, const hd_batch *b, visit *v)
{
    hd_cuda_stream o = { c, b->stream, hd_row_of_batch(b)->name, NULL };
    hd_launcher l = hd_cuda_launcher(&o);
    pthread_mutex_lock(&c->busy);
    hd_status status = hd_streams_may_capture(&c->streams, &v->lock);
    if (!status && !(status = hd_streams_enter(&c->streams, &v->lock))) {
        o.prepared = hd_streams_prepared(&c->streams, &v->lock);
        status = hd_streams_leave(&c->streams, &v->lock, launch_batch(c, &l, b, v));
    }
    pthread_mutex_unlock(&c->busy);
    return status;
}

/* A piece of a batch with host arrays. */
typedef struct cut_visit {
    cuda *c;
    const visit *whole;
} cut_visit;

static hd_status put_piece(void *self, const hd_batch *b, uint64_t first)
{
    const cut_visit *p = (const cut_visit *)self;
    visit v = *p->whole;
    v.when.clock += first * v.when.per_item;
    return put_batch(p->c, b, &v);
}

/* The name of the first array that kernels do not reach. */
static const char *first_out_of_reach(const hd_array *all, const hd_reach *reach)
{
    int i = 0;
    while (reach[i] != HD_REACH_NONE) i++;
    return all[i].name;
}

/* Graphs of captured batches are launched when their owner wants to, also between two pieces. */
static hd_status put_with_arrays(cuda *c, const hd_batch *b, const visit *v, const hd_array *all, const hd_reach *reach,
                                 int used)
{
    cut_visit p = { c, v };
    if (v->lock.is.capture)
        return hd_fail(HD_EINVAL, "%s: stream: it is being captured, and %s is in memory that kernels do not reach",
                       hd_row_of_batch(b)->name, first_out_of_reach(all, reach));
    pthread_mutex_lock(&c->busy);
    bool uncut = c->streams.capture != 0;
    pthread_mutex_unlock(&c->busy);
    return hd_staging_run(&c->staging, b, state_of(c)->info.value_bytes, all, reach, used, uncut, put_piece, &p);
}

/* Whether the batch adds up a number that lies in managed or pinned memory. */
static bool is_summed_apart(cuda *c, const hd_batch *b, const hd_array *all, const hd_reach *reach, int used)
{
    if (!state_of(c)->sum || !hd_op_adds_up(hd_row_of_batch(b))) return false;
    for (int i = 0; i < used; i++)
        if (all[i].field == offsetof(hd_batch, count)) return reach[i] == HD_REACH_BOTH;
    return false;
}

static hd_status run_batch(cuda *c, uint32_t row, const hd_batch *b, hd_when when)
{
    hd_array all[HD_ARRAYS_MOST];
    hd_reach reach[HD_ARRAYS_MOST];
    int used = hd_batch_arrays(b, state_of(c)->info.value_bytes, all), out_of_reach = 0;
    visit v = { row, when, { b->stream, hd_role_of_batch(b), c->gpu->lists(c->state, row, b), { 0, 0 }, NULL }, NULL };
    hd_status status = find_all(c, b, all, used, reach, &out_of_reach);
    if (!status) status = ASK(c, "batch: its stream", stream_state, b->stream, &v.lock.is);
    if (!status && v.lock.is.capture && when.repeats)
        status = hd_fail(HD_EINVAL,
                         "%s: stream: it is being captured, and launches of the graph would repeat its times; "
                         "take the clock 'device', or set capture_times",
                         hd_row_of_batch(b)->name);
    if (v.lock.is.capture) v.when.own = v.when.rises = false; /* it will be run again, at the same times */
    if (status) return status;
    if (is_summed_apart(c, b, all, reach, used)) {
        v.sum_to = b->count;
        v.lock.lists = true;
    }
    return out_of_reach ? put_with_arrays(c, b, &v, all, reach, used) : put_batch(c, b, &v);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static int extents(void *state, hd_extent *all)
{
    const cuda *c = (const cuda *)state;
    return c->gpu->extents(c->state, all);
}

/* Work that the table does while no batch runs. */
typedef hd_status at_rest(cuda *c, const hd_gpu_machine *m, void *context);
static hd_status run_at_rest(cuda *c, const char *what, at_rest *work, void *context)
{
    hd_cuda_stream o = { c, NULL, what, NULL };
    const hd_gpu_machine m = hd_cuda_machine(&o);
    int before = c->device.number;
    hd_status status = hd_cuda_enter(c, &before);
    return status ? status : hd_cuda_leave(c, before, hd_cuda_wait_anyway(c, what, work(c, &m, context), NULL));
}

static hd_status recover(cuda *c, const hd_gpu_machine *m, void *did)
{
    return c->gpu->recovered(c->state, m, (hd_recovery *)did);
}
static hd_status recovered(void *state, hd_recovery *did)
{
    return run_at_rest((cuda *)state, "recovery", recover, did);
}

typedef struct page_map {
    uint8_t *page;
    uint64_t pages;
} page_map;
static hd_status read_changed(cuda *c, const hd_gpu_machine *m, void *map)
{
    return c->gpu->changed(c->state, m, ((page_map *)map)->page, ((page_map *)map)->pages);
}
static hd_status changed(void *state, uint8_t *page, uint64_t pages)
{
    page_map map = { page, pages };
    cuda *c = (cuda *)state;
    return c->gpu->changed ? run_at_rest(c, "changed pages", read_changed, &map) : HD_OK;
}

static hd_status arrange_there(cuda *c, const hd_gpu_machine *m, void *context)
{
    return (void)context, c->gpu->arrange(c->state, m);
}
static hd_status arrange(void *state)
{
    cuda *c = (cuda *)state;
    return c->gpu->arrange ? run_at_rest(c, "order of free cells", arrange_there, NULL) : HD_OK;
}

/* ---- A view ---------------------------------------------------------------------------------- */

/* With the table's device, and with busy. */
static hd_status begin_view(cuda *c, void *stream)
{
    c->viewing = (hd_visit){ stream, HD_READER, false, { 0, 0 }, NULL };
    hd_status status = ASK(c, "view: its stream", stream_state, stream, &c->viewing.is);
    if (!status && c->viewing.is.capture) status = hd_fail(HD_EINVAL, "view: stream: it is being captured");
    return status ? status : hd_streams_enter(&c->streams, &c->viewing);
}

static hd_status view_open(void *state, void *stream, hd_view *view)
{
    cuda *c = (cuda *)state;
    int before = c->device.number;
    hd_status status = hd_cuda_enter(c, &before);
    if (status) return status;
    pthread_mutex_lock(&c->busy);
    status = hd_cuda_leave(c, before, begin_view(c, stream));
    if (status) {
        pthread_mutex_unlock(&c->busy);
        return status;
    }
    c->gpu->view(c->state, view);
    return HD_OK;
}

static hd_status view_end(void *state, void *stream)
{
    cuda *c = (cuda *)state;
    int before = c->device.number;
    (void)stream;
    hd_status status = hd_cuda_enter(c, &before);
    if (!status) status = hd_cuda_leave(c, before, hd_streams_leave(&c->streams, &c->viewing, HD_OK));
    pthread_mutex_unlock(&c->busy);
    return status;
}

/* ---- Memory that a batch needs --------------------------------------------------------------- */

/* No batch that was put on a stream before knows the piece, so it waits for none. */
static hd_status take_needed(cuda *c, const hd_batch *b, const hd_memory *piece)
{
    hd_stream_state is = { 0, 0 };
    hd_status status = ASK(c, "batch: its stream", stream_state, b->stream, &is);
    if (!status && is.capture)
        return hd_fail(HD_EINVAL, "%s: stream: it is being captured, and the table has no room for %s yet",
                       hd_row_of_batch(b)->name, piece->what);
    if (!status) status = hd_cuda_take_piece(c, piece);
    if (!status) status = hd_cuda_wait_anyway(c, piece->what, hd_cuda_fill_piece(c, piece), NULL);
    if (!status) return HD_OK;
    hd_cuda_give_piece(c, piece);
    return status;
}

static hd_status prepare(void *state, const hd_seams *s, const hd_batch *b, hd_info *info)
{
    cuda *c = (cuda *)state;
    int before = c->device.number;
    hd_memory piece;
    hd_info then = *info;
    (void)s;
    if (!c->gpu->needs(c->state, b, &piece, &then)) return HD_OK;
    hd_status status = hd_cuda_enter(c, &before);
    pthread_mutex_lock(&c->busy); /* no batch reads the state */
    if (!status) status = take_needed(c, b, &piece);
    if (!status) state_of(c)->info = *info = then;
    pthread_mutex_unlock(&c->busy);
    return hd_cuda_leave(c, before, status);
}

/* Outcomes are counted over there: hd_cuda_tally. */
static hd_status launch(void *state, uint32_t row, const hd_batch *b, hd_when when, uint64_t *tally)
{
    cuda *c = (cuda *)state;
    int before = c->device.number;
    (void)tally;
    hd_status status = hd_cuda_enter(c, &before);
    if (!status) status = run_batch(c, row, b, when);
    return hd_cuda_leave(c, before, status);
}

static bool runs(const hd_design *d) { return d->gpu->empty != NULL; }

/* clang-format off */
const hd_backend hd_backend_cuda = {
    .name = "cuda", .device_arrays = true, .runs = runs, .shape = shape, .open = open_filled, .close = hd_cuda_close,
    .stage = hd_cuda_stage, .settle = hd_cuda_settle, .walk = hd_cuda_walk, .look = hd_cuda_look,
    .walked = hd_cuda_walked, .clock = hd_cuda_clock, .check = hd_cuda_check, .next = hd_cuda_next,
    .learn = hd_cuda_learn, .put_at = hd_cuda_put_at, .move_all = hd_cuda_move_all, .grow = hd_cuda_grow,
    .resize = hd_cuda_resize, .set_near = hd_cuda_set_near, .room_for = hd_cuda_room_for, .view = view_open,
    .view_end = view_end, .prepare = prepare, .tally = hd_cuda_tally, .extents = extents,
    .recovered = recovered, .changed = changed, .arrange = arrange, .launch = launch
};
/* clang-format on */

void hd_cuda_staging(hd_table *t, const hd_staging_sizes *sizes) { ((cuda *)t->state)->staging.sizes = *sizes; }
