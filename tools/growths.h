/* SPDX-License-Identifier: Apache-2.0
 *
 * growths.h - `heddle bench --backend NAME growth`: what it costs that a table grows, or shrinks.
 */
#ifndef HD_GROWTHS_H
#define HD_GROWTHS_H

#include "tools/points.h"

/* The word that asks for it; lists NAME=VALUE may follow. */
#define GROWTHS_WORD "growth"
int growths_run(tool_line *line, const points_options *o);

#endif
