/* SPDX-License-Identifier: Apache-2.0
 *
 * t_api.c - every keyed operation does what its line in heddle.h says, in single and in dual mode, and in a dictionary
 * if it has the operation. The tests also serve as examples.
 */
#include <stdlib.h>
#include <string.h>

#include "heddle_calls.h"
#include "tests/model.h"

enum { N = 8, UNTOUCHED = 0x5a };

typedef enum mode { SINGLE, DUAL, DICTIONARY } mode;

/* One table and one batch's worth of arrays, all outputs filled with UNTOUCHED before each run. */
static struct {
    hd_table *table;
    uint64_t value_out[N], score_out[N], list_key[N], list_value[N], list_score[N], list_item[N], count;
    void *ptr[N];
    uint8_t fate[N], found[N]; /* found: hd_batch.found, as bytes */
    bool unlocks;              /* the last run was unlock_keys */
    mode kind;
    uint32_t value_bytes, narrow[N], narrow_out[N]; /* narrow: values as a dictionary has them */
} x;

static uint64_t untouched(void)
{
    uint64_t v;
    memset(&v, UNTOUCHED, sizeof v);
    return v;
}

/* A dictionary knows no policy. */
static void open_table(const char *policy, mode m, uint64_t buckets, uint32_t slots)
{
    hd_config c = hd_config_of(m == DICTIONARY ? "hive" : "hkv");
    c.backend = test_backend("ref");
    if (m != DICTIONARY) {
        c.policy = policy;
        c.hkv.dual = m == DUAL;
        c.hkv.pins = 4;
    }
    c.capacity = buckets * slots;
    c.slots = slots;
    x.kind = m;
    x.value_bytes = c.value_bytes;
    test_case("%s policy=%s buckets=%llu slots=%u%s", c.design, c.policy, (ull)buckets, slots,
              c.hkv.dual ? " dual" : "");
    must(hd_open(&c, &x.table));
}

/* The score that the table reports: 0 for a dictionary. */
static uint64_t scored(uint64_t score) { return x.kind == DICTIONARY ? 0 : score; }

static void narrow(hd_batch *b)
{
    memset(x.narrow_out, UNTOUCHED, sizeof x.narrow_out);
    for (uint64_t i = 0; b->value && i < b->n; i++) x.narrow[i] = (uint32_t)((const uint64_t *)b->value)[i];
    if (b->value) b->value = x.narrow;
    b->value_out = x.narrow_out;
}

static void widen(void)
{
    for (int i = 0; i < N; i++)
        if (x.narrow_out[i] != (uint32_t)untouched()) x.value_out[i] = x.narrow_out[i];
}

/* Runs b with every output there is. */
static void run(hd_batch b)
{
    memset(x.value_out, UNTOUCHED, sizeof x.value_out);
    memset(x.score_out, UNTOUCHED, sizeof x.score_out);
    memset(x.list_key, UNTOUCHED, sizeof x.list_key);
    memset(x.list_value, UNTOUCHED, sizeof x.list_value);
    memset(x.list_score, UNTOUCHED, sizeof x.list_score);
    memset(x.list_item, UNTOUCHED, sizeof x.list_item);
    memset(x.ptr, UNTOUCHED, sizeof x.ptr);
    memset(x.fate, UNTOUCHED, sizeof x.fate);
    memset(x.found, UNTOUCHED, sizeof x.found);
    x.unlocks = !b.each && b.op == HD_OP_UNLOCK_KEYS;
    x.count = untouched();
    b.outcome = x.fate;
    b.found = (bool *)(void *)x.found;
    b.value_out = x.value_out;
    b.score_out = x.score_out;
    b.ptr = x.ptr;
    b.list_key = x.list_key;
    b.list_value = x.list_value;
    b.list_score = x.list_score;
    b.list_item = x.list_item;
    b.count = &x.count;
    if (x.kind == DICTIONARY) narrow(&b);
    must(test_in_order(x.table, &b));
    if (x.kind == DICTIONARY) widen();
    check(b.ran && strstr(b.ran, b.each ? "mixed" : hd_op_name(b.op)), "ran %s", b.ran ? b.ran : "NULL");
}

/* The outcomes of the last run, one letter each: Miss Hit Inserted Updated Evicted reFused reServed eRased Pinned
 * peNding. */
static const char *fates(uint64_t n)
{
    static char text[N + 1];
    for (uint64_t i = 0; i < n; i++) text[i] = x.fate[i] < HD_OUTCOME_COUNT ? "MHIUEFSRPN"[x.fate[i]] : '?';
    text[n] = 0;
    return text;
}

/* hd_batch.found of the last run: "10" of two items of which the first found its key. */
static void expect_found(const char *want)
{
    size_t n = strlen(want);
    for (size_t i = 0; i < n; i++)
        check(x.found[i] == (want[i] == '1'), "item %d: found is %d, the outcome %s", (int)i, x.found[i],
              hd_outcome_name((hd_outcome)x.fate[i]));
    for (size_t i = n; i < N; i++) check(x.found[i] == UNTOUCHED, "`found` beyond the batch");
}

static void expect(const char *want)
{
    char found[N + 1];
    size_t n = strlen(want);
    check(!strcmp(fates(n), want), "outcomes %s instead of %s", fates(n), want);
    for (size_t i = n; i < N; i++) check(x.fate[i] == UNTOUCHED, "an outcome beyond the batch");
    for (size_t i = 0; i < n; i++) found[i] = strchr("HURP", want[i]) ? '1' : '0';
    found[n] = 0;
    if (!x.unlocks) expect_found(found);
}

/* Runs b with every output there is, which has these outcomes. */
static void gives(const char *want, hd_batch b)
{
    run(b);
    expect(want);
}

