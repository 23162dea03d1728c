/* SPDX-License-Identifier: Apache-2.0
 *
 * op.h - the table of operations: the one place that says what each of them is, reads, writes and delivers. The judge
 * has a statement of its own (judge/rules.c), so that a mistake here is found. No code depends on the order of hd_op.
 */
#ifndef HD_OP_H
#define HD_OP_H

#include "base/assert.h"
#include "heddle.h"

/* Which batches may run together (HKV section 3.5, Table 4). */
typedef enum hd_role { HD_READER, HD_UPDATER, HD_INSERTER } hd_role;

/* Operations that one loop can run. */
typedef enum hd_family {
    HD_FAMILY_LOOKUP,
    HD_FAMILY_UPDATE,
    HD_FAMILY_UPSERT, /* those that insert a missing key */
    HD_FAMILY_PIN,
    HD_FAMILY_ERASE,
    HD_FAMILY_SWEEP, /* of every slot */
    HD_FAMILY_EXPORT,
    HD_FAMILY_CLEAR,
    HD_FAMILY_PROMOTE,
    HD_FAMILY_NEIGHBOUR, /* the entry before or after a key */
    HD_FAMILY_RANGE,     /* the entries between two keys */
    HD_FAMILY_ENDS,      /* the first or the last entry */
    HD_FAMILY_COUNT
} hd_family;

/* What an operation reads, writes, delivers and lists. */
enum {
    HD_NEEDS_KEY = 1,   /* a keyed operation: an outcome per item */
    HD_NEEDS_VALUE = 2, /* unless value_bytes is 0 */
    HD_NEEDS_PTR = 4,
    HD_NEEDS_PRED = 8,
    HD_NEEDS_COUNT = 16,
    HD_NEEDS_HOLDER = 32,
    HD_SCORES = 64,        /* rescores hits and scores what it inserts: a policy may need the caller's scores */
    HD_OF_SLOTS = 128,     /* start and n are slots */
    HD_WRITES_VALUE = 256, /* of an entry that is there */
    HD_GIVES_VALUE = 512,  /* value_out, of a hit */
    HD_GIVES_SCORE = 1024, /* score_out, of a hit */
    HD_GIVES_BOTH = HD_GIVES_VALUE | HD_GIVES_SCORE,
    HD_GIVES_PTR = 2048,      /* ptr, of a hit, and of what it inserts */
    HD_LISTS = 4096,          /* list_key, list_item and count */
    HD_MIXES = 8192,          /* may be an item of a mixed batch: no pointer, no list, no holder */
    HD_MAY_PIN = 16384,       /* with a holder: pins what it finds and what it inserts */
    HD_LISTS_ENTRIES = 32768, /* also list_value and list_score */
    HD_ORDERED = 65536,       /* of designs that keep keys in order */
    HD_NEEDS_KEY2 = 131072,
    HD_GIVES_KEY = 262144, /* key_out, of a hit; without a key of its own: of the only row */
    HD_GIVES_ROWS = 524288 /* rows and more; `limit` rows of key_out and value_out per item */
};

