/* SPDX-License-Identifier: Apache-2.0
 *
 * lines.h - cache lines of this processor that are written back to memory, which matters where memory outlives power.
 */
#ifndef HD_LINES_H
#define HD_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* Whether this processor has an instruction that writes a line back to memory that keeps it. */
bool hd_lines_can(void);
/* Writes back the lines that have these bytes; they are in memory when hd_lines_fence has returned. Only where
 * hd_lines_can. */
void hd_lines_write_back(const void *p, size_t bytes);
/* A fence of stores, and of what the thread has written back. */
void hd_lines_fence(void);

#endif
