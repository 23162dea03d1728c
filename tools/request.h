/* SPDX-License-Identifier: Apache-2.0
 *
 * request.h - sources of requests as they are named on a command line: two words (TRACE FORMAT) or one
 * (SPEC), and what most verbs then want: all of it in batches, or how many keys differ.
 */
#ifndef HD_REQUEST_H
#define HD_REQUEST_H

#include "tools/tool.h"
#include "workload/workload.h"

enum { REQUEST_TEXT = 4096 };

typedef struct request_source {
    char text[REQUEST_TEXT]; /* what args points into */
    hd_source_args args;
    const char *title; /* "cloudPhysicsIO.oracleGeneral.zst", "zipf:0.99,1Mi" */
    bool endless;      /* a generator: it needs a limit */
} request_source;

/* TRACE is a file, FORMAT a source that reads files with options appended: "csv,key=2,time=1".
 * TOOL_OK; otherwise it was said what is wrong, and the result is the exit code. */
int request_words(request_source *r, const char *trace, const char *format);
/* The FORMAT that a file's name says, "requests.csv.gz": csv. NULL: none. */
const char *request_format(const char *trace);
/* As request_format; NULL after a sentence. */
const char *request_format_say(const char *trace);
/* "zipf:0.99,1Mi", "oracleGeneral:FILE". */
int request_spec(request_source *r, const char *spec);
/* TRACE [FORMAT] or SPEC: one word that names a file has the format that the name says. */
int request_trace_or_spec(request_source *r, char *const *word, int words);

/* Share of the source that has been read, 0 to 1; -1 when that cannot be known. */
double request_share(const hd_source *s, uint64_t done, uint64_t limit);

/* Reads `limit` requests (0: all) and counts the different keys, reserved ones too, exactly.
 * HD_OK with *distinct = 0 never happens for a source that has requests. */
hd_status request_distinct(const hd_source_args *a, uint64_t limit, uint64_t *requests, uint64_t *distinct);

#endif