static void put(const uint64_t *key, uint64_t n, const uint64_t *value, const uint64_t *score)
{
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = n, .key = key, .value = value, .score = score };
    run(b);
}

static uint64_t value_of(uint64_t key)
{
    gives("H", (hd_batch){ .op = HD_OP_FIND, .n = 1, .key = &key });
    return x.value_out[0];
}

static uint64_t score_of(uint64_t key)
{
    gives("H", (hd_batch){ .op = HD_OP_FIND, .n = 1, .key = &key });
    return x.score_out[0];
}

static bool is_there(uint64_t key)
{
    run((hd_batch){ .op = HD_OP_CONTAINS, .n = 1, .key = &key });
    return x.fate[0] == HD_HIT;
}

static uint64_t size(void)
{
    uint64_t n;
    must(hd_size_sync(x.table, &n));
    return n;
}

static void done(void)
{
    must(hd_check(x.table));
    hd_close(x.table);
}

static const uint64_t k123[] = { 1, 2, 3 }, v123[] = { 101, 102, 103 }, s123[] = { 11, 12, 13 };
/* present, absent, three reserved, present again */
static const uint64_t asked[] = { 2, 9, HD_KEY_EMPTY, HD_KEY_LOCKED, HD_KEY_RESERVED, 2, 3 };

/* ---- Readers --------------------------------------------------------------------------------- */

static void find(mode m)
{
    open_table("custom", m, 4, 8);
    put(k123, 3, v123, s123);
    expect("III");
    gives("HMSSSHH", (hd_batch){ .op = HD_OP_FIND, .n = 7, .key = asked });
    check(x.value_out[0] == 102 && x.value_out[5] == 102 && x.value_out[6] == 103, "values");
    check(x.score_out[0] == scored(12) && x.score_out[5] == scored(12) && x.score_out[6] == scored(13), "scores");
    for (int i = 1; i < 5; i++)
        check(x.value_out[i] == untouched() && x.score_out[i] == untouched(), "item %d found nothing, and wrote", i);
    check(x.count == untouched() && x.list_key[0] == untouched(), "find has no list");
    for (int i = 0; i < 7; i++) check((uintptr_t)x.ptr[i] == untouched(), "find has no pointers");
    check(score_of(2) == scored(12), "find touched a score");

    gives("HMSSSHH", (hd_batch){ .op = HD_OP_CONTAINS, .n = 7, .key = asked });
    check(x.value_out[0] == untouched() && x.score_out[0] == untouched(), "contains delivers nothing");
    done();
}

static void find_with_few_outputs(mode m)
{
    open_table("lru", m, 4, 8);
    put(k123, 3, v123, NULL);
    uint64_t value = 0, score = 0;
    uint8_t fate = 9;
    bool found = false;
    hd_batch b = { .op = HD_OP_FIND, .n = 1, .key = k123 };
    must(hd_run(x.table, &b)); /* no output at all is allowed */
    b.outcome = &fate;
    must(hd_run(x.table, &b));
    check(fate == HD_HIT, "outcome alone");
    b.outcome = NULL;
    b.found = &found;
    must(hd_run(x.table, &b));
    check(found, "found alone");
    b.found = NULL;
    b.value_out = &value;
    must(hd_run(x.table, &b));
    check(value == 101, "value alone");
    b.value_out = NULL;
    b.score_out = &score;
    must(hd_run(x.table, &b));
    check(score == 0, "score alone: key 1 was inserted at tick 0");
    b.n = 0;
    b.key = NULL;
    must(hd_run(x.table, &b)); /* and so is nothing to do */
    done();
}

static void find_ptr(mode m)
{
    open_table("custom", m, 4, 8);
    put(k123, 3, v123, s123);
    gives("HMSSSHH", (hd_batch){ .op = HD_OP_FIND_PTR, .n = 7, .key = asked });
    for (int i = 1; i < 5; i++) check((uintptr_t)x.ptr[i] == untouched(), "item %d found nothing, and wrote", i);
    check(x.ptr[0] == x.ptr[5] && x.ptr[0] != x.ptr[6], "one pointer per entry");
    check(x.score_out[6] == scored(13) && x.value_out[0] == untouched(), "score, and no value");
    uint64_t value = 0;
    test_peek(&value, x.ptr[0], x.value_bytes);
    check(value == 102, "it points to %llu", (ull)value);
    value = 777;
    test_poke(x.ptr[0], &value, x.value_bytes);
    check(value_of(2) == 777, "what is written through it is found");
    done();
}

static void find_missed(mode m)
{
    const uint64_t keys[] = { 50, 1, 51, HD_KEY_EMPTY, 2, 50, 52 };
    open_table("custom", m, 4, 8);
    put(k123, 3, v123, s123);
    gives("MHMSHMM", (hd_batch){ .op = HD_OP_FIND_MISSED, .n = 7, .key = keys });
    check(x.count == 4, "%llu missed", (ull)x.count);
    const uint64_t missed[] = { 50, 51, 50, 52 }, item[] = { 0, 2, 5, 6 };
    check(!memcmp(x.list_key, missed, sizeof missed) && !memcmp(x.list_item, item, sizeof item),
          "missed keys and items, in item order");
    check(x.list_key[4] == untouched() && x.list_value[0] == untouched(), "nothing beyond the list, and keys only");
    check(x.value_out[1] == 101 && x.score_out[4] == scored(12) && x.value_out[0] == untouched(),
          "the others are found");
    check(size() == 3, "and nothing is inserted");
    run((hd_batch){ .op = HD_OP_FIND_MISSED, .n = 3, .key = k123 });
    check(x.count == 0, "none missed");

    const uint64_t reserved[] = { HD_KEY_RESERVED, 50, HD_KEY_LOCKED, 1, HD_KEY_EMPTY };
    hd_batch only = test_batch(HD_OP_FIND_MISSED, 5, reserved, NULL, NULL);
    test_lists(&only, x.list_key, NULL, NULL, x.list_item, &x.count);
    memset(x.list_key, UNTOUCHED, sizeof x.list_key);
    must(hd_run(x.table, &only));
    check(x.count == 1 && x.list_key[0] == 50 && x.list_item[0] == 1 && x.list_key[1] == untouched(),
          "without outcomes: reserved keys are not missed");
    done();
}

