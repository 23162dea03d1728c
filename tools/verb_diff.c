/* SPDX-License-Identifier: Apache-2.0
 *
 * verb_diff.c - two kernels, or a kernel and the reference, on one case: the first item whose fate differs, and the
 * buckets that do, side by side; and the smallest batch of the case that still makes a difference.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "judge/rules.h"
#include "base/design.h"
#include "base/error.h"
#include "base/parse.h"
#include "tools/output.h"
#include "tools/case_run.h"

typedef struct diff_options {
    const char *text;
    const judge_design *design;
    uint64_t seed, threads, blocks;
    bool at_random, wide; /* wide: one of the two wants wide buckets, so both get them */
    hd_case c;            /* text's, with kernel ref */
} diff_options;

static const tool_option option[] = {
    { "case", 'c', "CASE", "without its kernel: hkv.OP and fields (hkv.insert_or_assign)",
      TOOL_FIELD(diff_options, text) },
    { "random", 'r', "SEED", "let lanes run in random order, seed SEED, instead of in turn", .kind = TOOL_BY_PARSER },
    { "threads", 't', "N", "per block, whole warps (32)", TOOL_RANGE(diff_options, threads, 32, 1024) },
    { "blocks", 'B', "N", "at most (1)", TOOL_RANGE(diff_options, blocks, 1, 64) },
    { .name = NULL },
};

static error_t parse(int key, const char *arg, void *options)
{
    diff_options *o = (diff_options *)options;
    (void)key; /* --random is the one without a field */
    o->at_random = true;
    return tool_read(hd_parse_u64("--random", arg, 0, UINT64_MAX, &o->seed));
}

/* ---- One side -------------------------------------------------------------------------------- */

/* What ran the case, and what the judge says of it. */
typedef struct side {
    const char *name;
    case_run x;
    char verdict[2048]; /* "" when it agrees with the reference in the order of its tickets */
} side;

static bool is_ref(const char *name) { return strcmp(name, "ref") == 0; }

/* o->text lacks the kernel: the reference's is put in, which each side replaces. -1, or an exit code. */
static int case_parse(diff_options *o)
{
    char whole[CASE_RUN_TEXT + 8];
    int head = (int)strcspn(o->text, " ");
    snprintf(whole, sizeof whole, "%.*s.ref%s", head, o->text, o->text + head);
    hd_status s = hd_case_parse(whole, &o->c);
    return s ? tool_fail(s) : -1;
}

/* The case with this side's kernel. The reference needs a fixture, too: the first kernel's. batch: 0 as the case
 * says. */
static hd_case case_for(const diff_options *o, const char *kernel, uint64_t batch)
{
    hd_case c = o->c;
    char items[32];
    snprintf(c.kernel, sizeof c.kernel, "%s", is_ref(kernel) ? fixture_row_name(o->design, 0) : kernel);
    if (o->wide && !hd_case_has(&c, "slots")) {
        snprintf(items, sizeof items, "%" PRIu32, fixture_wide(o->design).slots);
        (void)hd_case_set(&c, "slots", items); /* a number that is in range */
    }
    if (batch) {
        snprintf(items, sizeof items, "%" PRIu64 "x1", batch);
        (void)hd_case_set(&c, "batch", items);
    }
    return c;
}

/* Opens and runs. -1, or an exit code. */
static int side_run(side *d, const diff_options *o, const char *kernel, uint64_t batch)
{
    const hd_case of = case_for(o, kernel, batch);
    d->name = kernel;
    int code = case_run_open(&d->x, &of, 1, 8, (uint32_t)o->threads, (uint32_t)o->blocks);
    if (code >= 0) return code;
    simt_config c = simt_config_default();
    c.strategy = o->at_random ? SIMT_RANDOM : SIMT_ROUND_ROBIN;
    c.unit = o->at_random ? SIMT_BY_LANE : SIMT_BY_WARP;
    c.seed = o->seed;
    c.shared_bytes = 48 << 10;
    const char *why = NULL;
    hd_status s = is_ref(kernel) ? fixture_prepare(d->x.s, d->x.m) : comparison_run(d->x.a, d->x.m, &c, &why);
    if (s) {
        case_run_close(&d->x);
        return tool_fail(s);
    }
    if (is_ref(kernel)) fixture_reference(d->x.s);
    snprintf(d->verdict, sizeof d->verdict, "%s", why ? why : "");
    return -1;
}

