/* SPDX-License-Identifier: Apache-2.0
 *
 * mem_files.c - POSIX calls over an array of files.
 */
#include "judge/mem_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define OS hd_seams_os.file

enum { FD_BASE = 1000 }; /* above all descriptors of the operating system, so that a mix-up is found */

static int failed(int why) { return errno = why, -1; }

/* Whether this call fails; errno is set. *shortly: it is to move one byte. */
static bool faulty(judge_shelf *s, bool *shortly)
{
    s->calls++;
    bool now = s->fail_at && (s->calls == s->fail_at || (s->fail_after && s->calls > s->fail_at));
    if (shortly) *shortly = now && s->fail_with == SHELF_SHORT;
    if (!now || s->fail_with == SHELF_SHORT) return false;
    errno = s->fail_with;
    return true;
}

judge_shelf_file *judge_shelf_find(judge_shelf *s, const char *name)
{
    for (int i = 0; i < SHELF_FILES; i++)
        if (s->file[i].there && strcmp(s->file[i].name, name) == 0) return &s->file[i];
    return NULL;
}

/* The number in s->descriptor, or -1 and EBADF. */
static int descriptor_of(judge_shelf *s, int fd)
{
    int d = fd - FD_BASE;
    return d >= 0 && d < SHELF_DESCRIPTORS && s->descriptor[d].file ? d : failed(EBADF);
}

static void let_go(judge_shelf_file *f)
{
    if (f->there || f->open) return;
    free(f->bytes);
    memset(f, 0, sizeof *f);
}

static void take_name(judge_shelf_file *f)
{
    f->there = false;
    let_go(f);
}

static judge_shelf_file *create(judge_shelf *s, const char *name)
{
    for (int i = 0; i < SHELF_FILES; i++) {
        judge_shelf_file *f = &s->file[i];
        if (f->there || f->open) continue;
        memcpy(f->name, name, strlen(name) + 1);
        f->there = true;
        return f;
    }
    return NULL;
}

static bool is_outside(const judge_shelf *s, const char *path) { return s->outside && strcmp(s->outside, path) == 0; }

/* A descriptor of that file. */
static bool is_os(const void *self, int fd) { return ((const judge_shelf *)self)->outside && fd >= 0 && fd < FD_BASE; }

static int shelf_open(void *self, const char *path, int flags, int mode)
{
    judge_shelf *s = (judge_shelf *)self;
    int d = 0;
    if (faulty(s, NULL)) return -1;
    if (is_outside(s, path)) return OS.open(OS.self, path, flags, mode);
    if (strlen(path) >= SHELF_NAME) return failed(ENAMETOOLONG);
    judge_shelf_file *f = judge_shelf_find(s, path);
    if (f && (flags & O_CREAT) && (flags & O_EXCL)) return failed(EEXIST);
    if (!f && !(flags & O_CREAT)) return failed(ENOENT);
    while (d < SHELF_DESCRIPTORS && s->descriptor[d].file) d++;
    if (d == SHELF_DESCRIPTORS) return failed(EMFILE);
    if (!f && !(f = create(s, path))) return failed(ENFILE);
    if (flags & O_TRUNC) f->size = 0;
    f->open++;
    s->descriptor[d].file = f;
    s->descriptor[d].at = 0;
    return FD_BASE + d;
}

/* The descriptor's place, where a transfer can begin; NULL: it fails, and errno says why. Faults may make it short. */
static shelf_place *transfer(judge_shelf *s, int fd, size_t *bytes)
{
    bool shortly;
    if (faulty(s, &shortly)) return NULL;
    int d = descriptor_of(s, fd);
    if (shortly && *bytes > 1) *bytes = 1;
    return d < 0 ? NULL : &s->descriptor[d];
}

static ptrdiff_t shelf_read_at(void *self, int fd, void *p, size_t bytes, uint64_t offset)
{
    if (is_os(self, fd)) return OS.read_at(OS.self, fd, p, bytes, offset);
    const shelf_place *d = transfer((judge_shelf *)self, fd, &bytes);
    if (!d) return -1;
    size_t left = offset < d->file->size ? d->file->size - (size_t)offset : 0;
    if (bytes > left) bytes = left;
    if (bytes) memcpy(p, d->file->bytes + offset, bytes);
    return (ptrdiff_t)bytes;
}

static ptrdiff_t shelf_write_at(void *self, int fd, const void *p, size_t bytes, uint64_t offset)
{
    if (is_os(self, fd)) return OS.write_at(OS.self, fd, p, bytes, offset);
    const shelf_place *d = transfer((judge_shelf *)self, fd, &bytes);
    if (!d) return -1;
    judge_shelf_file *f = d->file;
    size_t end = (size_t)offset + bytes;
    if (end > f->room) {
        uint8_t *wide = (uint8_t *)realloc(f->bytes, 2 * end);
        if (!wide) return failed(ENOSPC);
        f->bytes = wide;
        f->room = 2 * end;
    }
    if (offset > f->size) memset(f->bytes + f->size, 0, (size_t)offset - f->size);
    if (bytes) memcpy(f->bytes + offset, p, bytes);
    if (end > f->size) f->size = end;
    return (ptrdiff_t)bytes;
}

static size_t place_of(judge_shelf *s, int fd)
{
    int d = fd - FD_BASE;
    return d >= 0 && d < SHELF_DESCRIPTORS ? s->descriptor[d].at : 0;
}

static ptrdiff_t moved_on(judge_shelf *s, int fd, ptrdiff_t n)
{
    if (n > 0) s->descriptor[fd - FD_BASE].at += (size_t)n;
    return n;
}

