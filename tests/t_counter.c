/* SPDX-License-Identifier: Apache-2.0
 *
 * t_counter.c - what heddle kmer does side by side: threads that read ranges of a file, and a tally that counts by
 * parts or on a device. The keys are those of one reader, in their order. The counts are those of a table in this
 * machine's memory, one batch after another. Files are damaged, and calls of the device and of the file fail one at a
 * time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/failing_device.h"
#include "tests/faulty.h"
#include "tests/traces.h"
#include "tools/chunks.h"
#include "tools/counter.h"
#include "tools/parts.h"

enum { K = 21, FEW = 3000 };
static char number[12] = "21";

/* ---- Files ----------------------------------------------------------------------------------- */

typedef struct form {
    const char *name;
    bool fastq;
    size_t record, width; /* bases of a record; of a line, 0: all */
} form;

static const form forms[] = {
    { "FASTA, lines of 80", false, 300000, 80 },    { "FASTA, one line", false, 3000000, 0 },
    { "FASTA, short records", false, 130, 61 },     { "FASTQ, reads of 150", true, 150, 0 },
    { "FASTQ, reads of 200,000", true, 200000, 0 }, { "FASTQ, lines of 50", true, 150, 50 },
};

/* About so many bases; free() it. The file is in this folder. */
static const char *write_form(const form *f, size_t bases)
{
    size_t n = 0, room = 4 * bases + 1000;
    char *text = (char *)test_alloc(room, 1);
    uint64_t random = f->record;
    for (size_t done = 0; done < bases; done += f->record) {
        n += (size_t)sprintf(text + n, "%cread %zu\n", f->fastq ? '@' : '>', done);
        for (int half = 0; half <= (int)f->fastq; half++) {
            for (size_t i = 0; i < f->record; i++) {
                uint64_t r = test_random(&random);
                if (i && f->width && i % f->width == 0) text[n++] = '\n';
                text[n++] = half ? "@+I5"[r % 4] : r % 1000 ? "ACGT"[r % 4] : 'N';
            }
            text[n++] = '\n';
            if (f->fastq && !half) n += (size_t)sprintf(text + n, "+\n");
        }
    }
    const char *path = test_path("sequences");
    test_write(path, text, n);
    free(text);
    return path;
}

static hd_source_args args_of(const char *path)
{
    return (hd_source_args){ .name = "kmer", .arg = { path, number }, .args = 2 };
}

typedef struct keys {
    uint64_t *at;
    size_t n, room;
} keys;

static void keys_add(keys *k, const uint64_t *key, size_t n)
{
    while (k->n + n > k->room) k->at = (uint64_t *)realloc(k->at, sizeof *k->at * (k->room = 2 * k->room + CHUNK_KEYS));
    check(k->at, "no memory for %zu keys", k->room);
    if (n) memcpy(k->at + k->n, key, n * sizeof *key);
    k->n += n;
}

/* By one source. */
static hd_status read_source(const hd_source_args *a, keys *to)
{
    hd_source *s = NULL;
    hd_request r[1000];
    uint64_t key[1000];
    hd_status e = hd_source_open(a, &s);
    for (size_t got = 1; !e && got; keys_add(to, key, got)) {
        e = hd_source_next(s, r, 1000, &got);
        for (size_t i = 0; i < got; i++) key[i] = r[i].key;
    }
    hd_source_close(s);
    return e;
}

static hd_status read_chunks(const hd_source_args *a, uint32_t threads, const hd_device_seam *device, keys *to)
{
    chunks *c = NULL;
    chunk next = { .n = 1 };
    double share = 0;
    hd_status e = chunks_open(&(const chunks_config){ a, threads, device }, &c);
    while (!e && next.n) {
        e = chunks_next(c, &next);
        if (e) break;
        check(next.n <= CHUNK_KEYS && next.share >= share && next.share <= 1, "%zu keys, %g after %g", next.n,
              next.share, share);
        share = next.share;
        keys_add(to, next.key, next.n);
    }
    check(e || share == 1, "it ends at %g of the file", share);
    chunks_close(c);
    return e;
}

