/* SPDX-License-Identifier: Apache-2.0
 *
 * input.c - see input.h.
 */
#include "tools/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/tool.h"

enum { SPOOLS = 16, PIECE = 1 << 20, WAIT_MS = 100, TEMPLATE = 4096 };

/* One pipe and the file that has what was read of it. Slots are filled in order and never emptied. */
typedef struct spool {
    dev_t pipe_dev, file_dev;
    ino_t pipe_ino, file_ino;
    int from, file; /* descriptors: the pipe, and the spool's end, to append to */
    off_t bytes;    /* in the file */
    bool ended;
    uint8_t *piece; /* (PIECE) */
    pthread_mutex_t lock;
} spool;

static struct {
    pthread_mutex_t lock;
    bool on;
    spool row[SPOOLS];
    int spools;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

void input_spool(void) { all.on = true; }

const char *input_path(const char *path) { return strcmp(path, "-") == 0 ? INPUT_STANDARD : path; }

static const hd_file_seam *os(void) { return &hd_seams_os.file; }

static bool stopped(void)
{
    if (tool_stopped()) errno = ECANCELED;
    return tool_stopped();
}

/* ---- Reading what may have to be waited for ------------------------------------------------------------------ */

/* A read of a descriptor that does not block. It waits in steps: a signal may have come to another thread. */
static ptrdiff_t read_waiting(int fd, void *p, size_t bytes)
{
    struct pollfd ready = { .fd = fd, .events = POLLIN };
    while (!stopped()) {
        int n = poll(&ready, 1, WAIT_MS);
        if (n < 0 && errno != EINTR) return -1;
        if (n <= 0) continue;
        ptrdiff_t got = read(fd, p, bytes);
        if (got >= 0 || (errno != EAGAIN && errno != EINTR)) return got;
    }
    return -1;
}

/* ---- The spool ----------------------------------------------------------------------------------------------- */

static spool *spool_of_file(const struct stat *st)
{
    spool *found = NULL;
    pthread_mutex_lock(&all.lock);
    for (int i = 0; i < all.spools && !found; i++)
        if (all.row[i].file_dev == st->st_dev && all.row[i].file_ino == st->st_ino) found = &all.row[i];
    pthread_mutex_unlock(&all.lock);
    return found;
}

/* A file without a name in that folder. -1 and errno. */
static int file_in(const char *folder)
{
    char path[TEMPLATE];
    int n = snprintf(path, sizeof path, "%s/heddle-spool-XXXXXX", folder);
    if (n < 0 || (size_t)n >= sizeof path) return errno = ENAMETOOLONG, -1;
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) unlink(path);
    return fd;
}

static int file_unlinked(void)
{
    const char *folder = getenv("TMPDIR");
    int fd = folder && *folder ? file_in(folder) : -1;
    if (fd < 0) fd = file_in("/tmp");
    if (fd < 0 && errno == ENOENT) errno = ENODEV; /* the folder is missing, and not what is to be read */
    return fd;
}

/* A new spool for what `from` reads; all.lock is held. NULL and errno; `from` is then closed. */
static spool *spool_open(int from, const struct stat *pipe)
{
    struct stat file;
    spool *s = &all.row[all.spools];
    int fd = all.spools < SPOOLS ? file_unlinked() : (errno = EMFILE, -1);
    uint8_t *piece = fd < 0 ? NULL : (uint8_t *)malloc(PIECE);
    if (!piece || fstat(fd, &file)) {
        int why = errno;
        free(piece);
        if (fd >= 0) close(fd);
        close(from);
        errno = why;
        return NULL;
    }
    s->file = fd;
    s->piece = piece;
    s->from = from;
    s->pipe_dev = pipe->st_dev;
    s->pipe_ino = pipe->st_ino;
    s->file_dev = file.st_dev;
    s->file_ino = file.st_ino;
    s->bytes = 0;
    s->ended = false;
    pthread_mutex_init(&s->lock, NULL);
    all.spools++;
    return s;
}

/* Another reader of a spool, at its beginning. */
static int spool_reader(const spool *s)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", s->file);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Copies the next piece of the pipe; s->lock is held. */
static bool spool_more(spool *s)
{
    ptrdiff_t n = read_waiting(s->from, s->piece, PIECE);
    if (n < 0) return false;
    s->ended = n == 0;
    for (ptrdiff_t done = 0; done < n;) {
        ptrdiff_t put = pwrite(s->file, s->piece + done, (size_t)(n - done), s->bytes);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        done += put;
        s->bytes += put;
    }
    return true;
}

static ptrdiff_t spool_read(spool *s, int fd, void *p, size_t bytes)
{
    off_t at = lseek(fd, 0, SEEK_CUR);
    bool good = at >= 0;
    pthread_mutex_lock(&s->lock);
    if (good && at == s->bytes && !s->ended) good = spool_more(s);
    size_t there = (size_t)(s->bytes - at);
    pthread_mutex_unlock(&s->lock);
    return good ? read(fd, p, bytes < there ? bytes : there) : -1;
}

