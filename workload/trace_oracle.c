/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_oracle.c - oracleGeneral, the binary format of libCacheSim and its public traces. Packed, little-endian,
 * no header:
 *
 *     byte  0   u32  time, seconds
 *           4   u64  object
 *          12   u32  size, bytes
 *          16   i64  next access of the object, -1 none
 *
 * "Next access" is called a virtual time there. It is the request's number in the file, counted from 1:
 * in the public cloudPhysicsIO sample all 64,898 that are not -1 are exactly that. So a record's next
 * access lies beyond the record's own number, always. The format has no magic, and this is what stands
 * in for one: a random or foreign file is refused at its first record with a probability above 0.9999,
 * where it would otherwise replay as noise. A file cut from the middle or the end of a longer one
 * passes: its numbers are only larger.
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "workload/reader.h"
#include "workload/trace.h"

enum { RECORD = 24, ORACLE_TICK = 1000000000 /* a second */ };

typedef struct oracle {
    hd_reader reader;
} oracle;

/* How many of the n records were decoded: all, unless one has an implausible next access. */
static size_t decode(const uint8_t *p, size_t n, uint64_t number, hd_request *r)
{
    for (size_t i = 0; i < n; i++, p += RECORD) {
        if (!hd_next_access(hd_load64(p + 16), number + i + 1, &r[i].next)) return i;
        r[i].key = hd_load64(p + 4);
        r[i].time = hd_load32(p);
        r[i].size = hd_load32(p + 12);
        r[i].verb = HD_READ;
    }
    return n;
}

static hd_status fail_record(const hd_reader *o, const uint8_t *p)
{
    return hd_fail(HD_ECORRUPT,
                   "%s: byte %" PRIu64 ": not oracleGeneral: request %" PRIu64 " says its next access is %" PRId64,
                   hd_stream_path(o->stream), hd_stream_offset(o->stream), o->number + 1, (int64_t)hd_load64(p + 16));
}

static hd_status oracle_next(hd_source *s, hd_request *r, size_t max, size_t *got)
{
    hd_reader *o = &((oracle *)s)->reader;
    for (*got = 0; *got < max;) {
        const uint8_t *p;
        size_t n;
        hd_status e = hd_reader_records(o, RECORD, max - *got, &p, &n);
        if (e || n == 0) return e;
        size_t good = decode(p, n, o->number, r + *got);
        hd_stream_skip(o->stream, good * RECORD);
        o->number += good;
        *got += good;
        if (good < n) return fail_record(o, p + good * RECORD);
    }
    return HD_OK;
}

/* Distinguishes a file of another format from a truncated one: checks the first record before the length. */
static hd_status oracle_start(const hd_reader *o)
{
    const uint8_t *p;
    size_t bytes;
    hd_request first;
    hd_status e = hd_stream_peek(o->stream, RECORD, &p, &bytes);
    if (e) return e;
    if (bytes >= RECORD && decode(p, 1, 0, &first) == 0) return fail_record(o, p);
    return hd_reader_whole(o, RECORD);
}

static hd_status oracle_open(const hd_source_args *a, hd_source **s)
{
    static const char *const known[] = { NULL };
    hd_reader *o;
    hd_status e = hd_reader_open(a, known, sizeof(oracle), &o);
    if (e) return e;
    o->source.next = oracle_next;
    o->source.tick = ORACLE_TICK;
    o->source.sized = true;
    return hd_reader_opened(o, oracle_start(o), s);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static hd_status oracle_encode(const hd_request *r, uint64_t number, uint8_t *to, size_t *bytes)
{
    if (r->time > UINT32_MAX)
        return hd_fail(HD_EINVAL,
                       "request %" PRIu64 ": time %" PRIu64 " does not fit oracleGeneral's 32 bits of seconds", number,
                       r->time);
    if (r->size > UINT32_MAX)
        return hd_fail(HD_EINVAL, "request %" PRIu64 ": size %" PRIu64 " does not fit oracleGeneral's 32 bits", number,
                       r->size);
    hd_store32(to, (uint32_t)r->time);
    hd_store64(to + 4, r->key);
    hd_store32(to + 12, (uint32_t)r->size);
    hd_store64(to + 16, (uint64_t)(r->next ? r->next : -1));
    *bytes = RECORD;
    return HD_OK;
}

const hd_trace_format hd_trace_oracleGeneral = {
    .name = "oracleGeneral",
    .wants_next = true,
    .tick = ORACLE_TICK,
    .encode = oracle_encode,
};

const hd_source_row hd_workload_oracleGeneral = { "oracleGeneral",
                                                  "libCacheSim's binary traces: time, object, size, next access",
                                                  "oracleGeneral:FILE", true, oracle_open };