/* ---- What differs ---------------------------------------------------------------------------- */

static bool same_value(const fixture *a, const fixture *b, uint64_t i)
{
    const hd_batch *p = &a->part[0].batch, *q = &b->part[0].batch;
    uint32_t bytes = a->value_bytes;
    hd_op op = judge_item_op(p, i);
    return !judge_ops[op].value_out || !judge_delivers(op, (hd_outcome)p->outcome[i]) ||
           memcmp((const uint8_t *)p->value_out + i * bytes, (const uint8_t *)q->value_out + i * bytes, bytes) == 0;
}

static bool same_score(const fixture *a, const fixture *b, uint64_t i)
{
    const hd_batch *p = &a->part[0].batch, *q = &b->part[0].batch;
    hd_op op = judge_item_op(p, i);
    return !judge_ops[op].score_out || !judge_delivers(op, (hd_outcome)p->outcome[i]) ||
           p->score_out[i] == q->score_out[i];
}

/* In what item i differs; NULL: in nothing. */
static const char *item_differs(const fixture *a, const fixture *b, uint64_t i)
{
    if (a->part[0].batch.outcome[i] != b->part[0].batch.outcome[i]) return "outcome";
    if (!same_value(a, b, i)) return "value";
    return same_score(a, b, i) ? NULL : "score";
}

/* The first item whose fate differs; UINT64_MAX: none. */
static uint64_t first_item(const fixture *a, const fixture *b, const char **what)
{
    const hd_batch *p = &a->part[0].batch, *q = &b->part[0].batch;
    for (uint64_t i = 0; judge_ops[p->op].keyed && i < p->n; i++) {
        *what = item_differs(a, b, i);
        if (*what) return i;
    }
    *what = NULL;
    if (judge_ops[p->op].list && *p->count != *q->count) *what = "count";
    return UINT64_MAX;
}

static bool differ(const side *d)
{
    const char *what;
    bool item = first_item(d[0].x.s, d[1].x.s, &what) != UINT64_MAX || what;
    return item || fixture_buckets_differ(d[0].x.s, d[1].x.s) || d[0].verdict[0] || d[1].verdict[0];
}

static int both(side *d, const diff_options *o, char *const *kernel, uint64_t batch)
{
    int code = side_run(&d[0], o, kernel[0], batch);
    if (code < 0) {
        code = side_run(&d[1], o, kernel[1], batch);
        if (code >= 0) case_run_close(&d[0].x);
    }
    return code;
}

static void both_close(side *d)
{
    case_run_close(&d[0].x);
    case_run_close(&d[1].x);
}

/* The smallest batch of the case that differs takes the place of the whole. */
static int shrink(side *d, const diff_options *o, char *const *kernel)
{
    uint64_t whole = d[0].x.s->part[0].batch.n;
    for (uint64_t n = 1; n < whole && judge_ops[d[0].x.s->part[0].batch.op].keyed && !tool_stopped(); n++) {
        static side tried[2];
        memset(tried, 0, sizeof tried);
        int code = both(tried, o, kernel, n);
        if (code >= 0) return code;
        if (!differ(tried)) {
            both_close(tried);
            continue;
        }
        both_close(d);
        memcpy(d, tried, sizeof tried);
        break;
    }
    return -1;
}

/* The design of the kernel, where no case names one; the first design where no design has such a kernel. */
static const judge_design *design_of_kernel(const char *name)
{
    const judge_design *d;
    const char *there;
    for (size_t i = 0; (d = judge_design_at(i)); i++)
        for (uint32_t row = 0; (there = fixture_row_name(d, row)); row++)
            if (strcmp(there, name) == 0) return d;
    return judge_design_at(0);
}

/* ---- The verb -------------------------------------------------------------------------------- */

static const out_column column[] = {
    { "item", "item", OUT_PLAIN },         { "key", "key", OUT_HEX }, { "a", "A", OUT_TEXT }, { "b", "B", OUT_TEXT },
    { "differs", "differs in", OUT_TEXT },
};

