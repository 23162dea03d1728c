/* SPDX-License-Identifier: Apache-2.0
 *
 * t_trace.c - traces come back as they were written, in every form; the real one has the numbers everyone gets;
 * a file that is not what it should be is refused where it stops being so; next accesses are right; every
 * file call and every allocation may fail; and noise is answered with a status.
 */
#include "tests/faulty.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "workload/trace.h"

static const char *const ending[] = { "", ".gz", ".zst" };
enum { ENDINGS = sizeof ending / sizeof *ending };

/* What came out of a source: the requests, and what ended them. */
typedef struct taken {
    hd_request *r;
    size_t n;
    uint64_t skipped;
    hd_status status;
    char why[512];
} taken;

static void taken_free(taken *t) { free(t->r); }

static hd_status open_spec(const hd_seams *seams, const char *spec, bool lenient, hd_source **s)
{
    char store[4096 + 256];
    hd_source_args a;
    hd_status e = hd_source_parse(spec, store, sizeof store, &a);
    a.seams = seams;
    a.lenient = lenient;
    return e ? e : hd_source_open(&a, s);
}

/* Takes all, at most `most` at a time (0: by chance, 1 to 9). */
static taken take_all(const hd_seams *seams, const char *spec, bool lenient, size_t most)
{
    enum { AT_ONCE = 4096 };
    taken t = { NULL, 0, 0, HD_OK, "" };
    hd_source *s = NULL;
    uint64_t seed = 1;
    size_t room = 0;
    t.status = open_spec(seams, spec, lenient, &s);
    while (!t.status) {
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
    if (s) t.skipped = s->skipped;
    hd_source_close(s);
    return t;
}

static bool same_request(const hd_request *a, const hd_request *b)
{
    return a->key == b->key && a->time == b->time && a->next == b->next && a->size == b->size && a->verb == b->verb;
}

static void same_requests(const hd_request *a, size_t an, const hd_request *b, size_t bn)
{
    check(an == bn, "%zu requests against %zu", an, bn);
    for (size_t i = 0; i < an; i++)
        check(same_request(&a[i], &b[i]),
              "request %zu: key %" PRIu64 "/%" PRIu64 " time %" PRIu64 "/%" PRIu64 " next %" PRId64 "/%" PRId64 " size %u/%u verb %u/%u", i + 1,
              a[i].key, b[i].key, a[i].time, b[i].time, a[i].next, b[i].next, a[i].size, b[i].size, a[i].verb, b[i].verb);
}

static void same_files(const char *a, const char *b)
{
    size_t an = 0, bn = 0;
    uint8_t *ap = test_read(a, &an), *bp = test_read(b, &bn);
    check(ap && bp && an == bn && memcmp(ap, bp, an) == 0, "%s (%zu bytes) and %s (%zu bytes) differ", a, an, b, bn);
    free(ap);
    free(bp);
}

static const char *spec_of(const char *row, const char *path, const char *options)
{
    static char spec[4][4300];
    static unsigned turn;
    char *p = spec[turn++ % 4];
    snprintf(p, sizeof spec[0], "%s:%s%s", row, path, options);
    return p;
}

static uint64_t convert(const char *spec, const char *path, const char *format, uint64_t limit)
{
    hd_source *s;
    uint64_t written;
    test_case("%s to %s as %s", spec, path, format);
    must(hd_source_open_spec(spec, 1, &s));
    must(hd_trace_convert(s, limit, path, format, &written));
    hd_source_close(s);
    return written;
}

/* ---- The real trace ------------------------------------------------------------------------------------------ */

static int by_key(const void *a, const void *b)
{
    uint64_t x = ((const hd_request *)a)->key, y = ((const hd_request *)b)->key;
    return (x > y) - (x < y);
}

static void t_real(void **state)
{
    (void)state;
    const char *path = test_data("cloudPhysicsIO.oracleGeneral.zst");
    taken t = take_all(NULL, spec_of("oracleGeneral", path, ""), false, 4096);
    must(t.status);
    check(t.n == 113872, "%zu requests", t.n);
    qsort(t.r, t.n, sizeof *t.r, by_key);
    size_t distinct = t.n != 0;
    for (size_t i = 1; i < t.n; i++) distinct += t.r[i].key != t.r[i - 1].key;
    check(distinct == 48974, "%zu distinct", distinct);
    taken_free(&t);
}

/* From oracleGeneral through every other format and codec and back: the same bytes. The other formats do not know next accesses, so
 * these are computed again. txt keeps keys only: times and sizes are lost, and the links must be right nevertheless. */
static void t_real_round(void **state)
{
    (void)state;
    char real[4096];
    snprintf(real, sizeof real, "%s", spec_of("oracleGeneral", test_data("cloudPhysicsIO.oracleGeneral.zst"), ""));
    char plain[4096];
    snprintf(plain, sizeof plain, "%s", test_path("plain.oracleGeneral"));
    check(convert(real, plain, "oracleGeneral", 0) == 113872, "not all requests");
    taken all = take_all(NULL, spec_of("oracleGeneral", plain, ""), false, 1000);
    must(all.status);

    static const char *const format[][2] = { { "oracleGeneral", "oracleGeneral" }, { "csv", "csv" }, { "vscsi1", "vscsi" }, { "vscsi2", "vscsi" }, { "txt", "txt" } };
    for (size_t i = 0; i < sizeof format / sizeof *format; i++)
        for (size_t j = 0; j < ENDINGS; j++) {
            char name[64], there[4096], back[4096];
            snprintf(name, sizeof name, "there.%s%s", format[i][0], ending[j]);
            snprintf(there, sizeof there, "%s", test_path(name));
            snprintf(name, sizeof name, "back%s", ending[(j + 1) % ENDINGS]);
            snprintf(back, sizeof back, "%s", test_path(name));
            check(convert(real, there, format[i][0], 0) == 113872, "not all requests");
            check(convert(spec_of(format[i][1], there, ""), back, "oracleGeneral", 0) == 113872, "not all came back");
            taken t = take_all(NULL, spec_of("oracleGeneral", back, ""), false, 4096);
            must(t.status);
            if (strcmp(format[i][0], "txt") == 0)
                for (size_t k = 0; k < all.n && k < t.n; k++) t.r[k].time = all.r[k].time, t.r[k].size = all.r[k].size;
            same_requests(t.r, t.n, all.r, all.n);
            taken_free(&t);
            if ((j + 1) % ENDINGS == 0 && strcmp(format[i][0], "txt")) same_files(back, plain);
            unlink(there);
            unlink(back);
        }
    /* cut by a limit, a trace's next accesses end with it */
    convert(spec_of("oracleGeneral", plain, ""), test_path("cut"), "oracleGeneral", 50000);
    convert(spec_of("oracleGeneral", plain, ""), test_path("cut.csv"), "csv", 50000);
    convert(spec_of("csv", test_path("cut.csv"), ""), test_path("cut2"), "oracleGeneral", 0);
    same_files(test_path("cut"), test_path("cut2"));
    unlink(test_path("cut"));
    unlink(test_path("cut2"));
    unlink(test_path("cut.csv"));
    unlink(plain);
    taken_free(&all);
}

/* ---- Any request comes back from a format that can hold it ------------------------------------------------------- */

static hd_request *some_requests(size_t n, uint64_t seed, bool extremes)
{
    static const uint64_t extreme[] = { 0, 1, UINT64_MAX, HD_KEY_LOCKED, HD_KEY_RESERVED, HD_KEY_RESERVED - 1, 9999999999999999999u, 10000000000000000000u, UINT32_MAX };
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

static void put_all(const char *path, const char *format, const hd_request *r, size_t n)
{
    hd_trace_writer *w;
    must(hd_trace_create(NULL, path, format, &w));
    for (size_t i = 0; i < n; i += 777) must(hd_trace_put(w, r + i, n - i < 777 ? n - i : 777));
    must(hd_trace_close(w, true));
}

static void t_any(void **state)
{
    (void)state;
    enum { N = 20000 };
    for (unsigned i = 0;; i++) {
        const char *format = hd_trace_format_at(i);
        if (!format) break;
        bool oracle = strcmp(format, "oracleGeneral") == 0;
        hd_request *r = some_requests(N, i, !oracle);
        test_case("%s", format);
        char path[4096];
        snprintf(path, sizeof path, "%s", test_path(format));
        put_all(path, format, r, N);
        taken t = take_all(NULL, spec_of(strncmp(format, "vscsi", 5) ? format : "vscsi", path, ""), false, 512);
        must(t.status);
        for (size_t k = 0; k < N; k++) { /* what each format does not hold */
            if (strncmp(format, "vscsi", 5) == 0) r[k].verb = r[k].verb == HD_READ ? HD_READ : HD_UPDATE;
            if (oracle) r[k].verb = HD_READ, r[k].next = -1;
            if (strcmp(format, "txt") == 0) r[k] = (hd_request){ .key = r[k].key, .size = 1 };
        }
        same_requests(t.r, t.n, r, N);
        taken_free(&t);
        unlink(path);
        free(r);
    }
}

static void t_too_large(void **state)
{
    (void)state;
    hd_trace_writer *w;
    hd_request r[3] = { { .time = UINT32_MAX }, { .time = 1ull << 32 }, { .verb = 4 } };
    must(hd_trace_create(NULL, test_path("large"), "oracleGeneral", &w));
    must_fail(hd_trace_put(w, r, 2), HD_EINVAL, "request 2");
    must(hd_trace_close(w, false));
    must(hd_trace_create(NULL, test_path("large"), "csv", &w));
    must_fail(hd_trace_put(w, r, 3), HD_EINVAL, "request 3");
    must(hd_trace_close(w, false));
    must_fail(hd_trace_create(NULL, test_path("large"), "vscsi", &w), HD_EINVAL, "vscsi1");
    check(test_files() == 0, "%u files are left", test_files());
}

/* ---- Next accesses ------------------------------------------------------------------------------------------------- */

/* Walked forward, every request is where its key's request before said, and no promise stays open. */
static void check_links(const hd_request *r, size_t n, uint64_t keys)
{
    int64_t *promised = (int64_t *)test_alloc(keys, sizeof *promised);
    for (size_t i = 0; i < n; i++) {
        int64_t *p = &promised[r[i].key];
        check(*p == 0 || *p == (int64_t)i + 1, "request %zu comes, request %" PRId64 " was promised", i + 1, *p);
        *p = r[i].next;
    }
    for (uint64_t k = 0; k < keys; k++) check(promised[k] <= 0, "key %" PRIu64 " is promised at %" PRId64 " and never comes", k, promised[k]);
    free(promised);
}

static void t_link(void **state)
{
    (void)state;
    /* a run of the linker is 524,288 requests: none, less than one, exactly one, one more, three */
    static const uint64_t count[] = { 1, 1000, 524288, 524289, 1600000 };
    for (size_t i = 0; i < sizeof count / sizeof *count; i++) {
        const char *path = test_path("linked");
        uint64_t n = convert("uniform:100000", path, "oracleGeneral", count[i]);
        check(n == count[i], "%" PRIu64 " written", n);
        check(test_files() == 1, "%u files", test_files());
        taken t = take_all(NULL, spec_of("oracleGeneral", path, ""), false, 4096);
        must(t.status);
        check(t.n == n, "%zu read", t.n);
        check_links(t.r, t.n, 100000);
        taken_free(&t);
        unlink(path);
    }
}

/* ---- Bad input ---------------------------------------------------------------------------------------------------------- */

static void put_bytes(const char *path, const char *bytes, size_t n, bool zst)
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

/* A record with a next access of none, of 24 bytes; a vscsi record's `ver`, in place. */
#define NONE "\377\377\377\377\377\377\377\377"
#define ORACLE "tttt" "objectid" "size" NONE
#define V1 "snnnlennsgggc\0" "\0\1" "lbnnnnnntsssssss"
#define V2 "c\0" "\0\2" "snnnlennsggglbnnnnnntsssssssrttttttt"
#define BYTES(x) x, sizeof(x) - 1

static void t_bad_binary(void **state)
{
    (void)state;
    static const struct { const char *row, *bytes; size_t n; size_t good; const char *lenient; const char *word; } bad[] = {
        /* lenient: NULL when it is refused all the same, else what is counted */
        { "oracleGeneral", BYTES(""), 0, NULL, "byte 0" },
        { "vscsi", BYTES(""), 0, NULL, "byte 0" },
        { "csv", BYTES(""), 0, NULL, "byte 0" },
        { "txt", BYTES(""), 0, NULL, "byte 0" },
        { "oracleGeneral", BYTES("x"), 0, "cut", "byte 0: the last record is cut short: 1 bytes of 24" },
        { "oracleGeneral", BYTES(ORACLE ORACLE "tttt"), 2, "cut", "byte 48: the last record is cut short: 4 bytes of 24" },
        { "oracleGeneral", BYTES(ORACLE "tttt" "objectid" "size" "\1\0\0\0\0\0\0\0"), 1, NULL, "byte 24: not oracleGeneral: request 2 says its next access is 1" },
        { "oracleGeneral", BYTES(ORACLE "tttt" "objectid" "size" "\2\0\0\0\0\0\0\0"), 1, NULL, "byte 24" },
        { "oracleGeneral", BYTES("tttt" "objectid" "size" "\0\0\0\0\0\0\0\0"), 0, NULL, "byte 0" },
        { "oracleGeneral", BYTES("tttt" "objectid" "size" "\376\377\377\377\377\377\377\377"), 0, NULL, "next access is -2" },
        { "oracleGeneral", BYTES("tttt" "objectid" "size" "\1\0\0\0\0\0\1\0"), 0, NULL, "byte 0" },
        { "oracleGeneral", BYTES("5633898,42932745,512,read\n5633898,42932746,512,read\n"), 0, NULL, "byte 0" },
        { "oracleGeneral", BYTES(V2 V2 V2), 0, NULL, "byte 0" },
        { "oracleGeneral", BYTES(V1 V1 V1), 0, NULL, "byte 0" },
        { "vscsi", BYTES(V1 V1 "snnn"), 2, "cut", "byte 64: the last record is cut short: 4 bytes of 32" },
        { "vscsi", BYTES(V2 V2 "c"), 2, "cut", "byte 80: the last record is cut short: 1 bytes of 40" },
        { "vscsi", BYTES(V1 V1 "snnnlennsgggc\0" "\0\2" "lbnnnnnntsssssss"), 2, NULL, "byte 64: not a record of vscsi version 1" },
        { "vscsi", BYTES(V1 V2), 0, NULL, "neither" },
        { "vscsi", BYTES("snnnlenn"), 0, NULL, "byte 0: neither" },
        { "vscsi", BYTES(ORACLE ORACLE ORACLE ORACLE), 0, NULL, "byte 0: neither" },
        { "txt", BYTES("1\n2\n\001\n3\n"), 2, "line", "line 3, column 1" },
        { "txt", BYTES("1\n\177ELF\n"), 1, "line", "line 2, column 1" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (unsigned zst = 0; zst < 2; zst++) {
            char path[4096];
            snprintf(path, sizeof path, "%s", test_path("bad"));
            put_bytes(path, bad[i].bytes, bad[i].n, zst);
            test_case("bad file %zu, %s%s", i, bad[i].row, zst ? ", zstd" : "");
            taken t = take_all(NULL, spec_of(bad[i].row, path, ""), false, 64);
            check(t.status == HD_ECORRUPT && strstr(t.why, bad[i].word), "%s: no '%s' in '%s'", hd_status_name(t.status), bad[i].word, t.why);
            check(strncmp(t.why, path, strlen(path)) == 0, "no path in '%s'", t.why);
            taken_free(&t);

            t = take_all(NULL, spec_of(bad[i].row, path, ""), true, 64);
            if (bad[i].lenient) check(t.status == HD_OK && t.skipped == 1, "%s, %" PRIu64 " skipped: %s", hd_status_name(t.status), t.skipped, t.why);
            else check(t.status == HD_ECORRUPT, "lenient: %s", hd_status_name(t.status));
            if (bad[i].lenient) check(t.n >= bad[i].good, "lenient: %zu requests", t.n);
            else check(t.n == bad[i].good, "lenient: %zu requests, not %zu", t.n, bad[i].good);
            taken_free(&t);
            unlink(path);
        }
}

static uint64_t letters(const char *p, size_t n)
{
    uint64_t v = 0;
    for (size_t i = n; i-- > 0;) v = v << 8 | (uint8_t)p[i];
    return v;
}

/* Each field is where the format has it: the records above spell their fields. */
static void t_layout(void **state)
{
    (void)state;
    static const struct { const char *row, *bytes; size_t n; const char *key, *size, *time; } record[] = {
        { "oracleGeneral", BYTES(ORACLE), "objectid", "size", "tttt" },
        { "vscsi", BYTES(V1), "lbnnnnnn", "lenn", "tsssssss" },
        { "vscsi", BYTES(V2), "lbnnnnnn", "lenn", "tsssssss" },
    };
    for (size_t i = 0; i < sizeof record / sizeof *record; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s", test_path("layout"));
        put_bytes(path, record[i].bytes, record[i].n, false);
        test_case("%s, record %zu", record[i].row, i);
        taken t = take_all(NULL, spec_of(record[i].row, path, ""), false, 1);
        must(t.status);
        check(t.n == 1 && t.r[0].key == letters(record[i].key, 8) && t.r[0].size == letters(record[i].size, 4) &&
                  t.r[0].time == letters(record[i].time, strlen(record[i].time)),
              "%zu requests, a field is elsewhere", t.n);
        taken_free(&t);
        unlink(path);
    }
}

/* A plain file whose length is wrong is refused before its first request, not after its last. */
static void t_early(void **state)
{
    (void)state;
    hd_source *s;
    char path[4096];
    snprintf(path, sizeof path, "%s", test_path("early"));
    put_bytes(path, BYTES(ORACLE ORACLE "tttt"), false);
    must_fail(hd_source_open_spec(spec_of("oracleGeneral", path, ""), 1, &s), HD_ECORRUPT, "byte 48");
    put_bytes(path, BYTES(V2 V2 "c"), false);
    must_fail(hd_source_open_spec(spec_of("vscsi", path, ""), 1, &s), HD_ECORRUPT, "byte 80");
    unlink(path);
}

/* Requests before a damage are delivered or not; after it, none; and the answer stays the same. */
static void t_truncated(void **state)
{
    (void)state;
    enum { N = 3000 };
    hd_request *r = some_requests(N, 3, false);
    char path[4096];
    snprintf(path, sizeof path, "%s", test_path("whole.zst"));
    put_all(path, "oracleGeneral", r, N);
    size_t n;
    uint8_t *packed = test_read(path, &n);
    for (size_t cut = 4; cut < n; cut += 1 + cut / 97) {
        faulty f;
        faulty_init(&f, NO_FAULT, 0);
        f.bytes = packed;
        f.n = cut;
        for (unsigned lenient = 0; lenient < 2; lenient++) {
            test_case("%zu of %zu bytes, %s", cut, n, lenient ? "lenient" : "strict");
            taken t = take_all(&f.memory.seams, "oracleGeneral:x", lenient, 100);
            check(t.status == HD_ECORRUPT && strstr(t.why, "zstd") && t.n < N, "%s: %s", hd_status_name(t.status), t.why);
            taken_free(&t);
            faulty_settled(&f);
        }
    }
    unlink(path);
    free(packed);
    free(r);
}

/* ---- CSV ------------------------------------------------------------------------------------------------------------- */

/* What a file gives: "key/time/size/verb ..." in letters, or a word of what is wrong. The keys here are numbers; hashed
 * ones are asked about in t_hashed. */
static void csv_gives(const char *bytes, size_t n, const char *options, bool lenient, hd_status status, const char *expected)
{
    char path[4096], got[1024] = "";
    snprintf(path, sizeof path, "%s", test_path("rows.csv"));
    test_write(path, bytes, n);
    test_case("csv '%s' with '%s'%s", bytes, options, lenient ? ", lenient" : "");
    taken t = take_all(NULL, spec_of("csv", path, options), lenient, 0);
    check(t.status == status, "%s instead of %s: %s", hd_status_name(t.status), hd_status_name(status), t.why);
    if (status) {
        check(strstr(t.why, expected), "no '%s' in '%s'", expected, t.why);
    } else {
        for (size_t i = 0; i < t.n && strlen(got) < 900; i++)
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%" PRIu64 "/%" PRIu64 "/%u/%c", i ? " " : "", t.r[i].key, t.r[i].time, t.r[i].size, "ruim"[t.r[i].verb]);
        if (lenient) snprintf(got + strlen(got), sizeof got - strlen(got), " -%" PRIu64, t.skipped);
        check(strcmp(got, expected) == 0, "'%s' instead of '%s'", got, expected);
    }
    taken_free(&t);
    unlink(path);
}

static void t_csv(void **state)
{
    (void)state;
    static const struct { const char *bytes; size_t n; const char *options; hd_status status; const char *expected; } row[] = {
        /* where the columns are */
        { BYTES("time,key,size,verb\n7,1,512,read\n8,2,64,update\n"), "", HD_OK, "1/7/512/r 2/8/64/u" },
        { BYTES("a,key,b\n7,1,512\n"), "", HD_OK, "1/0/1/r" },
        { BYTES("a,b,c\n7,1,512\n"), ",key=b", HD_OK, "1/0/1/r" },
        { BYTES("a,b,size\n7,1,512\n"), ",key=b,time=a", HD_OK, "1/7/512/r" },
        { BYTES("7,1,512\n8,2,64\n"), ",key=2", HD_OK, "1/0/1/r 2/0/1/r" },
        { BYTES("7,1,512\n"), ",key=2,time=1,size=3", HD_OK, "1/7/512/r" },
        { BYTES("x,y,z\n7,1,512\n"), ",key=2,header=1", HD_OK, "1/0/1/r" },
        { BYTES("\357\273\277key\n7\n"), "", HD_OK, "7/0/1/r" },
        { BYTES("key\n"), "", HD_OK, "" },
        { BYTES("a,b,c\n7,1,512\n"), "", HD_ECORRUPT, "no column is called 'key' in the header 'a,b,c'" },
        { BYTES("a,b,c\n7,1,512\n"), ",key=d", HD_EINVAL, "no column is called 'd'" },
        { BYTES("a,b,c\n7,1,512\n"), ",key=a,time=a", HD_EINVAL, "" },
        { BYTES("a,b,c\n7,1,512\n"), ",key=2,time=2,header=1", HD_EINVAL, "both are column 2" },
        { BYTES("a,b,c\n7,1,512\n"), ",key=b,header=0", HD_EINVAL, "without a header" },
        { BYTES("a,b,c\n7,1,512\n"), ",header=0", HD_EINVAL, "without a header" },
        { BYTES("a,b,c\n7,1,512\n"), ",key=2", HD_EINVAL, "looks like a column's name" },
        { BYTES("a,b,c\n7,1,512\n"), ",key=0", HD_EINVAL, "key" },
        { BYTES("a,b,c\n7,1,512\n"), ",key=256", HD_EINVAL, "key" },
        { BYTES("a,b,c\n7,1,512\n"), ",keys=1", HD_EINVAL, "keys" },
        { BYTES("a,b,c\n7,1,512\n"), ",delim=::", HD_EINVAL, "delim" },
        { BYTES("a,b,c\n7,1,512\n"), ",hash=2", HD_EINVAL, "hash" },
        /* what stands between them */
        { BYTES("1\t2\n"), ",key=2,delim=tab", HD_OK, "2/0/1/r" },
        { BYTES("1;2\n"), ",key=2,delim=semicolon", HD_OK, "2/0/1/r" },
        { BYTES("1;2\n"), ",key=2,delim=;", HD_OK, "2/0/1/r" },
        { BYTES("1|2\n"), ",key=2,delim=pipe", HD_OK, "2/0/1/r" },
        { BYTES("1 2\n"), ",key=2,delim=space", HD_OK, "2/0/1/r" },
        { BYTES("1,2\n"), ",key=2,delim=comma", HD_OK, "2/0/1/r" },
        /* line ends, empty lines, blanks */
        { BYTES("1,2\r\n3,4\r\n"), ",key=2", HD_OK, "2/0/1/r 4/0/1/r" },
        { BYTES("1,2\n3,4"), ",key=2", HD_OK, "2/0/1/r 4/0/1/r" },
        { BYTES("\n1,2\n\r\n\n3,4\n\n"), ",key=2", HD_OK, "2/0/1/r 4/0/1/r" },
        { BYTES(" 1 , 2 \n"), ",key=2,time=1", HD_OK, "2/1/1/r" },
        /* quotes */
        { BYTES("\"1\",\"2\"\n"), ",key=2,time=1", HD_OK, "2/1/1/r" },
        { BYTES("\"a,b\",\"2\"\n3,4\n"), ",key=2", HD_OK, "2/0/1/r 4/0/1/r" },
        { BYTES("\"a\nb\",2\n3,4\n"), ",key=2", HD_OK, "2/0/1/r 4/0/1/r" },
        { BYTES("\"a\"\"\",2\n3,4\n"), ",key=2", HD_OK, "2/0/1/r 4/0/1/r" },
        { BYTES("\"\",2\n"), ",key=2", HD_OK, "2/0/1/r" },
        { BYTES("1,\"2\"\r\n3,\"4\""), ",key=2", HD_OK, "2/0/1/r 4/0/1/r" },
        { BYTES("\"x\ny\",\"key\"\n1,2\n"), "", HD_OK, "2/0/1/r" },
        { BYTES("1,2\na\"b,3\n"), ",key=2", HD_ECORRUPT, "line 2, column 1: a quote inside" },
        { BYTES("1,2\n\"a\"b,3\n"), ",key=2", HD_ECORRUPT, "line 2, column 1: text behind" },
        { BYTES("1,2\n3,\"4\n5,6\n"), ",key=2", HD_ECORRUPT, "line 2, column 2 (key): the quote is never closed" },
        { BYTES("\"a\n\nb\",2\n3,x,y\nz,\"\n"), ",key=2,time=1", HD_ECORRUPT, "line 1, column 1 (time): not a number" },
        { BYTES("\"1\",2,\"\n\n\"\n3,4\nz,5\n"), ",key=2,time=1", HD_ECORRUPT, "line 5, column 1 (time): not a number: 'z'" },
        /* fields */
        { BYTES("18446744073709551615,18446744073709551615,4294967295,rmw\n"), ",key=1,time=2,size=3,verb=4", HD_OK, "18446744073709551615/18446744073709551615/4294967295/m" },
        { BYTES("1,7.999\n2,8.\n"), ",key=1,time=2", HD_ECORRUPT, "line 2, column 2 (time): not a number: '8.'" },
        { BYTES("1,7.999\n"), ",key=1,time=2", HD_OK, "1/7/1/r" },
        { BYTES("1,x\n"), ",key=1,time=2", HD_ECORRUPT, "line 1, column 2 (time)" },
        { BYTES("1,-1\n"), ",key=1,time=2", HD_ECORRUPT, "line 1, column 2 (time)" },
        { BYTES("1,18446744073709551616\n"), ",key=1,time=2", HD_ECORRUPT, "line 1, column 2 (time)" },
        { BYTES("1,4294967296\n"), ",key=1,size=2", HD_ECORRUPT, "line 1, column 2 (size): not a whole number below 2^32: '4294967296'" },
        { BYTES("1,go\n"), ",key=1,verb=2", HD_ECORRUPT, "line 1, column 2 (verb): not a verb: 'go'" },
        { BYTES("1,get\n2,SET\n"), ",key=1,verb=2", HD_ECORRUPT, "line 2, column 2 (verb)" },
        { BYTES("1,2\n3\n"), ",key=2", HD_ECORRUPT, "line 2, column 2 (key): missing" },
        { BYTES("1,2\n3,\n"), ",key=2", HD_ECORRUPT, "line 2, column 2 (key): empty" },
        { BYTES("1,2\n3,\001\n"), ",key=2", HD_ECORRUPT, "line 2, column 2 (key): not text: '?'" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) csv_gives(row[i].bytes, row[i].n, row[i].options, false, row[i].status, row[i].expected);
    static const struct { const char *bytes; size_t n; const char *options, *expected; } lenient[] = {
        { BYTES("1,2\n3\n5,6\n7,\n9,10\n"), ",key=2", "2/0/1/r 6/0/1/r 10/0/1/r -2" },
        { BYTES("1,2\n3,\"4\n5,6\n7,8\n"), ",key=2", "2/0/1/r 6/0/1/r 8/0/1/r -1" },
        { BYTES("x,2\ny,3\nz"), ",key=2,time=1", " -3" },
        { BYTES("1,2\n3,x\"y\n5,\"6\"z\n7,8\n"), ",key=2", "2/0/1/r 8/0/1/r -2" },
    };
    for (size_t i = 0; i < sizeof lenient / sizeof *lenient; i++) csv_gives(lenient[i].bytes, lenient[i].n, lenient[i].options, true, HD_OK, lenient[i].expected);
}

/* Text is hashed, to the same key everywhere and in both formats, and numbers only when asked. */
static void t_hashed(void **state)
{
    (void)state;
    static const char text[] = "alpha\n42\nalpha\n\n# no key\n 42\t\n18446744073709551616\nbeta";
    char path[4096];
    snprintf(path, sizeof path, "%s", test_path("hashed"));
    test_write(path, text, sizeof text - 1);
    for (unsigned hash = 0; hash < 2; hash++) {
        taken t = take_all(NULL, spec_of("txt", path, hash ? ",hash=1" : ""), false, 100);
        must(t.status);
        check(t.n == 6, "%zu keys", t.n);
        check(t.r[0].key == t.r[2].key && t.r[1].key == t.r[3].key, "one text, two keys");
        check((t.r[1].key == 42) == !hash, "the number 42 is %" PRIu64, t.r[1].key);
        for (size_t i = 0; i < t.n; i++) check(t.r[i].key < HD_KEY_RESERVED, "key %zu is reserved", i);
        check(t.r[0].key != t.r[5].key && t.r[0].key != t.r[4].key, "two texts, one key");
        check(t.r[0].key != 0 && t.r[4].key != UINT64_MAX, "no hash");
        taken_free(&t);
    }
    taken a = take_all(NULL, spec_of("txt", path, ""), false, 1);
    test_write(path, BYTES("x,\"alpha\"\n"));
    taken b = take_all(NULL, spec_of("csv", path, ",key=2,header=0"), false, 1);
    check(a.status == HD_OK && b.status == HD_OK && b.n == 1 && a.r[0].key == b.r[0].key, "csv and txt hash differently");
    taken_free(&a);
    taken_free(&b);
    unlink(path);
}

/* Rows and lines longer than a reader looks at, wherever they lie in the window. */
static void t_long(void **state)
{
    (void)state;
    static const char *const row[] = { "csv", "txt" };
    static const size_t length[] = { 1000, 65534, 65535, 65536, 65537, 100000, 131072, 131073, 3000000 };
    static const size_t before[] = { 0, 1, 70000, 1048576 - 200, 1048576 + 5 };
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < sizeof length / sizeof *length; i++)
            for (size_t j = 0; j < sizeof before / sizeof *before; j++)
                for (unsigned quoted = 0; quoted < 2 - k; quoted++) {
                    size_t lines = before[j] / 2, n = 2 * lines + length[i] + 3;
                    char *p = (char *)test_alloc(n, 1), *at = p;
                    for (size_t l = 0; l < lines; l++) at = (char *)memcpy(at, "7\n", 2) + 2;
                    memset(at, 'x', length[i]);
                    if (quoted) at[0] = at[length[i] - 1] = '"';
                    at[length[i]] = '\n';
                    at[length[i] + 1] = '8';
                    at[length[i] + 2] = '\n';
                    faulty f;
                    faulty_init(&f, NO_FAULT, 0);
                    f.bytes = p;
                    f.n = n;
                    const char *spec = k ? "txt:x" : "csv:x,key=1,header=0";
                    bool fits = length[i] < 65536;
                    test_case("%s: a line of %zu bytes behind %zu%s", row[k], length[i], 2 * lines, quoted ? ", quoted" : "");
                    taken t = take_all(&f.memory.seams, spec, false, 4096);
                    check(t.status == (fits ? HD_OK : HD_ECORRUPT), "%s: %s", hd_status_name(t.status), t.why);
                    char word[64];
                    snprintf(word, sizeof word, "line %zu, column 1", lines + 1);
                    check(fits || strstr(t.why, word), "no '%s' in '%s'", word, t.why);
                    check(t.n == lines + (fits ? 2 : 0), "%zu requests", t.n);
                    taken_free(&t);
                    t = take_all(&f.memory.seams, spec, true, 4096);
                    must(t.status);
                    check(t.n == lines + 1 + fits && t.skipped == !fits && t.r[t.n - 1].key == 8, "lenient: %zu requests, %" PRIu64 " skipped", t.n, t.skipped);
                    taken_free(&t);
                    faulty_settled(&f);
                    free(p);
                }
}

/* Quoted fields that hold line ends and delimiters, so that every window of the reader begins and ends inside one. */
static void t_spans(void **state)
{
    (void)state;
    enum { ROWS = 40000 };
    char *p = (char *)test_alloc(ROWS, 256);
    size_t n = 0;
    uint64_t seed = 13;
    for (unsigned i = 0; i < ROWS; i++) {
        n += (size_t)sprintf(p + n, "\"");
        for (uint64_t k = test_below(&seed, 120); k; k--) n += (size_t)sprintf(p + n, "%s", k % 3 ? "\n" : k % 2 ? "," : "\"\"");
        n += (size_t)sprintf(p + n, "\",%u%s\n", i, i % 5 ? "" : "\r");
    }
    for (unsigned end = 0; end < 2; end++) { /* with and without the last line end */
        faulty f;
        faulty_init(&f, NO_FAULT, 0);
        f.bytes = p;
        f.n = n - end;
        test_case("rows over lines, %s", end ? "unended" : "ended");
        taken t = take_all(&f.memory.seams, "csv:x,key=2,header=0", false, 4096);
        must(t.status);
        check(t.n == ROWS, "%zu rows of %d", t.n, ROWS);
        for (unsigned i = 0; i < ROWS; i++) check(t.r[i].key == i, "row %u has key %" PRIu64, i, t.r[i].key);
        taken_free(&t);
        faulty_settled(&f);
    }
    free(p);
}

/* ---- Faults -------------------------------------------------------------------------------------------------------------- */

static hd_status convert_with(const hd_seams *seams, const char *spec, const char *path, const char *format)
{
    hd_source *s;
    hd_status e = open_spec(seams, spec, false, &s);
    if (e) return e;
    e = hd_trace_convert(s, 0, path, format, NULL);
    hd_source_close(s);
    return e;
}

/* Every file call and every allocation of a conversion, reading, linking through run files and writing, fails once. */
static void conversion_faults(const char *spec, const char *format, const char *to, bool memory)
{
    char path[4096], right[4096];
    snprintf(path, sizeof path, "%s", test_path(to));
    snprintf(right, sizeof right, "%s", test_path("right"));
    must(convert_with(NULL, spec, path, format));
    check(rename(path, right) == 0, "no rename");
    unsigned files = test_files(), failures = 0;
    for (uint64_t at = 1;; at++) {
        faulty f;
        faulty_init(&f, memory ? NO_FAULT : FAULT_EIO, at);
        f.memory.refuse_at = memory ? at : 0;
        test_case("%s to %s, %s %" PRIu64, spec, format, memory ? "allocation" : "call", at);
        hd_status e = convert_with(&f.memory.seams, spec, path, format);
        faulty_settled(&f);
        bool failed = memory ? f.memory.takes >= at : f.failed != NULL;
        const char *call = f.failed ? f.failed : "allocation";
        if (memory && failed) check(e == HD_ENOMEM, "%s: %s", hd_status_name(e), hd_why());
        else if (failed) check(e == HD_EIO || strcmp(call, "close") == 0 || strcmp(call, "unlink") == 0, "%s after a failed %s", hd_status_name(e), call);
        else must(e);
        if (!e) same_files(path, right);
        /* what cannot be unlinked stays; a folder that cannot be synced holds the new file */
        bool stays = !e || strcmp(call, "sync_folder") == 0;
        if (strcmp(call, "unlink")) check(test_files() == files + stays, "%u files instead of %u after a failed %s", test_files(), files + stays, call);
        unlink(path);
        if (strcmp(call, "unlink") == 0) {
            char left[4200];
            for (unsigned run = 0; run < 9; run++)
                for (unsigned serial = 0; serial < 9999; serial++) {
                    snprintf(left, sizeof left, "%s.%ld-%u.run%u", path, (long)getpid(), serial, run);
                    if (unlink(left) == 0) serial = 9999;
                }
        }
        check(test_files() == files, "%u files instead of %u", test_files(), files);
        if (!failed) break;
        failures++;
    }
    check(failures >= 8, "only %u faults", failures);
    unlink(right);
}

static void t_faults(void **state)
{
    (void)state;
    hd_request *r = some_requests(600000, 4, false); /* more than a run of the linker */
    static const struct { const char *format, *name; const char *row; size_t n; } from[] = {
        { "csv", "from.csv", "csv", 3000 },         { "csv", "from.csv.gz", "csv", 3000 },       { "txt", "from.txt.zst", "txt", 3000 },
        { "vscsi2", "from.vscsi", "vscsi", 3000 }, { "vscsi1", "from.vscsi.zst", "vscsi", 600000 },
    };
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s", test_path(from[i].name));
        put_all(path, from[i].format, r, from[i].n);
        const char *spec = spec_of(from[i].row, path, "");
        bool large = from[i].n > 3000;
        conversion_faults(spec, "oracleGeneral", large ? "to" : "to.zst", false);
        if (!large) conversion_faults(spec, "oracleGeneral", "to.gz", true);
        if (!large) conversion_faults(spec, "csv", "to", false);
        unlink(path);
    }
    free(r);
}

/* ---- Noise ------------------------------------------------------------------------------------------------------------------- */

/* A file that is nearly right: pieces of right ones, numbers, quotes and noise. */
static size_t noise(uint64_t *seed, uint8_t *p, size_t most)
{
    static const struct { const char *p; size_t n; } piece[] = {
        { BYTES(ORACLE) }, { BYTES(V1) }, { BYTES(V2) }, { BYTES("\n") }, { BYTES(",") }, { BYTES("\"") }, { BYTES("\"\"") }, { BYTES("\r\n") },
        { BYTES("time,key,size,verb\n") }, { BYTES("7,1,512,read\n") }, { BYTES("18446744073709551615") }, { BYTES("key") }, { BYTES("#") },
        { BYTES("\0") }, { BYTES("4294967296") }, { BYTES("1.5") }, { BYTES(" ") }, { BYTES("\357\273\277") }, { BYTES(NONE) },
    };
    size_t n = 0, wanted = (size_t)test_below(seed, most);
    uint64_t style = test_below(seed, 3), first = test_below(seed, sizeof piece / sizeof *piece);
    while (n < wanted) {
        uint64_t i = style == 1 && test_below(seed, 8) ? first : test_below(seed, sizeof piece / sizeof *piece);
        if (style == 2 || test_below(seed, 16) == 0) p[n++] = (uint8_t)test_random(seed);
        else if (n + piece[i].n <= most) n = (size_t)((uint8_t *)memcpy(p + n, piece[i].p, piece[i].n) - p) + piece[i].n;
        else break;
    }
    for (uint64_t flips = test_below(seed, 4); n && style == 1 && flips; flips--) p[test_below(seed, n)] ^= (uint8_t)(1 << test_below(seed, 8));
    return n;
}

/* Any bytes, any reader: a status; the same requests and the same status in blocks of any size and reads of any length; and
 * nothing kept. */
static void t_noise(void **state)
{
    (void)state;
    enum { MOST = 2000 };
    static const char *const spec[] = { "oracleGeneral:x", "vscsi:x", "vscsi:x,unit=s", "txt:x", "txt:x,hash=1", "csv:x", "csv:x,key=1,header=0", "csv:x,key=2,time=1,size=3,verb=4,header=1",
                                        "csv:x,key=1,delim=;,hash=1" };
    uint64_t seed = 12, most = test_times(1500), fine = 0, executions = 0;
    uint8_t *p = (uint8_t *)test_alloc(MOST + 64, 1);
    for (size_t i = 0; i < sizeof spec / sizeof *spec; i++)
        for (uint64_t k = 0; k < most; k++) {
            uint64_t from = seed;
            size_t n = noise(&seed, p, MOST);
            bool lenient = k % 2;
            faulty f, g;
            test_case("%s, noise %" PRIu64 "%s", spec[i], from, lenient ? ", lenient" : "");
            faulty_init(&f, NO_FAULT, 0);
            faulty_init(&g, FAULT_SHORT, 1);
            f.bytes = g.bytes = p;
            f.n = g.n = n;
            taken a = take_all(&f.memory.seams, spec[i], lenient, 4096), b = take_all(&g.memory.seams, spec[i], lenient, 0);
            check(a.status == HD_OK || a.status == HD_ECORRUPT || (a.status == HD_EINVAL && strstr(a.why, "header")), "%s", a.why);
            check(a.status == b.status && strcmp(a.why, b.why) == 0 && a.skipped == b.skipped, "%s and %s", a.why, b.why);
            same_requests(a.r, a.n, b.r, b.n);
            check(lenient || a.skipped == 0, "%" PRIu64 " skipped without leave", a.skipped);
            fine += a.status == HD_OK;
            executions += 2;
            taken_free(&a);
            taken_free(&b);
            faulty_settled(&f);
            faulty_settled(&g);
        }
    free(p);
    test_note("%" PRIu64 " executions, %" PRIu64 " files taken for traces", executions, fine);
    check(fine > executions / 100, "only %" PRIu64 " files were readable: the noise is too wild to test anything", fine);
}

/* Reserved keys pass: the table answers them. And what can be asked of a reader. */
static void t_rest(void **state)
{
    (void)state;
    char path[4096];
    hd_source *s;
    snprintf(path, sizeof path, "%s", test_path("rest"));
    test_write(path, BYTES("18446744073709551613\n18446744073709551614\n18446744073709551615\n"));
    taken t = take_all(NULL, spec_of("txt", path, ""), false, 2);
    must(t.status);
    check(t.n == 3 && t.r[0].key == HD_KEY_RESERVED && t.r[1].key == HD_KEY_LOCKED && t.r[2].key == HD_KEY_EMPTY, "reserved keys are not passed on");
    taken_free(&t);
    must(hd_source_open_spec(spec_of("txt", path, ""), 1, &s));
    check(s->bytes_total == 63, "%" PRIu64 " bytes in all", s->bytes_total);
    hd_request r[8];
    size_t got;
    must(hd_source_next(s, r, 8, &got));
    check(got == 3 && s->bytes_read == 63, "%zu requests, %" PRIu64 " bytes read", got, s->bytes_read);
    must(hd_source_next(s, r, 8, &got));
    check(got == 0, "%zu requests after the end", got);
    hd_source_close(s);
    must_fail(hd_source_open_spec(spec_of("txt", path, ",more"), 1, &s), HD_EINVAL, "txt:FILE");
    must_fail(hd_source_open_spec(spec_of("oracleGeneral", path, ",hash=1"), 1, &s), HD_EINVAL, "hash");
    must_fail(hd_source_open_spec(spec_of("vscsi", path, ",unit=h"), 1, &s), HD_EINVAL, "unit");
    must_fail(hd_source_open_spec(spec_of("txt", test_path("none"), ""), 1, &s), HD_EIO, "none");
    unlink(path);

    hd_request v = { .key = 5, .time = 1234567890, .size = 512 };
    put_all(path, "vscsi1", &v, 1);
    t = take_all(NULL, spec_of("vscsi", path, ",unit=s"), false, 2);
    must(t.status);
    check(t.n == 1 && t.r[0].time == 1234, "time %" PRIu64, t.r[0].time);
    taken_free(&t);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(t_real),      cmocka_unit_test(t_real_round), cmocka_unit_test(t_any),   cmocka_unit_test(t_too_large),
        cmocka_unit_test(t_link),      cmocka_unit_test(t_bad_binary), cmocka_unit_test(t_layout), cmocka_unit_test(t_early), cmocka_unit_test(t_truncated),
        cmocka_unit_test(t_csv),       cmocka_unit_test(t_hashed),     cmocka_unit_test(t_long),  cmocka_unit_test(t_spans), cmocka_unit_test(t_faults),
        cmocka_unit_test(t_noise),     cmocka_unit_test(t_rest),
    };
    return test_run(tests);
}
