/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c - puzzle "vote": 5 items, one round; and 21, three rounds.
 */
#include "learn/puzzles/puzzle.h"
#include "learn/puzzles/vote/given.h"

static void deal(puzzle_bed *b)
{
    uint32_t n = b->example ? 21 : 5;
    uint32_t *age = (uint32_t *)bed_input(b, "items", "item", "age", 4, n);
    uint32_t *old_ones = (uint32_t *)bed_array(b, NULL, "word", "old_ones", 4, 1);
    for (uint32_t i = 0; i < n; i++) age[i] = bed_below(b, 100);
    if (b->example) age[bed_below(b, n)] = (1u << 16) + bed_below(b, OLD);
    age[bed_below(b, n)] = OLD - 1;
    age[bed_below(b, n)] = OLD;
    *old_ones = 77;
    vote_args a = { age, old_ones, n };
    bed_launch(b, &a, sizeof a, 1, LANES, n);
}

static const char *check(puzzle_bed *b)
{
    const vote_args *a = (const vote_args *)(const void *)b->args;
    uint32_t total = 0;
    for (uint32_t i = 0; i < a->n; i++) total += a->age[i] >= OLD;
    if (*a->old_ones == total) return NULL;
    return bed_wrong(b, "miscounted", "%u of %u items are old; old_ones is %u", total, a->n, *a->old_ones);
}

static const puzzle_idea idea[] = {
    { "lane left",
      "A ballot waits for all lanes of the tile, and one has left. A lane that has no item goes on to vote, "
      "in every round in which others do." },
    { "mismatched collectives",
      "All lanes of the tile come to the same ballot, at the same line, in every round: a lane "
      "that has no item goes on to vote." },
    { "out of bounds", "A lane that has no item must not read one: check the number first." },
    { "miscounted",
      "The number is wrong. A lane without an item votes no, and the last round counts although it is not "
      "full." },
    { "data race", "All lanes write the result. One lane of the tile speaks for all of them." },
    { NULL, NULL },
};

const puzzle puzzle_vote = {
    "vote", "a vote without the lane that left", "vote", 2, deal, check, idea, PUZZLE_SECTORS, NULL, 0.19, 0
};
