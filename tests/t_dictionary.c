/* SPDX-License-Identifier: Apache-2.0
 *
 * t_dictionary.c - tests of the judge of tables with a design that never evicts: a Hive table runs mixed batches
 * truthfully, and one copy of the oracle agrees. Then the test alters the results of the batch, or the table, and
 * another copy must object.
 */
#include <string.h>

#include "judge/oracle.h"
#include "base/op.h"
#include "tests/testing.h"

enum { ITEMS = 40, KEYS = 60 };

typedef struct trial {
    uint64_t r;
    hd_config config;
    hd_table *table;
    hd_oracle *oracle;
    uint64_t key[ITEMS];
    uint32_t value[ITEMS], value_out[ITEMS];
    uint8_t each[ITEMS], flag[ITEMS], outcome[ITEMS];
    hd_batch b;
    hd_info before;
} trial;

/* Two buckets of 8 and a stash that takes 7. */
static void trial_open(trial *t, uint64_t seed)
{
    memset(t, 0, sizeof *t);
    t->r = seed;
    t->config =
        test_usual(.design = "hive", .capacity = 16, .slots = 8, .value_bytes = 4, .seed = seed,
                   .hive.hashes = 2 + (uint32_t)(seed % 2), .layout = seed / 2 % 2 ? HD_LAYOUT_MASKS : HD_LAYOUT_WORDS);
    if (seed % 3 == 0) t->config.hive.spare = 0;
    must(hd_open(&t->config, &t->table));
    must(hd_oracle_open(&t->config, &t->oracle));
}

static void trial_close(trial *t)
{
    hd_close(t->table);
    hd_oracle_close(t->oracle);
}

static void trial_run(trial *t, uint64_t n, uint64_t inserts_of_8)
{
    for (uint64_t i = 0; i < n; i++) {
        do t->each[i] = (uint8_t)test_below(&t->r, HD_OP_COUNT_);
        while (!hd_op_does((hd_op)t->each[i], HD_MIXES));
        if (test_below(&t->r, 8) < inserts_of_8) t->each[i] = HD_OP_INSERT_OR_ASSIGN;
        t->key[i] = test_below(&t->r, 30) ? test_below(&t->r, KEYS) : 0xfffffffdu + test_below(&t->r, 3);
        t->value[i] = (uint32_t)test_random(&t->r);
        t->flag[i] = (uint8_t)test_below(&t->r, 3);
    }
    t->b = test_batch((hd_op)0, n, t->key, t->value, t->outcome);
    t->b.each = t->each, t->b.flag = t->flag, t->b.elem = HD_I32, t->b.value_out = t->value_out;
    must(hd_table_info(t->table, &t->before));
    must(hd_run(t->table, &t->b));
}

static const char *trial_judge(trial *t, hd_oracle *o)
{
    const char *wrong = hd_oracle_batch(o, t->table, &t->b, NULL, t->before.now, t->before.epoch);
    return wrong ? wrong : hd_oracle_compare(o, t->table);
}

/* ---- Lies ------------------------------------------------------------------------------------ */

typedef struct lie {
    const char *name, *word;                       /* of the sentence */
    bool (*doctor)(trial *t, const struct lie *l); /* false: no occasion */
    hd_outcome from, to;
} lie;

/* A random item with that outcome; b.n: none. */
static uint64_t item_with(trial *t, hd_outcome o)
{
    uint64_t n = t->b.n, first = test_below(&t->r, n);
    for (uint64_t k = 0; k < n; k++)
        if (t->outcome[(first + k) % n] == o) return (first + k) % n;
    return n;
}

static bool claim(trial *t, const lie *l)
{
    uint64_t i = item_with(t, l->from);
    if (i == t->b.n) return false;
    t->outcome[i] = (uint8_t)l->to;
    return true;
}

/* Pending, while the table has fewer entries than one bucket and the stash take. */
static bool claim_pending(trial *t, const lie *l)
{
    uint64_t size, i = item_with(t, HD_INSERTED), erased = 0;
    (void)l;
    must(hd_size_sync(t->table, &size));
    for (uint64_t k = 0; k < t->b.n; k++) erased += t->outcome[k] == HD_ERASED;
    if (i == t->b.n || size + erased >= 15) return false; /* there were never more than that */
    t->outcome[i] = HD_PENDING;
    return true;
}

/* Claims that all pending items were inserted: more entries than slots. For distinct keys without an erase. */
static bool claim_all(trial *t, const lie *l)
{
    enum { PLACES = 24 };
    uint64_t size, times[KEYS] = { 0 };
    must(hd_size_sync(t->table, &size));
    for (uint64_t i = 0; i < t->b.n; i++) {
        if (t->outcome[i] == HD_ERASED) return false;
        if (t->key[i] < KEYS) times[t->key[i]]++;
    }
    for (uint64_t i = 0; i < t->b.n; i++) {
        if (t->outcome[i] != l->from || times[t->key[i]] > 1) continue;
        t->outcome[i] = (uint8_t)l->to;
        size++;
    }
    return size > PLACES;
}

static bool other_value(trial *t, const lie *l)
{
    (void)l;
    for (uint64_t i = 0; i < t->b.n; i++) {
        if (t->outcome[i] != HD_HIT || (t->each[i] != HD_OP_FIND && t->each[i] != HD_OP_FIND_OR_INSERT)) continue;
        t->value_out[i] ^= 0x10000;
        return true;
    }
    return false;
}

