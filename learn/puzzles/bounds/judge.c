/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c - puzzle "bounds": buckets whose bounds are exact, too low in some groups, or 0.
 */
#include "learn/puzzles/bounds/given.h"
#include "learn/puzzles/puzzle.h"

enum { BUCKETS = 4 };

static uint64_t least_of(const uint64_t *group)
{
    uint64_t least = group[0];
    for (uint32_t s = 1; s < GROUP; s++) least = group[s] < least ? group[s] : least;
    return least;
}

/* A score or bound; in wide examples in the same order, and some that differ agree in their high halves. */
static uint64_t score_of(const puzzle_bed *b, uint64_t low, uint32_t rest)
{
    return b->example ? low / 10 << 32 | low % 10 << 28 | rest : low;
}

/* Bucket 0: exact bounds. 1: the lowest two are too low. 2: one is 0. 3: the group with the least score comes last. */
static void deal(puzzle_bed *b)
{
    static const uint64_t low[BUCKETS][GROUPS] = { { 40, 15, 70, 22, 90, 35, 60, 55 },
                                                   { 44, 31, 70, 25, 95, 35, 61, 55 },
                                                   { 80, 61, 62, 63, 64, 65, 66, 67 },
                                                   { 30, 28, 29, 90, 90, 90, 90, 27 } };
    uint32_t n = b->example ? BUCKETS : 1;
    uint64_t *scores = (uint64_t *)bed_input(b, "buckets", "slot", "scores", 8, n * SLOTS);
    uint64_t *bounds = (uint64_t *)bed_array(b, "bounds", "group", "bounds", 8, n * GROUPS);
    uint32_t *victim = (uint32_t *)bed_array(b, "tiles", "tile", "victim", 4, n);
    for (uint32_t i = 0; i < n * GROUPS; i++) {
        uint64_t *of = scores + (size_t)i * GROUP, least = low[b->example ? i / GROUPS : 1][i % GROUPS];
        for (uint32_t s = 0; s < GROUP; s++) of[s] = score_of(b, least + 1 + bed_below(b, 60), bed_below(b, 1 << 28));
        of[bed_below(b, GROUP)] = score_of(b, least, bed_below(b, 1 << 28));
        bounds[i] = least_of(of);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = b->example ? i : 1;
        uint64_t *of = bounds + (size_t)i * GROUPS;
        if (row == 1) of[1] = score_of(b, 15, 0), of[3] = score_of(b, 22, 0);
        if (row == 2) of[0] = 0;
        if (row == 3) of[0] = score_of(b, 20, 0), of[2] = score_of(b, 21, 0);
        victim[i] = 777;
    }
    bounds_args a = { scores, bounds, victim, n };
    bed_launch(b, &a, sizeof a, 1, (n + b->example) * 8, n);
}

static const char *check(puzzle_bed *b)
{
    const bounds_args *a = (const bounds_args *)(const void *)b->args;
    for (uint32_t i = 0; i < a->n; i++) {
        const uint64_t *score = a->scores + (size_t)i * SLOTS;
        uint32_t least = 0;
        for (uint32_t s = 1; s < SLOTS; s++)
            if (score[s] < score[least]) least = s;
        if (a->victim[i] >= SLOTS || score[a->victim[i]] != score[least])
            return bed_wrong(b, "not least", "bucket %u: slot %u has the least score; victim[%u] is %u", i, least, i,
                             a->victim[i]);
    }
    for (uint32_t i = 0; i < a->n * GROUPS; i++)
        if (a->bounds[i] > least_of(a->scores + (size_t)i * GROUP))
            return bed_wrong(b, "too high", "bucket %u, group %u: the bound is %llu, and the least score is %llu",
                             i / GROUPS, i % GROUPS, (unsigned long long)a->bounds[i],
                             (unsigned long long)least_of(a->scores + (size_t)i * GROUP));
    return NULL;
}

static const puzzle_idea idea[] = {
    { "not least", "Another slot has the least score. A bound may be too low: what a group really has is known after "
                   "reading it, and then another group may have the lowest bound. Scores have 64 bits. Slot s of group "
                   "g is 8 * g + s." },
    { "endless",
      "The search reads the same group again and again. Raise its bound to the least score that it has; then "
      "another group is next." },
    { "too high", "A bound is above a score of its group: the next search would skip the group and miss it. Raise a "
                  "bound to the least score of the group, never above, in all 64 bits." },
    { "lane left", "All lanes of the tile must leave the loop in the same round: decide by what all of them know." },
    { "cost",
      "The kernel reads too many groups. Skip those whose bound is not below the least score found so far: begin "
      "with the lowest bound." },
    { NULL, NULL },
};

const puzzle puzzle_bounds = {
    "bounds", "lower bounds: skip groups", "bounds", 2, deal, check, idea, PUZZLE_SECTORS, NULL, 7.75, 12
};
