/* SPDX-License-Identifier: Apache-2.0
 *
 * trace.h - request traces on disk. Readers are sources (workload.h); writers are rows here.
 */
#ifndef HD_TRACE_H
#define HD_TRACE_H

#include "workload/workload.h"

typedef struct hd_trace_writer hd_trace_writer;

/* format: "oracleGeneral", "csv", "txt", "vscsi1", "vscsi2". Compression by the path's ending (stream.h).
 * oracleGeneral needs every request's next access; put writes it as given (0, not known, as -1),
 * hd_trace_convert computes it. A request that the format cannot hold is HD_EINVAL with its number. */
hd_status hd_trace_create(const hd_seams *seams, const char *path, const char *format, hd_trace_writer **w);
hd_status hd_trace_put(hd_trace_writer *w, const hd_request *r, size_t n);
hd_status hd_trace_close(hd_trace_writer *w, bool keep);

/* What a conversion did. Times become those of the format's unit, if it has one; csv's column of times has the name of
 * the source's unit, time_us, if it is not seconds. */
typedef struct hd_trace_written {
    uint64_t requests;
    uint64_t tick; /* of the written times (hd_source.tick); 0: there are none */
    uint64_t cut;  /* times that lost a fraction of it */
} hd_trace_written;

/* Converts the next `limit` requests of a source (0 or UINT64_MAX: all; generators never end) to a file. When
 * the format wants next accesses and the source does not know them, or is cut by the limit, they are
 * computed in a second, backward pass (link.h: memory grows with the distinct keys). On failure, nothing is left
 * behind. written: may be NULL. */
hd_status hd_trace_convert(hd_source *from, uint64_t limit, const char *path, const char *format,
                           hd_trace_written *written);

/* A format that can be written: its row is at the bottom of the file of its reader. */
typedef struct hd_trace_format {
    const char *name;
    const char *head; /* the first line behind the name of its times; NULL: there is none */
    bool wants_next;  /* every request's next access                      */
    uint64_t tick;    /* of its times; 0: they are written as given       */
    /* Writes one request, at most HD_ENCODED_MOST bytes; number: the request's, from 1. */
    hd_status (*encode)(const hd_request *r, uint64_t number, uint8_t *to, size_t *bytes);
} hd_trace_format;

enum { HD_ENCODED_MOST = 128 };

extern const hd_trace_format hd_trace_oracleGeneral, hd_trace_csv, hd_trace_txt, hd_trace_vscsi1, hd_trace_vscsi2;

/* Row i of the formats that can be written; NULL past the end. */
const char *hd_trace_format_at(size_t i);

#endif
