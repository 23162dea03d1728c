/* SPDX-License-Identifier: Apache-2.0
 *
 * reader.h - what the readers of trace files share: opening, whole records, text as keys, and ending.
 * A format adds how bytes become requests (its `next`), and nothing else.
 */
#ifndef HD_READER_H
#define HD_READER_H

#include "workload/stream.h"
#include "workload/workload.h"

typedef struct hd_reader {
    hd_source source; /* first: a reader is a source                     */
    hd_stream *stream;
    uint64_t number; /* records read so far                             */
    size_t bytes;    /* of the format's whole struct, which this begins */
    bool lenient;
} hd_reader;

/* Takes `bytes` cleared bytes that begin with a hd_reader and opens argument 0. An empty file is
 * HD_ECORRUPT. `known` lists the options (NULL-terminated). source.close is set, source.next is not. */
hd_status hd_reader_open(const hd_source_args *a, const char *const *known, size_t bytes, hd_reader **r);
void hd_reader_close(hd_source *s);
/* The end of opening: *s is the reader; or, after the error e, it is closed. Returns e. */
hd_status hd_reader_opened(hd_reader *r, hd_status e, hd_source **s);
/* Says how far the file is read: after every block. */
void hd_reader_progress(hd_reader *r);

/* Shows *n whole records, at least one and at most `most` unless the file ends (0). A cut last record is
 * HD_ECORRUPT with its byte offset, or, lenient, counted and passed over. */
hd_status hd_reader_records(hd_reader *r, size_t record_bytes, size_t most, const uint8_t **p, size_t *n);
/* HD_ECORRUPT at once when what is left of a plain file is no whole number of records (unless lenient). */
hd_status hd_reader_whole(const hd_reader *r, size_t record_bytes);

/* NULL, or what is wrong with the record: HD_DELETE, or a sentence. */
typedef const char *hd_reader_decode(hd_reader *r, const uint8_t *record, hd_request *to);
/* Fills `to` through `decode`. A bad record is HD_ECORRUPT with its byte offset; or, lenient, counted and passed over:
 * then requests have other numbers than records, so no next accesses. */
hd_status hd_reader_take(hd_reader *r, size_t record_bytes, hd_reader_decode *decode, hd_request *to, size_t max,
                         size_t *got);
/* Counts a bad record or a delete that is passed over. */
void hd_reader_pass(hd_reader *r, const char *why);

/* The next access of request `number`, as libCacheSim's formats have it. False: it is implausible, as it comes before
 * the request, or in a trace that would fill 6 PiB. Some writers say none with the greatest number. */
static inline bool hd_next_access(uint64_t stored, uint64_t number, int64_t *next)
{
    bool none = stored == UINT64_MAX || stored == INT64_MAX;
    *next = none ? -1 : (int64_t)stored;
    return none || (stored > number && stored <= UINT64_C(1) << 48);
}

/* Verbs by their names, in any case, and by libCacheSim's numbers. NULL, or what is wrong. */
extern const char HD_DELETE[], HD_NO_VERB[], HD_VERB_NAMES[];

/* Passes over a UTF-8 byte order mark at the beginning. */
hd_status hd_reader_mark(hd_reader *r);

/* Passes over the bytes up to and with the next line end: past a line that no window holds. */
hd_status hd_reader_skip_line(hd_reader *r);

/* A piece of a line; not terminated. */
typedef struct hd_text {
    const char *p;
    size_t n;
} hd_text;

hd_text hd_text_trim(hd_text t); /* without the blanks (space, tab, CR) around it */
/* Decimal digits only, at most `most`; false otherwise. */
bool hd_text_number(hd_text t, uint64_t most, uint64_t *v);
/* An unsigned 64-bit number is the key itself, unless `hash`; other text is hashed (XXH3, 64 bits), never
 * to a reserved key. False for empty text and for bytes that no text has. *hashed: it was hashed without `hash`. */
bool hd_text_key(hd_text t, bool hash, uint64_t *key, bool *hashed);
const char *hd_verb_named(hd_text t, uint32_t *verb);
const char *hd_verb_numbered(uint64_t number, uint32_t *verb);
bool hd_text_is_name(hd_text t); /* a usual name of a column, in any case */
bool hd_text_begins_as_number(hd_text t);
/* For messages: at most bytes - 1 characters, unprintable ones as '?'. Returns `to`. */
const char *hd_text_show(hd_text t, char *to, size_t bytes);

/* v in decimal, not terminated: at most 20 characters. How many. */
size_t hd_print_u64(char *to, uint64_t v);

static inline uint16_t hd_load16(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }
static inline uint32_t hd_load32(const uint8_t *p) { return hd_load16(p) | (uint32_t)hd_load16(p + 2) << 16; }
static inline uint64_t hd_load64(const uint8_t *p) { return hd_load32(p) | (uint64_t)hd_load32(p + 4) << 32; }
static inline void hd_store16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}
static inline void hd_store32(uint8_t *p, uint32_t v)
{
    hd_store16(p, (uint16_t)v);
    hd_store16(p + 2, (uint16_t)(v >> 16));
}
static inline void hd_store64(uint8_t *p, uint64_t v)
{
    hd_store32(p, (uint32_t)v);
    hd_store32(p + 4, (uint32_t)(v >> 32));
}

#endif
