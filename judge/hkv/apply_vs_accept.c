/* SPDX-License-Identifier: Apache-2.0
 *
 * apply_vs_accept.c - see apply_vs_accept.h.
 */
#include "judge/hkv/apply_vs_accept.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "judge/rules.h"

static const char *say(char *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

static const char *say(char *why, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(why, FACES_TEXT, format, ap);
    va_end(ap);
    return why;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void attach(faces_table *t)
{
    t->view.digest = t->digest;
    t->view.key = t->key;
    t->view.score = t->score;
    t->view.value = (uint8_t *)t->value;
    t->view.holder = t->holder;
}

void faces_make(faces_table *t, hd_rng *g, uint32_t policy)
{
    memset(t, 0, sizeof *t);
    hkv_view *v = &t->view;
    v->step = 1;
    v->slots = 2 + (uint32_t)hd_rng_below(g, 7);
    v->dual = (uint32_t)hd_rng_below(g, 2);
    v->buckets = 1 + v->dual + hd_rng_below(g, 4);
    v->value_bytes = FACES_VALUE_BYTES;
    v->seed = hd_rng_next(g);
    v->policy = policy;
    v->admit_always = hd_rng_below(g, 4) == 0;
    attach(t);
    hkv_clear(v, 1);
}

void faces_copy(faces_table *to, const faces_table *from)
{
    *to = *from;
    attach(to);
}

/* Same entries with the same scores and values in every bucket, same pins; slots may differ. */
static bool same(const faces_table *a, const faces_table *b)
{
    if (a->view.pins != b->view.pins) return false;
    for (uint64_t e = 0; e < hkv_capacity(&a->view); e++) {
        if (a->digest[e] == HKV_NO_DIGEST) continue;
        uint64_t at = hkv_find(&b->view, a->key[e]);
        if (at == HKV_NOWHERE || at / b->view.slots != e / a->view.slots) return false;
        if (b->score[at] != a->score[e] || b->value[at] != a->value[e]) return false;
        if (a->holder[e] != b->holder[at]) return false;
    }
    return true;
}

static bool identical(const faces_table *a, const faces_table *b)
{
    uint64_t n = hkv_capacity(&a->view);
    return a->view.pins == b->view.pins && !memcmp(a->digest, b->digest, n) && !memcmp(a->key, b->key, 8 * n) &&
           !memcmp(a->score, b->score, 8 * n) && !memcmp(a->value, b->value, 8 * n) &&
           !memcmp(a->holder, b->holder, 8 * n);
}

/* ---- Lies ------------------------------------------------------------------------------------ */

const char *faces_lie(const faces_table *before, const hkv_item *it, const hkv_seen *seen, hkv_strictness strictness,
                      const char *which, char *why)
{
    faces_table t;
    faces_copy(&t, before);
    const char *no = hkv_accept(&t.view, it, seen, strictness);
    if (!no)
        return say(why, "%s of key %" PRIu64 ": accepted although %s (outcome %s)", hd_op_name(it->op), it->key, which,
                   hd_outcome_name(seen->outcome));
    return identical(&t, before) ? NULL
                                 : say(why, "%s: refused, and still changed the table (%s)", hd_op_name(it->op), no);
}

/* An applied item, and the outcome that is claimed for it. */
typedef struct telling {
    const faces_table *before;
    const hkv_item *it;
    const hkv_seen *truth;
    uint64_t delivered, told;
    char *why;
} telling;

static const char *lie(telling *l, const hkv_seen *seen, const char *which)
{
    l->told++;
    return faces_lie(l->before, l->it, seen, HKV_EXACT_CHOICE, which, l->why);
}

static const char *other_outcomes(telling *l)
{
    const char *wrong = NULL;
    for (unsigned o = 0; o < HD_OUTCOME_COUNT && !wrong; o++) {
        hkv_seen seen = *l->truth;
        seen.outcome = (hd_outcome)o;
        if (seen.outcome == l->truth->outcome) continue;
        if (seen.outcome == HD_EVICTED) { /* a victim must be named, so that the claim is not refused for that */
            seen.gone_key = l->before->key[0];
            seen.gone_score = l->before->score[0];
        }
        wrong = lie(l, &seen, "another outcome was the only one");
    }
    return wrong;
}

static const char *other_victims(telling *l)
{
    const hkv_view *v = &l->before->view;
    const char *wrong = NULL;
    for (uint64_t e = 0; l->truth->outcome == HD_EVICTED && e < hkv_capacity(v) && !wrong; e++) {
        hkv_seen seen = *l->truth;
        seen.gone_key = l->before->key[e];
        seen.gone_score = l->before->score[e];
        bool equal = seen.gone_score == l->truth->gone_score && e / v->slots == l->truth->entry / v->slots;
        if (seen.gone_key >= HD_KEY_RESERVED || (equal && !hkv_holder_of(v, e))) continue;
        wrong = lie(l, &seen, "the victim was not the least of the bucket to choose");
        seen.gone_score++;
        if (!wrong) wrong = lie(l, &seen, "the victim had another score");
    }
    return wrong;
}

static const char *other_deliveries(telling *l)
{
    uint64_t value = l->delivered ^ 1;
    hkv_seen seen = *l->truth;
    seen.score_shown = true;
    seen.score++;
    const char *wrong = l->truth->entry != HKV_NOWHERE ? lie(l, &seen, "the score was another") : NULL;
    seen = *l->truth;
    seen.value = &value;
    return wrong || l->truth->outcome != HD_HIT ? wrong : lie(l, &seen, "the value was another");
}

/* ---- The search ------------------------------------------------------------------------------ */

static hkv_item draw(hd_rng *g, uint64_t now, uint64_t *value)
{
    static const uint64_t special[] = { 0, 1, UINT64_MAX, UINT64_MAX - 1, 1ull << 32 };
    hd_op keyed[HD_OP_COUNT_];
    hkv_item it;
    memset(&it, 0, sizeof it);
    it.op = keyed[hd_rng_below(g, judge_keyed_ops(keyed))];
    if (hd_rng_below(g, 2)) it.op = HD_OP_INSERT_AND_EVICT; /* keep the table full */
    it.elem = HD_U64;
    it.flag = (uint32_t)hd_rng_below(g, 3);
    it.key = hd_rng_below(g, 50) ? hd_rng_below(g, 40) : HD_KEY_RESERVED + hd_rng_below(g, 3);
    it.in.given = hd_rng_below(g, 8) ? 1 + hd_rng_below(g, 6) : special[hd_rng_below(g, 5)];
    it.in.now = it.in.tick = now;
    it.in.epoch = (uint32_t)(now / 500);
    it.holder = 1 + hd_rng_below(g, 2);
    if (judge_ops[it.op].may_pin && hd_rng_below(g, 4)) it.holder = 0;
    *value = hd_rng_next(g);
    it.raw = hd_rng_below(g, 6) == 0;
    it.value = it.op == HD_OP_FIND_OR_INSERT_PTR ? NULL : value;
    return it;
}

/* One item by both. */
static const char *judge_item(faces_table *t, const hkv_item *it, bool lies, faces_counts *n, char *why)
{
    faces_table before, judged;
    char broken[256];
    hkv_seen seen = { HD_MISS, HKV_NOWHERE, 0, false, NULL, 0, 0 };
    faces_copy(&before, t);
    hkv_apply(&t->view, it, &seen, NULL);
    uint64_t delivered = seen.entry != HKV_NOWHERE && seen.outcome == HD_HIT ? t->value[seen.entry] : 0;

    hkv_seen truth = seen;
    truth.score_shown = seen.entry != HKV_NOWHERE;
    truth.value = seen.outcome == HD_HIT ? &delivered : NULL;
    faces_copy(&judged, &before);
    const char *no = hkv_accept(&judged.view, it, &truth, HKV_EXACT_CHOICE);
    if (no)
        return say(why, "%s of key %" PRIu64 ": %s was refused: %s", hd_op_name(it->op), it->key,
                   hd_outcome_name(seen.outcome), no);
    if (!same(t, &judged) || !same(&judged, t))
        return say(why, "%s of key %" PRIu64 ": accepted, and the states differ", hd_op_name(it->op), it->key);

    telling l = { &before, it, &seen, delivered, 0, why };
    const char *wrong = lies ? other_outcomes(&l) : NULL;
    if (lies && !wrong) wrong = other_victims(&l);
    if (lies && !wrong) wrong = other_deliveries(&l);
    n->lies += l.told;
    if (wrong) return wrong;
    hkv_check(&t->view, broken, sizeof broken);
    return broken[0] ? say(why, "%s of key %" PRIu64 ": %s", hd_op_name(it->op), it->key, broken) : NULL;
}

void faces_search(uint64_t tables, uint64_t items, faces_counts *n, char *why)
{
    hd_rng g = hd_rng_from(1);
    char sentence[FACES_TEXT];
    const char *wrong = NULL;
    memset(n, 0, sizeof *n);
    why[0] = 0;
    for (; n->tables < tables && !wrong; n->tables++) {
        faces_table t;
        faces_make(&t, &g, (uint32_t)(n->tables % HD_POLICY_COUNT));
        for (uint64_t now = 0; now < items && !wrong; now++, n->items++) {
            uint64_t value;
            hkv_item it = draw(&g, now, &value);
            wrong = judge_item(&t, &it, now % 4 == 0, n, sentence);
        }
        if (wrong)
            say(why, "table %" PRIu64 ", policy %s, %" PRIu64 " x %u, %s: %.300s", n->tables,
                hd_policy_rows[t.view.policy].name, t.view.buckets, t.view.slots, t.view.dual ? "dual" : "single",
                wrong);
    }
}