static ptrdiff_t shelf_read(void *self, int fd, void *p, size_t bytes)
{
    judge_shelf *s = (judge_shelf *)self;
    return moved_on(s, fd, shelf_read_at(self, fd, p, bytes, place_of(s, fd)));
}

static ptrdiff_t shelf_write(void *self, int fd, const void *p, size_t bytes)
{
    judge_shelf *s = (judge_shelf *)self;
    return moved_on(s, fd, shelf_write_at(self, fd, p, bytes, place_of(s, fd)));
}

static int shelf_size(void *self, int fd, uint64_t *bytes)
{
    judge_shelf *s = (judge_shelf *)self;
    if (is_os(self, fd)) return OS.size(OS.self, fd, bytes);
    if (faulty(s, NULL)) return -1;
    int d = descriptor_of(s, fd);
    if (d < 0) return -1;
    *bytes = s->descriptor[d].file->size;
    return 0;
}

static int shelf_seek(void *self, int fd, uint64_t offset)
{
    judge_shelf *s = (judge_shelf *)self;
    if (faulty(s, NULL)) return -1;
    int d = descriptor_of(s, fd);
    if (d < 0) return -1;
    s->descriptor[d].at = (size_t)offset;
    return 0;
}

static int shelf_sync(void *self, int fd)
{
    judge_shelf *s = (judge_shelf *)self;
    if (is_os(self, fd)) return OS.sync_data(OS.self, fd);
    if (faulty(s, NULL)) return -1;
    return descriptor_of(s, fd) < 0 ? -1 : 0;
}

/* As on Linux, the descriptor is gone even when close fails. */
static int shelf_close(void *self, int fd)
{
    judge_shelf *s = (judge_shelf *)self;
    if (is_os(self, fd)) return OS.close(OS.self, fd);
    bool fails = faulty(s, NULL);
    int why = errno, d = descriptor_of(s, fd);
    if (d < 0) return -1;
    judge_shelf_file *f = s->descriptor[d].file;
    s->descriptor[d].file = NULL;
    f->open--;
    let_go(f);
    return fails ? failed(why) : 0;
}

static int shelf_rename(void *self, const char *from, const char *to)
{
    judge_shelf *s = (judge_shelf *)self;
    judge_shelf_file *f = judge_shelf_find(s, from), *old = judge_shelf_find(s, to);
    if (faulty(s, NULL)) return -1;
    if (!f) return failed(ENOENT);
    if (strlen(to) >= SHELF_NAME) return failed(ENAMETOOLONG);
    if (old == f) return 0;
    if (old) take_name(old);
    memcpy(f->name, to, strlen(to) + 1);
    return 0;
}

static int shelf_unlink(void *self, const char *path)
{
    judge_shelf *s = (judge_shelf *)self;
    judge_shelf_file *f = judge_shelf_find(s, path);
    if (is_outside(s, path)) return OS.unlink(OS.self, path);
    if (faulty(s, NULL)) return -1;
    if (!f) return failed(ENOENT);
    take_name(f);
    return 0;
}

static int shelf_sync_folder(void *self, const char *path)
{
    judge_shelf *s = (judge_shelf *)self;
    if (is_outside(s, path)) return OS.sync_folder(OS.self, path);
    return faulty(s, NULL) ? -1 : 0;
}

/* Who opens a file locks it here, so another descriptor has the lock. */
static int shelf_lock(void *self, int fd)
{
    judge_shelf *s = (judge_shelf *)self;
    if (is_os(self, fd)) return OS.lock(OS.self, fd);
    if (faulty(s, NULL)) return -1;
    int d = descriptor_of(s, fd);
    if (d < 0) return -1;
    return s->descriptor[d].file->open > 1 ? failed(EWOULDBLOCK) : 0;
}

/* Files of the shelf cannot be mapped. */
static void *shelf_map(void *self, void *at, size_t bytes, int fd, uint64_t offset)
{
    if (fd < 0 || is_os(self, fd)) return OS.map(OS.self, at, bytes, fd, offset);
    errno = ENODEV;
    return NULL;
}

static void shelf_unmap(void *self, void *p, size_t bytes) { (void)self, OS.unmap(OS.self, p, bytes); }

static bool shelf_special(void *self, const char *path) { return (void)self, (void)path, false; }

void judge_shelf_open(judge_shelf *s)
{
    memset(s, 0, sizeof *s);
    s->seams = hd_seams_os;
    s->seams.file = (hd_file_seam){ shelf_open,    shelf_read,    shelf_write,    shelf_size,   shelf_seek,
                                    shelf_sync,    shelf_close,   shelf_rename,   shelf_unlink, shelf_sync_folder,
                                    shelf_special, shelf_read_at, shelf_write_at, shelf_sync,   2048,
                                    shelf_lock,    shelf_map,     shelf_unmap,    .self = s };
}

void judge_shelf_close(judge_shelf *s)
{
    for (int i = 0; i < SHELF_FILES; i++) free(s->file[i].bytes);
    memset(s, 0, sizeof *s);
}

uint64_t judge_shelf_files(const judge_shelf *s)
{
    uint64_t n = 0;
    for (int i = 0; i < SHELF_FILES; i++) n += s->file[i].there;
    return n;
}

uint64_t judge_shelf_descriptors(const judge_shelf *s)
{
    uint64_t n = 0;
    for (int d = 0; d < SHELF_DESCRIPTORS; d++) n += s->descriptor[d].file != NULL;
    return n;
}
