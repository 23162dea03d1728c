/* SPDX-License-Identifier: Apache-2.0
 *
 * t_genome.c - genomes that are made: the same bases wherever one begins to read, repeats in the share that was asked
 * for, reads that are parts of the genome but for their errors, bounded memory, and failures of every call.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/faulty.h"
#include "workload/genome.h"
#include "workload/stream.h"

static uint8_t *bases_of(const hd_genome *g)
{
    uint8_t *base = (uint8_t *)test_alloc(g->bases, 1);
    must(hd_genome_check(g));
    hd_genome_bases(g, 0, g->bases, base);
    return base;
}

/* The text of a file, however it is compressed; free() it. */
static char *text_of(const char *path, size_t *n)
{
    hd_stream *s;
    char *text = NULL;
    const uint8_t *p;
    size_t bytes;
    *n = 0;
    must(hd_stream_open(NULL, path, &s));
    for (;;) {
        must(hd_stream_peek(s, 1, &p, &bytes));
        text = (char *)realloc(text, *n + bytes + 1);
        check(text != NULL, "no memory");
        if (!bytes) break;
        memcpy(text + *n, p, bytes);
        *n += bytes;
        hd_stream_skip(s, bytes);
    }
    text[*n] = 0;
    hd_stream_close(s);
    return text;
}

/* ---- Bases ----------------------------------------------------------------------------------- */

static void t_any_part(void)
{
    enum { BASES = 50000 };
    hd_genome g = hd_genome_default();
    uint8_t part[BASES];
    uint64_t seed = 3;
    g.bases = BASES;
    uint8_t *base = bases_of(&g);
    for (uint64_t i = 0, most = test_times(2000); i < most; i++) {
        uint64_t at = test_below(&seed, BASES), n = test_below(&seed, i % 10 ? 300 : BASES) + 1;
        if (n > BASES - at) n = BASES - at;
        test_case("%" PRIu64 " bases from %" PRIu64, n, at);
        hd_genome_bases(&g, at, n, part);
        check(memcmp(part, base + at, n) == 0, "other bases than in the whole");
    }
    free(base);
}

