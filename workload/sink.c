/* SPDX-License-Identifier: Apache-2.0
 *
 * sink.c - a file that is there whole or not at all (base/atomic_file.h). Bytes coalesced in a piece of 1 MiB, are
 * compressed if the name says so, and are written in pieces again. The first failure sticks: everything later fails
 * with it, and close cleans up.
 */
#define ZSTD_STATIC_LINKING_ONLY /* ZSTD_createCCtx_advanced: memory through the seam */
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/error.h"
#include "base/atomic_file.h"
#include "simt/sanitizer.h"
#include "workload/codec.h"
#include "workload/stream.h"

enum { PIECE = 1 << 20, ZSTD_LEVEL = 3, GZIP_LEVEL = 6, STANDARD_OUTPUT = 1 };

struct hd_sink {
    const hd_seams *seams;
    hd_whole file;
    bool standard; /* it is standard output: nothing to close */
    hd_codec codec;
    uint8_t *gathered; /* (PIECE) as given                        */
    size_t used;
    uint8_t *packed; /* (PIECE) from the codec; NULL when plain */
    ZSTD_CCtx *zstd;
    z_stream gzip;
    hd_status failed;
    char why[512];
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

/* ---- Draining: what was gathered goes through the codec into the file ------------------------ */

static hd_status zstd_drain(hd_sink *s, bool last)
{
    ZSTD_inBuffer in = { s->gathered, s->used, 0 };
    for (;;) {
        ZSTD_outBuffer out = { s->packed, PIECE, 0 };
        size_t left = ZSTD_compressStream2(s->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left)) return hd_fail(HD_ENOMEM, "%s: zstd: %s", s->file.path, ZSTD_getErrorName(left));
        HD_WRITTEN(s->packed, out.pos);
        hd_status e = hd_file_write_all(s->seams, s->file.fd, s->file.path, s->packed, out.pos);
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
        HD_WRITTEN(s->packed, PIECE - z->avail_out);
        hd_status e = hd_file_write_all(s->seams, s->file.fd, s->file.path, s->packed, PIECE - z->avail_out);
        if (e) return e;
        if (last ? code == Z_STREAM_END : z->avail_in == 0 && z->avail_out) return HD_OK;
    }
}

static hd_status drain(hd_sink *s, bool last)
{
    hd_status e = s->codec == HD_ZSTD   ? zstd_drain(s, last)
                  : s->codec == HD_GZIP ? gzip_drain(s, last)
                                        : hd_file_write_all(s->seams, s->file.fd, s->file.path, s->gathered, s->used);
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

/* ---- Opening and closing --------------------------------------------------------------------- */

static hd_status encoder_open(hd_sink *s, const char *path)
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
            return hd_fail(HD_ENOMEM, "%s: no memory for a zstd encoder", path);
        return HD_OK;
    }
    s->gzip.zalloc = codec_take_many;
    s->gzip.zfree = codec_give;
    s->gzip.opaque = (void *)s->seams;
    if (deflateInit2(&s->gzip, GZIP_LEVEL, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return hd_fail(HD_ENOMEM, "%s: no memory for a gzip encoder", path);
    return HD_OK;
}

static hd_status contents_open(hd_sink *s, const char *path)
{
    void *gathered = NULL;
    hd_status e = hd_take(s->seams, "output", PIECE, 1, &gathered);
    s->gathered = (uint8_t *)gathered;
    s->codec = codec_of(path);
    if (!e && s->codec != HD_PLAIN) e = encoder_open(s, path);
    if (e || !s->standard) return e ? e : hd_whole_open(&s->file, s->seams, path);
    s->file.fd = STANDARD_OUTPUT;
    snprintf(s->file.path, sizeof s->file.path, "standard output");
    return HD_OK;
}

static void sink_give(hd_sink *s)
{
    ZSTD_freeCCtx(s->zstd);
    deflateEnd(&s->gzip); /* does nothing to one that was never opened */
    hd_give(s->seams, s->packed, PIECE, 1);
    hd_give(s->seams, s->gathered, PIECE, 1);
    hd_give(s->seams, s, 1, sizeof *s);
}

hd_status hd_sink_open(const hd_seams *seams, const char *path, hd_sink **sink)
{
    if (!seams) seams = &hd_seams_os;
    void *p = NULL;
    hd_status e = hd_take(seams, "a sink", 1, sizeof(hd_sink), &p);
    if (e) return e;
    hd_sink *s = (hd_sink *)memset(p, 0, sizeof *s);
    s->seams = seams;
    s->standard = strcmp(path, "-") == 0;
    e = contents_open(s, path);
    if (e) {
        sink_give(s);
        return e;
    }
    *sink = s;
    return HD_OK;
}

static hd_status finish(hd_sink *s, bool keep)
{
    hd_status e = !keep ? HD_OK : s->failed ? hd_fail(s->failed, "%s", s->why) : drain(s, true);
    if (s->standard) return e;
    if (keep && !e) return hd_whole_keep(&s->file);
    hd_whole_drop(&s->file);
    return e;
}

hd_status hd_sink_close(hd_sink *s, bool keep)
{
    if (!s) return HD_OK;
    hd_status e = finish(s, keep);
    sink_give(s);
    return e;
}
