/* SPDX-License-Identifier: Apache-2.0
 *
 * backend_host.c - tables whose batches are run by a design's GPU kernels on the host machine. Entries are in a state
 * of the design's reference, so that growing, walking and snapshots are its own; beside them lies the room that kernels
 * need. Everything that a batch may touch is made known to the machine, and nothing else.
 */
#include "lib/backend_host.h"

#include <inttypes.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/backend.h"
#include "base/error.h"
#include "base/op.h"
#include "lib/table.h"

enum {
    BLOCKS = 8,
    SHARED_BYTES = 48 << 10 /* what a GPU gives a block without being asked */
};

/* simt_config.step_limit: steps_most says how many steps a batch may take. */
#define UNLIMITED UINT64_MAX

typedef struct host {
    void *entries; /* a state of the reference. Tests rely on it that it is first */
    const hd_design *design;
    const hd_gpu *gpu;
    uint32_t blocks, threads; /* 0: the kernel's own */
    bool in_place;     /* gpu->grow: the new planes begin with the old ones, as on a device whose memory can grow */
    bool by_reference; /* batches run by the reference */
    simt_machine *machine;
    simt_config config;
    pthread_mutex_t busy;                        /* readers come together; the machine runs for one */
    _Alignas(max_align_t) unsigned char state[]; /* (gpu->state_bytes): a hd_gpu_state and the design's */
} host;

static hd_gpu_state *state_of(host *h) { return (hd_gpu_state *)(void *)h->state; }

/* How a thread's tables run when they are opened. */
typedef struct usual {
    bool set;
    simt_config config;
    uint32_t blocks, threads;
} usual;
static _Thread_local usual usually;

/* ---- Open and close -------------------------------------------------------------------------- */

static hd_status shape(const hd_design *d, const hd_config *c, hd_info *info)
{
    hd_status status = hd_gpu_shape(d, c, info, false);
    if (!status) info->memory_bytes += hd_gpu_scratch(d->gpu, info, false);
    return status;
}

static void close_table(void *state, const hd_seams *s)
{
    host *h = (host *)state;
    hd_memory all[HD_MEMORY_MOST];
    int n = hd_gpu_taken(h->gpu, h->state, all);
    for (int i = 0; i < n; i++) hd_give(s, hd_field(h->state, all[i].field), all[i].count, all[i].size);
    simt_machine_close(h->machine);
    h->design->ref->close(h->entries, s);
    pthread_mutex_destroy(&h->busy);
    hd_give(s, h, 1, sizeof *h + h->gpu->state_bytes);
}

static hd_status take_piece(host *h, const hd_seams *s, const hd_memory *piece)
{
    void *p = NULL;
    hd_status status = hd_take(s, piece->what, piece->count, piece->size, &p);
    if (p && piece->fill != HD_AS_IT_COMES) memset(p, piece->fill, (size_t)(piece->count * piece->size));
    hd_field_set(h->state, piece->field, p);
    return status;
}

static hd_status take_pieces(host *h, const hd_seams *s)
{
    hd_memory all[HD_MEMORY_MOST];
    int n = hd_gpu_taken(h->gpu, h->state, all);
    hd_status status = HD_OK;
    for (int i = 0; i < n && !status; i++) status = take_piece(h, s, &all[i]);
    if (!status) h->gpu->taken(h->state);
    state_of(h)->op = NULL; /* it has read the operations of mixed batches and counted them */
    return status;
}

