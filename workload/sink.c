/* SPDX-License-Identifier: Apache-2.0
 *
 * sink.c - a file that is there whole or not at all: written beside its name (NAME.PID-N.part), synced, then
 * renamed. Bytes gather in a piece of 1 MiB, are compressed if the name says so, and are written in
 * pieces again. The first failure sticks: everything later fails with it, and close cleans up.
 */
#define ZSTD_STATIC_LINKING_ONLY /* ZSTD_createCCtx_advanced: memory through the seam */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "lib/error.h"
#include "workload/codec.h"
#include "workload/stream.h"

enum { PIECE = 1 << 20, ZSTD_LEVEL = 3, GZIP_LEVEL = 6, NAME_MORE = 48 };

struct hd_sink {
    const hd_seams *seams;
    int fd;
    hd_codec codec;
    bool direct;           /* standard output or a device: nothing to sync or rename */
    bool present;          /* the file beside exists                                 */
    uint8_t *gathered;     /* (PIECE) as given                                       */
    size_t used;
    uint8_t *packed;       /* (PIECE) from the codec; NULL when plain                */
    ZSTD_CCtx *zstd;
    z_stream gzip;
    hd_status failed;
    char why[512];
    size_t bytes;          /* of this struct with its names                          */
    char *beside;          /* path + ".PID-N.part"                                   */
    char path[];
};

static hd_codec codec_of(const char *path)
{
    size_t n = strlen(path);
    if (n > 4 && strcmp(path + n - 4, ".zst") == 0) return HD_ZSTD;
    if (n > 3 && strcmp(path + n - 3, ".gz") == 0) return HD_GZIP;
    return HD_PLAIN;
}

static hd_status sink_fail(hd_sink *s, hd_status e)
{
    s->failed = e;
    snprintf(s->why, sizeof s->why, "%s", hd_why());
    return e;
}

/* ---- Draining: what was gathered goes through the codec into the file ------------------------------- */

static hd_status zstd_drain(hd_sink *s, bool last)
{
    ZSTD_inBuffer in = { s->gathered, s->used, 0 };
    for (;;) {
        ZSTD_outBuffer out = { s->packed, PIECE, 0 };
        size_t left = ZSTD_compressStream2(s->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left)) return hd_fail(HD_ENOMEM, "%s: zstd: %s", s->path, ZSTD_getErrorName(left));
        hd_status e = hd_file_write_all(s->seams, s->fd, s->path, s->packed, out.pos);
        if (e) return e;
        if (last ? left == 0 : in.pos == in.size) return HD_OK;
    }
}

static hd_status gzip_drain(hd_sink *s, bool last)
{
    z_stream *z = &s->gzip;
    z->next_in = s->gathered;
    z->avail_in = (uInt)s->used;
    for (;;) {
        z->next_out = s->packed;
        z->avail_out = PIECE;
        int code = deflate(z, last ? Z_FINISH : Z_NO_FLUSH); /* with this much room it cannot fail */
        hd_status e = hd_file_write_all(s->seams, s->fd, s->path, s->packed, PIECE - z->avail_out);
        if (e) return e;
        if (last ? code == Z_STREAM_END : z->avail_in == 0 && z->avail_out) return HD_OK;
    }
}

static hd_status drain(hd_sink *s, bool last)
{
    hd_status e = s->codec == HD_ZSTD   ? zstd_drain(s, last)
                  : s->codec == HD_GZIP ? gzip_drain(s, last)
                                        : hd_file_write_all(s->seams, s->fd, s->path, s->gathered, s->used);
    s->used = 0;
    return e ? sink_fail(s, e) : HD_OK;
}

hd_status hd_sink_write(hd_sink *s, const void *p, size_t bytes)
{
    if (s->failed) return hd_fail(s->failed, "%s", s->why);
    for (const char *from = (const char *)p; bytes;) {
        size_t n = PIECE - s->used < bytes ? PIECE - s->used : bytes;
        memcpy(s->gathered + s->used, from, n);
        s->used += n;
        from += n;
        bytes -= n;
        if (s->used == PIECE) {
            hd_status e = drain(s, false);
            if (e) return e;
        }
    }
    return HD_OK;
}

/* ---- Opening and closing ------------------------------------------------------------------------------ */

