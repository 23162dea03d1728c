/* SPDX-License-Identifier: Apache-2.0
 *
 * backend_host.c - HKV tables whose batches are run by the kernels of gpu/hkv on the host machine. Memory is the reference's: the
 * same planes in the same layout, so that growing, walking and snapshots are its own; beside them lies the room that
 * kernels need. Everything that a batch may touch is made known to the machine, and nothing else.
 */
#include "lib/backend_host.h"

#include <pthread.h>
#include <string.h>

#include "gpu/hkv/kernels.h"
#include "gpu/hkv/rows.h"
#include "lib/backend.h"
#include "lib/error.h"
#include "lib/op.h"
#include "lib/table.h"
#include "ref/hkv.h"

extern const hd_design hd_design_hkv, hd_design_hkv_host;

enum {
    STAGE_BYTES = 1 << 20,  /* of the window that lists are made in, about */
    WINDOW_LEAST = 32, WINDOW_MOST = 1 << 14,
    BLOCKS = 8,
    SHARED_BYTES = 48 << 10 /* what a GPU gives a block without being asked */
};

typedef struct host {
    void *planes;           /* a state of hd_design_hkv */
    hkv_view *v;
    hkv_words *w;
    uint32_t *lock;
    uint8_t *stage_flag, *stage_value;
    uint64_t *stage_key, *stage_score;
    uint64_t window;
    hd_info info;
    uint64_t *fetch_entry;
    uint32_t *fetch_rank, *fetch_order, *fetch_count, *left_item;
    bool unfinished;          /* hkv_launcher        */
    uint32_t blocks, threads; /* 0: the kernel's own */
    simt_machine *machine;
    simt_config config;
    pthread_mutex_t busy;   /* readers come together; the machine runs for one */
} host;

/* How a thread's tables run when they are opened. */
typedef struct usual {
    bool set;
    simt_config config;
    uint32_t blocks, threads;
} usual;
static _Thread_local usual usually;

/* ---- Open and close ----------------------------------------------------------------------------------- */

static uint64_t window_for(uint32_t value_bytes)
{
    uint64_t n = STAGE_BYTES / (17 + (uint64_t)value_bytes);
    return n < WINDOW_LEAST ? WINDOW_LEAST : n > WINDOW_MOST ? WINDOW_MOST : n & ~31ull;
}

static hd_status host_shape(const hd_config *c, hd_info *info)
{
    if (info->layout == HD_LAYOUT_USUAL) info->layout = HD_LAYOUT_PAIRS;
    hd_status status = hd_design_hkv.shape(c, info);
    info->memory_bytes += info->buckets * sizeof(uint32_t) + sizeof(hkv_words) + window_for(info->value_bytes) * (17 + (uint64_t)info->value_bytes);
    info->memory_bytes += hkv_fetch_bytes(info) + hkv_left_bytes(info);
    return status;
}

static void host_close(void *state, const hd_seams *s)
{
    host *h = (host *)state;
    uint64_t value_bytes = h->v ? h->v->value_bytes : 0;
    hd_give(s, h->lock, h->v ? h->v->buckets : 0, sizeof *h->lock);
    hd_give(s, h->w, 1, sizeof *h->w);
    hd_give(s, h->stage_flag, h->window, 1);
    hd_give(s, h->stage_key, h->window, sizeof *h->stage_key);
    hd_give(s, h->stage_score, h->window, sizeof *h->stage_score);
    hd_give(s, h->stage_value, h->window, value_bytes);
    hd_give(s, h->fetch_entry, hkv_fetch_window(&h->info), sizeof *h->fetch_entry);
    hd_give(s, h->fetch_rank, hkv_fetch_window(&h->info), sizeof *h->fetch_rank);
    hd_give(s, h->fetch_order, hkv_fetch_window(&h->info), sizeof *h->fetch_order);
    hd_give(s, h->fetch_count, hkv_fetch_counts(&h->info), sizeof *h->fetch_count);
    hd_give(s, h->left_item, hkv_left_words(&h->info), sizeof *h->left_item);
    simt_machine_close(h->machine);
    hd_design_hkv.close(h->planes, s);
    pthread_mutex_destroy(&h->busy);
    hd_give(s, h, 1, sizeof *h);
}

