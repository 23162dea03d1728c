/* SPDX-License-Identifier: Apache-2.0
 *
 * picture.h - numbers as text that shows their size: bars and sparklines. Block characters where
 * the terminal's character set has them, ASCII where it has not.
 */
#ifndef HD_PICTURE_H
#define HD_PICTURE_H

#include <stddef.h>

enum { PICTURE_BYTES = 256 }; /* enough for 64 columns of three-byte characters */

/* A bar `columns` (<= 64) wide of which `share` (0 to 1) is filled, to an eighth of a column; a share
 * above 0 is never drawn as nothing. Padded with blanks when `pad`. Returns `text`. */
const char *picture_bar(char text[PICTURE_BYTES], double share, int columns, int pad);

/* One character per value (n <= 64), scaled from 0 to `top`. Returns `text`. */
const char *picture_spark(char text[PICTURE_BYTES], const double *value, size_t n, double top);

#endif
