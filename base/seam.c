/* SPDX-License-Identifier: Apache-2.0
 *
 * seam.c - the operating system's side of the seams, and the loops that everything over them shares.
 */
#include "base/seam.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/lines.h"

/* ---- The operating system -------------------------------------------------------------------- */

static void *os_take(void *self, size_t bytes, size_t align)
{
    (void)self;
    enum { HUGE_PAGE = 2 << 20 };
    bool large = bytes >= 8u * HUGE_PAGE;
    void *p = NULL;
    if (posix_memalign(&p, large ? HUGE_PAGE : align, bytes)) return NULL;
    if (large) madvise(p, bytes, MADV_HUGEPAGE); /* a random access is a TLB miss else; advice may fail */
    return p;
}

static void os_give(void *self, void *p, size_t bytes)
{
    (void)self, (void)bytes;
    free(p);
}

static int os_open(void *self, const char *path, int flags, int mode)
{
    return (void)self, open(path, flags | O_CLOEXEC, mode);
}
static ptrdiff_t os_read(void *self, int fd, void *p, size_t bytes) { return (void)self, read(fd, p, bytes); }

/* What is large goes to the disk while it is written, and not only when it is synced. Nothing to report: what cannot go
 * yet, as into a pipe, stays for the sync. */
enum { LARGE = 1 << 20, LARGEST = 8 << 20 /* at a time */ };
static void begin_write_out(int fd, off_t offset, off_t bytes)
{
#ifdef SYNC_FILE_RANGE_WRITE
    sync_file_range(fd, offset, bytes, SYNC_FILE_RANGE_WRITE);
#else
    (void)fd, (void)offset, (void)bytes;
#endif
}

static ptrdiff_t os_write(void *self, int fd, const void *p, size_t bytes)
{
    const off_t all = 0;
    (void)self;
    ptrdiff_t n = write(fd, p, bytes);
    if (n >= LARGE) begin_write_out(fd, 0, all);
    return n;
}

static int os_seek(void *self, int fd, uint64_t offset)
{
    return (void)self, lseek(fd, (off_t)offset, SEEK_SET) < 0 ? -1 : 0;
}
static int os_sync(void *self, int fd) { return (void)self, fsync(fd); }
static int os_close(void *self, int fd) { return (void)self, close(fd); }
static int os_rename(void *self, const char *from, const char *to) { return (void)self, rename(from, to); }
static int os_unlink(void *self, const char *path) { return (void)self, unlink(path); }

/* A pipe or a device has no size: 0. A folder cannot be read: EISDIR. */
static int os_size(void *self, int fd, uint64_t *bytes)
{
    (void)self;
    struct stat st;
    if (fstat(fd, &st)) return -1;
    if (S_ISDIR(st.st_mode)) return errno = EISDIR, -1;
    *bytes = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    return 0;
}

static int os_sync_folder(void *self, const char *path)
{
    (void)self;
    char folder[4096];
    const char *slash = strrchr(path, '/');
    int n = slash ? snprintf(folder, sizeof folder, "%.*s/", (int)(slash - path), path)
                  : snprintf(folder, sizeof folder, ".");
    if (n < 0 || (size_t)n >= sizeof folder) return errno = ENAMETOOLONG, -1;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return -1;
    int failed = fsync(fd), why = errno;
    close(fd);
    /* EINVAL: this file system cannot, and need not */
    if (failed && why != EINVAL) return errno = why, -1; /* a disk that fails: GCOVR_EXCL_LINE */
    return 0;
}

/* A folder is none: a rename to it fails. A name for an open file is, wherever that leads: a rename would replace the
 * name. */
static bool os_special(void *self, const char *path)
{
    (void)self;
    struct stat st;
    if (strncmp(path, "/dev/std", 8) == 0 || strncmp(path, "/dev/fd/", 8) == 0 ||
        strncmp(path, "/proc/self/fd/", 14) == 0)
        return true;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static ptrdiff_t os_read_at(void *self, int fd, void *p, size_t bytes, uint64_t offset)
{
    return (void)self, pread(fd, p, bytes, (off_t)offset);
}
static ptrdiff_t os_write_at(void *self, int fd, const void *p, size_t bytes, uint64_t offset)
{
    (void)self;
    ptrdiff_t n = pwrite(fd, p, bytes < LARGEST ? bytes : LARGEST, (off_t)offset);
    if (n >= LARGE) begin_write_out(fd, (off_t)offset, (off_t)n);
    return n;
}
static int os_sync_data(void *self, int fd) { return (void)self, fdatasync(fd); }
static int os_lock(void *self, int fd) { return (void)self, flock(fd, LOCK_EX | LOCK_NB); }

static void *os_map(void *self, void *at, size_t bytes, int fd, uint64_t offset)
{
    (void)self;
    int flags = (at ? MAP_FIXED : 0) | (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED);
    void *p = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, fd, (off_t)offset);
    if (p == MAP_FAILED) return NULL;
    (void)madvise(p, bytes, MADV_HUGEPAGE); /* advice: small pages will do */
    return p;
}

