/* SPDX-License-Identifier: Apache-2.0
 *
 * cover.h - covering arrays over the space of a design's cases: few rows that together have every possible combination
 * of `strength` classes of different factors. A greedy search, one row at a time, in the manner of AETG (Cohen, Dalal,
 * Fredman, Patton, IEEE TSE 23, 1997): a row begins with a combination that is not covered yet, and each further factor
 * gets the class that covers most of the others. The same seed gives the same rows.
 */
#ifndef HD_JUDGE_COVER_H
#define HD_JUDGE_COVER_H

#include "judge/space.h"

typedef struct cover {
    const space *s;
    uint32_t strength;
    space_domain within;
    uint64_t core;
    uint64_t combinations, impossible, covered; /* possible ones: combinations - impossible */
    uint64_t rows, rows_room;
    space_domain *row;
    struct cover_map *map;
} cover;

/* strength: 2 or 3. within: classes that rows may have. core: the factors whose combinations are covered, a bit for
 * each; of the others a row has any class. HD_ENOMEM: no memory. */
hd_status cover_open(const space *s, const space_domain *within, uint64_t core, uint32_t strength, uint64_t seed,
                     cover *c);
void cover_close(cover *c);

#endif
