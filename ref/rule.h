/* SPDX-License-Identifier: Apache-2.0
 *
 * rule.h - what each keyed operation does, whatever the design: to a key that is there, and whether it brings in one
 * that is not.
 */
#ifndef HD_RULE_H
#define HD_RULE_H

#include "base/assert.h"
#include "heddle.h"

typedef enum hd_value_change { HD_KEEP_VALUE, HD_REPLACE_VALUE, HD_ADD_VALUE } hd_value_change;
typedef enum hd_other_change { HD_NOTHING, HD_PIN, HD_UNPIN, HD_REMOVE } hd_other_change;

typedef struct hd_rule {
    hd_outcome found;        /* its outcome when the key is there       */
    hd_value_change value;   /* what becomes of the value then          */
    bool rescore;            /* and whether the score is made anew      */
    hd_other_change besides; /* and what else                           */
    bool insert;             /* a missing key is inserted               */
} hd_rule;

extern const hd_rule hd_rules[HD_OP_COUNT_]; /* of keyed operations */
extern const hd_rule hd_rule_add, hd_rule_assign_new;

/* Whether the flag of an item of accum_or_assign is no hd_accum. The item is RESERVED. */
static inline bool hd_flag_is_none(hd_op op, uint32_t flag) { return op == HD_OP_ACCUM_OR_ASSIGN && flag > HD_EITHER; }

/* accum_or_assign narrows its rule by the item's flag (hd_accum): what does not apply changes nothing. */
static inline const hd_rule *hd_rule_of(hd_op op, uint32_t flag)
{
    if (op == HD_OP_ACCUM_OR_ASSIGN && flag == HD_ADD) return &hd_rule_add;
    if (op == HD_OP_ACCUM_OR_ASSIGN && flag == HD_ASSIGN_NEW) return &hd_rule_assign_new;
    HD_ASSERT((unsigned)op < HD_OP_COUNT_);
    return &hd_rules[op];
}

#endif
