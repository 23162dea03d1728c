/* SPDX-License-Identifier: Apache-2.0
 *
 * backend_cuda.c - HKV tables in a device's memory. All of it is over the device seam, so that a test can put a machine without a
 * GPU, or one that fails, in its place.
 *
 * A batch's arrays are either all the device's or all this machine's; the first one tells. The device's: the batch is put on
 * its stream, and nothing is waited for. This machine's: they are brought over and back, and the batch is done when the call
 * returns (for tools and tests; a copy costs more than most batches).
 *
 * What batches on different streams may do at the same time is the lock's to say (concurrency/streams.h). What a launch writes beside
 * the table, besides sums, only those write that list; the lock keeps them apart, too.
 *
 * Walks, checks, growth and snapshots are the reference's, on a copy of the planes on this machine: see hd_design.stage. Far values
 * are not copied for it.
 */
#include "lib/backend.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "concurrency/streams.h"
#include "lib/ask.h"
#include "lib/op.h"
#include "ref/hkv.h"

extern const hd_design hd_design_hkv, hd_design_hkv_cuda;

enum {
    STAGE_BYTES = 64 << 20, STAGE_SHARE = 32, /* of the window that lists are made in, about: this, or a part of the table */
    WINDOW_LEAST = 1 << 12, WINDOW_MOST = 1 << 20,
    BLOCKS_PER_PROCESSOR = 16, /* of 128 threads: as many as run at a time */
    PLACE = 256                /* what an array brought over is aligned to */
};

typedef struct cuda {
    const hd_seams *seams;
    const hd_device_seam *seam;
    hd_device device;
    hd_info info;
    hkv_view v;       /* its pointers are the device's */
    hkv_room room;    /* likewise                      */
    void *pieces;     /* what these two are in, but for the values */
    uint64_t window;
    bool unfinished;  /* hkv_launcher */
    void *staged;     /* a state of hd_design_hkv between stage and settle */
    bool staged_values;
    hd_streams streams;
    uint8_t *brought; /* arrays of this machine, over there */
    uint64_t brought_bytes;
    pthread_mutex_t bringing; /* whose arrays are brought; before busy */
    pthread_mutex_t busy;     /* who puts a batch on a stream          */
} cuda;

/* ---- Asking the device -------------------------------------------------------------------------------------- */

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
    if (code == HD_DEVICE_NO_MEMORY) return hd_fail(HD_ENOMEM, "%s: %s has no memory for %" PRIu64 " bytes", what, c->device.name, bytes);
    return HD_TOLD(c->seam, code, "take", what);
}

static void give(const cuda *c, void *p)
{
    if (p) c->seam->give(c->seam->self, p);
}

/* ---- Open and close -------------------------------------------------------------------------------------------- */

/* As many as fit into the stage, but no more than a small table has a use for. */
static uint64_t window_for(const hd_info *info)
{
    uint64_t share = info->capacity * (HD_METADATA_MOST + (uint64_t)info->value_bytes) / STAGE_SHARE;
    uint64_t n = (share > STAGE_BYTES ? share : STAGE_BYTES) / (17 + (uint64_t)info->value_bytes);
    if (n > info->capacity) n = info->capacity;
    return n < WINDOW_LEAST ? WINDOW_LEAST : n > WINDOW_MOST ? WINDOW_MOST : n;
}

static hd_status cuda_shape(const hd_config *config, hd_info *info)
{
    if (info->layout == HD_LAYOUT_USUAL) info->layout = HD_LAYOUT_PAIRS;
    hd_status status = hd_design_hkv.shape(config, info);
    uint64_t listed_bytes = 17 + (uint64_t)info->value_bytes;
    info->memory_bytes += info->buckets * sizeof(uint32_t) + sizeof(hkv_words) + window_for(info) * listed_bytes + hkv_fetch_bytes(info) + hkv_left_bytes(info);
    return status;
}

static void cuda_close(void *state, const hd_seams *s)
{
    cuda *c = (cuda *)state;
    int before = c->device.number;
    void *const all[] = { c->pieces, c->v.value, c->brought };
    enter(c, &before);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) give(c, all[i]);
    if (c->v.far) c->seam->give_far(c->seam->self, c->v.far, (size_t)hkv_far_bytes(&c->v));
    hd_streams_close(&c->streams);
    leave(c, before, HD_OK);
    if (c->staged) hd_design_hkv.close(c->staged, s);
    pthread_mutex_destroy(&c->busy);
    pthread_mutex_destroy(&c->bringing);
    hd_give(s, c, 1, sizeof *c);
}