/* ---- Updaters -------------------------------------------------------------------------------- */

static void touch(bool dual)
{
    open_table("lfu", dual ? DUAL : SINGLE, 4, 8);
    put(k123, 3, v123, s123);
    const uint64_t more[] = { 5, 6, 7, 8, 9, UINT64_MAX, 0 };
    gives("HMSSSHH", (hd_batch){ .op = HD_OP_TOUCH, .n = 7, .key = asked, .score = more });
    check(x.score_out[0] == 17 && x.score_out[5] == UINT64_MAX && x.score_out[6] == 13,
          "the new scores, which saturate");
    check(x.value_out[0] == 102 && x.value_out[1] == untouched() && x.score_out[1] == untouched(),
          "values of hits alone");
    uint64_t value = 0;
    test_peek(&value, x.ptr[0], x.value_bytes);
    check(value == 102 && x.ptr[5] == x.ptr[0] && x.ptr[6] != x.ptr[0], "pointers to the values of hits");
    for (int i = 1; i < 5; i++)
        check((uintptr_t)x.ptr[i] == untouched(), "item %d found nothing, and has a pointer", i);
    value = 502;
    test_poke(x.ptr[0], &value, x.value_bytes);
    check(value_of(2) == 502, "what is written through it is found");
    check(score_of(2) == UINT64_MAX && size() == 3, "and they stay; nothing is inserted");
    run((hd_batch){ .op = HD_OP_TOUCH, .n = 3, .key = k123 });
    check(x.score_out[0] == 12 && x.score_out[1] == UINT64_MAX && x.score_out[2] == 14, "without scores: by 1");
    done();

    open_table("lru", dual ? DUAL : SINGLE, 4, 8);
    put(k123, 3, v123, NULL);
    run((hd_batch){ .op = HD_OP_TOUCH, .n = 3, .key = (const uint64_t[]){ 3, 1, 3 } });
    check(x.score_out[0] == 3 && x.score_out[1] == 4 && x.score_out[2] == 5, "the time of the touch");
    done();
}

static hd_batch raw(hd_op op, uint64_t n, const uint64_t *key, const uint64_t *value, const uint64_t *score)
{
    return (hd_batch){ .op = op, .n = n, .key = key, .value = value, .score = score, .raw_scores = true };
}

/* Whatever the policy, a batch with raw scores stores them: of new entries, of hits. A full bucket compares them. */
static void raw_scores(bool dual)
{
    static const char *const policies[] = { "lru", "lfu", "epoch_lru", "epoch_lfu", "custom" };
    const uint64_t high[] = { 1ull << 60, 2, UINT64_MAX }, low[] = { 5, 6, 7 };
    for (size_t k = 0; k < sizeof policies / sizeof *policies; k++) {
        uint64_t key[4], value = 1, less = 99, same = 100;
        open_table(policies[k], dual ? DUAL : SINGLE, 4, 8);
        must(hd_epoch_set(x.table, 3));
        gives("III", raw(HD_OP_INSERT_OR_ASSIGN, 3, k123, v123, high));
        for (int i = 0; i < 3; i++) check(score_of(k123[i]) == high[i], "%s: the score of a new entry", policies[k]);
        gives("HHH", raw(HD_OP_TOUCH, 3, k123, NULL, low));
        for (int i = 0; i < 3; i++)
            check(x.score_out[i] == low[i], "%s: of a hit, which may fall: %llu", policies[k], (ull)x.score_out[i]);
        for (int i = 0; i < 3; i++) check(score_of(k123[i]) == low[i], "%s: and so it stays", policies[k]);
        gives("U", raw(HD_OP_ASSIGN_SCORES, 1, k123, NULL, high));
        check(score_of(1) == high[0] && value_of(1) == 101, "%s: the score alone", policies[k]);
        run((hd_batch){ .op = HD_OP_TOUCH, .n = 1, .key = k123 + 1, .score = low });
        const uint64_t e = 3ull << 32, then[] = { 15, 11, e + 15, e + 11, 5 };
        check(score_of(2) == then[k], "%s: later hits go on from there: %llu", policies[k], (ull)score_of(2));
        run((hd_batch){ .op = HD_OP_ASSIGN_VALUES, .n = 1, .key = k123, .value = v123 + 1, .raw_scores = true });
        expect("U"); /* it does not score */
        check(score_of(1) == high[0] && value_of(1) == 102, "%s: no score is read", policies[k]);
        done();

        open_table(policies[k], dual ? DUAL : SINGLE, dual ? 2 : 1, dual ? 2 : 4);
        for (uint64_t i = 0; i < 4; i++) {
            key[i] = 1000 + i;
            const uint64_t score = 100 + i;
            gives("I", raw(HD_OP_INSERT_OR_ASSIGN, 1, &key[i], key, &score));
        }
        gives("F", raw(HD_OP_INSERT_AND_EVICT, 1, k123, &value, &less));
        check(x.count == 1 && x.list_key[0] == 1 && x.list_score[0] == 99, "%s: refused, with its score", policies[k]);
        gives("E", raw(HD_OP_INSERT_AND_EVICT, 1, k123, &value, &same));
        check(x.list_key[0] == 1000 && x.list_score[0] == 100, "%s: the least is evicted", policies[k]);
        done();
    }
}

