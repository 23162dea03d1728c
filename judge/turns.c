/* SPDX-License-Identifier: Apache-2.0
 *
 * turns.c - a scene that goes on: one batch after another on a table that began empty.
 */
#include <string.h>

#include "judge/making.h"
#include "judge/rules.h"
#include "base/error.h"

hd_status scene_open_empty(const hd_case *c, scene **scene_out)
{
    scene *s = NULL;
    hd_status status = scene_new(c, 1, &s);
    if (!status) {
        s->part[0].batch.n = c->batch;
        if (!judge_arrays_open(&s->part[0].arrays, c->batch, s->value_bytes) || !scene_make_memory(s))
            status =
                hd_fail(HD_ENOMEM, "case: no memory for a table and batches of %llu", (unsigned long long)c->batch);
    }
    if (status) {
        scene_close(s);
        return status;
    }
    memcpy(s->initial, s->memory, s->bytes);
    *scene_out = s;
    return HD_OK;
}

/* Scores are given where a policy takes no others, and where the case is about scores. */
static bool scores_given(const scene *s, hd_op op)
{
    judge_scores scores = s->design->scores(s);
    return judge_ops[op].keyed && scores != JUDGE_NO_SCORES && (s->c[0].extreme_ppm || scores == JUDGE_SCORES_NEEDED);
}

hd_status scene_batch(scene *s, const scene_kernel *k, hd_op op, const uint64_t *key, uint64_t n)
{
    scene_part *p = &s->part[0];
    hd_batch *b = &p->batch;
    bool mixed = op == JUDGE_MIXED;
    if (mixed) op = HD_OP_INSERT_OR_ASSIGN; /* which nobody reads, but as one that has keys */
    const judge_op *rule = &judge_ops[op];
    bool given = scores_given(s, op);
    uint64_t capacity = scene_places(s->design, s->table), most = p->arrays.most;
    hd_rng g = hd_rng_from(s->c[0].seed ^ (s->clock * HD_GOLDEN));
    p->kernel = k;
    memset(b, 0, sizeof *b);
    b->op = op;
    b->holder = 1;
    b->n = rule->keyed ? n : rule->range ? (capacity < most ? capacity : most) : 0;
    if (b->n > most)
        return hd_fail(HD_EINVAL, "batch: %llu items, and room for %llu", (unsigned long long)b->n,
                       (unsigned long long)most);
    if (!scene_draw_elem(s, b, &g)) return hd_fail(HD_EINVAL, "its values are no whole number of any element");
    scene_draw_predicate(b, &g);
    judge_arrays_lend(&p->arrays, b);
    if (rule->keyed) {
        uint64_t *to = (uint64_t *)judge_arrays_at(&p->arrays, JUDGE_KEY),
                 *score = (uint64_t *)judge_arrays_at(&p->arrays, JUDGE_SCORE);
        memcpy(to, key, n * sizeof *to);
        scene_mix_keys(s, &s->c[0], b, to, &g);
        judge_arrays_lend(&p->arrays, b); /* n may be less by now */
        scene_draw_bytes(&g, (uint8_t *)judge_arrays_at(&p->arrays, JUDGE_VALUE), b->n * s->value_bytes,
                         scene_value_mask(b->elem));
        for (uint64_t i = 0; given && i < b->n; i++) score[i] = scene_draw_score(s, &g, SCENE_SCORES);
    }
    if (!given) b->score = NULL;
    b->flag = NULL;
    if (mixed) scene_mix_ops(s, b, (uint8_t *)judge_arrays_at(&p->arrays, JUDGE_EACH), &g);
    scene_changed(s, 0);
    return HD_OK;
}

void scene_reference(scene *s) { s->design->apply(s, s->table, 0, &s->part[0].batch); }

void scene_begin(scene *s, const uint8_t *memory, uint64_t clock)
{
    if (memory != s->initial) memcpy(s->initial, memory, s->table_bytes);
    if (memory != s->memory) memcpy(s->memory, memory, s->table_bytes);
    s->design->view(s, s->memory, s->table);
    s->clock = clock;
}

hd_status scene_resize(scene *s, uint64_t buckets)
{
    if (!s->design->resize) return hd_fail(HD_EINVAL, "buckets: a table of design %s keeps its own", s->design->name);
    hd_status status = s->design->resize(s, s->table, buckets);
    if (!status) scene_begin(s, s->memory, s->clock);
    return status;
}
