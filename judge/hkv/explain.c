/* SPDX-License-Identifier: Apache-2.0
 *
 * explain.c - how the reference of HKV decides about an item: the bucket and digest of its key, the search, the choice
 * of a slot, the comparison of scores. It reads the table and changes nothing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "judge/hkv/fixture.h"
#include "judge/steps.h"
#include "ref/hkv/hkv.h"
#include "ref/rule.h"

typedef struct telling {
    const hkv_view *v;
    hkv_item it;
    hkv_home at;
    judge_steps *to;
} telling;

static void tell_hash(const telling *x)
{
    judge_step *step = judge_steps_add(x->to, "hashes");
    judge_step_at(step, "key");
    if (x->v->dual)
        judge_step_note(step, "Key %" PRIx64 " may be in buckets %" PRIu64 " and %" PRIu64 "; its digest is %02x.",
                        x->it.key, x->at.bucket[0], x->at.bucket[1], x->at.digest);
    else
        judge_step_note(step, "Key %" PRIx64 " may be in bucket %" PRIu64 "; its digest is %02x.", x->it.key,
                        x->at.bucket[0], x->at.digest);
}

/* Algorithm 1 in one bucket: where the key is; HKV_NOWHERE. */
static uint64_t tell_search(const telling *x, uint64_t b)
{
    const hkv_view *v = x->v;
    uint32_t matches = 0;
    uint64_t found = HKV_NOWHERE;
    for (uint32_t s = 0; s < v->slots; s++) {
        uint64_t e = hkv_entry(v, b, s);
        matches += v->digest[e] == x->at.digest;
        if (v->digest[e] == x->at.digest && *hkv_key_at(v, e) == x->it.key) found = e;
    }
    judge_step *step = judge_steps_add(x->to, "searches");
    judge_step_at(step, "bucket %" PRIu64, b);
    step->look = hkv_entry(v, b, 0);
    step->looks = v->slots;
    if (found != HKV_NOWHERE)
        judge_step_note(step, "%" PRIu32 " of %" PRIu32 " digests match; slot %" PRIu64 " has the key.", matches,
                        v->slots, found % v->slots);
    else
        judge_step_note(step, "%" PRIu32 " of %" PRIu32 " digests match; the key is not in this bucket.", matches,
                        v->slots);
    return found;
}

static uint64_t tell_find(const telling *x)
{
    uint64_t e = tell_search(x, x->at.bucket[0]);
    return e == HKV_NOWHERE && x->v->dual ? tell_search(x, x->at.bucket[1]) : e;
}

static uint32_t policy_of(const telling *x) { return x->it.raw ? (uint32_t)HKV_RAW_POLICY : x->v->policy; }

static void tell_hit(const telling *x, const hd_rule *r, uint64_t e)
{
    const hkv_view *v = x->v;
    uint64_t old = *hkv_score_at(v, e), holder = hkv_holder_of(v, e);
    if (holder && holder != x->it.holder) {
        judge_step *step = judge_steps_add(x->to, "finds a pin");
        judge_step_note(step, "Holder %" PRIu64 " has pinned the entry.", holder);
        return;
    }
    if (!r->rescore) return;
    judge_step *step = judge_steps_add(x->to, "scores");
    uint64_t score = hd_on_hit(policy_of(x), &v->program, old, x->it.in);
    judge_step_at(step, "score in bucket %" PRIu64 ", slot %" PRIu64, e / v->slots, e % v->slots);
    snprintf(step->before, sizeof step->before, "%" PRIu64, old);
    snprintf(step->after, sizeof step->after, "%" PRIu64, score);
    step->look = e;
    step->looks = 1;
    step->scores = true;
    judge_step_note(step, "The policy makes score %" PRIu64 " of score %" PRIu64 ".", score, old);
}

/* Algorithm 2, line 11: the least score of a bucket whose entries are not all pinned. */
static uint64_t tell_least(const telling *x, uint64_t b)
{
    const hkv_view *v = x->v;
    uint64_t best = HKV_NOWHERE;
    for (uint64_t e = hkv_entry(v, b, 0); e < hkv_entry(v, b + 1, 0); e++)
        if (!hkv_holder_of(v, e) && (best == HKV_NOWHERE || *hkv_score_at(v, e) < *hkv_score_at(v, best))) best = e;
    judge_step *step = judge_steps_add(x->to, "finds the least");
    judge_step_at(step, "scores in bucket %" PRIu64, b);
    step->look = hkv_entry(v, b, 0);
    step->looks = v->slots;
    step->scores = true;
    if (best == HKV_NOWHERE)
        judge_step_note(step, "Every entry of the bucket is pinned.");
    else
        judge_step_note(step, "The bucket is full. Slot %" PRIu64 " has the least score, %" PRIu64 ".", best % v->slots,
                        *hkv_score_at(v, best));
    return best;
}