static void assign(mode m)
{
    const uint64_t keys[] = { 2, 9, HD_KEY_RESERVED, 3 }, values[] = { 202, 209, 1, 203 }, scores[] = { 1, 2, 3, 4 };
    open_table("custom", m, 4, 8);
    put(k123, 3, v123, s123);
    gives("UMSU", (hd_batch){ .op = HD_OP_ASSIGN, .n = 4, .key = keys, .value = values, .score = scores });
    check(value_of(2) == 202 && score_of(2) == scored(1) && value_of(3) == 203 && score_of(3) == scored(4),
          "value and score");
    check(value_of(1) == 101 && score_of(1) == scored(11) && size() == 3, "and nothing else");

    const uint64_t others[] = { 302, 309, 1, 303 }, falls[] = { 0, 0, 0, 0 };
    gives("UMSU", (hd_batch){ .op = HD_OP_ASSIGN_VALUES, .n = 4, .key = keys, .value = others });
    check(value_of(2) == 302 && score_of(2) == scored(1) && value_of(3) == 303 && score_of(3) == scored(4),
          "the value alone");
    if (m == DICTIONARY) {
        done();
        return;
    }
    gives("UMSU", (hd_batch){ .op = HD_OP_ASSIGN_SCORES, .n = 4, .key = keys, .score = falls });
    check(value_of(2) == 302 && score_of(2) == 0 && value_of(3) == 303 && score_of(3) == 0 && size() == 3,
          "the score alone");
    done();
}

/* ---- Inserters ------------------------------------------------------------------------------- */

static void insert_or_assign(mode m)
{
    const uint64_t keys[] = { 5, 6, 5, HD_KEY_LOCKED, 6, 5 }, values[] = { 1, 2, 3, 4, 5, 6 };
    open_table("lru", m, 4, 8);
    put(keys, 6, values, NULL);
    expect("IIUSUU");
    check(size() == 2 && value_of(5) == 6 && value_of(6) == 5, "the last of a key wins");
    check(score_of(5) == scored(5) && score_of(6) == scored(4), "at its own time");
    check(x.list_key[0] == untouched() && x.count == untouched(), "there is no list");
    done();
}

/* Keys that share both candidate buckets 0 and 1 of two; enough to overfill them. */
static void fill(uint64_t *key, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        key[i] = 1000 + i;
        uint64_t value = i, score = 100 + i;
        put(&key[i], 1, &value, &score);
    }
}

static void full_table(bool dual)
{
    uint64_t key[4], value[] = { 7, 8 };
    open_table("custom", dual ? DUAL : SINGLE, dual ? 2 : 1, dual ? 2 : 4);
    fill(key, 4);
    expect("I");
    check(size() == 4, "full");
    double load;
    must(hd_load_factor_sync(x.table, &load));
    check(load == 1.0, "load factor %f", load);

    /* refused, and said so: its own key, value and score; and then admitted, by an equal score */
    const uint64_t late[] = { 1, 2 }, scores[] = { 99, 100 };
    gives("FE", (hd_batch){ .op = HD_OP_INSERT_AND_EVICT, .n = 2, .key = late, .value = value, .score = scores });
    check(x.count == 2 && x.list_item[0] == 0 && x.list_item[1] == 1, "the list has both");
    check(x.list_key[0] == 1 && x.list_value[0] == 7 && x.list_score[0] == 99, "who was refused");
    check(x.list_key[1] == 1000 && x.list_value[1] == 0 && x.list_score[1] == 100, "who left");
    check(!is_there(1) && is_there(2) && !is_there(1000) && size() == 4, "and so it is");

    /* a hit never evicts and is never refused, whatever its score */
    const uint64_t low = 0;
    gives("U", (hd_batch){ .op = HD_OP_INSERT_AND_EVICT, .n = 1, .key = &key[3], .value = value, .score = &low });
    check(x.count == 0 && score_of(key[3]) == 0 && value_of(key[3]) == 7, "updated in place");

    /* an erased slot is empty at once */
    gives("RM", (hd_batch){ .op = HD_OP_ERASE, .n = 2, .key = (const uint64_t[]){ 2, 2 } });
    put(late, 1, value, &low);
    expect("I");
    done();
}

/* Admission: no one is refused by a table that always admits. */
static void admit_always(bool dual)
{
    uint64_t key[4], value = 7, newcomer = 5, low = 0;
    test_case("admit always%s", dual ? " dual" : "");
    x.table = test_table(.backend = test_backend("ref"), .policy = "custom", .hkv.admit = HD_ADMIT_ALWAYS,
                         .hkv.dual = dual, .slots = dual ? 2 : 4, .capacity = 4, .value_bytes = 8);
    fill(key, 4);
    gives("E", (hd_batch){ .op = HD_OP_INSERT_AND_EVICT, .n = 1, .key = &newcomer, .value = &value, .score = &low });
    check(x.list_key[0] == 1000 && x.list_score[0] == 100, "the least leaves");
    done();
}

static void find_or_insert(mode m)
{
    const uint64_t keys[] = { 2, 9, HD_KEY_EMPTY, 9 }, values[] = { 202, 209, 1, 219 };
    open_table("lfu", m, 4, 8);
    put(k123, 3, v123, s123);
    gives("HISH", (hd_batch){ .op = HD_OP_FIND_OR_INSERT, .n = 4, .key = keys, .value = values });
    check(x.value_out[0] == 102 && x.score_out[0] == scored(13),
          "present: the value that was there, and its new score");
    check(x.value_out[1] == untouched() && x.score_out[1] == untouched(), "absent: nothing was found");
    check(x.value_out[3] == 209 && x.score_out[3] == scored(2), "and then it is present");
    check(value_of(2) == 102 && value_of(9) == 209, "values in the table");
    done();
    if (m == DICTIONARY) return;

    bool dual = m == DUAL;
    uint64_t key[4], low = 0, value = 7, newcomer = 5;
    open_table("custom", dual ? DUAL : SINGLE, dual ? 2 : 1, dual ? 2 : 4);
    fill(key, 4);
    gives("F", (hd_batch){ .op = HD_OP_FIND_OR_INSERT, .n = 1, .key = &newcomer, .value = &value, .score = &low });
    check(x.value_out[0] == untouched() && size() == 4, "refused");
    done();
}

