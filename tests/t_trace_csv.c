/* SPDX-License-Identifier: Apache-2.0
 *
 * t_trace_csv.c - CSV as a trace: quotes, delimiters, columns, headers, keys that are text, rows that cross the pieces
 * in which a file is read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/traces.h"

/* What a file gives: "key/time/size/verb ..." in letters, or a word of what is wrong. The keys here are numbers; hashed
 * ones are asked about in t_hashed. */
static void csv_gives(const char *bytes, size_t n, const char *options, bool lenient, hd_status status,
                      const char *expected)
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
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%" PRIu64 "/%" PRIu64 "/%" PRIu64 "/%c",
                     i ? " " : "", t.r[i].key, t.r[i].time, t.r[i].size, "ruim"[t.r[i].verb]);
        if (lenient) snprintf(got + strlen(got), sizeof got - strlen(got), " -%" PRIu64, t.skipped);
        if (t.deletes) snprintf(got + strlen(got), sizeof got - strlen(got), " deletes -%" PRIu64, t.deletes);
        check(strcmp(got, expected) == 0, "'%s' instead of '%s'", got, expected);
    }
    taken_free(&t);
    unlink(path);
}

static void t_csv(void)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *options;
        hd_status status;
        const char *expected;
    } row[] = {
        /* where the columns are */
        { BYTES("time,key,size,verb\n7,1,512,read\n8,2,64,update\n"), "", HD_OK, "1/7/512/r 2/8/64/u" },
        { BYTES("a,key,b\n7,1,512\n"), "", HD_OK, "1/0/1/r" },
        { BYTES("a,b,c\n7,1,512\n"), ",key=b", HD_OK, "1/0/1/r" },
        { BYTES("a,b,size\n7,1,512\n"), ",key=b,time=a", HD_OK, "1/7/512/r" },
        { BYTES("7,1,512\n8,2,64\n"), ",key=2", HD_OK, "1/0/1/r 2/0/1/r" },
        { BYTES("7,1,512\n"), ",key=2,time=1,size=3", HD_OK, "1/7/512/r" },
        { BYTES("x,y,z\n7,1,512\n"), ",key=2,header=1", HD_OK, "1/0/1/r" },
        { BYTES("\357\273\277key\n7\n"), "", HD_OK, "7/0/1/r" },
        { BYTES("key\n"), "", HD_ECORRUPT, "byte 4: the file ends without one request" },
        { BYTES("a,b,c\n7,1,512\n"), "", HD_ECORRUPT, "no column is called 'key' in the header 'a,b,c'" },
        { BYTES("a,b,c\n7,1,512\n"), ",key=d", HD_EINVAL, "no column is called 'd'" },
        { BYTES("a,b,c\n7,1,512\n"), ",key=a,time=a", HD_EINVAL, "" },
        { BYTES("a,b,c\n7,1,512\n"), ",key=2,time=2,header=1", HD_EINVAL, "both are column 2" },
        { BYTES("a,b,c\n7,1,512\n"), ",key=b,header=0", HD_EINVAL, "without a header" },
        { BYTES("a,b,c\n7,1,512\n"), ",header=0", HD_EINVAL, "without a header" },
        { BYTES("a,b,c\n7,1,512\n"), ",key=2", HD_OK, "1/0/1/r" },
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
        { BYTES("\"1\",2,\"\n\n\"\n3,4\nz,5\n"), ",key=2,time=1", HD_ECORRUPT,
          "line 5, column 1 (time): not a number: 'z'" },
        /* fields */
        { BYTES("18446744073709551615,18446744073709551615,72057594037927935,rmw\n"), ",key=1,time=2,size=3,verb=4",
          HD_OK, "18446744073709551615/18446744073709551615/72057594037927935/m" },
        { BYTES("1,7.999\n2,8.\n"), ",key=1,time=2", HD_ECORRUPT, "line 2, column 2 (time): not a number: '8.'" },
        { BYTES("1,7.999\n"), ",key=1,time=2", HD_OK, "1/7/1/r" },
        { BYTES("1,2.5e3\n2,2.5E+3\n3,0.0025e6\n"), ",key=1,time=2", HD_OK, "1/2500/1/r 2/2500/1/r 3/2500/1/r" },
        { BYTES("1,12345e-2\n2,1e-9\n3,0e99\n"), ",key=1,time=2", HD_OK, "1/123/1/r 2/0/1/r 3/0/1/r" },
        { BYTES("1,1.8446744073709551615e19\n"), ",key=1,time=2", HD_OK, "1/18446744073709551615/1/r" },
        { BYTES("1,1.8446744073709551616e19\n"), ",key=1,time=2", HD_ECORRUPT, "(time)" },
        { BYTES("1,1e20\n"), ",key=1,time=2", HD_ECORRUPT, "(time)" },
        { BYTES("1,1e99999999999\n"), ",key=1,time=2", HD_ECORRUPT, "(time)" },
        { BYTES("1,1e\n"), ",key=1,time=2", HD_ECORRUPT, "(time)" },
        { BYTES("1,e5\n"), ",key=1,time=2", HD_ECORRUPT, "(time)" },
        { BYTES("1,1.2.3\n"), ",key=1,time=2", HD_ECORRUPT, "(time)" },
        { BYTES("1,-1e3\n"), ",key=1,time=2", HD_ECORRUPT, "(time)" },
        { BYTES("1,nan\n"), ",key=1,time=2", HD_ECORRUPT, "(time)" },
        { BYTES("1,0\n"), ",key=1,size=2", HD_OK, "1/0/0/r" },
        { BYTES("1,1e3\n"), ",key=1,size=2", HD_ECORRUPT, "(size)" },
        { BYTES("1,x\n"), ",key=1,time=2", HD_ECORRUPT, "line 1, column 2 (time)" },
        { BYTES("1,-1\n"), ",key=1,time=2", HD_ECORRUPT, "line 1, column 2 (time)" },
        { BYTES("1,18446744073709551616\n"), ",key=1,time=2", HD_ECORRUPT, "line 1, column 2 (time)" },
        { BYTES("1,72057594037927936\n"), ",key=1,size=2", HD_ECORRUPT,
          "line 1, column 2 (size): not a whole number below 2^56: '72057594037927936'" },
        { BYTES("1,go\n"), ",key=1,verb=2", HD_ECORRUPT, "line 1, column 2 (verb): not a verb: 'go'" },
        { BYTES("1,get\n2,SET\n3,Read\n4,GETS\n5,Add\n6,incr\n"), ",key=1,verb=2", HD_OK,
          "1/0/1/r 2/0/1/u 3/0/1/r 4/0/1/r 5/0/1/i 6/0/1/m" },
        { BYTES("1,GET_LEASE\n2,Set_Lease\n3,CAS\n4,Replace\n"), ",key=1,verb=2", HD_OK,
          "1/0/1/r 2/0/1/u 3/0/1/m 4/0/1/u" },
        { BYTES("1,nop\n"), ",key=1,verb=2", HD_ECORRUPT, "not a verb" },
        { BYTES("1,go\n"), ",key=1,verb=2", HD_ECORRUPT, "in any case: read, r, get" },
        { BYTES("1,get\n2,DELETE\n"), ",key=1,verb=2", HD_ECORRUPT, "line 2, column 2 (verb): a delete" },
        /* a header that is found, one that is none, and one that may be none */
        { BYTES("id\n7\n8\n"), ",key=1", HD_OK, "7/0/1/r 8/0/1/r" },
        { BYTES("id,size\n7,10\n"), ",key=1", HD_OK, "7/0/10/r" },
        { BYTES("\n\r\n# ID, Size\n7,10\n"), ",key=1", HD_OK, "7/0/1/r" },
        { BYTES("\"id\",\"a,b\"\n7,\"y\"\n"), ",key=1", HD_OK, "7/0/1/r" },
        { BYTES("# ms, op [Put:0, Get:1], object\n0,1,7\n3,1,8\n"), ",key=3,time=1", HD_OK, "7/0/1/r 8/3/1/r" },
        { BYTES("ts,what\n"), ",key=1", HD_ECORRUPT, "without one request" },
        { BYTES("xx,yy\n"), ",key=1", HD_EINVAL, "say header=1" },
        { BYTES("xx,yy\n7,y\nz,w\n"), ",key=1", HD_EINVAL, "say header=1" },
        { BYTES("7,10\n8,20\n"), ",key=1", HD_OK, "7/0/1/r 8/0/1/r" },
        { BYTES("id,1\n8,20\n"), ",key=1", HD_EINVAL, "say header=1" },
        { BYTES("id,size\n7,10\n"), ",key=1,header=1", HD_OK, "7/0/10/r" },
        { BYTES("size,verb\n7,10\n"), ",key=1,time=2", HD_OK, "7/10/1/r" },
        { BYTES("size,verb\n7,10\n"), ",key=size,time=verb", HD_OK, "7/10/1/r" },
        { BYTES("size,key\n7,10\n"), ",header=1", HD_OK, "10/0/7/r" },
        { BYTES("t,size\n7,10\n"), ",key=1,size=2,header=0", HD_ECORRUPT,
          "(size): not a whole number below 2^56: 'size'" },
        { BYTES("t,7\nx,10\n"), ",key=2,time=1", HD_ECORRUPT, "say header=1" },
        { BYTES("7,t\n8,10\n"), ",key=1,size=2", HD_ECORRUPT, "say header=1" },
        /* rows that are several requests */
        { BYTES("key,op_count\n7,3\n8,1\n"), "", HD_OK, "7/0/1/r 7/0/1/r 7/0/1/r 8/0/1/r" },
        { BYTES("7,2,5\n8,1,6\n"), ",key=1,op_count=2,time=3", HD_OK, "7/5/1/r 7/5/1/r 8/6/1/r" },
        { BYTES("7,0\n"), ",key=1,op_count=2", HD_ECORRUPT, "(op_count): not a whole number from 1" },
        { BYTES("7,4294967296\n"), ",key=1,op_count=2", HD_ECORRUPT, "(op_count)" },
        { BYTES("7,1.5\n"), ",key=1,op_count=2", HD_ECORRUPT, "(op_count)" },
        { BYTES("a,b (c, d),key\n7,1\n"), "", HD_ECORRUPT,
          "line 2, column 2: the row has 2 columns, and the header 4" },
        { BYTES("key,b\n7,1\n8\n"), "", HD_ECORRUPT, "line 3, column 1 (key): the row has 1 column, and the header 2" },
        { BYTES("time,key\n0,7,100\n"), "", HD_ECORRUPT,
          "line 2, column 2 (key): the row has 3 columns, and the header 2" },
        { BYTES("time,key\n0,\"7\",\"1\n\"\n"), "", HD_ECORRUPT, "the row has 3 columns" },
        { BYTES("a,b\n0,7,100\n"), ",key=2,header=1", HD_OK, "7/0/1/r" },
        { BYTES("key,key\n7,1\n"), "", HD_ECORRUPT, "line 1, column 2: two columns have this name" },
        { BYTES("time,time_ms,key\n7,1,2\n"), "", HD_ECORRUPT, "two columns have this name" },
        /* CR alone ends no line */
        { BYTES("1,2\r3,4\r"), ",key=1", HD_ECORRUPT, "column 1 (key): a CR inside a line" },
        { BYTES("key,a\r1,2\r"), "", HD_ECORRUPT, "a CR inside a line" },
        { BYTES("1,2\n3,\"4\"\n5,6\r7,\"8\"\n"), ",key=1", HD_ECORRUPT, "line 3, column 2: a CR inside a line" },
        { BYTES("1,2\r\n3,4\r"), ",key=1", HD_OK, "1/0/1/r 3/0/1/r" },
        { BYTES("1,\"2\r3\"\n"), ",key=1", HD_OK, "1/0/1/r" },
        /* units */
        { BYTES("1,2\n"), ",key=1,time=2,unit=h", HD_EINVAL, "neither s, ms, us nor ns" },
        { BYTES("1,2\n"), ",key=1,unit=ms", HD_EINVAL, "there is no column of times" },
        { BYTES("1,2\n3\n"), ",key=2", HD_ECORRUPT, "line 2, column 2 (key): missing" },
        { BYTES("1,2\n3,\n"), ",key=2", HD_ECORRUPT, "line 2, column 2 (key): empty" },
        { BYTES("1,2\n3,\001\n"), ",key=2", HD_ECORRUPT, "line 2, column 2 (key): not text: '?'" }
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        csv_gives(row[i].bytes, row[i].n, row[i].options, false, row[i].status, row[i].expected);
    static const struct {
        const char *bytes;
        size_t n;
        const char *options, *expected;
    } lenient[] = { { BYTES("1,2\n3\n5,6\n7,\n9,10\n"), ",key=2", "2/0/1/r 6/0/1/r 10/0/1/r -2" },
                    { BYTES("1,2\n3,\"4\n5,6\n7,8\n"), ",key=2", "2/0/1/r 6/0/1/r 8/0/1/r -1" },
                    { BYTES("1,2\n3,x\"y\n5,\"6\"z\n7,8\n"), ",key=2", "2/0/1/r 8/0/1/r -2" },
                    { BYTES("1,get\n2,DELETE\n3,go\n4,erase\n"), ",key=1,verb=2", "1/0/1/r -1 deletes -2" },
                    { BYTES("1,2,9\n3,0,9\n4,1,9\n"), ",key=1,op_count=2", "1/0/1/r 1/0/1/r 4/0/1/r -1" } };
    for (size_t i = 0; i < sizeof lenient / sizeof *lenient; i++)
        csv_gives(lenient[i].bytes, lenient[i].n, lenient[i].options, true, HD_OK, lenient[i].expected);
    csv_gives(BYTES("x,2\ny,3\nz"), ",key=2,time=1", true, HD_ECORRUPT, "3 bad records were skipped");
}