enum { AS_IT_COMES = -1 };

/* A piece of the device's memory, and the byte that it is filled with. */
typedef struct piece {
    const char *what;
    void **p;
    uint64_t count, size;
    int byte;
} piece;

static uint64_t placed(uint64_t bytes) { return (bytes + PLACE - 1) / PLACE * PLACE; }

/* One piece more, behind *bytes of others, where all of them can be addressed; size is not 0. */
static hd_status place(const char *what, uint64_t count, uint64_t size, uint64_t *bytes)
{
    uint64_t most = (uint64_t)PTRDIFF_MAX / PLACE * PLACE - *bytes;
    if (count > most / size) return hd_fail(HD_ENOMEM, "%s: %" PRIu64 " x %" PRIu64 " bytes more are more than can be addressed", what, count, size);
    *bytes += placed(count * size);
    return HD_OK;
}

/* One allocation for all of them, one after another. */
static hd_status take_pieces(cuda *c, const char *what, const piece *all, int n)
{
    uint64_t bytes = 0;
    hd_status status = HD_OK;
    for (int i = 0; i < n && !status; i++)
        if (all[i].size) status = place(all[i].what, all[i].count, all[i].size, &bytes);
    if (!status) status = take(c, what, bytes, &c->pieces);
    uint8_t *at = (uint8_t *)c->pieces;
    for (int i = 0; i < n && !status; i++) {
        if (all[i].count && all[i].size) *all[i].p = at;
        at += placed(all[i].count * all[i].size);
    }
    return status;
}

static hd_status make_empty(cuda *c);

/* The tier that is this machine's. */
static hd_status take_far(cuda *c)
{
    void *p = NULL;
    uint64_t bytes = hkv_far_bytes(&c->v);
    if (bytes == 0) return HD_OK;
    int code = c->seam->take_far(c->seam->self, &p, (size_t)bytes);
    if (code == HD_DEVICE_NO_MEMORY) return hd_fail(HD_ENOMEM, "capacity: far values: %" PRIu64 " bytes of this machine's memory cannot be pinned", bytes);
    c->v.far = (uint8_t *)p;
    return HD_TOLD(c->seam, code, "take_far", "capacity: far values");
}

