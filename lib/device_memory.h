/* SPDX-License-Identifier: Apache-2.0
 *
 * device_memory.h - memory of a device and pinned memory: from the caller's allocator, or else from the device's seam.
 * The results are those of the seam's functions of the same names.
 */
#ifndef HD_DEVICE_MEMORY_H
#define HD_DEVICE_MEMORY_H

#include "base/seam.h"

static inline int hd_device_take(const hd_seams *s, void **p, size_t bytes)
{
    const hd_allocator *a = &s->allocator;
    if (!a->device_take) return s->device->take(s->device->self, p, bytes);
    int code = a->device_take(a->context, p, bytes);
    return code || *p ? code : HD_DEVICE_NO_MEMORY;
}

static inline int hd_device_give(const hd_seams *s, void *p)
{
    const hd_allocator *a = &s->allocator;
    return a->device_take ? a->device_give(a->context, p) : s->device->give(s->device->self, p);
}

static inline int hd_device_take_pinned(const hd_seams *s, void **p, size_t bytes)
{
    const hd_allocator *a = &s->allocator;
    if (s->pinned.take) return (*p = s->pinned.take(s->pinned.self, bytes, 1)) ? 0 : HD_DEVICE_NO_MEMORY;
    if (!a->pinned_take) return s->device->take_pinned(s->device->self, p, bytes);
    int code = a->pinned_take(a->context, p, bytes);
    return code || *p ? code : HD_DEVICE_NO_MEMORY;
}

static inline int hd_device_give_pinned(const hd_seams *s, void *p, size_t bytes)
{
    const hd_allocator *a = &s->allocator;
    if (s->pinned.give) return s->pinned.give(s->pinned.self, p, bytes), 0;
    return a->pinned_take ? a->pinned_give(a->context, p, bytes) : s->device->give_pinned(s->device->self, p, bytes);
}

#endif
