/* SPDX-License-Identifier: Apache-2.0
 *
 * faulty.c - see faulty.h.
 */
#include "tests/faulty.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IN_MEMORY = 1 << 20 }; /* a descriptor that is none of the system's */

#define OS hd_seams_os.file

/* True when this call is to fail; errno is set. */
static bool fails(faulty *f, const char *call)
{
    f->calls++;
    if (f->calls != f->at || (f->kind != FAULT_EIO && f->kind != FAULT_ENOSPC)) return false;
    f->failed = call;
    errno = f->kind == FAULT_EIO ? EIO : ENOSPC;
    return true;
}

/* A read or write may be interrupted, every other time, or be shorter than asked. */
static bool interrupted(faulty *f)
{
    if (f->kind != FAULT_INTERRUPTED || f->calls < f->at || test_random(&f->random) % 2) return false;
    errno = EINTR;
    return true;
}

static size_t shortened(faulty *f, size_t bytes)
{
    if (f->kind != FAULT_SHORT || f->calls < f->at || bytes < 2) return bytes;
    return 1 + (size_t)test_below(&f->random, bytes < 70000 ? bytes : 70000);
}

static int faulty_open(void *self, const char *path, int flags, int mode)
{
    faulty *f = (faulty *)self;
    if (fails(f, "open")) return -1;
    f->position = 0;
    int fd = f->bytes ? IN_MEMORY : OS.open(OS.self, path, flags, mode);
    f->open += fd >= 0;
    return fd;
}

static ptrdiff_t faulty_read(void *self, int fd, void *p, size_t bytes)
{
    faulty *f = (faulty *)self;
    if (fails(f, "read") || interrupted(f)) return -1;
    bytes = shortened(f, bytes);
    if (fd != IN_MEMORY) return OS.read(OS.self, fd, p, bytes);
    if (bytes > f->n - f->position) bytes = f->n - f->position;
    if (bytes) memcpy(p, (const char *)f->bytes + f->position, bytes);
    f->position += bytes;
    return (ptrdiff_t)bytes;
}

static ptrdiff_t faulty_write(void *self, int fd, const void *p, size_t bytes)
{
    faulty *f = (faulty *)self;
    if (fails(f, "write") || interrupted(f)) return -1;
    return OS.write(OS.self, fd, p, shortened(f, bytes));
}

static ptrdiff_t faulty_read_at(void *self, int fd, void *p, size_t bytes, uint64_t offset)
{
    faulty *f = (faulty *)self;
    if (fails(f, "read_at") || interrupted(f)) return -1;
    return OS.read_at(OS.self, fd, p, shortened(f, bytes), offset);
}
static ptrdiff_t faulty_write_at(void *self, int fd, const void *p, size_t bytes, uint64_t offset)
{
    faulty *f = (faulty *)self;
    if (fails(f, "write_at") || interrupted(f)) return -1;
    return OS.write_at(OS.self, fd, p, shortened(f, bytes), offset);
}

static int faulty_size(void *self, int fd, uint64_t *bytes)
{
    faulty *f = (faulty *)self;
    if (fails(f, "size")) return -1;
    if (fd != IN_MEMORY) return OS.size(OS.self, fd, bytes);
    *bytes = f->n;
    return 0;
}

static int faulty_seek(void *self, int fd, uint64_t offset)
{
    faulty *f = (faulty *)self;
    if (fd == IN_MEMORY) f->position = (size_t)offset;
    return fails(f, "seek") ? -1 : fd == IN_MEMORY ? 0 : OS.seek(OS.self, fd, offset);
}
static int faulty_sync(void *self, int fd) { return fails((faulty *)self, "sync") ? -1 : OS.sync(OS.self, fd); }
static int faulty_sync_data(void *self, int fd)
{
    return fails((faulty *)self, "sync_data") ? -1 : OS.sync_data(OS.self, fd);
}
static int faulty_lock(void *self, int fd) { return fails((faulty *)self, "lock") ? -1 : OS.lock(OS.self, fd); }

/* As on Linux: a close that fails has closed. */
static int faulty_close(void *self, int fd)
{
    faulty *f = (faulty *)self;
    f->open--;
    int closed = fd == IN_MEMORY ? 0 : OS.close(OS.self, fd);
    return fails(f, "close") ? -1 : closed;
}

static int faulty_rename(void *self, const char *from, const char *to)
{
    return fails((faulty *)self, "rename") ? -1 : OS.rename(OS.self, from, to);
}
static int faulty_sync_folder(void *self, const char *path)
{
    return fails((faulty *)self, "sync_folder") ? -1 : OS.sync_folder(OS.self, path);
}
/* it cannot fail */
static bool faulty_special(void *self, const char *path) { return (void)self, OS.special(OS.self, path); }
static int faulty_unlink(void *self, const char *path)
{
    return fails((faulty *)self, "unlink") ? -1 : OS.unlink(OS.self, path);
}

void faulty_init(faulty *f, fault_kind kind, uint64_t at)
{
    memset(f, 0, sizeof *f);
    counting_init(&f->memory);
    f->kind = kind;
    f->at = at;
    f->memory.seams.file = (hd_file_seam){
        .open = faulty_open,
        .read = faulty_read,
        .write = faulty_write,
        .size = faulty_size,
        .seek = faulty_seek,
        .sync = faulty_sync,
        .close = faulty_close,
        .rename = faulty_rename,
        .unlink = faulty_unlink,
        .sync_folder = faulty_sync_folder,
        .special = faulty_special,
        .read_at = faulty_read_at,
        .write_at = faulty_write_at,
        .sync_data = faulty_sync_data,
        .lock = faulty_lock,
        .self = f,
    };
}

void faulty_settled(const faulty *f)
{
    check(f->memory.live_bytes == 0, "%llu bytes were not given back", (ull)f->memory.live_bytes);
    check(f->open == 0, "%d descriptors are open", f->open);
}

/* ---- Files of the test's folder -------------------------------------------------------------- */

const char *test_path(const char *name)
{
    static char path[4][4096];
    static unsigned turn;
    char *p = path[turn++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", test_folder(), name);
    return p;
}

void test_write(const char *path, const void *p, size_t n)
{
    FILE *to = fopen(path, "wb");
    check(to && fwrite(p, 1, n, to) == n && fclose(to) == 0, "%s: %s", path, strerror(errno));
}

uint8_t *test_read(const char *path, size_t *n)
{
    FILE *from = fopen(path, "rb");
    if (!from) return NULL;
    uint8_t *p = NULL;
    size_t room = 0;
    *n = 0;
    for (size_t got = 1; got; *n += got) {
        if (*n == room) p = (uint8_t *)realloc(p, room = room ? 2 * room : 65536);
        check(p, "no memory for %zu bytes", room);
        got = fread(p + *n, 1, room - *n, from);
    }
    fclose(from);
    return p;
}

void test_same_files(const char *a, const char *b)
{
    size_t an = 0, bn = 0, at = 0;
    uint8_t *ap = test_read(a, &an), *bp = test_read(b, &bn);
    check(ap && bp, "%s is missing", ap ? b : a);
    while (at < an && at < bn && ap[at] == bp[at]) at++;
    check(an == bn && at == an, "%s (%zu bytes) and %s (%zu bytes) differ at byte %zu", a, an, b, bn, at);
    free(ap);
    free(bp);
}

unsigned test_files(void)
{
    unsigned n = 0;
    DIR *d = opendir(test_folder());
    check(d, "%s: %s", test_folder(), strerror(errno));
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}
