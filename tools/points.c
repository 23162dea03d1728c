/* SPDX-License-Identifier: Apache-2.0
 *
 * points.c - the table of points, in an order in which a table of gigabytes is opened once for all that have its shape,
 * and filled as seldom as may be: by load factor, and within one in the order of goals.h, lookups first.
 */
#include "tools/points.h"

#include <stdlib.h>
#include <string.h>

#include "base/op.h"
#include "base/error.h"
#include "lib/params.h"
#include "tools/points_report.h"

typedef struct points {
    const points_wish *w;
    const points_options *o;
    const bench_device *device;
    points_report report;
    bench_fixture stand;
    bench_buffers tray;
    bench_effort effort;
    int code; /* the worst so far */
} points;

enum { REPEAT = 5 };

const bench_device *bench_device_for(const char *backend)
{
#ifdef HD_CUDA
    if (strcmp(backend, "cuda") == 0) return &bench_cuda;
#endif
    return strcmp(backend, "cuda") == 0 ? NULL : &bench_here;
}

static bool is_gpu(const points *q) { return q->device != &bench_here; }

/* ---- One point ------------------------------------------------------------------------------- */

static void say_of(points *q, const bench_point *p, int code, const char *why)
{
    int said = tool_say(code, "%s, hits %g, %s, dim %u, load %g, %s %llu, %s: %s", bench_buffers_name(p->op), p->hits,
                        bench_shape_dual(&q->stand.shape) ? "dual" : "single", (unsigned)q->stand.shape.words, p->load,
                        p->bulk ? "bulk" : "batch", (unsigned long long)p->n,
                        p->variant ? p->variant : "the chosen variant", why);
    if (said > q->code) q->code = said;
}

static void measure(points *q, const bench_point *p)
{
    bench_measure m;
    q->effort.number = (unsigned)q->report.json.rows + 1;
    hd_status e = point_measure(p, &q->effort, &q->stand, &q->tray, &m);
    /* this machine cannot; another point may be possible */
    if (e == HD_ENOMEM || e == HD_EINVAL)
        say_of(q, p, TOOL_OK, hd_why());
    else if (e)
        say_of(q, p, TOOL_SYSTEM, hd_why());
    else if (*m.wrong)
        say_of(q, p, TOOL_DIFFERS, m.wrong);
    else if (points_report_add(&q->report, p, &q->stand, &m))
        q->code = TOOL_SYSTEM;
    if (e || *m.wrong) q->stand.blank = true; /* it may be in any state */
}

/* No more points: no device, no memory for reports, or no table of that shape. */
static bool over(const points *q) { return q->code == TOOL_SYSTEM || q->code == TOOL_USAGE || tool_stopped(); }

/* By every variant that is wanted, and can. */
static void by_variants(points *q, bench_point p)
{
    hd_kernel k;
    for (int i = 0; i < q->w->variant.n && !over(q); i++) {
        p.variant = q->w->variant.v[i];
        const char *why = point_unsupported(&p, &q->stand);
        if (why)
            say_of(q, &p, TOOL_OK, why);
        else
            measure(q, &p);
    }
    const char *backend = q->w->backend;
    for (uint32_t row = 0; q->w->all_variants && hd_kernel_named(q->w->design, backend, row, &k) && !over(q); row++) {
        if (point_unsupported_row(&p, &q->stand, &k)) continue;
        p.variant = k.variant->name;
        measure(q, &p);
    }
}

/* ---- Rows and shapes ------------------------------------------------------------------------- */

static bool has_op(const points_wish *w, hd_op op)
{
    int i = 0;
    while (i < w->ops && w->op[i] != op) i++;
    return w->ops == 0 || i < w->ops;
}

/* The first row of its operation, when shares of hits are given: those of the others are not asked for. */
static bool is_first(const bench_goals *of, const bench_goal *row)
{
    const bench_goal *g = of->row;
    while (g->op != row->op) g++;
    return g == row;
}

static void by_hits(points *q, const bench_goal *row, bench_point p)
{
    const points_wish *w = q->w;
    p.op = row->op;
    p.hits = row->hits;
    if (w->hits.n == 0 || row->op == HD_OP_EXPORT || hd_op_does(row->op, HD_ORDERED)) {
        by_variants(q, p);
        return;
    }
    for (int i = 0; i < w->hits.n && !over(q) && is_first(w->goals, row); i++) {
        p.hits = w->hits.v[i];
        if (row->op != HD_OP_ERASE || p.hits > 0) by_variants(q, p);
    }
}

