/* SPDX-License-Identifier: Apache-2.0
 *
 * stream.c - a file as one window that moves forward. The window is a piece of 1 MiB with a margin in
 * front of it:
 *
 *     | margin, 64 KiB     | piece, 1 MiB                         |
 *     |          left over | what the file or the decoder gave    |
 *
 * When fewer bytes are left than the reader wants, they move into the margin and the next piece is
 * filled behind them: nothing else is ever copied. Memory is two pieces, the margin and the decoder,
 * whose zstd window is at most 32 MiB: about 36 MiB, whatever the file claims.
 */
#define ZSTD_STATIC_LINKING_ONLY /* ZSTD_createDCtx_advanced: memory through the seam */
#include "workload/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/error.h"
#include "simt/sanitizer.h"
#include "workload/codec.h"

enum { PIECE = 1 << 20, MARGIN = 64 << 10, WINDOW_LOG = 25, MAGIC = 4 };

static const char standard_input[] = "/dev/stdin";

struct hd_stream {
    const hd_seams *seams;
    int fd;
    bool standard; /* it is standard input                                        */
    hd_codec codec;
    uint8_t *window;   /* (MARGIN + PIECE)                                            */
    const uint8_t *at; /* the next byte, somewhere in the window                      */
    size_t left;       /* bytes from there                                            */
    uint64_t offset;   /* of that byte, uncompressed                                  */
    bool ended;        /* nothing comes after what is left                            */

    uint8_t *packed; /* (PIECE): compressed bytes; NULL when plain                  */
    size_t packed_at, packed_left;
    bool packed_ended;  /* the file has no more of them                                */
    bool in_frame;      /* inside a zstd frame or gzip member: the file may not end here */
    uint64_t file_read; /* compressed bytes that the decoder has consumed              */
    uint64_t file_bytes;
    ZSTD_DCtx *zstd;
    z_stream gzip;

    hd_status failed; /* for good: said again by every later peek                    */
    char why[512];
    char path[];
};

static uint32_t load32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* A frame of zstd 0.8 or later, or one to be skipped (RFC 8878, 3.1). Older forms have no bound on
 * their memory and are not read. */
