/* SPDX-License-Identifier: Apache-2.0
 *
 * op.c - the rows of the operations, and the names of everything that has a number.
 */
#include "lib/op.h"

#include "predicates/predicate.h"

static const hd_op_row rows[] = {
#define HD_ROW(number, name, role, needs, what) { #name, what, role, needs },
    HD_OP_ROWS(HD_ROW)
#undef HD_ROW
};
_Static_assert(sizeof rows / sizeof *rows == HD_OP_COUNT_, "every operation has its row");

const hd_op_row *hd_op_row_of(hd_op op) { return (unsigned)op < HD_OP_COUNT_ ? &rows[op] : NULL; }

uint32_t hd_predicate_of(const hd_batch *b) { return rows[b->op].needs & HD_NEEDS_PRED ? hd_predicate_named(b->pred) : (uint32_t)HD_PREDICATE_all; }

const char *hd_op_name(hd_op op) { return (unsigned)op < HD_OP_COUNT_ ? rows[op].name : "?"; }

const char *hd_outcome_name(hd_outcome o)
{
    static const char *const name[HD_OUTCOME_COUNT] = { "miss",    "hit",      "inserted", "updated", "evicted",
                                                        "refused", "reserved", "erased",   "pinned" };
    return (unsigned)o < HD_OUTCOME_COUNT ? name[o] : "?";
}

const char *hd_elem_name(hd_elem e)
{
    static const char *const name[HD_ELEM_COUNT] = { "f32", "f16", "bf16", "i32", "i64", "u64" };
    return (unsigned)e < HD_ELEM_COUNT ? name[e] : "?";
}

#define HD_TEXT(x) HD_TEXT_(x)
#define HD_TEXT_(x) #x

const char *hd_version(void) { return HD_TEXT(HD_VERSION_MAJOR) "." HD_TEXT(HD_VERSION_MINOR) "." HD_TEXT(HD_VERSION_PATCH); }
