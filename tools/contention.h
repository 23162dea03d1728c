/* SPDX-License-Identifier: Apache-2.0
 *
 * contention.h - `heddle bench --backend NAME locks`: what each batch lock makes of several threads on one table.
 */
#ifndef HD_CONTENTION_H
#define HD_CONTENTION_H

#include "tools/points.h"

/* The word that asks for it; NAME=VALUE may follow. */
#define CROWDS_WORD "locks"
int contention_run(tool_line *line, const points_options *o);

#endif