/* X(enumerator, name, one sentence, role, family, does, with) */
/* clang-format off */
#define HD_OP_ROWS_WITH(X, with) \
    X(FIND, find, "copy value and score out; scores are not touched",                                              \
      HD_READER, HD_FAMILY_LOOKUP, HD_NEEDS_KEY | HD_GIVES_BOTH | HD_MIXES, with)                                  \
    X(CONTAINS, contains, "say which keys are there",                                                              \
      HD_READER, HD_FAMILY_LOOKUP, HD_NEEDS_KEY | HD_MIXES, with)                                                  \
    X(FIND_PTR, find_ptr, "pointer to the value, valid until the next inserter",                                   \
      HD_READER, HD_FAMILY_LOOKUP, HD_NEEDS_KEY | HD_NEEDS_PTR | HD_GIVES_PTR | HD_GIVES_SCORE, with)              \
    X(FIND_MISSED, find_missed, "find, and list the keys that were missed",                                        \
      HD_READER, HD_FAMILY_LOOKUP, HD_NEEDS_KEY | HD_GIVES_BOTH | HD_LISTS, with)                                  \
    X(TOUCH, touch, "find, and rescore the hits by the policy",                                                    \
      HD_UPDATER, HD_FAMILY_UPDATE, HD_NEEDS_KEY | HD_SCORES | HD_GIVES_BOTH | HD_GIVES_PTR, with)                 \
    X(ASSIGN, assign, "replace value and score of existing entries",                                               \
      HD_UPDATER, HD_FAMILY_UPDATE, HD_NEEDS_KEY | HD_NEEDS_VALUE | HD_SCORES | HD_WRITES_VALUE | HD_MIXES, with)  \
    X(ASSIGN_VALUES, assign_values, "replace the value of existing entries",                                       \
      HD_UPDATER, HD_FAMILY_UPDATE, HD_NEEDS_KEY | HD_NEEDS_VALUE | HD_WRITES_VALUE | HD_MIXES, with)              \
    X(ASSIGN_SCORES, assign_scores, "rescore existing entries",                                                    \
      HD_UPDATER, HD_FAMILY_UPDATE, HD_NEEDS_KEY | HD_SCORES, with)                                                \
    X(ACCUM_OR_ASSIGN, accum_or_assign, "add to an existing value, or insert a missing one",                       \
      HD_INSERTER, HD_FAMILY_UPSERT, HD_NEEDS_KEY | HD_NEEDS_VALUE | HD_SCORES | HD_WRITES_VALUE | HD_MIXES, with) \
    X(INSERT_OR_ASSIGN, insert_or_assign, "upsert; a full bucket evicts or refuses",                               \
      HD_INSERTER, HD_FAMILY_UPSERT, HD_NEEDS_KEY | HD_NEEDS_VALUE | HD_SCORES | HD_WRITES_VALUE | HD_MIXES, with) \
    X(INSERT_AND_EVICT, insert_and_evict, "upsert, and list what was evicted and refused",                         \
      HD_INSERTER, HD_FAMILY_UPSERT, HD_NEEDS_KEY | HD_NEEDS_VALUE | HD_SCORES | HD_WRITES_VALUE | HD_LISTS |      \
      HD_LISTS_ENTRIES, with)                                                                                      \
    X(FIND_OR_INSERT, find_or_insert, "copy the value out, or insert the one given",                               \
      HD_INSERTER, HD_FAMILY_UPSERT, HD_NEEDS_KEY | HD_NEEDS_VALUE | HD_SCORES | HD_GIVES_BOTH | HD_MIXES |        \
      HD_MAY_PIN, with)                                                                                            \
    X(FIND_OR_INSERT_PTR, find_or_insert_ptr, "pointer to the value, of a new zeroed one if there was none",       \
      HD_INSERTER, HD_FAMILY_UPSERT, HD_NEEDS_KEY | HD_NEEDS_PTR | HD_SCORES | HD_GIVES_PTR | HD_MAY_PIN, with)    \
    X(LOCK_KEYS, lock_keys, "pin entries against eviction and change",                                             \
      HD_INSERTER, HD_FAMILY_PIN, HD_NEEDS_KEY | HD_NEEDS_HOLDER | HD_GIVES_PTR, with)                             \
    X(UNLOCK_KEYS, unlock_keys, "unpin entries that the holder pinned",                                            \
      HD_INSERTER, HD_FAMILY_PIN, HD_NEEDS_KEY | HD_NEEDS_HOLDER, with)                                            \
    X(ERASE, erase, "remove entries",                                                                              \
      HD_INSERTER, HD_FAMILY_ERASE, HD_NEEDS_KEY | HD_MIXES, with)                                                 \
    X(ERASE_IF, erase_if, "remove the entries that a predicate holds for",                                         \
      HD_INSERTER, HD_FAMILY_SWEEP, HD_NEEDS_PRED, with)                                                           \
    X(EXPORT, export, "list the entries of a range of slots",                                                      \
      HD_READER, HD_FAMILY_EXPORT, HD_OF_SLOTS | HD_LISTS | HD_LISTS_ENTRIES, with)                                   \
    X(EXPORT_IF, export_if, "those of them that a predicate holds for",                                            \
      HD_READER, HD_FAMILY_EXPORT, HD_OF_SLOTS | HD_NEEDS_PRED | HD_LISTS | HD_LISTS_ENTRIES, with)                   \
    X(SIZE, size, "count the entries",                                                                             \
      HD_READER, HD_FAMILY_SWEEP, HD_NEEDS_COUNT, with)                                                            \
    X(SIZE_IF, size_if, "count the entries that a predicate holds for",                                            \
      HD_READER, HD_FAMILY_SWEEP, HD_NEEDS_COUNT | HD_NEEDS_PRED, with)                                            \
    X(CLEAR, clear, "remove all entries and pins",                                                                 \
      HD_INSERTER, HD_FAMILY_CLEAR, 0, with)                                                                       \
    X(PROMOTE, promote, "bring the values of the best scores near",                                                \
      HD_INSERTER, HD_FAMILY_PROMOTE, HD_OF_SLOTS, with)                                                           \
    X(PREDECESSOR, predecessor, "the entry with the greatest key below a key, or also at it",                      \
      HD_READER, HD_FAMILY_NEIGHBOUR, HD_NEEDS_KEY | HD_ORDERED | HD_GIVES_KEY | HD_GIVES_VALUE, with)             \
    X(SUCCESSOR, successor, "the entry with the least key above a key, or also at it",                             \
      HD_READER, HD_FAMILY_NEIGHBOUR, HD_NEEDS_KEY | HD_ORDERED | HD_GIVES_KEY | HD_GIVES_VALUE, with)             \
    X(RANGE, range, "the first entries between two keys, in ascending order",                                      \
      HD_READER, HD_FAMILY_RANGE, HD_NEEDS_KEY | HD_NEEDS_KEY2 | HD_ORDERED | HD_GIVES_KEY | HD_GIVES_VALUE |      \
      HD_GIVES_ROWS, with)                                                                                         \
    X(MIN, min, "the entry with the least key",                                                                    \
      HD_READER, HD_FAMILY_ENDS, HD_NEEDS_COUNT | HD_ORDERED | HD_GIVES_KEY | HD_GIVES_VALUE, with)                \
    X(MAX, max, "the entry with the greatest key",                                                                 \
      HD_READER, HD_FAMILY_ENDS, HD_NEEDS_COUNT | HD_ORDERED | HD_GIVES_KEY | HD_GIVES_VALUE, with)
