/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c - puzzle "tile": four keys for the tiles of one warp, and seven for those of two.
 */
#include "learn/puzzles/puzzle.h"
#include "learn/puzzles/tile/given.h"

enum { BUCKETS = 5, KEYS = 7 };

static void deal(puzzle_bed *b)
{
    uint32_t n = b->example ? KEYS : 4;
    uint64_t number[BUCKETS * SLOTS + KEYS];
    uint64_t *keys = (uint64_t *)bed_input(b, "buckets", "slot", "keys", 8, BUCKETS * SLOTS);
    uint64_t *wanted = (uint64_t *)bed_input(b, "tiles", "tile", "wanted", 8, n);
    uint32_t *bucket = (uint32_t *)bed_input(b, "tiles", "tile", "bucket", 4, n);
    uint32_t *place = (uint32_t *)bed_array(b, "tiles", "tile", "place", 4, n);
    bed_numbers(b, number, BUCKETS * SLOTS + n);
    for (uint32_t i = 0; i < BUCKETS * SLOTS; i++) keys[i] = bed_below(b, 4) ? number[i] : 0;
    for (uint32_t i = 0; i < n; i++) { /* of those after the second, half are not there */
        uint32_t s = bed_below(b, SLOTS);
        bucket[i] = bed_below(b, BUCKETS);
        while (!keys[bucket[i] * SLOTS + s]) s = bed_below(b, SLOTS);
        wanted[i] = i < 2 || bed_below(b, 2) ? keys[bucket[i] * SLOTS + s] : number[BUCKETS * SLOTS + i];
        place[i] = 77;
    }
    tile_args a = { keys, wanted, bucket, place, n };
    bed_launch(b, &a, sizeof a, (n * 8 + 31) / 32, 32, n);
}

static const char *check(puzzle_bed *b)
{
    const tile_args *a = (const tile_args *)(const void *)b->args;
    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t place = NOWHERE, said = a->place[i];
        const uint64_t *key = a->keys + (size_t)a->bucket[i] * SLOTS;
        for (uint32_t s = 0; s < SLOTS; s++)
            if (key[s] == a->wanted[i]) place = s;
        if (said == place) continue;
        const char *by = place == NOWHERE ? "absent" : "misplaced";
        return bed_wrong(b, said < SLOTS ? bed_taken(key[said], a->wanted[i], by) : by,
                         "tile %u: key %llu is in slot %u of bucket %u (8: in none); place[%u] is %u", i,
                         (unsigned long long)a->wanted[i], place, a->bucket[i], i, said);
    }
    return NULL;
}

static const puzzle_idea idea[] = {
    { "lane left",
      "A ballot waits for all lanes of its tile: also the lanes that did not find the key must come to it, "
      "so it stands outside of every branch that only some of them take." },
    { "mismatched collectives",
      "A ballot waits for all lanes of its tile: also the lanes that did not find the key must "
      "come to it, at the same line." },
    { "misplaced", "The slot is wrong. A tile votes with its own eight lanes, bit r of the ballot is slot r, and "
                   "simt_ffs counts from 1. All 64 bits of a key count." },
    { "absent", "When no lane voted yes, the ballot is 0: then the answer is NOWHERE." },
    { "data race", "All lanes write the same place. One lane of the tile speaks for all of them." },
    { "cost", "The loads are one after the other. When each lane reads one slot, in one instruction, a sector is moved "
              "once for all lanes that need it." },
    { NULL, NULL },
};

const puzzle puzzle_tile = {
    "tile", "find it with eight lanes", "tile", 2, deal, check, idea, PUZZLE_SECTORS, NULL, 2.29, 4
};
