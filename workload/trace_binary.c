/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_binary.c - records of one length whose fields an option describes as Python's module struct does:
 *
 *     format=<IQI       < or =: little-endian; > or !: big-endian; then a letter per field
 *     key=N time=N size=N verb=N next=N     which field, from 1; verb by libCacheSim's numbers (verbs.c)
 *     unit=s|ms|us|ns   of the times (s)
 *
 *     letter   c b B ?   h H   i I l L   q Q   f   d   x            s
 *     bytes    1         2     4         8     4   8   1, no field  1 a count, one field
 *
 * A count before another letter repeats it: 2I is II. Without a sign at its beginning Python would align fields as the
 * machine does, so there must be one. Times may be floating-point numbers; a fraction is cut and counted.
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "workload/reader.h"

enum { FIELDS_MOST = 255, RECORD_MOST = 32 << 10 };

typedef enum field_kind { UNSIGNED, SIGNED, FLOATING, BYTES, NO_FIELD } field_kind;

typedef struct field {
    uint32_t at, bytes;
    field_kind kind;
} field;

typedef enum role { KEY, TIME, SIZE, VERB, NEXT, ROLES } role;
static const char *const role_name[ROLES] = { "key", "time", "size", "verb", "next" };

typedef struct binary {
    hd_reader reader;
    bool big;
    size_t bytes; /* of a record */
    unsigned fields;
    field all[FIELDS_MOST];
    const field *of[ROLES]; /* NULL: there is none */
} binary;

/* ---- A record -------------------------------------------------------------------------------- */

/* The bits of a field, its sign extended. */
static uint64_t bits_of(const binary *b, const field *f, const uint8_t *record)
{
    uint64_t v = 0;
    for (uint32_t i = 0; i < f->bytes; i++) v = v << 8 | record[f->at + (b->big ? i : f->bytes - 1 - i)];
    const uint64_t sign = UINT64_C(1) << (8 * f->bytes - 1);
    return f->kind == SIGNED ? (v ^ sign) - sign : v;
}

/* The whole part of a floating-point number from 0 to below 2^64. */
static bool whole_of(const field *f, uint64_t bits, uint64_t *whole, uint64_t *cut)
{
    double v;
    float narrow;
    const uint32_t low = (uint32_t)bits;
    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&v, &bits, sizeof v);
    if (f->bytes == sizeof narrow) v = (double)narrow;
    if (!(v >= 0 && v < 0x1p64)) return false;
    *whole = (uint64_t)v;
    *cut += v != (double)*whole;
    return true;
}

static const char *time_take(binary *b, const uint8_t *record, uint64_t *time)
{
    const field *f = b->of[TIME];
    *time = bits_of(b, f, record);
    bool fine = f->kind == FLOATING ? whole_of(f, *time, time, &b->reader.source.cut)
                                    : f->kind != SIGNED || (int64_t)*time >= 0;
    return fine ? NULL : "its time is below 0, or no number";
}

static const char *decode(hd_reader *reader, const uint8_t *record, hd_request *r)
{
    binary *b = (binary *)(void *)reader;
    const char *why = NULL;
    *r = (hd_request){ .key = bits_of(b, b->of[KEY], record), .size = 1, .verb = HD_READ };
    if (b->of[SIZE]) r->size = bits_of(b, b->of[SIZE], record);
    if (r->size > HD_SIZE_MOST) return "its size is below 0, or above 2^56 - 1";
    if (b->of[NEXT] && !hd_next_access(bits_of(b, b->of[NEXT], record), reader->number + 1, &r->next))
        return "its next access is implausible";
    if (b->of[VERB]) why = hd_verb_numbered(bits_of(b, b->of[VERB], record), &r->verb);
    return !why && b->of[TIME] ? time_take(b, record, &r->time) : why;
}

static hd_status binary_next(hd_source *s, hd_request *r, size_t max, size_t *got)
{
    binary *b = (binary *)(void *)s;
    return hd_reader_take(&b->reader, b->bytes, decode, r, max, got);
}

/* ---- The format ------------------------------------------------------------------------------ */

/* What a letter means; bytes 0: it is none. */
static field letter_of(char letter)
{
    static const struct {
        const char *letters;
        uint32_t bytes;
        field_kind kind;
    } row[] = {
        { "cB?", 1, UNSIGNED }, { "b", 1, SIGNED },   { "H", 2, UNSIGNED }, { "h", 2, SIGNED },
        { "IL", 4, UNSIGNED },  { "il", 4, SIGNED },  { "Q", 8, UNSIGNED }, { "q", 8, SIGNED },
        { "f", 4, FLOATING },   { "d", 8, FLOATING }, { "s", 1, BYTES },    { "x", 1, NO_FIELD },
    };
    for (size_t i = 0; letter && i < sizeof row / sizeof *row; i++)
        if (strchr(row[i].letters, letter)) return (field){ .bytes = row[i].bytes, .kind = row[i].kind };
    return (field){ .bytes = 0 };
}