static hd_status take_room(host *h, const hd_seams *s)
{
    void *lock = NULL, *w = NULL, *flag = NULL, *key = NULL, *score = NULL, *value = NULL, *left = NULL;
    hd_status status = hd_take(s, "capacity: bucket locks", h->v->buckets, sizeof *h->lock, &lock);
    if (!status) memset(lock, 0, h->v->buckets * sizeof *h->lock);
    if (!status) status = hd_take(s, "table: counters", 1, sizeof *h->w, &w);
    if (!status) memset(w, 0, sizeof *h->w);
    if (!status) status = hd_take(s, "table: window of lists", h->window, 1, &flag);
    if (!status) status = hd_take(s, "table: window of lists", h->window, sizeof *h->stage_key, &key);
    if (!status) status = hd_take(s, "table: window of lists", h->window, sizeof *h->stage_score, &score);
    if (!status) status = hd_take(s, "table: window of lists", h->window, h->v->value_bytes, &value);
    if (!status) status = hd_take(s, "table: window of passes", hkv_left_words(&h->info), sizeof *h->left_item, &left);
    if (left) memset(left, 0, hkv_left_bytes(&h->info));
    h->left_item = (uint32_t *)left;
    h->lock = (uint32_t *)lock;
    h->w = (hkv_words *)w;
    h->stage_flag = (uint8_t *)flag;
    h->stage_key = (uint64_t *)key;
    h->stage_score = (uint64_t *)score;
    h->stage_value = (uint8_t *)value;
    return status;
}

static hd_status take_fetches(host *h, const hd_seams *s)
{
    uint64_t window = hkv_fetch_window(&h->info), counts = hkv_fetch_counts(&h->info);
    void *entry = NULL, *rank = NULL, *order = NULL, *count = NULL;
    hd_status status = hd_take(s, "table: window of fetches", window, sizeof *h->fetch_entry, &entry);
    if (!status) status = hd_take(s, "table: window of fetches", window, sizeof *h->fetch_rank, &rank);
    if (!status) status = hd_take(s, "table: window of fetches", window, sizeof *h->fetch_order, &order);
    if (!status) status = hd_take(s, "table: window of fetches", counts, sizeof *h->fetch_count, &count);
    if (count) memset(count, 0, counts * sizeof *h->fetch_count);
    h->fetch_entry = (uint64_t *)entry;
    h->fetch_rank = (uint32_t *)rank;
    h->fetch_order = (uint32_t *)order;
    h->fetch_count = (uint32_t *)count;
    return status;
}

static hd_status host_open(const hd_info *info, const hd_seams *s, void **state)
{
    void *p;
    hd_status status = hd_take(s, "table", 1, sizeof(host), &p);
    if (status) return status;
    host *h = (host *)memset(p, 0, sizeof(host));
    h->window = window_for(info->value_bytes);
    h->info = *info;
    h->config.strategy = SIMT_ROUND_ROBIN;
    h->config.quiet = true;
    h->config.step_limit = 1ull << 40;
    if (usually.set) {
        h->config = usually.config;
        h->blocks = usually.blocks;
        h->threads = usually.threads;
    }
    pthread_mutex_init(&h->busy, NULL);
    status = hd_design_hkv.open(info, s, &h->planes);
    if (!status) {
        h->v = hkv_view_of(h->planes);
        status = take_room(h, s);
    }
    if (!status) status = take_fetches(h, s);
    if (!status) status = simt_machine_open(s, &h->machine);
    if (status) {
        host_close(h, s);
        return status;
    }
    *state = h;
    return HD_OK;
}

static hd_status host_check(void *state) { return hd_design_hkv.check(((host *)state)->planes); }
static bool host_next(void *state, hd_entry *e) { return hd_design_hkv.next(((host *)state)->planes, e); }
static bool host_put_at(void *state, const hd_entry *e) { return hd_design_hkv.put_at(((host *)state)->planes, e); }
static bool host_put(void *state, const hd_entry *e) { return hd_design_hkv.put(((host *)state)->planes, e); }

static void host_move_all(void *from, void *to)
{
    host *a = (host *)from, *b = (host *)to;
    hd_design_hkv.move_all(a->planes, b->planes);
    b->config = a->config;
    b->blocks = a->blocks;
    b->threads = a->threads;
}

/* ---- A batch ---------------------------------------------------------------------------------------------- */