static hd_status take_all(cuda *c)
{
    hkv_view *v = &c->v;
    hkv_room *r = &c->room;
    uint64_t entries = hkv_capacity(v), value_bytes = v->value_bytes, fetches = hkv_fetch_window(&c->info);
    void *digest, *key, *score, *bound, *value, *pin, *words, *lock, *flag, *stage_key, *stage_score, *stage_value;
    void *fetch_entry, *fetch_rank, *fetch_order, *fetch_count, *left_item;
    const piece all[] = {
        { "capacity: values", &value, hkv_near_bytes(v), 1, 0 }, /* apart */
        { "capacity: digests", &digest, entries, 1, AS_IT_COMES }, /* these four: make_empty */
        { "capacity: keys", &key, entries, 8 * (uint64_t)v->step, AS_IT_COMES },
        { "capacity: scores", &score, v->step == 1 ? entries : 0, 8, AS_IT_COMES },
        { "capacity: bounds", &bound, hkv_bounds_of(v), 8, AS_IT_COMES },
        { "pins", &pin, v->pin_places, sizeof(hkv_pin), 0xff }, /* HD_KEY_EMPTY */
        { "table: counters", &words, 1, sizeof(hkv_words), 0 },
        { "capacity: bucket locks", &lock, v->buckets, sizeof *r->lock, 0 },
        { "table: window of lists", &flag, c->window, 1, AS_IT_COMES },
        { "table: window of lists", &stage_key, c->window, 8, AS_IT_COMES },
        { "table: window of lists", &stage_score, c->window, 8, AS_IT_COMES },
        { "table: window of lists", &stage_value, c->window, value_bytes, AS_IT_COMES },
        { "table: window of fetches", &fetch_entry, fetches, sizeof *r->fetch_entry, AS_IT_COMES },
        { "table: window of fetches", &fetch_rank, fetches, sizeof *r->fetch_rank, AS_IT_COMES },
        { "table: window of fetches", &fetch_order, fetches, sizeof *r->fetch_order, AS_IT_COMES },
        { "table: window of fetches", &fetch_count, hkv_fetch_counts(&c->info), sizeof *r->fetch_count, 0 },
        { "table: window of passes", &left_item, hkv_left_words(&c->info), sizeof *r->left_item, 0 },
    };
    enum { PIECES = sizeof all / sizeof *all };
    hd_status status = HD_OK;
    for (int i = 0; i < PIECES; i++) *all[i].p = NULL;
    status = take_pieces(c, "capacity: keys", all + 1, PIECES - 1);
    if (!status) status = take(c, all[0].what, all[0].count, all[0].p);
    for (int i = 0; i < PIECES && !status; i++)
        if (*all[i].p && all[i].byte != AS_IT_COMES) status = ASK(c, all[i].what, fill, *all[i].p, all[i].byte, (size_t)(all[i].count * all[i].size), NULL);
    v->digest = (uint8_t *)digest;
    v->key = (uint64_t *)key;
    v->score = v->step == 1 ? (uint64_t *)score : key ? (uint64_t *)key + 1 : NULL;
    v->bound = (uint64_t *)bound;
    v->value = (uint8_t *)value;
    v->pin = (hkv_pin *)pin;
    r->words = (hkv_words *)words;
    r->lock = (uint32_t *)lock;
    r->stage_flag = (uint8_t *)flag;
    r->stage_key = (uint64_t *)stage_key;
    r->stage_score = (uint64_t *)stage_score;
    r->stage_value = (uint8_t *)stage_value;
    r->fetch_entry = (uint64_t *)fetch_entry;
    r->fetch_rank = (uint32_t *)fetch_rank;
    r->fetch_order = (uint32_t *)fetch_order;
    r->fetch_count = (uint32_t *)fetch_count;
    r->left_item = (uint32_t *)left_item;
    if (!status) status = take_far(c);
    if (!status) status = make_empty(c);
    return status ? status : ASK(c, "table: an empty one", wait, NULL);
}

static hd_status cuda_open(const hd_info *info, const hd_seams *s, void **state)
{
    hd_device device = { 0, 0, "" };
    int code = s->device->find(s->device->self, &device);
    if (code) return hd_fail(HD_ECUDA, "no CUDA device: %s", s->device->error(s->device->self, code));

    void *p;
    hd_status status = hd_take(s, "table", 1, sizeof(cuda), &p);
    if (status) return status;
    cuda *c = (cuda *)memset(p, 0, sizeof(cuda));
    c->seams = s;
    c->seam = s->device;
    c->device = device;
    c->info = *info;
    c->window = window_for(info);
    c->v = hkv_view_for(info);
    pthread_mutex_init(&c->bringing, NULL);
    pthread_mutex_init(&c->busy, NULL);
    status = take_all(c);
    if (!status)
        status = hd_streams_open(&c->streams, c->seam, hd_lock_named(info->lock), &c->room.words->word, HKV_NUMBER_word_enter, HKV_NUMBER_word_leave);
    if (status) cuda_close(c, s);
    else *state = c;
    return status;
}

/* ---- On this machine for a while ----------------------------------------------------------------------------------- */

/* After a failure, too: nothing that is on its way may arrive when its memory is somebody else's. */
static hd_status wait_anyway(const cuda *c, const char *what, hd_status status, void *stream)
{
    int code = c->seam->wait(c->seam->self, stream);
    return status ? status : HD_TOLD(c->seam, code, "wait", what);
}

