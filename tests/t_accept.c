/* SPDX-License-Identifier: Apache-2.0
 *
 * t_accept.c - the reference's two faces against each other: what hkv_apply does, hkv_accept allows, and ends in the
 * same state; what it did not do, hkv_accept refuses, and leaves the state alone.
 */
#include <stdlib.h>
#include <string.h>

#include "ref/hkv.h"
#include "tests/testing.h"

typedef unsigned long long ull;

enum { VALUE_BYTES = 8, MOST_ENTRIES = 64, PIN_PLACES = 8 };

/* A table on the stack: small enough to copy for every try. */
typedef struct small {
    uint8_t digest[MOST_ENTRIES];
    uint64_t key[MOST_ENTRIES], score[MOST_ENTRIES], value[MOST_ENTRIES];
    hkv_pin pin[PIN_PLACES];
    hkv_view view;
} small;

static void attach(small *t)
{
    t->view.digest = t->digest;
    t->view.key = t->key;
    t->view.score = t->score;
    t->view.value = (uint8_t *)t->value;
    t->view.pin = t->pin;
}

static void make(small *t, uint64_t *random, uint32_t policy)
{
    memset(t, 0, sizeof *t);
    hkv_view *v = &t->view;
    v->step = 1;
    v->slots = 2 + (uint32_t)test_below(random, 7);
    v->dual = (uint32_t)test_below(random, 2);
    v->buckets = 1 + v->dual + test_below(random, 4);
    v->value_bytes = VALUE_BYTES;
    v->seed = test_random(random);
    v->policy = policy;
    v->admit_always = test_below(random, 4) == 0;
    v->pin_places = PIN_PLACES;
    v->pin_limit = 5;
    attach(t);
    hkv_clear(v, 1);
}

static void copy(small *to, const small *from)
{
    *to = *from;
    attach(to);
}

/* Same entries with the same scores and values in every bucket, same pins; slots may differ. */
static bool same(const small *a, const small *b)
{
    if (a->view.pins != b->view.pins) return false;
    for (uint64_t e = 0; e < hkv_capacity(&a->view); e++) {
        if (a->digest[e] == HKV_NO_DIGEST) continue;
        uint64_t at = hkv_find(&b->view, a->key[e]);
        if (at == HKV_NOWHERE || at / b->view.slots != e / a->view.slots) return false;
        if (b->score[at] != a->score[e] || b->value[at] != a->value[e]) return false;
        const hkv_pin *p = hkv_pin_find(&a->view, a->key[e]), *q = hkv_pin_find(&b->view, a->key[e]);
        if (!p != !q || (p && p->holder != q->holder)) return false;
    }
    return true;
}

static bool identical(const small *a, const small *b)
{
    uint64_t n = hkv_capacity(&a->view);
    return a->view.pins == b->view.pins && !memcmp(a->digest, b->digest, n) && !memcmp(a->key, b->key, 8 * n) &&
           !memcmp(a->score, b->score, 8 * n) && !memcmp(a->value, b->value, 8 * n) && !memcmp(a->pin, b->pin, sizeof a->pin);
}

static hkv_item draw(uint64_t *random, uint64_t now, uint64_t *value)
{
    static const uint64_t special[] = { 0, 1, UINT64_MAX, UINT64_MAX - 1, 1ull << 32 };
    hkv_item it;
    memset(&it, 0, sizeof it);
    it.op = (hd_op)test_below(random, HD_OP_ERASE + 1);
    if (test_below(random, 2)) it.op = HD_OP_INSERT_AND_EVICT; /* keep the table full */
    it.elem = HD_U64;
    it.flag = (uint32_t)test_below(random, 3);
    it.key = test_below(random, 50) ? test_below(random, 40) : HD_KEY_RESERVED + test_below(random, 3);
    it.in.given = test_below(random, 8) ? 1 + test_below(random, 6) : special[test_below(random, 5)];
    it.in.now = now;
    it.in.epoch = (uint32_t)(now / 500);
    it.holder = 1 + test_below(random, 2);
    *value = test_random(random);
    it.value = it.op == HD_OP_FIND_OR_INSERT_PTR ? NULL : value;
    return it;
}

/* One lie about `seen`, told to a copy: it must be refused and change nothing. */
static void lie(const small *before, const hkv_item *it, hkv_seen seen, hkv_strictness strictness, const char *which)
{
    small t;
    copy(&t, before);
    const char *why = hkv_accept(&t.view, it, &seen, strictness);
    check(why, "%s of key %llu: accepted although %s (outcome %s)", hd_op_name(it->op), (ull)it->key, which, hd_outcome_name(seen.outcome));
    check(identical(&t, before), "%s: refused, and still changed the table (%s)", hd_op_name(it->op), why);
}

static uint64_t lies_about(const small *before, const hkv_item *it, const hkv_seen *truth, const uint64_t *delivered)
{
    uint64_t told = 0;
    for (unsigned o = 0; o < HD_OUTCOME_COUNT; o++) {
        hkv_seen seen = *truth;
        seen.outcome = (hd_outcome)o;
        if (seen.outcome == truth->outcome) continue;
        if (seen.outcome == HD_EVICTED) { /* name somebody: the lie must not stand on an empty victim */
            seen.gone_key = before->key[0];
            seen.gone_score = before->score[0];
        }
        lie(before, it, seen, HKV_EXACT_CHOICE, "another outcome was the only one");
        told++;
    }
    if (truth->outcome == HD_EVICTED)
        for (uint64_t e = 0; e < hkv_capacity(&before->view); e++) {
            hkv_seen seen = *truth;
            seen.gone_key = before->key[e];
            seen.gone_score = before->score[e];
            bool equal = seen.gone_score == truth->gone_score && e / before->view.slots == truth->entry / before->view.slots;
            if (seen.gone_key >= HD_KEY_RESERVED || (equal && !hkv_pin_find(&before->view, seen.gone_key))) continue;
            lie(before, it, seen, HKV_EXACT_CHOICE, "the victim was not the least of the bucket to choose");
            seen.gone_score++;
            lie(before, it, seen, HKV_EXACT_CHOICE, "the victim had another score");
            told += 2;
        }
    if (truth->entry != HKV_NOWHERE) {
        hkv_seen seen = *truth;
        seen.score_shown = true;
        seen.score++;
        lie(before, it, seen, HKV_EXACT_CHOICE, "the score was another");
        told++;
    }
    if (truth->outcome == HD_HIT) {
        uint64_t wrong = *delivered ^ 1;
        hkv_seen seen = *truth;
        seen.value = &wrong;
        lie(before, it, seen, HKV_EXACT_CHOICE, "the value was another");
        told++;
    }
    return told;
}

