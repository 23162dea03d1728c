/* SPDX-License-Identifier: Apache-2.0
 *
 * plot.h - a report drawn as SVG: its JSON becomes a chart (chart.h), and that a picture (svg.h).
 */
#ifndef HD_PLOT_H
#define HD_PLOT_H

#include "tools/output.h"
#include "tools/save.h"

/* Whether a file's name asks for a plot: it ends in .svg. */
bool plot_named(const char *file);

/* TOOL_OK when `file` has an ending that can be drawn; else says so and returns TOOL_USAGE. */
int plot_file(const char *what, const char *file);

/* Draws a report, or a chart, `width` pixels wide, into `file`; `what` names the report in messages. A TOOL_* code; a
 * failure was said, and then nothing is written. */
int plot_json(const char *what, json_t *report, int width, const char *file);

/* The same of a report that `json` writes, as wide as usual. */
int plot_draw(save_writer *json, const void *report, const char *file);

#endif
