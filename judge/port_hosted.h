/* SPDX-License-Identifier: Apache-2.0
 *
 * port_hosted.h - ports that give their design on backend "host" (judge_design.host): the table's memory, its kernels
 * and their launches are those of the design's hd_gpu. For fixture.c, port_defaults.c, kernels.c and the ports.
 *
 * A fixture's table, and the args of each part, begin with the design's state (hd_gpu_state), as on the backends. A
 * port with `memory` lays out the entries itself, as the reference does on backend "host"; without it they are where
 * they are on a device, and the reference sees a copy. The room that only one batch needs (HD_OF_BATCH) is laid for
 * each part, the rest of it with the table.
 */
#ifndef HD_JUDGE_PORT_HOSTED_H
#define HD_JUDGE_PORT_HOSTED_H

#include "judge/design.h"

bool hosted_runs(const judge_design *d, uint32_t row, hd_op op);
const char *hosted_unsupported(const judge_design *d, uint32_t row, const hd_case *c);
hd_status hosted_shape(fixture *s, const hd_case *c);
/* All but the room of batches, and what the port lays out. */
uint32_t hosted_memory(const fixture *s, judge_memory all[JUDGE_MEMORY_MOST]);
/* The arrays that growth brings, in the order in which it takes them, after n others; 0: it cannot. */
uint32_t hosted_growth_memory(const fixture *s, judge_memory all[JUDGE_MEMORY_MOST], uint32_t n);
void hosted_lay_part(fixture *s, uint32_t k);
/* All addresses in *table are set: it derives from them what else it has. */
void hosted_taken(const judge_design *d, void *table);
void hosted_args(fixture *s, uint32_t k);
/* Makes known to the machine what kernels of part k may touch, besides the table's entries and the batch's arrays. */
hd_status hosted_announce(const fixture *s, uint32_t k, simt_machine *m);
/* Part k's batch; or growth, after which its args are the state of the table that has grown. */
hd_status hosted_queue(fixture *s, uint32_t k, simt_machine *m);
/* When part k's batch happens. */
hd_when hosted_when(const fixture *s, uint32_t k);
void hosted_apply(const fixture *s, void *table, uint32_t k, const hd_batch *b);
const char *hosted_check(const fixture *s, const void *table, char why[JUDGE_SENTENCE]);
void hosted_close(fixture *s);
uint32_t hosted_value_bytes(const void *table);

#endif
