/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture.c - makes tables and batches from a case string.
 */
#include "judge/fixture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "judge/design.h"
#include "judge/port_hosted.h"
#include "judge/making.h"
#include "judge/rules.h"
#include "base/error.h"
#include "policies/predicates/predicate.h"
#include "workload/workload.h"

enum { GUARD = 128, ALIGN = 128 };

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Everything begins at a multiple of ALIGN with a guard before it; so does what lies after the last region. */
static size_t after_guard(size_t bytes) { return (bytes + GUARD + ALIGN - 1) / ALIGN * ALIGN; }

void *fixture_room(fixture *s, const char *name, uint64_t bytes, bool of_host)
{
    if (s->memory) return s->memory + s->region[s->laid++].at;
    fixture_region *r = &s->region[s->regions++];
    r->name = name;
    r->of_host = of_host;
    r->at = after_guard(s->bytes);
    r->bytes = (size_t)bytes;
    s->bytes = r->at + r->bytes;
    return NULL;
}

/* Called twice: to sum up what is needed, and to give out the memory. */
static void lay(fixture *s)
{
    const judge_design *d = s->design;
    s->laid = 0;
    fixture_lay_table(s);
    if (!s->memory) s->table_bytes = s->bytes;
    for (uint32_t k = 0; k < s->parts; k++) {
        s->part[k].tally = (uint64_t *)fixture_room(s, "tally", HD_OUTCOME_COUNT * 8, false);
        if (s->part[k].tally) memset(s->part[k].tally, 0, HD_OUTCOME_COUNT * 8);
        if (d->host) hosted_lay_part(s, k);
    }
    if (!s->memory) s->bytes = after_guard(s->bytes);
}

bool fixture_make_memory(fixture *s)
{
    lay(s);
    s->memory = (uint8_t *)aligned_alloc(ALIGN, s->bytes);
    s->initial = (uint8_t *)malloc(s->bytes);
    if (!s->memory || !s->initial) return false;
    /* guards and uninitialised memory */
    for (size_t i = 0; i < s->bytes; i++) s->memory[i] = (uint8_t)(0xa7 + 29 * i);
    lay(s);
    for (uint32_t i = 0; i < s->regions; i++) s->region[i].persistent = fixture_persistent(s, i);
    fixture_clear(s);
    return true;
}

const char *fixture_guards(const fixture *s)
{
    size_t from = 0;
    for (uint32_t i = 0; i <= s->regions; i++) {
        size_t to = i < s->regions ? s->region[i].at : s->bytes;
        if (memcmp(s->memory + from, s->initial + from, to - from) != 0)
            return s->region[i < s->regions ? i : i - 1].name;
        if (i < s->regions) from = to + s->region[i].bytes;
    }
    return NULL;
}

/* ---- What is drawn --------------------------------------------------------------------------- */

static bool by_chance(hd_rng *g, uint32_t ppm) { return ppm && hd_rng_below(g, 1000000) < ppm; }

enum { SMALL_KEYS = 1000, SMALL_VALUES = 100 };

uint64_t fixture_draw_key(const fixture *s, hd_rng *g, uint64_t below)
{
    return hd_rng_below(g, s->c[0].small && below > SMALL_KEYS ? SMALL_KEYS : below);
}

void fixture_draw_values(const fixture *s, hd_rng *g, uint8_t *p, uint64_t bytes, hd_elem e)
{
    for (uint64_t at = 0; at < bytes; at += 8) {
        uint64_t word = judge_summable(e, hd_rng_next(g));
        if (s->c[0].small) word = at ? 0 : 1 + word % (SMALL_VALUES - 1);
        memcpy(p + at, &word, bytes - at < 8 ? bytes - at : 8);
    }
}

uint64_t fixture_draw_score(const fixture *s, hd_rng *g, uint64_t below)
{
    static const uint64_t extreme[] = { 0, UINT64_MAX, 1ull << 63 }; /* two of the last wrap to 0 */
    if (by_chance(g, s->c[0].extreme_ppm)) return extreme[hd_rng_below(g, 3)];
    return hd_rng_below(g, below);
}

/* ---- What is in the batches ------------------------------------------------------------------ */

