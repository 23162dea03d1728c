/* SPDX-License-Identifier: Apache-2.0
 *
 * crowds.h - `heddle bench --backend NAME locks`: what each batch lock makes of several threads on one table.
 */
#ifndef HD_CROWDS_H
#define HD_CROWDS_H

#include "tools/points.h"

/* Whether the words ask for it: `locks`, and perhaps lists NAME=VALUE,... */
bool crowds_wanted(const tool_line *line);
int crowds_run(tool_line *line, const points_options *o);

#endif