static hd_status open_table(const hd_design *d, const hd_info *info, const hd_seams *s, void **state)
{
    const hd_gpu *gpu = d->gpu;
    void *p;
    size_t bytes = sizeof(host) + gpu->state_bytes;
    hd_status status = hd_take(s, "table", 1, bytes, &p);
    if (status) return status;
    host *h = (host *)memset(p, 0, bytes);
    h->design = d;
    h->gpu = gpu;
    h->config.strategy = SIMT_ROUND_ROBIN;
    h->config.quiet = true;
    h->config.step_limit = UNLIMITED;
    if (usually.set) {
        h->config = usually.config;
        h->blocks = usually.blocks;
        h->threads = usually.threads;
    }
    state_of(h)->info = *info;
    gpu->begin(h->state);
    pthread_mutex_init(&h->busy, NULL);
    status = d->ref->open(d, info, s, &h->entries);
    if (!status) status = take_pieces(h, s);
    if (!status) status = simt_machine_open(s, &h->machine);
    if (status) {
        close_table(h, s);
        return status;
    }
    *state = h;
    return HD_OK;
}

static hd_status check(void *state) { return ((host *)state)->design->ref->check(((host *)state)->entries); }
static hd_status walk(void *state, hd_walk_how how)
{
    return hd_walk(((host *)state)->design->ref, ((host *)state)->entries, how);
}
static size_t next(void *state, hd_entry *e, size_t most)
{
    return ((host *)state)->design->ref->next(((host *)state)->entries, e, most);
}
static hd_status learn(void *state, const hd_seams *s, const hd_keys *keys)
{
    return ((host *)state)->design->ref->learn(((host *)state)->entries, s, keys);
}
static bool put_at(void *state, const hd_entry *e)
{
    return ((host *)state)->design->ref->put_at(((host *)state)->entries, e);
}

static int extents(void *state, hd_extent *all)
{
    return ((host *)state)->design->ref->extents(((host *)state)->entries, all);
}
static hd_status recovered(void *state, hd_recovery *did)
{
    return ((host *)state)->design->ref->recovered(((host *)state)->entries, did);
}

static hd_status arrange(void *state)
{
    const hd_backend *ref = ((host *)state)->design->ref;
    return ref->arrange ? ref->arrange(((host *)state)->entries) : HD_OK;
}

static void run_alike(const host *a, host *b)
{
    b->config = a->config;
    b->blocks = a->blocks;
    b->threads = a->threads;
    b->in_place = a->in_place;
    b->by_reference = a->by_reference;
}

static void move_all(void *from, void *to)
{
    host *a = (host *)from, *b = (host *)to;
    a->design->ref->move_all(a->entries, b->entries);
    run_alike(a, b);
}

/* ---- A batch --------------------------------------------------------------------------------- */

static hd_status add_region(host *h, const void *p, uint64_t bytes, const char *name)
{
    return simt_machine_region(h->machine, (void *)(uintptr_t)p, (size_t)bytes, name);
}

/* What is the table's, and nothing else. */
static hd_status make_known(host *h)
{
    hd_region all[HD_MEMORY_MOST];
    int n = hd_gpu_regions(h->gpu, h->state, all);
    hd_status status = HD_OK;
    simt_machine_forget(h->machine);
    for (int i = 0; i < n && !status; i++)
        if (all[i].p) status = add_region(h, all[i].p, all[i].bytes, all[i].name);
    return status;
}

/* And the batch's. An output that was not asked for has no address. */
static hd_status make_arrays_known(host *h, const hd_batch *b)
{
    hd_array all[HD_ARRAYS_MOST];
    int n = hd_batch_arrays(b, state_of(h)->info.value_bytes, all);
    hd_status status = HD_OK;
    for (int i = 0; i < n && !status; i++) status = add_region(h, all[i].p, all[i].bytes, all[i].name);
    return status;
}

static hd_status queue(void *self, uint32_t kernel, const void *args, size_t args_bytes, uint64_t blocks,
                       uint32_t threads)
{
    const host *h = (const host *)self;
    return simt_machine_launch(h->machine, h->design->host_kernel(kernel), args, args_bytes, (uint32_t)blocks,
                               h->threads ? h->threads : threads, 0);
}

/* Nothing has run yet when launches are queued, and nothing looks at these before: zero at once is zero in order. */
static hd_status zero(void *self, void *p, size_t bytes)
{
    (void)self;
    memset(p, 0, bytes);
    return HD_OK;
}

