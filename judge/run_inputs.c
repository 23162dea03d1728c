/* SPDX-License-Identifier: Apache-2.0
 *
 * run_inputs.c - what a case decides: the inputs of its batches, drawn from its seed or chosen (hd_choices).
 */
#include <stdlib.h>
#include <string.h>

#include "judge/design.h"
#include "judge/runner.h"
#include "base/design.h"
#include "base/op.h"

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

/* ---- Keys, scores and values ----------------------------------------------------------------- */

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

void runner_value(runner *r, uint8_t *value)
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

/* ---- Batches --------------------------------------------------------------------------------- */

bool runner_runs(const runner *r, hd_op op) { return judge_table_runs(&r->shape, op, NULL); }

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
    for (uint32_t row = 0; hd_kernel_named(r->c->design, r->config.backend, row, &k); row++) {
        if (!hd_variant_is_named(k.variant, r->c->kernel)) continue;
        known = true;
        const char *unsupported = hd_kernel_unsupported(&k, &r->shape, b);
        bool shape =
            unsupported && strcmp(unsupported, HD_OTHER_OPERATION) != 0 && strcmp(unsupported, HD_NOT_MIXED) != 0;
        if (!unsupported || (is_mix(r) && shape)) return r->c->kernel;
    }
    return known ? NULL : r->c->kernel; /* an unknown name is refused by hd_run */
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
        runner_value(r, value + i * r->c->value_bytes);
    b->elem = r->elem;
    if (op != HD_OP_ACCUM_OR_ASSIGN) b->flag = NULL;
    for (uint64_t i = 0; b->flag && i < b->n; i++) flag[i] = HD_EITHER;
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

hd_status runner_take(runner *r, uint64_t n)
{
    size_t got = 0;
    hd_status s = HD_OK;
    for (r->requests = 0; r->requests < n && !s; r->requests += got) {
        s = hd_source_next(r->source, r->request + r->requests, (size_t)(n - r->requests), &got);
        if (!s && got == 0) break;
    }
    return s;
}
