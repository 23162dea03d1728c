/* SPDX-License-Identifier: Apache-2.0
 *
 * expression.h - the policy that a text names: a row of registry.inc, or expressions, which are compiled:
 *
 *     lru
 *     expr:on_insert=given;on_hit=max(old,now)+given;admission=MAX
 *
 * doc/contract-hkv.md, "Policy expressions", has the grammar.
 */
#ifndef HD_EXPRESSION_H
#define HD_EXPRESSION_H

#include "heddle.h"
#include "policies/policy.h"

#define HD_EXPRESSION_PREFIX "expr:"

typedef struct hd_policy_use {
    uint32_t number; /* what hd_on_insert and the others take: of a row, also if the expressions are those of one; else
                        HD_POLICY_EXPRESSION, or HD_POLICY_UNKNOWN after a failure */
    hd_program program;         /* program.flags: also of a row */
    char text[HD_PROGRAM_TEXT]; /* the same policy in one way of writing. That of a row, if a row is the same policy */
} hd_policy_use;

/* Whether the text has expressions, and is no name of a row. */
static inline bool hd_policy_is_expression(const char *text)
{
    return strncmp(text, HD_EXPRESSION_PREFIX, strlen(HD_EXPRESSION_PREFIX)) == 0;
}

/* hd_list of HD_POLICIES. */
bool hd_policy_list(hd_kind kind, size_t i, hd_row *row);

/* HD_EINVAL: there is no such row; or the column of the text and what was expected there. */
hd_status hd_policy_read(const char *text, hd_policy_use *use);

/* The flags in words: "MONOTONE ORDER_FREE, scores optional". Static storage. */
const char *hd_policy_flag_words(uint32_t flags);

#endif
