/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_whole.c - calls that concern the whole of a table on a device: copies of it on this machine, totals, the clock,
 * growth.
 */
#include <inttypes.h>
#include <string.h>

#include "lib/cuda_state.h"

typedef hd_cuda cuda;

#define ASK HD_CUDA_ASK

static hd_gpu_state *state_of(cuda *c) { return hd_cuda_state(c); }

/* ---- On this machine for a while ------------------------------------------------------------- */

/* No batch is under way. */
static void copy_pinned(const hd_plane *p, hd_way way)
{
    if (way == HD_TO_DEVICE)
        memcpy(p->there, p->here, (size_t)p->bytes);
    else
        memcpy(p->here, p->there, (size_t)p->bytes);
}

/* The planes, one way or the other. Batches wait for it and are waited for. */
static hd_status copy_planes(cuda *c, hd_way way)
{
    hd_plane all[HD_MEMORY_MOST];
    bool pinned[HD_MEMORY_MOST];
    int n = hd_gpu_planes(c->gpu, c->state, c->staged, c->staged_values, all, pinned);
    hd_status status = hd_streams_join(&c->streams), joined = status;
    for (int i = 0; i < n && !status; i++) {
        if (all[i].bytes == 0 || pinned[i]) continue;
        if (way == HD_TO_DEVICE)
            status = ASK(c, all[i].what, copy, all[i].there, all[i].here, (size_t)all[i].bytes, way, NULL);
        else
            status = ASK(c, all[i].what, copy, all[i].here, all[i].there, (size_t)all[i].bytes, way, NULL);
    }
    if (!joined) status = hd_streams_part(&c->streams, status);
    status = hd_cuda_wait_anyway(c, "planes", status, NULL);
    for (int i = 0; i < n && !status; i++)
        if (pinned[i]) copy_pinned(&all[i], way);
    return status;
}

static void unstage(cuda *c)
{
    c->design->ref->close(c->staged, c->seams);
    c->staged = NULL;
}

hd_status hd_cuda_stage(void *state, bool values)
{
    cuda *c = (cuda *)state;
    int before = c->device.number;
    hd_status status = c->gpu->open_here(c->state, c->seams, &c->staged);
    if (status) return c->staged = NULL, status;
    c->staged_values = values;
    status = hd_cuda_enter(c, &before);
    if (!status) status = copy_planes(c, HD_FROM_DEVICE);
    status = hd_cuda_leave(c, before, status);
    if (status) unstage(c);
    return status;
}

/* What follows from planes that have got new bytes. */
static hd_status settle_rest(cuda *c)
{
    hd_cuda_stream o = { c, NULL, "planes", NULL };
    const hd_gpu_machine m = hd_cuda_machine(&o);
    return c->gpu->settled ? hd_cuda_wait_anyway(c, o.what, c->gpu->settled(c->state, &m), NULL) : HD_OK;
}

hd_status hd_cuda_settle(void *state, bool changed)
{
    cuda *c = (cuda *)state;
    int before = c->device.number;
    hd_status status = HD_OK;
    if (!c->staged) return HD_OK;
    if (changed) {
        status = hd_cuda_enter(c, &before);
        if (!status) status = copy_planes(c, HD_TO_DEVICE);
        if (!status) status = settle_rest(c);
        status = hd_cuda_leave(c, before, status);
    }
    unstage(c);
    return status;
}

/* By the design's kernel. */
static hd_status check_there(cuda *c)
{
    hd_cuda_stream o = { c, NULL, "check", NULL };
    const hd_gpu_machine m = hd_cuda_machine(&o);
    int before = c->device.number;
    hd_status status = hd_cuda_enter(c, &before);
    if (status) return status;
    if (c->walk.on) status = hd_cuda_walk_flush(c);
    hd_status joined = hd_streams_join(&c->streams);
    if (!status) status = joined;
    if (!status) status = c->gpu->check(c->state, &m);
    if (!joined) status = hd_streams_part(&c->streams, status);
    status = hd_cuda_wait_anyway(c, "check", status, NULL);
    return hd_cuda_leave(c, before, status);
}

/* Of a design that has no such kernel. */
static hd_status check_copy(cuda *c)
{
    hd_status status = hd_cuda_stage(c, true);
    if (status) return status;
    status = c->design->ref->check(c->staged);
    hd_cuda_settle(c, false);
    return status;
}

hd_status hd_cuda_check(void *state)
{
    cuda *c = (cuda *)state;
    if (c->staged) return c->design->ref->check(c->staged);
    return c->gpu->check ? check_there(c) : check_copy(c);
}