static hd_status encoder_open(hd_sink *s)
{
    void *packed = NULL;
    hd_status e = hd_take(s->seams, "compressed output", PIECE, 1, &packed);
    if (e) return e;
    s->packed = (uint8_t *)packed;
    if (s->codec == HD_ZSTD) {
        ZSTD_customMem memory = { codec_take, codec_give, (void *)s->seams };
        s->zstd = ZSTD_createCCtx_advanced(memory);
        if (!s->zstd || ZSTD_isError(ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL)) ||
            ZSTD_isError(ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_checksumFlag, 1)))
            return hd_fail(HD_ENOMEM, "%s: no memory for a zstd encoder", s->path);
        return HD_OK;
    }
    s->gzip.zalloc = codec_take_many;
    s->gzip.zfree = codec_give;
    s->gzip.opaque = (void *)s->seams;
    if (deflateInit2(&s->gzip, GZIP_LEVEL, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return hd_fail(HD_ENOMEM, "%s: no memory for a gzip encoder", s->path);
    return HD_OK;
}

/* A new file beside the path. A name that a killed process left behind is passed over. */
static hd_status beside_open(hd_sink *s)
{
    static atomic_uint number;
    const hd_file_seam *file = &s->seams->file;
    for (int tries = 0; tries < 100; tries++) {
        snprintf(s->beside, strlen(s->path) + NAME_MORE, "%s.%ld-%u.part", s->path, (long)getpid(), atomic_fetch_add(&number, 1));
        s->fd = file->open(file->self, s->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (s->fd >= 0) {
            s->present = true;
            return HD_OK;
        }
        if (errno != EEXIST) break;
    }
    return hd_fail(HD_EIO, "%s: cannot be created: %s", s->beside, strerror(errno));
}

static hd_status contents_open(hd_sink *s)
{
    void *gathered = NULL;
    hd_status e = hd_take(s->seams, "output", PIECE, 1, &gathered);
    if (e) return e;
    s->gathered = (uint8_t *)gathered;
    s->codec = codec_of(s->path);
    if (s->codec != HD_PLAIN) e = encoder_open(s);
    if (e) return e;
    if (!s->direct) return beside_open(s);
    if (strcmp(s->path, "-") == 0) {
        s->fd = 1;
        return HD_OK;
    }
    s->fd = s->seams->file.open(s->seams->file.self, s->path, O_WRONLY | O_CLOEXEC, 0);
    return s->fd < 0 ? hd_fail(HD_EIO, "%s: cannot be opened: %s", s->path, strerror(errno)) : HD_OK;
}

static void sink_give(hd_sink *s)
{
    const hd_file_seam *file = &s->seams->file;
    if (s->fd > 1) file->close(file->self, s->fd);
    if (s->present) file->unlink(file->self, s->beside);
    ZSTD_freeCCtx(s->zstd);
    deflateEnd(&s->gzip); /* does nothing to one that was never opened */
    hd_give(s->seams, s->packed, PIECE, 1);
    hd_give(s->seams, s->gathered, PIECE, 1);
    hd_give(s->seams, s, 1, s->bytes);
}

hd_status hd_sink_open(const hd_seams *seams, const char *path, hd_sink **sink)
{
    if (!seams) seams = &hd_seams_os;
    size_t n = strlen(path), bytes = sizeof(hd_sink) + n + 1 + n + NAME_MORE;
    void *p = NULL;
    hd_status e = hd_take(seams, "a sink", 1, bytes, &p);
    if (e) return e;
    hd_sink *s = (hd_sink *)memset(p, 0, bytes);
    s->seams = seams;
    s->fd = -1;
    s->bytes = bytes;
    memcpy(s->path, path, n);
    s->beside = s->path + n + 1;
    s->direct = strcmp(path, "-") == 0 || strncmp(path, "/dev/", 5) == 0;
    e = contents_open(s);
    if (e) {
        sink_give(s);
        return e;
    }
    *sink = s;
    return HD_OK;
}

/* Everything is on the disk before the name is: after a crash the path is the old file or the new one. */
static hd_status keep_file(hd_sink *s)
{
    const hd_file_seam *file = &s->seams->file;
    if (s->failed) return hd_fail(s->failed, "%s", s->why);
    hd_status e = drain(s, true);
    if (e || s->direct) return e;
    if (file->sync(file->self, s->fd)) return hd_fail(HD_EIO, "%s: cannot be synced: %s", s->path, strerror(errno));
    int fd = s->fd;
    s->fd = -1;
    if (file->close(file->self, fd)) return hd_fail(HD_EIO, "%s: cannot be closed: %s", s->path, strerror(errno));
    if (file->rename(file->self, s->beside, s->path)) return hd_fail(HD_EIO, "%s: cannot be renamed: %s", s->path, strerror(errno));
    s->present = false;
    if (file->sync_folder(file->self, s->path)) return hd_fail(HD_EIO, "%s: its folder cannot be synced: %s", s->path, strerror(errno));
    return HD_OK;
}

hd_status hd_sink_close(hd_sink *s, bool keep)
{
    if (!s) return HD_OK;
    hd_status e = keep ? keep_file(s) : HD_OK;
    sink_give(s);
    return e;
}
