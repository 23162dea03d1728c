/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c - puzzle "digests": full buckets in which several keys have the same digest.
 */
#include "learn/puzzles/digests/given.h"
#include "learn/puzzles/puzzle.h"

enum { BUCKETS = 4 };

/* A key with the digest of `key`, and in wide numbers with its low or high half: 2^32 % 255 is 1. */
static uint64_t alike(puzzle_bed *b, uint64_t key, bool low)
{
    uint64_t other = 255 * (uint64_t)(1 + bed_below(b, 9));
    return key + (b->example && low ? other << 32 : other);
}

/* Makes a bucket, and returns the wanted key: it is in the last of three slots with its digest, or in none. */
static uint64_t fill(puzzle_bed *b, uint64_t *key, bool there)
{
    uint32_t last = 8 + bed_below(b, SLOTS - 8), first = bed_below(b, 4), second = 4 + bed_below(b, 4);
    uint64_t wanted = key[last];
    key[first] = alike(b, wanted, true);
    key[second] = alike(b, wanted + 2550, false);
    key[8 + (last - 7 + bed_below(b, SLOTS - 9)) % (SLOTS - 8)] = 0;
    if (!there) key[last]++;
    return wanted;
}

static void deal(puzzle_bed *b)
{
    uint32_t n = b->example ? BUCKETS : 1, turn = bed_below(b, BUCKETS);
    uint8_t *digests = (uint8_t *)bed_input(b, "buckets", "slot", "digests", 1, BUCKETS * SLOTS);
    uint64_t *keys = (uint64_t *)bed_input(b, "buckets", "slot", "keys", 8, BUCKETS * SLOTS);
    uint64_t *wanted = (uint64_t *)bed_input(b, "warps", "warp", "wanted", 8, n);
    uint32_t *bucket = (uint32_t *)bed_input(b, "warps", "warp", "bucket", 4, n);
    uint32_t *place = (uint32_t *)bed_array(b, "warps", "warp", "place", 4, n);
    bed_numbers(b, keys, BUCKETS * SLOTS);
    for (uint32_t i = 0; i < n; i++) {
        bucket[i] = (i + turn) % BUCKETS;
        wanted[i] = fill(b, keys + bucket[i] * SLOTS, i != 2);
        place[i] = 77;
    }
    for (uint32_t i = 0; i < BUCKETS * SLOTS; i++) digests[i] = (uint8_t)(keys[i] ? digest_of(keys[i]) : 0);
    digests_args a = { digests, keys, wanted, bucket, place, n };
    bed_launch(b, &a, sizeof a, 1, (n + b->example) * 32, n);
}

static const char *check(puzzle_bed *b)
{
    const digests_args *a = (const digests_args *)(const void *)b->args;
    for (uint32_t i = 0; i < a->n; i++) {
        const uint64_t *key = a->keys + a->bucket[i] * SLOTS;
        uint32_t place = NOWHERE, said = a->place[i];
        for (uint32_t s = 0; s < SLOTS; s++)
            if (key[s] == a->wanted[i]) place = s;
        if (said == place) continue;
        bool same_digest = said < SLOTS && digest_of(key[said]) == digest_of(a->wanted[i]);
        const char *by = same_digest ? "false match" : "missed";
        return bed_wrong(b, said < SLOTS ? bed_taken(key[said], a->wanted[i], by) : by,
                         "warp %u: key %llu is in slot %u of bucket %u (32: in none); place[%u] is %u", i,
                         (unsigned long long)a->wanted[i], place, a->bucket[i], i, said);
    }
    return NULL;
}

static const puzzle_idea idea[] = {
    { "false match",
      "Different keys can have the same digest. A digest that is right says perhaps: only the key itself "
      "says yes." },
    { "missed", "The key is there. Compare with digest_of(wanted), and look at every slot with that digest: the first "
                "one may hold another key. All 64 bits of a key count." },
    { "lane left",
      "The ballot waits for all 32 lanes. Let only some lanes read a key, and let all of them vote, outside "
      "of the branch." },
    { "cost", "The kernel reads more than it needs. Let each lane read one digest, in one instruction, and a key only "
              "where its digest is right." },
    { NULL, NULL },
};

const puzzle puzzle_digests = {
    "digests", "digests first: read little", "digests", 2, deal, check, idea, PUZZLE_SECTORS, NULL, 7.00, 8.5
};
