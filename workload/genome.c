/* SPDX-License-Identifier: Apache-2.0
 *
 * genome.c - see genome.h. Chance is hd_avalanche of a stream's number, the seed and a place, or a generator that
 * begins there. Shares become integer thresholds, so the bytes are the same on every machine.
 */
#include "workload/genome.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "workload/rng.h"
#include "workload/stream.h"

enum {
    SEGMENT = 8192, /* bases. Pieces do not cross segments, so what is at a place is known from its segment alone */
    PIECE_LEAST = 128,
    PIECE_MOST = 1024,
    FAMILIES = 64,
    FAMILY_BASES = 6144,
    UNIT_MOST = 64,
    PER_WORD = 32,   /* bases */
    LINE = 80,       /* bases of a line of FASTA                         */
    HEADER_MOST = 64 /* bytes of a read's header and its other line ends */
};

/* What chance is drawn for. */
typedef enum stream {
    STREAM_UNIQUE = 1,
    STREAM_PIECES,
    STREAM_FAMILY,
    STREAM_UNIT,
    STREAM_CHANGE,
    STREAM_READS
} stream;

static uint64_t word_of(const hd_genome *g, stream of, uint64_t place)
{
    return hd_avalanche(hd_avalanche(g->seed + (uint64_t)of * HD_GOLDEN) + place * HD_GOLDEN);
}

/* A share of all numbers of `bits` bits. */
static uint64_t threshold(double share, int bits) { return (uint64_t)(share * (double)(1ull << bits)); }

/* ---- The genome ------------------------------------------------------------------------------ */

hd_genome hd_genome_default(void)
{
    return (hd_genome){ .bases = 10000000, .interspersed = 0.4, .tandem = 0.03, .read_bases = 150, .errors = 0.005 };
}

static bool is_share(double x) { return x >= 0 && x <= 1; }

hd_status hd_genome_check(const hd_genome *g)
{
    if (g->bases < 1 || g->bases > HD_GENOME_BASES_MOST)
        return hd_fail(HD_EINVAL, "bases: %" PRIu64 " is not in 1..%llu", g->bases, HD_GENOME_BASES_MOST);
    if (!is_share(g->interspersed)) return hd_fail(HD_EINVAL, "interspersed: a share is 0 to 1");
    if (!is_share(g->tandem)) return hd_fail(HD_EINVAL, "tandem: a share is 0 to 1");
    if (g->interspersed + g->tandem > 1) return hd_fail(HD_EINVAL, "interspersed, tandem: together they are above 1");
    if (!(g->coverage >= 0 && g->coverage <= HD_GENOME_COVERAGE_MOST))
        return hd_fail(HD_EINVAL, "coverage: %g is not in 0..%d", g->coverage, HD_GENOME_COVERAGE_MOST);
    if (g->coverage == 0) return g->fastq ? hd_fail(HD_EINVAL, "coverage: FASTQ has reads, and 0 is none") : HD_OK;
    if (!is_share(g->errors)) return hd_fail(HD_EINVAL, "errors: a share is 0 to 1");
    if (g->read_bases < 1 || g->read_bases > HD_GENOME_READ_MOST)
        return hd_fail(HD_EINVAL, "read_bases: %" PRIu64 " is not in 1..%d", g->read_bases, HD_GENOME_READ_MOST);
    if (g->read_bases > g->bases)
        return hd_fail(HD_EINVAL, "read_bases: a read of %" PRIu64 " is longer than the genome of %" PRIu64,
                       g->read_bases, g->bases);
    if (hd_genome_reads(g) == 0) return hd_fail(HD_EINVAL, "coverage: %g is less than one read", g->coverage);
    return HD_OK;
}

typedef enum piece_kind { UNIQUE, INTERSPERSED, TANDEM } piece_kind;

/* Bases begin to end - 1 of a segment. */
typedef struct piece {
    piece_kind kind;
    uint32_t begin, end;
    uint64_t number;       /* of this piece in the genome                                                    */
    uint32_t family, from; /* interspersed: the part of the family that begins there, ...                   */
    bool reversed;         /* ... or the reverse complement of it                                            */
    uint32_t unit;         /* tandem: bases of the unit                                                      */
    uint32_t changed;      /* of 2^16 bases, how many differ                                                 */
} piece;

