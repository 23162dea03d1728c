/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c - puzzle "evict": full buckets with distinct scores and with equal ones, and new keys with lower, equal and
 * higher scores.
 */
#include "learn/puzzles/evict/given.h"
#include "learn/puzzles/puzzle.h"

enum { BUCKETS = 6 };

static uint32_t least_of(const uint64_t *score)
{
    uint32_t least = 0;
    for (uint32_t s = 1; s < SLOTS; s++)
        if (score[s] < score[least]) least = s;
    return least;
}

/* Makes the scores of a bucket, and returns that of the new key. */
static uint64_t fill(puzzle_bed *b, uint64_t *score, uint32_t row)
{
    bed_numbers(b, score, SLOTS);
    uint64_t least = score[least_of(score)], higher = (least >> 32 << 32) + (1ull << 32);
    if (row == 2) /* three of the least score */
        for (uint32_t first = bed_below(b, 3), s = first; s < SLOTS; s += 2)
            score[s] = s < first + 6 ? least : score[s];
    if (row == 3)
        for (uint32_t s = 0; s < SLOTS; s++) score[s] = least;
    switch (row) {
    case 0: return b->example ? higher : 1000 + bed_below(b, 1000);
    case 1: return higher - (2ull << 32) + UINT32_MAX; /* lower, and higher in its low half */
    case 4: return least - 1;
    case 5: return least + 1;
    default: return least;
    }
}

static void deal(puzzle_bed *b)
{
    uint32_t n = b->example ? BUCKETS : 1;
    uint64_t *keys = (uint64_t *)bed_array(b, "buckets", "slot", "keys", 8, n * SLOTS);
    uint64_t *scores = (uint64_t *)bed_array(b, "buckets", "slot", "scores", 8, n * SLOTS);
    uint64_t *key = (uint64_t *)bed_input(b, "lanes", "lane", "key", 8, n);
    uint64_t *its = (uint64_t *)bed_input(b, "lanes", "lane", "score", 8, n);
    uint64_t *evicted = (uint64_t *)bed_array(b, "lanes", "lane", "evicted", 8, n);
    bed_numbers(b, keys, n * SLOTS);
    bed_numbers(b, key, n);
    for (uint32_t i = 0; i < n; i++) {
        while (b->example == 0 && key[i] < 1000) key[i] += 1000; /* of no slot */
        its[i] = fill(b, scores + (size_t)i * SLOTS, i);
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
    const uint64_t *key = (const uint64_t *)bed_before(b, a->keys + (size_t)i * SLOTS);
    const uint64_t *score = (const uint64_t *)bed_before(b, a->scores + (size_t)i * SLOTS);
    uint32_t least = least_of(score), said = 0;
    uint32_t want = a->score[i] < score[least] ? SLOTS : least;
    while (said < SLOTS && key[said] != a->evicted[i]) said++;
    if (want < SLOTS && said == SLOTS && a->evicted[i] != REFUSED)
        return bed_wrong(b, bed_stored(a->evicted[i], key[want], "left"),
                         "bucket %u: key %llu leaves, and evicted is %llu", i, (unsigned long long)key[want],
                         (unsigned long long)a->evicted[i]);
    if (said != want || (said == SLOTS && a->evicted[i] != REFUSED))
        return bed_wrong(
            b, wrong_choice(score, a->score[i], least, want, said),
            "bucket %u, new score %llu: the victim is slot %u (8: the key is refused), and evicted is %llu", i,
            (unsigned long long)a->score[i], want, (unsigned long long)a->evicted[i]);
    for (uint32_t s = 0; s < SLOTS; s++) {
        uint64_t now_key = a->keys[i * SLOTS + s], now_score = a->scores[i * SLOTS + s];
        if (now_key != (s == want ? a->key[i] : key[s]))
            return bed_wrong(b, bed_stored(now_key, s == want ? a->key[i] : key[s], "stored"),
                             "bucket %u, slot %u holds key %llu", i, s, (unsigned long long)now_key);
        if (now_score != (s == want ? a->score[i] : score[s]))
            return bed_wrong(b, bed_stored(now_score, s == want ? a->score[i] : score[s], "score"),
                             "bucket %u, slot %u has score %llu", i, s, (unsigned long long)now_score);
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
    { "admission", "A new key whose score is lower than the victim's, in all 64 bits, is refused: it is worth less "
                   "than everything that "
                   "is there." },
    { "equal", "A new key gets the slot if its score is equal or higher: only a lower one is refused." },
    { "refused", "A new key whose score is equal or higher than the least one, in all 64 bits, gets the slot." },
    { "tie", "Of several entries with the least score the one in the first slot leaves." },
    { "victim", "Another entry should leave: the one with the least score, in all its 64 bits." },
    { "left", "The key that leaves is the one that was in the victim's slot: read it before the new key is stored." },
    { "stored", "The victim's slot, and no other, gets the new key." },
    { "score", "The slot must get the new key and also its score: otherwise it keeps the score of a key that left." },
    { "cost", "The kernel reads keys that stay. Read a key when it is known which one leaves." },
    { NULL, NULL },
};

const puzzle puzzle_evict = {
    "evict", "evict the least, exactly", "evict", 2, deal, check, idea, PUZZLE_SECTORS, NULL, 11.33, 14
};
