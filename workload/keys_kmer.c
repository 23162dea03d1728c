/* SPDX-License-Identifier: Apache-2.0
 *
 * keys_kmer.c - the k-mers of a genome or of sequencing reads: every window of K bases is a key of two
 * bits per base, A 0, C 1, G 2, T 3, the first base highest.
 *
 *     kmer:FILE,K[,canonical=0|1]
 *
 * FILE is FASTA or FASTQ (told apart by the first byte, '>' or '@'), plain, .gz or .zst. canonical=1, the
 * default, gives the lesser of a window and its reverse complement, because a read may come from either
 * strand. K is 1 to 31: the longest whose keys are all below the reserved ones. Lower case is upper
 * case; a window with anything but A, C, G, T in it (N, U, IUPAC codes) is passed over; sequences may
 * span lines, also in FASTQ; lines may end in CR LF. The requests are updates: a k-mer is there to be counted.
 *
 * The file is read by a machine of one state per kind of line. A k-mer goes out when its last base is read,
 * so what a record's own quality line later contradicts has gone out already. `lenient` counts such
 * records and goes on at the next line that can begin one.
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "workload/kmer_range.h"
#include "workload/stream.h"

/* A state ending in _LINE stands at the first byte of a line, the others inside one. */
typedef enum state {
    RECORD_LINE, /* between records                                 */
    HEADER,      /* > or @                                          */
    BASES_LINE,
    BASES,
    PLUS, /* FASTQ: between bases and qualities              */
    QUALITY_LINE,
    QUALITY,
    LOST_LINE, /* lenient: looking for a line that begins a record */
    LOST
} state;

typedef struct kmer {
    hd_source source;
    hd_stream *file;
    unsigned k;
    bool canonical, lenient;
    uint8_t marker; /* '>' FASTA, '@' FASTQ                              */
    state at;
    unsigned run;              /* good bases that end here, up to k: k is a window  */
    uint64_t forward, reverse; /* the last k bases; the complement of their reverse */
    bool bad;                  /* this record was counted as skipped                */
    uint64_t bases, qualities; /* of this record                                    */
    uint64_t line_qualities;   /* of the lines before this one                      */
    bool line_marked;          /* this line of qualities begins with '@'            */
    uint8_t kind[256];         /* byte_kind of each byte                            */
    /* of a range (kmer_range.h) */
    uint64_t end;          /* where it ends; UINT64_MAX: with the file                                    */
    hd_kmer_state at_end;  /* what should be there                                                        */
    bool past_end;         /* FASTA: only k-mers that begin in the range, of which the rest is tail_left ... */
    uint64_t tail_left;    /* ... bases                                                                   */
    bool finished, ran_on; /* ran_on: hd_kmer_ran_on                                                      */
    /* of records one by one (hd_kmer_record_keys) */
    uint64_t begun, told;       /* records that have begun; the one whose keys the caller gets, 0: none    */
    uint64_t begun_at, told_at; /* where they begin                                                        */
    bool cr;                    /* the last byte of a header was a CR                                      */
    bool damaged, last_damaged; /* something was wrong in this record; in the one before it                */
    bool marked, named;         /* the header's '>' or '@' was read; `name` is complete                    */
    size_t name_bytes;
    char name[HD_KMER_NAME_MOST + 1];
} kmer;

/* What a byte is inside a sequence. 0 to 3: that base. */
enum { OTHER_BASE = 4, BLANK, END_OF_LINE, NO_BASE };

static unsigned byte_kind(uint8_t c)
{
    switch (c) {
    case 'A':
    case 'a': return 0;
    case 'C':
    case 'c': return 1;
    case 'G':
    case 'g': return 2;
    case 'T':
    case 't': return 3;
    case '\n': return END_OF_LINE;
    case ' ':
    case '\t':
    case '\r': return BLANK;
    case '-':
    case '*':
    case '.': return OTHER_BASE; /* gap, stop, unknown */
    default: return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ? OTHER_BASE : NO_BASE;
    }
}

