/* SPDX-License-Identifier: Apache-2.0
 *
 * expressions.h - random policy expressions: for tests and fuzzers.
 */
#ifndef HD_EXPRESSIONS_H
#define HD_EXPRESSIONS_H

#include "workload/rng.h"

enum { HD_EXPRESSIONS_TEXT = 480 };

/* A policy that hd_policy_read accepts, "expr:on_insert=...", unless it takes more steps or constants than a program
 * has: few do. */
void hd_expressions_draw(hd_rng *g, char text[HD_EXPRESSIONS_TEXT]);

#endif
