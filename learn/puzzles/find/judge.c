/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c - puzzle "find": buckets with free slots among their keys, and keys that are there or not.
 */
#include "learn/puzzles/find/given.h"
#include "learn/puzzles/puzzle.h"

enum { BUCKETS = 6, KEYS = 20 };

static void deal(puzzle_bed *b)
{
    uint32_t n = b->example ? KEYS : 2;
    uint64_t number[BUCKETS * SLOTS + KEYS], slot[SLOTS] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    uint64_t *keys = (uint64_t *)bed_input(b, "buckets", "slot", "keys", 8, BUCKETS * SLOTS);
    uint64_t *wanted = (uint64_t *)bed_input(b, "lanes", "lane", "wanted", 8, n);
    uint32_t *bucket = (uint32_t *)bed_input(b, "lanes", "lane", "bucket", 4, n);
    uint32_t *place = (uint32_t *)bed_array(b, "lanes", "lane", "place", 4, n);
    bed_numbers(b, number, BUCKETS * SLOTS + n);
    for (uint32_t i = 0; i < BUCKETS * SLOTS; i++) keys[i] = bed_below(b, 4) ? number[i] : 0;
    bed_shuffle(b, slot, SLOTS);
    for (uint32_t i = 0; i < n; i++) { /* of those after the first eight, a third is not there */
        uint64_t s = slot[i % SLOTS];
        do bucket[i] = bed_below(b, BUCKETS);
        while (!keys[bucket[i] * SLOTS + s]);
        wanted[i] = i < SLOTS || bed_below(b, 3) ? keys[bucket[i] * SLOTS + s] : number[BUCKETS * SLOTS + i];
        place[i] = 77;
    }
    if (b->example) { /* no slot comes after those of the last bucket */
        bucket[n - 1] = BUCKETS - 1;
        wanted[n - 1] = number[BUCKETS * SLOTS];
    }
    find_args a = { keys, wanted, bucket, place, n };
    bed_launch(b, &a, sizeof a, 1, 32, n);
}

static const char *check(puzzle_bed *b)
{
    const find_args *a = (const find_args *)(const void *)b->args;
    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t place = NOWHERE, said = a->place[i];
        const uint64_t *key = a->keys + (size_t)a->bucket[i] * SLOTS;
        for (uint32_t s = 0; s < SLOTS; s++)
            if (key[s] == a->wanted[i]) place = s;
        if (said == place) continue;
        const char *by = place == NOWHERE ? "absent" : "missed";
        return bed_wrong(b, said < SLOTS ? bed_taken(key[said], a->wanted[i], by) : by,
                         "lane %u: key %llu is in slot %u of bucket %u (8: in none); place[%u] is %u", i,
                         (unsigned long long)a->wanted[i], place, a->bucket[i], i, said);
    }
    return NULL;
}

static const puzzle_idea idea[] = {
    { "out of bounds", "There are more lanes than keys: a lane whose number is not below n returns before it reads." },
    { "missed", "Look into every slot of the bucket: bucket b begins at keys[b * SLOTS] and has SLOTS slots. A free "
                "slot is not the end, because keys were removed. All 64 bits of a key count." },
    { "absent", "Write an answer in both cases: NOWHERE for a key that is in no slot." },
    { NULL, NULL },
};

const puzzle puzzle_find = { "find", "find a key in a bucket", "find", 2,    deal, check,
                             idea,   PUZZLE_SECTORS,           NULL,   3.25, 0 };
