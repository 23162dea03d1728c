/* SPDX-License-Identifier: Apache-2.0
 *
 * plot.h - a report drawn as SVG or PNG by heddle-plot, a Python program with matplotlib that reads
 * the report's JSON on its standard input.
 */
#ifndef HD_PLOT_H
#define HD_PLOT_H

#include "tools/output.h"

/* TOOL_OK when `file` has an ending that can be drawn; else says so and returns TOOL_USAGE. */
int plot_file(const char *what, const char *file);

/* Draws `o` into `file`. TOOL_OK; or TOOL_SYSTEM, having said what is missing. */
int plot_draw(const out *o, const char *file);

/* Whether plots can be drawn here: "" when they can, else what is missing. *python is the program that
 * was asked (static storage). */
const char *plot_missing(const char **python);

#endif
