/* SPDX-License-Identifier: Apache-2.0
 *
 * t_small.c - a table of 2 buckets x 2 slots and three keys, small enough to try everything: every string of up
 * to five operations of an alphabet (six with HEDDLE_TEST_SCALE=2, seven with 10, four with 1/2), judged after every
 * operation, with every invariant checked in every state.
 *
 * The alphabet is every keyed operation as a batch of one item, on each of the three keys: with each accum flag;
 * where scores are the caller's, with a low and a high one; unlock by the holder and by another; and, without
 * a key of the three: a reserved key, erase_if, clear. What is written tells its time, so that no two writes
 * of a string are alike.
 *
 * Strings are not run one by one. What a table does next depends on its state alone (its bytes and its clock),
 * so strings that lead to the same state share all that follows: each level keeps its different states, each
 * with the number of strings that lead to it, and every letter is run once from each. Keys that are alike (same
 * bucket, all digests different) are interchangeable: only strings that name them in alphabetical order of
 * first use are run. For the same reason pins are always by holder 1. Strings are counted as run; those that
 * these symmetries stand for are not counted.
 *
 * Settings, each for three policies: `crowd`: three keys of one bucket; `mixed`: two keys of one bucket where a
 * stranger already sits, one of the other; `dual`: three keys and two strangers in two buckets that are both
 * everyone's candidates.
 */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "judge/oracle.h"
#include "judge/rules.h"
#include "lib/table.h"
#include "ref/hkv/hkv.h"
#include "tests/testing.h"

enum { BUCKETS = 2, SLOTS = 2, ENTRIES = BUCKETS * SLOTS, KEYS = 3, PINS = 1 };

static int longest(void) { return test_scale() >= 10 ? 7 : test_scale() >= 2 ? 6 : test_times(2) < 2 ? 4 : 5; }

/* ---- A state: all that the future can depend on ---------------------------------------------- */

typedef struct small {
    uint64_t key[ENTRIES], score[ENTRIES], value[ENTRIES];
    uint64_t holder[ENTRIES], clock, pins;
    uint8_t digest[ENTRIES];
    uint8_t named; /* keys that the string has named */
    uint8_t unused[3];
    uint64_t strings; /* that lead here; no part of the state */
} small;

static const size_t state_bytes = offsetof(small, strings);

/* The one place outside of the library that looks into a table, to go back in time. */
static hkv_view *view_of(hd_table *t) { return (hkv_view *)t->state; }

static void state_take(hd_table *t, small *s)
{
    const hkv_view *v = view_of(t);
    memset(s, 0, sizeof *s);
    memcpy(s->digest, v->digest, sizeof s->digest);
    memcpy(s->key, v->key, sizeof s->key);
    memcpy(s->score, v->score, sizeof s->score);
    for (int e = 0; e < ENTRIES; e++)
        if (s->digest[e]) memcpy(&s->value[e], v->value + 8 * e, 8); /* the value of an empty slot is undefined */
    memcpy(s->holder, v->holder, sizeof s->holder);
    s->pins = v->pins;
    s->clock = atomic_load(&t->clock);
}

static void state_put(hd_table *t, const small *s)
{
    hkv_view *v = view_of(t);
    memcpy(v->digest, s->digest, sizeof s->digest);
    memcpy(v->key, s->key, sizeof s->key);
    memcpy(v->score, s->score, sizeof s->score);
    memcpy(v->value, s->value, sizeof s->value);
    memcpy(v->holder, s->holder, sizeof s->holder);
    v->pins = s->pins;
    atomic_store(&t->clock, s->clock);
}

/* The different states of one length, found again by hash. */
typedef struct level {
    small *state;
    hd_oracle **oracle; /* of each state */
    uint64_t n, room;
    uint64_t *place, places; /* state number + 1; 0: free */
} level;

static void level_close(level *l)
{
    for (uint64_t i = 0; i < l->n; i++) hd_oracle_close(l->oracle[i]);
    free(l->state);
    free(l->oracle);
    free(l->place);
    memset(l, 0, sizeof *l);
}

static uint64_t *level_place(const level *l, const small *s)
{
    uint64_t p = XXH3_64bits(s, state_bytes) & (l->places - 1);
    while (l->place[p] && memcmp(&l->state[l->place[p] - 1], s, state_bytes) != 0) p = (p + 1) & (l->places - 1);
    return &l->place[p];
}

static void level_widen(level *l)
{
    l->room = l->room ? 2 * l->room : 64;
    l->places = 4 * l->room;
    l->state = (small *)realloc(l->state, (size_t)l->room * sizeof *l->state);
    l->oracle = (hd_oracle **)realloc(l->oracle, (size_t)l->room * sizeof *l->oracle);
    free(l->place);
    l->place = (uint64_t *)test_alloc(l->places, 8);
    check(l->state && l->oracle, "no memory for %llu states", (ull)l->room);
    for (uint64_t i = 0; i < l->n; i++) *level_place(l, &l->state[i]) = i + 1;
}

