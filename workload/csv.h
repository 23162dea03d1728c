/* SPDX-License-Identifier: Apache-2.0
 *
 * csv.h - rows of text as requests: what the format csv and the traces that are written as csv share.
 *
 *     trace_csv.c     reading, writing, and the row of csv
 *     trace_rows.c    Twitter's, CacheLib's and MSR Cambridge's traces: tables of columns
 *     csv_columns.c   opening: which column is what, and whether there is a header
 *     csv_row.c       from a row to its fields
 *     csv_request.c   from fields to requests
 */
#ifndef HD_CSV_H
#define HD_CSV_H

#include "workload/reader.h"

enum {
    HD_CSV_ROW_MOST = 64 << 10,             /* as much as a stream shows at once */
    HD_CSV_LOOK_MOST = 2 * HD_CSV_ROW_MOST, /* of the window per look: a quote is searched in all of it */
    HD_CSV_COLUMNS_MOST = 255,
    HD_CSV_TEXT = 160
};

/* What a column is for. */
typedef enum hd_csv_role {
    CSV_KEY,
    CSV_TIME,
    CSV_SIZE,
    CSV_VERB,
    CSV_OP_COUNT, /* how many requests the row is                 */
    CSV_KEY_SIZE, /* added to the size                            */
    CSV_HOST,     /* with the disk: which volume                  */
    CSV_DISK,
    CSV_ROLES,
    CSV_NO_ROLE = CSV_ROLES
} hd_csv_role;

typedef struct hd_csv hd_csv;

/* Whether files have one: never; perhaps, of any names; perhaps, and it names the key as the form does. */
typedef enum hd_csv_header { HD_CSV_NO_HEADER, HD_CSV_ANY_HEADER, HD_CSV_OWN_HEADER } hd_csv_header;

/* A kind of csv. */
typedef struct hd_csv_form {
    const char *name[CSV_ROLES]; /* the column's in a header, and the option that gives it; NULL: neither */
    uint8_t column[CSV_ROLES];   /* without a header; 0: none                                             */
    const char *const *options;  /* that a user may give (NULL-terminated)                                */
    hd_csv_header header;
    unsigned columns; /* of each row without a header; 0: they are not counted                 */
    bool plain;       /* quotes mean nothing                                                   */
    bool hash;        /* keys are text, though some are numbers                                */
    uint64_t tick;    /* of its times; 0: options say it, or the column's name                 */
    /* NULL, or what is wrong: from fields to the request, and the ones that follow it (hd_csv.left). */
    const char *(*request)(hd_csv *c, const hd_text *field, hd_request *r);
} hd_csv_form;

enum { HD_CSV_VOLUMES = 256 };

struct hd_csv {
    hd_reader reader;
    const hd_csv_form *form;
    uint64_t line;                            /* lines read so far                          */
    uint8_t role_of[HD_CSV_COLUMNS_MOST + 1]; /* of a column                                */
    unsigned column[CSV_ROLES];               /* of a role; 0: the trace has none           */
    uint8_t role[CSV_ROLES];                  /* (roles): those that have a column */
    unsigned roles;
    unsigned last;    /* the greatest of them                       */
    unsigned columns; /* of every row; 0: they are not counted      */
    unsigned seen;    /* of the last row, if they are counted       */
    char delim;
    bool header, hash;
    bool header_said;                     /* by the option */
    bool named[CSV_ROLES];                /* the column was found by its name */
    hd_request more;                      /* what a row still gives: `left` requests, the next of which is this, */
    uint64_t left;                        /* `step` above the key before it                              */
    uint64_t step, more_cut, more_hashed; /* what each adds to the source's counts              */
    uint64_t volume[HD_CSV_VOLUMES];      /* (volumes): hashes of their names, in the order of their first rows */
    unsigned volumes;
    char unread[HD_CSV_TEXT];        /* hd_source.unread */
    char header_text[HD_CSV_TEXT];   /* hd_source.header */
    char why[HD_CSV_TEXT];           /* of a fault that has numbers */
    char tail[HD_CSV_ROW_MOST + 1];  /* the file's last row, when no line end ends it */
    char unquoted[HD_CSV_LOOK_MOST]; /* a row's quoted fields, as they mean        */
};

/* What is wrong with a row: a column (0: the row as a whole), why, and the text that is so. */
typedef struct hd_csv_fault {
    unsigned column;
    const char *why;
    hd_text text;
} hd_csv_fault;

/* Rows to be taken now: whole lines. */
typedef struct hd_csv_rows {
    const char *start, *p, *end; /* the byte before end is a line end         */
    const char *quote;           /* the next one, or end                      */
    bool last;                   /* the file's last rows, in c->tail: the line end is ours */
} hd_csv_rows;

/* trace_csv.c. Looks at what comes next; p == end: the file ends here. */
hd_status hd_csv_open(const hd_source_args *a, const hd_csv_form *form, hd_source **s);
hd_status hd_csv_look(hd_csv *c, hd_csv_rows *w);
/* Takes what is in front of `to` from the stream. */
void hd_csv_pass(hd_csv *c, hd_csv_rows *w, const char *to);
hd_status hd_csv_fail(const hd_csv *c, const hd_csv_fault *f);

/* csv_columns.c */
hd_status hd_csv_columns(hd_csv *c, const hd_source_args *a);

/* csv_row.c. The fields of the row at `p`, by role, and where it ends; NULL when something is wrong with it. */
const char *hd_csv_split(hd_csv *c, const hd_csv_rows *w, const char *p, hd_text *field, hd_csv_fault *f);
/* Steps over the field at *p to the delimiter or line end behind it, before `end`. A quoted field's meaning goes to
 * *spare. NULL, or what is wrong. */
const char *hd_csv_field(const hd_csv *c, const char **p, const char *end, char **spare, hd_text *t);
extern const char HD_CSV_OPEN_QUOTE[];

/* csv_request.c. NULL p of a field: the row has no such column. */
bool hd_csv_request(hd_csv *c, const hd_text *field, hd_request *r, hd_csv_fault *f);

#endif