/* The planes and pins, one way or the other. Batches wait for it and are waited for. */
static hd_status copy_planes(cuda *c, hd_way way)
{
    hkv_view *here = hkv_view_of(c->staged);
    uint64_t entries = hkv_capacity(&c->v);
    const struct {
        const char *what;
        void *there, *here;
        uint64_t bytes;
    } all[] = {
        { "digests", c->v.digest, here->digest, entries },
        { "keys", c->v.key, here->key, entries * 8 * c->v.step },
        { "scores", c->v.score, here->score, c->v.step == 1 ? entries * 8 : 0 },
        { "bounds", c->v.bound, here->bound, hkv_bounds_of(&c->v) * 8 },
        { "values", c->v.value, here->value, c->staged_values ? hkv_near_values(&c->v) * c->v.value_bytes : 0 },
        { "pins", c->v.pin, here->pin, c->v.pin_places * sizeof *here->pin },
        { "pins", &c->room.words->pins, &here->pins, sizeof here->pins },
    };
    hd_status status = hd_streams_join(&c->streams), joined = status;
    for (size_t i = 0; i < sizeof all / sizeof *all && !status; i++) {
        if (all[i].bytes == 0) continue;
        if (way == HD_TO_DEVICE) status = ASK(c, all[i].what, copy, all[i].there, all[i].here, (size_t)all[i].bytes, way, NULL);
        else status = ASK(c, all[i].what, copy, all[i].here, all[i].there, (size_t)all[i].bytes, way, NULL);
    }
    if (!joined) status = hd_streams_part(&c->streams, status);
    return wait_anyway(c, "planes", status, NULL);
}

static void unstage(cuda *c)
{
    hd_design_hkv.close(c->staged, c->seams);
    c->staged = NULL;
}

static hd_status cuda_stage(void *state, bool values)
{
    cuda *c = (cuda *)state;
    int before = c->device.number;
    hd_status status = hkv_open_over(&c->info, c->seams, c->v.far, &c->staged); /* far values are here as they are */
    if (status) return c->staged = NULL, status;
    c->staged_values = values;
    status = enter(c, &before);
    if (!status) status = copy_planes(c, HD_FROM_DEVICE);
    status = leave(c, before, status);
    if (status) unstage(c);
    return status;
}

static hd_status cuda_settle(void *state, bool changed)
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

static hd_status cuda_check(void *state) { return hd_design_hkv.check(((cuda *)state)->staged); }
static bool cuda_next(void *state, hd_entry *e) { return hd_design_hkv.next(((cuda *)state)->staged, e); }
static bool cuda_put_at(void *state, const hd_entry *e) { return hd_design_hkv.put_at(((cuda *)state)->staged, e); }
static bool cuda_put(void *state, const hd_entry *e) { return hd_design_hkv.put(((cuda *)state)->staged, e); }
static void cuda_move_all(void *from, void *to) { hd_design_hkv.move_all(((cuda *)from)->staged, ((cuda *)to)->staged); }

static hd_status tally_here(cuda *c, uint64_t *outcome)
{
    uint64_t n[HD_OUTCOME_COUNT];
    hd_status status = hd_streams_join(&c->streams), joined = status;
    if (!status) status = ASK(c, "counters", copy, n, c->room.words->tally, sizeof n, HD_FROM_DEVICE, NULL);
    if (!status) status = ASK(c, "counters", fill, c->room.words->tally, 0, sizeof n, NULL);
    if (!joined) status = hd_streams_part(&c->streams, status);
    status = wait_anyway(c, "counters", status, NULL);
    for (int o = 0; o < HD_OUTCOME_COUNT && !status; o++) outcome[o] += n[o];
    return status;
}

static hd_status cuda_tally(void *state, uint64_t *outcome)
{
    cuda *c = (cuda *)state;
    int before = c->device.number;
    hd_status status = enter(c, &before);
    if (!status) status = tally_here(c, outcome);
    return leave(c, before, status);
}

/* ---- Arrays of this machine -------------------------------------------------------------------------------------------- */

typedef struct array {
    void *here, **field; /* its field of the kernels' argument */
    uint64_t bytes;
    bool out;            /* outputs go there too: what no item writes is to be what it was */
} array;

enum { ARRAYS = 13 };

/* Those of the batch's that kernels reach, the one that tells where they are first. */
static int arrays_of(hkv_args *a, const hd_batch *b, array *all)
{
    hkv_family family = hkv_family_of(b->op);
    uint64_t n = a->n, keyed = hkv_is_keyed(family) ? n : 0, listed = keyed || family == HKV_FAMILY_export ? n : 0, bytes = a->v.value_bytes;
    const array every[ARRAYS] = {
        { (void *)(uintptr_t)a->key, (void **)(void *)&a->key, keyed * 8, false },
        { (void *)(uintptr_t)a->value, (void **)(void *)&a->value, keyed * bytes, false },
        { (void *)(uintptr_t)a->score, (void **)(void *)&a->score, keyed * 8, false },
        { (void *)(uintptr_t)a->flag, (void **)(void *)&a->flag, keyed, false },
        { a->outcome, (void **)(void *)&a->outcome, keyed, true },
        { a->value_out, (void **)(void *)&a->value_out, keyed * bytes, true },
        { a->score_out, (void **)(void *)&a->score_out, keyed * 8, true },
        { a->ptr, (void **)(void *)&a->ptr, keyed * 8, true },
        { a->list_key, (void **)(void *)&a->list_key, listed * 8, true },
        { a->list_value, (void **)(void *)&a->list_value, listed * bytes, true },
        { a->list_score, (void **)(void *)&a->list_score, listed * 8, true },
        { a->list_item, (void **)(void *)&a->list_item, listed * 8, true },
        { a->count, (void **)(void *)&a->count, 8, true },
    };
    int used = 0;
    for (int i = 0; i < ARRAYS; i++)
        if (every[i].here && every[i].bytes) all[used++] = every[i];
    return used;
}