/* ---- Errors: the world's, or one more skipped record ----------------------------------------- */

/* `ahead` bytes from where the stream stands something is wrong. Strict: a status, and nothing has moved, so
 * that the next call says the same. Lenient: counted once per record, and the caller finds a way on. */
static hd_status wrong(kmer *m, size_t ahead, const char *what)
{
    if (!m->lenient)
        return hd_fail(HD_ECORRUPT, "%s: byte %" PRIu64 ": %s", hd_stream_path(m->file),
                       hd_stream_offset(m->file) + ahead, what);
    m->source.skipped += !m->bad;
    m->bad = true;
    m->damaged = m->damaged || m->at != RECORD_LINE;
    return HD_OK;
}

static hd_status wrong_qualities(kmer *m, size_t ahead)
{
    if (!m->lenient)
        return hd_fail(HD_ECORRUPT, "%s: byte %" PRIu64 ": %" PRIu64 " qualities for %" PRIu64 " bases",
                       hd_stream_path(m->file), hd_stream_offset(m->file) + ahead, m->qualities, m->bases);
    return wrong(m, ahead, "");
}

/* ---- The machine: each function takes bytes that are there, and says how many ---------------- */

static void record_begin(kmer *m)
{
    m->run = 0;
    m->bad = false;
    m->bases = m->qualities = 0;
    m->begun++;
    m->cr = false;
    m->begun_at = hd_stream_offset(m->file);
    m->last_damaged = m->damaged;
    m->damaged = false;
}

/* n bytes of a header. The first word after the marker is the name. */
static void name_take(kmer *m, const uint8_t *p, size_t n)
{
    size_t i = m->marked ? 0 : 1;
    m->marked = true;
    for (; i < n && !m->named; i++) {
        unsigned kind = byte_kind(p[i]);
        if (kind == BLANK || kind == END_OF_LINE)
            m->named = m->name_bytes != 0;
        else if (m->name_bytes < HD_KMER_NAME_MOST)
            m->name[m->name_bytes++] = (char)(p[i] < ' ' || p[i] == 127 ? '?' : p[i]);
    }
}

/* Through the end of the line, if it is there. */
static size_t line_take(kmer *m, const uint8_t *p, size_t n, state then)
{
    const uint8_t *end = (const uint8_t *)memchr(p, '\n', n);
    if (!end) return n;
    m->at = then;
    return (size_t)(end - p) + 1;
}

/* A line end of CR alone would make one header of the whole file. */
static hd_status header_take(kmer *m, const uint8_t *p, size_t n, size_t *used)
{
    bool cr = m->cr;
    for (size_t i = 0; i < n && (i == 0 || p[i - 1] != '\n'); i++) {
        bool lone = cr && p[i] != '\n';
        cr = p[i] == '\r';
        hd_status e = lone ? wrong(m, i, "a CR inside a header; lines end in LF or CR LF") : HD_OK;
        if (e) return e;
    }
    m->cr = cr;
    *used = line_take(m, p, n, BASES_LINE);
    return HD_OK;
}

static hd_status record_line(kmer *m, const uint8_t *p, size_t *used)
{
    unsigned kind = byte_kind(*p);
    if (kind == BLANK || kind == END_OF_LINE) {
        *used = 1;
    } else if (*p == m->marker) {
        record_begin(m);
        m->at = HEADER;
    } else {
        m->bad = false; /* between records: this is another one */
        hd_status e = wrong(m, 0, m->marker == '@' ? "no '@' where a record begins" : "no '>' where a record begins");
        if (e) return e;
        m->at = LOST_LINE;
    }
    return HD_OK;
}

