/* SPDX-License-Identifier: Apache-2.0
 *
 * rule.h - what an operation does to a present key and to an absent one, and what an item gives to the policy.
 */
#ifndef HKV_RULE_H
#define HKV_RULE_H

#include "gpu/hkv/deliver.h"
#include "policies/policy.h"

/* The program of the policy; NULL: it has none. On CUDA a file of its own compiles the kernels for tables that have one
 * (kernels_expression.cu): running it would cost all others registers. Kernels work on a copy of their argument, which
 * is registers; the program is where it was. */
SIMT_FN const hd_program *hkv_program(const hkv_args *a)
{
#ifndef __CUDACC__
    return &a->v.program;
#elif HKV_EXPRESSIONS
    return a->program;
#else
    return (const hd_program *)0;
#endif
}

/* The policy's input for item i. */
SIMT_FN hd_score_in hkv_score_in(const hkv_args *a, uint64_t i)
{
    uint64_t given = 1;
    if (a->score) given = simt_ld_u64(a->score + i);
    uint64_t now = a->moment ? simt_ldrlx_u64(a->moment) : a->clock + i * a->per_item;
    return hd_score_in_of(given, now, hd_tick_at(now, a->opened), a->epoch);
}

/* What an operation does to a present key, and whether it inserts an absent one. */
typedef struct hkv_rule {
    uint32_t found;  /* present: the outcome              */
    uint32_t change; /* present: HKV_KEEP, HKV_REPLACE .. */
    bool rescore;    /* present: the score changes        */
    bool insert;     /* absent: the key is inserted       */
} hkv_rule;

SIMT_FN hkv_rule hkv_rule_of(const hkv_args *a, uint64_t i)
{
    hkv_rule r;
    uint32_t flag = HD_EITHER;
    r.found = HD_UPDATED;
    r.change = HKV_KEEP;
    r.rescore = true;
    r.insert = false;
    switch (a->op) {
    case HD_OP_TOUCH: r.found = HD_HIT; break;
    case HD_OP_ASSIGN: r.change = HKV_REPLACE; break;
    case HD_OP_ASSIGN_VALUES:
        r.change = HKV_REPLACE;
        r.rescore = false;
        break;
    case HD_OP_INSERT_OR_ASSIGN:
    case HD_OP_INSERT_AND_EVICT:
        r.change = HKV_REPLACE;
        r.insert = true;
        break;
    case HD_OP_FIND_OR_INSERT:
    case HD_OP_FIND_OR_INSERT_PTR:
        r.found = HD_HIT;
        r.insert = true;
        break;
    case HD_OP_ACCUM_OR_ASSIGN:
        if (a->flag) flag = simt_ld_u8(a->flag + i);
        r.insert = flag != HD_ADD;
        r.change = flag == HD_ASSIGN_NEW ? HKV_KEEP : HKV_ADD;
        r.rescore = flag != HD_ASSIGN_NEW;
        r.found = flag == HD_ASSIGN_NEW ? HD_HIT : HD_UPDATED;
        break;
    default: break;
    }
    return r;
}

#endif
