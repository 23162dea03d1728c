/* SPDX-License-Identifier: Apache-2.0
 *
 * turns.c - a scene that goes on: one batch after another on a table that began empty.
 */
#include <string.h>

#include "judge/making.h"
#include "judge/rules.h"
#include "lib/error.h"
#include "policies/policy.h"
#include "ref/hkv.h"

hd_status scene_open_empty(const hd_case *c, scene **scene_out)
{
    scene *s = NULL;
    hd_status status = scene_new(c, 1, &s);
    if (!status) {
        s->part[0].batch.n = c->batch;
        if (!judge_arrays_open(&s->part[0].arrays, c->batch, s->v.value_bytes) || !scene_make_memory(s))
            status = hd_fail(HD_ENOMEM, "case: no memory for a table and batches of %llu", (unsigned long long)c->batch);
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
    return judge_ops[op].keyed && (s->c[0].extreme_ppm || (hd_policy_rows[s->v.policy].flags & HD_SCORES_NEEDED));
}

hd_status scene_batch(scene *s, const scene_kernel *k, hd_op op, const uint64_t *key, uint64_t n)
{
    scene_part *p = &s->part[0];
    hd_batch *b = &p->batch;
    const judge_op *rule = &judge_ops[op];
    bool given = scores_given(s, op);
    uint64_t capacity = hkv_capacity(&s->v), most = p->arrays.most;
    hd_rng g = hd_rng_from(s->c[0].seed ^ (s->clock * HD_GOLDEN));
    p->kernel = k;
    memset(b, 0, sizeof *b);
    b->op = op;
    b->holder = 1;
    b->n = rule->keyed ? n : rule->range ? (capacity < most ? capacity : most) : 0;
    if (b->n > most) return hd_fail(HD_EINVAL, "batch: %llu items, and room for %llu", (unsigned long long)b->n, (unsigned long long)most);
    if (!scene_draw_elem(s, b, &g)) return hd_fail(HD_EINVAL, "its values are no whole number of any element");
    scene_draw_predicate(b, &g);
    judge_arrays_lend(&p->arrays, b);
    if (rule->keyed) {
        uint64_t *to = (uint64_t *)judge_arrays_at(&p->arrays, JUDGE_KEY), *score = (uint64_t *)judge_arrays_at(&p->arrays, JUDGE_SCORE);
        memcpy(to, key, n * sizeof *to);
        scene_mix_keys(&s->c[0], b, to, &g);
        judge_arrays_lend(&p->arrays, b); /* n may be less by now */
        scene_draw_bytes(&g, (uint8_t *)judge_arrays_at(&p->arrays, JUDGE_VALUE), b->n * s->v.value_bytes, scene_value_mask(b->elem));
        for (uint64_t i = 0; given && i < b->n; i++) score[i] = scene_draw_score(s, &g, 16);
    }
    if (!given) b->score = NULL;
    b->flag = NULL;
    scene_make_args(s, 0);
    return HD_OK;
}

void scene_reference(scene *s)
{
    uint64_t tally[HD_OUTCOME_COUNT] = { 0 };
    scene_part *p = &s->part[0];
    hkv_when when = { p->args.clock, p->args.per_item, p->args.epoch, 1 };
    hkv_run_batch(&s->v, &p->batch, when, tally);
    *s->pins = s->v.pins;
}

void scene_begin(scene *s, const uint8_t *memory, uint64_t clock)
{
    size_t bytes = (size_t)((uint8_t *)(s->pin_lock + 1) - s->memory);
    if (memory != s->initial) memcpy(s->initial, memory, bytes);
    if (memory != s->memory) memcpy(s->memory, memory, bytes);
    s->v.pins = *s->pins;
    s->clock = clock;
}
