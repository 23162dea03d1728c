/* SPDX-License-Identifier: Apache-2.0
 *
 * traces.c - see traces.h.
 */
#include "tests/traces.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "workload/reader.h"

hd_status open_spec(const hd_seams *seams, const char *spec, bool lenient, hd_source **s)
{
    char store[4096 + 256];
    hd_source_args a;
    hd_status e = hd_source_parse(spec, store, sizeof store, &a);
    a.seams = seams;
    a.lenient = lenient;
    return e ? e : hd_source_open(&a, s);
}

taken take_all(const hd_seams *seams, const char *spec, bool lenient, size_t most)
{
    enum { AT_ONCE = 4096, MOST = 1 << 21 };
    taken t = { .status = HD_OK };
    hd_source *s = NULL;
    uint64_t seed = 1;
    size_t room = 0;
    t.status = open_spec(seams, spec, lenient, &s);
    while (!t.status && t.n < MOST) {
        size_t max = most ? most : 1 + (size_t)test_below(&seed, 9), got = 0;
        if (t.n + AT_ONCE > room) {
            room = 2 * room + 2 * AT_ONCE;
            t.r = (hd_request *)realloc(t.r, room * sizeof *t.r);
            check(t.r, "no memory for %zu requests", room);
        }
        t.status = hd_source_next(s, t.r + t.n, max, &got);
        check(got <= max, "%zu requests of at most %zu", got, max);
        t.n += got;
        if (!t.status && got < max) break;
    }
    snprintf(t.why, sizeof t.why, "%s", t.status ? hd_why() : "");
    if (s) t.skipped = s->skipped, t.deletes = s->deletes, t.extra = s->extra, t.cut = s->cut;
    hd_source_close(s);
    return t;
}

void taken_free(taken *t) { free(t->r); }

static bool same_request(const hd_request *a, const hd_request *b)
{
    return a->key == b->key && a->time == b->time && a->next == b->next && a->size == b->size && a->verb == b->verb;
}

void same_requests(const hd_request *a, size_t an, const hd_request *b, size_t bn)
{
    check(an == bn, "%zu requests against %zu", an, bn);
    for (size_t i = 0; i < an; i++)
        check(same_request(&a[i], &b[i]),
              "request %zu: key %" PRIu64 "/%" PRIu64 " time %" PRIu64 "/%" PRIu64 " next %" PRId64 "/%" PRId64
              " size %" PRIu64 "/%" PRIu64 " verb %u/%u",
              i + 1, a[i].key, b[i].key, a[i].time, b[i].time, a[i].next, b[i].next, a[i].size, b[i].size, a[i].verb,
              b[i].verb);
}

const char *spec_of(const char *row, const char *path, const char *options)
{
    static char spec[4][4300];
    static unsigned turn;
    char *p = spec[turn++ % 4];
    snprintf(p, sizeof spec[0], "%s:%s%s", row, path, options);
    return p;
}

hd_request *some_requests(size_t n, uint64_t seed, bool extremes)
{
    static const uint64_t extreme[] = { 0,
                                        1,
                                        UINT64_MAX,
                                        HD_KEY_LOCKED,
                                        HD_KEY_RESERVED,
                                        HD_KEY_RESERVED - 1,
                                        9999999999999999999u,
                                        10000000000000000000u,
                                        UINT32_MAX };
    hd_request *r = (hd_request *)test_alloc(n, sizeof *r);
    for (size_t i = 0; i < n; i++) {
        bool odd = extremes && test_below(&seed, 4) == 0;
        r[i].key = odd ? extreme[test_below(&seed, sizeof extreme / sizeof *extreme)] : test_below(&seed, 1000);
        r[i].time = odd && test_below(&seed, 2) ? UINT64_MAX - test_below(&seed, 2) : i;
        r[i].size = odd ? (uint32_t)(0 - test_below(&seed, 2)) : (uint32_t)test_below(&seed, 5000);
        r[i].verb = (uint32_t)test_below(&seed, 4);
    }
    return r;
}

void put_all(const char *path, const char *format, const hd_request *r, size_t n)
{
    hd_trace_writer *w;
    must(hd_trace_create(NULL, path, format, &w));
    for (size_t i = 0; i < n; i += 777) must(hd_trace_put(w, r + i, n - i < 777 ? n - i : 777));
    must(hd_trace_close(w, true));
}

void put_bytes(const char *path, const char *bytes, size_t n, bool zst)
{
    if (!zst) {
        test_write(path, bytes, n);
        return;
    }
    size_t room = ZSTD_compressBound(n);
    uint8_t *p = (uint8_t *)test_alloc(room, 1);
    test_write(path, p, ZSTD_compress(p, room, bytes, n, 1));
    free(p);
}

void lcs_header(uint8_t *p, unsigned of, uint64_t requests)
{
    const uint64_t magic = UINT64_C(0x123456789abcdef0);
    memset(p, 0, LCS_HEADER);
    hd_store64(p, magic);
    hd_store64(p + 8, of);
    hd_store64(p + 24, requests);
    hd_store64(p + LCS_HEADER - 8, magic);
}

void draw(const char *spec, uint64_t seed, size_t piece, uint64_t n, visitor *visit, void *context)
{
    static hd_request r[DRAW_AT_ONCE];
    hd_source *s;
    test_case("%s seed=%" PRIu64, spec, seed);
    must(hd_source_open_spec(spec, seed, &s));
    for (uint64_t done = 0; done < n;) {
        size_t want = n - done < piece ? (size_t)(n - done) : piece, got = 0;
        must(hd_source_next(s, r, want, &got));
        check(got == want, "%zu requests instead of %zu from a source without an end", got, want);
        for (size_t i = 0; i < got; i++) visit(context, &r[i]);
        done += got;
    }
    hd_source_close(s);
}

const char *text_file(const char *name, const char *text)
{
    const char *path = test_path(name);
    test_write(path, text, strlen(text));
    return path;
}

uint64_t refuse_each_take(const char *spec, uint64_t most)
{
    uint64_t n = 0;
    bool refused = true;
    for (uint64_t at = 1; refused; at++) {
        counting c;
        hd_source *s = NULL;
        counting_init(&c);
        c.refuse_at = at;
        test_case("%s take=%" PRIu64, spec, at);
        hd_status e = open_spec(&c.seams, spec, false, &s);
        n = 0;
        for (size_t got = 1; !e && got && n < most; n += got) {
            hd_request r[8];
            e = hd_source_next(s, r, 8, &got);
        }
        hd_source_close(s);
        refused = c.takes >= at;
        check(e == (refused ? HD_ENOMEM : HD_OK), "%s: %s", hd_status_name(e), hd_why());
        check(c.live_bytes == 0 && c.takes - (refused ? 1 : 0) == c.gives, "%" PRIu64 " bytes were not given back",
              c.live_bytes);
        check(at > 1 || refused, "no memory was taken at all");
    }
    return n;
}
