/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c - puzzle "move": one key, and eight, that move while they, or others like them, are looked for.
 */
#include "learn/puzzles/move/given.h"
#include "learn/puzzles/puzzle.h"

enum { KEYS = 8 };

static void deal(puzzle_bed *b)
{
    uint32_t n = b->example ? KEYS : 1;
    uint64_t *first = (uint64_t *)bed_array(b, "slots", "key", "first", 8, n);
    uint64_t *second = (uint64_t *)bed_array(b, "slots", "key", "second", 8, n);
    uint64_t *key = (uint64_t *)bed_input(b, "lanes", "lane", "key", 8, n);
    uint64_t *wanted = (uint64_t *)bed_input(b, "lanes", "lane", "wanted", 8, n);
    uint32_t *found = (uint32_t *)bed_array(b, "lanes", "lane", "found", 4, n);
    bed_numbers(b, key, n);
    for (uint32_t i = 0; i < n; i++) {
        first[i] = wanted[i] = key[i];
        if (n > 1 && !bed_below(b, 3)) wanted[i] = bed_twin(b, key[i]);
        found[i] = 77;
    }
    move_args a = { first, second, key, wanted, found, n };
    bed_launch(b, &a, sizeof a, 2, n + b->example, n);
}

static const char *check(puzzle_bed *b)
{
    const move_args *a = (const move_args *)(const void *)b->args;
    for (uint32_t i = 0; i < a->n; i++) {
        if (a->second[i] != a->key[i])
            return bed_wrong(b, bed_stored(a->second[i], a->key[i], "not moved"), "second[%u] holds %llu at the end", i,
                             (unsigned long long)a->second[i]);
        if (a->first[i])
            return bed_wrong(b, "twice", "first[%u] still holds %llu at the end", i, (unsigned long long)a->first[i]);
    }
    for (uint32_t i = 0; i < a->n; i++) {
        bool there = a->wanted[i] == a->key[i];
        if (!there && a->found[i] != 0)
            return bed_wrong(b, "absent", "key %llu was never in the table; found[%u] is %u",
                             (unsigned long long)a->wanted[i], i, a->found[i]);
        if (there && a->found[i] != 1)
            return bed_wrong(b, "missed", "key %llu was in the table all the time; found[%u] is %u",
                             (unsigned long long)a->key[i], i, a->found[i]);
    }
    return NULL;
}

static const puzzle_idea idea[] = {
    { "missed",
      "The key was there, and was missed. It must not leave one slot before it is in the other; and the reader "
      "must look into both slots, in the direction in which the key moves." },
    { "missed, weak", "The reader saw the empty slot and not yet the key in the other one: in weak memory the order of "
                      "the text is not enough. The mover empties the slot with release, the reader loads it with "
                      "acquire." },
    { "absent",
      "A key was found that is in no slot. A slot that is not free may hold another key: compare all 64 bits." },
    { "data race", "Both blocks access the slots at the same time: plain loads and stores may not." },
    { "twice", "A key that has moved leaves its first slot: otherwise it is in the table twice." },
    { "not moved", "At the end the key must be in its second slot." },
    { NULL, NULL },
};

const puzzle puzzle_move = {
    "move", "two buckets: no lookup may miss a key", "move", 2, deal, check, idea, PUZZLE_SECTORS, NULL, 1.63, 0
};