/* FASTA's sequence ends at the next '>', FASTQ's at the '+'. */
static hd_status bases_line(kmer *m, const uint8_t *p)
{
    if (m->marker == '>' && *p == '>') {
        m->at = RECORD_LINE;
    } else if (m->marker == '@' && *p == '+') {
        m->at = PLUS;
    } else if (m->marker == '@' && *p == '@') {
        hd_status e = wrong(m, 0, "a record begins before the last one has qualities");
        if (e) return e;
        m->at = RECORD_LINE;
    } else {
        if (m->bases == 0) m->bad = m->damaged = false;
        m->at = BASES;
    }
    return HD_OK;
}

/* The bases A, C, G and T from p on, as far as there are any; how many. A window goes out by a store that the next one
 * overwrites unless it is whole. */
static size_t run_take(kmer *m, const uint8_t *p, size_t n, uint64_t *key, size_t max, size_t *got)
{
    const uint64_t mask = (1ull << 2 * m->k) - 1;
    const unsigned k = m->k, top = 2 * (k - 1);
    const uint64_t canonical = m->canonical ? UINT64_MAX : 0;
    uint64_t forward = m->forward, reverse = m->reverse;
    unsigned run = m->run;
    size_t i = 0, out = *got;
    for (; i < n && out < max; i++) {
        unsigned b = m->kind[p[i]];
        if (b >= OTHER_BASE) break;
        forward = (forward << 2 | b) & mask;
        reverse = reverse >> 2 | (uint64_t)(3 - b) << top;
        run += run < k;
        /* the lesser one without a branch, which would be mispredicted every other time */
        key[out] = forward ^ ((forward ^ reverse) & canonical & (0 - (uint64_t)(reverse < forward)));
        out += run == k;
    }
    m->forward = forward;
    m->reverse = reverse;
    m->run = run;
    m->bases += i;
    *got = out;
    return i;
}

static hd_status bases_take(kmer *m, const uint8_t *p, size_t n, uint64_t *key, size_t max, size_t *got, size_t *used)
{
    hd_status e = HD_OK;
    size_t i = 0;
    while (!e && m->at == BASES) {
        i += run_take(m, p + i, n - i, key, max, got);
        if (i == n || *got == max) break;
        unsigned b = m->kind[p[i]];
        if (b == END_OF_LINE) { /* most often the next line goes on with a base */
            bool goes_on = m->bases && i + 1 < n && m->kind[p[i + 1]] < OTHER_BASE;
            m->at = goes_on ? BASES : BASES_LINE;
        } else if (b != BLANK) {
            e = b == NO_BASE ? wrong(m, i, "no base, and no letter that could stand for one") : HD_OK;
            if (e) break;
            m->bases++;
            m->run = 0;
        }
        i++;
    }
    *used = i;
    return e;
}

static void quality_line(kmer *m, const uint8_t *p)
{
    m->line_marked = *p == '@'; /* which is also the quality 31 */
    m->line_qualities = m->qualities;
    m->at = m->qualities < m->bases ? QUALITY : RECORD_LINE;
}

/* The end of a line of qualities: too many of them is a mistake, too few go on in the next line. */
static hd_status quality_end(kmer *m, size_t ahead)
{
    m->at = QUALITY_LINE;
    if (m->qualities <= m->bases) return HD_OK;
    hd_status e = wrong_qualities(m, ahead);
    if (e) {
        m->at = QUALITY;
        return e;
    }
    if (m->line_marked && m->line_qualities) { /* the qualities were too few, and this was the next header */
        record_begin(m);
        m->at = BASES_LINE;
    } else {
        m->at = LOST_LINE;
    }
    return HD_OK;
}

static hd_status quality_take(kmer *m, const uint8_t *p, size_t n, size_t *used)
{
    for (size_t i = 0; i < n; i++) {
        hd_status e = HD_OK;
        *used = i;
        if (p[i] == '\n') {
            e = quality_end(m, i);
            *used = e ? i : i + 1;
            return e;
        }
        if (p[i] >= '!' && p[i] <= '~')
            m->qualities++;
        else if (byte_kind(p[i]) != BLANK)
            e = wrong(m, i, "no quality: they are bytes 33 to 126");
        if (e) return e;
    }
    *used = n;
    return HD_OK;
}

