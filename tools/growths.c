/* SPDX-License-Identifier: Apache-2.0
 *
 * growths.c - rows of growth.h: splitting and merging alone, and batches on a table that grows under them beside the
 * same on one that has the room.
 */
#include "tools/growths.h"

#include <string.h>

#include "bench/device/goals.h"
#include "bench/device/growth.h"
#include "bench/median.h"
#include "base/error.h"
#include "base/parse.h"
#include "tools/output.h"

enum { BATCHES = 1, SPLITS = 2, LIST = 8, PROOF_CAPACITY = 1 << 11, PROOF_TO = 1 << 13, PROOF_BATCH = 300 };

typedef struct growths {
    const points_options *o;
    const bench_device *device;
    char name[128];
    bench_growth g;
    uint64_t batch[LIST], split[LIST], slots;
    int batches, splits;
    unsigned only; /* of BATCHES and SPLITS, what was asked for; 0: both */
    out *report;
    uint64_t rows;
    int code;
} growths;

/* clang-format off */
static const out_column column[] = {
    { "what", "what", OUT_TEXT }, { "arrays", "arrays", OUT_TEXT }, { "batch", "batch", OUT_COUNT },
    { "from", "from slots", OUT_COUNT }, { "to", "to slots", OUT_COUNT }, { "items", "items", OUT_COUNT },
    { "resizes", "resizes", OUT_PLAIN },
    { "least_per_s", "least", OUT_RATE }, { "items_per_s", "median", OUT_RATE }, { "most_per_s", "most", OUT_RATE },
    { "of_steady", "of steady", OUT_FIXED },
};
/* clang-format on */

/* ---- Words ----------------------------------------------------------------------------------- */

static hd_status add_list(const char *name, char *text, uint64_t most, uint64_t *list, int *n)
{
    char *rest = NULL;
    hd_status e = HD_OK;
    *n = 0;
    for (char *value = strtok_r(text, ",", &rest); value && !e; value = strtok_r(NULL, ",", &rest)) {
        if (*n == LIST) return hd_fail(HD_EINVAL, "%s: more than %d values", name, LIST);
        e = hd_parse_u64(name, value, 0, most, &list[(*n)++]);
    }
    return e;
}

static int read_word(growths *q, char *word)
{
    static const char *const names[] = { GROWTHS_WORD, "capacity=", "to=",     "load=",    "batch=", "split=",
                                         "slots=",     "layout=",   "design=", "segment=", NULL };
    char *value = strchr(word, '=');
    size_t n = value ? (size_t)(value - word) + 1 : strlen(word);
    int which = 0;
    while (names[which] && (strlen(names[which]) != n || strncmp(word, names[which], n) != 0)) which++;
    hd_status e = HD_OK;
    switch (which) {
    case 0: break;
    case 1: e = hd_parse_u64("capacity", value + 1, 256, 1ull << 36, &q->g.shape.table.capacity); break;
    case 2: e = hd_parse_u64("to", value + 1, 256, 1ull << 36, &q->g.to); break;
    case 3: e = hd_parse_double("load", value + 1, 0.01, 0.98, &q->g.load); break;
    case 4: q->only |= BATCHES, e = add_list("batch", value + 1, 1ull << 28, q->batch, &q->batches); break;
    case 5: q->only |= SPLITS, e = add_list("split", value + 1, 1ull << 31, q->split, &q->splits); break;
    case 6: e = hd_parse_u64("slots", value + 1, 8, 32, &q->slots); break;
    case 7: e = hd_config_set(&q->g.shape.table, "layout", value + 1); break;
    case 8: break; /* usual */
    case 9: e = hd_config_set(&q->g.shape.table, "segment", value + 1); break;
    default: return tool_say(TOOL_USAGE, "%.40s: no word of `growth`%s", word, tool_nearest(word, names));
    }
    return e ? tool_fail(e) : TOOL_OK;
}

