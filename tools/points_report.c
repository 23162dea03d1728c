/* SPDX-License-Identifier: Apache-2.0
 *
 * points_report.c - see points_report.h. A row is cells of text, made once.
 */
#include "tools/points_report.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench/device/roofline.h"
#include "lib/params.h"
#include "tools/output.h"
#include "tools/save.h"

/* Rates are 1e9 items per second. */
static const struct {
    const char *name;
    int width; /* in text; 0: not shown there */
} column[POINTS_COLUMNS] = {
    { "operation", -18 }, { "hits", 5 },     { "buckets", 7 }, { "dim", 3 },       { "load", 5 },     { "keys", -8 },
    { "batch", 8 },       { "capacity", 0 }, { "layout", -6 }, { "variant", -10 }, { "rate", 8 },     { "spread", 6 },
    { "wall", 8 },        { "goal", 6 },     { "peer", 6 },    { "floor", 8 },     { "of_floor", 8 }, { "of_goal", 7 },
    { "calls", 0 },       { "near", 5 },     { "tiers", -8 },  { "fetch", -6 },    { "design", -6 },  { "slots", 5 },
    { "form", -5 },       { "pending", 7 },  { "spare", 5 },   { "hash", -6 },     { "set", -3 },
};

static void __attribute__((format(printf, 3, 4))) put(points_row *r, int at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->cell[at], POINTS_CELL, format, args);
    va_end(args);
}

int points_column_named(const char *name)
{
    int c = 0;
    while (c < POINTS_COLUMNS && strcmp(column[c].name, name) != 0) c++;
    return c < POINTS_COLUMNS ? c : -1;
}

/* A rate of 0 is none: an empty cell. */
static void put_rate(points_row *r, int at, const char *format, double rate)
{
    if (rate > 0) snprintf(r->cell[at], POINTS_CELL, format, rate);
}

/* ---- One row --------------------------------------------------------------------------------- */

static void fill_point(points_row *r, const bench_point *p, const bench_fixture *s)
{
    uint64_t hashes = hd_params_number_of_table(&s->info, "hashes");
    put(r, POINTS_OPERATION, "%s", bench_buffers_name(p->op));
    put(r, POINTS_HITS, "%g", p->hits);
    put(r, POINTS_BUCKETS, "%u", (unsigned)(hashes ? hashes : 1 + hd_params_number_of_table(&s->info, "dual")));
    put(r, POINTS_DIM, "%u", (unsigned)s->shape.words);
    put(r, POINTS_LOAD, "%g", p->load);
    if (p->zipf > 0)
        put(r, POINTS_KEYS, "zipf:%g", p->zipf);
    else
        put(r, POINTS_KEYS, "uniform");
    put(r, POINTS_BATCH, "%llu", (unsigned long long)p->n);
    put(r, POINTS_CAPACITY, "%llu", (unsigned long long)s->info.capacity);
    put(r, POINTS_FORM, "%s", p->bulk ? "bulk" : "queue");
}

static void fill_rates(points_row *r, const points_report *report, const bench_row *times, const bench_point *p,
                       const bench_fixture *s, const bench_measure *m)
{
    bench_peers peers = goal_of(report->device, &s->shape, p);
    bench_places places = bench_places_of(&s->shape, p->op, p->hits, p->load);
    double floor_s = bench_floor_s(&places, s->info.value_bytes, &report->limits),
           floor = floor_s > 0 ? 1e-9 / floor_s : 0, rate = m->times ? 1e-9 / times->median_s : 0;
    if (p->op == HD_OP_EXPORT && peers.peer > 0) peers.goal = 0.9 * floor; /* of what copying would take */
    put_rate(r, POINTS_RATE, "%.4g", rate);
    if (m->times) put(r, POINTS_SPREAD, "%.1f%%", 100 * (times->most_s - times->least_s) / times->median_s);
    put_rate(r, POINTS_WALL, "%.4g", m->wall_s > 0 ? 1e-9 / m->wall_s : 0);
    put_rate(r, POINTS_GOAL, "%.3g", peers.goal);
    put_rate(r, POINTS_PEER, "%.3g", peers.peer);
    put_rate(r, POINTS_FLOOR, "%.4g", floor);
    if (!places.known) put(r, POINTS_FLOOR, "unknown");
    if (floor > 0) put_rate(r, POINTS_OF_FLOOR, "%.3g%%", 100 * rate / floor);
    if (peers.goal > 0) put_rate(r, POINTS_OF_GOAL, "%.3g%%", 100 * rate / peers.goal);
    put(r, POINTS_CALLS, "%llu", (unsigned long long)(m->calls * m->parts));
    if (!s->evicts) put(r, POINTS_PENDING, "%llu", (unsigned long long)m->fate[HD_PENDING]);
}