/* A line of qualities may begin with '@' too: a second '@' right after it (bases_line) is the real header, and
 * counts nothing. */
static void lost_line(kmer *m, const uint8_t *p)
{
    m->at = LOST;
    if (*p != m->marker) return;
    record_begin(m);
    m->bad = m->damaged = true;
    m->at = HEADER;
}

/* What the file's end means here. */
static hd_status file_end(kmer *m)
{
    state at = m->at;
    if (m->marker == '>' || at == RECORD_LINE || at == LOST_LINE || at == LOST) return HD_OK;
    if ((at == QUALITY || at == QUALITY_LINE) && m->qualities == m->bases) return HD_OK;
    hd_status e =
        at == QUALITY && m->qualities > m->bases ? wrong_qualities(m, 0) : wrong(m, 0, "the file ends inside a record");
    if (!e) m->at = RECORD_LINE; /* counted, once */
    return e;
}

/* The end of a range: does the next one begin as this one ends? */
static void range_end(kmer *m)
{
    bool complete = m->at == QUALITY_LINE && m->qualities >= m->bases;
    hd_kmer_state is = m->at == BASES_LINE                ? HD_KMER_LINE
                       : m->at == BASES                   ? HD_KMER_BASES
                       : m->at == RECORD_LINE || complete ? HD_KMER_RECORD
                                                          : HD_KMER_NOWHERE;
    m->end = UINT64_MAX;
    m->ran_on = is != m->at_end;
    m->finished = !m->ran_on && m->marker == '@';
    m->past_end = !m->ran_on;
    m->tail_left = m->run ? m->k - 1 : 0;
}

/* How many of n bytes belong to the range; 0: none, or this has to be asked again. */
static size_t range_bytes(kmer *m, size_t n)
{
    uint64_t offset = hd_stream_offset(m->file);
    if (offset >= m->end) {
        range_end(m);
        return 0;
    }
    if (m->past_end && (m->tail_left == 0 || m->at == RECORD_LINE)) {
        m->finished = true;
        return 0;
    }
    if (m->end - offset < n) n = (size_t)(m->end - offset);
    return m->past_end && m->tail_left < n ? (size_t)m->tail_left : n;
}

/* Some of n bytes, at most max - *got k-mers. */
static hd_status bytes_take(kmer *m, const uint8_t *p, size_t n, uint64_t *key, size_t max, size_t *got)
{
    size_t used = 0;
    uint64_t bases = m->bases;
    hd_status e = HD_OK;
    switch (m->at) {
    case RECORD_LINE: e = record_line(m, p, &used); break;
    case HEADER:
        e = header_take(m, p, n, &used);
        if (e) return e;
        if (m->told) name_take(m, p, used);
        break;
    case BASES_LINE: e = bases_line(m, p); break;
    case BASES:
        e = bases_take(m, p, n, key, max, got, &used);
        if (m->past_end) m->tail_left -= m->bases - bases;
        break;
    case PLUS: used = line_take(m, p, n, QUALITY_LINE); break;
    case QUALITY_LINE: quality_line(m, p); break;
    case QUALITY: e = quality_take(m, p, n, &used); break;
    case LOST_LINE: lost_line(m, p); break;
    case LOST: used = line_take(m, p, n, LOST_LINE); break;
    }
    hd_stream_skip(m->file, used);
    return e;
}

