/* SPDX-License-Identifier: Apache-2.0
 *
 * points_args.c - the words after `heddle bench --backend NAME`: operations, and NAME=VALUE,VALUE,... A NAME is a word
 * of this file, or a parameter of every table or of the design (base/param.h).
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/parse.h"
#include "lib/params.h"
#include "tools/points.h"

static hd_status full(const char *name) { return hd_fail(HD_EINVAL, "%s: more than %d values", name, POINTS_LIST); }

/* ---- Numbers --------------------------------------------------------------------------------- */

#define AT(list) offsetof(points_wish, list)
static const struct {
    const char *name;
    double least, most;
    bool whole;
    size_t at; /* its points_numbers */
} numbers[] = { { "dim", 1, HD_VALUE_BYTES_MAX / 4, true, AT(dim) },
                { "load", 0.01, 1, false, AT(load) },
                { "hits", 0, 1, false, AT(hits) },
                { "capacity", 256, (double)(1ull << 40), true, AT(capacity) },
                { "batch", 1, (double)(1ull << 40), true, AT(batch) },
                { "bulk", 1, (double)(1ull << 40), true, AT(bulk) },
                { "near", 0, 1, false, AT(near) } };
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static hd_status add_number(points_wish *w, int which, const char *text)
{
    points_numbers *l = (points_numbers *)(void *)((char *)w + numbers[which].at);
    uint64_t v;
    if (l->n == POINTS_LIST) return full(numbers[which].name);
    if (!numbers[which].whole)
        return hd_parse_double(numbers[which].name, text, numbers[which].least, numbers[which].most, &l->v[l->n++]);
    hd_status e =
        hd_parse_u64(numbers[which].name, text, (uint64_t)numbers[which].least, (uint64_t)numbers[which].most, &v);
    if (!e) l->v[l->n++] = (double)v;
    return e;
}

/* ---- Words of their own ---------------------------------------------------------------------- */

static hd_status add_variant(points_wish *w, const char *text)
{
    if (strcmp(text, "all") == 0) return w->all_variants = true, HD_OK;
    if (w->variant.n == POINTS_LIST) return full("variant");
    w->variant.v[w->variant.n++] = strcmp(text, "chosen") == 0 ? NULL : hd_kernel_renamed(text);
    return HD_OK;
}

static hd_status add_keys(points_wish *w, const char *text)
{
    if (w->zipf.n == POINTS_LIST) return full("keys");
    if (strcmp(text, "uniform") == 0) return w->zipf.v[w->zipf.n++] = 0, HD_OK;
    if (strncmp(text, "zipf:", 5) == 0) return hd_parse_double("keys=zipf", text + 5, 0.01, 2, &w->zipf.v[w->zipf.n++]);
    return hd_fail(HD_EINVAL, "keys: '%.40s' is neither uniform nor zipf:S", text);
}

static hd_status take_mode(points_wish *w, const char *text)
{
    bool both = strcmp(text, "both") == 0;
    w->effort.watch = strcmp(text, "watch") == 0;
    w->effort.queue = both || strcmp(text, "queue") == 0;
    w->effort.wall = both || strcmp(text, "wall") == 0;
    if (w->effort.queue || w->effort.wall || w->effort.watch) return HD_OK;
    return hd_fail(HD_EINVAL, "mode: '%.40s' is none of queue, wall, both, watch", text);
}

static hd_status take_calls(points_wish *w, const char *text)
{
    return hd_parse_u64("calls", text, 1, 1 << 20, &w->effort.calls);
}

/* One for the run: a table of points is of one design. */
static hd_status take_design(points_wish *w, const char *text)
{
    hd_row row;
    for (size_t i = 0; hd_list(HD_DESIGNS, i, &row); i++)
        if (strcmp(row.name, text) == 0) return w->design = row.name, HD_OK;
    return hd_fail_name("design", text, HD_DESIGNS);
}

static const struct {
    const char *name;
    hd_status (*add)(points_wish *w, const char *text);
} words[] = { { "variant", add_variant },
              { "keys", add_keys },
              { "mode", take_mode },
              { "calls", take_calls },
              { "design", take_design } };
enum { WORDS = sizeof words / sizeof *words };