/* clang-format on */

/* X(enumerator, name, one sentence, role, family, does) */
#define HD_OP_ROW_PLAIN(number, name, what, role, family, does, X) X(number, name, what, role, family, does)
#define HD_OP_ROWS(X)                                              HD_OP_ROWS_WITH(HD_OP_ROW_PLAIN, X)

/* Sets of operations, a bit for each, for kernels too: those whose rows have the flag or are of the family. */
#define HD_OP_IF_DOES(number, name, what, role, family, does, flag) | ((does) & (flag) ? 1u << HD_OP_##number : 0u)
#define HD_OP_IF_IN(number, name, what, role, family, does, which)  | (family == (which) ? 1u << HD_OP_##number : 0u)
#define HD_OPS_THAT(flag)                                           (0u HD_OP_ROWS_WITH(HD_OP_IF_DOES, flag))
#define HD_OPS_OF(which)                                            (0u HD_OP_ROWS_WITH(HD_OP_IF_IN, which))

#define HD_OP_IN(op, set) ((set) >> (op)&1u)

/* The outcomes of items whose key was present when they took effect (hd_batch.found), a bit for each. In unlock_keys
 * MISS is one more, if the key is present and not pinned. */
enum { HD_OUTCOMES_FOUND = 1u << HD_HIT | 1u << HD_UPDATED | 1u << HD_ERASED | 1u << HD_PINNED };