/* ---- The seam ------------------------------------------------------------------------------------------------ */

/* A descriptor of a pipe, without waiting for a writer to come. Standard input is duplicated: a socket has no name to
 * be opened by. */
static int pipe_open(const char *path)
{
    return strcmp(path, INPUT_STANDARD) == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                             : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* Standard input that is a file is read from where it stands, by every opening. */
static int input_regular(void *self, const char *path, int flags, int mode)
{
    int fd = os()->open(self, path, flags, mode);
    if (fd < 0 || strcmp(path, INPUT_STANDARD) != 0) return fd;
    off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (at > 0) lseek(fd, at, SEEK_SET);
    return fd;
}

static int input_open(void *self, const char *path, int flags, int mode)
{
    struct stat st;
    if (stopped()) return -1;
    bool special =
        (flags & O_ACCMODE) == O_RDONLY && stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
    if (!special) return input_regular(self, path, flags, mode);
    if (!all.on) return pipe_open(path);
    spool *s = NULL;
    pthread_mutex_lock(&all.lock);
    for (int i = 0; i < all.spools && !s; i++)
        if (all.row[i].pipe_dev == st.st_dev && all.row[i].pipe_ino == st.st_ino) s = &all.row[i];
    int from = s ? -1 : pipe_open(path);
    if (from >= 0) s = spool_open(from, &st);
    pthread_mutex_unlock(&all.lock);
    return s ? spool_reader(s) : -1;
}

static ptrdiff_t input_read(void *self, int fd, void *p, size_t bytes)
{
    struct stat st;
    (void)self;
    if (stopped() || fstat(fd, &st)) return -1;
    if (!S_ISREG(st.st_mode)) return read_waiting(fd, p, bytes);
    spool *s = spool_of_file(&st);
    return s ? spool_read(s, fd, p, bytes) : read(fd, p, bytes);
}

static ptrdiff_t input_write(void *self, int fd, const void *p, size_t bytes)
{
    return stopped() ? -1 : os()->write(self, fd, p, bytes);
}

/* How long a spool will be is not known before its pipe has ended: it has no size, as the pipe has none. */
static int input_size(void *self, int fd, uint64_t *bytes)
{
    struct stat st;
    if (os()->size(self, fd, bytes)) return -1;
    if (fstat(fd, &st) == 0 && spool_of_file(&st)) *bytes = 0;
    return 0;
}

static int input_seek(void *self, int fd, uint64_t offset) { return os()->seek(self, fd, offset); }
static int input_sync(void *self, int fd) { return os()->sync(self, fd); }
static int input_close(void *self, int fd) { return os()->close(self, fd); }
static int input_rename(void *self, const char *from, const char *to)
{
    return stopped() ? -1 : os()->rename(self, from, to);
}
static int input_unlink(void *self, const char *path) { return os()->unlink(self, path); }
static int input_sync_folder(void *self, const char *path) { return os()->sync_folder(self, path); }
static ptrdiff_t input_read_at(void *self, int fd, void *p, size_t bytes, uint64_t offset)
{
    return os()->read_at(self, fd, p, bytes, offset);
}
static ptrdiff_t input_write_at(void *self, int fd, const void *p, size_t bytes, uint64_t offset)
{
    return os()->write_at(self, fd, p, bytes, offset);
}
static int input_sync_data(void *self, int fd) { return os()->sync_data(self, fd); }
static int input_lock(void *self, int fd) { return os()->lock(self, fd); }
static bool input_special(void *self, const char *path) { return os()->special(self, path); }

static void *input_take(void *self, size_t bytes, size_t align) { return hd_seams_os.memory.take(self, bytes, align); }
static void input_give(void *self, void *p, size_t bytes) { hd_seams_os.memory.give(self, p, bytes); }
static uint64_t input_now_ns(void *self) { return hd_seams_os.time.now_ns(self); }
static uint64_t input_unix_ns(void *self) { return hd_seams_os.time.unix_ns(self); }

const hd_seams input_seams = {
    .memory = { input_take, input_give, NULL },
    .file = { .open = input_open,
              .read = input_read,
              .write = input_write,
              .size = input_size,
              .seek = input_seek,
              .sync = input_sync,
              .close = input_close,
              .rename = input_rename,
              .unlink = input_unlink,
              .sync_folder = input_sync_folder,
              .special = input_special,
              .read_at = input_read_at,
              .write_at = input_write_at,
              .sync_data = input_sync_data,
              .lock = input_lock },
    .time = { input_now_ns, input_unix_ns, NULL },
    .device = &hd_device_os,
};
