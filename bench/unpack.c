/* SPDX-License-Identifier: Apache-2.0
 *
 * unpack.c - finds traces, and unpacks them.
 */
#include "bench/unpack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "workload/stream.h"

static char folder[4096], unpacked[4096 + 256]; /* "" while there are none */

void trace_forget(void)
{
    if (*unpacked) unlink(unpacked);
    if (*folder) rmdir(folder);
    *unpacked = *folder = 0;
}

static hd_status copy(hd_stream *from, hd_sink *to)
{
    for (;;) {
        const uint8_t *p;
        size_t n;
        hd_status e = hd_stream_peek(from, 1, &p, &n);
        if (e || !n) return e;
        e = hd_sink_write(to, p, n);
        if (e) return e;
        hd_stream_skip(from, n);
    }
}

static hd_status unpack(const char *packed, const char *name)
{
    trace_forget(); /* one at a time */
    const char *in = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/heddle-bench-XXXXXX", in && *in ? in : "/tmp");
    if (!mkdtemp(folder)) {
        *folder = 0;
        return hd_fail(HD_EIO, "a temporary folder in %s: %s", in && *in ? in : "/tmp", strerror(errno));
    }
    snprintf(unpacked, sizeof unpacked, "%s/%.200s", folder, name);
    hd_stream *from = NULL;
    hd_sink *to = NULL;
    hd_status e = hd_stream_open(&hd_seams_os, packed, &from);
    if (!e) e = hd_sink_open(&hd_seams_os, unpacked, &to);
    if (!e) e = copy(from, to);
    if (to) {
        hd_status closed = hd_sink_close(to, e == HD_OK);
        if (!e) e = closed;
    }
    if (from) hd_stream_close(from);
    return e;
}

hd_status trace_locate(const char *file, const char *data, char *path, size_t bytes)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    snprintf(path, bytes, "%s", file);
    if (access(path, R_OK) == 0 || !data) {
        if (access(path, R_OK) != 0) *path = 0;
        return HD_OK;
    }
    snprintf(path, bytes, "%s/%s", data, file);
    if (access(path, R_OK) == 0) return HD_OK;
    if (*unpacked && strcmp(strrchr(unpacked, '/') + 1, name) == 0) {
        snprintf(path, bytes, "%s", unpacked);
        return HD_OK;
    }
    snprintf(path, bytes, "%s/%s.zst", data, file);
    bool packed = access(path, R_OK) == 0;
    hd_status e = packed ? unpack(path, name) : HD_OK;
    snprintf(path, bytes, "%s", packed ? unpacked : "");
    return e;
}