static void t_seeds(void)
{
    enum { BASES = 1 << 20 };
    hd_genome g = hd_genome_default();
    uint64_t times[4] = { 0 }, same = 0;
    g.bases = BASES;
    g.interspersed = g.tandem = 0;
    uint8_t *one = bases_of(&g);
    g.seed = 1;
    uint8_t *other = bases_of(&g);
    for (uint64_t i = 0; i < BASES; i++) {
        check(one[i] < 4, "base %" PRIu64 " is %d", i, one[i]);
        times[one[i]]++;
        same += one[i] == other[i];
    }
    for (int b = 0; b < 4; b++) /* a standard deviation is 443 */
        check(times[b] > BASES / 4 - 2500 && times[b] < BASES / 4 + 2500, "base %d comes %" PRIu64 " times", b,
              times[b]);
    check(same > BASES / 4 - 2500 && same < BASES / 4 + 2500, "%" PRIu64 " bases are those of another seed", same);
    free(one);
    free(other);
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The share of canonical k-mers, k = 20, that are elsewhere, too. */
static double repeated_share(const hd_genome *g)
{
    enum { K = 20 };
    uint8_t *base = bases_of(g);
    uint64_t n = g->bases - K + 1, *key = (uint64_t *)test_alloc(n, sizeof *key), again = 0;
    uint64_t forward = 0, reverse = 0;
    for (uint64_t i = 0; i < g->bases; i++) {
        forward = (forward << 2 | base[i]) & ((1ull << 2 * K) - 1);
        reverse = reverse >> 2 | (uint64_t)(3 - base[i]) << (2 * (K - 1));
        if (i >= K - 1) key[i - K + 1] = forward < reverse ? forward : reverse;
    }
    qsort(key, n, sizeof *key, by_number);
    for (uint64_t i = 0; i < n; i++) again += (i && key[i] == key[i - 1]) || (i + 1 < n && key[i] == key[i + 1]);
    free(key);
    free(base);
    return (double)again / (double)n;
}

/* Where a base is the one that stands `unit` before it, for a unit of 1 to 64, thirty times in a row. */
static double tandem_share(const hd_genome *g)
{
    enum { UNIT_MOST = 64, IN_A_ROW = 30 };
    uint8_t *base = bases_of(g);
    uint64_t in = 0;
    unsigned row[UNIT_MOST + 1] = { 0 };
    for (uint64_t i = UNIT_MOST; i < g->bases; i++) {
        bool repeats = false;
        for (uint64_t u = 1; u <= UNIT_MOST; u++) {
            row[u] = base[i] == base[i - u] ? row[u] + 1 : 0;
            repeats |= row[u] >= IN_A_ROW;
        }
        in += repeats;
    }
    free(base);
    return (double)in / (double)g->bases;
}

/* Shares grow as they are asked for, and one kind of repeat is not the other. */
static void t_repeats(void)
{
    hd_genome g = hd_genome_default();
    double last = 0, share;
    g.bases = 1 << 20;
    for (int tenths = 0; tenths <= 10; tenths += 5) {
        g.interspersed = tenths / 10.0;
        g.tandem = 0;
        share = repeated_share(&g);
        test_note("%.1f interspersed: %.4f of the k-mers are repeated", g.interspersed, share);
        check(tenths ? share > last + 0.05 : share < 0.001, "%.4f of the k-mers are repeated", share);
        last = share;
        check(tandem_share(&g) < 0.001, "there are tandem repeats");
    }
    last = 0;
    for (int tenths = 0; tenths <= 10; tenths += 5) {
        g.interspersed = 0;
        g.tandem = tenths / 10.0;
        share = tandem_share(&g);
        test_note("%.1f tandem: %.4f of the bases", g.tandem, share);
        check(tenths ? share > last + 0.1 && share < g.tandem : share < 0.001, "%.4f of the bases are tandem", share);
        last = share;
    }
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void t_fasta(void)
{
    static const uint64_t size[] = { 1, 79, 80, 81, 8191, 8192, 8193, 16400 };
    static const char *const name[] = { "genome.fa", "genome.fa.gz", "genome.fa.zst" };
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        for (size_t j = 0; j < sizeof name / sizeof *name; j++) {
            hd_genome g = hd_genome_default();
            hd_genome_written written;
            size_t n;
            g.bases = size[i];
            g.seed = i;
            const char *path = test_path(name[j]);
            test_case("%" PRIu64 " bases in %s", g.bases, name[j]);
            must(hd_genome_write(&g, NULL, path, NULL, NULL, &written));
            check(written.records == 1 && written.bases == g.bases, "%" PRIu64 " bases are said", written.bases);
            uint8_t *base = bases_of(&g);
            char *text = text_of(path, &n), *at = strchr(text, '\n') + 1;
            check(text[0] == '>' && text[n - 1] == '\n', "no record");
            check(n == (size_t)(at - text) + g.bases + (g.bases + 79) / 80, "%zu bytes", n);
            for (uint64_t b = 0; b < g.bases; b++) {
                check(*at++ == "ACGT"[base[b]], "another base at %" PRIu64, b);
                if (b % 80 == 79 || b + 1 == g.bases) check(*at++ == '\n', "no line ends after base %" PRIu64, b);
            }
            free(text);
            free(base);
            unlink(path);
        }
}

/* How many bases of a read differ from the place of the genome, on either strand, where the fewest do. */
static uint64_t differences(const hd_genome *g, const uint8_t *base, const char *read, bool *reversed)
{
    uint64_t n = g->read_bases, least = n + 1;
    for (int strand = 0; strand < 2; strand++)
        for (uint64_t at = 0; at + n <= g->bases; at++) {
            uint64_t differ = 0;
            for (uint64_t i = 0; i < n && differ < least; i++) {
                uint8_t b = strand ? 3 - base[at + n - 1 - i] : base[at + i];
                differ += "ACGT"[b] != read[i];
            }
            if (differ >= least) continue;
            least = differ;
            *reversed = strand;
        }
    return least;
}

static void reads_are_parts(const hd_genome *g, const char *name)
{
    hd_genome_written written;
    const char *path = test_path(name);
    size_t n;
    must(hd_genome_write(g, NULL, path, NULL, NULL, &written));
    uint8_t *base = bases_of(g);
    char *text = text_of(path, &n), *at = text;
    uint64_t reads = 0, errors = 0, other_strand = 0;
    bool reversed = false;
    for (; *at; reads++) {
        check(*at == (g->fastq ? '@' : '>'), "no read begins");
        at = strchr(at, '\n') + 1;
        check(strcspn(at, "\n") == g->read_bases, "a read of %zu bases", strcspn(at, "\n"));
        errors += differences(g, base, at, &reversed);
        other_strand += reversed;
        at += g->read_bases + 1;
        if (!g->fastq) continue;
        check(strncmp(at, "+\n", 2) == 0 && strcspn(at + 2, "\n") == g->read_bases, "no qualities");
        at += 2 + g->read_bases + 1;
    }
    check(reads == hd_genome_reads(g) && reads == written.records, "%" PRIu64 " reads", reads);
    check(written.bases == reads * g->read_bases, "%" PRIu64 " bases are said", written.bases);
    check(errors == written.errors, "%" PRIu64 " errors, but %" PRIu64 " are said", errors, written.errors);
    check(other_strand > reads / 3 && other_strand < reads - reads / 3, "%" PRIu64 " of %" PRIu64 " reads are reversed",
          other_strand, reads);
    double share = (double)errors / (double)written.bases, deviation = g->errors / 5;
    check(share >= g->errors - deviation && share <= g->errors + deviation, "%.4f of the bases are wrong", share);
    free(text);
    free(base);
    unlink(path);
}

static void t_reads(void)
{
    hd_genome g = hd_genome_default();
    g.bases = 2000;
    g.interspersed = g.tandem = 0; /* no part is like another one: a read has one place */
    g.coverage = 20;
    g.read_bases = 100;
    g.errors = 0;
    reads_are_parts(&g, "reads.fa");
    g.fastq = true;
    reads_are_parts(&g, "reads.fq.gz");
    g.errors = 0.05;
    reads_are_parts(&g, "reads.fq.zst");
    g.seed = 9;
    g.read_bases = 37;
    reads_are_parts(&g, "reads.fq");
}

/* All bytes, for every build to compare. */
static void t_same(void)
{
    FILE *to = test_same("genome");
    hd_genome g = hd_genome_default();
    g.bases = 300000;
    for (int reads = 0; reads < 2; reads++) {
        size_t n, again;
        const char *path = test_path("same");
        g.coverage = reads;
        g.fastq = reads;
        must(hd_genome_write(&g, NULL, path, NULL, NULL, NULL));
        char *text = text_of(path, &n);
        must(hd_genome_write(&g, NULL, path, NULL, NULL, NULL));
        char *second = text_of(path, &again);
        check(n == again && memcmp(text, second, n) == 0, "two files of one seed differ");
        if (to) check(fwrite(text, 1, n, to) == n, "nothing can be written");
        free(text);
        free(second);
        unlink(path);
    }
    if (to) fclose(to);
}

/* ---- What cannot be, and what fails ------------------------------------------------------------ */

static void t_refused(void)
{
    static const struct {
        hd_genome g;
        const char *word;
    } wrong[] = {
        { { .bases = 0 }, "bases" },
        { { .bases = HD_GENOME_BASES_MOST + 1 }, "bases" },
        { { .bases = 9, .interspersed = -0.1 }, "interspersed" },
        { { .bases = 9, .interspersed = 0.0 / 0.0 }, "interspersed" },
        { { .bases = 9, .tandem = 1.1 }, "tandem" },
        { { .bases = 9, .interspersed = 0.6, .tandem = 0.6 }, "together" },
        { { .bases = 9, .coverage = -1, .read_bases = 1 }, "coverage" },
        { { .bases = 9, .coverage = 1e300, .read_bases = 1 }, "coverage" },
        { { .bases = 9, .coverage = 0.0 / 0.0, .read_bases = 1 }, "coverage" },
        { { .bases = 9, .coverage = 0.1, .read_bases = 9 }, "less than one read" },
        { { .bases = 9, .fastq = true }, "coverage" },
        { { .bases = 9, .coverage = 1, .read_bases = 0 }, "read_bases" },
        { { .bases = 9, .coverage = 1, .read_bases = 10 }, "longer" },
        { { .bases = 1ull << 30, .coverage = 1, .read_bases = HD_GENOME_READ_MOST + 1 }, "read_bases" },
        { { .bases = 9, .coverage = 1, .read_bases = 9, .errors = 2 }, "errors" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        test_case("genome %zu", i);
        must_fail(hd_genome_check(&wrong[i].g), HD_EINVAL, wrong[i].word);
        must_fail(hd_genome_write(&wrong[i].g, NULL, test_path("refused.fa"), NULL, NULL, NULL), HD_EINVAL, NULL);
        check(test_files() == 0, "a file is there");
    }
}

static int stop_after(void *context, uint64_t bases, uint64_t all) { return bases > *(uint64_t *)context && all > 0; }

static void t_stopped(void)
{
    hd_genome g = hd_genome_default();
    for (int reads = 0; reads < 2; reads++) {
        uint64_t most = 100000;
        g.coverage = reads;
        must_fail(hd_genome_write(&g, NULL, test_path("stopped.fa"), stop_after, &most, NULL), HD_EIO, "interrupted");
        check(test_files() == 0, "a file is there");
    }
}

/* The most memory that a genome of these bases takes. */
static uint64_t memory_of(uint64_t bases, double coverage)
{
    hd_genome g = hd_genome_default();
    faulty f;
    const char *path = test_path("memory.fa");
    faulty_init(&f, NO_FAULT, 0);
    g.bases = bases;
    g.coverage = coverage;
    must(hd_genome_write(&g, &f.memory.seams, path, NULL, NULL, NULL));
    faulty_settled(&f);
    unlink(path);
    return f.memory.peak_bytes;
}

static void t_memory(void)
{
    for (int coverage = 0; coverage < 2; coverage++) {
        uint64_t little = memory_of(20000, coverage), much = memory_of(5000000, coverage);
        check(little == much, "%" PRIu64 " bytes for a small genome, %" PRIu64 " for a large one", little, much);
    }
}

static void t_faults(void)
{
    uint64_t files = 0, takes = 0;
    hd_genome g = hd_genome_default();
    g.bases = 3000000;
    for (int reads = 0; reads < 2; reads++) {
        const char *path = test_path("faults.fa.zst");
        g.coverage = reads;
        for (uint64_t at = 1;; at++, files++) {
            faulty f;
            faulty_init(&f, at % 2 ? FAULT_EIO : FAULT_ENOSPC, at);
            test_case("file call %" PRIu64, at);
            hd_status e = hd_genome_write(&g, &f.memory.seams, path, NULL, NULL, NULL);
            faulty_settled(&f);
            check(!f.failed == !e, "%s after %s", hd_status_name(e), f.failed ? f.failed : "no failure");
            bool there = !f.failed || strcmp(f.failed, "sync_folder") == 0;
            check(test_files() == there, "%u files after a failed %s", test_files(), f.failed);
            if (there) unlink(path);
            if (!f.failed) break;
        }
        for (uint64_t at = 1;; at++, takes++) {
            faulty f;
            faulty_init(&f, NO_FAULT, 0);
            f.memory.refuse_at = at;
            test_case("allocation %" PRIu64, at);
            hd_status e = hd_genome_write(&g, &f.memory.seams, path, NULL, NULL, NULL);
            faulty_settled(&f);
            if (!e) break;
            check(e == HD_ENOMEM, "%s: %s", hd_status_name(e), hd_why());
            check(test_files() == 0, "a file is there");
        }
        unlink(path);
    }
    test_tried("files", files, "file calls that fail while a genome is written");
    test_tried("memory", takes, "allocations refused while a genome is written");
}

static const struct CMUnitTest genomes[] = {
    unit(t_any_part), unit(t_seeds),   unit(t_repeats), unit(t_fasta),  unit(t_reads),
    unit(t_same),     unit(t_refused), unit(t_stopped), unit(t_memory), unit(t_faults),
};

int main(void) { return test_run(genomes); }
