/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture.h - shared by the targets that run kernels: the machine, and the kernel for an operation.
 */
#ifndef HD_FUZZ_FIXTURE_H
#define HD_FUZZ_FIXTURE_H

#include "fuzz/feed.h"
#include "judge/kernels.h"

/* The host machine, opened once in a process: every run forgets the one before. NULL: no memory. */
simt_machine *fuzz_machine(void);

/* Any row that runs the operation on such tables; fixture_row_count(d): none does. */
uint32_t fuzz_row(feed *f, const judge_design *d, hd_op op, const hd_case *c);

/* From now on tables are of a design that has that variant, which runs what it can; others run the rest. False: no
 * design has it on the host machine. */
bool fuzz_kernel_only(const char *variant);

/* That row as a fixture's kernel, or what stands in for it: for tests, which have kernels with faults run every
 * operation that row `row` of d runs. */
fixture_kernel fuzz_kernel(const judge_design *d, uint32_t row, hd_op op, uint32_t threads, uint32_t blocks);
void fuzz_stand_in(const fixture_kernel *k, const judge_design *d, uint32_t row); /* NULL: no stand-in */

/* A small table of some design and policy, from the space of cases (judge/space.h): a byte for the design, one for the
 * buckets (of 2, 1, 3, 4, 5, 8 the first `buckets`), and one for each field of a table that is not `fixed`: pairs of a
 * field and patterns, as space_fix takes them, up to a NULL. Limits of device memory are those of the backend. NULL:
 * there is none. */
const judge_design *fuzz_table_of(feed *f, uint32_t buckets, const char *backend, const char *const (*fixed)[2],
                                  hd_case *c);
/* The fields that a fixture (judge/fixture.h) does not read. */
extern const char *const fuzz_fixed_in_fixtures[][2];
/* The static string of such a policy. */
const char *fuzz_policy(const char *text);

/* The configuration of the scheduler, without its decisions. */
simt_config fuzz_way(feed *f);

#endif
