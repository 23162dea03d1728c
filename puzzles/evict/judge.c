/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c - puzzle "evict": full buckets with distinct scores, equal scores and large ones, and new keys with lower,
 * equal and higher scores.
 */
#include "puzzles/evict/given.h"
#include "puzzles/puzzle.h"

enum { BUCKETS = 6 };

static void deal(puzzle_bed *b)
{
    static const uint64_t given[BUCKETS][SLOTS] = {
        { 50, 90, 25, 70, 40, 60, 80, 30 },
        { 90, 80, 70, 60, 50, 40, 30, 20 },
        { 50, 90, 20, 70, 20, 60, 80, 20 },
        { 7, 7, 7, 7, 7, 7, 7, 7 },
        { 1ull << 33, (1ull << 32) + 5, (5ull << 32) + 1, (1ull << 40) + 9, 6ull << 32, 7ull << 32, 8ull << 32,
          9ull << 32 },
        { 99, 98, 97, 96, 95, 94, 93, 92 },
    };
    static const uint64_t score[BUCKETS] = { 95, 19, 100, 7, 1ull << 34, 92 };
    uint32_t n = b->example ? BUCKETS : 1;
    uint64_t *keys = (uint64_t *)bed_array(b, "buckets", "slot", "keys", 8, n * SLOTS);
    uint64_t *scores = (uint64_t *)bed_array(b, "buckets", "slot", "scores", 8, n * SLOTS);
    uint64_t *key = (uint64_t *)bed_input(b, "lanes", "lane", "key", 8, n);
    uint64_t *its = (uint64_t *)bed_input(b, "lanes", "lane", "score", 8, n);
    uint64_t *evicted = (uint64_t *)bed_array(b, "lanes", "lane", "evicted", 8, n);
    for (uint32_t i = 0; i < n * SLOTS; i++) keys[i] = 100 + i;
    for (uint32_t i = 0; i < n * SLOTS; i++) scores[i] = given[i / SLOTS][i % SLOTS];
    for (uint32_t i = 0; i < n; i++) {
        key[i] = 1001 + i;
        its[i] = score[i];
        evicted[i] = 77;
    }
    evict_args a = { keys, scores, key, its, evicted, n };
    bed_launch(b, &a, sizeof a, 1, 8, n);
}

/* Names the check that an answer `said` fails where `want` is right; both are slots, SLOTS: refused, or no key. */
static const char *wrong_choice(const uint64_t *score, uint64_t its, uint32_t least, uint32_t want, uint32_t said)
{
    if (want == SLOTS) return "admission";
    if (said == SLOTS) return its == score[least] ? "equal" : "refused";
    return score[said] == score[least] ? "tie" : "victim";
}

static const char *check_bucket(puzzle_bed *b, const evict_args *a, uint32_t i)
{
    const uint64_t *key = (const uint64_t *)(const void *)b->before + (size_t)i * SLOTS;
    const uint64_t *score =
        (const uint64_t *)(const void *)(b->before + ((unsigned char *)a->scores - b->memory)) + (size_t)i * SLOTS;
    uint32_t least = 0, said = 0;
    for (uint32_t s = 1; s < SLOTS; s++)
        if (score[s] < score[least]) least = s;
    uint32_t want = a->score[i] < score[least] ? SLOTS : least;
    while (said < SLOTS && key[said] != a->evicted[i]) said++;
    if (said != want || (said == SLOTS && a->evicted[i] != REFUSED))
        return bed_wrong(
            b, wrong_choice(score, a->score[i], least, want, said),
            "bucket %u, new score %llu: the victim is slot %u (8: the key is refused), and evicted is %llu", i,
            (unsigned long long)a->score[i], want, (unsigned long long)a->evicted[i]);
    for (uint32_t s = 0; s < SLOTS; s++) {
        uint64_t now_key = a->keys[i * SLOTS + s], now_score = a->scores[i * SLOTS + s];
        if (now_key != (s == want ? a->key[i] : key[s]))
            return bed_wrong(b, "stored", "bucket %u, slot %u holds key %llu", i, s, (unsigned long long)now_key);
        if (now_score != (s == want ? a->score[i] : score[s]))
            return bed_wrong(b, "score", "bucket %u, slot %u has score %llu", i, s, (unsigned long long)now_score);
    }
    return NULL;
}

static const char *check(puzzle_bed *b)
{
    const evict_args *a = (const evict_args *)(const void *)b->args;
    const char *by = NULL;
    for (uint32_t i = 0; i < a->n && !by; i++) by = check_bucket(b, a, i);
    return by;
}

static const puzzle_idea idea[] = {
    { "admission", "A new key whose score is lower than the victim's is refused: it is worth less than everything that "
                   "is there." },
    { "equal", "A new key gets the slot if its score is equal or higher: only a lower one is refused." },
    { "refused", "A new key whose score is equal or higher than the least one gets the slot." },
    { "tie", "Of several entries with the least score the one in the first slot leaves." },
    { "victim", "Another entry should leave: the one with the least score, in all its 64 bits." },
    { "stored", "The victim's slot, and no other, gets the new key." },
    { "score", "The slot must get the new key and also its score: otherwise it keeps the score of a key that left." },
    { "cost", "The kernel reads keys that stay. Read a key when it is known which one leaves." },
    { NULL, NULL },
};

const puzzle puzzle_evict = { "evict", "evict the least, exactly", "evict", 2, deal, check, idea, PUZZLE_SECTORS, 11.67,
                              14 };
