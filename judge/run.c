/* SPDX-License-Identifier: Apache-2.0
 *
 * run.c - runs a case and makes its report.
 */
#include "judge/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "judge/design.h"
#include "judge/runner.h"
#include "lib/backend_host.h"
#include "base/design.h"
#include "base/error.h"

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Reads first, then writes: a read-modify-write is one of each. */
static hd_status serve_step(runner *r, uint64_t *pick)
{
    hd_status s = HD_OK;
    for (int write = 0; write < 2 && !s && !runner_failed(r); write++) {
        uint64_t n = 0;
        hd_batch b;
        for (uint64_t i = 0; i < r->requests; i++) {
            uint32_t verb = r->request[i].verb;
            if (verb == HD_READ_MODIFY_WRITE || (verb != HD_READ) == (write == 1)) pick[n++] = i;
        }
        if (n == 0) continue;
        runner_fill(r, &b, write ? HD_OP_INSERT_OR_ASSIGN : HD_OP_FIND_OR_INSERT, pick, n);
        s = runner_run(r, &b);
    }
    return s;
}

static hd_status op_step(runner *r, hd_op op)
{
    hd_batch b;
    hd_op turn = judge_ops[op].enters || r->batch % 2           ? op
                 : op == HD_OP_UNLOCK_KEYS && r->batch % 4 == 2 ? HD_OP_LOCK_KEYS
                                                                : HD_OP_INSERT_OR_ASSIGN; /* every design has it */
    hd_info info;
    hd_status s = hd_table_info(r->table, &info);
    if (s) return s;
    runner_fill(r, &b, turn, NULL, r->requests);
    b.holder = judge_ops[turn].may_pin ? r->c->holder : r->c->holder ? r->c->holder : 1;
    b.pred = r->c->predicate;
    if (judge_ops[turn].predicate) runner_predicate(r, &b, &info);
    if (judge_ops[turn].range) {
        if (b.n > info.places) b.n = info.places;
        judge_arrays_lend(&r->arrays, &b);
    }
    return runner_run(r, &b);
}

static hd_status mixed_step(runner *r)
{
    hd_batch b;
    runner_fill(r, &b, HD_OP_INSERT_OR_ASSIGN, NULL, r->requests);
    runner_mix(r, &b);
    return runner_run(r, &b);
}

/* ---- Open and close -------------------------------------------------------------------------- */

/* The clock of HD_CLOCK_DEVICE is a counter of the run, so that the run can be repeated. */
static uint64_t counter_ns(void *self) { return ((const runner *)self)->time_ns; }

/* Ticks of epoch_lru pass 2^32 a few batches later. */
static void clock_begin(runner *r)
{
    enum { ROUNDS = 400 }; /* of 2^52 ns: the year 2027 */
    if (!runner_by_device(r)) return;
    r->time_ns = ((uint64_t)ROUNDS << 52) - (1ull << 46);
    r->shelf.seams.time = (hd_time_seam){ hd_seams_os.time.now_ns, counter_ns, r };
}

static void runner_close(runner *r)
{
    hd_close(r->table);
    hd_oracle_close(r->oracle);
    hd_source_close(r->source);
    judge_arrays_close(&r->arrays);
    judge_map_close(&r->seen);
    judge_shelf_close(&r->shelf);
    free(r->request);
    free(r->order);
}

static void choose_elem(runner *r)
{
    const char *op = r->c->op;
    r->adds = strcmp(op, "mix") == 0 || strcmp(op, "mixed") == 0 || judge_op_named(op) == HD_OP_ACCUM_OR_ASSIGN;
    hd_elem drawn = (hd_elem)runner_below(r, HD_ELEM_COUNT);
    r->elem = judge_elem_that_fits(r->c->elem ? (hd_elem)(r->c->elem - 1) : drawn, r->c->value_bytes);
}

/* Whether the answers to a batch depend on the order of its items, which a GPU does not tell. */
static bool order_matters(const hd_case *c) { return !judge_dictionary(c->design) || !c->distinct; }

/* Items of the batches that fill the table. */
static uint64_t fill_items(const runner *r)
{
    enum { ITEMS = 256 };
    bool one = strcmp(r->shape.backend, "cuda") == 0 && order_matters(r->c);
    return r->choices || !r->c->fill ? 0 : one ? 1 : ITEMS;
}

