/* SPDX-License-Identifier: Apache-2.0
 *
 * predicate.h - what erase_if, export_if and size_if can ask of an entry, and the list of it. As with
 * policies, a predicate is one header with one pure function and its row, and one line of registry.inc:
 *
 *     NAME_holds(key, score, value, value_bytes, a, b)    value may be NULL when value_bytes is 0
 *     HD_PREDICATE(name, "what it is", "its two arguments")
 */
#ifndef HD_PREDICATE_H
#define HD_PREDICATE_H

#include <string.h>

#include "base/named.h"
#include "base/op.h"
#include "simt/fn.h"

/* How a predicate reads byte p of a value: kernels, which may not dereference, say it their way. */
#ifndef HD_VALUE_BYTE
#define HD_VALUE_BYTE(p) (*(p))
#endif

#define HD_PREDICATE_TEXT
#define HD_PREDICATE(name, what, args)
#include "policies/predicates/registry.inc"
#undef HD_PREDICATE
#undef HD_PREDICATE_TEXT

typedef enum hd_predicate {
#define HD_PREDICATE(name, what, args) HD_PREDICATE_##name,
#include "policies/predicates/registry.inc"
#undef HD_PREDICATE
    HD_PREDICATE_COUNT,
    HD_PREDICATE_LOADED /* the first of those that a program loads from files (lib/loaded.h) */
} hd_predicate;

typedef struct hd_predicate_row {
    const char *name, *what, *args;
} hd_predicate_row;

typedef bool hd_predicate_text(uint64_t key, uint64_t score, const uint8_t *value, uint32_t value_bytes, uint64_t a,
                               uint64_t b);

/* A predicate of a file, which runs in this process alone. */
typedef struct hd_loaded_predicate {
    hd_predicate_row row;
    hd_predicate_text *holds;
} hd_loaded_predicate;

#ifdef __CUDACC__
HD_FN bool hd_loaded_holds(uint32_t predicate, uint64_t key, uint64_t score, const uint8_t *value, uint32_t value_bytes,
                           uint64_t a, uint64_t b)
{
    return (void)predicate, (void)key, (void)score, (void)value, (void)value_bytes, (void)a, (void)b, false;
}
#else
/* Kernel text of files finds it in the program that loads them (simt/host.map). */
__attribute__((visibility("default"))) bool hd_loaded_holds(uint32_t predicate, uint64_t key, uint64_t score,
                                                            const uint8_t *value, uint32_t value_bytes, uint64_t a,
                                                            uint64_t b);
#endif

HD_FN bool hd_predicate_holds(uint32_t predicate, uint64_t key, uint64_t score, const uint8_t *value,
                              uint32_t value_bytes, uint64_t a, uint64_t b)
{
    switch (predicate) { /* GCOVR_EXCL_BR_LINE: every number is a row's: hd_batch_check */
#define HD_PREDICATE(name, what, args) \
    case HD_PREDICATE_##name:          \
        return name##_holds(key, score, value, value_bytes, a, b);
#include "policies/predicates/registry.inc"
#undef HD_PREDICATE
    default: return hd_loaded_holds(predicate, key, score, value, value_bytes, a, b);
    }
}

static const hd_predicate_row hd_predicate_rows[] = {
#define HD_PREDICATE(name, what, args) { #name, what, args },
#include "policies/predicates/registry.inc"
#undef HD_PREDICATE
};

/* Row i of all, with those of files behind the others; NULL past the last. */
const hd_predicate_row *hd_predicate_at(size_t i);
size_t hd_predicate_count(void);

/* A predicate of a file: HD_EINVAL says why it cannot be added. */
hd_status hd_predicate_load(const hd_loaded_predicate *p);
void hd_predicate_forget(uint32_t n); /* the last n of them */
/* Its number; HD_PREDICATE_COUNT: there is none. */
uint32_t hd_loaded_predicate_named(const char *name);

/* The number of the row of that name; HD_PREDICATE_COUNT: there is none. */
static inline uint32_t hd_predicate_named(const char *name)
{
    uint32_t row = hd_named_row(hd_predicate_rows, sizeof *hd_predicate_rows, HD_PREDICATE_COUNT, name);
    return row < HD_PREDICATE_COUNT ? row : hd_loaded_predicate_named(name);
}

/* The number of the predicate of a checked batch; HD_PREDICATE_all where its operation takes none. */
static inline uint32_t hd_predicate_of(const hd_batch *b)
{
    return hd_row_of_batch(b)->needs & HD_NEEDS_PRED ? hd_predicate_named(b->pred) : (uint32_t)HD_PREDICATE_all;
}

#endif
