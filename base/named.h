/* SPDX-License-Identifier: Apache-2.0
 *
 * named.h - rows of tables: one by its name, which is the row's first member, and one for hd_list.
 */
#ifndef HD_NAMED_H
#define HD_NAMED_H

#include <stdint.h>
#include <string.h>

#include "heddle.h"

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

/* Fills in a row of a list; true. */
static inline bool hd_row_put(hd_row *row, const char *name, const char *what, const char *more)
{
    row->name = name;
    row->what = what;
    row->more = more;
    return true;
}

#endif
