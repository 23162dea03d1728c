/* SPDX-License-Identifier: Apache-2.0
 *
 * backend_cuda.c - tables in a device's memory, whose batches are run by a design's kernels. All of it is over the
 * device seam, so that a test can put a machine without a GPU, or one that fails, in its place.
 *
 * Each array of a batch is asked for by itself. Where kernels reach all of them, the batch is put on its stream, and
 * nothing is waited for. Otherwise staging.c copies the arrays that kernels do not reach, and the batch is done when
 * the call returns.
 *
 * What batches on different streams may do at the same time is the lock's to say (concurrency/streams.h). What a launch
 * writes beside the table, besides sums, only those write that list; the lock keeps them apart, too.
 *
 * Walks, checks, growth and snapshots are the reference's, on a copy of its planes on this machine: see
 * hd_design.stage.
 */
#include "base/backend.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "concurrency/streams.h"
#include "lib/backend_cuda.h"
#include "lib/table.h"
#include "base/ask.h"
#include "base/op.h"

enum {
    BLOCKS_PER_PROCESSOR = 16, /* of 128 threads: as many as run at a time */
    PLACE = 256,               /* what a piece of an allocation is aligned to */
    SEEN = 256,
    SEEN_WAYS = 4 /* addresses of arrays that were asked for */
};

typedef struct cuda {
    const hd_gpu *gpu;
    const hd_seams *seams;
    const hd_device_seam *seam;
    hd_device device;
    void *together; /* the pieces that are one allocation */
    void *staged;   /* a state of gpu->ref between stage and settle */
    bool staged_values;
    hd_streams streams;
    _Atomic uintptr_t seen[SEEN]; /* arrays of the device; 0: none */
    _Atomic uint32_t seen_turn;
    hd_staging staging;   /* its mutex is taken before busy */
    pthread_mutex_t busy; /* held while a batch is put on a stream */
    /* (gpu->own_bytes): a hd_gpu_own and the design's; its pointers are the device's */
    _Alignas(max_align_t) unsigned char own[];
} cuda;

static hd_gpu_own *own_of(cuda *c) { return (hd_gpu_own *)(void *)c->own; }

/* ---- Asking the device ----------------------------------------------------------------------- */

#define ASK(c, what, call, ...) HD_ASK((c)->seam, what, call, __VA_ARGS__)

/* The table's device, for the calling thread; and back to the one it had. */
static hd_status enter(const cuda *c, int *before) { return ASK(c, "device", use, c->device.number, before); }

static hd_status leave(const cuda *c, int before, hd_status status)
{
    int table_s;
    if (before == c->device.number) return status;
    int code = c->seam->use(c->seam->self, before, &table_s);
    return status ? status : HD_TOLD(c->seam, code, "use", "device");
}

/* At least one byte, and no more than can be addressed. */
static hd_status take(const cuda *c, const char *what, uint64_t bytes, void **p)
{
    *p = NULL;
    int code = c->seam->take(c->seam->self, p, (size_t)bytes);
    if (code == HD_DEVICE_NO_MEMORY)
        return hd_fail(HD_ENOMEM, "%s: %s has no memory for %" PRIu64 " bytes", what, c->device.name, bytes);
    return HD_TOLD(c->seam, code, "take", what);
}

static void give(const cuda *c, void *p)
{
    if (p) c->seam->give(c->seam->self, p);
}

static bool is_apart(const hd_piece *piece) { return piece->put == HD_APART || piece->put == HD_GROWS; }
static uint64_t bytes_of(const hd_piece *piece) { return piece->count * piece->size; }

/* ---- Launching ------------------------------------------------------------------------------- */

typedef struct on_stream {
    cuda *c;
    void *stream;
    const char *what; /* as messages call what is run */
    void **prepared;  /* the stream's (hd_launch); NULL: none */
} on_stream;

static hd_status put_launch(void *self, uint32_t kernel, const void *args, size_t args_bytes, uint64_t blocks,
                            uint32_t threads)
{
    const on_stream *o = (const on_stream *)self;
    bool few = blocks <= o->c->device.processors; /* then the time of the launch itself counts */
    hd_launch l = { o->c->gpu, kernel, threads, blocks, args, args_bytes, few ? o->prepared : NULL };
    return ASK(o->c, o->what, launch, &l, o->stream);
}

static hd_status put_zero(void *self, void *p, size_t bytes)
{
    const on_stream *o = (const on_stream *)self;
    return ASK(o->c, o->what, fill, p, 0, bytes, o->stream);
}

