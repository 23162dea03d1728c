/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c - puzzle "digests": full buckets in which several keys have the same digest.
 */
#include "puzzles/digests/given.h"
#include "puzzles/puzzle.h"

enum { BUCKETS = 3 };

/* Keys of slots 3 and 20 have the same digest, and others some of their own. */
static uint64_t key_at(uint32_t b, uint32_t s)
{
    uint64_t base = 1000 + b * 7;
    return s == 20 ? base + 3 * 511 + 255 : base + s * 511;
}

static void deal(puzzle_bed *b)
{
    static const uint32_t slot[4] = { 20, 3, 31, 0 };
    uint32_t n = b->example ? 4 : 1;
    uint8_t *digests = (uint8_t *)bed_input(b, "buckets", "slot", "digests", 1, BUCKETS * SLOTS);
    uint64_t *keys = (uint64_t *)bed_input(b, "buckets", "slot", "keys", 8, BUCKETS * SLOTS);
    uint64_t *wanted = (uint64_t *)bed_input(b, "warps", "warp", "wanted", 8, n);
    uint32_t *bucket = (uint32_t *)bed_input(b, "warps", "warp", "bucket", 4, n);
    uint32_t *place = (uint32_t *)bed_array(b, "warps", "warp", "place", 4, n);
    for (uint32_t i = 0; i < BUCKETS * SLOTS; i++) {
        keys[i] = i % SLOTS == 9 ? 0 : key_at(i / SLOTS, i % SLOTS);
        digests[i] = (uint8_t)(keys[i] ? digest_of(keys[i]) : 0);
    }
    for (uint32_t i = 0; i < n; i++) { /* the last one is not there, and shares its digest with slots 3 and 20 */
        bucket[i] = (i + 1) % BUCKETS;
        wanted[i] = i == 3 ? key_at(bucket[i], 3) + 510 : key_at(bucket[i], slot[i]);
        place[i] = 77;
    }
    digests_args a = { digests, keys, wanted, bucket, place, n };
    bed_launch(b, &a, sizeof a, 1, n * 32, n);
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
        return bed_wrong(b, same_digest ? "false match" : "missed",
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
                "one may hold another key." },
    { "lane left",
      "The ballot waits for all 32 lanes. Let only some lanes read a key, and let all of them vote, outside "
      "of the branch." },
    { "cost", "The kernel reads more than it needs. Let each lane read one digest, in one instruction, and a key only "
              "where its digest is right." },
    { NULL, NULL },
};

const puzzle puzzle_digests = {
    "digests", "digests first: read little", "digests", 2, deal, check, idea, PUZZLE_SECTORS, 5.75, 7
};
