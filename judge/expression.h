/* SPDX-License-Identifier: Apache-2.0
 *
 * expression.h - the judge's own reading of a policy's expressions ("expr:on_insert=..."): it walks the text anew for
 * each value, and adds and multiplies in 128 bits. Nothing is taken from policies/, so a mistake of the compiler or of
 * the interpreter there is found.
 */
#ifndef HD_JUDGE_EXPRESSION_H
#define HD_JUDGE_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "judge/trusted_rows.h"

typedef struct judge_expression {
    char text[512];
} judge_expression;

/* False: the text is no expressions, or they are not well formed. */
bool judge_expression_read(const char *text, judge_expression *e);

/* The value of on_insert, on_hit, admission, on_evict, upper_first, remember, forget or next_state. */
uint64_t judge_expression_value(const judge_expression *e, const char *function, uint64_t old, judge_score_in in);

#endif
