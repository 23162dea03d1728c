/* SPDX-License-Identifier: Apache-2.0
 *
 * space.h - the address space of kernels: named regions of device memory, and the arrays that blocks declare shared.
 */
#ifndef HD_SIMT_SPACE_H
#define HD_SIMT_SPACE_H

#include "simt/state.h"

/* The block to whose shared memory p belongs; NULL: to none. */
block *block_of_shared(simt_machine *m, const void *p);
/* The region that holds all the bytes; NULL: none does. */
const region *region_of(simt_machine *m, const uint8_t *p, uint32_t bytes);

#endif