/* The unit of times, whether an option gave it, times that had a fraction, and columns that are not read. */
static void t_units(void)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *options;
        uint64_t tick;
        bool assumed;
        uint64_t cut;
        const char *unread, *header;
    } row[] = {
        { BYTES("id,size,x\n7,10,a\n"), ",key=1", 0, false, 0, "x", "id,size,x" },
        { BYTES("id,size,x\n7,10,a\n"), ",key=1,header=1", 0, false, 0, "x", NULL },
        { BYTES("1,2e-1\n"), ",key=1,time=2", 1000000000, true, 1, NULL, NULL },
        { BYTES("1,2.50\n"), ",key=1,time=2", 1000000000, true, 1, NULL, NULL },
        { BYTES("key,op_count,c\n1,3,2\n"), "", 0, false, 0, "c", NULL },
        { BYTES("at_ms,key\n1.5,2\n"), ",key=2", 0, false, 0, "at_ms", "at_ms,key" },
        { BYTES("1,2\n"), ",key=1", 0, false, 0, NULL, NULL },
        { BYTES("1,2.5\n2,3.00\n3,.5\n"), ",key=1,time=2", 1000000000, true, 1, NULL, NULL },
        { BYTES("1,2\n"), ",key=1,time=2,unit=s", 1000000000, false, 0, NULL, NULL },
        { BYTES("1,2.1\n"), ",key=1,time=2,unit=ns", 1, false, 1, NULL, NULL },
        { BYTES("time,key\n1,2\n"), "", 1000000000, true, 0, NULL, NULL },
        { BYTES("time_us,key\n1,2\n"), "", 1000, false, 0, NULL, NULL },
        { BYTES("time_us,key\n1,2\n"), ",unit=ms", 1000000, false, 0, NULL, NULL },
        { BYTES("at_ms,key\n1,2\n"), ",time=at_ms", 1000000, false, 0, NULL, NULL },
        { BYTES("at_ms,key\n1,2\n"), ",time=1", 1000000, false, 0, NULL, NULL },
        { BYTES("at_ms,key\n1,2\n"), "", 0, false, 0, "at_ms", NULL },
        { BYTES("key,op,,ttl\n1,2,3,4\n"), "", 0, false, 0, "op, 3, ttl", NULL },
        { BYTES("key,op,c\n1,GET,2\n"), ",verb=op", 0, false, 0, "c", NULL },
    };
    char path[4096];
    snprintf(path, sizeof path, "%s", test_path("units.csv"));
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        hd_source *s;
        hd_request r[8];
        size_t got;
        test_write(path, row[i].bytes, row[i].n);
        test_case("csv '%s' with '%s'", row[i].bytes, row[i].options);
        must(hd_source_open_spec(spec_of("csv", path, row[i].options), 1, &s));
        hd_status e = hd_source_next(s, r, 8, &got);
        check(row[i].cut == 1 || e == HD_OK, "%s", hd_why());
        check(s->tick == row[i].tick && s->tick_assumed == row[i].assumed, "%" PRIu64 " ns, assumed %d", s->tick,
              s->tick_assumed);
        check(s->cut == row[i].cut, "%" PRIu64 " cut", s->cut);
        const char *unread = s->unread ? s->unread : "", *wanted = row[i].unread ? row[i].unread : "";
        check(strcmp(unread, wanted) == 0, "unread '%s', not '%s'", unread, wanted);
        const char *header = s->header ? s->header : "", *said = row[i].header ? row[i].header : "";
        check(strcmp(header, said) == 0, "header '%s', not '%s'", header, said);
        hd_source_close(s);
    }
    unlink(path);
}

