/* SPDX-License-Identifier: Apache-2.0
 *
 * replay_report.h - what the reports of sim and sweep share. One has a row per policy and size, or, with --every, a row
 * per window of requests of each.
 */
#ifndef HD_REPLAY_REPORT_H
#define HD_REPLAY_REPORT_H

#include "tools/output.h"
#include "tools/replay.h"

enum { REPLAY_ASKED = 1, REPLAY_SIZE_ENTRIES, REPLAY_COLUMNS = 11, REPLAY_SPREAD = 4 };

/* Copies the columns, policy to byte_miss_ratio, and with --seeds those of the spread, for a verb to change and to add
 * its own behind them. Returns how many they are. column: (REPLAY_COLUMNS + REPLAY_SPREAD). */
int replay_columns(out_column *column, const replay_plan *p, const replay_row *row);
/* Which machine ran the batches, and of what size, if the command chose it; seeds and windows, if there are; whether
 * the trace has sizes. */
void replay_facts(out *o, const replay_plan *p, const replay_row *row);
/* The cells of those columns: of the first of the rows of one policy and size. */
void replay_cells(const replay_row *r, const replay_plan *p, out_value *cell);
static inline out_value replay_rate(const replay_row *r) { return out_real((double)r->replayed / r->seconds); }

/* A report of windows, to which the caller adds facts, and its rows. */
out *replay_windows_open(tool_form form, const replay_row *row);
void replay_windows(out *o, const replay_plan *p, const replay_row *row, size_t rows);

/* TOOL_DATA: no request was counted. --fail-above: TOOL_DIFFERS, and names the row with the highest miss ratio, if it
 * is above. Else TOOL_OK. */
int replay_fails(const replay_plan *p, const replay_row *row, size_t rows);
/* Usage errors of options that exclude each other. */
int replay_options_check(const replay_plan *p);

#endif