static hd_launcher launcher_on(on_stream *o)
{
    uint64_t processors = o->c->device.processors;
    hd_launcher l = { put_launch, put_zero, o, processors * BLOCKS_PER_PROCESSOR, processors, 0, false };
    return l;
}

/* ---- Open and close -------------------------------------------------------------------------- */

hd_status hd_cuda_shape(const hd_design *d, const hd_config *config, hd_info *info)
{
    const hd_gpu *gpu = d->gpu;
    gpu->usual(info);
    hd_status status = gpu->ref->shape(gpu->ref, config, info);
    if (!status) info->memory_bytes += gpu->room_bytes(info, true) + hd_staging_bytes(&hd_staging_usual);
    return status;
}

void hd_cuda_close(void *state, const hd_seams *s)
{
    cuda *c = (cuda *)state;
    hd_piece all[HD_PIECES_MOST];
    int before = c->device.number, n = c->gpu->pieces(c->own, all);
    enter(c, &before);
    give(c, c->together);
    for (int i = 0; i < n; i++)
        if (is_apart(&all[i])) give(c, hd_field(c->own, all[i].field));
    hd_staging_close(&c->staging);
    for (int i = 0; i < n; i++)
        if (all[i].put == HD_HOST_MEMORY && hd_field(c->own, all[i].field))
            c->seam->give_pinned(c->seam->self, hd_field(c->own, all[i].field), (size_t)bytes_of(&all[i]));
    hd_streams_close(&c->streams);
    leave(c, before, HD_OK);
    if (c->staged) c->gpu->ref->close(c->staged, s);
    pthread_mutex_destroy(&c->busy);
    hd_give(s, c, 1, sizeof *c + c->gpu->own_bytes);
}

static uint64_t placed(uint64_t bytes) { return (bytes + PLACE - 1) / PLACE * PLACE; }

/* One piece more, behind *bytes of others, where all of them can be addressed; size is not 0. */
static hd_status place(const char *what, uint64_t count, uint64_t size, uint64_t *bytes)
{
    uint64_t most = (uint64_t)PTRDIFF_MAX / PLACE * PLACE - *bytes;
    if (count > most / size)
        return hd_fail(HD_ENOMEM, "%s: %" PRIu64 " x %" PRIu64 " bytes more are more than can be addressed", what,
                       count, size);
    *bytes += placed(count * size);
    return HD_OK;
}

static bool is_together(const hd_piece *piece) { return piece->put == HD_TOGETHER || piece->put == HD_OF_BATCH; }

/* One allocation for all that come together, one after another; the first one is what it is called by. */
static hd_status take_together(cuda *c, const hd_piece *all, int n)
{
    uint64_t bytes = 0;
    const char *what = NULL;
    hd_status status = HD_OK;
    for (int i = 0; i < n && !status; i++) {
        if (!is_together(&all[i])) continue;
        if (!what) what = all[i].what;
        if (all[i].size) status = place(all[i].what, all[i].count, all[i].size, &bytes);
    }
    if (!status) status = take(c, what, bytes, &c->together);
    uint8_t *at = (uint8_t *)c->together;
    for (int i = 0; i < n && !status; i++) {
        if (!is_together(&all[i])) continue;
        if (bytes_of(&all[i])) hd_field_set(c->own, all[i].field, at);
        at += placed(bytes_of(&all[i]));
    }
    return status;
}

static hd_status take_apart(cuda *c, const hd_piece *piece)
{
    void *p;
    if (bytes_of(piece) == 0) return HD_OK;
    hd_status status = take(c, piece->what, bytes_of(piece), &p);
    hd_field_set(c->own, piece->field, p);
    return status;
}

static hd_status fill(const cuda *c, const hd_piece *piece)
{
    void *p = hd_field(c->own, piece->field);
    if (!p || piece->byte == HD_AS_IT_COMES) return HD_OK;
    return ASK(c, piece->what, fill, p, piece->byte, (size_t)bytes_of(piece), NULL);
}

/* Memory of this machine. */
static hd_status take_pinned(cuda *c, const hd_piece *piece)
{
    void *p = NULL;
    if (bytes_of(piece) == 0) return HD_OK;
    int code = c->seam->take_pinned(c->seam->self, &p, (size_t)bytes_of(piece));
    if (code == HD_DEVICE_NO_MEMORY)
        return hd_fail(HD_ENOMEM, "%s: %" PRIu64 " bytes of this machine's memory cannot be pinned", piece->what,
                       bytes_of(piece));
    hd_field_set(c->own, piece->field, p);
    return HD_TOLD(c->seam, code, "take_pinned", piece->what);
}

