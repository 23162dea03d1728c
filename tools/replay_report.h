/* SPDX-License-Identifier: Apache-2.0
 *
 * replay_report.h - what the reports of sim and sweep share.
 */
#ifndef HD_REPLAY_REPORT_H
#define HD_REPLAY_REPORT_H

#include "tools/output.h"
#include "tools/replay.h"

enum { REPLAY_ASKED = 1, REPLAY_SIZE_ENTRIES, REPLAY_COLUMNS = 10 };

/* Copies the columns, policy to refused, for a verb to change and to add its own behind them. */
void replay_columns(out_column *column);
/* Which machine ran the batches, and of what size, if the command chose it. */
void replay_facts(out *o, const replay_plan *p);
void replay_cells(const replay_row *r, out_value *cell);
static inline out_value replay_rate(const replay_row *r) { return out_real((double)r->replayed / r->seconds); }

#endif