static void same_keys(const keys *a, const keys *b)
{
    check(a->n == b->n, "%zu keys, not %zu", b->n, a->n);
    for (size_t i = 0; i < a->n; i++)
        check(a->at[i] == b->at[i], "key %zu is %" PRIx64 ", not %" PRIx64, i, b->at[i], a->at[i]);
}

static void test_reading(void)
{
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        const char *path = write_form(&forms[f], 3000000);
        hd_source_args a = args_of(path);
        keys want = { 0 };
        must(read_source(&a, &want));
        for (uint32_t threads = 1; threads <= 7; threads += 3) {
            keys got = { 0 };
            test_case("%s, %" PRIu32 " threads", forms[f].name, threads);
            must(read_chunks(&a, threads, NULL, &got));
            same_keys(&want, &got);
            free(got.at);
        }
        free(want.at);
    }
}

/* The words are those of one reader: it is the first damage. */
static void test_damage(void)
{
    const char *path = write_form(&forms[0], 3000000);
    size_t n;
    char *text = (char *)test_read(path, &n), why[512];
    hd_source_args a = args_of(path);
    for (size_t at = n / 7; at < n; at += n / 3) {
        keys none = { 0 };
        text[at] = text[n - 9] = '!';
        test_write(path, text, n);
        test_case("bytes %zu and %zu", at, n - 9);
        check(read_source(&a, &none) == HD_ECORRUPT, "%s", hd_why());
        snprintf(why, sizeof why, "%s", hd_why());
        for (uint32_t threads = 1; threads < 6; threads += 2) {
            check(read_chunks(&a, threads, NULL, &none) == HD_ECORRUPT, "%s", hd_why());
            assert_string_equal(why, hd_why());
        }
        text[at] = 'A';
        free(none.at);
    }
    free(text);
}

/* Every call of the file seam, and every piece of memory. */
static void test_failing_files(void)
{
    const char *path = write_form(&forms[3], 400000);
    uint64_t failures = 0;
    bool failed = true;
    for (uint64_t at = 1; failed; at++) {
        faulty f;
        keys got = { 0 };
        faulty_init(&f, FAULT_EIO, at);
        hd_source_args a = args_of(path);
        a.seams = &f.memory.seams;
        test_case("file call %" PRIu64, at);
        hd_status e = read_chunks(&a, 1, NULL, &got);
        failed = f.failed != NULL;
        check(e == HD_OK || e == HD_EIO, "%s after %s: %s", hd_status_name(e), f.failed, hd_why());
        check(e == HD_EIO || !failed || strcmp(f.failed, "close") == 0, "%s failed, and the status is HD_OK", f.failed);
        failures += e != HD_OK;
        faulty_settled(&f);
        free(got.at);
    }
    check(failures > 8, "%" PRIu64 " failures", failures);
}

/* ---- Counts ---------------------------------------------------------------------------------- */

/* The rows of the histogram and of the most frequent keys. */
typedef struct counts {
    tally_step *step;
    size_t steps, tops;
    tally_entry top[50];
    uint64_t entries, counted;
} counts;

/* In a few lists, the last of which is shorter. */
static hd_status counts_of(tally *t, counts *c)
{
    bool exact = false;
    uint64_t lost = 0;
    *c = (counts){ .entries = t->entries, .counted = t->counted };
    hd_status e = tally_exact(t, &exact, &lost);
    t->listed = t->capacity / 4 + 1000;
    check(e || (exact && lost == 0), "%" PRIu64 " are lost", lost);
    if (!e) e = tally_spectrum(t, &c->step, &c->steps);
    return e ? e : tally_top(t, 50, c->top, &c->tops);
}

static void same_counts(const counts *a, const counts *b)
{
    check(a->entries == b->entries && a->counted == b->counted, "%llu of %llu keys, not %llu of %llu", (ull)b->entries,
          (ull)b->counted, (ull)a->entries, (ull)a->counted);
    check(a->steps == b->steps && memcmp(a->step, b->step, a->steps * sizeof *a->step) == 0, "another histogram");
    check(a->tops == b->tops && memcmp(a->top, b->top, a->tops * sizeof *a->top) == 0, "others are most frequent");
}