size_t hd_cuda_next(void *state, hd_entry *e, size_t most)
{
    cuda *c = (cuda *)state;
    return c->walk.on ? hd_cuda_walk_next(c, e, most) : c->design->ref->next(c->staged, e, most);
}

hd_status hd_cuda_learn(void *state, const hd_seams *s, const hd_keys *keys)
{
    cuda *c = (cuda *)state;
    return c->gpu->parts->learn(c->state, s, keys);
}

bool hd_cuda_put_at(void *state, const hd_entry *e)
{
    cuda *c = (cuda *)state;
    return c->walk.on ? hd_cuda_walk_put_at(c, e) : c->design->ref->put_at(c->staged, e);
}

void hd_cuda_move_all(void *from, void *to)
{
    ((cuda *)from)->design->ref->move_all(((cuda *)from)->staged, ((cuda *)to)->staged);
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
    if (!status) status = fetch_counts(c, n, state_of(c)->tally, sizeof n);
    if (!status && state_of(c)->op) status = fetch_counts(c, ops, state_of(c)->op, sizeof ops);
    if (!joined) status = hd_streams_part(&c->streams, status);
    status = hd_cuda_wait_anyway(c, "counters", status, NULL);
    for (int o = 0; o < HD_OUTCOME_COUNT && !status; o++) outcome[o] += n[o];
    for (int o = 0; o < HD_OP_COUNT_ && !status; o++) op[o] += ops[o];
    return status;
}

hd_status hd_cuda_tally(void *state, uint64_t *outcome, uint64_t *op)
{
    cuda *c = (cuda *)state;
    int before = c->device.number;
    hd_status status = hd_cuda_enter(c, &before);
    if (!status) status = tally_here(c, outcome, op);
    return hd_cuda_leave(c, before, status);
}

static hd_status clock_here(cuda *c, uint64_t *ns)
{
    hd_cuda_stream o = { c, NULL, "clock", NULL };
    hd_launcher l = hd_cuda_launcher(&o);
    uint64_t *there;
    if (!c->gpu->read_clock) return *ns = 0, HD_OK; /* no policy of the design asks for it */
    hd_status status = c->gpu->read_clock(c->state, &l, &there);
    if (!status) status = ASK(c, "clock", copy, ns, there, sizeof *ns, HD_FROM_DEVICE, NULL);
    return hd_cuda_wait_anyway(c, "clock", status, NULL);
}

hd_status hd_cuda_clock(void *state, uint64_t *ns)
{
    cuda *c = (cuda *)state;
    int before = c->device.number;
    hd_status status = hd_cuda_enter(c, &before);
    if (!status) status = clock_here(c, ns);
    return hd_cuda_leave(c, before, status);
}

/* ---- Growth in place, and another limit of device memory -------------------------------------- */

/* Between all batches before it and all that follow. */
static hd_status change_here(cuda *c, const char *what, const hd_gpu_change *to, hd_info *info)
{
    hd_cuda_stream o = { c, NULL, what, NULL };
    const hd_gpu_machine m = hd_cuda_machine(&o);
    hd_status status = hd_streams_join(&c->streams), joined = status;
    if (!status) {
        status = hd_gpu_become(c->gpu, to, c->state, NULL, &m, info);
        info->memory_bytes += hd_staging_bytes(&hd_staging_usual); /* beside what the design tells */
    }
    state_of(c)->info = *info;
    if (!joined) status = hd_streams_part(&c->streams, status);
    return hd_cuda_wait_anyway(c, what, status, NULL);
}

static hd_status change(cuda *c, const char *what, const hd_gpu_change *to, hd_info *info)
{
    int before = c->device.number;
    hd_status status = hd_cuda_enter(c, &before);
    if (!status) status = change_here(c, what, to, info);
    return hd_cuda_leave(c, before, status);
}

hd_status hd_cuda_resize(void *state, const hd_seams *s, uint64_t buckets, hd_info *info)
{
    cuda *c = (cuda *)state;
    const hd_gpu_change to = { .how = c->gpu->resize, .n = buckets };
    (void)s;
    return change(c, "resize", &to, info);
}

hd_status hd_cuda_set_near(void *state, const hd_seams *s, uint64_t near_bytes, hd_info *info)
{
    cuda *c = (cuda *)state;
    const hd_gpu_change to = { .how = c->gpu->set_near, .n = near_bytes };
    (void)s;
    return change(c, "near", &to, info);
}

hd_status hd_cuda_room_for(void *state, const hd_seams *s, const uint64_t *key, uint64_t n, hd_info *info, bool *made)
{
    const hd_gpu_change to = { .n = n, .key = key, .made = made };
    (void)s;
    return change((cuda *)state, "resize", &to, info);
}
