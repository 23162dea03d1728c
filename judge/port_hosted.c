/* SPDX-License-Identifier: Apache-2.0
 *
 * port_hosted.c - see port_hosted.h.
 */
#include "judge/port_hosted.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "judge/making.h"
#include "lib/backend_host.h"

static hd_gpu_state *state_of(void *table) { return (hd_gpu_state *)table; }

uint32_t hosted_value_bytes(const void *table) { return ((const hd_gpu_state *)table)->info.value_bytes; }

/* ---- Kernels --------------------------------------------------------------------------------- */

bool hosted_runs(const judge_design *d, uint32_t row, hd_op op)
{
    const uint8_t each = HD_OP_INSERT_OR_ASSIGN;
    hd_kernel k;
    hd_batch b;
    hd_info none;
    if (!hd_kernel_of(d->host, &hd_backend_host, row, &k)) return false;
    memset(&b, 0, sizeof b);
    memset(&none, 0, sizeof none);
    b.op = op == JUDGE_MIXED ? HD_OP_INSERT_OR_ASSIGN : op;
    b.each = op == JUDGE_MIXED ? &each : NULL;
    const char *why = hd_kernel_unsupported(&k, &none, &b);
    return !why ||
           (strcmp(why, HD_OTHER_OPERATION) != 0 && strcmp(why, HD_NOT_MIXED) != 0 && strcmp(why, HD_UNORDERED) != 0);
}

static hd_status info_of(const judge_design *d, const hd_case *c, hd_info *info)
{
    hd_config f = hd_case_config(c);
    /* clang-format off */
    *info = (hd_info){
        .design = d->name, .backend = "host", .policy = f.policy, .lock = f.lock, .keys = d->keys, .slots = f.slots,
        .value_bytes = f.value_bytes, .layout = f.layout, .seed = f.seed, .threads = 1
    };
    /* clang-format on */
    hd_params_to_info(d->host->params, &f, info);
    return hd_gpu_shape(d->host, &f, info, false);
}

const char *hosted_unsupported(const judge_design *d, uint32_t row, const hd_case *c)
{
    hd_info info;
    hd_kernel k;
    if (!hd_kernel_of(d->host, &hd_backend_host, row, &k) || info_of(d, c, &info)) return NULL;
    return k.is->fits(&info);
}

/* ---- The table ------------------------------------------------------------------------------- */

enum { ENTRIES_MOST = 1 << 20, MEMORY_MOST = 1 << 28 };

/* The arrays that the fixture takes for it. A fixture's memory may not be written yet: the shape alone counts. */
static int taken_by(const fixture *s, const void *state, hd_memory *all)
{
    const hd_gpu *gpu = s->design->host->gpu;
    _Alignas(max_align_t) unsigned char shaped[HD_STATE_MOST];
    memcpy(shaped, state, gpu->state_bytes);
    gpu->begin(shaped);
    return hd_gpu_taken(gpu, shaped, all);
}

hd_status hosted_shape(fixture *s, const hd_case *c)
{
    const judge_design *d = s->design;
    hd_memory all[HD_MEMORY_MOST];
    hd_gpu_state *state = state_of(s->table);
    hd_status status = info_of(d, c, &state->info);
    if (status) return status;
    if (state->info.capacity > ENTRIES_MOST || state->info.memory_bytes > MEMORY_MOST)
        return hd_fail(HD_EINVAL, "case: a fixture has at most %d entries and %d MiB; this is a large one",
                       ENTRIES_MOST, MEMORY_MOST >> 20);
    s->keys = state->info.keys;
    state->device = !d->memory; /* then no memory is in the reference's state */
    d->host->gpu->begin(state);
    if (taken_by(s, state, all) > JUDGE_MEMORY_MOST)
        return hd_fail(HD_EINVAL, "case: the table of a fixture has at most %d regions", JUDGE_MEMORY_MOST);
    return d->apply && d->check ? HD_OK : d->host->gpu->open_here(state, &hd_seams_os, &s->reference);
}

