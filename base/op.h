/* SPDX-License-Identifier: Apache-2.0
 *
 * op.h - the operations as rows: name, role, what a batch of it must bring.
 */
#ifndef HD_OP_H
#define HD_OP_H

#include "heddle.h"

/* Who may run together (HKV section 3.5, Table 4). */
typedef enum hd_role { HD_READER, HD_UPDATER, HD_INSERTER } hd_role;

enum {
    HD_NEEDS_KEY = 1,
    HD_NEEDS_VALUE = 2, /* unless value_bytes is 0 */
    HD_NEEDS_PTR = 4,
    HD_NEEDS_PRED = 8,
    HD_NEEDS_COUNT = 16,
    HD_NEEDS_HOLDER = 32,
    HD_SCORES = 64, /* makes scores: a policy may need the caller's */
    HD_RANGE = 128  /* start and n are slots */
};

/* X(enumerator, name, role, needs, one sentence, with) */
#define HD_OP_ROWS_WITH(X, with)                                                                                     \
    X(FIND, find, HD_READER, HD_NEEDS_KEY, "copy value and score out; scores are not touched", with)                 \
    X(CONTAINS, contains, HD_READER, HD_NEEDS_KEY, "say which keys are there", with)                                 \
    X(FIND_PTR, find_ptr, HD_READER, HD_NEEDS_KEY | HD_NEEDS_PTR,                                                    \
      "pointer to the value, valid until the next inserter", with)                                                   \
    X(FIND_MISSED, find_missed, HD_READER, HD_NEEDS_KEY, "find, and list the keys that were missed", with)           \
    X(TOUCH, touch, HD_UPDATER, HD_NEEDS_KEY | HD_SCORES, "find, and rescore the hits by the policy", with)          \
    X(ASSIGN, assign, HD_UPDATER, HD_NEEDS_KEY | HD_NEEDS_VALUE | HD_SCORES,                                         \
      "replace value and score of existing entries", with)                                                           \
    X(ASSIGN_VALUES, assign_values, HD_UPDATER, HD_NEEDS_KEY | HD_NEEDS_VALUE,                                       \
      "replace the value of existing entries", with)                                                                 \
    X(ASSIGN_SCORES, assign_scores, HD_UPDATER, HD_NEEDS_KEY | HD_SCORES, "rescore existing entries", with)          \
    X(ACCUM_OR_ASSIGN, accum_or_assign, HD_INSERTER, HD_NEEDS_KEY | HD_NEEDS_VALUE | HD_SCORES,                      \
      "add to an existing value, or insert a missing one", with)                                                     \
    X(INSERT_OR_ASSIGN, insert_or_assign, HD_INSERTER, HD_NEEDS_KEY | HD_NEEDS_VALUE | HD_SCORES,                    \
      "upsert; a full bucket evicts or refuses", with)                                                               \
    X(INSERT_AND_EVICT, insert_and_evict, HD_INSERTER, HD_NEEDS_KEY | HD_NEEDS_VALUE | HD_SCORES,                    \
      "upsert, and list what was evicted and refused", with)                                                         \
    X(FIND_OR_INSERT, find_or_insert, HD_INSERTER, HD_NEEDS_KEY | HD_NEEDS_VALUE | HD_SCORES,                        \
      "copy the value out, or insert the one given", with)                                                           \
    X(FIND_OR_INSERT_PTR, find_or_insert_ptr, HD_INSERTER, HD_NEEDS_KEY | HD_NEEDS_PTR | HD_SCORES,                  \
      "pointer to the value, of a new zeroed one if there was none", with)                                           \
    X(LOCK_KEYS, lock_keys, HD_INSERTER, HD_NEEDS_KEY | HD_NEEDS_HOLDER, "pin entries against eviction and change",  \
      with)                                                                                                          \
    X(UNLOCK_KEYS, unlock_keys, HD_INSERTER, HD_NEEDS_KEY | HD_NEEDS_HOLDER, "unpin entries that the holder pinned", \
      with)                                                                                                          \
    X(ERASE, erase, HD_INSERTER, HD_NEEDS_KEY, "remove entries", with)                                               \
    X(ERASE_IF, erase_if, HD_INSERTER, HD_NEEDS_PRED, "remove the entries that a predicate holds for", with)         \
    X(EXPORT, export, HD_READER, HD_RANGE, "list the entries of a range of slots", with)                             \
    X(EXPORT_IF, export_if, HD_READER, HD_RANGE | HD_NEEDS_PRED, "those of them that a predicate holds for", with)   \
    X(SIZE, size, HD_READER, HD_NEEDS_COUNT, "count the entries", with)                                              \
    X(SIZE_IF, size_if, HD_READER, HD_NEEDS_COUNT | HD_NEEDS_PRED, "count the entries that a predicate holds for",   \
      with)                                                                                                          \
    X(CLEAR, clear, HD_INSERTER, 0, "remove all entries and pins", with)                                             \
    X(PROMOTE, promote, HD_INSERTER, HD_RANGE, "bring the values of the best scores near", with)

/* X(enumerator, name, role, needs, one sentence) */
#define HD_OP_ROW_PLAIN(number, name, role, needs, what, X) X(number, name, role, needs, what)
#define HD_OP_ROWS(X)                                       HD_OP_ROWS_WITH(HD_OP_ROW_PLAIN, X)

typedef struct hd_op_row {
    const char *name, *what;
    hd_role role;
    uint32_t needs;
} hd_op_row;

/* NULL for a number that is no operation. */
const hd_op_row *hd_op_row_of(hd_op op);
/* The same of a batch, mixed ones among them. */
const hd_op_row *hd_row_of_batch(const hd_batch *b);

/* Whether an item of a mixed batch may be it: what delivers no pointer and no list, and needs no holder. */
bool hd_op_mixes(hd_op op);

static inline bool hd_op_is_keyed(const hd_op_row *row) { return row->needs & HD_NEEDS_KEY; }

#endif
