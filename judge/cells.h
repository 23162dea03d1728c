/* SPDX-License-Identifier: Apache-2.0
 *
 * cells.h - the memory of a fixture in words and as cells of tables. A design names its memory (judge_design.names);
 * the names have one of four forms, from which follow the table, the row and the column in which a page shows a cell:
 *
 *     name                                   table        row       column
 *     key in bucket 1, slot 3                bucket 1     slot 3    key
 *     least score in bucket 1, from slot 8   bucket 1     slot 8    least score
 *     bucket 1, slot 3                       bucket 1     slot 3    entry
 *     outcome of item 5                      items        item 5    outcome
 *     count of hit                           counts       hit       count
 */
#ifndef HD_JUDGE_CELLS_H
#define HD_JUDGE_CELLS_H

#include "judge/fixture.h"

/* "key in bucket 1, slot 3": a location in memory, by name. Returns text. */
const char *fixture_location(const fixture *s, const simt_machine *m, const void *p, char *text, size_t bytes);

enum { CELL_NAME = 64 };
typedef struct cell_name {
    char table[CELL_NAME], row[CELL_NAME], column[CELL_NAME];
} cell_name;

/* Where a location is shown; false: its name has none of the forms. */
bool cell_name_of(const char *location, cell_name *c);

/* The contents of a cell as a page shows it, after its column: "empty", "0xd06a099d64922ef0", "evicted". Returns
 * text. */
const char *cell_text(const char *column, const uint8_t *p, uint64_t bytes, char *text, size_t room);

#endif