/* Whether a row is of this run: dual rows are few, unless both modes were asked for by name. */
static bool of_mode(const points_wish *w, const bench_goal *row, bool dual)
{
    return points_axis_of(w, "dual") ? !row->dual : row->dual == dual;
}

/* Of rows that differ in their calls alone, the first, when calls were asked for. */
static bool is_again(const bench_goals *of, const bench_goal *row)
{
    return row > of->row && row[-1].op == row->op && row[-1].hits == row->hits && row[-1].dual == row->dual;
}

static void by_rows(points *q, double load, uint64_t n, bool bulk)
{
    const points_wish *w = q->w;
    for (const bench_goal *row = w->goals->row; row < w->goals->row + w->goals->rows && !over(q); row++) {
        if (!has_op(w, row->op) || !of_mode(w, row, bench_shape_dual(&q->stand.shape)) ||
            (!w->as_goals && is_again(w->goals, row)))
            continue;
        bench_point p = { .load = load, .n = n, .bulk = bulk };
        if (w->as_goals && row->n) p.n = row->n, p.bulk = false;
        for (int z = 0; z < w->zipf.n && !over(q); z++) {
            p.zipf = w->zipf.v[z];
            if (p.zipf <= 0 || (row->op != HD_OP_EXPORT && row->op != BENCH_MIXED)) by_hits(q, row, p);
        }
    }
}

/* What is measured on one table: at load factors, calls of n; bulk: in bulk. */
typedef struct sizes {
    const double *load, *n;
    int loads, ns;
    bool bulk;
} sizes;

static void on_stand(points *q, const bench_shape *shape, const sizes *z)
{
    hd_status e = bench_fixture_open(&q->stand, q->device, shape);
    if (e == HD_ENOMEM) {
        tool_say(TOOL_OK, "dim %u, capacity %llu: %s", (unsigned)shape->words,
                 (unsigned long long)shape->table.capacity, hd_why());
        return;
    }
    if (e) {
        q->code = tool_fail(e);
        return;
    }
    for (int l = 0; l < z->loads; l++)
        for (int b = 0; b < z->ns && !over(q); b++) by_rows(q, z->load[l], (uint64_t)z->n[b], z->bulk);
    bench_buffers_drop(&q->tray, q->device);
    bench_fixture_close(&q->stand);
    for (int i = 0; i < q->o->saves && q->report.json.rows; i++) { /* what is there is not lost when the rest is */
        int saved = points_report_save(&q->report, q->o->save[i]);
        if (saved) q->code = saved;
    }
}

/* One shape: batches at every load factor; and in bulk, for which a table has room for just so many keys. */
static void by_sizes(points *q, bench_shape shape)
{
    const points_wish *w = q->w;
    const sizes all = { w->load.v, w->batch.v, w->load.n, w->batch.n, false };
    uint64_t capacity = shape.table.capacity;
    bool by_load = capacity == 0 && w->goals->bulk; /* the goals' own is another for each */
    if (capacity == 0) shape.table.capacity = goal_capacity(w->goals, shape.words, 1);
    if (w->batch.n && !by_load) on_stand(q, &shape, &all);
    for (int l = 0; l < w->load.n && !over(q); l++) {
        const sizes here = { &w->load.v[l], w->batch.v, 1, w->batch.n, false };
        shape.table.capacity = goal_capacity(w->goals, shape.words, w->load.v[l]);
        if (w->batch.n && by_load) on_stand(q, &shape, &here);
        for (int b = 0; b < w->bulk.n && !over(q); b++) {
            const sizes bulk = { &w->load.v[l], &w->bulk.v[b], 1, 1, true };
            shape.table.capacity = point_room((uint64_t)w->bulk.v[b], w->load.v[l]);
            on_stand(q, &shape, &bulk);
        }
    }
}

static void by_values(points *q, bench_shape shape)
{
    const points_wish *w = q->w;
    for (int c = 0; c < w->capacity.n; c++)
        for (int d = 0; d < w->dim.n; d++)
            for (int n = 0; n < w->near.n && !over(q); n++) {
                shape.table.capacity = (uint64_t)w->capacity.v[c];
                shape.words = (uint32_t)w->dim.v[d];
                shape.near = w->near.v[n];
                by_sizes(q, shape);
            }
}

