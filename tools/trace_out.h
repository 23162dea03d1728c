/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_out.h - what the verbs that write traces share: the format of a file to be written, and a source
 * that shows how far its reader is.
 */
#ifndef HD_TRACE_OUT_H
#define HD_TRACE_OUT_H

#include "tools/output.h"
#include "tools/progress.h"
#include "tools/tool.h"
#include "workload/trace.h"

enum { TRACE_PATH = 4096 };

/* What follows the last dot of `path`, a last .zst or .gz aside; NULL: nothing does. */
const char *trace_ending(const char *path, char text[TRACE_PATH]);

/* The format to write `path` in: `format` when given ("vscsi" means vscsi2), else what the ending says, a
 * last .zst or .gz aside; "-" is txt. NULL, after having said why, when nothing writes it. */
const char *trace_writer_pick(const char *path, const char *format);

/* What a source says of what it read, which outlives it. */
typedef struct source_told {
    uint64_t skipped, deletes, extra, hashed; /* as in hd_source; the texts, too, "" for NULL */
    char unread[160], header[160];
} source_told;
void source_tell(source_told *t, const hd_source *s);
/* Its facts; with `lenient` the count of bad records also where it is 0. In CSV, which has no facts, a header and what
 * was left out are said on standard error. */
void source_told_facts(out *r, const source_told *t, bool lenient);

/* What a report says of the source that was read, and the unit of its times; written: NULL, or what became of them. The
 * other one says it on standard error, where the trace itself is the output: what was assumed, cut or not read. */
void trace_source_facts(out *r, const hd_source *s, bool lenient, const hd_trace_written *written);
void trace_source_says(const hd_source *s, const hd_trace_written *written);

/* A source that shows its progress and fails on Ctrl-C: give it to whatever reads `from` to the end.
 * limit: how many requests will be read, 0 when all. `from` stays the caller's. */
typedef struct watched {
    hd_source source;
    hd_source *from;
    progress line;
    uint64_t done, limit;
} watched;
hd_source *watched_begin(watched *w, hd_source *from, const char *what, uint64_t limit);
void watched_end(watched *w); /* wipes the line */

#endif