/* What the batch may touch. An output of it that nobody asked for is nowhere. */
static hd_status make_known(host *h, const hkv_args *a, const hd_batch *b)
{
    const hkv_view *v = h->v;
    uint64_t entries = hkv_capacity(v), n = a->n, bytes = v->value_bytes;
    bool keyed = hkv_is_keyed(hkv_family_of(b->op));
    const struct {
        const void *p;
        uint64_t bytes;
        const char *name;
    } all[] = {
        { v->digest, entries, "digests" },
        { v->key, entries * 8 * v->step, v->step == 1 ? "keys" : "pairs" },
        { v->step == 1 ? v->score : NULL, entries * 8, "scores" },
        { v->bound, hkv_bounds_of(v) * 8, "bounds" },
        { v->value, hkv_near_values(v) * bytes, "values" },
        { v->far, hkv_far_bytes(v), "far values" },
        { v->pin, v->pin_places * sizeof *v->pin, "pins" },
        { h->lock, v->buckets * sizeof *h->lock, "bucket locks" },
        { h->w->tally, sizeof h->w->tally, "tally" },
        { h->w->segment, sizeof h->w->segment, "segments" },
        { h->w->cursor, sizeof h->w->cursor, "cursor" },
        { &h->w->pins, sizeof h->w->pins, "pin count" },
        { &h->w->pin_lock, sizeof h->w->pin_lock, "pin lock" },
        { h->stage_flag, h->window, "stage_flag" },
        { h->stage_key, h->window * 8, "stage_key" },
        { h->stage_score, h->window * 8, "stage_score" },
        { h->stage_value, h->window * bytes, "stage_value" },
        { h->fetch_entry, hkv_fetch_window(&h->info) * 8, "fetch_entry" },
        { h->fetch_rank, hkv_fetch_window(&h->info) * 4, "fetch_rank" },
        { h->fetch_order, hkv_fetch_window(&h->info) * 4, "fetch_order" },
        { h->fetch_count, hkv_fetch_counts(&h->info) * 4, "fetch_count" },
        { h->left_item, hkv_left_bytes(&h->info), "left_item" },
        { h->w->left, sizeof h->w->left, "left_count" },
        { a->key, n * 8, "key" },
        { a->value, n * bytes, "value" },
        { a->score, n * 8, "score" },
        { a->flag, n, "flag" },
        { a->outcome, keyed ? n : 0, "outcome" },
        { a->value_out, n * bytes, "value_out" },
        { a->score_out, n * 8, "score_out" },
        { a->ptr, n * 8, "ptr" },
        { a->list_key, n * 8, "list_key" },
        { a->list_value, n * bytes, "list_value" },
        { a->list_score, n * 8, "list_score" },
        { a->list_item, n * 8, "list_item" },
        { a->count, 8, "count" },
    };
    hd_status status = HD_OK;
    simt_machine_forget(h->machine);
    for (size_t i = 0; i < sizeof all / sizeof *all && !status; i++)
        if (all[i].p) status = simt_machine_region(h->machine, (void *)(uintptr_t)all[i].p, (size_t)all[i].bytes, all[i].name);
    return status;
}

static hkv_args args_of(host *h, const hd_batch *b, hd_when when)
{
    hkv_room room = { h->w, h->lock, h->stage_flag, h->stage_key, h->stage_score, h->stage_value, h->fetch_entry, h->fetch_rank, h->fetch_order, h->fetch_count, h->left_item };
    return hkv_args_of(&h->info, h->v, &room, b, when);
}

static void (*const entry[HKV_KERNELS])(const void *) = {
#define HKV_KERNEL(variant, family, lanes, threads, fits, strictness, what) hkv_kernel_##variant##_##family,
#include "gpu/hkv/registry.inc"
#undef HKV_KERNEL
    hkv_kernel_list,
    hkv_kernel_fetch_sort,
    hkv_kernel_fetch_values,
    hkv_kernel_word_enter,
    hkv_kernel_word_leave,
};

static hd_status queue(void *self, uint32_t kernel, const hkv_args *a, uint64_t blocks, uint32_t threads)
{
    const host *h = (const host *)self;
    return simt_machine_launch(h->machine, entry[kernel], a, sizeof *a, (uint32_t)blocks, h->threads ? h->threads : threads, 0);
}

/* Nothing has run yet when launches are queued, and nothing looks at these before: zero at once is zero in order. */
static hd_status zero(void *self, void *p, size_t bytes)
{
    (void)self;
    memset(p, 0, bytes);
    return HD_OK;
}

