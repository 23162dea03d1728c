/* SPDX-License-Identifier: Apache-2.0
 *
 * trusted_rows.h - the judge's only use of policies/ and predicates/. A policy or predicate that rules.c does not
 * restate is judged by its own functions. Then a table that does not do what these functions say is still found, but a
 * mistake in the functions themselves is not.
 */
#ifndef HD_JUDGE_TRUSTED_ROWS_H
#define HD_JUDGE_TRUSTED_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/* What a score is made of. tick: `now` in the unit of epoch_lru (judge_tick). */
typedef struct judge_score_in {
    uint64_t given, now, tick;
    uint32_t epoch, spared;
    uint64_t least; /* spared, least: of an eviction (contract-hkv.md, "Policies that spare") */
    /* of a bucket with queues (contract-hkv.md, "Policies with queues") */
    uint64_t slots, full, upper, state, ghost, ghosts1, ghosts2, middle, freq, freq_old, freq_rival;
} judge_score_in;

/* *row: the policy's place in its registry; false: there is none of that name. */
bool judge_borrow_policy(const char *name, uint32_t *row);
bool judge_borrow_needs_scores(uint32_t row);
/* Whether an eviction changes scores of other entries, or a new entry's score depends on others. */
bool judge_borrow_keeps_order(uint32_t row);
bool judge_borrow_has_queues(uint32_t row);
bool judge_borrow_counts(uint32_t row); /* how often keys came */
uint64_t judge_borrow_new(uint32_t row, judge_score_in in);
uint64_t judge_borrow_hit(uint32_t row, uint64_t old, judge_score_in in);
uint64_t judge_borrow_evict(uint32_t row, uint64_t old, judge_score_in in);
uint64_t judge_borrow_admission(uint32_t row, judge_score_in in);

/* 1 or 0; -1: no predicate of that name. */
int judge_borrow_holds(const char *pred, const uint64_t arg[2], uint64_t key, uint64_t score, const uint8_t *value,
                       uint32_t bytes);

#endif
