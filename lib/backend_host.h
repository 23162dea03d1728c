/* SPDX-License-Identifier: Apache-2.0
 *
 * backend_host.h - backend "host": the GPU's kernels on the host SIMT machine. For tests and tools, which choose how
 * the machine runs and read what it found; applications see only hd_config.backend = "host".
 */
#ifndef HD_BACKEND_HOST_H
#define HD_BACKEND_HOST_H

#include "heddle.h"
#include "base/backend.h"
#include "simt/machine.h"

extern const hd_backend hd_backend_host;

/* How the table's kernels run from now on. As opened: every lane as far as it goes, nothing checked but bounds where it
 * is free, no tickets. HD_EINVAL when the table's backend is another. A table that grows keeps it, one that loads
 * begins anew. */
hd_status hd_host_configure(hd_table *t, const simt_config *c);

/* From now on a batch's items draw tickets: when each took effect. HD_EINVAL as above. */
hd_status hd_host_draw_tickets(hd_table *t);

/* The machine that ran the last batch, with its findings, tickets, totals and schedule; NULL when the table's backend
 * is another. It is the table's, until the next batch or a call that grows or loads. */
simt_machine *hd_host_machine(hd_table *t);

/* How many lanes there are: kernels go over their items in strides, and fewer lanes have more items each. 0: as opened,
 * 8 blocks of as many threads as the kernel's row says. One block of 32 threads, in turn and by warp, runs the
 * items of tlpv1, pipeline and warp in order. */
hd_status hd_host_lanes(hd_table *t, uint32_t blocks, uint32_t threads);

/* Whether a growth of the table moves entries within planes that have grown, as on a device whose memory can grow, or
 * from one set of planes to another (the default). Tables that a growth makes keep it. */
hd_status hd_host_in_place(hd_table *t, bool in_place);

/* Whether batches run by the design's reference, on the same entries: for tests that need a full table and do not test
 * how it was filled. HD_EINVAL as above. */
hd_status hd_host_by_reference(hd_table *t, bool by_reference);

/* How tables run that this thread opens from now on, inside of whatever call; NULL: the usual. */
void hd_host_usual(const simt_config *c, uint32_t blocks, uint32_t threads);

#endif
