/* SPDX-License-Identifier: Apache-2.0
 *
 * atomic_file.c - see atomic_file.h.
 */
#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

/* A new file beside the path. A name that a killed process left behind is passed over. */
static hd_status open_beside(hd_whole *w)
{
    enum { TRIES = 100 };
    static _Atomic uint32_t number; /* two files for one path at the same time must not share a part */
    const hd_file_seam *file = &w->seams->file;
    for (int tries = 0; tries < TRIES; tries++) {
        int n = snprintf(w->beside, sizeof w->beside, "%s.%ld-%" PRIu32 ".part", w->path, (long)getpid(),
                         atomic_fetch_add(&number, 1));
        if (n < 0 || (size_t)n >= sizeof w->beside)
            return hd_fail(HD_EINVAL, "path: longer than %zu bytes", sizeof w->beside - 40);
        w->fd = file->open(file->self, w->beside, O_WRONLY | O_CREAT | O_EXCL, 0666);
        w->present = w->fd >= 0;
        if (w->present) return HD_OK;
        if (errno != EEXIST) break;
    }
    return hd_fail(HD_EIO, "%s: cannot be created: %s", w->beside, strerror(errno));
}

hd_status hd_whole_open(hd_whole *w, const hd_seams *s, const char *path)
{
    memset(w, 0, sizeof *w);
    w->seams = s;
    w->fd = -1;
    size_t n = strlen(path);
    if (n == 0) return hd_fail(HD_EIO, "path: it is empty");
    if (n >= sizeof w->path) return hd_fail(HD_EINVAL, "path: longer than %zu bytes", sizeof w->path - 40);
    memcpy(w->path, path, n + 1);
    w->direct = s->file.special(s->file.self, path);
    if (!w->direct) return open_beside(w);
    w->fd = s->file.open(s->file.self, path, O_WRONLY, 0);
    return w->fd < 0 ? hd_fail(HD_EIO, "%s: cannot be opened: %s", path, strerror(errno)) : HD_OK;
}

static hd_status close_it(hd_whole *w)
{
    int fd = w->fd;
    HD_ASSERT(fd >= 0, "a file is closed twice");
    w->fd = -1; /* also after a close that fails */
    return w->seams->file.close(w->seams->file.self, fd)
               ? hd_fail(HD_EIO, "%s: cannot be closed: %s", w->path, strerror(errno))
               : HD_OK;
}

static hd_status put_in_place(hd_whole *w)
{
    const hd_file_seam *file = &w->seams->file;
    if (!w->direct && file->sync(file->self, w->fd))
        return hd_fail(HD_EIO, "%s: cannot be synced: %s", w->path, strerror(errno));
    hd_status status = close_it(w);
    if (status || w->direct) return status;
    HD_ASSERT(w->present, "a file is renamed that is not there");
    if (file->rename(file->self, w->beside, w->path))
        return hd_fail(HD_EIO, "%s: cannot be renamed: %s", w->path, strerror(errno));
    w->present = false;
    if (file->sync_folder(file->self, w->path))
        return hd_fail(HD_EIO, "%s: written, but its folder cannot be synced: %s", w->path, strerror(errno));
    return HD_OK;
}

hd_status hd_whole_keep(hd_whole *w)
{
    hd_status status = put_in_place(w);
    if (status) hd_whole_drop(w);
    return status;
}

void hd_whole_drop(hd_whole *w)
{
    const hd_file_seam *file = &w->seams->file;
    if (w->fd >= 0) file->close(file->self, w->fd);
    if (w->present) file->unlink(file->self, w->beside);
    w->fd = -1;
    w->present = false;
}
