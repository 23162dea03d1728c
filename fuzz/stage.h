/* SPDX-License-Identifier: Apache-2.0
 *
 * stage.h - shared by the targets that run kernels: the machine, and the kernel for an operation.
 */
#ifndef HD_FUZZ_STAGE_H
#define HD_FUZZ_STAGE_H

#include "fuzz/feed.h"
#include "judge/kernels.h"

/* The host machine, opened once in a process: every run forgets the one before. NULL: no memory. */
simt_machine *fuzz_machine(void);

/* Any row that runs the operation on such tables; fixture_row_count(d): none does. */
uint32_t fuzz_row(feed *f, const judge_design *d, hd_op op, const hd_case *c);

/* That row as a fixture's kernel, or what stands in for it: for tests, which have kernels with faults run every
 * operation that row `row` of d runs. */
fixture_kernel fuzz_kernel(const judge_design *d, uint32_t row, hd_op op, uint32_t threads, uint32_t blocks);
void fuzz_stand_in(const fixture_kernel *k, const judge_design *d, uint32_t row); /* NULL: no stand-in */

/* The first byte: a design, and one of the policies of policies/registry.inc, whichever there are, or one of some
 * expressions. Most inputs are of the first design. The case becomes one of the design when its shape is known:
 * fuzz_bend. */
const judge_design *fuzz_design(feed *f, hd_case *c);
/* The static string of such a policy. */
const char *fuzz_policy(const char *text);
/* The design's own fields, from its table of fields: a few values of each, in as many bytes as their combinations take.
 * Texts stay as they are. */
void fuzz_params(feed *f, const judge_design *d, hd_case *c);
void fuzz_bend(const judge_design *d, hd_case *c);

/* The configuration of the scheduler, without its decisions. */
simt_config fuzz_way(feed *f);

#endif