static hd_launcher launcher_of(host *h)
{
    uint32_t blocks = h->blocks ? h->blocks : BLOCKS;
    hd_launcher l = { queue, zero, h, blocks, blocks, 0, h->blocks != 0 };
    return l;
}

/* More steps than a kernel takes that ends: of a batch of n items, or of a call for the whole table. */
static uint64_t steps_most(host *h, uint64_t n)
{
    const uint64_t least = 1ull << 30, each = 1ull << 14;
    uint64_t places = state_of(h)->info.places, work = places > UINT64_MAX - n ? UINT64_MAX : places + n;
    return work < (UNLIMITED - least) / each ? least + work * each : UNLIMITED;
}

/* Runs all queued launches of a call with n items; UNLIMITED: it may take any time. what: its name, for messages. */
static hd_status run_queued(host *h, const char *what, uint64_t n)
{
    simt_config c = h->config;
    if (c.step_limit == UNLIMITED) c.step_limit = steps_most(h, n);
    if (!c.shared_bytes) c.shared_bytes = SHARED_BYTES;
    if (simt_machine_run(h->machine, &c)) return HD_OK;
    const simt_finding *found = simt_machine_finding(h->machine);
    return hd_fail(found->fault == SIMT_RESOURCE ? HD_ENOMEM : HD_EKERNEL, "%s: host machine: %s: %s", what,
                   simt_fault_name(found->fault), found->story);
}

static hd_status run_batch(host *h, uint32_t row, const hd_batch *b, hd_when when, uint64_t *tally)
{
    const hd_launcher l = launcher_of(h);
    uint64_t *counted = state_of(h)->tally;
    memset(counted, 0, HD_OUTCOME_COUNT * sizeof *counted);
    h->gpu->before(h->state, h->entries);
    hd_status status = make_known(h);
    if (!status) status = make_arrays_known(h, b);
    if (!status) status = h->gpu->launch(h->state, &l, row, b, when);
    if (status) {
        simt_machine_forget(h->machine); /* what was queued before */
        return status;
    }
    status = run_queued(h, hd_row_of_batch(b)->name, b->n);
    h->gpu->after(h->state, h->entries, status == HD_OK);
    for (int o = 0; o < HD_OUTCOME_COUNT && !status; o++) tally[o] += counted[o];
    return status;
}

static hd_status run_by_reference(host *h, const hd_batch *b, hd_when when, uint64_t *tally)
{
    hd_info info = state_of(h)->info;
    hd_kernel k;
    info.backend = h->design->ref->name;
    hd_status status = hd_kernel_pick(&info, b, 0, &k);
    return status ? status : h->design->ref->launch(h->entries, k.row, b, when, tally);
}

static hd_status view_entries(void *state, void *stream, hd_view *view)
{
    host *h = (host *)state;
    return h->design->ref->view(h->entries, stream, view);
}

static hd_status launch(void *state, uint32_t row, const hd_batch *b, hd_when when, uint64_t *tally)
{
    host *h = (host *)state;
    pthread_mutex_lock(&h->busy);
    hd_status status = h->by_reference ? run_by_reference(h, b, when, tally) : run_batch(h, row, b, when, tally);
    pthread_mutex_unlock(&h->busy);
    return status;
}

static hd_status prepare(void *state, const hd_seams *s, const hd_batch *b, hd_info *info)
{
    host *h = (host *)state;
    hd_status status = h->design->ref->prepare(h->entries, s, b, info);
    state_of(h)->info = *info;
    return status;
}

/* ---- Growth ---------------------------------------------------------------------------------- */

typedef struct growth {
    host *h;
    const hd_seams *seams;
} growth;

/* At once: a launch that cannot be has not run, and those before it have, as on a device. */
static hd_status run_more(void *self, uint32_t kernel, const void *args, size_t args_bytes, uint64_t blocks,
                          uint32_t threads)
{
    host *h = ((growth *)self)->h;
    hd_status status = queue(h, kernel, args, args_bytes, blocks, threads);
    return status ? status : run_queued(h, "resize", UNLIMITED);
}