static void tell_admission(const telling *x, uint64_t victim)
{
    const hkv_view *v = x->v;
    uint64_t least = *hkv_score_at(v, victim), admission = hd_admission(policy_of(x), &v->program, x->it.in);
    bool refused = !v->admit_always && admission < least;
    judge_step *step = judge_steps_add(x->to, refused ? "refuses" : "admits");
    judge_step_at(step, "score in bucket %" PRIu64 ", slot %" PRIu64, victim / v->slots, victim % v->slots);
    step->look = victim;
    step->looks = 1;
    step->scores = true;
    if (v->admit_always)
        judge_step_note(step, "The table admits every key.");
    else
        judge_step_note(step, "The admission score %" PRIu64 " is %s the least score %" PRIu64 ": the key is %s.",
                        admission, refused ? "below" : "not below", least, refused ? "refused" : "admitted");
}

static uint64_t entries(const hkv_view *v, uint64_t b)
{
    uint64_t n = 0;
    for (uint64_t e = hkv_entry(v, b, 0); e < hkv_entry(v, b + 1, 0); e++) n += v->digest[e] != HKV_NO_DIGEST;
    return n;
}

/* Algorithm 2 and Algorithm 3. */
static void tell_insert(const telling *x)
{
    const hkv_view *v = x->v;
    uint64_t n[2] = { entries(v, x->at.bucket[0]), v->dual ? entries(v, x->at.bucket[1]) : v->slots };
    if (n[0] < v->slots || n[1] < v->slots) {
        judge_step *step = judge_steps_add(x->to, "chooses");
        uint64_t b = x->at.bucket[n[1] < n[0]];
        judge_step_at(step, "bucket %" PRIu64, b);
        if (v->dual)
            judge_step_note(step,
                            "The buckets have %" PRIu64 " and %" PRIu64 " entries: the key goes to bucket %" PRIu64
                            ", into the first free slot (rule D1).",
                            n[0], n[1], b);
        else
            judge_step_note(step, "The bucket has %" PRIu64 " entries: the key goes into the first free slot.", n[0]);
        return;
    }
    uint64_t victim = tell_least(x, x->at.bucket[0]), other = v->dual ? tell_least(x, x->at.bucket[1]) : HKV_NOWHERE;
    bool second = other != HKV_NOWHERE && (victim == HKV_NOWHERE || *hkv_score_at(v, other) < *hkv_score_at(v, victim));
    if (v->dual && victim != HKV_NOWHERE && other != HKV_NOWHERE) {
        judge_step *step = judge_steps_add(x->to, "chooses");
        judge_step_at(step, "bucket %" PRIu64, x->at.bucket[second]);
        judge_step_note(step, "The key competes in bucket %" PRIu64 ", whose least score is %s (rule D2).",
                        x->at.bucket[second], second ? "lower" : "not higher");
    }
    if (second) victim = other;
    if (victim != HKV_NOWHERE)
        tell_admission(x, victim);
    else
        judge_step_note(judge_steps_add(x->to, "refuses"), "No entry may leave: the key is refused.");
}

void hkv_fixture_tell(const fixture *s, uint64_t i, const void *before, judge_steps *to)
{
    const hkv_view *v = &((const hkv_state *)before)->v;
    telling x = { v, hkv_fixture_item(s, v, 0, i), { { 0, 0 }, 0 }, to };
    if (x.it.key >= HD_KEY_RESERVED || hd_flag_is_none(x.it.op, x.it.flag)) {
        judge_step_note(judge_steps_add(to, "ends"), "No table holds this key, or the flag is none.");
        return;
    }
    const hd_rule *r = hd_rule_of(x.it.op, x.it.flag);
    x.at = hkv_home_of(v, x.it.key);
    tell_hash(&x);
    uint64_t e = tell_find(&x);
    if (e != HKV_NOWHERE)
        tell_hit(&x, r, e);
    else if (r->insert)
        tell_insert(&x);
}
