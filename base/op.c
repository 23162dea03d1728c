/* SPDX-License-Identifier: Apache-2.0
 *
 * op.c - the table of operations, and the names of everything that has a number.
 */
#include "base/op.h"

static const hd_op_row rows[HD_OP_COUNT_] = {
#define HD_ROW(number, name, what, role, family, does) [HD_OP_##number] = { #name, what, role, family, does },
    HD_OP_ROWS(HD_ROW)
#undef HD_ROW
};
#define HD_ONE(number, name, what, role, family, does) +1
_Static_assert(0 HD_OP_ROWS(HD_ONE) == HD_OP_COUNT_, "every operation has its row");

/* The strongest role, and what any of its items needs: an item that needs less leaves its arrays unread. */
static const hd_op_row mixed = { "mixed", "each item its own operation", HD_INSERTER, HD_FAMILY_COUNT,
                                 HD_NEEDS_KEY | HD_NEEDS_VALUE };

const hd_op_row *hd_row_of_batch(const hd_batch *b) { return b->each ? &mixed : hd_op_row_of(b->op); }

bool hd_op_does(hd_op op, uint32_t flags)
{
    const hd_op_row *row = hd_op_row_of(op);
    return row && (row->needs & flags) == flags;
}

hd_family hd_op_family(hd_op op)
{
    const hd_op_row *row = hd_op_row_of(op);
    return row ? row->family : HD_FAMILY_COUNT;
}

bool hd_op_writes_row(hd_op op, uint32_t gives, hd_outcome outcome)
{
    const uint32_t found = 1u << HD_HIT | 1u << HD_PINNED, placed = 1u << HD_INSERTED | 1u << HD_EVICTED;
    HD_ASSERT((unsigned)outcome < HD_OUTCOME_COUNT, "an item has no outcome");
    if (!hd_op_does(op, gives)) return false;
    return ((gives == HD_GIVES_PTR ? found | placed : found) >> outcome & 1) != 0;
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
    static const char *const name[HD_ELEM_COUNT] = {
        "f32", "f16", "bf16", "i32", "i64", "u64", "f64", "i8", "u8", "i16"
    };
    return (unsigned)e < HD_ELEM_COUNT ? name[e] : "?";
}

#define HD_TEXT(x)  HD_TEXT_(x)
#define HD_TEXT_(x) #x

const char *hd_version(void)
{
    return HD_TEXT(HD_VERSION_MAJOR) "." HD_TEXT(HD_VERSION_MINOR) "." HD_TEXT(HD_VERSION_PATCH);
}
