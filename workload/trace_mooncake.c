/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_mooncake.c - Mooncake's traces of language models: a JSON object a line,
 *
 *     {"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47, ...]}
 *
 * A line is a request for each of its hash_ids, in their order: each names a block of 512 tokens and all before it.
 * The timestamp is milliseconds. Blocks have no sizes; the lengths are not read.
 */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "base/error.h"
#include "workload/reader.h"

enum { LINE_MOST = 64 << 10 /* as much as a stream shows at once */, MILLISECOND = 1000000 };

typedef struct mooncake {
    hd_reader reader;
    uint64_t line;     /* lines read so far              */
    json_t *of;        /* the last one; NULL: none       */
    const json_t *ids; /* its blocks, and which is next  */
    size_t at;
    uint64_t time;
} mooncake;

static void line_give(mooncake *m)
{
    json_decref(m->of);
    m->of = NULL;
}

static void mooncake_close(hd_source *s)
{
    line_give((mooncake *)(void *)s);
    hd_reader_close(s);
}

/* Takes what is left of the line, at most `max` requests. */
static void ids_take(mooncake *m, hd_request *r, size_t max, size_t *got)
{
    const size_t ids = json_array_size(m->ids);
    for (; m->at < ids && *got < max; m->at++) {
        const uint64_t id = (uint64_t)json_integer_value(json_array_get(m->ids, m->at));
        m->reader.source.extra += m->at > 0;
        r[(*got)++] = (hd_request){ .key = id, .time = m->time, .size = 1, .verb = HD_READ };
    }
    if (m->at == ids) line_give(m);
}

static bool is_id(const json_t *id) { return json_is_integer(id) && json_integer_value(id) >= 0; }

/* NULL, or what is wrong with the line, whose object is m->of. */
static const char *line_check(mooncake *m, uint64_t *cut)
{
    const json_t *time = json_object_get(m->of, "timestamp");
    m->ids = json_object_get(m->of, "hash_ids");
    m->at = 0;
    const double v = json_is_number(time) ? json_number_value(time) : -1;
    if (!json_is_object(m->of)) return "no JSON object";
    if (!(v >= 0 && v < 0x1p63)) return "timestamp: no number from 0";
    if (!json_is_array(m->ids) || json_array_size(m->ids) == 0) return "hash_ids: no array of numbers";
    for (size_t i = 0; i < json_array_size(m->ids); i++)
        if (!is_id(json_array_get(m->ids, i))) return "hash_ids: not a whole number from 0 to 2^63 - 1";
    m->time = json_is_integer(time) ? (uint64_t)json_integer_value(time) : (uint64_t)v;
    *cut = !json_is_integer(time) && v != (double)m->time;
    return NULL;
}

static hd_status line_bad(mooncake *m, const char *why, int column)
{
    line_give(m);
    m->reader.source.skipped += m->reader.lenient;
    if (m->reader.lenient) return HD_OK;
    return hd_fail(HD_ECORRUPT, "%s: line %" PRIu64 ", column %d: %s", hd_stream_path(m->reader.stream), m->line,
                   column, why);
}

static hd_status line_read(mooncake *m, hd_text line)
{
    json_error_t error;
    uint64_t cut = 0;
    m->line++;
    line = hd_text_trim(line);
    if (line.n == 0) return HD_OK;
    m->of = json_loadb(line.p, line.n, JSON_REJECT_DUPLICATES, &error);
    if (!m->of && json_error_code(&error) == json_error_out_of_memory)
        return hd_fail(HD_ENOMEM, "%s: no memory for its JSON", hd_stream_path(m->reader.stream));
    if (!m->of) return line_bad(m, error.text, error.column > 0 ? error.column : 1);
    const char *why = line_check(m, &cut);
    m->reader.source.cut += cut;
    return why ? line_bad(m, why, 1) : HD_OK;
}

/* Takes the next line. *end: there is none. */
static hd_status line_take(mooncake *m, bool *end)
{
    const uint8_t *p;
    size_t n = 0;
    hd_status e = hd_stream_peek(m->reader.stream, LINE_MOST, &p, &n);
    *end = n == 0;
    if (e || n == 0) return e;
    const char *at = (const char *)p, *stop = (const char *)memchr(at, '\n', n);
    if (stop || n < LINE_MOST) {
        const size_t bytes = stop ? (size_t)(stop - at) : n;
        e = line_read(m, (hd_text){ at, bytes });
        hd_stream_skip(m->reader.stream, bytes + (stop != NULL));
        return e;
    }
    m->line++;
    e = line_bad(m, "a line above 64 KiB", 1);
    return e ? e : hd_reader_skip_line(&m->reader);
}

static hd_status mooncake_next(hd_source *s, hd_request *r, size_t max, size_t *got)
{
    mooncake *m = (mooncake *)(void *)s;
    hd_status e = HD_OK;
    *got = 0;
    for (bool end = false; !e && !end && *got < max;) {
        if (m->of)
            ids_take(m, r, max, got);
        else
            e = line_take(m, &end);
    }
    hd_reader_progress(&m->reader);
    return e;
}

static hd_status mooncake_open(const hd_source_args *a, hd_source **s)
{
    static const char *const known[] = { NULL };
    hd_reader *r;
    hd_status e = hd_reader_open(a, known, sizeof(mooncake), &r);
    if (e) return e;
    r->source.next = mooncake_next;
    r->source.close = mooncake_close;
    r->source.tick = MILLISECOND;
    return hd_reader_opened(r, hd_reader_mark(r), s);
}

const hd_source_row hd_workload_mooncake = { "mooncake", "Mooncake's traces of blocks of 512 tokens, JSON a line",
                                             "mooncake:FILE", true, mooncake_open };
