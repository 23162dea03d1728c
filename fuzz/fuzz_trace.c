/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_trace.c - any bytes as a file of requests, of each format, plain or compressed. A reader delivers requests, or
 * refuses with the place; in blocks of another size and by reads of another length it does exactly the same; its memory
 * stays under 64 MiB whatever the file says, and nothing of it remains.
 *
 *   byte 0   the format and its options        byte 2   requests at a time, of the second reading
 *   byte 1   1: lenient                         then     the file; of lcs, its version, its number of requests
 *                                                        (8 bytes), and what follows the header
 */
#include <inttypes.h>
#include <string.h>

#include "fuzz/feed.h"
#include "fuzz/fuzz.h"
#include "fuzz/trace_specs.h"
#include "fuzz/fake_os.h"
#include "workload/reader.h"

enum { MOST = 4096, REQUESTS = 4096 /* generators, and bombs, do not end */, LCS_HEADER = 8192 };
#define LCS_MAGIC UINT64_C(0x123456789abcdef0)

/* One reading of the file: what came out of it, and how it ended. */
typedef struct reading {
    uint64_t hash, requests, skipped;
    hd_status status;
    char why[512];
} reading;

static uint64_t mix(uint64_t hash, uint64_t v) { return (hash ^ v) * 0x9e3779b97f4a7c15u ^ hash >> 29; }

static void take(reading *r, const hd_request *request, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        r->hash = mix(mix(r->hash, request[i].key), request[i].time);
        r->hash = mix(mix(r->hash, (uint64_t)request[i].next), (uint64_t)request[i].size << 32 | request[i].verb);
    }
    r->requests += n;
}

static hd_status go_through(hd_source *s, size_t at_once, reading *r)
{
    hd_request block[256];
    size_t got = 1;
    hd_status status = HD_OK;
    while (!status && got && r->requests < REQUESTS) {
        size_t want = REQUESTS - r->requests < at_once ? (size_t)(REQUESTS - r->requests) : at_once;
        status = hd_source_next(s, block, want, &got);
        if (!status) take(r, block, got);
    }
    r->skipped = s->skipped;
    return status;
}

static const char *read_file(const uint8_t *file, size_t n, const char *spec, bool lenient, size_t at_once,
                             uint64_t read_most, bool pipe, reading *r)
{
    fuzz_world w;
    char store[128];
    static const char *const there[] = { "x", NULL };
    hd_source_args a;
    hd_source *s = NULL;
    memset(&a, 0, sizeof a);
    memset(r, 0, sizeof *r);
    fuzz_world_open(&w);
    r->status = hd_source_parse(spec, store, sizeof store, &a);
    a.seams = &w.seams;
    a.seed = 1;
    a.lenient = lenient;
    w.read_most = read_most;
    w.pipes = pipe;
    if (!fuzz_world_put(&w, "x", file, n)) r->status = HD_ENOMEM;
    if (!r->status) r->status = hd_source_open(&a, &s);
    if (!r->status) r->status = go_through(s, at_once, r);
    if (r->status) strncpy(r->why, hd_why(), sizeof r->why - 1);
    hd_source_close(s);
    const char *why = w.peak > 64 << 20 ? fuzz_say("it took %" PRIu64 " bytes of memory", w.peak) : NULL;
    const char *left = fuzz_world_close(&w, there);
    return why ? why : left;
}

/* What a refusal must say: the file first, and a place in it. A histogram's fields are its places. */
static const char *refusal(const reading *r, const char *spec)
{
    static const char *const place[] = { "byte ",    "line ",       "popularity",
                                         "oneHits",  "weights for", "buckets; at most",
                                         "too long", NULL };
    /* a csv that could be either wants to be told */
    if (r->status == HD_EINVAL && strstr(r->why, "header")) return NULL;
    if (r->status != HD_ECORRUPT)
        return fuzz_say("%s: %s: %s, of a file that can only be damaged", spec, hd_status_name(r->status), r->why);
    if (strncmp(r->why, "x:", 2) != 0) return fuzz_say("%s: the file is not named first: %s", spec, r->why);
    for (int i = 0; place[i]; i++)
        if (strstr(r->why, place[i])) return NULL;
    return fuzz_say("%s: no place is named: %s", spec, r->why);
}

