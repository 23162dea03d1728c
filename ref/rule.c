/* SPDX-License-Identifier: Apache-2.0
 *
 * rule.c - the rows of rule.h.
 */
#include "ref/rule.h"

static const hd_rule rules[] = {
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

hd_rule hd_rule_of(hd_op op, uint32_t flag)
{
    hd_rule r = rules[op];
    if (op == HD_OP_ACCUM_OR_ASSIGN && flag == HD_ADD) r.insert = false;
    if (op == HD_OP_ACCUM_OR_ASSIGN && flag == HD_ASSIGN_NEW) {
        r.found = HD_HIT;
        r.value = HD_KEEP_VALUE;
        r.rescore = false;
    }
    return r;
}