static void find_or_insert_ptr(bool dual)
{
    const uint64_t keys[] = { 2, 9, HD_KEY_EMPTY, 9 };
    open_table("lfu", dual ? DUAL : SINGLE, 4, 8);
    put(k123, 3, v123, s123);
    gives("HISH", (hd_batch){ .op = HD_OP_FIND_OR_INSERT_PTR, .n = 4, .key = keys });
    uint64_t value;
    test_peek(&value, x.ptr[0], 8);
    check(value == 102, "present: its value");
    test_peek(&value, x.ptr[1], 8);
    check(value == 0 && x.ptr[1] == x.ptr[3] && (uintptr_t)x.ptr[2] == untouched(), "absent: a zeroed one");
    check(score_of(2) == 13 && score_of(9) == 2, "rescored");

    /* a slot that had another value before is zeroed too */
    gives("RRR", (hd_batch){ .op = HD_OP_ERASE, .n = 3, .key = k123 });
    gives("III", (hd_batch){ .op = HD_OP_FIND_OR_INSERT_PTR, .n = 3, .key = k123 });
    for (uint64_t key = 1; key <= 3; key++)
        check(value_of(key) == 0, "key %llu has %llu", (ull)key, (ull)value_of(key));
    done();

    uint64_t key[4], newcomer = 5, score = 1000;
    open_table("custom", dual ? DUAL : SINGLE, dual ? 2 : 1, dual ? 2 : 4);
    fill(key, 4);
    gives("E", (hd_batch){ .op = HD_OP_FIND_OR_INSERT_PTR, .n = 1, .key = &newcomer, .score = &score });
    check(value_of(5) == 0, "so is the slot of one who left");
    done();
}

/* Four times as many new keys in one batch as the table has slots: most items lose their entry to a later one. */
static void pointers_of_a_full_table(const char *backend, const char *policy, bool dual)
{
    enum { SLOTS = 32, KEYS = 8 * SLOTS };
    static uint64_t key[KEYS];
    static void *p[KEYS], *found[KEYS];
    static uint8_t outcome[KEYS];
    hd_table *t;
    uint64_t kept = 0;
    test_case("find_or_insert_ptr on %s, %s%s", backend, policy, dual ? ", dual" : "");
    hd_config c = test_usual(.backend = backend, .policy = policy, .capacity = 2 * SLOTS, .slots = SLOTS,
                             .value_bytes = 8, .hkv.dual = dual);
    must(hd_open(&c, &t));
    for (uint64_t i = 0; i < KEYS; i++) key[i] = i + 1, p[i] = &c, found[i] = NULL;
    must(hd_find_or_insert_ptr(t, KEYS, key, NULL, p, outcome));
    must(hd_find_ptr(t, KEYS, key, found, NULL));
    for (uint64_t i = 0; i < KEYS; i++) {
        kept += p[i] != NULL;
        check(p[i] == found[i], "key %llu (%s): the pointer is %s", (ull)key[i],
              hd_outcome_name((hd_outcome)outcome[i]), p[i] ? "not its entry's" : "NULL, and it has an entry");
        check(outcome[i] != HD_REFUSED || !p[i], "key %llu was refused, and has a pointer", (ull)key[i]);
    }
    check(kept == 2 * SLOTS, "%llu of %d entries have a pointer", (ull)kept, 2 * SLOTS);
    hd_close(t);
}

static void pointers_belong_to_their_keys(void)
{
    const char *const backends[] = { test_backend("ref"), "host" }, *const policies[] = { "lru", "lfu" };
    for (int k = 0; k < 8; k++) pointers_of_a_full_table(backends[k / 4], policies[k / 2 % 2], k % 2);
}

/* ---- Pins ------------------------------------------------------------------------------------ */

static void lock(const uint64_t *key, uint64_t n, uint64_t holder)
{
    run((hd_batch){ .op = HD_OP_LOCK_KEYS, .n = n, .key = key, .holder = holder });
}
static void unlock(const uint64_t *key, uint64_t n, uint64_t holder)
{
    run((hd_batch){ .op = HD_OP_UNLOCK_KEYS, .n = n, .key = key, .holder = holder });
}