/* Room for them over there: kept from batch to batch, taken anew when more is needed. */
static hd_status room_for(cuda *c, const array *all, int used)
{
    uint64_t bytes = 0;
    hd_status status = HD_OK;
    for (int i = 0; i < used && !status; i++) status = place("batch: its arrays", all[i].bytes, 1, &bytes);
    if (status || bytes <= c->brought_bytes) return status;
    give(c, c->brought);
    c->brought_bytes = 0;
    void *p;
    status = take(c, "batch: its arrays", bytes, &p);
    c->brought = (uint8_t *)p;
    if (!status) c->brought_bytes = bytes;
    return status;
}

static hd_status bring(cuda *c, const array *all, int used, void *stream)
{
    hd_status status = room_for(c, all, used);
    uint8_t *at = c->brought;
    for (int i = 0; i < used && !status; i++) {
        *all[i].field = at;
        status = ASK(c, "batch: an array to the device", copy, at, all[i].here, (size_t)all[i].bytes, HD_TO_DEVICE, stream);
        at += placed(all[i].bytes);
    }
    return status;
}

static hd_status bring_back(cuda *c, const array *all, int used, void *stream)
{
    hd_status status = HD_OK;
    for (int i = 0; i < used && !status; i++)
        if (all[i].out) status = ASK(c, "batch: an array from the device", copy, all[i].here, *all[i].field, (size_t)all[i].bytes, HD_FROM_DEVICE, stream);
    return status;
}

/* ---- A batch ----------------------------------------------------------------------------------------------------------- */

typedef struct on_stream {
    cuda *c;
    void *stream;
    const hd_batch *b;
} on_stream;

static hd_status put_launch(void *self, uint32_t kernel, const hkv_args *a, uint64_t blocks, uint32_t threads)
{
    const on_stream *o = (const on_stream *)self;
    hd_launch l = { kernel, threads, blocks, a, sizeof *a };
    return ASK(o->c, hd_op_name(o->b->op), launch, &l, o->stream);
}

static hd_status put_zero(void *self, void *p, size_t bytes)
{
    const on_stream *o = (const on_stream *)self;
    return ASK(o->c, hd_op_name(o->b->op), fill, p, 0, bytes, o->stream);
}

static hkv_launcher launcher_on(on_stream *o)
{
    uint64_t processors = o->c->device.processors;
    hkv_launcher l = { put_launch, put_zero, o, processors * BLOCKS_PER_PROCESSOR, o->c->window, hkv_fetch_window(&o->c->info), processors, &o->c->unfinished };
    return l;
}

/* The planes as clear leaves them. */
static hd_status make_empty(cuda *c)
{
    hd_batch b;
    hd_when when = { 0, 0, 0, false };
    memset(&b, 0, sizeof b);
    b.op = HD_OP_CLEAR;
    on_stream o = { c, NULL, &b };
    hkv_launcher l = launcher_on(&o);
    return hkv_launch(&l, HKV_NUMBER_warp_clear, hkv_args_of(&c->info, &c->v, &c->room, &b, when));
}

/* Whether it puts together a list, or puts off what it fetches: the table has one room for each. */
static bool lists(const hd_batch *b, const hkv_args *a)
{
    return hkv_fetches(a) || b->op == HD_OP_FIND_MISSED || b->op == HD_OP_INSERT_AND_EVICT || hkv_family_of(b->op) == HKV_FAMILY_export;
}

