/* SPDX-License-Identifier: Apache-2.0
 *
 * t_stream.c - compressed streams: the bytes that were written are read back, with every codec and in pieces of any
 * size; damaged files are reported; memory is bounded; and every file call and every allocation fails once.
 */
#include "tests/faulty.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "workload/stream.h"

enum { MIB = 1 << 20, MEMORY_MOST = 64 * MIB };

static const char *const ending[] = { "", ".gz", ".zst" };
enum { ENDINGS = sizeof ending / sizeof *ending };

/* Half text, half noise: compressible, but not to nothing. */
static uint8_t *some_bytes(size_t n, uint64_t seed)
{
    uint8_t *p = (uint8_t *)test_alloc(n, 1);
    for (size_t i = 0; i < n; i++) {
        uint64_t r = test_random(&seed);
        p[i] = r & 256 ? (uint8_t)r : (uint8_t) "streams of requests "[i % 20];
    }
    return p;
}

/* Reads a stream to its end in steps of chance, and compares with the n bytes at `all` (NULL: with nothing). The
 * stream is open; *got: how many bytes it gave. */
static hd_status read_through(hd_stream *s, const uint8_t *all, size_t n, uint64_t seed, uint64_t *got)
{
    for (*got = 0;;) {
        size_t want = 1 + (size_t)test_below(&seed, 65536), bytes, again;
        const uint8_t *p, *q;
        hd_status e = hd_stream_peek(s, want, &p, &bytes);
        if (e || bytes == 0) return e;
        check(hd_stream_offset(s) == *got, "offset %" PRIu64 " after %" PRIu64 " bytes", hd_stream_offset(s), *got);
        check(bytes >= want || !all || *got + bytes == n, "%zu bytes shown of %zu wanted", bytes, want);
        check(!all || (*got + bytes <= n && memcmp(p, all + *got, bytes) == 0), "other bytes at %" PRIu64, *got);
        must(hd_stream_peek(s, want, &q, &again));
        check(q == p && again == bytes, "a second look shows something else");
        size_t take = test_below(&seed, 64) == 0 || want > bytes ? bytes : want;
        hd_stream_skip(s, take);
        *got += take;
    }
}

static hd_status read_file(const hd_seams *seams, const char *path, const uint8_t *all, size_t n, uint64_t seed,
                           uint64_t *got)
{
    hd_stream *s;
    *got = 0;
    hd_status e = hd_stream_open(seams, path, &s);
    if (e) return e;
    e = read_through(s, all, n, seed, got);
    hd_stream_close(s);
    return e;
}

static hd_status write_file(const hd_seams *seams, const char *path, const uint8_t *all, size_t n, size_t most)
{
    hd_sink *s;
    uint64_t seed = n;
    hd_status e = hd_sink_open(seams, path, &s);
    if (e) return e;
    for (size_t done = 0, now; !e && done < n; done += now) {
        now = 1 + (size_t)test_below(&seed, most);
        if (now > n - done) now = n - done;
        e = hd_sink_write(s, all + done, now);
    }
    hd_status closed = hd_sink_close(s, true);
    check(!e || closed == e, "a sink that failed with %s closed with %s", hd_status_name(e), hd_status_name(closed));
    return e ? e : closed;
}

/* ---- Round trips ----------------------------------------------------------------------------- */

static void t_round_trip(void)
{
    static const size_t size[] = { 0, 1, 2, 3, 4, 23, 65535, 65536, MIB - 1, MIB, MIB + 1, 2 * MIB, 3 * MIB + 77 };
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        for (size_t j = 0; j < ENDINGS; j++) {
            char name[32];
            snprintf(name, sizeof name, "round%s", ending[j]);
            const char *path = test_path(name);
            uint8_t *all = some_bytes(size[i], i);
            uint64_t got;
            test_case("%zu bytes as '%s'", size[i], ending[j]);
            must(write_file(NULL, path, all, size[i], i % 2 ? 100000 : 3 * MIB));
            must(read_file(NULL, path, all, size[i], 7 * i + j, &got));
            check(got == size[i], "%" PRIu64 " bytes came back", got);
            check(test_files() == 1, "%u files instead of one", test_files());
            unlink(path);
            free(all);
        }
}

