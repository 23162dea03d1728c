/* SPDX-License-Identifier: Apache-2.0
 *
 * mapped.c - see mapped.h.
 */
#include "lib/mapped.h"

#include <errno.h>
#include <string.h>

#include "base/ask.h"
#include "base/error.h"

static void *take_pages(void *self, size_t bytes, size_t align)
{
    const hd_mapped *m = (const hd_mapped *)self;
    (void)align; /* at most a page */
    return m->file.map(m->file.self, NULL, bytes, -1, 0);
}

static void give_pages(void *self, void *p, size_t bytes)
{
    hd_mapped *m = (hd_mapped *)self;
    if (!p) return;
    for (int e = 0; e < HD_IMAGE_EXTENTS; e++)
        if (m->at[e] == p) m->at[e] = NULL;
    m->file.unmap(m->file.self, p, bytes);
}

static void *take_pinned(void *self, size_t bytes, size_t align)
{
    hd_mapped *m = (hd_mapped *)self;
    void *p = take_pages(self, bytes, align);
    if (!p || m->device->pin(m->device->self, p, bytes) == 0) return p;
    m->file.unmap(m->file.self, p, bytes);
    return NULL;
}

static void give_pinned(void *self, void *p, size_t bytes)
{
    const hd_mapped *m = (const hd_mapped *)self;
    if (p) m->device->unpin(m->device->self, p);
    give_pages(self, p, bytes);
}

hd_status hd_mapped_begin(hd_mapped *m, const hd_file_seam *file)
{
    if (!file->map) return hd_fail(HD_EINVAL, "durable: these files cannot be mapped, as mode process needs");
    m->on = true;
    m->file = *file;
    return HD_OK;
}

hd_memory_seam hd_mapped_memory(hd_mapped *m) { return (hd_memory_seam){ take_pages, give_pages, m }; }

hd_memory_seam hd_mapped_pinned(hd_mapped *m) { return (hd_memory_seam){ take_pinned, give_pinned, m }; }

void hd_mapped_end(hd_mapped *m)
{
    if (m->live) m->file.unmap(m->file.self, m->live, HD_IMAGE_PAGE);
    m->live = NULL;
}

/* Pages of the file, in place of those at *p, or anywhere. */
static hd_status map(const hd_mapped *m, const hd_image *im, void **p, uint64_t bytes, uint64_t offset)
{
    void *at = m->file.map(m->file.self, *p, (size_t)bytes, im->fd, offset);
    if (!at) return hd_fail(HD_EIO, "%s: cannot be mapped: %s", im->path, strerror(errno));
    *p = at;
    return HD_OK;
}

/* The array at p, which is pinned, becomes pages of the file that are. */
static hd_status map_pinned(const hd_mapped *m, const hd_image *im, void **p, uint64_t bytes, uint64_t offset)
{
    if (m->file.in_memory && !m->file.in_memory(m->file.self, im->fd))
        return hd_fail(HD_EINVAL, "%s: durable: process on a device needs a file system in memory, such as /dev/shm",
                       im->path);
    int code = m->device->unpin(m->device->self, *p);
    hd_status status = HD_TOLD(m->device, code, "unpin", im->path);
    if (!status) status = map(m, im, p, bytes, offset);
    return status ? status : HD_ASK(m->device, im->path, pin, *p, (size_t)bytes);
}

/* What a kill leaves of the page is read only where its generation is the superblock's. */
static hd_status begin_live(hd_mapped *m, const hd_image *im)
{
    const hd_superblock *sb = &im->sb;
    void *page = m->live;
    hd_status status = page ? HD_OK : map(m, im, &page, HD_IMAGE_PAGE, sb->journal);
    if (status) return status;
    m->live = (hd_live *)page;
    memcpy(m->live->magic, HD_LIVE_MAGIC, sizeof m->live->magic);
    m->live->id = sb->id;
    hd_mapped_note(m, sb->batch, sb->shape.clock, sb->shape.epoch);
    __atomic_store_n(&m->live->generation, sb->generation, __ATOMIC_RELEASE);
    return HD_OK;
}

hd_status hd_mapped_become(hd_mapped *m, const hd_image *im, const hd_extent *all, int n)
{
    void *at[HD_IMAGE_EXTENTS] = { NULL };
    hd_status status = HD_OK;
    HD_ASSERT((uint32_t)n == im->sb.extents, "an extent of a mapped table has several arrays");
    for (int e = 0; e < n && !status; e++) {
        bool there = false;
        for (int old = 0; old < HD_IMAGE_EXTENTS; old++) there = there || m->at[old] == all[e].p;
        at[e] = all[e].p;
        if (there) continue;
        status = (m->device ? map_pinned : map)(m, im, &at[e], all[e].bytes, im->sb.extent[e].offset);
    }
    if (status) return status;
    memcpy(m->at, at, sizeof at);
    return begin_live(m, im);
}

/* The number of the batch comes last: a kill never leaves a clock that is before it. */
void hd_mapped_note(hd_mapped *m, uint64_t batch, uint64_t clock, uint64_t epoch)
{
    __atomic_store_n(&m->live->clock, clock, __ATOMIC_RELEASE);
    __atomic_store_n(&m->live->epoch, epoch, __ATOMIC_RELEASE);
    __atomic_store_n(&m->live->batch, batch, __ATOMIC_RELEASE);
}