enum {
    HD_OPS_LOOKUP = HD_OPS_OF(HD_FAMILY_LOOKUP),
    HD_OPS_UPSERT = HD_OPS_OF(HD_FAMILY_UPSERT),
    HD_OPS_NEED_VALUE = HD_OPS_THAT(HD_NEEDS_VALUE), /* they may store the value that is given */
    HD_OPS_GIVE_VALUE = HD_OPS_THAT(HD_GIVES_VALUE),
    HD_OPS_GIVE_SCORE = HD_OPS_THAT(HD_GIVES_SCORE),
    HD_OPS_GIVE_PTR = HD_OPS_THAT(HD_GIVES_PTR),
    HD_OPS_MIX = HD_OPS_THAT(HD_MIXES),
    HD_OPS_ORDERED = HD_OPS_THAT(HD_ORDERED),
    HD_OPS_PIN = HD_OPS_THAT(HD_NEEDS_HOLDER) | HD_OPS_THAT(HD_MAY_PIN) /* may change pins */
};

typedef struct hd_op_row {
    const char *name, *what;
    hd_role role;
    hd_family family;
    uint32_t needs; /* HD_NEEDS_KEY and so on */
} hd_op_row;

/* NULL for a number that is no operation. */
const hd_op_row *hd_op_row_of(hd_op op);
/* The same of a batch, mixed ones among them. */
const hd_op_row *hd_row_of_batch(const hd_batch *b);

/* Whether the operation does all that `flags` say. False for a number that is no operation. */
bool hd_op_does(hd_op op, uint32_t flags);
/* HD_FAMILY_COUNT for a number that is no operation. */
hd_family hd_op_family(hd_op op);

/* Whether an item with this outcome writes its row of the array that operations with the flag `gives` write:
 * HD_GIVES_VALUE, HD_GIVES_SCORE, HD_GIVES_PTR or HD_GIVES_KEY. (find_or_insert_ptr also writes NULL where it has no
 * pointer.) */
bool hd_op_writes_row(hd_op op, uint32_t gives, hd_outcome outcome);

static inline bool hd_op_is_keyed(const hd_op_row *row) { return row->needs & HD_NEEDS_KEY; }
/* Whether it delivers one number, of entries, which kernels add up. It begins as 0. */
static inline bool hd_op_adds_up(const hd_op_row *row)
{
    return row->family == HD_FAMILY_SWEEP || row->family == HD_FAMILY_PROMOTE;
}

/* How many items have an outcome. */
static inline uint64_t hd_tally_sum(const uint64_t *tally)
{
    uint64_t n = 0;
    for (int o = 0; o < HD_OUTCOME_COUNT; o++) n += tally[o];
    return n;
}

/* Rows of key_out and value_out that each item of the batch has. */
static inline uint64_t hd_batch_rows(const hd_batch *b)
{
    return !b->each && hd_op_does(b->op, HD_GIVES_ROWS) ? b->limit : 1;
}

/* Whether given scores are stored as they are (hd_batch.raw_scores). */
static inline bool hd_batch_is_raw(const hd_batch *b)
{
    return b->raw_scores && !b->each && hd_op_does(b->op, HD_SCORES);
}

/* The role of the batch, whose operation is there. A batch with raw scores runs alone: others that run meanwhile may
 * rely on what scores of their policy tell them. */
static inline hd_role hd_role_of_batch(const hd_batch *b)
{
    return hd_batch_is_raw(b) ? HD_INSERTER : hd_row_of_batch(b)->role;
}

#endif
