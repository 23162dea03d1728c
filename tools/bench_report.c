/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_report.c - medians, and four ways to print them.
 */
#include "tools/bench_report.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/median.h"
#include "tools/output.h"
#include "tools/save.h"

/* ---- Statistics ------------------------------------------------------------------------------ */

void bench_row_summarise(bench_row *row)
{
    enum { MOST = 1000 }; /* --repeat's limit */
    double v[MOST];
    const bench_time *t = row->result.time;
    size_t n = row->result.times < MOST ? row->result.times : MOST;
    for (size_t i = 0; i < n; i++) v[i] = t[i].cpu_s / (double)t[i].items;
    row->cpu_s = median_of(v, n);
    for (size_t i = 0; i < n; i++) v[i] = t[i].wall_s / (double)t[i].items;
    row->median_s = median_of(v, n);
    row->least_s = v[0];
    row->most_s = v[n - 1];
    for (size_t i = 0; i < n; i++) v[i] = fabs(v[i] - row->median_s);
    row->mad_s = median_of(v, n);
}

/* ---- JSON: one entry per repetition, then the aggregates, as Google Benchmark writes them ---- */

/* Figures per item: an iteration is one item. */
static json_t *json_entry(const bench_row *row, const char *aggregate, double wall_s, double cpu_s)
{
    char name[3 * BENCH_NAME];
    snprintf(name, sizeof name, "%s%s%s", row->name, *aggregate ? "_" : "", aggregate);
    json_t *e = json_object();
    json_object_set_new(e, "name", json_string(name));
    json_object_set_new(e, "run_name", json_string(row->name));
    json_object_set_new(e, "run_type", json_string(*aggregate ? "aggregate" : "iteration"));
    json_object_set_new(e, "repetitions", json_integer((json_int_t)row->result.times));
    if (*aggregate) json_object_set_new(e, "aggregate_name", json_string(aggregate));
    json_object_set_new(e, "threads", json_integer(row->threads));
    json_object_set_new(e, "real_time", json_real(wall_s * 1e9));
    json_object_set_new(e, "cpu_time", json_real(cpu_s * 1e9));
    json_object_set_new(e, "time_unit", json_string("ns"));
    return e;
}

static void json_row(json_t *all, const bench_row *row)
{
    const bench_result *r = &row->result;
    for (size_t i = 0; i < r->times; i++) {
        const bench_time *t = &r->time[i];
        json_t *e = json_entry(row, "", t->wall_s / (double)t->items, t->cpu_s / (double)t->items);
        json_object_set_new(e, "repetition_index", json_integer((json_int_t)i));
        json_object_set_new(e, "iterations", json_integer((json_int_t)t->items));
        json_object_set_new(e, "items_per_second", json_real((double)t->items / t->wall_s));
        json_array_append_new(all, e);
    }
    const struct {
        const char *name;
        double s;
    } aggregate[] = {
        { "median", row->median_s },
        { "min", row->least_s },
        { "max", row->most_s },
        { "mad", row->mad_s },
    };
    for (size_t i = 0; i < sizeof aggregate / sizeof *aggregate; i++) {
        json_t *e = json_entry(row, aggregate[i].name, aggregate[i].s, row->cpu_s);
        json_object_set_new(e, "iterations", json_integer((json_int_t)r->times));
        if (i == 0) {
            json_object_set_new(e, "items_per_second", json_real(1 / row->median_s));
            json_object_set_new(e, "capacity", json_integer((json_int_t)r->capacity));
            json_object_set_new(e, "load_factor", json_real(r->load));
            json_object_set_new(e, "table_bytes_per_entry", json_real(r->table_bytes));
            json_object_set_new(e, "resident_bytes_per_entry",
                                r->resident_bytes > 0 ? json_real(r->resident_bytes) : json_null());
            for (int x = 0; x < row->extras; x++)
                json_object_set_new(e, row->extra[x].key, json_real(row->extra[x].value));
        }
        json_array_append_new(all, e);
    }
}

bool bench_report_json(const bench_report *r, FILE *f)
{
    json_t *context = json_object(), *all = json_array(), *top = json_object();
    json_object_set_new(context, "schema", json_string(r->schema ? r->schema : "heddle.bench/1"));
    json_object_set_new(context, "executable", json_string("heddle"));
    json_object_set_new(context, "library_version", json_string(hd_version()));
    json_object_set_new(context, "command", json_string(r->command));
    json_object_set_new(context, "cpu_model", json_string(r->on.cpu));
    json_object_set_new(context, "num_cpus", json_integer(r->on.cores));
    json_object_set_new(context, "compiler", json_string(r->on.compiler));
    json_object_set_new(context, "compiler_flags", json_string(r->on.flags));
    json_object_set_new(context, "load_avg", json_pack("[f]", r->on.load));
    if (r->device) json_object_set_new(context, "device", json_string(r->device));
    for (size_t i = 0; i < r->facts; i++) json_object_set_new(context, r->fact[i].key, json_real(r->fact[i].value));
    for (size_t i = 0; i < r->rows; i++) json_row(all, &r->row[i]);
    json_object_set_new(top, "context", context);
    json_object_set_new(top, "benchmarks", all);
    bool whole = json_array_size(all) >= 5 * r->rows; /* jansson drops what it had no memory for */
    whole = whole && json_dumpf(top, f, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) == 0;
    json_decref(top);
    fputc('\n', f);
    return whole;
}

