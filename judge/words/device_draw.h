/* SPDX-License-Identifier: Apache-2.0
 *
 * device_draw.h - the operations of random batches of dictionaries.
 */
#ifndef SOAK_WORDS_DRAW_H
#define SOAK_WORDS_DRAW_H

#include "judge/device/answers.h"

/* Shares of the operations of a mixed batch, up to 2^16 in all. */
struct shares {
    enum : uint32_t { OPS = 8, ALL = 1 << 16 };
    uint32_t up_to[OPS];
    static BOTH hd_op op_at(uint32_t n)
    {
        switch (n) {
        case 0: return HD_OP_INSERT_OR_ASSIGN;
        case 1: return HD_OP_FIND_OR_INSERT;
        case 2: return HD_OP_ACCUM_OR_ASSIGN;
        case 3: return HD_OP_FIND;
        case 4: return HD_OP_CONTAINS;
        case 5: return HD_OP_ASSIGN;
        case 6: return HD_OP_ASSIGN_VALUES;
        default: return HD_OP_ERASE;
        }
    }
    BOTH hd_op op_of(uint64_t random) const
    {
        uint32_t n = 0, at = (uint32_t)(random % ALL);
        while (n + 1 < OPS && at >= up_to[n]) n++;
        return op_at(n);
    }
};

/* Random weights; sums: values can be added. */
static inline void draw_weights(dice &d, bool sums, double weight[shares::OPS])
{
    static const uint64_t often[shares::OPS] = { 16, 6, 4, 12, 4, 4, 4, 8 };
    for (uint32_t n = 0; n < shares::OPS; n++) weight[n] = (double)d.below(1 + often[n] * often[d.below(shares::OPS)]);
    weight[0] += 1;
    if (!sums) weight[2] = 0;
}

static inline shares shares_of(const double weight[shares::OPS])
{
    shares m;
    double all = 0, sum = 0;
    for (uint32_t n = 0; n < shares::OPS; n++) all += weight[n];
    for (uint32_t n = 0; n < shares::OPS; n++) m.up_to[n] = (uint32_t)((sum += weight[n]) / all * (double)shares::ALL);
    return m;
}

/* The weight of erase with which each item of a batch inserts `net` entries on average, when a share `there` of its
 * keys is present. */
static inline double erases_for(const double weight[shares::OPS], bool sums_insert, double there, double net)
{
    double inserts = weight[0] + weight[1] + (sums_insert ? weight[2] : 0),
           others = inserts + weight[3] + weight[4] + weight[5] + weight[6];
    if (!sums_insert) others += weight[2];
    double wanted = (inserts * (1 - there) - net * others) / (there + net);
    return wanted < 0 ? 0 : wanted > 4 * others ? 4 * others : wanted;
}

#endif