/* Appends a parameter of the table, as it is asked for: in CSV it is one cell. */
static void add_param(points_row *r, int at, const hd_param *p, const hd_params *of, const bench_fixture *s)
{
    size_t used = strlen(r->cell[at]);
    char *comma = r->cell[at] + used;
    hd_param_print(p, hd_params_of(of, &s->shape.table), comma, POINTS_CELL - used);
    while ((comma = strchr(comma, ','))) *comma = '+';
}

static void put_param(points_row *r, int at, const char *name, const bench_fixture *s)
{
    const hd_params *of;
    const hd_param *p = hd_param_named(name, s->info.design, &of);
    if (p && (!of->design || strcmp(of->design, s->info.design) == 0)) add_param(r, at, p, of, s);
}

bool points_has_column(const hd_param *p)
{
    static const char *const others[] = { "backend", "value_bytes", "device_value_bytes", "dual", "hashes" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i], p->name) == 0) return true;
    return points_column_named(p->name) >= 0;
}

/* "policy=lfu pins=0": those that have no column, and another value than is usual. */
static void put_others(points_row *r, const bench_fixture *s)
{
    const hd_config usual = hd_config_of(s->info.design), *is = &s->shape.table;
    const hd_params *sets[] = { &hd_params_common, hd_design_named(s->info.design)->params };
    char *cell = r->cell[POINTS_SET];
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; sets[i] && k < sets[i]->count; k++) {
            const hd_param *p = &sets[i]->row[k];
            if (points_has_column(p) || hd_param_same(p, hd_params_of(sets[i], is), hd_params_of(sets[i], &usual)))
                continue;
            size_t used = strlen(cell);
            snprintf(cell + used, POINTS_CELL - used, "%s%s=", used ? " " : "", p->name);
            add_param(r, POINTS_SET, p, sets[i], s);
        }
}

static void fill_table(points_row *r, const bench_fixture *s)
{
    const hd_info *info = &s->info;
    double near = (double)info->values_device_bytes, far = (double)info->values_host_bytes;
    put(r, POINTS_NEAR, "%.3g", far > 0 ? near / (near + far) : 1);
    put_param(r, POINTS_LAYOUT, "layout", s);
    put_param(r, POINTS_DESIGN, "design", s);
    put_param(r, POINTS_SLOTS, "slots", s);
    put_param(r, POINTS_HASH, "hash", s);
    if (info->values_host_bytes) put_param(r, POINTS_TIERS, "tiers", s);
    if (info->values_host_bytes) put_param(r, POINTS_FETCH, "fetch", s);
    if (!s->evicts) put_param(r, POINTS_SPARE, "spare", s);
    put_others(r, s);
}

static void row_fill(points_row *r, const points_report *report, const bench_row *times, const bench_point *p,
                     const bench_fixture *s, const bench_measure *m)
{
    const char *ran = m->ran ? strrchr(m->ran, '.') : NULL;
    fill_point(r, p, s);
    fill_table(r, s);
    fill_rates(r, report, times, p, s, m);
    put(r, POINTS_VARIANT, "%.24s", ran ? ran + 1 : "");
}

static void extra(bench_row *row, const char *key, double value)
{
    if (value > 0 && row->extras < BENCH_EXTRAS) row->extra[row->extras++] = (bench_extra){ key, value };
}

