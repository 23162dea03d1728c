/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.h - the batch in the arguments of every kernel of a dictionary whose entries are words (ref/words/layout.h),
 * and how the families of operations become launches. All pointers are device memory.
 */
#ifndef GPU_BATCH_H
#define GPU_BATCH_H

#include "base/op.h"
#include "policies/hashes/hash.h"
#include "heddle.h"

typedef enum gpu_family {
    GPU_ITEMS,  /* all keyed operations, and mixed batches: an item's operation is a value */
    GPU_SWEEP,  /* erase_if, size, size_if  */
    GPU_EXPORT, /* export, export_if        */
    GPU_CLEAR,
    GPU_ALIKE,  /* as GPU_ITEMS, but all items of a batch have one operation */
    GPU_SORTED, /* as GPU_ITEMS, in the order of addresses: a row for itself, since it needs room to sort */
    GPU_OWNED   /* as GPU_SORTED, and a warp owns a part of the table, but not in batches of updaters, which overlap */
} gpu_family;

static inline bool gpu_family_sorts(uint32_t family) { return family == GPU_SORTED || family == GPU_OWNED; }
static inline bool gpu_family_has_items(uint32_t family)
{
    return family == GPU_ITEMS || family == GPU_ALIKE || gpu_family_sorts(family);
}

static inline gpu_family gpu_family_of(uint32_t op)
{
    switch (hd_op_family((hd_op)op)) {
    case HD_FAMILY_SWEEP:
    case HD_FAMILY_PROMOTE: return GPU_SWEEP;
    case HD_FAMILY_EXPORT: return GPU_EXPORT;
    case HD_FAMILY_CLEAR: return GPU_CLEAR;
    default: return GPU_ITEMS;
    }
}

enum {
    GPU_LISTS = 8192,     /* parts of a range that is listed, at most */
    GPU_LIST_LEAST = 512, /* items, or slots, of one                  */
    GPU_LIST_WORDS = GPU_LISTS + 2
};

/* What gpu_batch.pass says, of a list: how many each part of the range lists; or write them. */
enum { GPU_COUNTS, GPU_WRITES };

/* Whether such a batch, which is not mixed, may bring keys in. */
HD_FN bool gpu_op_inserts(uint32_t op) { return HD_OP_IN(op, HD_OPS_UPSERT); }

typedef struct gpu_batch {
    uint32_t op;        /* hd_op   */
    uint32_t elem;      /* hd_elem */
    uint32_t predicate; /* hd_predicate; all: where the operation has none */
    uint32_t pass;
    bool distinct; /* no key twice */
    uint64_t n;
    uint64_t first, last; /* this launch runs items, or slots, [first, last) */
    const uint8_t *each;  /* NULL: op is that of all items */
    const uint64_t *key;
    const uint8_t *value; /* (n, half / 8 bytes) */
    const uint8_t *flag;  /* NULL: HD_EITHER */
    uint64_t pred_arg[2];

    uint8_t *outcome;
    uint8_t *found;
    uint8_t *value_out;
    uint64_t *score_out; /* 0 where it is delivered */
    uint64_t *ptr;
    uint64_t *list_key, *list_score, *list_item, *count;
    uint8_t *list_value;
    uint64_t *tally; /* (HD_OUTCOME_COUNT): outcomes are added */
    /* (HD_OP_COUNT_): the operations of a mixed batch are added; NULL: the host counts them */
    uint64_t *op_tally;

    uint8_t *stage_flag; /* (window): which items of the launch list; NULL: slots are listed, or nothing */
    /* (GPU_LIST_WORDS): how many each part lists; then the list's length before a window, at its number modulo 2 */
    uint64_t *listed;
    uint32_t window; /* its number */
} gpu_batch;

#endif
