/* SPDX-License-Identifier: Apache-2.0
 *
 * cliffs.c - see cliffs.h. Each row of the matrix has a table of its own. So a graph that one row captured does not
 * slow down the next row.
 */
#include "tools/cliffs.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lib/params.h"
#include "base/parse.h"
#include "bench/median.h"
#include "policies/policy.h"
#include "tools/cliffs_report.h"

enum { LIST_POLICY, LIST_MODE, LIST_OPERATION, LIST_PATTERN, LISTS };

typedef struct cliffs {
    const points_options *o;
    const bench_device *device;
    char name[128];
    uint64_t wanted[LISTS]; /* a bit for each row of the list; 0: all */
    uint64_t capacity, dim;
    cliff_plan plan;
    const char *from; /* a record to print; NULL: measure */
    cliffs_shown shown;
    cliffs_table table;
    tool_form form;
    int code; /* the worst so far */
} cliffs;

/* ---- Lists of names -------------------------------------------------------------------------- */

static const char *policy_name(size_t i) { return i < HD_POLICY_COUNT ? hd_policy_rows[i].name : NULL; }
static const char *mode_name(size_t i) { return i == 0 ? "single" : i == 1 ? "dual" : NULL; }
static const char *operation_name(size_t i) { return i < cliff_op_count ? cliff_op_name(&cliff_ops[i]) : NULL; }
static const char *pattern_name(size_t i) { return i < cliff_pattern_count ? cliff_patterns[i].name : NULL; }

/* NULL: no more */
static const struct {
    const char *word;
    const char *(*name)(size_t i);
} lists[LISTS] = {
    { "policy", policy_name }, { "mode", mode_name }, { "operation", operation_name }, { "pattern", pattern_name }
};

static bool is_wanted(const cliffs *q, int list, size_t i) { return !q->wanted[list] || q->wanted[list] >> i & 1; }

static int add_name(cliffs *q, int list, const char *text)
{
    const char *name[65] = { NULL };
    size_t i = 0;
    for (; (name[i] = lists[list].name(i)); i++)
        if (strcmp(name[i], text) == 0) return q->wanted[list] |= 1ull << i, TOOL_OK;
    return tool_say(TOOL_USAGE, "there is no %s '%.40s'%s", lists[list].word, text, tool_nearest(text, name));
}

/* ---- Words ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint64_t least, most;
    size_t at; /* its uint64_t */
} numbers[] = { { "capacity", 1024, 1ull << 36, offsetof(cliffs, capacity) },
                { "dim", 1, HD_VALUE_BYTES_MAX / 4, offsetof(cliffs, dim) },
                { "batch", 1, 1ull << 30, offsetof(cliffs, plan.batch) },
                { "calls", 1, 1024, offsetof(cliffs, plan.calls) } };
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static bool is_name(const char *word, size_t n, const char *name)
{
    return strlen(name) == n && !strncmp(word, name, n);
}

/* policy=lru,lfu: the names between commas. */
static int read_list(cliffs *q, int list, const char *text)
{
    char name[64];
    int code = TOOL_OK;
    for (size_t n; !code; text += n + 1) {
        n = strcspn(text, ",");
        snprintf(name, sizeof name, "%.*s", (int)n, text);
        code = add_name(q, list, name);
        if (!text[n]) break;
    }
    return code;
}

static int read_elem(cliffs *q, const char *text)
{
    const char *names[HD_ELEM_COUNT + 1] = { NULL };
    for (int i = 0; i < HD_ELEM_COUNT; i++) {
        names[i] = hd_elem_name((hd_elem)i);
        if (strcmp(names[i], text) == 0) return q->plan.elem = (hd_elem)i, TOOL_OK;
    }
    return tool_say(TOOL_USAGE, "there is no elem '%.40s'%s", text, tool_nearest(text, names));
}

static int read_word(cliffs *q, const char *word)
{
    static const char *const names[] = { "policy=", "mode=",  "operation=", "pattern=", "capacity=", "dim=",
                                         "batch=",  "calls=", "limit=",     "elem=",    "from=",     NULL };
    size_t n = strcspn(word, "=");
    if (strcmp(word, CLIFFS_WORD) == 0) return TOOL_OK;
    if (!word[n]) return add_name(q, LIST_OPERATION, word);
    const char *text = word + n + 1;
    for (int i = 0; i < LISTS; i++)
        if (is_name(word, n, lists[i].word)) return read_list(q, i, text);
    for (int i = 0; i < NUMBERS; i++) {
        if (!is_name(word, n, numbers[i].name)) continue;
        uint64_t *v = (uint64_t *)(void *)((char *)q + numbers[i].at);
        hd_status e = hd_parse_u64(numbers[i].name, text, numbers[i].least, numbers[i].most, v);
        return e ? tool_fail(e) : TOOL_OK;
    }
    if (is_name(word, n, "from")) return q->from = text, TOOL_OK;
    if (is_name(word, n, "elem")) return read_elem(q, text);
    if (is_name(word, n, "limit")) {
        hd_status e = hd_parse_double("limit", text, 1e-6, 3600, &q->plan.limit_s);
        return e ? tool_fail(e) : TOOL_OK;
    }
    return tool_say(TOOL_USAGE, "%.40s: no word of `" CLIFFS_WORD "`%s", word, tool_nearest(word, names));
}

