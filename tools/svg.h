/* SPDX-License-Identifier: Apache-2.0
 *
 * svg.h - draws a chart as SVG that can be read without its colours: those of Okabe and Ito, and for each series a
 * dash, a marker and a texture of its own; names beside the lines; every number as text; light and dark by
 * prefers-color-scheme; a title and a description in words. The file fetches nothing and runs nothing.
 */
#ifndef HD_SVG_H
#define HD_SVG_H

#include <stdio.h>

#include "tools/chart.h"

/* Writes the chart, `width` pixels wide. False: memory was refused, or f. */
bool svg_write(const chart *c, int width, FILE *f);

#endif
