/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_lcs.c - lcs, libCacheSim's binary format with a header, versions 1 to 8. Packed, little-endian:
 *
 *     byte     0   u64  magic, 0x123456789abcdef0         byte of a record, versions   1    2    3 to 8
 *              8   u64  version of the records            u32  time, seconds           0    0    0
 *             24   i64  requests in the file, or 0        u64  object                  4    4    4
 *           8184   u64  the magic again                   size, bytes                 12   12   12 (64 bits)
 *           8192        records                           u8   verb (verbs.c)          -   16   20
 *                                                         i64  next access, -1 none   16   20   28
 *
 * A record has 24, 28 or 36 bytes. Versions 4 to 8 add 1, 2, 4, 8 and 16 features of 4 bytes behind it. Tenant, time to
 * live and features are not read. A file that has fewer or more requests than its header says is damaged.
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "workload/reader.h"

enum { HEADER = 8192, VERSION_AT = 8, REQUESTS_AT = 24, END_AT = 8184, VERSIONS = 8 };
#define MAGIC UINT64_C(0x123456789abcdef0)

typedef struct version {
    size_t bytes;
    bool long_size;
    size_t verb, next; /* where; verb 0: nowhere */
} version;

static const version versions[VERSIONS + 1] = {
    { 0, false, 0, 0 },   { 24, false, 0, 16 }, { 28, false, 16, 20 }, { 36, true, 20, 28 },  { 40, true, 20, 28 },
    { 44, true, 20, 28 }, { 52, true, 20, 28 }, { 68, true, 20, 28 },  { 100, true, 20, 28 },
};

typedef struct lcs {
    hd_reader reader;
    const version *form;
    uint64_t requests; /* as the header says; 0: it does not */
    bool counted;      /* the end was compared with it       */
} lcs;

static const char *decode(hd_reader *reader, const uint8_t *p, hd_request *r)
{
    const version *f = ((lcs *)(void *)reader)->form;
    r->time = hd_load32(p);
    r->key = hd_load64(p + 4);
    r->size = f->long_size ? hd_load64(p + 12) : hd_load32(p + 12);
    r->verb = HD_READ;
    if (r->size > HD_SIZE_MOST) return "its size is below 0, or above 2^56 - 1";
    if (!hd_next_access(hd_load64(p + f->next), reader->number + 1, &r->next)) return "its next access is implausible";
    return f->verb ? hd_verb_numbered(p[f->verb], &r->verb) : NULL;
}

/* At the end: as many records as the header says. */
static hd_status count_check(lcs *l)
{
    hd_source *s = &l->reader.source;
    const uint64_t records = l->reader.number;
    if (l->counted || l->requests == 0 || records == l->requests) return HD_OK;
    l->counted = true;
    if (!l->reader.lenient)
        return hd_fail(HD_ECORRUPT, "%s: byte %d: the header says %" PRIu64 " requests, and the file has %" PRIu64,
                       hd_stream_path(l->reader.stream), REQUESTS_AT, l->requests, records);
    s->skipped += records < l->requests ? l->requests - records : 1;
    return HD_OK;
}

static hd_status lcs_next(hd_source *s, hd_request *r, size_t max, size_t *got)
{
    lcs *l = (lcs *)(void *)s;
    hd_status e = hd_reader_take(&l->reader, l->form->bytes, decode, r, max, got);
    return e || *got == max ? e : count_check(l);
}

static hd_status header_read(lcs *l)
{
    const uint8_t *p;
    size_t n;
    const char *path = hd_stream_path(l->reader.stream);
    hd_status e = hd_stream_peek(l->reader.stream, HEADER, &p, &n);
    if (e) return e;
    if (n < 8 || hd_load64(p) != MAGIC) return hd_fail(HD_ECORRUPT, "%s: byte 0: not lcs: another magic", path);
    if (n < HEADER)
        return hd_fail(HD_ECORRUPT, "%s: byte %zu: the header is cut short: it has %d bytes", path, n, HEADER);
    if (hd_load64(p + END_AT) != MAGIC)
        return hd_fail(HD_ECORRUPT, "%s: byte %d: the header does not end in the magic of lcs", path, END_AT);
    const uint64_t of = hd_load64(p + VERSION_AT), requests = hd_load64(p + REQUESTS_AT);
    if (of < 1 || of > VERSIONS)
        return hd_fail(HD_ECORRUPT, "%s: byte %d: lcs version %" PRIu64 "; versions 1 to %d are read", path, VERSION_AT,
                       of, VERSIONS);
    if (requests > INT64_MAX)
        return hd_fail(HD_ECORRUPT, "%s: byte %d: a number of requests below 0", path, REQUESTS_AT);
    l->form = &versions[of];
    l->requests = requests;
    hd_stream_skip(l->reader.stream, HEADER);
    return hd_reader_whole(&l->reader, l->form->bytes);
}

static hd_status lcs_open(const hd_source_args *a, hd_source **s)
{
    static const char *const known[] = { NULL };
    hd_reader *r;
    hd_status e = hd_reader_open(a, known, sizeof(lcs), &r);
    if (e) return e;
    r->source.next = lcs_next;
    r->source.sized = true;
    hd_unit_of("s", 1, &r->source.tick);
    return hd_reader_opened(r, header_read((lcs *)(void *)r), s);
}

const hd_source_row hd_workload_lcs = { "lcs", "libCacheSim's binary traces with a header, versions 1 to 8", "lcs:FILE",
                                        true, lcs_open };
