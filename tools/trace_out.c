/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_out.c - formats by name and by ending, and a source that is watched.
 */
#include "tools/trace_out.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "tools/request.h"

/* ---- Formats to write ------------------------------------------------------------------------ */

static const char *writer_named(const char *format)
{
    if (strcmp(format, "vscsi") == 0) format = "vscsi2"; /* readers tell the two versions apart themselves */
    const char *row;
    for (size_t i = 0; (row = hd_trace_format_at(i)); i++)
        if (strcmp(row, format) == 0) return row;
    return NULL;
}

const char *trace_ending(const char *path, char text[TRACE_PATH])
{
    size_t n = strlen(path);
    if (n >= TRACE_PATH) return NULL;
    memcpy(text, path, n + 1);
    char *dot = strrchr(text, '.');
    if (dot && (strcmp(dot, ".zst") == 0 || strcmp(dot, ".gz") == 0)) {
        *dot = '\0';
        dot = strrchr(text, '.');
    }
    return dot ? dot + 1 : NULL;
}

static const char *writer_by_ending(const char *path)
{
    if (strcmp(path, "-") == 0) return "txt";
    char text[TRACE_PATH];
    const char *ending = trace_ending(path, text);
    return ending ? writer_named(ending) : NULL;
}

const char *trace_writer_pick(const char *path, const char *format)
{
    const char *row = format ? writer_named(format) : writer_by_ending(path);
    if (row) return row;
    char all[128] = "";
    const char *name[16] = { NULL };
    for (size_t i = 0, used = 0; used < sizeof all && i < 15 && (name[i] = hd_trace_format_at(i)); i++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", name[i]);
    if (format)
        tool_say(TOOL_USAGE, "format: nothing writes '%.60s'%s; all: %s", format, tool_nearest(format, name), all);
    else
        tool_say(TOOL_USAGE, "the ending of '%s' names no format; say which with --format: %s", path, all);
    return NULL;
}

/* ---- What was read -------------------------------------------------------------------------------- */

void source_tell(source_told *t, const hd_source *s)
{
    *t = (source_told){ .skipped = s->skipped, .deletes = s->deletes, .extra = s->extra, .hashed = s->hashed };
    snprintf(t->unread, sizeof t->unread, "%s", s->unread ? s->unread : "");
    snprintf(t->header, sizeof t->header, "%s", s->header ? s->header : "");
}

/* On standard error, where no report can say it. */
static void told_say(const source_told *t)
{
    if (t->skipped) tool_say(TOOL_OK, "%" PRIu64 " bad records were left out", t->skipped);
    if (t->deletes) tool_say(TOOL_OK, "%" PRIu64 " deletes were left out", t->deletes);
    if (*t->header) tool_say(TOOL_OK, "line 1 is taken for a header: %s", t->header);
}

void source_told_facts(out *r, const source_told *t, bool lenient)
{
    if (out_drops_facts(r)) told_say(t);
    if (lenient) out_fact(r, "skipped", "bad records, left out", OUT_COUNT, out_count(t->skipped));
    if (t->deletes) out_fact(r, "deletes", "deletes, left out", OUT_COUNT, out_count(t->deletes));
    if (t->extra) out_fact(r, "extra", "requests beyond one a record", OUT_COUNT, out_count(t->extra));
    if (t->hashed) out_fact(r, "hashed", "keys that are text, hashed", OUT_COUNT, out_count(t->hashed));
    if (*t->header) out_fact(r, "header", "line 1 is a header", OUT_TEXT, out_text(t->header));
    if (*t->unread) out_fact(r, "unread", "columns not read", OUT_TEXT, out_text(t->unread));
}

void trace_source_facts(out *r, const hd_source *s, bool lenient, const hd_trace_written *written)
{
    uint64_t cut = s->cut + (written ? written->cut : 0);
    source_told told;
    source_tell(&told, s);
    source_told_facts(r, &told, lenient);
    if (!s->tick) return;
    out_fact(r, "time_unit", "unit of times", OUT_TEXT, out_text(hd_unit_name(s->tick)));
    out_fact(r, "time_unit_assumed", s->tick_assumed ? "unit is assumed" : NULL, OUT_FLAG, out_flag(s->tick_assumed));
    if (written && written->tick)
        out_fact(r, "time_unit_to", "unit that was written", OUT_TEXT, out_text(hd_unit_name(written->tick)));
    if (cut) out_fact(r, "times_cut", "times cut to whole units", OUT_COUNT, out_count(cut));
}

void trace_source_says(const hd_source *s, const hd_trace_written *written)
{
    source_told told;
    source_tell(&told, s);
    told_say(&told);
    if (s->unread) tool_say(TOOL_OK, "columns not read: %s", s->unread);
    if (s->tick_assumed && written->tick) tool_say(TOOL_OK, "the times are taken for seconds; unit= says another unit");
    if (s->cut + written->cut) tool_say(TOOL_OK, "%" PRIu64 " times were cut to whole units", s->cut + written->cut);
}

/* ---- Watching a source ----------------------------------------------------------------------- */

static hd_status watched_next(hd_source *s, hd_request *r, size_t max, size_t *got)
{
    watched *w = (watched *)s;
    hd_status e = hd_source_next(w->from, r, max, got);
    if (e) return e;
    w->done += *got;
    s->bytes_read = w->from->bytes_read;
    bool stop = progress_at(&w->line, w->done, w->limit, request_share(w->from, w->done, w->limit));
    return stop ? hd_fail(HD_EIO, "interrupted") : HD_OK;
}

static void watched_close(hd_source *s) { hd_source_close(((watched *)s)->from); }

hd_source *watched_begin(watched *w, hd_source *from, const char *what, uint64_t limit)
{
    memset(w, 0, sizeof *w);
    w->source = *from;
    w->source.next = watched_next;
    w->source.close = watched_close;
    w->source.foreign = NULL; /* the one below says it */
    w->from = from;
    w->limit = limit;
    progress_begin(&w->line, what, "requests");
    return &w->source;
}

void watched_end(watched *w) { progress_end(&w->line); }