void fixture_mix_keys(const fixture *s, const hd_case *c, hd_batch *b, uint64_t *key, hd_rng *g)
{
    for (uint64_t i = 0; i < b->n; i++) {
        if (by_chance(g, c->reserved_ppm))
            key[i] = s->keys + hd_rng_below(g, 3);
        else if (i && by_chance(g, c->duplicate_ppm))
            key[i] = key[hd_rng_below(g, i)];
    }
    b->distinct = c->distinct;
    if (!c->distinct) return;
    uint64_t n = 0;
    for (uint64_t i = 0; i < b->n; i++) {
        uint64_t k = 0;
        while (k < n && key[k] != key[i]) k++;
        if (k == n) key[n++] = key[i];
    }
    b->n = n;
}

static hd_status draw_keys(const fixture *s, const hd_case *c, hd_batch *b, uint64_t *key, hd_rng *g)
{
    hd_source *source;
    hd_status status = hd_source_open_spec(c->keys, c->seed, &source);
    if (status) return status;
    for (uint64_t i = 0; i < b->n && !status; i++) {
        hd_request r;
        size_t got = 0;
        status = hd_source_next(source, &r, 1, &got);
        if (!status && got == 0)
            status = hd_fail(HD_EINVAL, "keys: %s ends after %" PRIu64 " of %" PRIu64, c->keys, i, b->n);
        key[i] = fixture_holdable(s->design, r.key);
    }
    hd_source_close(source);
    if (!status) fixture_mix_keys(s, c, b, key, g);
    return status;
}

void fixture_draw_predicate(hd_batch *b, hd_rng *g)
{
    b->pred = hd_predicate_at(hd_rng_below(g, hd_predicate_count()))->name;
    b->pred_arg[0] = hd_rng_below(g, 8);
    b->pred_arg[1] = hd_rng_below(g, 16);
}

void fixture_draw_elem(fixture *s, hd_batch *b, hd_rng *g)
{
    hd_elem drawn = (hd_elem)hd_rng_below(g, HD_ELEM_COUNT);
    b->elem = judge_elem_that_fits(s->c[0].small ? HD_U64 : drawn, s->value_bytes);
    if (!s->has_elem) s->elem = b->elem;
    s->has_elem = true;
    b->elem = s->elem;
}

bool fixture_asks_found(const fixture *s) { return s->c[0].seed % 3 == 0; }

bool fixture_draws_raw(const fixture *s, const hd_case *c, const hd_batch *b, hd_rng *g)
{
    return fixture_scores(s) != JUDGE_NO_SCORES && judge_scores_items(&judge_ops[b->op]) && by_chance(g, c->raw_ppm);
}

const char *fixture_op_name(hd_op op) { return op == JUDGE_MIXED ? "mixed" : hd_op_name(op); }

bool fixture_op_named(const char *name, hd_op *op)
{
    *op = judge_op_named(name);
    return *op != HD_OP_COUNT_ || strcmp(name, "mixed") == 0;
}

void fixture_mix_ops(const fixture *s, hd_batch *b, uint8_t *each, hd_rng *g)
{
    uint64_t weight[HD_OP_COUNT_], all = 0;
    for (int op = 0; op < HD_OP_COUNT_; op++) all += weight[op] = s->design->mix[op];
    for (uint64_t i = 0; i < b->n; i++) {
        uint64_t at = hd_rng_below(g, all);
        for (each[i] = 0; at >= weight[each[i]]; each[i]++) at -= weight[each[i]];
    }
    b->each = each;
    b->flag = NULL;
}

/* Of an ordered operation what there is beside its keys; of ranges few rows each, which are drawn before the arrays. */
static void draw_limit(hd_batch *b, hd_rng *g)
{
    enum { LIMITS = 12 };
    if (judge_order_of(b) == JUDGE_BETWEEN) b->limit = (uint32_t)hd_rng_below(g, LIMITS);
}

static void draw_order(const fixture *s, fixture_part *p, hd_rng *g)
{
    enum { SPANS = 40 };
    hd_batch *b = &p->batch;
    uint64_t *upper = (uint64_t *)judge_arrays_at(&p->arrays, JUDGE_KEY2);
    b->inclusive = hd_rng_below(g, 2);
    for (uint64_t i = 0; judge_order_of(b) == JUDGE_BETWEEN && i < b->n; i++)
        upper[i] = hd_rng_below(g, 4) ? b->key[i] + hd_rng_below(g, SPANS) - 2 : hd_rng_below(g, s->keys);
}

