/* SPDX-License-Identifier: Apache-2.0
 *
 * run.c - runs a case and makes its report.
 */
#include "judge/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "judge/design.h"
#include "judge/runner.h"
#include "lib/backend_host.h"
#include "base/design.h"
#include "base/error.h"
#include "base/op.h"

bool runner_wrong(runner *r, uint32_t by, const char *what, const char *sentence)
{
    if (!sentence || !(r->judges & by)) return false;
    r->report->by = by;
    snprintf(r->report->wrong, sizeof r->report->wrong, "batch %" PRIu64 ": %s%s%s", r->batch, what, *what ? ": " : "",
             sentence);
    return true;
}

static bool failed(const runner *r) { return r->report->wrong[0] != 0; }

/* ---- Decisions ------------------------------------------------------------------------------- */

uint64_t runner_below(runner *r, uint64_t n)
{
    return r->choices ? r->choices->below(r->choices->self, n) : hd_rng_below(&r->rng, n);
}

uint64_t runner_rarely(runner *r, uint64_t n)
{
    uint64_t v = runner_below(r, n);
    return r->choices ? n - 1 - v : v;
}

uint64_t runner_number(runner *r) { return r->choices ? r->choices->number(r->choices->self) : hd_rng_next(&r->rng); }

/* ---- Inputs ---------------------------------------------------------------------------------- */

static bool by_chance(runner *r, uint32_t ppm) { return ppm && hd_rng_below(&r->rng, 1000000) < ppm; }

/* A key of the source's, among those that the table can hold. */
static uint64_t holdable(const runner *r, uint64_t key)
{
    return r->shape.keys < HD_KEY_RESERVED ? key % r->shape.keys : key;
}

/* One of the source's keys, or of the three reserved ones. Small numbers of keys repeat by themselves. */
static uint64_t choose_key(runner *r)
{
    uint64_t keys = r->source->keys ? r->source->keys : 1, k = runner_below(r, keys + 3);
    return k < keys ? holdable(r, k) : r->shape.keys + (k - keys);
}

static uint64_t draw_key(runner *r, const hd_batch *b, uint64_t i, uint64_t key)
{
    if (r->choices) return choose_key(r);
    if (by_chance(r, r->c->reserved_ppm)) return r->shape.keys + hd_rng_below(&r->rng, 3);
    if (i && by_chance(r, r->c->duplicate_ppm)) return b->key[hd_rng_below(&r->rng, i)];
    return holdable(r, key);
}

static uint64_t draw_score(runner *r)
{
    if (r->choices) return runner_number(r);
    if (by_chance(r, r->c->extreme_ppm)) return hd_rng_below(&r->rng, 2) ? UINT64_MAX : 0;
    return hd_rng_below(&r->rng, 2) ? hd_rng_below(&r->rng, 16) : hd_rng_next(&r->rng) >> (hd_rng_next(&r->rng) & 63);
}

/* Always, when the policy needs scores; every second time, when the case varies scores or everything. */
static bool scores_given(runner *r)
{
    judge_policy p;
    judge_policy_find(r->c->policy, &p); /* it exists: the table was opened with it */
    if (judge_policy_needs_scores(&p)) return true;
    return (r->c->extreme_ppm || strcmp(r->c->op, "mix") == 0) && runner_below(r, 2);
}

/* Whether the batch stores given scores as they are. */
static bool draw_raw(runner *r)
{
    if (judge_dictionary(r->c->design) || !r->c->raw_ppm) return false;
    return r->choices ? runner_below(r, 6) == 0 : by_chance(r, r->c->raw_ppm);
}

/* Some of them are the times of items of this batch or of the next ones. */
static void draw_raw_scores(runner *r, uint64_t *score, uint64_t n)
{
    hd_info info;
    uint64_t now = hd_table_info(r->table, &info) ? 0 : info.now;
    for (uint64_t i = 0; i < n; i++) score[i] = runner_below(r, 2) ? now + runner_below(r, 4 * n) : draw_score(r);
}

/* No element is a NaN or infinite. */
static uint64_t finite(hd_elem e, uint64_t word)
{
    uint64_t exponent = e == HD_F32    ? 0x7f800000u
                        : e == HD_F64  ? 0x7ff0000000000000u
                        : e == HD_F16  ? 0x7c00
                        : e == HD_BF16 ? 0x7f80
                                       : 0;
    uint32_t bits = 8 * judge_elem_bytes(e);
    for (uint32_t at = 0; exponent && at < 64; at += bits)
        if ((word >> at & exponent) == exponent) word ^= (exponent & (0 - exponent)) << at;
    return word;
}