/* What we write, others read; what others write, also in parts, we read. */
static void t_others(void)
{
    enum { N = 300000, PARTS = 3 };
    uint8_t *all = some_bytes(N, 1), *back = (uint8_t *)test_alloc(N + 1, 1);
    uint64_t got;
    size_t n;

    const char *zst = test_path("others.zst"), *gz = test_path("others.gz");
    must(write_file(NULL, zst, all, N, N));
    uint8_t *packed = test_read(zst, &n);
    check(ZSTD_decompress(back, N + 1, packed, n) == N && memcmp(back, all, N) == 0, "libzstd reads something else");
    free(packed);
    must(write_file(NULL, gz, all, N, N));
    gzFile g = gzopen(gz, "rb");
    check(g && gzread(g, back, N + 1) == N && memcmp(back, all, N) == 0, "zlib reads something else");
    gzclose(g);

    FILE *to = fopen(zst, "wb");
    static const uint8_t skipped[] = { 0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c' };
    uint8_t *part = (uint8_t *)test_alloc(ZSTD_compressBound(N), 1);
    for (size_t i = 0; i < PARTS; i++) {
        n = ZSTD_compress(part, ZSTD_compressBound(N), all + i * (N / PARTS), N / PARTS, i ? 5 : 1);
        check(fwrite(skipped, 1, sizeof skipped, to) == sizeof skipped && fwrite(part, 1, n, to) == n, "no frame");
    }
    fclose(to);
    free(part);
    test_case("frames of zstd, some to be skipped");
    must(read_file(NULL, zst, all, N, 1, &got));
    check(got == N, "%" PRIu64 " bytes", got);

    unlink(gz);
    for (size_t i = 0; i < PARTS; i++) {
        g = gzopen(gz, "ab");
        check(g && gzwrite(g, all + i * (N / PARTS), N / PARTS) == N / PARTS && gzclose(g) == Z_OK, "no member");
    }
    test_case("members of gzip");
    must(read_file(NULL, gz, all, N, 2, &got));
    check(got == N, "%" PRIu64 " bytes", got);
    test_case("zeros behind gzip");
    static const uint8_t zeros[3 << 20] = { 0 }, other[1] = { 7 };
    FILE *more = fopen(gz, "ab");
    check(more && fwrite(zeros, 1, sizeof zeros, more) == sizeof zeros && fclose(more) == 0, "no zeros");
    must(read_file(NULL, gz, all, N, 2, &got));
    check(got == N, "%" PRIu64 " bytes", got);
    more = fopen(gz, "ab");
    check(more && fwrite(other, 1, 1, more) == 1 && fclose(more) == 0, "no byte");
    must_fail(read_file(NULL, gz, all, N, 2, &got), HD_ECORRUPT, "zeros, and then other bytes");
    unlink(zst);
    unlink(gz);
    free(back);
    free(all);
}

/* ---- Damage ---------------------------------------------------------------------------------- */

/* The sentence names the file and both offsets, and they are possible ones. */
static void check_sentence(const char *path, size_t file_bytes, size_t all_bytes)
{
    unsigned long long at = ~0ull, read = ~0ull;
    const char *byte = strstr(hd_why(), "at byte ");
    check(strncmp(hd_why(), path, strlen(path)) == 0 && byte &&
              sscanf(byte, "at byte %llu of the file; %llu bytes could", &at, &read) == 2,
          "a poor sentence: %s", hd_why());
    check(at <= file_bytes && read <= all_bytes, "offsets beyond %zu and %zu: %s", file_bytes, all_bytes, hd_why());
}

static hd_status read_bytes(faulty *f, const void *p, size_t n, const uint8_t *all, size_t all_bytes, uint64_t seed,
                            uint64_t *got)
{
    f->bytes = p;
    f->n = n;
    hd_status e = read_file(&f->memory.seams, "bytes", all, all_bytes, seed, got);
    faulty_settled(f);
    return e;
}

static void t_truncated(void)
{
    enum { N = 4000 };
    uint8_t *all = some_bytes(N, 3);
    for (size_t j = 1; j < ENDINGS; j++) {
        const char *path = test_path(ending[j]);
        size_t n;
        uint64_t got;
        must(write_file(NULL, path, all, N, N));
        uint8_t *packed = test_read(path, &n);
        for (size_t cut = 5; cut < n; cut++) { /* shorter ones have no magic: they are plain */
            faulty f;
            faulty_init(&f, NO_FAULT, 0);
            test_case("%zu of %zu bytes of '%s'", cut, n, ending[j]);
            must_fail(read_bytes(&f, packed, cut, NULL, 0, cut, &got), HD_ECORRUPT, "too early");
            check_sentence("bytes", cut, N);
        }
        test_tried("traces", n - 5, "lengths that a '%s' file was cut to", ending[j]);
        free(packed);
        unlink(path);
    }
    free(all);
}

/* A flipped bit may hit what no checksum covers (a gzip header's time), the magic (then the file is plain), or the size
 * of what is to be read: other bytes must never come out of a file that is still compressed. */
static void t_flipped(void)
{
    enum { N = 1500 };
    uint8_t *all = some_bytes(N, 4);
    for (size_t j = 1; j < ENDINGS; j++) {
        const char *path = test_path(ending[j]);
        size_t n, harmless = 0;
        uint64_t got;
        must(write_file(NULL, path, all, N, N));
        uint8_t *packed = test_read(path, &n);
        for (size_t bit = 8 * 4; bit < 8 * n; bit++) {
            faulty f;
            faulty_init(&f, NO_FAULT, 0);
            test_case("bit %zu of '%s'", bit, ending[j]);
            packed[bit / 8] ^= (uint8_t)(1 << bit % 8);
            hd_status e = read_bytes(&f, packed, n, NULL, 0, bit, &got);
            if (!e) {
                must(read_bytes(&f, packed, n, all, N, bit, &got));
                check(got == N, "%" PRIu64 " bytes came out", got);
                harmless++;
            } else {
                check(e == HD_ECORRUPT || e == HD_ENOMEM, "%s", hd_why());
            }
            packed[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        test_tried("traces", 8 * (n - 4), "bits of a '%s' file flipped, %zu of them harmless", ending[j], harmless);
        check(harmless < 8 * 16, "%zu flipped bits went unseen", harmless);
        free(packed);
        unlink(path);
    }
    free(all);
}

static void t_random(void)
{
    static const uint8_t magic[][4] = { { 0x28, 0xb5, 0x2f, 0xfd }, { 0x1f, 0x8b, 8, 0 }, { 0x50, 0x2a, 0x4d, 0x18 } };
    uint64_t seed = 5, got, most = test_times(3000);
    for (uint64_t i = 0; i < most; i++) {
        uint8_t bytes[512];
        size_t n = 4 + (size_t)test_below(&seed, sizeof bytes - 4);
        for (size_t j = 0; j < n; j++) bytes[j] = (uint8_t)(test_random(&seed) >> 9);
        memcpy(bytes, magic[i % 3], 4);
        faulty f;
        faulty_init(&f, i % 2 ? FAULT_SHORT : NO_FAULT, 1);
        test_case("random file %" PRIu64, i);
        hd_status e = read_bytes(&f, bytes, n, NULL, 0, i, &got);
        check(e == HD_OK || e == HD_ECORRUPT, "%s", hd_why());
        check(f.memory.peak_bytes < MEMORY_MOST, "%" PRIu64 " bytes of memory", f.memory.peak_bytes);
    }
}

static void t_garbage_behind(void)
{
    uint8_t *all = some_bytes(100, 6), *both = NULL;
    for (size_t j = 1; j < ENDINGS; j++) {
        const char *path = test_path(ending[j]);
        size_t n;
        uint64_t got;
        faulty f;
        must(write_file(NULL, path, all, 100, 100));
        uint8_t *packed = test_read(path, &n);
        both = (uint8_t *)test_alloc(n + 8, 1);
        memcpy(both, packed, n);
        memcpy(both + n, "garbage!", 8);
        faulty_init(&f, NO_FAULT, 0);
        must_fail(read_bytes(&f, both, n + 8, NULL, 0, 0, &got), HD_ECORRUPT, "100 bytes could be read");
        check_sentence("bytes", n + 8, 100);
        free(both);
        free(packed);
        unlink(path);
    }
    free(all);
}

/* The form of zstd 0.7, whose decoder knows no bound on memory, is not read: not at the beginning, where it is just
 * bytes, and not behind a frame. */
static void t_old_form(void)
{
    static const uint8_t old[] = { 0x27, 0xb5, 0x2f, 0xfd, 0x24, 0x05, 0x29, 0x00, 0x00, 'h', 'e', 'l', 'l', 'o' };
    uint8_t both[256];
    uint64_t got;
    faulty f;
    faulty_init(&f, NO_FAULT, 0);
    must(read_bytes(&f, old, sizeof old, old, sizeof old, 1, &got));
    check(got == sizeof old, "%" PRIu64 " bytes", got);
    size_t n = ZSTD_compress(both, sizeof both, "hello", 5, 1);
    memcpy(both + n, old, sizeof old);
    must_fail(read_bytes(&f, both, n + sizeof old, NULL, 0, 1, &got), HD_ECORRUPT, "no frame begins");
    check_sentence("bytes", n, 5);
}

/* ---- Bombs ----------------------------------------------------------------------------------- */

/* A file of zeros, written with a window of 2^window_log. */
static void write_zeros_zst(const char *path, uint64_t bytes, int window_log)
{
    static uint8_t zeros[MIB];
    static uint8_t packed[MIB];
    ZSTD_CCtx *z = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(z, ZSTD_c_windowLog, window_log);
    FILE *to = fopen(path, "wb");
    check(to && z, "no file");
    for (uint64_t done = 0; done <= bytes; done += MIB) {
        bool last = done == bytes;
        ZSTD_inBuffer in = { zeros, last ? 0 : MIB, 0 };
        size_t left;
        do {
            ZSTD_outBuffer out = { packed, sizeof packed, 0 };
            left = ZSTD_compressStream2(z, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
            check(!ZSTD_isError(left) && fwrite(packed, 1, out.pos, to) == out.pos, "no zeros");
        } while (last ? left : in.pos < in.size);
    }
    fclose(to);
    ZSTD_freeCCtx(z);
}

static void write_zeros_gz(const char *path, uint64_t bytes)
{
    static uint8_t zeros[MIB];
    gzFile g = gzopen(path, "wb1");
    for (uint64_t done = 0; done < bytes; done += MIB) check(gzwrite(g, zeros, MIB) == MIB, "no zeros");
    check(gzclose(g) == Z_OK, "no file");
}

static void bomb(const char *path, uint64_t bytes)
{
    faulty f;
    struct stat st;
    uint64_t got;
    faulty_init(&f, NO_FAULT, 0);
    must(read_file(&f.memory.seams, path, NULL, 0, 1, &got));
    check(got == bytes, "%" PRIu64 " bytes", got);
    check(f.memory.peak_bytes < MEMORY_MOST, "%" PRIu64 " bytes of memory", f.memory.peak_bytes);
    faulty_settled(&f);
    check(stat(path, &st) == 0, "%s", strerror(errno));
    test_note("%" PRIu64 " MiB out of %ld bytes in %.1f MiB of memory", bytes / MIB, (long)st.st_size,
              (double)f.memory.peak_bytes / MIB);
    unlink(path);
}

static void t_bomb(void)
{
    const char *zst = test_path("bomb.zst"), *gz = test_path("bomb.gz");
    write_zeros_zst(zst, 512ull * MIB, 19);
    bomb(zst, 512ull * MIB);
    write_zeros_zst(zst, 128ull * MIB, 25); /* the largest window that is allowed */
    bomb(zst, 128ull * MIB);
    write_zeros_gz(gz, 128ull * MIB);
    bomb(gz, 128ull * MIB);
}

static void t_window(void)
{
    const char *zst = test_path("window.zst");
    for (int log = 26; log <= 27; log++) {
        faulty f;
        uint64_t got;
        write_zeros_zst(zst, 2 * MIB, log);
        faulty_init(&f, NO_FAULT, 0);
        must_fail(read_file(&f.memory.seams, zst, NULL, 0, 1, &got), HD_ECORRUPT, "window above 32 MiB");
        check(f.memory.peak_bytes < 4 * MIB, "%" PRIu64 " bytes taken for a window that is refused",
              f.memory.peak_bytes);
        faulty_settled(&f);
    }
    unlink(zst);
}

/* ---- Faults ---------------------------------------------------------------------------------- */

/* What a test does with one call failing. Returns false when there are fewer calls than that. */
typedef bool failing_call(const char *path, const uint8_t *all, size_t n, uint64_t at);

/* Files of every ending, each call of which fails once; how many failed. */
static uint64_t each_call_fails(failing_call *fails, uint64_t seed, uint64_t least)
{
    enum { N = 2 * MIB + 5 };
    uint64_t failures = 0;
    uint8_t *all = some_bytes(N, seed);
    for (size_t j = 0; j < ENDINGS; j++) {
        char name[32];
        snprintf(name, sizeof name, "faults%s", ending[j]);
        const char *path = test_path(name);
        uint64_t at = 1;
        must(write_file(NULL, path, all, N, N));
        for (; fails(path, all, N, at); at++) failures++;
        check(at > least, "only %" PRIu64 " calls of '%s'", at - 1, path);
        unlink(path);
    }
    free(all);
    return failures;
}

/* Before: the old file, whole; after: no other file, and the old one unless all but the folder's sync was done. */
static bool write_fails(const char *path, const uint8_t *all, size_t n, uint64_t at)
{
    const uint8_t *old = (const uint8_t *)"old";
    faulty f;
    uint64_t got;
    must(write_file(NULL, path, old, 3, 3));
    faulty_init(&f, at % 2 ? FAULT_EIO : FAULT_ENOSPC, at);
    test_case("'%s', call %" PRIu64, path, at);
    hd_status e = write_file(&f.memory.seams, path, all, n, 300000);
    faulty_settled(&f);
    check(test_files() == 1, "%u files are left after a failed %s", test_files(), f.failed);
    if (!f.failed) must(e);
    bool renamed = !f.failed || strcmp(f.failed, "sync_folder") == 0;
    must(read_file(NULL, path, renamed ? all : old, renamed ? n : 3, at, &got));
    if (!f.failed) return false;
    check(e == HD_EIO, "%s after a failed %s: %s", hd_status_name(e), f.failed, hd_why());
    check(strstr(hd_why(), path), "no file in: %s", hd_why());
    return true;
}

static bool read_fails(const char *path, const uint8_t *all, size_t n, uint64_t at)
{
    faulty f;
    uint64_t got;
    faulty_init(&f, FAULT_EIO, at);
    test_case("'%s', call %" PRIu64, path, at);
    hd_status e = read_file(&f.memory.seams, path, all, n, at, &got);
    faulty_settled(&f);
    if (!f.failed || strcmp(f.failed, "close") == 0)
        must(e); /* the close of a file that was only read may fail */
    else
        check(e == HD_EIO && strstr(hd_why(), path), "after a failed %s: %s", f.failed, hd_why());
    return f.failed != NULL;
}

static void t_write_faults(void)
{
    test_tried("files", each_call_fails(write_fails, 8, 6), "file calls of writing that failed");
}

static void t_read_faults(void)
{
    test_tried("files", each_call_fails(read_fails, 9, 4), "file calls of reading that failed");
}

/* The caller does not notice interruptions and short transfers. */
static void t_short(void)
{
    enum { N = MIB + 4321 };
    uint8_t *all = some_bytes(N, 10);
    for (size_t j = 0; j < ENDINGS; j++)
        for (unsigned kind = FAULT_INTERRUPTED; kind <= FAULT_SHORT; kind++) {
            char name[32];
            snprintf(name, sizeof name, "short%s", ending[j]);
            const char *path = test_path(name);
            faulty f;
            uint64_t got;
            test_case("'%s', kind %u", ending[j], kind);
            faulty_init(&f, (fault_kind)kind, 1);
            must(write_file(&f.memory.seams, path, all, N, N));
            must(read_file(&f.memory.seams, path, all, N, kind, &got));
            check(got == N, "%" PRIu64 " bytes", got);
            must(read_file(NULL, path, all, N, kind, &got));
            faulty_settled(&f);
            unlink(path);
        }
    free(all);
}

static void t_memory_faults(void)
{
    enum { N = 100000 };
    uint8_t *all = some_bytes(N, 11);
    for (size_t j = 0; j < ENDINGS; j++)
        for (unsigned reading = 0; reading < 2; reading++) {
            char name[32];
            snprintf(name, sizeof name, "memory%s", ending[j]);
            const char *path = test_path(name);
            if (reading) must(write_file(NULL, path, all, N, N));
            uint64_t at = 1;
            for (bool refused = true; refused; at++) {
                faulty f;
                uint64_t got;
                faulty_init(&f, NO_FAULT, 0);
                f.memory.refuse_at = at;
                f.memory.refuse_after = at % 2;
                test_case("'%s', %s, allocation %" PRIu64, ending[j], reading ? "reading" : "writing", at);
                hd_status e = reading ? read_file(&f.memory.seams, path, all, N, 1, &got)
                                      : write_file(&f.memory.seams, path, all, N, N);
                refused = f.memory.takes >= at;
                faulty_settled(&f);
                if (refused)
                    check(e == HD_ENOMEM, "%s: %s", hd_status_name(e), hd_why());
                else
                    must(e);
                check(test_files() == (reading || !refused), "%u files", test_files());
            }
            check(at > (j ? 4 : 2), "only %" PRIu64 " allocations", at);
            unlink(path);
        }
    free(all);
}

/* ---- The rest -------------------------------------------------------------------------------- */

static void t_given_up(void)
{
    for (size_t j = 0; j < ENDINGS; j++) {
        char name[32];
        snprintf(name, sizeof name, "up%s", ending[j]);
        hd_sink *s;
        uint64_t got;
        must(hd_sink_open(NULL, test_path(name), &s));
        must(hd_sink_write(s, "half", 4));
        must(hd_sink_close(s, false));
        check(test_files() == 0, "%u files", test_files());
        must(write_file(NULL, test_path(name), (const uint8_t *)"old", 3, 3));
        must(hd_sink_open(NULL, test_path(name), &s));
        must(hd_sink_write(s, "half", 4));
        must(hd_sink_close(s, false));
        must(read_file(NULL, test_path(name), (const uint8_t *)"old", 3, 1, &got));
        check(got == 3 && test_files() == 1, "%" PRIu64 " bytes, %u files", got, test_files());
        unlink(test_path(name));
    }
    must(hd_sink_close(NULL, true));
    hd_stream_close(NULL);
}

/* A file that loses its end while it is read is no shorter file: its last line, or record, may be half of one. */
static void t_shrinking(void)
{
    enum { BYTES = 3 * MIB };
    const char *path = test_path("shrinking");
    uint8_t *all = some_bytes(BYTES, 1);
    hd_stream *s;
    uint64_t got;
    must(write_file(NULL, path, all, BYTES, MIB));
    for (off_t left = BYTES; left > MIB; left -= MIB / 2) {
        check(truncate(path, BYTES) == 0, "cannot lengthen %s", path);
        must(hd_stream_open(NULL, path, &s));
        check(truncate(path, left) == 0, "cannot shorten %s", path);
        hd_status e = read_through(s, NULL, 0, (uint64_t)left, &got);
        if (left == BYTES)
            check(e == HD_OK && got == BYTES, "%s", hd_why());
        else
            must_fail(e, HD_ECORRUPT, "became shorter while it was read");
        hd_stream_close(s);
    }
    unlink(path);
    free(all);
}

static void t_places(void)
{
    hd_stream *s;
    hd_sink *k;
    struct stat st;
    must_fail(hd_stream_open(NULL, test_path("none"), &s), HD_EINVAL, "none");
    must_fail(hd_stream_open(NULL, test_folder(), &s), HD_EINVAL, test_folder());
    must_fail(hd_sink_open(NULL, test_path("none/none"), &k), HD_EIO, "none/none");
    /* the pipe first: were it replaced, the devices would be */
    const char *pipe = test_path("pipe");
    check(mkfifo(pipe, 0600) == 0, "cannot make %s", pipe);
    int reader = open(pipe, O_RDONLY | O_NONBLOCK);
    char got[8];
    must(hd_sink_open(NULL, pipe, &k));
    must(hd_sink_write(k, "through", 7));
    must(hd_sink_close(k, true));
    check(reader >= 0 && read(reader, got, sizeof got) == 7 && !memcmp(got, "through", 7),
          "it did not come through the pipe");
    check(stat(pipe, &st) == 0 && S_ISFIFO(st.st_mode), "the pipe is none any more");
    close(reader);
    unlink(pipe);
    if (access("/dev/full", W_OK) == 0) {
        must(hd_sink_open(NULL, "/dev/full", &k));
        must(hd_sink_write(k, "lost", 4));
        must_fail(hd_sink_close(k, true), HD_EIO, "/dev/full");
    }
    must(hd_sink_open(NULL, "/dev/null", &k));
    must(hd_sink_write(k, "lost", 4));
    must(hd_sink_close(k, true));
    check(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode), "/dev/null is no device any more");
}

static const struct CMUnitTest tests[] = { unit(t_round_trip),    unit(t_others),      unit(t_truncated),
                                           unit(t_flipped),       unit(t_random),      unit(t_garbage_behind),
                                           unit(t_old_form),      unit(t_bomb),        unit(t_window),
                                           unit(t_write_faults),  unit(t_read_faults), unit(t_short),
                                           unit(t_memory_faults), unit(t_given_up),    unit(t_places),
                                           unit(t_shrinking) };

int main(void) { return test_run(tests); }
