/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c - puzzle "publish": one block writes entries, another one reads them. In example 0 there is one entry. In
 * example 1 the reader looks for a key that never comes.
 */
#include "puzzles/publish/given.h"
#include "puzzles/puzzle.h"

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
    for (uint32_t i = 0; i < n; i++) {
        key[i] = 101 + i;
        value[i] = 1001 + i;
        values[i] = OLD;
        wanted[i] = b->example == 1 || i % 4 == 3 ? 999 : key[i];
        got[i] = 77;
    }
    publish_args a = { keys, values, key, value, wanted, got, n };
    bed_launch(b, &a, sizeof a, 2, n, n);
}

static const char *check(puzzle_bed *b)
{
    const publish_args *a = (const publish_args *)(const void *)b->args;
    for (uint32_t i = 0; i < a->n; i++) {
        if (a->got[i] != ABSENT && (a->got[i] != a->value[i] || a->wanted[i] != a->key[i]))
            return bed_wrong(b, a->got[i] == OLD ? "half" : "value", "lane %u read %llu; the value of its key is %llu",
                             i, (unsigned long long)a->got[i], (unsigned long long)a->value[i]);
        if (a->keys[i] != a->key[i] || a->values[i] != a->value[i])
            return bed_wrong(b, "not written", "slot %u holds key %llu and value %llu at the end", i,
                             (unsigned long long)a->keys[i], (unsigned long long)a->values[i]);
    }
    return NULL;
}

static const puzzle_idea idea[] = {
    { "data race", "Nothing orders the two accesses. The writer stores first the value and then the key, with release; "
                   "the reader loads the key with acquire. Who sees the key then sees the value." },
    { "half", "The reader saw the key and not yet its value. The order of two stores in the text is not the order in "
              "which they become visible: only release and acquire make it so." },
    { "value", "The reader must report the value that is in the slot, or ABSENT." },
    { "not written", "Block 0 must write both, the key and the value." },
    { "endless", "The reader does not wait: when the key is not there, it reports ABSENT." },
    { NULL, NULL },
};

const puzzle puzzle_publish = {
    "publish", "publish the key after the value", "publish", 3, deal, check, idea, PUZZLE_SECTORS, 2.25, 0
};
