/* SPDX-License-Identifier: Apache-2.0
 *
 * trace.c - writing traces: requests through a format into a sink, and from any source to any format.
 */
#include "workload/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "workload/link.h"
#include "workload/stream.h"

enum {
    BLOCK = 4096, /* requests per step of a conversion */
    GATHERED = 512 * HD_ENCODED_MOST
}; /* bytes                             */

static const hd_trace_format *const formats[] = {
    &hd_trace_oracleGeneral, &hd_trace_csv, &hd_trace_txt, &hd_trace_vscsi1, &hd_trace_vscsi2,
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

struct hd_trace_writer {
    const hd_seams *seams;
    const hd_trace_format *format;
    hd_sink *sink;
    uint64_t number; /* requests written */
    size_t used;
    uint8_t gathered[GATHERED];
};

const char *hd_trace_format_at(size_t i) { return i < FORMATS ? formats[i]->name : NULL; }

static hd_status format_find(const char *name, const hd_trace_format **format)
{
    char nearest[HD_NEAREST_TEXT];
    hd_nearest near = { name, NULL, 0 };
    for (size_t i = 0; i < FORMATS; i++) {
        hd_nearest_try(&near, formats[i]->name);
        *format = formats[i];
        if (strcmp(name, formats[i]->name) == 0) return HD_OK;
    }
    return hd_fail(HD_EINVAL, "format: '%.40s' cannot be written%s; all: oracleGeneral, csv, txt, vscsi1, vscsi2", name,
                   hd_nearest_text(&near, "", nearest));
}

/* ---- The writer ------------------------------------------------------------------------------ */

/* Times without a name of their unit are seconds. */
static hd_status head_write(const hd_trace_writer *w, uint64_t tick)
{
    const char *unit = hd_unit_name(tick);
    char text[64];
    if (!w->format->head) return HD_OK;
    bool named = unit && strcmp(unit, "s") != 0;
    snprintf(text, sizeof text, "time%s%s%s", named ? "_" : "", named ? unit : "", w->format->head);
    return hd_sink_write(w->sink, text, strlen(text));
}

static hd_status writer_open(const hd_seams *seams, const char *path, const char *format, uint64_t tick,
                             hd_trace_writer **writer)
{
    const hd_trace_format *f = NULL;
    void *p = NULL;
    if (!seams) seams = &hd_seams_os;
    hd_status e = format_find(format, &f);
    if (!e) e = hd_take(seams, "a trace writer", 1, sizeof(hd_trace_writer), &p);
    if (e) return e;
    hd_trace_writer *w = (hd_trace_writer *)p;
    *w = (hd_trace_writer){ .seams = seams, .format = f };
    e = hd_sink_open(seams, path, &w->sink);
    if (!e) e = head_write(w, tick);
    if (e) {
        hd_trace_close(w, false);
        return e;
    }
    *writer = w;
    return HD_OK;
}

hd_status hd_trace_create(const hd_seams *seams, const char *path, const char *format, hd_trace_writer **w)
{
    return writer_open(seams, path, format, 0, w);
}

static hd_status gathered_write(hd_trace_writer *w)
{
    hd_status e = hd_sink_write(w->sink, w->gathered, w->used);
    w->used = 0;
    return e;
}

hd_status hd_trace_put(hd_trace_writer *w, const hd_request *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t bytes;
        hd_status e = GATHERED - w->used < HD_ENCODED_MOST ? gathered_write(w) : HD_OK;
        if (!e) e = w->format->encode(&r[i], w->number + 1, w->gathered + w->used, &bytes);
        if (e) return e;
        w->used += bytes;
        w->number++;
    }
    return HD_OK;
}

hd_status hd_trace_close(hd_trace_writer *w, bool keep)
{
    if (!w) return HD_OK;
    hd_status e = keep ? gathered_write(w) : HD_OK;
    hd_status closed = hd_sink_close(w->sink, keep && !e);
    hd_give(w->seams, w, 1, sizeof *w);
    return e ? e : closed;
}

/* ---- Converting ------------------------------------------------------------------------------ */

static hd_status emit(void *writer, const hd_request *r, size_t n)
{
    return hd_trace_put((hd_trace_writer *)writer, r, n);
}

/* Times in units of `from` nanoseconds become times in units of `to`; those that lose a fraction are counted. */
static hd_status times_convert(hd_request *r, size_t n, uint64_t from, uint64_t to, uint64_t first, uint64_t *cut)
{
    if (from == 0 || to == 0 || from == to) return HD_OK;
    for (size_t i = 0; i < n; i++) {
        if (from < to) {
            *cut += r[i].time % (to / from) != 0;
            r[i].time /= to / from;
        } else if (r[i].time > UINT64_MAX / (from / to)) {
            return hd_fail(HD_EINVAL, "request %" PRIu64 ": time %" PRIu64 " %s does not fit into 64 bits of %s",
                           first + i, r[i].time, hd_unit_name(from), hd_unit_name(to));
        } else {
            r[i].time *= from / to;
        }
    }
    return HD_OK;
}

/* Through `block`, BLOCK requests at a time. */
static hd_status convert(hd_source *from, uint64_t limit, hd_request *block, const char *path, hd_trace_writer *to,
                         uint64_t *cut)
{
    hd_link *link = NULL;
    hd_status e = HD_OK;
    size_t got = 0;
    for (uint64_t left = limit; !e && left; left -= got) {
        e = hd_source_next(from, block, left < BLOCK ? (size_t)left : BLOCK, &got);
        if (e || got == 0) break;
        bool first = left == limit, unlinked = block[0].next == 0 || limit != UINT64_MAX;
        if (first && to->format->wants_next && unlinked) e = hd_link_open(to->seams, path, &link);
        if (!e) e = times_convert(block, got, from->tick, to->format->tick, limit - left + 1, cut);
        if (!e) e = link ? hd_link_put(link, block, got) : hd_trace_put(to, block, got);
    }
    if (!e && link) e = hd_link_finish(link, emit, to);
    hd_link_close(link);
    return e;
}

hd_status hd_trace_convert(hd_source *from, uint64_t limit, const char *path, const char *format,
                           hd_trace_written *written)
{
    hd_trace_writer *to = NULL;
    hd_trace_written did = { 0 };
    void *block = NULL;
    hd_status e = hd_take(from->seams, "a block of requests", BLOCK, sizeof(hd_request), &block);
    if (!e) e = writer_open(from->seams, path, format, from->tick, &to);
    if (!e) e = convert(from, limit ? limit : UINT64_MAX, (hd_request *)block, path, to, &did.cut);
    hd_give(from->seams, block, BLOCK, sizeof(hd_request));
    if (e) {
        hd_trace_close(to, false);
        return e;
    }
    did.requests = to->number;
    did.tick = from->tick && to->format->tick ? to->format->tick : to->format->head ? from->tick : 0;
    e = hd_trace_close(to, true);
    if (!e && written) *written = did;
    return e;
}
