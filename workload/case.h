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

typedef struct hd_case {
    char design[16], op[32], kernel[32];   /* "hkv" "serve" "ref"                       */
    char backend[16];                      /* "": the first that has a kernel of that name */
    char policy[240], lock[16], keys[256]; /* "lru" "ordered" "zipf:0.99,4Mi"                 */
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
    uint64_t set;     /* which fields the text set, as bits: hd_case_has */
} hd_case;

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