/* The piece after `last`, and everything about it. */
static piece piece_next(const hd_genome *g, hd_rng *chance, const piece *last)
{
    const uint64_t spread = threshold(g->interspersed, 32), tandem = spread + threshold(g->tandem, 32);
    piece p = { UNIQUE, last->end, 0, last->number + 1, 0, 0, false, 0, 0 };
    uint64_t kind = hd_rng_next(chance) >> 32, u = hd_rng_next(chance), change = hd_rng_next(chance);
    uint32_t bases = PIECE_LEAST + (uint32_t)hd_rng_below(chance, PIECE_MOST - PIECE_LEAST + 1);
    p.kind = kind < spread ? INTERSPERSED : kind < tandem ? TANDEM : UNIQUE;
    p.end = p.begin + bases < SEGMENT ? p.begin + bases : SEGMENT;
    /* a product of two numbers: the first family has one of 12 copies, the last one of 8,000 */
    p.family = (uint32_t)((u >> 32) * (u & UINT32_MAX) >> 32) / (uint32_t)((1ull << 32) / FAMILIES);
    p.reversed = change & 1;
    p.from = (uint32_t)hd_rng_below(chance, FAMILY_BASES - PIECE_MOST + 1);
    p.unit = 1 + (uint32_t)hd_rng_below(chance, UNIT_MOST);
    p.changed = (uint32_t)((change >> 32) * threshold(p.kind == TANDEM ? 0.05 : 0.15, 16) >> 32);
    return p;
}

/* One of the bases of a stream. Those that follow one another are in the same word. */
typedef struct strand {
    const hd_genome *g;
    stream of;
    uint64_t place, word; /* PER_WORD bases */
} strand;

static strand strand_of(const hd_genome *g, stream of) { return (strand){ g, of, UINT64_MAX, 0 }; }

static inline uint8_t strand_base(strand *s, uint64_t at)
{
    if (at / PER_WORD != s->place) {
        s->place = at / PER_WORD;
        s->word = word_of(s->g, s->of, s->place);
    }
    return s->word >> 2 * (at % PER_WORD) & 3;
}

/* Another base than b, which of them r says, r < most. */
static uint8_t other_base(uint8_t b, uint64_t r, uint64_t most) { return (uint8_t)((b + 1 + r * 3 / most) & 3); }

/* What the bases of a copy would be if none differed; i is counted from the copy's beginning. */
static uint8_t copy_base(const piece *p, strand *s, uint64_t i)
{
    const uint64_t room = 1 << 16; /* families and units have fewer bases */
    if (p->kind == TANDEM) return strand_base(s, p->number * room + i % p->unit);
    uint64_t at = p->reversed ? p->from + PIECE_MOST - 1 - i : p->from + i;
    uint8_t b = strand_base(s, p->family * room + at);
    return p->reversed ? 3 - b : b;
}

/* Bases `first` to last - 1 of the segment that begins at base `origin`, which the piece has. */
static void piece_bases(const hd_genome *g, uint64_t origin, const piece *p, uint32_t first, uint32_t last,
                        uint8_t *base)
{
    strand s = strand_of(g, p->kind == UNIQUE ? STREAM_UNIQUE : p->kind == TANDEM ? STREAM_UNIT : STREAM_FAMILY);
    if (p->kind == UNIQUE) {
        for (uint32_t i = first; i < last; i++) *base++ = strand_base(&s, origin + i);
        return;
    }
    uint64_t change = 0, four = UINT64_MAX; /* 16 bits for each of four bases */
    for (uint32_t i = first; i < last; i++) {
        uint64_t at = origin + i;
        uint8_t b = copy_base(p, &s, i - p->begin);
        if (at / 4 != four) change = word_of(g, STREAM_CHANGE, four = at / 4);
        uint64_t r = change >> 16 * (at % 4) & 0xffff;
        *base++ = r < p->changed ? other_base(b, r, p->changed) : b;
    }
}

void hd_genome_bases(const hd_genome *g, uint64_t at, uint64_t n, uint8_t *base)
{
    while (n) {
        uint64_t segment = at / SEGMENT;
        uint32_t first = (uint32_t)(at % SEGMENT), last = n < SEGMENT - first ? first + (uint32_t)n : SEGMENT;
        hd_rng chance = hd_rng_from(word_of(g, STREAM_PIECES, segment));
        piece p = { .end = 0, .number = segment * (SEGMENT / PIECE_LEAST + 1) };
        do {
            p = piece_next(g, &chance, &p);
            uint32_t from = p.begin > first ? p.begin : first, to = p.end < last ? p.end : last;
            if (from < to) piece_bases(g, segment * SEGMENT, &p, from, to, base + (from - first));
        } while (p.end < last);
        at += last - first;
        base += last - first;
        n -= last - first;
    }
}

/* ---- Files ----------------------------------------------------------------------------------- */

static const char letter[] = "ACGT";

typedef struct writer {
    const hd_genome *g;
    hd_sink *sink;
    hd_genome_progress *progress;
    void *context;
    hd_genome_written done;
    uint64_t all;  /* bases that will be written        */
    uint8_t *base; /* (read_bases or SEGMENT)           */
    char *text;    /* of a record of reads or a SEGMENT */
} writer;

