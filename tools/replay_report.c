/* SPDX-License-Identifier: Apache-2.0
 *
 * replay_report.c - the columns of a replayed row.
 */
#include "tools/replay_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static out_value ratio_of(double ratio) { return ratio < 0 ? out_none() : out_real(ratio); }

static out_value byte_ratio_of(const replay_row *r, const replay_count *c)
{
    return r->sized ? ratio_of(replay_byte_miss_ratio(c)) : out_none();
}

/* ---- A row per policy and size ------------------------------------------------------------------- */

int replay_columns(out_column *column, const replay_plan *p, const replay_row *row)
{
    static const out_column columns[REPLAY_COLUMNS + REPLAY_SPREAD] = {
        { "policy", "policy", OUT_TEXT },
        [REPLAY_ASKED] = { "asked", "asked", OUT_TEXT },
        [REPLAY_SIZE_ENTRIES] = { "size", "size", OUT_COUNT },
        { "capacity", "capacity", OUT_COUNT },
        { "slots", "slots", OUT_COUNT },
        { "requests", "requests", OUT_COUNT },
        { "misses", "misses", OUT_COUNT },
        { "miss_ratio", "miss ratio", OUT_RATIO },
        { "evicted", "evicted", OUT_COUNT },
        { "refused", "refused", OUT_COUNT },
        { "byte_miss_ratio", "byte miss ratio", OUT_RATIO },
        { "miss_ratio_mean", "mean", OUT_RATIO },
        { "miss_ratio_least", "least", OUT_RATIO },
        { "miss_ratio_most", "most", OUT_RATIO },
        { "miss_ratio_deviation", "deviation", OUT_RATIO },
    };
    int n = p->seeds ? REPLAY_COLUMNS + REPLAY_SPREAD : REPLAY_COLUMNS;
    memcpy(column, columns, (size_t)n * sizeof *column);
    if (!row->sized) column[REPLAY_COLUMNS - 1].head = NULL;
    return n;
}

void replay_facts(out *o, const replay_plan *p, const replay_row *row)
{
    if (p->backend) out_fact(o, "backend", "backend", OUT_TEXT, out_text(p->backend));
    if (p->kernel) out_fact(o, "kernel", "kernel", OUT_TEXT, out_text(p->kernel));
    if (p->batch) out_fact(o, "batch", "requests of a batch", OUT_COUNT, out_count(p->batch));
    if (p->seeds) out_fact(o, "seeds", "seeds of each row", OUT_COUNT, out_count(p->seeds));
    if (p->every) out_fact(o, "every", "requests of a window", OUT_COUNT, out_count(p->every));
    if (row) out_fact(o, "sizes", NULL, OUT_FLAG, out_flag(row->sized));
    if (row)
        out_fact(o, "unit", row->bytes ? "unit of sizes" : NULL, OUT_TEXT, out_text(row->bytes ? "bytes" : "entries"));
}

/* Mean, least, most, and the standard deviation of a sample. */
static void spread_cells(const replay_row *r, size_t seeds, out_value *cell)
{
    double sum = 0, least = replay_miss_ratio(&r->all), most = least, squares = 0;
    for (size_t i = 0; i < seeds; i++) {
        double ratio = replay_miss_ratio(&r[i].all);
        sum += ratio;
        if (ratio < least) least = ratio;
        if (ratio > most) most = ratio;
    }
    double mean = sum / (double)seeds;
    for (size_t i = 0; i < seeds; i++) {
        double away = replay_miss_ratio(&r[i].all) - mean;
        squares += away * away;
    }
    double deviation = least < 0 ? -1 : seeds > 1 ? sqrt(squares / (double)(seeds - 1)) : 0;
    const out_value cells[REPLAY_SPREAD] = { ratio_of(mean), ratio_of(least), ratio_of(most), ratio_of(deviation) };
    memcpy(cell, cells, sizeof cells);
}

/* An exact cache has no buckets. */
static out_value slots_of(const replay_row *r) { return r->full ? out_none() : out_count(r->slots); }