static size_t file_make(uint8_t *file, const char *spec, feed *f)
{
    size_t head = 0;
    if (strncmp(spec, "lcs", 3) == 0) {
        head = LCS_HEADER;
        memset(file, 0, head);
        hd_store64(file, LCS_MAGIC);
        hd_store64(file + 8, feed_byte(f));
        hd_store64(file + 24, feed_word(f, 8));
        hd_store64(file + head - 8, LCS_MAGIC);
    }
    const size_t n = feed_left(f);
    if (n) memcpy(file + head, f->next, n);
    return head + n;
}

static const char *run(const uint8_t *bytes, size_t n, uint64_t *steps)
{
    feed f = feed_of(bytes, n);
    const char *spec = trace_specs[feed_below(&f, TRACE_SPECS)];
    bool lenient = feed_byte(&f) & 1;
    uint8_t at_once = feed_byte(&f);
    static uint8_t file[LCS_HEADER + MOST];
    const size_t file_bytes = file_make(file, spec, &f);
    bool pipe = at_once & 1; /* whose length is not known: a short last record is seen at the end */
    reading a, b;
    const char *why = read_file(file, file_bytes, spec, lenient, 256, 0, false, &a);
    if (!why) why = read_file(file, file_bytes, spec, lenient, at_once ? at_once : 1, 1 + at_once % 7, pipe, &b);
    if (why) return fuzz_say("%s: %s", spec, why);
    *steps += a.requests + b.requests;
    if (a.status != b.status || (!pipe && strcmp(a.why, b.why) != 0))
        return fuzz_say("%s: read in pieces it ends otherwise: '%s' and '%s'", spec, a.why, b.why);
    bool ended = a.status == HD_OK; /* before a damage, blocks may end at other requests */
    if (ended && (a.hash != b.hash || a.requests != b.requests || a.skipped != b.skipped))
        return fuzz_say("%s: read in pieces it is another trace", spec);
    if (ended && a.requests == 0) return fuzz_say("%s: a file without one request was taken", spec);
    if (!lenient && a.skipped) return fuzz_say("%s: %" PRIu64 " records were skipped without leave", spec, a.skipped);
    return ended ? NULL : refusal(&a, spec);
}

static size_t tell(const uint8_t *bytes, size_t n, char *text, size_t room)
{
    fuzz_text t = fuzz_text_in(text, room);
    feed f = feed_of(bytes, n);
    const char *spec = trace_specs[feed_below(&f, TRACE_SPECS)];
    bool lenient = feed_byte(&f) & 1;
    feed_byte(&f);
    fuzz_put(&t, "%s%s, a file of %zu bytes: ", spec, lenient ? " lenient" : "", feed_left(&f));
    fuzz_put_quoted(&t, f.next, feed_left(&f));
    return t.used;
}

static const char *const words[] = {
    "time,key,size,verb\n",
    "7,1,512,read\n",
    "1\n",
    "\n",
    "\r\n",
    ",",
    ";",
    "\"",
    "\"\"",
    "#",
    "18446744073709551615",
    "18446744073709551616",
    "4294967296",
    "1.5",
    "key",
    "-1",
    "\377\377\377\377\377\377\377\377",
    "tttt"
    "objectid"
    "size"
    "\377\377\377\377\377\377\377\377",
    "\357\273\277",
    "7,nz:u:a,9,100,1,get,0\n",
    "key,op,size,op_count,key_size\n",
    "5,GET,10,3,4\n",
    "128166372003061629,usr,0,Read,7014609920,24576,41286\n",
    "{\"timestamp\": 5, \"hash_ids\": [1, 2, 3]}\n",
    "DELETE",
    "e3",
    ">read\nGATTACANNacgt\n",
    "@r\nACGT\n+\nIIII\n",
    "+",
    "@",
    ">",
    "{\"popularityWeights\": [3, 1], \"popularityBuckets\": [2, 5], \"oneHits\": 0.5}",
    "[",
    "]",
    "{",
    "}",
    "1e308",
    "\"oneHits\": ",
    "\050\265\057\375",
    "\037\213\010",
    NULL,
};

const fuzz_target fuzz_trace = {
    "trace",
    "a file as a trace, of every format: the same in pieces and as a pipe, refused with the place, in bounded memory",
    MOST,
    16,
    run,
    tell,
    words
};