/* True: a state that was not there before. */
static bool level_add(level *l, const small *s, const hd_oracle *o)
{
    if (l->n == l->room) level_widen(l);
    uint64_t *place = level_place(l, s);
    if (*place) return l->state[*place - 1].strings += s->strings, false;
    l->state[l->n] = *s;
    must(hd_oracle_copy(o, &l->oracle[l->n]));
    *place = ++l->n;
    return true;
}

/* ---- The alphabet ---------------------------------------------------------------------------- */

typedef struct letter {
    hd_op op;
    int key; /* 0 to 2; -1: none of them */
    uint64_t score, holder;
    uint8_t flag;
} letter;

enum { LETTERS_MOST = 128 };

typedef struct alphabet {
    letter at[LETTERS_MOST];
    size_t n;
} alphabet;

static void letter_add(alphabet *a, letter l)
{
    check(a->n < LETTERS_MOST, "more than %d letters", LETTERS_MOST);
    a->at[a->n++] = l;
}

static alphabet alphabet_of(judge_policy policy)
{
    alphabet a = { .n = 0 };
    bool scores = policy.rule == JUDGE_LFU || policy.rule == JUDGE_CUSTOM;
    for (int op = 0; op < HD_OP_COUNT_; op++) {
        if (judge_ops[op].order) continue;
        for (int key = 0; key < KEYS && judge_ops[op].keyed; key++) {
            letter l = { (hd_op)op, key, 1, 1, HD_EITHER };
            for (uint64_t score = 1; score <= (scores && judge_ops[op].rescores ? 2 : 1); score++) {
                l.score = score;
                for (l.flag = op == HD_OP_ACCUM_OR_ASSIGN ? 0 : HD_EITHER; l.flag <= HD_EITHER; l.flag++)
                    for (l.holder = !judge_ops[op].may_pin; l.holder <= (op == HD_OP_UNLOCK_KEYS ? 2 : 1); l.holder++)
                        letter_add(&a, l);
            }
        }
    }
    letter_add(&a, (letter){ HD_OP_INSERT_OR_ASSIGN, -1, 1, 1, HD_EITHER }); /* a reserved key */
    letter_add(&a, (letter){ HD_OP_ERASE_IF, -1, 1, 1, HD_EITHER });
    letter_add(&a, (letter){ HD_OP_CLEAR, -1, 1, 1, HD_EITHER });
    return a;
}

/* ---- One setting ----------------------------------------------------------------------------- */

typedef struct setting {
    const char *name;
    bool dual;
    int bucket[KEYS];    /* of each key (single)                                  */
    int strangers;       /* entries there before the string begins ...            */
    int stranger_bucket; /* ... and where (single)                                */
    int alike;           /* the first so many keys are interchangeable            */
} setting;

static const setting settings[] = {
    { "crowd", false, { 0, 0, 0 }, 0, 0, 3 },
    { "mixed", false, { 0, 0, 1 }, 1, 0, 2 },
    { "dual", true, { 0, 0, 0 }, 2, 0, 3 },
};

typedef struct search {
    const setting *how;
    hd_table *table;
    uint64_t key[KEYS], stranger[2];
    uint64_t executed, strings;
} search;

/* Keys of the buckets that the setting wants, all digests different. */
static void choose_keys(search *x)
{
    bool used[256] = { false };
    uint64_t candidate = 1;
    for (int k = 0; k < KEYS + 2; k++) {
        int bucket = k < KEYS ? x->how->bucket[k] : x->how->stranger_bucket;
        uint64_t h;
        do h = hd_hash(candidate++, 0);
        while (hd_first_bucket(h, BUCKETS) != (uint64_t)bucket || used[hd_digest(h)]);
        used[hd_digest(h)] = true;
        *(k < KEYS ? &x->key[k] : &x->stranger[k - KEYS]) = candidate - 1;
    }
}

/* Runs a letter in the table's present state, judges it, and returns what the judge says. */
static const char *run_letter(search *x, hd_oracle *o, const letter *l, uint64_t key, uint64_t time)
{
    uint64_t value = 1000 * (time + 1) + key % 1000, value_out, score_out, list_key[ENTRIES], list_value[ENTRIES],
             list_score[ENTRIES], list_item[ENTRIES], count;
    uint8_t outcome;
    void *ptr;
    hd_batch b = { .op = l->op,
                   .elem = HD_U64,
                   .n = judge_ops[l->op].keyed,
                   .key = &key,
                   .value = &value,
                   .score = &l->score,
                   .flag = &l->flag,
                   .holder = l->holder,
                   .pred = "score_in",
                   .outcome = &outcome,
                   .value_out = &value_out,
                   .score_out = &score_out,
                   .ptr = &ptr,
                   .list_key = list_key,
                   .list_value = list_value,
                   .list_score = list_score,
                   .list_item = list_item,
                   .count = &count };
    b.pred_arg[1] = 2;
    uint64_t clock = atomic_load(&x->table->clock);
    must(hd_run(x->table, &b));
    x->executed++;
    const char *wrong = hd_oracle_batch(o, x->table, &b, NULL, clock, 0);
    return wrong ? wrong : hd_oracle_compare(o, x->table);
}

