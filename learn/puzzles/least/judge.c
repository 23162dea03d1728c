/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c - puzzle "least": buckets whose least score is in different rows and lanes, and does not fit into 32 bits.
 */
#include "learn/puzzles/least/given.h"
#include "learn/puzzles/puzzle.h"

enum { BUCKETS = 4 };

static void deal(puzzle_bed *b)
{
    uint32_t n = b->example ? BUCKETS : 1;
    uint64_t *scores = (uint64_t *)bed_input(b, "buckets", "slot", "scores", 8, n * SLOTS);
    uint32_t *slot = (uint32_t *)bed_array(b, "warps", "warp", "slot", 4, n);
    for (uint32_t i = 0; i < n; i++) {
        bed_numbers(b, scores + (size_t)i * SLOTS, SLOTS);
        slot[i] = 777;
    }
    least_args a = { scores, slot, n };
    bed_launch(b, &a, sizeof a, 1, (n + b->example) * 32, n);
}

static const char *check(puzzle_bed *b)
{
    const least_args *a = (const least_args *)(const void *)b->args;
    for (uint32_t i = 0; i < a->n; i++) {
        const uint64_t *score = a->scores + (size_t)i * SLOTS;
        uint32_t least = 0;
        for (uint32_t s = 1; s < SLOTS; s++)
            if (score[s] < score[least]) least = s;
        if (a->slot[i] < SLOTS && score[a->slot[i]] == score[least]) continue;
        return bed_wrong(b, "not least", "bucket %u: slot %u has the least score; slot[%u] is %u", i, least, i,
                         a->slot[i]);
    }
    return NULL;
}

static const puzzle_idea idea[] = {
    { "not least",
      "Another slot has the least score. The least of all lanes counts, in its 64 bits; then find out which "
      "lane has it, and which slot that lane found it in." },
    { "data race", "Several lanes write the result. One lane writes it: the first that has the least score." },
    { "lane left", "All lanes of the warp come to a reduction or a ballot: it stands outside of every branch that only "
                   "some of them take." },
    { "cost",
      "Too many sectors: let the lanes of one load read scores in a row, so that a sector serves four of them." },
    { NULL, NULL },
};

const puzzle puzzle_least = {
    "least", "the least of 128 scores", "least", 2, deal, check, idea, PUZZLE_SECTORS, NULL, 33, 40
};