static void pins(bool dual)
{
    open_table("lfu", dual ? DUAL : SINGLE, 4, 8);
    put(k123, 3, v123, s123);
    lock(asked, 7, 55);
    expect("HMSSSPH"); /* the second time it is pinned already */
    uint64_t value;
    test_peek(&value, x.ptr[0], 8);
    check(value == 102 && x.ptr[5] == x.ptr[0] && (uintptr_t)x.ptr[1] == untouched(), "pointers to the pinned values");

    /* a pinned entry can be read, but not changed */
    const uint64_t keys[] = { 2, 1 }, values[] = { 7, 8 };
    gives("HH", (hd_batch){ .op = HD_OP_FIND, .n = 2, .key = keys });
    gives("PH", (hd_batch){ .op = HD_OP_TOUCH, .n = 2, .key = keys });
    check(x.value_out[0] == 102 && x.score_out[0] == 12, "a touch delivers, and changes nothing");
    uint64_t pinned = 0;
    test_peek(&pinned, x.ptr[0], 8);
    check(pinned == 102 && x.ptr[1], "it delivers pointers, too");
    gives("PU", (hd_batch){ .op = HD_OP_ASSIGN, .n = 2, .key = keys, .value = values });
    gives("PU", (hd_batch){ .op = HD_OP_ASSIGN_VALUES, .n = 2, .key = keys, .value = values });
    gives("PU", (hd_batch){ .op = HD_OP_ASSIGN_SCORES, .n = 2, .key = keys });
    gives("PU", (hd_batch){ .op = HD_OP_ACCUM_OR_ASSIGN, .n = 2, .key = keys, .value = values, .elem = HD_U64 });
    gives("PU", (hd_batch){ .op = HD_OP_INSERT_OR_ASSIGN, .n = 2, .key = keys, .value = values });
    gives("PU", (hd_batch){ .op = HD_OP_INSERT_AND_EVICT, .n = 2, .key = keys, .value = values });
    check(x.count == 0, "an entry left");
    gives("PH", (hd_batch){ .op = HD_OP_FIND_OR_INSERT, .n = 2, .key = keys, .value = values });
    check(x.value_out[0] == 102 && x.score_out[0] == 12, "find_or_insert delivers");
    gives("PH", (hd_batch){ .op = HD_OP_FIND_OR_INSERT_PTR, .n = 2, .key = keys });
    gives("PR", (hd_batch){ .op = HD_OP_ERASE, .n = 2, .key = keys });
    run((hd_batch){ .op = HD_OP_ERASE_IF, .pred = "all" });
    check(x.count == 0 && size() == 2 && value_of(2) == 102 && score_of(2) == 12, "2 and 3 are as they were");

    unlock(keys, 2, 56);
    expect("PM"); /* another holder's; not there */
    expect_found("10");
    unlock(asked, 7, 55);
    expect("HMSSSMH");
    expect_found("1000011"); /* the second time it is there, and not pinned */
    unlock(keys, 1, 55);
    expect("M");
    expect_found("1");
    run((hd_batch){ .op = HD_OP_ERASE_IF, .pred = "all" });
    check(x.count == 2 && size() == 0, "unpinned they go");
    done();
}

static void pins_in_a_full_table(bool dual)
{
    uint64_t key[4], newcomer = 5, value = 1, high = UINT64_MAX;
    open_table("custom", dual ? DUAL : SINGLE, dual ? 2 : 1, dual ? 2 : 4);
    fill(key, 4);
    lock(key, 3, 1);
    expect("HHH");
    gives("E", (hd_batch){ .op = HD_OP_INSERT_AND_EVICT, .n = 1, .key = &newcomer, .value = &value, .score = &high });
    check(x.list_key[0] == key[3], "the one that was not pinned left, whatever the scores");
    lock(&newcomer, 1, 2);
    expect("H");
    gives("F", (hd_batch){ .op = HD_OP_INSERT_AND_EVICT, .n = 1, .key = &key[3], .value = &value, .score = &high });
    check(x.count == 1 && x.list_key[0] == key[3] && x.list_score[0] == high, "all are pinned: refused");
    must(hd_check(x.table));
    must(hd_clear(x.table));
    check(size() == 0, "clear takes entries and pins");
    put(key, 4, key, key);
    expect("IIII");
    gives("RRRR", (hd_batch){ .op = HD_OP_ERASE, .n = 4, .key = key });
    done();
}

/* There is no largest number of pins. */
static void every_entry_pinned(bool dual)
{
    const uint64_t keys[] = { 1, 2, 3, 4, 5, 6 };
    open_table("lru", dual ? DUAL : SINGLE, 4, 8);
    put(keys, 6, keys, NULL);
    lock(keys, 6, 9);
    expect("HHHHHH");
    gives("PPPPPP", (hd_batch){ .op = HD_OP_ERASE, .n = 6, .key = keys });
    unlock(keys + 1, 1, 9);
    expect("H");
    gives("PRPPPP", (hd_batch){ .op = HD_OP_ERASE, .n = 6, .key = keys });
    done();
}

/* find_or_insert with a holder pins what it finds and what it inserts. */
static void find_and_pin(bool dual)
{
    static const hd_op ops[] = { HD_OP_FIND_OR_INSERT, HD_OP_FIND_OR_INSERT_PTR };
    const uint64_t keys[N] = { 1, 2, 3, 4, 5, 6, 1, 5 };
    for (size_t o = 0; o < 2; o++) {
        open_table("custom", dual ? DUAL : SINGLE, 4, 8);
        put(keys, 3, keys, keys);
        lock(keys + 1, 1, 8);
        run((hd_batch){ .op = ops[o], .n = N, .key = keys, .value = keys, .score = keys, .holder = 9, .ptr = x.ptr });
        expect("HPHIIIHH"); /* the second time it is this holder's */
        gives("PPPPPP", (hd_batch){ .op = HD_OP_ERASE, .n = 6, .key = keys });
        unlock(keys, 6, 9);
        expect("HPHHHH");
        run((hd_batch){ .op = ops[o], .n = 2, .key = keys, .value = keys, .score = keys, .ptr = x.ptr });
        expect("HP"); /* without a holder it pins nothing */
        unlock(keys, 2, 8);
        expect("MH");
        done();
    }
}