static hd_status take_more(void *self, const hd_memory *piece)
{
    growth *g = (growth *)self;
    hd_status status = take_piece(g->h, g->seams, piece);
    return status ? status
                  : add_region(g->h, hd_field(g->h->state, piece->field), piece->count * piece->size, piece->what);
}

static void give_back(void *self, const hd_memory *piece)
{
    growth *g = (growth *)self;
    simt_machine_region_end(g->h->machine, hd_field(g->h->state, piece->field));
    hd_give(g->seams, hd_field(g->h->state, piece->field), piece->count, piece->size);
    hd_field_set(g->h->state, piece->field, NULL);
}

static hd_status read_grown(void *self, void *here, const void *there, size_t bytes)
{
    (void)self;
    memcpy(here, there, bytes);
    return HD_OK;
}

/* The caller is alone: the table's lock has it as an inserter. */
static hd_status change(host *h, const hd_seams *s, const hd_gpu_change *to, hd_info *info)
{
    growth g = { h, s };
    hd_gpu_machine m = { launcher_of(h), take_more, give_back, read_grown, &g };
    m.on.launch = run_more;
    m.on.self = &g;
    h->gpu->before(h->state, h->entries);
    hd_status status = make_known(h);
    if (!status) status = hd_gpu_become(h->gpu, to, h->state, h->entries, &m, info);
    state_of(h)->info = *info;
    simt_machine_forget(h->machine);
    h->gpu->after(h->state, h->entries, status == HD_OK);
    return status;
}

static hd_status resize(void *state, const hd_seams *s, uint64_t buckets, hd_info *info)
{
    host *h = (host *)state;
    const hd_gpu_change to = { .how = h->gpu->resize, .n = buckets };
    return change(h, s, &to, info);
}

static hd_status set_near(void *state, const hd_seams *s, uint64_t near_bytes, hd_info *info)
{
    host *h = (host *)state;
    const hd_gpu_change to = { .how = h->gpu->set_near, .n = near_bytes };
    return change(h, s, &to, info);
}

static hd_status room_for(void *state, const hd_seams *s, const uint64_t *key, uint64_t n, hd_info *info, bool *made)
{
    const hd_gpu_change to = { .n = n, .key = key, .made = made };
    return change((host *)state, s, &to, info);
}

/* What kernels may touch of the old table, and of the new one. Planes that both share are the new one's. */
static hd_status make_both_known(host *from, host *to)
{
    hd_region all[HD_MEMORY_MOST], old[HD_MEMORY_MOST];
    int n = hd_gpu_regions(to->gpu, to->state, all), m = hd_gpu_regions(from->gpu, from->state, old);
    hd_status status = make_known(to);
    for (int i = 0; i < m && !status; i++) {
        bool shared = false;
        for (int k = 0; k < n; k++) shared = shared || all[k].p == old[i].p;
        if (old[i].p && !shared) status = add_region(to, old[i].p, old[i].bytes, old[i].name);
    }
    return status;
}

/* The planes that can grow in place on a device, with where they are in the state. */
typedef struct planes {
    hd_memory all[HD_MEMORY_MOST];
    void *at[HD_MEMORY_MOST];
    int n;
} planes;

static void find_planes(host *h, planes *p)
{
    hd_gpu_state *state = state_of(h);
    hd_memory every[HD_MEMORY_MOST];
    state->device = true;
    state->page = 1;
    int n = hd_gpu_taken(h->gpu, h->state, every);
    state->device = false;
    state->page = 0;
    p->n = 0;
    for (int i = 0; i < n; i++) {
        if (every[i].put != HD_GROWS) continue;
        p->at[p->n] = hd_field(h->state, every[i].field);
        p->all[p->n++] = every[i];
    }
}