static bool no_operation(trial *t, const lie *l)
{
    (void)l;
    t->each[test_below(&t->r, t->b.n)] = 200;
    return true;
}

static bool behind_its_back(trial *t, hd_op op, uint64_t key, hd_outcome wanted)
{
    uint32_t value = 12345;
    uint8_t outcome;
    hd_batch b = { .op = op, .n = 1, .key = &key, .value = &value, .outcome = &outcome };
    must(hd_run(t->table, &b));
    return outcome == wanted;
}

static bool lose(trial *t, const lie *l)
{
    (void)l;
    return behind_its_back(t, HD_OP_ERASE, test_below(&t->r, KEYS), HD_ERASED);
}

static bool change(trial *t, const lie *l)
{
    (void)l;
    return behind_its_back(t, HD_OP_ASSIGN, test_below(&t->r, KEYS), HD_UPDATED);
}

static bool bring(trial *t, const lie *l)
{
    (void)l;
    return behind_its_back(t, HD_OP_INSERT_OR_ASSIGN, KEYS + 5, HD_INSERTED);
}

static const lie lies[] = {
    { "pending, and there was room", "there was room", claim_pending, HD_INSERTED, HD_PENDING },
    { "a present key pending", "the key is present: updated expected", claim, HD_UPDATED, HD_PENDING },
    { "a miss for a key that is pending", "or pending, expected", claim, HD_PENDING, HD_MISS },
    { "evicted from a dictionary", "or pending, expected", claim, HD_INSERTED, HD_EVICTED },
    { "evicted where it was pending", "or pending, expected", claim, HD_PENDING, HD_EVICTED },
    { "refused by a dictionary", "or pending, expected", claim, HD_PENDING, HD_REFUSED },
    { "inserted into a full table", "the table was full", claim_all, HD_PENDING, HD_INSERTED },
    { "a hit for a key that is absent", "the key is absent: miss expected", claim, HD_MISS, HD_HIT },
    { "a miss pending", "the key is absent: miss expected", claim, HD_MISS, HD_PENDING },
    { "erased, and it was absent", "the key is absent: miss expected", claim, HD_MISS, HD_ERASED },
    { "a miss for a key that is there", "the key is present: hit expected", claim, HD_HIT, HD_MISS },
    { "erased, and it says updated", "erased expected", claim, HD_ERASED, HD_UPDATED },
    { "a new key updated", "or pending, expected", claim, HD_INSERTED, HD_UPDATED },
    { "an old key inserted", "updated expected", claim, HD_UPDATED, HD_INSERTED },
    { "a reserved key missed", "reserved", claim, HD_RESERVED, HD_MISS },
    { "an ordinary key reserved", "expected", claim, HD_UPDATED, HD_RESERVED },
    { "a pin", "expected", claim, HD_UPDATED, HD_PINNED },
    { "another value in a mixed batch", "delivered another value", other_value, HD_HIT, HD_HIT },
    { "an operation that is none", "no operation", no_operation, HD_HIT, HD_HIT },
    { "inserted, and nowhere", NULL, claim, HD_PENDING, HD_INSERTED },
    { "a key lost", NULL, lose, HD_HIT, HD_HIT },
    { "a value changed", NULL, change, HD_HIT, HD_HIT },
    { "a key from nowhere", NULL, bring, HD_HIT, HD_HIT },
};

static void lies_are_refused(void)
{
    uint64_t batches = 0, refused = 0;
    for (size_t k = 0; k < sizeof lies / sizeof *lies; k++) {
        uint64_t occasions = 0;
        for (uint64_t seed = 0; seed < test_times(100); seed++) {
            trial t;
            hd_oracle *witness;
            uint64_t warm = seed % 4;
            trial_open(&t, seed);
            for (uint64_t n = 0; n <= warm; n++, batches++) {
                trial_run(&t, seed % 5 ? ITEMS : 10, n == warm && seed % 3 == 0 ? 6 : 2);
                if (n == warm) break;
                const char *wrong = trial_judge(&t, t.oracle);
                check(!wrong, "a truthful batch was accused: %s", wrong);
            }
            test_case("%s, seed %llu", lies[k].name, (ull)seed);
            must(hd_oracle_copy(t.oracle, &witness));
            const char *wrong = trial_judge(&t, t.oracle);
            check(!wrong, "a truthful batch was accused: %s", wrong);
            if (lies[k].doctor(&t, &lies[k])) {
                wrong = trial_judge(&t, witness);
                check(wrong, "it was believed");
                check(!lies[k].word || strstr(wrong, lies[k].word), "it says: %s", wrong);
                occasions++;
            }
            hd_oracle_close(witness);
            trial_close(&t);
        }
        check(test_scale() > 1 || test_times(100) < 6 || occasions >= test_times(5), "%s: only %llu occasions",
              lies[k].name, (ull)occasions);
        refused += occasions;
    }
    test_note("%llu lies about %llu batches of a dictionary", (ull)refused, (ull)batches);
}

static const struct CMUnitTest dictionary[] = { unit(lies_are_refused) };

int main(void) { return test_run(dictionary); }
