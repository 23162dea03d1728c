/* SPDX-License-Identifier: Apache-2.0
 *
 * t_trace.c - traces back and forth: the real one; any request through any format that can store it; the time of the
 * next access; and conversions with failures.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/traces.h"

static const char *const ending[] = { "", ".gz", ".zst" };
enum { ENDINGS = sizeof ending / sizeof *ending };

static uint64_t convert(const char *spec, const char *path, const char *format, uint64_t limit)
{
    hd_source *s;
    hd_trace_written written;
    test_case("%s to %s as %s", spec, path, format);
    must(hd_source_open_spec(spec, 1, &s));
    must(hd_trace_convert(s, limit, path, format, &written));
    hd_source_close(s);
    return written.requests;
}

/* ---- The real trace -------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
    uint64_t x = ((const hd_request *)a)->key, y = ((const hd_request *)b)->key;
    return (x > y) - (x < y);
}

static void t_real(void)
{
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

/* From oracleGeneral through every other format and codec and back: the same bytes. The other formats do not know next
 * accesses, so these are computed again. txt keeps keys only: times and sizes are lost, and the links must be right
 * nevertheless. */
static void t_real_round(void)
{
    char real[4096];
    snprintf(real, sizeof real, "%s", spec_of("oracleGeneral", test_data("cloudPhysicsIO.oracleGeneral.zst"), ""));
    char plain[4096];
    snprintf(plain, sizeof plain, "%s", test_path("plain.oracleGeneral"));
    check(convert(real, plain, "oracleGeneral", 0) == 113872, "not all requests");
    taken all = take_all(NULL, spec_of("oracleGeneral", plain, ""), false, 1000);
    must(all.status);

    static const char *const format[][2] = { { "oracleGeneral", "oracleGeneral" },
                                             { "csv", "csv" },
                                             { "vscsi1", "vscsi" },
                                             { "vscsi2", "vscsi" },
                                             { "txt", "txt" } };
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
            if ((j + 1) % ENDINGS == 0 && strcmp(format[i][0], "txt")) test_same_files(back, plain);
            unlink(there);
            unlink(back);
        }
    /* cut by a limit, a trace's next accesses end with it */
    convert(spec_of("oracleGeneral", plain, ""), test_path("cut"), "oracleGeneral", 50000);
    convert(spec_of("oracleGeneral", plain, ""), test_path("cut.csv"), "csv", 50000);
    convert(spec_of("csv", test_path("cut.csv"), ""), test_path("cut2"), "oracleGeneral", 0);
    test_same_files(test_path("cut"), test_path("cut2"));
    unlink(test_path("cut"));
    unlink(test_path("cut2"));
    unlink(test_path("cut.csv"));
    unlink(plain);
    taken_free(&all);
}

/* ---- Any request comes back from a format that can hold it ----------------------------------- */