void replay_cells(const replay_row *r, const replay_plan *p, out_value *cell)
{
    const replay_count *c = &r->all;
    const out_value cells[REPLAY_COLUMNS] = {
        out_text(r->policy),   out_text(r->asked),     out_count(r->size),   out_count(r->capacity),
        slots_of(r),           out_count(c->requests), out_count(c->misses), ratio_of(replay_miss_ratio(c)),
        out_count(c->evicted), out_count(c->refused),  byte_ratio_of(r, c)
    };
    memcpy(cell, cells, sizeof cells);
    if (p->seeds) spread_cells(r, p->seeds, cell + REPLAY_COLUMNS);
}

/* ---- A row per window ------------------------------------------------------------------------------ */

out *replay_windows_open(tool_form form, const replay_row *row)
{
    static out_column column[] = {
        { "policy", "policy", OUT_TEXT },        { "asked", "asked", OUT_TEXT },
        { "capacity", "capacity", OUT_COUNT },   { "window", "window", OUT_COUNT },
        { "first", "first request", OUT_COUNT }, { "requests", "requests", OUT_COUNT },
        { "misses", "misses", OUT_COUNT },       { "miss_ratio", "miss ratio", OUT_RATIO },
        { "evicted", "evicted", OUT_COUNT },     { "refused", "refused", OUT_COUNT },
        { "reserved", NULL, OUT_COUNT },         { "byte_miss_ratio", "byte miss ratio", OUT_RATIO },
    };
    enum { COLUMNS = sizeof column / sizeof *column };
    if (!row->sized) column[COLUMNS - 1].head = NULL;
    return out_open(form, "heddle.windows/1", column, COLUMNS);
}

static void window_row(out *o, const replay_row *r, size_t at, uint64_t first)
{
    const replay_count *c = &r->window[at];
    const out_value cells[] = {
        out_text(r->policy),   out_text(r->asked),     out_count(r->capacity), out_count(at + 1),
        out_count(first),      out_count(c->requests), out_count(c->misses),   ratio_of(replay_miss_ratio(c)),
        out_count(c->evicted), out_count(c->refused),  out_count(c->reserved), byte_ratio_of(r, c)
    };
    out_row(o, cells);
}

void replay_windows(out *o, const replay_plan *p, const replay_row *row, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t at = 0; at < row[i].windows; at++) window_row(o, &row[i], at, p->warmup + at * p->every + 1);
}

/* ---- What the options ask of the whole ------------------------------------------------------------- */

int replay_fails(const replay_plan *p, const replay_row *row, size_t rows)
{
    const replay_row *worst = row;
    size_t above = 0;
    const replay_count *all = &row->all;
    if (all->requests == all->reserved && all->unsampled)
        return tool_say(TOOL_DATA, "--sample: the rate keeps no key; take a higher one");
    if (all->requests == 0)
        return tool_say(TOOL_DATA, "no request is counted: --warmup passes over all %" PRIu64, row->replayed);
    if (all->requests == all->reserved)
        return tool_say(TOOL_DATA, "no request is counted: all %" PRIu64 " are for keys that no table holds",
                        all->reserved);
    for (size_t i = 0; p->fails && i < rows; i++) {
        if (replay_miss_ratio(&row[i].all) > replay_miss_ratio(&worst->all)) worst = &row[i];
        above += replay_miss_ratio(&row[i].all) > p->fail_above;
    }
    if (!above) return TOOL_OK;
    char seed[40] = "", others[80] = "";
    if (p->seeds) snprintf(seed, sizeof seed, ", seed %" PRIu64, worst->seed);
    if (above > 1) snprintf(others, sizeof others, "; %zu runs of %zu are above", above, rows);
    return tool_say(TOOL_DIFFERS, "--fail-above: %s, %s (%" PRIu64 " %s%s): the miss ratio %.6g is above %.6g%s",
                    worst->policy, worst->asked, worst->capacity, worst->bytes ? "bytes" : "entries", seed,
                    replay_miss_ratio(&worst->all), p->fail_above, others);
}

int replay_options_check(const replay_plan *p)
{
    if (p->every && p->seeds) return tool_say(TOOL_USAGE, "--every or --seeds, not both");
    return TOOL_OK;
}