static hd_status run_batch(host *h, uint32_t row, const hd_batch *b, hd_when when, uint64_t *tally)
{
    uint32_t blocks = h->blocks ? h->blocks : BLOCKS;
    hkv_launcher l = { queue, zero, h, blocks, h->window, hkv_fetch_window(&h->info), blocks, &h->unfinished };
    hkv_args a = args_of(h, b, when);
    memset(h->w->tally, 0, sizeof h->w->tally);
    h->w->pins = h->v->pins;
    hd_status status = make_known(h, &a, b);
    if (!status) status = hkv_launch(&l, row, a);
    if (status) {
        simt_machine_forget(h->machine); /* what was queued before */
        return status;
    }
    simt_config c = h->config;
    if (!c.shared_bytes) c.shared_bytes = SHARED_BYTES;
    bool good = simt_machine_run(h->machine, &c);
    h->v->pins = h->w->pins;
    if (!good) {
        const simt_finding *found = simt_machine_finding(h->machine);
        h->unfinished = true;
        return hd_fail(found->fault == SIMT_RESOURCE ? HD_ENOMEM : HD_ECUDA, "%s: host machine: %s: %s", hd_op_name(b->op), simt_fault_name(found->fault), found->story);
    }
    for (int o = 0; o < HD_OUTCOME_COUNT; o++) tally[o] += h->w->tally[o];
    return HD_OK;
}

static hd_status host_launch(void *state, uint32_t row, const hd_batch *b, hd_when when, uint64_t *tally)
{
    host *h = (host *)state;
    pthread_mutex_lock(&h->busy);
    hd_status status = run_batch(h, row, b, when, tally);
    pthread_mutex_unlock(&h->busy);
    return status;
}

static const char *host_unfit(uint32_t row, const hd_info *info, const hd_batch *b)
{
    if (hkv_rows[row].family != hkv_family_of(b->op)) return HD_OTHER_OPERATION;
    return hkv_rows[row].fits(info);
}

/* ---- Rows ---------------------------------------------------------------------------------------------------- */

const hd_design hd_design_hkv_host = {
    "hkv", "a bucketed cache, its GPU kernels on the host machine", "host", host_shape, host_open, host_close, NULL, NULL,
    host_check, host_next, host_put_at, host_put, host_move_all, NULL, false, true,
};

#define HKV_RAN(number, name, role, needs, what, variant) "hkv." #name "." variant,
#define HKV_KERNEL(variant, family, lanes, threads, fits, strictness, what)                                       \
    static const char *unfit_##variant##_##family(const hd_info *info, const hd_batch *b)                         \
    {                                                                                                             \
        return host_unfit(HKV_NUMBER_##variant##_##family, info, b);                                              \
    }                                                                                                             \
    static hd_status launch_##variant##_##family(void *state, const hd_batch *b, hd_when when, uint64_t *tally)   \
    {                                                                                                             \
        return host_launch(state, HKV_NUMBER_##variant##_##family, b, when, tally);                               \
    }                                                                                                             \
    const hd_kernel hd_kernel_hkv_host_##variant##_##family = {                                                   \
        "hkv", #variant, "host", "host, " #family ": " what, unfit_##variant##_##family, launch_##variant##_##family, { HD_OP_ROWS_WITH(HKV_RAN, #variant) }, \
    };
#include "gpu/hkv/registry.inc"
#undef HKV_KERNEL
#undef HKV_RAN

/* ---- For tests and tools -------------------------------------------------------------------------------------- */

static host *host_of(hd_table *t) { return t && t->design == &hd_design_hkv_host ? (host *)t->state : NULL; }

hd_status hd_host_configure(hd_table *t, const simt_config *c)
{
    host *h = host_of(t);
    if (!h || !c) return hd_fail(HD_EINVAL, "%s", h ? "config: NULL" : "table: it does not run on the host machine");
    h->config = *c;
    return HD_OK;
}

hd_status hd_host_draw_tickets(hd_table *t)
{
    host *h = host_of(t);
    if (!h) return hd_fail(HD_EINVAL, "table: it does not run on the host machine");
    h->config.quiet = false;
    return HD_OK;
}

hd_status hd_host_lanes(hd_table *t, uint32_t blocks, uint32_t threads)
{
    host *h = host_of(t);
    if (!h) return hd_fail(HD_EINVAL, "table: it does not run on the host machine");
    if (threads % 32 || threads > 1024) return hd_fail(HD_EINVAL, "threads: %u are no whole warps of one block", threads);
    h->blocks = blocks;
    h->threads = threads;
    return HD_OK;
}

void hd_host_usual(const simt_config *c, uint32_t blocks, uint32_t threads)
{
    usually.set = c != NULL;
    if (!c) return;
    usually.config = *c;
    usually.blocks = blocks;
    usually.threads = threads;
}

hd_host_text *hd_host_kernel(uint32_t number) { return number < HKV_KERNELS ? entry[number] : NULL; }

simt_machine *hd_host_machine(hd_table *t)
{
    host *h = host_of(t);
    return h ? h->machine : NULL;
}
