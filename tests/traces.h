/* SPDX-License-Identifier: Apache-2.0
 *
 * traces.h - shared by the tests of traces and generators: the requests of a source, random requests, and files.
 */
#ifndef TRACES_H
#define TRACES_H

#include "tests/faulty.h"
#include "workload/trace.h"

/* What came out of a source: the requests, and what ended them. */
typedef struct taken {
    hd_request *r;
    size_t n;
    uint64_t skipped, deletes, extra, cut;
    hd_status status;
    char why[512];
} taken;

/* Takes all, or the first 2^21 requests of a file that says more; at most `most` at a time (0: by chance, 1 to 9). */
taken take_all(const hd_seams *seams, const char *spec, bool lenient, size_t most);
void taken_free(taken *t);

hd_status open_spec(const hd_seams *seams, const char *spec, bool lenient, hd_source **s);
/* "row:path" and options; static storage, four at a time. */
const char *spec_of(const char *row, const char *path, const char *options);

void same_requests(const hd_request *a, size_t an, const hd_request *b, size_t bn);
hd_request *some_requests(size_t n, uint64_t seed, bool extremes); /* free() them */
void put_all(const char *path, const char *format, const hd_request *r, size_t n);

/* Calls visit with n requests of a source that has no end, in pieces of at most `piece`. */
enum { DRAW_AT_ONCE = 4096 };
typedef void visitor(void *context, const hd_request *r);
void draw(const char *spec, uint64_t seed, size_t piece, uint64_t n, visitor *visit, void *context);

/* Opens the source and takes at most `most` of its requests, each piece of memory refused once: HD_ENOMEM, and nothing
 * is kept. How many requests came when none was refused. */
uint64_t refuse_each_take(const char *spec, uint64_t most);

/* A file of test_folder(), as test_path has them. */
const char *text_file(const char *name, const char *text);
/* A file of these bytes, or of them compressed. */
#define BYTES(x) x, sizeof(x) - 1
/* A header of lcs, of this version and so many requests. */
enum { LCS_HEADER = 8192 };
void lcs_header(uint8_t *p, unsigned of, uint64_t requests);
void put_bytes(const char *path, const char *bytes, size_t n, bool zst);

#endif