uint32_t hosted_memory(const fixture *s, judge_memory all[JUDGE_MEMORY_MOST])
{
    hd_memory piece[HD_MEMORY_MOST];
    uint32_t n = 0;
    int pieces = taken_by(s, s->table, piece);
    for (int i = 0; i < pieces; i++)
        if (piece[i].put != HD_OF_BATCH && piece[i].count && piece[i].size)
            all[n++] = (judge_memory){ piece[i].what, piece[i].field, piece[i].count * piece[i].size,
                                       piece[i].fill == HD_AS_IT_COMES ? 0 : piece[i].fill };
    return n;
}

/* What growth takes, by growing a table that is nowhere. */
typedef struct growth_list {
    judge_memory *all;
    uint32_t n;
} growth_list;

static hd_status list_piece(void *self, const hd_memory *p)
{
    growth_list *list = (growth_list *)self;
    if (list->n == JUDGE_MEMORY_MOST) return HD_EINVAL; /* the growth itself says so: take */
    list->all[list->n++] = (judge_memory){ p->what, p->field, p->count * p->size, p->fill };
    return HD_OK;
}

static hd_status launch_nothing(void *self, uint32_t kernel, const void *args, size_t args_bytes, uint64_t blocks,
                                uint32_t threads)
{
    return (void)self, (void)kernel, (void)args, (void)args_bytes, (void)blocks, (void)threads, HD_OK;
}

static hd_status read_zeros(void *self, void *here, const void *there, size_t bytes)
{
    (void)self, (void)there;
    memset(here, 0, bytes);
    return HD_OK;
}

static void give(void *self, const hd_memory *piece) { (void)self, (void)piece; }

uint32_t hosted_growth_memory(const fixture *s, judge_memory all[JUDGE_MEMORY_MOST], uint32_t n)
{
    enum { SOMEWHERE = 4096 };
    _Alignas(max_align_t) static unsigned char somewhere[SOMEWHERE];
    _Alignas(max_align_t) unsigned char state[HD_STATE_MOST];
    const hd_gpu *gpu = s->design->host->gpu;
    growth_list list = { all, n };
    const hd_gpu_machine m = { { .launch = launch_nothing, .blocks_most = 1 }, list_piece, give, read_zeros, &list };
    hd_memory was[HD_MEMORY_MOST];
    hd_info info = ((const hd_gpu_state *)s->table)->info;
    memcpy(state, s->table, gpu->state_bytes);
    gpu->begin(state);
    for (int i = 0, n = hd_gpu_taken(gpu, state, was); i < n; i++) hd_field_set(state, was[i].field, somewhere);
    return gpu->resize(state, NULL, &m, s->part[0].kernel->grows_to, &info) ? 0 : list.n - n;
}

void hosted_taken(const judge_design *d, void *table) { d->host->gpu->taken(table); }

/* ---- A batch --------------------------------------------------------------------------------- */

/* What only part k's batch needs; how many. */
static int room_of(const fixture *s, uint32_t k, hd_memory all[HD_MEMORY_MOST])
{
    hd_memory every[HD_MEMORY_MOST];
    int n = 0, pieces = taken_by(s, s->part[k].args, every);
    for (int i = 0; i < pieces; i++)
        if (every[i].put == HD_OF_BATCH && every[i].count && every[i].size) all[n++] = every[i];
    return n;
}

/* The table's state. One window holds all items, unless the kernel is to have more of them. */
static void begin_part(fixture *s, uint32_t k)
{
    fixture_part *p = &s->part[k];
    hd_gpu_state *state = state_of(p->args);
    memcpy(state, s->table, fixture_table_size(s->design));
    state->window_most = p->kernel && p->kernel->window ? p->kernel->window : p->arrays.most + 1;
    state->tally = p->tally;
    if (state->op) state->op = p->op_tally;
}