static void report_items(out *o, const fixture *a, const fixture *b)
{
    const hd_batch *p = &a->part[0].batch, *q = &b->part[0].batch;
    for (uint64_t i = 0; judge_ops[p->op].keyed && i < p->n; i++) {
        const char *what = item_differs(a, b, i);
        out_row(o, (const out_value[]){
                       out_count(i), out_count(p->key[i]), out_text(hd_outcome_name((hd_outcome)p->outcome[i])),
                       out_text(hd_outcome_name((hd_outcome)q->outcome[i])), what ? out_text(what) : out_none() });
    }
}

static int report(tool_line *line, side *d)
{
    const fixture *a = d[0].x.s, *b = d[1].x.s;
    bool different = differ(d);
    const char *what;
    char drawing[8192];
    uint64_t first = first_item(a, b, &what);
    out *o = out_open(line->form, "heddle.diff/1", column, 5);
    out_fact(o, "case", "case", OUT_TEXT, out_text(d[is_ref(d[0].name)].x.text));
    for (int k = 0; k < 2; k++) {
        out_fact(o, k ? "b" : "a", k ? "B" : "A", OUT_TEXT, out_text(d[k].name));
        out_fact(o, k ? "b_verdict" : "a_verdict", k ? "judge of B" : "judge of A", OUT_TEXT,
                 out_text(is_ref(d[k].name) ? "it is the reference"
                          : d[k].verdict[0] ? d[k].verdict
                                            : "some order of the items gives this"));
    }
    out_fact(o, "same", "same", OUT_FLAG, out_flag(!different));
    out_fact(o, "first_item", different ? "first item" : NULL, OUT_PLAIN,
             first == UINT64_MAX ? out_none() : out_count(first));
    out_fact(o, "buckets", "buckets that differ", OUT_COUNT, out_count(fixture_buckets_differ(a, b)));
    if (different) report_items(o, a, b);
    if (fixture_buckets_differ(a, b)) {
        fixture_draw(a->design, a->table, d[0].name, b->table, d[1].name, drawing, sizeof drawing);
        out_note(o, "\n%s", drawing);
    }
    return out_close(o, different ? TOOL_DIFFERS : TOOL_OK);
}

static int run(tool_line *line, int argc, char **argv)
{
    diff_options o = { .seed = 1, .threads = 32, .blocks = 1 };
    static side d[2];
    int code = tool_parse(line, argc, argv, &o);
    if (code < 0 && o.threads % 32) code = tool_say(TOOL_USAGE, "--threads: %" PRIu64 " are no whole warps", o.threads);
    if (code >= 0) return code;
    memset(d, 0, sizeof d);
    char usual[64], name[2][64]; /* a former name becomes the present one */
    char *const kernel[2] = { name[0], name[1] };
    for (int k = 0; k < 2; k++) snprintf(name[k], sizeof name[k], "%s", hd_kernel_renamed(line->word[k]));
    if (!o.text) {
        snprintf(usual, sizeof usual, "%s.insert_or_assign", design_of_kernel(kernel[is_ref(kernel[0])])->name);
        o.text = usual;
    }
    code = case_parse(&o);
    if (code >= 0) return code;
    o.design = judge_design_named(o.c.design);
    if (!o.design) o.design = judge_design_at(0); /* the case will say that there is none */
    o.wide = case_run_wide(o.design, kernel[0]) || case_run_wide(o.design, kernel[1]);
    code = both(d, &o, kernel, 0);
    if (code >= 0) return code;
    if (differ(d)) code = shrink(d, &o, kernel);
    if (code < 0) code = report(line, d);
    both_close(d);
    return code;
}

static const char doc[] =
    "Runs one case by A and by B, each a kernel (heddle list kernels) or ref, on equal tables, and compares what "
    "became of every item and of "
    "every bucket. Exit code 1: they differ; then the smallest batch of the case that does is shown. In turn, one warp "
    "of 32 lanes, most kernels "
    "take the items in order and must give what the reference gives; with --random another order is no fault, and the "
    "judge says whether some order explains it.\n"
    "\n"
    "EXAMPLES\n"
    "  heddle diff tlpv1 ref --case 'hkv.insert_and_evict policy=lfu batch=12x1'\n"
    "  heddle diff warp tlpv1 --case 'hkv.find_or_insert slots=8 dual=1 seed=4'\n"
    "  heddle diff pipeline tlpv2\n";

const tool_verb verb_diff = { "diff", "A B", "what two kernels make of one case, side by side", doc, 2, 2, option,
                              parse,  run };