/* The same for JSON: the name says which point, figures are the cells'. */
static void json_fill(bench_row *row, const points_row *r)
{
    int used = snprintf(row->name, sizeof row->name, "%s/hits=%s/buckets=%s/dim=%s/load=%s/%s/batch=%s/%s/%s",
                        r->cell[POINTS_OPERATION], r->cell[POINTS_HITS], r->cell[POINTS_BUCKETS], r->cell[POINTS_DIM],
                        r->cell[POINTS_LOAD], r->cell[POINTS_KEYS], r->cell[POINTS_BATCH], r->cell[POINTS_LAYOUT],
                        r->cell[POINTS_VARIANT]);
    if (*r->cell[POINTS_TIERS] && used > 0 && (size_t)used < sizeof row->name)
        snprintf(row->name + used, sizeof row->name - (size_t)used, "/near=%s/tiers=%s/fetch=%s", r->cell[POINTS_NEAR],
                 r->cell[POINTS_TIERS], r->cell[POINTS_FETCH]);
    used = (int)strlen(row->name);
    if (strcmp(r->cell[POINTS_DESIGN], hd_config_default().design) != 0)
        snprintf(row->name + used, sizeof row->name - (size_t)used, "/design=%s/slots=%s/spare=%s/hash=%s/%s",
                 r->cell[POINTS_DESIGN], r->cell[POINTS_SLOTS], r->cell[POINTS_SPARE], r->cell[POINTS_HASH],
                 r->cell[POINTS_FORM]);
    used = (int)strlen(row->name);
    if (*r->cell[POINTS_SET]) snprintf(row->name + used, sizeof row->name - (size_t)used, "/%s", r->cell[POINTS_SET]);
    extra(row, "floor_items_per_second", atof(r->cell[POINTS_FLOOR]) * 1e9);
    extra(row, "wall_items_per_second", atof(r->cell[POINTS_WALL]) * 1e9);
    extra(row, "goal_items_per_second", atof(r->cell[POINTS_GOAL]) * 1e9);
    extra(row, "peer_items_per_second", atof(r->cell[POINTS_PEER]) * 1e9);
}

static bool times_of(bench_row *row, const bench_point *p, const bench_fixture *s, const bench_measure *m)
{
    size_t times = m->times ? m->times : 1;
    bench_result *result = &row->result;
    result->time = (bench_time *)calloc(times, sizeof *result->time);
    if (!result->time) return false;
    result->times = times;
    result->capacity = s->info.capacity;
    result->load = m->load;
    result->table_bytes = (double)s->info.memory_bytes / (double)s->info.capacity;
    for (size_t i = 0; i < times; i++) {
        bench_time *t = &result->time[i];
        t->items = m->calls * m->parts * p->n;
        t->wall_s = (m->times ? m->queue_s[i] : m->wall_s) * (double)t->items;
        t->cpu_s = t->wall_s; /* the device's clock, for both */
    }
    bench_row_summarise(row);
    return true;
}

/* ---- Printing -------------------------------------------------------------------------------- */

/* The last column is printed where a word asks for a parameter that has none. */
static int columns_of(const points_report *r) { return r->others ? (int)POINTS_COLUMNS : (int)POINTS_SET; }

static void print_row(const char *const *cell, int columns)
{
    for (int c = 0; c < columns; c++)
        if (column[c].width) printf("%*s%s", column[c].width, cell[c], c + 1 == columns ? "\n" : " ");
    fflush(stdout);
}

void points_report_begin(points_report *r)
{
    const char *head[POINTS_COLUMNS];
    for (int c = 0; c < POINTS_COLUMNS; c++) head[c] = column[c].name;
    if (r->form != TOOL_TEXT) return;
    printf("%s; rates are 1e9 items per second, median of queues; wall: one call and a wait for it\n", r->device);
    print_row(head, columns_of(r));
}

int points_report_add(points_report *r, const bench_point *p, const bench_fixture *s, const bench_measure *m)
{
    size_t rows = r->json.rows;
    bench_row *row = (bench_row *)realloc(r->json.row, (rows + 1) * sizeof *row);
    if (row) r->json.row = row;
    points_row *point = (points_row *)realloc(r->point, (rows + 1) * sizeof *point);
    if (point) r->point = point;
    if (!row || !point) return tool_say(TOOL_SYSTEM, "memory was refused while reporting");
    memset(&row[rows], 0, sizeof *row);
    memset(&point[rows], 0, sizeof *point);
    if (!times_of(&row[rows], p, s, m)) return tool_say(TOOL_SYSTEM, "memory was refused while reporting");
    row_fill(&point[rows], r, &row[rows], p, s, m);
    json_fill(&row[rows], &point[rows]);
    r->json.rows++;
    const char *cell[POINTS_COLUMNS];
    for (int c = 0; c < POINTS_COLUMNS; c++) cell[c] = *point[rows].cell[c] ? point[rows].cell[c] : "-";
    if (r->form == TOOL_TEXT) print_row(cell, columns_of(r));
    return TOOL_OK;
}

