/* SPDX-License-Identifier: Apache-2.0
 *
 * reader.c - what the readers of trace files share.
 */
#include "workload/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/error.h"

/* Files that hold a trace in a way that is not read, by how they begin. */
enum { FOREIGN_MOST = 512 };
static const char *foreign_of(const uint8_t *p, size_t n)
{
    static const struct {
        size_t at, bytes;
        const char *magic, *what;
    } foreign[] = {
        { 257, 5, "ustar", "an archive of tar; unpack it, or pipe it through 'tar -xO'" },
        { 0, 4, "PK\3\4", "an archive of zip; unpack it, or pipe it through 'unzip -p'" },
        { 0, 6,
          "\xfd"
          "7zXZ",
          "a file of xz; pipe it through 'xz -dc'" },
        { 0, 3, "BZh", "a file of bzip2; pipe it through 'bzip2 -dc'" },
        { 0, 4, "\4\"M\x18", "a file of lz4; pipe it through 'lz4 -dc'" },
        { 0, 4, "PAR1", "a file of Parquet; write its columns as csv" },
    };
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (n >= foreign[i].at + foreign[i].bytes && memcmp(p + foreign[i].at, foreign[i].magic, foreign[i].bytes) == 0)
            return foreign[i].what;
    return NULL;
}

hd_status hd_source_foreign(const hd_source *s, hd_status e)
{
    char why[512];
    if (!s->foreign || (e != HD_ECORRUPT && e != HD_EINVAL)) return e;
    snprintf(why, sizeof why, "%s", hd_why());
    return hd_fail(e, "%s; the file begins as %s", why, s->foreign);
}

hd_status hd_reader_open(const hd_source_args *a, const char *const *known, size_t bytes, hd_reader **reader)
{
    void *p = NULL;
    hd_status e = hd_source_shape(a, 1, known);
    if (!e) e = hd_take(a->seams, "a trace reader", 1, bytes, &p);
    if (e) return e;
    hd_reader *r = (hd_reader *)memset(p, 0, bytes);
    r->source.seams = a->seams;
    r->source.close = hd_reader_close;
    r->bytes = bytes;
    r->lenient = a->lenient;

    const uint8_t *first;
    size_t n = 0;
    e = hd_stream_open(a->seams, a->arg[0], &r->stream);
    if (!e) e = hd_stream_peek(r->stream, FOREIGN_MOST, &first, &n);
    if (!e) r->source.foreign = foreign_of(first, n);
    if (!e && n == 0) e = hd_fail(HD_ECORRUPT, "%s: byte 0: the file is empty", a->arg[0]);
    if (e) {
        hd_reader_close(&r->source);
        return e;
    }
    hd_reader_progress(r);
    r->source.file = r->stream;
    *reader = r;
    return HD_OK;
}

void hd_reader_close(hd_source *s)
{
    hd_reader *r = (hd_reader *)s;
    hd_stream_close(r->stream);
    hd_give(s->seams, r, 1, r->bytes);
}

hd_status hd_reader_opened(hd_reader *r, hd_status e, hd_source **s)
{
    e = hd_source_foreign(&r->source, e);
    if (e)
        hd_reader_close(&r->source);
    else
        *s = &r->source;
    return e;
}

void hd_reader_progress(hd_reader *r)
{
    r->source.bytes_read = hd_stream_file_read(r->stream);
    r->source.bytes_total = hd_stream_file_bytes(r->stream);
}

/* ---- Binary files: records of one length ----------------------------------------------------- */

static hd_status fail_cut(const hd_reader *r, uint64_t at, size_t has, size_t record_bytes)
{
    return hd_fail(HD_ECORRUPT, "%s: byte %" PRIu64 ": the last record is cut short: %zu bytes of %zu",
                   hd_stream_path(r->stream), at, has, record_bytes);
}

hd_status hd_reader_whole(const hd_reader *r, size_t record_bytes)
{
    uint64_t bytes = hd_stream_file_bytes(r->stream), header = hd_stream_offset(r->stream);
    size_t over = bytes > header ? (size_t)((bytes - header) % record_bytes) : 0; /* a pipe has 0 bytes */
    if (r->lenient || !hd_stream_plain(r->stream) || over == 0) return HD_OK;
    return fail_cut(r, bytes - over, over, record_bytes);
}

