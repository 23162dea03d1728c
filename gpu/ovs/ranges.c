/* SPDX-License-Identifier: Apache-2.0
 *
 * ranges.c - resizes a table with ranges of keys: the host chooses what each round does (ref/ovs/range.h), kernels do
 * it (range.h). The directory is in this machine's memory, pinned. A device has a copy, if there is room for one.
 *
 * A round is over when the device has told so. Only then are its tasks and the directory written anew.
 */
#include <string.h>

#include "gpu/ovs/rows.h"
#include "gpu/ovs/state.h"
#include "ref/ovs/ovs.h"
#include "ref/ovs/range.h"

typedef struct ranges {
    ovs_state *o;
    const hd_gpu_machine *m;
    ovs_args a;
} ranges;

/* ---- Memory ---------------------------------------------------------------------------------- */

enum { PLAN_ARRAYS = 4 };
static void plan_memory(uint64_t rows, uint64_t waiting, hd_memory all[PLAN_ARRAYS])
{
    static const char what[] = "resizing: segments";
    /* clang-format off */
    const hd_memory rows_of[PLAN_ARRAYS] = {
        { what, NULL, offsetof(ovs_state, plan.keys), rows, sizeof(uint32_t), HD_AS_IT_COMES, .put = HD_HOST_MEMORY },
        { what, NULL, offsetof(ovs_state, plan.was), rows, sizeof(uint64_t), HD_AS_IT_COMES, .put = HD_HOST_MEMORY },
        { what, NULL, offsetof(ovs_state, plan.task), rows, sizeof(ovs_task), HD_AS_IT_COMES, .put = HD_HOST_MEMORY },
        { what, NULL, offsetof(ovs_state, plan.wait), waiting, sizeof(uint32_t), HD_AS_IT_COMES,
          .put = HD_HOST_MEMORY },
    };
    /* clang-format on */
    memcpy(all, rows_of, sizeof rows_of);
}

/* ---- Launches -------------------------------------------------------------------------------- */

/* Over segments, or tasks, [first, last). writes: the kernel writes the directory. */
static hd_status launch(ranges *x, uint32_t kernel, uint64_t first, uint64_t last, bool writes)
{
    enum { THREADS = 128 };
    const hd_launcher *l = &x->m->on;
    uint64_t lanes = (last - first) * 32;
    x->a.v = ovs_view_there(x->o);
    x->a.b.first = first;
    x->a.b.last = last;
    x->a.keys = x->o->plan.keys;
    x->a.task = x->o->plan.tasks ? x->o->plan.task : NULL;
    x->a.wait = x->o->plan.wait;
    x->a.row_here = x->o->v.row;
    x->a.rows = writes && x->o->row_there ? ovs_segments(&x->o->v) : 0;
    if (lanes < x->a.rows) lanes = x->a.rows;
    return lanes ? l->launch(l->self, kernel, &x->a, sizeof x->a, hd_launch_blocks(l, lanes, THREADS), THREADS) : HD_OK;
}

/* All that was launched has run. */
static hd_status await(const ranges *x)
{
    uint64_t word;
    return x->m->read(x->m->self, &word, &x->o->words->crowded, sizeof word);
}

/* Of the segments of tasks, or, where there are none, of all. */
static hd_status count_keys(ranges *x)
{
    uint64_t n = x->o->plan.tasks ? x->o->plan.tasks : ovs_segments(&x->o->v);
    hd_status status = launch(x, OVS_NUMBER_range_count, 0, n, false);
    return status ? status : await(x);
}

/* ---- The directory's memory ------------------------------------------------------------------ */

/* The directory with room for so many segments; it stays when the table becomes smaller. After a failure it is where it
 * was. */
static hd_status make_rows(ranges *x, uint64_t segments)
{
    ovs_state *o = x->o;
    ovs_view *v = &o->v;
    uint64_t rows = ovs_rows_for(v, segments), had = v->rows, *here = v->row, *there = o->row_there;
    hd_memory old[OVS_ROW_ARRAYS], next[OVS_ROW_ARRAYS];
    if (rows <= had) return HD_OK;
    ovs_row_memory(o, had, old);
    ovs_row_memory(o, rows, next);
    v->row = o->row_there = NULL;
    hd_status status = hd_machine_take(x->m, o, next, OVS_ROW_ARRAYS);
    if (!status) {
        memcpy(v->row, here, ovs_segments(v) * sizeof *here);
        status = launch(x, OVS_NUMBER_range_move, 0, 0, true);
        uint64_t *now = v->row, *now_there = o->row_there;
        if (!status) v->row = here, o->row_there = there;
        hd_machine_give(x->m, o, status ? next : old, OVS_ROW_ARRAYS);
        if (!status) v->row = now, o->row_there = now_there, v->rows = rows;
    }
    if (status) v->row = here, o->row_there = there;
    HD_ASSERT(v->row && v->rows >= ovs_segments(v) && (status || v->rows >= segments), "OVS-7: a segment has no row");
    return status;
}

hd_status ovs_write_directory(ovs_state *o, const hd_launcher *l)
{
    const hd_gpu_machine m = { .on = *l };
    ranges x;
    if (!o->v.ranges) return HD_OK;
    memset(&x, 0, sizeof x);
    x.o = o;
    x.m = &m;
    return launch(&x, OVS_NUMBER_range_move, 0, 0, true);
}

