/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c - puzzle "find": buckets with free slots among their keys, and keys that are there or not.
 */
#include "puzzles/find/given.h"
#include "puzzles/puzzle.h"

enum { BUCKETS = 6, KEYS = 20 };

static void deal(puzzle_bed *b)
{
    uint32_t n = b->example ? KEYS : 2;
    uint64_t *keys = (uint64_t *)bed_input(b, "buckets", "slot", "keys", 8, BUCKETS * SLOTS);
    uint64_t *wanted = (uint64_t *)bed_input(b, "lanes", "lane", "wanted", 8, n);
    uint32_t *bucket = (uint32_t *)bed_input(b, "lanes", "lane", "bucket", 4, n);
    uint32_t *place = (uint32_t *)bed_array(b, "lanes", "lane", "place", 4, n);
    for (uint32_t i = 0; i < BUCKETS * SLOTS; i++) keys[i] = i % 3 == 1 ? 0 : 100 + i;
    for (uint32_t i = 0; i < n; i++) { /* slots 7, 2, 5, 0, ... of buckets 0, 1, 2, ...; every fourth is not there */
        uint32_t s = (i * 3 + 7) % SLOTS;
        bucket[i] = i % BUCKETS;
        wanted[i] = i % 4 == 3 ? 999 : 100 + bucket[i] * SLOTS + s;
        place[i] = 77;
    }
    find_args a = { keys, wanted, bucket, place, n };
    bed_launch(b, &a, sizeof a, 1, 32, n);
}

static const char *check(puzzle_bed *b)
{
    const find_args *a = (const find_args *)(const void *)b->args;
    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t place = NOWHERE;
        for (uint32_t s = 0; s < SLOTS; s++)
            if (a->keys[a->bucket[i] * SLOTS + s] == a->wanted[i]) place = s;
        if (a->place[i] == place) continue;
        return bed_wrong(b, place == NOWHERE ? "absent" : "missed",
                         "lane %u: key %llu is in slot %u of bucket %u (8: in none); place[%u] is %u", i,
                         (unsigned long long)a->wanted[i], place, a->bucket[i], i, a->place[i]);
    }
    return NULL;
}

static const puzzle_idea idea[] = {
    { "out of bounds", "There are more lanes than keys: a lane whose number is not below n returns before it reads." },
    { "missed", "Look into every slot of the bucket: bucket b begins at keys[b * SLOTS] and has SLOTS slots. A free "
                "slot is not the end, because keys were removed." },
    { "absent", "Write an answer in both cases: NOWHERE for a key that is in no slot." },
    { NULL, NULL },
};

const puzzle puzzle_find = { "find", "find a key in a bucket", "find", 2, deal, check, idea, PUZZLE_SECTORS, 3.35, 0 };
