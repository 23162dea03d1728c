/* SPDX-License-Identifier: Apache-2.0
 *
 * rule.c - the rows of rule.h.
 */
#include "ref/rule.h"

const hd_rule hd_rules[HD_OP_COUNT_] = {
    [HD_OP_FIND] = { HD_HIT, HD_KEEP_VALUE, false, HD_NOTHING, false },
    [HD_OP_CONTAINS] = { HD_HIT, HD_KEEP_VALUE, false, HD_NOTHING, false },
    [HD_OP_FIND_PTR] = { HD_HIT, HD_KEEP_VALUE, false, HD_NOTHING, false },
    [HD_OP_FIND_MISSED] = { HD_HIT, HD_KEEP_VALUE, false, HD_NOTHING, false },
    [HD_OP_TOUCH] = { HD_HIT, HD_KEEP_VALUE, true, HD_NOTHING, false },
    [HD_OP_ASSIGN] = { HD_UPDATED, HD_REPLACE_VALUE, true, HD_NOTHING, false },
    [HD_OP_ASSIGN_VALUES] = { HD_UPDATED, HD_REPLACE_VALUE, false, HD_NOTHING, false },
    [HD_OP_ASSIGN_SCORES] = { HD_UPDATED, HD_KEEP_VALUE, true, HD_NOTHING, false },
    [HD_OP_ACCUM_OR_ASSIGN] = { HD_UPDATED, HD_ADD_VALUE, true, HD_NOTHING, true },
    [HD_OP_INSERT_OR_ASSIGN] = { HD_UPDATED, HD_REPLACE_VALUE, true, HD_NOTHING, true },
    [HD_OP_INSERT_AND_EVICT] = { HD_UPDATED, HD_REPLACE_VALUE, true, HD_NOTHING, true },
    [HD_OP_FIND_OR_INSERT] = { HD_HIT, HD_KEEP_VALUE, true, HD_NOTHING, true },
    [HD_OP_FIND_OR_INSERT_PTR] = { HD_HIT, HD_KEEP_VALUE, true, HD_NOTHING, true },
    [HD_OP_LOCK_KEYS] = { HD_HIT, HD_KEEP_VALUE, false, HD_PIN, false },
    [HD_OP_UNLOCK_KEYS] = { HD_HIT, HD_KEEP_VALUE, false, HD_UNPIN, false },
    [HD_OP_ERASE] = { HD_ERASED, HD_KEEP_VALUE, false, HD_REMOVE, false },
};

const hd_rule hd_rule_add = { HD_UPDATED, HD_ADD_VALUE, true, HD_NOTHING, false };
const hd_rule hd_rule_assign_new = { HD_HIT, HD_KEEP_VALUE, false, HD_NOTHING, true };