/* A first line of txt that is a usual name is a key only if that is said. */
static void t_names(void)
{
    static const struct {
        const char *bytes, *options, *why;
        size_t keys;
    } row[] = {
        { "# c\nobj_id\n7\n", "", "looks like a column's name", 0 },
        { "Key\nalpha\n", "", "say header=1", 0 },
        { "Key\nalpha\n", ",header=0", NULL, 2 },
        { "Key\nalpha\n", ",header=1", NULL, 1 },
        { "x\nkey\n", "", NULL, 2 },
        { "7\n8\n", ",header=1", NULL, 1 },
        { "1\r2\r3\r", "", "a CR inside a line", 0 },
        { "# c\r1\r2\n3\n", "", "a CR inside a line", 0 },
        { "1\r\n2\r", "", NULL, 2 },
    };
    char path[4096];
    snprintf(path, sizeof path, "%s", test_path("names.txt"));
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        test_write(path, row[i].bytes, strlen(row[i].bytes));
        test_case("txt '%s' with '%s'", row[i].bytes, row[i].options);
        taken t = take_all(NULL, spec_of("txt", path, row[i].options), false, 0);
        if (row[i].why)
            check(t.status == HD_ECORRUPT && strstr(t.why, row[i].why), "%s", t.why);
        else
            check(t.status == HD_OK && t.n == row[i].keys, "%zu keys, %s", t.n, t.why);
        taken_free(&t);
    }
    unlink(path);
}