static void t_any(void)
{
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

static void t_too_large(void)
{
    hd_trace_writer *w;
    hd_request r[3] = { { .time = UINT32_MAX }, { .time = 1ull << 32 }, { .verb = 4 } };
    hd_request size[2] = { { .size = UINT32_MAX }, { .size = 1ull << 32 } };
    static const char *const narrow[] = { "oracleGeneral", "vscsi1", "vscsi2" };
    for (size_t i = 0; i < 3; i++) {
        must(hd_trace_create(NULL, test_path("large"), narrow[i], &w));
        must_fail(hd_trace_put(w, size, 2), HD_EINVAL, "request 2: size");
        must(hd_trace_close(w, false));
    }
    must(hd_trace_create(NULL, test_path("large"), "oracleGeneral", &w));
    must_fail(hd_trace_put(w, r, 2), HD_EINVAL, "request 2");
    must(hd_trace_close(w, false));
    must(hd_trace_create(NULL, test_path("large"), "csv", &w));
    must_fail(hd_trace_put(w, r, 3), HD_EINVAL, "request 3");
    must(hd_trace_close(w, false));
    must_fail(hd_trace_create(NULL, test_path("large"), "vscsi", &w), HD_EINVAL, "vscsi1");
    check(test_files() == 0, "%u files are left", test_files());
}

/* ---- Next accesses --------------------------------------------------------------------------- */

/* Walked forward, every request is where its key's request before said, and no promise stays open. */
static void check_links(const hd_request *r, size_t n, uint64_t keys)
{
    int64_t *promised = (int64_t *)test_alloc(keys, sizeof *promised);
    for (size_t i = 0; i < n; i++) {
        int64_t *p = &promised[r[i].key];
        check(*p == 0 || *p == (int64_t)i + 1, "request %zu comes, request %" PRId64 " was promised", i + 1, *p);
        *p = r[i].next;
    }
    for (uint64_t k = 0; k < keys; k++)
        check(promised[k] <= 0, "key %" PRIu64 " is promised at %" PRId64 " and never comes", k, promised[k]);
    free(promised);
}

static void t_link(void)
{
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

/* ---- Units of time --------------------------------------------------------------------------- */

static hd_status converted(const char *spec, const char *path, const char *format, hd_trace_written *written)
{
    hd_source *s;
    must(hd_source_open_spec(spec, 1, &s));
    hd_status e = hd_trace_convert(s, 0, path, format, written);
    hd_source_close(s);
    return e;
}

/* Every unit of every format to every format and back: times stay the same but for what a coarser unit cuts. */
static void t_units(void)
{
    static const struct {
        const char *format, *row, *options;
        uint64_t tick; /* in nanoseconds */
    } from[] = {
        { "oracleGeneral", "oracleGeneral", "", 1000000000 },
        { "vscsi1", "vscsi", "", 1000 },
        { "vscsi2", "vscsi", "", 1000 },
        { "csv", "csv", "", 1000000000 },
        { "csv", "csv", ",unit=s", 1000000000 },
        { "csv", "csv", ",unit=ms", 1000000 },
        { "csv", "csv", ",unit=us", 1000 },
        { "csv", "csv", ",unit=ns", 1 },
    };
    enum { FROM = sizeof from / sizeof *from };
    static const char *const names[] = { "oracleGeneral", "vscsi1", "vscsi2", "csv" };
    static const uint64_t ticks[] = { 1000000000, 1000, 1000, 0 };
    hd_request r[3] = { { .key = 1, .time = 0, .size = 1 },
                        { .key = 2, .time = 5000000, .size = 1 },
                        { .key = 1, .time = 1234567, .size = 1 } };
    char path[4096], there[4096];
    snprintf(path, sizeof path, "%s", test_path("units"));
    snprintf(there, sizeof there, "%s", test_path("there"));
    for (size_t i = 0; i < FROM; i++)
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            hd_trace_written written;
            test_case("%s%s to %s", from[i].format, from[i].options, names[j]);
            put_all(path, from[i].format, r, 3);
            must(converted(spec_of(from[i].row, path, from[i].options), there, names[j], &written));
            uint64_t from_tick = from[i].tick, to = ticks[j] ? ticks[j] : from_tick, cut = 0;
            check(written.tick == to && written.requests == 3, "%" PRIu64 " ns", written.tick);
            taken t = take_all(NULL, spec_of(j == 0 ? "oracleGeneral" : j < 3 ? "vscsi" : "csv", there, ""), false, 3);
            must(t.status);
            for (size_t k = 0; k < 3; k++) {
                uint64_t ns = r[k].time * from_tick;
                check(t.r[k].time == ns / to, "time %" PRIu64 " is %" PRIu64, r[k].time, t.r[k].time);
                cut += ns % to != 0;
            }
            check(written.cut == cut, "%" PRIu64 " cut, not %" PRIu64, written.cut, cut);
            taken_free(&t);
        }
    r[2].time = UINT64_MAX / 1000;
    put_all(path, "csv", r, 3);
    check(converted(spec_of("csv", path, ""), there, "vscsi2", NULL) == HD_EINVAL &&
              strstr(hd_why(), "request 3: time"),
          "%s", hd_why());
    unlink(path);
    unlink(there);
}

/* ---- Faults ---------------------------------------------------------------------------------- */

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
        if (memory && failed)
            check(e == HD_ENOMEM, "%s: %s", hd_status_name(e), hd_why());
        else if (failed)
            check(e == HD_EIO || strcmp(call, "close") == 0 || strcmp(call, "unlink") == 0, "%s after a failed %s",
                  hd_status_name(e), call);
        else
            must(e);
        if (!e) test_same_files(path, right);
        /* what cannot be unlinked stays; a folder that cannot be synced holds the new file */
        bool stays = !e || strcmp(call, "sync_folder") == 0;
        bool named = strcmp(call, "unlink") == 0; /* the spill file keeps its name */
        if (!named)
            check(test_files() == files + stays, "%u files instead of %u after a failed %s", test_files(),
                  files + stays, call);
        unlink(path);
        for (unsigned serial = 0; named && serial < 9999; serial++) {
            char left[4200];
            snprintf(left, sizeof left, "%s.%ld-%u.runs", path, (long)getpid(), serial);
            named = unlink(left) != 0;
        }
        check(test_files() == files, "%u files instead of %u", test_files(), files);
        if (!failed) break;
        failures++;
    }
    check(failures >= 8, "only %u faults", failures);
    test_tried(memory ? "memory" : "files", failures, "under a conversion of a trace to %s", format);
    unlink(right);
}

static void t_faults(void)
{
    hd_request *r = some_requests(600000, 4, false); /* more than a run of the linker */
    static const struct {
        const char *format, *name;
        const char *row;
        size_t n;
    } from[] = {
        { "csv", "from.csv", "csv", 3000 },
        { "csv", "from.csv.gz", "csv", 3000 },
        { "txt", "from.txt.zst", "txt", 3000 },
        { "vscsi2", "from.vscsi", "vscsi", 3000 },
        { "vscsi1", "from.vscsi.zst", "vscsi", 600000 },
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

/* Reserved keys pass: the table answers them. And what can be asked of a reader. */
static void t_rest(void)
{
    char path[4096];
    hd_source *s;
    snprintf(path, sizeof path, "%s", test_path("rest"));
    test_write(path, BYTES("18446744073709551613\n18446744073709551614\n18446744073709551615\n"));
    taken t = take_all(NULL, spec_of("txt", path, ""), false, 2);
    must(t.status);
    check(t.n == 3 && t.r[0].key == HD_KEY_RESERVED && t.r[1].key == HD_KEY_LOCKED && t.r[2].key == HD_KEY_EMPTY,
          "reserved keys are not passed on");
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
    must_fail(hd_source_open_spec(spec_of("txt", test_path("none"), ""), 1, &s), HD_EINVAL, "none");
    unlink(path);

    hd_request v = { .key = 5, .time = 1234567890, .size = 512 };
    put_all(path, "vscsi1", &v, 1);
    t = take_all(NULL, spec_of("vscsi", path, ",unit=s"), false, 2);
    must(t.status);
    check(t.n == 1 && t.r[0].time == 1234, "time %" PRIu64, t.r[0].time);
    taken_free(&t);
    unlink(path);
}

static const struct CMUnitTest tests[] = { unit(t_real), unit(t_real_round), unit(t_any),    unit(t_too_large),
                                           unit(t_link), unit(t_units),      unit(t_faults), unit(t_rest) };

int main(void) { return test_run(tests); }