static hd_status make_empty(cuda *c)
{
    on_stream o = { c, NULL, hd_op_name(HD_OP_CLEAR), NULL };
    hd_launcher l = launcher_on(&o);
    return c->gpu->empty(c->own, &l);
}

static hd_status take_all(cuda *c)
{
    hd_piece all[HD_PIECES_MOST];
    int n = c->gpu->pieces(c->own, all);
    hd_status status = take_together(c, all, n);
    for (int i = 0; i < n && !status; i++)
        if (is_apart(&all[i])) status = take_apart(c, &all[i]);
    for (int i = 0; i < n && !status; i++)
        if (all[i].put != HD_HOST_MEMORY) status = fill(c, &all[i]);
    for (int i = 0; i < n && !status; i++)
        if (all[i].put == HD_HOST_MEMORY) status = take_pinned(c, &all[i]);
    if (!status) c->gpu->taken(c->own);
    if (!status) status = make_empty(c);
    return status ? status : ASK(c, "table: an empty one", wait, NULL);
}

hd_status hd_cuda_open(const hd_design *d, const hd_info *info, const hd_seams *s, void **state)
{
    const hd_gpu *gpu = d->gpu;
    hd_device device = { 0, 0, "" };
    int code = s->device->find(s->device->self, &device);
    if (code) return hd_fail(HD_ECUDA, "no CUDA device: %s", s->device->error(s->device->self, code));

    void *p;
    size_t bytes = sizeof(cuda) + gpu->own_bytes;
    hd_status status = hd_take(s, "table", 1, bytes, &p);
    if (status) return status;
    cuda *c = (cuda *)memset(p, 0, bytes);
    c->gpu = gpu;
    c->seams = s;
    c->seam = s->device;
    c->device = device;
    own_of(c)->info = *info;
    own_of(c)->device = true;
    gpu->begin(c->own);
    hd_staging_open(&c->staging, c->seam, c->device.name);
    pthread_mutex_init(&c->busy, NULL);
    status = take_all(c);
    if (!status) status = hd_streams_open(&c->streams, c->seam, hd_lock_named(info->lock), own_of(c)->word, gpu);
    if (status)
        hd_cuda_close(c, s);
    else
        *state = c;
    return status;
}

/* ---- On this machine for a while ------------------------------------------------------------- */

/* After a failure, too: no copy in flight may arrive after its memory has another owner. */
static hd_status wait_anyway(const cuda *c, const char *what, hd_status status, void *stream)
{
    int code = c->seam->wait(c->seam->self, stream);
    return status ? status : HD_TOLD(c->seam, code, "wait", what);
}

/* The planes, one way or the other. Batches wait for it and are waited for. */
static hd_status copy_planes(cuda *c, hd_way way)
{
    hd_plane all[HD_PIECES_MOST];
    int n = c->gpu->planes(c->own, c->staged, c->staged_values, all);
    hd_status status = hd_streams_join(&c->streams), joined = status;
    for (int i = 0; i < n && !status; i++) {
        if (all[i].bytes == 0) continue;
        if (way == HD_TO_DEVICE)
            status = ASK(c, all[i].what, copy, all[i].there, all[i].here, (size_t)all[i].bytes, way, NULL);
        else
            status = ASK(c, all[i].what, copy, all[i].here, all[i].there, (size_t)all[i].bytes, way, NULL);
    }
    if (!joined) status = hd_streams_part(&c->streams, status);
    return wait_anyway(c, "planes", status, NULL);
}

static void unstage(cuda *c)
{
    c->gpu->ref->close(c->staged, c->seams);
    c->staged = NULL;
}

hd_status hd_cuda_stage(void *state, bool values)
{
    cuda *c = (cuda *)state;
    int before = c->device.number;
    hd_status status = c->gpu->open_here(c->own, c->seams, &c->staged);
    if (status) return c->staged = NULL, status;
    c->staged_values = values;
    status = enter(c, &before);
    if (!status) status = copy_planes(c, HD_FROM_DEVICE);
    status = leave(c, before, status);
    if (status) unstage(c);
    return status;
}

