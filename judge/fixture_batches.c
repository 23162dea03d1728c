/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture_batches.c - fixtures for one batch after another, on a table that began empty.
 */
#include <string.h>

#include "judge/making.h"
#include "judge/rules.h"
#include "base/error.h"

hd_status fixture_open_empty(const hd_case *c, fixture **fixture_out)
{
    fixture *s = NULL;
    hd_status status = fixture_new(c, 1, &s);
    if (!status) {
        s->part[0].batch.n = c->batch;
        if (!judge_arrays_open(&s->part[0].arrays, c->batch, s->value_bytes) || !fixture_make_memory(s))
            status =
                hd_fail(HD_ENOMEM, "case: no memory for a table and batches of %llu", (unsigned long long)c->batch);
    }
    if (status) {
        fixture_close(s);
        return status;
    }
    memcpy(s->initial, s->memory, s->bytes);
    *fixture_out = s;
    return HD_OK;
}

/* Scores are given where the policy needs them, and where the case varies scores. */
static bool scores_given(const fixture *s, hd_op op)
{
    judge_scores scores = fixture_scores(s);
    return judge_ops[op].keyed && scores != JUDGE_NO_SCORES && (s->c[0].extreme_ppm || scores == JUDGE_SCORES_NEEDED);
}

hd_status fixture_batch(fixture *s, const fixture_kernel *k, hd_op op, const uint64_t *key, uint64_t n)
{
    fixture_part *p = &s->part[0];
    hd_batch *b = &p->batch;
    bool mixed = op == JUDGE_MIXED;
    if (mixed) op = HD_OP_INSERT_OR_ASSIGN; /* a placeholder: it has keys */
    const judge_op *rule = &judge_ops[op];
    bool given = scores_given(s, op), raw = false;
    uint64_t capacity = fixture_places(s->design, s->table), most = p->arrays.most;
    hd_rng g = hd_rng_from(s->c[0].seed ^ (s->clock * HD_GOLDEN));
    p->kernel = k;
    memset(b, 0, sizeof *b);
    b->op = op;
    b->holder = !rule->may_pin;
    b->n = rule->keyed ? n : rule->range ? (capacity < most ? capacity : most) : 0;
    if (b->n > most)
        return hd_fail(HD_EINVAL, "batch: %llu items, and room for %llu", (unsigned long long)b->n,
                       (unsigned long long)most);
    fixture_draw_elem(s, b, &g);
    fixture_draw_predicate(b, &g);
    judge_arrays_lend(&p->arrays, b);
    if (rule->keyed) {
        uint64_t *to = (uint64_t *)judge_arrays_at(&p->arrays, JUDGE_KEY),
                 *score = (uint64_t *)judge_arrays_at(&p->arrays, JUDGE_SCORE);
        memcpy(to, key, n * sizeof *to);
        fixture_mix_keys(s, &s->c[0], b, to, &g);
        judge_arrays_lend(&p->arrays, b); /* n may be less by now */
        fixture_draw_values(s, &g, (uint8_t *)judge_arrays_at(&p->arrays, JUDGE_VALUE), b->n * s->value_bytes, b->elem);
        raw = fixture_draws_raw(s, &s->c[0], b, &g);
        for (uint64_t i = 0; (given || raw) && i < b->n; i++) score[i] = fixture_draw_score(s, &g, FIXTURE_SCORES);
    }
    b->raw_scores = raw;
    if (!given && !raw) b->score = NULL;
    if (!fixture_asks_found(s)) b->found = NULL;
    b->flag = NULL;
    if (mixed) fixture_mix_ops(s, b, (uint8_t *)judge_arrays_at(&p->arrays, JUDGE_EACH), &g);
    fixture_changed(s, 0);
    return HD_OK;
}

void fixture_reference(fixture *s) { fixture_apply(s, s->table, 0, &s->part[0].batch); }

void fixture_begin(fixture *s, const uint8_t *memory, uint64_t clock)
{
    if (memory != s->initial) memcpy(s->initial, memory, s->table_bytes);
    if (memory != s->memory) memcpy(s->memory, memory, s->table_bytes);
    fixture_view(s, s->memory, s->table);
    s->clock = clock;
}

hd_status fixture_resize(fixture *s, uint64_t buckets)
{
    if (!s->design->resize) return hd_fail(HD_EINVAL, "buckets: a table of design %s keeps its own", s->design->name);
    hd_status status = s->design->resize(s, s->table, buckets);
    if (!status) fixture_begin(s, s->memory, s->clock);
    return status;
}
