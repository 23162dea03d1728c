/* SPDX-License-Identifier: Apache-2.0
 *
 * kmer_range.c - where a range of a file of sequences begins: see kmer_range.h.
 */
#include "workload/kmer_range.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"

enum { LOOKS_AT = 64 << 10 /* bytes */ };

/* The line after the one that has *p; NULL: it begins at `end` or later. */
static const uint8_t *line_after(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *newline = (const uint8_t *)memchr(p, '\n', (size_t)(end - p));
    return newline && newline + 1 < end ? newline + 1 : NULL;
}

/* The first record of FASTQ; NULL: none is seen. Among records of four lines, no line of qualities passes for a header:
 * two lines after it are bases. */
static const uint8_t *record_after(const uint8_t *p, const uint8_t *end)
{
    while ((p = line_after(p, end))) {
        const uint8_t *bases = line_after(p, end), *plus = bases ? line_after(bases, end) : NULL;
        if (!plus) return NULL;
        if (*p == '@' && *plus == '+') return p;
    }
    return NULL;
}

static hd_kmer_place place_in(const uint8_t *bytes, size_t n, uint8_t marker, uint64_t at)
{
    hd_kmer_place place = { at, HD_KMER_NOWHERE };
    const uint8_t *found = n == 0          ? NULL
                           : marker == '@' ? record_after(bytes, bytes + n)
                                           : line_after(bytes, bytes + n);
    if (found) place.at += (uint64_t)(found - bytes);
    if (marker == '>') place.state = found ? HD_KMER_LINE : HD_KMER_BASES;
    if (marker == '@' && found) place.state = HD_KMER_RECORD;
    return place;
}

hd_status hd_kmer_place_after(const hd_seams *seams, const char *path, uint8_t marker, uint64_t at,
                              hd_kmer_place *place)
{
    void *bytes = NULL;
    size_t got = 0;
    hd_status e = hd_take(seams, "a file's window", LOOKS_AT, 1, &bytes);
    if (e) return e;
    const hd_file_seam *file = &seams->file;
    int fd = file->open(file->self, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0 || file->seek(file->self, fd, at))
        e = hd_fail(HD_EIO, "%s: byte %" PRIu64 ": %s", path, at, strerror(errno));
    if (!e) e = hd_file_read_at_most(seams, fd, path, bytes, LOOKS_AT, &got);
    if (!e) *place = place_in((const uint8_t *)bytes, got, marker, at);
    if (fd >= 0) file->close(file->self, fd);
    hd_give(seams, bytes, LOOKS_AT, 1);
    return e;
}
