/* SPDX-License-Identifier: Apache-2.0
 *
 * replay_lanes.c - rows in lanes.
 */
#include "tools/replay_lanes.h"

#include <stdio.h>

#include "tools/progress.h"

static int no_lane(const replay_plan *p, const char *name)
{
    char all[256] = "";
    size_t n = 0;
    for (size_t i = 0; lanes_name(i); i++)
        n += (size_t)snprintf(all + n, sizeof all - n, "%s%s", i ? ", " : "", lanes_name(i));
    return tool_say(TOOL_USAGE, "--backend %s: it has no %s, but %s; --backend ref has it", p->backend, name, all);
}

int replay_lanes_open(replay_lanes *l, replay_plan *p, const replay_list *policies)
{
    hd_device device;
    bool host = p->backend && strcmp(p->backend, "host") == 0, cuda = p->backend && strcmp(p->backend, "cuda") == 0;
    for (size_t i = 0; (host || cuda) && i < policies->items; i++) {
        const char *name = policies->item[i];
        if (!baseline_named(name)) continue;
        l->device = host ? &lanes_host : &hd_device_os;
        if (!lanes_policy(name)) return no_lane(p, name);
    }
    p->laned = l->device != NULL;
    if (!p->laned) return TOOL_OK;
    if (p->every) return tool_say(TOOL_USAGE, "--every: exact caches have windows with --backend ref alone");
    int code = l->device->find(l->device->self, &device);
    return code ? tool_fail(hd_fail(HD_ECUDA, "no CUDA device: %s", l->device->error(l->device->self, code))) : TOOL_OK;
}

/* ---- Reading --------------------------------------------------------------------------------------------- */

static hd_status trace_read(lanes_trace *t, const replay_plan *p, source_told *told)
{
    static hd_request request[REPLAY_BATCH];
    hd_source *source = NULL;
    hd_status s = hd_source_open(p->source, &source);
    progress line;
    progress_begin(&line, "reading", "requests");
    if (!s) t->sized = source->sized;
    for (bool end = false; !s && !end;) {
        uint64_t left = p->limit - t->read;
        size_t want = p->limit && left < REPLAY_BATCH ? (size_t)left : REPLAY_BATCH, got = 0;
        s = hd_source_next(source, request, want, &got);
        if (!s) s = lanes_trace_add(t, request, got);
        end = got < want || t->read == p->limit ||
              progress_at(&line, t->read, p->limit, request_share(source, t->read, p->limit));
    }
    progress_end(&line);
    if (!s) source_tell(told, source);
    hd_source_close(source);
    return s;
}

/* ---- Running --------------------------------------------------------------------------------------------- */

static bool is_laned(const replay_row *r) { return r->full && !r->repeats; }

static bool run_stops(void *line, uint64_t done, uint64_t total)
{
    return progress_at((progress *)line, done, total, -1);
}

static void row_result(replay_row *r, const lanes_trace *t, const replay_plan *p, const lanes_cache *c)
{
    r->ran = true;
    r->sized = t->sized;
    r->replayed = t->read;
    r->all = (replay_count){ .requests = t->sampled + t->reserved,
                             .misses = c->misses,
                             .evicted = c->evicted,
                             .reserved = t->reserved,
                             .bytes = t->sized ? t->bytes : 0,
                             .missed_bytes = c->missed_bytes,
                             .unsampled = t->unsampled,
                             .rate = p->rate > 0 ? sample_rate(&t->chosen) : 0 };
}

static hd_status rows_run(replay_lanes *l, const replay_plan *p, const lanes_trace *t, replay_row *row, size_t rows)
{
    lanes_cache *cache = (lanes_cache *)calloc(rows, sizeof *cache);
    if (!cache) return hd_fail(HD_ENOMEM, "%zu caches: memory was refused", rows);
    for (size_t i = 0; i < rows; i++)
        if (is_laned(&row[i]))
            cache[l->caches++] =
                (lanes_cache){ .policy = lanes_policy(row[i].policy), .capacity = replay_units(p, &row[i]) };
    progress line;
    progress_begin(&line, "lanes", "steps");
    hd_status s = lanes_run(t, l->device, l->width, (lanes_watch){ run_stops, &line }, cache, l->caches, &l->facts);
    progress_end(&line);
    const lanes_cache *c = cache;
    for (size_t i = 0; i < rows && !s; i++)
        if (is_laned(&row[i])) row_result(&row[i], t, p, c++);
    free(cache);
    return s;
}

int replay_lanes_run(replay_lanes *l, const replay_plan *p, replay_row *row, size_t rows)
{
    lanes_trace t = { .chosen = sample_of(p->rate > 0 ? p->rate : 1, p->seed), .warmup = p->warmup };
    source_told told = { .skipped = 0 };
    if (!l->device) return TOOL_OK;
    if (row->bytes)
        return tool_say(TOOL_USAGE, "size: %s: --backend %s has exact caches of entries, not of bytes", row->asked,
                        p->backend);
    uint64_t begin = progress_now_ns();
    hd_status s = trace_read(&t, p, &told);
    uint64_t read = progress_now_ns();
    if (!s && !tool_stopped()) s = rows_run(l, p, &t, row, rows);
    uint64_t end = progress_now_ns();
    l->read_s = (double)(read - begin) * 1e-9;
    l->run_s = (double)(end - read) * 1e-9;
    l->steps = (uint64_t)t.requests * l->caches;
    for (size_t i = 0; i < rows && !s; i++) {
        if (!is_laned(&row[i])) continue;
        row[i].told = told;
        row[i].seconds = (l->read_s + l->run_s) / (double)l->caches;
    }
    lanes_trace_close(&t);
    return s ? tool_fail(s) : tool_stopped() ? TOOL_STOPPED : TOOL_OK;
}

void replay_lanes_facts(out *o, const replay_lanes *l)
{
    if (!l->device) return;
    out_fact(o, "lanes", "caches in lanes", OUT_COUNT, out_count(l->caches));
    out_fact(o, "lane_groups", "groups", OUT_COUNT, out_count(l->facts.groups));
    out_fact(o, "lane_bytes", "memory of lanes", OUT_BYTES, out_count(l->facts.bytes));
    out_fact(o, "lane_width", "lanes of a warp", OUT_COUNT, out_count(l->facts.width));
    out_fact(o, "read_s", "reading", OUT_SECONDS, out_real(l->read_s));
    out_fact(o, "lanes_s", "all lanes", OUT_SECONDS, out_real(l->run_s));
    out_fact(o, "lane_requests_per_s", "their requests", OUT_RATE, out_real((double)l->steps / l->run_s));
}