hd_status hd_kmer_keys(hd_source *s, uint64_t *key, size_t max, size_t *got)
{
    kmer *m = (kmer *)s;
    hd_status e = HD_OK;
    *got = 0;
    while (!e && *got < max && !m->finished) {
        const uint8_t *p;
        size_t n;
        e = hd_stream_peek(m->file, 1, &p, &n);
        if (e) break;
        if (n == 0) {
            e = file_end(m);
            break;
        }
        n = range_bytes(m, n);
        if (n) e = bytes_take(m, p, n, key, max, got);
    }
    s->bytes_read = hd_stream_file_read(m->file);
    return e;
}

/* Before the first keys of a record. */
static void record_tell(kmer *m)
{
    m->told = m->begun;
    m->told_at = m->begun_at;
    m->marked = m->named = false;
    m->name_bytes = 0;
}

/* A record begins only in a step that gives no key: keys of two records are never mixed. */
hd_status hd_kmer_record_keys(hd_source *s, uint64_t *key, size_t max, size_t *got, hd_kmer_record *r)
{
    kmer *m = (kmer *)s;
    hd_status e = HD_OK;
    *got = 0;
    r->ended = false;
    if (m->told != m->begun) record_tell(m);
    while (!e && *got < max && !r->ended) {
        const uint8_t *p;
        size_t n;
        e = hd_stream_peek(m->file, 1, &p, &n);
        if (e) break;
        e = n ? bytes_take(m, p, n, key, max, got) : file_end(m);
        if (n == 0) m->last_damaged = m->damaged;
        r->ended = n == 0 || (m->told && m->told != m->begun);
        if (!m->told && m->begun) record_tell(m);
        if (n == 0) m->begun = 0; /* there is no further one */
    }
    s->bytes_read = hd_stream_file_read(m->file);
    m->name[m->name_bytes] = 0;
    r->name = m->told ? m->name : NULL;
    r->damaged = m->last_damaged;
    r->byte = m->told_at;
    return e;
}

static hd_status kmer_next(hd_source *s, hd_request *r, size_t max, size_t *got)
{
    enum { KEYS = 512 };
    uint64_t key[KEYS];
    hd_status e = HD_OK;
    size_t n = 1;
    for (*got = 0; *got < max && n && !e;) {
        e = hd_kmer_keys(s, key, max - *got < KEYS ? max - *got : KEYS, &n);
        for (size_t i = 0; i < n; i++) r[(*got)++] = (hd_request){ .key = key[i], .size = 1, .verb = HD_UPDATE };
    }
    return e;
}

/* ---- Opening and closing --------------------------------------------------------------------- */

static void kmer_close(hd_source *s)
{
    kmer *m = (kmer *)s;
    hd_stream_close(m->file);
    hd_give(s->seams, m, 1, sizeof(kmer));
}

/* The first byte that is not blank says which form it is. */
static hd_status marker_find(kmer *m)
{
    static const char form[] = "FASTA begins with '>', FASTQ with '@'";
    const uint8_t *p;
    size_t n;
    hd_status e = hd_stream_peek(m->file, 3, &p, &n);
    if (!e && n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) hd_stream_skip(m->file, 3); /* a byte order mark */
    for (;;) {
        if (!e) e = hd_stream_peek(m->file, 1, &p, &n);
        if (e) return e;
        const char *path = hd_stream_path(m->file);
        uint64_t at = hd_stream_offset(m->file);
        if (n == 0) return hd_fail(HD_ECORRUPT, "%s: byte %" PRIu64 ": the file has no record; %s", path, at, form);
        if (byte_kind(*p) != BLANK && byte_kind(*p) != END_OF_LINE && *p != '>' && *p != '@')
            return hd_fail(HD_ECORRUPT, "%s: byte %" PRIu64 ": 0x%02x is neither; %s", path, at, *p, form);
        if (*p == '>' || *p == '@') {
            m->marker = *p;
            return HD_OK;
        }
        hd_stream_skip(m->file, 1);
    }
}