static bool take_arrays(runner *r, const hd_case *c)
{
    bool ordered = c->judge && strcmp(r->shape.backend, "host") == 0;
    uint64_t most = c->batch * (c->limit && runner_runs(r, HD_OP_RANGE) ? c->limit : 1);
    if (most < fill_items(r)) most = fill_items(r);
    r->request = (hd_request *)malloc((size_t)most * sizeof *r->request);
    if (ordered) r->order = (uint64_t *)malloc(3 * (size_t)most * sizeof *r->order);
    if (!r->request || (ordered && !r->order) || !judge_arrays_open(&r->arrays, most, c->value_bytes)) return false;
    r->arrays.skew = c->skew;
    return judge_map_open(&r->seen, 0);
}

static bool runs_mixed(const runner *r)
{
    const uint8_t each = HD_OP_INSERT_OR_ASSIGN;
    return judge_table_runs(&r->shape, HD_OP_INSERT_OR_ASSIGN, &each);
}

static int one_is_enough(void *context, uint64_t key, uint64_t score, void *value)
{
    (void)key, (void)score, (void)value;
    return *(bool *)context = true;
}

/* The judge begins with an empty table. */
static hd_status refuse_entries(const runner *r)
{
    bool any = false;
    hd_status s = hd_for_each(r->table, one_is_enough, &any);
    if (!s && any)
        s = hd_fail(HD_EINVAL, "judge: %s has entries already; it takes an empty file, or none", r->config.file);
    return s;
}

static hd_status runner_open(runner *r, const hd_case *c, const hd_choices *choices, uint32_t judges,
                             hd_run_report *report)
{
    hd_info info;
    memset(r, 0, sizeof *r);
    r->judges = judges;
    r->c = c;
    r->choices = choices;
    r->report = report;
    r->rng = hd_rng_from(c->seed ^ 0x6a75646765u); /* not the source's own stream */
    choose_elem(r);
    judge_shelf_open(&r->shelf);
    r->config = hd_case_config(c);
    r->config.seams = &r->shelf.seams;
    r->shelf.outside = r->config.file;
    clock_begin(r);
    if (c->batch > SIZE_MAX / 64 / (c->value_bytes + 64u))
        return hd_fail(HD_ENOMEM, "batch: %" PRIu64 " items are more than memory holds", c->batch);
    hd_status s = hd_open(&r->config, &r->table);
    if (!s && c->judge && r->config.file) s = refuse_entries(r);
    if (!s && c->judge) s = hd_oracle_open(&r->config, &r->oracle);
    if (!s) s = hd_source_open_spec(c->keys, c->seed, &r->source);
    if (!s) s = hd_table_info(r->table, &info);
    if (s) return s;
    if (c->judge && c->batch > 1 && order_matters(c) && strcmp(info.backend, "cuda") == 0)
        return hd_fail(HD_EINVAL,
                       "judge: the order in which a GPU takes the items of a batch is not known: batch=1x%" PRIu64
                       ", or backend host",
                       c->batches * c->batch);
    if (c->judge && runner_by_device(r) && strcmp(info.backend, "cuda") == 0)
        return hd_fail(HD_EINVAL, "clock: what a GPU's clock said is not known: backend host or ref");
    r->start_buckets = info.buckets;
    r->shape = info;
    r->mixes = runs_mixed(r);
    const hd_backend *ref = hd_design_named(c->design)->ref;
    r->resizes = ref->resize && !ref->grows_only;
    r->moves = ref->set_near != NULL;
    return take_arrays(r, c) ? HD_OK
                             : hd_fail(HD_ENOMEM, "batch: no memory for the arrays of %" PRIu64 " items", c->batch);
}

/* ---- The whole run --------------------------------------------------------------------------- */

typedef struct contents {
    uint32_t value_bytes;
    uint64_t hash;
} contents;

static int add_entry(void *context, uint64_t key, uint64_t score, void *value)
{
    contents *c = (contents *)context;
    uint64_t pair[2] = { key, score };
    c->hash += XXH3_64bits_withSeed(value, c->value_bytes, XXH3_64bits(pair, sizeof pair));
    return 0;
}

static hd_status advance_epoch(runner *r)
{
    hd_info info;
    if (!r->c->epoch_every || r->batch == 0 || r->batch % r->c->epoch_every) return HD_OK;
    hd_status s = hd_table_info(r->table, &info);
    return s ? s : hd_epoch_set(r->table, info.epoch + 1);
}

