/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c - puzzle "lock": two lanes, and eight, with one account.
 */
#include "puzzles/lock/given.h"
#include "puzzles/puzzle.h"

static void deal(puzzle_bed *b)
{
    uint32_t n = b->example ? 8 : 2;
    uint32_t *lock = (uint32_t *)bed_array(b, NULL, "word", "lock", 4, 1);
    uint64_t *sum = (uint64_t *)bed_array(b, "account", "word", "sum", 8, 1);
    uint64_t *count = (uint64_t *)bed_array(b, "account", "word", "count", 8, 1);
    uint64_t *amount = (uint64_t *)bed_input(b, NULL, "lane", "amount", 8, n);
    uint32_t *large = (uint32_t *)bed_array(b, NULL, "word", "large", 4, 1);
    for (uint32_t i = 0; i < n; i++) amount[i] = i % 3 == 1 ? LARGE + i : i + 1;
    *large = 77;
    lock_args a = { lock, sum, count, amount, large };
    bed_launch(b, &a, sizeof a, 1, n, n);
}

static const char *check(puzzle_bed *b)
{
    const lock_args *a = (const lock_args *)(const void *)b->args;
    uint64_t sum = 0;
    uint32_t large = 0;
    for (uint32_t i = 0; i < b->threads; i++) {
        sum += a->amount[i];
        large += a->amount[i] >= LARGE;
    }
    if (*a->sum != sum || *a->count != b->threads)
        return bed_wrong(b, "lost", "the account has %llu of %u amounts; it should be %llu of %u",
                         (unsigned long long)*a->sum, (uint32_t)*a->count, (unsigned long long)sum, b->threads);
    if (*a->large != large) return bed_wrong(b, "vote", "large is %u; %u amounts are large", *a->large, large);
    if (*a->lock) return bed_wrong(b, "kept", "the lock is still taken at the end");
    return NULL;
}

static const puzzle_idea idea[] = {
    { "endless",
      "Lanes wait for the lock forever. Who has it gives it back, and before that waits for nobody: a holder "
      "that votes waits for the lanes that wait for the lock." },
    { "deadlock", "A lane that has the lock waits for lanes that wait for the lock: give it back before you vote." },
    { "data race", "What the last holder wrote is not ordered before what this lane does. To see that the lock is free "
                   "and to take it is one step, with acquire; to give it back is a release." },
    { "lost", "An amount is missing. A lane that did not get the lock tries again and again, until it has it." },
    { "kept", "Every lane gives the lock back, also the last one." },
    { "vote", "All lanes vote, whether they have waited or not, and one of them writes how many voted yes." },
    { NULL, NULL },
};

const puzzle puzzle_lock = { "lock", "a lock for lanes of one warp", "lock", 2, deal, check, idea, PUZZLE_ATOMICS, 4.5,
                             0 };