/* ---- CSV and TSV ----------------------------------------------------------------------------- */

static bool write_separated(const bench_report *r, FILE *f, char by)
{
    static const char *const head[] = { "name",
                                        "median_ns",
                                        "min_ns",
                                        "max_ns",
                                        "mad_ns",
                                        "cpu_ns",
                                        "items_per_s",
                                        "repetitions",
                                        "capacity",
                                        "load_factor",
                                        "table_bytes_per_entry",
                                        "resident_bytes_per_entry" };
    if (by == '\t')
        fprintf(f, "# %s\n# heddle %s, %s, %s; %s, %d cores, load average %.1f; times per item\n", r->command,
                hd_version(), r->on.compiler, r->on.flags, r->on.cpu, r->on.cores, r->on.load);
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        fprintf(f, "%s%c", head[i], i + 1 < sizeof head / sizeof *head ? by : '\n');
    for (size_t i = 0; i < r->rows; i++) {
        const bench_row *w = &r->row[i];
        /* names hold no quotes: BENCH words and case strings */
        const char *quote = by == ',' && strchr(w->name, ',') ? "\"" : "";
        fprintf(f, "%s%s%s%c%.4g%c%.4g%c%.4g%c%.3g%c%.4g%c%.0f%c%zu%c%llu%c%.4f%c%.2f%c", quote, w->name, quote, by,
                w->median_s * 1e9, by, w->least_s * 1e9, by, w->most_s * 1e9, by, w->mad_s * 1e9, by, w->cpu_s * 1e9,
                by, 1 / w->median_s, by, w->result.times, by, (unsigned long long)w->result.capacity, by,
                w->result.load, by, w->result.table_bytes, by);
        if (w->result.resident_bytes > 0) fprintf(f, "%.2f", w->result.resident_bytes);
        fputc('\n', f);
    }
    return true;
}

/* ---- For people ------------------------------------------------------------------------------ */

static int print_text(const bench_report *r)
{
    /* clang-format off */
    static const out_column column[] = {
        { "name", "case", OUT_TEXT }, { "median_s", "per item", OUT_SECONDS }, { "min_s", "least", OUT_SECONDS },
        { "max_s", "most", OUT_SECONDS }, { "mad_s", "+-", OUT_PERCENT }, { "cpu_s", "processor", OUT_SECONDS },
        { "items_per_s", "rate", OUT_RATE }, { "load", "load factor", OUT_RATIO }, { "table", "B/entry", OUT_REAL },
        { "resident", "resident", OUT_REAL },
    };
    /* clang-format on */
    enum { COLUMNS = sizeof column / sizeof *column };
    out *o = out_open(TOOL_TEXT, "heddle.bench/1", column, COLUMNS);
    char with[2 * MACHINE_TEXT];
    snprintf(with, sizeof with, "%s, %s", r->on.compiler, r->on.flags);
    out_fact(o, "cpu", "processor", OUT_TEXT, out_text(r->on.cpu));
    out_fact(o, "cores", "cores", OUT_PLAIN, out_count((uint64_t)r->on.cores));
    out_fact(o, "compiler", "compiler", OUT_TEXT, out_text(with));
    out_fact(o, "repetitions", "repetitions", OUT_PLAIN, out_count(r->plan.repeat));
    out_fact(o, "min_time_s", "each at least", OUT_SECONDS, out_real(r->plan.min_time_s));
    out_fact(o, "busy_s", "machine's load average", OUT_REAL, r->on.load < 0 ? out_none() : out_real(r->on.load));
    for (size_t i = 0; i < r->rows; i++) {
        const bench_row *w = &r->row[i];
        out_row(o, (const out_value[]){
                       out_text(w->name), out_real(w->median_s), out_real(w->least_s), out_real(w->most_s),
                       out_real(w->mad_s / w->median_s), out_real(w->cpu_s), out_real(1 / w->median_s),
                       out_real(w->result.load), out_real(w->result.table_bytes),
                       w->result.resident_bytes > 0 ? out_real(w->result.resident_bytes) : out_none() });
    }
    return out_close(o, TOOL_OK);
}

/* ---- Where to -------------------------------------------------------------------------------- */

int bench_report_print(const bench_report *r, tool_form form)
{
    if (form == TOOL_TEXT) return r->rows ? print_text(r) : TOOL_OK;
    bool whole = form == TOOL_JSON ? bench_report_json(r, stdout) : write_separated(r, stdout, ',');
    return whole ? TOOL_OK : tool_say(TOOL_SYSTEM, "memory was refused while reporting");
}

static bool write_as_json(const void *r, FILE *f) { return bench_report_json((const bench_report *)r, f); }
static bool write_as_csv(const void *r, FILE *f) { return write_separated((const bench_report *)r, f, ','); }
static bool write_as_tsv(const void *r, FILE *f) { return write_separated((const bench_report *)r, f, '\t'); }

int bench_report_save(const bench_report *r, const char *path)
{
    static const save_forms forms = { write_as_json, write_as_csv, write_as_tsv };
    return save_by_name(path, &forms, r);
}