/* Everything that is put on the stream between enter and leave, and nothing else: concurrency/word.h says why. */
static hd_status put_batch(cuda *c, uint32_t row, const hd_batch *b, const hkv_args *a, hd_visit *v)
{
    on_stream o = { c, b->stream, b };
    hkv_launcher l = launcher_on(&o);
    pthread_mutex_lock(&c->busy);
    hd_status status = hd_streams_may_record(&c->streams, v);
    if (!status && !(status = hd_streams_enter(&c->streams, v))) status = hd_streams_leave(&c->streams, v, hkv_launch(&l, row, *a));
    pthread_mutex_unlock(&c->busy);
    return status;
}

/* With arrays of this machine, for one batch at a time. */
static hd_status put_with_arrays(cuda *c, uint32_t row, const hd_batch *b, const hkv_args *a, hd_visit *v, const array *all, int used)
{
    if (v->recording) return hd_fail(HD_EINVAL, "%s: stream: it is being captured, and the arrays are this machine's", hd_op_name(b->op));
    pthread_mutex_lock(&c->bringing);
    hd_status status = bring(c, all, used, b->stream);
    if (!status) status = put_batch(c, row, b, a, v);
    if (!status) status = bring_back(c, all, used, b->stream);
    status = wait_anyway(c, "batch", status, b->stream);
    pthread_mutex_unlock(&c->bringing);
    return status;
}

static hd_status run_batch(cuda *c, uint32_t row, const hd_batch *b, hd_when when)
{
    array all[ARRAYS];
    hkv_args a = hkv_args_of(&c->info, &c->v, &c->room, b, when);
    int used = arrays_of(&a, b, all);
    bool theirs = true;
    hd_visit v = { b->stream, hd_op_row_of(b->op)->role, lists(b, &a), 0, NULL };
    hd_status status = used ? ASK(c, "batch: its arrays", owns, all[0].here, &theirs) : HD_OK;
    if (!status) status = ASK(c, "batch: its stream", records, b->stream, &v.recording);
    if (v.recording) a.times_tell = false; /* it will be run again, at the same times */
    if (status) return status;
    return theirs ? put_batch(c, row, b, &a, &v) : put_with_arrays(c, row, b, &a, &v, all, used);
}

static hd_status cuda_launch(void *state, uint32_t row, const hd_batch *b, hd_when when)
{
    cuda *c = (cuda *)state;
    int before = c->device.number;
    hd_status status = enter(c, &before);
    if (!status) status = run_batch(c, row, b, when);
    return leave(c, before, status);
}

static const char *cuda_unfit(uint32_t row, const hd_info *info, const hd_batch *b)
{
    return hkv_rows[row].family != hkv_family_of(b->op) ? HD_OTHER_OPERATION : hkv_rows[row].fits(info);
}

/* ---- Rows ---------------------------------------------------------------------------------------------------------------- */

const hd_design hd_design_hkv_cuda = {
    "hkv", "a bucketed cache in a GPU's memory", "cuda", cuda_shape, cuda_open, cuda_close, cuda_stage, cuda_settle,
    cuda_check, cuda_next, cuda_put_at, cuda_put, cuda_move_all, cuda_tally, true, true,
};

#define HKV_RAN(number, name, role, needs, what, variant) "hkv." #name "." variant,
#define HKV_KERNEL(variant, family, lanes, threads, fits, strictness, what)                                       \
    static const char *unfit_##variant##_##family(const hd_info *info, const hd_batch *b)                         \
    {                                                                                                             \
        return cuda_unfit(HKV_NUMBER_##variant##_##family, info, b);                                              \
    }                                                                                                             \
    static hd_status launch_##variant##_##family(void *state, const hd_batch *b, hd_when when, uint64_t *tally)   \
    {                                                                                                             \
        (void)tally; /* outcomes are counted over there: cuda_tally */                                            \
        return cuda_launch(state, HKV_NUMBER_##variant##_##family, b, when);                                      \
    }                                                                                                             \
    const hd_kernel hd_kernel_hkv_cuda_##variant##_##family = {                                                   \
        "hkv", #variant, "cuda", "cuda, " #family ": " what, unfit_##variant##_##family, launch_##variant##_##family, { HD_OP_ROWS_WITH(HKV_RAN, #variant) }, \
    };
#include "gpu/hkv/registry.inc"
#undef HKV_KERNEL
#undef HKV_RAN
