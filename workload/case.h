/* SPDX-License-Identifier: Apache-2.0
 *
 * case.h - one line of text that reproduces a run:
 *
 *     hkv.insert_or_assign.ref policy=lfu buckets=4 slots=32 batch=64x4 keys=uniform:400 seed=2
 *
 * DESIGN.OP.KERNEL, then name=value in any order; what is not said has its default. OP is an
 * operation, `mix` (every operation, drawn from the seed), `mixed` (batches in which each item has its own) or `serve`
 * (reads are find_or_insert, writes insert_or_assign, as the source's verbs say). Printing leaves out the defaults, so
 * a printed case is the shortest that means the same, and parsing what was printed gives it back.
 */
#ifndef HD_CASE_H
#define HD_CASE_H

#include "heddle.h"

typedef enum hd_case_between {
    HD_BETWEEN_NOTHING,
    HD_BETWEEN_GROW,
    HD_BETWEEN_SHRINK,
    HD_BETWEEN_LOAD,    /* a snapshot, into the same table */
    HD_BETWEEN_RESHAPE, /* ... into a table of another shape */
    HD_BETWEEN_REOPEN,  /* ... as a new table, which replaces this one */
    HD_BETWEEN_NEAR     /* another limit of device memory */
} hd_case_between;

/* The outputs of a batch that may be NULL: all are there, none, or some, drawn for each batch. */
typedef enum hd_case_outputs { HD_OUTPUTS_ALL, HD_OUTPUTS_NONE, HD_OUTPUTS_SOME } hd_case_outputs;

typedef struct hd_case {
    char design[16], op[32], kernel[32];   /* "hkv" "serve" "ref"; "usual": the table selects */
    char backend[16];                      /* "": the first that has a kernel of that name */
    char policy[512], lock[16], keys[256]; /* "lru" "ordered" "zipf:0.99,4Mi"                 */
    uint64_t buckets;                      /* 0: from capacity                          */
    uint64_t capacity;
    uint32_t slots, value_bytes;
    /* the clock, and the fields of designs: the words that base/param.h has; its other common fields are not used */
    hd_config table;
    bool distinct;
    hd_layout layout;
    uint64_t table_seed;  /* of the hash                               */
    uint32_t epoch_every; /* batches per epoch; 0: the epoch stays 0   */
    uint32_t threads;
    uint64_t batch, batches;                           /* items per batch, how many                 */
    uint64_t seed;                                     /* of keys, values, scores, choices          */
    uint32_t reserved_ppm, duplicate_ppm, extreme_ppm; /* share of items, in millionths, with a
                                              reserved key, a repeat of an earlier key of the batch,
                                              a score of 0 or 2^64-1                    */
    uint32_t raw_ppm; /* share of batches, in millionths, that store given scores as they are (hd_batch.raw_scores) */
    bool small;       /* fixtures have keys and values of few digits, for readers */
    bool judge;       /* compare with the oracle after every batch  */
    /* what is done to the table before every third batch; mix does something now and then by itself */
    hd_case_between between;
    hd_case_outputs outputs;
    uint32_t fill;      /* percent of the table's places that are filled before the first batch */
    bool sorted;        /* the keys of a batch ascend                             */
    uint32_t limit;     /* of range; 0: drawn, below 9                            */
    uint32_t skew;      /* values of the caller's arrays begin so many bytes late */
    uint64_t holder;    /* of batches that may pin, or may not; 0: they do not, unless they have to */
    char predicate[24]; /* of operations that have one; "all" */
    int elem;           /* hd_elem + 1 of accum_or_assign, or the next that fits; 0: drawn */
    char file[256];     /* that the table lives in; "": none */
    uint64_t set;       /* which fields the text set, as bits: hd_case_has */
} hd_case;

/* A word of case strings beside the head and the fields of designs. */
typedef enum hd_case_form {
    HD_CASE_TEXT,
    HD_CASE_U32,
    HD_CASE_U64,
    HD_CASE_BOOL,
    HD_CASE_NAMED /* an enum: its names stand in the order of its values */
} hd_case_form;

typedef struct hd_case_field {
    const char *name;
    hd_case_form form;
    size_t at, bytes;          /* in hd_case            */
    uint64_t least, most;      /* of a number           */
    int names;                 /* hd_kind, of a text that is a registry's; else -1 */
    const char *const *values; /* of HD_CASE_NAMED, and NULL */
} hd_case_field;

const hd_case_field *hd_case_field_at(size_t i); /* NULL past the end */
const char *hd_case_op_at(size_t i);             /* what OP may be; NULL past the end */
/* The name of the first field, of a design or not, in which they differ; NULL: they mean the same. */
const char *hd_case_differs(const hd_case *a, const hd_case *b);

hd_case hd_case_default(void);
/* The same for another design (hd_config_of). */
hd_case hd_case_of(const char *design);
/* HD_EINVAL names the word and the nearest names. */
hd_status hd_case_parse(const char *text, hd_case *c);
/* Whether the text, or hd_case_set, has set the field: "slots". */
bool hd_case_has(const hd_case *c, const char *field);
/* As if the text had ended in field=value. HD_EINVAL leaves the case as it was. */
hd_status hd_case_set(hd_case *c, const char *field, const char *value);
/* Always ends in NUL; returns the length it would need, as snprintf does. */
size_t hd_case_print(const hd_case *c, char *text, size_t bytes);
/* The table configuration the case describes; strings point into *c. */
hd_config hd_case_config(const hd_case *c);

#endif