/* ---- Parameters ------------------------------------------------------------------------------ */

const points_axis *points_axis_of(const points_wish *w, const char *name)
{
    for (int i = 0; i < w->axes; i++)
        if (strcmp(w->axis[i].param->name, name) == 0) return &w->axis[i];
    return NULL;
}

/* The parameter of that name, unless it is one that the bench sets itself; NULL: there is none. */
static const hd_param *param_named(const char *name, const char *design, const hd_params **of)
{
    static const char *const set_here[] = { "design", "backend", "capacity", "value_bytes", "device_value_bytes" };
    const hd_param *p = hd_param_named(name, design, of);
    for (size_t i = 0; p && i < sizeof set_here / sizeof *set_here; i++)
        if (strcmp(p->name, set_here[i]) == 0) return NULL;
    return p;
}

static hd_status add_value(points_wish *w, const hd_param *p, const hd_params *of, char *text)
{
    hd_config c = hd_config_of(w->design);
    if (of->design && strcmp(of->design, w->design) != 0)
        return hd_fail(HD_EINVAL, "%s: a field of design %s, not of %s", p->name, of->design, w->design);
    int i = 0;
    while (i < w->axes && w->axis[i].param != p) i++;
    if (i == POINTS_AXES) return hd_fail(HD_EINVAL, "%s: more than %d parameters", p->name, POINTS_AXES);
    points_axis *a = &w->axis[i];
    a->param = p;
    a->of = of;
    w->axes = i < w->axes ? w->axes : i + 1;
    if (a->values.n == POINTS_LIST) return full(p->name);
    /* a function for each candidate bucket, with + between them: commas are between values */
    for (char *plus = text; p->type == HD_PARAM_TEXT && (plus = strchr(plus, '+')); plus++) *plus = ',';
    a->values.v[a->values.n++] = text;
    hd_status e = hd_param_set(p, hd_params_in(of, &c), text);
    return e ? e : hd_param_check(p, hd_params_of(of, &c));
}

/* ---- The command line ------------------------------------------------------------------------ */

static hd_status add(points_wish *w, const char *name, char *value)
{
    const hd_params *of;
    for (int i = 0; i < NUMBERS; i++)
        if (strcmp(name, numbers[i].name) == 0) return add_number(w, i, value);
    for (int i = 0; i < WORDS; i++)
        if (strcmp(name, words[i].name) == 0) return words[i].add(w, value);
    const hd_param *p = param_named(name, w->design, &of);
    return add_value(w, p, of, value);
}

/* TOOL_OK when a word has this name. */
static int check_name(const points_wish *w, const char *name)
{
    const char *names[NUMBERS + WORDS + 64] = { NULL };
    const hd_params *s;
    size_t n = 0;
    for (int i = 0; i < NUMBERS; i++) names[n++] = numbers[i].name;
    for (int i = 0; i < WORDS; i++) names[n++] = words[i].name;
    for (size_t i = 0; (s = hd_params_at(i)); i++)
        for (size_t k = 0; k < s->count && n + 1 < sizeof names / sizeof *names; k++)
            if (param_named(s->row[k].name, w->design, &s)) names[n++] = s->row[k].name;
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0) return TOOL_OK;
    return tool_say(TOOL_USAGE, "there is no '%.40s'%s", name, tool_nearest(name, names));
}

static int add_list(points_wish *w, const char *name, char *values)
{
    char *rest = NULL;
    int code = check_name(w, name);
    if (code) return code;
    if (*values == 0) return tool_say(TOOL_USAGE, "%.40s=: it is empty", name);
    for (char *value = strtok_r(values, ",", &rest); value; value = strtok_r(NULL, ",", &rest)) {
        hd_status e = add(w, name, value);
        if (e) return tool_fail(e);
    }
    return TOOL_OK;
}

