/* SPDX-License-Identifier: Apache-2.0
 *
 * named.h - a row of a table by its name, which is the row's first member.
 */
#ifndef HD_NAMED_H
#define HD_NAMED_H

#include <stdint.h>
#include <string.h>

/* The number of the row of that name; `rows`: there is none. */
static inline uint32_t hd_named_row(const void *row, size_t row_bytes, uint32_t rows, const char *name)
{
    for (uint32_t i = 0; i < rows; i++) {
        const char *is;
        memcpy(&is, (const char *)row + i * row_bytes, sizeof is);
        if (strcmp(is, name) == 0) return i;
    }
    return rows;
}

#endif
