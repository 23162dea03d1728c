/* SPDX-License-Identifier: Apache-2.0
 *
 * memory.h - arrays that a part of the command fills here or on a device.
 *
 * HD_ENOMEM names `what` if memory is refused; HD_ECUDA the call if a device fails. *p is NULL then.
 */
#ifndef HD_TOOL_MEMORY_H
#define HD_TOOL_MEMORY_H

#include "base/seam.h"

/* Of this machine; if there is a device (not NULL), pinned. */
hd_status memory_take_near(const hd_device_seam *device, const char *what, size_t bytes, void **p);
void memory_give_near(const hd_device_seam *device, void *p, size_t bytes); /* p may be NULL */

/* Of the device. */
hd_status memory_take_far(const hd_device_seam *device, const char *what, size_t bytes, void **p);
void memory_give_far(const hd_device_seam *device, void *p); /* p may be NULL */

#endif