static hd_status go_on(const writer *w)
{
    if (w->progress && w->progress(w->context, w->done.bases, w->all)) return hd_fail(HD_EIO, "interrupted");
    return HD_OK;
}

/* One record; lines may end inside a segment. */
static hd_status write_genome(writer *w)
{
    char header[128];
    const hd_genome *g = w->g;
    int n = snprintf(header, sizeof header, ">genome bases=%" PRIu64 " seed=%" PRIu64 "\n", g->bases, g->seed);
    hd_status e = hd_sink_write(w->sink, header, (size_t)n);
    while (!e && w->done.bases < g->bases) {
        uint64_t bases = g->bases - w->done.bases < SEGMENT ? g->bases - w->done.bases : SEGMENT;
        char *to = w->text;
        hd_genome_bases(g, w->done.bases, bases, w->base);
        for (uint64_t i = 0; i < bases; i++) {
            *to++ = letter[w->base[i]];
            if (++w->done.bases % LINE == 0 || w->done.bases == g->bases) *to++ = '\n';
        }
        e = hd_sink_write(w->sink, w->text, (size_t)(to - w->text));
        if (!e) e = go_on(w);
    }
    w->done.records = 1;
    return e;
}

/* The bases of a read as they are sequenced: from either strand, some of them wrong. */
static void sequence(writer *w, hd_rng *chance, char *to)
{
    const uint64_t n = w->g->read_bases, wrong = threshold(w->g->errors, 32);
    uint64_t at = hd_rng_below(chance, w->g->bases - n + 1), r = hd_rng_next(chance);
    bool reversed = r & 1;
    hd_genome_bases(w->g, at, n, w->base);
    for (uint64_t i = 0; i < n; i++) {
        uint8_t b = reversed ? 3 - w->base[n - 1 - i] : w->base[i];
        r = i % 2 ? r >> 32 : hd_rng_next(chance);
        uint64_t half = r & UINT32_MAX;
        if (half < wrong) {
            b = other_base(b, half, wrong);
            w->done.errors++;
        }
        to[i] = letter[b];
    }
}

/* The quality of every base: Phred's, -10 log10 of the share of errors, from 2 to 41, as a character. */
static char quality_of(double errors)
{
    const double step = 0.79432823472428149; /* 10^-0.1 */
    int quality = 0;
    for (double p = 1; quality < 41 && p * step >= errors; p *= step) quality++;
    return (char)('!' + (quality < 2 ? 2 : quality));
}

static hd_status write_reads(writer *w)
{
    const hd_genome *g = w->g;
    const uint64_t n = g->read_bases, reads = hd_genome_reads(g);
    const char quality = quality_of(g->errors);
    hd_rng chance = hd_rng_from(word_of(g, STREAM_READS, 0));
    hd_status e = HD_OK;
    for (uint64_t i = 0; i < reads && !e; i++) {
        char *to = w->text;
        to += snprintf(to, HEADER_MOST, "%cread%" PRIu64 "\n", g->fastq ? '@' : '>', i + 1);
        sequence(w, &chance, to);
        to += n;
        if (g->fastq) {
            memcpy(to, "\n+\n", 3);
            memset(to + 3, quality, n);
            to += 3 + n;
        }
        *to++ = '\n';
        w->done.records++;
        w->done.bases += n;
        e = hd_sink_write(w->sink, w->text, (size_t)(to - w->text));
        if (!e && i % 256 == 0) e = go_on(w);
    }
    return e;
}

uint64_t hd_genome_reads(const hd_genome *g)
{
    return (uint64_t)(g->coverage * (double)g->bases / (double)g->read_bases);
}

hd_status hd_genome_write(const hd_genome *g, const hd_seams *seams, const char *path, hd_genome_progress *progress,
                          void *context, hd_genome_written *written)
{
    if (!seams) seams = &hd_seams_os;
    hd_status e = hd_genome_check(g);
    if (e) return e;
    const bool reads = g->coverage > 0;
    const uint64_t bases = reads ? g->read_bases : SEGMENT, letters = 2 * bases + HEADER_MOST;
    writer w = { .g = g, .progress = progress, .context = context };
    void *base = NULL, *text = NULL;
    w.all = reads ? hd_genome_reads(g) * g->read_bases : g->bases;
    e = hd_take(seams, "the bases of a genome", bases, 1, &base);
    if (!e) e = hd_take(seams, "the letters of a genome", letters, 1, &text);
    if (!e) e = hd_sink_open(seams, path, &w.sink);
    w.base = (uint8_t *)base;
    w.text = (char *)text;
    if (!e) {
        e = reads ? write_reads(&w) : write_genome(&w);
        hd_status closed = hd_sink_close(w.sink, !e);
        if (!e) e = closed;
    }
    hd_give(seams, text, letters, 1);
    hd_give(seams, base, bases, 1);
    if (!e && written) *written = w.done;
    return e;
}