static int add_op(points_wish *w, const char *word)
{
    const char *name[BENCH_OPS + 2] = { NULL };
    int names = 0;
    if (strcmp(word, "limits") == 0) return w->limits_only = true, TOOL_OK;
    for (int i = 0; i < BENCH_OPS; i++) {
        if (!bench_buffers_row_of((hd_op)i)) continue;
        name[names++] = bench_buffers_name((hd_op)i);
        if (strcmp(word, bench_buffers_name((hd_op)i)) != 0) continue;
        if (w->ops == POINTS_LIST) return tool_say(TOOL_USAGE, "more than %d operations", POINTS_LIST);
        return w->op[w->ops++] = (hd_op)i, TOOL_OK;
    }
    name[names] = "limits";
    return tool_say(TOOL_USAGE, "'%.60s' is not measured on a backend%s; other words are NAME=VALUE,...", word,
                    tool_nearest(word, name));
}

static void add_usual(points_numbers *l, double v)
{
    if (l->n == 0) l->v[l->n++] = v;
}

/* The values of the goals' shapes, where the words give none. */
static void add_goals(points_wish *w)
{
    const bench_goals *g = w->goals;
    for (int d = w->dim.n ? GOAL_DIMS : 0; d < goals_dims(g); d++) w->dim.v[w->dim.n++] = g->dim[d];
    for (int l = w->load.n ? GOAL_LOADS : 0; l < goals_loads(g); l++) w->load.v[w->load.n++] = g->load[l];
    if (w->as_goals && g->bulk) add_usual(&w->bulk, (double)g->n);
}

/* A GPU gets the shapes of the table of goals; what is not a GPU would take hours for them. */
static void complete(points_wish *w)
{
    static const struct {
        const char *backend;
        uint64_t batch, capacity, calls; /* 0: as the goals have it */
    } usual[] = { { "cuda", 1 << 20, 0, 0 }, { "host", 64, 1 << 11, 20 }, { NULL, 1024, 1 << 16, 20 } };
    int b = 0;
    while (usual[b].backend && strcmp(usual[b].backend, w->backend) != 0) b++;
    w->as_goals = usual[b].capacity == 0 && !w->batch.n && !w->bulk.n && !w->capacity.n;
    add_goals(w);
    add_usual(&w->zipf, 0);
    add_usual(&w->near, 0);
    add_usual(&w->capacity, (double)usual[b].capacity);
    if (!w->bulk.n) add_usual(&w->batch, (double)usual[b].batch);
    if (!w->effort.calls) w->effort.calls = usual[b].calls;
    if (!w->variant.n && !w->all_variants) w->variant.v[w->variant.n++] = NULL;
}

/* Not every design runs every operation. */
static int check_ops(const points_wish *w)
{
    for (int i = 0; i < w->ops; i++) {
        int r = 0;
        while (r < w->goals->rows && w->goals->row[r].op != w->op[i]) r++;
        if (r == w->goals->rows)
            return tool_say(TOOL_USAGE, "%s is not measured on the design %s", bench_buffers_name(w->op[i]), w->design);
    }
    return TOOL_OK;
}

/* NAME=VALUE,...: cuts a copy of the word in place. */
static int take_list(points_wish *w, const char *word, size_t *used)
{
    size_t n = strlen(word) + 1;
    if (*used + n > sizeof w->text)
        return tool_say(TOOL_USAGE, "the words are longer than %zu characters", sizeof w->text);
    char *name = (char *)memcpy(w->text + *used, word, n), *equals = strchr(name, '=');
    *used += n;
    *equals = 0;
    return add_list(w, name, equals + 1);
}

/* The word names the design, on which other words depend. */
static bool is_design(const char *word) { return strncmp(word, "design=", strlen("design=")) == 0; }

int points_wish_read(points_wish *w, const char *backend, char **word, int count)
{
    size_t used = 0;
    int code = TOOL_OK;
    memset(w, 0, sizeof *w);
    w->design = hd_config_default().design;
    w->backend = backend;
    w->effort.queue = w->effort.wall = true;
    for (int i = 0; i < count && !code; i++)
        if (is_design(word[i])) code = take_list(w, word[i], &used);
    for (int i = 0; i < count && !code; i++) {
        if (is_design(word[i])) continue;
        code = strchr(word[i], '=') ? take_list(w, word[i], &used) : add_op(w, word[i]);
    }
    w->goals = goals_of(w->design);
    if (!code) code = check_ops(w);
    if (!code) complete(w);
    return code;
}