/* Every combination of the values of axis k and those behind it. */
static void by_axes(points *q, bench_shape shape, int k)
{
    const points_axis *a = &q->w->axis[k];
    if (k == q->w->axes) {
        by_values(q, shape);
        return;
    }
    for (int i = 0; i < a->values.n && !over(q); i++) {
        hd_param_set(a->param, hd_params_in(a->of, &shape.table), a->values.v[i]);
        by_axes(q, shape, k + 1);
    }
}

static bool has_dual_rows(const bench_goals *g)
{
    for (int i = 0; i < g->rows; i++)
        if (g->row[i].dual) return true;
    return false;
}

/* Rows of single mode, and where the goals have such, and no word says which, those of dual mode. */
static void by_shapes(points *q)
{
    const points_wish *w = q->w;
    bench_shape shape = bench_shape_of(w->design, w->backend);
    by_axes(q, shape, 0);
    if (points_axis_of(w, "dual") || !has_dual_rows(w->goals)) return;
    hd_params_number_set(&shape.table, shape.table.design, "dual", true);
    by_axes(q, shape, 0);
}

/* ---- The run --------------------------------------------------------------------------------- */

static hd_status measure_limits(points *q)
{
    uint64_t capacity = q->w->capacity.v[0] > 0 ? (uint64_t)q->w->capacity.v[0] : goal_capacity(q->w->goals, 8, 1);
    return bench_limits_measure(q->device, is_gpu(q) ? 16ull << 30 : 64ull << 20, capacity, q->effort.watch,
                                &q->report.limits);
}

int points_device_open(const bench_device *device, char name[128])
{
    hd_status e = device ? device->open(name)
                         : hd_fail(HD_ECUDA, "no CUDA device: this build has none (configure found no CUDA compiler)");
    if (!e) return TOOL_OK;
    return e == HD_ECUDA ? tool_say(TOOL_SKIPPED, "%s", hd_why()) : tool_fail(e);
}

int points_begin(const bench_device *device, char name[128], out **report, tool_form form, const char *schema,
                 const out_column *column, int columns)
{
    int code = points_device_open(device, name);
    if (code) return code;
    *report = out_open(form, schema, column, columns);
    out_fact(*report, "device", "device", OUT_TEXT, out_text(name));
    return TOOL_OK;
}

int points_finish(const points_options *o, out *report, uint64_t rows, int code)
{
    for (int i = 0; i < o->saves && rows; i++) {
        int saved = out_save(report, o->save[i]);
        if (saved) code = saved;
    }
    if (tool_stopped()) code = TOOL_STOPPED;
    if (rows) return out_close(report, code);
    out_drop(report);
    return code;
}

static void measure_all(points *q)
{
    q->effort.memory_most = is_gpu(q) ? 16ull << 30 : 256ull << 20;
    hd_status e = measure_limits(q);
    if (e) {
        q->code = tool_fail(e);
        return;
    }
    if (q->w->limits_only) {
        q->code = points_limits_print(&q->report, q->o->save, q->o->saves);
        return;
    }
    for (int i = 0; i < q->w->axes; i++) q->report.others |= !points_has_column(q->w->axis[i].param);
    points_report_begin(&q->report);
    by_shapes(q);
    int printed = points_report_end(&q->report);
    if (printed) q->code = printed;
    if (q->code == TOOL_OK && q->report.json.rows == 0) q->code = TOOL_SYSTEM; /* it was said why */
}

int points_run(tool_line *line, const points_options *o)
{
    points q;
    points_wish *w = (points_wish *)malloc(sizeof *w);
    int code =
        w ? points_wish_read(w, o->backend, line->word, line->words) : tool_say(TOOL_SYSTEM, "memory was refused");
    if (code) return free(w), code;
    memset(&q, 0, sizeof q);
    q.w = w;
    q.o = o;
    q.effort = w->effort;
    q.effort.repeat = o->repeat ? o->repeat : REPEAT;
    q.device = bench_device_for(o->backend);
    q.report.form = line->form;
    q.report.json.command = o->command;
    machine_look(&q.report.json.on);
    q.code = points_device_open(q.device, q.report.device);
    if (!q.code) {
        measure_all(&q);
        q.device->close();
    }
    points_report_drop(&q.report);
    free(w);
    return tool_stopped() ? TOOL_STOPPED : q.code;
}