/* On the host machine, whose kernels take their time. Where entries are far, kernels have more than entries; and they
 * have a clock of their own. */
static bool fills_by_reference(const runner *r)
{
    return strcmp(r->shape.backend, "host") == 0 && !runner_near(r) && !runner_by_device(r);
}

/* Inserts keys of the source until the table is as full as the case wants it, or does not become so. */
static hd_status fill_table(runner *r)
{
    enum { TIMES = 2 /* as many items as there are places */ };
    uint64_t entries = 0, items = 0, wanted = r->shape.places * r->c->fill / 100;
    bool host = fills_by_reference(r);
    hd_status s = host ? hd_host_by_reference(r->table, true) : HD_OK;
    r->filling = true;
    r->in_order = host;
    while (fill_items(r) && !s && !runner_failed(r) && entries < wanted && items < TIMES * r->shape.places) {
        hd_batch b;
        s = runner_take(r, fill_items(r) < wanted - entries ? fill_items(r) : wanted - entries);
        if (s || r->requests == 0) break;
        items += r->requests;
        runner_fill(r, &b, HD_OP_INSERT_OR_ASSIGN, NULL, r->requests);
        s = runner_run(r, &b);
        if (!s) s = hd_size_sync(r->table, &entries);
    }
    r->filling = r->in_order = false;
    return s || !host ? s : hd_host_by_reference(r->table, false);
}

static hd_status take_requests(runner *r)
{
    /* their keys are chosen one by one */
    if (r->choices) return r->requests = r->choices->more(r->choices->self) ? r->c->batch : 0, HD_OK;
    return runner_take(r, r->c->batch);
}

static hd_status run_all(runner *r, hd_progress *progress, void *context)
{
    uint64_t *pick = (uint64_t *)malloc((size_t)r->c->batch * sizeof *pick);
    hd_op op = judge_op_named(r->c->op);
    bool mix = strcmp(r->c->op, "mix") == 0, mixed = strcmp(r->c->op, "mixed") == 0;
    hd_status s = pick ? fill_table(r) : hd_fail(HD_ENOMEM, "batch: no memory for %" PRIu64 " items", r->c->batch);
    for (r->batch = 0; r->batch < r->c->batches && !s && !runner_failed(r); r->batch++) {
        if (progress && progress(context, r->batch * r->c->batch, r->c->batches * r->c->batch)) break;
        s = take_requests(r);
        if (s || r->requests == 0) break;
        s = advance_epoch(r);
        if (!s && r->batch % 3 == 2) s = runner_between(r, r->c->between);
        if (!s && !runner_failed(r))
            s = mix ? mix_step(r) : mixed ? mixed_step(r) : op < HD_OP_COUNT_ ? op_step(r, op) : serve_step(r, pick);
    }
    free(pick);
    return s;
}

static hd_status report_table(runner *r)
{
    contents all = { r->c->value_bytes, 0 };
    hd_status s = hd_table_info(r->table, &r->report->info);
    r->report->info.policy = r->c->policy; /* the table's may end with it */
    if (!s) s = hd_size_sync(r->table, &r->report->size);
    if (!s) s = hd_for_each(r->table, add_entry, &all);
    r->report->contents_hash = all.hash;
    return s ? s : runner_retire(r);
}

static hd_status case_run(const hd_case *c, const hd_choices *choices, uint32_t judges, hd_progress *progress,
                          void *context, hd_run_report *report)
{
    runner r;
    memset(report, 0, sizeof *report);
    report->ran = "";
    hd_status s = runner_open(&r, c, choices, judges, report);
    if (!s) s = run_all(&r, progress, context);
    if (!s) s = report_table(&r);
    runner_close(&r);
    return s;
}

hd_status hd_case_run(const hd_case *c, hd_progress *progress, void *context, hd_run_report *report)
{
    return case_run(c, NULL, HD_RUN_ALL, progress, context, report);
}

hd_status hd_case_run_by(const hd_case *c, const hd_choices *choices, hd_run_report *report)
{
    return case_run(c, choices, HD_RUN_ALL, NULL, NULL, report);
}

hd_status hd_case_run_judged(const hd_case *c, uint32_t judges, hd_progress *progress, void *context,
                             hd_run_report *report)
{
    return case_run(c, NULL, judges, progress, context, report);
}
