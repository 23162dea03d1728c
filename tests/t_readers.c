/* SPDX-License-Identifier: Apache-2.0
 *
 * t_readers.c - the readers of public traces: what each field becomes; rows that are several requests; files that are
 * cut at each byte, and have each bit flipped; files of other kinds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/traces.h"
#include "workload/reader.h"

enum { TEXT = 2048 };

/* "key/time/size/verb/next ..." */
static const char *told(const taken *t, char text[TEXT])
{
    size_t used = 0;
    *text = '\0';
    for (size_t i = 0; i < t->n && used < TEXT - 128; i++)
        used += (size_t)snprintf(text + used, TEXT - used, "%s%" PRIu64 "/%" PRIu64 "/%" PRIu64 "/%c/%" PRId64,
                                 i ? " " : "", t->r[i].key, t->r[i].time, t->r[i].size, "ruim"[t->r[i].verb],
                                 t -> r[i].next);
    return text;
}

/* A file in memory, read by `row` with its options. */
static taken read_bytes(const char *row, const char *options, const void *bytes, size_t n, bool lenient, size_t most)
{
    char spec[256];
    faulty f;
    faulty_init(&f, NO_FAULT, 0);
    f.bytes = bytes;
    f.n = n;
    snprintf(spec, sizeof spec, "%s:x%s", row, options);
    taken t = take_all(&f.memory.seams, spec, lenient, most);
    faulty_settled(&f);
    return t;
}

static void gives(const char *row, const char *options, const void *bytes, size_t n, bool lenient, hd_status status,
                  const char *expected)
{
    char text[TEXT];
    test_case("%s%s%s: '%.*s'", row, options, lenient ? ", lenient" : "", (int)n, (const char *)bytes);
    taken t = read_bytes(row, options, bytes, n, lenient, 0);
    check(t.status == status, "%s instead of %s: %s", hd_status_name(t.status), hd_status_name(status), t.why);
    if (status) {
        check(strstr(t.why, expected), "no '%s' in '%s'", expected, t.why);
    } else {
        told(&t, text);
        if (lenient || t.extra || t.cut)
            snprintf(text + strlen(text), TEXT - strlen(text), " -%" PRIu64 "-%" PRIu64 "+%" PRIu64 "~%" PRIu64,
                     t.skipped, t.deletes, t.extra, t.cut);
        check(strcmp(text, expected) == 0, "'%s' instead of '%s'", text, expected);
    }
    taken_free(&t);
}

/* ---- Rows of text ---------------------------------------------------------------------------- */

#define MSR_1970 "116444736000000000"