hd_status hd_reader_records(hd_reader *r, size_t record_bytes, size_t most, const uint8_t **p, size_t *n)
{
    size_t bytes;
    hd_status e = hd_stream_peek(r->stream, record_bytes, p, &bytes);
    if (e) return e;
    hd_reader_progress(r);
    *n = bytes / record_bytes;
    if (*n > most) *n = most;
    if (*n || bytes == 0) return HD_OK;
    if (!r->lenient) return fail_cut(r, hd_stream_offset(r->stream), bytes, record_bytes);
    r->source.skipped++;
    r->number++;
    hd_stream_skip(r->stream, bytes);
    return HD_OK;
}

void hd_reader_pass(hd_reader *r, const char *why) { ++*(why == HD_DELETE ? &r->source.deletes : &r->source.skipped); }

hd_status hd_reader_take(hd_reader *r, size_t record_bytes, hd_reader_decode *decode, hd_request *to, size_t max,
                         size_t *got)
{
    for (*got = 0; *got < max;) {
        const uint8_t *p;
        size_t n;
        hd_status e = hd_reader_records(r, record_bytes, max - *got, &p, &n);
        if (e || n == 0) return e;
        for (size_t i = 0; i < n; i++, p += record_bytes) {
            const char *why = decode(r, p, &to[*got]);
            if (why && !r->lenient)
                return hd_fail(HD_ECORRUPT, "%s: byte %" PRIu64 ": request %" PRIu64 ": %s%s",
                               hd_stream_path(r->stream), hd_stream_offset(r->stream), r->number + 1, why,
                               why == HD_DELETE ? "; --lenient counts deletes and leaves them out" : "");
            if (r->lenient) to[*got].next = 0;
            if (why)
                hd_reader_pass(r, why);
            else
                ++*got;
            hd_stream_skip(r->stream, record_bytes);
            r->number++;
        }
    }
    return HD_OK;
}

/* ---- Text files ------------------------------------------------------------------------------ */

hd_status hd_reader_mark(hd_reader *r)
{
    const uint8_t *p;
    size_t n;
    hd_status e = hd_stream_peek(r->stream, 3, &p, &n);
    if (!e && n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) hd_stream_skip(r->stream, 3);
    return e;
}

hd_status hd_reader_skip_line(hd_reader *r)
{
    for (;;) {
        const uint8_t *p;
        size_t n;
        hd_status e = hd_stream_peek(r->stream, 1, &p, &n);
        if (e || n == 0) return e;
        const uint8_t *end = (const uint8_t *)memchr(p, '\n', n);
        hd_stream_skip(r->stream, end ? (size_t)(end - p) + 1 : n);
        if (end) return HD_OK;
    }
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

hd_text hd_text_trim(hd_text t)
{
    while (t.n && is_blank(*t.p)) t.p++, t.n--;
    while (t.n && is_blank(t.p[t.n - 1])) t.n--;
    return t;
}

bool hd_text_number(hd_text t, uint64_t most, uint64_t *v)
{
    uint64_t number = 0;
    if (t.n == 0) return false;
    for (size_t i = 0; i < t.n; i++) {
        unsigned digit = (unsigned)(unsigned char)t.p[i] - '0';
        if (digit > 9) return false;
        if (i >= 19 && number > (UINT64_MAX - digit) / 10) return false; /* 19 digits always fit */
        number = number * 10 + digit;
    }
    *v = number;
    return number <= most;
}

bool hd_text_key(hd_text t, bool hash, uint64_t *key, bool *hashed)
{
    *hashed = false;
    if (!hash && hd_text_number(t, UINT64_MAX, key)) return true;
    if (t.n == 0) return false;
    for (size_t i = 0; i < t.n; i++) {
        unsigned char c = (unsigned char)t.p[i];
        if ((c < ' ' && c != '\t') || c == 127) return false; /* a binary file would replay as noise */
    }
    uint64_t h = XXH3_64bits(t.p, t.n);
    *key = h < HD_KEY_RESERVED ? h : h - HD_KEY_RESERVED;
    *hashed = !hash;
    return true;
}

const char *hd_text_show(hd_text t, char *to, size_t bytes)
{
    size_t n = t.n < bytes - 1 ? t.n : bytes - 1;
    for (size_t i = 0; i < n; i++) to[i] = t.p[i] >= ' ' && t.p[i] < 127 ? t.p[i] : '?';
    to[n] = '\0';
    return to;
}

size_t hd_print_u64(char *to, uint64_t v)
{
    char digits[20];
    size_t n = 0;
    do digits[n++] = (char)('0' + v % 10);
    while (v /= 10);
    for (size_t i = 0; i < n; i++) to[i] = digits[n - 1 - i];
    return n;
}