void hosted_lay_part(fixture *s, uint32_t k)
{
    hd_memory room[HD_MEMORY_MOST];
    fixture_part *p = &s->part[k];
    if (s->design->mix) p->op_tally = (uint64_t *)fixture_room(s, "op tally", HD_OP_COUNT_ * 8, false);
    if (p->op_tally) memset(p->op_tally, 0, HD_OP_COUNT_ * 8);
    begin_part(s, k);
    if (!state_of(p->args)->op) p->op_tally = NULL; /* its kernels count none */
    int n = room_of(s, k, room);
    for (int i = 0; i < n; i++) {
        uint64_t bytes = room[i].count * room[i].size;
        void *at = fixture_room(s, room[i].what, bytes, true);
        hd_field_set(s->part[k].args, room[i].field, at);
        if (at && room[i].fill != HD_AS_IT_COMES) memset(at, room[i].fill, bytes);
    }
}

void hosted_args(fixture *s, uint32_t k)
{
    hd_memory room[HD_MEMORY_MOST];
    void *at[HD_MEMORY_MOST], *args = s->part[k].args;
    int n = room_of(s, k, room);
    for (int i = 0; i < n; i++) at[i] = hd_field(args, room[i].field);
    begin_part(s, k);
    for (int i = 0; i < n; i++) hd_field_set(args, room[i].field, at[i]);
}

/* Whether r lies in memory that a piece asked for. */
static bool in_piece(const fixture *s, const hd_region *r)
{
    for (uint32_t i = 0; i < s->regions; i++) {
        const uint8_t *p = s->memory + s->region[i].at, *at = (const uint8_t *)r->p;
        if (s->region[i].of_host && at >= p && at < p + s->region[i].bytes) return true;
    }
    return false;
}

hd_status hosted_announce(const fixture *s, uint32_t k, simt_machine *m)
{
    hd_region all[HD_MEMORY_MOST];
    int n = hd_gpu_regions(s->design->host->gpu, s->part[k].args, all);
    hd_status status = HD_OK;
    for (int i = 0; i < n && !status; i++) {
        bool of_table = (const uint8_t *)all[i].p < s->memory + s->table_bytes;
        if (all[i].p && all[i].bytes && in_piece(s, &all[i]) && !(k && of_table))
            status = simt_machine_region(m, (void *)(uintptr_t)all[i].p, (size_t)all[i].bytes, all[i].name);
    }
    return status;
}

hd_when hosted_when(const fixture *s, uint32_t k)
{
    bool one_time = s->c[0].table.clock == HD_CLOCK_DEVICE; /* of all items of a batch; the fixture's clock gives it */
    hd_when w = { .clock = s->clock + (k ? s->part[0].batch.n : 0),
                  .per_item = one_time ? 0 : 1,
                  .epoch = s->epoch,
                  .own = !one_time,
                  .rises = true };
    if (w.own && s->design->times_tell) w.own = s->design->times_tell(s, w.clock, s->part[k].batch.n);
    if (s->design->rises) w.rises = s->design->rises(s, w.clock);
    return w;
}

/* Where the launches of one batch go. */
typedef struct target {
    const fixture *s;
    const fixture_kernel *kernel;
    simt_machine *m;
    uint32_t stream, threads_most;
    uint64_t blocks_most;
    uint32_t launches;
} target;

static hd_status launch(void *self, uint32_t kernel, const void *args, size_t args_bytes, uint64_t blocks,
                        uint32_t threads)
{
    target *t = (target *)self;
    bool stands = t->kernel->text && kernel < HD_SHARED_KERNELS; /* it stands for a row */
    hd_host_text *text = stands ? t->kernel->text : t->s->design->host->host_kernel(kernel);
    if (threads > t->threads_most) threads = t->threads_most;
    if (blocks > t->blocks_most) blocks = t->blocks_most;
    t->launches++;
    hd_status status = simt_machine_launch(t->m, text, args, args_bytes, (uint32_t)blocks, threads, t->stream);
    return status ? status : fixture_keep(t->s, t->m, true);
}

/* At once, because all launches are queued before the first runs. */
static hd_status zero(void *self, void *p, size_t bytes)
{
    (void)self;
    memset(p, 0, bytes);
    return HD_OK;
}

