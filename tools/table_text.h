/* SPDX-License-Identifier: Apache-2.0
 *
 * table_text.h - a table that was saved (TSV), read whole.
 */
#ifndef HD_TABLE_TEXT_H
#define HD_TABLE_TEXT_H

/* TOOL_OK, and *text is the file's and the caller's to free; or it was said why not. what: "table of points". *text is
 * set in both cases, perhaps to NULL. */
int table_text(char **text, const char *path, const char *what);

#endif