static void draw_value(runner *r, uint8_t *value)
{
    uint32_t bytes = r->c->value_bytes;
    for (uint32_t at = 0; at < bytes; at += 8) {
        uint64_t word = hd_rng_next(&r->rng);
        word = r->adds ? judge_summable(r->elem, word) : finite(r->elem, word);
        memcpy(value + at, &word, bytes - at < 8 ? bytes - at : 8);
    }
}

/* Moves the batch's items together so that no key is there twice. */
static uint64_t make_distinct(runner *r, uint64_t *key, uint64_t n)
{
    uint64_t kept = 0;
    judge_map_clear(&r->seen);
    for (uint64_t i = 0; i < n; i++) {
        if (judge_map_find(&r->seen, key[i])) continue;
        r->starved = !judge_map_put(&r->seen, key[i], NULL, 0);
        if (r->starved) break;
        key[kept++] = key[i];
    }
    return kept;
}

bool runner_runs(const runner *r, hd_op op) { return judge_table_runs(&r->shape, op, NULL); }

static bool runs_mixed(const runner *r)
{
    const uint8_t each = HD_OP_INSERT_OR_ASSIGN;
    return judge_table_runs(&r->shape, HD_OP_INSERT_OR_ASSIGN, &each);
}

static bool is_mix(const runner *r) { return strcmp(r->c->op, "mix") == 0; }

/* Whether the batch has an operation that the case names. */
static bool is_named(const runner *r, const hd_batch *b)
{
    hd_op op = judge_op_named(r->c->op);
    return !is_mix(r) && (op == HD_OP_COUNT_ || b->op == op);
}

/* The case's kernel, for operations that the case names; for others if it can run them. NULL: the table selects. */
static const char *kernel_for(const runner *r, const hd_batch *b)
{
    hd_kernel k;
    bool known = false;
    if (r->filling || strcmp(r->c->kernel, "usual") == 0) return NULL;
    if (is_named(r, b)) return r->c->kernel;
    const hd_design *d = hd_design_on(r->c->design, r->config.backend);
    for (uint32_t row = 0; d && hd_kernel_of(d, row, &k); row++) {
        if (!hd_variant_is_named(k.variant, r->c->kernel)) continue;
        known = true;
        const char *unfit = hd_kernel_unfit(&k, &r->shape, b);
        bool shape = unfit && strcmp(unfit, HD_OTHER_OPERATION) != 0 && strcmp(unfit, HD_NOT_MIXED) != 0;
        if (!unfit || (is_mix(r) && shape)) return r->c->kernel;
    }
    return known ? NULL : r->c->kernel; /* an unknown name is refused by hd_run */
}

/* Of an ordered operation what there is beside its keys: before the arrays are lent, and after the keys are drawn. */
static void draw_limit(runner *r, hd_batch *b)
{
    enum { LIMITS = 9 };
    uint64_t limit = r->c->limit ? r->c->limit : runner_below(r, LIMITS);
    b->limit = (uint32_t)(limit < r->arrays.most ? limit : r->arrays.most);
    if (b->limit && b->n > r->arrays.most / b->limit) b->n = r->arrays.most / b->limit;
}

static uint64_t draw_upper(runner *r, const hd_batch *b, uint64_t i)
{
    switch (runner_below(r, 4)) {
    case 0: return b->key[i] - runner_below(r, 3); /* one key, or none; 0 - 1 is no upper bound */
    case 1: return b->key[i] + runner_below(r, 64);
    case 2: return b->key[runner_below(r, b->n)];
    default: return runner_below(r, 2) ? UINT64_MAX : r->shape.keys - runner_below(r, 3);
    }
}