hd_status hd_cuda_settle(void *state, bool changed)
{
    cuda *c = (cuda *)state;
    int before = c->device.number;
    hd_status status = HD_OK;
    if (!c->staged) return HD_OK;
    if (changed) {
        status = enter(c, &before);
        if (!status) status = copy_planes(c, HD_TO_DEVICE);
        status = leave(c, before, status);
    }
    unstage(c);
    return status;
}

hd_status hd_cuda_check(void *state) { return ((cuda *)state)->gpu->ref->check(((cuda *)state)->staged); }
bool hd_cuda_next(void *state, hd_entry *e) { return ((cuda *)state)->gpu->ref->next(((cuda *)state)->staged, e); }
bool hd_cuda_put_at(void *state, const hd_entry *e)
{
    return ((cuda *)state)->gpu->ref->put_at(((cuda *)state)->staged, e);
}
bool hd_cuda_put(void *state, const hd_entry *e) { return ((cuda *)state)->gpu->ref->put(((cuda *)state)->staged, e); }
void hd_cuda_move_all(void *from, void *to)
{
    ((cuda *)from)->gpu->ref->move_all(((cuda *)from)->staged, ((cuda *)to)->staged);
}

/* Words that kernels count in, which are 0 then. */
static hd_status fetch_counts(cuda *c, uint64_t *here, uint64_t *there, size_t bytes)
{
    hd_status status = ASK(c, "counters", copy, here, there, bytes, HD_FROM_DEVICE, NULL);
    return status ? status : ASK(c, "counters", fill, there, 0, bytes, NULL);
}

static hd_status tally_here(cuda *c, uint64_t *outcome, uint64_t *op)
{
    uint64_t n[HD_OUTCOME_COUNT], ops[HD_OP_COUNT_] = { 0 };
    hd_status status = hd_streams_join(&c->streams), joined = status;
    if (!status) status = fetch_counts(c, n, own_of(c)->tally, sizeof n);
    if (!status && own_of(c)->op) status = fetch_counts(c, ops, own_of(c)->op, sizeof ops);
    if (!joined) status = hd_streams_part(&c->streams, status);
    status = wait_anyway(c, "counters", status, NULL);
    for (int o = 0; o < HD_OUTCOME_COUNT && !status; o++) outcome[o] += n[o];
    for (int o = 0; o < HD_OP_COUNT_ && !status; o++) op[o] += ops[o];
    return status;
}

hd_status hd_cuda_tally(void *state, uint64_t *outcome, uint64_t *op)
{
    cuda *c = (cuda *)state;
    int before = c->device.number;
    hd_status status = enter(c, &before);
    if (!status) status = tally_here(c, outcome, op);
    return leave(c, before, status);
}

static hd_status clock_here(cuda *c, uint64_t *ns)
{
    on_stream o = { c, NULL, "clock", NULL };
    hd_launcher l = launcher_on(&o);
    uint64_t *there;
    if (!c->gpu->read_clock) return *ns = 0, HD_OK; /* no policy of the design asks for it */
    hd_status status = c->gpu->read_clock(c->own, &l, &there);
    if (!status) status = ASK(c, "clock", copy, ns, there, sizeof *ns, HD_FROM_DEVICE, NULL);
    return wait_anyway(c, "clock", status, NULL);
}

hd_status hd_cuda_clock(void *state, uint64_t *ns)
{
    cuda *c = (cuda *)state;
    int before = c->device.number;
    hd_status status = enter(c, &before);
    if (!status) status = clock_here(c, ns);
    return leave(c, before, status);
}

/* ---- Growth in place ------------------------------------------------------------------------- */

static hd_status take_more(void *self, const hd_piece *piece)
{
    cuda *c = ((on_stream *)self)->c;
    hd_status status = take_apart(c, piece);
    return status ? status : fill(c, piece);
}

static void give_back(void *self, const hd_piece *piece)
{
    cuda *c = ((on_stream *)self)->c;
    give(c, hd_field(c->own, piece->field));
    hd_field_set(c->own, piece->field, NULL);
}

static hd_status read_grown(void *self, void *here, const void *there, size_t bytes)
{
    cuda *c = ((on_stream *)self)->c;
    hd_status status = ASK(c, "resize: what was counted", copy, here, there, bytes, HD_FROM_DEVICE, NULL);
    return wait_anyway(c, "resize", status, NULL);
}