static void t_rows(void)
{
    static const struct {
        const char *row, *bytes;
        hd_status status;
        const char *expected;
    } row[] = {
        { "cachelib", "key,op,size,op_count,key_size\n1,SET,82,1,40\n2,GET,0,3,64\n", HD_OK,
          "1/0/122/u/0 2/0/64/r/0 2/0/64/r/0 2/0/64/r/0 -0-0+2~0" },
        { "cachelib", "op_time,key,key_size,op,op_count,size,cache_hits,ttl,usecase\n7,5,10,GET_LEASE,1,90,0,,x\n",
          HD_OK, "5/7/100/r/0" },
        { "cachelib", "1,SET,82,1,40,0\n2,SET_LEASE,1,2,1\n", HD_OK, "1/0/122/u/0 2/0/2/u/0 2/0/2/u/0 -0-0+1~0" },
        { "cachelib", "key,op,size\n9,GET,5\n", HD_OK, "9/0/5/r/0" },
        { "cachelib", "key,op,key_size\n9,GET,5\n", HD_OK, "9/0/1/r/0" },
        { "cachelib", "1,DELETE,0,1,40\n", HD_ECORRUPT, "line 1, column 2 (op): a delete" },
        { "cachelib", "1,SAT,0,1,40\n", HD_ECORRUPT, "(op): not a verb" },
        { "cachelib", "1,GET,0,0,40\n", HD_ECORRUPT, "(op_count)" },
        { "cachelib", "1,GET,-1,1,40\n", HD_ECORRUPT, "(size)" },
        { "cachelib", "key,op,size,op_count\n1,GET,1\n", HD_ECORRUPT, "the row has 3 columns, and the header 4" },
        { "cachelib", "1,GET,72057594037927935,1,1\n", HD_ECORRUPT, "together are above 2^56" },
        /* 128166372003061629 - 116444736000000000 = 11721636003061629 */
        { "msr", "128166372003061629,usr,0,Read,8192,4096,41286\n", HD_OK, "2/1172163600306162900/4096/r/0" },
        { "msr", MSR_1970 ",usr,0,Write,4095,2,9\n", HD_OK, "0/0/4096/u/0 1/0/4096/u/0 -0-0+1~0" },
        { "msr", MSR_1970 ",usr,0,Read,512,12288,9\n", HD_OK,
          "0/0/4096/r/0 1/0/4096/r/0 2/0/4096/r/0 3/0/4096/r/0 -0-0+3~0" },
        { "msr",
          MSR_1970 ",a,0,Read,0,1,9\n" MSR_1970 ",a,1,Read,0,1,9\n" MSR_1970 ",b,0,Read,4096,1,9\n" MSR_1970
                   ",a,0,Read,0,1,9\n",
          HD_OK, "0/0/4096/r/0 4503599627370496/0/4096/r/0 9007199254740993/0/4096/r/0 0/0/4096/r/0" },
        { "msr", MSR_1970 ",usr,0,Read,18446744073709551614,1,9\n", HD_OK, "4503599627370495/0/4096/r/0" },
        { "msr", MSR_1970 ",usr,0,Read,18446744073709551615,1,9\n", HD_ECORRUPT, "4 GiB or more" },
        { "msr", MSR_1970 ",usr,0,Read,0,4294967296,9\n", HD_ECORRUPT, "4 GiB or more" },
        { "msr", MSR_1970 ",usr,0,Read,0,0,9\n", HD_ECORRUPT, "no bytes" },
        { "msr", "116444735999999999,usr,0,Read,0,1,9\n", HD_ECORRUPT, "before 1970" },
        { "msr", "18446744073709551615,usr,0,Read,0,1,9\n", HD_ECORRUPT, "after 2554" },
        { "msr", MSR_1970 ",usr,0,Read,x,1,9\n", HD_ECORRUPT, "(offset): not a number" },
        { "msr", MSR_1970 ",usr,0,Trim,0,1,9\n", HD_ECORRUPT, "(type): not a verb" },
        { "msr", MSR_1970 ",usr,0,Read,0,1\n", HD_ECORRUPT, "the row has 6 columns, and the format 7" },
        { "msr", "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n", HD_ECORRUPT,
          "line 1, column 1 (time)" },
        { "twitter", "0,a,1,2,9,go,0\n", HD_ECORRUPT, "line 1, column 6 (verb): not a verb" },
        { "twitter", "0,a,1,2,9,delete,0\n", HD_ECORRUPT, "a delete" },
        { "twitter", "0,a,b,1,2,9,get,0\n", HD_ECORRUPT, "the row has 8 columns, and the format 7" },
        { "twitter", "0,,1,2,9,get,0\n", HD_ECORRUPT, "column 2 (key): empty" },
        { "mooncake",
          "{\"timestamp\": 5, \"input_length\": 6755, \"hash_ids\": [0, 7, 9223372036854775807]}\n\n"
          "{\"hash_ids\":[3],\"timestamp\":1e3}",
          HD_OK, "0/5/1/r/0 7/5/1/r/0 9223372036854775807/5/1/r/0 3/1000/1/r/0 -0-0+2~0" },
        { "mooncake", "{\"timestamp\": 5.5, \"hash_ids\": [1]}\n", HD_OK, "1/5/1/r/0 -0-0+0~1" },
        { "mooncake", "{\"timestamp\": 5, \"hash_ids\": [1]}\n{\"timestamp\": -1, \"hash_ids\": [1]}\n", HD_ECORRUPT,
          "line 2, column 1: timestamp" },
        { "mooncake", "{\"timestamp\": 5, \"hash_ids\": []}\n", HD_ECORRUPT, "hash_ids" },
        { "mooncake", "{\"timestamp\": 5, \"hash_ids\": [1, -1]}\n", HD_ECORRUPT, "hash_ids" },
        { "mooncake", "{\"timestamp\": 5, \"hash_ids\": [1.0]}\n", HD_ECORRUPT, "hash_ids" },
        { "mooncake", "{\"timestamp\": 5, \"hash_ids\": [9223372036854775808]}\n", HD_ECORRUPT, "line 1" },
        { "mooncake", "{\"hash_ids\": [1]}\n", HD_ECORRUPT, "timestamp" },
        { "mooncake", "{\"timestamp\": 5, \"hash_ids\": [1], \"hash_ids\": [2]}\n", HD_ECORRUPT, "line 1" },
        { "mooncake", "[1, 2]\n", HD_ECORRUPT, "no JSON object" },
        { "mooncake", "{\"timestamp\": 5,\n\"hash_ids\": [1]}\n", HD_ECORRUPT, "line 1, column" },
        { "mooncake", "\n", HD_ECORRUPT, "without one request" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        gives(row[i].row, "", row[i].bytes, strlen(row[i].bytes), false, row[i].status, row[i].expected);
    gives("cachelib", "", BYTES("1,GET,1,2,3\n1,DELETE,0,1,3\n1,go,0,1,3\n2,SET,0,1,3\n"), true, HD_OK,
          "1/0/4/r/0 1/0/4/r/0 2/0/3/u/0 -1-1+1~0");
    gives("mooncake", "", BYTES("{\"timestamp\": 5, \"hash_ids\": [1, 2]}\n{\n{\"timestamp\": 5, \"hash_ids\": [4]}\n"),
          true, HD_OK, "1/5/1/r/0 2/5/1/r/0 4/5/1/r/0 -1-0+1~0");
}

/* Keys of Twitter's traces are text, quotes and numbers included. */
static void t_twitter(void)
{
    static const char rows[] = "7,nz:u:a,9,100,1,get,0\n7,\"q,1,0,1,set,60\n8,007,3,0,1,gets,0\n8,7,1,0,1,cas,5\n"
                               "9,nz:u:a,9,72057594037927926,2,prepend,5\n";
    test_case("twitter");
    taken t = read_bytes("twitter", "", rows, sizeof rows - 1, false, 2);
    must(t.status);
    check(t.n == 5 && t.r[0].key == t.r[4].key && t.r[2].key != t.r[3].key && t.r[3].key != 7, "%zu requests", t.n);
    check(t.r[0].size == 109 && t.r[1].size == 1 && t.r[4].size == HD_SIZE_MOST && t.r[4].time == 9, "a size");
    check(t.r[0].verb == HD_READ && t.r[1].verb == HD_UPDATE && t.r[3].verb == HD_READ_MODIFY_WRITE, "a verb");
    taken_free(&t);
}

/* The 257th volume is refused. */
static void t_volumes(void)
{
    char text[257 * 48] = "";
    size_t n = 0;
    for (unsigned i = 0; i < 257; i++) n += (size_t)sprintf(text + n, MSR_1970 ",host%u,%u,Read,0,1,9\n", i / 4, i % 4);
    test_case("257 volumes");
    taken t = read_bytes("msr", "", text, n, true, 100);
    check(t.status == HD_OK && t.n == 256 && t.skipped == 1 && t.r[255].key == UINT64_C(255) << 52, "%zu: %s", t.n,
          t.why);
    taken_free(&t);
}

/* ---- Records --------------------------------------------------------------------------------- */

/* Number k of three requests in records of lcs, version `of`: bytes. */
static size_t lcs_record(uint8_t *p, unsigned of, unsigned k)
{
    static const uint64_t next[] = { 3, UINT64_MAX, INT64_MAX };
    static const size_t bytes[] = { 0, 24, 28, 36, 40, 44, 52, 68, 100 };
    const size_t wide = of > 2 ? 4 : 0;
    memset(p, 0xee, bytes[of]);
    hd_store32(p, 100 + k);
    hd_store64(p + 4, UINT64_C(0x1122334455667700) + k % 2);
    hd_store32(p + 12, 1000 * k);
    if (of > 2) hd_store32(p + 16, k == 2); /* 2^32 more */
    if (of > 1) p[16 + wide] = (uint8_t)(k == 0 ? 1 : k == 1 ? 3 : 4);
    hd_store64(p + (of == 1 ? 16 : of == 2 ? 20 : 28), next[k]);
    return bytes[of];
}

static size_t lcs_file(uint8_t *p, unsigned of, uint64_t says)
{
    size_t n = LCS_HEADER;
    lcs_header(p, of, says);
    for (unsigned k = 0; k < 3; k++) n += lcs_record(p + n, of, k);
    return n;
}

static uint8_t bytes[LCS_HEADER + 4096];

static void t_lcs(void)
{
    static const char *const wanted[] = {
        NULL,
        "1234605616436508416/100/0/r/3 1234605616436508417/101/1000/r/-1 1234605616436508416/102/2000/r/-1",
        "1234605616436508416/100/0/r/3 1234605616436508417/101/1000/u/-1 1234605616436508416/102/2000/i/-1",
        "1234605616436508416/100/0/r/3 1234605616436508417/101/1000/u/-1 1234605616436508416/102/4294969296/i/-1",
    };
    for (unsigned of = 1; of <= 8; of++)
        for (uint64_t says = 0; says <= 4; says++) {
            const size_t n = lcs_file(bytes, of, says);
            char text[TEXT];
            test_case("lcs, version %u, of %" PRIu64 " requests", of, says);
            taken t = read_bytes("lcs", "", bytes, n, false, 2);
            check(t.status == (says == 0 || says == 3 ? HD_OK : HD_ECORRUPT), "%s", t.why);
            if (says == 0 || says == 3)
                check(strcmp(told(&t, text), wanted[of < 3 ? of : 3]) == 0, "%s", text);
            else
                check(strstr(t.why, "byte 24: the header says"), "%s", t.why);
            taken_free(&t);
            t = read_bytes("lcs", "", bytes, n, true, 1);
            check(t.status == HD_OK && t.n == 3 && t.skipped == (says % 3 != 0), "lenient: %" PRIu64 ", %s", t.skipped,
                  t.why);
            check(t.r[0].next == 0, "a next access, though records may be left out");
            taken_free(&t);
        }
}

/* What is wrong with a header or a record: a byte at `at` becomes `to`. */
static void t_lcs_bad(void)
{
    static const struct {
        size_t at;
        uint8_t to;
        const char *word;
    } bad[] = {
        { 0, 1, "byte 0: not lcs" },
        { 8, 0, "byte 8: lcs version 0" },
        { 8, 9, "byte 8: lcs version 9" },
        { 15, 1, "byte 8: lcs version" },
        { 31, 0x80, "byte 24: a number of requests below 0" },
        { 8191, 1, "byte 8184" },
        { LCS_HEADER + 19, 0x80, "byte 8192: request 1: its size" },
        { LCS_HEADER + 20, 9, "byte 8192: request 1: a delete" },
        { LCS_HEADER + 20, 15, "byte 8192: request 1: not a verb" },
        { LCS_HEADER + 28, 1, "byte 8192: request 1: its next access" },
        { LCS_HEADER + 36 + 35, 0x7e, "byte 8228: request 2: its next access" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const size_t n = lcs_file(bytes, 3, 0);
        bytes[bad[i].at] = bad[i].to;
        gives("lcs", "", bytes, n, false, HD_ECORRUPT, bad[i].word);
    }
    size_t n = lcs_file(bytes, 3, 3);
    bytes[LCS_HEADER + 20] = 9;
    bytes[LCS_HEADER + 36 + 20] = 99;
    gives("lcs", "", bytes, n, true, HD_OK, "1234605616436508416/102/4294969296/i/0 -1-1+0~0");
    n = lcs_file(bytes, 2, 3);
    gives("lcs", "", bytes, n - 1, false, HD_ECORRUPT, "byte 8248: the last record is cut short: 27 bytes of 28");
    gives("lcs", "", bytes, n - 28, false, HD_ECORRUPT, "the header says 3 requests, and the file has 2");
    gives("lcs", "", bytes, LCS_HEADER - 1, false, HD_ECORRUPT, "byte 8191: the header is cut short");
    gives("lcs", "", bytes, LCS_HEADER, false, HD_ECORRUPT, "the header says 3 requests, and the file has 0");
    lcs_header(bytes, 1, 0);
    gives("lcs", "", bytes, LCS_HEADER, false, HD_ECORRUPT, "without one request");
}

static void t_binary(void)
{
    static const struct {
        const char *options, *bytes;
        size_t n;
        hd_status status;
        const char *expected;
    } row[] = {
        { ",format=<IQI,time=1,key=2,size=3", BYTES("\1\0\0\0\2\0\0\0\0\0\0\1\3\0\0\0"), HD_OK,
          "72057594037927938/1/3/r/0" },
        { ",format=>IQI,time=1,key=2,size=3", BYTES("\0\0\0\1\1\0\0\0\0\0\0\2\0\0\0\3"), HD_OK,
          "72057594037927938/1/3/r/0" },
        { ",format==BH,key=2", BYTES("\1\2\3\4\5\6"), HD_OK, "770/0/1/r/0 1541/0/1/r/0" },
        { ",format=!hb,key=1,size=2", BYTES("\377\376\5"), HD_OK, "18446744073709551614/0/5/r/0" },
        { ",format=<2B3sx2H,key=4,size=5", BYTES("\1\2abc\0\7\0\10\0"), HD_OK, "7/0/8/r/0" },
        { ",format=<0I?c,key=2", BYTES("\1\2"), HD_OK, "2/0/1/r/0" },
        { ",format=<QqB,key=1,next=2,verb=3",
          BYTES("\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\1"
                "\1\0\0\0\0\0\0\0\377\377\377\377\377\377\377\377\16"),
          HD_OK, "1/0/1/r/2 1/0/1/u/-1" },
        { ",format=<dB,key=2,time=1", BYTES("\0\0\0\0\0\0\4\100\1"), HD_OK, "1/2/1/r/0 -0-0+0~1" },
        { ",format=<fB,key=2,time=1", BYTES("\0\0\100\100\1"), HD_OK, "1/3/1/r/0" },
        { ",format=<fB,key=2,time=1", BYTES("\0\0\300\177\1"), HD_ECORRUPT, "byte 0: request 1: its time" },
        { ",format=<fB,key=2,time=1", BYTES("\0\0\200\177\1"), HD_ECORRUPT, "its time" },
        { ",format=<fB,key=2,time=1", BYTES("\0\0\200\277\1"), HD_ECORRUPT, "its time" },
        { ",format=<bB,key=2,time=1", BYTES("\1\1\377\1"), HD_ECORRUPT, "byte 2: request 2: its time" },
        { ",format=<bB,key=2,size=1", BYTES("\377\1"), HD_ECORRUPT, "its size" },
        { ",format=<QB,key=2,size=1", BYTES("\0\0\0\0\0\0\0\1\1"), HD_ECORRUPT, "its size" },
        { ",format=<BB,key=2,verb=1", BYTES("\11\1"), HD_ECORRUPT, "a delete" },
        { ",format=<BB,key=2,verb=1", BYTES("\17\1"), HD_ECORRUPT, "not a verb" },
        { ",format=<BQ,key=1,next=2", BYTES("\1\1\0\0\0\0\0\0\0"), HD_ECORRUPT, "its next access" },
        { ",format=<H,key=1", BYTES("\1\2\3"), HD_ECORRUPT, "byte 2: the last record is cut short: 1 bytes of 2" },
        { ",key=1", BYTES("\1"), HD_EINVAL, "format= is missing" },
        { ",format=<B", BYTES("\1"), HD_EINVAL, "key= is missing" },
        { ",format=IQ,key=1", BYTES("\1"), HD_EINVAL, "does not begin with < or >" },
        { ",format=@IQ,key=1", BYTES("\1"), HD_EINVAL, "does not begin with < or >" },
        { ",format=<,key=1", BYTES("\1"), HD_EINVAL, "no field" },
        { ",format=<IZ,key=1", BYTES("\1"), HD_EINVAL, "character 3" },
        { ",format=<I3,key=1", BYTES("\1"), HD_EINVAL, "character 4" },
        { ",format=<256B,key=1", BYTES("\1"), HD_EINVAL, "more than 255 fields" },
        { ",format=<99999999999999999999x,key=1", BYTES("\1"), HD_EINVAL, "more than 32768 bytes" },
        { ",format=<B,key=2", BYTES("\1"), HD_EINVAL, "key" },
        { ",format=<4sB,key=1", BYTES("\1"), HD_EINVAL, "no whole number" },
        { ",format=<fB,key=1", BYTES("\1"), HD_EINVAL, "no whole number" },
        { ",format=<BB,key=1,unit=ms", BYTES("\1"), HD_EINVAL, "no field of times" },
        { ",format=<BB,key=1,time=2,unit=h", BYTES("\1"), HD_EINVAL, "neither s, ms" },
        { ",format=<B,key=1,delim=;", BYTES("\1"), HD_EINVAL, "delim" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        gives("binary", row[i].options, row[i].bytes, row[i].n, false, row[i].status, row[i].expected);
    gives("binary", ",format=<BB,key=2,verb=1", BYTES("\1\5\11\6\77\7\3\10x"), true, HD_OK,
          "5/0/1/r/0 8/0/1/u/0 -2-1+0~0");
}

/* ---- Units, and files of other kinds ------------------------------------------------------------ */

static void t_units(void)
{
    static const struct {
        const char *row, *options, *bytes;
        size_t n;
        uint64_t tick;
        bool assumed, sized;
    } row[] = {
        { "twitter", "", BYTES("7,a,9,100,1,get,0\n"), 1000000000, false, true },
        { "cachelib", "", BYTES("op_time,key,op,size\n7,1,GET,2\n"), 1000000000, false, true },
        { "cachelib", "", BYTES("1,GET,2,1,4\n"), 0, false, true },
        { "msr", "", BYTES(MSR_1970 ",usr,0,Read,0,1,9\n"), 1, false, true },
        { "mooncake", "", BYTES("{\"timestamp\": 5, \"hash_ids\": [1]}\n"), 1000000, false, false },
        { "binary", ",format=<BB,key=1", BYTES("\1\2"), 0, false, false },
        { "binary", ",format=<BB,key=1,time=2", BYTES("\1\2"), 1000000000, true, false },
        { "binary", ",format=<BB,key=1,time=2,unit=us", BYTES("\1\2"), 1000, false, false },
        { "binary", ",format=<BB,key=1,size=2", BYTES("\1\2"), 0, false, true },
    };
    char path[4096];
    snprintf(path, sizeof path, "%s", test_path("units"));
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        hd_source *s;
        test_write(path, row[i].bytes, row[i].n);
        test_case("%s%s", row[i].row, row[i].options);
        must(hd_source_open_spec(spec_of(row[i].row, path, row[i].options), 1, &s));
        check(s->tick == row[i].tick && s->tick_assumed == row[i].assumed && s->sized == row[i].sized,
              "%" PRIu64 " ns, assumed %d, sized %d", s->tick, s->tick_assumed, s->sized);
        hd_source_close(s);
    }
    unlink(path);
}

static void t_foreign(void)
{
    static const struct {
        const char *magic;
        size_t at, n;
        const char *word;
    } row[] = {
        { "ustar", 257, 5, "tar" }, { "PK\3\4", 0, 4, "zip" },   { "\3757zXZ\0", 0, 6, "xz" },
        { "BZh9", 0, 4, "bzip2" },  { "\4\"M\30", 0, 4, "lz4" }, { "PAR1", 0, 4, "Parquet" },
    };
    static const char *const reader[] = { "csv", "oracleGeneral", "vscsi",    "lcs",
                                          "msr", "twitter",       "cachelib", "mooncake" };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        for (size_t k = 0; k < sizeof reader / sizeof *reader; k++) {
            uint8_t file[1021] = { 0 };
            memcpy(file + row[i].at, row[i].magic, row[i].n);
            gives(reader[k], "", file, sizeof file, false, HD_ECORRUPT, row[i].word);
            gives("csv", ",key=1", file, sizeof file, false, HD_ECORRUPT, row[i].word);
        }
    /* a trace that only begins so is a trace */
    gives("binary", ",format=<4sB,key=2", BYTES("PAR1\7"), false, HD_OK, "7/0/1/r/0");
}

/* ---- Hostile files ----------------------------------------------------------------------------- */

static const struct {
    const char *row, *options, *text;
    unsigned lcs; /* version, instead of a text */
} whole[] = {
    { "lcs", "", NULL, 1 },
    { "lcs", "", NULL, 2 },
    { "lcs", "", NULL, 3 },
    { "lcs", "", NULL, 8 },
    { "binary", ",format=<IIHB,time=1,key=2,size=3,verb=4", "0123456789\1abcdefghij\3ABCDEFGHIJ\16", 0 },
    { "twitter", "", "7,nz:u:a,9,100,1,get,0\n7,q,1,0,1,set,60\n8,007,3,0,1,gets,0\n", 0 },
    { "cachelib", "", "key,op,size,op_count,key_size\n1,SET,82,1,40\n2,GET,0,3,64\n3,GET,5,2,6\n", 0 },
    { "cachelib", "", "1,SET,82,1,40\n2,GET,0,3,64\n3,GET_LEASE,5,2,6", 0 },
    { "msr", "", "128166372003061629,usr,0,Read,4096,8192,41286\n128166372016382155,src1,1,Write,0,9000,46447\n", 0 },
    { "mooncake", "", "{\"timestamp\": 5, \"hash_ids\": [1, 22, 333]}\n{\"timestamp\": 6.5, \"hash_ids\": [4]}\n", 0 },
    { "csv", ",key=2", "time,id,size,op_count\n1.5e3,77,8,2\n2,78,9,1\n", 0 },
};

/* Reads it twice, in other pieces: the same. How many requests. */
static size_t read_twice(const char *row, const char *options, size_t n, bool lenient, hd_status *status)
{
    taken a = read_bytes(row, options, bytes, n, lenient, 4096), b = read_bytes(row, options, bytes, n, lenient, 0);
    check(a.status == HD_OK || a.status == HD_ECORRUPT || (a.status == HD_EINVAL && strstr(a.why, "header")), "%s",
          a.why);
    check(a.status == b.status && strcmp(a.why, b.why) == 0, "'%s' and '%s'", a.why, b.why);
    if (!a.status) same_requests(a.r, a.n, b.r, b.n);
    if (!a.status)
        check(a.skipped == b.skipped && a.deletes == b.deletes && a.extra == b.extra && a.cut == b.cut,
              "counts differ");
    check(lenient || a.skipped + a.deletes == 0, "%" PRIu64 " left out without leave", a.skipped);
    *status = a.status;
    const size_t requests = a.n;
    taken_free(&a);
    taken_free(&b);
    return requests;
}

static void t_hostile(void)
{
    uint64_t tried = 0, fine = 0, refused = 0;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        const char *row = whole[i].row, *options = whole[i].options;
        const size_t n = whole[i].lcs ? lcs_file(bytes, whole[i].lcs, 3) : strlen(whole[i].text);
        const size_t first = whole[i].lcs ? 8000 : 0; /* between them lie statistics, which are not read */
        if (whole[i].text) memcpy(bytes, whole[i].text, n);
        hd_status status;
        test_case("%s %zu", row, i);
        const size_t all = read_twice(row, options, n, false, &status);
        check(status == HD_OK && all >= 2, "%zu requests: %s", all, hd_status_name(status));
        for (size_t cut = first; cut < n; cut++)
            for (unsigned lenient = 0; lenient < 2; lenient++, tried += 2) {
                test_case("%s %zu, cut at %zu, lenient %u", row, i, cut, lenient);
                const size_t got = read_twice(row, options, cut, lenient, &status);
                check(got <= all, "%zu requests of %zu", got, all);
                check(status || got || cut > 0, "nothing was taken for a trace");
                check(status || !whole[i].lcs || lenient, "a cut file was taken for a whole one");
                refused += status != HD_OK;
            }
        for (size_t bit = 0; bit < 8 * n; bit += bit == 8 * 40 && first ? 8 * (first - 40) : 1, tried += 2) {
            test_case("%s %zu, bit %zu", row, i, bit);
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            read_twice(row, options, n, bit % 2, &status);
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            fine += status == HD_OK;
            refused += status != HD_OK;
        }
    }
    test_tried("traces", tried, "cut and flipped files of eight formats; %" PRIu64 " of them refused", refused);
    check(fine > 100 && refused > 1000, "%" PRIu64 " flipped files were taken, %" PRIu64 " refused", fine, refused);
}

static const struct CMUnitTest tests[] = { unit(t_rows),  unit(t_twitter), unit(t_volumes),
                                           unit(t_lcs),   unit(t_lcs_bad), unit(t_binary),
                                           unit(t_units), unit(t_foreign), unit(t_hostile) };

int main(void) { return test_run(tests); }