static void draw_order(runner *r, hd_batch *b)
{
    uint64_t *upper = (uint64_t *)judge_arrays_at(&r->arrays, JUDGE_KEY2);
    b->inclusive = runner_below(r, 2);
    for (uint64_t i = 0; judge_order_of(b) == JUDGE_BETWEEN && i < b->n; i++) upper[i] = draw_upper(r, b, i);
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The batch's keys: b->n of them, or fewer. */
static void draw_keys(runner *r, hd_batch *b, const uint64_t *pick)
{
    judge_order order = judge_order_of(b);
    if (order == JUDGE_BETWEEN) draw_limit(r, b);
    judge_arrays_lend(&r->arrays, b);
    uint64_t *key = (uint64_t *)judge_arrays_at(&r->arrays, JUDGE_KEY);
    for (uint64_t i = 0; i < b->n; i++) key[i] = draw_key(r, b, i, r->request[pick ? pick[i] : i].key);
    if (r->c->distinct) {
        b->distinct = true;
        b->n = make_distinct(r, key, b->n);
        judge_arrays_lend(&r->arrays, b);
    }
    if (r->c->sorted) qsort(key, b->n, sizeof *key, ascending);
    if (order) draw_order(r, b);
}

static void draw_scores(runner *r, hd_batch *b, const judge_op *rule)
{
    uint64_t *score = (uint64_t *)judge_arrays_at(&r->arrays, JUDGE_SCORE);
    b->raw_scores = judge_scores_items(rule) && draw_raw(r);
    if (!judge_scores_items(rule) || (!b->raw_scores && !scores_given(r))) b->score = NULL;
    if (b->raw_scores)
        draw_raw_scores(r, score, b->n);
    else
        for (uint64_t i = 0; b->score && i < b->n; i++) score[i] = draw_score(r);
}

void runner_fill(runner *r, hd_batch *b, hd_op op, const uint64_t *pick, uint64_t n)
{
    const judge_op *rule = &judge_ops[op];
    memset(b, 0, sizeof *b);
    b->op = op;
    b->kernel = kernel_for(r, b);
    b->n = n;
    draw_keys(r, b, pick);
    draw_scores(r, b, rule);
    uint8_t *value = (uint8_t *)judge_arrays_at(&r->arrays, JUDGE_VALUE),
            *flag = (uint8_t *)judge_arrays_at(&r->arrays, JUDGE_FLAG);
    for (uint64_t i = 0; i < b->n && (rule->value_in || rule->enters); i++)
        draw_value(r, value + i * r->c->value_bytes);
    b->elem = r->elem;
    if (op != HD_OP_ACCUM_OR_ASSIGN) b->flag = NULL;
    for (uint64_t i = 0; b->flag && i < b->n; i++) flag[i] = HD_EITHER;
}

/* The next requests of the source, up to n. */
static hd_status take_more(runner *r, uint64_t n)
{
    size_t got = 0;
    hd_status s = HD_OK;
    for (r->requests = 0; r->requests < n && !s; r->requests += got) {
        s = hd_source_next(r->source, r->request + r->requests, (size_t)(n - r->requests), &got);
        if (!s && got == 0) break;
    }
    return s;
}

static hd_status take_requests(runner *r)
{
    /* their keys are chosen one by one */
    if (r->choices) return r->requests = r->choices->more(r->choices->self) ? r->c->batch : 0, HD_OK;
    return take_more(r, r->c->batch);
}

/* ---- One batch ------------------------------------------------------------------------------- */

/* The whole table is compared after every batch while that is cheap, else after some. */
static bool compare_now(const runner *r, const hd_info *info)
{
    enum { CHEAP = 1 << 20, EVERY = 64 };
    return info->memory_bytes <= CHEAP || r->batch % EVERY == EVERY - 1 || r->batch + 1 == r->c->batches;
}

/* Of n ascending numbers, how many are below x. */
static uint64_t count_below(const uint64_t *number, uint64_t n, uint64_t x)
{
    uint64_t low = 0;
    while (low < n) {
        uint64_t middle = (low + n) / 2;
        if (number[middle] < x)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

/* The order of the items on the simulator, by their tickets. Tickets of moves belong to no item. */
static bool order_learned(runner *r, const hd_batch *b)
{
    size_t n;
    const simt_ticket_record *ticket = simt_machine_tickets(hd_host_machine(r->table), &n);
    uint64_t drawn = 0, *at = r->order + r->arrays.most, *since = at + r->arrays.most;
    bool all = true;
    for (size_t i = 0; i < n && all; i++) {
        if (ticket[i].item == JUDGE_MOVE) continue;
        all = drawn < b->n && ticket[i].item < b->n;
        if (!all) break;
        r->order[drawn] = ticket[i].item;
        at[drawn++] = i;
    }
    all = all && drawn == b->n;
    for (uint64_t p = 0; p < drawn && all; p++) since[p] = count_below(at, drawn, ticket[at[p]].started);
    if (judge_dictionary(r->c->design)) hd_oracle_since(r->oracle, since);
    return !runner_wrong(r, HD_RUN_ORACLE, judge_batch_name(b), all ? NULL : "not every item drew one ticket");
}

static bool by_device(const runner *r) { return r->config.clock == HD_CLOCK_DEVICE; }

/* False: an output is wrong. */
static bool outputs_right(runner *r, const hd_batch *b, const hd_info *before)
{
    bool keyed = judge_keyed_batch(b), asked = r->judges & HD_RUN_ORACLE;
    if (runner_wrong(r, HD_RUN_ARRAYS, "", judge_arrays_check(&r->arrays, b))) return false;
    if (!asked) return true;
    bool learned = r->order && keyed && !r->in_order;
    if (learned && !order_learned(r, b)) return false;
    return !runner_wrong(r, HD_RUN_ORACLE, "",
                         hd_oracle_batch(r->oracle, r->table, b, learned ? r->order : NULL,
                                         by_device(r) ? r->time_ns : before->now, before->epoch));
}

static void judge_batch(runner *r, const hd_batch *b, const hd_info *before)
{
    hd_info after;
    bool keyed = judge_keyed_batch(b), asked = r->judges & HD_RUN_ORACLE;
    if (!outputs_right(r, b, before)) return;
    if (hd_table_info(r->table, &after)) return (void)runner_wrong(r, HD_RUN_ORACLE, "hd_table_info", hd_why());
    if (asked && after.now != before->now + (keyed && !by_device(r) ? b->n : 0))
        return (void)runner_wrong(r, HD_RUN_ORACLE, judge_batch_name(b), "the clock went wrong");
    for (uint64_t i = 0; keyed && i < b->n; i++) r->outcome[b->outcome[i]]++;
    r->report->judged += keyed ? b->n : 0;
    if (!compare_now(r, &after)) return;
    if (hd_check(r->table) && runner_wrong(r, HD_RUN_INVARIANTS, judge_batch_name(b), hd_why())) return;
    if (asked) runner_wrong(r, HD_RUN_ORACLE, judge_batch_name(b), hd_oracle_compare(r->oracle, r->table));
}

/* A value may be written through its pointer until the next insertion: writes some, and the oracle expects them. */
static void write_through(runner *r, const hd_batch *b)
{
    if (strcmp(r->shape.backend, "cuda") == 0) return; /* a device's pointers */
    for (uint64_t i = 0; i < b->n; i++) {
        hd_outcome o = (hd_outcome)b->outcome[i];
        if (!judge_delivers_ptr(b->op, o) || o == HD_PINNED || hd_rng_below(&r->rng, 2) || !b->ptr || !b->ptr[i])
            continue;
        draw_value(r, (uint8_t *)b->ptr[i]);
        hd_oracle_wrote(r->oracle, b->key[i], b->ptr[i]);
    }
}

static void window_count(runner *r, const hd_batch *b)
{
    if (!judge_keyed_batch(b)) return;
    hd_run_window *w = &r->report->window[r->batch * HD_RUN_WINDOWS / r->c->batches];
    w->items += b->n;
    for (uint64_t i = 0; i < b->n; i++)
        w->hits += b->outcome[i] == HD_HIT || b->outcome[i] == HD_UPDATED || b->outcome[i] == HD_PINNED ||
                   b->outcome[i] == HD_ERASED;
}

static hd_status run_timed(runner *r, hd_batch *b)
{
    uint64_t start = hd_seams_os.time.now_ns(hd_seams_os.time.self);
    hd_status s = hd_run(r->table, b);
    uint64_t end = hd_seams_os.time.now_ns(hd_seams_os.time.self);
    if (s) return hd_fail(s, "batch %" PRIu64 ": %s", r->batch, hd_why());
    r->report->seconds += (double)(end - start) * 1e-9;
    r->report->ran = b->ran;
    r->report->requests += judge_keyed_batch(b) ? b->n : 0;
    r->report->distinct_batches += b->distinct;
    window_count(r, b);
    return HD_OK;
}

/* ---- The clock of HD_CLOCK_DEVICE: a counter of the run, so that it can be repeated ---------- */

static uint64_t counter_ns(void *self) { return ((const runner *)self)->time_ns; }

/* From no time to 19 hours: any number of bits below 46. */
static uint64_t step_ns(const runner *r)
{
    hd_rng g = hd_rng_from(r->c->seed ^ r->time_ns);
    return hd_rng_below(&g, 1ull << hd_rng_below(&g, 46));
}

/* Ticks of epoch_lru pass 2^32 a few batches later. */
static void clock_begin(runner *r)
{
    enum { ROUNDS = 400 }; /* of 2^52 ns: the year 2027 */
    if (!by_device(r)) return;
    r->time_ns = ((uint64_t)ROUNDS << 52) - (1ull << 46);
    r->shelf.seams.time = (hd_time_seam){ hd_seams_os.time.now_ns, counter_ns, r };
}

/* The outcomes are judged; then values are written through pointers. Without the oracle writes are not recorded. */
static void judge_what_ran(runner *r, const hd_batch *b, const hd_info *before)
{
    judge_batch(r, b, before);
    bool follows = r->judges & HD_RUN_ORACLE;
    if (follows && !failed(r) && !b->each && judge_ops[b->op].ptr_out && r->c->value_bytes) write_through(r, b);
}

/* Whether an output that may be NULL is to be. */
static bool leaves_out(runner *r)
{
    return r->c->outputs == HD_OUTPUTS_NONE || (r->c->outputs == HD_OUTPUTS_SOME && hd_rng_below(&r->rng, 2));
}

/* Leaves out outputs. The judge needs outcomes, what was exported, and of a list everything or the items. */
static void leave_out(runner *r, hd_batch *b)
{
    const hd_op_row *row = hd_row_of_batch(b);
    bool lists = row->needs & HD_LISTS, keyed = hd_op_is_keyed(row);
    if (leaves_out(r)) b->found = NULL;
    if (leaves_out(r)) b->value_out = NULL;
    if (leaves_out(r)) b->score_out = NULL;
    if (leaves_out(r)) b->key_out = NULL;
    if (leaves_out(r)) b->rows = NULL;
    if (leaves_out(r)) b->more = NULL;
    if (!(row->needs & HD_NEEDS_PTR) && leaves_out(r)) b->ptr = NULL;
    if (leaves_out(r)) b->list_value = NULL;
    if (leaves_out(r)) b->list_score = NULL;
    if (lists && !keyed && leaves_out(r)) b->list_item = NULL;
    if (lists && keyed && leaves_out(r))
        b->list_key = b->list_score = b->list_item = b->count = NULL, b->list_value = NULL;
    if (!lists && !(row->needs & HD_NEEDS_COUNT) && leaves_out(r)) b->count = NULL;
}

hd_status runner_run(runner *r, hd_batch *b)
{
    hd_info before;
    hd_status s = r->starved ? hd_fail(HD_ENOMEM, "batch %" PRIu64 ": no memory to tell its keys apart", r->batch)
                             : hd_table_info(r->table, &before);
    if (s) return s;
    leave_out(r, b);
    if (r->choices && r->choices->batch) r->choices->batch(r->choices->self, b);
    if (r->oracle) judge_arrays_arm(&r->arrays);
    if (r->order && !r->in_order) s = hd_host_draw_tickets(r->table);
    if (by_device(r)) r->time_ns += step_ns(r);
    if (!s) s = run_timed(r, b);
    if (!s && r->oracle) judge_what_ran(r, b, &before);
    return s;
}

/* Reads first, then writes: a read-modify-write is one of each. */
static hd_status serve_step(runner *r, uint64_t *pick)
{
    hd_status s = HD_OK;
    for (int write = 0; write < 2 && !s && !failed(r); write++) {
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

/* Reads, inserts and erases, each item its own: half of them bring keys in, as in the paper's mixtures (Hive section
 * V-C2). */
void runner_mix(runner *r, hd_batch *b)
{
    static const hd_op some[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_FIND,           HD_OP_ERASE,  HD_OP_INSERT_OR_ASSIGN,
                                  HD_OP_FIND_OR_INSERT,   HD_OP_CONTAINS,       HD_OP_ASSIGN, HD_OP_ASSIGN_VALUES,
                                  HD_OP_INSERT_OR_ASSIGN, HD_OP_ACCUM_OR_ASSIGN };
    enum { SOME = sizeof some / sizeof *some };
    uint8_t *each = (uint8_t *)judge_arrays_at(&r->arrays, JUDGE_EACH);
    for (uint64_t i = 0; i < b->n; i++) each[i] = (uint8_t)some[runner_below(r, SOME)];
    b->each = each;
    b->flag = NULL;
    b->kernel = kernel_for(r, b);
}

static hd_status mixed_step(runner *r)
{
    hd_batch b;
    runner_fill(r, &b, HD_OP_INSERT_OR_ASSIGN, NULL, r->requests);
    runner_mix(r, &b);
    return runner_run(r, &b);
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

hd_status runner_retire(runner *r)
{
    hd_counters c;
    hd_status s = hd_counters_sync(r->table, &c);
    if (s) return s;
    hd_counters *all = &r->report->counters;
    all->batches += c.batches;
    all->items += c.items;
    for (int o = 0; o < HD_OP_COUNT_; o++) all->op[o] += c.op[o];
    for (int o = 0; o < HD_OUTCOME_COUNT; o++) {
        all->outcome[o] += c.outcome[o];
        if (r->oracle && !failed(r) && c.outcome[o] != r->outcome[o])
            runner_wrong(r, HD_RUN_COUNTERS, hd_outcome_name((hd_outcome)o), "the counter differs from the outcomes");
        r->outcome[o] = 0;
    }
    hd_close(r->table);
    r->table = NULL;
    return HD_OK;
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
    clock_begin(r);
    if (c->batch > SIZE_MAX / 64 / (c->value_bytes + 64u))
        return hd_fail(HD_ENOMEM, "batch: %" PRIu64 " items are more than memory holds", c->batch);
    hd_status s = hd_open(&r->config, &r->table);
    if (!s && c->judge) s = hd_oracle_open(&r->config, &r->oracle);
    if (!s) s = hd_source_open_spec(c->keys, c->seed, &r->source);
    if (!s) s = hd_table_info(r->table, &info);
    if (s) return s;
    if (c->judge && c->batch > 1 && order_matters(c) && strcmp(info.backend, "cuda") == 0)
        return hd_fail(HD_EINVAL,
                       "judge: the order in which a GPU takes the items of a batch is not known: batch=1x%" PRIu64
                       ", or backend host",
                       c->batches * c->batch);
    if (c->judge && by_device(r) && strcmp(info.backend, "cuda") == 0)
        return hd_fail(HD_EINVAL, "clock: what a GPU's clock said is not known: backend host or ref");
    r->start_buckets = info.buckets;
    r->shape = info;
    r->mixes = runs_mixed(r);
    r->resizes = hd_design_on(c->design, r->config.backend)->resize != NULL;
    r->moves = hd_design_on(c->design, r->config.backend)->set_near != NULL;
    return take_arrays(r, c) ? HD_OK
                             : hd_fail(HD_ENOMEM, "batch: no memory for the arrays of %" PRIu64 " items", c->batch);
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
    return strcmp(r->shape.backend, "host") == 0 && !runner_near(r) && !by_device(r);
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
    while (fill_items(r) && !s && !failed(r) && entries < wanted && items < TIMES * r->shape.places) {
        hd_batch b;
        s = take_more(r, fill_items(r) < wanted - entries ? fill_items(r) : wanted - entries);
        if (s || r->requests == 0) break;
        items += r->requests;
        runner_fill(r, &b, HD_OP_INSERT_OR_ASSIGN, NULL, r->requests);
        s = runner_run(r, &b);
        if (!s) s = hd_size_sync(r->table, &entries);
    }
    r->filling = r->in_order = false;
    return s || !host ? s : hd_host_by_reference(r->table, false);
}

static hd_status run_all(runner *r, hd_progress *progress, void *context)
{
    uint64_t *pick = (uint64_t *)malloc((size_t)r->c->batch * sizeof *pick);
    hd_op op = judge_op_named(r->c->op);
    bool mix = strcmp(r->c->op, "mix") == 0, mixed = strcmp(r->c->op, "mixed") == 0;
    hd_status s = pick ? fill_table(r) : hd_fail(HD_ENOMEM, "batch: no memory for %" PRIu64 " items", r->c->batch);
    for (r->batch = 0; r->batch < r->c->batches && !s && !failed(r); r->batch++) {
        if (progress && progress(context, r->batch * r->c->batch, r->c->batches * r->c->batch)) break;
        s = take_requests(r);
        if (s || r->requests == 0) break;
        s = advance_epoch(r);
        if (!s && r->batch % 3 == 2) s = runner_between(r, r->c->between);
        if (!s && !failed(r))
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
