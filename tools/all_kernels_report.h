/* SPDX-License-Identifier: Apache-2.0
 *
 * all_kernels_report.h - what a tour found (judge/all_kernels.h), as the report heddle.kernels/1: a row per kernel.
 */
#ifndef HD_ALL_KERNELS_REPORT_H
#define HD_ALL_KERNELS_REPORT_H

#include "judge/all_kernels.h"
#include "tools/output.h"

/* For the caller to close, and to add notes to before. `text` is the case; NULL: the reader knows it. */
out *all_kernels_report(tool_form form, const char *text, const all_kernels *t);

/* TOOL_OK; TOOL_DIFFERS, and it is said which went wrong first and what shows it again; TOOL_USAGE, and why, when none
 * could run. */
int all_kernels_verdict(const all_kernels *t);

#endif