/* A GPU gets the table of the goals; what is not a GPU gets one that takes seconds. */
static void usual(cliffs *q, const char *backend)
{
    static const struct {
        const char *backend;
        uint64_t capacity, batch, memory_most;
        double limit_s;
    } rows[] = { { "cuda", 16 << 20, 1 << 20, 16ull << 30, 0.1 },
                 { "host", 1 << 10, 32, 256 << 20, 2 },
                 { NULL, 1 << 14, 1 << 10, 256 << 20, 0.5 } };
    size_t r = 0;
    while (rows[r].backend && strcmp(rows[r].backend, backend) != 0) r++;
    q->capacity = rows[r].capacity;
    q->dim = 8;
    q->plan =
        (cliff_plan){ rows[r].batch, 4, q->o->repeat ? q->o->repeat : 1, rows[r].memory_most, rows[r].limit_s, HD_F32 };
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static bool over(const cliffs *q) { return q->code == TOOL_SYSTEM || q->code == TOOL_USAGE || tool_stopped(); }

static void row_fill(cliffs_row *row, const cliffs *q, size_t policy, size_t mode, const cliff_op *o,
                     const cliff_pattern *p)
{
    memset(row, 0, sizeof *row);
    snprintf(row->policy, sizeof row->policy, "%s", policy_name(policy));
    snprintf(row->mode, sizeof row->mode, "%s", mode_name(mode));
    snprintf(row->operation, sizeof row->operation, "%s", cliff_op_name(o));
    snprintf(row->pattern, sizeof row->pattern, "%s", p->name);
    row->capacity = q->capacity;
    row->dim = q->dim;
}

static void row_measured(cliffs_row *row, cliff_cell *cell)
{
    row->batch = cell->n;
    row->calls = cell->calls;
    row->load = cell->load;
    row->expected = cell->expected;
    row->below = cell->below;
    memcpy(row->outcome, cell->outcome, sizeof row->outcome);
    snprintf(row->why, sizeof row->why, "%s", cell->why);
    if (cell->times == 0) return;
    row->rate = 1 / median_of(cell->item_s, cell->times); /* which sorts them */
    row->most = 1 / cell->item_s[0];
    row->least = 1 / cell->item_s[cell->times - 1];
}

static void measure(cliffs *q, bench_fixture *s, bench_buffers *t, const cliff_op *o, cliffs_row *row,
                    const cliff_pattern *p)
{
    cliff_cell cell;
    hd_status e = cliff_measure(&q->plan, o, p, s, t, &cell);
    if (e) {
        q->code = tool_fail(e);
        return;
    }
    row_measured(row, &cell);
    if (cell.wrong)
        q->code = tool_say(TOOL_DIFFERS, "%s, %s, %s, %s: %s", row->policy, row->mode, row->operation, row->pattern,
                           row->why);
    if (cliffs_add(&q->table, row)) q->code = TOOL_SYSTEM;
}

/* A row of the matrix, on a table of its own; how many cells it has. */
static size_t measure_row(cliffs *q, size_t policy, size_t mode, const cliff_op *o, bench_buffers *t)
{
    size_t before = q->table.rows;
    bench_fixture s;
    cliffs_row row;
    bench_shape shape = cliff_shape(q->o->backend);
    shape.table.policy = policy_name(policy);
    hd_params_number_set(&shape.table, shape.table.design, "dual", mode == 1);
    shape.table.capacity = q->capacity;
    shape.words = (uint32_t)q->dim;
    hd_status e = bench_fixture_open(&s, q->device, &shape);
    if (e) return q->code = tool_fail(e), 0;
    for (size_t i = 0; i < q->shown.patterns && !over(q); i++) {
        if (!cliff_applies(o, q->shown.pattern[i])) continue;
        row_fill(&row, q, policy, mode, o, q->shown.pattern[i]);
        measure(q, &s, t, o, &row, q->shown.pattern[i]);
    }
    bench_fixture_close(&s);
    cliffs_mark(q->table.row + before, q->table.rows - before);
    return q->table.rows - before;
}

/* ---- The run --------------------------------------------------------------------------------- */

static const char *clock_of(const cliffs *q)
{
    return q->device == &bench_here ? "the wall clock" : "the device's events";
}

static out *record_of(const cliffs *q, tool_form form)
{
    out *o = cliffs_record(&q->table, form);
    if (q->from) return o;
    out_fact(o, "device", "device", OUT_TEXT, out_text(q->name));
    out_fact(o, "timed_by", "queues timed by", OUT_TEXT, out_text(clock_of(q)));
    out_fact(o, "zipf_keys", "keys of Zipf's law", OUT_COUNT, out_count(cliff_universe(q->capacity)));
    out_fact(o, "limit_s", "limit of a call", OUT_SECONDS, out_real(q->plan.limit_s));
    return o;
}

/* What is there is not lost when the rest is. */
static void save_all(cliffs *q)
{
    out *o = record_of(q, q->form);
    for (int i = 0; i < q->o->saves && q->table.rows; i++) {
        int saved = out_save(o, q->o->save[i]);
        if (saved) q->code = saved;
    }
    out_drop(o);
}

static void measure_table(cliffs *q, size_t policy, size_t mode, bench_buffers *t)
{
    bool first = true;
    for (size_t i = 0; i < cliff_op_count && !over(q); i++) {
        if (!is_wanted(q, LIST_OPERATION, i)) continue;
        size_t rows = measure_row(q, policy, mode, &cliff_ops[i], t);
        if (rows == 0 || q->form != TOOL_TEXT) continue;
        cliffs_print(&q->shown, q->table.row + q->table.rows - rows, rows, first);
        first = false;
    }
    save_all(q);
}

static void measure_all(cliffs *q)
{
    bench_buffers t;
    memset(&t, 0, sizeof t);
    if (q->form == TOOL_TEXT)
        printf("%s; 1e6 items per second, queues timed by %s; %llu entries of %llu floats; Zipf over %llu keys\n",
               q->name, clock_of(q), (unsigned long long)q->capacity, (unsigned long long)q->dim,
               (unsigned long long)cliff_universe(q->capacity));
    for (size_t policy = 0; policy_name(policy); policy++)
        for (size_t mode = 0; mode_name(mode); mode++)
            if (is_wanted(q, LIST_POLICY, policy) && is_wanted(q, LIST_MODE, mode) && !over(q))
                measure_table(q, policy, mode, &t);
    bench_buffers_drop(&t, q->device);
}

/* A record's matrix. Its columns are those that it has. */
static void print_read(cliffs *q)
{
    const cliffs_row *last = NULL;
    for (size_t i = 0, n; i < q->table.rows; i += n) {
        const cliffs_row *row = &q->table.row[i];
        n = cliffs_row_length(&q->table, i);
        cliffs_print(&q->shown, row, n, !last || strcmp(last->policy, row->policy) || strcmp(last->mode, row->mode));
        last = row;
    }
}

static void show(cliffs *q)
{
    for (size_t i = 0; i < cliff_pattern_count; i++)
        if (is_wanted(q, LIST_PATTERN, i)) q->shown.pattern[q->shown.patterns++] = &cliff_patterns[i];
}

/* Of a record: without a device. */
static int from_record(cliffs *q)
{
    int code = cliffs_read(&q->table, q->from);
    if (!code && q->form == TOOL_TEXT) print_read(q);
    if (!code) save_all(q);
    return code ? code : q->code;
}

static int from_device(cliffs *q)
{
    int code = points_device_open(q->device, q->name);
    if (code) return code;
    measure_all(q);
    q->device->close();
    return q->code;
}

int cliffs_run(tool_line *line, const points_options *o)
{
    cliffs q;
    memset(&q, 0, sizeof q);
    q.o = o;
    q.form = line->form;
    q.device = bench_device_for(o->backend);
    usual(&q, o->backend);
    int code = TOOL_OK;
    for (int i = 0; i < line->words && !code; i++) code = read_word(&q, line->word[i]);
    if (code) return code;
    show(&q);
    code = q.from ? from_record(&q) : from_device(&q);
    if (q.table.rows && q.form == TOOL_TEXT)
        cliffs_print_end(&q.shown, &q.table);
    else if (q.table.rows)
        code = out_close(record_of(&q, q.form), code);
    cliffs_drop(&q.table);
    return tool_stopped() ? TOOL_STOPPED : code;
}
