/* SPDX-License-Identifier: Apache-2.0
 *
 * workload.h - where requests come from. A source is a stream of requests: a generator, a trace
 * file, the k-mers of a genome. Every source is one row at the bottom of its file; Makefile.am lists
 * the files in workload_rows:
 *
 *     uniform:400   zipf:0.99,1000000   ycsb:a,1000000   pop:FILE   kmer:FILE,16
 *     oracleGeneral:FILE   csv:FILE,key=2,time=1,delim=;   vscsi:FILE   txt:FILE   lcs:FILE   msr:FILE
 *
 * Same spec and seed: same requests, on every machine and compiler. Sources stream: memory does
 * not grow with the number of requests or keys.
 */
#ifndef HD_WORKLOAD_H
#define HD_WORKLOAD_H

#include "base/parse.h"
#include "base/seam.h"

typedef enum hd_verb { HD_READ, HD_UPDATE, HD_INSERT, HD_READ_MODIFY_WRITE } hd_verb;

typedef struct hd_request {
    uint64_t key;
    uint64_t time; /* the trace's own unit; 0 when it has none                     */
    int64_t next;  /* request number of the key's next access, 1-based; -1 none, 0 not known */
    uint64_t size; /* bytes, at most HD_SIZE_MOST; 1 when the trace has none       */
    uint32_t verb; /* hd_verb                                                      */
} hd_request;
#define HD_SIZE_MOST ((UINT64_C(1) << 56) - 1)

/* A parsed spec: name:positional,positional,name=value. Built by hd_source_parse or by hand (file
 * names with commas). Pointers are the caller's and must live until hd_source_open returns. */
enum { HD_SOURCE_ARGS = 12 };
typedef struct hd_source_args {
    const char *name;
    const char *arg[HD_SOURCE_ARGS];
    size_t args;
    const char *option[HD_SOURCE_ARGS][2];
    size_t options;
    uint64_t seed;
    bool lenient;                    /* count bad records and go on where one can be skipped */
    const hd_seams *seams;           /* NULL: those of hd_source_seams */
    const struct hd_source_row *row; /* hd_source_open sets it */
} hd_source_args;

typedef struct hd_source hd_source;

/* A row: one file each, its row at the bottom of it. */
typedef struct hd_source_row {
    const char *name;
    const char *what; /* one sentence */
    const char *form; /* "zipf:EXPONENT,KEYS" */
    bool file;        /* reads a file: argument 0 */
    hd_status (*open)(const hd_source_args *a, hd_source **s);
} hd_source_row;

/* Every implementation begins with this. */
struct hd_source {
    const hd_source_row *row;
    const hd_seams *seams;
    uint64_t skipped;                 /* bad records passed over (lenient) */
    uint64_t deletes;                 /* records that delete, passed over (lenient) */
    uint64_t extra;                   /* requests of a record beyond its first */
    uint64_t keys;                    /* how many different keys there can be; 0: not known */
    uint64_t hashed;                  /* requests whose key is text and was hashed, without hash=1 */
    uint64_t tick;                    /* nanoseconds in one unit of time; 0: the requests have no times */
    bool tick_assumed;                /* no option gave the unit */
    uint64_t cut;                     /* times that had a fraction of the unit */
    const char *unread;               /* names of columns that are not read, "op, ttl"; NULL: there is none */
    const char *header;               /* the first line, which was taken for a header unasked; NULL: it was not */
    const char *foreign;              /* how the file begins as one that is not read; NULL: it does not */
    uint64_t bytes_read, bytes_total; /* of the (compressed) file; 0 for generators: for progress */
    struct hd_stream *file;           /* that it reads; NULL for generators */
    bool any;                         /* a request was delivered */
    bool sized;                       /* the trace has sizes; else each is 1 */
    /* Fills up to max requests; *got < max only at the end; generators never end. */
    hd_status (*next)(hd_source *s, hd_request *r, size_t max, size_t *got);
    void (*close)(hd_source *s);
};

const hd_source_row *hd_source_row_at(size_t i);           /* NULL past the end */
const hd_source_row *hd_source_row_find(const char *name); /* NULL: no such row */

/* Cuts `spec` (a private copy is made into `store`, store_bytes long) into args. HD_EINVAL with the
 * nearest names when the name is unknown, or when there are too many parts. */
hd_status hd_source_parse(const char *spec, char *store, size_t store_bytes, hd_source_args *a);

/* The seams of sources whose arguments name none: the operating system's, or what a program sets before the first. */
void hd_source_seams(const hd_seams *seams);

hd_status hd_source_open(const hd_source_args *a, hd_source **s);
hd_status hd_source_open_spec(const char *spec, uint64_t seed, hd_source **s);
/* HD_ECORRUPT at the end of a file that had no request. */
hd_status hd_source_next(hd_source *s, hd_request *r, size_t max, size_t *got);
void hd_source_close(hd_source *s); /* NULL is fine */
/* A reader's error e; of a file that begins as a foreign one, its sentence says that, too. */
hd_status hd_source_foreign(const hd_source *s, hd_status e);

/* How much of its file was read, 0 to 1; -1: that is not known. */
double hd_source_share(const hd_source *s);

/* The option's value, or `otherwise`. */
const char *hd_source_option(const hd_source_args *a, const char *name, const char *otherwise);
/* HD_EINVAL with the row's form unless so many arguments were given, or with the option that `known` (a
 * NULL-terminated list) does not have. */
hd_status hd_source_shape(const hd_source_args *a, size_t args, const char *const *known);
/* Takes the `bytes` of a source, cleared but for the members that `as` has. */
hd_status hd_source_take(const hd_source_args *a, const char *what, size_t bytes, const hd_source *as, hd_source **s);
/* "s", "ms", "us" or "ns", for hd_source.tick and back. NULL and false: another one. */
const char *hd_unit_name(uint64_t tick);
bool hd_unit_of(const char *name, size_t bytes, uint64_t *tick);
/* An option that is 0 or 1. */
hd_status hd_source_flag(const hd_source_args *a, const char *name, bool otherwise, bool *on);

#endif
