/* SPDX-License-Identifier: Apache-2.0
 *
 * param.h - the fields of hd_config as rows. What every table has is listed in param.c. A design lists the fields of
 * its own struct in hd_config (hd_design.params), and no design sees another's. lib/params.h has them all. From the
 * rows come the usual values, the checks at open, the words of case strings, `heddle list parameters`, hd_config_set,
 * the fields of snapshots and what the fuzzers draw.
 */
#ifndef HD_PARAM_H
#define HD_PARAM_H

#include <stddef.h>

#include "heddle.h"

typedef enum hd_param_type {
    HD_PARAM_BOOL,
    HD_PARAM_U32,
    HD_PARAM_U64,
    HD_PARAM_ENUM, /* an int; its names stand in the order of its values    */
    HD_PARAM_TEXT, /* an array of char that ends in NUL                      */
    HD_PARAM_NAME  /* const char *, a row of a registry or any static string */
} hd_param_type;

/* Where a snapshot's header (lib/snapshot.h) has a field. */
typedef enum hd_param_saved {
    HD_SAVED_NOT,
    HD_SAVED_FLAG, /* bit saved_at of `flags`: the value is 0 or 1 */
    HD_SAVED_U32,  /* at byte saved_at */
    HD_SAVED_TEXT  /* at byte saved_at, padded with zeros; empty: the usual text */
} hd_param_saved;

typedef struct hd_param {
    const char *name; /* of the field, and of the word in a case string */
    hd_param_type type;
    size_t at, bytes;          /* in the design's struct; of a common field, in hd_config */
    uint64_t least, most;      /* of a number */
    uint64_t usual;            /* of a number, bool or enum */
    const char *text;          /* the usual text; NULL: a name that need not be there */
    const char *const *values; /* of an enum: its names, and NULL */
    const char *what;
    const char *label; /* `heddle inspect` says the value in words beside it. NULL: a number, beside the name */
    const char *alias; /* an earlier word of case strings, or NULL */
    bool places;       /* where entries are depends on it: a snapshot of another value is inserted anew */
    bool learns;       /* of any value but 0: where keys belong follows from those of a snapshot (hd_backend.learn) */
    hd_param_saved saved;
    uint32_t saved_at;
    bool in_files; /* a common field that every snapshot has */
} hd_param;

#define HD_PARAM_AT(type, field) .at = offsetof(type, field), .bytes = sizeof(((type *)0)->field)

/* The fields of one struct, and where that is. */
typedef struct hd_params {
    const char *design; /* NULL: common to all */
    const hd_param *row;
    size_t count;
    size_t config_at, info_at, bytes; /* the struct's, in hd_config and hd_info */
} hd_params;

extern const hd_params hd_params_common;

/* In the next three `in` is the struct that the row is of. */
/* HD_EINVAL names the field. */
hd_status hd_param_set(const hd_param *p, void *in, const char *text);
hd_status hd_param_check(const hd_param *p, const void *in);
/* As hd_param_set reads it; returns the length that it would need, as snprintf does. */
size_t hd_param_print(const hd_param *p, const void *in, char *text, size_t bytes);
void hd_param_reset(const hd_param *p, void *in);
bool hd_param_in_files(const hd_param *p); /* a snapshot has the field, so it decides it */
bool hd_param_same(const hd_param *p, const void *a, const void *b);
bool hd_param_unused(const hd_param *p, const void *in);     /* 0, "", or what is usual */
uint64_t hd_param_number(const hd_param *p, const void *in); /* of all but text and names */
void hd_param_number_set(const hd_param *p, void *in, uint64_t v);

static inline void *hd_params_in(const hd_params *s, hd_config *c) { return (char *)c + s->config_at; }
static inline const void *hd_params_of(const hd_params *s, const hd_config *c)
{
    return (const char *)c + s->config_at;
}

static inline void *hd_params_in_info(const hd_params *s, hd_info *info)
{
    return s ? (char *)info + s->info_at : (char *)info;
}
static inline const void *hd_params_of_table(const hd_params *s, const hd_info *info)
{
    return s ? (const char *)info + s->info_at : (const char *)info;
}

/* A design's own fields between a configuration and what a table says of itself. */
void hd_params_to_info(const hd_params *own, const hd_config *c, hd_info *info);
void hd_params_of_info(const hd_params *own, const hd_info *info, hd_config *c);
/* Value n of each field of a table that has names; n may be any. */
void hd_params_set_named(const hd_params *own, uint64_t n, hd_info *info);

#endif
