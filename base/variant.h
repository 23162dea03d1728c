/* SPDX-License-Identifier: Apache-2.0
 *
 * variant.h - a kernel variant as data: which families of operations it runs, by which entry points, how many lanes
 * work on an item, and how strictly its results can be judged. The file of a variant ends in such a table, and the
 * file compiles for the host machine and for CUDA alike: an entry point is the host machine's function in one and a
 * __global__ function in the other.
 */
#ifndef HD_VARIANT_H
#define HD_VARIANT_H

#include <string.h>

#include "heddle.h"

/* A kernel as the host machine runs it. */
typedef void hd_host_text(const void *args);

#ifdef __CUDACC__
/* What the CUDA runtime launches: a __global__ function, whatever its argument is. */
struct hd_kernel_entry {
    const void *address;
    hd_kernel_entry() : address(nullptr) {}
    template <class args> hd_kernel_entry(void (*entry)(args)) : address((const void *)entry) {}
};
#else
typedef hd_host_text *hd_kernel_entry;
#endif

/* How strictly a row can be judged. */
typedef enum hd_strict {
    HD_EXACT,  /* the result is the reference's to the byte                                                  */
    HD_ORDER,  /* the reference gives it for some order of the items, that of the tickets                    */
    HD_CHOICE, /* the same, but of two buckets with room the choice may be a moment old                      */
    HD_SET,    /* the same entries in every bucket at the end                                                */
    HD_SHAPE   /* the invariants hold, nothing is lost, and nothing else is touched                          */
} hd_strict;

/* How a variant runs one family of operations. */
typedef struct hd_variant_row {
    uint32_t family; /* the design's number */
    hd_kernel_entry entry;
    uint32_t lanes, threads;                  /* per item or slot, per block */
    const char *(*fits)(const hd_info *info); /* NULL when it runs on such a table, else why not */
    hd_strict strict;
    const char *what[2]; /* HD_WHAT; [1]: on a device. NULL after the last row */
} hd_variant_row;

/* "lookup: a thread per key", as heddle list shows it for each machine that runs the row. */
#define HD_WHAT(sentence)                    \
    {                                        \
        "host, " sentence, "cuda, " sentence \
    }

/* A kernel of a design has a number: that of its row among the rows of the variants, or, when batches of all variants
 * share it, one from HD_SHARED_KERNELS on. */
enum { HD_SHARED_KERNELS = 256 };

/* What ends an array of variants: a NULL, and before it room for those of files that a program loads (lib/loaded.h). */
enum { HD_LOADED_MOST = 16 };
#define HD_VARIANTS_END \
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL

enum { HD_VARIANT_ROWS = 10 /* and one that ends them, at most */ };

typedef struct hd_variant {
    const char *name;
    hd_variant_row row[HD_VARIANT_ROWS];
    const char *ran[HD_OP_COUNT_]; /* hd_batch.ran, by operation: "hkv.find.tlpv1" */
    const char *ran_mixed;         /* of a mixed batch; NULL: the design runs none */
    const char *formerly;          /* an old name, accepted for one release; NULL: none */
} hd_variant;

/* Row `row` of all rows of the variants, which a NULL ends: NULL past the last. *of: its variant. */
static inline const hd_variant_row *hd_variant_row_at(const hd_variant *const *all, uint32_t row, const hd_variant **of)
{
    for (; *all; all++) {
        const hd_variant_row *r = (*all)->row;
        for (*of = *all; r->what[0]; r++)
            if (row-- == 0) return r;
    }
    return NULL;
}

/* The same without its variant; and the variant's name, NULL past the last row. */
static inline const hd_variant_row *hd_variant_row_numbered(const hd_variant *const *all, uint32_t row)
{
    const hd_variant *of;
    return hd_variant_row_at(all, row, &of);
}
static inline const char *hd_variant_row_name(const hd_variant *const *all, uint32_t row)
{
    const hd_variant *of;
    return hd_variant_row_at(all, row, &of) ? of->name : NULL;
}

#ifndef __CUDACC__
/* A kernel of the host machine by number; NULL: there is none. all: the variants with their entry points; loaded: the
 * design's, with the same rows, and behind them those of files, which have their entry points. shared: the kernels from
 * HD_SHARED_KERNELS on, `n` of them. */
static inline hd_host_text *hd_variant_host_kernel(const hd_variant *const *all, const hd_variant *const *loaded,
                                                   hd_host_text *const *shared, uint32_t n, uint32_t kernel)
{
    const hd_variant_row *row = hd_variant_row_numbered(all, kernel);
    if (!row) row = hd_variant_row_numbered(loaded, kernel);
    if (kernel < HD_SHARED_KERNELS) return row ? row->entry : NULL;
    return kernel - HD_SHARED_KERNELS < n ? shared[kernel - HD_SHARED_KERNELS] : NULL;
}
#endif

static inline uint32_t hd_variant_row_count(const hd_variant *const *all)
{
    uint32_t n = 0;
    for (; *all; all++)
        for (const hd_variant_row *r = (*all)->row; r->what[0]; r++) n++;
    return n;
}

/* The row by which a variant runs a family; the number of rows when it does not. */
static inline uint32_t hd_variant_row_of(const hd_variant *const *all, const char *variant, uint32_t family)
{
    uint32_t row = 0;
    for (; *all; all++)
        for (const hd_variant_row *r = (*all)->row; r->what[0]; r++, row++)
            if (r->family == family && strcmp((*all)->name, variant) == 0) return row;
    return row;
}

/* Whether a row is the first of its variant: a loop over these visits every variant once. */
static inline bool hd_variant_is_first(const hd_variant *const *all, uint32_t row)
{
    const hd_variant *of = NULL;
    const hd_variant_row *r = hd_variant_row_at(all, row, &of);
    return r && r == of->row;
}

static inline bool hd_variant_is_named(const hd_variant *v, const char *name)
{
    return strcmp(v->name, name) == 0 || (v->formerly && strcmp(v->formerly, name) == 0);
}

/* The variant of that name, present or former; NULL: there is none. */
static inline const hd_variant *hd_variant_named(const hd_variant *const *all, const char *name)
{
    while (*all && !hd_variant_is_named(*all, name)) all++;
    return *all;
}

#endif
