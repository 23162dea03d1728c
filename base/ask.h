/* SPDX-License-Identifier: Apache-2.0
 *
 * ask.h - asking a device: a call of its seam, as a status that names the call, what it was for, the device's error and
 * the place.
 */
#ifndef HD_ASK_H
#define HD_ASK_H

#include <string.h>

#include "base/error.h"
#include "base/seam.h"

static inline hd_status hd_told(const hd_device_seam *seam, int code, const char *call, const char *what,
                                const char *file, int line)
{
    if (code == 0) return HD_OK;
    const char *name = strrchr(file, '/');
    return hd_fail(HD_ECUDA, "%s: %s failed: %s (%s:%d)", what, call, seam->error(seam->self, code),
                   name ? name + 1 : file,
                   line); /* GCOVR_EXCL_BR_LINE: where a build is, names of files have a folder or have none */
}

#define HD_TOLD(seam, code, call, what) hd_told((seam), (code), (call), (what), __FILE__, __LINE__)
#define HD_ASK(seam, what, call, ...)   HD_TOLD((seam), (seam)->call((seam)->self, __VA_ARGS__), #call, (what))

#endif
