/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c - puzzle "lock": two lanes, and eight, with one account.
 */
#include "learn/puzzles/lock/given.h"
#include "learn/puzzles/puzzle.h"

static void deal(puzzle_bed *b)
{
    uint32_t n = b->example ? 8 : 2;
    uint32_t *lock = (uint32_t *)bed_array(b, NULL, "word", "lock", 4, 1);
    uint64_t *sum = (uint64_t *)bed_array(b, "account", "word", "sum", 8, 1);
    uint64_t *count = (uint64_t *)bed_array(b, "account", "word", "count", 8, 1);
    uint64_t *amount = (uint64_t *)bed_input(b, NULL, "lane", "amount", 8, n);
    uint32_t *large = (uint32_t *)bed_array(b, NULL, "word", "large", 4, 1);
    bed_numbers(b, amount, n);
    for (uint32_t i = 1; i < n; i++) { /* LARGE, one below it, and one whose low half is below it */
        if (i == 2) amount[i] = LARGE - 1;
        if (i == 3) amount[i] = amount[i] >> 32 << 32 | bed_below(b, LARGE);
        if (i == 4) amount[i] = bed_below(b, LARGE);
    }
    amount[n - 1] = LARGE;
    bed_shuffle(b, amount, n);
    bed_numbers(b, sum, 1);
    bed_numbers(b, count, 1);
    *large = 77;
    lock_args a = { lock, sum, count, amount, large };
    bed_launch(b, &a, sizeof a, 1, n, n);
}

static const char *check(puzzle_bed *b)
{
    const lock_args *a = (const lock_args *)(const void *)b->args;
    const uint64_t *held = (const uint64_t *)bed_before(b, a->sum),
                   *counted = (const uint64_t *)bed_before(b, a->count);
    uint64_t sum = *held, count = *counted + b->threads;
    uint32_t large = 0;
    for (uint32_t i = 0; i < b->threads; i++) {
        sum += a->amount[i];
        large += a->amount[i] >= LARGE;
    }
    bool half = (uint32_t)*a->sum == (uint32_t)sum && (uint32_t)*a->count == (uint32_t)count;
    if (*a->sum != sum || *a->count != count)
        return bed_wrong(b, half ? "64 bits" : "lost",
                         "the account has %llu of %llu amounts; it should be %llu of %llu", (unsigned long long)*a->sum,
                         (unsigned long long)*a->count, (unsigned long long)sum, (unsigned long long)count);
    if (*a->large != large) return bed_wrong(b, "vote", "large is %u; %u amounts are large", *a->large, large);
    if (*a->lock) return bed_wrong(b, "kept", "the lock is still taken at the end");
    return NULL;
}

static const puzzle_idea idea[] = {
    { "endless", "Lanes wait for the lock forever. Who has it gives it back, and waits for no lane before: a holder "
                 "that votes waits for the lanes that wait for the lock." },
    { "deadlock", "A lane that has the lock waits for lanes that wait for the lock: give it back before you vote." },
    { "data race", "What the last holder wrote is not ordered before what this lane does. To see that the lock is free "
                   "and to take it is one step, with acquire; to give it back is a release." },
    { "lost", "An amount is missing. A lane that did not get the lock tries again and again, until it has it." },
    { "kept", "Every lane gives the lock back, also the last one." },
    { "vote", "The number of large amounts is wrong: those of LARGE or more, in all 64 bits. All lanes vote, whether "
              "they have waited or "
              "not, and one of them writes how many voted yes." },
    { NULL, NULL },
};

const puzzle puzzle_lock = {
    "lock", "a lock for lanes of one warp", "lock", 2, deal, check, idea, PUZZLE_ATOMICS, NULL, 4.5, 0
};