/* Percent signs are for people. */
static void write_cells(const points_row *p, int columns, FILE *f, char by)
{
    for (int c = 0; c < columns; c++) {
        double share = atof(p->cell[c]) / 100;
        if (strchr(p->cell[c], '%'))
            fprintf(f, "%.3g", share);
        else
            fputs(p->cell[c], f);
        fputc(c + 1 < columns ? by : '\n', f);
    }
}

static void write_separated(const points_report *r, FILE *f, char by)
{
    if (by == '\t') {
        fprintf(f, "# %s\n# heddle %s; %s; rates are 1e9 items per second\n", r->json.command, hd_version(), r->device);
        for (int i = 0; i < BENCH_LIMIT_COUNT; i++)
            fprintf(f, "# limit %s %.4g /s: %s\n", bench_limit_rows[i].name, r->limits.per_s[i],
                    bench_limit_rows[i].what);
    }
    int columns = columns_of(r);
    for (int c = 0; c < columns; c++) fprintf(f, "%s%c", column[c].name, c + 1 < columns ? by : '\n');
    for (size_t i = 0; i < r->json.rows; i++) write_cells(&r->point[i], columns, f, by);
}

static bool write_tsv(const void *r, FILE *f) { return write_separated((const points_report *)r, f, '\t'), true; }
static bool write_csv(const void *r, FILE *f) { return write_separated((const points_report *)r, f, ','), true; }

static bool write_json(const void *what, FILE *f)
{
    const points_report *r = (const points_report *)what;
    bench_report json = r->json;
    bench_extra fact[BENCH_LIMIT_COUNT];
    for (int i = 0; i < BENCH_LIMIT_COUNT; i++) fact[i] = (bench_extra){ bench_limit_rows[i].name, r->limits.per_s[i] };
    json.schema = "heddle.bench.points/1";
    json.device = r->device;
    json.fact = fact;
    json.facts = BENCH_LIMIT_COUNT;
    return bench_report_json(&json, f);
}

int points_report_end(const points_report *r)
{
    if (r->form == TOOL_TEXT) points_short_print(r, stdout);
    if (r->form == TOOL_TEXT || r->json.rows == 0) return TOOL_OK;
    bool whole = r->form == TOOL_JSON ? write_json(r, stdout) : write_csv(r, stdout);
    return whole ? TOOL_OK : tool_say(TOOL_SYSTEM, "memory was refused while reporting");
}

int points_report_save(const points_report *r, const char *path)
{
    static const save_forms forms = { write_json, write_csv, write_tsv };
    return save_by_name(path, &forms, r);
}

void points_report_drop(points_report *r)
{
    for (size_t i = 0; i < r->json.rows; i++) free(r->json.row[i].result.time);
    free(r->json.row);
    free(r->point);
}

/* ---- Limits ---------------------------------------------------------------------------------- */

int points_limits_print(const points_report *r, const char *const *save, int saves)
{
    static const out_column columns[] = {
        { "name", "limit", OUT_TEXT },
        { "per_s", "rate", OUT_RATE },
        { "unit", "of", OUT_TEXT },
        { "what", "what", OUT_TEXT },
    };
    out *o = out_open(r->form, "heddle.bench.limits/1", columns, 4);
    out_fact(o, "device", "device", OUT_TEXT, out_text(r->device));
    for (int i = 0; i < BENCH_LIMIT_COUNT; i++) {
        const bench_limit_row *row = &bench_limit_rows[i];
        const char *unit = row->in_bytes ? "bytes" : row->limit.kind == LIMIT_LAUNCH ? "launches" : "accesses";
        out_row(o, (const out_value[]){ out_text(row->name), out_real(r->limits.per_s[i]), out_text(unit),
                                        out_text(row->what) });
    }
    int code = TOOL_OK;
    for (int i = 0; i < saves && !code; i++) code = out_save(o, save[i]);
    return out_close(o, code);
}
