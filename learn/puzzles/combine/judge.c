/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c - puzzle "combine": hits of one warp, and of two at the same time; most hits are of one slot.
 */
#include "learn/puzzles/combine/given.h"
#include "learn/puzzles/puzzle.h"

enum { SLOTS = 6 };

static void deal(puzzle_bed *b)
{
    uint32_t n = b->example ? 50 : 40;
    uint32_t *slot = (uint32_t *)bed_input(b, "hits", "hit", "slot", 4, n);
    uint32_t *count = (uint32_t *)bed_array(b, "counters", "slot", "count", 4, SLOTS);
    uint32_t hot = 1 + bed_below(b, SLOTS - 1), warm = bed_below(b, SLOTS);
    for (uint32_t i = 0; i < n; i++) slot[i] = bed_below(b, 4) ? hot : bed_below(b, 2) ? warm : 0;
    slot[n - 1] = 0; /* beside lanes without a hit */
    for (uint32_t s = 0; s < SLOTS; s++) count[s] = bed_below(b, 1000);
    combine_args a = { slot, count, n };
    bed_launch(b, &a, sizeof a, 2, 32, n);
}

static const char *check(puzzle_bed *b)
{
    const combine_args *a = (const combine_args *)(const void *)b->args;
    for (uint32_t s = 0; s < SLOTS; s++) {
        uint32_t count = ((const uint32_t *)bed_before(b, a->count))[s];
        for (uint32_t i = 0; i < a->n; i++) count += a->slot[i] == s;
        if (a->count[s] != count)
            return bed_wrong(b, a->count[s] < count ? "too few" : "too many", "count[%u] is %u; it should be %u", s,
                             a->count[s], count);
    }
    return NULL;
}

static const puzzle_idea idea[] = {
    { "too few", "Hits are missing. A lane of every set of equal slots adds how many lanes the set has, in one step: "
                 "other warps add to the same counter." },
    { "too many", "Hits are counted more than once. Only one lane of each set of equal slots adds for all of them." },
    { "data race", "The other warps add to the same counters at the same time: the addition must be atomic." },
    { "lane left", "All lanes of the tile come to simt_match_u64, also a lane without a hit: it gives a value that no "
                   "slot has, and adds nothing." },
    { "cost", "Too many atomic operations: find the lanes with the same slot by simt_match_u64, and one lane adds for "
              "all of them." },
    { NULL, NULL },
};

const puzzle puzzle_combine = {
    "combine", "add up before you touch memory", "combine", 2, deal, check, idea, PUZZLE_ATOMICS, NULL, 0.12, 0.3
};