/* Few different keys, some of them much more often than others. */
static uint64_t *draw_keys(size_t n, uint64_t different)
{
    uint64_t random = different, *key = (uint64_t *)test_alloc(n, sizeof *key);
    for (size_t i = 0; i < n; i++) {
        uint64_t r = test_random(&random) % different;
        key[i] = r % 4 ? r * 0x9e3779b97f4a7c15 >> 2 : r % 64;
    }
    return key;
}

static hd_status count(const tally_config *config, const uint64_t *key, size_t n, size_t piece, counts *to)
{
    tally t;
    counter *c = NULL;
    hd_status e = tally_open(&t, config);
    if (!e) e = counter_open(&t, &c);
    for (size_t i = 0; i < n && !e; i += piece) {
        size_t some = n - i < piece ? n - i : piece;
        e = counter_give(c, key + i, some, (double)(i + some) / (double)n);
        check(e || (counter_counted(c) <= n && t.growths < 60), "%llu", (ull)counter_counted(c));
    }
    hd_status closed = c ? counter_close(c, false) : HD_OK;
    if (!e) e = closed;
    if (!e) e = counts_of(&t, to);
    tally_close(&t);
    return e;
}

/* One batch after another, by a small table's way, in a table that need not grow. */
static void count_plainly(const uint64_t *key, size_t n, counts *to)
{
    uint8_t *outcome = (uint8_t *)test_alloc(n, 1);
    tally t;
    must(tally_open(&t, &(const tally_config){ .capacity = 4 * n, .threads = 1, .most = n }));
    must(tally_add(&t, key, n, outcome));
    must(counts_of(&t, to));
    tally_close(&t);
    free(outcome);
}

/* Keys are collected by parts as soon as the table has 16 MiB. */
static void test_parts(void)
{
    enum { N = 1500000 };
    uint64_t *key = draw_keys(N, 900000);
    counts want, got;
    count_plainly(key, N, &want);
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        test_case("%" PRIu32 " threads", threads);
        must(count(&(const tally_config){ .threads = threads, .most = TALLY_BATCH_MOST }, key, N, 100000, &got));
        same_counts(&want, &got);
        free(got.step);
    }
    free(want.step);
    free(key);
}

/* Nothing more is counted once it is stopped. */
static void test_stopping(void)
{
    enum { N = 1500000 };
    uint64_t *key = draw_keys(N, N);
    tally t;
    counter *c;
    must(tally_open(&t, &(const tally_config){ .threads = 1, .most = TALLY_BATCH_MOST }));
    must(counter_open(&t, &c));
    for (size_t i = 0; i < N; i += 100000) must(counter_give(c, key + i, 100000, 0));
    must(counter_close(c, true));
    check(t.counted > 0 && t.counted < N, "%llu of %d keys were counted", (ull)t.counted, N);
    tally_close(&t);
    free(key);
}

/* ---- On a device ----------------------------------------------------------------------------- */

static tally_config config_on(const device *d)
{
    return (tally_config){ .backend = "cuda", .most = TALLY_BATCH_MOST, .seams = &d->seams };
}

/* The same counts as in a plain array, by a table on a device of its own. near: NULL for no limit */
static void same_on_device(const char *design, const char *near, const uint64_t *key, size_t n)
{
    counts want, got;
    device *d = device_open();
    tally_config config = config_on(d);
    config.design = design;
    config.set.near = near;
    count_plainly(key, n, &want);
    must(count(&config, key, n, 7000, &got));
    same_counts(&want, &got);
    device_close(d);
    free(got.step);
    free(want.step);
}

/* A table that grows, in pieces that do not fit its batches. */
static void test_device(void)
{
    const size_t n = (size_t)test_times(100000);
    uint64_t *key = draw_keys(n, n / 2 + n / 4);
    same_on_device(NULL, NULL, key, n);
    free(key);
}