/* All but the file. */
static hd_status kmer_take(const hd_source_args *a, kmer **taken)
{
    static const char *const known[] = { "canonical", NULL };
    uint64_t k = 0;
    bool canonical = true;
    hd_source *source = NULL;
    const hd_source as = { .next = kmer_next, .close = kmer_close };
    hd_status e = hd_source_shape(a, 2, known);
    if (!e) e = hd_parse_u64("K", a->arg[1], 1, 31, &k);
    if (!e) e = hd_source_flag(a, "canonical", true, &canonical);
    if (!e) e = hd_source_take(a, "k-mers", sizeof(kmer), &as, &source);
    if (e) return e;
    kmer *m = (kmer *)source;
    m->k = (unsigned)k;
    m->canonical = canonical;
    m->lenient = a->lenient;
    m->end = UINT64_MAX;
    for (unsigned c = 0; c < sizeof m->kind; c++) m->kind[c] = (uint8_t)byte_kind((uint8_t)c);
    *taken = m;
    return HD_OK;
}

/* e: what has happened. The source goes to *s, or is closed. */
static hd_status kmer_give(kmer *m, hd_status e, hd_source **s)
{
    if (e) {
        kmer_close(&m->source);
        return e;
    }
    m->source.bytes_total = hd_stream_file_bytes(m->file);
    m->source.file = m->file;
    *s = &m->source;
    return HD_OK;
}

static hd_status kmer_open(const hd_source_args *a, hd_source **s)
{
    kmer *m;
    hd_status e = kmer_take(a, &m);
    if (e) return e;
    e = hd_stream_open(a->seams, a->arg[0], &m->file);
    if (!e) e = marker_find(m);
    return kmer_give(m, e, s);
}

/* The end of a range is the first place where a later one begins. */
static hd_status range_open(kmer *m, const hd_source_args *a, const hd_kmer_range *r)
{
    const char *path = a->arg[0];
    hd_kmer_place begin = { 0, HD_KMER_NOWHERE }, end = { 0, HD_KMER_NOWHERE };
    hd_status e = r->from ? hd_kmer_place_after(a->seams, path, r->marker, r->from, &begin) : HD_OK;
    if (!e) e = hd_stream_open_at(a->seams, path, begin.at, &m->file);
    if (!e && r->from == 0) e = marker_find(m);
    if (e) return e;
    if (r->from) {
        m->marker = r->marker;
        m->finished = begin.state == HD_KMER_NOWHERE;
        m->at = begin.state == HD_KMER_RECORD ? RECORD_LINE : begin.state == HD_KMER_LINE ? BASES_LINE : BASES;
    }
    uint64_t bytes = hd_stream_file_bytes(m->file);
    for (uint64_t at = r->from + r->bytes; at < bytes && end.state == HD_KMER_NOWHERE && !e; at += r->bytes)
        e = hd_kmer_place_after(a->seams, path, m->marker, at, &end);
    if (end.state == HD_KMER_NOWHERE) return e;
    m->end = end.at;
    m->at_end = end.state;
    m->finished = m->finished || (r->from && end.at <= begin.at);
    return e;
}

extern const hd_source_row hd_workload_kmer;

hd_status hd_kmer_range_open(const hd_source_args *args, const hd_kmer_range *r, hd_source **s)
{
    hd_source_args a = *args;
    a.row = &hd_workload_kmer;
    if (!a.seams) a.seams = &hd_seams_os;
    kmer *m;
    hd_status e = kmer_take(&a, &m);
    if (e) return e;
    m->source.any = true;
    return kmer_give(m, range_open(m, &a, r), s);
}

bool hd_kmer_ran_on(const hd_source *s) { return ((const kmer *)s)->ran_on; }
uint8_t hd_kmer_marker(const hd_source *s) { return ((const kmer *)s)->marker; }

const hd_source_row hd_workload_kmer = { "kmer", "the k-mers of a FASTA or FASTQ file, plain, .gz or .zst",
                                         "kmer:FILE,K[,canonical=0|1]", true, kmer_open };
