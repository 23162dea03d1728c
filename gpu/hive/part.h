/* SPDX-License-Identifier: Apache-2.0
 *
 * part.h - calls that concern the whole of a Hive table on a device, without a copy of it: its parts in host memory
 * (hd_gpu.parts), and hd_check.
 */
#ifndef HIVE_PART_H
#define HIVE_PART_H

#include "base/backend.h"

extern const hd_gpu_parts hive_parts;

hd_status hive_check_there(void *state, const hd_gpu_machine *m); /* hd_gpu.check */

#endif
