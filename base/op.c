/* SPDX-License-Identifier: Apache-2.0
 *
 * op.c - the rows of the operations, and the names of everything that has a number.
 */
#include "base/op.h"

static const hd_op_row rows[] = {
#define HD_ROW(number, name, role, needs, what) { #name, what, role, needs },
    HD_OP_ROWS(HD_ROW)
#undef HD_ROW
};
_Static_assert(sizeof rows / sizeof *rows == HD_OP_COUNT_, "every operation has its row");

/* Who brings nothing in may stand beside who does: the strongest role, and what any of them needs. */
static const hd_op_row mixed = { "mixed", "each item its own operation", HD_INSERTER, HD_NEEDS_KEY | HD_NEEDS_VALUE };

const hd_op_row *hd_row_of_batch(const hd_batch *b) { return b->each ? &mixed : hd_op_row_of(b->op); }

bool hd_op_mixes(hd_op op)
{
    switch ((int)op) {
    case HD_OP_FIND:
    case HD_OP_CONTAINS:
    case HD_OP_ASSIGN:
    case HD_OP_ASSIGN_VALUES:
    case HD_OP_ACCUM_OR_ASSIGN:
    case HD_OP_INSERT_OR_ASSIGN:
    case HD_OP_FIND_OR_INSERT:
    case HD_OP_ERASE: return true;
    default: return false;
    }
}

const hd_op_row *hd_op_row_of(hd_op op) { return (unsigned)op < HD_OP_COUNT_ ? &rows[op] : NULL; }

const char *hd_op_name(hd_op op) { return (unsigned)op < HD_OP_COUNT_ ? rows[op].name : "?"; }

const char *hd_outcome_name(hd_outcome o)
{
    static const char *const name[HD_OUTCOME_COUNT] = { "miss",    "hit",      "inserted", "updated", "evicted",
                                                        "refused", "reserved", "erased",   "pinned",  "pending" };
    return (unsigned)o < HD_OUTCOME_COUNT ? name[o] : "?";
}

const char *hd_elem_name(hd_elem e)
{
    static const char *const name[HD_ELEM_COUNT] = { "f32", "f16", "bf16", "i32", "i64", "u64" };
    return (unsigned)e < HD_ELEM_COUNT ? name[e] : "?";
}

#define HD_TEXT(x)  HD_TEXT_(x)
#define HD_TEXT_(x) #x

const char *hd_version(void)
{
    return HD_TEXT(HD_VERSION_MAJOR) "." HD_TEXT(HD_VERSION_MINOR) "." HD_TEXT(HD_VERSION_PATCH);
}