/* An entry that an item of the batch has pinned is no victim of a later item, whatever the scores. */
static void pinned_newcomers_stay(bool dual)
{
    uint64_t key[N], score[N], inserted = 0;
    open_table("custom", dual ? DUAL : SINGLE, 2, 2);
    for (uint64_t i = 0; i < N; i++) key[i] = 1000 + i, score[i] = i;
    put(key, N, key, score);
    for (uint64_t i = 0; i < N; i++) key[i] = i, score[i] = 100 + i;
    run((hd_batch){ .op = HD_OP_FIND_OR_INSERT_PTR, .n = N, .key = key, .score = score, .holder = 9, .ptr = x.ptr });
    for (uint64_t i = 0; i < N; i++) {
        bool in = x.fate[i] == HD_INSERTED || x.fate[i] == HD_EVICTED;
        check(in || x.fate[i] == HD_REFUSED, "item %d: %d", (int)i, x.fate[i]);
        inserted += in;
        for (uint64_t other = 0; in && other < i; other++)
            check(x.ptr[other] != x.ptr[i], "items %d and %d have one pointer", (int)other, (int)i);
        if (!in) x.ptr[i] = NULL;
    }
    check(inserted > 0, "none came in");
    unlock(key, N, 9);
    for (uint64_t i = 0; i < N; i++) inserted -= x.fate[i] == HD_HIT;
    check(inserted == 0, "%llu of them have gone", (ull)inserted);
    done();
}

/* ---- erase ----------------------------------------------------------------------------------- */

static void erase(mode m)
{
    const uint64_t keys[] = { 2, 9, HD_KEY_EMPTY, 2, 1 };
    open_table("lru", m, 4, 8);
    put(k123, 3, v123, NULL);
    gives("RMSMR", (hd_batch){ .op = HD_OP_ERASE, .n = 5, .key = keys });
    check(size() == 1 && !is_there(1) && !is_there(2) && is_there(3), "2 and 1 are gone");
    put(k123, 3, v123, NULL);
    expect("IIU");
    done();
}

/* ---- A dictionary ---------------------------------------------------------------------------- */

static void sums(void)
{
    const uint64_t keys[] = { 1, 9, 1, 8, 9, HD_KEY_EMPTY }, values[] = { 5, 6, 7, 1, UINT32_MAX, 2 };
    const uint8_t flag[] = { HD_ADD, HD_ASSIGN_NEW, HD_EITHER, HD_ADD, HD_ADD, HD_EITHER };
    open_table("none", DICTIONARY, 4, 8);
    put(k123, 3, v123, NULL);
    gives("UIUMUS",
          (hd_batch){
              .op = HD_OP_ACCUM_OR_ASSIGN, .elem = HD_I32, .n = 6, .key = keys, .value = values, .flag = flag });
    check(value_of(1) == 113 && value_of(9) == 5 && !is_there(8),
          "added; brought in; a sum of 32 bits wraps; absent, and not to come");
    gives("H",
          (hd_batch){
              .op = HD_OP_ACCUM_OR_ASSIGN, .elem = HD_I32, .n = 1, .key = keys, .value = values, .flag = flag + 1 });
    check(value_of(1) == 113, "there already, and left as it was");
    done();
}

/* Each item has an operation of its own. */
static void mixture(void)
{
    const uint64_t keys[] = { 1, 1, 1, 1, 2, 2, 2, 9 }, values[] = { 101, 0, 0, 0, 7, 3, 0, 1 };
    const uint8_t each[] = { HD_OP_INSERT_OR_ASSIGN, HD_OP_FIND, HD_OP_ERASE, HD_OP_CONTAINS, HD_OP_FIND_OR_INSERT,
                             HD_OP_ACCUM_OR_ASSIGN,  HD_OP_FIND, HD_OP_ASSIGN };
    open_table("none", DICTIONARY, 4, 8);
    gives("IHRMIUHM", (hd_batch){ .each = each, .elem = HD_I32, .n = 8, .key = keys, .value = values });
    check(x.value_out[1] == 101 && x.value_out[6] == 10, "values of those that look");
    for (int i = 0; i < N; i++) check(i == 1 || i == 6 || x.value_out[i] == untouched(), "item %d wrote a value", i);
    check(size() == 1, "one is left");
    done();
}

/* No entry is evicted: a key without a free slot is PENDING, and can be inserted after the table has grown. */
static void no_place(void)
{
    enum { KEYS = 20, FIT = 8 + 7 /* the bucket, and the stash but for an eighth */ };
    uint64_t in = 0;
    hd_info info;
    open_table("none", DICTIONARY, 1, 8);
    for (uint64_t key = 0; key < KEYS; key++) {
        put(&key, 1, &key, NULL);
        expect(key < FIT ? "I" : "N");
        check(is_there(key) == (key < FIT), "key %llu", (ull)key);
    }
    check(size() == FIT, "%llu entries", (ull)size());
    must(hd_grow(x.table, 5));
    for (uint64_t key = FIT; key < KEYS; key++) {
        put(&key, 1, &key, NULL);
        expect("I");
    }
    for (uint64_t key = 0; key < KEYS; key++) in += value_of(key) == key;
    check(in == KEYS && size() == KEYS, "%llu of all are there", (ull)in);
    gives("RRRRRRRR", (hd_batch){ .op = HD_OP_ERASE, .n = N, .key = (const uint64_t[]){ 0, 1, 2, 3, 4, 5, 6, 7 } });
    must(hd_shrink(x.table, 1));
    must(hd_table_info(x.table, &info));
    check(size() == KEYS - N && info.buckets < 5, "%llu entries, in %llu buckets", (ull)size(), (ull)info.buckets);
    done();
}

/* ---- lfu and values of any size -------------------------------------------------------------- */

static void lfu_saturates(bool dual)
{
    const uint64_t key = 1, value = 2;
    const uint64_t given[] = { UINT64_MAX - 2, 1, 1, 1, 5, UINT64_MAX };
    const uint64_t want[] = { UINT64_MAX - 2, UINT64_MAX - 1, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };
    open_table("lfu", dual ? DUAL : SINGLE, 4, 8);
    for (int i = 0; i < 6; i++) {
        put(&key, 1, &value, &given[i]);
        check(score_of(1) == want[i], "after %d: %llu", i, (ull)score_of(1));
    }
    done();
}