static bool is_zstd(const uint8_t *p, size_t n)
{
    return n >= MAGIC &&
           (load32(p) == ZSTD_MAGICNUMBER || (load32(p) & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START);
}

/* RFC 1952, 2.3.1; 8 is deflate, the only method there is. */
static bool is_gzip(const uint8_t *p, size_t n) { return n >= 3 && p[0] == 0x1f && p[1] == 0x8b && p[2] == 8; }

/* ---- Decoding: fill the piece, or end, or fail ----------------------------------------------- */

/* Both offsets: where the file is damaged, and how far it could be read. */
static hd_status damaged(const hd_stream *s, size_t got, const char *how)
{
    return hd_fail(HD_ECORRUPT,
                   "%s: %s data: %s at byte %" PRIu64 " of the file; %" PRIu64 " bytes could be read from it", s->path,
                   s->codec == HD_ZSTD ? "zstd" : "gzip", how, s->file_read, s->offset + s->left + got);
}

/* Tops up the compressed bytes when there are fewer than `want`. */
static hd_status packed_fill(hd_stream *s, size_t want)
{
    if (s->packed_left >= want || s->packed_ended) return HD_OK;
    memmove(s->packed, s->packed + s->packed_at, s->packed_left);
    s->packed_at = 0;
    size_t room = PIECE - s->packed_left, got = 0;
    hd_status e = hd_file_read_at_most(s->seams, s->fd, s->path, s->packed + s->packed_left, room, &got);
    if (e) return e;
    s->packed_left += got;
    s->packed_ended = got < room;
    return HD_OK;
}

static void packed_take(hd_stream *s, size_t bytes)
{
    s->packed_at += bytes;
    s->packed_left -= bytes;
    s->file_read += bytes;
}

static hd_status zstd_fill(hd_stream *s, uint8_t *to, size_t *got)
{
    ZSTD_outBuffer out = { to, PIECE, 0 };
    while (out.pos < out.size) {
        hd_status e = packed_fill(s, s->in_frame ? 1 : MAGIC);
        if (e) return e;
        if (!s->in_frame && s->packed_left == 0) {
            s->ended = true;
            break;
        }
        if (!s->in_frame && !is_zstd(s->packed + s->packed_at, s->packed_left))
            return damaged(s, out.pos, s->packed_left < MAGIC ? "it ends too early" : "no frame begins");
        ZSTD_inBuffer in = { s->packed + s->packed_at, s->packed_left, 0 };
        size_t before = out.pos, code = ZSTD_decompressStream(s->zstd, &out, &in);
        HD_WRITTEN(to + before, out.pos - before);
        packed_take(s, in.pos);
        if (ZSTD_isError(code)) {
            ZSTD_ErrorCode error = ZSTD_getErrorCode(code);
            if (error == ZSTD_error_memory_allocation)
                return hd_fail(HD_ENOMEM, "%s: no memory for the zstd window", s->path);
            if (error == ZSTD_error_frameParameter_windowTooLarge)
                return damaged(s, out.pos, "a window above 32 MiB (written with --long or --ultra -22?)");
            return damaged(s, out.pos, ZSTD_getErrorName(code));
        }
        s->in_frame = code != 0;
        if (s->in_frame && in.size == 0 && out.pos == before) return damaged(s, out.pos, "it ends too early");
    }
    *got = out.pos;
    return HD_OK;
}

/* Zeros up to the end of the file, which tapes and block devices leave behind, as gzip -d passes over them. */
static hd_status zeros_pass(hd_stream *s, size_t got)
{
    for (;;) {
        hd_status e = packed_fill(s, 1);
        if (e) return e;
        s->ended = s->packed_left == 0;
        if (s->ended) return HD_OK;
        size_t zeros = 0;
        while (zeros < s->packed_left && s->packed[s->packed_at + zeros] == 0) zeros++;
        bool all = zeros == s->packed_left;
        packed_take(s, zeros);
        if (!all) return damaged(s, got, "zeros, and then other bytes");
    }
}

static hd_status gzip_fill(hd_stream *s, uint8_t *to, size_t *got)
{
    z_stream *z = &s->gzip;
    z->next_out = to;
    z->avail_out = PIECE;
    while (z->avail_out) {
        hd_status e = packed_fill(s, 1);
        if (e) return e;
        if (!s->in_frame && (s->packed_left == 0 || s->packed[s->packed_at] == 0)) {
            e = zeros_pass(s, PIECE - z->avail_out);
            if (e) return e;
            break;
        }
        s->in_frame = true;
        z->next_in = s->packed + s->packed_at;
        z->avail_in = (uInt)s->packed_left;
        int code = inflate(z, Z_NO_FLUSH);
        packed_take(s, s->packed_left - z->avail_in);
        size_t done = PIECE - z->avail_out;
        HD_WRITTEN(to, done);
        if (code == Z_STREAM_END) {
            s->in_frame = false;
            inflateReset(z);
        } else if (code == Z_MEM_ERROR) {
            return hd_fail(HD_ENOMEM, "%s: no memory for the gzip window", s->path);
        } else if (code == Z_BUF_ERROR) {
            return damaged(s, done, "it ends too early");
        } else if (code != Z_OK) {
            return damaged(s, done, z->msg ? z->msg : "damaged");
        }
    }
    *got = PIECE - z->avail_out;
    return HD_OK;
}

static hd_status plain_fill(hd_stream *s, uint8_t *to, size_t *got)
{
    hd_status e = hd_file_read_at_most(s->seams, s->fd, s->path, to, PIECE, got);
    if (e) return e;
    s->ended = *got < PIECE;
    uint64_t bytes = s->offset + s->left + *got;
    /* half of a number is a number, too; standard input need not begin at the file's beginning */
    if (s->ended && bytes < s->file_bytes && !s->standard)
        return hd_fail(HD_ECORRUPT, "%s: became shorter while it was read: it ends at byte %" PRIu64 " of %" PRIu64,
                       s->path, bytes, s->file_bytes);
    return HD_OK;
}

/* ---- The window ------------------------------------------------------------------------------ */

static hd_status window_move(hd_stream *s)
{
    uint8_t *piece = s->window + MARGIN;
    memmove(piece - s->left, s->at, s->left);
    s->at = piece - s->left;
    size_t got = 0;
    hd_status e = s->codec == HD_ZSTD   ? zstd_fill(s, piece, &got)
                  : s->codec == HD_GZIP ? gzip_fill(s, piece, &got)
                                        : plain_fill(s, piece, &got);
    s->left += got;
    if (e) {
        s->failed = e;
        snprintf(s->why, sizeof s->why, "%s", hd_why());
    }
    return e;
}

hd_status hd_stream_peek(hd_stream *s, size_t want, const uint8_t **p, size_t *bytes)
{
    HD_ASSERT(want <= MARGIN);
    if (s->failed) return hd_fail(s->failed, "%s", s->why);
    if (s->left < want && !s->ended) {
        hd_status e = window_move(s);
        if (e) return e;
    }
    *p = s->at;
    *bytes = s->left;
    return HD_OK;
}

void hd_stream_skip(hd_stream *s, size_t bytes)
{
    HD_ASSERT(bytes <= s->left);
    s->at += bytes;
    s->left -= bytes;
    s->offset += bytes;
}

uint64_t hd_stream_offset(const hd_stream *s) { return s->offset; }
uint64_t hd_stream_file_read(const hd_stream *s) { return s->codec == HD_PLAIN ? s->offset : s->file_read; }
uint64_t hd_stream_file_bytes(const hd_stream *s) { return s->file_bytes; }
bool hd_stream_plain(const hd_stream *s) { return s->codec == HD_PLAIN && !s->standard; }
const char *hd_stream_path(const hd_stream *s) { return s->path; }

/* ---- Opening and closing --------------------------------------------------------------------- */

/* The first piece has been read as if plain; it is compressed: make the decoder and give it the piece. */
static hd_status decoder_open(hd_stream *s)
{
    void *packed = NULL;
    hd_status e = hd_take(s->seams, "compressed input", PIECE, 1, &packed);
    if (e) return e;
    s->packed = (uint8_t *)memcpy(packed, s->at, s->left);
    s->packed_left = s->left;
    s->packed_ended = s->ended;
    s->left = 0;
    s->ended = false;
    if (s->codec == HD_ZSTD) {
        ZSTD_customMem memory = { codec_take, codec_give, (void *)s->seams };
        s->zstd = ZSTD_createDCtx_advanced(memory);
        if (!s->zstd || ZSTD_isError(ZSTD_DCtx_setParameter(s->zstd, ZSTD_d_windowLogMax, WINDOW_LOG)))
            return hd_fail(HD_ENOMEM, "%s: no memory for a zstd decoder", s->path);
        return HD_OK;
    }
    s->gzip.zalloc = codec_take_many;
    s->gzip.zfree = codec_give;
    s->gzip.opaque = (void *)s->seams;
    if (inflateInit2(&s->gzip, MAX_WBITS + 16) != Z_OK)
        return hd_fail(HD_ENOMEM, "%s: no memory for a gzip decoder", s->path);
    return HD_OK;
}

/* Where the first byte is not the file's. */
static hd_status plain_begin(hd_stream *s)
{
    if (s->seams->file.seek(s->seams->file.self, s->fd, s->offset))
        return hd_fail(HD_EIO, "%s: byte %" PRIu64 ": %s", s->path, s->offset, strerror(errno));
    return window_move(s);
}

static hd_status codec_begin(hd_stream *s)
{
    hd_status e = window_move(s);
    if (e) return e;
    s->codec = is_zstd(s->at, s->left) ? HD_ZSTD : is_gzip(s->at, s->left) ? HD_GZIP : HD_PLAIN;
    return s->codec == HD_PLAIN ? HD_OK : decoder_open(s);
}

static hd_status contents_open(hd_stream *s)
{
    const char *name = strcmp(s->path, "-") == 0 ? standard_input : s->path;
    s->standard = strcmp(name, standard_input) == 0;
    s->fd = s->seams->file.open(s->seams->file.self, name, O_RDONLY | O_CLOEXEC, 0);
    if (s->fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return hd_fail(HD_EINVAL, "%s: there is no such file", s->path);
    if (s->fd < 0) return hd_fail(HD_EIO, "%s: cannot be opened: %s", s->path, strerror(errno));
    if (s->seams->file.size(s->seams->file.self, s->fd, &s->file_bytes))
        return hd_fail(errno == EISDIR ? HD_EINVAL : HD_EIO, "%s: has no size: %s", s->path, strerror(errno));
    void *window = NULL;
    hd_status e = hd_take(s->seams, "a file's window", MARGIN + PIECE, 1, &window);
    if (e) return e;
    s->window = (uint8_t *)window;
    s->at = s->window + MARGIN;
    return s->offset ? plain_begin(s) : codec_begin(s);
}

hd_status hd_stream_open(const hd_seams *seams, const char *path, hd_stream **stream)
{
    return hd_stream_open_at(seams, path, 0, stream);
}

hd_status hd_stream_open_at(const hd_seams *seams, const char *path, uint64_t offset, hd_stream **stream)
{
    if (!seams) seams = &hd_seams_os;
    void *p = NULL;
    size_t path_bytes = strlen(path) + 1;
    hd_status e = hd_take(seams, "a stream", 1, sizeof(hd_stream) + path_bytes, &p);
    if (e) return e;
    hd_stream *s = (hd_stream *)memset(p, 0, sizeof *s);
    memcpy(s->path, path, path_bytes);
    s->seams = seams;
    s->fd = -1;
    s->offset = offset;
    e = contents_open(s);
    if (e) {
        hd_stream_close(s);
        return e;
    }
    *stream = s;
    return HD_OK;
}

void hd_stream_close(hd_stream *s)
{
    if (!s) return;
    if (s->fd >= 0) s->seams->file.close(s->seams->file.self, s->fd);
    ZSTD_freeDCtx(s->zstd);
    inflateEnd(&s->gzip); /* does nothing to one that was never opened */
    hd_give(s->seams, s->packed, PIECE, 1);
    hd_give(s->seams, s->window, MARGIN + PIECE, 1);
    hd_give(s->seams, s, 1, sizeof *s + strlen(s->path) + 1);
}
