/* SPDX-License-Identifier: Apache-2.0
 *
 * t_kmer.c - the k-mers of FASTA and FASTQ. The test makes up sequences, writes them in every form that the formats
 * allow, and reads them back; a simple counter of strings computes the expected k-mers. Then two real files, whose
 * counts two other programs confirm, and damaged files.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

#include "tests/traces.h"
#include "workload/kmer_range.h"

/* ---- The naive counter ----------------------------------------------------------------------- */

typedef struct keys {
    uint64_t *at, n, room;
} keys;

static void keys_add(keys *k, uint64_t key)
{
    if (k->n == k->room) {
        k->room = k->room ? 2 * k->room : 1024;
        k->at = (uint64_t *)realloc(k->at, (size_t)k->room * sizeof *k->at);
        check(k->at, "no memory for %" PRIu64 " keys", k->room);
    }
    k->at[k->n++] = key;
}

static void naive(keys *out, const char *sequence, unsigned k, bool canonical)
{
    for (size_t i = 0, n = strlen(sequence); i + k <= n; i++) {
        char forward[32] = "", reverse[32] = "";
        bool good = true;
        for (unsigned j = 0; j < k; j++) {
            const char *base = strchr("AaCcGgTt", sequence[i + j]);
            good = good && base;
            if (!base) break;
            forward[j] = "ACGT"[(base - strchr("AaCcGgTt", 'A')) / 2 % 4];
        }
        if (!good) continue;
        for (unsigned j = 0; j < k; j++) {
            char b = forward[k - 1 - j];
            reverse[j] = b == 'A' ? 'T' : b == 'C' ? 'G' : b == 'G' ? 'C' : 'A';
        }
        uint64_t key = 0;
        for (const char *p = canonical && strcmp(reverse, forward) < 0 ? reverse : forward; *p; p++)
            key = key * 4 + (uint64_t)(*p == 'C') + 2 * (uint64_t)(*p == 'G') + 3 * (uint64_t)(*p == 'T');
        keys_add(out, key);
    }
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Until the next call. */
static hd_source_args args_of(const char *path, unsigned k, bool canonical)
{
    static char number[12];
    snprintf(number, sizeof number, "%u", k);
    return (hd_source_args){ .name = "kmer",
                             .arg = { path, number },
                             .args = 2,
                             .option = { { "canonical", canonical ? "1" : "0" } },
                             .options = 1 };
}

/* All k-mers of the file, up to `piece` at a time; the status of the call that failed, or HD_OK. */
static hd_status read_all(const char *path, unsigned k, bool canonical, bool lenient, size_t piece, keys *out,
                          uint64_t *skipped)
{
    hd_source_args a = args_of(path, k, canonical);
    a.lenient = lenient;
    hd_source *s = NULL;
    hd_request r[4096];
    hd_status e = hd_source_open(&a, &s);
    for (size_t got = piece; !e && got == piece;) {
        e = hd_source_next(s, r, piece, &got);
        for (size_t i = 0; i < got; i++) {
            check(r[i].verb == HD_UPDATE && r[i].size == 1, "a request that is no count");
            keys_add(out, r[i].key);
        }
    }
    if (e && s) { /* a source that failed goes on failing, in the same words */
        char why[512];
        size_t got = 1;
        snprintf(why, sizeof why, "%s", hd_why());
        check(hd_source_next(s, r, 1, &got) == e && got == 0, "it went on after: %s", why);
        assert_string_equal(hd_why(), why);
    }
    if (skipped) *skipped = s ? s->skipped : 0;
    hd_source_close(s);
    return e;
}

/* All k-mers of a plain file, range by range; how many ranges were read before one ran on. */
static uint64_t read_ranges(const char *path, unsigned k, bool canonical, uint64_t bytes, size_t piece, keys *out)
{
    hd_source_args a = args_of(path, k, canonical);
    hd_request r[4096];
    hd_kmer_range range = { 0, bytes, 0 };
    uint64_t ranges = 0, all = 1;
    for (bool on = false; range.from < all && !on; range.from += bytes, ranges++) {
        hd_source *s = NULL;
        must(hd_kmer_range_open(&a, &range, &s));
        range.marker = hd_kmer_marker(s);
        all = s->bytes_total;
        for (size_t got = piece; got == piece;) {
            must(hd_source_next(s, r, piece, &got));
            for (size_t i = 0; i < got; i++) keys_add(out, r[i].key);
        }
        on = hd_kmer_ran_on(s);
        hd_source_close(s);
    }
    return ranges;
}

typedef struct record {
    keys of;
    char name[12];
    bool damaged;
} record;

/* The file record by record, damaged ones too; how many there are. */
static size_t read_records(const char *path, unsigned k, bool canonical, bool lenient, size_t piece, record *row,
                           size_t most)
{
    hd_source_args a = args_of(path, k, canonical);
    a.lenient = lenient;
    hd_source *s = NULL;
    hd_kmer_record r = { .name = "" };
    uint64_t key[4096];
    size_t got, records = 0;
    must(hd_source_open(&a, &s));
    for (;;) {
        must(hd_kmer_record_keys(s, key, piece, &got, &r));
        if (!r.name) break;
        check(records < most, "more than %zu records", most);
        check(got == piece || r.ended, "%zu keys, and no end", got);
        record *to = &row[records];
        snprintf(to->name, sizeof to->name, "%s", r.name);
        for (size_t i = 0; i < got; i++) keys_add(&to->of, key[i]);
        to->damaged = r.damaged;
        records += r.ended;
    }
    check(r.ended && got == 0, "the end of the file has keys");
    must(hd_kmer_record_keys(s, key, piece, &got, &r));
    check(!r.name && got == 0, "the file goes on after its end");
    hd_source_close(s);
    return records;
}

static void keys_equal(const keys *got, const keys *want)
{
    for (uint64_t i = 0; i < got->n && i < want->n; i++)
        check(got->at[i] == want->at[i], "k-mer %" PRIu64 ": %" PRIx64 " instead of %" PRIx64, i, got->at[i],
              want->at[i]);
    check(got->n == want->n, "%" PRIu64 " k-mers instead of %" PRIu64, got->n, want->n);
}

/* ---- Writing --------------------------------------------------------------------------------- */

enum packing { PLAIN, GZ, ZST, PACKINGS };

static const char *file_write(const char *text, size_t bytes, int packing)
{
    static char path[4096];
    static const char *const ending[PACKINGS] = { "", ".gz", ".zst" };
    snprintf(path, sizeof path, "%s/reads%s", test_folder(), ending[packing]);
    if (packing == GZ) {
        gzFile f = gzopen(path, "wb1");
        check(f && (!bytes || gzwrite(f, text, (unsigned)bytes) == (int)bytes) && gzclose(f) == Z_OK, "cannot write %s",
              path);
        return path;
    }
    size_t room = ZSTD_compressBound(bytes);
    char *packed = (char *)test_alloc(room, 1);
    size_t n = packing == ZST ? ZSTD_compress(packed, room, text, bytes, 1) : bytes;
    FILE *f = fopen(path, "wb");
    check(f && fwrite(packing == ZST ? packed : text, 1, n, f) == n && fclose(f) == 0, "cannot write %s", path);
    free(packed);
    return path;
}

typedef struct layout {
    bool fastq, crlf, last_newline, blank_lines;
    size_t width;
} layout; /* width 0: one line */

static void put(char *text, size_t *n, const char *what, const layout *l)
{
    for (; *what; what++) {
        if (*what == '\n' && l->crlf) text[(*n)++] = '\r';
        text[(*n)++] = *what;
    }
}

static void put_wrapped(char *text, size_t *n, const char *what, const layout *l)
{
    size_t width = l->width ? l->width : strlen(what) + 1;
    for (size_t i = 0; what[i]; i++) {
        if (i && i % width == 0) put(text, n, "\n", l);
        text[(*n)++] = what[i];
    }
    put(text, n, "\n", l);
}

static size_t compose(char *text, char *const *sequence, size_t sequences, const layout *l, uint64_t *random)
{
    size_t n = 0;
    for (size_t i = 0; i < sequences; i++) {
        if (l->blank_lines) put(text, &n, "\n", l);
        put(text, &n, l->fastq ? "@read + > @ of ACGT\n" : ">chromosome > @ + of ACGT\n", l);
        put_wrapped(text, &n, sequence[i], l);
        if (!l->fastq) continue;
        put(text, &n, test_below(random, 2) ? "+\n" : "+read + > @\n", l);
        char *quality = strdup(sequence[i]);
        check(quality, "no memory");
        for (size_t j = 0; quality[j]; j++) quality[j] = "@+>!~ACGT5"[test_below(random, 10)];
        put_wrapped(text, &n, quality, l);
        free(quality);
    }
    while (!l->last_newline && n && (text[n - 1] == '\n' || text[n - 1] == '\r')) n--;
    return n;
}

/* ---- Every layout ---------------------------------------------------------------------------- */

static char *sequence_draw(size_t n, uint64_t *random)
{
    char *s = (char *)test_alloc(n + 1, 1);
    const char *letters = test_below(random, 2) ? "ACGT" : "ACGTacgtACGTacgtACGTacgtACGTacgtNnRYu-*.";
    for (size_t i = 0; i < n; i++) s[i] = letters[test_below(random, strlen(letters))];
    return s;
}

static void test_layouts(void)
{
    static char text[1 << 20];
    static const size_t widths[] = { 0, 1, 2, 16, 61 };
    uint64_t random = 1;
    for (unsigned round = 0; round < test_times(400); round++) {
        layout l = { round & 1, round & 2, round & 4, round & 8, widths[test_below(&random, 5)] };
        char *sequence[6];
        size_t sequences = 1 + (size_t)test_below(&random, 6);
        unsigned k = 1 + (unsigned)test_below(&random, 31);
        bool canonical = test_below(&random, 2);
        size_t piece = 1 + (size_t)test_below(&random, 9);
        int packing = (int)test_below(&random, PACKINGS);
        keys want = { 0 }, got = { 0 };
        uint64_t skipped;
        for (size_t i = 0; i < sequences; i++) {
            sequence[i] = sequence_draw((size_t)test_below(&random, 200), &random);
            naive(&want, sequence[i], k, canonical);
        }
        size_t n = compose(text, sequence, sequences, &l, &random);
        /* then the last line is '+', and may stand alone */
        bool cut = l.fastq && !l.last_newline && !*sequence[sequences - 1];
        test_case("round %u k=%u canonical=%d packing=%d fastq=%d crlf=%d last=%d blank=%d width=%zu\n%.*s", round, k,
                  canonical, packing, l.fastq, l.crlf, l.last_newline, l.blank_lines, l.width, (int)(n < 300 ? n : 300),
                  text);
        hd_status e = read_all(file_write(text, n, packing), k, canonical, false, piece, &got, &skipped);
        check(cut || e == (want.n ? HD_OK : HD_ECORRUPT), "%s: %s", hd_status_name(e), hd_why());
        check(skipped == 0, "skipped");
        keys_equal(&got, &want);
        if (packing == PLAIN && !e) {
            uint64_t bytes = 1 + test_below(&random, 200);
            got.n = 0;
            uint64_t ranges = read_ranges(file_write(text, n, PLAIN), k, canonical, bytes, piece, &got);
            /* records of more than four lines; or the file's last line, which seems to have no end */
            check((l.fastq && l.width) || l.blank_lines || ranges * bytes + 256 >= n,
                  "range %" PRIu64 " of %" PRIu64 " bytes ran on: %zu", ranges, bytes, n);
            keys_equal(&got, &want);
        }
        if (!cut) {
            record row[6] = { { .damaged = false } };
            size_t records = read_records(file_write(text, n, packing), k, canonical, false, piece, row, 6);
            check(records == sequences, "%zu records instead of %zu", records, sequences);
            for (size_t i = 0; i < sequences; i++) {
                want.n = 0;
                naive(&want, sequence[i], k, canonical);
                keys_equal(&row[i].of, &want);
                check(!row[i].damaged, "record %zu is damaged", i);
                assert_string_equal(row[i].name, l.fastq ? "read" : "chromosome");
                free(row[i].of.at);
            }
        }
        for (size_t i = 0; i < sequences; i++) free(sequence[i]);
        free(want.at);
        free(got.at);
    }
}

/* Longer than what the stream holds at once, in one line and in lines of 70. */
static void test_long(void)
{
    enum { N = 3000000 };
    uint64_t random = 2;
    char *text = (char *)test_alloc(3 * N, 1), *sequence = sequence_draw(N, &random);
    for (unsigned i = 0; i < 4; i++) {
        layout l = { .fastq = i & 1, .last_newline = true, .width = i & 2 ? 70 : 0 };
        keys want = { 0 }, got = { 0 };
        naive(&want, sequence, 21, true);
        size_t n = compose(text, &sequence, 1, &l, &random);
        test_case("%d bases, fastq=%d width=%zu", N, l.fastq, l.width);
        must(read_all(file_write(text, n, (int)i % PACKINGS), 21, true, false, 4096, &got, NULL));
        keys_equal(&got, &want);
        got.n = 0;
        uint64_t bytes = 100000, ranges = read_ranges(file_write(text, n, PLAIN), 21, true, bytes, 4096, &got);
        test_note("%" PRIu64 " ranges of %zu bytes", ranges, n);
        check(l.fastq || ranges >= n / bytes, "%" PRIu64 " ranges", ranges);
        keys_equal(&got, &want);
        free(want.at);
        free(got.at);
    }
    free(sequence);
    free(text);
}

/* ---- Real files ------------------------------------------------------------------------------ */

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void judge_file(const char *name, uint64_t counted, uint64_t distinct, uint64_t hash)
{
    keys got = { 0 };
    const char *path = test_data(name);
    test_case("kmer:%s,16", name);
    must(read_all(path, 16, true, false, 4096, &got, NULL));
    check(got.n == counted, "%" PRIu64 " k-mers instead of %" PRIu64, got.n, counted);
    uint64_t seen = XXH3_64bits(got.at, got.n * sizeof *got.at), different = got.n != 0;
    qsort(got.at, (size_t)got.n, sizeof *got.at, compare_u64);
    for (uint64_t i = 1; i < got.n; i++) different += got.at[i] != got.at[i - 1];
    check(different == distinct, "%" PRIu64 " different k-mers instead of %" PRIu64, different, distinct);
    check(seen == hash, "in another order: 0x%016" PRIx64, seen); /* pinned, on a little-endian machine */
    free(got.at);
}

static void test_genome(void) { judge_file("lambda_virus.fa", 48487, 48486, 0xfd2a235350f25312); }

static void test_reads(void) { judge_file("lambda_reads_1.fq.zst", 779967, 104580, 0x8f1182f20d8c0580); }

/* ---- Damage ---------------------------------------------------------------------------------- */

/* Strict: the byte and the word. Lenient: the k-mers of which sequences come, and how many records were bad. `good`
 * NULL: not even lenient reading goes on. */
/* clang-format off */
static const struct bad {
    const char *text;
    unsigned byte;
    const char *word;
    const char *good[4];
    uint64_t skipped;
} bad[] = {
    { "", 0, "the file has no record", { NULL }, 0 },
    { "\n \r\n", 4, "the file has no record", { NULL }, 0 },
    { "ACGT\n", 0, "0x41 is neither; FASTA begins with", { NULL }, 0 },
    { "\n\nACGT\n>x\nACGT\n", 2, "neither", { NULL }, 0 },
    { "@r", 2, "ends inside a record", { "" }, 1 },
    { "@r\n", 3, "ends inside a record", { "" }, 1 },
    { "@r\nACGT", 7, "ends inside a record", { "ACGT" }, 1 },
    { "@r\nACGT\n", 8, "ends inside a record", { "ACGT" }, 1 },
    { "@r\nACGT\n+", 9, "ends inside a record", { "ACGT" }, 1 },
    { "@r\nACGT\n+\n", 10, "ends inside a record", { "ACGT" }, 1 },
    { "@r\nACGT\n+\nIII", 13, "ends inside a record", { "ACGT" }, 1 },
    { "@r\nACGT\n+\nIII\n", 14, "ends inside a record", { "ACGT" }, 1 },
    { "@r\nACGT\n+\nIIIII", 15, "5 qualities for 4 bases", { "ACGT" }, 1 },
    { "@r\nACGT\n+\nIIIII\n", 15, "5 qualities for 4 bases", { "ACGT" }, 1 },
    { "@r\nACGT\n+\nIIIII\n@s\nGGCA\n+\nIIII\n", 15, "5 qualities", { "ACGT", "GGCA" }, 1 },
    { "@r\nACGT\n+\nIII\n@second\nGGCA\n+\nIIII\n", 21, "10 qualities for 4", { "ACGT", "GGCA" }, 1 },
    { "@r\nACGT\n+\n@IIII\n@s\nGGCA\n+\nIIII\n", 15, "5 qualities", { "ACGT", "GGCA" }, 1 },
    { "@r\nACGT\n+\nIII I\n@s\nGGCA\n+\nIIII\n", 0, NULL, { "ACGT", "GGCA" }, 0 }, /* blanks do not count */
    { "@r\nACGT\n+\nII\1II\n@s\nGGCA\n+\nIIII\n", 12, "no quality", { "ACGT", "GGCA" }, 1 },
    { "@r\nACGT\n+\nIIII\nGGCA\n@s\nGGCA\n+\nIIII\n", 15, "no '@' where", { "ACGT", "GGCA" }, 1 },
    { "@r\nACGT\n+\nIIII\nGGCA\n@III\n@s\nGGCA\n+\nIIII\n", 15, "no '@' where", { "ACGT", "GGCA" }, 1 },
    { "@r\nACGT\n@s\nGGCA\n+\nIIII\n", 8, "before the last one has qualities", { "ACGT", "GGCA" }, 1 },
    { "@r\nACGT\n>s\nGGCA\n+\nIIIIIIIIII\n@t\nTTTT\n+\nIIII\n", 8, "no base", { "ACGTNNGGCA", "TTTT" }, 1 },
    { ">r\nAC@T\nACGT\n", 5, "no base", { "ACNTACGT" }, 1 },
    { ">r\nACGT\1ACGT1\n>s\nGGCA\n", 7, "no base", { "ACGTNACGT", "GGCA" }, 1 },
    { ">r\nACGT\377\n>s\n\2GGCA\n", 7, "no base", { "ACGT", "NGGCA" }, 2 },
    { ">r", 2, "without one k-mer", { "" }, 0 },
    { ">r\rACGT\r", 3, "a CR inside a header", { "" }, 1 },
    { ">r\r\r\nACGT\n", 3, "a CR inside a header", { "ACGT" }, 1 },
    { ">r\n>s\n\n>t\nACGT", 0, NULL, { "ACGT" }, 0 },
};
/* clang-format on */

static void test_damage(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (int packing = PLAIN; packing < PACKINGS; packing++) {
            const struct bad *b = &bad[i];
            const char *path = file_write(b->text, strlen(b->text), packing);
            char at[64];
            keys got = { 0 }, want = { 0 };
            uint64_t skipped = 0;
            test_case("%s packing=%d: %s", path, packing, b->text);
            hd_status e = read_all(path, 3, true, false, 2, &got, NULL);
            check(e == (b->word ? HD_ECORRUPT : HD_OK), "%s: %s", hd_status_name(e), hd_why());
            snprintf(at, sizeof at, "byte %u: ", b->byte);
            if (b->word)
                check(strstr(hd_why(), path) && strstr(hd_why(), at) && strstr(hd_why(), b->word), "%s", hd_why());

            got.n = 0;
            e = read_all(path, 3, true, true, 2, &got, &skipped);
            for (int j = 0; j < 4 && b->good[j]; j++) naive(&want, b->good[j], 3, true);
            check(e == (want.n ? HD_OK : HD_ECORRUPT), "lenient: %s: %s", hd_status_name(e), hd_why());
            keys_equal(&got, &want);
            check(skipped == b->skipped, "%" PRIu64 " bad records instead of %" PRIu64, skipped, b->skipped);
            free(got.at);
            free(want.at);
        }
}

/* Which records of a damaged file are good: those that no error was in. */
static void test_damaged_records(void)
{
    static const struct {
        const char *text, *good; /* names, a space after each */
    } file[] = {
        { "@r x\nACGT\n+\nIIII\n@s\tx\nGGCA\n+\nIIII\n", "r s " },
        { "@r\nACGT\n+\nIIIII\n@s\nGGCA\n+\nIIII\n", "s " },
        { "@r\nACGT\n+\nIII\n@second\nGGCA\n+\nIIII\n", " " }, /* whose header was read as qualities */
        { "@r\nACGT\n+\nII\1II\n@s\nGGCA\n+\nIIII\n", "s " },
        { "@r\nACGT\n+\nIIII\nGGCA\n@III\n@s\nGGCA\n+\nIIII\n", "r s " },
        { "@r\nACGT\n@s\nGGCA\n+\nIIII\n", "s " },
        { "@r\nACGT\n+\nIIII\n@s\nGGCA\n+\nIII", "r " },
        { ">r\nAC@T\nACGT\n> s\nGGCA\n>t\n>u\2v\r\nACGT\n", "s t u?v " },
        { ">\nACGT\n>0123456789abcdef\nACGT\n", " 0123456789a " },
    };
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        record row[6] = { { .damaged = false } };
        char good[64] = "";
        test_case("%s", file[i].text);
        size_t n = read_records(file_write(file[i].text, strlen(file[i].text), PLAIN), 3, true, true, 2, row, 6);
        for (size_t j = 0; j < n; j++) {
            if (!row[j].damaged) strcat(strcat(good, row[j].name), " ");
            free(row[j].of.at);
        }
        assert_string_equal(good, file[i].good);
    }
}

