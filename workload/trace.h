/* SPDX-License-Identifier: Apache-2.0
 *
 * trace.h - request traces on disk. Readers are sources (workload.h); writers are rows here.
 */
#ifndef HD_TRACE_H
#define HD_TRACE_H

#include "workload/workload.h"

typedef struct hd_trace_writer hd_trace_writer;

/* format: "oracleGeneral", "csv", "txt", "vscsi1", "vscsi2". Compression by the path's ending (stream.h).
 * oracleGeneral needs every record's next access; it is written as given (0, not known, as -1) unless
 * the trace is passed through hd_trace_link first. */
hd_status hd_trace_create(const hd_seams *seams, const char *path, const char *format, hd_trace_writer **w);
hd_status hd_trace_put(hd_trace_writer *w, const hd_request *r, size_t n);
hd_status hd_trace_close(hd_trace_writer *w, bool keep);

/* Converts source to a file. When the format wants next accesses and the source does not know them,
 * they are computed in a second, backward pass (memory grows with the distinct keys, and says so). */
hd_status hd_trace_convert(hd_source *from, uint64_t limit, const char *path, const char *format, uint64_t *written);

/* Row i of the formats that can be written; NULL past the end. */
const char *hd_trace_format_at(size_t i);

#endif
