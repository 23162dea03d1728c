/* SPDX-License-Identifier: Apache-2.0
 *
 * hosted.h - the defaults of a port that gives its design on backend "host" (judge_design.host); for defaults.c and
 * kernels.c only. The table of such a port is the own part of the design's hd_gpu, as on a device: all its memory is
 * in pieces, and its reference sees a copy.
 */
#ifndef HD_JUDGE_HOSTED_H
#define HD_JUDGE_HOSTED_H

#include "judge/design.h"

bool hosted_runs(const judge_design *d, uint32_t row, hd_op op);
const char *hosted_unfit(const judge_design *d, uint32_t row, const hd_case *c);
hd_status hosted_shape(fixture *s, const hd_case *c);
uint32_t hosted_memory(const fixture *s, judge_memory all[JUDGE_MEMORY_MOST]);
/* All addresses in *table are set: it derives from them what else it has. */
void hosted_taken(const judge_design *d, void *table);
void hosted_args(fixture *s, uint32_t k);
hd_status hosted_queue(fixture *s, uint32_t k, simt_machine *m);
void hosted_apply(const fixture *s, void *table, const hd_batch *b);
const char *hosted_check(const fixture *s, const void *table, char why[JUDGE_SENTENCE]);
void hosted_close(fixture *s);
uint32_t hosted_value_bytes(const void *table);

#endif