/* `count` fields of a letter, one of count bytes, or none. */
static hd_status fields_add(binary *b, field f, uint64_t count)
{
    const bool joined = f.kind == BYTES || f.kind == NO_FIELD;
    if (b->bytes + count * f.bytes > RECORD_MOST)
        return hd_fail(HD_EINVAL, "format: a record of more than %d bytes", RECORD_MOST);
    if (joined) f.bytes = (uint32_t)count;
    for (uint64_t i = 0; i < (joined ? 1 : count); i++) {
        f.at = (uint32_t)b->bytes;
        b->bytes += f.bytes;
        if (f.kind == NO_FIELD) continue;
        if (b->fields == FIELDS_MOST) return hd_fail(HD_EINVAL, "format: more than %d fields", FIELDS_MOST);
        b->all[b->fields++] = f;
    }
    return HD_OK;
}

static hd_status format_read(binary *b, const char *text)
{
    const char *p = text;
    if (!*p || !strchr("<>=!", *p))
        return hd_fail(HD_EINVAL, "format: '%.40s' does not begin with < or >, which say the order of bytes", text);
    b->big = *p == '>' || *p == '!';
    for (p++; *p; p++) {
        uint64_t count = *p < '0' || *p > '9';
        for (; *p >= '0' && *p <= '9'; p++) count = count > RECORD_MOST ? count : count * 10 + (uint64_t)(*p - '0');
        const field f = letter_of(*p);
        if (!f.bytes)
            return hd_fail(HD_EINVAL, "format: character %zu of '%.40s' is none of c b B ? h H i I l L q Q f d s x",
                           (size_t)(p - text) + 1, text);
        hd_status e = fields_add(b, f, count);
        if (e) return e;
    }
    return b->bytes ? HD_OK : hd_fail(HD_EINVAL, "format: '%.40s' has no field", text);
}

static hd_status roles_read(binary *b, const hd_source_args *a)
{
    for (unsigned i = 0; i < ROLES; i++) {
        const char *text = hd_source_option(a, role_name[i], NULL);
        uint64_t number;
        if (!text && i == KEY) return hd_fail(HD_EINVAL, "binary: key= is missing: which field is the key");
        if (!text) continue;
        hd_status e = hd_parse_u64(role_name[i], text, 1, b->fields, &number);
        if (e) return e;
        b->of[i] = &b->all[number - 1];
        if (b->of[i]->kind == BYTES || (b->of[i]->kind == FLOATING && i != TIME))
            return hd_fail(HD_EINVAL, "%s: field %" PRIu64 " of the format is no whole number", role_name[i], number);
    }
    return HD_OK;
}

static hd_status options_read(binary *b, const hd_source_args *a)
{
    hd_source *s = &b->reader.source;
    const char *format = hd_source_option(a, "format", NULL), *unit = hd_source_option(a, "unit", NULL);
    if (!format) return hd_fail(HD_EINVAL, "binary: format= is missing; for instance format=<IQI,time=1,key=2,size=3");
    hd_status e = format_read(b, format);
    if (!e) e = roles_read(b, a);
    if (!e && unit && !b->of[TIME]) e = hd_fail(HD_EINVAL, "unit: there is no field of times");
    if (!e && unit && !hd_unit_of(unit, strlen(unit), &s->tick))
        e = hd_fail(HD_EINVAL, "unit: '%.40s' is neither s, ms, us nor ns", unit);
    s->sized = b->of[SIZE] != NULL;
    s->tick_assumed = b->of[TIME] && !unit;
    if (s->tick_assumed) hd_unit_of("s", 1, &s->tick);
    return e;
}

static hd_status binary_open(const hd_source_args *a, hd_source **s)
{
    static const char *const known[] = { "format", "key", "time", "size", "verb", "next", "unit", NULL };
    hd_reader *r;
    hd_status e = hd_reader_open(a, known, sizeof(binary), &r);
    if (e) return e;
    binary *b = (binary *)(void *)r;
    r->source.next = binary_next;
    e = options_read(b, a);
    if (!e) e = hd_reader_whole(r, b->bytes);
    return hd_reader_opened(r, e, s);
}

const hd_source_row hd_workload_binary = {
    "binary", "records whose fields are described as by Python's struct",
    "binary:FILE,format=<LETTERS,key=N[,time=N][,size=N][,verb=N][,next=N][,unit=s|ms|us|ns]", true, binary_open
};
