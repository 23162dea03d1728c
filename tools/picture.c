/* SPDX-License-Identifier: Apache-2.0
 *
 * picture.c - bars and sparklines.
 */
#include "tools/picture.h"

#include <langinfo.h>
#include <stdbool.h>
#include <string.h>

enum { MOST = 64 };

static bool has_blocks(void) { return strcmp(nl_langinfo(CODESET), "UTF-8") == 0; }

/* U+2588 and on: the block element that fills `eighths` (1 to 8) of a cell from the left, or from below. */
static const char *const from_left[9] = { " ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█" };
static const char *const from_below[9] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
static const char *const ascii_left[9] = { " ", "-", "-", "-", "-", "#", "#", "#", "#" };
static const char *const ascii_below[9] = { " ", "_", "_", ".", ".", "-", "-", "=", "#" };

static int eighths_of(double share, int columns)
{
    if (!(share > 0)) return 0;
    int e = (int)((share < 1 ? share : 1) * columns * 8 + 0.5);
    return e ? e : 1;
}

const char *picture_bar(char text[PICTURE_BYTES], double share, int columns, int pad)
{
    const char *const *cell = has_blocks() ? from_left : ascii_left;
    if (columns > MOST) columns = MOST;
    int e = eighths_of(share, columns);
    *text = 0;
    for (int c = 0; c < columns && (pad || e > 0); c++, e -= 8) strcat(text, cell[e >= 8 ? 8 : e > 0 ? e : 0]);
    return text;
}

const char *picture_spark(char text[PICTURE_BYTES], const double *value, size_t n, double top)
{
    const char *const *cell = has_blocks() ? from_below : ascii_below;
    *text = 0;
    for (size_t i = 0; i < n && i < MOST; i++) strcat(text, cell[top > 0 ? eighths_of(value[i] / top, 1) : 0]);
    return text;
}
