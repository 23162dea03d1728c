/* SPDX-License-Identifier: Apache-2.0
 *
 * cliffs.h - `heddle bench cliffs`: every operation under every policy, in both modes, with every pattern of keys.
 */
#ifndef HD_CLIFFS_H
#define HD_CLIFFS_H

#include "tools/points.h"

/* The word that asks for it; operations and lists NAME=VALUE may follow. */
#define CLIFFS_WORD "cliffs"
int cliffs_run(tool_line *line, const points_options *o);

#endif
