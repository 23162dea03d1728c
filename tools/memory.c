/* SPDX-License-Identifier: Apache-2.0
 *
 * memory.c - see memory.h.
 */
#include "tools/memory.h"

#include <stdlib.h>

#include "base/ask.h"

static hd_status refused(const char *what, size_t bytes)
{
    return hd_fail(HD_ENOMEM, "%s: %zu bytes of memory were refused", what, bytes);
}

hd_status memory_take_near(const hd_device_seam *device, const char *what, size_t bytes, void **p)
{
    *p = NULL;
    if (!device) return (*p = malloc(bytes)) ? HD_OK : refused(what, bytes);
    int code = device->take_pinned(device->self, p, bytes);
    return code == HD_DEVICE_NO_MEMORY ? refused(what, bytes) : HD_TOLD(device, code, "take_pinned", what);
}

void memory_give_near(const hd_device_seam *device, void *p, size_t bytes)
{
    if (!device)
        free(p);
    else if (p)
        device->give_pinned(device->self, p, bytes);
}

hd_status memory_take_far(const hd_device_seam *device, const char *what, size_t bytes, void **p)
{
    *p = NULL;
    int code = device->take(device->self, p, bytes);
    return code == HD_DEVICE_NO_MEMORY ? refused(what, bytes) : HD_TOLD(device, code, "take", what);
}

void memory_give_far(const hd_device_seam *device, void *p)
{
    if (p) device->give(device->self, p);
}