/* Any bytes at all: an answer, strict and lenient, and lenient fails only where there is no request. */
static void test_noise(void)
{
    static const char alphabet[] = "ACGTacgtN\n\n\n\r@@>++II \1";
    uint64_t random = 3;
    for (unsigned round = 0; round < test_times(3000); round++) {
        char text[200];
        size_t n = 1 + (size_t)test_below(&random, sizeof text - 1);
        for (size_t i = 0; i < n; i++) text[i] = alphabet[test_below(&random, sizeof alphabet - 1)];
        text[0] = round & 1 ? '@' : '>';
        const char *path = file_write(text, n, PLAIN);
        keys strict = { 0 }, lenient = { 0 };
        uint64_t skipped;
        test_case("round %u: %.*s", round, (int)n, text);
        hd_status e = read_all(path, 4, true, false, 5, &strict, NULL);
        check(e == HD_OK || e == HD_ECORRUPT, "%s", hd_status_name(e));
        hd_status f = read_all(path, 4, true, true, 5, &lenient, &skipped);
        check(f == (lenient.n ? HD_OK : HD_ECORRUPT), "%" PRIu64 " k-mers, and %s", lenient.n, hd_status_name(f));
        if (lenient.n) check((skipped == 0) == (e == HD_OK), "strict %s, skipped %" PRIu64, hd_status_name(e), skipped);
        check(lenient.n >= strict.n, "lenient gave less");
        for (uint64_t i = 0; i < strict.n; i++) check(lenient.at[i] == strict.at[i], "another k-mer %" PRIu64, i);
        record row[200] = { { .damaged = false } };
        uint64_t seen = 0;
        for (size_t i = 0, records = read_records(path, 4, true, true, 5, row, 200); i < records; i++) {
            for (uint64_t j = 0; j < row[i].of.n; j++, seen++)
                check(row[i].of.at[j] == lenient.at[seen], "by records another k-mer %" PRIu64, seen);
            free(row[i].of.at);
        }
        check(seen == lenient.n, "%" PRIu64 " k-mers by records", seen);
        free(strict.at);
        free(lenient.at);
    }
}

/* ---- Memory that is refused ------------------------------------------------------------------ */

static void test_refused_memory(void)
{
    static const char text[] = "@r\nACGTACGTAC\n+\nIIIIIIIIII\n";
    for (int packing = PLAIN; packing < PACKINGS; packing++) {
        const char *path = file_write(text, strlen(text), packing);
        char spec[4300];
        snprintf(spec, sizeof spec, "kmer:%s,4", path);
        uint64_t n = refuse_each_take(spec, 16);
        check(n == 7, "%" PRIu64 " k-mers", n);
    }
}

static const struct CMUnitTest tests[] = { unit(test_layouts), unit(test_long),          unit(test_genome),
                                           unit(test_reads),   unit(test_damage),        unit(test_damaged_records),
                                           unit(test_noise),   unit(test_refused_memory) };

int main(void) { return test_run(tests); }