static void set_planes(host *h, const planes *p, void *const *at)
{
    for (int i = 0; i < p->n; i++) hd_field_set(h->state, p->all[i].field, at[i]);
    state_of(h)->device = true; /* pairs: one plane, and a field that points into it */
    h->gpu->taken(h->state);
    state_of(h)->device = false;
}

/* Copies the old planes to the beginning of the new ones, and lets the old table's state have these. The old state
 * keeps its planes, and so its entries. */
static void share_planes(host *from, const planes *old, const host *to)
{
    void *at[HD_MEMORY_MOST];
    for (int i = 0; i < old->n; i++) {
        at[i] = hd_field(to->state, old->all[i].field);
        if (at[i] && old->at[i]) memcpy(at[i], old->at[i], (size_t)(old->all[i].count * old->all[i].size));
    }
    set_planes(from, old, at);
}

/* Moves all of it into the new table, which is empty. */
static hd_status move_into(host *from, host *to, const hd_seams *s)
{
    growth g = { to, s };
    hd_gpu_machine m = { launcher_of(to), take_more, give_back, read_grown, &g };
    uint64_t *moved = NULL, buckets = state_of(from)->info.buckets;
    planes old;
    m.on.launch = run_more;
    m.on.self = &g;
    to->gpu->before(from->state, from->entries);
    to->gpu->before(to->state, to->entries);
    find_planes(from, &old);
    if (from->in_place) share_planes(from, &old, to);
    hd_status status = make_both_known(from, to);
    if (!status) status = to->gpu->grow(from->state, to->state, &m, &moved);
    if (!status && *moved != buckets) /* only if a kernel is wrong: GCOVR_EXCL_START */
        status = hd_fail(HD_EKERNEL, "growth: %" PRIu64 " of %" PRIu64 " buckets were moved", *moved, buckets);
    /* GCOVR_EXCL_STOP */
    simt_machine_forget(to->machine);
    set_planes(from, &old, old.at);
    to->gpu->after(to->state, to->entries, status == HD_OK);
    return status;
}

static hd_status grow(const hd_design *d, const hd_seams *s, const hd_info *info, void **state)
{
    host *from = (host *)*state;
    void *fresh;
    hd_status status = open_table(d, info, s, &fresh);
    if (status) return status;
    host *to = (host *)fresh;
    run_alike(from, to);
    status = move_into(from, to, s);
    close_table(status ? to : from, s);
    if (!status) *state = to;
    return status;
}

static bool runs(const hd_design *d) { return d->host_kernel != NULL; }

/* clang-format off */
const hd_backend hd_backend_host = {
    .name = "host", .runs = runs, .shape = shape, .open = open_table, .close = close_table, .walk = walk,
    .check = check, .next = next, .learn = learn, .put_at = put_at, .move_all = move_all, .grow = grow,
    .resize = resize, .set_near = set_near, .room_for = room_for, .view = view_entries, .prepare = prepare,
    .extents = extents, .recovered = recovered, .arrange = arrange, .launch = launch
};
/* clang-format on */

/* ---- For tests and tools --------------------------------------------------------------------- */

static host *host_of(hd_table *t) { return t && t->backend == &hd_backend_host ? (host *)t->state : NULL; }

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
    if (threads % 32 || threads > 1024)
        return hd_fail(HD_EINVAL, "threads: %u are no whole warps of one block", threads);
    h->blocks = blocks;
    h->threads = threads;
    return HD_OK;
}

hd_status hd_host_in_place(hd_table *t, bool in_place)
{
    host *h = host_of(t);
    if (!h) return hd_fail(HD_EINVAL, "table: it does not run on the host machine");
    h->in_place = in_place;
    return HD_OK;
}

hd_status hd_host_by_reference(hd_table *t, bool by_reference)
{
    host *h = host_of(t);
    if (!h) return hd_fail(HD_EINVAL, "table: it does not run on the host machine");
    h->by_reference = by_reference;
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

simt_machine *hd_host_machine(hd_table *t)
{
    host *h = host_of(t);
    return h ? h->machine : NULL;
}
