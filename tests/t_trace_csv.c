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
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%" PRIu64 "/%" PRIu64 "/%u/%c", i ? " " : "",
                     t.r[i].key, t.r[i].time, t.r[i].size, "ruim"[t.r[i].verb]);
        if (lenient) snprintf(got + strlen(got), sizeof got - strlen(got), " -%" PRIu64, t.skipped);
        check(strcmp(got, expected) == 0, "'%s' instead of '%s'", got, expected);
    }
    taken_free(&t);
    unlink(path);
}

static void t_csv(void **state)
{
    (void)state;
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
        { BYTES("\"1\",2,\"\n\n\"\n3,4\nz,5\n"), ",key=2,time=1", HD_ECORRUPT,
          "line 5, column 1 (time): not a number: 'z'" },
        /* fields */
        { BYTES("18446744073709551615,18446744073709551615,4294967295,rmw\n"), ",key=1,time=2,size=3,verb=4", HD_OK,
          "18446744073709551615/18446744073709551615/4294967295/m" },
        { BYTES("1,7.999\n2,8.\n"), ",key=1,time=2", HD_ECORRUPT, "line 2, column 2 (time): not a number: '8.'" },
        { BYTES("1,7.999\n"), ",key=1,time=2", HD_OK, "1/7/1/r" },
        { BYTES("1,x\n"), ",key=1,time=2", HD_ECORRUPT, "line 1, column 2 (time)" },
        { BYTES("1,-1\n"), ",key=1,time=2", HD_ECORRUPT, "line 1, column 2 (time)" },
        { BYTES("1,18446744073709551616\n"), ",key=1,time=2", HD_ECORRUPT, "line 1, column 2 (time)" },
        { BYTES("1,4294967296\n"), ",key=1,size=2", HD_ECORRUPT,
          "line 1, column 2 (size): not a whole number below 2^32: '4294967296'" },
        { BYTES("1,go\n"), ",key=1,verb=2", HD_ECORRUPT, "line 1, column 2 (verb): not a verb: 'go'" },
        { BYTES("1,get\n2,SET\n"), ",key=1,verb=2", HD_ECORRUPT, "line 2, column 2 (verb)" },
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
                    { BYTES("1,2\n3,x\"y\n5,\"6\"z\n7,8\n"), ",key=2", "2/0/1/r 8/0/1/r -2" } };
    for (size_t i = 0; i < sizeof lenient / sizeof *lenient; i++)
        csv_gives(lenient[i].bytes, lenient[i].n, lenient[i].options, true, HD_OK, lenient[i].expected);
    csv_gives(BYTES("x,2\ny,3\nz"), ",key=2,time=1", true, HD_ECORRUPT, "3 bad records were skipped");
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
    check(a.status == HD_OK && b.status == HD_OK && b.n == 1 && a.r[0].key == b.r[0].key,
          "csv and txt hash differently");
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
static void t_spans(void **state)
{
    (void)state;
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

static const struct CMUnitTest tests[] = { unit(t_csv), unit(t_hashed), unit(t_long), unit(t_spans) };

int main(void) { return test_run(tests); }
