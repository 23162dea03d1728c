/* SPDX-License-Identifier: Apache-2.0
 *
 * device_none.c - the device of a build without CUDA: it is never found, and so nothing else is ever asked of it.
 */
#include "base/seam.h"

static int none_find(void *self, hd_device *device)
{
    (void)self, (void)device;
    return 1;
}

static const char *none_error(void *self, int code)
{
    (void)self, (void)code;
    return "this build has none (configure found no CUDA compiler)";
}

const hd_device_seam hd_device_os = { .find = none_find, .error = none_error };
