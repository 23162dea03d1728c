/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_vscsi.c - block traces of virtual disks, versions 1 and 2, as libCacheSim reads them. Little-endian,
 * no header; which version it is stands in the high byte of every record's `ver`:
 *
 *     version 1, 32 bytes                      version 2, 40 bytes
 *     byte  0  u32  sn    serial number        byte  0  u16  cmd
 *           4  u32  len   bytes                      2  u16  ver
 *           8  u32  nSG   scatter-coalesced parts       4  u32  sn
 *          12  u16  cmd   SCSI operation code        8  u32  len
 *          14  u16  ver                             12  u32  nSG
 *          16  u64  lbn   logical block: the key    16  u64  lbn
 *          24  u64  ts    microseconds              24  u64  ts
 *                                                   32  u64  rt    response time, microseconds
 *
 * Option unit=s gives times in whole seconds; unit=us, the default, as they are.
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "workload/reader.h"
#include "workload/trace.h"

enum { READ_10 = 0x28, WRITE_10 = 0x2a, VSCSI_TICK = 1000 /* a microsecond */ };

/* Where a version keeps what is read. */
typedef struct version {
    uint32_t number, bytes, cmd, ver, sn, len;
} version;

enum { LBN = 16, TS = 24 }; /* in both */

static const version versions[] = {
    { .number = 2, .bytes = 40, .cmd = 0, .ver = 2, .sn = 4, .len = 8 },
    { .number = 1, .bytes = 32, .cmd = 12, .ver = 14, .sn = 0, .len = 4 },
};
enum { VERSIONS = sizeof versions / sizeof *versions };

typedef struct vscsi {
    hd_reader reader;
    const version *form;
    uint64_t unit; /* microseconds in one */
} vscsi;

static bool is_version(const uint8_t *record, const version *f) { return hd_load16(record + f->ver) >> 8 == f->number; }

/* SCSI's WRITE of 6, 10, 12 and 16 bytes. Anything else is a read, or counts as one. */
static hd_verb verb_of(uint16_t cmd)
{
    return cmd == 0x0a || cmd == WRITE_10 || cmd == 0xaa || cmd == 0x8a ? HD_UPDATE : HD_READ;
}

static size_t decode(const vscsi *v, const uint8_t *p, size_t n, hd_request *r)
{
    const version *f = v->form;
    for (size_t i = 0; i < n; i++, p += f->bytes) {
        if (!is_version(p, f)) return i;
        r[i].key = hd_load64(p + LBN);
        r[i].time = hd_load64(p + TS) / v->unit;
        r[i].next = 0;
        r[i].size = hd_load32(p + f->len);
        r[i].verb = verb_of(hd_load16(p + f->cmd));
    }
    return n;
}

static hd_status vscsi_next(hd_source *s, hd_request *r, size_t max, size_t *got)
{
    vscsi *v = (vscsi *)s;
    for (*got = 0; *got < max;) {
        const uint8_t *p;
        size_t n;
        hd_status e = hd_reader_records(&v->reader, v->form->bytes, max - *got, &p, &n);
        if (e || n == 0) return e;
        size_t good = decode(v, p, n, r + *got);
        hd_stream_skip(v->reader.stream, good * v->form->bytes);
        v->reader.number += good;
        *got += good;
        if (good < n)
            return hd_fail(HD_ECORRUPT, "%s: byte %" PRIu64 ": not a record of vscsi version %u",
                           hd_stream_path(v->reader.stream), hd_stream_offset(v->reader.stream), v->form->number);
    }
    return HD_OK;
}

/* The version that the first two records agree on (or the only one there is); NULL: none. Version 2 is asked first,
 * as libCacheSim does. */
static const version *version_of(const uint8_t *p, size_t bytes)
{
    for (size_t i = 0; i < VERSIONS; i++) {
        const version *f = &versions[i];
        bool first = bytes >= f->bytes && is_version(p, f);
        if (first && (bytes < 2 * f->bytes || is_version(p + f->bytes, f))) return f;
    }
    return NULL;
}

static hd_status vscsi_start(vscsi *v)
{
    const uint8_t *p;
    size_t n;
    hd_status e = hd_stream_peek(v->reader.stream, 2 * versions[0].bytes, &p, &n);
    if (e) return e;
    v->form = version_of(p, n);
    if (!v->form)
        return hd_fail(HD_ECORRUPT, "%s: byte 0: neither vscsi version 1 nor 2 (%zu bytes looked at)",
                       hd_stream_path(v->reader.stream), n < 2 * versions[0].bytes ? n : 2 * versions[0].bytes);
    return hd_reader_whole(&v->reader, v->form->bytes);
}

static hd_status vscsi_open(const hd_source_args *a, hd_source **s)
{
    static const char *const known[] = { "unit", NULL };
    const char *unit = hd_source_option(a, "unit", "us");
    if (strcmp(unit, "us") != 0 && strcmp(unit, "s") != 0)
        return hd_fail(HD_EINVAL, "unit: '%.40s' is neither us nor s", unit);
    hd_reader *r;
    hd_status e = hd_reader_open(a, known, sizeof(vscsi), &r);
    if (e) return e;
    vscsi *v = (vscsi *)(void *)r;
    r->source.next = vscsi_next;
    r->source.sized = true;
    v->unit = strcmp(unit, "s") == 0 ? 1000000 : 1;
    r->source.tick = v->unit * VSCSI_TICK;
    return hd_reader_opened(r, vscsi_start(v), s);
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Serial numbers count from 1, modulo 2^32; scatter-coalesced parts and response times are 0: no request knows them. */
static hd_status encode(const version *f, const hd_request *r, uint64_t number, uint8_t *to, size_t *bytes)
{
    if (r->size > UINT32_MAX)
        return hd_fail(HD_EINVAL, "request %" PRIu64 ": size %" PRIu64 " does not fit vscsi's 32 bits", number,
                       r->size);
    memset(to, 0, f->bytes);
    hd_store16(to + f->cmd, r->verb == HD_READ ? READ_10 : WRITE_10);
    hd_store16(to + f->ver, (uint16_t)(f->number << 8));
    hd_store32(to + f->sn, (uint32_t)number);
    hd_store32(to + f->len, (uint32_t)r->size);
    hd_store64(to + LBN, r->key);
    hd_store64(to + TS, r->time);
    *bytes = f->bytes;
    return HD_OK;
}

static hd_status encode_1(const hd_request *r, uint64_t number, uint8_t *to, size_t *bytes)
{
    return encode(&versions[1], r, number, to, bytes);
}
static hd_status encode_2(const hd_request *r, uint64_t number, uint8_t *to, size_t *bytes)
{
    return encode(&versions[0], r, number, to, bytes);
}

const hd_trace_format hd_trace_vscsi1 = { .name = "vscsi1", .tick = VSCSI_TICK, .encode = encode_1 };
const hd_trace_format hd_trace_vscsi2 = { .name = "vscsi2", .tick = VSCSI_TICK, .encode = encode_2 };

const hd_source_row hd_workload_vscsi = { "vscsi", "block traces of virtual disks, versions 1 and 2",
                                          "vscsi:FILE[,unit=us|s]", true, vscsi_open };