/* ---- Growth ---------------------------------------------------------------------------------- */

/* What grows, and how many arrays it has taken. */
typedef struct growing {
    const fixture *s;
    void *state;
    uint32_t n;
} growing;

/* An array that growth brings: it has its place in the fixture already, filled. */
static hd_status take(void *self, const hd_memory *piece)
{
    growing *g = (growing *)self;
    const fixture *s = g->s;
    if (g->n == s->growth_memories)
        return hd_fail(HD_EINVAL, "case: growth takes '%s', which has no place", piece->what);
    const fixture_region *r = &s->region[s->table_memories - s->growth_memories + g->n++];
    hd_field_set(g->state, piece->field, s->memory + r->at);
    return HD_OK;
}

static hd_status read_at_once(void *self, void *here, const void *there, size_t bytes)
{
    (void)self;
    memcpy(here, there, bytes);
    return HD_OK;
}

static hd_status grow(const fixture *s, void *state, const hd_launcher *l)
{
    growing g = { s, state, 0 };
    const hd_gpu_machine m = { *l, take, give, read_at_once, &g };
    hd_info info = state_of(state)->info;
    return s->design->host->gpu->resize(state, NULL, &m, s->part[0].kernel->grows_to, &info);
}

/* ---- Launches of a part ---------------------------------------------------------------------- */

hd_status hosted_queue(fixture *s, uint32_t k, simt_machine *m)
{
    enum { BLOCKS = 8 };
    const fixture_kernel *kernel = s->part[k].kernel;
    const hd_batch *b = &s->part[k].batch;
    judge_row r;
    fixture_row(s->design, kernel->row, &r);
    target t = {
        s, kernel, m, k, kernel->threads ? kernel->threads : r.threads, kernel->blocks ? kernel->blocks : BLOCKS, 0
    };
    hd_launcher l = { launch, zero, &t, t.blocks_most, 1, t.threads_most, true };
    if (b->n) l.blocks_few = hd_launch_blocks(&l, b->n, t.threads_most);
    hd_status status = kernel->grows_to ? grow(s, s->part[k].args, &l) : HD_OK;
    s->growth_launches = t.launches;
    if (status || (kernel->grows_to && !kernel->then_runs)) return status;
    return s->design->host->gpu->launch(s->part[k].args, &l, kernel->row, b, hosted_when(s, k));
}

/* ---- The reference --------------------------------------------------------------------------- */

/* Copies the table to the fixture's state of its reference, or back. */
static void copy_planes(const fixture *s, void *table, bool back)
{
    hd_plane all[HD_MEMORY_MOST];
    int n = hd_gpu_planes(s->design->host->gpu, table, s->reference, true, all, NULL);
    for (int i = 0; i < n; i++)
        if (all[i].bytes)
            memcpy(back ? all[i].there : all[i].here, back ? all[i].here : all[i].there, (size_t)all[i].bytes);
}

void hosted_close(fixture *s)
{
    if (s->reference) s->design->host->ref->close(s->reference, &hd_seams_os);
}

void hosted_apply(const fixture *s, void *table, uint32_t k, const hd_batch *b)
{
    const hd_when when = hosted_when(s, k);
    const hd_design *d = s->design->host;
    uint64_t tally[HD_OUTCOME_COUNT] = { 0 };
    hd_kernel row;
    uint32_t r = 0;
    while (hd_kernel_of(d, d->ref, r, &row) && hd_kernel_unsupported(&row, &state_of(table)->info, b)) r++;
    if (!row.is) return;
    copy_planes(s, table, false);
    d->ref->launch(s->reference, r, b, when, tally);
    copy_planes(s, table, true);
}

const char *hosted_check(const fixture *s, const void *table, char why[JUDGE_SENTENCE])
{
    copy_planes(s, (void *)(uintptr_t)table, false);
    if (s->design->host->ref->check(s->reference) == HD_OK) return NULL;
    snprintf(why, JUDGE_SENTENCE, "%s", hd_why());
    return why;
}