/* The operation of a part; *mixed: each item has its own. */
static hd_status draw_op(const fixture *s, const hd_case *c, hd_batch *b, bool *mixed)
{
    if (!fixture_op_named(c->op, &b->op))
        return hd_fail(HD_EINVAL, "case: a fixture is of one operation, not of '%s'", c->op);
    *mixed = b->op == JUDGE_MIXED;
    if (*mixed && !s->design->mix)
        return hd_fail(HD_EINVAL, "case: a batch of design %s is of one operation", s->design->name);
    if (*mixed) b->op = HD_OP_INSERT_OR_ASSIGN; /* a placeholder: it has keys */
    return HD_OK;
}

static hd_status draw_arrays(fixture *s, uint32_t k, hd_rng *g)
{
    const hd_case *c = &s->c[k];
    fixture_part *p = &s->part[k];
    hd_batch *b = &p->batch;
    const judge_op *rule = &judge_ops[b->op];
    b->n = rule->keyed ? c->batch : rule->range ? fixture_places(s->design, s->table) : 0;
    fixture_draw_elem(s, b, g);
    if (rule->order) draw_limit(b, g);
    if (!judge_arrays_open(&p->arrays, b->limit ? b->n * b->limit : b->n, s->value_bytes))
        return hd_fail(HD_ENOMEM, "case: no memory for a batch of %" PRIu64, b->n);
    p->arrays.skew = c->seed % 9 == 6 ? 4 : 0; /* 9 has no factor in common with the periods of other choices */
    if (rule->range) {
        b->start = hd_rng_below(g, b->n / 2 + 1);
        b->n -= b->start + hd_rng_below(g, b->n / 2 + 1);
    }
    judge_arrays_lend(&p->arrays, b);
    if (!rule->keyed) return HD_OK;
    hd_status status = draw_keys(s, c, b, (uint64_t *)judge_arrays_at(&p->arrays, JUDGE_KEY), g);
    if (!status) judge_arrays_lend(&p->arrays, b); /* n may be less by now */
    if (!status && rule->order) draw_order(s, p, g);
    return status;
}

static void draw_scores_and_values(fixture *s, uint32_t k, hd_rng *g)
{
    enum { FLAGS = 16 };
    fixture_part *p = &s->part[k];
    hd_batch *b = &p->batch;
    uint64_t *score = (uint64_t *)judge_arrays_at(&p->arrays, JUDGE_SCORE);
    uint8_t *value = (uint8_t *)judge_arrays_at(&p->arrays, JUDGE_VALUE),
            *flag = (uint8_t *)judge_arrays_at(&p->arrays, JUDGE_FLAG);
    bool keyed = judge_ops[b->op].keyed;
    judge_scores scores = fixture_scores(s);
    bool given = keyed && scores != JUDGE_NO_SCORES && (scores == JUDGE_SCORES_NEEDED || hd_rng_below(g, 4) != 0);
    b->raw_scores = fixture_draws_raw(s, &s->c[k], b, g);
    if (!given && !b->raw_scores) b->score = NULL;
    for (uint64_t i = 0; keyed && i < b->n; i++) {
        score[i] = fixture_draw_score(s, g, FIXTURE_SCORES);
        flag[i] = (uint8_t)hd_rng_below(g, FLAGS);
        /* 0 to 2 are hd_accum; kernels answer RESERVED to others */
        if (flag[i] > HD_EITHER && flag[i] < FLAGS - 1) flag[i] %= 3;
        fixture_draw_values(s, g, value + i * s->value_bytes, s->value_bytes, b->elem);
    }
    if (b->op != HD_OP_ACCUM_OR_ASSIGN || hd_rng_below(g, 4) == 0) b->flag = NULL;
}

hd_status fixture_draw_part(fixture *s, uint32_t k)
{
    fixture_part *p = &s->part[k];
    hd_rng g = hd_rng_from(s->c[k].seed * 2 + k + 0x7363656e65u);
    bool mixed = false;
    hd_status status = draw_op(s, &s->c[k], &p->batch, &mixed);
    if (!status) status = draw_arrays(s, k, &g);
    if (status) return status;
    draw_scores_and_values(s, k, &g);
    if (!fixture_asks_found(s)) p->batch.found = NULL;
    p->batch.holder = !judge_ops[p->batch.op].may_pin; /* the design's port may let it pin */
    fixture_draw_predicate(&p->batch, &g);
    if (mixed) fixture_mix_ops(s, &p->batch, (uint8_t *)judge_arrays_at(&p->arrays, JUDGE_EACH), &g);
    return HD_OK;
}
