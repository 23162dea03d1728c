/* SPDX-License-Identifier: Apache-2.0
 *
 * t_accept.c - the reference's two faces against each other: what hkv_apply does, hkv_accept allows, and ends in the
 * same state; what it did not do, hkv_accept refuses, and leaves the state alone (judge/faces.h).
 */
#include <string.h>

#include "judge/faces.h"
#include "tests/testing.h"

typedef unsigned long long ull;

static void test_faces(void **unused)
{
    (void)unused;
    faces_counts n;
    char why[FACES_TEXT];
    faces_search(test_times(400), 300, &n, why);
    check(!why[0], "%s", why);
    test_tried("differential", n.items, "items by both faces of the reference, %llu lies refused", (ull)n.lies);
}

/* A dual choice made on an older state: allowed when asked for, and only then. */
static void test_old_choice(void **unused)
{
    (void)unused;
    hd_rng g = hd_rng_from(2);
    uint64_t seen_other = 0;
    for (int n = 0; n < 2000; n++) {
        faces_table t, other;
        char believed[FACES_TEXT];
        faces_make(&t, &g, HD_POLICY_custom);
        if (!t.view.dual) continue;
        hkv_item it;
        memset(&it, 0, sizeof it);
        it.op = HD_OP_INSERT_OR_ASSIGN;
        uint64_t value = 0;
        it.value = &value;
        for (uint64_t i = hd_rng_below(&g, 2 * hkv_capacity(&t.view)); i; i--) {
            hkv_seen seen;
            it.key = hd_rng_next(&g) >> 1;
            it.in.given = 1 + hd_rng_below(&g, 1000);
            hkv_apply(&t.view, &it, &seen, NULL);
        }
        it.key = hd_rng_next(&g) >> 1;
        it.in.given = 1001;
        faces_copy(&other, &t);
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
        check(!faces_lie(&other, &it, &there, HKV_EXACT_CHOICE, "the other bucket was to be chosen", believed), "%s", believed);
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