/* Dictionaries count arrays of this machine, in batches of what several pieces brought. */
static void test_device_dictionaries(void)
{
    static const char *const design[] = { "hive", "ovs", "sl" };
    const size_t n = TALLY_BATCH + TALLY_BATCH / 2;
    uint64_t *key = draw_keys(n, n / 2);
    for (size_t i = 0; i < n; i++) key[i] &= 0xffff;
    for (size_t i = 0; i < sizeof design / sizeof *design; i++) {
        test_case("%s", design[i]);
        same_on_device(design[i], strcmp(design[i], "hive") == 0 ? NULL : "16Mi", key, n);
    }
    free(key);
}

/* A batch that does not wait for its keys, or keys that do not wait for the batch before. */
static void test_device_order(void)
{
    uint64_t *key = draw_keys(FEW, FEW), waits = 0, found = 0;
    counts want, got;
    count_plainly(key, FEW, &want);
    for (bool skipped = true; skipped; waits++) {
        device *d = device_open();
        const tally_config config = config_on(d);
        d->fake.skip_wait = waits + 1;
        must(count(&config, key, FEW, FEW / 6, &got));
        skipped = d->fake.skipped;
        bool same = got.steps == want.steps && memcmp(got.step, want.step, got.steps * sizeof *got.step) == 0;
        check(skipped || same, "another histogram");
        found += !same;
        device_close(d);
        free(got.step);
    }
    test_note("%llu of %llu waits left out: another histogram", (ull)found, (ull)waits - 1);
    check(found >= 4, "%llu of %llu waits left out were found", (ull)found, (ull)waits - 1);
    free(want.step);
    free(key);
}

/* Each call of the device fails once: the status says so, and all memory is given back. */
static void test_device_faults(void)
{
    enum { N = 300 };
    uint64_t *key = draw_keys(N, N / 2), failures = 0;
    static const int codes[] = { HD_DEVICE_NO_MEMORY, FAKE_INVALID };
    bool failed = true;
    for (uint64_t at = 1; failed; at++) {
        device *d = device_open();
        tally_config config = config_on(d);
        config.capacity = 4 * N;
        counts got = { 0 };
        d->failing.fail_at = at;
        d->failing.code = codes[at % 2];
        test_case("device call %llu", (ull)at);
        hd_status e = count(&config, key, N, N / 3, &got);
        failed = d->failing.failed != NULL;
        check(e == HD_OK || failed, "%s", hd_why());
        check(e == HD_OK || e == HD_ENOMEM || e == HD_ECUDA, "%s: %s", hd_status_name(e), hd_why());
        failures += e != HD_OK;
        free(got.step);
        device_close(d);
    }
    test_note("%llu failures", (ull)failures);
    check(failures > 40, "%llu failures", (ull)failures);
    free(key);
}

/* The keys of chunks are in pinned memory, which is given back. */
static void test_pinned_chunks(void)
{
    const char *path = write_form(&forms[0], 1500000);
    hd_source_args a = args_of(path);
    keys want = { 0 }, got = { 0 }, none = { 0 };
    device *d = device_open();
    must(read_source(&a, &want));
    must(read_chunks(&a, 3, &d->failing.seam, &got));
    same_keys(&want, &got);
    check(d->fake.far_peak >= 6 * sizeof(uint64_t) * CHUNK_KEYS, "%llu bytes were pinned", (ull)d->fake.far_peak);
    d->failing.fail_at = d->failing.calls + 1;
    d->failing.code = HD_DEVICE_NO_MEMORY;
    check(read_chunks(&a, 3, &d->failing.seam, &none) == HD_ENOMEM, "%s", hd_why());
    device_close(d);
    free(want.at);
    free(got.at);
    free(none.at);
}

static const struct CMUnitTest tests[] = {
    unit(test_reading),       unit(test_damage),        unit(test_failing_files),       unit(test_parts),
    unit(test_stopping),      unit(test_device),        unit(test_device_dictionaries), unit(test_device_order),
    unit(test_device_faults), unit(test_pinned_chunks),
};

int main(void) { return test_run(tests); }
