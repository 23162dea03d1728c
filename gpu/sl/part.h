/* SPDX-License-Identifier: Apache-2.0
 *
 * part.h - parts of a table on a device, for walks and snapshots, and hd_check there.
 */
#ifndef HD_SL_PART_H
#define HD_SL_PART_H

#include "base/backend.h"

extern const hd_gpu_parts sl_parts;

/* hd_gpu.check */
hd_status sl_check_there(void *state, const hd_gpu_machine *m);

#endif
