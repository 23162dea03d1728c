/* SPDX-License-Identifier: Apache-2.0
 *
 * t_trace_bad.c - files that are no trace, or only the beginning of one, are refused, or their bad records are counted
 * and skipped; random bytes never give more requests than they can hold.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/trace_specs.h"
#include "tests/traces.h"

/* A record with a next access of none, of 24 bytes; a vscsi record's `ver`, in place. */
#define NONE "\377\377\377\377\377\377\377\377"
#define ORACLE \
    "tttt"     \
    "objectid" \
    "size" NONE
#define V1            \
    "snnnlennsgggc\0" \
    "\0\1"            \
    "lbnnnnnntsssssss"
#define V2 \
    "c\0"  \
    "\0\2" \
    "snnnlennsggglbnnnnnntsssssssrttttttt"

static void t_bad_binary(void)
{
    static const struct {
        const char *row, *bytes;
        size_t n;
        size_t good;
        const char *lenient;
        const char *word;
    } bad[] = {
        /* lenient: NULL when it is refused all the same, else what is counted */
        { "oracleGeneral", BYTES(""), 0, NULL, "byte 0" },
        { "vscsi", BYTES(""), 0, NULL, "byte 0" },
        { "csv", BYTES(""), 0, NULL, "byte 0" },
        { "txt", BYTES(""), 0, NULL, "byte 0" },
        { "oracleGeneral", BYTES("x"), 0, "cut", "byte 0: the last record is cut short: 1 bytes of 24" },
        { "oracleGeneral", BYTES(ORACLE ORACLE "tttt"), 2, "cut",
          "byte 48: the last record is cut short: 4 bytes of 24" },
        { "oracleGeneral",
          BYTES(ORACLE "tttt"
                       "objectid"
                       "size"
                       "\1\0\0\0\0\0\0\0"),
          1, NULL, "byte 24: not oracleGeneral: request 2 says its next access is 1" },
        { "oracleGeneral",
          BYTES(ORACLE "tttt"
                       "objectid"
                       "size"
                       "\2\0\0\0\0\0\0\0"),
          1, NULL, "byte 24" },
        { "oracleGeneral",
          BYTES("tttt"
                "objectid"
                "size"
                "\0\0\0\0\0\0\0\0"),
          0, NULL, "byte 0" },
        { "oracleGeneral",
          BYTES("tttt"
                "objectid"
                "size"
                "\376\377\377\377\377\377\377\377"),
          0, NULL, "next access is -2" },
        { "oracleGeneral",
          BYTES("tttt"
                "objectid"
                "size"
                "\1\0\0\0\0\0\1\0"),
          0, NULL, "byte 0" },
        { "oracleGeneral", BYTES("5633898,42932745,512,read\n5633898,42932746,512,read\n"), 0, NULL, "byte 0" },
        { "oracleGeneral", BYTES(V2 V2 V2), 0, NULL, "byte 0" },
        { "oracleGeneral", BYTES(V1 V1 V1), 0, NULL, "byte 0" },
        { "vscsi", BYTES(V1 V1 "snnn"), 2, "cut", "byte 64: the last record is cut short: 4 bytes of 32" },
        { "vscsi", BYTES(V2 V2 "c"), 2, "cut", "byte 80: the last record is cut short: 1 bytes of 40" },
        { "vscsi",
          BYTES(V1 V1 "snnnlennsgggc\0"
                      "\0\2"
                      "lbnnnnnntsssssss"),
          2, NULL, "byte 64: not a record of vscsi version 1" },
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
            check(t.status == HD_ECORRUPT && strstr(t.why, bad[i].word), "%s: no '%s' in '%s'",
                  hd_status_name(t.status), bad[i].word, t.why);
            check(strncmp(t.why, path, strlen(path)) == 0, "no path in '%s'", t.why);
            taken_free(&t);

            t = take_all(NULL, spec_of(bad[i].row, path, ""), true, 64);
            if (bad[i].lenient)
                check(t.status == (t.n ? HD_OK : HD_ECORRUPT) && t.skipped == 1, "%s, %" PRIu64 " skipped: %s",
                      hd_status_name(t.status), t.skipped, t.why);
            else
                check(t.status == HD_ECORRUPT, "lenient: %s", hd_status_name(t.status));
            if (bad[i].lenient)
                check(t.n >= bad[i].good, "lenient: %zu requests", t.n);
            else
                check(t.n == bad[i].good, "lenient: %zu requests, not %zu", t.n, bad[i].good);
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
static void t_layout(void)
{
    static const struct {
        const char *row, *bytes;
        size_t n;
        const char *key, *size, *time;
    } record[] = {
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
static void t_early(void)
{
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
static void t_truncated(void)
{
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
            check(t.status == HD_ECORRUPT && strstr(t.why, "zstd") && t.n < N, "%s: %s", hd_status_name(t.status),
                  t.why);
            taken_free(&t);
            faulty_settled(&f);
        }
    }
    unlink(path);
    free(packed);
    free(r);
}

/* ---- Noise ----------------------------------------------------------------------------------- */

/* A file that is nearly right: pieces of right ones, numbers, quotes and noise. */
static size_t noise(uint64_t *seed, uint8_t *p, size_t most)
{
    static const struct {
        const char *p;
        size_t n;
    } piece[] = {
        { BYTES(ORACLE) },
        { BYTES(V1) },
        { BYTES(V2) },
        { BYTES("\n") },
        { BYTES(",") },
        { BYTES("\"") },
        { BYTES("\"\"") },
        { BYTES("\r\n") },
        { BYTES("time,key,size,verb\n") },
        { BYTES("7,1,512,read\n") },
        { BYTES("18446744073709551615") },
        { BYTES("key") },
        { BYTES("#") },
        { BYTES("\0") },
        { BYTES("4294967296") },
        { BYTES("1.5") },
        { BYTES(" ") },
        { BYTES("\357\273\277") },
        { BYTES(NONE) },
        { BYTES("7,nz:u:a,9,100,1,get,0\n") },
        { BYTES("key,op,size,op_count,key_size\n") },
        { BYTES("5,GET,10,3,4\n") },
        { BYTES("128166372003061629,usr,0,Read,7014609920,24576,41286\n") },
        { BYTES("{\"timestamp\": 5, \"hash_ids\": [1, 2, 3]}\n") },
        { BYTES("DELETE") },
        { BYTES("2.5e3") },
    };
    size_t n = 0, wanted = (size_t)test_below(seed, most);
    uint64_t style = test_below(seed, 3), first = test_below(seed, sizeof piece / sizeof *piece);
    while (n < wanted) {
        uint64_t i = style == 1 && test_below(seed, 8) ? first : test_below(seed, sizeof piece / sizeof *piece);
        if (style == 2 || test_below(seed, 16) == 0)
            p[n++] = (uint8_t)test_random(seed);
        else if (n + piece[i].n <= most)
            n = (size_t)((uint8_t *)memcpy(p + n, piece[i].p, piece[i].n) - p) + piece[i].n;
        else
            break;
    }
    for (uint64_t flips = test_below(seed, 4); n && style == 1 && flips; flips--)
        p[test_below(seed, n)] ^= (uint8_t)(1 << test_below(seed, 8));
    return n;
}

/* Any bytes, any reader: a status; the same requests and the same status in blocks of any size and reads of any length;
 * and nothing kept. */
static void t_noise(void)
{
    enum { MOST = 2000 };
    uint64_t seed = 12, most = test_times(1500), fine = 0, executions = 0;
    uint8_t *p = (uint8_t *)test_alloc(LCS_HEADER + MOST + 64, 1);
    for (size_t i = 0; i < TRACE_SPECS; i++)
        for (uint64_t k = 0; k < most && (i < NO_TRACE || i >= NO_TRACE + NO_TRACES); k++) {
            uint64_t from = seed;
            const size_t head = strncmp(trace_specs[i], "lcs", 3) == 0 && test_below(&seed, 8) ? LCS_HEADER : 0;
            if (head) lcs_header(p, (unsigned)test_below(&seed, 10), test_below(&seed, 8) ? 0 : test_below(&seed, 40));
            size_t n = head + noise(&seed, p + head, MOST);
            bool lenient = k % 2;
            faulty f, g;
            test_case("%s, noise %" PRIu64 "%s", trace_specs[i], from, lenient ? ", lenient" : "");
            faulty_init(&f, NO_FAULT, 0);
            faulty_init(&g, FAULT_SHORT, 1);
            f.bytes = g.bytes = p;
            f.n = g.n = n;
            taken a = take_all(&f.memory.seams, trace_specs[i], lenient, 4096),
                  b = take_all(&g.memory.seams, trace_specs[i], lenient, 0);
            check(a.status == HD_OK || a.status == HD_ECORRUPT || (a.status == HD_EINVAL && strstr(a.why, "header")),
                  "%s", a.why);
            check(a.status == b.status && strcmp(a.why, b.why) == 0 && a.skipped == b.skipped &&
                      a.deletes == b.deletes && a.extra == b.extra && (a.status || a.cut == b.cut),
                  "%s and %s", a.why, b.why);
            same_requests(a.r, a.n, b.r, b.n);
            check(lenient || a.skipped + a.deletes == 0, "%" PRIu64 " skipped without leave", a.skipped);
            fine += a.status == HD_OK;
            executions += 2;
            taken_free(&a);
            taken_free(&b);
            faulty_settled(&f);
            faulty_settled(&g);
        }
    free(p);
    test_tried("traces", executions, "noise read as a trace; %" PRIu64 " files could be taken for one", fine);
    check(fine > executions / 100, "only %" PRIu64 " files were readable: the noise is too wild to test anything",
          fine);
}

static const struct CMUnitTest tests[] = { unit(t_bad_binary), unit(t_layout), unit(t_early), unit(t_truncated),
                                           unit(t_noise) };

int main(void) { return test_run(tests); }