/* Text is hashed, to the same key everywhere and in both formats, and numbers only when asked. */
static void t_hashed(void)
{
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
    check(a.status == HD_OK && b.status == HD_OK && b.n == 1 && a.r[0].key == b.r[0].key,
          "csv and txt hash differently");
    taken_free(&a);
    taken_free(&b);
    unlink(path);
}

/* Rows and lines longer than a reader looks at, wherever they lie in the window. */
static void t_long(void)
{
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
                    test_case("%s: a line of %zu bytes behind %zu%s", row[k], length[i], 2 * lines,
                              quoted ? ", quoted" : "");
                    taken t = take_all(&f.memory.seams, spec, false, 4096);
                    check(t.status == (fits ? HD_OK : HD_ECORRUPT), "%s: %s", hd_status_name(t.status), t.why);
                    char word[64];
                    snprintf(word, sizeof word, "line %zu, column 1", lines + 1);
                    check(fits || strstr(t.why, word), "no '%s' in '%s'", word, t.why);
                    check(t.n == lines + (fits ? 2 : 0), "%zu requests", t.n);
                    taken_free(&t);
                    t = take_all(&f.memory.seams, spec, true, 4096);
                    must(t.status);
                    check(t.n == lines + 1 + fits && t.skipped == !fits && t.r[t.n - 1].key == 8,
                          "lenient: %zu requests, %" PRIu64 " skipped", t.n, t.skipped);
                    taken_free(&t);
                    faulty_settled(&f);
                    free(p);
                }
}

/* Quoted fields that hold line ends and delimiters, so that every window of the reader begins and ends inside one. */
static void t_spans(void)
{
    enum { ROWS = 40000 };
    char *p = (char *)test_alloc(ROWS, 256);
    size_t n = 0;
    uint64_t seed = 13;
    for (unsigned i = 0; i < ROWS; i++) {
        n += (size_t)sprintf(p + n, "\"");
        for (uint64_t k = test_below(&seed, 120); k; k--)
            n += (size_t)sprintf(p + n, "%s", k % 3 ? "\n" : k % 2 ? "," : "\"\"");
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

static const struct CMUnitTest tests[] = { unit(t_csv),    unit(t_units), unit(t_names),
                                           unit(t_hashed), unit(t_long),  unit(t_spans) };

int main(void) { return test_run(tests); }