static void values_of_any_size(bool dual)
{
    static const uint32_t sizes[] = { 0, 1, 2, 3, 7, 8, 15, 16, 17, 64, 1000, HD_VALUE_BYTES_MAX };
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        uint32_t bytes = sizes[s];
        test_case("value_bytes=%u%s", bytes, dual ? " dual" : "");
        x.table = test_table(.backend = test_backend("ref"), .capacity = 64, .slots = 16, .value_bytes = bytes,
                             .hkv.dual = dual);
        uint64_t key[20];
        uint8_t *in = (uint8_t *)test_alloc(20, bytes), *out = (uint8_t *)test_alloc(20, bytes), fate[20];
        void *ptr[20];
        for (uint64_t i = 0; i < 20; i++) {
            key[i] = i * 7;
            value_make(in + i * bytes, bytes, key[i], 1);
        }
        hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = 20, .key = key, .value = bytes ? in : NULL };
        must(hd_run(x.table, &b));
        hd_batch f = { .op = HD_OP_FIND, .n = 20, .key = key, .value_out = bytes ? out : NULL, .outcome = fate };
        must(hd_run(x.table, &f));
        for (int i = 0; i < 20; i++) check(fate[i] == HD_HIT, "key %llu", (ull)key[i]);
        check(!memcmp(in, out, (size_t)20 * bytes), "values came back changed");
        hd_batch p = { .op = HD_OP_FIND_PTR, .n = 20, .key = key, .ptr = ptr };
        must(hd_run(x.table, &p));
        for (uint64_t i = 0; i < 20; i++) {
            test_peek(out, ptr[i], bytes);
            check(!memcmp(out, in + i * bytes, bytes), "the pointer of key %llu", (ull)key[i]);
        }
        free(in);
        free(out);
        done();
    }
}

/* What a table says of itself: where its keys and scores are, and its memory, but for a few words and what a machine
 * works with. */
static void info_is_what_is_there(void)
{
    enum { CAPACITY = 1 << 16, BESIDES = CAPACITY / 2 };
    static const uint32_t slots[] = { 5, 16 };
    for (int i = 0; i < 12; i++) {
        bool host = i / 6, pairs = i % 3 != HD_LAYOUT_PLANES;
        hd_table *t;
        hd_info info;
        counting memory;
        counting_init(&memory);
        hd_config c = test_usual(.seams = &memory.seams, .backend = host ? "host" : "ref", .layout = (hd_layout)(i % 3),
                                 .slots = slots[i / 3 % 2], .capacity = CAPACITY, .value_bytes = 3);
        test_case("backend=%s layout=%d slots=%u", c.backend, i % 3, c.slots);
        must(hd_open(&c, &t));
        must(hd_table_info(t, &info));
        check(info.layout == (pairs ? HD_LAYOUT_PAIRS : HD_LAYOUT_PLANES), "the layout is said to be %d",
              (int)info.layout);
        check(info.memory_bytes <= memory.live_bytes && memory.live_bytes < info.memory_bytes + BESIDES,
              "%llu bytes are said, and %llu were taken", (ull)info.memory_bytes, (ull)memory.live_bytes);
        hd_close(t);
    }
}

/* ---- Modes ----------------------------------------------------------------------------------- */

#define IN_ALL_MODES(name)                                        \
    static void name##_in_all_modes(void **state)                 \
    {                                                             \
        (void)state;                                              \
        for (int m = SINGLE; m <= DICTIONARY; m++) name((mode)m); \
    }
#define IN_BOTH_MODES(name)                        \
    static void name##_in_both_modes(void **state) \
    {                                              \
        (void)state;                               \
        name(false);                               \
        name(true);                                \
    }
IN_ALL_MODES(find)
IN_ALL_MODES(find_with_few_outputs)
IN_ALL_MODES(find_ptr)
IN_ALL_MODES(find_missed)
IN_BOTH_MODES(touch)
IN_BOTH_MODES(raw_scores)
IN_ALL_MODES(assign)
IN_ALL_MODES(insert_or_assign)
IN_BOTH_MODES(full_table)
IN_BOTH_MODES(admit_always)
IN_ALL_MODES(find_or_insert)
IN_BOTH_MODES(find_or_insert_ptr)
IN_BOTH_MODES(pins)
IN_BOTH_MODES(pins_in_a_full_table)
IN_BOTH_MODES(every_entry_pinned)
IN_BOTH_MODES(find_and_pin)
IN_BOTH_MODES(pinned_newcomers_stay)
IN_ALL_MODES(erase)
IN_BOTH_MODES(lfu_saturates)
IN_BOTH_MODES(values_of_any_size)

static const struct CMUnitTest tests[] = { unit(find_in_all_modes),
                                           unit(find_with_few_outputs_in_all_modes),
                                           unit(find_ptr_in_all_modes),
                                           unit(find_missed_in_all_modes),
                                           unit(touch_in_both_modes),
                                           unit(raw_scores_in_both_modes),
                                           unit(assign_in_all_modes),
                                           unit(insert_or_assign_in_all_modes),
                                           unit(full_table_in_both_modes),
                                           unit(admit_always_in_both_modes),
                                           unit(find_or_insert_in_all_modes),
                                           unit(find_or_insert_ptr_in_both_modes),
                                           unit(pointers_belong_to_their_keys),
                                           unit(pins_in_both_modes),
                                           unit(pins_in_a_full_table_in_both_modes),
                                           unit(every_entry_pinned_in_both_modes),
                                           unit(find_and_pin_in_both_modes),
                                           unit(pinned_newcomers_stay_in_both_modes),
                                           unit(erase_in_all_modes),
                                           unit(lfu_saturates_in_both_modes),
                                           unit(values_of_any_size_in_both_modes),
                                           unit(sums),
                                           unit(mixture),
                                           unit(no_place),
                                           unit(info_is_what_is_there) };

int main(void) { return test_run(tests); }