/* Between all batches before it and all that follow. */
static hd_status resize_here(cuda *c, uint64_t buckets, hd_info *info)
{
    on_stream o = { c, NULL, "resize", NULL };
    const hd_gpu_machine m = { launcher_on(&o), take_more, give_back, read_grown, &o };
    hd_status status = hd_streams_join(&c->streams), joined = status;
    if (!status) status = c->gpu->resize(c->own, NULL, &m, buckets, info);
    own_of(c)->info = *info;
    if (!joined) status = hd_streams_part(&c->streams, status);
    return wait_anyway(c, "resize", status, NULL);
}

hd_status hd_cuda_resize(void *state, const hd_seams *s, uint64_t buckets, hd_info *info)
{
    (void)s;
    cuda *c = (cuda *)state;
    int before = c->device.number;
    hd_status status = enter(c, &before);
    if (!status) status = resize_here(c, buckets, info);
    return leave(c, before, status);
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
} visit;

/* Everything that is put on the stream between enter and leave, and nothing else: concurrency/word.h says why. */
static hd_status put_batch(cuda *c, const hd_batch *b, visit *v)
{
    on_stream o = { c, b->stream, hd_row_of_batch(b)->name, NULL };
    hd_launcher l = launcher_on(&o);
    pthread_mutex_lock(&c->busy);
    hd_status status = hd_streams_may_capture(&c->streams, &v->lock);
    if (!status && !(status = hd_streams_enter(&c->streams, &v->lock))) {
        o.prepared = hd_streams_prepared(&c->streams, &v->lock);
        status = hd_streams_leave(&c->streams, &v->lock, c->gpu->launch(c->own, &l, v->row, b, v->when));
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
    return hd_staging_run(&c->staging, b, own_of(c)->info.value_bytes, all, reach, used, uncut, put_piece, &p);
}

static hd_status run_batch(cuda *c, uint32_t row, const hd_batch *b, hd_when when)
{
    hd_array all[HD_ARRAYS_MOST];
    hd_reach reach[HD_ARRAYS_MOST];
    int used = hd_batch_arrays(b, own_of(c)->info.value_bytes, all), out_of_reach = 0;
    visit v = { row, when, { b->stream, hd_row_of_batch(b)->role, c->gpu->lists(c->own, b), { 0, 0 }, NULL } };
    hd_status status = find_all(c, b, all, used, reach, &out_of_reach);
    if (!status) status = ASK(c, "batch: its stream", stream_state, b->stream, &v.lock.is);
    if (v.lock.is.capture) v.when.own = false; /* it will be run again, at the same times */
    if (status) return status;
    return out_of_reach ? put_with_arrays(c, b, &v, all, reach, used) : put_batch(c, b, &v);
}

/* No batch that was put on a stream before knows the piece, so it waits for none. */
static hd_status take_needed(cuda *c, const hd_batch *b, const hd_piece *piece)
{
    hd_stream_state is = { 0, 0 };
    hd_status status = ASK(c, "batch: its stream", stream_state, b->stream, &is);
    if (!status && is.capture)
        return hd_fail(HD_EINVAL, "%s: stream: it is being captured, and the table has no room for %s yet",
                       hd_row_of_batch(b)->name, piece->what);
    if (!status) status = take_apart(c, piece);
    if (!status) status = wait_anyway(c, piece->what, fill(c, piece), NULL);
    if (!status) return HD_OK;
    give(c, hd_field(c->own, piece->field));
    hd_field_set(c->own, piece->field, NULL);
    return status;
}

hd_status hd_cuda_prepare(void *state, const hd_seams *s, const hd_batch *b, hd_info *info)
{
    cuda *c = (cuda *)state;
    int before = c->device.number;
    hd_piece piece;
    hd_info then = *info;
    (void)s;
    if (!c->gpu->needs(c->own, b, &piece, &then)) return HD_OK;
    hd_status status = enter(c, &before);
    pthread_mutex_lock(&c->busy); /* no batch reads the own part */
    if (!status) status = take_needed(c, b, &piece);
    if (!status) own_of(c)->info = *info = then;
    pthread_mutex_unlock(&c->busy);
    return leave(c, before, status);
}

/* Outcomes are counted over there: hd_cuda_tally. */
hd_status hd_cuda_launch(void *state, uint32_t row, const hd_batch *b, hd_when when, uint64_t *tally)
{
    cuda *c = (cuda *)state;
    int before = c->device.number;
    (void)tally;
    hd_status status = enter(c, &before);
    if (!status) status = run_batch(c, row, b, when);
    return leave(c, before, status);
}

void hd_cuda_staging(hd_table *t, const hd_staging_sizes *sizes) { ((cuda *)t->state)->staging.sizes = *sizes; }