void ovs_drop_directory(ovs_state *o, const hd_gpu_machine *m)
{
    hd_memory all[OVS_ROW_ARRAYS];
    ovs_row_memory(o, o->v.rows, all);
    hd_machine_give(m, o, &all[1], 1);
}

hd_status ovs_copy_directory(ovs_state *o, const hd_gpu_machine *m, uint64_t near_rows)
{
    hd_memory all[OVS_ROW_ARRAYS];
    o->near_rows = near_rows;
    ovs_row_memory(o, o->v.rows, all);
    if (!o->gpu.device || !o->v.ranges) return HD_OK;
    hd_status status = hd_machine_take(m, o, &all[1], 1); /* if there is none, kernels read the pinned one */
    if (status) return status;
    status = ovs_write_directory(o, &m->on);
    if (status) ovs_drop_directory(o, m);
    return status;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* The tasks are known. */
static hd_status split_round(ranges *x)
{
    ovs_view *v = &x->o->v;
    ovs_plan *p = &x->o->plan;
    uint64_t had = ovs_segments(v);
    HD_ASSERT(p->tasks > 0 && had + p->tasks <= v->rows, "OVS-7: a segment has no row");
    hd_status status = launch(x, OVS_NUMBER_range_median, 0, p->tasks, false);
    if (!status) status = await(x);
    if (status) return status;
    ovs_rows_split(v, p);
    status = launch(x, OVS_NUMBER_range_halve, 0, p->tasks, true);
    if (status) ovs_rows_undo(v, p, had);
    return status ? status : await(x);
}

/* *stuck: no pair fits. */
static hd_status merge_round(ranges *x, uint64_t segments, bool *stuck)
{
    ovs_view *v = &x->o->v;
    ovs_plan *p = &x->o->plan;
    uint64_t had = ovs_segments(v);
    hd_status status;
    ovs_plan_merges(v, p, had - segments);
    *stuck = p->tasks == 0;
    if (*stuck) return HD_OK;
    status = launch(x, OVS_NUMBER_range_join, 0, p->tasks, false);
    if (status) return status;
    status = await(x);
    if (!status) {
        ovs_rows_merge(v, p);
        status = launch(x, OVS_NUMBER_range_move, p->tasks, p->tasks + p->moves, true);
        if (status) ovs_rows_undo(v, p, had);
    }
    if (status) launch(x, OVS_NUMBER_range_unjoin, 0, p->tasks, false);
    return status ? status : await(x);
}

/* A plan for a table of so many segments, and for so many keys that wait. */
static hd_status begin(ranges *x, ovs_state *o, const hd_gpu_machine *m, hd_memory all[PLAN_ARRAYS], uint64_t rows,
                       uint64_t waiting)
{
    memset(x, 0, sizeof *x);
    memset(&o->plan, 0, sizeof o->plan);
    o->plan.rows = rows;
    x->o = o;
    x->m = m;
    plan_memory(rows, waiting, all);
    return hd_machine_take(m, o, all, PLAN_ARRAYS);
}

/* All has run before memory is given back. */
static hd_status end(ranges *x, const hd_memory all[PLAN_ARRAYS], hd_status status)
{
    hd_status ran = await(x);
    hd_machine_give(x->m, x->o, all, PLAN_ARRAYS);
    return status ? status : ran;
}

hd_status ovs_resize_ranges(ovs_state *o, const hd_gpu_machine *m, uint64_t segments)
{
    hd_memory plan[PLAN_ARRAYS];
    uint64_t had = ovs_segments(&o->v);
    bool stuck = false;
    ranges x;
    hd_status status = begin(&x, o, m, plan, segments > had ? segments : had, 0);
    if (status) return status;
    status = count_keys(&x);
    if (!status) status = make_rows(&x, segments);
    while (!status && ovs_segments(&o->v) < segments) {
        ovs_plan_splits(&o->v, &o->plan, segments - ovs_segments(&o->v));
        status = split_round(&x);
    }
    while (!status && !stuck && ovs_segments(&o->v) > segments) status = merge_round(&x, segments, &stuck);
    return end(&x, plan, status);
}

hd_status ovs_make_room_there(ovs_state *o, const hd_gpu_machine *m, const uint64_t *key, uint64_t n,
                              hd_status (*take)(ovs_state *o, const hd_gpu_machine *m, uint64_t segments))
{
    hd_memory plan[PLAN_ARRAYS];
    ovs_view *v = &o->v;
    uint64_t most = 0;
    ranges x;
    hd_status status = begin(&x, o, m, plan, ovs_rows_for_room(v, n), n);
    if (status) return status;
    ovs_plan_wait(&o->plan, key, n);
    ovs_plan_room(v, &o->plan, true);
    status = count_keys(&x);
    if (!status) status = ovs_segments_for(v, ovs_plan_weigh(v, &o->plan) << v->line_bits, &most);
    if (!status) status = take(o, m, most);
    if (!status) status = make_rows(&x, most);
    for (; !status && o->plan.tasks; ovs_plan_room(v, &o->plan, false)) status = split_round(&x);
    return end(&x, plan, status);
}
