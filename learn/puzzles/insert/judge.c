/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c - puzzle "insert": lanes that insert into one bucket, which has room for all of them or not.
 */
#include "learn/puzzles/insert/given.h"
#include "learn/puzzles/puzzle.h"

enum { MOST = 8 };

static void deal(puzzle_bed *b)
{
    static const uint32_t count[3] = { 2, 3, MOST }, free_slots[3] = { 2, 1, 4 };
    uint32_t n = count[b->example], free_now = 0;
    uint64_t number[SLOTS + MOST];
    uint64_t *keys = (uint64_t *)bed_array(b, "bucket", "slot", "keys", 8, SLOTS);
    uint64_t *key = (uint64_t *)bed_input(b, "lanes", "lane", "key", 8, n);
    uint32_t *place = (uint32_t *)bed_array(b, "lanes", "lane", "place", 4, n);
    bed_numbers(b, number, SLOTS + n);
    for (uint32_t s = 0; s < SLOTS; s++) keys[s] = number[s];
    if (b->example) keys[bed_below(b, SLOTS)] &= ~(uint64_t)UINT32_MAX; /* not free, but its low half is 0 */
    while (free_now < free_slots[b->example]) {
        uint64_t *slot = &keys[bed_below(b, SLOTS)];
        if (*slot == 0 || (uint32_t)*slot == 0) continue;
        *slot = 0;
        free_now++;
    }
    for (uint32_t i = 0; i < n; i++) {
        key[i] = number[SLOTS + i];
        place[i] = 77;
    }
    insert_args a = { keys, key, place, n };
    bed_launch(b, &a, sizeof a, 1, n + b->example / 2, n);
}

static const char *two_slots(puzzle_bed *b, const uint64_t *keys)
{
    for (uint32_t s = 0; s < SLOTS; s++)
        for (uint32_t k = 0; k < s; k++)
            if (keys[s] && keys[s] == keys[k])
                return bed_wrong(b, "twice", "key %llu is in slots %u and %u", (unsigned long long)keys[s], k, s);
    return NULL;
}

static const char *check(puzzle_bed *b)
{
    const insert_args *a = (const insert_args *)(const void *)b->args;
    const uint64_t *before = (const uint64_t *)bed_before(b, a->keys);
    uint32_t free_slots = 0, placed = 0;
    for (uint32_t s = 0; s < SLOTS; s++) {
        free_slots += before[s] == 0;
        if (before[s] && a->keys[s] != before[s])
            return bed_wrong(b, bed_stored(a->keys[s], before[s], "lost"),
                             "slot %u held key %llu, and now it holds %llu", s, (unsigned long long)before[s],
                             (unsigned long long)a->keys[s]);
    }
    for (uint32_t i = 0; i < a->n; i++) {
        if (a->place[i] == FULL) continue;
        placed++;
        uint64_t there = a->place[i] < SLOTS ? a->keys[a->place[i]] : 0;
        if (there != a->key[i])
            return bed_wrong(b, bed_stored(there, a->key[i], "lost"),
                             "lane %u says that key %llu is in slot %u, which holds %llu", i,
                             (unsigned long long)a->key[i], a->place[i], (unsigned long long)there);
    }
    const char *twice = two_slots(b, a->keys);
    if (twice) return twice;
    uint32_t fit = a->n < free_slots ? a->n : free_slots;
    if (placed < fit) return bed_wrong(b, "gave up", "%u keys got a slot, and %u fit", placed, fit);
    return NULL;
}

static const puzzle_idea idea[] = {
    { "lost", "A key was lost: two lanes took the same slot. To look whether a slot is free and to take it must be one "
              "step, a compare-and-swap, and only the lane to which it returned 0 has the slot." },
    { "data race", "Others read and write the slots at the same time. Access them with relaxed and atomic operations; "
                   "to look and to take must be one step, a compare-and-swap." },
    { "gave up", "A lane that lost a slot to another one tries the next slot: only after the last one the bucket is "
                 "full." },
    { "endless", "A bucket can be full. After its last slot a lane stops, and reports FULL." },
    { "twice", "A key may be in one slot only: stop after the slot that you got." },
    { "cost", "Atomic operations are slow. Read a slot first, and try the compare-and-swap only where it looks free." },
    { NULL, NULL },
};

const puzzle puzzle_insert = {
    "insert", "insert a key while others insert", "insert", 3, deal, check, idea, PUZZLE_ATOMICS, NULL, 3.25, 4.5
};