static void os_unmap(void *self, void *p, size_t bytes)
{
    (void)self;
    munmap(p, bytes);
}

static bool os_in_memory(void *self, int fd)
{
    struct statfs s;
    (void)self;
    return fstatfs(fd, &s) == 0 && (s.f_type == TMPFS_MAGIC || s.f_type == HUGETLBFS_MAGIC || s.f_type == RAMFS_MAGIC);
}

/* MAP_SYNC is refused where the file system could still lose the place of a page. */
static void *os_map_lines(void *self, size_t bytes, int fd)
{
    (void)self;
    if (!hd_lines_can()) return errno = EOPNOTSUPP, NULL; /* an old processor: GCOVR_EXCL_LINE */
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void os_write_back(void *self, const void *p, size_t bytes) { (void)self, hd_lines_write_back(p, bytes); }
static void os_fence(void *self) { (void)self, hd_lines_fence(); }

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t = { 0, 0 }; /* what a clock says that is none */
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t os_now_ns(void *self) { return (void)self, clock_ns(CLOCK_MONOTONIC); }
static uint64_t os_unix_ns(void *self) { return (void)self, clock_ns(CLOCK_REALTIME); }

const hd_seams hd_seams_os = {
    { os_take, os_give, NULL },
    { os_open,   os_read,        os_write,     os_size,      os_seek,       os_sync,      os_close, os_rename,
      os_unlink, os_sync_folder, os_special,   os_read_at,   os_write_at,   os_sync_data, 4 << 20,  os_lock,
      os_map,    os_unmap,       os_in_memory, os_map_lines, os_write_back, os_fence,     NULL },
    { os_now_ns, os_unix_ns, NULL },
    NULL,
    { .context = NULL },
    { NULL, NULL, NULL },
};

/* ---- Over any seams -------------------------------------------------------------------------- */

hd_status hd_file_read_at_most(const hd_seams *s, int fd, const char *path, void *p, size_t bytes, size_t *got)
{
    for (*got = 0; *got < bytes;) {
        ptrdiff_t n = s->file.read(s->file.self, fd, (char *)p + *got, bytes - *got);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return hd_fail(HD_EIO, "%s: cannot read: %s", path, strerror(errno));
        if (n == 0) break;
        HD_ASSERT((size_t)n <= bytes - *got, "a read gives more than was asked for");
        *got += (size_t)n;
    }
    return HD_OK;
}

hd_status hd_file_write_all(const hd_seams *s, int fd, const char *path, const void *p, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ptrdiff_t n = s->file.write(s->file.self, fd, (const char *)p + done, bytes - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return hd_fail(HD_EIO, "%s: cannot write: %s", path, n < 0 ? strerror(errno) : "no progress");
        HD_ASSERT((size_t)n <= bytes - done, "a write takes more than there is");
        done += (size_t)n;
    }
    return HD_OK;
}

hd_status hd_file_read_all_at(const hd_seams *s, int fd, const char *path, uint64_t offset, void *p, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ptrdiff_t n = s->file.read_at(s->file.self, fd, (char *)p + done, bytes - done, offset + done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return hd_fail(HD_EIO, "%s: cannot read: %s", path, strerror(errno));
        if (n == 0) return hd_fail(HD_ECORRUPT, "%s: cut short at byte %" PRIu64, path, offset + done);
        HD_ASSERT((size_t)n <= bytes - done, "a read gives more than was asked for");
        done += (size_t)n;
    }
    return HD_OK;
}

hd_status hd_file_write_all_at(const hd_seams *s, int fd, const char *path, uint64_t offset, const void *p,
                               size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ptrdiff_t n = s->file.write_at(s->file.self, fd, (const char *)p + done, bytes - done, offset + done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return hd_fail(HD_EIO, "%s: cannot write: %s", path, n < 0 ? strerror(errno) : "no progress");
        HD_ASSERT((size_t)n <= bytes - done, "a write takes more than there is");
        done += (size_t)n;
    }
    return HD_OK;
}

hd_status hd_take(const hd_seams *s, const char *what, uint64_t count, uint64_t size, void **p)
{
    *p = NULL;
    if (count == 0 || size == 0) return HD_OK;
    if (count > (uint64_t)PTRDIFF_MAX / size)
        return hd_fail(HD_ENOMEM, "%s: %" PRIu64 " x %" PRIu64 " bytes is more than can be addressed", what, count,
                       size);
    *p = s->memory.take(s->memory.self, (size_t)(count * size), 128);
    return *p ? HD_OK : hd_fail(HD_ENOMEM, "%s: no memory for %" PRIu64 " bytes", what, count * size);
}

void hd_give(const hd_seams *s, void *p, uint64_t count, uint64_t size)
{
    HD_ASSERT(!p || (count && size), "no bytes have an address");
    if (p) s->memory.give(s->memory.self, p, (size_t)(count * size));
}
