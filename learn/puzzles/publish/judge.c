/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c - puzzle "publish": one block writes entries, another one reads them. In example 0 there is one entry. In
 * example 1 the reader looks for a key that never comes, half of which does come.
 */
#include "learn/puzzles/publish/given.h"
#include "learn/puzzles/puzzle.h"

enum { KEYS = 8, OLD = 7 };

static void deal(puzzle_bed *b)
{
    uint32_t n = b->example == 2 ? KEYS : 1;
    uint64_t *keys = (uint64_t *)bed_array(b, "slots", "slot", "keys", 8, n);
    uint64_t *values = (uint64_t *)bed_array(b, "slots", "slot", "values", 8, n);
    uint64_t *key = (uint64_t *)bed_input(b, "lanes", "lane", "key", 8, n);
    uint64_t *value = (uint64_t *)bed_input(b, "lanes", "lane", "value", 8, n);
    uint64_t *wanted = (uint64_t *)bed_input(b, "lanes", "lane", "wanted", 8, n);
    uint64_t *got = (uint64_t *)bed_array(b, "lanes", "lane", "got", 8, n);
    bed_numbers(b, key, n);
    bed_numbers(b, value, n);
    for (uint32_t i = 0; i < n; i++) {
        values[i] = OLD;
        wanted[i] = b->example == 1 || (n > 1 && !bed_below(b, 3)) ? bed_twin(b, key[i]) : key[i];
        got[i] = 77;
    }
    publish_args a = { keys, values, key, value, wanted, got, n };
    bed_launch(b, &a, sizeof a, 2, n + b->example / 2, n);
}

static const char *check(puzzle_bed *b)
{
    const publish_args *a = (const publish_args *)(const void *)b->args;
    for (uint32_t i = 0; i < a->n; i++) {
        const char *by = bed_stored(a->keys[i], a->key[i], bed_stored(a->values[i], a->value[i], "not written"));
        if (a->keys[i] != a->key[i] || a->values[i] != a->value[i])
            return bed_wrong(b, by, "slot %u holds key %llu and value %llu at the end", i,
                             (unsigned long long)a->keys[i], (unsigned long long)a->values[i]);
    }
    for (uint32_t i = 0; i < a->n; i++) {
        const char *by;
        bool there = a->wanted[i] == a->key[i];
        b->reached |= there && a->got[i] == a->value[i];
        by = a->got[i] == OLD ? "half" : there ? bed_stored(a->got[i], a->value[i], "value") : "value";
        if (a->got[i] != ABSENT && (a->got[i] != a->value[i] || !there))
            return bed_wrong(b, by, "lane %u read %llu; the value of its key is %llu", i, (unsigned long long)a->got[i],
                             (unsigned long long)a->value[i]);
    }
    return NULL;
}

static const puzzle_idea idea[] = {
    { "data race", "Nothing orders the two accesses. The writer stores first the value and then the key, with release; "
                   "the reader loads the key with acquire. Who sees the key then sees the value." },
    { "half", "The reader saw the key and not yet its value. The order of two stores in the text is not the order in "
              "which they become visible: only release and acquire make it so." },
    { "value",
      "The reader reports a value only if the slot holds the key that it looks for, in all its 64 bits, and then the "
      "one in the slot." },
    { "never found",
      "The reader finds no key, not even one that is there already. When the slot holds the wanted key, it "
      "reports the value." },
    { "not written", "Block 0 must write both, the key and the value." },
    { "endless", "The reader does not wait: when the key is not there, it reports ABSENT." },
    { NULL, NULL },
};

const puzzle puzzle_publish = {
    "publish", "publish the key after the value", "publish", 3, deal, check, idea, PUZZLE_SECTORS, "never found", 2.13,
    0
};
