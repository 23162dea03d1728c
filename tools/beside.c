/* SPDX-License-Identifier: Apache-2.0
 *
 * beside.c - see beside.h.
 */
#include "tools/beside.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef HD_PKGLIBEXECDIR
#define HD_PKGLIBEXECDIR "/usr/local/libexec/heddle"
#endif

bool beside_find(const char *name, char path[BESIDE_BYTES])
{
    static const char *const place[] = { "tools", "museum", "../tools", "../libexec/heddle" };
    char here[BESIDE_BYTES];
    ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);
    here[n > 0 ? n : 0] = 0;
    char *slash = strrchr(here, '/');
    for (size_t i = 0; slash && i < sizeof place / sizeof *place; i++) {
        int length = snprintf(path, BESIDE_BYTES, "%.*s/%s/%s", (int)(slash - here), here, place[i], name);
        if (length < BESIDE_BYTES && access(path, R_OK) == 0) return true;
    }
    snprintf(path, BESIDE_BYTES, "%s/%s", HD_PKGLIBEXECDIR, name);
    return access(path, R_OK) == 0;
}
