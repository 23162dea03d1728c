/* SPDX-License-Identifier: Apache-2.0
 *
 * stream.h - bytes of a file in order, plain, gzip or zstd by their magic, through the file seam,
 * in constant memory (under 64 MiB whatever the file says: zstd windows are bounded at 32 MiB).
 */
#ifndef HD_STREAM_H
#define HD_STREAM_H

#include "base/seam.h"

typedef struct hd_stream hd_stream;

/* "-" is /dev/stdin. HD_EINVAL: there is no such file, or it is a folder. */
hd_status hd_stream_open(const hd_seams *seams, const char *path, hd_stream **s);
/* From that byte on, which is not decoded: for plain files that are no pipes. */
hd_status hd_stream_open_at(const hd_seams *seams, const char *path, uint64_t offset, hd_stream **s);
/* Points *p at the next *bytes bytes, at least `want` of them unless the file ends first (want <= 64
 * KiB); *bytes = 0 at the end. They stay valid until the next call. Nothing is taken: see hd_stream_skip.
 * A truncated or damaged compressed file is HD_ECORRUPT with path and both offsets. */
hd_status hd_stream_peek(hd_stream *s, size_t want, const uint8_t **p, size_t *bytes);
void hd_stream_skip(hd_stream *s, size_t bytes);   /* take bytes that peek showed */
uint64_t hd_stream_offset(const hd_stream *s);     /* of the next byte, uncompressed */
uint64_t hd_stream_file_read(const hd_stream *s);  /* bytes of the file consumed so far */
uint64_t hd_stream_file_bytes(const hd_stream *s); /* the file's size; 0 for a pipe */
/* file_bytes is what it will give: neither compressed, nor standard input, which may begin within a file. */
bool hd_stream_plain(const hd_stream *s);
const char *hd_stream_path(const hd_stream *s);
void hd_stream_close(hd_stream *s);

/* Writing: zstd when the path ends in .zst, gzip for .gz, else plain. Written beside the path, synced and
 * renamed by hd_sink_close(s, true); hd_sink_close(s, false), or a failure at any point, leaves nothing
 * behind. "-" (standard output) and devices (/dev/...) are written as they are. */
typedef struct hd_sink hd_sink;
hd_status hd_sink_open(const hd_seams *seams, const char *path, hd_sink **s);
hd_status hd_sink_write(hd_sink *s, const void *p, size_t bytes);
hd_status hd_sink_close(hd_sink *s, bool keep);

#endif
