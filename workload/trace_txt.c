/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_txt.c - one key a line. Empty lines and lines that begin with # are passed over; an unsigned 64-bit number is
 * the key itself, other text is hashed (option hash=1: everything is). Option header=1 passes over the first line, and
 * a first line that is a usual name of a column is refused unless header=0 says that it is a key.
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "workload/reader.h"
#include "workload/trace.h"

enum { LINE_MOST = 64 << 10 }; /* as much as a stream shows at once */

typedef struct txt {
    hd_reader reader;
    uint64_t line; /* lines read so far */
    bool hash, header_said, header;
} txt;

static hd_status fail_line(const txt *t, const char *how, hd_text line)
{
    char shown[48];
    return hd_fail(HD_ECORRUPT, "%s: line %" PRIu64 ", column 1 (byte %" PRIu64 "): %s: '%s'",
                   hd_stream_path(t->reader.stream), t->line + 1, hd_stream_offset(t->reader.stream), how,
                   hd_text_show(line, shown, sizeof shown));
}

/* One line of n bytes without its end. A comment or an empty line adds no request. */
static hd_status line_take(txt *t, hd_text line, hd_request *r, size_t *got)
{
    bool fits = line.n < LINE_MOST, hashed;
    line = hd_text_trim(line);
    if (line.n == 0) return HD_OK;
    const char *why = !fits                          ? "a line above 64 KiB"
                      : memchr(line.p, '\r', line.n) ? "a CR inside a line; lines end in LF or CR LF"
                                                     : NULL;
    if (!why && line.p[0] == '#') return HD_OK;
    if (!why && !t->header_said && !t->reader.source.any && t->reader.number == 0 && hd_text_is_name(line))
        why = "it looks like a column's name; say header=1, or header=0 if it is a key";
    if (t->header && t->reader.number == 0) {
        t->header = false;
        return HD_OK;
    }
    if (!why && !hd_text_key(line, t->hash, &r[*got].key, &hashed)) why = "not text";
    if (why) {
        if (!t->reader.lenient) return fail_line(t, why, line);
        t->reader.source.skipped++;
        return HD_OK;
    }
    r[*got] = (hd_request){ .key = r[*got].key, .size = 1, .verb = HD_READ };
    ++*got;
    t->reader.number++;
    t->reader.source.hashed += hashed;
    return HD_OK;
}

static hd_status txt_next(hd_source *s, hd_request *r, size_t max, size_t *got)
{
    txt *t = (txt *)s;
    for (*got = 0; *got < max;) {
        const uint8_t *p;
        size_t n;
        hd_status e = hd_stream_peek(t->reader.stream, LINE_MOST, &p, &n);
        if (e || n == 0) return e;
        const char *at = (const char *)p, *end = at + n;
        const char *last = (const char *)memrchr(at, '\n', n);
        if (!last && n >= LINE_MOST) {
            if (!t->reader.lenient) return fail_line(t, "a line above 64 KiB", (hd_text){ at, n });
            t->reader.source.skipped++;
            t->line++;
            e = hd_reader_skip_line(&t->reader);
            if (e) return e;
            continue;
        }
        if (last) end = last + 1; /* else the file's last line, which has no end */
        while (at < end && *got < max) {
            const char *stop = (const char *)memchr(at, '\n', (size_t)(end - at));
            size_t line_bytes = (size_t)((stop ? stop : end) - at);
            e = line_take(t, (hd_text){ at, line_bytes }, r, got);
            if (e) return e;
            t->line++;
            hd_stream_skip(t->reader.stream, line_bytes + (stop != NULL));
            at += line_bytes + 1;
        }
        hd_reader_progress(&t->reader);
    }
    return HD_OK;
}

static hd_status txt_open(const hd_source_args *a, hd_source **s)
{
    static const char *const known[] = { "hash", "header", NULL };
    bool hash, header = false;
    hd_reader *r;
    hd_status e = hd_source_flag(a, "hash", false, &hash);
    if (!e) e = hd_source_flag(a, "header", false, &header);
    if (!e) e = hd_reader_open(a, known, sizeof(txt), &r);
    if (e) return e;
    r->source.next = txt_next;
    txt *t = (txt *)(void *)r;
    t->hash = hash;
    t->header = header;
    t->header_said = hd_source_option(a, "header", NULL) != NULL;
    return hd_reader_opened(r, hd_reader_mark(r), s);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static hd_status txt_encode(const hd_request *r, uint64_t number, uint8_t *to, size_t *bytes)
{
    (void)number;
    *bytes = hd_print_u64((char *)to, r->key);
    to[(*bytes)++] = '\n';
    return HD_OK;
}

const hd_trace_format hd_trace_txt = { .name = "txt", .encode = txt_encode };

const hd_source_row hd_workload_txt = { "txt", "one key a line, # comments", "txt:FILE[,hash=0|1][,header=0|1]", true,
                                        txt_open };
