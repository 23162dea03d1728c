/* SPDX-License-Identifier: Apache-2.0
 *
 * rule.h - what each keyed operation does, whatever the design: to a key that is there, and whether it brings in one
 * that is not.
 */
#ifndef HD_RULE_H
#define HD_RULE_H

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

/* accum_or_assign narrows its rule by the item's flag (hd_accum): what does not apply changes nothing. */
hd_rule hd_rule_of(hd_op op, uint32_t flag);

#endif