static void test_faces(void **unused)
{
    (void)unused;
    uint64_t random = 1, items = 0, told = 0, tables = test_times(400);
    for (uint64_t n = 0; n < tables; n++) {
        small t, before, judged;
        make(&t, &random, (uint32_t)(n % HD_POLICY_COUNT));
        test_case("table %llu: policy %s, %llu x %u, %s", (ull)n, hd_policy_rows[t.view.policy].name, (ull)t.view.buckets, t.view.slots,
                  t.view.dual ? "dual" : "single");
        for (uint64_t now = 0; now < 300; now++, items++) {
            uint64_t value, delivered = 0;
            hkv_item it = draw(&random, now, &value);
            copy(&before, &t);
            hkv_seen seen = { HD_MISS, HKV_NOWHERE, 0, false, NULL, 0, 0 };
            hkv_apply(&t.view, &it, &seen, NULL);
            if (seen.entry != HKV_NOWHERE && seen.outcome == HD_HIT) delivered = t.value[seen.entry];

            copy(&judged, &before);
            hkv_seen told_truth = seen;
            told_truth.score_shown = seen.entry != HKV_NOWHERE;
            told_truth.value = seen.outcome == HD_HIT ? &delivered : NULL;
            const char *why = hkv_accept(&judged.view, &it, &told_truth, HKV_EXACT_CHOICE);
            check(!why, "%s of key %llu: %s was refused: %s", hd_op_name(it.op), (ull)it.key, hd_outcome_name(seen.outcome), why);
            check(same(&t, &judged) && same(&judged, &t), "%s of key %llu: accepted, and the states differ", hd_op_name(it.op), (ull)it.key);
            if (now % 4 == 0) told += lies_about(&before, &it, &seen, &delivered);

            char broken[256];
            hkv_check(&t.view, broken, sizeof broken);
            check(!broken[0], "%s of key %llu: %s", hd_op_name(it.op), (ull)it.key, broken);
        }
    }
    test_tried("differential", items, "items by both faces of the reference, %llu lies refused", (ull)told);
}

/* A dual choice made on an older state: allowed when asked for, and only then. */
static void test_old_choice(void **unused)
{
    (void)unused;
    uint64_t random = 2, seen_other = 0;
    for (int n = 0; n < 2000; n++) {
        small t, other;
        make(&t, &random, HD_POLICY_custom);
        if (!t.view.dual) continue;
        hkv_item it;
        memset(&it, 0, sizeof it);
        it.op = HD_OP_INSERT_OR_ASSIGN;
        uint64_t value = 0;
        it.value = &value;
        for (uint64_t i = test_below(&random, 2 * hkv_capacity(&t.view)); i; i--) {
            hkv_seen seen;
            it.key = test_random(&random) >> 1;
            it.in.given = 1 + test_below(&random, 1000);
            hkv_apply(&t.view, &it, &seen, NULL);
        }
        it.key = test_random(&random) >> 1;
        it.in.given = 1001;
        copy(&other, &t);
        hkv_seen here = { HD_MISS, HKV_NOWHERE, 0, false, NULL, 0, 0 };
        hkv_apply(&t.view, &it, &here, NULL);
        uint64_t h = hd_hash(it.key, t.view.seed), first = hd_first_bucket(h, t.view.buckets), second = hd_second_bucket(h, t.view.buckets);
        uint64_t b = here.entry / t.view.slots == first ? second : first;
        hkv_seen there = here;
        there.entry = hkv_entry(&t.view, b, 0);
        uint64_t least = HKV_NOWHERE;
        for (uint64_t e = there.entry; e < there.entry + t.view.slots; e++) {
            if (here.outcome == HD_INSERTED && other.digest[e] == HKV_NO_DIGEST) least = e;
            if (here.outcome == HD_EVICTED && (least == HKV_NOWHERE || other.score[e] < other.score[least])) least = e;
        }
        if (least == HKV_NOWHERE || (here.outcome == HD_EVICTED && other.score[least] == here.gone_score)) continue;
        there.gone_key = other.key[least];
        there.gone_score = other.score[least];
        lie(&other, &it, there, HKV_EXACT_CHOICE, "the other bucket was to be chosen");
        const char *why = hkv_accept(&other.view, &it, &there, HKV_ANY_CHOICE);
        check(!why, "the other bucket, %s: %s", hd_outcome_name(there.outcome), why);
        check(hkv_find(&other.view, it.key) / t.view.slots == b, "accepted, but not where it was said to be");
        seen_other++;
    }
    check(seen_other > 300, "only %llu choices had another side", (ull)seen_other);
    test_note("%llu choices of the other bucket", (ull)seen_other);
}

int main(void)
{
    const struct CMUnitTest accept[] = { cmocka_unit_test(test_faces), cmocka_unit_test(test_old_choice) };
    return test_run(accept);
}