/* The first key of those alike that the string has not named may be named next, and no other. */
static bool in_order(const search *x, const small *s, int key)
{
    for (int k = 0; k < key && key < x->how->alike; k++)
        if (!(s->named >> k & 1)) return false;
    return true;
}

/* Every letter from every state of one level; the states it leads to make the next. */
static void step(search *x, const alphabet *a, level *from, level *to, int length)
{
    for (uint64_t i = 0; i < from->n; i++) {
        const small *s = &from->state[i];
        for (size_t k = 0; k < a->n; k++) {
            const letter *l = &a->at[k];
            hd_oracle *o;
            small then;
            if (l->key >= 0 && !in_order(x, s, l->key)) continue;
            state_put(x->table, s);
            must(hd_oracle_copy(from->oracle[i], &o));
            const char *wrong = run_letter(x, o, l, l->key < 0 ? HD_KEY_LOCKED : x->key[l->key], (uint64_t)length);
            check(!wrong, "after a string of %d: %s on key %d, score %llu, flag %d: %s", length, hd_op_name(l->op),
                  l->key, (ull)l->score, l->flag, wrong);
            state_take(x->table, &then);
            then.named = (uint8_t)(s->named | (l->key >= 0 ? 1 << l->key : 0));
            then.strings = s->strings;
            x->strings += s->strings;
            if (length + 1 < longest() ? level_add(to, &then, o)
                                       : memcmp(then.key, s->key, offsetof(small, clock)) != 0)
                must(hd_check(x->table));
            hd_oracle_close(o);
        }
    }
}

static void explore(const setting *how, const char *policy)
{
    search x = { .how = how };
    hd_config c =
        test_usual(.policy = policy, .lock = "none", .capacity = ENTRIES, .slots = SLOTS, .value_bytes = 8,
                   .layout = HD_LAYOUT_PLANES /* state_take */, .threads = 1, .hkv.dual = how->dual, .hkv.pins = PINS);
    choose_keys(&x);
    must(hd_open(&c, &x.table));
    check(view_of(x.table)->holder && view_of(x.table)->buckets == BUCKETS, "the table has another shape");

    hd_oracle *o;
    judge_policy p;
    judge_policy_find(policy, &p);
    alphabet a = alphabet_of(p);
    must(hd_oracle_open(&c, &o));
    letter insert = { HD_OP_INSERT_OR_ASSIGN, -1, 1, 1, HD_EITHER };
    for (int k = 0; k < how->strangers; k++)
        check(!run_letter(&x, o, &insert, x.stranger[k], 7), "a stranger was accused");

    level now = { 0 }, next = { 0 };
    small start;
    state_take(x.table, &start);
    start.strings = 1;
    level_add(&now, &start, o);
    uint64_t states = 1;
    for (int length = 0; length < longest(); length++) {
        test_case("%s, %s, strings of %d", how->name, policy, length + 1);
        step(&x, &a, &now, &next, length);
        level_close(&now);
        now = next;
        memset(&next, 0, sizeof next);
        states += now.n;
    }
    level_close(&now);
    hd_oracle_close(o);
    hd_close(x.table);
    test_note("%s, %s: %llu strings of up to %d of %zu letters, %llu states", how->name, policy, (ull)x.strings,
              longest(), a.n, (ull)states);
    test_tried("differential", x.executed, "executions of every operation after every other, %s, %s", how->name,
               policy);
}

static void crowd_lru(void) { explore(&settings[0], "lru"); }
static void crowd_lfu(void) { explore(&settings[0], "lfu"); }
static void crowd_custom(void) { explore(&settings[0], "custom"); }
static void mixed_lru(void) { explore(&settings[1], "lru"); }
static void mixed_lfu(void) { explore(&settings[1], "lfu"); }
static void mixed_custom(void) { explore(&settings[1], "custom"); }
static void dual_lru(void) { explore(&settings[2], "lru"); }
static void dual_lfu(void) { explore(&settings[2], "lfu"); }
static void dual_custom(void) { explore(&settings[2], "custom"); }

static const struct CMUnitTest small_tables[] = { unit(crowd_lru), unit(crowd_lfu), unit(crowd_custom),
                                                  unit(mixed_lru), unit(mixed_lfu), unit(mixed_custom),
                                                  unit(dual_lru),  unit(dual_lfu),  unit(dual_custom) };

int main(void) { return test_run(small_tables); }
