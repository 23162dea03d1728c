/* SPDX-License-Identifier: Apache-2.0
 *
 * trusted_rows.c - rows of the registries, by name.
 */
#include "judge/trusted_rows.h"

#include <string.h>

#include "policies/policy.h"
#include "policies/predicates/predicate.h"

static hd_score_in as_row_has_it(judge_score_in in)
{
    hd_score_in i = { .given = in.given,
                      .now = in.now,
                      .tick = in.tick,
                      .epoch = in.epoch,
                      .least = in.least,
                      .spared = (uint16_t)in.spared,
                      .freq = (uint8_t)in.freq,
                      .freq_old = (uint8_t)in.freq_old };
    return i;
}

bool judge_borrow_policy(const char *name, uint32_t *row)
{
    *row = hd_policy_named(name);
    return *row != HD_POLICY_COUNT;
}

bool judge_borrow_needs_scores(uint32_t row) { return (hd_policy_row_of(row)->flags & HD_SCORES_NEEDED) != 0; }
bool judge_borrow_keeps_order(uint32_t row) { return (hd_policy_row_of(row)->flags & HD_KEEPS_ORDER) != 0; }
bool judge_borrow_counts(uint32_t row) { return (hd_policy_row_of(row)->flags & HD_COUNTS) != 0; }
bool judge_borrow_has_queues(uint32_t row) { return (hd_policy_row_of(row)->flags & HD_QUEUES) != 0; }
uint64_t judge_borrow_new(uint32_t row, judge_score_in in) { return hd_on_insert(row, NULL, as_row_has_it(in)); }
uint64_t judge_borrow_hit(uint32_t row, uint64_t old, judge_score_in in)
{
    return hd_on_hit(row, NULL, old, as_row_has_it(in));
}
uint64_t judge_borrow_evict(uint32_t row, uint64_t old, judge_score_in in)
{
    return hd_on_evict(row, NULL, old, as_row_has_it(in), false);
}
uint64_t judge_borrow_admission(uint32_t row, judge_score_in in) { return hd_admission(row, NULL, as_row_has_it(in)); }

int judge_borrow_holds(const char *pred, const uint64_t arg[2], uint64_t key, uint64_t score, const uint8_t *value,
                       uint32_t bytes)
{
    uint32_t p = hd_predicate_named(pred);
    return p == HD_PREDICATE_COUNT ? -1 : hd_predicate_holds(p, key, score, value, bytes, arg[0], arg[1]);
}