static int read_words(growths *q, const tool_line *line)
{
    int code = TOOL_OK;
    for (int i = 0; i < line->words && !code; i++) code = read_word(q, line->word[i]);
    for (int i = 0; i < q->batches && !code; i++)
        if (q->batch[i] == 0) code = tool_say(TOOL_USAGE, "batch: 0 keys");
    q->g.shape.table.slots = (uint32_t)q->slots;
    if (q->only == BATCHES) q->splits = 0;
    if (q->only == SPLITS) q->batches = 0;
    if (!code && q->batches && q->g.to <= (uint64_t)(q->g.load * (double)q->g.shape.table.capacity))
        code = tool_say(TOOL_USAGE, "to: the table begins with as many");
    return code;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static bool over(const growths *q) { return q->code || tool_stopped(); }
static double rate_of(const bench_growth_measure *m) { return m->seconds > 0 ? (double)m->items / m->seconds : 0; }

/* What was measured `repeat` times; steady: what it is held against, 0: nothing. Returns the median. */
static double add_row(growths *q, const char *what, bool here, const bench_growth_measure *m, double *rate,
                      uint64_t repeat, double steady)
{
    double median = median_of(rate, repeat);
    q->rows++;
    out_row(q->report,
            (const out_value[]){ out_text(what), out_text(here ? "this machine's" : "the device's"),
                                 q->g.n ? out_count(q->g.n) : out_none(), out_count(m->from), out_count(m->capacity),
                                 out_count(m->items), out_count(m->resizes), out_real(rate[0]), out_real(median),
                                 out_real(rate[repeat - 1]), steady > 0 ? out_real(median / steady) : out_none() });
    return median;
}

static hd_status wrong(growths *q, const char *what, const bench_growth_measure *m)
{
    q->code = tool_say(TOOL_DIFFERS, "%s, %llu to %llu slots: %s", what, (unsigned long long)m->from,
                       (unsigned long long)m->capacity, m->wrong);
    return HD_OK;
}

static uint64_t repeats(const growths *q) { return q->o->repeat ? q->o->repeat : 3; }

static hd_status resizes(growths *q)
{
    double up[POINT_REPEAT_MOST], down[POINT_REPEAT_MOST];
    bench_growth_measure grown, shrunk;
    hd_status e = HD_OK;
    for (uint64_t i = 0; i < repeats(q); i++) {
        e = growth_resize(q->device, &q->g, &grown, &shrunk);
        if (e) return e;
        if (*grown.wrong) return wrong(q, "grow", &grown);
        if (*shrunk.wrong) return wrong(q, "shrink", &shrunk);
        up[i] = rate_of(&grown);
        down[i] = rate_of(&shrunk);
    }
    q->g.n = 0;
    add_row(q, "grow", false, &grown, up, repeats(q), 0);
    if (shrunk.resizes) add_row(q, "shrink", false, &shrunk, down, repeats(q), 0);
    return e;
}

static hd_status fills(growths *q, const char *what, bench_growth_way way, bool here, double *steady)
{
    double rate[POINT_REPEAT_MOST];
    bench_growth_measure m;
    for (uint64_t i = 0; i < repeats(q); i++) {
        hd_status e = growth_fill(q->device, &q->g, way, here, &m);
        if (e) return e;
        if (*m.wrong) return wrong(q, what, &m);
        rate[i] = rate_of(&m);
    }
    double median = add_row(q, what, here, &m, rate, repeats(q), *steady);
    if (way == GROWTH_NONE) *steady = median;
    return HD_OK;
}

static bool is_measured(const growths *q, bench_growth_way way)
{
    return way != GROWTH_CALLER || !goals_of(q->g.shape.table.design)->doubles;
}

static hd_status all(growths *q)
{
    static const struct {
        const char *what;
        bench_growth_way way;
        bool here;
    } rows[] = { { "steady", GROWTH_NONE, false },     { "growing", GROWTH_CALLER, false },
                 { "doubling", GROWTH_DOUBLE, false }, { "run_growing", GROWTH_CALL, false },
                 { "steady", GROWTH_NONE, true },      { "run_growing", GROWTH_CALL, true } };
    hd_status e = HD_OK;
    for (int i = 0; i < q->splits && !e && !over(q); i++) {
        q->g.split = q->split[i];
        e = resizes(q);
    }
    for (int i = 0; i < q->batches; i++) {
        double steady = 0;
        q->g.n = q->batch[i];
        for (size_t r = 0; r < sizeof rows / sizeof *rows && !e && !over(q); r++) {
            if (rows[r].way == GROWTH_NONE) steady = 0;
            if (!is_measured(q, rows[r].way)) continue;
            e = fills(q, rows[r].what, rows[r].way, rows[r].here, &steady);
        }
    }
    return e;
}

/* ---- The proof: the same on a table that is small enough for a check of its invariants --------- */

static hd_status told_if_wrong(growths *q, const char *what, const bench_growth_measure *m)
{
    return *m->wrong && !q->code ? wrong(q, what, m) : HD_OK;
}

static hd_status prove(growths *q)
{
    static const bench_growth_way ways[] = { GROWTH_NONE, GROWTH_CALLER, GROWTH_DOUBLE, GROWTH_CALL };
    bench_growth small = q->g;
    bench_growth_measure m, other;
    hd_status e = HD_OK;
    small.shape.table.capacity = PROOF_CAPACITY;
    small.to = PROOF_TO;
    small.n = PROOF_BATCH;
    small.invariants = true;
    for (int i = 0; i < 4 && !e && !q->code; i++) {
        if (!is_measured(q, ways[i])) continue;
        e = growth_fill(q->device, &small, ways[i], false, &m);
        if (!e) e = told_if_wrong(q, "growing", &m);
    }
    if (!e && !q->code) {
        e = growth_fill(q->device, &small, GROWTH_CALL, true, &m);
        if (!e) e = told_if_wrong(q, "growing, arrays in host memory", &m);
    }
    for (int part = 0; part < 2 && !e && !q->code; part++) {
        small.split = part ? PROOF_CAPACITY / 3 / 32 : 0;
        e = growth_resize(q->device, &small, &m, &other);
        if (!e) e = told_if_wrong(q, "grow", &m);
        if (!e) e = told_if_wrong(q, "shrink", &other);
    }
    return e;
}

/* ---- The run --------------------------------------------------------------------------------- */

static bool grows_in_place(const hd_design *d) { return d->ref->resize != NULL; }

/* The design that a word names, or else the first whose tables grow in place. NULL: tables of that one do not. */
static const char *design_of(const tool_line *line, const char *backend)
{
    const hd_design *d = NULL;
    for (int i = 0; i < line->words; i++)
        if (strncmp(line->word[i], "design=", 7) == 0) {
            const char *name = line->word[i] + 7;
            d = hd_design_named(name);
            return d && hd_backend_named(d, backend) && grows_in_place(d) ? name : NULL;
        }
    for (size_t i = 0; (d = hd_design_at(i)) && !grows_in_place(d);) i++;
    return d ? d->name : NULL;
}

static void usual(growths *q, const char *design, bool gpu)
{
    bool slow = strcmp(q->o->backend, "host") == 0;
    double load = goals_of(design)->load[0];
    q->g.shape = bench_shape_of(design, q->o->backend);
    q->g.shape.words = 1;
    q->g.shape.table.capacity = gpu ? 1 << 20 : slow ? 1 << 11 : 1 << 16;
    q->g.to = gpu ? 1 << 27 : slow ? 1 << 13 : 1 << 19;
    q->g.load = load < 0.85 ? load : 0.85;
    q->slots = 16;
    q->batch[0] = gpu ? 1 << 20 : slow ? 1 << 9 : 1 << 12;
    q->batch[1] = 4 * q->batch[0];
    q->batches = 2;
    q->splits = 1;
}

int growths_run(tool_line *line, const points_options *o)
{
    growths q;
    memset(&q, 0, sizeof q);
    q.o = o;
    q.device = bench_device_for(o->backend);
    const char *design = design_of(line, o->backend);
    if (!design) return tool_say(TOOL_USAGE, "design: tables of this one do not grow in place");
    usual(&q, design, strcmp(o->backend, "cuda") == 0);
    int code = read_words(&q, line);
    if (!code)
        code = points_begin(q.device, q.name, &q.report, line->form, "heddle.bench.growth/1", column,
                            sizeof column / sizeof *column);
    if (code) return code;
    out_fact(q.report, "design", "design", OUT_TEXT, out_text(q.g.shape.table.design));
    out_fact(q.report, "slots", "slots of a bucket", OUT_PLAIN, out_count(q.slots));
    out_fact(q.report, "load", "load factor", OUT_REAL, out_real(q.g.load));
    hd_status e = prove(&q);
    if (!e) e = all(&q);
    if (e) q.code = tool_fail(e);
    out_note(
        q.report,
        "steady: batches on a table that has the room; growing: on one that grows under them, an eighth at a time by "
        "its caller (hd_grow); doubling: by its caller, to the end of a doubling; run_growing: by hd_run_growing.\n");
    q.device->close();
    return points_finish(o, q.report, q.rows, q.code);
}
